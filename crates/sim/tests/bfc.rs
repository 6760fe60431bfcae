//! Backpressure Flow Control in a network: no flow waits for another one's congestion, nothing is
//! reordered (checked on every flow of every run by `common::run`, as are the pause counters), and
//! the number of threads does not matter.

use crate::common::*;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId};
use floodway_sim::host::congestion;
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::{self, bfc, pfc};
use floodway_sim::{Outcome, Simulation, Spec};
use proptest::prelude::*;

fn backpressure(queues: u8) -> flow_control::Spec {
    let bfc = Some(bfc::Spec { queues, ..Default::default() });
    flow_control::Spec { bfc, ..Default::default() }
}

/// Host 1 sends to host 0, to which eight others send too, and to host 10, to which none does:
/// what each of the two flows gets of the 100 Gb/s.
fn beside_an_incast(flow_control: flow_control::Spec) -> [f64; 2] {
    let persistent = |src, dst| flow(src, dst, FlowSpec::PERSISTENT, 0);
    let mut flows = vec![persistent(1, 0), persistent(1, 10)];
    flows.extend((2..10).map(|src| persistent(src, 0)));
    let mut spec = plain(star(11), flows);
    spec.switch.flow_control = flow_control;
    spec.end = Duration::from_ms(2);
    let outcome = run(spec);
    let delivered = outcome.table("flows").u64s("delivered_bytes");
    // What one flow alone would get in 2 ms: 1024 bytes every 88.48 ns.
    [delivered[0], delivered[1]].map(|bytes| bytes as f64 / (1024.0 * 2e6 / 88.48))
}

#[test]
fn a_paused_flow_holds_back_no_other() {
    let [congested, free] = beside_an_incast(backpressure(32));
    // A ninth of the receiver's link, and all the rest of the sender's: far more than half.
    assert!((congested - 1.0 / 9.0).abs() < 0.01, "{congested}");
    assert!((free - 8.0 / 9.0).abs() < 0.02, "{free}");
}

#[test]
fn the_record_has_paused_physical_queues() {
    // The share of samples at which the queue of a host is paused is the share of time that it is.
    let flows = vec![flow(1, 0, FlowSpec::PERSISTENT, 0), flow(2, 0, FlowSpec::PERSISTENT, 0)];
    let mut spec = plain(star(3), flows);
    spec.switch.flow_control = backpressure(32);
    spec.end = Duration::from_ms(2);
    spec.record = Some(10_000);
    // Prime to the frames, so that no phase is preferred.
    spec.sample_interval = Duration::from_ns(997);
    let outcome = run(spec);
    let table = outcome.table("samples");
    let rows = table.texts("node").iter().zip(table.u64s("held"));
    let held: u64 = rows.filter(|(node, _)| node.starts_with("host")).map(|(_, held)| held).sum();
    let interval_us = outcome.table("record").f64s("interval_ns")[0] / 1e3;
    let sampled = held as f64 * interval_us;
    let paused = outcome.counter("bfc_paused_ns") as f64 / 1e3;
    assert!(paused > 500.0, "{paused}");
    assert!((sampled / paused - 1.0).abs() < 0.05, "{sampled} us at samples, {paused} us");
    // Both senders have half of the link, so each is paused half of the time.
    assert!((paused / 2_000.0 - 1.0).abs() < 0.1, "{paused}");
}

#[test]
fn with_pfc_it_does() {
    let pfc = Some(pfc::Spec { xoff: Bytes(50_000), ..prompt_pfc() });
    let [congested, free] = beside_an_incast(flow_control::Spec { pfc, ..Default::default() });
    // The two take turns in one class, which stops as a whole: neither has more than the share of
    // one of nine senders, and most of the link to the idle host is wasted.
    assert!((free - congested).abs() < 0.01 && free < 1.0 / 9.0, "{free} and {congested}");
}

#[test]
fn flows_that_share_a_physical_queue_hold_each_other_back() {
    // With one physical queue it is PFC with another threshold.
    let [congested, free] = beside_an_incast(backpressure(1));
    assert!((free - congested).abs() < 0.01, "{free} and {congested}");
}

