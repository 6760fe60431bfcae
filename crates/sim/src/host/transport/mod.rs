//! Transports: segmentation of messages, acknowledgement and retransmission.

#[cfg(test)]
mod conformance;
pub mod datagram;
pub mod ethernet;
mod numbers;
pub mod rocev2;
pub mod tcp;
pub mod udp;
pub mod uet;

use floodway_model::check::Findings;
use floodway_model::packet::length;
use floodway_model::{
    Body, Bytes, Duration, Echo, Ecn, EcnFeedback, FlowSpec, Instant, Packet, Rate,
};
use serde::{Deserialize, Serialize};

use super::Profile;
use super::congestion::{self, Needs, Path};
use crate::telemetry;

floodway_model::family! {
    /// How a message becomes packets and arrives complete.
    "host.transport" as Transport {
        payload() -> u64;
        full() -> Full;
        frame(payload: u64) -> u16;
        initial_window() -> u32;
        handshake_frame() -> Option<u16>;
        answer_frame() -> u16;
        credit_frame() -> u16;
        requests() -> bool;
        infers_losses() -> bool;
        shortest_frame() -> u16;
        telemetry() -> Option<telemetry::Kind<'_>>;
        telemetry_bytes() -> u16;
        recovery() -> Option<&rocev2::recovery::Spec>;
        repeats() -> bool;
        understands_trimming() -> bool;
        entropies() -> u32;
        is_capable(wanted: EcnFeedback) -> bool;
        usual_control() -> congestion::Spec;
        reports(needs: Needs) -> bool;
        check_on(network: &Network, findings: &mut Findings<'_>);
    }
    states {
        /// The sending side of a transport.
        Sender with SendingSide {
            new(
                flow: &FlowSpec,
                profile: &Profile,
                control: congestion::State,
                path: &Path,
                now: Instant
            );
            state {
                ecn() -> Ecn;
                sent() -> Sent;
                is_done() -> bool;
                is_handed_over() -> bool;
                has_more() -> bool;
                deadline(profile: &Profile) -> Instant;
                sets_timer_on_sending() -> bool;
            }
            mut state {
                control() -> &mut congestion::State;
                expect_headers();
                stop_at(at: Instant);
                #[inline(always)]
                next_frame(profile: &Profile, now: Instant) -> Option<Frame>;
                #[inline(always)]
                on_sent(profile: &Profile, bytes: u64, now: Instant) -> Option<f64>;
                allowance(profile: &Profile, now: Instant) -> Allowance;
                #[inline(always)]
                renew_window(profile: &Profile, now: Instant);
                #[inline(always)]
                on_feedback(body: &Body, now: Instant) -> Option<Progress>;
                measure(rtt: Duration);
                on_credit(number: u32, profile: &Profile, now: Instant);
                share_nic(contexts: u32);
                request(profile: &Profile, now: Instant) -> Option<Frame>;
                on_indication(severity: u8, profile: &Profile, now: Instant);
                on_timer(profile: &Profile, now: Instant);
            }
        }
        /// The receiving side of a transport.
        Receiver with ReceivingSide {
            new(flow: &FlowSpec, profile: &Profile);
            state {
                deadline() -> Instant;
                pushed() -> &[(u32, Instant)];
                delivered() -> u64;
                #[inline(always)]
                acknowledgement(packet: &Packet, of: (Echo, u32, Instant), ack: u32) -> Body;
            }
            mut state {
                on_data(packet: &Packet, psn: u32, profile: &Profile, now: Instant) -> Arrived;
                on_request() -> Option<Body>;
                on_header(
                    packet: &Packet,
                    trimmed: (u32, Instant),
                    profile: &Profile,
                    now: Instant
                ) -> HeaderReply;
            }
        }
    }
    Rocev2 = "rocev2" in rocev2:
        "RoCEv2 reliable connection: acknowledgements, loss recovery, retransmission timeout.",
    Tcp = "tcp" in tcp, boxed:
        "TCP as Linux speaks it: SACK, RACK-TLP, proportional rate reduction, all ECN feedback.",
    Udp = "udp" in udp: "Datagrams, which are neither acknowledged nor sent again.",
    Ethernet = "ethernet" in ethernet:
        "Ethernet frames with nothing above, neither acknowledged nor sent again.",
    Uet = "uet" in uet, boxed:
        "Ultra Ethernet's reliable unordered delivery: selective acknowledgements, spraying by entropy.",
}

/// Parameters of a transport, and its properties.
pub trait Transport {
    /// Payload of a full packet, in bytes.
    fn payload(&self) -> u64;

    /// Properties of a full packet without telemetry.
    fn full(&self) -> Full;

    /// Length of the frame with `payload` bytes, which is at most [`payload`](Self::payload).
    fn frame(&self, payload: u64) -> u16;

    /// Number of full packets that may be sent before the first acknowledgement.
    fn initial_window(&self) -> u32 {
        u32::MAX
    }

    /// Length of the frames of the handshake; `None` if data is sent at once.
    fn handshake_frame(&self) -> Option<u16> {
        None
    }

    /// Length of an acknowledgement; the shortest frame for a transport without acknowledgements.
    fn answer_frame(&self) -> u16 {
        length::SHORTEST_FRAME
    }

    /// Whether a sender that may send nothing else may send requests.
    fn requests(&self) -> bool {
        false
    }

    /// Whether a packet is taken for lost when later ones have arrived (Ultra Ethernet).
    fn infers_losses(&self) -> bool {
        false
    }

    /// Length of the credit of its receivers, and of the requests of its senders.
    fn credit_frame(&self) -> u16 {
        length::ROCE_CREDIT
    }

    /// Length of its shortest frame, at most that of Ethernet.
    fn shortest_frame(&self) -> u16 {
        length::SHORTEST_FRAME
    }

    /// What switches write into its packets; `None` if nothing.
    fn telemetry(&self) -> Option<telemetry::Kind<'_>> {
        None
    }

    /// Length of what switches write, which a packet has from the beginning.
    fn telemetry_bytes(&self) -> u16 {
        0
    }

    /// The loss recovery of RoCEv2; `None` for other transports.
    fn recovery(&self) -> Option<&rocev2::recovery::Spec> {
        None
    }

    /// Whether lost packets are retransmitted.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether its receivers answer the headers of trimmed packets, and its senders retransmit exactly
    /// these packets.
    fn understands_trimming(&self) -> bool {
        false
    }

    /// Number of entropy values among which its senders choose for each packet; 1 if all packets of a
    /// flow have the same.
    fn entropies(&self) -> u32 {
        1
    }

    /// Whether its data is ECN-capable if congestion control requests this feedback.
    fn is_capable(&self, wanted: EcnFeedback) -> bool;

    /// The default congestion control.
    fn usual_control(&self) -> congestion::Spec;

    /// Whether it provides the feedback that a congestion control needs.
    fn reports(&self, needs: Needs) -> bool {
        matches!(needs, Needs::Nothing | Needs::Indications | Needs::Messages)
    }

    /// Checks its parameters for this network.
    fn check_on(&self, _network: &Network, _findings: &mut Findings<'_>) {}
}

/// The sending side of a transport, for one flow. Methods with defaults are about feedback and timers,
/// which not all transports have.
pub trait SendingSide {
    /// Parameters of the transport.
    type Parameters: ?Sized;

    /// The sender of `flow`, which begins now.
    fn new(
        parameters: &Self::Parameters,
        flow: &FlowSpec,
        profile: &Profile,
        control: congestion::State,
        path: &Path,
        now: Instant,
    ) -> Self;

    /// Its congestion control.
    fn control(&mut self) -> &mut congestion::State;

    /// The ECN field of its data.
    fn ecn(&self) -> Ecn;

    /// Its counters; `acknowledged` is `None`.
    fn sent(&self) -> Sent;

    /// Whether it has nothing left to do.
    fn is_done(&self) -> bool;

    /// Whether every packet has been sent at least once, and no more will be added.
    fn is_handed_over(&self) -> bool {
        self.is_done()
    }

    /// Whether there is a packet to send, now or when the rate allows.
    fn has_more(&self) -> bool {
        !self.is_done()
    }

    /// Switches may trim its packets.
    fn expect_headers(&mut self) {}

    /// It makes no new packets from this time on, which is not before now; it is that of a long-lived flow.
    fn stop_at(&mut self, at: Instant);

    /// The next frame; `None` if no more may be sent.
    fn next_frame(&mut self, profile: &Profile, now: Instant) -> Option<Frame>;

    /// A frame that takes `bytes` on the wire is being sent. Returns the rate in bits per second that
    /// congestion control allows from now on; `None` for no limit.
    fn on_sent(&mut self, profile: &Profile, bytes: u64, now: Instant) -> Option<f64>;

    /// Limits that congestion control sets now, for observers.
    fn allowance(&mut self, profile: &Profile, now: Instant) -> Allowance;

    /// The window of congestion control may have changed.
    fn renew_window(&mut self, _profile: &Profile, _now: Instant) {}

    /// An acknowledgement or a NAK of RoCEv2 has arrived. `None` for a transport without them.
    fn on_feedback(&mut self, _body: &Body, _now: Instant) -> Option<Progress> {
        None
    }

    /// Such a reply has measured a round-trip time.
    fn measure(&mut self, _rtt: Duration) {}

    /// Credit has arrived, for `number` packets or bytes in total.
    fn on_credit(&mut self, _number: u32, _profile: &Profile, _now: Instant) {}

    /// So many flows wait for the NIC now, including this one; only called if some transport has
    /// [requests](Transport::requests).
    fn share_nic(&mut self, _contexts: u32) {}

    /// A request for credit or for an acknowledgement, if it may send nothing else and has a reason to
    /// ask now.
    fn request(&mut self, _profile: &Profile, _now: Instant) -> Option<Frame> {
        None
    }

    /// A backward congestion indication has arrived.
    fn on_indication(&mut self, severity: u8, profile: &Profile, now: Instant) {
        self.control().on_indication(&profile.congestion, now, severity);
        self.renew_window(profile, now);
    }

    /// Time at which its timer expires.
    fn deadline(&self, _profile: &Profile) -> Instant {
        Instant::NEVER
    }

    /// Whether sending a packet can make its timer expire earlier.
    fn sets_timer_on_sending(&self) -> bool {
        false
    }

    /// Its timer has expired.
    fn on_timer(&mut self, _profile: &Profile, _now: Instant) {}
}

/// The receiving side of a transport, for one flow.
pub trait ReceivingSide {
    /// Parameters of the transport.
    type Parameters: ?Sized;

    /// The receiver of `flow`.
    fn new(parameters: &Self::Parameters, flow: &FlowSpec, profile: &Profile) -> Self;

    /// The data packet `psn` has arrived.
    fn on_data(&mut self, _packet: &Packet, _psn: u32, _: &Profile, _now: Instant) -> Arrived {
        unreachable!("its data is in frames of another kind")
    }

    /// A request of the sender has arrived: its acknowledgement.
    fn on_request(&mut self) -> Option<Body> {
        None
    }

    /// The header of a trimmed packet has arrived, with the number of the packet and the time at which
    /// it was sent.
    fn on_header(
        &mut self,
        _packet: &Packet,
        _trimmed: (u32, Instant),
        _profile: &Profile,
        _now: Instant,
    ) -> HeaderReply {
        unreachable!("only packets of transports that understand it are trimmed")
    }

    /// Time at which its timer expires.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// For each unit of data of an application: the number of its last segment, and the time when it
    /// had arrived in order.
    fn pushed(&self) -> &[(u32, Instant)] {
        &[]
    }

    /// The acknowledgement of everything before packet `ack`, in reply to a packet with this echo and
    /// number that was sent at this time.
    #[inline(always)]
    fn acknowledgement(
        &self,
        packet: &Packet,
        (echo, _, sent_at): (Echo, u32, Instant),
        ack: u32,
    ) -> Body {
        Body::Ack { echo: echo.answering(packet.ecn()), psn: ack, sent_at }
    }

    /// Payload bytes that have arrived, each counted once.
    fn delivered(&self) -> u64;
}

/// Limits that congestion control sets.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Rate on the wire in bits per second; `None` for no limit.
    pub rate: Option<f64>,
    /// Payload bytes in flight; `None` for no limit.
    pub window: Option<u64>,
    /// TCP: number of probes so far, which the window does not limit. RoCEv2: number of timeouts, each
    /// of which may be followed by a packet without credit.
    pub probes: u64,
}

