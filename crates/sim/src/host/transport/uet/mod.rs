//! Ultra Ethernet's reliable unordered delivery (RUD; Ultra Ethernet 1.0, section 3.5, on the wire as
//! UDP port 4793). Packets may arrive in any order, and each is delivered once. Acknowledgements are
//! cumulative and selective, with a bitmap, and one covers several packets. A packet is retransmitted
//! if it has arrived trimmed or if its timer has expired; a gap in the bitmap is no loss, because paths
//! reorder, unless losses are inferred ([`sleek`]). Every packet carries an entropy value that its sender
//! chooses ([`entropy`]) and over which switches with `switch.path.ecmp` hash.
//!
//! Parameters are those of public notes about Ultra Ethernet 1.0 where these give them, otherwise those
//! of the consortium's simulator uet-htsim. What is simplified here:
//!
//! - A flow is one packet delivery context, with a congestion control context of its own.
//! - Acknowledgements take the path of their flow, and negative ones that of the trimmed packet.
//! - The number of timeouts after which a context fails is not limited.

pub mod entropy;
mod receiver;
mod requests;
mod sender;
mod sides;
pub mod sleek;
#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::packet::{Answered, length};
use floodway_model::{Bytes, Duration, EcnFeedback, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Full, Network, Transport};
use crate::host::congestion::{self, Needs};
pub use receiver::Receiver;
pub use sender::Sender;

/// Parameters of the reliable unordered delivery of Ultra Ethernet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full packet. Default 4096B.
    pub mtu: Bytes,
    /// Overhead of a data packet on the wire beyond its payload, without preamble and gap. Default 64B
    /// (uet-htsim).
    pub overhead: Bytes,
    /// Length of an acknowledgement on the wire. Default 74B (Ethernet 14, IPv4 20, UDP 8, ACK_CC 28,
    /// FCS 4; uet-htsim has 64B).
    pub answer: Bytes,
    /// Bytes after which a receiver sends an acknowledgement, in frames (ACK_Gen_Trigger). Default
    /// 16384B (Ultra Ethernet, section 3.5.12); 0B acknowledges every packet.
    pub ack_trigger: Bytes,
    /// Bytes for which a packet counts at least toward `ack_trigger` (ACK_Gen_Min_Pkt_Add). Default
    /// 1024B (Ultra Ethernet, section 3.5.12).
    pub ack_min_packet: Bytes,
    /// Whether a packet with CE is acknowledged at once (ACK_On_ECN). Default true (Ultra Ethernet,
    /// section 3.5.12).
    pub ack_on_mark: bool,
    /// Time after which a packet that is neither acknowledged nor known to be trimmed is retransmitted
    /// (RTO_Init_Time). Default 1ms (assumed: an example of Ultra Ethernet).
    pub retransmit_timeout: Duration,
    /// How often the timeout of a packet doubles, once each time that it expires. Default 5 (Ultra
    /// Ethernet: Max_RTO_Retx_Cnt, after which a context fails; here the timeout stays the same from
    /// then on).
    pub timeout_doublings: u32,
    /// Maximum number of packets from the first one that is not acknowledged to the last one sent
    /// (maximum PSN range). Default 1024 (Ultra Ethernet: 8 units of 128 packets).
    pub psn_range: u32,
    /// Inference of losses from packets that have arrived above a missing one, and from probes, for
    /// networks that do not trim. Default none: lost packets are retransmitted after
    /// `retransmit_timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleek: Option<sleek::Spec>,
    /// Choice of the entropy value of each packet.
    pub entropy: entropy::Spec,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mtu: Bytes(4_096),
            overhead: Bytes(length::UET_OVERHEAD.into()),
            answer: Bytes(length::UET_ACK.into()),
            ack_trigger: Bytes(16_384),
            ack_min_packet: Bytes(1_024),
            ack_on_mark: true,
            retransmit_timeout: Duration::from_ms(1),
            timeout_doublings: 5,
            psn_range: 1_024,
            sleek: None,
            entropy: entropy::Spec::default(),
        }
    }
}

/// No transport has more overhead.
const LONGEST_HEADERS: Bytes = Bytes(256);

