//! Delays of chosen flows: the time from the start of a flow to its completion, partitioned by
//! cause, without gap or overlap.
//!
//! The packet whose arrival completes the flow is followed backwards to its source: on each hop it
//! was serialized, propagated, or waited (`trip`), and what the port did meanwhile is known from its
//! log (`port`). At the source, the time until it was sent consists of the gaps between the packets
//! of the flow (`flow`): a frame of the flow on the wire, the rate, the window, or the port. A wait for a
//! window is part of the round trip of the packet whose acknowledgement ended it, and is divided in
//! the same way. A pause has a cause (`pauses`), which is followed to its root.
//!
//! Most packets are on no critical path, so only the times of their hops are noted, and a hop is
//! explained when it turns out to be needed. What a port sends is logged while frames that are followed wait
//! there. Logs reach back to the oldest packet that may be needed. If one of them grows long, all hops so far are
//! explained, and logs need to reach back only to packets that wait.
//!
//! Logs belong to nodes, so a run that explains flows has one thread.

mod cuts;
mod flow;
mod frames;
mod part;
mod pauses;
mod port;
mod sample;
mod tables;
mod totals;
mod trip;

use floodway_model::{Body, Class, Duration, Ecn, FlowId, Instant, NodeId, Packet};

use super::{At, Delivery, Departure, Fact, Kinds, Observer, OnWire, Setup};
use crate::switch::port::DropReason;
pub use cuts::{Cut, Limit, Reason};
use flow::{Flow, data_key, is_answer};
pub use part::{Kind, Part};
use pauses::Cause;
pub use pauses::{Filling, Pause, Queue};
use port::{Hold, Logs, Place, Transmission, What};
pub use sample::{Chosen, Sample};
pub use tables::tables;
pub use totals::Total;

/// Why a flow took as long as it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// The flow.
    pub flow: FlowId,
    /// Its source.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// Its start.
    pub began: Instant,
    /// The flow that it waited for before it began, if it depended on others.
    pub after: Option<FlowId>,
    /// When all of it had arrived.
    pub completed: Instant,
    /// What it spent its time on, in order. Of a flow that is not detailed they are dropped at the end,
    /// when their totals are known.
    pub parts: Vec<Part>,
    /// The same by part and place.
    pub totals: Vec<Total>,
    /// Whether its parts are kept.
    pub is_detailed: bool,
    /// The first time at which the parts have a gap or an overlap; `None` if they are right.
    pub wrong_at: Option<Instant>,
    /// Packets that were sent again: their number, and where and why they had been dropped.
    pub losses: Vec<(u32, NodeId, DropReason)>,
    /// Number of its packets that were marked, by node and port.
    pub marks: Vec<(Place, u64)>,
    /// What lowered its rate and its window, in order. Of a flow that is not detailed they are dropped at the end.
    pub cuts: Vec<Cut>,
    /// What each of its packets spent its time on, from its generation to its arrival, with the number of the packet, in the
    /// order of arrival; empty if that was not asked for.
    pub packets: Vec<(u32, Vec<Part>)>,
    /// The number of measured flows that it stands for.
    pub stands_for: f64,
}

impl Story {
    /// The first time at which the parts do not cover the time of the flow without gap or overlap.
    fn first_wrong(&self) -> Option<Instant> {
        let mut now = self.began;
        for part in &self.parts {
            if part.from != now || part.from >= part.to {
                return Some(now);
            }
            now = part.to;
        }
        (now != self.completed).then_some(now)
    }

    /// The time of the parts for which `counted` returns true.
    pub fn time(&self, counted: impl Fn(&Part) -> bool) -> Duration {
        let parts = self.parts.iter().filter(|part| counted(part));
        parts.map(|part| part.to.since(part.from)).sum()
    }

    /// Its time on an idle network: serialization and propagation.
    pub fn ideal(&self) -> Duration {
        let ideal = self.totals.iter().filter(|total| total.delay.is_ideal());
        ideal.map(|total| total.time).sum()
    }

    /// Its completion time over that of an idle network.
    fn slowdown(&self) -> f64 {
        self.completed.since(self.began).0 as f64 / self.ideal().0.max(1) as f64
    }
}

