use floodway_model::random::Stream;
use floodway_model::{FlowId, Instant, Rate};
use rustc_hash::{FxHashMap, FxHashSet};

use super::spec::{Mark, Signal, Spec, WhenFull};
use crate::switch::aqm::ramp;
use crate::switch::queue::Queue;

/// Why a flow is in the stream table (`create-mask` of the YANG module). Both reasons may apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The curve selected one of its packets here.
    Local = 1,
    /// The downstream neighbor sent a CIM.
    Cim = 2,
}

/// The stream table of one egress port.
#[derive(Debug)]
#[repr(C)]
pub struct Isolation {
    entries: Vec<Entry>,
    /// By key: the index in `entries`. Never iterated.
    index: FxHashMap<u32, u32>,
    /// The curve of a port of this rate.
    curve: ramp::Spec,
    /// Since when the congesting queue has been empty; `None` while it is not.
    empty_since: Option<Instant>,
    /// Bits of the reasons whose entries have been released since then.
    released: u8,
    /// No entry is released before.
    next_release: Instant,
    /// Entries created by the curve.
    pub isolations: u64,
    /// Selected packets whose flow was not isolated because the table was full.
    pub refused: u64,
    /// Entries evicted from a full table.
    pub evicted: u64,
    /// CIMs sent about flows in this table.
    pub cims_sent: u64,
    /// CIMs received about flows that leave by this port.
    pub cims_received: u64,
}

/// The port state that a table operation needs.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The monitored queue.
    pub monitored: &'a Queue,
    /// The congesting queue.
    pub congesting: &'a Queue,
    /// Whether the neighbor has paused the congesting class.
    pub paused: bool,
}

#[derive(Debug)]
struct Entry {
    /// [`Spec::key_of`] the flow.
    key: u32,
    /// Bits of [`Reason`].
    reasons: u8,
    cims: u8,
    last_cim: Instant,
    /// Number of departures from the monitored queue after which it holds no packet of this key.
    clear_at: u64,
}

/// The index of an entry; valid until the next call that can release entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

impl Isolation {
    /// An empty table, with an empty congesting queue, for a port of this rate.
    pub fn new(spec: &Spec, rate: Rate) -> Self {
        Self {
            curve: spec.curve.for_rate(rate),
            index: FxHashMap::default(),
            entries: Vec::new(),
            empty_since: Some(Instant::ZERO),
            released: 0,
            next_release: Instant::ZERO,
            isolations: 0,
            refused: 0,
            evicted: 0,
            cims_sent: 0,
            cims_received: 0,
        }
    }

    /// As long as nothing changes here, no packet can be moved to the congesting queue with less than this backlog in the
    /// monitored queue.
    pub fn quiet_below(&self) -> u32 {
        if !self.entries.is_empty() {
            return 0;
        }
        u32::try_from(self.curve.kmin.0.saturating_add(1)).unwrap_or(u32::MAX)
    }

    /// The entry because of which a packet of `flow`, bound for the monitored queue, goes to the
    /// congesting queue instead: its flow is in the table, or the curve selects the packet now.
    #[inline]
    pub fn place(
        &mut self,
        spec: &Spec,
        flow: FlowId,
        port: Port,
        now: Instant,
        rng: &mut Stream,
    ) -> Option<Place> {
        if !self.entries.is_empty() {
            self.release(spec, now);
            if let Some(&place) = self.index.get(&spec.key_of(flow)) {
                // A flow that was isolated because of a CIM may congest this port too: if the
                // congesting queue is deep although it is not paused, the congestion is here.
                let entry = &mut self.entries[place as usize];
                if entry.reasons & Reason::Local as u8 == 0
                    && !port.paused
                    && self.curve.selects(port.congesting.congestion(), rng)
                {
                    entry.reasons |= Reason::Local as u8;
                    self.isolations += 1;
                }
                return Some(Place(place));
            }
        }
        if !self.curve.selects(port.monitored.congestion(), rng) {
            return None;
        }
        let place = self.add(spec, flow, Reason::Local, port);
        match place {
            Some(_) => self.isolations += 1,
            None => self.refused += 1,
        }
        place
    }

