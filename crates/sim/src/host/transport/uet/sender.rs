//! The sending side of one message.

use std::collections::VecDeque;

use floodway_model::packet::{Answered, Entropy, bitmap_base};
use floodway_model::{Body, Duration, Echo, Ecn, FlowSpec, Instant};

use super::Spec;
use super::entropy;
use super::requests::Requests;
use super::sleek;
use crate::host::congestion;
use crate::host::transport::numbers::Numbers;
use crate::host::transport::{Frame, Progress, Sent, Transport};

/// A packet from the first unacknowledged one to the last one sent.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When its last transmission began, and the entropy value of that.
    sent_at: Instant,
    entropy: u16,
    /// Number of transmissions, and of those that were not answered in time; both up to 255.
    transmissions: u8,
    timeouts: u8,
    state: State,
}

/// A transmission that times out.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    sent_at: Instant,
    psn: u32,
}

/// What the sender knows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its last transmission is in flight.
    Sent,
    /// It has arrived.
    Arrived,
    /// It has to be sent again.
    Lost,
}

/// The sending side of one message.
#[derive(Debug)]
pub struct Sender {
    /// Congestion control of the flow.
    pub control: congestion::State,
    /// Counters.
    pub sent: Sent,
    bytes: u64,
    packets: u32,
    /// Time at which a long-lived message ends with what has been sent.
    stop: Instant,
    /// Maximum number of packets in flight by congestion control; 0 without credit.
    window: u32,
    /// First unacknowledged packet, and first packet never sent.
    unacknowledged: u32,
    fresh: u32,
    /// Maximum distance between the two.
    psn_range: u32,
    /// The packets from `unacknowledged` to `fresh`.
    slots: VecDeque<Slot>,
    /// Number of them that have arrived.
    pub(super) held: u32,
    /// Those that have to be sent again, and their number.
    lost: Numbers,
    lost_count: u32,
    /// Number of packets that have arrived by the counter of the receiver, each counted once.
    received: u32,
    /// Transmissions by the time at which they time out: the first one is in flight, later ones may be
    /// out of date.
    timeline: VecDeque<Due>,
    entropy: entropy::Entropy,
    pub(super) requests: Requests,
    /// Inference of losses, if it is on.
    pub(super) sleek: Option<Box<sleek::State>>,
}

