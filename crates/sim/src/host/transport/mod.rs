//! Transports: how a message becomes packets and arrives complete.

pub mod datagram;
pub mod ethernet;
mod numbers;
pub mod rocev2;
pub mod tcp;
pub mod udp;

use floodway_model::packet::length;
use floodway_model::{Body, Duration, Ecn, Instant};

floodway_model::family! {
    /// How a message becomes packets and arrives complete.
    "host.transport":
    Rocev2 = "rocev2" (rocev2::Spec):
        "RoCEv2 reliable connection: acknowledgements, loss recovery, retransmission timeout.",
    Tcp = "tcp" (tcp::Spec):
        "TCP as Linux speaks it: SACK, RACK-TLP, proportional rate reduction, all ECN feedback.",
    Udp = "udp" (udp::Spec): "Datagrams, which are neither acknowledged nor sent again.",
    Ethernet = "ethernet" (ethernet::Spec):
        "Ethernet frames with nothing above, neither acknowledged nor sent again.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Rocev2(rocev2::Spec::default())
    }
}

impl Spec {
    /// Payload of a full packet, in bytes.
    pub fn payload(&self) -> u64 {
        match self {
            Self::Rocev2(spec) => spec.mtu.0,
            Self::Tcp(spec) => spec.mss.0,
            Self::Udp(spec) => spec.payload.0,
            Self::Ethernet(spec) => spec.payload.0,
        }
    }

    /// Length of the frame that carries `payload` bytes, at most [`Spec::payload`].
    pub fn frame(&self, payload: u64) -> u16 {
        match self {
            Self::Rocev2(spec) => spec.frame(payload),
            Self::Tcp(_) => tcp::segment_frame(payload as u16),
            Self::Udp(spec) => spec.cut().frame(payload),
            Self::Ethernet(spec) => spec.cut().frame(payload),
        }
    }

    /// Full packets that may be sent before the receiver has answered.
    pub fn initial_window(&self) -> u32 {
        match self {
            Self::Tcp(spec) => spec.initial_window,
            Self::Rocev2(_) | Self::Udp(_) | Self::Ethernet(_) => u32::MAX,
        }
    }

    /// The frame that goes to the receiver and back before any data; `None` if data goes at once.
    pub fn handshake_frame(&self) -> Option<u16> {
        match self {
            Self::Tcp(_) => Some(tcp::SYN_FRAME),
            Self::Rocev2(_) | Self::Udp(_) | Self::Ethernet(_) => None,
        }
    }

    /// Length of the frame that answers a packet when nothing is lost; the shortest frame where
    /// nothing answers.
    pub fn answer_frame(&self) -> u16 {
        match self {
            Self::Rocev2(spec) => spec.answer(),
            Self::Tcp(_) => length::TCP_OVERHEAD,
            Self::Udp(_) | Self::Ethernet(_) => length::SHORTEST_FRAME,
        }
    }

    /// The shortest frame that it makes; no longer than that of Ethernet.
    pub fn shortest_frame(&self) -> u16 {
        match self {
            Self::Rocev2(spec) => spec.shortest_frame().min(length::SHORTEST_FRAME),
            Self::Tcp(_) | Self::Udp(_) | Self::Ethernet(_) => length::SHORTEST_FRAME,
        }
    }

    /// Whether switches write telemetry into packets.
    pub fn telemetry(&self) -> bool {
        matches!(self, Self::Rocev2(spec) if spec.telemetry)
    }

    /// Whether its receivers answer trimmed packets, and its senders send exactly those again. Go-back-N does not: it
    /// sends everything behind a missing packet again, so it gains nothing from knowing which one it was.
    pub fn understands_trimming(&self) -> bool {
        let Self::Rocev2(spec) = self else { return false };
        matches!(spec.recovery, rocev2::recovery::Spec::SelectiveRepeat(_))
    }

    /// The frame of a full packet.
    pub fn largest_frame(&self) -> u16 {
        self.frame(self.payload())
    }
}

/// What a transport gives the NIC to send: everything but the addresses.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// What it carries.
    pub body: Body,
    /// Frame length in bytes.
    pub bytes: u16,
    /// The ECN field.
    pub ecn: Ecn,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Data packets put on the wire, repetitions included.
    pub packets: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Timeouts.
    pub timeouts: u32,
    /// Round-trip times that were measured.
    pub rtts: u32,
    /// Their sum.
    pub rtt_sum: Duration,
    /// When the acknowledgement came after which all of the message was acknowledged; of what is
    /// acknowledged and not over, `None`.
    pub acknowledged: Option<Instant>,
}

impl Sent {
    /// A round-trip time was measured.
    pub fn measure(&mut self, rtt: Duration) {
        self.rtts += 1;
        self.rtt_sum += rtt;
    }

    /// The mean of the round-trip times that were measured.
    pub fn mean_rtt(&self) -> Option<Duration> {
        self.rtt_sum.0.checked_div(self.rtts.into()).map(Duration)
    }
}