/// Addresses and sequence numbers take as much.
const SHORTEST_ANSWER: Bytes = Bytes(64);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        const REMOVE: &str = "remove it for that of Ultra Ethernet";
        findings.positive("mtu", self.mtu, "a full packet carries so much, for example \"4096B\"");
        findings.range("overhead", self.overhead, Bytes(0)..=LONGEST_HEADERS, REMOVE);
        findings.range("answer", self.answer, SHORTEST_ANSWER..=LONGEST_HEADERS, REMOVE);
        let why = "Ultra Ethernet allows 32KiB";
        findings.range("ack_trigger", self.ack_trigger, ..=Bytes(1 << 15), why);
        let why = "Ultra Ethernet allows 2KiB";
        findings.range("ack_min_packet", self.ack_min_packet, ..=Bytes(1 << 11), why);
        findings.timeout("retransmit_timeout", self.retransmit_timeout, "usual is 1ms");
        findings.range("timeout_doublings", self.timeout_doublings, ..=16, "usual are 5");
        let why = "an acknowledgement can name packets at most so far apart; usual are 1024";
        findings.range("psn_range", self.psn_range, 1..=Answered::FARTHEST, why);
        self.entropy.check(&mut findings.within("entropy"));
        if let Some(sleek) = &self.sleek {
            sleek.check(&mut findings.within("sleek"));
        }
    }
}

impl Transport for Spec {
    fn payload(&self) -> u64 {
        self.mtu.0
    }

    fn full(&self) -> Full {
        let usual = "Ultra Ethernet has packets with 1024 to 8192 bytes";
        Full { field: "mtu", overhead: self.overhead.0, usual }
    }

    fn frame(&self, payload: u64) -> u16 {
        (payload as u16 + self.overhead.0 as u16).max(length::SHORTEST_FRAME)
    }

    fn answer_frame(&self) -> u16 {
        self.answer.0 as u16
    }

    fn requests(&self) -> bool {
        true
    }

    fn infers_losses(&self) -> bool {
        self.sleek.is_some()
    }

    fn credit_frame(&self) -> u16 {
        length::UET_CREDIT
    }

    fn repeats(&self) -> bool {
        true
    }

    fn understands_trimming(&self) -> bool {
        true
    }

    fn entropies(&self) -> u32 {
        self.entropy.values
    }

    fn is_capable(&self, _: EcnFeedback) -> bool {
        true
    }

    fn usual_control(&self) -> congestion::Spec {
        congestion::Spec::Nscc(Default::default())
    }

    fn reports(&self, needs: Needs) -> bool {
        use Needs::{Arrivals, Indications, Messages, Nothing};
        matches!(needs, Nothing | Indications | Messages | Arrivals)
    }

    /// Whether the timeout is longer than a round trip.
    fn check_on(&self, network: &Network, findings: &mut Findings<'_>) {
        let (timeout, round_trip) = (self.retransmit_timeout, network.round_trip);
        if timeout <= round_trip {
            findings.error(
                "retransmit_timeout",
                format!(
                    "the retransmission timeout ({timeout}) is not above the round-trip time of an empty \
                     network ({round_trip})"
                ),
                "every packet would be sent again: raise it well above the round-trip time",
            );
        }
        if let Some(sleek) = &self.sleek {
            let wire = u64::from(self.frame(self.mtu.0)) + network.wire_overhead.0;
            let bdp = network.slowest.bytes_in(round_trip).0 as f64 / wire.max(1) as f64;
            sleek::check_on(self, sleek, bdp, findings);
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

    /// Payload of a packet of a message of `bytes` in `packets` packets.
    fn payload_of(&self, psn: u32, bytes: u64, packets: u32) -> u64 {
        if psn + 1 < packets { self.mtu.0 } else { bytes - self.mtu.0 * u64::from(packets - 1) }
    }

    /// The timeout of a packet that has timed out so often.
    fn timeout(&self, timeouts: u8) -> Duration {
        self.retransmit_timeout * (1 << u32::from(timeouts).min(self.timeout_doublings).min(16))
    }
}
