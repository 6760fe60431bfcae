//! What happens to a packet that finds no room in its data queue. A member of the family decides, and the switch
//! carries it out. It is asked only when a packet has been refused, so it costs nothing while there is room.
//!
//! What a queue discipline pushes out to make room is not decided here: see
//! [`Discipline::push_out`](super::discipline::Discipline::push_out).

pub mod drop;
pub mod trim;

use std::sync::Arc;

use floodway_model::check::Findings;
use floodway_model::random::Stream;
use floodway_model::{Body, Instant, Packet};

use super::Switch;
use super::aqm::Verdict;
use super::check::Facts;
use super::knowledge::Knowledge;
use super::port::DropReason;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

floodway_model::family! {
    /// What happens to a packet that finds no room.
    "switch.overflow" as Overflow:
    Drop = "drop" (drop::Spec): "It is dropped.",
    Trim = "trim" (trim::Spec):
        "It loses its payload; the header tells the receiver, which asks for it again (NDP, CP).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Drop(drop::Spec::default())
    }
}

impl Spec {
    /// Whether it is the default, with nothing to write down.
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

    /// Whether it goes with what else is chosen.
    fn check_beside(&self, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// About a packet that has been refused. `last_is_trimmable`: the last packet of its queue could be trimmed in its
    /// place. `rng` is that of the switch.
    fn decide(&self, _last_is_trimmable: bool, _rng: &mut Stream) -> Fate {
        Fate::Drop
    }
}

/// What happens to a packet that has been refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is dropped.
    Drop,
    /// It is trimmed, if it can be; else it is dropped.
    Trim,
    /// The last packet of its queue is trimmed, and it takes its place.
    TrimLast,
}

/// What a switch that trims knows and counts.
#[derive(Debug)]
pub struct Trimming {
    /// The parameters.
    spec: trim::Spec,
    /// By flow: whether its transport knows trimmed packets, which a switch reads from the DSCP.
    understood: Arc<[bool]>,
    /// Packets that were trimmed here.
    pub trimmed: u64,
    /// Trimmed packets that were dropped here.
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

    /// Whether packets are refused although there may be room.
    pub fn has_threshold(&self) -> bool {
        self.spec.threshold.is_some()
    }

    /// Whether a packet may be trimmed: its receiver understands a header, and there is something to lose.
    fn applies_to(&self, packet: &Packet) -> bool {
        matches!(packet.body, Body::Data { .. })
            && self.spec.shortens(packet)
            && self.understood[packet.flow.index()]
    }
}

impl Switch {
    /// Whether a packet fits into what its queue may have of packets that can be trimmed.
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
        let fits = backlog + u64::from(packet.bytes) <= threshold.0;
        if fits || !self.may_trim(packet) { Ok(()) } else { Err(DropReason::QueueFull) }
    }

    /// Whether a packet is trimmed if it finds no room. In a class that must not lose any it is not: there a lack of
    /// room is a fault, which is to be seen.
    fn may_trim(&self, packet: &Packet) -> bool {
        let lossless = self.spec.flow_control.must_not_lose() >> packet.class.0 & 1 != 0;
        !lossless && self.trimming.as_ref().is_some_and(|trimming| trimming.applies_to(packet))
    }

    /// A packet has been refused for this reason. Whether it may join its queue, because another has made room; else
    /// it is no more.
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
                let last_is_trimmable = last.is_some_and(|last| self.may_trim(&last.packet));
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

    /// The last packet of a queue leaves it and is trimmed.
    fn trim_last(&mut self, egress: usize, queue: usize, now: Instant, context: &mut Context) {
        let port = &mut self.ports[egress];
        let Some(last) = port.queues[queue].take_last() else { return };
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        let header = self.cut(egress, queue, (&last.packet, Verdict::Pass, true), now, context);
        self.release(egress, queue, &last.packet, now, context);
        if let Some(header) = header {
            self.enqueue_control(egress, &header, now, context);
        }
    }

    /// A packet that was bound for `queue` goes on as a header.
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

    /// What is left of a packet that was bound for `queue`, or has waited there and has left it.
    fn cut(
        &mut self,
        egress: usize,
        queue: usize,
        (packet, verdict, waited): (&Packet, Verdict, bool),
        now: Instant,
        context: &mut Context,
    ) -> Option<Packet> {
        let Body::Data { psn, sent_at, .. } = packet.body else { return None };
        let trimming = self.trimming.as_mut()?;
        let body = Body::Trimmed { psn, sent_at };
        let mut header = Packet { bytes: trimming.spec.header(), lane: 0, body, ..*packet };
        trimming.trimmed += 1;
        let marks = trimming.spec.mark || verdict == Verdict::Congested;
        if marks && packet.ecn().is_capable() {
            header.mark();
            self.ports[egress].queues[queue].marked += 1;
        }
        let fact = || Fact::Trimmed { port: egress, queue, packet, header: &header, waited };
        context.state(Kinds::TRIMMED, self.id, now, fact);
        let (aqm, mut view) = self.aqm(egress, now);
        aqm.on_overflow(queue, packet, &mut view);
        // What switches have written into it is cut off with the payload.
        if let Some(telemetry) = &self.ports[egress].telemetry {
            telemetry.free(packet);
        }
        Some(header)
    }
}
