//! A port of a switch: its egress queues, and the sending end of its link.

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_model::{Duration, Instant, NodeId, Packet};

use super::occupancy::Occupancy;
use super::queue::Queue;
use super::{aqm, scheduler};
use crate::link::Transmitter;
use crate::telemetry::{Hop, Telemetry};

/// One port, in order of use: a packet that need not wait touches the first cache lines only.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// The sending end of its link.
    pub tx: Transmitter,
    /// Data queues, and the control queue as the last.
    pub queues: Box<[Queue]>,
    /// Bit q: queue q is not empty.
    pub waiting: u8,
    /// Whether there are link control frames that wait.
    urgent: bool,
    /// Whether the node at the other end is a host.
    pub to_host: bool,
    /// Where it writes into packets that ask for it.
    pub telemetry: Option<Arc<Telemetry>>,
    /// Data bytes in its queues.
    pub occupancy: Occupancy,
    /// What the queue management remembers of this port.
    pub aqm: aqm::State,
    /// Where the scheduler is.
    pub scheduler: scheduler::State,
    /// MAC control frames that wait for the wire: before everything else, and never paused.
    link_control: VecDeque<Packet>,
    /// What was dropped, by queue and reason.
    pub drops: Vec<Drops>,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The egress queue was full.
    QueueFull,
    /// The memory of its ingress port and class, headroom included, was full.
    HeadroomExceeded,
    /// It would have held more than the egress pool lets its queue have.
    EgressThreshold,
    /// It would have held more than the ingress pool lets its port and class have.
    IngressThreshold,
    /// The queue management chose it, and it was not ECN-capable or more than a mark was needed.
    Aqm,
    /// The link of its egress port is known to be down.
    LinkDown,
    /// No way to its destination is left.
    NoRoute,
    /// The link failed while it was on it, or before that was known.
    LostOnLink,
    /// The watchdog of PFC has found its queue in a storm of pauses.
    Watchdog,
    /// It waited, and the queue discipline has dropped it to make room for another.
    PushedOut,
}

impl DropReason {
    /// Whether there was no room, which must not happen to a class that is lossless.
    pub const fn is_for_want_of_room(self) -> bool {
        !matches!(
            self,
            Self::Aqm | Self::LinkDown | Self::NoRoute | Self::LostOnLink | Self::Watchdog
        )
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::HeadroomExceeded => "headroom_exceeded",
            Self::EgressThreshold => "egress_threshold",
            Self::IngressThreshold => "ingress_threshold",
            Self::Aqm => "aqm",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::LostOnLink => "lost_on_link",
            Self::Watchdog => "watchdog",
            Self::PushedOut => "pushed_out",
        }
    }
}

/// Dropped packets of one queue for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Drops {
    /// The egress queue that they were bound for.
    pub queue: u8,
    /// Why.
    pub reason: DropReason,
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Port {
    /// An idle port with these queues.
    pub fn new(
        tx: Transmitter,
        queues: Box<[Queue]>,
        aqm: aqm::State,
        scheduler: scheduler::State,
    ) -> Self {
        Self {
            tx,
            queues,
            waiting: 0,
            urgent: false,
            to_host: false,
            telemetry: None,
            occupancy: Occupancy::default(),
            aqm,
            scheduler,
            link_control: VecDeque::new(),
            drops: Vec::new(),
        }
    }

    /// The link control frames that wait, to be changed.
    pub fn link_control_mut(&mut self) -> impl Iterator<Item = &mut Packet> {
        self.link_control.iter_mut()
    }

    /// The link control frames that wait.
    pub fn link_control(&self) -> impl Iterator<Item = &Packet> {
        self.link_control.iter()
    }

    /// A link control frame waits for the wire.
    pub fn push_link_control(&mut self, frame: Packet) {
        self.link_control.push_back(frame);
        self.urgent = true;
    }

    /// Takes out the first link control frame that waits.
    #[inline]
    pub fn pop_link_control(&mut self) -> Option<Packet> {
        if !self.urgent {
            return None;
        }
        let frame = self.link_control.pop_front();
        self.urgent = !self.link_control.is_empty();
        frame
    }

    /// A packet that was in a queue, or would have passed it, is about to be put on the wire: writes
    /// into its telemetry, if it carries any.
    #[inline(always)]
    pub fn stamp(&self, packet: &Packet, now: Instant) {
        if self.telemetry.is_some()
            && let Some(record) = packet.record()
            && packet.is_data()
        {
            self.write_telemetry((packet.src, record), packet.bytes, now);
        }
    }

    #[cold]
    fn write_telemetry(&self, record: (NodeId, u32), bytes: u16, now: Instant) {
        let (Some(telemetry), link) = (&self.telemetry, self.tx.link()) else { return };
        let tx_bytes = self.tx.bytes + self.tx.frames * u64::from(link.wire_overhead);
        // It still is in the books, unless it never waited.
        let backlog = self.occupancy.congestion().saturating_sub(bytes.into());
        telemetry.write(record, Hop { rate: link.rate, tx_bytes, backlog, at: now });
    }

    /// Whether anything waits for the wire.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        self.waiting != 0 || self.urgent
    }

    /// Whether a packet that joined `queue` now would be sent at once.
    #[inline]
    pub fn passes(&self, queue: usize, now: Instant) -> bool {
        self.tx.busy_until <= now && !self.has_backlog() && self.tx.paused(now) >> queue & 1 == 0
    }

    /// The time to the end of all that waits here and counts as congestion, if nothing else comes and
    /// nothing is paused.
    pub fn time_to_drain(&self, now: Instant) -> Duration {
        let control = self.queues.last().map_or(0, Queue::backlog);
        self.tx.busy_until.since(now)
            + self.tx.byte_time().of(self.occupancy.congestion() + control)
    }

    /// Counts a drop.
    pub fn count_drop(&mut self, queue: usize, reason: DropReason, bytes: u16) {
        let same = |drops: &&mut Drops| usize::from(drops.queue) == queue && drops.reason == reason;
        match self.drops.iter_mut().find(same) {
            Some(drops) => {
                drops.packets += 1;
                drops.bytes += u64::from(bytes);
            }
            None => {
                let (queue, bytes) = (queue as u8, u64::from(bytes));
                self.drops.push(Drops { queue, reason, packets: 1, bytes });
            }
        }
    }
}
