//! Every invariant, broken by hand: hosts 0, 1 and 2 on a switch, 100 Gb/s, 200 ns. Frames of 1086 bytes
//! take 1106 byte times, 88.48 ns, and arrive 288.48 ns after they were sent.

use floodway_model::graph::NodeKind;
use floodway_model::packet::length;
use floodway_model::{
    Body, Bytes, Class, Dscp, Duration, Echo, Ecn, FlowId, FlowSpec, Graph, Instant, NodeId,
    Packet, PortIx, Rate, Tos,
};

use super::*;
use crate::failure::Failure;
use crate::host::{self, congestion, transport};
use crate::switch::buffer::{self, shared};
use crate::switch::flow_control::{pause, pfc};
use crate::switch::{self, aqm, scheduler};
use crate::{Simulation, Spec};

const SWITCH: NodeId = NodeId(3);
const HOP: u64 = 288_480;
const FRAME: u64 = 88_480;

struct Stand(Auditor);

fn spec() -> Spec {
    let mut graph = Graph::default();
    (0..3).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    graph.add("switch", NodeKind::Switch { tier: 0 });
    let delay = Duration::from_ns(200);
    (0..3).for_each(|host| graph.link(NodeId(host), SWITCH, Rate::from_gbps(100), delay));
    let flow = |src, dst, bytes| FlowSpec {
        src: NodeId(src),
        dst: NodeId(dst),
        bytes,
        start: Instant::ZERO,
        stop: Instant::NEVER,
        workload: 0,
        in_turn: false,
    };
    let end = Duration::from_ms(1);
    Spec {
        graph,
        switch: switch::Spec::default(),
        host: host::Spec::default(),
        profiles: vec![host::Profile::default()],
        flows: vec![flow(1, 0, 10 * 1_024), flow(2, 0, 10 * 1_024)],
        triggers: Vec::new(),
        operations: Vec::new(),
        wire_overhead: 20,
        end,
        warmup: Duration::ZERO,
        measured_until: end,
        awaited: Vec::new(),
        sample_interval: Duration::from_us(10),
        flow_samples: None,
        departures: false,
        latencies: false,
        record: None,
        failures: Vec::new(),
        seed: 1,
    }
}

fn stand(change: impl FnOnce(&mut Spec)) -> Stand {
    let mut spec = spec();
    change(&mut spec);
    let network = Arc::new(Network::new(&spec));
    Stand(Auditor::new(&network, spec.graph.ids()))
}

/// Packet `psn` of the flow of host 1 or 2 to host 0, in class 0.
fn packet(src: u32, psn: u32) -> Packet {
    Packet {
        flow: FlowId(src - 1),
        connection: src - 1,
        src: NodeId(src),
        dst: NodeId(0),
        bytes: 1_086,
        ingress: PortIx(src as u16),
        class: Class(0),
        lane: 0,
        tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
        indicated: false,
        body: Body::Data { echo: Echo::default(), psn, sent_at: Instant::ZERO },
    }
}

fn marked(packet: Packet, ecn: Ecn) -> Packet {
    Packet { tos: Tos::new(Dscp::DEFAULT, ecn), ..packet }
}

/// A frame of link control from one node to its neighbour.
fn control(body: Body) -> Packet {
    let packet = packet(1, 0);
    Packet {
        flow: FlowId(u32::MAX),
        bytes: length::SHORTEST_FRAME,
        class: Class(1),
        body,
        ..packet
    }
}

impl Stand {
    /// A packet arrives at the switch at this time.
    fn comes(&mut self, packet: &Packet, at: u64) {
        let to = (SWITCH, packet.ingress);
        self.0.sent(to, packet, packet.class, Instant(at - HOP), Some(Instant(at)));
        self.0.arrives(SWITCH, packet, Instant(at));
    }

    /// It joins a queue towards host 0.
    fn joins(&mut self, queue: usize, packet: &Packet, at: u64) {
        self.0.joins(SWITCH, (0, queue), packet, Instant(at));
    }

    fn waits(&mut self, queue: usize, packet: &Packet, at: u64) {
        self.comes(packet, at);
        self.joins(queue, packet, at);
    }

    /// The switch sends it to a host.
    fn leaves(&mut self, host: u32, queue: u8, packet: &Packet, at: u64) {
        let wire = (u64::from(packet.bytes) + 20) * 80 + 200_000;
        let to = (NodeId(host), PortIx(0));
        self.0.sent(to, packet, Class(queue), Instant(at), Some(Instant(at + wire)));
    }

