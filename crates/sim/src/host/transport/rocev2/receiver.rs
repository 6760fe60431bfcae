//! The receiving side of one message.

use floodway_model::{Duration, FlowSpec, Instant};

use super::Spec;
use super::recovery;
use crate::host::transport::Arrived;
use crate::host::transport::numbers::Numbers;

/// The receiving side of one message.
#[derive(Clone, Debug)]
pub struct Receiver {
    expected: u32,
    packets: u32,
    bytes: u64,
    mtu: u64,
    unacknowledged: u32,
    /// With selective repeat: packets above `expected` that have arrived; `None` if there are none.
    held: Option<Box<Numbers>>,
    /// When the last CNP was sent; [`Instant::NEVER`] if none was.
    last_cnp: Instant,
    /// With go-back-N: the packet last requested again, and the time of the request,
    /// [`Instant::NEVER`] if none was requested.
    asked: u32,
    asked_at: Instant,
}

impl Receiver {
    /// The receiver of `flow`.
    pub fn new(flow: &FlowSpec, transport: &Spec) -> Self {
        Self {
            expected: 0,
            packets: transport.packets(flow),
            bytes: flow.bytes,
            mtu: transport.mtu.0,
            unacknowledged: 0,
            held: None,
            last_cnp: Instant::NEVER,
            asked: 0,
            asked_at: Instant::NEVER,
        }
    }

    /// When the last CNP was sent, [`Instant::NEVER`] if none was, if the message is complete. Of a complete message
    /// nothing else has an effect any more: no packet is missing, and all are acknowledged.
    pub fn last_cnp_if_complete(&self) -> Option<Instant> {
        let complete = self.expected == self.packets && self.unacknowledged == 0;
        (complete && self.held.is_none()).then_some(self.last_cnp)
    }

    /// All of the message has arrived, and the last CNP was sent at this time.
    pub fn complete(&mut self, last_cnp: Instant) {
        (self.expected, self.last_cnp) = (self.packets, last_cnp);
    }

    /// A packet has arrived.
    #[inline]
    pub fn on_data(&mut self, transport: &Spec, psn: u32, now: Instant) -> Arrived {
        let mut arrived = Arrived::default();
        if psn == self.expected {
            self.expected += 1;
            self.unacknowledged += 1;
            let fills_a_gap = self.held.is_some();
            if fills_a_gap {
                self.deliver_held();
            }
            arrived.completes = self.expected == self.packets;
            // A packet that fills a gap is acknowledged at once, because the sender waits for it
            // (RFC 5681, section 4.2).
            let due = self.unacknowledged >= transport.ack_every;
            if due || fills_a_gap || arrived.completes {
                self.unacknowledged = 0;
                arrived.acknowledge = Some(self.expected);
            }
        } else if psn < self.expected {
            // A retransmission of a packet that had arrived: the acknowledgement was lost or late.
            arrived.acknowledge = Some(self.expected);
        } else if self.asks(transport, psn, now) {
            arrived.missing = Some(self.expected);
        }
        arrived
    }

    /// Whether a packet has arrived with its payload.
    pub fn has(&self, psn: u32) -> bool {
        psn < self.expected || self.held.as_ref().is_some_and(|held| held.contains(psn))
    }

    /// The first packet that has not arrived.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// The expected packet has arrived: delivers the packets that were held behind it.
    fn deliver_held(&mut self) {
        let held = self.held.as_mut().expect("something is held");
        self.expected = held.next_absent(self.expected);
        held.forget_below(self.expected);
        if held.is_empty() {
            self.held = None;
        }
    }

    /// A packet later than the expected one has arrived. Returns whether to send a NAK.
    fn asks(&mut self, transport: &Spec, psn: u32, now: Instant) -> bool {
        match &transport.recovery {
            recovery::Spec::GoBackN(spec) => {
                let again = self.asked_at == Instant::NEVER
                    || self.asked != self.expected
                    || now.since(self.asked_at) >= spec.nak_interval;
                if again {
                    (self.asked, self.asked_at) = (self.expected, now);
                }
                again
            }
            recovery::Spec::SelectiveRepeat(_) => {
                self.held.get_or_insert_default().insert(psn);
                true
            }
        }
    }

    /// Whether a CNP may be sent now, at most one per `interval`; counts it if so.
    pub fn may_notify(&mut self, interval: Option<Duration>, now: Instant) -> bool {
        let Some(interval) = interval else { return false };
        let rested = self.last_cnp == Instant::NEVER || now.since(self.last_cnp) >= interval;
        if rested {
            self.last_cnp = now;
        }
        rested
    }

    /// Payload bytes that have arrived, each counted once. This includes packets held behind a
    /// missing one, because they are placed in memory on arrival (InfiniBand architecture; IRN,
    /// section 5).
    pub fn delivered(&self) -> u64 {
        let in_order = (u64::from(self.expected) * self.mtu).min(self.bytes);
        let Some(held) = &self.held else { return in_order };
        let full = held.count() * self.mtu;
        // The last packet may be shorter.
        let last = self.packets - 1;
        let short =
            u64::from(self.packets) * self.mtu - self.bytes.min(u64::from(self.packets) * self.mtu);
        in_order + full - if held.contains(last) { short } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::NodeId;

    use super::*;

    #[test]
    fn a_complete_receiver_that_is_made_again_does_the_same() {
        let interval = Some(Duration::from_us(50));
        let recovery = recovery::Spec::SelectiveRepeat(Default::default());
        let selective_repeat = Spec { recovery, ..Spec::default() };
        let flow = FlowSpec {
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 1,
            start: Instant::ZERO,
            stop: Instant::NEVER,
            workload: 0,
            in_turn: false,
        };
        for spec in [Spec::default(), selective_repeat] {
            let flow = FlowSpec { bytes: 3 * spec.mtu.0, ..flow.clone() };
            let mut receiver = Receiver::new(&flow, &spec);
            let made = receiver.clone();
            for psn in 0..3 {
                assert_eq!(receiver.last_cnp_if_complete(), None);
                receiver.on_data(&spec, psn, Instant(u64::from(psn)));
                assert_eq!(receiver.may_notify(interval, Instant(7)), psn == 0);
            }
            let last_cnp = receiver.last_cnp_if_complete().unwrap();
            assert_eq!(last_cnp, Instant(7));
            let mut again = made;
            again.complete(last_cnp);
            assert_eq!(format!("{again:?}"), format!("{receiver:?}"));
            // A retransmission is acknowledged, and its mark is notified when the interval has passed.
            for at in [49_000_000, 50_000_007].map(Instant) {
                let arrived = [&mut again, &mut receiver].map(|of| of.on_data(&spec, 1, at));
                assert_eq!(arrived.map(|arrived| arrived.acknowledge), [Some(3); 2]);
                let notified = [&mut again, &mut receiver].map(|of| of.may_notify(interval, at));
                assert_eq!(notified, [at.0 > 50_000_000; 2]);
            }
        }
    }
}
