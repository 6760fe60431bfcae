//! Properties of every scheduler, whatever its parameters.

use floodway_model::Duration;
use proptest::prelude::*;

use super::{Spec, State};
use crate::link::Link;

/// The heads of two queues: wire length in bytes (0 if the queue is empty or may not send) and
/// sojourn time. At least one queue may send.
fn heads() -> impl Strategy<Value = ([u32; 2], [u64; 2])> {
    let length = || prop_oneof![1 => Just(0), 3 => 84u32..=1_542];
    let lengths = [length(), length()].prop_filter("some queue can send", |heads| *heads != [0; 2]);
    (lengths, [0u64..100_000_000, 0u64..100_000_000])
}

fn select(state: &mut State, (lengths, waited): &([u32; 2], [u64; 2])) -> usize {
    state.select(lengths, |queue| Duration::from_ns(waited[queue]))
}

proptest! {
    /// Every scheduler is work-conserving, and the same heads are sent in the same order.
    #[test]
    fn a_queue_that_can_send_is_selected(rounds in prop::collection::vec(heads(), 1..200)) {
        for spec in Spec::all() {
            let mut states = [State::new(&spec, &Link::PLAIN), State::new(&spec, &Link::PLAIN)];
            for round in &rounds {
                let [one, other] = &mut states;
                let queue = select(one, round);
                prop_assert!(round.0[queue] > 0, "{}", spec.name());
                prop_assert_eq!(queue, select(other, round), "{}", spec.name());
            }
        }
    }

    /// A packet that is dropped instead of being sent has no effect on later selections.
    #[test]
    fn what_is_taken_back_costs_nothing(
        rounds in prop::collection::vec((heads(), any::<bool>()), 1..200),
    ) {
        for spec in Spec::all() {
            let mut undisturbed = State::new(&spec, &Link::PLAIN);
            let mut state = State::new(&spec, &Link::PLAIN);
            for (round, dropped) in &rounds {
                if *dropped {
                    let queue = select(&mut state, round);
                    state.take_back(queue, round.0[queue]);
                }
                let expected = select(&mut undisturbed, round);
                prop_assert_eq!(select(&mut state, round), expected, "{}", spec.name());
            }
        }
    }

    /// The shares of backlogged queues add up to at most one link, each is positive, and a single
    /// queue gets the whole link.
    #[test]
    fn shares_are_of_one_link(waiting in 1u8..4) {
        for spec in Spec::all() {
            let shares = (0..2).filter(|queue| waiting >> queue & 1 != 0).map(|queue| {
                let (part, whole) = spec.share(queue, waiting, 2);
                assert!(0 < part && part <= whole, "{}", spec.name());
                part as f64 / whole as f64
            });
            let sum: f64 = shares.sum();
            // With strict priority, or selection by sojourn time, each queue counts as if alone.
            let alone = matches!(spec, Spec::Strict(_) | Spec::TimeShifted(_));
            let expected = if alone { f64::from(waiting.count_ones()) } else { 1.0 };
            prop_assert!((sum - expected).abs() < 1e-12, "{}: {sum}", spec.name());
        }
    }
}
