//! Transports: how a message becomes packets and arrives complete.

pub mod datagram;
pub mod ethernet;
mod numbers;
pub mod rocev2;
pub mod tcp;
pub mod udp;

use floodway_model::check::Findings;
use floodway_model::packet::length;
use floodway_model::{Body, Bytes, Duration, Ecn, Instant, Rate};

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

    /// The field with that payload, what a full packet has beside it without telemetry, and what is usual.
    fn full(&self) -> (&'static str, u64, &'static str) {
        match self {
            Self::Rocev2(spec) => {
                ("mtu", spec.overhead.0, "RoCEv2 has MTUs from 256 to 4096 bytes")
            }
            Self::Tcp(_) => {
                let usual = "an Ethernet packet of 1500 bytes has room for 1448";
                ("mss", length::TCP_OVERHEAD.into(), usual)
            }
            Self::Udp(_) => {
                let usual = "an Ethernet packet of 1500 bytes has room for 1472";
                ("payload", length::UDP_OVERHEAD.into(), usual)
            }
            Self::Ethernet(_) => {
                let usual = "IEEE 802.3 has room for 1500, jumbo frames usually for 9000";
                ("payload", length::ETHERNET_OVERHEAD.into(), usual)
            }
        }
    }

    /// The field with the payload of a full packet.
    pub fn payload_field(&self) -> &'static str {
        self.full().0
    }

    /// The frame of a full packet without telemetry, if it can be made. `findings` are about the member.
    pub fn check_frame(&self, wire_overhead: Bytes, findings: &mut Findings<'_>) -> Option<u16> {
        let most = u64::from(u16::MAX);
        let (field, overhead, usual) = self.full();
        let frame = self.payload().saturating_add(overhead);
        let on_wire = frame.saturating_add(wire_overhead.0);
        if frame > most {
            findings.error(
                field,
                format!(
                    "`{field}` is {}, which makes frames of {frame} bytes",
                    Bytes(self.payload())
                ),
                format!("frames have at most {most} bytes: {usual}"),
            );
        } else if on_wire > most {
            findings.error(
                "/wire_overhead",
                format!("a frame of {frame} bytes takes {on_wire} bytes on the wire"),
                format!("at most {most} are possible; preamble and gap are 20 bytes"),
            );
        }
        (self.payload() > 0 && on_wire <= most).then_some(frame as u16)
    }

    /// Whether it fits a network with this round-trip time and these links of hosts. `findings` are about the
    /// member.
    pub fn check_on(
        &self,
        round_trip: Duration,
        slowest: Rate,
        wire_overhead: Bytes,
        findings: &mut Findings<'_>,
    ) {
        match self {
            Self::Rocev2(spec) => spec.check_on(round_trip, slowest, wire_overhead, findings),
            Self::Tcp(spec) => spec.check_on(round_trip, findings),
            Self::Udp(_) | Self::Ethernet(_) => {}
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
