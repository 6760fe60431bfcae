//! Flow queues under deficit round robin with signed deficits (RFC 8290, sections 4.1 and 4.2). A flow that is new, or
//! returns after its queue was empty for a round, goes before the others for one quantum. If there is no room, the flow
//! with the most bytes loses packets at the head of its queue. Each flow queue may have an AQM of its own.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;

use floodway_model::random::{Stream, mix};
use floodway_model::{Bytes, Instant, Packet};
use rustc_hash::FxHashMap;

use super::{Discipline, Leaving};
use crate::link::Transmitter;
use crate::switch::aqm::Verdict;
use crate::switch::mechanism::Site;
use crate::switch::queue::Queued;

/// What is done with the packets of a flow queue, besides their order.
pub trait PerFlow: Debug + Send + 'static {
    /// The AQM's state of one flow queue.
    type State: Default + Debug + Send;

    /// Whether the state outlives the stay of the flow in the lists.
    const LASTS: bool;

    /// Decision on the packet at the head, which is about to leave.
    fn decide(&self, _: &mut Self::State, _: &Head<'_>, _: &Leaving<'_>) -> Verdict {
        Verdict::Pass
    }

    /// How many packets are dropped at once at most if there is no room. More than one: up to half of the bytes of the
    /// flow's queue.
    fn batch(&self) -> u32 {
        1
    }

    /// A packet at the head was dropped for lack of room.
    fn on_overflow(&self, _: &mut Self::State) {}
}

/// The packet at the head of a flow queue.
#[derive(Debug)]
pub struct Head<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// When it joined.
    pub since: Instant,
    /// Bytes that stay behind it in the flow queue.
    pub left: u64,
}

/// The flows of one data queue.
#[derive(Debug)]
pub struct Flows<A: PerFlow> {
    aqm: A,
    quantum: i64,
    /// Number of queues into which flows are hashed; `None`: each flow has its own.
    queues: Option<u32>,
    /// Seed of the hash.
    seed: u64,
    /// Flows by the number of their queue: those in one of the lists, and those whose state lasts. Never iterated.
    flows: FxHashMap<u32, Flow<A::State>>,
    /// New flows, which go first.
    new: VecDeque<u32>,
    /// Flows that have been served.
    old: VecDeque<u32>,
    /// Drops for lack of room that are to follow the last one.
    rest: Option<Rest>,
}

#[derive(Debug, Default)]
struct Flow<S> {
    packets: VecDeque<(Queued, Instant)>,
    bytes: u64,
    /// Bytes that it may still send in this round; if negative, bytes that it sent beyond its
    /// quantum.
    deficit: i64,
    is_listed: bool,
    aqm: S,
}

/// What is left of a batch of drops.
#[derive(Clone, Copy, Debug)]
struct Rest {
    key: u32,
    packets: u32,
    bytes: u64,
}

impl<A: PerFlow> Flows<A> {
    /// Initial state, without flows.
    pub fn new(aqm: A, quantum: Bytes, queues: Option<u32>, site: &Site<'_>, queue: usize) -> Self {
        let name = format!("flow queueing at {}, queue {queue}", site.name);
        Self {
            aqm,
            quantum: quantum.0.min(i64::MAX as u64) as i64,
            queues,
            seed: Stream::named(site.seed, &name).bits(),
            flows: FxHashMap::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            rest: None,
        }
    }

    fn key(&self, packet: &Packet) -> u32 {
        let flow = packet.flow.0;
        self.queues.map_or(flow, |queues| {
            let hash = mix(u64::from(flow) ^ self.seed) >> 32;
            ((hash * u64::from(queues)) >> 32) as u32
        })
    }

    /// The queue that is served now.
    pub(super) fn first(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front()).copied()
    }

    /// The flow of a packet; added as a new flow if it is in neither list.
    fn listed_flow(&mut self, packet: &Packet) -> &mut Flow<A::State> {
        let key = self.key(packet);
        let flow = self.flows.entry(key).or_default();
        if !flow.is_listed {
            self.new.push_back(key);
            flow.is_listed = true;
            flow.deficit = self.quantum;
        }
        flow
    }

    fn listed(&self) -> impl Iterator<Item = &u32> {
        self.new.iter().chain(&self.old)
    }

    fn take(&mut self, key: u32) -> Option<Queued> {
        let flow = self.flows.get_mut(&key)?;
        let (queued, _) = flow.packets.pop_front()?;
        flow.bytes -= u64::from(queued.packet.bytes);
        Some(queued)
    }

    /// A flow has had nothing to send for a round.
    fn unlist(&mut self, key: u32) {
        if A::LASTS {
            let flow = self.flows.get_mut(&key).expect("a listed flow is there");
            flow.is_listed = false;
        } else {
            self.flows.remove(&key);
        }
    }

    /// Takes a packet of a flow out because there is no room.
    fn overflow(&mut self, key: u32) -> Option<Queued> {
        let out = self.take(key)?;
        let flow = self.flows.get_mut(&key).expect("it had a packet");
        self.aqm.on_overflow(&mut flow.aqm);
        Some(out)
    }
}

