//! Links: transmission times, no overlap of frames, and arrival of each frame once and on time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use floodway_model::graph::{Node, NodeKind, on_wire};
use floodway_model::line::Counting;
use floodway_model::units::PS_PER_S;
use floodway_model::{
    Body, Duration, FlowId, FlowSpec, Instant, NodeId, Packet, PortIx, Progressions, Rate,
};

use super::pace::Held;
use super::retry::{Frame, Retried};
use super::{Log, time};
use crate::Spec;
use crate::distances::Distances;
use crate::errors::Errors;
use crate::host::first_segments;
use crate::link::is_link_control;

/// If a byte does not take a whole number of picoseconds, a time may be rounded up at every step of
/// its calculation.
pub const ROUNDING: Duration = Duration(2);

/// Network state shared by all threads, and the frames in flight between nodes.
#[derive(Debug)]
pub struct Network {
    /// The specification of the simulation, without its flows.
    pub spec: Spec,
    /// The flows, to which a session adds some.
    flows: RwLock<Progressions<FlowSpec>>,
    /// Longest round-trip time without queueing; zero if no flow uses credit.
    pub base_rtt: Duration,
    /// By flow that goes on with the segment numbers of others: its first segment.
    pub first_segments: BTreeMap<FlowId, u32>,
    /// Links, by the node and port where frames arrive.
    links: Vec<Vec<Link>>,
}

/// One direction of a link.
#[derive(Debug)]
struct Link {
    from: (NodeId, usize),
    /// Rate of this direction.
    rate: Rate,
    /// Rate of the other one.
    rate_back: Rate,
    /// What it adds to frames; `None` on Ethernet.
    line: Option<Counting>,
    /// Whether it loses frames at random, or because of bit errors.
    loses: bool,
    /// Whether frames are sent again; `None` if they are not.
    retried: Option<Retried>,
    /// What holds back its sender; `None` if it sends at the rate of the link.
    held: Option<Held>,
    delay: Duration,
    /// Latency from the arrival to the handling of a forwarded frame.
    latency: Duration,
    /// Intervals in which it loses everything.
    dead: Vec<(Instant, Instant)>,
    /// Intervals in which its ends know about the failure and send nothing.
    closed: Vec<(Instant, Instant)>,
    /// Frames in flight on it, with the time at which they are due.
    flight: Mutex<VecDeque<(Instant, Packet)>>,
}

impl Network {
    /// The network of a simulation.
    pub fn new(spec: &Spec) -> Self {
        let link = |node: usize, port: usize| {
            let to = (NodeId(node as u32), PortIx(port as u16));
            let end = &spec.graph.nodes[node].ports[port];
            let from = (end.peer, end.peer_port);
            let (dead, closed) = outages(spec, [to, from]);
            Link {
                from: (from.0, from.1.index()),
                rate: spec.graph.rate_to(end),
                rate_back: end.rate,
                line: end.line,
                loses: spec.losses.iter().any(|loss| (loss.node, loss.port) == from)
                    || Errors::at(spec, from).is_some_and(Errors::may_happen),
                retried: Retried::of(spec, from),
                held: Held::of(spec, from),
                delay: end.delay,
                latency: match spec.graph.nodes[node].kind {
                    NodeKind::Host => Duration::ZERO,
                    NodeKind::Switch { .. } => spec.switch.latency,
                },
                dead,
                closed,
                flight: Mutex::default(),
            }
        };
        let nodes = spec.graph.nodes.iter().enumerate();
        let links =
            |(node, of): (usize, &Node)| (0..of.ports.len()).map(|port| link(node, port)).collect();
        let by_credit = spec.profiles.iter().any(|of| of.congestion.has_receiver_half());
        let base_rtt = by_credit.then(|| Distances::of(spec).longest_round_trip);
        Self {
            links: nodes.map(links).collect(),
            base_rtt: base_rtt.unwrap_or_default(),
            first_segments: first_segments(spec),
            flows: RwLock::new(spec.flows.clone()),
            spec: Spec { flows: Progressions::default(), ..spec.clone() },
        }
    }

    /// A flow.
    pub fn flow(&self, flow: FlowId) -> FlowSpec {
        self.flows.read().unwrap_or_else(PoisonError::into_inner).at(flow.index())
    }

    /// Sets the list of all flows, which has grown.
    pub fn set_flows(&self, flows: Progressions<FlowSpec>) {
        *self.flows.write().unwrap_or_else(PoisonError::into_inner) = flows;
    }

