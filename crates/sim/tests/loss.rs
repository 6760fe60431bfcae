//! Networks that lose: what is dropped is counted by flow and by queue, and arrives all the same.

use crate::common::*;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId};
use floodway_sim::host::congestion;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

fn go_back_n(timeout: Duration) -> recovery::Spec {
    let go_back_n = recovery::go_back_n::Spec { retransmit_timeout: timeout, ..Default::default() };
    recovery::Spec::GoBackN(go_back_n)
}

fn selective_repeat() -> recovery::Spec {
    recovery::Spec::SelectiveRepeat(Default::default())
}

fn both() -> [recovery::Spec; 2] {
    [go_back_n(Duration::from_ms(1)), selective_repeat()]
}

fn with(mut spec: Spec, recovery: recovery::Spec) -> Spec {
    rocev2(&mut spec, |rocev2| rocev2.recovery = recovery.clone());
    spec
}

/// 32 hosts with short queues, at random, with DCQCN and without flow control.
fn busy() -> Spec {
    let mut rng = Stream::named(9, "flows");
    let mut flows: Vec<FlowSpec> = (0..600)
        .map(|_| {
            let (src, hop) = (rng.below(32) as u32, 1 + rng.below(31) as u32);
            let small = rng.bernoulli(0.7);
            let bytes = 1 + rng.below(if small { 20_000 } else { 1_000_000 });
            let start = Instant(rng.below(500_000_000));
            FlowSpec {
                src: NodeId(src),
                dst: NodeId((src + hop) % 32),
                bytes,
                start,
                stop: Instant::NEVER,
                workload: 0,
                in_turn: false,
            }
        })
        .collect();
    flows.sort_by_key(|flow| (flow.start, flow.src));
    let mut spec = plain(clos(8, 4, 4), flows);
    spec.switch.queue.size = Bytes(30_000);
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    spec.seed = 3;
    spec
}

/// Column sums of `flows`, and of the rows of `drops` about data queues.
fn dropped(outcome: &Outcome, data_queues: u64) -> (u64, u64) {
    let by_flow = outcome.table("flows").u64s("lost_packets").iter().sum();
    let drops = outcome.table("drops");
    let rows = drops.u64s("queue").iter().zip(drops.u64s("packets"));
    (by_flow, rows.filter(|(queue, _)| **queue < data_queues).map(|(_, packets)| packets).sum())
}

#[test]
fn losses_are_counted_by_flow_and_by_queue() {
    for recovery in both() {
        let outcome = run(with(busy(), recovery));
        let (by_flow, by_queue) = dropped(&outcome, 1);
        assert!(by_flow > 100, "{by_flow}: the run proves nothing");
        assert_eq!(by_flow, by_queue);
        assert_eq!(outcome.counter("dropped_packets_queue_0"), by_flow);
        assert_eq!(outcome.counter("flows_unfinished"), 0);
    }
}

#[test]
fn selective_repeat_sends_again_what_was_lost_and_nothing_else() {
    let sent = |recovery| {
        let outcome = run(with(busy(), recovery));
        let flows = outcome.table("flows");
        assert_eq!(flows.u64s("delivered_bytes"), flows.u64s("bytes"));
        ["lost_packets", "retransmitted_packets"].map(|column| flows.u64s(column).to_vec())
    };
    // The way back loses nothing, and the timeouts are far longer than three full queues take.
    let [lost, again] = sent(selective_repeat());
    assert!(lost.iter().sum::<u64>() > 100);
    assert_eq!(lost, again);
    // Go-back-N sends again what was behind a lost packet too.
    let [lost, again] = sent(go_back_n(Duration::from_ms(1)));
    assert!(again.iter().sum::<u64>() > lost.iter().sum::<u64>());
}

#[test]
fn lossy_results_are_the_same_for_any_number_of_threads() {
    for recovery in both() {
        let on = |threads| -> Outcome {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let run = Run { threads, stop: &stop, watch: &|_| {} };
            Simulation::new(with(busy(), recovery.clone())).run_with(&run)
        };
        let one = on(1);
        assert!(one.counter("timeouts") > 0 && one.counter("naks_sent") > 0);
        for threads in [2, 3, 8] {
            assert_eq!(one.fingerprint, on(threads).fingerprint, "{threads} threads");
        }
    }
}

#[test]
fn a_lossless_network_needs_no_recovery() {
    // Without loss the two do the same, event by event.
    let outcomes = both().map(|recovery| {
        let mut spec = with(busy(), recovery);
        spec.switch.queue.size = Bytes(1 << 40);
        run(spec)
    });
    assert_eq!(outcomes[0].counter("retransmitted_packets"), 0);
    assert_eq!(outcomes[0].fingerprint, outcomes[1].fingerprint);
}
