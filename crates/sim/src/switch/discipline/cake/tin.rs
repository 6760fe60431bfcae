//! A tin of CAKE: flow queues under DRR++ with host isolation. A flow is sparse until it has used up a quantum, and bulk
//! from then on; the quantum of a flow is divided by the number of bulk flows of its host. A flow whose queue is empty and
//! whose AQM is not at rest is decaying.

use std::collections::VecDeque;

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant, NodeId, Packet, Rate};
use rustc_hash::FxHashMap;

use super::cobalt::{Cobalt, Params};
use super::{AckFilter, FLOWS, Isolation, WAYS};
use crate::switch::queue::Queued;

/// The quantum of a flow, without a shaper, and at most.
const QUANTUM: u64 = 1_514;

/// Where a flow is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// In no list.
    #[default]
    None,
    /// Among the new flows.
    Sparse,
    /// Among the old flows because of its deficit, but with an empty queue: it counts as sparse.
    SparseWait,
    /// Among the old flows.
    Bulk,
    /// Empty, until its AQM is at rest.
    Decaying,
}

/// A flow queue.
#[derive(Debug, Default)]
struct Flow {
    /// The flow for which it is reserved.
    tag: u64,
    /// Hosts of that flow.
    hosts: Option<[NodeId; 2]>,
    packets: VecDeque<(Queued, Instant)>,
    bytes: u64,
    deficit: i64,
    set: Set,
    cobalt: Cobalt,
}

/// A tin.
#[derive(Debug)]
pub struct Tin {
    isolation: Isolation,
    /// Parameters of the AQM.
    pub params: Params,
    /// Its threshold, with a shaper.
    pub rate: Option<Rate>,
    /// When its next packet is on schedule.
    pub next: Instant,
    /// Bytes that it may still send in this round, without a shaper.
    pub deficit: i64,
    /// Bytes queued.
    pub bytes: u64,
    quantum: u64,
    /// None before the first packet.
    flows: Vec<Flow>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    decaying: VecDeque<u16>,
    /// Bulk flows by source and by destination host. Iterated by checks only.
    bulk: [FxHashMap<NodeId, u64>; 2],
    /// Bulk flows of all hosts.
    bulk_flows: u64,
    /// Whether a decaying flow has been visited since the last departure.
    has_visited: bool,
}

impl Tin {
    /// An empty tin.
    pub fn new(isolation: Isolation) -> Self {
        Self {
            isolation,
            params: Params::default(),
            rate: None,
            next: Instant::ZERO,
            deficit: 0,
            bytes: 0,
            quantum: QUANTUM,
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            bulk: Default::default(),
            bulk_flows: 0,
            has_visited: false,
        }
    }

    /// Sets its threshold, and the parameters of its AQM, which depend on it.
    pub fn configure(&mut self, rate: Option<Rate>, params: Params) {
        // A 4096th of what the threshold carries in a second.
        self.quantum = rate.map_or(QUANTUM, |rate| (rate.0 / 8 / 4_096).clamp(300, QUANTUM));
        (self.rate, self.params) = (rate, params);
    }

    /// The flow queue of a flow with this hash: of the eight of its set, the one that is reserved for it, a free one, or,
    /// if there is none, the one that the hash selects, which it shares.
    fn slot(&self, hash: u64) -> usize {
        let direct = (hash % FLOWS as u64) as usize;
        let set = direct - direct % WAYS;
        let ways = || (0..WAYS).map(|way| set + (direct + way) % WAYS);
        let is_its_own =
            |slot: &usize| self.flows[*slot].tag == hash && self.flows[*slot].hosts.is_some();
        let is_free = |slot: &usize| self.flows[*slot].set == Set::None;
        ways().find(is_its_own).or_else(|| ways().find(is_free)).unwrap_or(direct)
    }

