//! A study of hundreds of experiments: names that are put together, and a section that can be read.

use floodway_model::Table;
use floodway_model::family::Entry;
use floodway_model::tables::complete;
use floodway_report::chart::Cell;
use floodway_report::study::{Exhibit, Section};
use floodway_study::plan::name;
use floodway_study::{Evidence, Experiment, FlowGroup, Level, Study, named};

use crate::synthetic;

const FILE: &str = "mix.toml";

static STUDY: Study = Study {
    entry: Entry { family: "study", name: "mixes", summary: "An example." },
    title: "",
    question: "",
    library: floodway_study::Library::Built(&[(
        FILE,
        include_str!("../../../scenarios/sfc/idle.toml"),
    )]),
    groups: &[FlowGroup::all("all flows")],
    keeps_flows: false,
    queries: &[],
    counters: &[],
    first_run: &[],
    plan: &plan,
    claims: &[],
    rows: &[],
    readings: &floodway_study::Judged::main_only,
    closest: None,
    answer: &|_| Vec::new(),
    sections: &sections,
};

fn mix(cubic: usize, dctcp: usize) -> &'static str {
    name(&format!("mix-{cubic}-{dctcp}"))
}

fn mixes() -> impl Iterator<Item = (usize, usize)> {
    let all = (0..=10).flat_map(|dctcp| (0..=10).map(move |cubic| (cubic, dctcp)));
    all.filter(|mix| *mix != (0, 0))
}

fn plan(_: Level) -> Vec<Experiment> {
    let experiment = |(cubic, dctcp)| {
        let flows = [format!("cubic={cubic}"), format!("dctcp={dctcp}")];
        Experiment::new(mix(cubic, dctcp), FILE).set(&[&flows[0], &flows[1], "seed=2"])
    };
    let mut plan: Vec<Experiment> = mixes().map(experiment).collect();
    plan.insert(5, Experiment::new("alone", FILE).set(&["cubic=1"]));
    plan
}

fn sections(evidence: &Evidence) -> Vec<Section> {
    let names: Vec<&'static str> = mixes().map(|(cubic, dctcp)| mix(cubic, dctcp)).collect();
    let all: Vec<&'static str> = names.into_iter().chain(["alone"]).collect();
    vec![evidence.section("mixes", "How do they share?", &[], &all)]
}

/// So many flows of either kind with the same rate of 40 Mb/s in all, sampled every second for
/// 250 s, and queues of 1 and of 40 packets.
fn tables(cubic: usize, dctcp: usize) -> Vec<Table> {
    let many = cubic + dctcp;
    let flows: Vec<synthetic::Flow> =
        (0..many).map(|at| (0, u64::from(at >= cubic), None)).collect();
    let samples = || (1..=250_u64).flat_map(|second| (0..many).map(move |flow| (second, flow)));
    let rate = 5_000_000 / many as u64;
    let text = |text: &str| vec![text.to_owned(); 4];
    let mut tables = synthetic::tables(&flows);
    tables.extend([
        complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", samples().map(|of| of.0 as f64 * 1e9).collect())
                .u64("flow", "", samples().map(|of| of.1 as u64).collect())
                .u64("delivered_bytes", "", samples().map(|of| of.0 * rate).collect()),
        ),
        complete(
            Table::new("departures", "")
                .text("node", "", text("left switch"))
                .u64("tier", "", vec![0; 4])
                .u64("port", "", vec![1; 4])
                .u64("queue", "", vec![1, 1, 0, 0])
                .text(
                    "kind",
                    "",
                    ["packets", "sojourn_ns"]
                        .repeat(2)
                        .iter()
                        .map(|kind| (*kind).to_owned())
                        .collect(),
                )
                .u64("up_to", "", vec![40, 12_000_000, 1, 0])
                .u64("departures", "", vec![100, 100, 50, 50]),
        ),
    ]);
    tables
}

#[test]
fn names_are_kept_once() {
    let (a, b) = (mix(3, 10), name(&format!("mix-{}-{}", 3, 10)));
    assert_eq!(a, "mix-3-10");
    assert!(std::ptr::eq(a, b));
    assert_eq!(plan(Level::Quick), plan(Level::Quick));
}