    fn link(&self, to: (NodeId, PortIx)) -> &Link {
        &self.links[to.0.index()][to.1.index()]
    }

    /// The node and port that send to this end.
    pub fn sender(&self, to: (NodeId, PortIx)) -> (NodeId, usize) {
        self.link(to).from
    }

    /// The rate at which a port sends.
    pub fn rate(&self, node: NodeId, port: usize) -> Rate {
        self.links[node.index()][port].rate_back
    }

    /// The rate at which frames come to a port.
    pub fn rate_to(&self, node: NodeId, port: usize) -> Rate {
        self.links[node.index()][port].rate
    }

    /// Intervals in which the ends of the link at a port know that it is down.
    pub fn closed(&self, node: NodeId, port: usize) -> &[(Instant, Instant)] {
        &self.links[node.index()][port].closed
    }

    /// Whether a port sends frames again.
    pub fn is_retried(&self, node: NodeId, port: usize) -> bool {
        let end = &self.spec.graph.node(node).ports[port];
        self.link((end.peer, end.peer_port)).retried.is_some()
    }

    /// Whether the link at a port is known to be down.
    pub fn is_closed(&self, node: NodeId, port: usize, now: Instant) -> bool {
        self.closed(node, port).iter().any(|&(from, until)| from <= now && now < until)
    }

    /// `port` puts a frame on the wire, after the previous frame, which began and ended at `before`.
    /// Returns beginning and end of the new frame.
    pub fn sent(
        &self,
        to: (NodeId, PortIx),
        packet: &Packet,
        before: (Instant, Instant),
        (until, at): (Instant, Option<Instant>),
        port: usize,
        log: &mut Log,
    ) -> (Instant, Instant) {
        let (link, now) = (self.link(to), log.now);
        // A frame is cut off when its link is detected to be down.
        let is_cut = |&(from, until): &(Instant, Instant)| before.0 <= from && until <= now;
        if now < before.1 && !link.closed.iter().any(is_cut) {
            let text = format!("a frame is sent while one is on the wire until {}", time(before.1));
            log.port(port, text);
        }
        if self.is_closed(link.from.0, link.from.1, now) {
            log.port(port, "a frame is sent on a link that is known to be down");
        }
        let bytes = on_wire(link.line, packet.bytes, self.spec.wire_overhead.into());
        let mut free = now + serialization(bytes, link.rate);
        let mut left = free;
        if let Some(held) = &link.held {
            left = left.max(until);
            match held.free_from(packet.bytes, (bytes, free.since(now)), now, left) {
                Some(from) => free = from,
                None => log.port(port, "a frame is sent ahead of the pace of its port"),
            }
        }
        if let Some(retried) = &link.retried {
            let spacing = retried.spec().spacing.0.max(1);
            let sets = (bytes / spacing + 1) * retried.spec().overhead.0;
            let frame = Frame {
                bytes: packet.bytes.into(),
                is_control: is_link_control(&packet.body),
                until,
                wire_time: free.since(now),
                sets: serialization(sets, link.rate),
                delay: link.delay,
                is_lost: at.is_none(),
                is_after_failure: link.closed.iter().any(is_cut),
            };
            retried.sends(&frame, port, log);
            left = left.max(until);
        }
        let handled = match packet.body {
            Body::Pfc { .. } | Body::Pause { .. } => self.response(link.rate_back),
            Body::Cim | Body::Bfc { .. } | Body::Drc { .. } | Body::LinkCredit { .. } => {
                Duration::ZERO
            }
            _ => link.latency,
        };
        let due = left + link.delay + handled;
        let lost = link.dead.iter().any(|&(down, up)| down < left + link.delay && now < up);
        match at {
            Some(_) if lost => {
                log.port(port, "a frame is sent on a link that is down, and arrives")
            }
            None if !lost && !link.loses => log.port(port, "a frame is lost on a link that works"),
            Some(at) if at < due || at > due + ROUNDING => {
                let (at, due, bytes) = (time(at), time(due), packet.bytes);
                let text = format!("a frame of {bytes} bytes is due at {due} and arrives at {at}");
                log.port(port, text);
            }
            _ => {}
        }
        if let Some(at) = at {
            lock(&link.flight).push_back((at, *packet));
        }
        (now, free)
    }

