//! The sending side of a flow, as the NIC sees it: whatever the transport, it has a class, a time
//! from which it may send, a next frame, and a timer.

use floodway_model::{
    Class, Dscp, Duration, Ecn, FlowId, FlowSpec, Instant, NodeId, Packet, PortIx, Tos,
};

use super::Profile;
use super::congestion::{self, Control};
use super::transport::tcp::{self, Rules, Supply};
use super::transport::{self, Frame, Sent, datagram, rocev2};
use crate::link::Link;
use crate::observe::Departure;

/// What stands on every packet of a flow beside its addresses.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The connection of the receiver.
    pub connection: u32,
    /// What switches are told of the flow.
    pub dscp: Dscp,
}

/// What the congestion control of a flow is told, beside its transport and its link; see
/// [`congestion::Path`].
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The longest round trip in the network.
    pub base_rtt: Duration,
    /// Switches on the way.
    pub hops: u8,
    /// For random choices.
    pub seed: u64,
}

/// The sending side of one flow.
#[derive(Debug)]
pub struct Sender {
    /// Which flow.
    pub flow: FlowId,
    /// The class in which it sends.
    pub class: Class,
    /// The physical queue of the NIC that it has in that class; 0 if there are none.
    pub lane: u8,
    /// Whether the NIC has it among those that send or will.
    pub in_nic: bool,
    /// When its rate allows its next packet.
    pub eligible_at: Instant,
    /// When it last got something to send after it had nothing; at first, when it began.
    pub ready_at: Instant,
    /// When it began.
    began: Instant,
    /// When its timer expires as far as the host knows; its deadline may have moved since.
    pub timer_at: Instant,
    /// How its message becomes packets.
    pub transport: Transport,
    /// The place of the application that writes its data, if there is one.
    pub application: Option<u32>,
    /// When the whole message was acknowledged.
    acknowledged: Option<Instant>,
    /// The class that it returns to when it is no longer isolated, and when that is.
    home: (Class, Instant),
    src: NodeId,
    dst: NodeId,
    connection: u32,
    dscp: Dscp,
}

/// The sending side of the transport, whichever it is.
#[derive(Debug)]
pub enum Transport {
    /// See [`rocev2`].
    Rocev2(rocev2::Sender),
    /// See [`tcp`].
    Tcp(Box<tcp::Sender>),
    /// See [`datagram`].
    Datagram(datagram::Sender),
}

impl Sender {
    /// The sender of `flow`, which may send at once.
    pub fn new(
        (flow, spec): (FlowId, &FlowSpec),
        header: Header,
        profile: &Profile,
        link: &Link,
        way: Way,
        now: Instant,
    ) -> Self {
        let transport = &profile.transport;
        let path = congestion::Path {
            line_rate: link.rate,
            payload: transport.payload(),
            wire: u64::from(transport.largest_frame()) + u64::from(link.wire_overhead),
            initial_window: transport.initial_window(),
            base_rtt: way.base_rtt,
            hops: way.hops,
            seed: way.seed,
        };
        let control = congestion::State::new(&profile.congestion, &path);
        let mut sender = Self {
            flow,
            class: Class(0),
            lane: 0,
            in_nic: true,
            acknowledged: None,
            eligible_at: now,
            ready_at: now,
            began: now,
            timer_at: Instant::NEVER,
            transport: match transport {
                transport::Spec::Rocev2(transport) => {
                    Transport::Rocev2(rocev2::Sender::new(spec, control, transport, now))
                }
                transport::Spec::Tcp(_) => {
                    let supply = match &profile.application {
                        Some(_) if spec.is_persistent() => Supply::Written,
                        _ if spec.is_persistent() => Supply::Endless(spec.stop),
                        _ => Supply::Message(spec.bytes),
                    };
                    let sender = tcp::Sender::new(rules(profile), control, &path, supply, now);
                    Transport::Tcp(Box::new(sender))
                }
                transport::Spec::Udp(transport) => {
                    Transport::Datagram(datagram::Sender::new(transport.cut(), spec, control))
                }
                transport::Spec::Ethernet(transport) => {
                    Transport::Datagram(datagram::Sender::new(transport.cut(), spec, control))
                }
            },
            application: None,
            home: (Class(0), Instant::NEVER),
            src: spec.src,
            dst: spec.dst,
            connection: header.connection,
            dscp: header.dscp,
        };
        sender.renew_window(profile, now);
        sender.timer_at = sender.deadline(profile);
        sender
    }

    /// It leaves the NIC in this class.
    pub fn begin_in(&mut self, class: Class) {
        self.class = class;
        self.home.0 = class;
    }