impl Sender {
    /// The sender of `flow`; `seed` is for its entropy.
    pub fn new(flow: &FlowSpec, control: congestion::State, spec: &Spec, seed: u64) -> Self {
        Self {
            control,
            sent: Sent::default(),
            bytes: flow.bytes,
            packets: spec.packets(flow),
            stop: flow.sends_until(),
            window: u32::MAX,
            unacknowledged: 0,
            fresh: 0,
            psn_range: spec.psn_range,
            slots: VecDeque::new(),
            held: 0,
            lost: Numbers::default(),
            lost_count: 0,
            received: 0,
            timeline: VecDeque::new(),
            entropy: entropy::Entropy::new(&spec.entropy, seed),
            requests: Requests::default(),
            sleek: None,
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

    /// Packets in flight: sent, and neither counted by the receiver nor known to be lost. The counter
    /// may include a packet that was wrongly taken for lost, until that is acknowledged.
    pub fn in_flight(&self) -> u32 {
        self.fresh.saturating_sub(self.received).saturating_sub(self.lost_count)
    }

    /// Sets the window to `bytes` of payload in whole packets, at least one unless it is 0.
    pub fn limit(&mut self, bytes: Option<u64>, spec: &Spec) {
        let whole = |bytes: u64| u32::try_from(bytes / spec.mtu.0).unwrap_or(u32::MAX);
        self.window = match bytes {
            None => u32::MAX,
            Some(0) => 0,
            Some(bytes) => whole(bytes).max(1),
        };
    }

    /// Whether there is a packet to send now.
    pub fn has_more(&self) -> bool {
        self.in_flight() < self.window && self.has_work()
    }

    /// Whether there is a packet to send, whatever the window.
    pub(super) fn has_work(&self) -> bool {
        self.lost_count > 0 || self.may_go_on()
    }

    /// The window in packets.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// The first packet that is not acknowledged.
    pub(super) fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// The first packet never sent.
    pub(super) fn fresh(&self) -> u32 {
        self.fresh
    }

    /// Number of packets that have arrived above the first one that is missing.
    pub(super) fn held_above(&self) -> u32 {
        self.received.saturating_sub(self.unacknowledged)
    }

    /// What is known of a packet, and when its last transmission began; `None` if it is acknowledged or
    /// was never sent.
    pub(super) fn transmission(&mut self, psn: u32) -> Option<(State, Instant)> {
        self.slot(psn).map(|slot| (slot.state, slot.sent_at))
    }

    /// A packet in flight is inferred to be lost.
    pub(super) fn take_for_lost(&mut self, psn: u32) {
        let Some(slot) = self.slot(psn) else { return };
        slot.state = State::Lost;
        let value = slot.entropy;
        self.lost.insert(psn);
        self.lost_count += 1;
        self.sent.inferred += 1;
        self.entropy.on_trimmed(value);
    }

    /// Number of packets to send, new ones and those to send again.
    pub(super) fn backlog(&self) -> u64 {
        u64::from(self.packets - self.fresh) + u64::from(self.lost_count)
    }

    /// Whether there is a packet that has not been sent, within the range of the receiver.
    fn may_go_on(&self) -> bool {
        self.fresh < self.packets && self.fresh - self.unacknowledged < self.psn_range
    }

    /// The next packet; `None` if no more packets may be sent.
    pub fn next_frame(&mut self, spec: &Spec, now: Instant) -> Option<Frame> {
        if now >= self.stop {
            // The message ends with what has been sent, in full packets.
            self.stop = Instant::NEVER;
            self.packets = self.fresh;
            self.bytes = u64::from(self.fresh) * spec.mtu.0;
        }
        if !self.has_more() {
            return None;
        }
        let value = self.entropy.draw();
        let repeats = self.lost.first();
        let psn = repeats.unwrap_or(self.fresh);
        let mut slot = Slot {
            sent_at: now,
            entropy: value,
            transmissions: 1,
            timeouts: 0,
            state: State::Sent,
        };
        if repeats.is_some() {
            self.sent.retransmitted += 1;
            self.lost.remove(psn);
            self.lost_count -= 1;
            let old = &mut self.slots[(psn - self.unacknowledged) as usize];
            slot.transmissions = old.transmissions.saturating_add(1);
            slot.timeouts = old.timeouts;
            *old = slot;
        } else {
            self.fresh += 1;
            self.slots.push_back(slot);
        }
        self.sent.packets += 1;
        let due = Due { at: now + spec.timeout(slot.timeouts), sent_at: now, psn };
        // Only those that have timed out before have longer, so that there are few after it.
        let place = self.timeline.iter().rposition(|other| other.at <= due.at);
        self.timeline.insert(place.map_or(0, |place| place + 1), due);
        self.sweep();
        self.reset_probe(now);
        // The receiver must not wait for packets that the sender will not send (section 3.5.12).
        let short_window =
            u64::from(self.window) * u64::from(spec.frame(spec.mtu.0)) < spec.ack_trigger.0;
        let wants_ack = repeats.is_some() || short_window || !self.has_more();
        let repeated = repeats.is_some();
        let entropy = Entropy { value, wants_ack, repeated, last_hop: false, target: None };
        let bytes = spec.frame(spec.payload_of(psn, self.bytes, self.packets));
        let body = Body::Data { echo: Echo::of_entropy(entropy), psn, sent_at: now };
        Some(Frame { body, bytes, ecn: Ecn::Ect0 })
    }

    /// The slot of a packet; `None` if it is acknowledged or was never sent.
    fn slot(&mut self, psn: u32) -> Option<&mut Slot> {
        let place = psn.checked_sub(self.unacknowledged)?;
        self.slots.get_mut(place as usize)
    }

    /// An acknowledgement has arrived.
    pub fn on_ack(
        &mut self,
        (received, about): (u8, Answered),
        (ack, bitmap): (u32, u64),
        now: Instant,
    ) -> Progress {
        let (before, counted) = (self.unacknowledged, self.received);
        let rtt = about.psn(ack).and_then(|psn| self.on_answered(psn, about, now));
        while self.unacknowledged < ack
            && let Some(slot) = self.slots.pop_front()
        {
            match slot.state {
                State::Sent => {}
                State::Arrived => self.held -= 1,
                State::Lost => self.find(self.unacknowledged),
            }
            self.unacknowledged += 1;
        }
        self.lost.forget_below(self.unacknowledged);
        let base = bitmap_base(about, ack);
        for psn in (0..64).filter(|n| bitmap >> n & 1 != 0).map(|n| base.saturating_add(n)) {
            let Some(slot) = self.slot(psn) else { continue };
            let old = std::mem::replace(&mut slot.state, State::Arrived);
            self.held += u32::from(old != State::Arrived);
            if old == State::Lost {
                self.find(psn);
            }
        }
        // Packets outside the bitmap may have arrived too. An old acknowledgement has an old counter.
        let known = self.unacknowledged + self.held;
        let unknown = received.wrapping_sub(known as u8) as i8;
        let unknown = if ack < before { 0 } else { unknown.max(0) as u32 };
        self.received = self.received.max(known + unknown).min(self.fresh);
        let delivered = self.received - counted;
        self.sweep();
        if self.sleek.is_some() {
            self.infer_losses(about.psn(ack).is_some(), now);
            self.reset_probe(now);
        }
        Progress { rtt, ..self.progress(before, delivered) }
    }

    /// A packet that was taken for lost has arrived.
    fn find(&mut self, psn: u32) {
        self.lost.remove(psn);
        self.lost_count -= 1;
    }

    /// The receiver answers this packet. Returns the round-trip time if it is clear which transmission
    /// has arrived.
    fn on_answered(&mut self, psn: u32, about: Answered, now: Instant) -> Option<Duration> {
        let slot = *self.slot(psn)?;
        let is_last = match slot.transmissions {
            1 => !about.repeated(),
            2 => about.repeated(),
            _ => false,
        };
        if !is_last || slot.state == State::Lost {
            return None;
        }
        self.entropy.on_arrived(slot.entropy, about.marked());
        Some(now.since(slot.sent_at))
    }

    /// The transmission of `psn` that began at `sent_at` has arrived trimmed.
    pub fn on_trimmed(&mut self, echo: Echo, psn: u32, sent_at: Instant) -> Progress {
        let before = self.unacknowledged;
        if let Some(slot) = self.slot(psn)
            && (slot.state, slot.sent_at) == (State::Sent, sent_at)
        {
            slot.state = State::Lost;
            let value = slot.entropy;
            self.lost.insert(psn);
            self.lost_count += 1;
            match echo.entropy().is_some_and(|entropy| entropy.last_hop) {
                true => self.entropy.on_arrived(value, echo.marked()),
                false => self.entropy.on_trimmed(value),
            }
            self.sweep();
        }
        self.progress(before, 0)
    }

    fn progress(&self, before: u32, delivered: u32) -> Progress {
        let (acknowledged, fresh) = (self.unacknowledged, self.fresh);
        let next = acknowledged.saturating_add(self.in_flight());
        Progress { before, acknowledged, next, fresh, delivered, rtt: None }
    }

    /// Removes transmissions that are not in flight from the beginning of the timeline.
    pub(super) fn sweep(&mut self) {
        while let Some(&Due { sent_at, psn, .. }) = self.timeline.front() {
            let in_flight = |slot: &mut Slot| (slot.state, slot.sent_at) == (State::Sent, sent_at);
            if self.slot(psn).is_some_and(in_flight) {
                return;
            }
            self.timeline.pop_front();
        }
    }

    /// Time at which the first transmission in flight times out.
    pub fn deadline(&self) -> Instant {
        self.timeline.front().map_or(Instant::NEVER, |due| due.at)
    }

    /// The timer has expired. Returns the number of packets that are considered lost.
    pub fn on_timer(&mut self, now: Instant) -> u32 {
        let mut count = 0;
        while let Some(&Due { psn, .. }) = self.timeline.front().filter(|due| due.at <= now) {
            self.timeline.pop_front();
            if let Some(slot) = self.slot(psn) {
                slot.state = State::Lost;
                slot.timeouts = slot.timeouts.saturating_add(1);
                let value = slot.entropy;
                self.lost.insert(psn);
                self.lost_count += 1;
                self.entropy.on_timeout(value);
                count += 1;
            }
            self.sweep();
        }
        self.sent.timeouts += count;
        count
    }
}