/// Explanations of flows.
#[derive(Debug, Default)]
pub struct Explained {
    /// Of each flow that has completed, in order of flow.
    pub stories: Vec<Story>,
    /// All pauses of the run, in order of their start.
    pub pauses: Vec<Pause>,
    /// The flows in queues, by the number in [`Queue::filling`].
    fillings: Vec<Filling>,
}

impl Explained {
    /// The flows in a queue with their bytes, when the pause was requested; the one with most first.
    pub fn filled_by(&self, queue: Queue) -> &[(FlowId, u64)] {
        &self.fillings[queue.filling as usize]
    }

    /// Flows whose parts do not add up, one sentence each.
    pub fn violations(&self) -> impl Iterator<Item = String> {
        self.stories.iter().filter_map(|story| {
            let at = story.wrong_at?;
            let flow = story.flow.0;
            Some(format!(
                "flow {flow}: the parts of its delay do not add up to its completion time: they are wrong from \
                 {} ps on",
                at.0
            ))
        })
    }
}

/// What a host sends to another one in a class.
fn to_destination(host: NodeId, destination: NodeId, class: Class) -> Hold {
    let what = What::Destination(destination);
    Hold { node: host, port: 0, class: class.index(), what }
}

/// The flows that are followed, and the logs of all ports.
#[derive(Debug)]
pub struct Delays {
    /// By flow: its place in `flows`, or [`NONE`].
    places: Vec<u32>,
    flows: Vec<Flow>,
    /// Flows that have begun and not completed, by their places.
    active: Vec<u32>,
    logs: Logs,
    /// Which of them are detailed.
    chosen: Chosen,
    /// The time from which logs are needed, and when it was computed.
    horizon: (Instant, Instant),
    /// Completed flows with the largest slowdown, by their places, the slowest first.
    slowest: Vec<usize>,
    pauses: pauses::Pauses,
}

/// A flow that is not followed.
const NONE: u32 = u32::MAX;
/// Simulated time after which the horizon is computed again.
const STEP: Duration = Duration::from_us(5);
/// Transmissions in a log above which everything so far is explained. Tests meet it often.
const LONG: usize = if cfg!(debug_assertions) { 128 } else { 1_024 };