    /// Switches may trim its packets.
    pub fn expect_headers(&mut self) {
        if let Transport::Rocev2(sender) = &mut self.transport {
            sender.expect_headers();
        }
    }

    /// The ECN field of its data.
    pub fn ecn(&self) -> Ecn {
        match &self.transport {
            Transport::Rocev2(_) => Ecn::Ect0,
            Transport::Tcp(sender) => sender.ecn(),
            Transport::Datagram(sender) => sender.ecn(),
        }
    }

    /// The host that it sends to.
    pub fn dst(&self) -> NodeId {
        self.dst
    }

    /// What it has sent.
    pub fn sent(&self) -> Sent {
        match &self.transport {
            Transport::Rocev2(sender) => Sent { acknowledged: self.acknowledged, ..sender.sent },
            Transport::Tcp(sender) => {
                let tcp::Sent { packets, retransmitted, timeouts, .. } = sender.sent;
                let (sum, count) = sender.rtt_sum();
                Sent {
                    packets,
                    retransmitted,
                    timeouts: timeouts as u32,
                    rtts: count as u32,
                    rtt_sum: Duration(sum as u64),
                    acknowledged: self.acknowledged,
                }
            }
            Transport::Datagram(sender) => sender.sent,
        }
    }

    /// An answer has come: whether it was the last one.
    pub fn note_acknowledged(&mut self, now: Instant) {
        if self.acknowledged.is_none() && self.is_done() {
            self.acknowledged = Some(now);
        }
    }

    /// Whether nothing is left to do.
    #[inline]
    pub fn is_done(&self) -> bool {
        match &self.transport {
            Transport::Rocev2(sender) => sender.is_done(),
            Transport::Tcp(sender) => sender.is_done(),
            Transport::Datagram(sender) => sender.is_done(),
        }
    }

    /// Whether every packet has been sent at least once, and none will be added.
    pub fn is_handed_over(&self) -> bool {
        match &self.transport {
            Transport::Rocev2(sender) => sender.is_handed_over(),
            Transport::Tcp(sender) => sender.is_handed_over(),
            Transport::Datagram(sender) => sender.is_done(),
        }
    }