    /// A CIM about `flow` has arrived from the neighbor that the flow is sent to.
    pub fn on_cim(&mut self, spec: &Spec, flow: FlowId, port: Port, now: Instant) {
        self.cims_received += 1;
        self.release(spec, now);
        // The congestion downstream persists: entries created by CIMs stay.
        self.released &= !(Reason::Cim as u8);
        if self.empty_since.is_some() {
            self.empty_since = Some(now);
            self.next_release = now;
        }
        self.add(spec, flow, Reason::Cim, port);
    }

    fn add(&mut self, spec: &Spec, flow: FlowId, why: Reason, port: Port) -> Option<Place> {
        let key = spec.key_of(flow);
        if let Some(&place) = self.index.get(&key) {
            self.entries[place as usize].reasons |= why as u8;
            return Some(Place(place));
        }
        if self.entries.len() >= spec.max_entries as usize && !self.evict(spec, port.congesting) {
            return None;
        }
        let place = self.entries.len() as u32;
        self.index.insert(key, place);
        self.entries.push(Entry {
            key,
            reasons: why as u8,
            cims: 0,
            last_cim: Instant::ZERO,
            clear_at: port.monitored.clear_of(|other| spec.key_of(other) == key),
        });
        Some(Place(place))
    }

    /// Evicts an entry from a full table; returns whether it could. A flow with packets in the
    /// congesting queue stays: its later packets, in the monitored queue, would overtake them.
    #[cold]
    fn evict(&mut self, spec: &Spec, congesting: &Queue) -> bool {
        if spec.when_full == WhenFull::Refuse {
            return false;
        }
        let waiting: FxHashSet<u32> = congesting.flows().map(|flow| spec.key_of(flow)).collect();
        let Some(oldest) = self.entries.iter().position(|entry| !waiting.contains(&entry.key))
        else {
            return false;
        };
        self.entries.remove(oldest);
        self.evicted += 1;
        self.index_anew();
        true
    }

    fn index_anew(&mut self) {
        self.index.clear();
        let places = self.entries.iter().zip(0..);
        self.index.extend(places.map(|(entry, place)| (entry.key, place)));
    }

    /// The departure count of the monitored queue before which a packet of this flow may not leave
    /// the congesting queue.
    #[inline]
    pub fn not_before(&self, place: Place) -> u64 {
        self.entries[place.0 as usize].clear_at
    }

    /// Whether packets of this flow are marked because they are isolated here.
    #[inline]
    pub fn marks(&self, spec: &Spec, place: Place) -> bool {
        match spec.mark {
            Mark::None | Mark::Aqm => false,
            Mark::Detected => self.entries[place.0 as usize].reasons & Reason::Local as u8 != 0,
            Mark::All => true,
        }
    }

    /// Whether to send a CIM to the upstream neighbor now, after a packet of this flow has joined
    /// the congesting queue, now `backlog` bytes deep. `still_monitored`: the packet arrived in the
    /// monitored class, so the neighbor does not isolate the flow yet. Counts the message.
    #[inline]
    pub fn signals(
        &mut self,
        spec: &Spec,
        place: Place,
        backlog: u64,
        still_monitored: bool,
        now: Instant,
    ) -> bool {
        if !still_monitored {
            return false;
        }
        let entry = &mut self.entries[place.0 as usize];
        let on_isolation = entry.reasons & Reason::Local as u8 != 0;
        let on_depth = backlog > spec.signal_depth.0;
        let occasion = match spec.signal {
            Signal::Off => false,
            Signal::Isolation => on_isolation,
            Signal::CongestingQueue => on_depth,
            Signal::Both => on_isolation || on_depth,
        };
        let rested = entry.cims == 0 || now.since(entry.last_cim) >= spec.cim_interval;
        if !occasion || entry.cims >= spec.max_cims || !rested {
            return false;
        }
        entry.cims += 1;
        entry.last_cim = now;
        self.cims_sent += 1;
        true
    }

