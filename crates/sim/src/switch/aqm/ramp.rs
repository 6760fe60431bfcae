//! The RED-shaped curve on the instantaneous queue depth that data-center switches offer as "WRED
//! with ECN" (DCQCN, SIGCOMM 2015, figure 5): no marks up to `kmin`, a probability that rises
//! linearly to `pmax` between `kmin` and `kmax`, and above `kmax` as [`AboveKmax`] says.
//! Congestion Isolation uses the same curve to select congesting flows.

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Bytes, Packet, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};
use crate::switch::check::Facts;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Queue depth up to which nothing is selected. Default 10KB (Congestion Isolation decks).
    pub kmin: Bytes,
    /// Queue depth at which the probability reaches `pmax`. Default 300KB (same decks).
    pub kmax: Bytes,
    /// Probability at `kmax`, 0 to 1. Default 0.01 (same decks).
    pub pmax: f64,
    /// Probability above `kmax`. Default `step`, as in RED and in DCQCN.
    pub above_kmax: AboveKmax,
    /// Whether packets are marked at enqueue or at dequeue. Default `departure`, as switches do it
    /// (the ECN test plan of SONiC expects the first packet of a queue to be marked and the last
    /// one not; so do the simulators of the authors of DCQCN and of HPCC). Marks at enqueue are
    /// delayed by the queue, which makes DCQCN oscillate (decision 48).
    pub at: At,
    /// Separate curves for ports of these rates. Default none: all ports use the curve above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_rate: Vec<OfRate>,
    /// The queues that have a curve, counted from 0; empty means all. Default all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<u8>,
    /// Separate curves for these queues, at ports of all rates. Default none: all queues use the
    /// curve above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_queue: Vec<OfQueues>,
}

/// The curve of some queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfQueues {
    /// The queues, counted from 0.
    pub queues: Vec<u8>,
    /// Queue depth up to which nothing is selected.
    pub kmin: Bytes,
    /// Queue depth at which the probability reaches `pmax`.
    pub kmax: Bytes,
    /// Probability at `kmax`, 0 to 1.
    pub pmax: f64,
}

/// The curve for ports of one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfRate {
    /// The rate of the port.
    pub rate: Rate,
    /// Queue depth up to which nothing is selected.
    pub kmin: Bytes,
    /// Queue depth at which the probability reaches `pmax`.
    pub kmax: Bytes,
    /// Probability at `kmax`, 0 to 1.
    pub pmax: f64,
}

/// When the decision on a packet is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// At enqueue, by the backlog that the packet finds in the queue.
    Arrival,
    /// At dequeue, by the backlog that the packet leaves behind. The signal is as recent as
    /// possible: a packet that arrived before a burst is marked because of it (the HPCC authors'
    /// simulator).
    #[default]
    Departure,
}

/// The curve above its upper threshold. The decks give "max probability 1 %" and leave this open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AboveKmax {
    /// The probability is 1.
    #[default]
    Step,
    /// The probability stays at `pmax`.
    Cap,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            kmin: Bytes(10_000),
            kmax: Bytes(300_000),
            pmax: 0.01,
            above_kmax: AboveKmax::Step,
            at: At::Departure,
            by_rate: Vec::new(),
            queues: Vec::new(),
            by_queue: Vec::new(),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let remedy = "the probability rises between them: set `kmin` below `kmax`";
        findings.below(("kmin", self.kmin), ("kmax", self.kmax), remedy);
        findings.probability("pmax", self.pmax);
        for (number, of) in self.by_rate.iter().enumerate() {
            let findings = &mut findings.within(format!("by_rate.{number}"));
            // A single threshold is a ramp of zero width.
            findings.at_most(("kmin", of.kmin), ("kmax", of.kmax), "set `kmin` to at most `kmax`");
            findings.probability("pmax", of.pmax);
            if self.by_rate[..number].iter().any(|earlier| earlier.rate == of.rate) {
                findings.error(
                    "rate",
                    format!("ports of {} have two curves", of.rate),
                    "write every rate once",
                );
            }
        }
        for (number, of) in self.by_queue.iter().enumerate() {
            let findings = &mut findings.within(format!("by_queue.{number}"));
            findings.at_most(("kmin", of.kmin), ("kmax", of.kmax), "set `kmin` to at most `kmax`");
            findings.probability("pmax", of.pmax);
            if of.queues.is_empty() {
                findings.idle("", "it names no queue");
            }
            for (index, queue) in of.queues.iter().enumerate() {
                let place = format!("queues.{index}");
                let earlier = self.by_queue[..number].iter();
                let others = earlier.flat_map(|other| &other.queues).chain(&of.queues[..index]);
                if others.into_iter().any(|other| other == queue) {
                    let message = format!("queue {queue} has two curves");
                    findings.error(&place, message, "write every queue once");
                } else if !self.acts_on(*queue) {
                    let message = format!("queue {queue} has a curve, and is not in `queues`");
                    findings.error(&place, message, "add it there, or remove it here");
                }
            }
        }
    }
}

