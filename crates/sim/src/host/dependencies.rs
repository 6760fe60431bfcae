//! Flows that depend on others. Sequential flows (`in_turn`): each starts when the previous one of
//! the same workload has been handed over. Triggered flows: each starts when others have arrived here
//! or have been handed over. Flows of programs: each starts when its step begins.
//!
//! Of a host with several ports all flows are numbered together, port by port, and the port that handles an event
//! has the dependencies of the whole host meanwhile ([`MultiportHost`](super::MultiportHost)).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use floodway_model::progressions::Stepped;
use floodway_model::{
    Duration, FlowId, FlowSpec, Instant, NodeId, Program, Progressions, SharedList, Trigger,
};

use super::connections::Kept;
use super::ended::reserve;
use super::programs::{self, Programs, Timers};
use super::{Host, Shared};
use crate::context::Context;

/// Dependencies between the flows of one sender. Flows are identified by their index among its
/// outgoing flows.
#[derive(Debug)]
pub struct Dependencies {
    /// By flow: the flow that follows it in sequence; [`NONE`] if there is none.
    next: Progressions<u32>,
    /// By flow, up to the last one for which it is true: whether it has been handed over, so that
    /// retransmissions, which may include its last packet, do not count again.
    handed_over: Vec<bool>,
    /// By flow: on how many events it depends.
    needs: Progressions<u32>,
    /// By flow, up to the last one for which an event has occurred: its remaining dependencies.
    waits: Vec<Wait>,
    /// Triggers, sorted by event.
    triggers: Progressions<Triggered>,
    /// Flows whose dependencies were satisfied before their start time, and timers of programs.
    early: Timers,
    /// Programs of ranks, if there are any on this host.
    pub programs: Option<Box<Programs>>,
    /// The outgoing flows; empty if the host has one port, which knows them.
    outgoing: Vec<FlowId>,
    /// Flows to start at other ports of the host, each with the flow whose event decided when.
    pub elsewhere: VecDeque<(u32, Option<FlowId>)>,
    /// Connections between two flows.
    pub connections: Kept,
}

/// Remaining dependencies of a flow, in 16 bytes: there is one for every flow that has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    /// It does not start before this time; if it has started, when it did.
    at: Instant,
    /// Number of events that must still occur, or [`OVER`].
    left: u32,
    /// The flow whose event decided that it does not start earlier; [`NONE`] until one has.
    after: u32,
}

/// Stands for the number of events of a flow that has started.
const OVER: u32 = u32::MAX;

/// Stands for no flow.
const NONE: u32 = u32::MAX;

/// An event at this host that other flows can depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// This outgoing flow has been handed over.
    HandedOver(u32),
    /// This incoming flow has arrived.
    Arrived(u32),
}

impl Event {
    /// Whether it is an arrival, and the flow.
    fn parts(self) -> (bool, u32) {
        match self {
            Self::HandedOver(flow) => (false, flow),
            Self::Arrived(flow) => (true, flow),
        }
    }
}

/// A flow that depends on an event.
#[derive(Clone, Copy, Debug)]
struct Triggered {
    on: Event,
    after: FlowId,
    begins: u32,
    delay: Duration,
}

/// The flows have steps.
impl Stepped for Triggered {
    type Step = (u32, u32, u32);

    fn step_to(&self, next: &Self) -> Option<Self::Step> {
        let ((arrived, on), (arrives, on_next)) = (self.on.parts(), next.on.parts());
        (arrived == arrives && self.delay == next.delay).then(|| {
            let of = |one: u32, other: u32| other.wrapping_sub(one);
            (of(on, on_next), of(self.after.0, next.after.0), of(self.begins, next.begins))
        })
    }

    fn after(&self, (on, after, begins): Self::Step, count: u32) -> Self {
        let (arrived, flow) = self.on.parts();
        let flow = flow.after(on, count);
        Self {
            on: if arrived { Event::Arrived(flow) } else { Event::HandedOver(flow) },
            after: Stepped::after(&self.after, after, count),
            begins: self.begins.after(begins, count),
            delay: self.delay,
        }
    }
}

