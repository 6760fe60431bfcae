//! Temporary: the study of the DualQ in Rust and as a file say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::study::{Exhibit, Part};
use floodway_study::{Evidence, Experiment, Level, Study, dualq, folder};

use crate::synthetic;

const LEVELS: [Level; 3] = [Level::Quick, Level::Standard, Level::Full];

fn both() -> [&'static Study; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/dualq");
    let file = folder::load(&path).unwrap_or_else(|error| panic!("{}", error.plain()));
    [&dualq::STUDY, file]
}

type Plan = BTreeMap<String, (String, BTreeSet<String>, bool, String)>;

fn plan(study: &Study, level: Level) -> Plan {
    let one = |of: Experiment| {
        let scenario = of.scenario(&study.library, &[]).unwrap();
        let all: Vec<&str> = scenario.variants().iter().map(|of| of.name.as_str()).collect();
        let variants: BTreeSet<String> = match of.variants.is_empty() {
            true => all.iter().map(|name| (*name).to_owned()).collect(),
            false => of.variants.iter().map(|name| (*name).to_owned()).collect(),
        };
        let settings: Vec<String> = scenario
            .variants()
            .iter()
            .filter(|of| variants.contains(&of.name))
            .map(|of| serde_json::to_string(&of.settings).unwrap())
            .collect();
        let file = Path::new(of.file).file_name().unwrap().to_str().unwrap().to_owned();
        let settings = format!("{} {settings:?}", scenario.replications);
        (of.name.to_owned(), (file, variants, of.single, settings))
    };
    (study.plan)(level).into_iter().map(one).collect()
}

#[test]
fn plans() {
    let [rust, file] = both();
    for level in LEVELS {
        let (rust, file) = (plan(rust, level), plan(file, level));
        let names = |of: &Plan| of.keys().cloned().collect::<BTreeSet<_>>();
        let (a, b) = (names(&rust), names(&file));
        assert_eq!(a.difference(&b).collect::<Vec<_>>(), Vec::<&String>::new(), "only in Rust");
        assert_eq!(b.difference(&a).collect::<Vec<_>>(), Vec::<&String>::new(), "only in the file");
        for (name, of) in &rust {
            assert_eq!(of, &file[name], "{name} {level:?}");
        }
        println!("{level:?}: {} experiments", rust.len());
    }
}

/// A number from 0.5 to 2 that depends on these.
fn chance(of: &str) -> f64 {
    let hash = of.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let share = (hash >> 11) as f64 / (1_u64 << 53) as f64;
    2.0_f64.powf(2.0 * share - 1.0)
}

fn tables(name: &str, variant: &str, replication: u32) -> Vec<Table> {
    let own = |what: &str| {
        chance(&format!("{name} {variant} {replication} {what}")) * 0.1
            + chance(&format!("{name} {variant} {what}"))
    };
    let mut flows: Vec<synthetic::Flow> = Vec::new();
    for workload in [0, 0, 1, 1, 1, 2] {
        flows.push((0, workload, None));
    }
    for at in 0..40 {
        flows.push((1_430 + at * 20_000 * (at % 3), at % 4, Some(own(&format!("fct {at}")) * 1e4)));
    }
    let mut tables = synthetic::tables(&flows);
    // Of some runs a flow gets nothing.
    let rate = |flow: u64| match own("nothing") < 0.56 && flow == 2 {
        true => 0.0,
        false => own(&format!("rate {flow}")) * 2e6 / 8.0,
    };
    let samples: Vec<(f64, u64)> =
        (0..=400_u64).flat_map(|at| (0..6_u64).map(move |flow| (at as f64 * 2.0, flow))).collect();
    let bytes = |(at, flow): &(f64, u64)| {
        (at * rate(*flow) * (1.0 + 0.3 * (at / 7.0 + *flow as f64).sin() / (1.0 + at / 20.0)))
            .max(0.0) as u64
    };
    tables.push(complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", samples.iter().map(|of| of.0 * 1e9).collect())
            .u64("flow", "", samples.iter().map(|of| of.1).collect())
            .u64("delivered_bytes", "", samples.iter().map(bytes).collect()),
    ));
    let mut rows: Vec<(&str, u64, &str, u64, u64)> = Vec::new();
    let two = variant.starts_with("dual");
    for (node, queue) in [("left switch", 0), ("left switch", 1), ("right switch", 0)] {
        if queue == 1 && !two {
            continue;
        }
        for (kind, unit) in [("packets", 20.0), ("sojourn_ns", 3e6)] {
            for at in 0..30 {
                let scale = if two && queue == 0 { 0.05 } else { 1.0 };
                let value =
                    (unit * scale * (1.0 + f64::from(at) * own(&format!("{kind} {queue}")))) as u64;
                rows.push((
                    node,
                    queue,
                    kind,
                    value,
                    1 + (own(&format!("{at} {queue}")) * 9.0) as u64,
                ));
            }
        }
    }
    tables.push(complete(
        Table::new("departures", "")
            .text("node", "", rows.iter().map(|row| row.0.to_owned()).collect())
            .u64("port", "", vec![3; rows.len()])
            .u64("queue", "", rows.iter().map(|row| row.1).collect())
            .text("kind", "", rows.iter().map(|row| row.2.to_owned()).collect())
            .u64("up_to", "", rows.iter().map(|row| row.3).collect())
            .u64("departures", "", rows.iter().map(|row| row.4).collect()),
    ));
    if name.starts_with("interactive") {
        let made: Vec<f64> = (0..700).map(|at| 2e9 + f64::from(at) * 0.1e9).collect();
        let arrived = |(at, made): (usize, &f64)| match at % 211 {
            5 if variant == "codel" => f64::NAN,
            _ => made + own(&format!("frame {at}")) * 3e7,
        };
        tables.push(complete(
            Table::new("frames", "")
                .u64("flow", "", vec![5; made.len()])
                .u64("bytes", "", made.iter().enumerate().map(|(at, _)| 900 + at as u64).collect())
                .f64("arrived_ns", "", made.iter().enumerate().map(arrived).collect())
                .f64("made_ns", "", made),
        ));
    }
    tables
}

