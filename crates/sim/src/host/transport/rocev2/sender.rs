//! The sending side of one message.

use floodway_model::{Body, Class, Dscp, Duration, Ecn, FlowId, FlowSpec, Instant};
use floodway_model::{NodeId, Packet, PortIx};

use super::Spec;
use super::recovery::{self, selective_repeat};
use crate::host::congestion;
use crate::link::Link;

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Data packets put on the wire, repetitions included.
    pub packets: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Timeouts.
    pub timeouts: u64,
}

/// What stands on every packet of a message beside its addresses.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The connection of the receiver.
    pub connection: u32,
    /// What switches are told of the flow.
    pub dscp: Dscp,
    /// The class in which it leaves the NIC.
    pub class: Class,
}

/// The sending side of one message.
#[derive(Debug)]
pub struct Sender {
    /// Which flow.
    pub flow: FlowId,
    /// The class in which it sends.
    pub class: Class,
    /// The physical queue of the NIC that it has in that class; 0 if there are none.
    pub lane: u8,
    /// The class that it returns to when it is no longer isolated, and when that is.
    home: (Class, Instant),
    /// How fast it may send.
    pub control: congestion::State,
    /// Whether the NIC has it among those that send or will.
    pub in_nic: bool,
    /// When its rate lets it send its next packet.
    pub eligible_at: Instant,
    /// What it has sent.
    pub sent: Sent,
    /// When its timer rings.
    pub rings_at: Instant,
    src: NodeId,
    dst: NodeId,
    connection: u32,
    dscp: Dscp,
    bytes: u64,
    packets: u32,
    /// When a message without a size ends with what has been sent.
    stop: Instant,
    /// The most packets that are sent and not acknowledged, by what the transport allows and what
    /// congestion control does.
    window: u32,
    /// The next packet to send, the first that is not acknowledged, and the first never sent.
    next: u32,
    unacknowledged: u32,
    fresh: u32,
    last_progress: Instant,
    /// With selective repeat: what has arrived and what is lost.
    selective: Option<Box<selective_repeat::State>>,
}

impl Sender {
    /// The sender of `flow`, which it makes ready at once.
    pub fn new(
        flow: FlowId,
        spec: &FlowSpec,
        header: Header,
        control: congestion::State,
        transport: &Spec,
        now: Instant,
    ) -> Self {
        let selective = match transport.recovery {
            recovery::Spec::GoBackN(_) => None,
            recovery::Spec::SelectiveRepeat(_) => Some(Box::default()),
        };
        Self {
            flow,
            class: header.class,
            lane: 0,
            home: (header.class, Instant::NEVER),
            control,
            in_nic: true,
            eligible_at: now,
            sent: Sent::default(),
            rings_at: now + transport.recovery.timeout(0),
            src: spec.src,
            dst: spec.dst,
            connection: header.connection,
            dscp: header.dscp,
            bytes: spec.bytes,
            packets: transport.packets(spec),
            stop: spec.stop,
            window: transport.window(),
            next: 0,
            unacknowledged: 0,
            fresh: 0,
            last_progress: now,
            selective,
        }
    }