impl Dependencies {
    /// For these flows, in order, with the triggers that start flows among them, and the programs of
    /// this host with their indices; `None` if there are no dependencies.
    pub fn of(
        (outgoing, incoming): (&Progressions<FlowId>, usize),
        triggers: &Progressions<Trigger>,
        (programs, here): (&SharedList<Program>, &[u32]),
        shared: &Shared,
    ) -> Option<Box<Self>> {
        let spec = |flow: FlowId| shared.flows.at(flow.index());
        let sequential = || outgoing.each().any(|flow| spec(flow).in_turn);
        if triggers.is_empty() && here.is_empty() && !sequential() {
            return None;
        }
        let (mut next, mut needs) = (vec![NONE; outgoing.len()], vec![0u32; outgoing.len()]);
        let mut last: BTreeMap<u16, usize> = BTreeMap::new();
        // The flows of several ports are in order of port.
        let mut in_order: Vec<(usize, FlowId)> = outgoing.each().enumerate().collect();
        in_order.sort_by_key(|(_, flow)| *flow);
        for (place, flow) in in_order {
            let before = last.insert(spec(flow).workload, place);
            if let Some(before) = before.filter(|_| spec(flow).in_turn) {
                next[before] = place as u32;
                needs[place] += 1;
            }
        }
        let triggered = |trigger: Trigger| {
            let (after, begins) = (trigger.after, trigger.begins);
            let (sent, received) = shared.places_at_host(after);
            let here = shared.host_of(spec(begins).src);
            let on = if shared.host_of(spec(after).src) == here {
                Event::HandedOver(sent)
            } else {
                debug_assert_eq!(
                    shared.host_of(spec(after).dst),
                    here,
                    "nothing else is known here"
                );
                Event::Arrived(received)
            };
            let begins = shared.places_at_host(begins).0;
            Triggered { on, after, begins, delay: trigger.delay }
        };
        let mut triggers: Vec<Triggered> = triggers.each().map(triggered).collect();
        triggers.sort_by_key(|triggered| (triggered.on, triggered.begins));
        triggers.iter().for_each(|triggered| needs[triggered.begins as usize] += 1);
        for (_, flow) in here.iter().flat_map(|&program| programs[program as usize].sent()) {
            needs[shared.places_at_host(flow).0 as usize] += 1;
        }
        let mut early = BinaryHeap::new();
        let counts = [outgoing.len(), incoming];
        let programs = Programs::new(programs, here, counts, shared, &mut early);
        let outgoing = if shared.several.is_some() { outgoing.to_vec() } else { Vec::new() };
        let elsewhere = VecDeque::new();
        let connections = Kept::new();
        let waiting = Self {
            next: next.into_iter().collect(),
            handed_over: Vec::new(),
            needs: needs.into_iter().collect(),
            waits: Vec::new(),
            triggers: triggers.into_iter().collect(),
            early,
            programs,
            outgoing,
            elsewhere,
            connections,
        };
        Some(Box::new(waiting))
    }

    /// What is known of the times at which flows started, after a run.
    pub fn times(&self) -> Box<Self> {
        Box::new(Self {
            next: Progressions::default(),
            handed_over: Vec::new(),
            needs: self.needs.clone(),
            waits: self.waits.clone(),
            triggers: Progressions::default(),
            early: BinaryHeap::new(),
            programs: None,
            outgoing: Vec::new(),
            elsewhere: VecDeque::new(),
            connections: Kept::new(),
        })
    }

    /// For this number of flows without dependencies.
    fn none(flows: usize) -> Box<Self> {
        Box::new(Self {
            next: std::iter::repeat_n(NONE, flows).collect(),
            handed_over: Vec::new(),
            needs: std::iter::repeat_n(0, flows).collect(),
            waits: Vec::new(),
            triggers: Progressions::default(),
            early: BinaryHeap::new(),
            programs: None,
            outgoing: Vec::new(),
            elsewhere: VecDeque::new(),
            connections: Kept::new(),
        })
    }

