//! The receiving side of a flow: counters that all transports have, and the state of its transport.

use floodway_model::{Ecn, FlowId, FlowSpec, Instant, Packet};

use super::Profile;
use super::transport;

/// The receiving side of one flow.
#[derive(Debug)]
pub struct Receiver {
    /// The flow.
    pub flow: FlowId,
    /// The connection of the sender, for feedback.
    pub back: u32,
    /// State of the transport.
    pub transport: transport::Receiver,
    /// When the message was complete; [`Instant::NEVER`] if it is not.
    finished_at: Instant,
    /// Packets that arrived with CE.
    marked: u32,
    /// Packets that arrived after one that was sent later.
    reordered: u32,
    /// When its timer expires, as scheduled by the host. Its deadline may be later by now.
    pub timer_at: Instant,
    persistent: bool,
    /// When the packet that arrived last had been sent; zero if none has arrived.
    last_sent_at: Instant,
}

impl Receiver {
    /// The receiver of a flow; `back` is the connection of its sender.
    pub fn new(id: FlowId, flow: &FlowSpec, back: u32, profile: &Profile) -> Self {
        Self {
            flow: id,
            back,
            transport: transport::Receiver::new(&profile.transport, flow, profile),
            finished_at: Instant::NEVER,
            marked: 0,
            reordered: 0,
            timer_at: Instant::NEVER,
            persistent: flow.is_persistent(),
            last_sent_at: Instant::ZERO,
        }
    }

    /// Counts a packet that was sent at `sent_at`.
    #[inline]
    pub fn count(&mut self, packet: &Packet, sent_at: Instant) {
        // Packets that entered the buffer of the NIC at the same time cannot be distinguished.
        if sent_at < self.last_sent_at {
            self.reordered += 1;
        }
        self.last_sent_at = sent_at;
        self.marked += u32::from(packet.ecn() == Ecn::Ce);
    }

    /// The message is complete.
    pub fn finish(&mut self, now: Instant) {
        self.finished_at = now;
    }

    /// When the message was complete.
    #[inline]
    pub fn finished(&self) -> Option<Instant> {
        (self.finished_at < Instant::NEVER).then_some(self.finished_at)
    }

    /// Packets that arrived with CE.
    pub fn marked(&self) -> u64 {
        self.marked.into()
    }

    /// Packets that arrived after one that was sent later.
    pub fn reordered(&self) -> u64 {
        self.reordered.into()
    }

    /// Time at which its timer expires.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.transport.deadline()
    }

    /// For each unit of data of an application: the number of its last segment, and the time when it
    /// had arrived in order.
    pub fn pushed(&self) -> &[(u32, Instant)] {
        self.transport.pushed()
    }

    /// [`Receiver::delivered`] of a long-lived flow; 0 for any other.
    pub fn delivered_of_persistent(&self) -> u64 {
        if self.persistent { self.delivered() } else { 0 }
    }

    /// Payload bytes that have arrived, each counted once. For RoCEv2 this includes packets that are
    /// held behind a missing one.
    pub fn delivered(&self) -> u64 {
        self.transport.delivered()
    }
}

#[cfg(test)]
mod tests {
    use super::Receiver;

    /// There is one for every flow of a simulation, and a packet that arrives needs it: two cache
    /// lines are enough for it.
    #[test]
    fn a_receiver_fits_into_two_cache_lines() {
        assert!(size_of::<Receiver>() <= 112, "{} bytes", size_of::<Receiver>());
    }
}
