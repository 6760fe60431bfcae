//! PI2 (De Schepper, Bondarenko, Tsang and Briscoe, CoNEXT 2016): a proportional-integral
//! controller of the queue delay. Its probability is squared for classic congestion controls and
//! multiplied by k for scalable ones, so that both can share a queue.
//!
//! As in the authors' Linux module `sch_pi2`, the decision is made at enqueue, and only if at least
//! two full packets are queued. The delay is the sojourn time of the head, as in all later
//! versions. The module estimated it from the departure rate instead, and lowered the probability
//! by 2 % at each update of an empty queue; all later versions dropped that. Each queue of a port
//! has a controller of its own.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::periodic::Periodic;
use super::pi::{self, Gains, Pi};
use super::{Aqm, Verdict, View};
use crate::switch::classify::ecn::Scalable;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which packets are scalable; all others are classic. Default `ect1` (RFC 9331; sch_pi2 has
    /// `ecn_capable`).
    pub scalable: Scalable,
    /// Target queue delay. Default 20ms (sch_pi2).
    pub target: Duration,
    /// Interval between two updates of the probability. Default 30ms (sch_pi2; the paper has 32ms).
    pub update_interval: Duration,
    /// Integral gain: growth of the base probability per update, per second of delay above the
    /// target (Hz).
    /// Default 0.3125 (sch_pi2: 10/16 of the scalable probability, which is twice this one).
    pub alpha: f64,
    /// Proportional gain: growth of the base probability per update, per second of change of the
    /// delay (Hz).
    /// Default 3.125 (sch_pi2: 100/16, likewise).
    pub beta: f64,
    /// k: ratio of the scalable probability to the base probability. Default 2 (sch_pi2).
    pub coupling: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            scalable: Scalable::Ect1,
            target: Duration::from_ms(20),
            update_interval: Duration::from_ms(30),
            alpha: 0.3125,
            beta: 3.125,
            coupling: 2.0,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        pi::check((self.alpha, self.beta), self.update_interval, self.coupling, findings);
    }
}

/// The controllers of one port.
#[derive(Debug)]
pub struct State {
    spec: Spec,
    updates: Periodic,
    controllers: Vec<Pi>,
}

impl State {
    fn catch_up(&mut self, view: &View<'_>) {
        let Spec { target, update_interval, alpha, beta, coupling, .. } = self.spec;
        let gains = Gains { target, alpha, beta };
        self.updates.catch_up(update_interval, view.now, |at| {
            let mut settled = true;
            for (queue, pi) in self.controllers.iter_mut().enumerate() {
                // The scalable probability is at most 1.
                let changed = pi.update(&gains, view.sojourn_at(queue, at), 1.0 / coupling);
                settled &= !changed && view.queues[queue].is_empty();
            }
            settled
        });
    }
}

impl Aqm for State {
    type Spec = Spec;
    const JUDGES_DEPARTURES: bool = true;

    fn scalable(spec: &Spec) -> Option<Scalable> {
        Some(spec.scalable)
    }

    fn start_at(&mut self, now: Instant) {
        self.updates.start_at(self.spec.update_interval, now);
    }

    fn new(spec: &Spec, queues: usize) -> Self {
        Self {
            spec: spec.clone(),
            updates: Periodic::every(spec.update_interval),
            controllers: vec![Pi::default(); queues],
        }
    }