impl<A: PerFlow> Discipline for Flows<A> {
    /// The flow is listed as served, which matters if more of it arrives before the wire is free
    /// again.
    fn passes(&mut self, packet: &mut Packet, _: Instant, _: &mut Stream) -> bool {
        self.listed_flow(packet);
        true
    }

    fn push(&mut self, queued: Queued, now: Instant, _: &mut Stream) {
        let flow = self.listed_flow(&queued.packet);
        flow.bytes += u64::from(queued.packet.bytes);
        flow.packets.push_back((queued, now));
    }

    /// RFC 8290, section 4.2.
    fn settle(&mut self, _: Instant) -> Instant {
        while let Some(key) = self.first() {
            let flow = self.flows.get_mut(&key).expect("a listed flow is there");
            let is_new = !self.new.is_empty();
            if flow.deficit > 0 && !flow.packets.is_empty() {
                break;
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                self.old.push_back(key);
            } else if is_new {
                self.old.push_back(key);
            } else {
                self.unlist(key);
            }
        }
        Instant::NEVER
    }

    fn head(&self) -> Option<&Queued> {
        self.flows[&self.first()?].packets.front().map(|(queued, _)| queued)
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let flow = self.flows.get_mut(&self.first()?)?;
        flow.packets.front_mut().map(|(queued, _)| &mut queued.packet)
    }

    fn head_since(&self) -> Option<Instant> {
        self.flows[&self.first()?].packets.front().map(|(_, since)| *since)
    }

    fn on_departure(&mut self, leaving: &mut Leaving<'_>) -> Verdict {
        let Some(key) = self.first() else { return Verdict::Pass };
        let Some(flow) = self.flows.get_mut(&key) else { return Verdict::Pass };
        let Some((queued, since)) = flow.packets.front() else { return Verdict::Pass };
        let packet = &queued.packet;
        let left = flow.bytes - u64::from(packet.bytes);
        let head = Head { packet, since: *since, left };
        self.aqm.decide(&mut flow.aqm, &head, leaving)
    }

    fn pop(&mut self) -> Option<Queued> {
        // Discarded packets are popped without a call of `settle`.
        let waits = |key: &u32| !self.flows[key].packets.is_empty();
        let key = self.first().filter(waits).or_else(|| self.listed().copied().find(waits))?;
        self.take(key)
    }

    /// A packet dropped instead of being sent does not count toward its flow's deficit.
    fn on_sent(&mut self, packet: &Packet, _: &Transmitter, _: Instant) {
        let key = self.key(packet);
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.deficit -= i64::from(packet.bytes);
        }
    }

    fn push_out(&mut self, packet: &Packet, _: Instant) -> Option<Queued> {
        let own = self.key(packet);
        let bytes = |key: u32| {
            let waiting = self.flows.get(&key).map_or(0, |flow| flow.bytes);
            waiting + if key == own { u64::from(packet.bytes) } else { 0 }
        };
        // On a tie, the flow that is served first; the packet's own flow only if none of the others
        // ties.
        let mut most = (bytes(own), own);
        for &key in self.listed() {
            if bytes(key) > most.0 {
                most = (bytes(key), key);
            }
        }
        let (bytes, key) = most;
        let out = self.overflow(key)?;
        let bytes = (bytes / 2).saturating_sub(out.packet.bytes.into());
        self.rest = Some(Rest { key, packets: self.aqm.batch() - 1, bytes });
        Some(out)
    }

    fn push_out_more(&mut self) -> Option<Queued> {
        let Rest { key, packets, bytes } = self.rest.take().filter(|rest| rest.packets > 0)?;
        if bytes == 0 {
            return None;
        }
        let out = self.overflow(key)?;
        let bytes = bytes.saturating_sub(out.packet.bytes.into());
        self.rest = Some(Rest { key, packets: packets - 1, bytes });
        Some(out)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        let packets = self.listed().flat_map(|key| &self.flows[key].packets);
        Box::new(packets.map(|(queued, _)| queued))
    }

    fn is_consistent(&self) -> bool {
        let sum = |flow: &Flow<_>| {
            flow.packets.iter().map(|(q, _)| u64::from(q.packet.bytes)).sum::<u64>()
        };
        let listed = self.listed().count();
        let is_listed = |key| self.flows.get(key).is_some_and(|flow: &Flow<_>| flow.is_listed);
        (A::LASTS || listed == self.flows.len())
            && self
                .listed()
                .all(|key| is_listed(key) && sum(&self.flows[key]) == self.flows[key].bytes)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
