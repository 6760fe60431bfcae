//! Designs of experiments: which choice of each factor a reading has.

/// A column of a design, as the product of those basic columns whose bits are set.
type Word = u32;

/// A two-level fractional factorial design of resolution IV, a row for each reading: whether each
/// factor is at its second level. For up to 4, 8, 16 factors it has 8, 16, 32 rows, the least that
/// the resolution allows (Box and Hunter 1961, "The 2^(k-p) fractional factorial designs", part I,
/// section 4: products of an odd number of the basic columns).
///
/// Every factor is at each level in half of the rows, every three factors take all eight
/// combinations equally often, and no main effect is mixed up with an interaction of two factors.
/// Interactions of two factors are mixed up with each other. The first row has all factors at their
/// first level.
#[cfg(test)]
pub fn resolution_iv(factors: usize) -> Vec<Vec<bool>> {
    let rows = design(&vec![2; factors]);
    rows.into_iter().map(|row| row.into_iter().map(|choice| choice == 1).collect()).collect()
}

/// A fractional factorial design over factors with two or four choices each: a row for each reading,
/// with the number of the choice of each factor. The first row has the first choice of all factors.
///
/// A factor with two choices takes a column of the smallest design of resolution IV that has room
/// (Box and Hunter 1961, part I, section 4), one with four choices two columns and their product
/// (Addelman 1962, "Orthogonal main-effect plans for asymmetrical factorial experiments",
/// Technometrics 4). No two products are the same, so every two factors take all combinations of
/// their choices equally often, and every three factors of two choices do. Between factors of two
/// choices no main effect is mixed up with an interaction of two. The product of a factor with four
/// choices is a column of even weight, as are all interactions of two columns: there the effect of a
/// choice can contain what two other factors do together, and theirs what it does together with one
/// of them.
pub fn design(choices: &[usize]) -> Vec<Vec<usize>> {
    let (basic, words) = (3..=Word::BITS)
        .find_map(|basic| Some((basic, columns(choices, basic)?)))
        .expect("a large enough design has columns for all factors");
    let level = |row: Word, word: Word| usize::from((row & word).count_ones() % 2 == 1);
    let choice =
        |row, words: &Vec<Word>| words.iter().fold(0, |at, word| at * 2 + level(row, *word));
    (0..1 << basic).map(|row| words.iter().map(|of| choice(row, of)).collect()).collect()
}

/// The columns of each factor in a design with so many basic columns, if they suffice. Factors with
/// four choices come first, because their products must differ.
fn columns(choices: &[usize], basic: u32) -> Option<Vec<Vec<Word>>> {
    let mut free: Vec<Word> =
        (1..1 << basic).filter(|word: &Word| word.count_ones() % 2 == 1).collect();
    let mut products = Vec::new();
    let mut of = vec![Vec::new(); choices.len()];
    let is = |number| (0..choices.len()).filter(move |factor| choices[*factor] == number);
    for factor in is(4) {
        let first = *free.first()?;
        let second = *free[1..].iter().find(|word| !products.contains(&(first ^ **word)))?;
        products.push(first ^ second);
        free.retain(|word| *word != first && *word != second);
        of[factor] = vec![first, second];
    }
    for factor in is(2) {
        of[factor] = vec![*free.first()?];
        free.remove(0);
    }
    Some(of)
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

    /// With factors of four choices beside factors of two, as many as the readings of Congestion
    /// Isolation have: every pair of choices of every two factors is equally frequent.
    #[test]
    fn every_pair_of_choices_is_equally_frequent() {
        for choices in [&[4, 4, 2, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2][..], &[2, 4], &[4, 4], &[4; 5]] {
            let rows = design(choices);
            assert!(rows[0].iter().all(|choice| *choice == 0), "{choices:?}");
            for a in 0..choices.len() {
                for b in 0..a {
                    let mut counts = vec![0; choices[a] * choices[b]];
                    for row in &rows {
                        counts[row[a] * choices[b] + row[b]] += 1;
                    }
                    let each = rows.len() / counts.len();
                    assert!(counts.iter().all(|count| *count == each), "{choices:?}: {a} and {b}");
                }
            }
        }
        assert_eq!(design(&[4, 4, 2, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2]).len(), 32);
    }

    /// The published property of the mixed design: its triples of two-choice factors are full.
    #[test]
    fn three_factors_of_two_choices_are_full_beside_one_of_four() {
        let rows = design(&[4, 2, 2, 2, 2]);
        assert_eq!(rows.len(), 16);
        for [a, b, c] in [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]] {
            let mut counts = [0; 8];
            for row in &rows {
                counts[row[a] * 4 + row[b] * 2 + row[c]] += 1;
            }
            assert_eq!(counts, [2; 8]);
        }
    }
}
