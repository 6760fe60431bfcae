//! The part of Backpressure Flow Control that runs in a switch. It counts packets per physical
//! queue of the upstream neighbor that sent them, and pauses and resumes these queues.

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::{Body, Duration, Packet, Rate};

use super::{PhysicalQueues, Spec};
use crate::metric::Tally;
use crate::switch::discipline::Discipline;
use crate::switch::flow_control::pausing::{Source, source_of};
use crate::switch::mechanism::{Action, Actions, Events, Joined, Left, Mechanism, Site, View};

/// Picoseconds per second, times bits per byte.
const PS_PER_S_IN_BITS: u128 = 8_000_000_000_000;

/// State about the upstream neighbors of a switch.
#[derive(Debug)]
pub struct Bfc {
    spec: Spec,
    /// By port: hop round-trip time to the neighbor there, for the pause threshold.
    hops: Vec<Duration>,
    /// By ingress port: how long a flow keeps its physical queue after a packet from there has left.
    keeps: Arc<[Duration]>,
    /// By ingress port and class, then by upstream physical queue: the number of queued packets
    /// that keep this physical queue paused.
    counts: Vec<Vec<u32>>,
    /// By egress port and class, then by local physical queue: the origin of each queued packet, in
    /// queue order.
    waiting: Vec<Vec<VecDeque<Came>>>,
    /// Pauses sent.
    pub pauses: u64,
    /// Resumes sent.
    pub resumes: u64,
}

/// The origin of a queued packet.
#[derive(Clone, Copy, Debug)]
struct Came {
    /// The physical queue from which the neighbor sent it.
    physical_queue: u8,
    /// Whether it is counted as a reason to pause that physical queue.
    counted: bool,
}

impl Bfc {
    /// Initial state for a switch with these ports.
    pub fn new(spec: &Spec, site: &Site<'_>) -> Self {
        let links = site.ports.iter().map(|port| &port.link);
        let hops: Vec<_> = links.map(|link| spec.hop_round_trip(link, site.latency)).collect();
        Self {
            keeps: hops.iter().map(|&hop| hop * u64::from(spec.sticky)).collect(),
            counts: vec![Vec::new(); hops.len() * CLASSES],
            waiting: vec![Vec::new(); hops.len() * CLASSES],
            hops,
            spec: spec.clone(),
            pauses: 0,
            resumes: 0,
        }
    }

    /// Whether a packet that finds `depth` bytes in its physical queue is a reason to pause:
    /// whether the depth exceeds [`Spec::threshold`], computed without division.
    #[inline]
    pub fn exceeds(&self, depth: u64, active: u32, packet: &Packet, rate: Rate) -> bool {
        let reach = self.hops[packet.ingress.index()] + self.spec.tau;
        let sent = u128::from(rate.0) * u128::from(reach.0);
        let whole = (u128::from(active.max(1)) * u128::from(depth)) * PS_PER_S_IN_BITS;
        whole > sent
    }

    /// Counts a packet as a reason to pause a physical queue of `source`. Returns whether the
    /// physical queue must be paused now.
    pub fn count_against(&mut self, source: Source, physical_queue: u8) -> bool {
        let (counts, physical_queue) =
            (&mut self.counts[source.index()], usize::from(physical_queue));
        if counts.len() <= physical_queue {
            counts.resize(physical_queue + 1, 0);
        }
        counts[physical_queue] += 1;
        let stops = counts[physical_queue] == 1;
        self.pauses += u64::from(stops);
        stops
    }

    /// Uncounts such a packet, which has left. Returns whether the physical queue must be resumed now.
    pub fn uncount(&mut self, source: Source, physical_queue: u8) -> bool {
        let count = &mut self.counts[source.index()][usize::from(physical_queue)];
        *count -= 1;
        let goes_on = *count == 0;
        self.resumes += u64::from(goes_on);
        goes_on
    }

    /// By physical queue of a source: the number of packets that keep it paused.
    pub fn counts(&self, source: Source) -> &[u32] {
        &self.counts[source.index()]
    }

    /// By physical queue of a data queue: for each queued packet, in order, the upstream physical
    /// queue that it keeps paused, if any.
    pub fn waiting(
        &self,
        egress: usize,
        queue: usize,
    ) -> impl Iterator<Item = impl ExactSizeIterator<Item = Option<u8>>> {
        let physical_queues = self.waiting[egress * CLASSES + queue].iter();
        physical_queues.map(|physical_queue| {
            physical_queue.iter().map(|came| came.counted.then_some(came.physical_queue))
        })
    }
}

/// A frame that resumes a physical queue of a neighbor.
fn resume(source: Source, physical_queue: u8) -> Action {
    let body = Body::Bfc { class: source.class() as u8, physical_queue, stop: false };
    Action::SendLinkControl { port: source.port(), body, bytes: length::SHORTEST_FRAME }
}

impl Mechanism for Bfc {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        Some(Self::new(spec, site))
    }

    fn discipline(
        &self,
        site: &Site<'_>,
        port: usize,
        queue: usize,
    ) -> Option<Box<dyn Discipline>> {
        let link = &site.ports[port].link;
        Some(Box::new(PhysicalQueues::new(&self.spec, queue as u8, link, Arc::clone(&self.keeps))))
    }

    fn wants(&self) -> Events {
        Events::JOINED.and(Events::LEFT)
    }

    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        let Joined { egress, queue, packet, .. } = *joined;
        let port = &view.ports[egress];
        let physical_queues = |queue: usize| port.queues[queue].discipline::<PhysicalQueues>();
        let all = (0..port.queues.len()).filter_map(physical_queues);
        let active: u32 = all.map(PhysicalQueues::active).sum();
        let of_class = physical_queues(queue).expect("every data queue has physical queues");
        let physical_queue = of_class.physical_queue(packet.flow);
        // The backlog that the packet found, without itself.
        let depth = of_class.depth(physical_queue) - u64::from(packet.bytes);
        let alone = depth == 0 && !of_class.paused().has(physical_queue);
        let rate = port.tx.link().rate;
        let counted = self.exceeds(depth, active - u32::from(alone), packet, rate);

        let waiting = &mut self.waiting[egress * CLASSES + queue];
        if waiting.len() <= usize::from(physical_queue) {
            waiting.resize_with(usize::from(physical_queue) + 1, VecDeque::new);
        }
        waiting[usize::from(physical_queue)]
            .push_back(Came { physical_queue: packet.physical_queue, counted });
        let source = source_of(packet);
        if counted && self.count_against(source, packet.physical_queue) {
            let (theirs, flow) = (packet.physical_queue, packet.flow);
            let queue = (egress, queue, physical_queue);
            actions.push(Action::PauseQueue { source, theirs, queue, flow });
        }
    }

    fn on_left(&mut self, left: &Left<'_>, _: &View<'_>, actions: &mut Actions) {
        let Left { egress, queue, packet } = *left;
        let physical_queue =
            &mut self.waiting[egress * CLASSES + queue][usize::from(packet.physical_queue)];
        let came = physical_queue.pop_front().expect("it has joined");
        let source = source_of(packet);
        if came.counted && self.uncount(source, came.physical_queue) {
            actions.push(resume(source, came.physical_queue));
        }
    }

    fn count(&self, tally: &mut Tally) {
        tally.bfc_pauses += self.pauses;
        tally.bfc_resumes += self.resumes;
    }
}
