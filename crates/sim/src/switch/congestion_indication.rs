//! Layer 2 congestion indication (Rate Control in Short Range 802.3 Interconnects, 2004): a switch
//! that does not parse the IP header signals congestion in the Ethernet frame, and the edge of the
//! layer 2 network translates the signal for the layer above.
//!
//! A packet that the AQM finds congested is forwarded, whatever its ECN field says, and the
//! congestion is signaled forward, backward or both. Forward: the packet carries an indication to
//! its receiver, whose NIC sets CE if the packet is ECN-capable and otherwise ignores the
//! indication. Backward: a control frame goes to the source of the packet, as in US patent
//! 7,474,616. TCP treats it like an ECN echo; other congestion controls receive the severity of the
//! congestion. A packet that the AQM wants dropped is dropped.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Body, Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm::MeasuredOn;
use super::buffer::Holder;
use super::check::Facts;
use super::mechanism::view;
use super::rests::Rests;
use super::{Spec as SwitchSpec, Switch};
use crate::context::Context;

/// Parameters of layer 2 congestion indication. It excludes ECN marking: the switch does not parse
/// IP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Whether a congested packet carries an indication to its receiver, whose NIC sets CE in it if
    /// it is ECN-capable. Default true (deck).
    pub forward: bool,
    /// Whether a congested data packet triggers a control frame of 64 bytes to its source. Default
    /// false (deck: forward or backward).
    pub backward: bool,
    /// Minimum interval between two backward frames for the same flow at the same port. Default
    /// 50us (assumed).
    pub gap: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self { forward: true, backward: false, gap: Duration::from_us(50) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        if !self.forward && !self.backward {
            findings.error(
                ["forward", ""],
                "congestion is signalled neither forward nor backward: marks are off, and nothing takes \
                 their place",
                "write forward = true or backward = true, or remove [switch.congestion_indication]",
            );
        }
        findings.latency("gap", self.gap);
        if self.backward && self.gap == Duration::ZERO {
            findings.warn(
                "gap",
                "without a gap every congested packet makes a frame to its source",
                "write about a round trip, for example \"50us\"",
            );
        }
    }
}

impl Spec {
    /// Checks that the AQM can detect congestion and that nothing else marks.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let switch = facts.switch;
        if let Some(place) = switch.aqm_never_marks() {
            findings.error(
                ["", &format!("/{place}")],
                format!(
                    "layer 2 signals what queue management finds congested, and `{}` marks nothing",
                    switch.aqm_name()
                ),
                if place.ends_with(".aqm") {
                    "choose an AQM that marks, for example [switch.aqm.red]"
                } else {
                    "let it mark, with `ecn`: then the indication takes the place of the mark"
                },
            );
        }
        if switch.flow_control.congestion_isolation.is_some() {
            findings.error(
                ["", "/switch.flow_control.congestion_isolation"],
                "layer 2 congestion indication takes the place of marks, and Congestion Isolation marks \
                 by itself",
                "remove one of the two, for example with \
                 `switch.flow_control.congestion_isolation = false`",
            );
        }
    }
}

/// State of layer 2 congestion indication in a switch.
#[derive(Debug)]
pub struct Indication {
    /// When a backward frame was last sent, by flow and egress port.
    notified: Rests<(u32, u32)>,
    /// Size of the buffer whose occupancy the AQM measures, in bytes.
    room: u64,
    /// Backward indications sent.
    pub sent: u64,
}

impl Indication {
    /// Initial state for a switch with this many ports.
    pub fn new(spec: &SwitchSpec, ports: usize) -> Self {
        Self { notified: Rests::default(), room: room(spec, ports as u64), sent: 0 }
    }
}

/// Size of the buffer whose occupancy the AQM measures: the limit of its queues together, or of the
/// shared pool.
fn room(spec: &SwitchSpec, ports: u64) -> u64 {
    let pools = spec.buffer.pools();
    if let Some(pool) = pools.and_then(|pools| pools.egress.as_ref().or(pools.ingress.as_ref())) {
        return pool.pool.0;
    }
    let limit = spec.buffer.limit(&spec.queue);
    let measured_on = spec.aqm.measured_on();
    let ports = if measured_on == MeasuredOn::Memory { ports } else { 1 };
    let queues = match measured_on {
        // One queue may have all that its port has.
        _ if limit.of == Holder::Port => 1,
        MeasuredOn::Queue => 1,
        MeasuredOn::Port | MeasuredOn::Memory => u64::from(spec.queue.count),
    };
    limit.bytes.unwrap_or(spec.queue.size).0.saturating_mul(queues * ports)
}

