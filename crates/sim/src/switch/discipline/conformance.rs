//! Properties of every queue discipline, whatever its parameters: against a list of the packets that
//! should be queued.

use std::sync::Arc;

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant};
use proptest::prelude::*;

use super::stand::{packet, psn};
use super::{Discipline, Leaving, Sizes, Spec};
use crate::link::Transmitter;
use crate::switch::aqm::Verdict;
use crate::switch::mechanism::{Site, SitePort};
use crate::switch::queue::Queued;

const FLOWS: u64 = 6;
const PAYLOAD: u64 = 1_000;

/// What happens to the queue.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A packet of this flow and length arrives.
    Arrive(u32, u16),
    /// The wire is free.
    Leave,
    /// A packet of this flow and length finds no room.
    NoRoom(u32, u16),
    /// So many milliseconds pass.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let packet = || (0..FLOWS as u32, 64u16..=1_518);
    prop_oneof![
        4 => packet().prop_map(|(flow, bytes)| Step::Arrive(flow, bytes)),
        3 => Just(Step::Leave),
        1 => packet().prop_map(|(flow, bytes)| Step::NoRoom(flow, bytes)),
        1 => (1u64..200).prop_map(Step::Wait),
    ]
}

/// The disciplines with code; first in, first out has none.
fn all() -> Vec<(&'static str, Box<dyn Discipline>)> {
    let sizes = Arc::new(Sizes::new((1..=FLOWS).map(|n| (n * 20 * PAYLOAD, PAYLOAD))));
    let site = Site { sizes: Some(&sizes), ..Site::with_ports("s", 1, &[SitePort::HOST]) };
    let build = |spec: Spec| Some((spec.name(), spec.build(&site, 0, 0)?));
    Spec::all().into_iter().filter_map(build).collect()
}

/// Flow and number of a packet.
fn known(queued: &Queued) -> (u32, u32) {
    (queued.packet.flow.0, psn(&queued.packet))
}

/// What a discipline did, to be compared with a second one.
fn follow(name: &str, discipline: &mut dyn Discipline, steps: &[Step]) -> Vec<(u32, u32)> {
    let (mut rng, tx) = (Stream::named(1, "none"), Transmitter::new(SitePort::HOST.link));
    let mut expected: Vec<(u32, u32)> = Vec::new();
    let mut next = [0; FLOWS as usize];
    let mut did = Vec::new();
    let leave = |discipline: &mut dyn Discipline, expected: &mut Vec<(u32, u32)>, now: Instant| {
        let mut rng = Stream::named(2, "none");
        loop {
            discipline.settle(now);
            let head = discipline.head().map(known);
            // Work-conserving: something is at the head as long as anything is queued.
            assert_eq!(head.is_some(), !expected.is_empty(), "{name}");
            assert_eq!(discipline.head_since().is_some(), head.is_some(), "{name}");
            assert!(discipline.head_since().is_none_or(|since| since <= now), "{name}");
            let marked = discipline.head_mut().map(|packet| packet.flow.0);
            assert_eq!(marked, head.map(|(flow, _)| flow), "{name}");
            let rng = &mut rng;
            let mut leaving = Leaving { now, indicates: false, largest_frame: 1_518, rng };
            let verdict = match head {
                Some(_) => discipline.on_departure(&mut leaving),
                None => Verdict::Pass,
            };
            let popped = discipline.pop();
            assert_eq!(popped.as_ref().map(known), head, "{name}: another packet leaves");
            let popped = popped?;
            let (flow, _) = known(&popped);
            let place =
                expected.iter().position(|of| of.0 == flow).expect("one of its packets waits");
            assert_eq!(expected.remove(place), known(&popped), "{name}: a flow is out of order");
            if verdict != Verdict::Drop {
                discipline.on_sent(&popped.packet, &tx, now);
                return Some(known(&popped));
            }
        }
    };
    let mut now = Instant::ZERO;
    for step in steps {
        match *step {
            Step::Arrive(flow, bytes) => {
                let number = &mut next[flow as usize];
                discipline.push(packet(flow, *number, bytes), now, &mut rng);
                expected.push((flow, *number));
                *number += 1;
            }
            Step::Leave => did.extend(leave(discipline, &mut expected, now)),
            Step::NoRoom(flow, bytes) => {
                let number = &mut next[flow as usize];
                let mut out = discipline.push_out(&packet(flow, *number, bytes).packet, now);
                while let Some(dropped) = out {
                    let dropped = known(&dropped);
                    let place = expected.iter().position(|of| *of == dropped);
                    expected.remove(place.expect("only what is queued is dropped"));
                    did.push(dropped);
                    out = discipline.push_out_more();
                }
                *number += 1;
            }
            Step::Wait(ms) => now += Duration::from_ms(ms),
        }
        assert!(discipline.is_consistent(), "{name}");
        let mut queued: Vec<_> = discipline.iter().map(known).collect();
        let mut should: Vec<_> = expected.clone();
        queued.sort_unstable();
        should.sort_unstable();
        assert_eq!(queued, should, "{name}");
    }
    while let Some(left) = leave(discipline, &mut expected, now) {
        did.push(left);
    }
    did
}

proptest! {
    /// Every packet that arrives leaves exactly once or is dropped for another one. A flow stays in
    /// order, the wire is never idle while packets are queued, and the same arrivals give the same
    /// departures.
    #[test]
    fn packets_leave_once_and_flows_stay_in_order(steps in prop::collection::vec(step(), 1..150)) {
        for ((name, mut one), (_, mut other)) in all().into_iter().zip(all()) {
            let did = follow(name, &mut *one, &steps);
            prop_assert_eq!(did, follow(name, &mut *other, &steps), "{}", name);
        }
    }
}

/// Only a discipline that reports that it is first in, first out has no code of its own.
#[test]
fn first_in_first_out_is_the_only_one_without_code() {
    let site = Site::with_ports("s", 1, &[SitePort::HOST]);
    for spec in Spec::all().into_iter().filter(|spec| !spec.needs_sizes()) {
        assert_eq!(spec.build(&site, 0, 0).is_none(), spec.is_fifo(), "{}", spec.name());
    }
}