    /// Adds a flow that starts at this time. There are no programs, whose timers follow the indices of flows.
    fn add(&mut self, start: Instant) {
        debug_assert!(self.programs.is_none(), "the codes of their timers would change");
        let place = self.needs.len() as u32;
        self.next.push(NONE);
        self.needs.push(1);
        *self.wait(place) = Wait { at: start, left: OVER, after: NONE };
        self.early.push(Reverse((start, place)));
    }

    /// The programs, and the timers that they set.
    pub fn programs(&mut self) -> (Option<&mut Programs>, &mut Timers) {
        (self.programs.as_deref_mut(), &mut self.early)
    }

    /// Index of the first flow from `place` on that depends on its start time only.
    pub fn skip(&self, place: usize) -> usize {
        let mut rest = place..self.needs.len();
        rest.find(|&place| self.needs.at(place) == 0).unwrap_or(self.needs.len())
    }

    /// Bytes of memory that lists by flow take, without those of programs.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.next.bytes()
            + self.handed_over.capacity()
            + self.needs.bytes()
            + self.waits.capacity() * size_of::<Wait>()
            + self.triggers.bytes()
            + self.outgoing.capacity() * 4
            + self.early.capacity() * size_of::<Reverse<(Instant, u32)>>()
    }

    /// The remaining dependencies of a flow.
    fn wait(&mut self, place: u32) -> &mut Wait {
        let place = place as usize;
        reserve(&mut self.waits, self.needs.len());
        for untouched in self.waits.len()..=place {
            self.waits.push(Wait {
                at: Instant::ZERO,
                left: self.needs.at(untouched),
                after: NONE,
            });
        }
        &mut self.waits[place]
    }

    /// Start of the next flow whose dependencies are satisfied.
    #[inline]
    pub fn due(&self) -> Instant {
        self.early.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// Time at which a flow started, [`Instant::NEVER`] if it did not; `None` if it depended on its
    /// start time only.
    pub fn began(&self, place: u32) -> Option<Instant> {
        if self.needs.at(place as usize) == 0 {
            return None;
        }
        let wait = self.waits.get(place as usize).filter(|wait| wait.left == OVER);
        Some(wait.map_or(Instant::NEVER, |wait| wait.at))
    }

    /// Range of the triggers that depend on this event.
    fn waiting_for(&self, event: Event) -> std::ops::Range<usize> {
        let from = self.triggers.partition_point(|triggered| triggered.on < event);
        let on_it = |at: &usize| self.triggers.at(*at).on == event;
        from..from + (from..self.triggers.len()).take_while(on_it).count()
    }
}

impl Wait {
    /// One of the events has occurred, of flow `by`, so the flow may start at `at` as far as this event
    /// is concerned. Returns the start time if it was the last event.
    fn one_less(&mut self, at: Instant, by: FlowId) -> Option<Instant> {
        if self.left == OVER {
            return None;
        }
        self.left -= 1;
        if at >= self.at {
            (self.at, self.after) = (at, by.0);
        }
        (self.left == 0).then_some(self.at)
    }
}

