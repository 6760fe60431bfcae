//! Packet trimming: a packet that finds no room loses its payload and is forwarded as a header, so
//! that its receiver learns at once which packet is missing (Cheng et al., "Catch the Whole Lot in
//! an Action", NSDI 2014; Handley et al., "Re-architecting datacenter networks and stacks for low
//! latency and high performance" (NDP), SIGCOMM 2017, section 3; Ultra Ethernet 1.0, section 4.1).
//!
//! The header uses the control queue, with priority over all data, or the data queue given by
//! `switch.feedback.trimmed`. Its queue limits apply: `switch.queue.control_size`, or the data
//! buffer.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fate, Overflow};
use crate::host::Profile;
use crate::switch;
use crate::switch::check::Facts;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Frame length of a trimmed packet. Default 64B (NDP, section 3). Commercial switches trim to
    /// 128B or 256B. A packet that is no longer than this has no payload to cut and is dropped.
    pub size: Bytes,
    /// Maximum backlog of a data queue, in bytes, up to which trimmable packets are admitted. A
    /// packet that does not fit is trimmed although there may be room in the buffer. NDP: 8
    /// packets; Ultra Ethernet: one bandwidth-delay product of the port. Default none: packets are
    /// trimmed only when the buffer has no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Bytes>,
    /// Probability that the last packet of the queue is trimmed instead of the arriving one, which
    /// takes its place. Default 0 (Ultra Ethernet: always the arriving packet). NDP: 0.5, against
    /// phase effects between flows.
    pub last: f64,
    /// Whether a header carries CE if its packet was ECN-capable, so that trimming is a congestion
    /// signal like a mark. Default true (assumed). NDP has no congestion control, and that of Ultra
    /// Ethernet takes the NACK itself as the signal.
    pub mark: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self { size: Bytes(length::SHORTEST_FRAME.into()), threshold: None, last: 0.0, mark: true }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let shortest = Bytes(length::SHORTEST_FRAME.into());
        findings.range("size", self.size, shortest.., "no Ethernet frame is shorter");
        findings.probability("last", self.last);
    }
}

impl Overflow for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let switch = facts.switch;
        let control = switch.queue.control_size;
        if switch.feedback.trimmed.is_none() && control < self.size {
            findings.error(
                ["/switch.queue.control_size", "size", ""],
                format!(
                    "a control queue of {control} cannot hold one trimmed packet of {}",
                    self.size
                ),
                "raise `switch.queue.control_size`, for example to \"1MB\"",
            );
        }
        let frame = facts.largest_frame.map_or(u64::MAX, u64::from);
        if self.size.0 >= frame {
            findings.error(
                "size",
                format!(
                    "no packet is longer than {}: the longest frame has {frame} bytes",
                    self.size
                ),
                format!("write less than {frame}B, for example \"64B\""),
            );
        }
        let frame = facts.largest_occupied().map_or(0, u64::from);
        if let Some(threshold) = self.threshold.filter(|at| at.0 < frame) {
            findings.error(
                "threshold",
                format!("a threshold of {threshold} trims every packet of {frame} bytes"),
                format!("write at least {frame}B, or remove `threshold`"),
            );
        }
        self.check_switch(switch, findings);
        let understands = |one: &Profile| one.transport.understands_trimming();
        if !facts.profiles.is_empty() && !facts.profiles.iter().any(understands) {
            findings.error(
                "",
                "no workload uses a transport that understands trimmed packets, so all are dropped",
                "choose [host.transport.rocev2.recovery.selective_repeat], or [switch.overflow.drop] if \
                 dropping is meant",
            );
        }
    }

    fn trims(&self) -> Option<&Self> {
        Some(self)
    }

    fn decide(&self, last_is_trimmable: bool, rng: &mut Stream) -> Fate {
        // Draw no random number if the parameter is 0, so that an unused parameter does not affect
        // results.
        if last_is_trimmable && self.last > 0.0 && rng.bernoulli(self.last) {
            Fate::TrimLast
        } else {
            Fate::Trim
        }
    }
}

impl Spec {
    /// Reports mechanisms that are incompatible with trimming.
    fn check_switch(&self, switch: &switch::Spec, findings: &mut Findings<'_>) {
        if switch.congestion_indication.is_some() {
            findings.error(
                ["", "/switch.congestion_indication"],
                "with layer 2 congestion indication switches do not look into IP headers, which trimming \
                 leaves and changes",
                "remove [switch.congestion_indication], or choose [switch.overflow.drop]",
            );
        }
        let data = u8::MAX >> (8 - switch.queue.count.clamp(1, 8));
        if switch.flow_control.must_not_lose() & data == data {
            findings.error(
                "",
                "flow control keeps all classes of data lossless, and packets of such a class are not trimmed",
                "pause fewer classes, write `lossless = false` in its table, or choose [switch.overflow.drop]",
            );
        }
        let (bfc, drc) = (&switch.flow_control.bfc, &switch.flow_control.drc);
        for (is_on, place, what) in [
            (bfc.is_some(), "switch.flow_control.bfc", "Backpressure Flow Control"),
            (drc.is_some(), "switch.flow_control.drc", "Directional Rate Control"),
            (switch.fabric.lines().is_some(), "switch.fabric", "a crossbar"),
            (!switch.queue.discipline.is_fifo(), "switch.queue.discipline", "a queue discipline"),
        ] {
            if is_on && self.last > 0.0 {
                findings.error(
                    ["last", "", &format!("/{place}")],
                    format!("with {what} a queue is not first in, first out, and has no last packet"),
                    format!("remove `last`, so that the packet that came is trimmed, or remove [{place}]"),
                );
            }
        }
    }

    /// Frame length of a trimmed packet, in bytes.
    pub fn header(&self) -> u16 {
        self.size.0.min(u16::MAX.into()) as u16
    }

    /// Whether trimming would shorten the packet.
    pub fn shortens(&self, packet: &Packet) -> bool {
        packet.bytes > self.header()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10,000 refused packets, how often the last packet of the queue is trimmed instead, if it
    /// can be trimmed or not.
    fn of_last(last: f64, trimmable: bool) -> usize {
        let (spec, mut rng) = (Spec { last, ..Spec::default() }, Stream::from_seed(7));
        let decided = (0..10_000).map(|_| spec.decide(trimmable, &mut rng));
        decided.filter(|fate| *fate == Fate::TrimLast).count()
    }

    #[test]
    fn the_coin_of_ndp_is_fair() {
        // The standard deviation of 10,000 fair coin tosses is 50. The bound is five of them.
        assert!(of_last(0.5, true).abs_diff(5_000) < 250);
        assert_eq!([of_last(0.0, true), of_last(1.0, true), of_last(1.0, false)], [0, 10_000, 0]);
    }

    #[test]
    fn without_a_coin_no_random_number_is_used() {
        let mut used = Stream::from_seed(7);
        Spec::default().decide(true, &mut used);
        assert_eq!(used.below(u64::MAX), Stream::from_seed(7).below(u64::MAX));
    }
}
