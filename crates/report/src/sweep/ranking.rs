//! Which points are best, in sentences.

use super::answer::{quoted, size};
use super::cells::{Cell, Place};
use super::{Meaning, Sweep};
use crate::INTERRUPTED;
use crate::better::Better;
use crate::summary::Interval;
use crate::words;

/// More points than this are counted instead of named.
const NAMES: usize = 6;
/// More groups of points with the same traffic than this are in the tables only.
const GROUPS: usize = 4;

/// The measured interval of all runs; none if it does not begin at the same time in all.
fn interval(sweep: &Sweep) -> Option<String> {
    let runs = sweep.runs.iter().filter(|row| row.stop != INTERRUPTED);
    let ends = runs.filter_map(|row| {
        let from = *row.numbers.get("warmup_ns")?;
        Some((from, from + row.numbers.get("measured_ns")?))
    });
    let ends: Vec<(f64, f64)> = ends.collect();
    let (from_ns, _) = *ends.first()?;
    let until = || ends.iter().map(|end| end.1);
    let interval = Interval {
        from_ns,
        first_end_ns: until().fold(f64::INFINITY, f64::min),
        last_end_ns: until().fold(0.0, f64::max),
        end: Default::default(),
    };
    let said = format!(
        "Measured interval of counters, depths, waiting times and rates: {}.",
        words::interval(&interval)
    );
    ends.iter().all(|end| end.0 == from_ns).then_some(said)
}

/// The measured interval, and how to read changes and the best set.
pub fn legend(sweep: &Sweep) -> Vec<String> {
    let mut legend: Vec<String> = interval(sweep).into_iter().collect();
    if sweep.points.len() < 2 {
        return legend;
    }
    let reference = sweep.reference;
    let replications = sweep.runs.iter().map(|row| row.replication + 1).max().unwrap_or(0);
    let ends = if replications > 1 { ", [95 % interval]" } else { "" };
    let name = sweep.short_name(reference.point);
    legend.push(format!(
        "Reference: `{name}`, {}. Changes are paired by replication{ends}.",
        reference.origin.words()
    ));
    let ranked = (0..sweep.variants.len()).any(|variant| {
        let mut known = std::collections::BTreeSet::new();
        (0..sweep.points.len()).any(|point| !known.insert(sweep.traffic_of(point, variant)))
    });
    if ranked && replications > 1 {
        legend.push(
            "Best set: the points that cannot be distinguished from the best mean (Holm-adjusted p > \
             0.05)."
                .to_owned(),
        );
    }
    legend
}

/// A sentence for each group of points with the same traffic, of one variant: the best point, its change
/// from the reference, and the best set. Empty if no two points can be ranked.
pub fn ranking(sweep: &Sweep, cells: &[Cell], meaning: &Meaning, variant: usize) -> Vec<String> {
    let of_variant = || cells.iter().skip(variant).step_by(sweep.variants.len().max(1));
    let groups: Vec<Vec<(&Cell, &Place)>> = {
        let mut groups: Vec<Vec<(&Cell, &Place)>> = Vec::new();
        for cell in of_variant() {
            let Some(place) = &cell.place else { continue };
            match groups.iter_mut().find(|group| group[0].1.best == place.best) {
                Some(group) => group.push((cell, place)),
                None => groups.push(vec![(cell, place)]),
            }
        }
        groups.iter_mut().for_each(|group| group.sort_by_key(|(_, place)| place.rank));
        groups
    };
    let mut sentences: Vec<String> = groups
        .iter()
        .take(GROUPS)
        .map(|group| best(sweep, group, meaning, variant, groups.len() > 1))
        .collect();
    if groups.len() > GROUPS {
        let more = groups.len() - GROUPS;
        sentences
            .push(format!("The best points of {more} more kinds of traffic are in the table."));
    }
    sentences
}