/// By flow: number of flows with a size, including itself, that never start unless this flow starts.
/// A flow with several dependencies is attributed to the first only, so that it is not counted
/// twice. Empty if there are no dependencies. `host_of` gives the host of a port.
pub fn followers(
    flows: &Progressions<FlowSpec>,
    triggers: &Progressions<Trigger>,
    host_of: impl Fn(NodeId) -> NodeId,
) -> Vec<u32> {
    if triggers.is_empty() && !flows.each().any(|flow| flow.in_turn) {
        return Vec::new();
    }
    let mut leader = vec![NONE; flows.len()];
    let mut last = BTreeMap::new();
    for (id, flow) in (0..).map(FlowId).zip(flows.each()) {
        let before = last.insert((host_of(flow.src), flow.workload), id);
        if let Some(before) = before.filter(|_| flow.in_turn) {
            leader[id.index()] = before.0;
        }
    }
    for trigger in triggers.each() {
        let leader = &mut leader[trigger.begins.index()];
        if *leader == NONE {
            *leader = trigger.after.0;
        }
    }
    // From the flows that no other follows to those that follow no other.
    let mut followed = vec![0u32; flows.len()];
    leader.iter().filter(|&&of| of != NONE).for_each(|&of| followed[of as usize] += 1);
    let ending = |flow: FlowSpec| u32::from(!flow.is_persistent());
    let mut sums: Vec<u32> = flows.each().map(ending).collect();
    for end in 0..flows.len() {
        let mut at = end;
        while followed[at] == 0 && leader[at] != NONE {
            let before = std::mem::replace(&mut leader[at], NONE) as usize;
            sums[before] += sums[at];
            followed[before] -= 1;
            at = before;
        }
    }
    sums
}

impl Host {
    /// Sets the triggers that start its outgoing flows, the sequential flows, and the programs with the
    /// indices `here` that run on it.
    pub fn wait_for(
        &mut self,
        triggers: &Progressions<Trigger>,
        (programs, here): (&SharedList<Program>, &[u32]),
    ) {
        let flows = (&self.outgoing, self.receivers.len());
        self.dependencies = Dependencies::of(flows, triggers, (programs, here), &self.shared);
        self.set_started(self.next_free(0));
        self.set_wake();
    }

    /// Adds a flow of this host during a run, which starts at a later time. It is the last one in the shared list.
    pub fn add_outgoing(&mut self, flow: FlowId) {
        let start = |flow: FlowId| self.shared.flows.at(flow.index()).start;
        let at = start(flow);
        let last = self.outgoing.len().checked_sub(1).map(|last| self.outgoing.at(last));
        let in_order = last.is_none_or(|last| start(last) <= at);
        if self.dependencies.is_some() || !in_order {
            let flows = self.outgoing.len();
            self.dependencies.get_or_insert_with(|| Dependencies::none(flows)).add(at);
        }
        self.outgoing.push(flow);
        if self.dependencies.is_none() {
            self.set_started(self.started);
        }
        self.set_wake();
    }

    /// Adds a flow to this host during a run. It is the last one in the shared list.
    pub fn add_incoming(&mut self, flow: FlowId) {
        self.add_receiver_half(flow);
        self.receivers.add(flow);
    }

    /// Index of the first flow from `place` on that depends on its start time only.
    pub(super) fn next_free(&self, place: usize) -> usize {
        let Some(dependencies) = &self.dependencies else { return place };
        let before = self.shared.first_of(self.id).0 as usize;
        dependencies.skip(before + place) - before
    }

    /// All packets of a flow have left the source's buffer: the next flow in sequence may start.
    pub(super) fn on_handed_over(&mut self, flow: FlowId, now: Instant, context: &mut Context) {
        let place = self.shared.places_at_host(flow).0;
        let Some(dependencies) = &mut self.dependencies else { return };
        if dependencies.handed_over.len() <= place as usize {
            reserve(&mut dependencies.handed_over, dependencies.needs.len());
            dependencies.handed_over.resize(place as usize + 1, false);
        }
        if std::mem::replace(&mut dependencies.handed_over[place as usize], true) {
            return;
        }
        let next = dependencies.next.at(place as usize);
        if next != NONE {
            self.happened(next, (now, flow), now, context);
        }
        self.run_programs(programs::Event::HandedOver(place), now, context);
        self.on_event(Event::HandedOver(place), now, context);
    }

