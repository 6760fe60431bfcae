//! Settings that change nothing: runs that differ in one of them only, and are the same to the bit;
//! and other points and variants with the same runs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Row, Sweep};
use crate::INTERRUPTED;

/// More groups of points than this are not named.
const GROUPS: usize = 4;

/// A sentence for each dimension of the grid that changes nothing in some variant, for each other group
/// of points with the same runs, and for each variant with the runs of another.
pub fn idle(sweep: &Sweep) -> Vec<String> {
    let sentence = |(axis, of): (usize, &super::Axis)| {
        let still = |variant: &&String| changes_nothing(sweep, axis, variant);
        let variants: Vec<&str> = sweep.variants.iter().filter(still).map(String::as_str).collect();
        let whose = match variants.len() {
            0 => return None,
            all if all == sweep.variants.len() => String::new(),
            _ => format!(" in {}", variants.join(", ")),
        };
        let path = &of.path;
        Some(format!(
            "`{path}` changes nothing{whose}: runs that differ in it alone are the same to the bit."
        ))
    };
    let mut sentences: Vec<String> = sweep.axes.iter().enumerate().filter_map(sentence).collect();
    let groups: Vec<String> =
        sweep.variants.iter().flat_map(|variant| same_points(sweep, variant)).collect();
    let more = groups.len().saturating_sub(GROUPS);
    sentences.extend(groups.into_iter().take(GROUPS));
    if more > 0 {
        sentences.push(format!("{more} more groups of points have the same runs."));
    }
    sentences.extend(same_variants(sweep));
    sentences
}

/// Points with the same runs that differ in more than settings that change nothing.
fn same_points(sweep: &Sweep, variant: &str) -> Vec<String> {
    let acts: Vec<bool> =
        (0..sweep.axes.len()).map(|axis| !changes_nothing(sweep, axis, variant)).collect();
    let mut groups: BTreeMap<Vec<(u32, u64, &str)>, Vec<usize>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (point, at) in sweep.points.iter().enumerate() {
        let acting: Vec<usize> =
            at.iter().zip(&acts).filter(|(_, acts)| **acts).map(|(at, _)| *at).collect();
        let runs: Vec<(u32, u64, &str)> = sweep
            .runs_of(point, variant)
            .filter(|row| !row.fingerprint.is_empty())
            .map(|row| (row.replication, row.seed, row.fingerprint.as_str()))
            .collect();
        if !runs.is_empty() && known.insert(acting) {
            groups.entry(runs).or_default().push(point);
        }
    }
    let whose = match sweep.variants.len() {
        1 => String::new(),
        _ => format!("In {variant}, "),
    };
    let sentence = |points: Vec<usize>| {
        let names: Vec<String> =
            points.iter().map(|point| format!("`{}`", sweep.short_name(*point))).collect();
        format!(
            "{whose}{} have the same runs: what differs between them never acted.",
            names.join(" and ")
        )
    };
    groups.into_values().filter(|points| points.len() > 1).map(sentence).collect()
}

/// Variants with the same runs as an earlier one, at all points or at some. Those with all runs of the
/// first are in the answer.
fn same_variants(sweep: &Sweep) -> Vec<String> {
    let mut sentences = Vec::new();
    for (number, variant) in sweep.variants.iter().enumerate() {
        let same = |other: &String| {
            let is = |point: &usize| sweep.are_same_runs((*point, other), (*point, variant));
            (0..sweep.points.len()).filter(is).count()
        };
        let most = sweep.variants[..number].iter().map(|other| (same(other), other));
        let Some((count @ 1.., other)) = most.max_by_key(|of| of.0) else { continue };
        if count == sweep.points.len() && Some(other) == sweep.variants.first() {
            continue;
        }
        let at = match sweep.points.len() {
            1 => String::new(),
            all if all == count => " at all points".to_owned(),
            all => format!(" at {count} of {all} points"),
        };
        sentences.push(format!(
            "{variant} and {other} have the same runs{at}: what differs between them never acted."
        ));
    }
    sentences
}

/// Whether there are runs of a variant that differ in this dimension alone, and all of them are the
/// same.
fn changes_nothing(sweep: &Sweep, axis: usize, variant: &str) -> bool {
    let mut known: BTreeMap<(Vec<usize>, u32), &Row> = BTreeMap::new();
    let mut compared = false;
    let of_variant = |row: &&Row| row.variant == variant && row.stop != INTERRUPTED;
    for row in sweep.runs.iter().filter(of_variant) {
        let mut others = sweep.points[row.point].clone();
        others.remove(axis);
        let first = *known.entry((others, row.replication)).or_insert(row);
        compared |= first.point != row.point;
        if first.fingerprint != row.fingerprint {
            return false;
        }
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::super::tests::sweep;
    use super::*;

    #[test]
    fn what_changes_nothing_is_named() {
        let mut sweep = sweep();
        for (number, row) in sweep.runs.iter_mut().enumerate() {
            // In b replications differ, and points do not.
            row.fingerprint = match row.variant.as_str() {
                "a" => format!("a{number}"),
                _ => format!("b{}", row.replication),
            };
        }
        assert_eq!(
            idle(&sweep),
            ["`load` changes nothing in b: runs that differ in it alone are the same to the bit."]
        );
        sweep.variants.remove(0);
        assert_eq!(
            idle(&sweep),
            ["`load` changes nothing: runs that differ in it alone are the same to the bit."]
        );
        // One run at each end, of different replications: nothing was compared.
        sweep.runs.retain(|row| (row.point == 0) == (row.replication == 0));
        assert_eq!(idle(&sweep), [""; 0]);
    }

    #[test]
    fn points_and_variants_with_the_same_runs_are_named() {
        let mut sweep = sweep();
        sweep.axes[0].values.push("0.6".to_owned());
        sweep.points.push(vec![2]);
        let of_last = |row: &Row| Row { point: 2, ..row.clone() };
        let more: Vec<Row> = sweep.runs.iter().filter(|row| row.point == 1).map(of_last).collect();
        sweep.runs.extend(more);
        for row in &mut sweep.runs {
            // In a the last two points are the same; b is another variant at the first point only.
            row.fingerprint = match (row.variant.as_str(), row.point) {
                ("b", 0) => format!("b{}", row.replication),
                (_, 0) => format!("0 {}", row.replication),
                _ => format!("1 {}", row.replication),
            };
        }
        assert_eq!(
            idle(&sweep),
            [
                "In a, `load=0.4` and `load=0.6` have the same runs: what differs between them never \
                 acted.",
                "In b, `load=0.4` and `load=0.6` have the same runs: what differs between them never \
                 acted.",
                "b and a have the same runs at 2 of 3 points: what differs between them never acted."
            ]
        );
    }
}
