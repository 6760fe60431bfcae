//! DualPI2 (RFC 9332 appendix A, Linux `sch_dualpi2`): a dual queue under one proportional-integral
//! controller. With its base probability p', classic packets are dropped or marked with probability
//! p'², and low latency packets are marked with k·p', or with the probability of the native AQM of
//! their queue if that is larger.
//!
//! The controlled delay is the longer sojourn time of the two heads. The decision is made at
//! dequeue, and only if at least two full packets are left. When k·p' exceeds 1, marks can signal
//! no more congestion, and [`Overload`] applies. Other parameters of Linux are found elsewhere: the
//! share of the link for classic traffic in `switch.scheduler.wrr`, the field that classifies
//! packets in `switch.classify.ecn`, and the limit (10,000 packets for both queues, or 250 ms in
//! RFC 9332) in `switch.queue.size` or `switch.buffer`.

pub mod low_latency;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::periodic::Periodic;
use super::pi::{self, Gains, Pi};
use super::{Aqm, Verdict, View};
use crate::switch::classify::ecn::{CLASSIC, LOW_LATENCY};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Target queue delay. Default 15ms (Linux; RFC 9332).
    pub target: Duration,
    /// Interval between two updates of the probability. Default 16ms (Linux; 15ms in RFC 9332).
    pub update_interval: Duration,
    /// Integral gain: growth of the base probability per update, per second of delay above the
    /// target (Hz).
    /// Default 0.16015625 (Linux: 41/256; RFC 9332: 0.1·`update_interval`/(100 ms)²).
    pub alpha: f64,
    /// Proportional gain: growth of the base probability per update, per second of change of the
    /// delay (Hz).
    /// Default 3.19921875 (Linux: 819/256; RFC 9332: 0.3/100 ms).
    pub beta: f64,
    /// k: ratio of the low latency probability to the base probability. Default 2 (Linux; RFC
    /// 9332).
    pub coupling: f64,
    /// Native AQM of the low latency queue. Default `step` (Linux).
    pub low_latency: low_latency::Spec,
    /// What happens when marks can signal no more congestion (k·p' above 1). Default `drop`
    /// (Linux).
    pub overload: Overload,
    /// When the controller's probabilities are applied. The native AQM of the low latency queue
    /// always decides at dequeue. Default `departure` (Linux, drop_dequeue).
    pub judged_on: JudgedOn,
}

/// What happens when k·p' exceeds 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overload {
    /// Packets of both queues are dropped with probability p'², whatever their ECN field, and all
    /// other low latency packets are marked: delay stays low.
    #[default]
    Drop,
    /// p' is limited to 1/k, and queues grow until they are full: no packet that can be marked is
    /// dropped before that.
    Overflow,
}

/// When the decision on a packet is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgedOn {
    /// At enqueue (Linux, drop_enqueue).
    Arrival,
    /// At dequeue.
    #[default]
    Departure,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            target: Duration::from_ms(15),
            update_interval: Duration::from_ms(16),
            alpha: 41.0 / 256.0,
            beta: 819.0 / 256.0,
            coupling: 2.0,
            low_latency: low_latency::Spec::default(),
            overload: Overload::Drop,
            judged_on: JudgedOn::Departure,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        pi::check((self.alpha, self.beta), self.update_interval, self.coupling, findings);
        self.low_latency.check(&mut findings.within("low_latency"));
    }
}

/// The controller of one port.
#[derive(Debug)]
pub struct State {
    spec: Spec,
    updates: Periodic,
    pi: Pi,
}

impl State {
    fn catch_up(&mut self, view: &View<'_>) {
        let Spec { target, update_interval, alpha, beta, coupling, overload, .. } = self.spec;
        let gains = Gains { target, alpha, beta };
        let most = if overload == Overload::Overflow { 1.0 / coupling } else { 1.0 };
        self.updates.catch_up(update_interval, view.now, |at| {
            let delay = view.sojourn_at(LOW_LATENCY, at).max(view.sojourn_at(CLASSIC, at));
            let changed = self.pi.update(&gains, delay, most);
            !changed && view.queues[LOW_LATENCY].is_empty() && view.queues[CLASSIC].is_empty()
        });
    }

    /// The base probability for a packet with this many other bytes in both queues; zero if the
    /// controller does not apply at this time.
    fn base(&self, judged_on: JudgedOn, beside: u64, view: &View<'_>) -> f64 {
        let applies = judged_on == self.spec.judged_on && beside >= 2 * view.largest_frame();
        if applies { self.pi.probability() } else { 0.0 }
    }

    /// Verdict on a packet of `queue`; `native` is the probability of the native AQM of the low
    /// latency queue.
    fn verdict(&self, queue: usize, base: f64, native: f64, view: &mut View<'_>) -> Verdict {
        let coupled = self.spec.coupling * base;
        // With `overflow`, rounding could put it above 1.
        let overloaded = coupled > 1.0 && self.spec.overload == Overload::Drop;
        if overloaded && view.squared(base) {
            return Verdict::Drop;
        }
        Verdict::congested(match queue {
            CLASSIC => !overloaded && view.squared(base),
            _ => view.rng.bernoulli(native.max(coupled)),
        })
    }
}

impl Aqm for State {
    type Spec = Spec;
    const JUDGES_DEPARTURES: bool = true;

    fn is_for_two_queues(_: &Self::Spec) -> bool {
        true
    }

    fn start_at(&mut self, now: Instant) {
        self.updates.start_at(self.spec.update_interval, now);
    }

    fn new(spec: &Spec, _: usize) -> Self {
        let updates = Periodic::every(spec.update_interval);
        Self { spec: spec.clone(), updates, pi: Pi::default() }
    }

    fn on_arrival(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view);
        let base = self.base(JudgedOn::Arrival, view.total_backlog(), view);
        self.verdict(queue, base, 0.0, view)
    }

    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        self.catch_up(view);
        let beside = view.total_backlog() - view.occupied(packet);
        let base = self.base(JudgedOn::Departure, beside, view);
        let (waited, packets) = (view.sojourn(LOW_LATENCY), view.packets(LOW_LATENCY));
        let native = self.spec.low_latency.probability(waited, packets);
        self.verdict(queue, base, native, view)
    }
}

#[cfg(test)]
mod tests;