    /// All of the flow with this index among the incoming ones of this port has arrived.
    #[inline(never)]
    pub(super) fn on_received(&mut self, place: u32, now: Instant, context: &mut Context) {
        let place = self.shared.first_of(self.id).1 + place;
        self.run_programs(programs::Event::Arrived(place), now, context);
        self.on_event(Event::Arrived(place), now, context);
    }

    fn on_event(&mut self, event: Event, now: Instant, context: &mut Context) {
        let Some(dependencies) = &self.dependencies else { return };
        for at in dependencies.waiting_for(event) {
            let Some(dependencies) = &self.dependencies else { return };
            let Triggered { after, begins, delay, .. } = dependencies.triggers.at(at);
            self.happened(begins, (now + delay, after), now, context);
        }
        self.start_early(now, context);
    }

    /// An event that a flow depends on has occurred, of flow `by`; the flow may start at `at`.
    fn happened(
        &mut self,
        place: u32,
        (at, by): (Instant, FlowId),
        now: Instant,
        context: &mut Context,
    ) {
        let Some(dependencies) = &mut self.dependencies else { return };
        let flow = match dependencies.outgoing.as_slice() {
            [] => self.outgoing.at(place as usize),
            all => all[place as usize],
        };
        let Some(at) = dependencies.wait(place).one_less(at, by) else { return };
        let spec = self.shared.flows.at(flow.index());
        let at = at.max(spec.start).max(now);
        if at < spec.stop {
            dependencies.early.push(Reverse((at, place)));
        } else {
            // It is too late for this flow and for those that follow it: the run does not wait for
            // them.
            let flows = self.shared.followers.get(flow.index()).copied().unwrap_or(1);
            let awaited = self.shared.is_awaited(flow);
            context.metrics.count_flows_lost(flows, awaited);
        }
    }

