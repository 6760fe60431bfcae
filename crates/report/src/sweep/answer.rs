//! What a sweep comes to, in sentences.

use super::tables::change;
use super::{Meaning, Sweep};
use crate::statistics::{Change, Estimate};
use crate::words;

/// A sentence for each variant after the first: between what its change lies, and at how many points
/// it is clear. Of a single variant, one about where the metric is least and where it is largest. Of
/// the first metric that is shown; where there are no numbers, that there are none.
pub fn answer(sweep: &Sweep) -> Vec<String> {
    let Some((baseline, others)) = sweep.variants.split_first() else { return Vec::new() };
    if sweep.runs.iter().all(|row| row.numbers.is_empty()) {
        return vec!["No run of this sweep has any number.".to_owned()];
    }
    let first = sweep.shown().first().copied();
    let Some((metric, meaning)) = first.and_then(|name| sweep.metrics.get_key_value(name)) else {
        let said = "These runs have none of the metrics that usually matter. Those that they have are \
                    in `points.csv`, and are shown if they are asked for by name.";
        return vec![said.to_owned()];
    };
    let what = meaning.meaning.trim_end_matches('.');
    if others.is_empty() {
        let nothing = || format!("No run has a number for the {what}.");
        return vec![alone(sweep, metric, meaning, baseline).unwrap_or_else(nothing)];
    }
    let sentence = |variant: &String| {
        let nothing = || {
            format!(
                "Nothing is known of what {variant} does to the {what}: at no point do {variant} and \
                 {baseline} both have a number for it."
            )
        };
        compared(sweep, metric, meaning, (baseline, variant)).unwrap_or_else(nothing)
    };
    others.iter().map(sentence).collect()
}

/// Where the metric of the only variant is least and largest.
fn alone(sweep: &Sweep, metric: &str, meaning: &Meaning, variant: &str) -> Option<String> {
    let what = meaning.meaning.trim_end_matches('.');
    let mean = |point| {
        let estimate = sweep.estimate(point, variant, metric);
        Some((estimate.mean?, estimate, point))
    };
    let means: Vec<_> = (0..sweep.points.len()).filter_map(mean).collect();
    let least = means.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = means.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let at = |(mean, estimate, point): &(f64, Estimate, usize)| {
        let show = |value| words::quantity(value, &meaning.unit);
        let interval = estimate
            .interval()
            .map_or_else(String::new, |(low, high)| format!(" [{}, {}]", show(low), show(high)));
        format!("{}{interval} at `{}`", show(*mean), sweep.name(*point))
    };
    Some(match least.0 == most.0 {
        true if means.len() == 1 => format!("The {what} is {}.", at(least)),
        true => {
            let value = words::quantity(least.0, &meaning.unit);
            format!("The {what} is the same at all points: {value}.")
        }
        false => format!("The {what} lies between {} and {}.", at(least), at(most)),
    })
}

/// What a variant does to the metric, against the baseline.
fn compared(
    sweep: &Sweep,
    metric: &str,
    meaning: &Meaning,
    (baseline, variant): (&str, &str),
) -> Option<String> {
    let what = meaning.meaning.trim_end_matches('.');
    let all = (0..sweep.points.len())
        .filter_map(|point| Some((change(sweep, point, variant, metric)?, point)));
    let all: Vec<(Change, usize)> = all.collect();
    if all.is_empty() {
        return None;
    }
    let everywhere = if all.len() == 1 { "" } else { " at all points" };
    if all.len() == sweep.points.len() && all.iter().all(|(change, _)| change.is_none()) {
        return Some(format!("{variant} leaves the {what} as it is with {baseline}{everywhere}."));
    }
    let in_percent = all.iter().filter_map(|(of, point)| Some((of.percent?, of, *point)));
    let in_percent: Vec<(f64, &Change, usize)> = in_percent.collect();
    let least = in_percent.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = in_percent.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(least), Some(most)) = (least, most) else {
        return Some(from_nothing(&all, sweep, meaning, (baseline, variant)));
    };
    let shown = |(percent, change, _): &(f64, &Change, usize)| percentage(change, *percent);
    let at = |end: &(f64, &Change, usize)| format!("{} at `{}`", shown(end), sweep.name(end.2));
    let left_out = sweep.points.len() - in_percent.len();
    let by = match in_percent.len() {
        1 if left_out == 0 => shown(least),
        1 => at(least),
        _ if in_percent.iter().all(|end| shown(end) == shown(least)) => match left_out {
            0 => format!("{} at all points", shown(least)),
            _ => format!("{} at {} points", shown(least), in_percent.len()),
        },
        _ => format!("between {} and {}", at(least), at(most)),
    };
    let mut text = format!("{variant} changes the {what} by {by}, against {baseline}.");
    if left_out > 0 {
        text += &format!(
            " At {left_out} of {} points there is no change in percent: {baseline} has 0 or no value \
             there.",
            sweep.points.len()
        );
    }
    text += &clear(in_percent.iter().map(|end| end.1));
    Some(text)
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
        sweep.name(most.1),
        clear(all.iter().map(|(change, _)| change))
    )
}