    fn on_arrival(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view);
        if view.backlog(queue) < 2 * view.largest_frame() {
            return Verdict::Pass;
        }
        let base = self.controllers[queue].probability();
        Verdict::congested(match self.spec.scalable.includes(packet.ecn()) {
            true => view.rng.bernoulli(self.spec.coupling * base),
            false => view.squared(base),
        })
    }

    fn on_departure(&mut self, _: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::Ecn;

    const MS: Duration = Duration::from_ms(1);

    fn base(state: &State) -> f64 {
        state.controllers[0].probability()
    }

    #[test]
    fn updates_see_the_delay_of_their_time() {
        // The head arrives at 10 ms. At 30, 60 and 90 ms its sojourn time is 20, 50 and 80 ms: a
        // sum of 90 ms above the target, and a change of 80 ms.
        let (mut state, mut stand) = (State::new(&Spec::default(), 1), Stand::new(1));
        stand.wait(MS * 10);
        stand.arrives(&mut state, 0, Ecn::NotEct);
        stand.fill(0, Ecn::NotEct, 1);
        stand.wait(MS * 90);
        stand.departs(&mut state, 0, Ecn::NotEct);
        assert!((base(&state) - (0.3125 * 0.090 + 3.125 * 0.080)).abs() < 1e-12);
    }

    #[test]
    fn catching_up_late_is_the_same_as_in_time() {
        // A head is queued for 700 ms, which raises the probability to 1/k, and then the queue is
        // empty: 47 updates from 720 ms to 2100 ms, each of which subtracts 0.3125·20 ms.
        let spec = Spec { beta: 0.0, ..Spec::default() };
        for step in [1, 7, 35, 100] {
            let (mut state, mut stand) = (State::new(&spec, 1), Stand::new(1));
            stand.fill(0, Ecn::NotEct, 1);
            for _ in 0..2_100 / step {
                stand.wait(MS * step);
                stand.departs(&mut state, 0, Ecn::NotEct);
                if stand.now == Instant::ZERO + MS * 700 {
                    stand.queues[0].pop();
                }
            }
            assert!((base(&state) - (0.5 - 47.0 * 0.00625)).abs() < 1e-12, "{step}");
        }
    }

    #[test]
    fn hours_of_nothing_leave_it_in_step() {
        let (mut state, mut stand) = (State::new(&Spec::default(), 1), Stand::new(1));
        stand.wait(MS * 36_000_000);
        stand.arrives(&mut state, 0, Ecn::NotEct);
        stand.fill(0, Ecn::NotEct, 1);
        // The next update is due after 30 ms (36,000,000 is a multiple), with a delay of 30 ms.
        stand.wait(MS * 29);
        stand.departs(&mut state, 0, Ecn::NotEct);
        assert_eq!(base(&state), 0.0);
        stand.wait(MS);
        stand.departs(&mut state, 0, Ecn::NotEct);
        assert!((base(&state) - (0.3125 * 0.010 + 3.125 * 0.030)).abs() < 1e-12);
    }

    #[test]
    fn scalable_is_k_times_and_classic_squared() {
        // A standing delay of 60 ms from the first update on: 3.125·0.06 + 5·0.3125·0.04 = 0.25.
        let spec = Spec::default();
        let mut state = State::new(&spec, 1);
        let gains = Gains { target: spec.target, alpha: spec.alpha, beta: spec.beta };
        (0..5).for_each(|_| {
            state.controllers[0].update(&gains, MS * 60, 1.0);
        });
        assert!((base(&state) - 0.25).abs() < 1e-12);
        let mut stand = Stand::new(1);
        stand.fill(0, Ecn::NotEct, 2);
        let mut congested = |ecn| {
            let judged = (0..100_000).map(|_| stand.arrives(&mut state, 0, ecn));
            judged.filter(|verdict| *verdict == Verdict::Congested).count() as i64
        };
        // Of 100,000 trials: 1/2, and 1/16; five standard deviations are 791 and 383.
        assert!((congested(Ecn::Ect1) - 50_000).abs() < 791);
        assert!((congested(Ecn::Ce) - 50_000).abs() < 791);
        assert!((congested(Ecn::NotEct) - 6_250).abs() < 383);
        assert!((congested(Ecn::Ect0) - 6_250).abs() < 383);
        // Fewer than two full packets are queued.
        let mut stand = Stand::new(1);
        stand.fill(0, Ecn::NotEct, 1);
        let passes = |verdict| verdict == Verdict::Pass;
        assert!((0..1_000).all(|_| passes(stand.arrives(&mut state, 0, Ecn::Ect1))));
    }
}
