//! How much memory data takes, against arithmetic.

use crate::common::timeline::{burst, datagrams_of, full_frames, slow_star};
use crate::common::*;
use floodway_model::{Duration, FlowSpec};
use floodway_sim::host::congestion;
use floodway_sim::host::transport::udp;
use floodway_sim::{Outcome, Spec};

/// A full packet on the wire at 100 Gb/s.
const FULL: u64 = (1024 + 62 + 20) * 80;
const FRAME: u64 = 1024 + 62;

/// Two incasts of two hosts each at one switch: hosts 0 and 1 send ten packets each to host 2 and
/// hosts 3 and 4 to host 5, all at once. A sample is taken with every packet.
fn two_incasts() -> Spec {
    let to = |dst, src| flow(src, dst, 10 * 1024, 0);
    let flows = vec![to(2, 0), to(2, 1), to(5, 3), to(5, 4)];
    let mut spec = plain(star(6), flows);
    spec.sample_interval = Duration(FULL);
    spec
}

/// `occupancy` of one scope: upper edges of bins and samples.
fn bins(outcome: &Outcome, scope: &str) -> Vec<(u64, u64)> {
    let table = outcome.table("occupancy");
    let rows = table.u64s("up_to_bytes").iter().zip(table.u64s("samples"));
    let of_scope = rows.zip(table.texts("scope")).filter(|(_, of)| of == &scope);
    of_scope.map(|((edge, samples), _)| (*edge, *samples)).collect()
}

#[test]
fn two_incasts_by_hand() {
    let outcome = run(two_incasts());
    // Packets come in pairs and leave one by one: after each pair one more waits, up to ten; then
    // they drain. Samples 4 to 22, from 353.92 ns on, see 1, 2, ..., 10, 9, ..., 1 at each port.
    let waits: Vec<u64> = (1..=10).chain((1..10).rev()).collect();
    let switches = outcome.table("switches");
    assert_eq!(switches.u64s("max_port_occupancy_bytes"), [10 * FRAME]);
    assert_eq!(switches.u64s("max_occupancy_bytes"), [20 * FRAME]);
    assert_eq!((switches.u64s("tier"), switches.u64s("ports")), (&[0][..], &[6][..]));
    let samples = switches.u64s("samples")[0];
    let sum = 2 * waits.iter().sum::<u64>() * FRAME;
    assert_eq!(switches.f64s("mean_occupancy_bytes"), [sum as f64 / samples as f64]);

    // Into quarter octaves: each value is in the bin whose upper edge is the first not below it.
    for (scope, of_switch, ports) in [("port", 1, 2), ("switch", 2, 1)] {
        let bins = bins(&outcome, scope);
        let all = if scope == "port" { 6 * samples } else { samples };
        assert_eq!(bins.iter().map(|(_, samples)| samples).sum::<u64>(), all, "{scope}");
        assert_eq!(bins[0], (0, all - ports * 19), "{scope}");
        let mut below = 0;
        for (edge, samples) in &bins[1..] {
            let inside = |waits: &&u64| {
                below < **waits * of_switch * FRAME && **waits * of_switch * FRAME <= *edge
            };
            assert_eq!(
                *samples,
                ports * waits.iter().filter(inside).count() as u64,
                "{scope} {edge}"
            );
            below = *edge;
        }
        assert_eq!(bins.last().unwrap().0, if scope == "port" { 11_313 } else { 22_627 });
    }
}

#[test]
fn control_frames_take_no_memory_of_data() {
    // A thousand packets one way and their acknowledgements the other: nothing ever waits, and
    // what passes is there for no time.
    let outcome = run(plain(star(2), vec![flow(0, 1, 1_024_000, 0)]));
    let switches = outcome.table("switches");
    assert_eq!(switches.u64s("max_occupancy_bytes"), [FRAME]);
    assert_eq!(switches.f64s("mean_occupancy_bytes"), [0.0]);
    assert_eq!(bins(&outcome, "switch").len(), 1);
}

#[test]
fn samples_are_of_the_measurement_and_maxima_of_the_run() {
    let mut spec = two_incasts();
    // From sample 8 to 9 of those above, counted from the beginning.
    (spec.warmup, spec.measured_until) = (Duration(8 * FULL), Duration(10 * FULL));
    let outcome = run(spec);
    let switches = outcome.table("switches");
    assert_eq!(switches.u64s("samples"), [2]);
    assert_eq!(switches.f64s("mean_occupancy_bytes"), [(10 + 12) as f64 / 2.0 * FRAME as f64]);
    assert_eq!(switches.u64s("max_occupancy_bytes"), [20 * FRAME]);
}

#[test]
fn the_whole_is_as_its_parts_say() {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch = isolating();
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    spec.end = Duration::from_ms(1);
    let outcome = run(spec);
    let (switches, queues) = (outcome.table("switches"), outcome.table("queues"));
    let control = *queues.u64s("queue").iter().max().unwrap();
    for (row, node) in switches.texts("node").iter().enumerate() {
        let of_node =
            |at: &usize| queues.texts("node")[*at] == *node && queues.u64s("queue")[*at] != control;
        let rows: Vec<usize> = (0..queues.rows()).filter(of_node).collect();
        let means: f64 = rows.iter().map(|&at| queues.f64s("mean_backlog_bytes")[at]).sum();
        let mean = switches.f64s("mean_occupancy_bytes")[row];
        assert!((means - mean).abs() <= 1e-9 * mean, "{node}: {means} and {mean}");
        let most = rows.iter().map(|&at| queues.u64s("max_backlog_bytes")[at]);
        let (port, switch) = (
            switches.u64s("max_port_occupancy_bytes")[row],
            switches.u64s("max_occupancy_bytes")[row],
        );
        assert!(most.clone().max().unwrap() <= port && port <= switch);
        assert!(switch <= most.sum());
    }
    let busiest = *switches.u64s("max_occupancy_bytes").iter().max().unwrap();
    assert!(busiest > 100_000, "{busiest}: the run proves nothing");
}

#[test]
fn an_empty_network_has_no_occupancy() {
    let mut spec = plain(star(2), vec![flow(0, 1, FlowSpec::PERSISTENT, 900_000)]);
    spec.end = Duration::from_us(500);
    let outcome = run(spec);
    assert_eq!(outcome.table("switches").u64s("max_occupancy_bytes"), [0]);
    assert_eq!(bins(&outcome, "port"), [(0, 2 * 50)]);
}

/// Six frames of 1000 bytes come to a port of 10 Gb/s from 8982 ns on, and are 816 ns on its wire: at the
/// sample at 10 us one has left and one is on the wire. Four wait, 4000 bytes, which is 1000 x 2^(8/4) and
/// so the edge of a bin.
#[test]
fn an_edge_is_in_the_bin_below_it() {
    let frames = FlowSpec { bytes: 6 * 954, ..burst(0, 1, 0, 9_000) };
    let mut spec = full_frames(slow_star(2), vec![frames]);
    spec.profiles = vec![datagrams_of(954, udp::Field::NotEct); 2];
    let outcome = run(spec);
    let depths = outcome.table("depths");
    let rows = depths.u64s("up_to_bytes").iter().zip(depths.u64s("samples"));
    let filled: Vec<(u64, u64)> =
        rows.filter(|row| *row.0 > 0 && *row.1 > 0).map(|(a, b)| (*a, *b)).collect();
    assert_eq!(filled, [(4_000, 1)]);
}
