//! The sending side of one message.

use floodway_model::{Body, Echo, Ecn, FlowSpec, Instant};

use super::Spec;
use super::recovery::{self, selective_repeat};
use crate::host::congestion;
use crate::host::transport::{Frame, Sent, Transport};

/// The sending side of one message. Fields are ordered by access frequency.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    packets: u32,
    /// Maximum number of packets sent and not acknowledged, from the limits of transport and
    /// congestion control; 0 while there is no credit.
    window: u32,
    /// Next packet to send, first unacknowledged packet, and first packet never sent.
    next: u32,
    unacknowledged: u32,
    fresh: u32,
    last_progress: Instant,
    /// With selective repeat: state of arrived and lost packets.
    selective: Option<Box<selective_repeat::State>>,
    bytes: u64,
    /// Time at which a long-lived message ends with what has been sent.
    stop: Instant,
    /// Congestion control of the flow.
    pub control: congestion::State,
    /// Counters.
    pub sent: Sent,
}

impl Sender {
    /// The sender of `flow`, from now on.
    pub fn new(
        flow: &FlowSpec,
        control: congestion::State,
        transport: &Spec,
        now: Instant,
    ) -> Self {
        let selective = match &transport.recovery {
            recovery::Spec::GoBackN(_) => None,
            recovery::Spec::SelectiveRepeat(spec) => {
                Some(Box::new(selective_repeat::State::new(spec)))
            }
        };
        Self {
            control,
            sent: Sent::default(),
            bytes: flow.bytes,
            packets: transport.packets(flow),
            stop: flow.sends_until(),
            window: transport.window(),
            next: 0,
            unacknowledged: 0,
            fresh: 0,
            last_progress: now,
            selective,
        }
    }

    /// It makes no new packets from this time on, unless it has ended already.
    pub fn stop_at(&mut self, at: Instant) {
        self.stop = at;
    }

    /// Whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.unacknowledged == self.packets
    }

    /// Whether every packet has been sent at least once.
    pub fn is_handed_over(&self) -> bool {
        self.fresh == self.packets
    }

    /// Whether a packet may be sent that is not a retransmission.
    #[inline]
    fn may_go_on(&self) -> bool {
        self.next < self.packets && self.next - self.unacknowledged < self.window
    }

    /// Whether there is a packet to send, now or when the rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        let has_lost = |state: &selective_repeat::State| self.window > 0 && state.has_lost();
        self.may_go_on() || self.selective.as_deref().is_some_and(has_lost)
    }

    /// Ends the message with what has been sent, in full packets. The receiver does not know which
    /// of them is the last, so with `ack_every` above 1 the end may be acknowledged only after the
    /// timer has caused its retransmission.
    #[cold]
    fn end_here(&mut self, transport: &Spec) {
        self.stop = Instant::NEVER;
        self.packets = self.fresh;
        self.bytes = u64::from(self.fresh) * transport.mtu.0;
    }

    /// The next packet; `None` if no more packets may be sent.
    #[inline]
    pub fn next_frame(&mut self, transport: &Spec, now: Instant) -> Option<Frame> {
        if now >= self.stop {
            self.end_here(transport);
        }
        let psn = match self.selective.as_mut().and_then(|state| state.next_lost(now)) {
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
        let bytes = transport.frame(transport.payload_of(psn, self.bytes, self.packets));
        Some(Frame {
            body: Body::Data { echo: Echo::default(), psn, sent_at: now },
            bytes,
            ecn: Ecn::Ect0,
        })
    }

    /// Sets the window to the limit of the transport or of congestion control (`bytes`), whichever
    /// is lower.
    #[inline(always)]
    pub fn limit(&mut self, bytes: Option<u64>, transport: &Spec) {
        if let Some(bytes) = bytes {
            self.window = match bytes {
                0 => 0,
                _ => transport.window().min(transport.whole_packets(bytes).max(1)),
            };
        }
    }

    /// Whether it has packets to send and nothing in flight for which a reply is expected.
    fn waits_to_send(&self) -> bool {
        let wants = |state: &selective_repeat::State| state.wants(self.unacknowledged);
        self.next == self.unacknowledged || self.selective.as_deref().is_some_and(wants)
    }

    /// Credit has arrived: packets that waited for it must not time out.
    pub fn on_credit(&mut self, now: Instant) {
        if self.waits_to_send() {
            self.last_progress = now;
        }
    }

    /// First unacknowledged packet, the packet after the last one sent, and the first packet never
    /// sent.
    pub fn progress(&self) -> (u32, u32, u32) {
        (self.unacknowledged, self.next, self.fresh)
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

    /// Everything before `psn` has arrived; `psn` has not, although `arrived` has.
    pub fn on_nak(&mut self, psn: u32, arrived: u32, now: Instant) {
        self.on_ack(psn, now);
        match &mut self.selective {
            Some(state) if arrived >= self.unacknowledged => state.on_arrived(arrived, now),
            None if psn == self.unacknowledged => {
                self.next = psn;
                self.last_progress = now;
            }
            _ => {}
        }
    }

    /// Switches may trim its packets from now on.
    pub fn expect_headers(&mut self) {
        if let Some(state) = &mut self.selective {
            state.expect_headers();
        }
    }

    /// The transmission of `psn` that began at `sent_at` has arrived trimmed. This counts as progress, because the path
    /// works and the packet is known to need retransmission.
    pub fn on_trimmed(&mut self, psn: u32, sent_at: Instant, now: Instant) {
        if psn < self.unacknowledged || psn >= self.fresh {
            return;
        }
        self.last_progress = now;
        if let Some(state) = &mut self.selective {
            state.on_trimmed(psn, sent_at);
        }
    }

    /// Time at which it times out, for lack of progress or because a packet has been overtaken.
    #[inline]
    pub fn deadline(&self, transport: &Spec) -> Instant {
        let overtaken = self.selective.as_ref().map_or(Instant::NEVER, |s| s.suspects_until());
        self.times_out(transport).min(overtaken)
    }

    /// Time at which it times out for lack of progress.
    #[inline]
    fn times_out(&self, transport: &Spec) -> Instant {
        self.last_progress + transport.recovery.timeout(self.next - self.unacknowledged)
    }

    /// The timer has expired: packets that have been overtaken, or all packets in flight if there
    /// are any, are considered lost.
    pub fn on_timer(&mut self, now: Instant, transport: &Spec) {
        if let Some(state) = self.selective.as_mut().filter(|state| state.suspects_until() <= now) {
            state.give_up(now);
            if now < self.times_out(transport) {
                return;
            }
        }
        // A trimmed packet that is still to be retransmitted waits for its rate, not for a reply. Credit for it should
        // have arrived by now.
        let is_stuck = self.window == 0 || !self.waits_to_send();
        if is_stuck && now >= self.times_out(transport) {
            match &mut self.selective {
                _ if self.next == self.unacknowledged => {}
                Some(state) => state.on_timeout(self.unacknowledged, self.next - 1),
                None => self.next = self.unacknowledged,
            }
            self.sent.timeouts += 1;
        }
        self.last_progress = now;
    }
}
