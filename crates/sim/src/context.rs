//! The context of nodes: the frames on the links, the counters, the telemetry and the observers of
//! their thread.

use floodway_engine::Wire;
use floodway_model::{Body, Class, FlowId, Instant, NodeId, Packet, PortIx};

use crate::metric::Metrics;
use crate::observe::departures::Departures;
use crate::observe::{At, Fact, Kinds, Observers};
use crate::telemetry::{Record, Records};

/// Everything that a node can access besides its own state.
#[derive(Debug)]
pub struct Context {
    wire: Wire<Packet>,
    /// Counters of the thread.
    pub metrics: Metrics,
    /// Telemetry of the packets at its nodes and on its wire; `None` if no flow uses it. Boxed, because
    /// a null pointer is the fastest test for `None`.
    pub telemetry: Option<Box<Records>>,
    observers: Observers,
    /// Flows that have completed since they were last taken, and when; `None` if nobody takes them.
    completed: Option<Vec<(FlowId, Instant)>>,
}

impl Context {
    /// The context of the nodes of a thread.
    pub fn new(
        wire: Wire<Packet>,
        metrics: Metrics,
        telemetry: Option<Box<Records>>,
        observers: Observers,
    ) -> Self {
        Self { wire, metrics, telemetry, observers, completed: None }
    }

    /// The frames on the links.
    pub fn wire(&mut self) -> &mut Wire<Packet> {
        &mut self.wire
    }

    /// Its parts, after a run.
    pub fn into_parts(self) -> (Wire<Packet>, Metrics, Option<Box<Records>>, Observers) {
        (self.wire, self.metrics, self.telemetry, self.observers)
    }

    /// Counts a flow with a size that has completed.
    pub fn complete(&mut self, flow: FlowId, awaited: bool, now: Instant) {
        self.metrics.count_flow_done(awaited);
        if let Some(completed) = &mut self.completed {
            completed.push((flow, now));
        }
    }

    /// Moves the flows that have completed since the last call to `to`. They are recorded from the first call on.
    pub fn take_completed(&mut self, to: &mut Vec<(FlowId, Instant)>) {
        to.append(self.completed.get_or_insert_default());
    }

    /// The observers of the thread.
    pub fn observers(&mut self) -> &mut Observers {
        &mut self.observers
    }

    /// What has left queues, if that is observed.
    pub fn departures(&self) -> Option<&Departures> {
        self.observers.departures.as_ref()
    }

    /// Frees the telemetry record of a packet that ends here.
    #[cold]
    pub fn free_telemetry(&mut self, packet: &Packet) {
        if let Some(records) = &mut self.telemetry {
            records.free(packet);
        }
    }

    /// The telemetry of a packet; `None` if it has none.
    pub fn telemetry_of(&self, packet: &Packet) -> Option<Record> {
        self.telemetry.as_ref()?.of(packet)
    }

    /// Puts a frame on the wire to a port of a node, where it arrives at `at`, sent in this class.
    #[inline]
    pub fn send(&mut self, to: (NodeId, PortIx), at: Instant, packet: &Packet, class: Class) {
        let (node, port) = to;
        let seal = move |packet: &mut Packet| (packet.class, packet.ingress) = (class, port);
        self.wire.send(node, at, packet, seal);
    }

    /// Whether an observer wants facts of this kind.
    #[inline(always)]
    pub fn wants(&self, kind: Kinds) -> bool {
        self.observers.want(kind)
    }

    /// Reports a fact of this kind, which is built only if an observer wants it.
    #[inline(always)]
    pub fn state<'a>(
        &mut self,
        kind: Kinds,
        node: NodeId,
        now: Instant,
        fact: impl FnOnce() -> Fact<'a>,
    ) {
        if self.wants(kind) {
            self.report(node, now, fact);
        }
    }

    /// Whether an observer wants facts of this kind about all flows.
    #[inline(always)]
    pub fn wants_of_all(&self, kind: Kinds) -> bool {
        self.observers.want_of_all(kind)
    }

    /// Whether an observer wants facts of this kind about a flow.
    #[inline(always)]
    pub fn wants_of(&self, kind: Kinds, flow: FlowId) -> bool {
        self.observers.want_of(kind, flow)
    }

    /// Reports that a frame has arrived and is handled.
    #[inline(always)]
    pub fn arrived(&mut self, node: NodeId, packet: &Packet, now: Instant) {
        // A message of source flow control is about a destination, whichever flow it notifies.
        if self.wants(Kinds::ARRIVED)
            && (self.wants_of(Kinds::ARRIVED, packet.flow)
                || matches!(packet.body, Body::Sfc { .. }))
        {
            self.report(node, now, || Fact::Arrived { packet });
        }
    }

    /// The same where the caller is cold already, so that no call is spent on keeping it out of the way.
    #[inline(always)]
    pub fn state_here<'a>(
        &mut self,
        kind: Kinds,
        node: NodeId,
        now: Instant,
        fact: impl FnOnce() -> Fact<'a>,
    ) {
        if self.wants(kind) {
            self.pass(node, now, fact);
        }
    }

    /// Compiled for every place that reports a fact, because each has a closure of its own. The kind of
    /// the fact is a constant there, so only the observers that want it are tested.
    #[cold]
    #[inline(never)]
    fn report<'a>(&mut self, node: NodeId, now: Instant, fact: impl FnOnce() -> Fact<'a>) {
        self.pass(node, now, fact);
    }

    #[inline(always)]
    fn pass<'a>(&mut self, node: NodeId, now: Instant, fact: impl FnOnce() -> Fact<'a>) {
        let is_measured = self.metrics.sampling().measures_at(now);
        self.observers.on(&fact(), &At { node, now, is_measured });
    }
}
