//! Flows in turn: each begins when the one before it, of the same workload, has been handed over.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use floodway_model::{FlowId, FlowSpec, Instant};

use super::Host;
use crate::engine::Context;

/// Whose turn comes when, of the flows of one sender. Flows are known by their places among them.
#[derive(Debug)]
pub struct Turns {
    /// By flow: the one whose turn comes next.
    next: Vec<Option<u32>>,
    /// By flow: when it began, if it had to wait for its turn.
    waiting: Vec<Option<Instant>>,
    /// Those whose turn has come before their time.
    early: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl Turns {
    /// Of these flows, in order; `None` if none is in turn.
    pub fn of(outgoing: &[FlowId], flows: &[FlowSpec]) -> Option<Box<Self>> {
        let spec = |flow: &FlowId| &flows[flow.index()];
        if !outgoing.iter().any(|flow| spec(flow).in_turn) {
            return None;
        }
        let (mut next, mut waiting) = (vec![None; outgoing.len()], vec![None; outgoing.len()]);
        let mut last: BTreeMap<u16, usize> = BTreeMap::new();
        for (place, flow) in outgoing.iter().enumerate() {
            let before = last.insert(spec(flow).workload, place);
            if let Some(before) = before.filter(|_| spec(flow).in_turn) {
                next[before] = Some(place as u32);
                waiting[place] = Some(Instant::NEVER);
            }
        }
        Some(Box::new(Self { next, waiting, early: BinaryHeap::new() }))
    }

    /// The first flow from `place` on that does not wait for its turn.
    pub fn skip(&self, place: usize) -> usize {
        let rest = self.waiting[place..].iter();
        place + rest.take_while(|waiting| waiting.is_some()).count()
    }

    /// When the next flow begins whose turn has come.
    #[inline]
    pub fn due(&self) -> Instant {
        self.early.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at)
    }

    /// When a flow began, [`Instant::NEVER`] if it did not; `None` of one that had no turn to wait
    /// for.
    pub fn began(&self, place: u32) -> Option<Instant> {
        self.waiting[place as usize]
    }
}

impl Host {
    /// All packets of a flow have left the source's memory: the turn of the one after it comes.
    pub(super) fn on_handed_over(&mut self, flow: FlowId, now: Instant, context: &mut Context) {
        let place = self.shared.places[flow.index()].0;
        let Some(turns) = &mut self.turns else { return };
        let Some(next) = turns.next[place as usize].take() else { return };
        let spec = &self.shared.flows[self.outgoing[next as usize].index()];
        let at = now.max(spec.start);
        if at < spec.stop {
            turns.early.push(Reverse((at, next)));
            return self.start_early(now);
        }
        // It is too late, for this flow and for those after it: the run does not wait for them.
        let mut late = Some(next);
        while let Some(place) = late {
            if !self.shared.flows[self.outgoing[place as usize].index()].is_persistent() {
                context.metrics.count_flow_done();
            }
            late = turns.next[place as usize].take();
        }
    }

    /// Starts the flows whose turn has come, if it is their time.
    pub(super) fn start_early(&mut self, now: Instant) {
        while let Some(turns) = self.turns.as_mut().filter(|turns| turns.due() <= now) {
            let Some(Reverse((_, place))) = turns.early.pop() else { return };
            turns.waiting[place as usize] = Some(now);
            self.begin(place as usize, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::NodeId;

    #[test]
    fn flows_take_turns_within_their_workload() {
        let flow = |workload, in_turn| FlowSpec {
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 1,
            start: Instant::ZERO,
            stop: Instant::NEVER,
            workload,
            in_turn,
        };
        let flows: Vec<FlowSpec> =
            [(0, true), (0, true), (1, false), (1, true), (2, false), (0, true)]
                .map(|(workload, in_turn)| flow(workload, in_turn))
                .into();
        let outgoing: Vec<FlowId> = (0..6).map(FlowId).collect();
        let turns = Turns::of(&outgoing, &flows).unwrap();
        assert_eq!(turns.next, [Some(1), Some(5), Some(3), None, None, None]);
        // Nobody waits for the flows 0, 2 and 4, which begin at their time.
        assert_eq!([0, 1, 3, 5].map(|place| turns.skip(place)), [0, 2, 4, 6]);
        assert_eq!([0, 1].map(|place| turns.began(place)), [None, Some(Instant::NEVER)]);
        assert!(Turns::of(&outgoing[2..3], &flows).is_none());
    }
}