/// A change in percent with its interval, where that is in percent too.
pub(super) fn percentage(change: &Change, percent: f64) -> String {
    let (low, high) = change.interval().unzip();
    let (value, range) = words::measured(percent, low, high, "%");
    format!("{value} {range}").trim_end().to_owned()
}

/// At how many points a change may be none; empty if all are clear, or nothing is known.
fn clear<'a>(changes: impl Iterator<Item = &'a Change>) -> String {
    let known: Vec<Option<bool>> = changes.map(Change::is_clear).collect();
    let unclear = known.iter().filter(|clear| **clear == Some(false)).count();
    match (unclear, known.len()) {
        (0, _) => String::new(),
        (1, 1) => " The change is not clear: its interval contains 0.".to_owned(),
        (some, all) if some == all => {
            " At no point is the change clear: every interval contains 0.".to_owned()
        }
        (some, all) => format!(" At {some} of {all} points the interval contains 0."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::tests::sweep;
    use super::*;

    /// The numbers of a run, by its place among the eight.
    fn set(sweep: &mut Sweep, values: [f64; 8]) {
        for (row, value) in sweep.runs.iter_mut().zip(values) {
            row.numbers.insert("fct_mean_ns".to_owned(), value);
        }
    }

    #[test]
    fn a_variant_that_changes_nothing_is_told_so() {
        let mut sweep = sweep();
        sweep.runs.retain(|row| row.variant == "a");
        let same = |row: &Row| Row { variant: "b".to_owned(), ..row.clone() };
        let same: Vec<Row> = sweep.runs.iter().map(same).collect();
        sweep.runs.extend(same);
        assert_eq!(
            answer(&sweep),
            ["b leaves the mean completion time of all flows as it is with a at all points."]
        );
    }

    #[test]
    fn the_range_of_the_changes_is_told() {
        let mut sweep = sweep();
        // Half in both replications, so without width; then 0.75 and 0.5, whose logarithms are
        // 0.405 apart: ± 12.706 · 0.2027, from 0.0466 to 8.05 times.
        assert_eq!(
            answer(&sweep),
            [
                "b changes the mean completion time of all flows by between -50.0 % [-50.0, -50.0] at \
              `load=0.2` and -39 % [-95, +705] at `load=0.4`, against a. At 1 of 2 points the \
              interval contains 0."
            ]
        );
        sweep.variants.pop();
        // 101 ± 12.7 and 210 ± 127.
        assert_eq!(
            answer(&sweep),
            ["The mean completion time of all flows lies between 101 ns [88.3 ns, 114 ns] at \
              `load=0.2` and 210 ns [82.9 ns, 337 ns] at `load=0.4`."]
        );
    }

    #[test]
    fn a_change_that_is_nowhere_clear_is_told_so() {
        let mut sweep = sweep();
        set(&mut sweep, [100.0, 100.0, 90.0, 120.0, 100.0, 100.0, 80.0, 150.0]);
        let said = answer(&sweep).remove(0);
        assert!(
            said.ends_with(
                ", against a. At no point is the change clear: every interval contains 0."
            ),
            "{said}"
        );
        sweep.points.pop();
        let said = answer(&sweep).remove(0);
        assert!(
            said.ends_with(", against a. The change is not clear: its interval contains 0."),
            "{said}"
        );
        // One replication has no interval, and so nothing is said of it.
        sweep.runs.retain(|row| row.replication == 0);
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows by -10 %, against a."]
        );
    }

    #[test]
    fn ends_that_are_the_same_are_told_once() {
        let mut sweep = sweep();
        set(&mut sweep, [10.0, 10.0, 0.0, 0.0, 30.0, 30.0, 0.0, 0.0]);
        assert_eq!(
            answer(&sweep),
            [
                "b changes the mean completion time of all flows by -100.0 % at all points, against a."
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
            ["b changes the mean completion time of all flows by -50.0 % [-50.0, -50.0] at \
              `load=0.4`, against a. At 1 of 2 points there is no change in percent: a has 0 or no \
              value there."]
        );
        set(&mut sweep, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0]);
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows from 0 with a to up to 5.00 ns at \
              `load=0.4`. At 1 of 2 points the interval contains 0."]
        );
    }
}