impl Observer for Delays {
    const WANTS: Kinds = Kinds::BEGAN
        .and(Kinds::OCCUPIED)
        .and(Kinds::JOINED)
        .and(Kinds::SENT)
        .and(Kinds::ARRIVED)
        .and(Kinds::DROPPED)
        .and(Kinds::DEPARTED)
        .and(Kinds::DELIVERED)
        .and(Kinds::PAUSED)
        .and(Kinds::PAUSES);
    const OF_EXPLAINED: Kinds = Kinds::SENT
        .and(Kinds::JOINED)
        .and(Kinds::ARRIVED)
        .and(Kinds::DEPARTED)
        .and(Kinds::DELIVERED);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let nodes = &setup.spec.graph.nodes;
        let mut places = vec![NONE; setup.spec.flows.len()];
        let mut flows = Vec::new();
        for (at, flow) in setup.explained.flows.iter().copied().enumerate() {
            if let Some(spec) =
                setup.spec.flows.get(flow.index()).filter(|_| places[flow.index()] == NONE)
            {
                places[flow.index()] = flows.len() as u32;
                let stands_for = setup.explained.stands_for.get(at).copied().unwrap_or(1.0);
                let line = nodes[spec.src.index()].ports[0].rate;
                let mut of = Flow::new(flow, (spec.src, spec.dst), line, stands_for);
                of.by_packet = setup.explained.packets && setup.explained.detailed.contains(&flow);
                flows.push(of);
            }
        }
        (!flows.is_empty()).then(|| Self {
            places,
            flows,
            active: Vec::new(),
            chosen: setup.explained.clone(),
            logs: Logs::new(nodes, setup.spec.switch.flow_control.drc.is_some()),
            horizon: (Instant::ZERO, Instant::ZERO),
            slowest: Vec::new(),
            pauses: pauses::Pauses::default(),
        })
    }

    // Inlined where a fact is reported, so that of the match only the arm of its kind is left.
    #[inline(always)]
    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        match *fact {
            Fact::Began { flow, class, after, on_wire } => {
                if let Some(of) = self.place(flow) {
                    self.flows[of].begin(at.now, class, after);
                    self.active.push(of as u32);
                    self.watch((at.node, 0), on_wire, at.now);
                }
            }
            Fact::Reclassified { flow, class } => {
                if let Some(of) = self.place(flow) {
                    self.flows[of].reclassify(class, at.now, &self.logs);
                }
            }
            Fact::Joined { port, packet, on_wire, .. } => {
                if let Some(of) = self.place(packet.flow) {
                    self.on_joined(of, packet, (at.node, port), on_wire, at.now);
                }
            }
            Fact::Occupied { port, flow, class, until } => {
                let end = (at.node, port.index());
                let wire = Transmission { from: at.now, to: until, flow, class };
                if self.logs.are_watched(end) && !self.logs.add(end, wire) {
                    self.make_room(end, wire, at.now);
                }
            }
            Fact::Sent { port, to, packet, class, begins, until, handled_at, lost, .. } => {
                if let Some(of) = self.place(packet.flow) {
                    let times = (begins, until, handled_at);
                    self.on_sent(of, (port, class), times, (to.0, lost), packet, at);
                }
            }
            Fact::Arrived { packet } => self.on_arrived(packet, at),
            Fact::Departed(departure) => self.on_departed(departure, at),
            Fact::Dropped { reason, packet, .. } => {
                if let Some((of, key)) = self.place(packet.flow).zip(data_key(packet)) {
                    self.flows[of].on_lost(key, at.node, reason, &mut self.logs);
                }
            }
            Fact::Delivered(delivery) => self.on_delivered(delivery, at),
            Fact::Paused { port, classes, until } => {
                let place = (at.node, port);
                let peer = self.logs.other_end(place);
                let log = self.logs.pauses_mut(place);
                self.pauses.paused(place, classes, (at.now, until), peer, log);
            }
            Fact::QueuePaused { port, class, queue, stop } => {
                let peer = self.logs.other_end((at.node, port));
                let hold = Hold { node: at.node, port, class, what: What::Queue(queue) };
                let held = self.logs.held_mut(hold);
                self.pauses.queue_paused((hold, queue), stop, at.now, peer, held);
            }
            Fact::Pauses { port, class, queue: (egress, behind), flows, is_known } => {
                let log = self.logs.of((at.node, egress));
                let paused = match is_known {
                    true => log.lacks_credit(behind, at.now),
                    false => log.paused(behind, at.now),
                };
                let queue = (at.node, egress, behind);
                let cause = Cause { queue, flows: flows.into(), behind: paused };
                let place = (at.node, port);
                if !is_known {
                    self.pauses.requested(place, (class, None), cause);
                } else if let Some(number) =
                    self.logs.of(self.logs.other_end(place)).paused(class, at.now)
                {
                    self.pauses.caused(number, &cause);
                }
            }
            Fact::PausesFor { port, class, towards, flow } => {
                let cause = self.towards(towards, class, flow);
                self.pauses.requested((at.node, port), (class, None), cause);
            }
            Fact::PausesQueue { port, class, theirs, queue: (egress, queue, ours), flow } => {
                let what = What::Queue(ours);
                let hold = Hold { node: at.node, port: egress, class: queue, what };
                let paused = self.logs.held(&hold).last().filter(|held| held.1 > at.now);
                let behind = paused.map(|held| held.2);
                let queue = (at.node, egress, queue);
                let cause = Cause { queue, flows: [(flow, 1)].into(), behind };
                self.pauses.requested((at.node, port), (class, Some(theirs)), cause);
            }
            _ => {}
        }
    }

    fn finish(&mut self, now: Instant) {
        self.pauses.finish(now);
    }

    fn merge(&mut self, other: Self) {
        // There is one thread. A thread without nodes has seen nothing.
        if self.flows.iter().all(|of| of.began.is_none()) {
            *self = other;
        }
    }
}

