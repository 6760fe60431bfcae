//! BLUE (Feng, Kandlur, Saha and Shin, University of Michigan CSE-TR-387-99, 1999; IEEE/ACM
//! Transactions on Networking 10(4), 2002): one probability for all packets of a queue, which rises
//! when packets are lost because the buffer is full and falls when the link is idle. The queue
//! length is not used, unless `above` is set.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Increase of the probability when a packet is lost: d1, above 0 and at most 1. Default 0.02
    /// (assumed).
    pub increment: f64,
    /// Decrease of the probability when the link is idle: d2, above 0 and at most 1. Default 0.002
    /// (assumed: a tenth of d1, because the paper wants it much smaller).
    pub decrement: f64,
    /// Minimum time between two changes of the probability, so that one takes effect before the
    /// next. Default 100ms (assumed: a round-trip time, as the paper recommends).
    pub freeze_time: Duration,
    /// L: queue length above which an arriving packet counts as a loss, in bytes. Default none:
    /// only a lost packet counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Bytes>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { increment: 0.02, decrement: 0.002, freeze_time: Duration::from_ms(100), above: None }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("increment", self.increment, "usual is 0.02");
        findings.weight("decrement", self.decrement, "usual is 0.002");
    }
}

/// The probabilities of the queues of a port.
#[derive(Debug)]
pub struct State {
    spec: Spec,
    queues: Box<[Marking]>,
}

#[derive(Clone, Debug, Default)]
struct Marking {
    probability: f64,
    /// Time of the last change.
    changed: Instant,
}

impl Marking {
    fn change(&mut self, spec: &Spec, by: f64, now: Instant) {
        if now.since(self.changed) > spec.freeze_time {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changed = now;
        }
    }
}

impl Aqm for State {
    type Spec = Spec;

    fn threshold(spec: &Spec) -> Option<(&'static str, Bytes)> {
        Some(("above", spec.above?))
    }

    fn new(spec: &Spec, queues: usize) -> Self {
        Self { spec: spec.clone(), queues: vec![Marking::default(); queues].into() }
    }

    fn start_at(&mut self, now: Instant) {
        self.queues.iter_mut().for_each(|marking| marking.changed = now);
    }

    /// The link became idle when its last frame ended. The probability is not needed before the
    /// next packet arrives, so it is updated only then, as of that time.
    fn on_arrival(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        let idle_since = view.tx.busy_until;
        if idle_since < view.now && view.queues.iter().all(|queue| queue.is_empty()) {
            for marking in self.queues.iter_mut().filter(|one| one.changed < idle_since) {
                marking.change(&self.spec, -self.spec.decrement, idle_since);
            }
        }
        let marking = &mut self.queues[queue];
        if self.spec.above.is_some_and(|above| view.backlog(queue) > above.0) {
            marking.change(&self.spec, self.spec.increment, view.now);
        }
        Verdict::congested(view.rng.bernoulli(marking.probability))
    }

    fn on_overflow(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) {
        self.queues[queue].change(&self.spec, self.spec.increment, view.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::Ecn;

    fn blue(above: Option<u64>) -> State {
        let freeze_time = Duration::from_ms(10);
        State::new(&Spec { freeze_time, above: above.map(Bytes), ..Spec::default() }, 2)
    }

    fn lose(blue: &mut State, stand: &mut Stand) {
        blue.on_overflow(0, &Stand::packet(Ecn::Ect0), &mut stand.view());
    }

    fn thousandths(blue: &State) -> [i64; 2] {
        [0, 1].map(|queue: usize| (blue.queues[queue].probability * 1_000.0).round() as i64)
    }

    #[test]
    fn losses_raise_the_probability_of_their_queue_once_in_a_freeze_time() {
        let (mut blue, mut stand) = (blue(None), Stand::new(2));
        stand.fill(0, Ecn::Ect0, 10);
        for (wait_ms, expected) in [(10, 0), (1, 20), (10, 20), (1, 40), (11, 60), (5, 60), (6, 80)]
        {
            stand.wait(Duration::from_ms(wait_ms));
            lose(&mut blue, &mut stand);
            lose(&mut blue, &mut stand);
            assert_eq!(thousandths(&blue), [expected, 0]);
        }
    }

    #[test]
    fn it_marks_as_often_as_it_says_however_long_the_queue_is() {
        let (mut blue, mut stand) = (blue(None), Stand::new(2));
        blue.queues[0].probability = 0.1;
        stand.fill(0, Ecn::Ect0, 1);
        // Mean 10000, standard deviation 95. Bounds are five standard deviations.
        let mut marks = |stand: &mut Stand| {
            (0..100_000).filter(|_| stand.arrives(&mut blue, 0, Ecn::Ect0) != Verdict::Pass).count()
        };
        assert!((9_525..10_475).contains(&marks(&mut stand)));
        stand.fill(0, Ecn::Ect0, 500);
        assert!((9_525..10_475).contains(&marks(&mut stand)));
    }

    /// The link has been idle since time zero. That is one change, however late and often it is
    /// noticed.
    #[test]
    fn an_idle_link_lowers_the_probability_of_all_queues_once() {
        let (mut blue, mut stand) = (blue(None), Stand::new(2));
        stand.transmit_until(Duration::from_ms(50));
        for marking in &mut blue.queues {
            (marking.probability, marking.changed) = (0.1, Instant(30_000_000_000));
        }
        stand.wait(Duration::from_ms(500));
        for _ in 0..2 {
            stand.arrives(&mut blue, 0, Ecn::Ect0);
            assert_eq!(thousandths(&blue), [98, 98]);
        }
        assert_eq!(blue.queues[0].changed, Instant(50_000_000_000));
        // The next idle period comes soon after, within the freeze time; the one after that does
        // not.
        for (until_ms, expected) in [(60, 98), (61, 96)] {
            stand.transmit_until(Duration::from_ms(until_ms));
            stand.arrives(&mut blue, 0, Ecn::Ect0);
            assert_eq!(thousandths(&blue), [expected, expected]);
        }
    }

    #[test]
    fn a_link_that_still_sends_or_has_packets_is_not_idle() {
        let (mut blue, mut stand) = (blue(None), Stand::new(2));
        blue.queues[0].probability = 0.1;
        stand.transmit_until(Duration::from_ms(50));
        stand.wait(Duration::from_ms(50));
        stand.arrives(&mut blue, 0, Ecn::Ect0);
        stand.wait(Duration::from_ms(50));
        stand.fill(1, Ecn::Ect0, 1);
        stand.arrives(&mut blue, 0, Ecn::Ect0);
        assert_eq!(thousandths(&blue), [100, 0]);
    }

    #[test]
    fn a_queue_above_its_threshold_counts_as_a_loss() {
        let (mut blue, mut stand) = (blue(Some(5_000)), Stand::new(2));
        stand.fill(0, Ecn::Ect0, 5);
        stand.wait(Duration::from_ms(20));
        stand.arrives(&mut blue, 0, Ecn::Ect0);
        assert_eq!(thousandths(&blue), [0, 0]);
        stand.fill(0, Ecn::Ect0, 1);
        stand.arrives(&mut blue, 0, Ecn::Ect0);
        assert_eq!(thousandths(&blue), [20, 0]);
    }
}