    /// Whether there is a packet to send, now or when the rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        match &self.transport {
            Transport::Rocev2(sender) => sender.has_more(),
            Transport::Tcp(sender) => sender.has_more(),
            Transport::Datagram(sender) => !sender.is_done(),
        }
    }

    /// The next packet; `None` if all are sent that may be.
    #[inline(always)]
    pub fn next_packet(&mut self, profile: &Profile, now: Instant) -> Option<Packet> {
        let frame = match (&mut self.transport, &profile.transport) {
            (Transport::Rocev2(sender), transport::Spec::Rocev2(spec)) => {
                sender.next_frame(spec, now)
            }
            (Transport::Tcp(sender), _) => sender.next(rules(profile), now).map(|out| {
                let tcp::Out { body, bytes, ecn, .. } = out;
                Frame { body, bytes, ecn }
            }),
            (Transport::Datagram(sender), _) => sender.next_frame(now),
            _ => unreachable!("a sender is made from its own parameters"),
        };
        let Frame { body, bytes, ecn } = frame?;
        Some(Packet {
            flow: self.flow,
            connection: self.connection,
            src: self.src,
            dst: self.dst,
            bytes,
            ingress: PortIx(0),
            class: self.class,
            lane: self.lane,
            tos: Tos::new(self.dscp, ecn),
            indicated: false,
            body,
        })
    }

    /// Its congestion control.
    #[inline]
    pub fn control(&mut self) -> &mut congestion::State {
        match &mut self.transport {
            Transport::Rocev2(sender) => &mut sender.control,
            Transport::Tcp(sender) => &mut sender.control,
            Transport::Datagram(sender) => &mut sender.control,
        }
    }

    /// A frame of `bytes` that takes `wire` is being sent: the time until the next may follow. As
    /// much may be in flight as congestion control lets it now.
    #[inline(always)]
    pub fn on_sent(
        &mut self,
        profile: &Profile,
        now: Instant,
        bytes: u16,
        wire: Duration,
        link: &Link,
    ) -> Duration {
        let bytes = u64::from(bytes) + u64::from(link.wire_overhead);
        let control = &profile.congestion;
        let rate = match (&mut self.transport, &profile.transport) {
            (Transport::Rocev2(sender), transport::Spec::Rocev2(spec)) => {
                // Nearly always it is this one: in line, and without its way through all others.
                let (rate, window) = match (&mut sender.control, control) {
                    (congestion::State::Dcqcn(state), congestion::Spec::Dcqcn(control)) => {
                        state.after_send(control, now, bytes)
                    }
                    (state, control) => state.after_send(control, now, bytes),
                };
                sender.limit(window, spec);
                rate
            }
            (Transport::Tcp(sender), _) => {
                sender.control.on_send(control, now, bytes);
                sender.rate(rules(profile), now)
            }
            (Transport::Datagram(sender), _) => sender.control.after_send(control, now, bytes).0,
            _ => unreachable!("a sender is made from its own parameters"),
        };
        match rate {
            None => wire,
            Some(rate) => Duration((bytes as f64 * 8e12 / rate) as u64).max(wire),
        }
    }

    /// What is stated about a packet that has been made: what congestion control allows now.
    #[cold]
    pub fn departure(&mut self, profile: &Profile, packet: &Packet, now: Instant) -> Departure {
        let control = &profile.congestion;
        let (rate, window, probes) = match &mut self.transport {
            Transport::Rocev2(sender) => {
                let (rate, window) =
                    (sender.control.rate(control, now), sender.control.window(control, now));
                (rate, window, sender.sent.timeouts.into())
            }
            Transport::Tcp(sender) => {
                (sender.rate(rules(profile), now), sender.window(), sender.sent.probes)
            }
            Transport::Datagram(sender) => (sender.control.rate(control, now), None, 0),
        };
        Departure {
            packet: *packet,
            home: self.home.0,
            rate,
            began: self.began,
            ready_at: self.ready_at,
            eligible_at: self.eligible_at,
            window,
            probes,
        }
    }

    /// After feedback: as much may be in flight as congestion control lets it now.
    #[inline]
    pub fn renew_window(&mut self, profile: &Profile, now: Instant) {
        if let (Transport::Rocev2(sender), transport::Spec::Rocev2(spec)) =
            (&mut self.transport, &profile.transport)
        {
            let window = match (&mut sender.control, &profile.congestion) {
                (congestion::State::Dcqcn(state), congestion::Spec::Dcqcn(control)) => {
                    state.window(control, now)
                }
                (state, control) => state.window(control, now),
            };
            sender.limit(window, spec);
        }
    }

    /// Credit has come from its receiver, of so many packets so far.
    pub fn on_credit(&mut self, number: u32, profile: &Profile, now: Instant) {
        if let Transport::Rocev2(sender) = &mut self.transport {
            sender.control.on_credit(&profile.congestion, now, number);
            sender.on_credit(now);
        }
        self.renew_window(profile, now);
    }

    /// When it has waited too long for what it waits for.
    #[inline]
    pub fn deadline(&self, profile: &Profile) -> Instant {
        match (&self.transport, &profile.transport) {
            (Transport::Rocev2(sender), transport::Spec::Rocev2(spec)) => sender.deadline(spec),
            (Transport::Tcp(sender), _) => sender.deadline(),
            _ => Instant::NEVER,
        }
    }

    /// Whether, after feedback, its timer must ring earlier than it was set to; sets it.
    #[inline]
    pub fn timer_is_earlier(&mut self, profile: &Profile) -> bool {
        let deadline = self.deadline(profile);
        let earlier = deadline < self.timer_at;
        self.timer_at = self.timer_at.min(deadline);
        earlier
    }

    /// Its deadline has come.
    pub fn on_timer(&mut self, profile: &Profile, now: Instant) {
        match (&mut self.transport, &profile.transport) {
            (Transport::Rocev2(sender), transport::Spec::Rocev2(spec)) => {
                let before = sender.sent.timeouts;
                sender.on_timer(now, spec);
                if sender.sent.timeouts > before {
                    sender.control.on_retransmit_timeout(&profile.congestion, now);
                    self.renew_window(profile, now);
                }
            }
            (Transport::Tcp(sender), _) => sender.on_timer(rules(profile), now),
            _ => {}
        }
    }

    /// The class in which it sends unless it is isolated.
    pub fn home_class(&self) -> Class {
        self.home.0
    }

    /// It sends in this class from now on, and until `until`.
    pub fn isolate(&mut self, class: Class, until: Instant) {
        self.class = class;
        self.home.1 = until;
    }

    /// Whether its isolation is over, so that it sends in another class than before.
    #[inline]
    pub fn returns(&mut self, now: Instant) -> bool {
        if now < self.home.1 {
            return false;
        }
        self.home.1 = Instant::NEVER;
        let changes = self.class != self.home.0;
        self.class = self.home.0;
        changes
    }
}

/// TCP's parameters and those of the congestion control.
#[inline]
pub(super) fn rules(profile: &Profile) -> Rules<'_> {
    let transport::Spec::Tcp(tcp) = &profile.transport else {
        unreachable!("a sender is made from its own parameters");
    };
    Rules { tcp, congestion: &profile.congestion }
}
