//! Designs of experiments: which level of each factor a reading has.

/// A two-level fractional factorial design of resolution IV, a row for each reading: whether each
/// factor is at its second level. For up to 4, 8, 16 factors it has 8, 16, 32 rows, the least that
/// the resolution allows (Box and Hunter 1961, "The 2^(k-p) fractional factorial designs", part I,
/// section 4: products of an odd number of the basic columns).
///
/// Every factor is at each level in half of the rows, every three factors take all eight
/// combinations equally often, and no main effect is mixed up with an interaction of two factors.
/// Interactions of two factors are mixed up with each other. The first row has all factors at their
/// first level.
pub fn resolution_iv(factors: usize) -> Vec<Vec<bool>> {
    let basic = (factors.max(4) as u32).next_power_of_two().trailing_zeros() + 1;
    let words: Vec<u32> = (1..1 << basic).filter(|word: &u32| word.count_ones() % 2 == 1).collect();
    let level = |row: u32, word: &u32| (row & word).count_ones() % 2 == 1;
    let row = |row| words[..factors].iter().map(|word| level(row, word)).collect();
    (0..1 << basic).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published properties, by counting.
    #[test]
    fn three_factors_take_all_combinations_equally_often() {
        for (factors, rows) in [(3, 8), (4, 8), (5, 16), (8, 16), (9, 32), (16, 32)] {
            let design = resolution_iv(factors);
            assert_eq!(design.len(), rows);
            assert!(design[0].iter().all(|level| !level));
            for a in 0..factors {
                for b in 0..a {
                    for c in 0..b {
                        let mut counts = [0; 8];
                        for row in &design {
                            let place = [a, b, c].map(|of| usize::from(row[of]));
                            counts[place[0] * 4 + place[1] * 2 + place[2]] += 1;
                        }
                        assert_eq!(counts, [rows / 8; 8], "{a} {b} {c} of {factors}");
                    }
                }
            }
        }
    }

    /// The design of Box, Hunter and Hunter, "Statistics for Experimenters", table 12.15:
    /// 2^(4-1) with D = ABC.
    #[test]
    fn four_factors_in_eight_rows_have_the_published_generator() {
        for row in resolution_iv(4) {
            assert_eq!(row[3], row[0] ^ row[1] ^ row[2], "{row:?}");
        }
    }
}
