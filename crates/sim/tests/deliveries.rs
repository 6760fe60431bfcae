//! What flows without a size deliver over time.

use crate::common::*;
use floodway_model::{Duration, FlowSpec};
use floodway_sim::host::congestion;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

/// A full packet on the wire at 100 Gb/s, and its way over one switch.
const FULL: u64 = (1024 + 62 + 20) * 80;
const WAY: u64 = 2 * (FULL + 200_000);

/// Rows of the table: time in ps, flow, bytes.
fn rows(outcome: &Outcome) -> Vec<(u64, u64, u64)> {
    let table = outcome.table("deliveries");
    let times = table.f64s("time_ns").iter().map(|ns| (ns * 1e3).round() as u64);
    let rest = table.u64s("flow").iter().zip(table.u64s("delivered_bytes"));
    times.zip(rest).map(|(time, (flow, bytes))| (time, *flow, *bytes)).collect()
}

#[test]
fn a_flow_alone_by_hand() {
    let flows = vec![flow(0, 1, FlowSpec::PERSISTENT, 0)];
    let mut spec = plain(star(2), flows);
    spec.end = Duration(2_000_000);
    // Packet n comes at WAY + n * FULL; what comes at the time of a sample is not in it.
    for (interval, first) in [(WAY, 0), (WAY + 1, 1024), (WAY + FULL, 1024)] {
        spec.flow_samples = Some(Duration(interval));
        let come = |at: u64| (at - WAY).div_ceil(FULL);
        let times = (1..=2_000_000 / interval).map(|sample| sample * interval);
        let expected: Vec<_> = times.map(|at| (at, 0, come(at) * 1024)).collect();
        assert_eq!(rows(&run(spec.clone())), expected);
        assert_eq!(expected[0].2, first);
    }
    // The end of the run is a sample too: 17 packets, the last at 1992.64 ns.
    spec.flow_samples = Some(Duration(1_000_000));
    let packets = [5, 17].map(|packets| packets * 1024);
    assert_eq!(rows(&run(spec)), [(1_000_000, 0, packets[0]), (2_000_000, 0, packets[1])]);
}

#[test]
fn every_flow_without_a_size_and_no_other_has_a_row_per_sample() {
    let forever = |src, start| flow(src, 3, FlowSpec::PERSISTENT, start);
    let flows = vec![forever(0, 0), flow(1, 3, 50_000, 0), forever(2, 50_000)];
    let mut spec = plain(star(4), flows);
    (spec.end, spec.flow_samples) = (Duration::from_us(100), Some(Duration::from_us(30)));
    spec.flows.push(flow(1, 0, 1_000_000_000, 60_000));
    let rows = rows(&run(spec));
    let keys: Vec<_> = rows.iter().map(|(time, flow, _)| (time / 1_000_000, *flow)).collect();
    assert_eq!(keys, [(30, 0), (30, 2), (60, 0), (60, 2), (90, 0), (90, 2)]);
    // The second begins at 50 us; both send until the end.
    assert_eq!(rows[1].2, 0);
    assert!(rows[0].2 > 0 && rows[3].2 > 0 && rows[5].2 > rows[3].2);
}

/// A busy network with pauses, in which senders of flows without a size stand still for long.
fn busy() -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch = isolating();
    spec.switch.flow_control.pfc = Some(prompt_pfc());
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    spec.end = Duration::from_ms(2);
    spec
}

fn on(threads: usize, spec: Spec) -> Outcome {
    let stop = std::sync::atomic::AtomicBool::new(false);
    Simulation::new(spec).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
}

#[test]
fn samples_disturb_nothing_and_are_the_same_for_any_number_of_threads() {
    let without = run(busy());
    assert_eq!(without.table("deliveries").rows(), 0);
    for interval in [Duration::from_us(10), Duration(7_654_321)] {
        let mut spec = busy();
        spec.flow_samples = Some(interval);
        let with = run(spec.clone());
        for (a, b) in without.tables.iter().zip(&with.tables) {
            let same = format!("{a:?}") == format!("{b:?}");
            assert_eq!(same, a.name != "deliveries", "{}", a.name);
        }
        assert_eq!((without.simulated, without.hops), (with.simulated, with.hops));
        for threads in [2, 3, 8] {
            assert_eq!(
                on(threads, spec.clone()).fingerprint,
                with.fingerprint,
                "{threads} threads"
            );
        }
        // The last samples are what the flows had delivered a little before the end.
        let flows = with.table("flows");
        let last = rows(&with);
        let last: Vec<_> = last.iter().rev().take(12).collect();
        assert_eq!(with.table("deliveries").rows() as u64, 12 * (with.simulated.0 / interval.0));
        for (_, flow, bytes) in last {
            let at_end = flows.u64s("delivered_bytes")[*flow as usize];
            assert!(*bytes > 0 && *bytes <= at_end);
        }
    }
}
