//! What a flow spent its time on, by part and place.

use std::collections::BTreeMap;

use floodway_model::{Delay, Duration, FlowId};
use rustc_hash::FxHashMap;

use super::part::{Kind, Part};
use super::pauses::{Pause, Pauses};
use super::port::Place;

/// Time that a flow spent on one kind of part at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// What it was spent on.
    pub delay: Delay,
    /// Node and egress port.
    pub place: Place,
    /// Whether it is part of a round trip that the sender waits for, because its window is full.
    pub in_window: bool,
    /// Of pauses, node and port of the queue at the root; of holds, of the queue that causes them.
    pub root: Option<Place>,
    /// The time.
    pub time: Duration,
    /// Number of flows that caused it.
    pub causes: u32,
    /// The flow that caused most of it, and how much.
    pub most: Option<(FlowId, Duration)>,
}

/// The flow that caused a part: that was sent meanwhile, or had most bytes at the root of the pause.
pub fn cause(part: &Part, pauses: &[Pause]) -> Option<FlowId> {
    match part.kind {
        Kind::OtherFlow(flow) | Kind::OtherClass(flow) => Some(flow),
        Kind::Paused(number) => pauses[number].root.map(|root| root.flow),
        _ => None,
    }
}

/// The root of the pause that a part is, or the queue because of which it is held.
pub fn root(part: &Part, pauses: &[Pause]) -> Option<Place> {
    match part.kind {
        Kind::Paused(number) => pauses[number].root.map(|root| (root.node, root.port)),
        Kind::HeldFor(node, port) => Some((node, port)),
        _ => None,
    }
}

/// The flows that caused a part with the time of each: the time of a pause is divided by the bytes in the queue at its
/// root.
fn causes(part: &Part, pauses: &Pauses, mut add: impl FnMut(FlowId, Duration)) {
    let time = part.to.since(part.from);
    let root = match part.kind {
        Kind::Paused(number) => pauses.all[number].root,
        _ => None,
    };
    let Some(root) = root else {
        if let Some(flow) = cause(part, &pauses.all) {
            add(flow, time);
        }
        return;
    };
    shares(time, &pauses.fillings[root.filling as usize]).for_each(|(flow, time)| add(flow, time));
}

/// A time divided over flows by their bytes, without a remainder.
pub fn shares(
    time: Duration,
    flows: &[(FlowId, u64)],
) -> impl Iterator<Item = (FlowId, Duration)> + '_ {
    let all: u128 = flows.iter().map(|(_, bytes)| u128::from(*bytes)).sum();
    let until = move |bytes: u128| (u128::from(time.0) * bytes / all.max(1)) as u64;
    let mut before = 0;
    flows.iter().map(move |(flow, bytes)| {
        let after = before + u128::from(*bytes);
        let share = until(after) - until(before);
        before = after;
        (*flow, Duration(share))
    })
}

/// The totals of these parts, in the order in which they occur first.
pub fn totals(parts: &[Part], pauses: &Pauses) -> Vec<Total> {
    type Key = (Delay, Place, bool, Option<Place>);
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    let mut totals: Vec<(Total, BTreeMap<FlowId, Duration>)> = Vec::new();
    for part in parts {
        let place = (part.node, part.port);
        let root = root(part, &pauses.all);
        let delay = part.kind.delay();
        let key = (delay, place, part.in_window, root);
        let number = *numbers.entry(key).or_insert_with(|| {
            let in_window = part.in_window;
            let (time, causes, most) = (Duration::ZERO, 0, None);
            let total = Total { delay, place, in_window, root, time, causes, most };
            totals.push((total, BTreeMap::new()));
            totals.len() - 1
        });
        let (total, by) = &mut totals[number];
        let time = part.to.since(part.from);
        total.time += time;
        causes(part, pauses, |flow, time| *by.entry(flow).or_default() += time);
    }
    let most = |(mut total, by): (Total, BTreeMap<FlowId, Duration>)| {
        total.causes = by.len() as u32;
        total.most = by.into_iter().max_by_key(|(flow, time)| (*time, std::cmp::Reverse(*flow)));
        total
    };
    totals.into_iter().map(most).collect()
}
