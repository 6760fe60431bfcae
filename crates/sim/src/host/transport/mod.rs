//! Transports: how a message becomes packets and arrives complete.

#[cfg(test)]
mod conformance;
pub mod datagram;
pub mod ethernet;
mod numbers;
pub mod rocev2;
pub mod tcp;
pub mod udp;

use floodway_model::check::Findings;
use floodway_model::packet::length;
use floodway_model::{Body, Bytes, Duration, Ecn, EcnFeedback, Instant, Rate};

use super::congestion::{self, Needs};

floodway_model::family! {
    /// How a message becomes packets and arrives complete.
    "host.transport" as Transport {
        payload() -> u64;
        full() -> Full;
        frame(payload: u64) -> u16;
        initial_window() -> u32;
        handshake_frame() -> Option<u16>;
        answer_frame() -> u16;
        shortest_frame() -> u16;
        telemetry() -> bool;
        recovery() -> Option<&rocev2::recovery::Spec>;
        repeats() -> bool;
        is_capable(wanted: EcnFeedback) -> bool;
        usual_control() -> congestion::Spec;
        reports(needs: Needs) -> bool;
        check_on(network: &Network, findings: &mut Findings<'_>);
    }
    Rocev2 = "rocev2" in rocev2:
        "RoCEv2 reliable connection: acknowledgements, loss recovery, retransmission timeout.",
    Tcp = "tcp" in tcp:
        "TCP as Linux speaks it: SACK, RACK-TLP, proportional rate reduction, all ECN feedback.",
    Udp = "udp" in udp: "Datagrams, which are neither acknowledged nor sent again.",
    Ethernet = "ethernet" in ethernet:
        "Ethernet frames with nothing above, neither acknowledged nor sent again.",
}

/// Parameters of a transport, and what others ask about it.
pub trait Transport {
    /// Payload of a full packet, in bytes.
    fn payload(&self) -> u64;

    /// About a full packet without telemetry.
    fn full(&self) -> Full;

    /// Length of the frame that carries `payload` bytes, at most [`payload`](Self::payload).
    fn frame(&self, payload: u64) -> u16;

    /// Full packets that may be sent before the receiver has answered.
    fn initial_window(&self) -> u32 {
        u32::MAX
    }

    /// The frame that goes to the receiver and back before any data; `None` if data goes at once.
    fn handshake_frame(&self) -> Option<u16> {
        None
    }

    /// Length of the frame that answers a packet when nothing is lost; the shortest frame where
    /// nothing answers.
    fn answer_frame(&self) -> u16 {
        length::SHORTEST_FRAME
    }

    /// The shortest frame that it makes; no longer than that of Ethernet.
    fn shortest_frame(&self) -> u16 {
        length::SHORTEST_FRAME
    }

    /// Whether switches write telemetry into packets.
    fn telemetry(&self) -> bool {
        false
    }

    /// How RoCEv2 repairs losses, if it is RoCEv2.
    fn recovery(&self) -> Option<&rocev2::recovery::Spec> {
        None
    }

    /// Whether what is lost is sent again.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether its data is ECN-capable with a congestion control that wants this feedback.
    fn is_capable(&self, wanted: EcnFeedback) -> bool;

    /// The congestion control where none is chosen.
    fn usual_control(&self) -> congestion::Spec;

    /// Whether a congestion control hears from it what it needs.
    fn reports(&self, needs: Needs) -> bool {
        matches!(needs, Needs::Nothing | Needs::Indications | Needs::Messages)
    }

    /// Whether it fits the network.
    fn check_on(&self, _network: &Network, _findings: &mut Findings<'_>) {}
}

/// A full packet, for checks.
#[derive(Clone, Copy, Debug)]
pub struct Full {
    /// The field with its payload.
    pub field: &'static str,
    /// Bytes beside the payload.
    pub overhead: u64,
    /// What is usual.
    pub usual: &'static str,
}

/// What a transport may look at in the network.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// The longest round trip when nothing else is sent.
    pub round_trip: Duration,
    /// The slowest link of a host.
    pub slowest: Rate,
    /// Preamble and gap of a frame.
    pub wire_overhead: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self::Rocev2(rocev2::Spec::default())
    }
}

impl Spec {
    /// The frame of a full packet without telemetry, if it can be made. `findings` are about the member.
    pub fn check_frame(&self, wire_overhead: Bytes, findings: &mut Findings<'_>) -> Option<u16> {
        let most = u64::from(u16::MAX);
        let Full { field, overhead, usual } = self.full();
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

    /// Whether its receivers answer trimmed packets, and its senders send exactly those again. Go-back-N does not: it
    /// sends everything behind a missing packet again, so it gains nothing from knowing which one it was.
    pub fn understands_trimming(&self) -> bool {
        matches!(self.recovery(), Some(rocev2::recovery::Spec::SelectiveRepeat(_)))
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