#[test]
fn hundreds_of_cases_make_a_section_that_can_be_read() {
    let mut evidence = Evidence::new(&STUDY, Level::Full, &["limit=9s".to_owned()]);
    let scenario = Experiment::new("idle", FILE).scenario(&STUDY.library, &[]).unwrap();
    for name in mixes().map(|of| mix(of.0, of.1)).chain(["alone"]) {
        evidence.begin(name, &scenario);
    }
    let section = (STUDY.sections)(&evidence).remove(0);
    assert_eq!(section.links.len(), 121);
    // One that is unlike the others stands as it is; of the others the first and the last do.
    assert_eq!(
        section.commands,
        [
            "floodway run mix.toml --set cubic=1 --set dctcp=0 --set seed=2 --set limit=9s --out results/mix-1-0",
            "# 118 more, with other values of cubic, dctcp: floodway study mixes --full --plan",
            "floodway run mix.toml --set cubic=10 --set dctcp=10 --set seed=2 --set limit=9s --out results/mix-10-10",
            "floodway run mix.toml --set cubic=1 --set limit=9s --out results/alone",
        ]
    );
}

/// Grids and heat maps of the study of the DualQ, which has an experiment for each mix.
#[test]
fn hundreds_of_cases_are_drawn_in_grids() {
    let study = named("dualq").unwrap().unwrap();
    let mut evidence = Evidence::new(study, Level::Standard, &[]);
    let plan = (study.plan)(Level::Standard);
    let scenario = plan.iter().find(|of| of.name == "mix-1-1").unwrap();
    let scenario = scenario.scenario(&study.library, &[]).unwrap();
    for (cubic, dctcp) in mixes() {
        let name = mix(cubic, dctcp);
        evidence.begin(name, &scenario);
        synthetic::add(&mut evidence, name, "dualq", 0, &tables(cubic, dctcp));
    }
    let sections = (study.sections)(&evidence);
    let section = sections.iter().find(|of| of.name == "dualq").unwrap();
    let mut grids = section.exhibits.iter().filter_map(|of| match of {
        Exhibit::Grid { chart, .. } => Some(chart),
        _ => None,
    });
    let (rates, sizes) = (grids.next().unwrap(), grids.next().unwrap());
    let delays = section.exhibits.iter().find_map(|of| match of {
        Exhibit::HeatMap { chart, .. } => Some(chart),
        _ => None,
    });
    let delays = delays.unwrap();
    // Four DCTCP and six Cubic flows have their fair share each, in fifty windows of 5 s.
    let cell = &rates.cells[4][6];
    assert_eq!((cell.lines.len(), rates.y.limits, cell.level), (10, Some((0.0, 2.0)), Some(1.0)));
    for line in &cell.lines {
        assert_eq!(line.points.len(), 50);
        assert!(line.points.iter().all(|point| (point.1 - 1.0).abs() < 1e-3));
    }
    assert_eq!(cell.lines.iter().filter(|line| line.series == 2).count(), 6);
    assert_eq!(rates.cells[0][0], Cell::default());
    assert_eq!(cell.tooltip, "Cubic flows 6, DCTCP flows 4");
    // 40 packets are in the eighth bin of five, 1 is in the first. The axis fits the classic queue.
    let of = |at: usize| sizes.cells[4][6].lines[at].points.clone();
    assert_eq!(of(1), [(35.0, 0.0), (35.0, 1.0), (40.0, 0.0)]);
    assert_eq!(of(0), [(0.0, 0.0), (0.0, 1.0), (5.0, 0.0)]);
    assert_eq!(sizes.cells[4][6].y, Some((0.0, 1.2)));
    assert_eq!((delays.cells[1][1].text.as_str(), delays.cells[0][0].text.as_str()), ("12", "–"));
    assert_eq!((delays.sides.columns.len(), delays.sides.rows.len()), (11, 11));
    let svg = rates.svg(760.0);
    assert!(svg.len() < 200_000, "{} bytes of lines that are straight", svg.len());
}