    /// The congesting queue has become empty.
    pub fn on_empty(&mut self, now: Instant) {
        self.empty_since = Some(now);
        self.released = 0;
        self.next_release = now;
    }

    /// A packet has joined the congesting queue.
    #[inline]
    pub fn on_join(&mut self) {
        self.empty_since = None;
        self.next_release = Instant::NEVER;
    }

    /// Releases the entries that have expired since the end of congestion, at the scan times of the
    /// table.
    #[inline]
    fn release(&mut self, spec: &Spec, now: Instant) {
        if now >= self.next_release {
            self.release_expired(spec, now);
        }
    }

    #[inline(never)]
    fn release_expired(&mut self, spec: &Spec, now: Instant) {
        let Some(since) = self.empty_since else { return };
        let mut over = 0;
        self.next_release = Instant::NEVER;
        for (reason, life) in
            [(Reason::Local, spec.local_entry_life), (Reason::Cim, spec.cim_entry_life)]
        {
            let bit = reason as u8;
            if self.released & bit != 0 {
                continue;
            }
            let at = spec.looked_through(since + life);
            if now >= at {
                over |= bit;
            } else {
                self.next_release = self.next_release.min(at);
            }
        }
        if over == 0 {
            return;
        }
        self.released |= over;
        let index = &mut self.index;
        let mut gone = 0;
        self.entries.retain_mut(|entry| {
            entry.reasons &= !over;
            if entry.reasons == 0 {
                index.remove(&entry.key);
                gone += 1;
            } else if gone > 0
                && let Some(place) = index.get_mut(&entry.key)
            {
                *place -= gone;
            }
            entry.reasons != 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{
        Body, Bytes, Class, Dscp, Duration, Echo, Ecn, NodeId, Packet, PortIx, Tos,
    };

    use crate::switch::queue::Queued;

    fn packet(flow: u32) -> Queued {
        let packet = Packet {
            flow: FlowId(flow),
            connection: 0,
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 1_000,
            ingress: PortIx(0),
            class: Class(0),
            physical_queue: 0,
            tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
        };
        Queued { packet, not_before: 0 }
    }

    /// 400 KB of flows 1 and 2 alternately: above `kmax`, so the curve selects with certainty.
    fn deep() -> Queue {
        let mut queue = Queue::default();
        (0..400).for_each(|n| queue.push(&packet(1 + n % 2), Instant::ZERO));
        queue
    }

    /// An empty table.
    fn table() -> Isolation {
        Isolation::new(&Spec::default(), Rate::from_gbps(100))
    }

    /// A port whose congesting queue is empty.
    fn ask<'a>(monitored: &'a Queue, congesting: &'a Queue) -> Port<'a> {
        Port { monitored, congesting, paused: false }
    }

    #[test]
    fn an_isolated_flow_waits_for_its_own_packets_only() {
        let (spec, mut rng) = (Spec::default(), Stream::named(1, "test"));
        let mut isolation = table();
        let mut queue = deep();
        queue.pop();
        let empty = Queue::default();
        let mut place = |flow, queue: &Queue| {
            let port = ask(queue, &empty);
            let place = isolation.place(&spec, FlowId(flow), port, Instant(1), &mut rng);
            isolation.not_before(place.expect("the curve is 1 here"))
        };
        // Flow 1 is at positions 0, 2, ..., 398; flow 2 at 1, 3, ..., 399; flow 3 is not queued.
        assert_eq!(place(1, &queue), 399);
        assert_eq!(place(2, &queue), 400);
        assert_eq!(place(3, &queue), 0);
    }

    #[test]
    fn local_entries_go_with_the_congestion_and_cim_entries_after_their_life() {
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, shallow) = (deep(), Queue::default());
        let at_deep = ask(&deep, &shallow);
        assert!(isolation.place(&spec, FlowId(1), at_deep, Instant(1), &mut rng).is_some());
        isolation.on_join();
        isolation.on_cim(&spec, FlowId(2), at_deep, Instant(2));
        isolation.on_cim(&spec, FlowId(1), at_deep, Instant(2));
        assert!(isolation.place(&spec, FlowId(3), at_deep, Instant(2), &mut rng).is_some());
        assert_eq!(isolation.entries.len(), 3);
        isolation.on_empty(Instant(100));
        let mut stays = |flow, now| {
            let port = ask(&shallow, &shallow);
            isolation.place(&spec, FlowId(flow), port, Instant(now), &mut rng).is_some()
        };
        assert!(!stays(3, 100));
        assert!(stays(1, 100) && stays(2, 1_099));
        assert!(!stays(1, 1_100) && !stays(2, 1_100));
    }

    #[test]
    fn entries_behind_one_that_is_released_are_still_found() {
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, shallow) = (deep(), Queue::default());
        let mut place = |isolation: &mut Isolation, flow, queue: &Queue, now| {
            isolation.place(&spec, FlowId(flow), ask(queue, &shallow), Instant(now), &mut rng)
        };
        // Three entries made here, and between them two that a CIM made.
        place(&mut isolation, 1, &deep, 1);
        isolation.on_join();
        for (told, detected) in [(2, 3), (4, 5)] {
            isolation.on_cim(&spec, FlowId(told), ask(&deep, &shallow), Instant(1));
            place(&mut isolation, detected, &deep, 1);
        }
        isolation.on_empty(Instant(100));
        let mut found = |flow| place(&mut isolation, flow, &shallow, 101);
        assert_eq!([1, 3, 5].map(&mut found), [None; 3]);
        assert_eq!([2, 4].map(&mut found), [Some(Place(0)), Some(Place(1))]);
    }

    #[test]
    fn marks_tell_of_congestion_where_it_is() {
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        isolation.on_cim(&spec, FlowId(9), ask(&empty, &empty), Instant(1));
        let mut place = |flow| {
            isolation.place(&spec, FlowId(flow), ask(&deep, &empty), Instant(1), &mut rng).unwrap()
        };
        let (told, detected) = (place(9), place(1));
        assert!(!isolation.marks(&spec, told) && isolation.marks(&spec, detected));
        let all = Spec { mark: Mark::All, ..spec };
        assert!(isolation.marks(&all, told));
    }

    #[test]
    fn a_flow_that_was_told_of_can_be_detected_too() {
        let (spec, mut rng) = (Spec::default(), Stream::named(1, "test"));
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        isolation.on_cim(&spec, FlowId(9), ask(&empty, &empty), Instant(1));
        isolation.on_join();
        let mut detected = |congesting, paused| {
            let port = Port { monitored: &empty, congesting, paused };
            let place = isolation.place(&spec, FlowId(9), port, Instant(2), &mut rng);
            isolation.marks(&spec, place.expect("it is in the table"))
        };
        // Deep because the neighbor has paused it: the congestion is downstream.
        assert!(!detected(&deep, true));
        assert!(!detected(&empty, false));
        assert!(detected(&deep, false));
    }

    #[test]
    fn an_entry_ages_even_if_nothing_ever_joins() {
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        let (mut rng, empty) = (Stream::named(1, "test"), Queue::default());
        let mut isolation = table();
        isolation.on_cim(&spec, FlowId(9), ask(&empty, &empty), Instant(500));
        let mut stays = |now| {
            let port = ask(&empty, &empty);
            isolation.place(&spec, FlowId(9), port, Instant(now), &mut rng).is_some()
        };
        assert!(stays(1_499) && !stays(1_500));
    }

    #[test]
    fn cims_are_few_and_spaced() {
        let spec = Spec { signal_depth: Bytes(50_000), ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        let port = ask(&deep, &empty);
        let place = isolation.place(&spec, FlowId(1), port, Instant(1), &mut rng).unwrap();
        let mut signals =
            |us: u64, still| isolation.signals(&spec, place, 0, still, Instant(us * 1_000_000));
        assert!(signals(1, true));
        assert!(!signals(5, true), "10 us have not passed");
        assert!(signals(11, true));
        assert!(!signals(30, false), "the neighbor isolates already");
        assert!(signals(40, true));
        assert!(!signals(60, true), "three are the most");
    }

    #[test]
    fn a_full_table_leaves_flows_alone() {
        let spec = Spec { max_entries: 1, ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        let port = ask(&deep, &empty);
        assert!(isolation.place(&spec, FlowId(1), port, Instant(1), &mut rng).is_some());
        isolation.on_join();
        assert!(isolation.place(&spec, FlowId(2), port, Instant(1), &mut rng).is_none());
        assert_eq!((isolation.isolations, isolation.refused), (1, 1));
    }

    #[test]
    fn the_oldest_flow_that_may_go_makes_room() {
        let spec = Spec { max_entries: 2, when_full: WhenFull::Oldest, ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, mut congesting) = (deep(), Queue::default());
        let mut place = |flow, congesting: &Queue| {
            let port = ask(&deep, congesting);
            isolation.place(&spec, FlowId(flow), port, Instant(1), &mut rng);
            isolation.on_join();
            let flows = isolation.entries.iter().map(|entry| entry.key).collect::<Vec<_>>();
            (flows, isolation.evicted, isolation.refused)
        };
        for flow in [1, 2] {
            place(flow, &congesting);
            congesting.push(&packet(flow), Instant(1));
        }
        // Both have packets in the congesting queue, which their later packets could overtake.
        assert_eq!(place(3, &congesting), (vec![1, 2], 0, 1));
        congesting.pop();
        assert_eq!(place(3, &congesting), (vec![2, 3], 1, 1));
        assert_eq!(place(2, &congesting), (vec![2, 3], 1, 1), "it is still known by its key");
    }

    #[test]
    fn flows_with_the_same_key_are_one() {
        let spec = Spec { key_bits: 1, ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        let key = |flow| spec.key_of(FlowId(flow));
        // Of three flows two have the same key.
        let one = key(1);
        let other = (2..).find(|&flow| key(flow) == one).unwrap();
        let third = (2..).find(|&flow| key(flow) != one).unwrap();
        let mut last = deep;
        last.push(&packet(other), Instant::ZERO);
        let place = isolation.place(&spec, FlowId(1), ask(&last, &empty), Instant(1), &mut rng);
        // The first is held until the last packet of both has left: it is number 401.
        assert_eq!(isolation.not_before(place.unwrap()), 401);
        isolation.on_join();
        let mut is_there = |flow| {
            let port = ask(&empty, &empty);
            isolation.place(&spec, FlowId(flow), port, Instant(2), &mut rng).is_some()
        };
        assert!(is_there(other) && !is_there(third));
    }

    #[test]
    fn all_bits_tell_all_flows_apart() {
        // With a key of 16 bits, a bijective hash of 32 bits gives on average as many values as
        // random hashing: of 65,536 flows, a fraction 1 - 1/e of the keys is taken, 41,427
        // (deviation 79).
        let spec = Spec { key_bits: 16, ..Spec::default() };
        let keys: FxHashSet<u32> = (0..65_536).map(|flow| spec.key_of(FlowId(flow))).collect();
        assert!((41_032..41_822).contains(&keys.len()), "{}", keys.len());
        let spec = Spec::default();
        let keys: FxHashSet<u32> = (0..65_536).map(|flow| spec.key_of(FlowId(flow))).collect();
        assert_eq!(keys.len(), 65_536);
    }

    #[test]
    fn a_table_that_is_looked_through_now_and_then_releases_later() {
        let interval = Duration(1_000);
        let life = Duration(300);
        let spec = Spec { release_interval: interval, local_entry_life: life, ..Spec::default() };
        let mut rng = Stream::named(1, "test");
        let mut isolation = table();
        let (deep, empty) = (deep(), Queue::default());
        let place = isolation.place(&spec, FlowId(1), ask(&deep, &empty), Instant(1), &mut rng);
        assert!(place.is_some());
        isolation.on_join();
        isolation.on_empty(Instant(1_800));
        let mut stays = |now| {
            let port = ask(&empty, &empty);
            isolation.place(&spec, FlowId(1), port, Instant(now), &mut rng).is_some()
        };
        // It expires at 2,100; the table is scanned at 3,000.
        assert!(stays(2_100) && stays(2_999) && !stays(3_000));
    }
}
