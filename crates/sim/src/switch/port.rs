//! A port of a switch: its egress queues and the transmitter of its link.

use std::collections::VecDeque;

use floodway_model::{Duration, Instant, Packet};

use super::occupancy::Occupancy;
use super::queue::Queue;
use super::queues::Queues;
use super::{aqm, scheduler};
use crate::context::Context;
use crate::link::Transmitter;
use crate::telemetry::Hop;

/// A switch port. Fields are ordered by access frequency: a packet touches the first two cache lines and that of its
/// queue, which are beside each other.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// Transmitter of its link.
    pub tx: Transmitter,
    /// Bit q: queue q is not empty.
    pub waiting: u8,
    /// Whether link control frames are queued.
    urgent: bool,
    /// Whether the node at the other end is a host.
    pub to_host: bool,
    /// Whether packets may carry telemetry, which the port writes.
    pub telemetry: bool,
    /// Data bytes in its queues.
    pub occupancy: Occupancy,
    /// Data queues, followed by the control queue.
    pub queues: Queues,
    /// Scheduler state.
    pub scheduler: scheduler::State,
    /// AQM state of this port.
    pub aqm: aqm::State,
    /// MAC control frames queued for the wire. They have priority over everything else and are
    /// never paused.
    link_control: VecDeque<Packet>,
    /// Drops, by queue and reason.
    pub drops: Vec<Drops>,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The egress queue was full.
    QueueFull,
    /// The buffer of its ingress port and class, headroom included, was full.
    HeadroomExceeded,
    /// Its queue would have exceeded its threshold in the egress pool.
    EgressThreshold,
    /// Its ingress port and class would have exceeded their threshold in the ingress pool.
    IngressThreshold,
    /// The AQM chose it, and it was not ECN-capable or the AQM required a drop.
    Aqm,
    /// The link of its egress port is known to be down.
    LinkDown,
    /// No route to its destination is left.
    NoRoute,
    /// The link failed while the packet was on it, or the sender did not know yet of the failure.
    LostOnLink,
    /// The frame arrived with a bit error, with a retry as often as it is sent.
    Corrupted,
    /// The PFC watchdog has found its queue in a pause storm.
    Watchdog,
    /// It was queued, and the queue discipline dropped it to make room for another packet.
    PushedOut,
}

impl DropReason {
    /// Whether the packet found no room, which must not happen in a lossless class.
    pub const fn is_for_want_of_room(self) -> bool {
        !matches!(
            self,
            Self::Aqm
                | Self::LinkDown
                | Self::NoRoute
                | Self::LostOnLink
                | Self::Corrupted
                | Self::Watchdog
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
            Self::Corrupted => "corrupted",
            Self::Watchdog => "watchdog",
            Self::PushedOut => "pushed_out",
        }
    }
}

/// Packets of one queue dropped for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Drops {
    /// The egress queue that they were bound for.
    pub queue: u8,
    /// The reason.
    pub reason: DropReason,
    /// Number of packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Port {
    /// Builds an idle port with these queues.
    pub fn new(
        tx: Transmitter,
        queues: impl IntoIterator<Item = Queue>,
        aqm: aqm::State,
        scheduler: scheduler::State,
    ) -> Self {
        Self {
            tx,
            queues: Queues::new(queues),
            waiting: 0,
            urgent: false,
            to_host: false,
            telemetry: false,
            occupancy: Occupancy::default(),
            aqm,
            scheduler,
            link_control: VecDeque::new(),
            drops: Vec::new(),
        }
    }

    /// The queued link control frames, for modification.
    pub fn link_control_mut(&mut self) -> impl Iterator<Item = &mut Packet> {
        self.link_control.iter_mut()
    }

    /// The queued link control frames.
    pub fn link_control(&self) -> impl Iterator<Item = &Packet> {
        self.link_control.iter()
    }

    /// Queues a link control frame for the wire.
    pub fn push_link_control(&mut self, frame: Packet) {
        self.link_control.push_back(frame);
        self.urgent = true;
    }

    /// Dequeues the first link control frame.
    #[inline]
    pub fn pop_link_control(&mut self) -> Option<Packet> {
        if !self.urgent {
            return None;
        }
        let frame = self.link_control.pop_front();
        self.urgent = !self.link_control.is_empty();
        frame
    }

    /// Writes into the telemetry of a packet, if it carries any. The packet goes to the wire by the
    /// bypass.
    #[inline(always)]
    pub fn stamp(&self, packet: &Packet, now: Instant, context: &mut Context) {
        if self.telemetry
            && let Some(number) = packet.record()
            && packet.is_data()
        {
            self.write_telemetry(number, packet.bytes, Duration::ZERO, now, context);
        }
    }

    /// The same for the packet at the head of a queue, which is about to go to the wire.
    #[inline(always)]
    pub fn stamp_head(&self, queue: usize, now: Instant, context: &mut Context) {
        if self.telemetry {
            self.stamp_queued(&self.queues[queue], now, context);
        }
    }

    #[cold]
    fn stamp_queued(&self, queue: &Queue, now: Instant, context: &mut Context) {
        let Some(packet) = queue.head() else { return };
        if let Some(number) = packet.record()
            && packet.is_data()
        {
            self.write_telemetry(number, packet.bytes, queue.sojourn(now), now, context);
        }
    }

    #[cold]
    fn write_telemetry(
        &self,
        number: u32,
        bytes: u16,
        delay: Duration,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(records) = &mut context.telemetry else { return };
        let link = self.tx.link();
        let hop = || {
            let tx_bytes = self.tx.bytes + self.tx.frames * u64::from(link.wire_overhead);
            // The packet is still in the accounting, unless it bypassed the queue.
            let backlog = self.occupancy.congestion().saturating_sub(bytes.into());
            Hop { rate: link.rate, tx_bytes, backlog, at: now }
        };
        records.write(number, hop, |tag| tag.pass((link.node, link.port), delay));
    }

    /// Whether anything is queued for the wire.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        self.waiting != 0 || self.urgent
    }

    /// Whether a packet that joined `queue` now would be sent at once.
    #[inline]
    pub fn passes(&self, queue: usize, now: Instant) -> bool {
        self.tx.busy_until <= now && !self.has_backlog() && !self.tx.bars(queue, now)
    }

    /// Time to drain everything queued here that counts as congestion, if nothing else arrives and
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

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// What a packet needs is in whole cache lines: two of the port, then one for each queue.
    #[test]
    fn queues_begin_at_the_third_cache_line() {
        assert_eq!(offset_of!(Port, queues) + size_of::<Queues>() - 4 * 64, 128);
        assert!(size_of::<Port>() <= 640, "{} bytes", size_of::<Port>());
    }
}
