//! Captures: what ports see, compared with arithmetic by hand and with the trace of all frames.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use crate::common::timeline::{self, FRAME, burst, full_frames, slow_star};
use crate::common::{flow, plain};
use floodway_model::{Bytes, Duration, FlowId, Instant, NodeId, PortIx};
use floodway_sim::capture::{Port, Seen, Wanted};
use floodway_sim::errors::Errors;
use floodway_sim::failure::Failure;
use floodway_sim::simulation::Run;
use floodway_sim::switch::port::DropReason;
use floodway_sim::{Outcome, Simulation, Spec};

/// Ports of three hosts and of the switch, in that order; the last host has a link of 10 Gb/s.
const PORTS: [(NodeId, PortIx); 6] = [
    (NodeId(0), PortIx(0)),
    (NodeId(1), PortIx(0)),
    (NodeId(2), PortIx(0)),
    (NodeId(3), PortIx(0)),
    (NodeId(3), PortIx(1)),
    (NodeId(3), PortIx(2)),
];

fn captured(
    spec: Spec,
    most: usize,
    flows: Option<&[u32]>,
    threads: usize,
) -> (Outcome, Vec<Port>) {
    let flows = flows.map(|flows| flows.iter().copied().map(FlowId).collect::<BTreeSet<_>>());
    let wanted = Wanted { ports: PORTS.to_vec(), most, flows };
    let stop = AtomicBool::new(false);
    let run = Run { threads, stop: &stop, watch: &|_| {} };
    Simulation::new(spec).capturing(wanted).run_captured(&run)
}

/// Two bursts to the slow host, at the switch at 1 us.
fn bursts(frames: u64) -> Spec {
    full_frames(slow_star(3), vec![burst(0, 2, frames, 1_000), burst(1, 2, frames, 1_000)])
}

fn times(port: &Port, seen: impl Fn(Seen) -> bool) -> Vec<u64> {
    let frames = port.on_wire.kept.iter().filter(|frame| seen(frame.seen));
    frames.map(|frame| frame.at.0 / 1_000).collect()
}

