//! Runs that were not simulated, for evidence that can be computed by hand.

use std::fs;
use std::path::PathBuf;

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::Run;
use floodway_report::study::Part;
use floodway_study::{Evidence, Level, Study, folder};

/// A scenario with one flow in a star of four hosts; variants and settings may follow.
pub const STAR: &str = r#"
name = "star"
arrivals = "100us"
limit = "1ms"
replications = 2

[topology.star]
hosts = 4
rate = "100Gbps"
delay = "200ns"

[host.congestion.line_rate]

[[workload]]
[workload.list]
flow = [{ src = 1, dst = 0, bytes = "5KB", start = "0us" }]
"#;

/// A folder with a study, of which a part is replaced, and with these files.
pub fn place(name: &str, study: &str, (from, to): (&str, &str), files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    assert!(study.contains(from), "{from}");
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    fs::write(folder.join("study.toml"), study.replacen(from, to, 1)).unwrap();
    folder
}

/// A change of a study that makes it wrong: what stands in place of what, cause, and remedy.
pub type Wrong<'a> = (&'a str, &'a str, &'a str, &'a str);

/// That each of these changes is refused with its place, cause and remedy, in the folder that `place` makes of it.
pub fn are_refused(name: &str, place: fn(&str, &str, &str) -> PathBuf, cases: &[Wrong]) {
    for (case, (from, to, cause, remedy)) in cases.iter().enumerate() {
        let folder = place(&format!("{name}-refused-{case}"), from, to);
        let text = folder::load(&folder).expect_err(to).plain();
        assert!(text.contains(cause) && text.contains("study.toml:"), "{to}:\n{text}");
        assert!(text.contains("= help: ") && text.contains(remedy), "{to}:\n{text}");
    }
}

/// An experiment of the standard level begins.
pub fn begin(evidence: &mut Evidence, name: &str) {
    let plan = (evidence.study.plan)(Level::Standard);
    let experiment = plan.iter().find(|of| of.name == name).expect("it is in the plan");
    let scenario = experiment.scenario(&evidence.study.library, &[]).unwrap();
    evidence.begin(name, &scenario);
}

/// One of the claims.
pub fn claim<'a>(parts: &'a [Part], id: &str, part: &str) -> &'a Part {
    parts.iter().find(|of| of.id == id && of.part == part).expect("there is such a claim")
}

/// That a number was measured, and is this one to 0.01 %.
pub fn near(measured: Option<f64>, expected: f64) {
    let value = measured.expect("it was measured");
    assert!((value - expected).abs() <= 1e-4 * expected.abs(), "{value}, not {expected}");
}

/// When these runs end, in nanoseconds.
pub const END_NS: f64 = 1e6;

/// A flow that starts at 0 and is measured: its size in bytes, its workload, its completion time in
/// nanoseconds, none if it did not finish. Alone it would take 10 ns.
pub type Flow = (u64, u64, Option<f64>);

/// The table `flows`.
pub fn flows(flows: &[Flow]) -> Table {
    let number = |of: fn(&Flow) -> u64| flows.iter().map(of).collect::<Vec<u64>>();
    let times: Vec<f64> = flows.iter().map(|flow| flow.2.unwrap_or(f64::NAN)).collect();
    complete(
        Table::new("flows", "")
            .u64("flow", "", (0..flows.len() as u64).collect())
            .u64("workload", "", number(|flow| flow.1))
            .u64("bytes", "", number(|flow| flow.0))
            .f64("start_ns", "", vec![0.0; flows.len()])
            .f64("stop_ns", "", vec![f64::NAN; flows.len()])
            .f64("fct_ns", "", times.clone())
            .f64("ideal_fct_ns", "", vec![10.0; flows.len()])
            .f64("slowdown", "", times.iter().map(|time| time / 10.0).collect())
            .u64("packets_sent", "", vec![100; flows.len()])
            .u64("marked_packets", "", vec![2; flows.len()])
            .u64("lost_packets", "", vec![0; flows.len()])
            .u64("measured", "", vec![1; flows.len()]),
    )
}

/// All tables that every run has.
pub fn tables(of: &[Flow]) -> Vec<Table> {
    let text = |text: &str| vec![text.to_owned()];
    vec![
        flows(of),
        complete(
            Table::new("counters", "")
                .text("name", "", ["pause_frames", "data_packets_sent"].map(str::to_owned).to_vec())
                .u64("value", "", vec![12, 1_000])
                .text("meaning", "", vec![String::new(); 2]),
        ),
        complete(
            Table::new("drops", "")
                .text("reason", "", text("queue_full"))
                .u64("queue", "", vec![0])
                .u64("packets", "", vec![3]),
        ),
        complete(
            Table::new("queues", "")
                .u64("tier", "", vec![0, 1])
                .u64("queue", "", vec![0, 1])
                .f64("mean_backlog_bytes", "", vec![100.0, 200.0])
                .u64("max_backlog_bytes", "", vec![1_000, 2_000]),
        ),
        complete(
            Table::new("depths", "")
                .u64("tier", "", vec![0, 0, 0])
                .u64("queue", "", vec![0, 0, 1])
                .u64("up_to_bytes", "", vec![0, 2_000, 4_000])
                .u64("samples", "", vec![8, 2, 10]),
        ),
    ]
}

/// Takes a run with these tables into the evidence.
pub fn add(
    evidence: &mut Evidence,
    experiment: &str,
    variant: &str,
    replication: u32,
    tables: &[Table],
) {
    let run = Run {
        variant,
        replication,
        seed: 1,
        key: "",
        tables,
        hops: 1,
        wall_s: 0.0,
        simulated_ns: END_NS,
        fingerprint: 0,
        violations: &[],
        stop: "all flows finished",
    };
    evidence.add(experiment, &run);
}

/// All numbers of a study, those of checks too.
pub fn parts(study: &Study, evidence: &Evidence) -> Vec<Part> {
    let (claims, checks) = study.judge(evidence);
    claims.into_iter().flat_map(|claim| claim.parts).chain(checks).collect()
}