impl Delays {
    /// A frame of a followed flow is put on the wire.
    #[inline(never)]
    fn on_sent(
        &mut self,
        of: usize,
        (port, class): (usize, Class),
        (begins, until, handled_at): (Instant, Instant, Instant),
        (to, lost): (NodeId, Option<DropReason>),
        packet: &Packet,
        at: &At,
    ) {
        let of = &mut self.flows[of];
        let key = data_key(packet);
        if let Some(trip) = of.trip_of(packet, at.node, at.now) {
            match trip.waits_at.take() {
                Some(place) => self.logs.unwatch(place),
                None => debug_assert!(
                    trip.at == at.now || self.logs.is_of_host((at.node, port)),
                    "a frame has waited without joining a queue"
                ),
            }
            let answers = is_answer(packet) && at.node == packet.src;
            trip.hop(
                (port, class, packet.physical_queue),
                (at.now, begins, until, handled_at),
                to,
                answers,
            );
            let marked = packet.ecn() == Ecn::Ce && trip.marked_at.is_none();
            trip.marked_at = trip.marked_at.or(marked.then_some((at.node, port)));
            if marked && key.is_some() {
                of.on_marked((at.node, port));
            }
        }
        if let Some((key, reason)) = key.zip(lost) {
            of.on_lost(key, at.node, reason, &mut self.logs);
        }
    }

    /// A frame of a followed flow joins a queue of a switch: what the port sends while it waits is logged.
    #[inline(never)]
    fn on_joined(
        &mut self,
        of: usize,
        packet: &Packet,
        place: Place,
        on_wire: OnWire,
        now: Instant,
    ) {
        let waits = self.flows[of].trip_of(packet, place.0, now).map(|trip| &mut trip.waits_at);
        if let Some(waits @ None) = waits {
            *waits = Some(place);
            self.watch(place, on_wire, now);
        }
    }

    /// A frame that is followed waits at a port from now on.
    fn watch(&mut self, place: Place, on_wire: OnWire, now: Instant) {
        let OnWire { flow, class, until } = on_wire;
        // A link that is down is busy forever.
        if self.logs.watch(place) && until > now && until != Instant::NEVER {
            self.logs.push(
                self.logs.other_end(place),
                Transmission { from: now, to: until, flow, class },
            );
        }
    }