impl Spec {
    /// The parameters for ports of one rate.
    pub fn for_rate(&self, rate: Rate) -> Self {
        let mut spec = Self { by_rate: Vec::new(), ..self.clone() };
        if let Some(curve) = self.by_rate.iter().find(|curve| curve.rate == rate) {
            (spec.kmin, spec.kmax) = (curve.kmin, curve.kmax);
            spec.pmax = curve.pmax;
        }
        spec
    }

    /// Whether a queue has a curve.
    fn acts_on(&self, queue: u8) -> bool {
        self.queues.is_empty() || self.queues.contains(&queue)
    }

    /// The parameters for one queue; `None` if it has no curve.
    pub fn for_queue(&self, queue: u8) -> Option<Self> {
        let all = Self { queues: Vec::new(), by_queue: Vec::new(), ..self.clone() };
        let own = self.by_queue.iter().find(|of| of.queues.contains(&queue));
        if !self.acts_on(queue) {
            return None;
        }
        Some(match own {
            Some(of) => Self { kmin: of.kmin, kmax: of.kmax, pmax: of.pmax, ..all },
            None => all,
        })
    }

    /// Checks that the queues that it names exist.
    pub fn check_queues(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queues("queues", &self.queues, findings);
        for (number, of) in self.by_queue.iter().enumerate() {
            facts.check_queues(&format!("by_queue.{number}.queues"), &of.queues, findings);
        }
    }

    /// Probability that a packet is selected when the queue holds `backlog` bytes.
    pub fn probability(&self, backlog: u64) -> f64 {
        if backlog <= self.kmin.0 {
            0.0
        } else if backlog < self.kmax.0 {
            let way = (backlog - self.kmin.0) as f64 / (self.kmax.0 - self.kmin.0) as f64;
            self.pmax * way
        } else {
            match self.above_kmax {
                AboveKmax::Step => 1.0,
                AboveKmax::Cap => self.pmax,
            }
        }
    }

    /// Decides at random for a packet when the queue holds `backlog` bytes.
    #[inline]
    pub fn selects(&self, backlog: u64, rng: &mut Stream) -> bool {
        backlog > self.kmin.0 && rng.bernoulli(self.probability(backlog))
    }
}

/// Stateless but for the curve of each queue, which is `None` if it has none.
#[derive(Clone, Debug)]
pub struct State {
    at: At,
    curves: Vec<Option<Spec>>,
}

impl State {
    #[inline]
    fn selects(&self, queue: usize, backlog: u64, rng: &mut Stream) -> bool {
        let curve = self.curves.get(queue).and_then(Option::as_ref);
        curve.is_some_and(|curve| curve.selects(backlog, rng))
    }
}

impl Aqm for State {
    type Spec = Spec;

    fn threshold(spec: &Spec) -> Option<(&'static str, Bytes)> {
        Some(("kmax", spec.kmax))
    }