    fn drops(&mut self, reason: DropReason, packet: &Packet, at: u64) {
        self.0.drops(SWITCH, (0, 0), reason, packet, Instant(at));
    }

    /// A pause frame of host 0 arrives at the switch.
    fn pauses(&mut self, quanta: u16, at: u64) {
        let frame = Packet { ingress: PortIx(0), ..control(Body::Pfc { classes: 1, quanta }) };
        let sent = at - 84 * 80 - 200_000;
        self.0.sent((SWITCH, PortIx(0)), &frame, Class(1), Instant(sent), Some(Instant(at)));
        self.0.arrives(SWITCH, &frame, Instant(at));
    }

    fn found(&self) -> Vec<String> {
        self.0.findings.messages(&self.0.network.spec.graph)
    }

    #[track_caller]
    fn finds(&self, expected: &[&str]) {
        assert_eq!(self.found(), expected);
    }
}

const T: u64 = 1_000_000;

#[test]
fn what_is_right_is_silent() {
    let mut stand = stand(|_| {});
    for psn in 0..4 {
        let (packet, at) = (packet(1, psn), T + u64::from(psn) * FRAME);
        stand.comes(&packet, at);
        stand.leaves(0, 0, &packet, at);
        stand.0.arrives(NodeId(0), &Packet { ingress: PortIx(0), ..packet }, Instant(at + HOP));
    }
    stand.0.finish(Instant(2 * T));
    stand.finds(&[]);
}

#[test]
fn frames_take_their_time_and_do_not_overlap() {
    let mut stand = stand(|_| {});
    let to = (SWITCH, PortIx(1));
    let mut send = |psn, at, arrives| {
        stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), Some(Instant(arrives)));
    };
    send(0, T, T + HOP);
    // A gap of 20 bytes too few: 1086 bytes are 86.88 ns.
    send(1, T + 86_880, T + 86_880 + HOP);
    // A delay that is 2 % too long.
    send(2, 2 * T, 2 * T + HOP + 4_000);
    stand.finds(&[
        "host 1 at 1086.880ns: port 0: a frame is sent while one is on the wire until 1088.480ns",
        "host 1 at 2000.000ns: port 0: a frame of 1086 bytes is due at 2288.480ns and arrives at \
         2292.480ns",
    ]);
}

#[test]
fn every_frame_arrives_once_and_in_time() {
    let mut stand = stand(|_| {});
    let (one, other) = (packet(1, 0), packet(1, 1));
    let to = (SWITCH, PortIx(1));
    stand.0.sent(to, &one, Class(0), Instant(T), Some(Instant(T + HOP)));
    stand.0.sent(to, &other, Class(0), Instant(T + FRAME), Some(Instant(T + FRAME + HOP)));
    stand.0.arrives(SWITCH, &other, Instant(T + FRAME + HOP));
    stand.0.drops(SWITCH, (0, 0), DropReason::Aqm, &other, Instant(T + FRAME + HOP));
    stand.0.arrives(SWITCH, &other, Instant(T + FRAME + HOP));
    stand.finds(&[
        "switch at 1376.960ns: port 0, queue 0: a packet is dropped (aqm) without that reason",
        "switch at 1376.960ns: port 1: a frame arrives that was not sent, or not for this time",
        "switch at 1376.960ns: port 1: a frame was due at 1288.480ns and has not arrived",
    ]);
}

#[test]
fn links_that_are_down_lose_everything_and_nothing_else_does() {
    let failure = Failure {
        node: SWITCH,
        port: PortIx(1),
        at: Instant(T),
        until: Instant(3 * T),
        detection: Duration(T / 2),
    };
    let mut stand = stand(|spec| spec.failures.push(failure));
    let to = (SWITCH, PortIx(1));
    let mut send = |psn, at, lost: bool| {
        let arrives = (!lost).then_some(Instant(at + HOP));
        stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), arrives);
    };
    send(0, T / 2, true);
    // Its last bit would arrive after the failure.
    send(1, T - FRAME, false);
    send(2, T + 5, true);
    send(3, 2 * T, true);
    stand.finds(&[
        "host 1 at 500.000ns: port 0: a frame is lost on a link that works",
        "host 1 at 911.520ns: port 0: a frame is sent on a link that is down, and arrives",
        "host 1 at 2000.000ns: port 0: a frame is sent on a link that is known to be down",
    ]);
}

