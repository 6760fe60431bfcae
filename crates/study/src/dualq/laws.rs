//! The average window of one flow against the probability of a mark or a loss: the points, and the
//! power laws that fit them.

use std::collections::BTreeMap;

use floodway_report::statistics::Scale;
use floodway_sim::switch::aqm;

use crate::evidence::{Evidence, Facts};
use crate::measure::{Measured, estimate, geometric};

use super::measures::{SEGMENT, rates};
use super::plan::{LAWS, Law, evenly, law};
use super::{CLASSIC, case};

/// Logarithms of what is given and of the window, by replication.
type Points = BTreeMap<u32, Vec<(f64, f64)>>;

/// The law of a variant.
pub fn of(variant: &str) -> &'static Law {
    LAWS.iter().find(|law| law.variant == variant).expect("it is one of the laws")
}

/// The evidence of signals at even distances: experiments of that kind stand for the others.
pub fn at_even_distances(evidence: &Evidence) -> Evidence {
    evidence.of_reading(&evenly())
}

/// The windows of the flow of an experiment: packets that arrive in a round trip, by replication.
fn windows(
    evidence: &Evidence,
    variant: &'static str,
    rtt_ms: u32,
    probability: &str,
) -> Vec<(u32, f64)> {
    let experiment = law(variant, rtt_ms, probability);
    let window = |facts: &Facts| {
        let mbps = rates(evidence, experiment, facts, CLASSIC).first().copied()?;
        Some(mbps * f64::from(rtt_ms) * 1e3 / 8.0 / SEGMENT)
    };
    let runs = evidence.runs(case(experiment, variant));
    runs.filter_map(|(at, facts)| Some((at, window(facts)?))).collect()
}

/// The share of packets that meet a signal in the experiment of a point, which is another one where
/// distances are even and whole.
fn share(evidence: &Evidence, experiment: &str) -> Option<f64> {
    match &evidence.scenario(experiment)?.variants()[0].settings.switch.aqm {
        aqm::Spec::Bernoulli(of) => Some(of.probability),
        aqm::Spec::Regular(of) => Some(1.0 / f64::from(of.packets.get())),
        _ => None,
    }
}

/// The windows over the probabilities of a law.
fn by_probability(evidence: &Evidence, of: &'static Law) -> Points {
    let mut points = Points::new();
    for probability in of.probabilities {
        let x =
            share(evidence, law(of.variant, of.rtt_ms, probability)).map_or(f64::NAN, libm::log);
        for (at, window) in windows(evidence, of.variant, of.rtt_ms, probability) {
            points.entry(at).or_default().push((x, libm::log(window)));
        }
    }
    points
}

/// The windows over the round-trip times of a law, at the middle probability, in seconds.
fn by_round_trip(evidence: &Evidence, of: &'static Law) -> Points {
    let mut points = Points::new();
    let middle = of.probabilities[of.probabilities.len() / 2];
    for rtt_ms in of.others.iter().chain([&of.rtt_ms]) {
        let x = libm::log(f64::from(*rtt_ms) / 1e3);
        for (at, window) in windows(evidence, of.variant, *rtt_ms, middle) {
            points.entry(at).or_default().push((x, libm::log(window)));
        }
    }
    points
}

/// The means over replications: probability and window.
pub fn points(evidence: &Evidence, of: &'static Law) -> Vec<(f64, f64)> {
    let mut means: Vec<(f64, Vec<f64>)> = Vec::new();
    for (x, y) in by_probability(evidence, of).into_values().flatten() {
        match means.iter_mut().find(|mean| mean.0 == x) {
            Some(mean) => mean.1.push(y),
            None => means.push((x, vec![y])),
        }
    }
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = |ys: &[f64]| ys.iter().sum::<f64>() / ys.len() as f64;
    means.into_iter().map(|(x, ys)| (libm::exp(x), libm::exp(mean(&ys)))).collect()
}

/// The slope of the line through points by least squares; none of fewer than three.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|of| of.0), mean(|of| of.1));
    let both: f64 = points.iter().map(|of| (of.0 - x) * (of.1 - y)).sum();
    let square: f64 = points.iter().map(|of| (of.0 - x) * (of.0 - x)).sum();
    (points.len() >= 3 && square > 0.0).then(|| both / square)
}

/// The exponent of p that fits best.
pub fn exponent(evidence: &Evidence, variant: &str) -> Measured {
    estimate(
        by_probability(evidence, of(variant)).values().filter_map(|of| slope(of)),
        Scale::REAL,
        "",
    )
}

/// The exponent of the round-trip time in the rate that fits best: that of the window less one.
pub fn rtt_exponent(evidence: &Evidence, variant: &str) -> Measured {
    let slopes = by_round_trip(evidence, of(variant)).into_values().filter_map(|of| slope(&of));
    estimate(slopes.map(|slope| slope - 1.0), Scale::REAL, "")
}

/// The factor `c` of the law `c RTT^r p^e` with these exponents: the geometric mean over the points.
pub fn factor(evidence: &Evidence, variant: &str, e: f64, r: f64) -> Measured {
    let of = of(variant);
    let rtt = libm::log(f64::from(of.rtt_ms) / 1e3);
    let mean = |points: &Vec<(f64, f64)>| {
        let logs = points.iter().map(|(x, y)| y - e * x - r * rtt);
        logs.sum::<f64>() / points.len() as f64
    };
    geometric(by_probability(evidence, of).values().map(mean), "")
}

/// k: Reno and DCTCP have the same window if Reno's probability is the square of DCTCP's over k.
pub fn coupling(evidence: &Evidence) -> Measured {
    let reno = factor(evidence, "reno", -0.5, 0.0).value;
    let dctcp = factor(evidence, "dctcp", -1.0, 0.0).value;
    let k = dctcp.zip(reno).map(|(dctcp, reno)| dctcp / reno);
    Measured { value: k, ..Measured::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_by_least_squares() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 0.5), (2.0, 0.0)]), Some(-0.5));
        // Deviations -1, 0, 1 of x and -1, 2, -1 of y.
        assert_eq!(slope(&[(1.0, 0.0), (2.0, 3.0), (3.0, 0.0)]), Some(0.0));
        assert_eq!(slope(&[(0.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(slope(&[(1.0, 0.0), (1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn every_law_has_two_decades() {
        for law in LAWS {
            let of = law.probabilities;
            let ends: [f64; 2] = [of[0], of[of.len() - 1]].map(|text| text.parse().unwrap());
            assert!((ends[1] / ends[0] - 100.0).abs() < 1e-9, "{}", law.variant);
        }
    }
}