/// Progress of a sender that has processed a reply.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// First unacknowledged packet before the reply.
    pub before: u32,
    /// First unacknowledged packet.
    pub acknowledged: u32,
    /// The packet after the last one sent.
    pub next: u32,
    /// First packet never sent.
    pub fresh: u32,
    /// Packets that the reply reports as arrived for the first time.
    pub delivered: u32,
    /// Round-trip time, if the transport measures it; RoCEv2 has it in the reply.
    pub rtt: Option<Duration>,
}

/// Results of the arrival of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Whether the packet completes the message.
    pub completes: bool,
    /// Send a CNP.
    pub notify: bool,
    /// Acknowledge everything before this packet.
    pub acknowledge: Option<u32>,
    /// Send a NAK: this packet is missing, and the one that has just arrived is not.
    pub missing: Option<u32>,
}

/// Reply to the header of a trimmed packet.
#[derive(Clone, Copy, Debug)]
pub struct HeaderReply {
    /// Content of the reply.
    pub body: Body,
    /// Send a CNP.
    pub notify: bool,
}

/// A full packet, for checks.
#[derive(Clone, Copy, Debug)]
pub struct Full {
    /// The field that sets its payload.
    pub field: &'static str,
    /// Bytes in addition to the payload.
    pub overhead: u64,
    /// Usual sizes, for messages.
    pub usual: &'static str,
}

