//! What a sweep comes to, in sentences.

use super::cells::{Cell, cells};
use super::ranking::ranking;
use super::{Meaning, Sweep};
use crate::statistics::{CONFIDENCE, Change, Estimate, NoInterval, holm};
use crate::words;

/// Of the first metric that is shown, each with the place of the variant that it is about: for each
/// variant after the first between what its change lies and at how many points it is significant; and
/// which points are best. Where points cannot be ranked, between what a single variant changes from the
/// reference point. Where there are no numbers, that there are none.
pub fn answers(sweep: &Sweep) -> Vec<(usize, String)> {
    let Some((baseline, others)) = sweep.variants.split_first() else { return Vec::new() };
    if sweep.runs.iter().all(|row| row.numbers.is_empty()) {
        return vec![(0, "No run of this sweep has any number.".to_owned())];
    }
    let first = sweep.shown().first().copied();
    let Some((metric, meaning)) = first.and_then(|name| sweep.metrics.get_key_value(name)) else {
        let said = "These runs have none of the metrics that usually matter. Those that they have are \
                    in `points.csv`, and are shown if they are named.";
        return vec![(0, said.to_owned())];
    };
    let cells = cells(sweep, metric);
    let mut answers: Vec<(usize, String)> = Vec::new();
    for (number, variant) in (1..).zip(others) {
        answers.push((number, compared(sweep, &cells, meaning, (baseline, number, variant))));
    }
    for number in 0..sweep.variants.len() {
        let sentences = ranking(sweep, &cells, meaning, number);
        answers.extend(sentences.into_iter().map(|sentence| (number, sentence)));
    }
    if answers.is_empty() {
        answers.push((0, alone(sweep, &cells, meaning)));
    }
    answers
}

/// A sentence for each group of points of a variant that can be ranked by a metric.
pub fn ranked(sweep: &Sweep, cells: &[Cell], metric: &str) -> Vec<String> {
    let Some(meaning) = sweep.metrics.get(metric) else { return Vec::new() };
    (0..sweep.variants.len()).flat_map(|of| ranking(sweep, cells, meaning, of)).collect()
}

/// The metric of the only variant where points are not ranked: its mean at the reference, and between
/// what it changes from there.
fn alone(sweep: &Sweep, cells: &[Cell], meaning: &Meaning) -> String {
    let what = meaning.meaning.trim_end_matches('.');
    let known: Vec<&Cell> = cells.iter().filter(|cell| cell.estimate.mean.is_some()).collect();
    let [first, ..] = known[..] else { return format!("No run has a number for the {what}.") };
    let traffic: std::collections::BTreeSet<usize> =
        (0..sweep.points.len()).map(|point| sweep.traffic_of(point, 0)).collect();
    let remark = match traffic.len() {
        1 if known.iter().any(|cell| cell.bound) => {
            "Of some points only a lower bound is known, so they are not ranked. "
        }
        1 => "",
        _ => "The points have different traffic, so they are not ranked. ",
    };
    let reference = known.iter().find(|cell| cell.point == sweep.reference.point);
    let is = |cell: &Cell| {
        let role = match sweep.points.len() > 1 && cell.point == sweep.reference.point {
            true => "the reference ",
            false => "",
        };
        let value = quoted(&cell.estimate, &meaning.unit);
        format!("{value} at {role}`{}`", sweep.short_name(cell.point))
    };
    let from: Vec<(Change, usize)> =
        known.iter().filter_map(|cell| Some((cell.vs_reference?, cell.point))).collect();
    let mut text = format!("{remark}The {what} is {}", is(reference.unwrap_or(&first)));
    if known.len() > 1 && known.iter().all(|cell| cell.estimate.mean == first.estimate.mean) {
        let value = quoted(&first.estimate, &meaning.unit);
        return format!("{remark}The {what} is the same at all points: {value}.");
    }
    match range(sweep, &from) {
        Some(by) => {
            let noun = if from.len() == 1 { "the other point" } else { "the other points" };
            text += &format!("; at {noun} it changes by {by}.{}", significant(&from));
        }
        None => text += ".",
    }
    text
}

