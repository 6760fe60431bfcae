//! What is recorded of packets that leave queues, against arithmetic.

use crate::common::*;
use floodway_model::Duration;
use floodway_sim::{Outcome, Spec};

/// A full packet on the wire at 100 Gb/s.
const FULL: u64 = (1024 + 62 + 20) * 80;

/// Hosts 0 and 1 send ten packets each to host 2, all at once.
fn incast() -> Spec {
    let mut spec = plain(star(3), vec![flow(0, 2, 10 * 1024, 0), flow(1, 2, 10 * 1024, 0)]);
    spec.departures = true;
    spec
}

/// The bins of one kind: upper edges and departures.
fn bins(outcome: &Outcome, kind: &str) -> Vec<(u64, u64)> {
    let table = outcome.table("departures");
    assert!(table.u64s("port").iter().all(|&port| port == 2));
    assert!(table.texts("node").iter().all(|node| node == "switch"));
    let rows = table.u64s("up_to").iter().zip(table.u64s("departures"));
    let of_kind = rows.zip(table.texts("kind")).filter(|(_, of)| of == &kind);
    of_kind.map(|((edge, departures), _)| (*edge, *departures)).collect()
}

#[test]
fn an_incast_by_hand() {
    let outcome = run(incast());
    // Packets come in pairs, and one leaves in the time of a pair. The first leaves a queue of one
    // at once, then queues of 1, 2, ..., 10, and what is left of the twenty.
    let lengths = (1..=10).map(|length| (length, if length == 10 { 1 } else { 2 }));
    let mut lengths: Vec<(u64, u64)> = lengths.collect();
    lengths[0].1 = 3;
    assert_eq!(bins(&outcome, "packets"), lengths);
    // Packet n comes in pair n/2 and leaves n packets after the first: it waits n - n/2.
    let waits = (0..20).map(|n| n - n / 2).collect::<Vec<u64>>();
    let sojourns = outcome.table("sojourns");
    assert_eq!(sojourns.u64s("departures"), [20]);
    let mean = waits.iter().sum::<u64>() as f64 * FULL as f64 / 20e3;
    assert_eq!(sojourns.f64s("mean_sojourn_ns"), [mean]);
    assert_eq!(sojourns.f64s("max_sojourn_ns"), [10.0 * FULL as f64 / 1e3]);
    // 0, 88.48, 176.96, ... ns, rounded up to the edge of a bin: at most 1/64 more.
    let times = bins(&outcome, "sojourn_ns");
    assert_eq!(
        times.iter().map(|bin| bin.1).collect::<Vec<_>>(),
        [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    );
    for (n, (edge, _)) in times.iter().enumerate() {
        let exact = n as f64 * FULL as f64 / 1e3;
        assert!(
            (exact..=exact * 65.0 / 64.0 + 1.0).contains(&(*edge as f64)),
            "{edge} for {exact}"
        );
    }
}

#[test]
fn sojourn_times_over_time_by_hand() {
    // As above: packet n leaves at n + 1 packets and 200 ns, n + 3.26 packets, and has waited for half of n packets,
    // rounded up. In intervals of four packets these are packet 0, 1 to 4, 5 to 8, and so on.
    let mut spec = incast();
    spec.sample_interval = Duration(4 * FULL);
    let outcome = run(spec);
    let series = outcome.table("sojourn_series");
    let packets = |ns: &[f64]| -> Vec<f64> { ns.iter().map(|ns| ns * 1e3 / FULL as f64).collect() };
    assert_eq!(packets(series.f64s("time_ns")), [4.0, 8.0, 12.0, 16.0, 20.0, 24.0]);
    assert_eq!(series.u64s("departures"), [1, 4, 4, 4, 4, 3]);
    let means = packets(series.f64s("mean_sojourn_ns"));
    let expected = [0.0, 1.5, 3.5, 5.5, 7.5, 28.0 / 3.0];
    assert!(means.iter().zip(expected).all(|(mean, of)| (mean - of).abs() < 1e-9), "{means:?}");
    assert_eq!(packets(series.f64s("max_sojourn_ns")), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
}

#[test]
fn only_the_measurement_is_recorded() {
    // From the fourth departure to before the eighth: the first packet is at the switch after its
    // time on the wire and 200 ns of delay.
    let mut spec = incast();
    let at = |n: u64| Duration(FULL + 200_000 + n * FULL);
    (spec.warmup, spec.measured_until) = (at(4), at(8));
    let outcome = run(spec);
    assert_eq!(bins(&outcome, "packets"), [(4, 1), (5, 1), (6, 1), (7, 1)]);
}

#[test]
fn recording_changes_nothing() {
    for spec in
        [incast(), Spec { flows: busy_flows().into(), ..Spec { graph: clos(8, 4, 4), ..incast() } }]
    {
        let mut without = spec.clone();
        without.departures = false;
        let (with, without) = (run(spec), run(without));
        assert_eq!(fct_ps(&with), fct_ps(&without));
        assert_eq!(without.table("departures").rows() + without.table("sojourns").rows(), 0);
    }
}