/// The best of a group.
fn best(
    sweep: &Sweep,
    group: &[(&Cell, &Place)],
    meaning: &Meaning,
    variant: usize,
    several: bool,
) -> String {
    let what = meaning.meaning.trim_end_matches('.');
    let first = group[0].0;
    let mut whose: Vec<String> = Vec::new();
    if sweep.variants.len() > 1 {
        whose.push(format!("with {}", sweep.variants[variant]));
    }
    if several {
        whose.extend(common(sweep, group).map(|settings| format!("at {settings}")));
    }
    let whose = if whose.is_empty() { String::new() } else { format!("{}, ", whose.join(" ")) };
    let others = &group[1..];
    let value = quoted(&first.estimate, &meaning.unit);
    let none = |place: &Place| place.vs_best.is_some_and(|change| change.is_none());
    if others.iter().all(|(_, place)| none(place)) {
        let all = if several { "all these points" } else { "all points" };
        return capital(format!("{whose}the {what} is the same at {all}: {value}."));
    }
    let extreme = match Better::of(&first.metric) {
        Some(Better::More) => "highest",
        _ => "lowest",
    };
    let name = sweep.short_name(first.point);
    let mut text = format!("{whose}the {what} is {extreme} at `{name}`: {value}");
    // A change that is due to other traffic as well says nothing of the best.
    if sweep.traffic_of(first.point, variant) == sweep.traffic_of(sweep.reference.point, variant) {
        text += &from_reference(sweep, first);
    }
    text += ".";
    capital(text + &set(sweep, others))
}

/// The change of the best from the reference, behind its mean.
fn from_reference(sweep: &Sweep, best: &Cell) -> String {
    if best.point == sweep.reference.point {
        return ", the reference".to_owned();
    }
    let reference = sweep.short_name(sweep.reference.point);
    match &best.vs_reference {
        _ if best.same_as_reference => format!(", the same runs as the reference `{reference}`"),
        Some(change) if change.is_none() => format!(", the same as the reference `{reference}`"),
        Some(change) => match change.size() {
            Some(of) => {
                // The mean of ratios and the ratio of means may differ in sign.
                let ratios = match (change.to - change.from) * of < 0.0 {
                    true => " (mean of the paired ratios)",
                    false => "",
                };
                let change = size(change);
                format!(", {change} vs. the reference `{reference}`{ratios}")
            }
            None => format!(", from 0 at the reference `{reference}`"),
        },
        None => String::new(),
    }
}

