//! The measures of the study of short-range interconnects, by claims on evidence that can be computed
//! by hand.

use crate::synthetic::{self, begin, claim, near};
use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_study::{Evidence, Level, Study, named};

fn study() -> &'static Study {
    named("short-range").unwrap().unwrap()
}

/// The tables of a run with these counters, and so many packets dropped in all.
fn run(counters: &[(&str, u64)], drops: u64) -> Vec<Table> {
    let mut tables = synthetic::tables(&[(1_000, 0, None)]);
    tables.retain(|table| !["counters", "drops"].contains(&&*table.name));
    tables.push(complete(
        Table::new("counters", "")
            .text("name", "", counters.iter().map(|of| of.0.to_owned()).collect())
            .u64("value", "", counters.iter().map(|of| of.1).collect())
            .text("meaning", "", vec![String::new(); counters.len()]),
    ));
    tables.push(complete(
        Table::new("drops", "")
            .text("reason", "", vec!["queue_full".to_owned()])
            .u64("queue", "", vec![0])
            .u64("packets", "", vec![drops]),
    ));
    tables
}

/// Frames that take this long, and what is delivered in a second.
fn frames(gbps: u64, latency_ns: u64) -> Vec<Table> {
    let bytes = gbps * 1_000_000_000 / 8;
    let mut tables = run(&[("data_bytes_delivered", bytes), ("measured_ns", 1_000_000_000)], 0);
    tables.push(complete(
        Table::new("latencies", "")
            .u64("workload", "", vec![0])
            .u64("up_to_ns", "", vec![latency_ns])
            .u64("packets", "", vec![10])
            .f64("total_ns", "", vec![10.0 * latency_ns as f64]),
    ));
    tables
}

#[test]
fn changes_over_a_sweep_are_geometric_over_sizes_and_runs() {
    let mut evidence = Evidence::new(study(), Level::Standard, &[]);
    // Ratios of throughput 2 and 1/2 of the first size, 4 and 1 of the second: a mean of √2. Of
    // latency always a half.
    for (size, ratios) in
        [("backplane-32", [(10, 20), (20, 10)]), ("backplane-64", [(10, 40), (20, 20)])]
    {
        begin(&mut evidence, size);
        for (replication, (from, to)) in ratios.into_iter().enumerate() {
            let at = replication as u32;
            synthetic::add(&mut evidence, size, "none", at, &frames(1, 1));
            synthetic::add(&mut evidence, size, "pause-egress", at, &frames(from, 100));
            synthetic::add(&mut evidence, size, "drc", at, &frames(to, 50));
        }
    }
    let claims = synthetic::parts(study(), &evidence);
    let of = |id, part| claim(&claims, id, part).measured;
    near(of("B2a", "throughput, 802.3x at the output"), (2_f64.sqrt() - 1.0) * 100.0);
    near(of("B2a", "latency, 802.3x at the output"), -50.0);
    assert_eq!(of("B2b", "throughput, 802.3x at the input"), None);
}

/// Entries of two workloads, with these response times and a kilobyte each, every millisecond.
fn entries(responses_ns: [&[f64]; 2], dropped: u64, measured_drops: u64) -> Vec<Table> {
    let counters = [
        ("measured_ns", 1_000_000),
        ("warmup_ns", 0),
        ("dropped_packets", measured_drops),
        ("data_bytes_delivered", 1_448_000),
        ("data_packets_sent", 1_000),
    ];
    let mut tables = run(&counters, dropped);
    tables[0] = synthetic::flows(&[(u64::MAX, 0, None), (u64::MAX, 1, None)]);
    let all: Vec<(u64, f64)> = (0..2_u64)
        .flat_map(|flow| responses_ns[flow as usize].iter().map(move |time| (flow, *time)))
        .collect();
    let count = all.len();
    tables.push(complete(
        Table::new("entries", "")
            .u64("flow", "", all.iter().map(|of| of.0).collect())
            .f64("requested_ns", "", vec![0.0; count])
            .u64("bytes", "", vec![1_000; count])
            .f64("arrived_ns", "", all.iter().map(|of| of.1).collect())
            .f64("completed_ns", "", all.iter().map(|of| of.1).collect())
            .u64("measured", "", vec![1; count]),
    ));
    tables
}

#[test]
fn responses_are_means_over_entries_and_losses_those_of_whole_runs() {
    let mut evidence = Evidence::new(study(), Level::Standard, &[]);
    begin(&mut evidence, "entries");
    for at in 0..2 {
        // Three entries of 100 ns and one of 500: a mean of 200. Then eight of 100.
        let slow = entries([&[100.0, 100.0, 100.0], &[500.0]], 50, 50);
        synthetic::add(&mut evidence, "entries", "none", at, &slow);
        let fast = entries([&[100.0; 4], &[100.0; 4]], 3, 1);
        synthetic::add(&mut evidence, "entries", "l2ci", at, &fast);
    }
    let claims = synthetic::parts(study(), &evidence);
    near(claim(&claims, "B4", "throughput, no flow control").measured, 100.0);
    near(claim(&claims, "B4", "response time, no flow control").measured, -50.0);
    near(claim(&claims, "B5", "drops, no flow control").measured, 6.0);
    near(claim(&claims, "B5", "initial drops").measured, 2.0);
}

#[test]
fn headers_of_tcp_and_ip_are_above_l2() {
    let mut evidence = Evidence::new(study(), Level::Standard, &[]);
    begin(&mut evidence, "mixed-64");
    begin(&mut evidence, "mixed-32");
    for (name, lost) in [("mixed-64", [0, 4]), ("mixed-32", [7, 0])] {
        for (at, lost) in (0..).zip(lost) {
            let of = |drops| entries([&[100.0], &[300.0]], drops, 0);
            synthetic::add(&mut evidence, name, "pause", at, &of(0));
            synthetic::add(&mut evidence, name, "l2ci", at, &of(10));
            synthetic::add(&mut evidence, name, "red", at, &of(200));
            synthetic::add(&mut evidence, name, "drc-l2ci", at, &of(lost));
        }
    }
    let claims = synthetic::parts(study(), &evidence);
    // 1448 bytes and 52 of headers a microsecond.
    near(claim(&claims, "B6", "").measured, 100.0 * (1.5 / 2.434 - 1.0));
    near(claim(&claims, "B7a", "drops, ECN").measured, 5.0);
    near(claim(&claims, "B7a", "drops, DRC").measured, 4.0);
    near(claim(&claims, "B9", "drops").measured, 11.0);
    near(claim(&claims, "B9", "largest response").measured, 300.0);
}
