use floodway_model::random::Stream;
use floodway_model::{FlowId, Instant};
use rustc_hash::FxHashMap;

use super::spec::{Mark, Signal, Spec};
use crate::switch::queue::Queue;

/// Why a flow is in the stream table (`create-mask` of the YANG module); both may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The curve selected one of its packets here.
    Local = 1,
    /// The downstream neighbour sent a CIM.
    Cim = 2,
}

/// The stream table of one egress port. Whether it is empty is asked of every packet.
#[derive(Debug)]
#[repr(C)]
pub struct Isolation {
    entries: Vec<Entry>,
    /// Place of a flow among `entries`. Never iterated.
    index: FxHashMap<FlowId, u32>,
    /// Since when the congesting queue is empty; `None` while it is not.
    empty_since: Option<Instant>,
    /// Bits of the reasons that have been released since then.
    released: u8,
    /// Entries made by the curve.
    pub isolations: u64,
    /// Selected packets whose flow was left alone because the table was full.
    pub refused: u64,
    /// CIMs sent about flows of this table.
    pub cims_sent: u64,
    /// CIMs received about flows that leave by this port.
    pub cims_received: u64,
}

/// What the table is asked about, at the moment of the question.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The monitored queue.
    pub monitored: &'a Queue,
    /// The congesting queue.
    pub congesting: &'a Queue,
    /// Whether the neighbour has paused the congesting class.
    pub paused: bool,
}

#[derive(Debug)]
struct Entry {
    flow: FlowId,
    /// Bits of [`Reason`].
    reasons: u8,
    cims: u8,
    last_cim: Instant,
    /// Departures from the monitored queue after which no packet of the flow is in it.
    clear_at: u64,
}

/// A place in the table; good until the next call that can release entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

impl Default for Isolation {
    /// An empty table beside an empty queue.
    fn default() -> Self {
        Self {
            index: FxHashMap::default(),
            entries: Vec::new(),
            empty_since: Some(Instant::ZERO),
            released: 0,
            isolations: 0,
            refused: 0,
            cims_sent: 0,
            cims_received: 0,
        }
    }
}

impl Isolation {
    /// Whether a packet of `flow`, bound for the monitored queue, goes to the congesting queue
    /// instead: because its flow is in the table, or because the curve selects it now.
    #[inline]
    pub fn place(
        &mut self,
        spec: &Spec,
        flow: FlowId,
        port: Port,
        now: Instant,
        chance: &mut Stream,
    ) -> Option<Place> {
        if !self.entries.is_empty() {
            self.release(spec, now);
            if let Some(&place) = self.index.get(&flow) {
                // A flow that is here because of a CIM can still congest this port: if the
                // congesting queue is deep although it may send, the congestion is here.
                let entry = &mut self.entries[place as usize];
                if entry.reasons & Reason::Local as u8 == 0
                    && !port.paused
                    && spec.curve.selects(port.congesting.congestion(), chance)
                {
                    entry.reasons |= Reason::Local as u8;
                    self.isolations += 1;
                }
                return Some(Place(place));
            }
        }
        if !spec.curve.selects(port.monitored.congestion(), chance) {
            return None;
        }
        let place = self.add(spec, flow, Reason::Local, port.monitored);
        match place {
            Some(_) => self.isolations += 1,
            None => self.refused += 1,
        }
        place
    }

    /// A CIM about `flow` came from the neighbour to which it leaves.
    pub fn on_cim(&mut self, spec: &Spec, flow: FlowId, monitored: &Queue, now: Instant) {
        self.cims_received += 1;
        self.release(spec, now);
        // News about a congestion that lasts: what it made stays.
        self.released &= !(Reason::Cim as u8);
        if self.empty_since.is_some() {
            self.empty_since = Some(now);
        }
        self.add(spec, flow, Reason::Cim, monitored);
    }

