//! What every algorithm of the family does, whatever its parameters: random sequences of packets
//! that come and go, silence, and a queue that does not end.

use floodway_model::{Duration, Ecn};
use proptest::prelude::*;

use super::stand::Stand;
use super::{Spec, State, Verdict};
use crate::switch::queue::Queued;

/// A port with an algorithm on it, driven as a switch drives it.
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

    /// A packet comes, and joins unless it is dropped.
    fn arrive(&mut self, queue: usize, ecn: Ecn) -> Verdict {
        let packet = Stand::packet(ecn);
        let verdict = self.state.on_arrival(queue, &packet, &mut self.stand.view());
        if verdict == Verdict::Pass || verdict == Verdict::Congested && ecn.is_capable() {
            let now = self.stand.now;
            self.stand.queues[queue].push(Queued { packet, not_before: 0 }, now);
        }
        verdict
    }

    /// The head of a queue leaves, or is dropped; `None` of an empty queue.
    fn leave(&mut self, queue: usize) -> Option<Verdict> {
        let packet = self.stand.queues[queue].head()?.packet;
        let verdict = match self.decides_on_departure {
            true => self.state.on_departure(queue, &packet, &mut self.stand.view()),
            false => Verdict::Pass,
        };
        self.stand.queues[queue].pop();
        Some(verdict)
    }
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)]
}

/// What happens: a packet comes, or the head leaves, or nothing for up to this many nanoseconds.
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

    /// The same events have the same verdicts, and nothing overflows.
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

    /// Whatever has happened, after an hour of silence with nothing in the queues a packet that
    /// comes and goes at once is left alone; and so is the next. Not by congestion at random, and not
    /// by Curvy RED, whose average is over packets and forgets nothing while none come (RFC 9332,
    /// appendix B).
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

/// A classic queue that stays at 800 packets for 20 seconds, 160 ms of the link: everyone but
/// drop-tail and BLUE, for which nothing is lost here, tells somebody, and whoever tells marks what is ECN-capable
/// instead of dropping it.
#[test]
fn a_standing_queue_is_congestion() {
    for spec in Spec::all() {
        let mut port = Port::new(&spec);
        let mut told = 0;
        let mut dropped_capable = 0;
        for n in 0..100_000_u32 {
            let ecn = if n % 2 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            let mut verdicts = vec![port.arrive(1, ecn)];
            // Where something is dropped another takes its place.
            while port.stand.queues[1].len() < 800 {
                port.stand.fill(1, ecn, 1);
            }
            let head = port.stand.queues[1].head().expect("it stands").packet.ecn();
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
        // PI's on the way to certainty are overloaded after seconds of this: they may drop.
        let overloads = matches!(spec, Spec::Pie(_) | Spec::DualPi2(_));
        assert!(overloads || dropped_capable == 0, "{}: {dropped_capable}", spec.name());
    }
}
