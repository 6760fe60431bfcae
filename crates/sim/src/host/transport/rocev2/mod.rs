//! RoCEv2 reliable connections (InfiniBand architecture, annex 17, on the wire as UDP port 4791). A
//! message is segmented into packets of the path MTU and acknowledged cumulatively. Lost packets
//! are retransmitted after a NAK or a timeout, by one of two methods ([`recovery`]).

mod receiver;
pub mod recovery;
mod sender;
mod sides;
#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, EcnFeedback, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Full, Network, Transport};
use crate::host::congestion::{self, Needs};
use crate::{csig, telemetry};
pub use receiver::Receiver;
pub use sender::Sender;

/// Parameters of RoCEv2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full packet (path MTU). Default 1024B.
    pub mtu: Bytes,
    /// Packets per acknowledgement; the last packet of a message is always acknowledged. Default 1.
    pub ack_every: u32,
    /// Maximum payload of a message sent and not acknowledged, in whole packets (IRN, SIGCOMM 2018,
    /// section 3.2: BDP-FC, with the bandwidth-delay product). Default none: only the rate limits
    /// the data in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<Bytes>,
    /// Whether packets have room for telemetry that switches fill in: 42 bytes in data packets and
    /// in their acknowledgements. Default false; true for congestion control that needs it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub telemetry: bool,
    /// Tag for congestion signals (CSIG), which replaces `telemetry`. Default none; for congestion
    /// control that needs it, a tag with its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csig: Option<csig::Spec>,
    /// Overhead of a data packet on the wire beyond its payload, without preamble and gap. Default
    /// 62B (Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4; the HPCC authors' simulator has 48B).
    pub overhead: Bytes,
    /// Length of an acknowledgement or a NAK on the wire, without telemetry. Default 66B (62 and
    /// AETH 4; the HPCC authors' simulator has 60B, or 46B with telemetry).
    pub answer: Bytes,
    /// Minimum length of data packets; shorter ones are padded. Default 64B (IEEE 802.3); simulators
    /// without such a minimum have 0B.
    pub shortest: Bytes,
    /// Loss recovery: what is retransmitted after a loss, and when.
    pub recovery: recovery::Spec,
}

impl Default for Spec {
    fn default() -> Self {
        let (mtu, recovery) = (Bytes(1_024), recovery::Spec::default());
        Self {
            mtu,
            ack_every: 1,
            in_flight: None,
            telemetry: false,
            csig: None,
            overhead: Bytes(length::ROCE_OVERHEAD.into()),
            answer: Bytes(length::ROCE_ACK.into()),
            shortest: Bytes(length::SHORTEST_FRAME.into()),
            recovery,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "1 acknowledges every packet, n every n-th";
        findings.range("ack_every", self.ack_every, 1.., why);
        self.recovery.check(&mut findings.within("recovery"));
        if let Some(csig) = &self.csig {
            csig.check(&mut findings.within("csig"));
            if self.telemetry {
                findings.error(
                    ["telemetry", "csig"],
                    "packets have room for either telemetry of all switches or the tag of CSIG",
                    "remove one of the two; congestion control that needs one has it by default",
                );
            }
        }
        findings.positive("mtu", self.mtu, "a full packet carries so much, for example \"1024B\"");
        const REMOVE: &str = "remove it for that of RoCEv2";
        findings.range("overhead", self.overhead, Bytes(0)..=LONGEST_HEADERS, REMOVE);
        findings.range("answer", self.answer, SHORTEST_ANSWER..=LONGEST_HEADERS, REMOVE);
        let ethernet = Bytes(length::SHORTEST_FRAME.into());
        findings.range("shortest", self.shortest, Bytes(0)..=ethernet, REMOVE);
        let in_flight = self.in_flight.filter(|_| self.mtu > Bytes(0));
        if let Some(bytes) = in_flight.filter(|_| self.window() < self.ack_every) {
            findings.error(
                ["in_flight", "ack_every"],
                format!(
                    "{bytes} in flight are {} packets, and an acknowledgement comes after {}",
                    self.window(),
                    self.ack_every
                ),
                "the sender would wait for its timer: raise `in_flight`, or lower `ack_every`",
            );
        }
    }
}

/// No transport has more overhead.
const LONGEST_HEADERS: Bytes = Bytes(256);

/// Addresses and sequence numbers take as much.
const SHORTEST_ANSWER: Bytes = Bytes(20);

impl Transport for Spec {
    #[inline]
    fn payload(&self) -> u64 {
        self.mtu.0
    }

