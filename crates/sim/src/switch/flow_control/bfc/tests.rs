use std::sync::atomic::AtomicBool;

use floodway_model::graph::NodeKind;
use floodway_model::id::CLASSES;
use floodway_model::random::Stream;
use floodway_model::{Class, Duration, FlowId, FlowSpec, Instant, NodeId, PortIx, Rate};

use super::*;
use crate::host::congestion;
use crate::link::Link;
use crate::run::Finished;
use crate::simulation::{Run, Simulation};
use crate::small::{self, flow};
use crate::switch::discipline::{Discipline, stand};
use crate::switch::flow_control::pausing::Source;
use crate::switch::mechanism::{Site, SitePort};
use crate::switch::queue::Queued;

const RATE: Rate = Rate::from_gbps(100);
const FRAME: u64 = 1086;

fn link() -> Link {
    Link {
        peer: NodeId(0),
        peer_port: PortIx(0),
        to: (NodeId(0), PortIx(0)),
        rate: RATE,
        rate_back: RATE,
        line: None,
        delay: Duration::from_ns(200),
        latency: Duration::ZERO,
        response: Duration::ZERO,
        wire_overhead: 20,
        largest_frame: FRAME as u16,
        node: NodeId(0),
        port: PortIx(0),
    }
}

fn packet(flow: u32, bytes: u16) -> Queued {
    stand::packet(flow, 0, bytes)
}

struct Harness {
    physical_queues: PhysicalQueues,
    rng: Stream,
}

impl Harness {
    fn new(queues: u8) -> Self {
        let spec = Spec { queues, ..Spec::default() };
        Self {
            physical_queues: PhysicalQueues::new(&spec, 0, &link(), [Duration::ZERO].into()),
            rng: Stream::named(1, "lanes"),
        }
    }

    fn assign(&mut self, flow: u32, now: u64) -> u8 {
        self.physical_queues.assign(FlowId(flow), Instant(now), &mut self.rng)
    }

    fn push(&mut self, flow: u32, bytes: u16, now: u64) -> u8 {
        self.physical_queues.push(packet(flow, bytes), Instant(now), &mut self.rng);
        assert!(self.physical_queues.is_consistent());
        self.physical_queues.physical_queue(FlowId(flow))
    }

    /// Sends a packet and returns its flow, which keeps its physical queue until `until`.
    fn pop(&mut self, until: u64) -> Option<u32> {
        let flow = self.physical_queues.pop()?.packet.flow;
        self.physical_queues.keep(flow, Instant(until));
        assert!(self.physical_queues.is_consistent());
        Some(flow.0)
    }
}

#[test]
fn a_flow_has_a_physical_queue_of_its_own_while_there_is_one() {
    let mut port = Harness::new(3);
    let physical_queues: Vec<u8> = (0..3).map(|flow| port.push(flow, 100, 0)).collect();
    assert_eq!(physical_queues, [0, 1, 2]);
    assert_eq!((port.push(1, 100, 0), port.physical_queues.collisions), (1, 0));
    // The fourth flow finds no empty physical queue.
    let shared = port.push(3, 100, 0);
    assert!(shared < 3 && port.physical_queues.collisions == 1);
    assert_eq!(port.physical_queues.depth(shared), if shared == 1 { 300 } else { 200 });
}

#[test]
fn a_flow_keeps_its_physical_queue_for_a_while() {
    let mut port = Harness::new(4);
    assert_eq!(port.push(7, 100, 0), 0);
    assert_eq!(port.pop(50), Some(7));
    assert_eq!(port.assign(7, 50), 0);
    // Later it counts as a new flow, and gets the physical queue assigned longest ago.
    assert_eq!(port.assign(7, 51), 1);
    // A flow that bypassed the queue keeps its physical queue for as long.
    port.physical_queues.keep(FlowId(7), Instant(90));
    assert_eq!((port.assign(7, 90), port.assign(7, 91)), (1, 2));
}