/// A mean with its interval: `240 µs [132, 348]`.
pub fn quoted(estimate: &Estimate, unit: &str) -> String {
    let Some(mean) = estimate.mean else { return "-".to_owned() };
    let interval = estimate.interval();
    let range = interval.map(|ends| format!(" {}", words::range(mean, ends, unit)));
    let bound = if estimate.no_interval == Some(NoInterval::Bound) { "≥ " } else { "" };
    bound.to_owned() + &words::quantity(mean, unit) + &range.unwrap_or_default()
}

/// What a variant does to the metric, compared with the baseline.
fn compared(
    sweep: &Sweep,
    cells: &[Cell],
    meaning: &Meaning,
    (baseline, number, variant): (&str, usize, &str),
) -> String {
    let what = meaning.meaning.trim_end_matches('.');
    let of_variant = || cells.iter().skip(number).step_by(sweep.variants.len());
    let everywhere = if sweep.points.len() == 1 { "" } else { " at all points" };
    if of_variant().all(|cell| cell.same_as_variant) {
        return format!(
            "{variant} and {baseline} have the same runs{everywhere}: what differs between them never \
             acted."
        );
    }
    let all: Vec<(Change, usize)> =
        of_variant().filter_map(|cell| Some((cell.vs_variant?, cell.point))).collect();
    if all.is_empty() {
        return format!(
            "Nothing is known of what {variant} does to the {what}: at no point do {variant} and \
             {baseline} both have a number for it."
        );
    }
    if all.len() == sweep.points.len() && all.iter().all(|(change, _)| change.is_none()) {
        return format!("{variant} leaves the {what} as it is with {baseline}{everywhere}.");
    }
    let Some(by) = range(sweep, &all) else {
        return from_nothing(&all, sweep, meaning, (baseline, variant));
    };
    let sized: Vec<(Change, usize)> =
        all.into_iter().filter(|(change, _)| change.size().is_some()).collect();
    let mut text = format!("{variant} changes the {what} by {by}, vs. {baseline}.");
    let left_out = sweep.points.len() - sized.len();
    if left_out > 0 {
        text += &format!(
            " At {left_out} of {} points there is no change in percent: {baseline} has 0 or no value \
             there.",
            sweep.points.len()
        );
    }
    text + &significant(&sized)
}

/// Between what changes lie, with their points; none if all are from zero.
fn range(sweep: &Sweep, all: &[(Change, usize)]) -> Option<String> {
    let sized = all.iter().filter_map(|(of, point)| Some((of.size()?, of, *point)));
    let sized: Vec<(f64, &Change, usize)> = sized.collect();
    let least = sized.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = sized.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let shown = |(_, change, _): &(f64, &Change, usize)| size(change);
    let at =
        |end: &(f64, &Change, usize)| format!("{} at `{}`", shown(end), sweep.short_name(end.2));
    let everywhere = sized.len() == sweep.points.len();
    Some(match sized.len() {
        1 if everywhere => shown(least),
        1 => at(least),
        many if sized.iter().all(|end| shown(end) == shown(least)) => match everywhere {
            true => format!("{} at all points", shown(least)),
            false => format!("{} at {many} points", shown(least)),
        },
        _ => format!("between {} and {}", at(least), at(most)),
    })
}

/// How far a metric rises that is 0 with the baseline wherever there is a value.
fn from_nothing(
    all: &[(Change, usize)],
    sweep: &Sweep,
    meaning: &Meaning,
    (baseline, variant): (&str, &str),
) -> String {
    let what = meaning.meaning.trim_end_matches('.');
    let most = all.iter().max_by(|a, b| a.0.to.total_cmp(&b.0.to)).expect("there is one");
    let value = words::quantity(most.0.to, &meaning.unit);
    let up_to = if all.len() == 1 { "" } else { "up to " };
    format!(
        "{variant} changes the {what} from 0 with {baseline} to {up_to}{value} at `{}`.{}",
        sweep.short_name(most.1),
        significant(all)
    )
}

