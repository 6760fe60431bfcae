//! Flows that wait for others. In turn: each begins when the one before it, of the same workload, has
//! been handed over. By triggers: each begins when others have arrived here or been handed over.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use floodway_model::flow::numbered;
use floodway_model::{Duration, FlowId, FlowSpec, Instant, Trigger};

use super::{Host, Shared};
use crate::context::Context;

/// Who of the flows of one sender waits for what. Flows are known by their places among them.
#[derive(Debug)]
pub struct Dependencies {
    /// By flow: the one whose turn comes next.
    next: Vec<Option<u32>>,
    /// By flow: whether it has been handed over, so that packets which are sent again, among them its
    /// last, are nothing new.
    handed_over: Vec<bool>,
    /// By flow: what it waits for.
    waits: Vec<Wait>,
    /// What triggers, in order of what happens.
    triggers: Vec<Triggered>,
    /// Those whose turn has come before their time.
    early: BinaryHeap<Reverse<(Instant, u32)>>,
}

/// What a flow waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    /// For its start only.
    Start,
    /// For so many others; not before a time.
    Others { left: u32, at: Instant },
    /// For nothing any more: it began.
    Over(Instant),
}

/// What happens to a flow here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// This one of the outgoing flows has been handed over.
    HandedOver(u32),
    /// This one of the incoming flows has arrived.
    Arrived(u32),
}

/// A flow that waits for something.
#[derive(Debug)]
struct Triggered {
    on: Event,
    begins: u32,
    delay: Duration,
}

impl Dependencies {
    /// Of these flows, in order, with the triggers of flows among them; `None` if none waits for
    /// another.
    pub fn of(outgoing: &[FlowId], triggers: &[Trigger], shared: &Shared) -> Option<Box<Self>> {
        let spec = |flow: FlowId| &shared.flows[flow.index()];
        if triggers.is_empty() && !outgoing.iter().any(|&flow| spec(flow).in_turn) {
            return None;
        }
        let (mut next, mut waits) = (vec![None; outgoing.len()], vec![Wait::Start; outgoing.len()]);
        let mut last: BTreeMap<u16, usize> = BTreeMap::new();
        for (place, &flow) in outgoing.iter().enumerate() {
            let before = last.insert(spec(flow).workload, place);
            if let Some(before) = before.filter(|_| spec(flow).in_turn) {
                next[before] = Some(place as u32);
                waits[place].add();
            }
        }
        let triggered = |trigger: &Trigger| {
            let (after, begins) = (trigger.after, trigger.begins);
            let (sent, received) = shared.places[after.index()];
            let here = spec(begins).src;
            let on = if spec(after).src == here {
                Event::HandedOver(sent)
            } else {
                debug_assert_eq!(spec(after).dst, here, "nothing else is known here");
                Event::Arrived(received)
            };
            Triggered { on, begins: shared.places[begins.index()].0, delay: trigger.delay }
        };
        let mut triggers: Vec<Triggered> = triggers.iter().map(triggered).collect();
        triggers.sort_by_key(|triggered| (triggered.on, triggered.begins));
        triggers.iter().for_each(|triggered| waits[triggered.begins as usize].add());
        let handed_over = vec![false; outgoing.len()];
        Some(Box::new(Self { next, handed_over, waits, triggers, early: BinaryHeap::new() }))
    }

    /// The first flow from `place` on that waits for its start only.
    pub fn skip(&self, place: usize) -> usize {
        let rest = self.waits[place..].iter();
        place + rest.take_while(|wait| **wait != Wait::Start).count()
    }

    /// When the next flow begins that waits for nothing but that time.
    #[inline]
    pub fn due(&self) -> Instant {
        self.early.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// When a flow began, [`Instant::NEVER`] if it did not; `None` of one that waited for its start
    /// only.
    pub fn began(&self, place: u32) -> Option<Instant> {
        match self.waits[place as usize] {
            Wait::Start => None,
            Wait::Others { .. } => Some(Instant::NEVER),
            Wait::Over(at) => Some(at),
        }
    }

    /// Where those are among the triggers that wait for this.
    fn waiting_for(&self, event: Event) -> std::ops::Range<usize> {
        let from = self.triggers.partition_point(|triggered| triggered.on < event);
        let many = self.triggers[from..].iter().take_while(|triggered| triggered.on == event);
        from..from + many.count()
    }
}

impl Wait {
    /// For one more.
    fn add(&mut self) {
        let left = match self {
            Self::Others { left, .. } => *left,
            _ => 0,
        };
        *self = Self::Others { left: left + 1, at: Instant::ZERO };
    }