#[test]
fn a_queue_has_its_size_and_drops_only_what_has_no_room() {
    let mut stand = stand(|spec| spec.switch.queue.size = Bytes(2 * 1_086));
    // Host 0 keeps the port busy with a pause.
    stand.pauses(u16::MAX, T / 2);
    for (psn, src) in [(0, 1), (1, 1)] {
        stand.waits(0, &packet(src, psn), T + u64::from(psn) * FRAME);
    }
    stand.comes(&packet(1, 2), T + 2 * FRAME);
    stand.drops(DropReason::QueueFull, &packet(1, 2), T + 2 * FRAME);
    stand.finds(&[]);
    stand.waits(0, &packet(1, 3), T + 3 * FRAME);
    stand.comes(&packet(1, 4), T + 4 * FRAME);
    stand.drops(DropReason::HeadroomExceeded, &packet(1, 4), T + 4 * FRAME);
    stand.finds(&[
        "switch at 1265.440ns: port 0, queue 0: a packet of 1086 bytes is let in to 2172 bytes, \
         without room (queue_full)",
        "switch at 1353.920ns: port 0, queue 0: a packet of 1086 bytes is dropped \
         (headroom_exceeded) from 3258 bytes, where it has room or lacks it for another reason",
    ]);
}

#[test]
fn a_shared_buffer_has_its_dynamic_threshold() {
    // One frame is guaranteed. The second takes 1086 of the pool, of which 3000 are free: alpha of 1
    // lets it. The third is 2172 above the guarantee, and 1914 are free.
    let pool = shared::Pool { pool: Bytes(3_000), guaranteed: Bytes(1_086), alpha: Some(1.0) };
    let shared = shared::Spec { egress: Some(pool), ..Default::default() };
    let mut stand = stand(|spec| spec.switch.buffer = buffer::Spec::Shared(shared));
    stand.pauses(u16::MAX, T / 2);
    stand.waits(0, &packet(1, 0), T);
    stand.comes(&packet(1, 1), T + FRAME);
    stand.drops(DropReason::EgressThreshold, &packet(1, 1), T + FRAME);
    stand.waits(0, &packet(2, 0), T + FRAME);
    stand.waits(0, &packet(2, 1), T + 2 * FRAME);
    stand.finds(&[
        "switch at 1088.480ns: port 0, queue 0: a packet of 1086 bytes is dropped \
         (egress_threshold) from 1086 bytes, where it has room or lacks it for another reason",
        "switch at 1176.960ns: port 0, queue 0: a packet of 1086 bytes is let in to 2172 bytes, \
         without room (egress_threshold)",
    ]);
}

#[test]
fn a_pause_lasts_its_quanta_not_less_and_not_more() {
    // 100 quanta of 512 bit times at 100 Gb/s: 512 ns.
    let case = |leaves: u64| {
        let mut stand = stand(|_| {});
        stand.pauses(100, T);
        stand.waits(0, &packet(1, 0), T + FRAME);
        stand.leaves(0, 0, &packet(1, 0), leaves);
        stand.found()
    };
    assert_eq!(case(T + 512_000), Vec::<String>::new());
    assert_eq!(
        case(T + 511_999),
        ["switch at 1511.999ns: port 0, queue 0: a packet is sent while paused until 1512.000ns"]
    );
    assert_eq!(
        case(T + 513_000),
        ["switch at 1513.000ns: port 0, queue 0: 1086 bytes could have been sent since 1512.000ns"]
    );
}

#[test]
fn a_port_is_not_idle_while_a_packet_waits() {
    let mut stand = stand(|_| {});
    stand.waits(0, &packet(1, 0), T);
    stand.0.finish(Instant(T + HOP));
    stand.finds(&[
        "switch at 1288.480ns: port 0, queue 0: 1086 bytes could have been sent since 1000.000ns",
    ]);
}

