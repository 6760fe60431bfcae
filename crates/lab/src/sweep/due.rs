//! Which runs of a sweep are due: replications are added until its metric is known well enough.

use std::collections::BTreeMap;

use floodway_report::statistics::{Estimate, NoInterval};
use floodway_report::sweep::{self as results, Meaning, Row};
use floodway_scenario::Sweep;

use super::Task;

/// With fewer replications the stopping rule is not applied. Two values can be close by coincidence
/// and suggest a precision that is not there, and intervals at which a sweep then stops are too
/// narrow too often.
const FIRST_LOOK: u32 = 5;

/// The runs that are due next: the replications that the scenario asks for, and then, as long as
/// the metric of [`Sweep::until`] is not known well enough at a point, more replications of all
/// variants there. Empty if there are enough. `metrics` gives the meanings of the numbers in the
/// rows.
pub fn due(
    sweep: &Sweep,
    variants: &[String],
    rows: &BTreeMap<Task, Row>,
    metrics: &BTreeMap<String, Meaning>,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (point, at) in sweep.points.iter().enumerate() {
        let wanted = match &sweep.until {
            None => at.scenario.replications,
            Some(until) => {
                let least = at.scenario.replications.max(FIRST_LOOK).min(until.at_most);
                let meaning = metrics.get(&until.metric).cloned().unwrap_or_default();
                (0..variants.len())
                    .map(|variant| {
                        let of = |replication| rows.get(&Task { point, variant, replication });
                        let of: Vec<&Row> = (0..until.at_most).map_while(of).collect();
                        let estimate = results::estimate(&of, &until.metric, &meaning);
                        match of.len() as u32 {
                            done if done < least => least,
                            done => wanted(&estimate, done, until.half_width)
                                .max(done)
                                .min(until.at_most),
                        }
                    })
                    .max()
                    .unwrap_or(0)
            }
        };
        for replication in 0..wanted {
            let of = (0..variants.len()).map(|variant| Task { point, variant, replication });
            tasks.extend(of.filter(|task| !rows.contains_key(task)));
        }
    }
    // This order completes all sides of a comparison early, at all points.
    tasks.sort_by_key(|task| (task.replication, task.point, task.variant));
    tasks
}

/// Distance from the mean to the farther end of the interval, as a fraction of the mean; `None`
/// without an interval.
fn reach(estimate: &Estimate) -> Option<f64> {
    let (mean, (low, high)) = (estimate.mean?, estimate.interval()?);
    Some((high - mean).max(mean - low) / mean.abs())
}

/// Whether a metric is known to this fraction of its mean. A metric that is equal in all
/// replications is known.
pub(super) fn is_known(estimate: &Estimate, half_width: f64) -> bool {
    estimate.no_interval == Some(NoInterval::AllEqual)
        || reach(estimate).is_some_and(|reach| reach <= half_width)
}

/// Number of replications that a metric with this estimate after `done` of them would need for a
/// half-width of this fraction of its mean, but at most twice `done`.
fn wanted(estimate: &Estimate, done: u32, half_width: f64) -> u32 {
    let Some(reach) = reach(estimate) else {
        // More of the same replications would add nothing.
        return done;
    };
    if is_known(estimate, half_width) || reach.is_nan() {
        return done;
    }
    // The logarithm of the ratio of upper end to mean decreases with the square root of the number
    // of replications.
    let wide = reach.ln_1p() / half_width.ln_1p();
    let needed = f64::from(done) * wide * wide;
    if needed > f64::from(2 * done) { 2 * done } else { (needed.ceil() as u32).max(done + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_report::statistics::Scale;

    fn wanted(values: &[f64], unit: &str, half_width: f64) -> u32 {
        let estimate = Estimate::of(values.iter().copied(), Scale::of_unit(unit));
        super::wanted(&estimate, values.len() as u32, half_width)
    }

    #[test]
    fn replications_follow_from_the_farther_end_of_the_interval() {
        // Two values of 100 ± 1: t is 12.706 and the standard error 1, so the interval reaches from 100 /
        // f to 100 f, where f = exp(0.12706) = 1.1355: 13.55 % up and 11.93 % down.
        let values = [99.0, 101.0];
        assert_eq!(wanted(&values, "ns", 0.136), 2);
        // Within a factor of two: 2 (0.12706 / ln 1.13)² = 2.16, 2 (0.12706 / ln 1.1)² = 3.55.
        assert_eq!(wanted(&values, "ns", 0.13), 3);
        assert_eq!(wanted(&values, "ns", 0.1), 4);
        assert_eq!(wanted(&values, "ns", 0.001), 4);
        // A metric that is equal in all replications is known.
        assert_eq!(wanted(&[1.0, 1.0], "ns", 0.05), 2);
        assert_eq!(wanted(&[0.0, 0.0], "ns", 0.05), 2);
        let equal = Estimate::of([7.0, 7.0], Scale::NON_NEGATIVE);
        assert!(is_known(&equal, 0.05));
        // A metric without a value is not known, and more replications do not help.
        assert_eq!(wanted(&[f64::NAN, f64::NAN], "ns", 0.05), 2);
        assert!(!is_known(&Estimate::of([f64::NAN], Scale::NON_NEGATIVE), 0.05));
    }

    #[test]
    fn a_slowdown_is_known_on_its_own_scale() {
        // Slowdowns of 1.01 and 1.03 are 0.02 above 1 with c² = 0.5: t √(c² / 2 + c⁴ / 2) = 12.706 ·
        // 0.61237 = 7.781. The upper end is 1 + 0.02 · exp(7.781) = 48.9, that of a time with the same
        // values 1.02 · exp(0.1246) = 1.155.
        let values = [1.01, 1.03];
        assert_eq!(wanted(&values, "ns", 0.14), 2);
        assert_eq!(wanted(&values, "x", 0.14), 4);
        let reach = reach(&Estimate::of(values, Scale::of_unit("x"))).unwrap();
        assert!((reach * 1.02 / 0.02 / 7.781f64.exp() - 1.0).abs() < 0.01, "{reach}");
    }
}