fn evidence(study: &'static Study, level: Level) -> Evidence {
    let mut evidence = Evidence::new(study, level, &[]);
    for experiment in (study.plan)(level) {
        let scenario = experiment.scenario(&study.library, &[]).unwrap();
        evidence.begin(experiment.name, &scenario);
        for variant in scenario.variants() {
            let wanted = &experiment.variants;
            if wanted.is_empty() || wanted.contains(&variant.name.as_str()) {
                for replication in 0..scenario.replications.min(3) {
                    let name = &variant.name;
                    let tables = tables(experiment.name, name, replication);
                    synthetic::add(&mut evidence, experiment.name, name, replication, &tables);
                }
            }
        }
    }
    evidence
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

fn compare(a: &Part, b: &Part) -> Vec<String> {
    let mut wrong = Vec::new();
    let name = format!("{} {}", a.id, a.part);
    for (what, a, b) in [
        ("id", &a.id, &b.id),
        ("part", &a.part, &b.part),
        ("metric", &a.metric, &b.metric),
        ("claimed", &a.claimed, &b.claimed),
        ("source", &a.source, &b.source),
        ("remark", &a.remark, &b.remark),
    ] {
        if a != b {
            wrong.push(format!("{name}: {what}: {a:?} and {b:?}"));
        }
    }
    if a.measured.is_some() && (a.expected != b.expected || a.unit != b.unit) {
        wrong.push(format!(
            "{name}: {:?} {:?} and {:?} {:?}",
            a.expected, a.unit, b.expected, b.unit
        ));
    }
    if !same(a.measured, b.measured)
        || !same(a.low, b.low)
        || !same(a.high, b.high)
        || a.verdict != b.verdict
    {
        wrong.push(format!(
            "{name}: {:?} [{:?}, {:?}] {:?} and {:?} [{:?}, {:?}] {:?}",
            a.measured, a.low, a.high, a.verdict, b.measured, b.low, b.high, b.verdict
        ));
    }
    wrong
}

fn exhibit(of: &Exhibit) -> (&str, String) {
    match of {
        Exhibit::Rows { name, .. } => (name, format!("{of:#?}")),
        Exhibit::Lines { name, .. } => (name, format!("{of:#?}")),
        Exhibit::Table { name, .. } => (name, format!("{of:#?}")),
        Exhibit::Grid { name, .. } => (name, format!("{of:#?}")),
        Exhibit::HeatMap { name, .. } => (name, format!("{of:#?}")),
        _ => ("other", format!("{of:#?}")),
    }
}

fn at_level(level: Level) {
    let [rust, file] = both();
    let evidence = [rust, file].map(|study| evidence(study, level));
    let judged = [0, 1].map(|at| [rust, file][at].judge(&evidence[at]));
    let mut wrong = Vec::new();
    let [(claims_a, checks_a), (claims_b, checks_b)] = &judged;
    assert_eq!(claims_a.len(), claims_b.len());
    for (a, b) in claims_a.iter().zip(claims_b) {
        let words = |of: &floodway_report::study::Claim| {
            format!(
                "{} {} {:?} {} {:?} {:?}",
                of.id,
                of.quotation,
                of.verdict,
                of.condition,
                of.readings.counts,
                of.parts.len()
            )
        };
        if words(a) != words(b) {
            wrong.push(format!("{}\n    {}", words(a), words(b)));
        }
        for (a, b) in a.parts.iter().zip(&b.parts) {
            wrong.extend(compare(a, b));
        }
    }
    let checks = |of: &[Part]| {
        of.iter()
            .map(|of| ((of.id.clone(), of.part.clone()), of.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let (checks_a, checks_b) = (checks(checks_a), checks(checks_b));
    assert_eq!(checks_a.keys().collect::<Vec<_>>(), checks_b.keys().collect::<Vec<_>>());
    for (key, a) in &checks_a {
        wrong.extend(compare(a, &checks_b[key]));
    }
    let readings = [0, 1].map(|at| ([rust, file][at].readings)(&evidence[at]));
    let [a, b] = readings.each_ref();
    assert_eq!(a.readings.len(), b.readings.len());
    assert_eq!(a.open, b.open);
    for (a, b) in a.readings.iter().zip(&b.readings) {
        assert_eq!(a.choices, b.choices);
        let pairs =
            |of: &[(&'static str, &'static str)]| of.iter().copied().collect::<BTreeSet<_>>();
        let (a, b) = (pairs(&a.stands_for), pairs(&b.stands_for));
        let lacks: Vec<_> = a.difference(&b).collect();
        if !lacks.is_empty() {
            wrong.push(format!("a reading lacks {lacks:?}"));
        }
        let more: Vec<_> = b.difference(&a).collect();
        if !more.is_empty() {
            println!(
                "a reading of the file has {} pairs more: {:?}",
                more.len(),
                &more[..more.len().min(3)]
            );
        }
    }
    let answers = [0, 1].map(|at| ([rust, file][at].answer)(&evidence[at]));
    if answers[0] != answers[1] {
        wrong.push(format!("{:#?}", answers));
    }
    let sections = [0, 1].map(|at| ([rust, file][at].sections)(&evidence[at]));
    let names = |of: &[floodway_report::study::Section]| {
        of.iter().map(|of| of.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&sections[0]), names(&sections[1]));
    for (a, b) in sections[0].iter().zip(&sections[1]) {
        for (what, a, b) in [
            ("question", format!("{:?}", a.question), format!("{:?}", b.question)),
            ("claims", format!("{:?}", a.claims), format!("{:?}", b.claims)),
            ("answer", a.answer.clone(), b.answer.clone()),
            ("text", a.text.join("\n"), b.text.join("\n")),
            (
                "links",
                format!("{:?}", a.links.iter().collect::<BTreeSet<_>>()),
                format!("{:?}", b.links.iter().collect::<BTreeSet<_>>()),
            ),
        ] {
            if a != b {
                println!(
                    "section: {what}:\n    {}\n    {}",
                    &a[..a.len().min(900)],
                    &b[..b.len().min(900)]
                );
            }
        }
        let of = |section: &floodway_report::study::Section| -> BTreeMap<String, String> {
            section
                .exhibits
                .iter()
                .map(exhibit)
                .map(|(name, text)| (name.to_owned(), text))
                .collect()
        };
        let (a, b) = (of(a), of(b));
        for (name, text) in &a {
            match b.get(name) {
                None => println!("exhibit {name} is only in Rust"),
                Some(other) if other == text => println!("exhibit {name} is equal"),
                Some(other) => {
                    let lines = text.lines().zip(other.lines()).filter(|(a, b)| a != b);
                    let first: Vec<_> = lines.take(3).collect();
                    println!(
                        "exhibit {name} differs: {} and {} lines: {first:?}",
                        text.lines().count(),
                        other.lines().count()
                    );
                }
            }
        }
        for name in b.keys().filter(|name| !a.contains_key(*name)) {
            println!("exhibit {name} is only in the file");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn quick() {
    at_level(Level::Quick);
}

#[test]
fn standard() {
    at_level(Level::Standard);
}

#[test]
fn full() {
    at_level(Level::Full);
}