/// A change in percent, or of a score in points, with its interval, where it has one; empty from zero.
pub(super) fn size(change: &Change) -> String {
    let (value, range) = measured(change).unwrap_or_default();
    format!("{value} {range}").trim_end().to_owned()
}

/// The same in two parts; none from zero.
pub(super) fn measured(change: &Change) -> Option<(String, String)> {
    Some(match (change.points, change.percent) {
        (Some(_), _) if change.is_none() => ("0".to_owned(), String::new()),
        (Some(of), _) => {
            let (value, range) = words::measured(of.value, of.low, of.high, "points");
            (if of.value > 0.0 { format!("+{value}") } else { value }, range)
        }
        (None, Some(_)) if change.is_none() => ("0 %".to_owned(), String::new()),
        (None, percent) => words::measured(percent?, change.low, change.high, "%"),
    })
}

/// At how many points a change is not significant, if all of them are tested together; empty if all
/// are, or nothing is known.
fn significant(changes: &[(Change, usize)]) -> String {
    let known: Vec<f64> = changes.iter().filter_map(|(change, _)| change.p).collect();
    let unclear = holm(&known).iter().filter(|p| **p > 1.0 - CONFIDENCE).count();
    match (unclear, known.len()) {
        (0, _) => String::new(),
        (1, 1) => " The change is not significant (p > 0.05).".to_owned(),
        (some, all) if some == all => {
            " At no point is the change significant (p > 0.05, Holm-adjusted).".to_owned()
        }
        (some, all) => format!(
            " At {some} of {all} points the change is not significant (p > 0.05, Holm-adjusted)."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::tests::sweep;
    use super::*;

    fn answer(sweep: &Sweep) -> Vec<String> {
        answers(sweep).into_iter().map(|(_, sentence)| sentence).collect()
    }

    /// The numbers of a run, by its place among the eight.
    fn set(sweep: &mut Sweep, values: [f64; 8]) {
        for (row, value) in sweep.runs.iter_mut().zip(values) {
            row.numbers.insert("fct_mean_ns".to_owned(), value);
        }
    }

    #[test]
    fn a_variant_that_changes_nothing_is_named() {
        let mut sweep = sweep();
        sweep.runs.retain(|row| row.variant == "a");
        let same = |row: &Row| Row { variant: "b".to_owned(), ..row.clone() };
        let same: Vec<Row> = sweep.runs.iter().map(same).collect();
        sweep.runs.extend(same);
        sweep.runs.sort_by_key(|row| row.point);
        assert_eq!(
            answer(&sweep),
            ["b leaves the mean completion time of all flows as it is with a at all points."]
        );
    }

    #[test]
    fn the_range_of_the_changes_is_given() {
        let sweep = sweep();
        // Half in both replications, so without an interval; then 0.75 and 0.5, whose logarithms are
        // 0.405 apart: ± 12.706 · 0.2027, from 0.0466 to 8.05 times.
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows by between -50 % at `load=0.2` and \
                 -39 % [-95, +705] at `load=0.4`, vs. a. At 1 of 2 points the change is not \
                 significant (p > 0.05, Holm-adjusted)."]
        );
    }

    #[test]
    fn points_are_ranked_within_each_variant() {
        let mut sweep = sweep();
        sweep.traffic.clear();
        // a: ln 2 and ln 2.157, so t = 0.7309 / 0.0378 = 19.35 and p = 1 - 2 / π atan(t) = 0.033.
        // b: ln 3 and ln 2.157, so t = 0.9336 / 0.1650 = 5.66 and p = 0.11.
        // The intervals are exp(± 0.12582), as the test of estimates says.
        let said = answer(&sweep);
        assert_eq!(
            said[1..],
            [
                "With a, the mean completion time of all flows is lowest at `load=0.2`: 101 ns [89, \
                 115], the reference. The other point is worse (p ≤ 0.05).",
                "With b, the mean completion time of all flows is lowest at `load=0.2`: 50.5 ns [44.5, \
                 57.3], the reference. It cannot be distinguished from the other point (p > 0.05)."
            ]
        );
    }

    #[test]
    fn the_same_runs_are_named() {
        let mut sweep = sweep();
        for row in &mut sweep.runs {
            row.fingerprint = format!("{} {}", row.point, row.replication);
        }
        assert_eq!(
            answer(&sweep),
            ["b and a have the same runs at all points: what differs between them never acted."]
        );
    }

    #[test]
    fn a_change_that_is_nowhere_significant_is_named() {
        let mut sweep = sweep();
        set(&mut sweep, [100.0, 100.0, 90.0, 120.0, 100.0, 100.0, 80.0, 150.0]);
        let said = answer(&sweep).remove(0);
        assert!(
            said.ends_with(
                ", vs. a. At no point is the change significant (p > 0.05, Holm-adjusted)."
            ),
            "{said}"
        );
        sweep.points.pop();
        let said = answer(&sweep).remove(0);
        assert!(said.ends_with(", vs. a. The change is not significant (p > 0.05)."), "{said}");
        // One replication has no interval, and so nothing is said of it.
        sweep.runs.retain(|row| row.replication == 0);
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows by -10 %, vs. a."]
        );
    }

    #[test]
    fn ends_that_are_the_same_are_given_once() {
        let mut sweep = sweep();
        set(&mut sweep, [10.0, 10.0, 0.0, 0.0, 30.0, 30.0, 0.0, 0.0]);
        assert_eq!(
            answer(&sweep),
            [
                // 10 in both replications, of which the differences have no spread: p = 0.
                "b changes the mean completion time of all flows by -100 % at all points, vs. a."
            ]
        );
    }

    #[test]
    fn a_sweep_without_numbers_says_so() {
        let mut sweep = sweep();
        sweep.runs[..].iter_mut().filter(|row| row.variant == "b").for_each(|row| {
            row.numbers.remove("fct_mean_ns");
        });
        assert_eq!(
            answer(&sweep),
            [
                "Nothing is known of what b does to the mean completion time of all flows: at no point \
              do b and a both have a number for it."
            ]
        );
        sweep.variants.remove(0);
        sweep.shown = vec!["fct_mean_ns".to_owned()];
        assert_eq!(
            answer(&sweep),
            ["No run has a number for the mean completion time of all flows."]
        );
        sweep.shown.clear();
        sweep.runs.iter_mut().for_each(|row| {
            row.numbers = [("odd".to_owned(), 1.0)].into();
        });
        let page = crate::html::sweep(&sweep);
        let said = crate::terminal::sweep(&sweep, crate::terminal::Style::default());
        assert!(answer(&sweep)[0].starts_with("These runs have none of the metrics that usually"));
        assert!(page.contains("These runs have none of the metrics"));
        assert!(said.contains("These runs have none of the metrics"), "{said}");
        sweep.runs.iter_mut().for_each(|row| row.numbers.clear());
        assert_eq!(answer(&sweep), ["No run of this sweep has any number."]);
    }

    #[test]
    fn a_baseline_of_zero_has_no_percentage() {
        let mut sweep = sweep();
        set(&mut sweep, [0.0, 0.0, 0.0, 0.0, 10.0, 10.0, 5.0, 5.0]);
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows by -50 % at `load=0.4`, vs. \
              a. At 1 of 2 points there is no change in percent: a has 0 or no \
              value there."]
        );
        set(&mut sweep, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0]);
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows from 0 with a to up to 5.00 ns at \
              `load=0.4`. At 1 of 2 points the change is not significant (p > 0.05, Holm-adjusted)."]
        );
    }
}