#[test]
fn a_host_obeys_pauses_holds_and_stops() {
    let mut stand = stand(|_| {});
    let arrives = |stand: &mut Stand, body, at: u64| {
        let frame = Packet { ingress: PortIx(0), ..control(body) };
        let to = (NodeId(1), PortIx(0));
        let sent = Instant(at - 84 * 80 - 200_000);
        stand.0.sent(to, &frame, Class(1), sent, Some(Instant(at)));
        stand.0.arrives(NodeId(1), &frame, Instant(at));
    };
    arrives(&mut stand, Body::Pause { quanta: 100 }, T);
    arrives(&mut stand, Body::Bfc { class: 0, lane: 0, stop: true }, T + 10_000);
    let hold = Body::Sfc { towards: NodeId(0), class: Class(0), pause_ns: 900 };
    arrives(&mut stand, hold, T + 20_000);
    let packet = packet(1, 0);
    let departure = Departure { packet, home: Class(0), rate: None, window: None, probes: 0 };
    stand.0.departs(NodeId(1), &departure, Instant(T + 511_000));
    let to = (SWITCH, PortIx(1));
    stand.0.sent(to, &packet, Class(0), Instant(T + 511_000), Some(Instant(T + 511_000 + HOP)));
    stand.finds(&[
        "host 1 at 1511.000ns: flow 0: a packet is sent to a destination that is held until \
         1920.000ns",
        "host 1 at 1511.000ns: flow 0: physical queue 0 of class 0 sends while it is stopped",
        "host 1 at 1511.000ns: port 0, queue 0: a packet is sent while paused until 1512.000ns",
    ]);
}

#[test]
fn marks_are_set_on_capable_packets_where_something_marks_and_never_removed() {
    let step = aqm::Spec::Step(Default::default());
    let case = |aqm: aqm::Spec, came: Ecn, left: Ecn| {
        let mut stand = stand(|spec| spec.switch.aqm = aqm);
        stand.comes(&marked(packet(1, 0), came), T);
        stand.leaves(0, 0, &marked(packet(1, 0), left), T);
        stand.found()
    };
    let found = |text| vec![format!("switch at 1000.000ns: port 0, queue 0: {text}")];
    assert_eq!(case(step.clone(), Ecn::Ect0, Ecn::Ce), Vec::<String>::new());
    assert_eq!(
        case(step.clone(), Ecn::NotEct, Ecn::Ce),
        found("a packet is marked that is not ECN-capable")
    );
    assert_eq!(case(step, Ecn::Ce, Ecn::Ect0), found("the ECN field has become Ect0, not Ce"));
    assert_eq!(
        case(aqm::Spec::DropTail(Default::default()), Ecn::Ect0, Ecn::Ce),
        found("a packet is marked, and nothing here marks")
    );
}

#[test]
fn strict_priority_is_not_violated() {
    let strict = scheduler::Spec::Strict(Default::default());
    let mut stand = stand(|spec| {
        spec.switch.queue.count = 2;
        spec.switch.scheduler = strict;
    });
    stand.waits(0, &packet(1, 0), T);
    stand.waits(1, &packet(2, 0), T);
    stand.leaves(0, 1, &packet(2, 0), T);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 1: sends while queue 0, which is above it, could",
    ]);
}

/// Two queues with many packets, of which the port sends `sends(n)` as its n-th: what is found.
fn shares(scheduler: scheduler::Spec, sends: impl Fn(u32) -> u8) -> Vec<String> {
    let mut stand = stand(|spec| {
        spec.switch.queue.count = 2;
        spec.switch.scheduler = scheduler;
        spec.switch.flow_control.pfc = Some(pfc::Spec::default());
    });
    stand.pauses(u16::MAX, T);
    let frame = Packet { ingress: PortIx(0), ..control(Body::Pfc { classes: 3, quanta: 100 }) };
    let sent = Instant(2 * T - 84 * 80 - 200_000);
    stand.0.sent((SWITCH, PortIx(0)), &frame, Class(2), sent, Some(Instant(2 * T)));
    stand.0.arrives(SWITCH, &frame, Instant(2 * T));
    for psn in 0..30 {
        let at = 2 * T + 1 + u64::from(psn) * FRAME;
        stand.waits(0, &packet(1, psn), at);
        stand.waits(1, &packet(2, psn), at);
    }
    let mut next = [0; 2];
    let begin = 2 * T + 30 * FRAME;
    stand.0.findings = Findings::default();
    for n in 0..20 {
        let queue = sends(n);
        let psn = &mut next[usize::from(queue)];
        stand.leaves(0, queue, &packet(u32::from(queue) + 1, *psn), begin + u64::from(n) * FRAME);
        *psn += 1;
    }
    // That the port was idle before is not what is looked for.
    let mut found = stand.found();
    found.retain(|text| text.contains("unfairly"));
    found
}

