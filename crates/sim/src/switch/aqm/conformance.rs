//! Properties of every algorithm of the family, whatever its parameters: random sequences of
//! arrivals and departures, silence, and a persistent queue.

use floodway_model::{Duration, Ecn};
use proptest::prelude::*;

use super::stand::Stand;
use super::{Spec, State, Verdict};
use crate::switch::queue::Queued;

/// A port with an algorithm, driven as a switch drives it.
struct Port {
    stand: Stand,
    state: State,
    decides_on_departure: bool,
}

impl Port {
    fn new(spec: &Spec) -> Self {
        let decides_on_departure = spec.decides_on_departure();
        Self { stand: Stand::new(2), state: State::new(spec, 2), decides_on_departure }
    }

    /// A packet arrives, and joins the queue unless it is dropped.
    fn arrive(&mut self, queue: usize, ecn: Ecn) -> Verdict {
        let packet = Stand::packet(ecn);
        let verdict = self.state.on_arrival(queue, &packet, &mut self.stand.view());
        if verdict == Verdict::Pass || verdict == Verdict::Congested && ecn.is_capable() {
            let now = self.stand.now;
            self.stand.queues[queue].push(&Queued { packet, not_before: 0 }, now);
        }
        verdict
    }

    /// The head of a queue leaves or is dropped; `None` if the queue is empty.
    fn leave(&mut self, queue: usize) -> Option<Verdict> {
        let packet = *self.stand.queues[queue].head()?;
        let verdict = match self.decides_on_departure {
            true => self.state.on_departure(queue, &packet, &mut self.stand.view()),
            false => Verdict::Pass,
        };
        self.stand.queues[queue].pop();
        Some(verdict)
    }
}

/// What begins ten seconds later decides as it does from time zero on: it catches up on nothing.
#[test]
fn a_late_start_is_a_start() {
    let verdicts = |spec: &Spec, after: Duration| {
        let mut port = Port::new(spec);
        port.stand.wait(after);
        port.state.start_at(port.stand.now);
        let arrivals = (0..3_000_u32).map(|number| {
            port.stand.wait(Duration::from_us(100));
            let queue = usize::from(number % 3 == 0);
            let ecn = if queue == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let arrives = port.arrive(queue, ecn);
            // Half as many leave.
            let leaves = (number % 2 == 0).then(|| port.leave(queue)).flatten();
            (arrives, leaves)
        });
        arrivals.collect::<Vec<_>>()
    };
    for spec in Spec::all() {
        let (early, late) =
            (verdicts(&spec, Duration::ZERO), verdicts(&spec, Duration::from_ms(10_000)));
        assert_eq!(early, late, "{}", spec.name());
    }
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)]
}

/// An event: a packet arrives, the head leaves, or nothing happens for up to this many nanoseconds.
#[derive(Clone, Debug)]
enum Event {
    Arrive(usize, Ecn),
    Leave(usize),
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => (0usize..2, ecn()).prop_map(|(queue, ecn)| Event::Arrive(queue, ecn)),
        4 => (0usize..2).prop_map(Event::Leave),
        4 => (0u64..10_000_000).prop_map(Event::Wait),
        // Up to three minutes.
        1 => (0u64..180_000_000_000).prop_map(Event::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The same events produce the same verdicts, and nothing overflows.
    #[test]
    fn verdicts_depend_on_what_happened(events in prop::collection::vec(event(), 1..400)) {
        for spec in Spec::all() {
            let (mut one, mut other) = (Port::new(&spec), Port::new(&spec));
            for event in &events {
                match event {
                    Event::Arrive(queue, ecn) => {
                        let (a, b) = (one.arrive(*queue, *ecn), other.arrive(*queue, *ecn));
                        prop_assert_eq!(a, b, "{}", spec.name());
                    }
                    Event::Leave(queue) => {
                        let (a, b) = (one.leave(*queue), other.leave(*queue));
                        prop_assert_eq!(a, b, "{}", spec.name());
                    }
                    Event::Wait(ns) => {
                        one.stand.wait(Duration::from_ns(*ns));
                        other.stand.wait(Duration::from_ns(*ns));
                    }
                }
            }
        }
    }

    /// Whatever has happened, after an hour of silence with empty queues a packet that comes and
    /// goes at once is neither marked nor dropped, and neither is the next. Exceptions are random
    /// congestion, and Curvy RED, whose average is over packets and does not decay while none
    /// arrive (RFC 9332, appendix B).
    #[test]
    fn silence_is_no_congestion(
        events in prop::collection::vec(event(), 1..200), queue in 0usize..2, ecn in ecn(),
    ) {
        let forgets = |spec: &&Spec| !matches!(spec, Spec::Bernoulli(_) | Spec::Regular(_) | Spec::CurvyRed(_));
        for spec in Spec::all().iter().filter(forgets) {
            let mut port = Port::new(spec);
            for event in &events {
                match event {
                    Event::Arrive(queue, ecn) => drop(port.arrive(*queue, *ecn)),
                    Event::Leave(queue) => drop(port.leave(*queue)),
                    Event::Wait(ns) => port.stand.wait(Duration::from_ns(*ns)),
                }
            }
            for queue in 0..2 {
                while port.leave(queue).is_some() {}
            }
            port.stand.wait(Duration::from_ms(3_600_000));
            for _ in 0..2 {
                prop_assert_eq!(port.arrive(queue, ecn), Verdict::Pass, "{}", spec.name());
                prop_assert_eq!(port.leave(queue), Some(Verdict::Pass), "{}", spec.name());
                port.stand.wait(Duration::from_ms(1));
            }
        }
    }
}

/// A classic queue that stays at 800 packets for 20 seconds, 160 ms of the link. Every algorithm
/// except drop-tail and BLUE, which sees no loss here, signals congestion, and marks ECN-capable
/// packets instead of dropping them.
#[test]
fn a_standing_queue_is_congestion() {
    for spec in Spec::all() {
        let mut port = Port::new(&spec);
        let mut told = 0;
        let mut dropped_capable = 0;
        for n in 0..100_000_u32 {
            let ecn = if n % 2 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            let mut verdicts = vec![port.arrive(1, ecn)];
            // Refill where a packet was dropped.
            while port.stand.queues[1].len() < 800 {
                port.stand.fill(1, ecn, 1);
            }
            let head = port.stand.queues[1].head().expect("it stands").ecn();
            verdicts.extend(port.leave(1));
            told += verdicts.iter().filter(|verdict| **verdict != Verdict::Pass).count();
            let drops = |verdict: &Verdict, ecn: Ecn| *verdict == Verdict::Drop && ecn.is_capable();
            dropped_capable += usize::from(drops(&verdicts[0], ecn));
            dropped_capable +=
                verdicts.get(1).map_or(0, |verdict| usize::from(drops(verdict, head)));
            port.stand.wait(Duration::from_us(200));
        }
        let silent = matches!(spec, Spec::DropTail(_) | Spec::Blue(_));
        assert_eq!(told == 0, silent, "{}: {told}", spec.name());
        // PI controllers that approach a probability of 1 are overloaded after seconds of this, and
        // may drop.
        let overloads = matches!(spec, Spec::Pie(_) | Spec::DualPi2(_));
        assert!(overloads || dropped_capable == 0, "{}: {dropped_capable}", spec.name());
    }
}