/// Which other points belong to the best set.
fn set(sweep: &Sweep, others: &[(&Cell, &Place)]) -> String {
    let count = others.len();
    let is = |wanted: Option<bool>| {
        others.iter().filter(move |(_, place)| place.in_best_set == wanted).collect::<Vec<_>>()
    };
    let (members, worse, unknown) = (is(Some(true)), is(Some(false)), is(None));
    if unknown.len() == count {
        let reason = unknown.iter().find_map(|(_, place)| place.vs_best?.no_interval);
        return match reason {
            Some(crate::statistics::NoInterval::OneReplication) => {
                " With one replication no best set can be named: give `--replications`.".to_owned()
            }
            Some(reason) => format!(" No best set can be named: {reason}."),
            None => " No best set can be named: no replication has both points.".to_owned(),
        };
    }
    let how = if members.len() + worse.len() > 1 { "Holm-adjusted p" } else { "p" };
    let mut text = match (members.len(), worse.len()) {
        (0, 1) => format!(" The other point is worse ({how} ≤ 0.05)."),
        (0, many) => format!(" The {many} other points are worse ({how} ≤ 0.05)."),
        (1, 0) if count == 1 => {
            format!(" It cannot be distinguished from the other point ({how} > 0.05).")
        }
        (many, 0) if many == count => {
            format!(
                " It cannot be distinguished from any of the {many} other points ({how} > 0.05)."
            )
        }
        (many, worse) => {
            let names: Vec<String> = members
                .iter()
                .take(NAMES)
                .map(|(cell, _)| format!("`{}`", sweep.short_name(cell.point)))
                .collect();
            let more = match many.saturating_sub(NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let rest = match worse {
                0 => String::new(),
                1 => "; 1 point is worse".to_owned(),
                worse => format!("; {worse} points are worse"),
            };
            format!(
                " It cannot be distinguished from {}{more} ({how} > 0.05){rest}.",
                names.join(", ")
            )
        }
    };
    if !unknown.is_empty() {
        let noun = if unknown.len() == 1 { "point" } else { "points" };
        let reason = unknown.iter().find_map(|(_, place)| place.vs_best?.no_interval);
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        text += &format!(" {} {noun} cannot be compared{reason}.", unknown.len());
    }
    text
}

/// The settings that all points of a group share, if not all points of the sweep do.
fn common(sweep: &Sweep, group: &[(&Cell, &Place)]) -> Option<String> {
    let first = &sweep.points[group[0].0.point];
    let shared = sweep.axes.iter().enumerate().filter(|(number, axis)| {
        axis.values.len() > 1
            && group.iter().all(|(cell, _)| sweep.points[cell.point][*number] == first[*number])
    });
    let parts: Vec<String> = shared
        .map(|(number, axis)| {
            format!("`{}={}`", super::charts::short(sweep, axis), axis.values[first[number]])
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn capital(text: String) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::super::tests::tuned;

    #[test]
    fn the_best_set_and_the_reference_are_named() {
        let mut sweep = tuned();
        // 100, 200 and 400: mean 233.3, c² = 3 / 7, and t √(c² / 3 + c⁴ / 4) = 4.3027 · 0.43448 = 1.8694:
        // 233.3 / 6.4846 and 233.3 · 6.4846.
        assert_eq!(
            sweep.answer(),
            ["The mean completion time of all flows is lowest at `size=2MB`: 233 ns [36, 1513], \
                 the reference. It cannot be distinguished from `size=4MB` (Holm-adjusted p > 0.05); 1 \
                 point is worse."]
        );
        // From the first point it is 1 / 1.1 in every replication.
        sweep.reference = Reference::default();
        assert!(
            sweep.answer()[0].starts_with(
                "The mean completion time of all flows is lowest at `size=2MB`: 233 ns [36, 1513], \
                 -9.1 % vs. the reference `size=1MB`. It cannot"
            ),
            "{:?}",
            sweep.answer()
        );
        assert_eq!(
            sweep.legend(),
            [
                "Reference: `size=1MB`, the first point of the grid. Changes are paired by replication, \
                 [95 % interval].",
                "Best set: the points that cannot be distinguished from the best mean (Holm-adjusted p > \
                 0.05)."
            ]
        );
    }

    #[test]
    fn all_others_may_be_worse_or_none() {
        let mut sweep = tuned();
        for row in sweep.runs.iter_mut().filter(|row| row.point == 2) {
            let value = [106.0, 211.0, 425.0][row.replication as usize];
            row.numbers.insert("fct_mean_ns".to_owned(), value);
        }
        let said = &sweep.answer()[0];
        assert!(
            said.ends_with(" The 2 other points are worse (Holm-adjusted p ≤ 0.05)."),
            "{said}"
        );
        for row in sweep.runs.iter_mut() {
            let value = [100.0, 120.0, 110.0][(row.replication as usize + row.point) % 3];
            row.numbers.insert("fct_mean_ns".to_owned(), value + row.point as f64);
        }
        let said = &sweep.answer()[0];
        let end =
            " It cannot be distinguished from any of the 2 other points (Holm-adjusted p > 0.05).";
        assert!(said.ends_with(end), "{said}");
        sweep.points.pop();
        sweep.runs.retain(|row| row.point < 2);
        let said = &sweep.answer()[0];
        assert!(
            said.ends_with(" It cannot be distinguished from the other point (p > 0.05)."),
            "{said}"
        );
    }

    #[test]
    fn one_replication_names_no_set() {
        let mut sweep = tuned();
        sweep.runs.retain(|row| row.replication == 0);
        assert_eq!(
            sweep.answer(),
            [
                "The mean completion time of all flows is lowest at `size=2MB`: 100 ns, the reference. \
                 With one replication no best set can be named: give `--replications`."
            ]
        );
    }

    #[test]
    fn a_percentile_of_too_few_flows_names_no_set() {
        let mut sweep = tuned();
        sweep.metrics.get_mut("fct_mean_ns").unwrap().needs = 100;
        for row in &mut sweep.runs {
            row.numbers.insert("finished".to_owned(), 7.0);
        }
        let said = &sweep.answer()[0];
        let end = ": 233 ns, the reference. No best set can be named: needs at least 100 flows in \
                   every replication; one has 7.";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn points_of_other_traffic_are_ranked_by_themselves_or_not_at_all() {
        let mut sweep = tuned();
        sweep.traffic = vec![vec![0], vec![1], vec![2]];
        // 238 is the mean of 101, 206 and 408.
        assert_eq!(
            sweep.answer(),
            [
                "The points have different traffic, so they are not ranked. The mean completion time of \
                 all flows is 233 ns [36, 1513] at the reference `size=2MB`; at the other points it \
                 changes by between +2.0 % [-0.5, +4.5] at `size=4MB` and +10 % at `size=1MB`. At 1 of \
                 2 points the change is not significant (p > 0.05, Holm-adjusted)."
            ]
        );
        sweep.traffic = vec![vec![0], vec![1], vec![0]];
        let said = sweep.answer();
        assert_eq!(said.len(), 1);
        // 238.3 has the factor exp(t √(s² / 3 + s⁴ / 4)) of 101, 206 and 408; the reference has other
        // traffic, so there is no change from it.
        assert!(said[0].contains("is lowest at `size=4MB`: 238 ns ["), "{said:?}");
        assert!(!said[0].contains("reference") && said[0].contains("]. The other point is worse"));
    }
}
