//! Test bench for AQM algorithms: a port without a simulation around it.

use floodway_model::random::Stream;
use floodway_model::{
    Body, Class, Dscp, Duration, Echo, Ecn, FlowId, Instant, NodeId, Packet, PortIx, Rate, Tos,
};

use super::{Aqm, Verdict, View};
use crate::link::{Link, Transmitter};
use crate::switch::queue::{Queue, Queued};

/// Queues with packets of 1000 bytes, on a link of 40 Mb/s whose largest frame has this size.
pub struct Stand {
    pub queues: Vec<Queue>,
    tx: Transmitter,
    pub now: Instant,
    /// Bytes queued elsewhere in the switch.
    pub elsewhere: u64,
    rng: Stream,
}

impl Stand {
    /// Empty queues at time zero.
    pub fn new(queues: usize) -> Self {
        let link = Link { rate: Rate::from_mbps(40), largest_frame: 1_000, ..Link::PLAIN };
        Self {
            queues: (0..queues).map(|_| Queue::timed()).collect(),
            tx: Transmitter::new(link),
            now: Instant::ZERO,
            elsewhere: 0,
            rng: Stream::named(1, "stand"),
        }
    }

    /// A packet with this ECN field.
    pub fn packet(ecn: Ecn) -> Packet {
        Packet {
            flow: FlowId(0),
            connection: 0,
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 1_000,
            ingress: PortIx(0),
            class: Class(0),
            physical_queue: 0,
            tos: Tos::new(Dscp::DEFAULT, ecn),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
        }
    }

    /// Adds packets to a queue without calling the algorithm.
    pub fn fill(&mut self, queue: usize, ecn: Ecn, packets: usize) {
        for _ in 0..packets {
            let queued = Queued { packet: Self::packet(ecn), not_before: 0 };
            self.queues[queue].push(&queued, self.now);
        }
    }

    /// Keeps the wire busy until this time after zero.
    pub fn transmit_until(&mut self, time: Duration) {
        self.tx.busy_until = Instant::ZERO + time;
    }

    /// Advances the time.
    pub fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    /// The verdict on a packet that would join.
    pub fn arrives(&mut self, aqm: &mut impl Aqm, queue: usize, ecn: Ecn) -> Verdict {
        aqm.on_arrival(queue, &Self::packet(ecn), &mut self.view())
    }

    /// The verdict on a packet at the head, which stays there.
    pub fn departs(&mut self, aqm: &mut impl Aqm, queue: usize, ecn: Ecn) -> Verdict {
        aqm.on_departure(queue, &Self::packet(ecn), &mut self.view())
    }

    /// How many of 100,000 packets at the head would be congested, and dropped.
    pub fn counts(&mut self, aqm: &mut impl Aqm, queue: usize, ecn: Ecn) -> (i64, i64) {
        let mut counts = (0, 0);
        for _ in 0..100_000 {
            match self.departs(aqm, queue, ecn) {
                Verdict::Pass => {}
                Verdict::Congested => counts.0 += 1,
                Verdict::Drop => counts.1 += 1,
            }
        }
        counts
    }

    /// The view of an algorithm.
    pub fn view(&mut self) -> View<'_> {
        let here: u64 = self.queues.iter().map(Queue::backlog).sum();
        View {
            queues: &self.queues,
            memory: here + self.elsewhere,
            indicates: false,
            tx: &self.tx,
            now: self.now,
            rng: &mut self.rng,
        }
    }
}