    fn on_arrival_instead(_: &Spec) -> Option<&'static str> {
        Some("write `switch.aqm.ramp.at = \"arrival\"`")
    }

    fn new(spec: &Spec, queues: usize) -> Self {
        let curves = (0..queues).map(|queue| spec.for_queue(queue as u8)).collect();
        Self { at: spec.at, curves }
    }

    fn decides_on_arrival(spec: &Spec) -> bool {
        spec.at == At::Arrival
    }

    fn decides_on_departure(spec: &Spec) -> bool {
        spec.at == At::Departure
    }

    fn decides_on_lone_packets(_: &Spec) -> bool {
        // Such a packet leaves an empty queue behind.
        false
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        let judged = self.at == At::Arrival;
        Verdict::congested(judged && self.selects(queue, view.backlog(queue), view.rng))
    }

    #[inline(never)]
    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let left = view.backlog(queue).saturating_sub(view.occupied(packet));
        Verdict::congested(self.at == At::Departure && self.selects(queue, left, view.rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decks_curve() {
        let ramp = Spec::default();
        assert_eq!(ramp.probability(10_000), 0.0);
        // Halfway from 10 KB to 300 KB: half of 1 %.
        assert!((ramp.probability(155_000) - 0.005).abs() < 1e-15);
        assert_eq!(ramp.probability(300_000), 1.0);
        let capped = Spec { above_kmax: AboveKmax::Cap, ..ramp };
        assert_eq!(capped.probability(900_000), 0.01);
    }

    #[test]
    fn a_port_has_the_curve_of_its_rate() {
        let fast = OfRate {
            rate: Rate::from_gbps(200),
            kmin: Bytes(20_000),
            kmax: Bytes(600_000),
            pmax: 0.2,
        };
        let ramp = Spec { by_rate: vec![fast], ..Spec::default() };
        // Halfway from 20 KB to 600 KB, at ports of 200 Gb/s; the others use the curve of the
        // decks.
        assert_eq!(ramp.for_rate(Rate::from_gbps(200)).probability(310_000), 0.1);
        assert_eq!(ramp.for_rate(Rate::from_gbps(100)), Spec::default());
    }

    #[test]
    fn a_queue_has_its_own_curve_or_none() {
        let own = OfQueues { queues: vec![2], kmin: Bytes(1_000), kmax: Bytes(2_000), pmax: 0.5 };
        let ramp = Spec { queues: vec![0, 2], by_queue: vec![own], ..Spec::default() };
        let at = |queue| Some(ramp.for_queue(queue)?.probability(155_000));
        assert_eq!((at(1), at(2)), (None, Some(1.0)));
        assert!((at(0).unwrap() - 0.005).abs() < 1e-15);
        // Halfway from 1000 to 2000 bytes.
        assert_eq!(ramp.for_queue(2).unwrap().probability(1_500), 0.25);
    }

    #[test]
    fn at_departure_what_is_left_behind_counts() {
        use crate::switch::aqm::stand::Stand;
        use floodway_model::Ecn;
        let kmin = Bytes(1_000);
        let ramp = Spec { kmin, kmax: Bytes(1_001), at: At::Departure, ..Spec::default() };
        let (mut state, mut stand) = (State::new(&ramp, 1), Stand::new(1));
        // Of two packets of 1000 bytes the first leaves 1000 behind it, which is not above the
        // threshold; of three, 2000. There is no decision at enqueue.
        stand.fill(0, Ecn::Ect0, 2);
        assert_eq!(stand.departs(&mut state, 0, Ecn::Ect0), Verdict::Pass);
        stand.fill(0, Ecn::Ect0, 1);
        assert_eq!(stand.departs(&mut state, 0, Ecn::Ect0), Verdict::Congested);
        assert_eq!(stand.arrives(&mut state, 0, Ecn::Ect0), Verdict::Pass);
        assert!(State::decides_on_departure(&ramp));
        assert!(!State::decides_on_departure(&Spec { at: At::Arrival, ..Spec::default() }));
    }

    #[test]
    fn dice_follow_the_curve() {
        let ramp = Spec::default();
        let mut rng = Stream::named(3, "test");
        let hits = (0..100_000).filter(|_| ramp.selects(155_000, &mut rng)).count();
        // Mean 500, standard deviation 22.3. Bounds are five standard deviations.
        assert!((388..612).contains(&hits), "{hits}");
        assert!(!(0..1_000).any(|_| ramp.selects(10_000, &mut rng)));
    }
}
