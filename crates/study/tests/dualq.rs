//! The measures of the study of the DualQ, by claims on evidence that can be computed by hand.

mod synthetic;

use floodway_model::Table;
use floodway_study::dualq::STUDY;
use floodway_study::{Evidence, Level};
use synthetic::{begin, claim, near};

/// Flows that deliver from the beginning at constant rates: workload and Mb/s of each.
fn rates(of: &[(u64, f64)]) -> Vec<Table> {
    let flows: Vec<synthetic::Flow> = of.iter().map(|(workload, _)| (0, *workload, None)).collect();
    let mut tables = synthetic::tables(&flows);
    let samples = || (0..=10_u64).flat_map(|at| (0..of.len()).map(move |flow| (at * 100, flow)));
    let bytes = |(second, flow): (u64, usize)| (of[flow].1 * second as f64 * 125e3).round() as u64;
    tables.push(
        Table::new("deliveries", "")
            .f64("time_ns", "", samples().map(|of| of.0 as f64 * 1e9).collect())
            .u64("flow", "", samples().map(|of| of.1 as u64).collect())
            .u64("delivered_bytes", "", samples().map(bytes).collect()),
    );
    tables
}

/// Two queues before the bottleneck with constant waits, and a third elsewhere that does not count.
fn waits(low_latency_ns: u64, classic_ns: u64) -> Table {
    let text = |of: [&str; 3]| of.map(str::to_owned).to_vec();
    Table::new("departures", "")
        .text("node", "", text(["left switch", "left switch", "right switch"]))
        .u64("port", "", vec![20; 3])
        .u64("queue", "", vec![0, 1, 0])
        .text("kind", "", text(["sojourn_ns"; 3]))
        .u64("up_to", "", vec![low_latency_ns, classic_ns, 7])
        .u64("departures", "", vec![10, 10, 1_000])
}

#[test]
fn ratios_are_of_mean_rates_and_geometric_over_runs_and_mixes() {
    let mut evidence = Evidence::new(&STUDY, Level::Standard, &[]);
    for (name, cubic, dctcp) in [("mix-1-1", 1, 1), ("mix-1-10", 1, 10), ("mix-10-1", 10, 1)] {
        begin(&mut evidence, name);
        // Ratios of 1/2 and 2 in two runs of 1+1; of 4 and of 1/4 in the others.
        let runs: &[f64] = match name {
            "mix-1-1" => &[0.5, 2.0],
            "mix-1-10" => &[4.0],
            _ => &[0.25],
        };
        for (replication, ratio) in runs.iter().enumerate() {
            let mut of = vec![(0, ratio * 2.0); cubic];
            // Unequal among each other, with a mean of 2.
            of.extend((0..dctcp).map(|at| match (dctcp, at % 2) {
                (1, _) => (1, 2.0),
                (_, 0) => (1, 1.0),
                _ => (1, 3.0),
            }));
            let mut tables = rates(&of);
            tables.push(waits(300_000, 32_000_000));
            synthetic::add(&mut evidence, name, "dualq", replication as u32, &tables);
        }
    }
    let claims = synthetic::parts(&STUDY, &evidence);
    near(claim(&claims, "C8b", "1+1").measured, 1.0);
    near(claim(&claims, "C8b", "1+10").measured, 4.0);
    near(claim(&claims, "C8b", "10+1").measured, 0.25);
    near(claim(&claims, "C8b", "DualQ").measured, 1.0);
    near(claim(&claims, "C7a", "worst mix").measured, 4.0);
    near(claim(&claims, "C7a", "rates").measured, 100.0 / 3.0);
    near(claim(&claims, "C7b", "low latency queue").measured, 0.3);
    near(claim(&claims, "C6", "classic queue, 1+1").measured, 32.0);
    assert_eq!(claim(&claims, "C8a", "RED").measured, None);
}

#[test]
fn one_queue_is_that_of_all_packets() {
    let mut evidence = Evidence::new(&STUDY, Level::Standard, &[]);
    begin(&mut evidence, "mix-5-5");
    for (variant, low_latency) in [("coupled", 40_000_000), ("dualq", 400_000)] {
        let mut tables = rates(&[(0, 4.0), (1, 4.0)]);
        tables.push(waits(low_latency, 38_000_000));
        synthetic::add(&mut evidence, "mix-5-5", variant, 0, &tables);
    }
    let claims = synthetic::parts(&STUDY, &evidence);
    near(claim(&claims, "C6", "against one queue").measured, 0.01);
    near(claim(&claims, "C6", "low latency, median").measured, 0.4);
    near(claim(&claims, "C6", "classic queue, 5+5").measured, 38.0);
}

#[test]
fn laws_are_found_again() {
    let mut evidence = Evidence::new(&STUDY, Level::Standard, &[]);
    // Packets of 1430 bytes in a round trip of 10 ms, by probability.
    let mut flow = |variant: &str, probabilities: [&str; 5], window: &dyn Fn(f64) -> f64| {
        for text in probabilities {
            let name = format!("law-{variant}-10ms-{text}");
            begin(&mut evidence, &name);
            let mbps = window(text.parse().unwrap()) * 1_430.0 * 8.0 / 10e3;
            synthetic::add(&mut evidence, &name, variant, 0, &rates(&[(0, mbps)]));
        }
    };
    flow("reno", ["0.0001", "0.0003", "0.001", "0.003", "0.01"], &|p| 1.22 / p.sqrt());
    flow("dctcp", ["0.003", "0.01", "0.03", "0.1", "0.3"], &|p| 2.0 / p);
    let claims = synthetic::parts(&STUDY, &evidence);
    near(claim(&claims, "C4", "Reno, exponent").measured, -0.5);
    near(claim(&claims, "C4", "Reno, constant").measured, 1.22);
    near(claim(&claims, "C4", "DCTCP, exponent").measured, -1.0);
    near(claim(&claims, "C4", "DCTCP, constant").measured, 2.0);
    near(claim(&claims, "C4", "coupling").measured, 2.0 / 1.22);
}

#[test]
fn ages_of_frames_are_those_made_after_the_warm_up() {
    let mut evidence = Evidence::new(&STUDY, Level::Standard, &[]);
    begin(&mut evidence, "interactive-dctcp");
    let frames = |age_ns: f64| {
        let made: Vec<f64> = (0..100).map(|at| at as f64 * 1e9 + 1.0).collect();
        // Those of the warm-up, ten of them, take ten times as long.
        let age = |made: &f64| made + if *made < 10e9 { 10.0 * age_ns } else { age_ns };
        Table::new("frames", "")
            .u64("flow", "", vec![2; 100])
            .u64("bytes", "", vec![1_000; 100])
            .f64("arrived_ns", "", made.iter().map(age).collect())
            .f64("made_ns", "", made)
    };
    for (variant, age_ns) in [("red", 80e6), ("dualq", 20e6)] {
        for replication in 0..2 {
            let mut tables = rates(&[(0, 10.0), (1, 10.0), (2, 2.0)]);
            tables.push(frames(age_ns));
            synthetic::add(&mut evidence, "interactive-dctcp", variant, replication, &tables);
        }
    }
    let claims = synthetic::parts(&STUDY, &evidence);
    near(claim(&claims, "P5", "DCTCP, DualQ against RED").measured, -75.0);
}
