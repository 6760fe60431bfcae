//! Networks that are run in blocks, two windows at a time: what they do is what they do otherwise.

use std::sync::atomic::AtomicBool;

use crate::common::{busy_flows, clos, flow, plain, quick_dcqcn};
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::congestion;
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::{Outcome, Simulation, Spec};

fn run(spec: &Spec, blocks: Option<usize>, threads: usize) -> Outcome {
    let mut simulation = Simulation::new(spec.clone());
    if let Some(ports) = blocks {
        simulation = simulation.in_blocks_of(ports);
    }
    let outcome =
        simulation.run_with(&Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} });
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// Eight leaves with four hosts each and four spines, with pauses and DCQCN. A window is the time of the shortest frame
/// and of a link: 84 bytes at 100 Gb/s and 200 ns.
fn busy() -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch.queue.size = Bytes(200_000);
    spec.switch.flow_control.pfc =
        Some(pfc::Spec { xoff: Bytes(50_000), xon: Bytes(40_000), ..pfc::Spec::default() });
    crate::common::control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    spec
}

const WINDOW: u64 = 206_720;

/// One leaf in a block; several; all of a side; and on threads that have half of them each.
const SHAPES: [(usize, usize); 5] = [(1, 1), (40, 1), (1_000, 1), (40, 2), (1, 3)];

#[test]
fn blocks_do_not_change_a_run_that_ends_by_its_time() {
    let mut spec = busy();
    spec.end = Duration::from_us(250);
    // Within a window with an even number, and within one with an odd number; samples in both.
    let marks = [(40 * WINDOW + 77, 1_000 * WINDOW + 1), (41 * WINDOW + 77, 1_001 * WINDOW + 1)];
    for (warmup, until) in marks {
        spec.warmup = Duration(warmup);
        spec.measured_until = Duration(until);
        spec.sample_interval = Duration(33_333);
        let expected = run(&spec, None, 1);
        assert!(expected.counter("tier_0_xoff_frames") > 0, "pauses are counted between the marks");
        for (ports, threads) in SHAPES {
            let outcome = run(&spec, Some(ports), threads);
            assert_eq!(outcome.fingerprint, expected.fingerprint, "{ports} ports, {threads}");
        }
    }
}

#[test]
fn blocks_of_any_size_agree_where_flows_end_the_measured_interval_or_the_run() {
    let mut spec = busy();
    spec.flows.retain(|flow| flow.start < Instant(150_000_000) && flow.bytes < 300_000);
    spec.measured_until = Duration::from_us(100);
    for (awaited, persistent) in
        [(vec![false, true], true), (vec![false, true], false), (vec![], false)]
    {
        let mut spec = spec.clone();
        if persistent {
            spec.flows.insert(0, flow(4, 0, FlowSpec::PERSISTENT, 0));
        }
        spec.awaited = awaited;
        let expected = run(&spec, Some(1), 1);
        assert_eq!(expected.stop.name(), "flows_done");
        for (ports, threads) in SHAPES {
            let outcome = run(&spec, Some(ports), threads);
            assert_eq!(outcome.fingerprint, expected.fingerprint, "{ports} ports, {threads}");
        }
    }
}

/// 2,048 hosts have more than the 6,500 ports from which on a network is run in blocks. The last byte has arrived in a
/// window, and its acknowledgment is in the network for four more: the run ends before the next one with an even
/// number, exactly.
#[test]
fn flows_end_a_large_network_before_a_window_with_an_even_number() {
    let flows = (0..30).map(|src| flow(64 * src + 40, 7, 20_480, 100 * u64::from(src)));
    let spec = plain(clos(64, 32, 32), flows.collect());
    let one = run(&spec, None, 1);
    assert_eq!(one.stop.name(), "flows_done");
    let fcts = one.table("flows");
    let done = (0..30).map(|at| fcts.f64s("fct_ns")[at] + 100.0 * at as f64).fold(0.0, f64::max);
    let last = (done * 1e3) as u64 / WINDOW;
    assert_eq!(one.simulated, Instant((last + 1).next_multiple_of(2) * WINDOW));
    assert_eq!(run(&spec, None, 2).fingerprint, one.fingerprint);
    assert_eq!(run(&spec, Some(2_000), 1).fingerprint, one.fingerprint);
}