#[test]
fn an_empty_physical_queue_that_may_send_is_preferred() {
    let mut port = Harness::new(3);
    port.physical_queues.obey(0, true, Instant(0));
    port.physical_queues.obey(1, true, Instant(0));
    assert_eq!(port.push(1, 100, 0), 2);
    assert_eq!(port.push(2, 100, 0), 0);
}

#[test]
fn physical_queues_share_by_bytes_and_paused_ones_wait() {
    let mut port = Harness::new(8);
    for _ in 0..60 {
        port.push(1, 1086, 0);
        (0..9).for_each(|_| _ = port.push(2, 100, 0));
        port.push(3, 1086, 0);
    }
    assert_eq!(port.physical_queues.active(), 3);
    let mut sent = [0u64; 4];
    let mut send = |port: &mut Harness, times: usize| {
        for _ in 0..times {
            let bytes = u64::from(port.physical_queues.head().unwrap().packet.bytes) + 20;
            sent[port.pop(0).unwrap() as usize] += bytes;
        }
        std::mem::take(&mut sent)
    };
    // 9 frames of 120 bytes on the wire are 1080 bytes, about one frame of 1106: no two physical queues
    // differ by more than a quantum and a frame.
    let shares = send(&mut port, 220);
    assert!(shares[1].abs_diff(shares[2]) <= 2 * 1106 && shares[1].abs_diff(shares[3]) <= 1106);
    assert!(shares[3] >= 19 * 1106, "{shares:?}");
    port.physical_queues.obey(0, true, Instant(0));
    assert_eq!(port.physical_queues.active(), 2);
    let shares = send(&mut port, 110);
    assert!(shares[1] == 0 && shares[2].abs_diff(shares[3]) <= 1106, "{shares:?}");
    (1..3).for_each(|physical_queue| port.physical_queues.obey(physical_queue, true, Instant(0)));
    assert!(
        port.physical_queues.head().is_none()
            && port.pop(0).is_none()
            && port.physical_queues.active() == 0
    );
    port.physical_queues.obey(0, false, Instant(0));
    assert_eq!(port.pop(0), Some(1));
}

#[test]
fn the_comparison_is_with_the_threshold() {
    let spec = Spec::default();
    let ports = [SitePort { link: link(), peer: NodeKind::Host }];
    let site = Site { latency: Duration::from_ns(50), ..Site::with_ports("s", 1, &ports) };
    let bfc = Bfc::new(&spec, &site);
    let hop = spec.hop_round_trip(&link(), Duration::from_ns(50));
    let packet = packet(0, 64).packet;
    for active in 0..=40 {
        let threshold = spec.threshold(hop, RATE, active).0;
        assert!(!bfc.exceeds(threshold, active, &packet, RATE), "{active}");
        assert!(bfc.exceeds(threshold + 1, active, &packet, RATE), "{active}");
    }
}

fn network(hosts: u32, flows: Vec<FlowSpec>, end: Duration) -> Finished {
    let mut spec = small::spec(small::star(hosts), flows, end);
    spec.switch.flow_control.bfc = Some(Spec::default());
    spec.switch.queue.size = floodway_model::Bytes(1 << 30);
    spec.profiles[0].congestion = congestion::Spec::LineRate(Default::default());
    let stop = AtomicBool::new(false);
    Simulation::new(spec).finish(&Run { threads: 1, stop: &stop, watch: &|_| {} }).1
}