#[test]
fn a_port_sees_the_first_bit_of_what_it_sends_and_the_last_of_what_arrives() {
    let (_, ports) = captured(bursts(3), 100, None, 1);
    // A full frame takes 100 ns at 100 Gb/s and 1 us at 10 Gb/s; links take 200 ns.
    assert_eq!(times(&ports[0], |seen| seen != Seen::Arrived), [700, 800, 900]);
    assert_eq!(times(&ports[3], |seen| seen == Seen::Arrived), [1_000, 1_100, 1_200]);
    let sent = times(&ports[5], |seen| seen != Seen::Arrived);
    assert_eq!(sent, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
    let arrived = times(&ports[2], |seen| seen == Seen::Arrived);
    assert_eq!(arrived, sent.iter().map(|at| at + 1_200).collect::<Vec<_>>());
    assert!(ports.iter().all(|port| port.dropped.count == 0));
}

#[test]
fn every_frame_of_the_trace_is_at_both_ends_of_its_link() {
    let (outcome, sent) = timeline::traced(bursts(50));
    for threads in [1, 3] {
        let (again, ports) = captured(bursts(50), 1_000, None, threads);
        assert_eq!(again.fingerprint, outcome.fingerprint);
        let count = |arrived: bool| -> usize {
            let of = |port: &Port| times(port, |seen| (seen == Seen::Arrived) == arrived).len();
            ports.iter().map(of).sum()
        };
        assert_eq!((count(false), count(true)), (sent.len(), sent.len()), "{threads} threads");
    }
}

#[test]
fn the_first_frames_are_kept_and_all_are_counted() {
    let (_, all) = captured(bursts(50), 1_000, None, 1);
    let (_, few) = captured(bursts(50), 7, None, 1);
    for (all, few) in all.iter().zip(&few) {
        assert_eq!((few.on_wire.kept.len(), few.on_wire.count), (7, all.on_wire.count));
        let at = |port: &Port| port.on_wire.kept[..7].iter().map(|f| f.at).collect::<Vec<_>>();
        assert_eq!(at(few), at(all));
    }
    // Of flow 1 host 0 sees nothing, and the slow port half.
    let (_, of_one) = captured(bursts(50), 1_000, Some(&[1]), 1);
    assert_eq!(of_one[0].on_wire.count, 0);
    assert_eq!((of_one[5].on_wire.count, all[5].on_wire.count), (50, 100));
}

#[test]
fn packets_that_find_no_room_are_on_the_side_of_the_port_that_they_were_bound_for() {
    let mut spec = bursts(50);
    spec.switch.queue.size = Bytes(10 * FRAME);
    let (outcome, ports) = captured(spec, 1_000, None, 1);
    let dropped = outcome.table("drops").u64s("packets").iter().sum::<u64>();
    assert!(dropped > 0);
    assert_eq!(ports[5].dropped.count, dropped);
    let full = Seen::Dropped { queue: 0, reason: DropReason::QueueFull };
    assert!(ports[5].dropped.kept.iter().all(|frame| frame.seen == full));
    assert_eq!(ports[5].on_wire.count + dropped, 100);
    assert!(ports[..5].iter().all(|port| port.dropped.count == 0));
}

#[test]
fn what_a_link_loses_does_not_arrive() {
    let mut spec = bursts(50);
    // The link of host 0 is down from 2 us on: frames that start in the 300 ns before have not arrived.
    spec.failures = vec![Failure {
        node: NodeId(0),
        port: PortIx(0),
        at: Instant(2_000_000),
        until: Instant(3_000_000),
        detection: Duration(100_000),
    }];
    let (_, ports) = captured(spec, 1_000, None, 1);
    let lost = times(&ports[0], |seen| seen == Seen::Sent { lost: Some(DropReason::LostOnLink) });
    assert!(!lost.is_empty() && lost[0] > 1_699, "{lost:?}");
    let sent = times(&ports[0], |seen| matches!(seen, Seen::Sent { .. })).len();
    assert_eq!(times(&ports[3], |seen| seen == Seen::Arrived).len(), sent - lost.len());
}

#[test]
fn a_bit_error_is_the_reason_of_a_loss() {
    let mut spec = bursts(50);
    let (node, port) = (NodeId(0), PortIx(0));
    spec.errors = vec![Errors { node, port, rate: 0.0, frames: vec![1, 4], retry: None }];
    let (_, ports) = captured(spec, 1_000, None, 1);
    let with = |reason| times(&ports[0], |seen| seen == Seen::Sent { lost: Some(reason) }).len();
    assert_eq!([DropReason::Corrupted, DropReason::LostOnLink].map(with), [2, 0]);
}

#[test]
fn what_is_on_the_way_at_the_end_has_not_arrived() {
    let mut spec = bursts(50);
    spec.end = Duration::from_ns(5_500);
    let (outcome, ports) = captured(spec, 1_000, None, 1);
    let end = outcome.simulated;
    assert!(ports.iter().flat_map(|port| &port.on_wire.kept).all(|frame| frame.at <= end));
    let sent = times(&ports[5], |seen| seen != Seen::Arrived).len() as u64;
    let arrived = times(&ports[2], |seen| seen == Seen::Arrived).len();
    assert!((arrived as u64) < sent);
    assert_eq!(ports[2].on_wire.count, arrived as u64);
}

/// A host without latency acknowledges data in the instant in which its last bit is there, and not before.
#[test]
fn the_answer_comes_after_what_it_answers() {
    for threads in [1, 2] {
        let spec = plain(slow_star(3), vec![flow(0, 2, 20_000, 0)]);
        let (_, ports) = captured(spec, 1_000, None, threads);
        let receiver = &ports[2].on_wire.kept;
        let same = receiver.windows(2).filter(|pair| pair[0].at == pair[1].at);
        let order: Vec<_> = same.map(|pair| [pair[0].seen, pair[1].seen]).collect();
        assert!(!order.is_empty(), "{receiver:?}");
        let answered = [Seen::Arrived, Seen::Sent { lost: None }];
        assert!(order.iter().all(|pair| *pair == answered), "{order:?}");
    }
}
