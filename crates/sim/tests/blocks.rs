//! Networks that are run in blocks, several windows at a time: what they do is what they do otherwise.

use std::sync::atomic::AtomicBool;

use crate::common::{busy_flows, clos, flow, plain, quick_dcqcn};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant};
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

/// The same with links of 3 ns to hosts. A window is 9.72 ns, a frame between two switches takes 21 of them, and a
/// block runs 42 at a time.
fn near_hosts() -> Spec {
    let mut spec = busy();
    shorten_host_links(&mut spec.graph);
    spec
}

const SHORT_WINDOW: u64 = 9_720;

fn shorten_host_links(graph: &mut Graph) {
    let hosts: Vec<bool> =
        graph.ids().map(|id| matches!(graph.node(id).kind, NodeKind::Host)).collect();
    for (node, is_host) in graph.nodes.iter_mut().zip(&hosts) {
        let short = node.ports.iter_mut().filter(|end| *is_host || hosts[end.peer.index()]);
        short.for_each(|end| end.delay = Duration(3_000));
    }
}

/// One leaf in a block; several; all of a side; and on threads that have half of them each.
const SHAPES: [(usize, usize); 5] = [(1, 1), (40, 1), (1_000, 1), (40, 2), (1, 3)];

#[test]
fn blocks_do_not_change_a_run_that_ends_by_its_time() {
    // Within a window with an even number, and within one with an odd number; samples in both.
    let marks = [(40 * WINDOW + 77, 1_000 * WINDOW + 1), (41 * WINDOW + 77, 1_001 * WINDOW + 1)];
    let cases =
        [busy(), near_hosts()].into_iter().flat_map(|spec| marks.map(|mark| (spec.clone(), mark)));
    for (mut spec, (warmup, until)) in cases {
        spec.end = Duration::from_us(250);
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
    let awaited = [(vec![false, true], true), (vec![false, true], false), (vec![], false)];
    let cases = [busy(), near_hosts()].into_iter();
    let cases = cases.flat_map(|spec| awaited.clone().map(|awaited| (spec.clone(), awaited)));
    for (mut spec, (awaited, persistent)) in cases {
        spec.flows.retain(|flow| flow.start < Instant(150_000_000) && flow.bytes < 300_000);
        spec.measured_until = Duration::from_us(100);
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

/// 2,048 hosts have more than the 6,500 ports from which on a network is run in blocks. When the last byte has arrived, its
/// acknowledgment is in the network for some time: the run ends when the next stretch begins, exactly.
#[test]
fn flows_end_a_large_network_between_two_stretches() {
    let flows = (0..30).map(|src| flow(64 * src + 40, 7, 20_480, 100 * u64::from(src)));
    let mut spec = plain(clos(64, 32, 32), flows.collect());
    for stretch in [2 * WINDOW, 42 * SHORT_WINDOW] {
        let one = run(&spec, None, 1);
        assert_eq!(one.stop.name(), "flows_done");
        let fcts = one.table("flows");
        let done = |at: usize| fcts.f64s("fct_ns")[at] + 100.0 * at as f64;
        let last = (0..30).map(done).fold(0.0, f64::max);
        assert_eq!(one.simulated, Instant(((last * 1e3) as u64 + 1).next_multiple_of(stretch)));
        assert_eq!(run(&spec, None, 2).fingerprint, one.fingerprint);
        assert_eq!(run(&spec, Some(2_000), 1).fingerprint, one.fingerprint);
        shorten_host_links(&mut spec.graph);
    }
}
