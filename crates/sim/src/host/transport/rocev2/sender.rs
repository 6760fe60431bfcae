//! The sending side of one message.

use floodway_model::{Body, Echo, Ecn, FlowSpec, Instant};

use super::Spec;
use super::recovery::{self, selective_repeat};
use crate::host::congestion;
use crate::host::transport::{Frame, Sent, Transport};

/// The sending side of one message.
#[derive(Debug)]
pub struct Sender {
    /// How fast it may send.
    pub control: congestion::State,
    /// What it has sent.
    pub sent: Sent,
    bytes: u64,
    packets: u32,
    /// When a message without a size ends with what has been sent.
    stop: Instant,
    /// The most packets that are sent and not acknowledged, by what the transport allows and what
    /// congestion control does; 0 for none at all until there is credit.
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

    /// Whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.unacknowledged == self.packets
    }

    /// Whether every packet has been sent at least once.
    pub fn is_handed_over(&self) -> bool {
        self.fresh == self.packets
    }

    /// Whether a packet may be sent that does not fill a gap.
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

    /// As much may be in flight as the transport and congestion control allow, which says `bytes`.
    #[inline(always)]
    pub fn limit(&mut self, bytes: Option<u64>, transport: &Spec) {
        if let Some(bytes) = bytes {
            self.window = match bytes {
                0 => 0,
                _ => transport.window().min(transport.whole_packets(bytes).max(1)),
            };
        }
    }

    /// Whether it has packets to send and nothing in flight that an answer is expected for.
    fn waits_to_send(&self) -> bool {
        let wants = |state: &selective_repeat::State| state.wants(self.unacknowledged);
        self.next == self.unacknowledged || self.selective.as_deref().is_some_and(wants)
    }

    /// Credit has come: what had to wait for it has not waited too long.
    pub fn on_credit(&mut self, now: Instant) {
        if self.waits_to_send() {
            self.last_progress = now;
        }
    }

    /// The first packet that is not acknowledged, that after the last one sent, and the first that has
    /// never been sent.
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

    /// Everything before `psn` has arrived, and `psn` has not although `arrived` has.
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

    /// From now on switches may trim its packets.
    pub fn expect_headers(&mut self) {
        if let Some(state) = &mut self.selective {
            state.expect_headers();
        }
    }

    /// The transmission of `psn` that began at `sent_at` has arrived trimmed. It counts as progress, because the path is
    /// alive and the packet is known to be sent again.
    pub fn on_trimmed(&mut self, psn: u32, sent_at: Instant, now: Instant) {
        if psn < self.unacknowledged || psn >= self.fresh {
            return;
        }
        self.last_progress = now;
        if let Some(state) = &mut self.selective {
            state.on_trimmed(psn, sent_at);
        }
    }

    /// When it has waited too long, for progress or for a packet that others have overtaken.
    #[inline]
    pub fn deadline(&self, transport: &Spec) -> Instant {
        let overtaken = self.selective.as_ref().map_or(Instant::NEVER, |s| s.suspects_until());
        self.times_out(transport).min(overtaken)
    }

    /// When it has waited too long for progress.
    #[inline]
    fn times_out(&self, transport: &Spec) -> Instant {
        self.last_progress + transport.recovery.timeout(self.next - self.unacknowledged)
    }

    /// That moment has come: the packets that others have overtaken, or all that it has sent, if
    /// there is something, are taken for lost.
    pub fn on_timer(&mut self, now: Instant, transport: &Spec) {
        if let Some(state) = self.selective.as_mut().filter(|state| state.suspects_until() <= now) {
            state.give_up(now);
            if now < self.times_out(transport) {
                return;
            }
        }
        // A packet that was trimmed and is still to be sent again waits for its rate, not for an answer. Credit for it
        // should have come by now.
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
