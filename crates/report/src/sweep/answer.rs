//! What a sweep comes to, in sentences.

use super::Sweep;
use super::tables::change;
use crate::words;

/// A sentence for each variant after the first: between what its change lies. Of a single variant, one
/// about where the metric is least and where it is largest. Of the first metric that is shown.
pub fn answer(sweep: &Sweep) -> Vec<String> {
    let Some(metric) = sweep.shown().first().copied() else { return Vec::new() };
    let Some(meaning) = sweep.metrics.get(metric) else { return Vec::new() };
    let what = meaning.meaning.trim_end_matches('.');
    let Some((baseline, others)) = sweep.variants.split_first() else { return Vec::new() };
    let points = 0..sweep.points.len();
    if others.is_empty() {
        let mean = |point| sweep.estimate(point, baseline, metric).mean.map(|mean| (mean, point));
        let means: Vec<(f64, usize)> = points.filter_map(mean).collect();
        let least = means.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = means.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(least), Some(most)) = (least, most) else { return Vec::new() };
        let at = |(value, point): &(f64, usize)| {
            let value = words::quantity(*value, &meaning.unit);
            format!("{value} at `{}`", sweep.name(*point))
        };
        let first = match least.0 == most.0 {
            true => format!("The {what} is the same at all points: {}.", at(least)),
            false => format!("The {what} lies between {} and {}.", at(least), at(most)),
        };
        return vec![first];
    }
    let sentence = |variant: &String| {
        let changes = points.clone().filter_map(|point| {
            let percent = change(sweep, point, variant, metric)?.percent()?;
            Some((percent, point))
        });
        let changes: Vec<(f64, usize)> = changes.collect();
        let least = changes.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = changes.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let at = |(percent, point): &(f64, usize)| {
            let (value, _) = words::measured(*percent, None, None, "%");
            format!("{value} at `{}`", sweep.name(*point))
        };
        if changes.iter().all(|(percent, _)| *percent == 0.0) {
            let at = if changes.len() == 1 { "" } else { " at all points" };
            return Some(format!("{variant} leaves the {what} as it is with {baseline}{at}."));
        }
        Some(match changes.len() {
            1 => format!("{variant} changes the {what} by {}, against {baseline}.", at(least)),
            _ => format!(
                "{variant} changes the {what} by between {} and {}, against {baseline}.",
                at(least),
                at(most)
            ),
        })
    };
    others.iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::tests::sweep;
    use super::*;

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
        assert_eq!(
            answer(&sweep),
            ["b changes the mean completion time of all flows by between -50 % at `load=0.2` and \
              -39 % at `load=0.4`, against a."]
        );
        sweep.variants.pop();
        assert_eq!(
            answer(&sweep),
            [
                "The mean completion time of all flows lies between 101 ns at `load=0.2` and 210 ns at \
              `load=0.4`."
            ]
        );
    }
}
