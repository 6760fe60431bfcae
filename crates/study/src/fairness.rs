//! How evenly flows share: Jain's index (R. Jain, D. Chiu, W. Hawe, "A quantitative measure of
//! fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301,
//! 1984).

/// Jain's fairness index of the rates of flows, `(Σx)² / (n Σx²)`: 1 if all are equal, `1/n` if one
/// of `n` has everything, and `k/n` if `k` share equally and the others have nothing. It does not
/// depend on the unit. None without flows, and if no flow has anything.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// The mean of Jain's index over intervals, each given by its length and the rates of the flows that
/// were active in it; longer ones count for more. Intervals with fewer than two active flows say
/// nothing of fairness, nor do those in which nothing arrived. None if no interval is left.
pub fn mean_jain<'a>(intervals: impl IntoIterator<Item = (f64, &'a [f64])>) -> Option<f64> {
    let (mut sum, mut time) = (0.0, 0.0);
    for (length, rates) in intervals {
        if let Some(index) = jain(rates).filter(|_| rates.len() >= 2) {
            sum += index * length;
            time += length;
        }
    }
    (time > 0.0).then(|| sum / time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_of_many_is_not() {
        assert_eq!(jain(&[25.0; 4]), Some(1.0));
        assert_eq!(jain(&[0.0, 100.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[7.0]), Some(1.0));
        // Two of four: (2x)² / (4 · 2x²).
        assert_eq!(jain(&[3.0, 0.0, 3.0, 0.0]), Some(0.5));
        // (1 + 2 + 3)² / (3 · (1 + 4 + 9)) = 36/42, in any unit.
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(jain(&[8.0, 16.0, 24.0]), Some(36.0 / 42.0));
    }

    #[test]
    fn of_nothing_there_is_no_fairness() {
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(mean_jain([]), None);
        assert_eq!(mean_jain([(1.0, &[5.0][..]), (1.0, &[0.0, 0.0]), (1.0, &[])]), None);
    }

    #[test]
    fn longer_intervals_count_for_more() {
        let fair: &[f64] = &[1.0, 1.0];
        let unfair: &[f64] = &[1.0, 0.0];
        // (3 · 1 + 1 · 0.5) / 4; what only one flow has does not count.
        let of = mean_jain([(3.0, fair), (100.0, &[9.0]), (1.0, unfair)]);
        assert_eq!(of, Some(0.875));
    }
}