    fn add(&mut self, spec: &Spec, flow: FlowId, why: Reason, monitored: &Queue) -> Option<Place> {
        if let Some(&place) = self.index.get(&flow) {
            self.entries[place as usize].reasons |= why as u8;
            return Some(Place(place));
        }
        if self.entries.len() >= spec.max_entries as usize {
            return None;
        }
        let place = self.entries.len() as u32;
        self.index.insert(flow, place);
        self.entries.push(Entry {
            flow,
            reasons: why as u8,
            cims: 0,
            last_cim: Instant::ZERO,
            clear_at: monitored.clear_of(flow),
        });
        Some(Place(place))
    }

    /// What a packet of this flow must wait for in the congesting queue.
    #[inline]
    pub fn not_before(&self, place: Place) -> u64 {
        self.entries[place.0 as usize].clear_at
    }

    /// Whether packets of this flow are marked here.
    #[inline]
    pub fn marks(&self, spec: &Spec, place: Place) -> bool {
        let detected = self.entries[place.0 as usize].reasons & Reason::Local as u8 != 0;
        detected || spec.mark == Mark::All
    }

    /// Whether the upstream neighbour is now to be told, after a packet of this flow has joined
    /// the congesting queue, now `backlog` bytes deep. `still_monitored`: the packet came in the
    /// monitored class, so the neighbour does not isolate the flow yet. Counts the message.
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
    }

    /// A packet has joined the congesting queue.
    #[inline]
    pub fn on_join(&mut self) {
        self.empty_since = None;
    }

    /// Drops the entries whose time after the end of congestion is over.
    fn release(&mut self, spec: &Spec, now: Instant) {
        let Some(since) = self.empty_since else { return };
        let mut over = 0;
        for (reason, life) in
            [(Reason::Local, spec.local_entry_life), (Reason::Cim, spec.cim_entry_life)]
        {
            let bit = reason as u8;
            if self.released & bit == 0 && now.since(since) >= life {
                over |= bit;
            }
        }
        if over == 0 {
            return;
        }
        self.released |= over;
        let index = &mut self.index;
        self.entries.retain_mut(|entry| {
            entry.reasons &= !over;
            if entry.reasons == 0 {
                index.remove(&entry.flow);
            }
            entry.reasons != 0
        });
        for (place, entry) in self.entries.iter().enumerate() {
            index.insert(entry.flow, place as u32);
        }
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
            lane: 0,
            tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
        };
        Queued { packet, not_before: 0 }
    }

    /// 400 KB of flows 1 and 2 in turn: above `high`, so the curve selects for certain.
    fn deep() -> Queue {
        let mut queue = Queue::default();
        (0..400).for_each(|n| queue.push(packet(1 + n % 2), Instant::ZERO));
        queue
    }

    /// A port whose congesting queue is empty.
    fn ask<'a>(monitored: &'a Queue, congesting: &'a Queue) -> Port<'a> {
        Port { monitored, congesting, paused: false }
    }

    #[test]
    fn an_isolated_flow_waits_for_its_own_packets_only() {
        let (spec, mut chance) = (Spec::default(), Stream::named(1, "test"));
        let mut isolation = Isolation::default();
        let mut queue = deep();
        queue.pop();
        let empty = Queue::default();
        let mut place = |flow, queue: &Queue| {
            let port = ask(queue, &empty);
            let place = isolation.place(&spec, FlowId(flow), port, Instant(1), &mut chance);
            isolation.not_before(place.expect("the curve is 1 here"))
        };
        // Flow 1 is at places 0, 2, ..., 398; flow 2 at 1, 3, ..., 399; flow 3 is not there.
        assert_eq!(place(1, &queue), 399);
        assert_eq!(place(2, &queue), 400);
        assert_eq!(place(3, &queue), 0);
    }

    #[test]
    fn local_entries_go_with_the_congestion_and_cim_entries_after_their_life() {
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        let mut chance = Stream::named(1, "test");
        let mut isolation = Isolation::default();
        let (deep, shallow) = (deep(), Queue::default());
        let at_deep = ask(&deep, &shallow);
        assert!(isolation.place(&spec, FlowId(1), at_deep, Instant(1), &mut chance).is_some());
        isolation.on_join();
        isolation.on_cim(&spec, FlowId(2), &deep, Instant(2));
        isolation.on_cim(&spec, FlowId(1), &deep, Instant(2));
        assert!(isolation.place(&spec, FlowId(3), at_deep, Instant(2), &mut chance).is_some());
        assert_eq!(isolation.entries.len(), 3);
        isolation.on_empty(Instant(100));
        let mut stays = |flow, now| {
            let port = ask(&shallow, &shallow);
            isolation.place(&spec, FlowId(flow), port, Instant(now), &mut chance).is_some()
        };
        assert!(!stays(3, 100));
        assert!(stays(1, 100) && stays(2, 1_099));
        assert!(!stays(1, 1_100) && !stays(2, 1_100));
    }

    #[test]
    fn marks_tell_of_congestion_where_it_is() {
        let mut chance = Stream::named(1, "test");
        let mut isolation = Isolation::default();
        let (deep, empty) = (deep(), Queue::default());
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        isolation.on_cim(&spec, FlowId(9), &empty, Instant(1));
        let mut place = |flow| {
            isolation
                .place(&spec, FlowId(flow), ask(&deep, &empty), Instant(1), &mut chance)
                .unwrap()
        };
        let (told, detected) = (place(9), place(1));
        assert!(!isolation.marks(&spec, told) && isolation.marks(&spec, detected));
        let all = Spec { mark: Mark::All, ..spec };
        assert!(isolation.marks(&all, told));
    }

    #[test]
    fn a_flow_that_was_told_of_can_be_detected_too() {
        let (spec, mut chance) = (Spec::default(), Stream::named(1, "test"));
        let mut isolation = Isolation::default();
        let (deep, empty) = (deep(), Queue::default());
        isolation.on_cim(&spec, FlowId(9), &empty, Instant(1));
        isolation.on_join();
        let mut detected = |congesting, paused| {
            let port = Port { monitored: &empty, congesting, paused };
            let place = isolation.place(&spec, FlowId(9), port, Instant(2), &mut chance);
            isolation.marks(&spec, place.expect("it is in the table"))
        };
        // Deep because the neighbour does not take it: the congestion is further on.
        assert!(!detected(&deep, true));
        assert!(!detected(&empty, false));
        assert!(detected(&deep, false));
    }

    #[test]
    fn an_entry_ages_even_if_nothing_ever_joins() {
        let spec = Spec { cim_entry_life: Duration(1_000), ..Spec::default() };
        let (mut chance, empty) = (Stream::named(1, "test"), Queue::default());
        let mut isolation = Isolation::default();
        isolation.on_cim(&spec, FlowId(9), &empty, Instant(500));
        let mut stays = |now| {
            let port = ask(&empty, &empty);
            isolation.place(&spec, FlowId(9), port, Instant(now), &mut chance).is_some()
        };
        assert!(stays(1_499) && !stays(1_500));
    }

    #[test]
    fn cims_are_few_and_spaced() {
        let spec = Spec { signal_depth: Bytes(50_000), ..Spec::default() };
        let mut chance = Stream::named(1, "test");
        let mut isolation = Isolation::default();
        let (deep, empty) = (deep(), Queue::default());
        let port = ask(&deep, &empty);
        let place = isolation.place(&spec, FlowId(1), port, Instant(1), &mut chance).unwrap();
        let mut signals =
            |us: u64, still| isolation.signals(&spec, place, 0, still, Instant(us * 1_000_000));
        assert!(signals(1, true));
        assert!(!signals(5, true), "10 us have not passed");
        assert!(signals(11, true));
        assert!(!signals(30, false), "the neighbour isolates already");
        assert!(signals(40, true));
        assert!(!signals(60, true), "three are the most");
    }

    #[test]
    fn a_full_table_leaves_flows_alone() {
        let spec = Spec { max_entries: 1, ..Spec::default() };
        let mut chance = Stream::named(1, "test");
        let mut isolation = Isolation::default();
        let (deep, empty) = (deep(), Queue::default());
        let port = ask(&deep, &empty);
        assert!(isolation.place(&spec, FlowId(1), port, Instant(1), &mut chance).is_some());
        isolation.on_join();
        assert!(isolation.place(&spec, FlowId(2), port, Instant(1), &mut chance).is_none());
        assert_eq!((isolation.isolations, isolation.refused), (1, 1));
    }
}