    /// Time that a port of this rate takes to react to a pause frame.
    fn response(&self, rate: Rate) -> Duration {
        let flow_control = &self.spec.switch.flow_control;
        match (&flow_control.pfc, &flow_control.pause) {
            (Some(pfc), _) => pfc.response_at(rate),
            (None, Some(pause)) => pause.response,
            (None, None) => Duration::ZERO,
        }
    }

    /// A frame arrives: checks that it was sent and is due now.
    pub fn arrives(&self, node: NodeId, packet: &Packet, log: &mut Log) {
        let (now, port) = (log.now, packet.ingress.index());
        self.check_overdue(node, port, log);
        let mut flight = lock(&self.links[node.index()][port].flight);
        let place = flight.iter().position(|(at, sent)| *at == now && is_same(sent, packet));
        match place.and_then(|place| flight.remove(place)) {
            None => log.port(port, "a frame arrives that was not sent, or not for this time"),
            Some((_, sent)) if (sent.tos, sent.indicated) != (packet.tos, packet.indicated) => {
                log.port(port, "the header of a frame has changed on the wire");
            }
            Some(_) => {}
        }
    }

    /// Reports overdue frames.
    fn check_overdue(&self, node: NodeId, port: usize, log: &mut Log) {
        let now = log.now;
        let mut flight = lock(&self.links[node.index()][port].flight);
        while let Some(place) = flight.iter().position(|(at, _)| *at < now) {
            let due = flight.remove(place).map_or(now, |(at, _)| at);
            log.port(port, format!("a frame was due at {} and has not arrived", time(due)));
        }
    }

    /// The run ends.
    pub fn finish(&self, node: NodeId, log: &mut Log) {
        for port in 0..self.links[node.index()].len() {
            self.check_overdue(node, port, log);
        }
    }
}

/// Intervals in which a link loses everything, and those in which its ends know about it.
type Outages = (Vec<(Instant, Instant)>, Vec<(Instant, Instant)>);

fn outages(spec: &Spec, ends: [(NodeId, PortIx); 2]) -> Outages {
    let here = spec.failures.iter().filter(|failure| ends.contains(&(failure.node, failure.port)));
    let mut closed: Vec<(Instant, Instant)> = here
        .clone()
        .map(|failure| (failure.at + failure.detection, failure.until, failure.detection))
        .filter(|(known, until, _)| known < until)
        .map(|(known, until, detection)| (known, until + detection))
        .collect();
    closed.sort_unstable();
    let joined = closed.into_iter().fold(Vec::new(), |mut joined: Vec<(_, Instant)>, next| {
        match joined.last_mut() {
            Some(last) if next.0 <= last.1 => last.1 = last.1.max(next.1),
            _ => joined.push(next),
        }
        joined
    });
    (here.map(|failure| (failure.at, failure.until)).collect(), joined)
}

/// Time to transmit `bytes` at a rate, rounded up to a picosecond.
pub fn serialization(bytes: u64, rate: Rate) -> Duration {
    let bits = u128::from(bytes) * 8 * u128::from(PS_PER_S);
    Duration(u64::try_from(bits.div_ceil(u128::from(rate.0))).unwrap_or(u64::MAX))
}

/// Duration of a pause of `quanta` of 512 bit times.
pub fn pause_time(quanta: u16, rate: Rate) -> Duration {
    serialization(u64::from(quanta) * 512 / 8, rate)
}

/// End of the pause caused by a pause frame that arrives at `now`.
pub fn paused_until(network: &Network, now: Instant, quanta: u16, rate: Rate) -> Instant {
    let pfc = network.spec.switch.flow_control.pfc.as_ref();
    match pfc {
        Some(pfc) if !pfc.refresh && quanta > 0 => Instant::NEVER,
        _ => now + pause_time(quanta, rate),
    }
}

/// Whether two frames are the same, apart from fields that may change on the path: class, physical
/// queue and marks.
pub fn is_same(one: &Packet, other: &Packet) -> bool {
    let key = |frame: &Packet| (frame.flow, frame.connection, frame.src, frame.dst, frame.bytes);
    // A telemetry record gets another number when its packet changes threads.
    let body = |packet: &Packet| {
        let mut packet = *packet;
        if packet.record().is_some() {
            packet.set_record(0);
        }
        packet.body
    };
    key(one) == key(other) && body(one) == body(other)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panicked while it held this")
}
