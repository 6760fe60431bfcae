//! The receiving side of one message.

use floodway_model::{Duration, Ecn, FlowSpec, Instant, Packet};

use super::Spec;
use super::recovery;
use crate::host::transport::numbers::Numbers;

/// The receiving side of one message.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The connection of the sender, for feedback.
    pub back: u32,
    expected: u32,
    packets: u32,
    bytes: u64,
    mtu: u64,
    unacknowledged: u32,
    /// With selective repeat: the packets above `expected` that have come; `None` if there are
    /// none.
    held: Option<Box<Numbers>>,
    /// `sent_at` of the last packet that came.
    last_sent_at: Option<Instant>,
    last_cnp: Option<Instant>,
    /// With go-back-N: the packet last asked for again, and when.
    asked: Option<(u32, Instant)>,
    /// What has been delivered at each sample, of a flow that is sampled.
    samples: Option<Box<Samples>>,
    /// When the last packet came.
    pub finished: Option<Instant>,
    /// Packets with CE.
    pub marked: u64,
    /// Packets that came after one that was sent later.
    pub reordered: u64,
}

/// What has been delivered at regular times. Nothing has to happen at these times: what is
/// delivered changes only when a packet comes, so the samples that have become due are taken before
/// each packet, and the rest when the run has ended.
#[derive(Clone, Debug)]
struct Samples {
    interval: Duration,
    next: Instant,
    delivered: Vec<u64>,
}

/// What follows from the arrival of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The message is complete with it.
    pub completes: bool,
    /// Acknowledge everything before this packet.
    pub acknowledge: Option<u32>,
    /// Tell that this packet is missing, and that the one that has come has.
    pub missing: Option<u32>,
}

impl Receiver {
    /// The receiver of a flow whose sender is reached by the connection `back`.
    pub fn new(flow: &FlowSpec, back: u32, transport: &Spec) -> Self {
        Self {
            back,
            expected: 0,
            packets: transport.packets(flow),
            bytes: flow.bytes,
            mtu: transport.mtu.0,
            unacknowledged: 0,
            held: None,
            last_sent_at: None,
            last_cnp: None,
            asked: None,
            samples: None,
            finished: None,
            marked: 0,
            reordered: 0,
        }
    }

    /// From now on it keeps what has been delivered after every `interval` of the run.
    pub fn sample_every(&mut self, interval: Duration) {
        let next = Instant::ZERO + interval;
        self.samples = Some(Box::new(Samples { interval, next, delivered: Vec::new() }));
    }

    /// Takes the samples that are due until `now`.
    #[inline]
    pub fn sample(&mut self, now: Instant) {
        if self.samples.as_ref().is_some_and(|samples| samples.next <= now) {
            self.take_samples(now);
        }
    }

    #[cold]
    fn take_samples(&mut self, now: Instant) {
        let delivered = self.delivered();
        let Some(samples) = &mut self.samples else { return };
        while samples.next <= now {
            samples.delivered.push(delivered);
            samples.next += samples.interval;
        }
    }

    /// What had been delivered at each multiple of the interval, as [`Receiver::delivered`] counts.
    /// What comes at the moment of a sample is not in it.
    pub fn samples(&self) -> &[u64] {
        self.samples.as_ref().map_or(&[], |samples| &samples.delivered)
    }

    /// A packet has come.
    #[inline]
    pub fn on_data(
        &mut self,
        transport: &Spec,
        psn: u32,
        sent_at: Instant,
        packet: &Packet,
        now: Instant,
    ) -> Arrived {
        self.sample(now);
        if self.last_sent_at.is_some_and(|last| sent_at <= last) {
            self.reordered += 1;
        }
        self.last_sent_at = Some(sent_at);
        self.marked += u64::from(packet.ecn == Ecn::Ce);
        let mut arrived = Arrived::default();
        if psn == self.expected {
            self.expected += 1;
            self.unacknowledged += 1;
            let fills_a_gap = self.held.is_some();
            if fills_a_gap {
                self.deliver_held();
            }
            if self.expected == self.packets {
                self.finished = Some(now);
                arrived.completes = true;
            }
            // What fills a gap is acknowledged at once, as the sender waits for it (RFC 5681,
            // section 4.2).
            let due = self.unacknowledged >= transport.ack_every;
            if due || fills_a_gap || arrived.completes {
                self.unacknowledged = 0;
                arrived.acknowledge = Some(self.expected);
            }
        } else if psn < self.expected {
            // Repeated although it had come: the acknowledgement was lost or late.
            arrived.acknowledge = Some(self.expected);
        } else if self.asks(transport, psn, now) {
            arrived.missing = Some(self.expected);
        }
        arrived
    }

    /// The packet expected next has come: those that were held behind it follow.
    fn deliver_held(&mut self) {
        let held = self.held.as_mut().expect("something is held");
        self.expected = held.next_absent(self.expected);
        held.forget_below(self.expected);
        if held.is_empty() {
            self.held = None;
        }
    }

    /// A later packet than the one expected has come: whether to tell the sender.
    fn asks(&mut self, transport: &Spec, psn: u32, now: Instant) -> bool {
        match &transport.recovery {
            recovery::Spec::GoBackN(spec) => {
                let again = self.asked.is_none_or(|(asked, at)| {
                    asked != self.expected || now.since(at) >= spec.nak_interval
                });
                if again {
                    self.asked = Some((self.expected, now));
                }
                again
            }
            recovery::Spec::SelectiveRepeat(_) => {
                self.held.get_or_insert_default().insert(psn);
                true
            }
        }
    }

    /// Whether a CNP may be sent now, at most one per `interval`; counts it.
    pub fn may_notify(&mut self, interval: Option<Duration>, now: Instant) -> bool {
        let Some(interval) = interval else { return false };
        let rested = self.last_cnp.is_none_or(|last| now.since(last) >= interval);
        if rested {
            self.last_cnp = Some(now);
        }
        rested
    }

    /// [`Receiver::delivered`] of a flow that never ends; 0 of any other.
    pub fn delivered_of_persistent(&self) -> u64 {
        if self.bytes == FlowSpec::PERSISTENT { self.delivered() } else { 0 }
    }

    /// Payload bytes that have arrived, each once. What is held behind a missing packet counts: it
    /// is placed in memory when it comes (InfiniBand architecture; IRN, section 5).
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