#[test]
fn depth_stays_within_the_threshold_and_what_is_on_its_way() {
    let flows = [1, 2].map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0));
    let finished = network(3, flows.to_vec(), Duration::from_ms(1));
    let physical_queues =
        finished.switches[0].ports[0].queues[0].discipline::<PhysicalQueues>().unwrap();
    // 2 x (200 ns + 88.48 ns) = 576.96 ns; with 1 us, 19712 bytes for one flow, 9856 for each of
    // two. A packet may find that much and join; the next one finds more and pauses. After that,
    // the bytes that the NIC sends in a hop round-trip time still arrive, 7212 bytes of frames and
    // gaps.
    let bound = 19_712 + 2 * FRAME + 7_212;
    let deepest = physical_queues.max_depth();
    assert!((9_856..=bound).contains(&deepest), "{deepest}");
    assert_eq!(finished.switches[0].dropped, 0);
    assert!(finished.switches[0].mechanisms.bfc.as_ref().unwrap().pauses > 100);
    // Each of the two flows has a physical queue of its own, in the switch and in its NIC.
    assert_eq!(physical_queues.collisions, 0);
    // A physical queue is resumed when the last counted packet leaves, which is also its last
    // packet. If both flows are in step, the wire is idle until their next packets arrive. Both
    // physical queues grow at half the link rate to 9856 bytes (1577 ns) and for another 495 ns,
    // then drain at the same rate for 2072 ns. The wire is idle for 495 ns: the times of the pause
    // frame and of a full frame, and both delays. That is 89 % in a fluid model perfectly in step,
    // more with packets.
    let whole = whole_link(Duration::from_ms(1));
    let sent = finished.switches[0].ports[0].tx.frames;
    assert!((whole * 89 / 100..whole).contains(&sent), "{sent} of {whole}");
}

/// Full frames that a receiver's link carries in this time if it is always busy. The first of them
/// arrives after it has crossed the sender's link.
fn whole_link(end: Duration) -> u64 {
    (end.0 - 88_480 - 200_000) / 88_480 + 1
}

#[test]
fn with_more_flows_the_link_is_full() {
    let flows = (1..9).map(|src| flow(src, 0, FlowSpec::PERSISTENT, u64::from(src - 1) * 10_000));
    let end = Duration::from_ms(1);
    let finished = network(9, flows.collect(), end);
    // Some physical queue always has packets, except at the very beginning, when all flows are in step.
    let (sent, whole) = (finished.switches[0].ports[0].tx.frames, whole_link(end));
    assert!(sent * 1000 >= whole * 998, "{sent} of {whole}");
    assert_eq!(finished.switches[0].dropped, 0);
}

#[test]
fn an_empty_network_is_settled_and_the_audit_sees_what_is_not() {
    let mut flows: Vec<FlowSpec> = (1..20).map(|src| flow(src, 0, 200_000, 0)).collect();
    // The run continues until this flow has completed, long after the others.
    flows.push(flow(1, 2, 64, 2_000_000));
    let mut finished = network(20, flows, Duration::from_ms(10));
    let violations = |finished: &Finished| {
        audit(&finished.switches, &finished.hosts, &finished.in_flight).violations()
    };
    assert_eq!(violations(&finished), Vec::<String>::new());
    let switch = &mut finished.switches[0];
    let bfc = switch.mechanisms.bfc.as_mut().unwrap();
    assert!(bfc.pauses > 0 && bfc.pauses == bfc.resumes);
    let sources = (0..20 * CLASSES).map(|at| Source::new(at / CLASSES, at % CLASSES));
    let source = Source::new(3, 0);
    assert_eq!(sources.flat_map(|source| bfc.counts(source)).sum::<u32>(), 0);
    let queues = switch.ports.iter().flat_map(|port| &port.queues);
    assert!(
        queues
            .filter_map(|queue| queue.discipline::<PhysicalQueues>())
            .all(|physical_queues| physical_queues.paused().queues().is_empty())
    );
    let physical_queues = finished.hosts.iter().flat_map(|host| &host.nic.physical_queues);
    assert_eq!(physical_queues.flat_map(|physical_queues| physical_queues.paused()).count(), 0);

    assert!(bfc.count_against(source, 0));
    let told = "1 physical queues are not in the state that the next hop has signalled";
    assert_eq!(violations(&finished), ["node 20: a pause counter is wrong", told]);
    assert!(finished.switches[0].mechanisms.bfc.as_mut().unwrap().uncount(source, 0));
    let physical_queues = finished.hosts[3].nic.physical_queues.as_mut().unwrap();
    assert_eq!(physical_queues.obey(Class(0), 5, true, Instant::ZERO).count(), 0);
    assert_eq!(violations(&finished), [told]);
}