    /// Starts the flows whose dependencies are satisfied, if their start time has been reached, and
    /// handles the timers of programs that are due.
    pub(super) fn start_early(&mut self, now: Instant, context: &mut Context) {
        while let Some(dependencies) =
            self.dependencies.as_mut().filter(|dependencies| dependencies.due() <= now)
        {
            let Some(Reverse((_, place))) = dependencies.early.pop() else { return };
            if place as usize >= dependencies.needs.len() {
                self.run_programs(programs::Event::Timer(place), now, context);
                continue;
            }
            let wait = dependencies.wait(place);
            let after = Some(wait.after).filter(|after| *after != NONE).map(FlowId);
            *wait = Wait { at: now, left: OVER, after: NONE };
            let before = self.shared.first_of(self.id).0;
            match place.checked_sub(before).filter(|own| (*own as usize) < self.outgoing.len()) {
                Some(own) => self.begin(own as usize, after, now, context),
                None => dependencies.elsewhere.push_back((place, after)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::NodeId;

    /// A flow between two hosts, with its workload and whether it is sequential.
    fn flow(src: u32, dst: u32, workload: u16, in_turn: bool) -> FlowSpec {
        let (src, dst) = (NodeId(src), NodeId(dst));
        let (start, stop) = (Instant::ZERO, Instant::NEVER);
        FlowSpec { src, dst, bytes: 1, start, stop, workload, in_turn }
    }

    fn trigger(after: u32, begins: u32) -> Trigger {
        Trigger { after: FlowId(after), begins: FlowId(begins), delay: Duration(5) }
    }

    /// All flows go from host 0 to host 1 or back.
    fn shared(flows: Vec<FlowSpec>) -> Shared {
        let mut next = [0; 2];
        let mut place = |flow: &FlowSpec| {
            let from = flow.src.index();
            next[from] += 1;
            (next[from] - 1, next[from] - 1)
        };
        Shared {
            host: Default::default(),
            profiles: Vec::new(),
            switch: Default::default(),
            places: flows.iter().map(&mut place).collect(),
            followers: Vec::new(),
            connections: Default::default(),
            flows: flows.into(),
            several: None,
            distances: None,
            telemetry: false,
            requests: false,
            tiers: 1,
            awaited: Progressions::default(),
            awaited_jobs: Vec::new(),
            sampled: None,
            seed: 1,
        }
    }

    #[test]
    fn flows_take_turns_within_their_workload() {
        let flows = [(0, true), (0, true), (1, false), (1, true), (2, false), (0, true)]
            .map(|(workload, in_turn)| flow(0, 1, workload, in_turn));
        let shared = shared(flows.into());
        let outgoing: Progressions<FlowId> = (0..6).map(FlowId).collect();
        let none = SharedList::default();
        let no_triggers = Progressions::default();
        let of = |flows: &Progressions<FlowId>| {
            Dependencies::of((flows, 0), &no_triggers, (&none, &[]), &shared)
        };
        let dependencies = of(&outgoing).unwrap();
        assert_eq!(dependencies.next[..], [1, 5, 3, NONE, NONE, NONE]);
        // The flows 0, 2 and 4 have no dependencies and start at their start time.
        assert_eq!([0, 1, 3, 5].map(|place| dependencies.skip(place)), [0, 2, 4, 6]);
        assert_eq!([0, 1].map(|place| dependencies.began(place)), [None, Some(Instant::NEVER)]);
        assert!(of(&vec![FlowId(2)].into()).is_none());
        // In workload 0 the flows 0, 1 and 5 form a sequence.
        assert_eq!(followers(&shared.flows, &no_triggers, |node| node), [3, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn a_flow_waits_for_the_last_of_its_triggers() {
        // Two flows from host 0 to host 1, and two back. The second of those depends on both, and
        // on the hand-over of the flow before it.
        let shared = shared(vec![
            flow(0, 1, 0, false),
            flow(0, 1, 0, false),
            flow(1, 0, 1, false),
            flow(1, 0, 1, false),
        ]);
        let triggers = vec![trigger(1, 3), trigger(2, 3), trigger(0, 3)].into();
        let none = SharedList::default();
        let outgoing = vec![FlowId(2), FlowId(3)].into();
        let mut dependencies =
            Dependencies::of((&outgoing, 0), &triggers, (&none, &[]), &shared).unwrap();
        assert_eq!([dependencies.skip(0), dependencies.skip(1)], [0, 2]);
        let of = |event| dependencies.waiting_for(event);
        assert_eq!(of(Event::HandedOver(0)).len(), 1);
        assert_eq!([of(Event::Arrived(0)), of(Event::Arrived(1))].map(|range| range.len()), [1, 1]);
        assert_eq!([of(Event::Arrived(2)), of(Event::HandedOver(1))].map(|of| of.len()), [0, 0]);
        // The latest time counts, in any order of the events, and the flow that it is due to.
        let wait = dependencies.wait(1);
        let events = [(7, 0), (30, 1), (9, 2)];
        assert_eq!(
            events.map(|(at, by)| wait.one_less(Instant(at), FlowId(by))),
            [None, None, Some(Instant(30))]
        );
        assert_eq!(*wait, Wait { left: 0, at: Instant(30), after: 1 });
        assert_eq!(size_of::<Wait>(), 16);
    }

    #[test]
    fn none_is_lost_twice() {
        // Flows 0 and 1 have no dependencies, 2 depends on both, 3 on 2; 4 has no size and depends
        // on 3; 5 depends on 4.
        let mut flows: Vec<FlowSpec> = (0..6).map(|at| flow(at, at + 1, 0, false)).collect();
        flows[4].bytes = FlowSpec::PERSISTENT;
        let pairs = [(1, 2), (0, 2), (2, 3), (3, 4), (4, 5)];
        let triggers = pairs.map(|(after, begins)| trigger(after, begins)).to_vec().into();
        let flows = flows.into();
        assert_eq!(followers(&flows, &triggers, |node| node), [1, 4, 3, 2, 1, 1]);
        assert!(followers(&flows, &Progressions::default(), |node| node).is_empty());
    }
}