#[test]
fn below_pfc_it_leaves_pfc_nothing_to_do() {
    let mut both = backpressure(32);
    both.pfc = Some(pfc::Spec { xoff: Bytes(500_000), ..prompt_pfc() });
    let [congested, free] = beside_an_incast(both);
    assert!((congested - 1.0 / 9.0).abs() < 0.01 && free > 0.86, "{congested} {free}");
}

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random.
fn busy(queues: u8) -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch.flow_control = backpressure(queues);
    spec.end = Duration::from_ms(2);
    spec
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let on = |threads| -> Outcome {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(busy(4)).run_with(&run)
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    for counter in ["bfc_pauses", "bfc_resumes", "bfc_paused_ns", "bfc_collisions"] {
        assert!(one.counter(counter) > 0, "no {counter}: the run proves nothing");
    }
    for threads in [2, 3] {
        let other = on(threads);
        assert_eq!(format!("{:?}", one.tables), format!("{:?}", other.tables), "{threads}");
        assert_eq!(one.fingerprint, other.fingerprint, "{threads} threads");
    }
}

#[test]
fn more_physical_queues_are_shared_less() {
    let collisions = [2, 8, 64].map(|queues| run(busy(queues)).counter("bfc_collisions"));
    assert!(collisions.is_sorted_by(|few, many| few > many), "{collisions:?}");
}

#[test]
fn what_congests_waits_at_its_source() {
    // Without flow control the incast fills the last switch; with it each of the 12 flows has no
    // more there than its threshold and a hop round trip, and the rest waits in the NICs.
    let deepest = |spec| -> u64 {
        let outcome = run(spec);
        *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap()
    };
    let mut alone = busy(32);
    alone.switch.flow_control = Default::default();
    let (with, without) = (deepest(busy(32)), deepest(alone));
    assert!(with < 300_000 && without > 10_000_000, "{with} and {without}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn order_and_books_hold_with_few_physical_queues(
        seed: u64,
        queues in 1u8..4,
        sticky in 0u8..4,
        table in 1u16..4,
        lossy: bool,
        with_pfc: bool,
        dcqcn: bool,
    ) {
        let mut rng = Stream::named(seed, "flows");
        let mut flows: Vec<FlowSpec> = (0..120)
            .map(|_| {
                let (src, hop) = (rng.below(8) as u32, 1 + rng.below(7) as u32);
                // Half of them to one host.
                let dst = if rng.bernoulli(0.5) && src != 0 { 0 } else { (src + hop) % 8 };
                let (bytes, start) = (1 + rng.below(100_000), rng.below(100_000_000));
                let (src, dst) = (NodeId(src), NodeId(dst));
                FlowSpec { src, dst, bytes, start: Instant(start), stop: Instant::NEVER, workload: 0, in_turn: false }
            })
            .collect();
        // The run goes on until this one has arrived, when the others are over.
        flows.push(flow(1, 2, 64, 90_000_000));
        flows.sort_by_key(|flow| (flow.start, flow.src));
        let mut spec = plain(clos(4, 2, 2), flows);
        spec.seed = seed;
        spec.switch.flow_control = backpressure(queues);
        let bfc = spec.switch.flow_control.bfc.as_mut().unwrap();
        (bfc.sticky, bfc.table) = (sticky, table);
        if lossy {
            spec.switch.queue.size = Bytes(60_000);
        } else if with_pfc {
            let pfc = pfc::Spec { xoff: Bytes(20_000), ..prompt_pfc() };
            spec.switch.flow_control.pfc = Some(pfc);
        }
        if dcqcn {
            control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        }
        let outcome = run(spec);
        prop_assert!(outcome.counter("bfc_pauses") > 0);
        prop_assert_eq!(outcome.counter("bfc_pauses"), outcome.counter("bfc_resumes"));
        prop_assert_eq!(outcome.counter("flows_unfinished"), 0);
        if !lossy {
            prop_assert_eq!(outcome.counter("dropped_packets"), 0);
        }
    }
}
