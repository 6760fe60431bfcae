//! The receiving side of a flow: counters that all transports have, and the state of its transport.

use floodway_model::{Ecn, FlowId, FlowSpec, Instant, Packet};

use super::Profile;
use super::receivers::Arrived;
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

/// What is kept of the receiver of a complete message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// When the message was complete.
    pub finished_at: Instant,
    last_sent_at: Instant,
    last_cnp: Instant,
    /// Packets that arrived with CE.
    pub marked: u32,
    /// Packets that arrived after one that was sent later.
    pub reordered: u32,
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

    /// What is kept of it once the message is complete; `None` if all of it is needed.
    pub fn rest(&self) -> Option<Rest> {
        let transport::Receiver::Rocev2(of) = &self.transport else { return None };
        let last_cnp = of.last_cnp_if_complete()?;
        let Self { finished_at, last_sent_at, marked, reordered, .. } = *self;
        Some(Rest { finished_at, last_sent_at, last_cnp, marked, reordered })
    }

    /// A new receiver becomes the one of which only this was kept.
    pub fn restore(&mut self, rest: Rest) {
        let Rest { finished_at, last_sent_at, last_cnp, marked, reordered } = rest;
        (self.finished_at, self.last_sent_at) = (finished_at, last_sent_at);
        (self.marked, self.reordered) = (marked, reordered);
        if let transport::Receiver::Rocev2(of) = &mut self.transport {
            of.complete(last_cnp);
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

    /// What it knows at the end of a run.
    pub fn arrived(&self) -> Arrived {
        let (finished, delivered, marked) = (self.finished_at, self.delivered(), self.marked);
        Arrived { finished, delivered, marked }
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
    use super::{Receiver, Rest};

    /// A packet that arrives needs its receiver: two cache lines are enough for it. There is a rest for every flow that
    /// is complete.
    #[test]
    fn a_receiver_fits_into_two_cache_lines_and_its_rest_into_half_of_one() {
        assert!(size_of::<Receiver>() <= 112, "{} bytes", size_of::<Receiver>());
        assert_eq!(size_of::<Rest>(), 32);
    }
}