    /// Adds a packet of the flow with this hash. Returns an acknowledgement that is dropped for it.
    pub fn push(
        &mut self,
        hash: u64,
        queued: Queued,
        now: Instant,
        filter: AckFilter,
        rng: &mut Stream,
    ) -> Option<Queued> {
        if self.flows.is_empty() {
            self.flows.resize_with(FLOWS, Flow::default);
        }
        let slot = self.slot(hash);
        self.reserve(slot, hash, [queued.packet.src, queued.packet.dst]);
        let bytes = u64::from(queued.packet.bytes);
        let flow = &mut self.flows[slot];
        flow.packets.push_back((queued, now));
        flow.bytes += bytes;
        self.bytes += bytes;
        match flow.set {
            Set::None | Set::Decaying => {
                self.decaying.retain(|&other| usize::from(other) != slot);
                self.new.push_back(slot as u16);
                self.flows[slot].set = Set::Sparse;
                self.flows[slot].deficit = self.quantum_of(slot, rng);
            }
            Set::SparseWait => self.enter(slot, Set::Bulk),
            Set::Sparse | Set::Bulk => {}
        }
        let flow = &mut self.flows[slot];
        let (out, _) = flow.packets.remove(filter.superfluous(&flow.packets)?)?;
        flow.bytes -= u64::from(out.packet.bytes);
        self.bytes -= u64::from(out.packet.bytes);
        Some(out)
    }

    /// Reserves a flow queue for a flow. If it is that of another flow, the hosts change.
    fn reserve(&mut self, slot: usize, hash: u64, hosts: [NodeId; 2]) {
        let set = self.flows[slot].set;
        if self.flows[slot].hosts == Some(hosts) {
            self.flows[slot].tag = hash;
            return;
        }
        if set == Set::Bulk {
            self.enter(slot, Set::None);
        }
        self.flows[slot].tag = hash;
        self.flows[slot].hosts = Some(hosts);
        self.enter(slot, set);
    }

    /// Moves a flow to another set and counts bulk flows of its hosts.
    fn enter(&mut self, slot: usize, set: Set) {
        let flow = &mut self.flows[slot];
        let (was, is) = (flow.set == Set::Bulk, set == Set::Bulk);
        flow.set = set;
        let Some(hosts) = flow.hosts.filter(|_| was != is) else { return };
        self.bulk_flows = if is { self.bulk_flows + 1 } else { self.bulk_flows - 1 };
        for (counts, host) in self.bulk.iter_mut().zip(hosts) {
            let count = counts.entry(host).or_default();
            *count = if is { *count + 1 } else { *count - 1 };
            if *count == 0 {
                counts.remove(&host);
            }
        }
    }

    /// The quantum of a flow: that of the tin, divided by the bulk flows of its busiest host. Fractions of a byte are rounded
    /// at random, so that they add up.
    fn quantum_of(&self, slot: usize, rng: &mut Stream) -> i64 {
        let hosts = self.flows[slot].hosts.into_iter().flatten();
        let counted = self.bulk.iter().zip(hosts).zip(self.isolation.hosts());
        let load =
            counted.filter(|(_, counts)| *counts).map(|((bulk, host), _)| bulk.get(&host).copied());
        let load = load.flatten().max().unwrap_or(1).max(1);
        let (whole, rest) = (self.quantum / load, self.quantum % load);
        (whole + u64::from(rest > 0 && rng.below(load) < rest)) as i64
    }