#[test]
fn drr_is_fair_to_a_quantum_and_two_frames() {
    let drr = || scheduler::Spec::Drr(Default::default());
    assert_eq!(shares(drr(), |n| (n % 2) as u8), Vec::<String>::new());
    // 1500 + 2 x 1106 bytes are three frames; one queue sends twice as much, so that after n rounds
    // the difference is n frames.
    let text = "port 0, queue 0: shares the link unfairly with queue 1: bytes by weight (times 1) \
                differ by 4424, and by 3712 at most while both wait";
    assert_eq!(
        shares(drr(), |n| u8::from(n % 3 == 2)),
        ["5273.760ns", "6070.080ns"].map(|at| format!("switch at {at}: {text}"))
    );
}

#[test]
fn wrr_is_fair_to_a_frame() {
    let wrr = || scheduler::Spec::Wrr(Default::default());
    assert_eq!(shares(wrr(), |n| u8::from(n % 10 == 9)), Vec::<String>::new());
    // 11 frames of the low latency queue, times the weight 10 of the other, are 110 x 1106 bytes, and
    // the bound is 100 x 1106.
    assert_eq!(shares(wrr(), |_| 0).len(), 1);
}

#[test]
fn feedback_goes_before_data() {
    let mut stand = stand(|_| {});
    let cnp = Packet { class: Class(1), body: Body::Cnp, ..packet(2, 0) };
    stand.waits(1, &cnp, T);
    stand.waits(0, &packet(1, 0), T);
    stand.leaves(0, 0, &packet(1, 0), T);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 0: data is sent while feedback waits, which goes first",
    ]);
}

#[test]
fn packets_of_a_queue_leave_in_order_and_only_those_that_came() {
    let mut stand = stand(|_| {});
    stand.waits(0, &packet(1, 0), T);
    stand.waits(0, &packet(2, 0), T);
    stand.leaves(0, 0, &packet(2, 0), T);
    stand.leaves(0, 0, &packet(2, 7), T + FRAME);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 0: a packet overtakes 1 others",
        "switch at 1088.480ns: port 0, queue 0: a packet is sent that is not here",
        "switch at 1088.480ns: port 0, queue 0: a packet overtakes all that wait",
    ]);
}

#[test]
fn a_frame_does_not_vanish_in_a_switch() {
    let mut stand = stand(|_| {});
    stand.comes(&packet(1, 0), T);
    stand.0.finish(Instant(2 * T));
    stand.finds(&[
        "switch at 2000.000ns: flow 0: a frame has been neither queued nor sent nor dropped",
    ]);
}

/// PFC with XOFF at 2000 and XON at 1000 bytes, in which two packets wait at 1 us and 1.08848 us.
fn above_xoff() -> Stand {
    let (xoff, xon, measured_on) = (Bytes(2_000), Bytes(1_000), pfc::MeasuredOn::Ingress);
    let pfc = pfc::Spec { xoff, xon, measured_on, quanta: 500, ..Default::default() };
    let mut stand = stand(|spec| spec.switch.flow_control.pfc = Some(pfc));
    stand.pauses(200, T / 2);
    stand.waits(0, &packet(1, 0), T);
    stand.waits(0, &packet(1, 1), T + FRAME);
    stand
}

#[test]
fn a_neighbor_is_paused_above_xoff_and_resumed_at_xon() {
    let pfc = |quanta| control(Body::Pfc { classes: 1, quanta });
    let mut stand = above_xoff();
    stand.leaves(1, 1, &pfc(500), T + FRAME);
    // 200 quanta are 1.024 us, until 1.524 us.
    let free = T / 2 + 1_024_000;
    stand.leaves(0, 0, &packet(1, 0), free);
    stand.leaves(1, 1, &pfc(0), free);
    stand.leaves(0, 0, &packet(1, 1), free + FRAME);
    stand.leaves(1, 1, &pfc(0), free + FRAME);
    stand.leaves(1, 1, &pfc(500), free + 2 * FRAME);
    stand.finds(&[
        "switch at 1524.000ns: port 1, queue 0: the neighbor is resumed while 1086 bytes wait that \
         have passed XOFF (2000 bytes) and not fallen to XON (1000 bytes)",
        "switch at 1700.960ns: port 1, queue 0: the neighbor is paused, and nothing is above XOFF \
         (2000 bytes)",
    ]);
}