    /// One of those has happened, and it may begin at `at`: when it begins, if it was the last.
    fn one_less(&mut self, at: Instant) -> Option<Instant> {
        let Self::Others { left, at: so_far } = self else { return None };
        *left -= 1;
        *so_far = at.max(*so_far);
        (*left == 0).then_some(*so_far)
    }
}

/// By flow: how many flows with a size never begin if it does not, itself among them. One that waits
/// for several is counted with the first only, so that none is counted twice. Empty if no flow waits
/// for another.
pub fn followers(flows: &[FlowSpec], triggers: &[Trigger]) -> Vec<u32> {
    if triggers.is_empty() && !flows.iter().any(|flow| flow.in_turn) {
        return Vec::new();
    }
    const NONE: u32 = u32::MAX;
    let mut leader = vec![NONE; flows.len()];
    let mut last = BTreeMap::new();
    for (id, flow) in numbered(flows) {
        let before = last.insert((flow.src, flow.workload), id);
        if let Some(before) = before.filter(|_| flow.in_turn) {
            leader[id.index()] = before.0;
        }
    }
    for trigger in triggers {
        let leader = &mut leader[trigger.begins.index()];
        if *leader == NONE {
            *leader = trigger.after.0;
        }
    }
    // From those that nobody follows towards those that follow nobody.
    let mut followed = vec![0u32; flows.len()];
    leader.iter().filter(|&&of| of != NONE).for_each(|&of| followed[of as usize] += 1);
    let ending = |flow: &FlowSpec| u32::from(!flow.is_persistent());
    let mut sums: Vec<u32> = flows.iter().map(ending).collect();
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
    /// The flows that it sends begin by these triggers, or in turn.
    pub fn wait_for(&mut self, triggers: &[Trigger]) {
        self.dependencies = Dependencies::of(&self.outgoing, triggers, &self.shared);
        self.set_started(self.dependencies.as_ref().map_or(0, |dependencies| dependencies.skip(0)));
        self.set_wake();
    }

    /// All packets of a flow have left the source's memory: the turn of the one after it comes.
    pub(super) fn on_handed_over(&mut self, flow: FlowId, now: Instant, context: &mut Context) {
        let place = self.shared.places[flow.index()].0;
        let Some(dependencies) = &mut self.dependencies else { return };
        if std::mem::replace(&mut dependencies.handed_over[place as usize], true) {
            return;
        }
        if let Some(next) = dependencies.next[place as usize] {
            self.happened(next, now, now, context);
        }
        self.on_event(Event::HandedOver(place), now, context);
    }

    /// All of the flow with this place among the incoming ones has arrived.
    #[inline(never)]
    pub(super) fn on_received(&mut self, place: u32, now: Instant, context: &mut Context) {
        self.on_event(Event::Arrived(place), now, context);
    }

    fn on_event(&mut self, event: Event, now: Instant, context: &mut Context) {
        let Some(dependencies) = &self.dependencies else { return };
        for at in dependencies.waiting_for(event) {
            let Some(dependencies) = &self.dependencies else { return };
            let Triggered { begins, delay, .. } = dependencies.triggers[at];
            self.happened(begins, now + delay, now, context);
        }
        self.start_early(now);
    }

    /// One of those that a flow waits for has happened; it may begin at `at`.
    fn happened(&mut self, place: u32, at: Instant, now: Instant, context: &mut Context) {
        let flow = self.outgoing[place as usize];
        let Some(dependencies) = &mut self.dependencies else { return };
        let Some(at) = dependencies.waits[place as usize].one_less(at) else { return };
        let spec = &self.shared.flows[flow.index()];
        let at = at.max(spec.start).max(now);
        if at < spec.stop {
            dependencies.early.push(Reverse((at, place)));
        } else {
            // It is too late, for this flow and for those after it: the run does not wait for them.
            let (flows, awaited) =
                (self.shared.followers[flow.index()], self.shared.is_awaited(flow));
            context.metrics.count_flows_lost(flows, awaited);
        }
    }

    /// Starts the flows whose turn has come, if it is their time.
    pub(super) fn start_early(&mut self, now: Instant) {
        while let Some(dependencies) =
            self.dependencies.as_mut().filter(|dependencies| dependencies.due() <= now)
        {
            let Some(Reverse((_, place))) = dependencies.early.pop() else { return };
            dependencies.waits[place as usize] = Wait::Over(now);
            self.begin(place as usize, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::NodeId;

    /// From a host to another, by workload, and whether in turn.
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
            flows,
            telemetry: None,
            distances: None,
            tiers: 1,
            awaited: Vec::new(),
            seed: 1,
        }
    }

    #[test]
    fn flows_take_turns_within_their_workload() {
        let flows = [(0, true), (0, true), (1, false), (1, true), (2, false), (0, true)]
            .map(|(workload, in_turn)| flow(0, 1, workload, in_turn));
        let shared = shared(flows.into());
        let outgoing: Vec<FlowId> = (0..6).map(FlowId).collect();
        let dependencies = Dependencies::of(&outgoing, &[], &shared).unwrap();
        assert_eq!(dependencies.next, [Some(1), Some(5), Some(3), None, None, None]);
        // Nobody waits for the flows 0, 2 and 4, which begin at their time.
        assert_eq!([0, 1, 3, 5].map(|place| dependencies.skip(place)), [0, 2, 4, 6]);
        assert_eq!([0, 1].map(|place| dependencies.began(place)), [None, Some(Instant::NEVER)]);
        assert!(Dependencies::of(&outgoing[2..3], &[], &shared).is_none());
        // Of workload 0 the flows 0, 1 and 5 hang on each other.
        assert_eq!(followers(&shared.flows, &[]), [3, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn a_flow_waits_for_the_last_of_its_triggers() {
        // Two flows from host 0 to host 1, and two back, of which the second waits for both and for
        // the one before it to be handed over.
        let shared = shared(vec![
            flow(0, 1, 0, false),
            flow(0, 1, 0, false),
            flow(1, 0, 1, false),
            flow(1, 0, 1, false),
        ]);
        let triggers = [trigger(1, 3), trigger(2, 3), trigger(0, 3)];
        let mut dependencies =
            Dependencies::of(&[FlowId(2), FlowId(3)], &triggers, &shared).unwrap();
        assert_eq!([dependencies.skip(0), dependencies.skip(1)], [0, 2]);
        let of = |event| dependencies.waiting_for(event);
        assert_eq!(of(Event::HandedOver(0)).len(), 1);
        assert_eq!([of(Event::Arrived(0)), of(Event::Arrived(1))].map(|range| range.len()), [1, 1]);
        assert_eq!([of(Event::Arrived(2)), of(Event::HandedOver(1))].map(|of| of.len()), [0, 0]);
        // The time is that of the latest, whatever the order.
        let wait = &mut dependencies.waits[1];
        assert_eq!(
            [7, 30, 9].map(|at| wait.one_less(Instant(at))),
            [None, None, Some(Instant(30))]
        );
    }

    #[test]
    fn none_is_lost_twice() {
        // 0 and 1 begin by themselves, 2 follows both, 3 follows 2, 4 has no size and follows 3, and
        // 5 follows 4.
        let mut flows: Vec<FlowSpec> = (0..6).map(|at| flow(at, at + 1, 0, false)).collect();
        flows[4].bytes = FlowSpec::PERSISTENT;
        let pairs = [(1, 2), (0, 2), (2, 3), (3, 4), (4, 5)];
        let triggers = pairs.map(|(after, begins)| trigger(after, begins));
        assert_eq!(followers(&flows, &triggers), [1, 4, 3, 2, 1, 1]);
        assert!(followers(&flows, &[]).is_empty());
    }
}