    #[inline(never)]
    fn on_arrived(&mut self, packet: &Packet, at: &At) {
        if let Body::Sfc { towards, class, pause_ns } = packet.body {
            let cause = self.towards(towards, class.index(), packet.flow);
            let ends = (at.now, at.now + Duration::from_ns(pause_ns.into()));
            let hold = to_destination(at.node, towards, class);
            return self.pauses.holds(hold, &cause, ends, self.logs.held_mut(hold));
        }
        let Some(of) = self.place(packet.flow) else { return };
        let of = &mut self.flows[of];
        if of.src != at.node {
            return;
        }
        match packet.body {
            Body::Ack { .. } | Body::TcpAck { .. } | Body::UetAck { .. } => {
                of.on_answered(packet, at.now);
            }
            Body::Cnp => of.cuts.on_notified(),
            Body::Nak { .. } | Body::TrimNak { .. } => of.cuts.learn(Reason::Lost),
            Body::Cnm { .. } | Body::Indication { .. } => {
                of.cuts.learn(Reason::Notified(packet.src));
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn on_departed(&mut self, departure: &Departure, at: &At) {
        let packet = &departure.packet;
        let Some((of, key)) = self.place(packet.flow).zip(data_key(packet)) else { return };
        let times = (departure.ready_at, at.now, departure.eligible_at);
        let limits = (departure.rate, departure.window);
        let to_destination = to_destination(at.node, packet.dst, departure.home);
        let what = What::Queue(packet.physical_queue);
        let of_queue = Hold { node: at.node, port: 0, class: packet.class.index(), what };
        let is_held = !self.logs.held(&to_destination).is_empty();
        let hold = if is_held { to_destination } else { of_queue };
        self.flows[of].on_departed((key, packet.class), times, limits, &hold, &mut self.logs);
    }

    #[inline(never)]
    fn on_delivered(&mut self, delivery: &Delivery<'_>, at: &At) {
        let packet = delivery.packet;
        let Some((of, key)) = self.place(packet.flow).zip(data_key(packet)) else { return };
        self.flows[of].on_delivered(key, delivery.notified, at.now, &self.logs);
        if delivery.completes {
            self.flows[of].complete(key, at.now, &mut self.logs);
            self.active.retain(|active| *active != of as u32);
            self.conclude(of);
        }
    }

    /// What is known at the end.
    pub fn into_explained(self) -> Explained {
        let mut stories: Vec<Story> = self.flows.into_iter().filter_map(|of| of.story).collect();
        stories.sort_by_key(|story| story.flow);
        Explained { stories, pauses: self.pauses.all, fillings: self.pauses.fillings }
    }

    /// Checks and adds up the parts of a flow that has completed, and drops those of flows that are not to
    /// be detailed.
    fn conclude(&mut self, of: usize) {
        let Some(story) = &mut self.flows[of].story else { return };
        story.wrong_at = story.first_wrong();
        story.totals = totals::totals(&story.parts, &self.pauses);
        story.is_detailed = true;
        if self.chosen.detailed.contains(&story.flow) {
            return;
        }
        let slowdown = |of: usize| self.flows[of].story.as_ref().map_or(0.0, Story::slowdown);
        self.slowest.push(of);
        self.slowest.sort_by(|a, b| slowdown(*b).total_cmp(&slowdown(*a)));
        if self.slowest.len() > self.chosen.slowest
            && let Some(story) = self.slowest.pop().and_then(|of| self.flows[of].story.as_mut())
        {
            (story.parts, story.cuts, story.is_detailed) = (Vec::new(), Vec::new(), false);
        }
    }

    /// The place of a flow that is followed and has not completed.
    #[inline]
    fn place(&self, flow: FlowId) -> Option<usize> {
        let place = *self.places.get(flow.index())?;
        let of = (place != NONE).then_some(place as usize)?;
        self.flows[of].story.is_none().then_some(of)
    }

    /// The queue that leads to a host, which a flow fills.
    fn towards(&self, host: NodeId, class: usize, flow: FlowId) -> Cause {
        let (node, port) = self.logs.other_end((host, 0));
        Cause { queue: (node, port, class), flows: [(flow, 1)].into(), behind: None }
    }

    fn active(&self) -> impl Iterator<Item = &Flow> {
        self.active.iter().map(|of| &self.flows[*of as usize])
    }

    /// The earliest time that senders need of the log of a port.
    fn gaps(&self, place: Place) -> Option<Instant> {
        if !self.logs.is_of_host(place) {
            return None;
        }
        let here = self.active().filter(|of| of.src == place.0);
        here.map(Flow::needs_at_source).min()
    }

    /// Adds a frame to a log that has no room for it.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, end: Place, wire: Transmission, now: Instant) {
        if self.logs.is_full(end) {
            self.shorten(end, now);
        }
        self.logs.push(end, wire);
    }

    /// Forgets what is not needed of the log of the port that sends to this end of a link.
    fn shorten(&mut self, end: Place, now: Instant) {
        if now >= self.horizon.1 + STEP {
            let needed = self.active().map(Flow::needs).min();
            self.horizon = (needed.unwrap_or(now), now);
        }
        let place = self.logs.other_end(end);
        let gaps = self.gaps(place);
        // The horizon may come from a node that is ahead by a window.
        let horizon = self.horizon.0.min(now);
        let horizon = gaps.map_or(horizon, |gap| gap.min(horizon));
        if self.logs.shorten(place, horizon) < LONG {
            return;
        }
        for of in &self.active {
            self.flows[*of as usize].settle(place.0, now, &self.logs);
        }
        let waiting = self.active().map(|of| of.needs_in(place.0)).min().unwrap_or(now);
        let gaps = self.gaps(place);
        self.logs.shorten(place, waiting.min(gaps.unwrap_or(now)).min(now));
    }
}