#[test]
fn the_pause_is_the_first_frame_and_has_its_quanta() {
    let mut stand = above_xoff();
    let to_other = Packet { dst: NodeId(1), ..packet(2, 0) };
    stand.comes(&to_other, T + FRAME + 1);
    stand.leaves(1, 0, &to_other, T + FRAME + 1);
    stand.finds(&[
        "switch at 1088.481ns: port 1, queue 0: the neighbor is to be paused since 1088.480ns, and \
         is not",
    ]);
    let mut stand = above_xoff();
    stand.leaves(1, 1, &control(Body::Pfc { classes: 1, quanta: 250 }), T + FRAME);
    stand.finds(&["switch at 1088.480ns: port 1, queue 0: a pause is 250 quanta, not 500"]);
}

#[test]
fn pause_is_about_what_came_by_a_port() {
    let pause = pause::Spec { xoff: Bytes(1_000), xon: Bytes(500), ..Default::default() };
    let mut stand = stand(|spec| spec.switch.flow_control.pause = Some(pause));
    stand.waits(0, &packet(1, 0), T);
    stand.leaves(1, 1, &control(Body::Pause { quanta: 0 }), T);
    stand.leaves(2, 1, &control(Body::Pause { quanta: u16::MAX }), T);
    stand.finds(&[
        "switch at 1000.000ns: port 1, queue 0: the neighbor is resumed while 1086 bytes wait that \
         have passed XOFF (1000 bytes) and not fallen to XON (500 bytes)",
        "switch at 1000.000ns: port 2, queue 0: the neighbor is paused, and nothing is above XOFF \
         (1000 bytes)",
    ]);
}

/// Packets that the sender of flow 0 makes at these times.
fn departs(stand: &mut Stand, psns: &[(u32, u64)], rate: Option<f64>, window: Option<u64>) {
    for &(psn, at) in psns {
        let packet = packet(1, psn);
        let departure = Departure { packet, home: Class(0), rate, window, probes: 0 };
        stand.0.departs(NodeId(1), &departure, Instant(at));
    }
}

#[test]
fn a_sender_is_within_its_rate() {
    // 1106 bytes at 50 Gb/s take 176.96 ns.
    let mut stand = stand(|_| {});
    let rate = Some(50e9);
    departs(&mut stand, &[(0, T), (1, T + 176_960), (2, T + 2 * 176_960 - 10)], rate, None);
    stand.finds(&[
        "host 1 at 1353.910ns: flow 0: a packet is sent before 1353.920ns, as soon as its rate \
         allows",
    ]);
}

#[test]
fn a_sender_is_within_its_window_and_message() {
    // Two packets of 1024 bytes; an answer frees one.
    let mut stand = stand(|_| {});
    let window = Some(2_048 + 1_023);
    departs(&mut stand, &[(0, T), (1, T)], None, window);
    let ack = Body::Ack { echo: Echo::default(), psn: 1, sent_at: Instant::ZERO };
    let ack = Packet { ingress: PortIx(0), class: Class(1), body: ack, ..packet(1, 0) };
    stand.0.sent((NodeId(1), PortIx(0)), &ack, Class(1), Instant(T), Some(Instant(T + HOP)));
    stand.0.findings = Findings::default();
    stand.0.arrives(NodeId(1), &ack, Instant(T + HOP));
    departs(&mut stand, &[(2, 2 * T)], None, window);
    stand.finds(&[]);
    departs(&mut stand, &[(3, 2 * T), (10, 3 * T)], None, window);
    stand.finds(&[
        "host 1 at 2000.000ns: flow 0: 3 packets are in flight, and its window is 2",
        "host 1 at 3000.000ns: flow 0: 10 packets are in flight, and its window is 2",
        "host 1 at 3000.000ns: flow 0: packet 10 is sent before packet 4",
        "host 1 at 3000.000ns: flow 0: packet 10 is sent, which its 10240 bytes do not have",
    ]);
}

