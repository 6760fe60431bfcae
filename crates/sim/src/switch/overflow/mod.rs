//! Overflow: what happens to a packet that finds no room in its data queue. A member of the family
//! decides, and the switch acts. It is called only when a packet has been refused, so it costs
//! nothing while there is room.
//!
//! Packets that a queue discipline drops to make room are not decided here: see
//! [`Discipline::push_out`](super::discipline::Discipline::push_out).

pub mod drop;
pub mod trim;

use std::sync::Arc;

use floodway_model::check::Findings;
use floodway_model::packet::Entropy;
use floodway_model::random::Stream;
use floodway_model::{Body, Echo, Instant, Packet};

use super::Switch;
use super::aqm::Verdict;
use super::check::Facts;
use super::knowledge::Knowledge;
use super::port::DropReason;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

floodway_model::family! {
    /// What happens to a packet that finds no room in the buffer.
    "switch.overflow" as Overflow:
    Drop = "drop" (drop::Spec): "It is dropped.",
    Trim = "trim" (trim::Spec):
        "It loses its payload; the header notifies the receiver, which requests a retransmission (NDP, CP).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Drop(drop::Spec::default())
    }
}

impl Spec {
    /// Whether it is the default, which is omitted when the parameters are written out.
    pub const fn is_drop(&self) -> bool {
        matches!(self, Self::Drop(_))
    }

    /// The parameters of trimming, if packets are trimmed.
    pub fn trims(&self) -> Option<&trim::Spec> {
        self.member().trims()
    }
}

/// Decides what happens to packets that find no room.
pub trait Overflow {
    /// The parameters of trimming, if packets are trimmed.
    fn trims(&self) -> Option<&trim::Spec> {
        None
    }

    /// Checks that it is compatible with the other mechanisms.
    fn check_beside(&self, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// Decision on a packet that has been refused. `last_is_trimmable`: the last packet of its
    /// queue could be trimmed instead. `rng` is that of the switch.
    fn decide(&self, _last_is_trimmable: bool, _rng: &mut Stream) -> Fate {
        Fate::Drop
    }
}

/// What happens to a packet that has been refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is dropped.
    Drop,
    /// It is trimmed if possible, otherwise dropped.
    Trim,
    /// The last packet of its queue is trimmed, and the arriving packet takes its place.
    TrimLast,
}

/// State and counters of a switch that trims packets.
#[derive(Debug)]
pub struct Trimming {
    /// The parameters.
    spec: trim::Spec,
    /// By flow: whether its transport supports trimmed packets, which a real switch reads from the
    /// DSCP.
    understood: Arc<[bool]>,
    /// Packets trimmed by this switch.
    pub trimmed: u64,
    /// Trimmed packets dropped by this switch.
    pub headers_dropped: u64,
}

impl Trimming {
    /// `None` if packets are dropped.
    pub fn new(spec: &super::Spec, knowledge: &Knowledge) -> Option<Box<Self>> {
        let understood = knowledge.understand_trimming.as_ref()?;
        Some(Box::new(Self {
            spec: spec.overflow.trims()?.clone(),
            understood: Arc::clone(understood),
            trimmed: 0,
            headers_dropped: 0,
        }))
    }

    /// By flow: whether its transport supports trimmed packets.
    pub fn understood(&self) -> &Arc<[bool]> {
        &self.understood
    }

    /// Sets the same, after flows were added.
    pub fn understand(&mut self, understood: Arc<[bool]>) {
        self.understood = understood;
    }

    /// Whether packets may be refused although there is room.
    pub fn has_threshold(&self) -> bool {
        self.spec.threshold.is_some()
    }

    /// Whether a packet may be trimmed: its receiver supports trimming, and the packet is longer
    /// than a header.
    fn applies_to(&self, packet: &Packet) -> bool {
        matches!(packet.body, Body::Data { .. })
            && self.spec.shortens(packet)
            && self.understood[packet.flow.index()]
    }
}