    /// Whether packets are queued.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The flow queue that is served now: a decaying flow is visited first, once for each packet that leaves, then new flows
    /// and old flows.
    pub fn settle(&mut self, now: Instant, rng: &mut Stream) -> Option<usize> {
        if !self.has_visited
            && let Some(slot) = self.decaying.pop_front()
        {
            self.leave_empty(slot.into(), now);
        }
        self.has_visited = true;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let slot = usize::from(*list.front()?);
            let flow = &self.flows[slot];
            if flow.deficit > 0 && !flow.packets.is_empty() {
                return Some(slot);
            }
            list.pop_front();
            if flow.deficit > 0 {
                self.leave_empty(slot, now);
                continue;
            }
            if flow.set == Set::Sparse {
                let waits = flow.packets.is_empty();
                self.enter(slot, if waits { Set::SparseWait } else { Set::Bulk });
            }
            let quantum = self.quantum_of(slot, rng);
            self.flows[slot].deficit += quantum;
            self.old.push_back(slot as u16);
        }
    }

    /// A flow was served and is empty: it decays, or leaves the lists.
    fn leave_empty(&mut self, slot: usize, now: Instant) {
        let flow = &mut self.flows[slot];
        flow.cobalt.on_empty(&self.params, now);
        if flow.cobalt.is_at_rest(now) {
            self.enter(slot, Set::None);
        } else {
            self.decaying.push_back(slot as u16);
            self.enter(slot, Set::Decaying);
        }
    }

    /// The packet at the head of a flow queue and when it joined.
    pub fn head(&self, slot: usize) -> Option<&(Queued, Instant)> {
        self.flows.get(slot)?.packets.front()
    }

    /// The packet at the head of a flow queue, for modification.
    pub fn head_mut(&mut self, slot: usize) -> Option<&mut Packet> {
        self.flows.get_mut(slot)?.packets.front_mut().map(|(queued, _)| &mut queued.packet)
    }

    /// The AQM of a flow queue, its parameters, and whether the packet at the head is the last one.
    pub fn aqm(&mut self, slot: usize) -> (&mut Cobalt, &Params, bool) {
        let flow = &mut self.flows[slot];
        (&mut flow.cobalt, &self.params, flow.packets.len() == 1)
    }

    /// Removes the packet at the head of a flow queue.
    pub fn pop(&mut self, slot: usize) -> Option<Queued> {
        let flow = &mut self.flows[slot];
        let (queued, _) = flow.packets.pop_front()?;
        flow.bytes -= u64::from(queued.packet.bytes);
        self.bytes -= u64::from(queued.packet.bytes);
        Some(queued)
    }

    /// A packet of a flow queue goes to the wire, where it is as long as this.
    pub fn on_sent(&mut self, slot: usize, bytes: i64) {
        self.has_visited = false;
        self.charge(slot, bytes);
    }

    /// Counts bytes against the deficit of a flow and of the tin.
    pub fn charge(&mut self, slot: usize, bytes: i64) {
        self.flows[slot].deficit -= bytes;
        self.deficit -= bytes;
    }

    /// Counts `time` of its threshold.
    pub fn advance(&mut self, time: Duration, now: Instant) {
        self.next = match self.next < now {
            true => self.next + time,
            false => self.next.max(now + time),
        };
    }

    /// A packet of a flow queue is dropped for lack of room.
    pub fn overflow(&mut self, slot: usize, now: Instant) -> Option<Queued> {
        let out = self.pop(slot)?;
        self.flows[slot].cobalt.on_overflow(&self.params, now);
        Some(out)
    }

    /// The flow queue with the most bytes, and their number, if a packet of the flow with this hash had joined.
    pub fn longest(&self, arriving: Option<(u64, u16)>) -> Option<(u64, usize)> {
        let arriving = arriving.filter(|_| !self.flows.is_empty());
        let own = arriving.map(|(hash, bytes)| (self.slot(hash), u64::from(bytes)));
        let with_own = |slot: usize| {
            let joins = own.filter(|(of, _)| *of == slot).map_or(0, |(_, bytes)| bytes);
            (self.flows[slot].bytes + joins, slot)
        };
        let listed = self.new.iter().chain(&self.old).map(|&slot| usize::from(slot));
        own.map(|(slot, _)| slot)
            .into_iter()
            .chain(listed)
            .map(with_own)
            .max_by_key(|(bytes, _)| *bytes)
    }

    /// A flow queue with packets.
    pub fn any(&self) -> Option<usize> {
        let mut listed = self.new.iter().chain(&self.old).map(|&slot| usize::from(slot));
        listed.find(|&slot| !self.flows[slot].packets.is_empty())
    }

    /// The queued packets.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.flows.iter().flat_map(|flow| &flow.packets).map(|(queued, _)| queued)
    }

    /// Bulk flows.
    pub fn bulk_flows(&self) -> u64 {
        self.bulk_flows
    }

    /// Flow queues with packets.
    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.flows.iter().filter(|flow| !flow.packets.is_empty()).count()
    }

    /// Whether the accounting agrees with the packets.
    pub fn is_consistent(&self) -> bool {
        let sum =
            |flow: &Flow| flow.packets.iter().map(|(q, _)| u64::from(q.packet.bytes)).sum::<u64>();
        let in_list = |list: &VecDeque<u16>| list.len();
        let in_sets = self.flows.iter().filter(|flow| flow.set != Set::None).count();
        let bulk = self.flows.iter().filter(|flow| flow.set == Set::Bulk).count() as u64;
        self.flows.iter().all(|flow| sum(flow) == flow.bytes)
            && self.flows.iter().map(|flow| flow.bytes).sum::<u64>() == self.bytes
            && [&self.new, &self.old, &self.decaying].map(in_list).iter().sum::<usize>() == in_sets
            && self.bulk_flows == bulk
            && self.bulk.iter().all(|counts| counts.values().sum::<u64>() == bulk)
    }
}