    /// Whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.unacknowledged == self.packets
    }

    /// Whether a packet may be sent that does not fill a gap.
    #[inline]
    fn may_go_on(&self) -> bool {
        self.next < self.packets && self.next - self.unacknowledged < self.window
    }

    /// Whether there is a packet to send, now or when the rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.may_go_on() || self.selective.as_ref().is_some_and(|state| state.has_lost())
    }

    /// The message ends here: what has been sent is all of it, in full packets. The receiver does
    /// not know which of them is the last, so with `ack_every` above 1 the end may be acknowledged
    /// only when the timer has had it repeated.
    #[cold]
    fn end_here(&mut self, transport: &Spec) {
        self.stop = Instant::NEVER;
        self.packets = self.fresh;
        self.bytes = u64::from(self.fresh) * transport.mtu.0;
    }

    /// The next packet; `None` if all are sent that may be.
    #[inline]
    pub fn next_packet(&mut self, transport: &Spec, now: Instant) -> Option<Packet> {
        if now >= self.stop {
            self.end_here(transport);
        }
        let psn = match self.selective.as_mut().and_then(|state| state.next_lost()) {
            Some(lost) => lost,
            None if self.may_go_on() => {
                self.next += 1;
                self.next - 1
            }
            None => return None,
        };
        if psn == self.unacknowledged {
            self.last_progress = now;
        }
        self.sent.packets += 1;
        if psn < self.fresh {
            self.sent.retransmitted += 1;
        } else {
            self.fresh = self.next;
        }
        Some(Packet {
            flow: self.flow,
            connection: self.connection,
            src: self.src,
            dst: self.dst,
            bytes: Spec::frame(transport.payload(psn, self.bytes, self.packets)),
            ingress: PortIx(0),
            class: self.class,
            lane: self.lane,
            ecn: Ecn::Ect0,
            dscp: self.dscp,
            body: Body::Data { psn, sent_at: now },
        })
    }

    /// A frame of `bytes` that takes `wire` is being sent: the time until the next may follow.
    #[inline]
    pub fn pace(
        &mut self,
        spec: &congestion::Spec,
        now: Instant,
        bytes: u16,
        wire: Duration,
        link: &Link,
    ) -> Duration {
        let bytes = u64::from(bytes) + u64::from(link.wire_overhead);
        self.control.on_send(spec, now, bytes);
        match self.control.rate(spec, now) {
            None => wire,
            Some(rate) => Duration((bytes as f64 * 8e12 / rate) as u64).max(wire),
        }
    }

    /// The host that it sends to.
    pub fn dst(&self) -> NodeId {
        self.dst
    }

    /// After a packet was sent or feedback has come: as much may be in flight as congestion control
    /// lets it now.
    #[inline]
    pub fn renew_window(&mut self, spec: &congestion::Spec, transport: &Spec, now: Instant) {
        if let Some(bytes) = self.control.window(spec, now) {
            self.window = transport.window().min(transport.whole_packets(bytes).max(1));
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

    /// Everything before `psn` has arrived.
    #[inline]
    pub fn on_ack(&mut self, psn: u32, now: Instant) {
        if psn > self.unacknowledged {
            self.unacknowledged = psn;
            self.next = self.next.max(psn);
            self.last_progress = now;
            if let Some(state) = &mut self.selective {
                state.on_ack(psn);
            }
        }
    }

    /// Everything before `psn` has arrived, and `psn` has not although `arrived` has.
    pub fn on_nak(&mut self, psn: u32, arrived: u32, now: Instant) {
        self.on_ack(psn, now);
        match &mut self.selective {
            Some(state) if arrived >= self.unacknowledged => state.on_arrived(arrived),
            None if psn == self.unacknowledged => {
                self.next = psn;
                self.last_progress = now;
            }
            _ => {}
        }
    }

    /// Its timer rings: if it has waited too long, what it has sent is taken for lost. Sets the
    /// timer anew.
    pub fn on_timer(&mut self, now: Instant, transport: &Spec) {
        if self.next == self.unacknowledged {
            self.last_progress = now;
        } else if now.since(self.last_progress) >= self.timeout(transport) {
            match &mut self.selective {
                Some(state) => state.on_timeout(self.unacknowledged, self.next - 1),
                None => self.next = self.unacknowledged,
            }
            self.last_progress = now;
            self.sent.timeouts += 1;
        }
        self.rings_at = self.last_progress + self.timeout(transport);
    }

    /// Whether, after feedback, its timer must ring earlier than it was set to; sets it.
    #[inline]
    pub fn rings_earlier(&mut self, transport: &Spec) -> bool {
        // Only selective repeat has a timeout that can become shorter.
        if self.selective.is_none() {
            return false;
        }
        let at = self.last_progress + self.timeout(transport);
        let earlier = at < self.rings_at;
        self.rings_at = self.rings_at.min(at);
        earlier
    }

    fn timeout(&self, transport: &Spec) -> Duration {
        transport.recovery.timeout(self.next - self.unacknowledged)
    }
}
