//! Proportional integral controller enhanced (PIE, RFC 8033): drops at enqueue with a probability
//! that a controller adapts so that the queue delay stays near a target.
//!
//! The queue delay is the sojourn time of the last packet that left, from its arrival time (section
//! 4.3 of the RFC allows this or an estimate of the departure rate; Linux without
//! `dq_rate_estimator` does the same), and zero if that packet left the queue empty. The controller
//! is updated at the multiples of `tupdate`.

#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::periodic::Periodic;
use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Target queue delay. Default 15ms (RFC 8033, section 4.2: QDELAY_REF).
    pub target: Duration,
    /// Interval between two updates of the probability. Default 15ms (same section: T_UPDATE).
    pub tupdate: Duration,
    /// Weight of the deviation from the target, per second (Hz). Default 0.125 (same section).
    pub alpha: f64,
    /// Weight of the change of the delay, per second (Hz). Default 1.25 (same section).
    pub beta: f64,
    /// Burst allowance: nothing is dropped for this long after a period without congestion. Default
    /// 150ms (section 4.4: MAX_BURST).
    pub max_burst: Duration,
    /// Whether ECN-capable packets are marked instead of dropped. Default true (section 5.1; in
    /// Linux only with the option `ecn`).
    pub ecn: bool,
    /// Probability above which ECN-capable packets are dropped too. Default 0.1 (section 5.1:
    /// mark_ecnth).
    pub mark_ecnth: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            target: Duration::from_ms(15),
            tupdate: Duration::from_ms(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::from_ms(150),
            ecn: true,
            mark_ecnth: 0.1,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("target", self.target, "RFC 8033 has 15ms");
        findings.positive("tupdate", self.tupdate, "RFC 8033 has 15ms");
        findings.probability("mark_ecnth", self.mark_ecnth);
        findings.positive("alpha", self.alpha, "RFC 8033 has 0.125");
        findings.positive("beta", self.beta, "RFC 8033 has 1.25");
    }
}

/// Sum of probabilities below which nothing is dropped, and at which the next packet is dropped
/// with certainty (section 5.4), so that random drops do not come in clusters.
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// From a probability of 0.1 on, an update raises it by at most this (section 5.5).
const LARGEST_STEP: f64 = 0.02;

/// Factor on the probability at an update when the delay is low, now and at the last update
/// (section 4.2).
const DECAY: f64 = 0.98;

/// While the probability is below the first number, the controller's gain is divided by the second
/// (section 4.2): small probabilities need smaller steps.
const GAINS: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// State of one queue, with the names of the RFC.
#[derive(Clone, Debug)]
struct Queue {
    drop_prob: f64,
    accu_prob: f64,
    burst_allowance: Duration,
    /// The delay at the last update.
    qdelay_old: Duration,
    /// Sojourn time of the last packet that left.
    qdelay: Duration,
}

/// PIE on all data queues of a port, independently.
#[derive(Clone, Debug)]
pub struct State {
    spec: Spec,
    queues: Vec<Queue>,
    updates: Periodic,
}

impl State {
    /// The drop probability of a queue.
    pub fn probability(&self, queue: usize) -> f64 {
        self.queues[queue].drop_prob
    }

    /// Performs the updates that are due. Their inputs have not changed since the last packet.
    fn catch_up(&mut self, now: Instant) {
        let Self { spec, queues, updates } = self;
        updates.catch_up(spec.tupdate, now, |_| {
            queues.iter_mut().for_each(|queue| queue.update(spec));
            queues.iter().all(|queue| queue.is_quiet(spec))
        });
    }
}

impl Queue {
    /// The periodic update: sections 4.2, 4.4 and 5.5.
    fn update(&mut self, spec: &Spec) {
        let (delay, old) = (self.qdelay, self.qdelay_old);
        let seconds = |later: Duration, earlier: Duration| later.as_secs() - earlier.as_secs();
        let mut step = spec.alpha * seconds(delay, spec.target) + spec.beta * seconds(delay, old);
        let gain = GAINS.iter().find(|(below, _)| self.drop_prob < *below);
        step /= gain.map_or(1.0, |(_, divisor)| *divisor);
        if self.drop_prob >= 0.1 {
            step = step.min(LARGEST_STEP);
        }
        self.drop_prob += step;
        let half = Duration(spec.target.0 / 2);
        let calm = delay < half && old < half;
        if calm {
            self.drop_prob *= DECAY;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = delay;
        self.burst_allowance = Duration(self.burst_allowance.0.saturating_sub(spec.tupdate.0));
        if self.drop_prob == 0.0 && calm {
            self.burst_allowance = spec.max_burst;
        }
    }

    /// Whether updates would leave the state unchanged as long as no packet leaves.
    fn is_quiet(&self, spec: &Spec) -> bool {
        self.drop_prob == 0.0
            && self.qdelay == Duration::ZERO
            && self.qdelay_old == Duration::ZERO
            && self.burst_allowance == spec.max_burst
    }

    /// Whether an arriving packet is to be dropped or marked: sections 4.1, 4.4 and 5.4.
    fn drop_early(&mut self, spec: &Spec, short: bool, rng: &mut Stream) -> bool {
        if self.burst_allowance > Duration::ZERO {
            return false;
        }
        if short || (self.qdelay_old.0 < spec.target.0 / 2 && self.drop_prob < 0.2) {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        let dropped = self.accu_prob >= ACCUMULATED.0
            && (self.accu_prob >= ACCUMULATED.1 || rng.bernoulli(self.drop_prob));
        if dropped {
            self.accu_prob = 0.0;
        }
        dropped
    }
}

impl Aqm for State {
    type Spec = Spec;
    const JUDGES_DEPARTURES: bool = true;

    fn no_marks(spec: &Spec) -> Option<&'static str> {
        (!spec.ecn).then_some("switch.aqm.pie.ecn")
    }

    fn needs_ecn(spec: &Spec) -> &'static [&'static str] {
        if spec.ecn { &["ecn", "mark_ecnth"] } else { &[] }
    }

    fn start_at(&mut self, now: Instant) {
        self.updates.start_at(self.spec.tupdate, now);
    }

    fn new(spec: &Spec, queues: usize) -> Self {
        let queue = Queue {
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance: spec.max_burst,
            qdelay_old: Duration::ZERO,
            qdelay: Duration::ZERO,
        };
        let updates = Periodic::every(spec.tupdate);
        Self { spec: spec.clone(), queues: vec![queue; queues], updates }
    }

    #[inline(never)]
    fn on_arrival(&mut self, queue: usize, _packet: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view.now);
        let short = view.backlog(queue) <= 2 * view.largest_frame();
        let queue = &mut self.queues[queue];
        if !queue.drop_early(&self.spec, short, view.rng) {
            Verdict::Pass
        } else if self.spec.ecn && queue.drop_prob <= self.spec.mark_ecnth {
            Verdict::Congested
        } else {
            Verdict::Drop
        }
    }

    #[inline(never)]
    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view.now);
        let last = view.backlog(queue) == view.occupied(packet);
        self.queues[queue].qdelay = if last { Duration::ZERO } else { view.sojourn(queue) };
        Verdict::Pass
    }
}