#[test]
fn the_buffer_of_a_nic_has_its_size() {
    let mut stand = stand(|spec| spec.host.memory = Some(Bytes(2_000)));
    departs(&mut stand, &[(0, T), (1, T)], None, None);
    stand.finds(&[
        "host 1 at 1000.000ns: port 0, queue 0: 2172 bytes wait in the NIC, which has room for 2000",
    ]);
}

#[test]
fn what_is_delivered_acknowledged_and_complete_has_arrived() {
    let mut stand = stand(|spec| spec.flows[0].bytes = 2 * 1_024);
    let mut deliver = |psn, answered, completes, delivered| {
        let (packet, answered) = (packet(1, psn), Some(answered));
        let delivery = Delivery { packet, notified: false, answered, completes, delivered };
        stand.0.delivers(NodeId(0), &delivery, Instant(T + u64::from(psn)));
    };
    deliver(0, 1, false, 1_024);
    // Once more: it is no new byte.
    deliver(0, 1, false, 2_048);
    deliver(0, 2, true, 1_024);
    deliver(1, 2, false, 2_048);
    stand.finds(&[
        "host 0 at 1000.000ns: flow 0: 2048 bytes count as delivered, and 1024 have arrived",
        "host 0 at 1000.000ns: flow 0: it is complete with 1024 of 2048 bytes, or again",
        "host 0 at 1000.000ns: flow 0: packets before 2 are acknowledged, and 1 is missing",
        "host 0 at 1000.001ns: flow 0: it is not complete although all 2048 bytes have arrived",
    ]);
}

#[test]
fn a_mark_is_answered_after_the_interval_and_not_before() {
    // DCQCN: 50 us between two notifications.
    let spec =
        congestion::dcqcn::Spec { cnp_interval: Duration::from_us(50), ..Default::default() };
    let congestion = congestion::Spec::Dcqcn(spec);
    let mut stand = stand(|spec| spec.profiles[0].congestion = congestion);
    let mut deliver = |psn: u32, ecn, notified, us: u64| {
        let (packet, delivered) = (marked(packet(1, psn), ecn), u64::from(psn + 1) * 1_024);
        let (answered, completes) = (None, false);
        let delivery = Delivery { packet, notified, answered, completes, delivered };
        stand.0.delivers(NodeId(0), &delivery, Instant(us * T));
    };
    deliver(0, Ecn::Ect0, false, 1);
    deliver(1, Ecn::Ce, true, 2);
    deliver(2, Ecn::Ce, false, 51);
    deliver(3, Ecn::Ce, true, 52);
    deliver(4, Ecn::Ce, true, 60);
    deliver(5, Ecn::Ce, false, 110);
    deliver(6, Ecn::Ect0, true, 200);
    stand.finds(&[
        "host 0 at 60000.000ns: flow 0: a packet is answered by a CNP; the last CNP was sent \
         52000.000ns",
        "host 0 at 110000.000ns: flow 0: a packet is not answered by a CNP; the last CNP was sent \
         60000.000ns",
        "host 0 at 200000.000ns: flow 0: a packet is answered by a CNP; the last CNP was sent \
         60000.000ns",
    ]);
}

#[test]
fn the_first_violations_are_kept_and_the_others_counted() {
    let mut halves = [Findings::default(), Findings::default()];
    for n in 0..100 {
        halves[n as usize % 2].add(Instant(n), NodeId(0), n.to_string());
    }
    let [mut all, other] = halves;
    all.merge(other);
    let messages = all.messages(&spec().graph);
    assert_eq!((messages.len(), &*messages[0]), (MOST + 1, "host 0 at 0.000ns: 0"));
    assert_eq!(messages[MOST - 1], "host 0 at 0.029ns: 29");
    assert_eq!(messages[MOST], "and 70 more violations of invariants");
}

#[test]
fn results_are_the_same_with_and_without_it() {
    let run = |audited| {
        let mut spec = spec();
        let rocev2 =
            transport::rocev2::Spec { in_flight: Some(Bytes(4_096)), ..Default::default() };
        spec.profiles[0].transport = transport::Spec::Rocev2(rocev2);
        spec.flows.iter_mut().for_each(|flow| flow.bytes = 1_000_000);
        Simulation::new(spec).audited(audited).run()
    };
    let (with, without) = (run(true), run(false));
    assert_eq!((&with.violations, with.fingerprint), (&Vec::new(), without.fingerprint));
    assert_eq!(with.hops, without.hops);
}
