//! The sending side of a flow, as the NIC sees it. Every transport has a class, a time from which
//! it may send, a next frame, and a timer.

use floodway_model::{
    Class, Dscp, Duration, Ecn, FlowId, FlowSpec, Instant, NodeId, Packet, PortIx, Tos,
};

use super::Profile;
use super::congestion;
use super::transport::{self, Allowance, Frame, Sent};
use crate::link::Link;
use crate::observe::Departure;

/// Header fields of every packet of a flow, besides its addresses.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The connection of the receiver.
    pub connection: u32,
    /// By which switches classify the flow.
    pub dscp: Dscp,
}

/// Properties of a flow's path that its congestion control knows; see [`congestion::Path`].
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Longest round-trip time of the network without queueing.
    pub base_rtt: Duration,
    /// Number of switches on the path.
    pub hops: u8,
    /// Whether switches trim packets.
    pub trims: bool,
    /// Seed of random choices.
    pub seed: u64,
}

/// The sending side of one flow. What every packet and every reply needs comes first, and so it does in the state of
/// RoCEv2 and of DCQCN.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    /// The flow.
    pub flow: FlowId,
    /// The class in which it sends.
    pub class: Class,
    /// Its physical queue in that class of the NIC; 0 without physical queues.
    pub physical_queue: u8,
    /// Whether it is in the schedule of the NIC.
    pub in_nic: bool,
    dscp: Dscp,
    /// When its rate allows its next packet.
    pub eligible_at: Instant,
    /// When its timer expires, as scheduled by the host. Its deadline may be later by now.
    pub timer_at: Instant,
    src: NodeId,
    dst: NodeId,
    connection: u32,
    /// The class in which it sends unless it is isolated, and the end of its isolation.
    home: (Class, Instant),
    /// State of the transport.
    pub transport: transport::Sender,
    /// When it last got something to send after it had nothing; at first, when it began.
    pub ready_at: Instant,
    /// When it began.
    began: Instant,
    /// When the whole message was acknowledged.
    acknowledged: Option<Instant>,
    /// Index of the application that writes its data, if there is one.
    pub application: Option<u32>,
}

impl Sender {
    /// The sender of `flow`, which may send at once.
    pub fn new(
        (flow, spec): (FlowId, &FlowSpec),
        header: Header,
        profile: &Profile,
        link: &Link,
        route: Route,
        now: Instant,
    ) -> Self {
        let transport = &profile.transport;
        let path = congestion::Path {
            line_rate: link.rate,
            payload: transport.payload(),
            wire: u64::from(transport.largest_frame()) + u64::from(link.wire_overhead),
            initial_window: transport.initial_window(),
            base_rtt: route.base_rtt,
            hops: route.hops,
            trims: route.trims,
            seed: route.seed,
        };
        let control = congestion::State::new(&profile.congestion, &path);
        let mut sender = Self {
            flow,
            class: Class(0),
            physical_queue: 0,
            in_nic: true,
            acknowledged: None,
            eligible_at: now,
            ready_at: now,
            began: now,
            timer_at: Instant::NEVER,
            transport: transport::Sender::new(transport, spec, profile, control, &path, now),
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

    /// Sets the class in which it leaves the NIC.
    pub fn begin_in(&mut self, class: Class) {
        self.class = class;
        self.home.0 = class;
    }

    /// The host that it sends to.
    pub fn dst(&self) -> NodeId {
        self.dst
    }

    /// The ECN field of its data.
    pub fn ecn(&self) -> Ecn {
        self.transport.ecn()
    }

    /// Its counters.
    pub fn sent(&self) -> Sent {
        Sent { acknowledged: self.acknowledged, ..self.transport.sent() }
    }

    /// Feedback has arrived: notes the time if everything is acknowledged now.
    pub fn note_acknowledged(&mut self, now: Instant) {
        if self.is_done() && self.acknowledged.is_none() {
            self.acknowledged = Some(now);
        }
    }

    /// Whether it has nothing left to do.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.transport.is_done()
    }

    /// Whether every packet has been sent at least once, and no more will be added.
    pub fn is_handed_over(&self) -> bool {
        self.transport.is_handed_over()
    }

    /// Whether there is a packet to send, now or when the rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.transport.has_more()
    }

    /// The next packet; `None` if no more packets may be sent.
    #[inline(always)]
    pub fn next_packet(&mut self, profile: &Profile, now: Instant) -> Option<Packet> {
        let Frame { body, bytes, ecn } = self.transport.next_frame(profile, now)?;
        Some(Packet {
            flow: self.flow,
            connection: self.connection,
            src: self.src,
            dst: self.dst,
            bytes,
            ingress: PortIx(0),
            class: self.class,
            physical_queue: self.physical_queue,
            tos: Tos::new(self.dscp, ecn),
            indicated: false,
            body,
        })
    }

    /// A request, if it has a reason to ask now; the class is to be set.
    pub fn request(&mut self, profile: &Profile, now: Instant) -> Option<Packet> {
        let Frame { body, bytes, ecn } = self.transport.request(profile, now)?;
        Some(Packet {
            flow: self.flow,
            connection: self.connection,
            src: self.src,
            dst: self.dst,
            bytes,
            ingress: PortIx(0),
            class: Class(0),
            physical_queue: 0,
            tos: Tos::new(Dscp::DEFAULT, ecn),
            indicated: false,
            body,
        })
    }

    /// Its congestion control.
    #[inline]
    pub fn control(&mut self) -> &mut congestion::State {
        self.transport.control()
    }

    /// A frame of `bytes` is being sent, and occupies the wire for `wire`. Returns the time after which
    /// the next one may follow.
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
        match self.transport.on_sent(profile, bytes, now) {
            None => wire,
            Some(rate) => Duration((bytes as f64 * 8e12 / rate) as u64).max(wire),
        }
    }

    /// The fact that it has generated this packet.
    #[cold]
    pub fn departure(&mut self, profile: &Profile, packet: &Packet, now: Instant) -> Departure {
        let Allowance { rate, window, probes } = self.transport.allowance(profile, now);
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

    /// The window of congestion control may have changed.
    #[inline(always)]
    pub fn renew_window(&mut self, profile: &Profile, now: Instant) {
        self.transport.renew_window(profile, now);
    }

    /// Time at which its timer expires.
    #[inline]
    pub fn deadline(&self, profile: &Profile) -> Instant {
        self.transport.deadline(profile)
    }

    /// Whether its timer must expire earlier than scheduled; if so, the caller schedules it again.
    #[inline]
    pub fn timer_is_earlier(&mut self, profile: &Profile) -> bool {
        let deadline = self.deadline(profile);
        let earlier = deadline < self.timer_at;
        self.timer_at = self.timer_at.min(deadline);
        earlier
    }

    /// The class in which it sends unless it is isolated.
    pub fn home_class(&self) -> Class {
        self.home.0
    }

    /// Isolates it in this class until `until`.
    pub fn isolate(&mut self, class: Class, until: Instant) {
        self.class = class;
        self.home.1 = until;
    }

    /// Whether its isolation has ended, so that its class changes.
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