/// Fraction of `room` bytes in use, in 256ths.
fn severity(backlog: u64, room: u64) -> u8 {
    let part = u128::from(backlog) * 256 / u128::from(room.max(1));
    part.min(255) as u8
}

impl Switch {
    /// Whether this packet can signal congestion, so that it need not be dropped instead.
    #[inline]
    pub(super) fn can_mark(&self, packet: &Packet) -> bool {
        self.indication.is_some() || packet.ecn().is_capable()
    }

    /// Makes the packet, which is in `queue` or about to join it, signal congestion.
    #[inline]
    pub(super) fn mark(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &mut Packet,
        now: Instant,
        context: &mut Context,
    ) {
        self.ports[egress].queues[queue].count_mark();
        match &self.spec.congestion_indication {
            None => packet.mark(),
            Some(_) => self.indicate(egress, queue, packet, now, context),
        }
    }

    #[inline(never)]
    fn indicate(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &mut Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let (Some(spec), Some(state)) = (&self.spec.congestion_indication, &mut self.indication)
        else {
            return;
        };
        packet.indicated |= spec.forward;
        let notified = !spec.backward
            || !packet.is_data()
            || !state.notified.may((packet.flow.0, egress as u32), spec.gap, now);
        if notified {
            return;
        }
        let port = &self.ports[egress];
        let backlog = match self.spec.aqm.measured_on() {
            MeasuredOn::Queue => port.queues[queue].congestion(),
            MeasuredOn::Port => port.occupancy.congestion(),
            MeasuredOn::Memory => self.occupancy.congestion(),
        };
        let body = Body::Indication { severity: severity(backlog, state.room) };
        let frame = view!(self, now).to_source(packet, length::SHORTEST_FRAME, body);
        // The frame would leave by the egress port of the packet itself only if a link failure
        // moved the packet off its shortest path.
        let Some(back) = self.forward(&frame, now).filter(|&back| back != egress) else { return };
        if let Some(state) = &mut self.indication {
            state.sent += 1;
        }
        self.emitted += 1;
        self.enqueue_control(back, &frame, now, context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::{self, red};
    use crate::switch::buffer::{self, shared};
    use floodway_model::Bytes;

    #[test]
    fn severity_is_the_part_of_the_memory_that_is_taken() {
        assert_eq!(
            [0, 3, 4, 511, 512, 1_023].map(|backlog| severity(backlog, 1_024)),
            [0, 0, 1, 127, 128, 255]
        );
        // A queue may be longer than its nominal buffer size.
        assert_eq!([severity(1_024, 1_024), severity(9_999, 1_024), severity(5, 0)], [255; 3]);
    }

    #[test]
    fn the_memory_is_that_of_what_is_measured() {
        let measured =
            |measured_on| aqm::Spec::Red(red::Spec { measured_on, ..Default::default() });
        let mut spec = SwitchSpec::default();
        (spec.queue.count, spec.queue.size) = (2, Bytes(1_000));
        let mut rooms = Vec::new();
        for measured_on in [MeasuredOn::Queue, MeasuredOn::Port, MeasuredOn::Memory] {
            spec.aqm = measured(measured_on);
            rooms.push(room(&spec, 3));
        }
        assert_eq!(rooms, [1_000, 2_000, 6_000]);
        let egress = Some(shared::Pool::default());
        spec.buffer = buffer::Spec::Shared(shared::Spec { egress, ..Default::default() });
        assert_eq!(room(&spec, 3), 16_000_000);
        // The queues of a port share its buffer, so one of them may use all of it.
        spec.buffer = buffer::Spec::PerPort(buffer::per_port::Spec { size: Bytes(7_000) });
        assert_eq!(room(&spec, 3), 21_000);
        spec.aqm = measured(MeasuredOn::Queue);
        assert_eq!(room(&spec, 3), 7_000);
    }
}