/// Properties of the network for checks of transports.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// Longest round-trip time without queueing.
    pub round_trip: Duration,
    /// The slowest link of a host.
    pub slowest: Rate,
    /// Preamble and interframe gap of a frame.
    pub wire_overhead: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self::Rocev2(rocev2::Spec::default())
    }
}

impl Spec {
    /// Length of the frame of a full packet without telemetry, if it is valid. `findings` are about the
    /// member.
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

    /// Length of the frame of a full packet.
    pub fn largest_frame(&self) -> u16 {
        self.frame(self.payload())
    }
}

/// A frame that a transport gives to the NIC, without addresses.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its content.
    pub body: Body,
    /// Frame length in bytes.
    pub bytes: u16,
    /// The ECN field.
    pub ecn: Ecn,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Data packets put on the wire, including retransmissions.
    pub packets: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// Timeouts.
    pub timeouts: u32,
    /// Packets that were taken for lost because later ones had arrived, or by a probe (Ultra Ethernet).
    pub inferred: u32,
    /// Requests, probes included (Ultra Ethernet).
    pub requests: u32,
    /// Number of measured round-trip times.
    pub rtts: u32,
    /// Their sum.
    pub rtt_sum: Duration,
    /// When the whole message was acknowledged; `None` if it is not, or if more data may follow.
    pub acknowledged: Option<Instant>,
}

impl Sent {
    /// Adds a measured round-trip time.
    pub fn measure(&mut self, rtt: Duration) {
        self.rtts += 1;
        self.rtt_sum += rtt;
    }

    /// Mean of the measured round-trip times.
    pub fn mean_rtt(&self) -> Option<Duration> {
        self.rtt_sum.0.checked_div(self.rtts.into()).map(Duration)
    }
}