impl Switch {
    /// Whether a packet fits within the threshold of its queue for packets that can be trimmed.
    #[inline(never)]
    pub(super) fn admit_trimmable(
        &self,
        egress: usize,
        queue: usize,
        packet: &Packet,
    ) -> Result<(), DropReason> {
        let Some(trimming) = &self.trimming else { return Ok(()) };
        let Some(threshold) = trimming.spec.threshold else { return Ok(()) };
        let backlog = self.ports[egress].queues[queue].backlog();
        let fits = backlog + u64::from(self.spec.cell.occupied(packet.bytes)) <= threshold.0;
        if fits || !self.may_trim(packet) { Ok(()) } else { Err(DropReason::QueueFull) }
    }

    /// Whether a packet is trimmed if it finds no room. In a lossless class it is not: there, a
    /// lack of room is an error, which must remain visible.
    fn may_trim(&self, packet: &Packet) -> bool {
        let lossless = self.spec.flow_control.must_not_lose() >> packet.class.0 & 1 != 0;
        !lossless && self.trimming.as_ref().is_some_and(|trimming| trimming.applies_to(packet))
    }

    /// A packet has been refused for this reason. Returns whether it may join its queue, because
    /// another one made room; otherwise it has been dropped or trimmed.
    #[cold]
    pub(super) fn overflows(
        &mut self,
        egress: usize,
        queue: usize,
        (reason, verdict): (DropReason, Verdict),
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) -> bool {
        let fate = match self.may_trim(packet) && reason.is_for_want_of_room() {
            true => {
                let last = self.ports[egress].queues[queue].last();
                let last_is_trimmable = last.is_some_and(|last| self.may_trim(last));
                self.spec.overflow.member().decide(last_is_trimmable, &mut self.rng)
            }
            false => Fate::Drop,
        };
        match fate {
            Fate::Drop => self.drop(egress, queue, reason, packet, now, context),
            Fate::Trim => self.trim(egress, queue, (packet, verdict), now, context),
            Fate::TrimLast => {
                self.trim_last(egress, queue, now, context);
                if self.admit(egress, queue, packet).is_ok() {
                    return true;
                }
                self.trim(egress, queue, (packet, verdict), now, context);
            }
        }
        false
    }

    /// Takes the last packet out of a queue and trims it.
    fn trim_last(&mut self, egress: usize, queue: usize, now: Instant, context: &mut Context) {
        let port = &mut self.ports[egress];
        let Some(last) = port.queues[queue].take_last() else { return };
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        let header = self.cut(egress, queue, (&last, Verdict::Pass, true), now, context);
        self.release(egress, queue, &last, now, context);
        if let Some(header) = header {
            self.enqueue_control(egress, &header, now, context);
        }
    }

    /// Trims a packet bound for `queue` and forwards the header.
    fn trim(
        &mut self,
        egress: usize,
        queue: usize,
        (packet, verdict): (&Packet, Verdict),
        now: Instant,
        context: &mut Context,
    ) {
        if let Some(header) = self.cut(egress, queue, (packet, verdict, false), now, context) {
            self.enqueue_control(egress, &header, now, context);
        }
    }

    /// The header of a trimmed packet that was bound for `queue`, or was queued there and has left
    /// it.
    fn cut(
        &mut self,
        egress: usize,
        queue: usize,
        (packet, verdict, waited): (&Packet, Verdict, bool),
        now: Instant,
        context: &mut Context,
    ) -> Option<Packet> {
        let Body::Data { echo, psn, sent_at } = packet.body else { return None };
        let trimming = self.trimming.as_mut()?;
        // The number of a telemetry record is not kept: see below.
        let last_hop = self.ports[egress].to_host;
        let kept = echo.entropy().map(|entropy| Echo::of_entropy(Entropy { last_hop, ..entropy }));
        let body = Body::Trimmed { echo: kept.unwrap_or_default(), psn, sent_at };
        let mut header =
            Packet { bytes: trimming.spec.header(), physical_queue: 0, body, ..*packet };
        trimming.trimmed += 1;
        let marks = trimming.spec.mark || verdict == Verdict::Congested;
        if marks && packet.ecn().is_capable() {
            header.mark();
            self.ports[egress].queues[queue].count_mark();
        }
        let fact = || Fact::Trimmed { port: egress, queue, packet, header: &header, waited };
        context.state(Kinds::TRIMMED, self.id, now, fact);
        let (aqm, mut view) = self.aqm(egress, now);
        aqm.on_overflow(queue, packet, &mut view);
        // Telemetry that switches wrote into the packet is cut off with the payload.
        context.free_telemetry(packet);
        Some(header)
    }
}
