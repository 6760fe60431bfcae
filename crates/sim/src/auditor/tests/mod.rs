//! Tests that violate every invariant by hand: hosts 0, 1 and 2 on a switch, 100 Gb/s, 200 ns.
//! Frames of 1086 bytes take 1106 byte times, 88.48 ns, and arrive 288.48 ns after they were sent.

mod credit;
mod flows;
mod link_credit;
mod links;
mod pauses;
mod queues;
mod tags;
mod trims;

use floodway_model::packet::length;
use floodway_model::{
    Body, Bytes, Class, Dscp, Duration, Echo, Ecn, FlowId, Instant, NodeId, Packet, PortIx, Tos,
};

use super::*;
use crate::host::transport;
use crate::observe::{Delivery, Departure, OnWire};
use crate::switch::port::DropReason;
use crate::{Simulation, Spec, small};

const SWITCH: NodeId = NodeId(3);
const HOP: u64 = 288_480;
const FRAME: u64 = 88_480;

struct Stand(Auditor);

/// Hosts 1 and 2 send ten packets each to host 0.
fn spec() -> Spec {
    let flows = [1, 2].map(|src| small::flow(src, 0, 10 * 1_024, 0));
    small::spec(small::star(3), flows.into(), Duration::from_ms(1))
}

fn stand(change: impl FnOnce(&mut Spec)) -> Stand {
    let mut spec = spec();
    change(&mut spec);
    let network = Arc::new(Network::new(&spec));
    Stand(Auditor::of(&network, &spec.graph.ids().collect::<Vec<_>>()))
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
        physical_queue: 0,
        tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
        indicated: false,
        body: Body::Data { echo: Echo::default(), psn, sent_at: Instant::ZERO },
    }
}

fn marked(packet: Packet, ecn: Ecn) -> Packet {
    Packet { tos: Tos::new(Dscp::DEFAULT, ecn), ..packet }
}

/// A frame of link control from one node to its neighbor.
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
    fn states(&mut self, node: NodeId, fact: &Fact<'_>, at: u64) {
        self.0.on(fact, &At { node, now: Instant(at), is_measured: true });
    }

    /// A frame is sent on a link that nothing holds back.
    fn sent(
        &mut self,
        to: (NodeId, PortIx),
        packet: &Packet,
        class: Class,
        now: Instant,
        at: Option<Instant>,
    ) {
        self.0.sent(to, packet, class, now, (now, at));
    }

    /// A packet arrives at the switch at this time.
    fn comes(&mut self, packet: &Packet, at: u64) {
        let to = (SWITCH, packet.ingress);
        self.sent(to, packet, packet.class, Instant(at - HOP), Some(Instant(at)));
        self.0.arrives(SWITCH, packet, Instant(at));
    }

    /// The packet joins a queue towards host 0.
    fn joins(&mut self, queue: usize, packet: &Packet, at: u64) {
        let on_wire = OnWire { flow: None, class: Class(0), until: Instant::ZERO };
        self.states(SWITCH, &Fact::Joined { port: 0, queue, packet, on_wire }, at);
    }

    fn waits(&mut self, queue: usize, packet: &Packet, at: u64) {
        self.comes(packet, at);
        self.joins(queue, packet, at);
    }

    /// The switch sends the packet to a host.
    fn leaves(&mut self, host: u32, queue: u8, packet: &Packet, at: u64) {
        let wire = (u64::from(packet.bytes) + 20) * 80 + 200_000;
        let to = (NodeId(host), PortIx(0));
        self.sent(to, packet, Class(queue), Instant(at), Some(Instant(at + wire)));
    }

    fn drops(&mut self, reason: DropReason, packet: &Packet, at: u64) {
        self.states(SWITCH, &Fact::Dropped { port: 0, queue: 0, reason, packet }, at);
    }

    /// A pause frame of host 0 arrives at the switch.
    fn pauses(&mut self, quanta: u16, at: u64) {
        let frame =
            Packet { ingress: PortIx(0), ..control(Body::Pfc { classes: 1, quanta, resumed: 0 }) };
        let sent = at - 84 * 80 - 200_000;
        self.sent((SWITCH, PortIx(0)), &frame, Class(1), Instant(sent), Some(Instant(at)));
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