    fn full(&self) -> Full {
        let usual = "RoCEv2 has MTUs from 256 to 4096 bytes";
        Full { field: "mtu", overhead: self.overhead.0, usual }
    }

    #[inline]
    fn frame(&self, payload: u64) -> u16 {
        let frame = payload as u16 + self.overhead.0 as u16 + self.room();
        frame.max(self.shortest.0 as u16)
    }

    #[inline]
    fn answer_frame(&self) -> u16 {
        self.answer.0 as u16 + self.room()
    }

    /// One byte of a message, or an answer.
    fn shortest_frame(&self) -> u16 {
        self.frame(1).min(self.answer_frame()).min(length::SHORTEST_FRAME)
    }

    #[inline]
    fn telemetry(&self) -> Option<telemetry::Kind<'_>> {
        match &self.csig {
            Some(csig) => Some(telemetry::Kind::Tag(csig)),
            None => self.telemetry.then_some(telemetry::Kind::Hops),
        }
    }

    fn telemetry_bytes(&self) -> u16 {
        self.room()
    }

    fn recovery(&self) -> Option<&recovery::Spec> {
        Some(&self.recovery)
    }

    fn repeats(&self) -> bool {
        true
    }

    /// Go-back-N does not: it retransmits everything after a missing packet anyway.
    fn understands_trimming(&self) -> bool {
        matches!(self.recovery, recovery::Spec::SelectiveRepeat(_))
    }

    fn is_capable(&self, _: EcnFeedback) -> bool {
        true
    }

    fn usual_control(&self) -> congestion::Spec {
        congestion::Spec::Dcqcn(Default::default())
    }

    fn reports(&self, needs: Needs) -> bool {
        !matches!(needs, Needs::Acknowledgements | Needs::Arrivals)
    }

    /// Whether timeouts are longer than a round trip, and than packets take of which the last one is
    /// acknowledged, on the slowest link of a host.
    fn check_on(&self, network: &Network, findings: &mut Findings<'_>) {
        let Network { round_trip, slowest, wire_overhead } = *network;
        let timeouts = self.recovery.timeouts();
        for (field, timeout) in &timeouts {
            if *timeout <= round_trip {
                findings.error(
                    field,
                    format!(
                        "the retransmission timeout ({timeout}) is not above the round-trip time of \
                         an empty network ({round_trip})"
                    ),
                    "every packet would be sent again: raise it well above the round-trip time",
                );
            }
        }
        let wire = Bytes(u64::from(self.frame(self.mtu.0)) + wire_overhead.0);
        let packets = self.ack_every;
        let waits = slowest.time_for(wire) * packets.into();
        let shortest = timeouts.into_iter().min_by_key(|(_, timeout)| *timeout);
        if let Some((field, timeout)) = shortest.filter(|(_, timeout)| waits >= *timeout) {
            findings.error(
                ["ack_every", &field],
                format!(
                    "{packets} packets, after which an acknowledgement comes, take {waits} at \
                     {slowest}, and the retransmission timeout is {timeout}"
                ),
                "every packet would be sent again: lower `ack_every`, 1 acknowledges each packet",
            );
        }
    }
}

impl Spec {
    /// Number of packets of a message; the maximum for a message that never ends.
    pub fn packets(&self, flow: &FlowSpec) -> u32 {
        if flow.is_persistent() {
            return u32::MAX;
        }
        flow.bytes.div_ceil(self.mtu.0) as u32
    }

    /// Maximum number of packets sent and not acknowledged.
    pub fn window(&self) -> u32 {
        self.in_flight.map_or(u32::MAX, |bytes| self.whole_packets(bytes.0))
    }

    /// Number of full packets that `payload` bytes fill.
    pub fn whole_packets(&self, payload: u64) -> u32 {
        (payload / self.mtu.0).min(u32::MAX.into()) as u32
    }

    /// Bytes for telemetry.
    fn room(&self) -> u16 {
        match &self.csig {
            Some(csig) => csig.format.bytes(),
            None if self.telemetry => length::TELEMETRY,
            None => 0,
        }
    }

    /// Payload of a packet of a message of `bytes` in `packets` packets.
    fn payload_of(&self, psn: u32, bytes: u64, packets: u32) -> u64 {
        if psn + 1 < packets { self.mtu.0 } else { bytes - self.mtu.0 * u64::from(packets - 1) }
    }
}
