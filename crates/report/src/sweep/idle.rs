//! Settings that change nothing: runs that differ in one of them only, and are the same to the bit.

use std::collections::BTreeMap;

use super::{Row, Sweep};
use crate::INTERRUPTED;

/// A sentence for each dimension of the grid that changes nothing in some variant.
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
    sweep.axes.iter().enumerate().filter_map(sentence).collect()
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
    fn what_changes_nothing_is_told() {
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
}
