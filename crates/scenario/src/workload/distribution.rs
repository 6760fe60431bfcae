//! Flow-size distributions: a table of sizes with their cumulative probabilities and the rule by
//! which it is read, or a formula. Mean, fractions and samples all follow the same rule, so the
//! offered load is what was asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exponential::Exponential;

/// How a size is drawn from the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Between two rows every size is equally likely; a first row with a probability above 0 is
    /// that size alone.
    #[default]
    Linear,
    /// Only the sizes of the table occur: the smallest whose cumulative probability is reached.
    Step,
}

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    shape: Shape,
    /// Larger sizes are set to this one.
    cap: f64,
    /// The mean size. Tables may have a thousand rows, and every host asks for it.
    mean: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Table(Table),
    Exponential(Exponential),
}

#[derive(Clone, Debug, PartialEq)]
struct Table {
    rule: Sampling,
    /// Size in bytes and the probability of that size or less; both increase, the last is 1.
    rows: Vec<(f64, f64)>,
}

/// Why a table is not a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub cause: String,
    /// What to do.
    pub remedy: &'static str,
}

impl Distribution {
    fn new(shape: Shape, cap: f64) -> Self {
        let mean = match &shape {
            Shape::Table(table) => table.mean(cap),
            Shape::Exponential(exponential) => exponential.mean(cap),
        };
        Self { shape, cap, mean }
    }

    /// One size only.
    pub fn fixed(bytes: u64) -> Self {
        let size = bytes as f64;
        let table = Table { rule: Sampling::Step, rows: vec![(size, 1.0)] };
        Self::new(Shape::Table(table), size)
    }

    /// Reads lines of `size_bytes,cdf`; the first may be that header, empty ones and those that
    /// begin with `#` are skipped.
    pub fn from_csv(text: &str, rule: Sampling) -> Result<Self, TableError> {
        let mut rows: Vec<(f64, f64)> = Vec::new();
        let mut last_line = 1;
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || (index == 0 && is_header(line)) {
                continue;
            }
            last_line = line_number;
            let fail = |cause: String, remedy| Err(TableError { line: line_number, cause, remedy });
            let row = line.split_once(',').and_then(|(size, cdf)| {
                let size: u64 = size.trim().parse().ok()?;
                let cdf: f64 = cdf.trim().parse().ok()?;
                Some((size as f64, cdf))
            });
            let Some((size, cdf)) = row else {
                let remedy = "write whole bytes, a comma and a probability: 10000,0.8";
                return fail(format!("`{line}` is not a size and a probability"), remedy);
            };
            if !(0.0..=1.0).contains(&cdf) {
                let remedy = "the second column is the probability of that size or less, 0 to 1";
                return fail(format!("the probability {cdf} is not between 0 and 1"), remedy);
            }
            if let Some(&(size_before, cdf_before)) = rows.last() {
                if size <= size_before {
                    let remedy = "sort the rows by size and merge those of the same size";
                    return fail(format!("the size {size} is not above {size_before}"), remedy);
                }
                if cdf < cdf_before {
                    let remedy = "the second column is cumulative: it never falls";
                    return fail(
                        format!("the probability falls from {cdf_before} to {cdf}"),
                        remedy,
                    );
                }
            }
            rows.push((size, cdf));
        }
        let end = |cause: String, remedy| Err(TableError { line: last_line, cause, remedy });
        match rows.last() {
            None => end("the table has no rows".to_owned(), "write rows like: 10000,0.8"),
            Some(&(_, cdf)) if cdf != 1.0 => {
                let remedy = "end with the largest size and the probability 1";
                end(format!("the last probability is {cdf}"), remedy)
            }
            Some(&(0.0, _)) => end("all sizes are 0".to_owned(), "a flow has at least one byte"),
            Some(&(largest, _)) => Ok(Self::new(Shape::Table(Table { rule, rows }), largest)),
        }
    }

    /// The same with all sizes above `most` set to it.
    pub fn capped(self, most: u64) -> Self {
        Self::new(self.shape, self.cap.min(most as f64))
    }

    /// The largest size that occurs.
    pub fn largest(&self) -> u64 {
        self.cap as u64
    }

    /// The size at a random number of [0, 1), in whole bytes and at least one.
    pub fn sample(&self, unit: f64) -> u64 {
        let size = match &self.shape {
            Shape::Table(table) => table.sample(unit),
            Shape::Exponential(exponential) => exponential.sample(unit),
        };
        (size.min(self.cap).round() as u64).max(1)
    }

    /// The mean size in bytes, by exact integration. Samples are rounded to whole bytes, which
    /// leaves it as it is, and up to one byte, which adds less than that.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The probability of a size below `bytes`.
    pub fn fraction_below(&self, bytes: f64) -> f64 {
        if bytes > self.cap {
            return 1.0;
        }
        match &self.shape {
            Shape::Table(table) => table.fraction_below(bytes),
            Shape::Exponential(exponential) => exponential.fraction_below(bytes),
        }
    }
}

impl From<Exponential> for Distribution {
    fn from(exponential: Exponential) -> Self {
        let most = exponential.most();
        Self::new(Shape::Exponential(exponential), most)
    }
}

impl Table {
    fn sample(&self, unit: f64) -> f64 {
        let above = self.rows.partition_point(|&(_, cdf)| cdf <= unit);
        let (size, cdf) = self.rows[above.min(self.rows.len() - 1)];
        match self.rule {
            Sampling::Linear if above > 0 => {
                let (size_before, cdf_before) = self.rows[above - 1];
                size_before + (size - size_before) * (unit - cdf_before) / (cdf - cdf_before)
            }
            _ => size,
        }
    }

    fn mean(&self, cap: f64) -> f64 {
        let pieces = self.pieces().map(|piece| {
            let Piece { low, high, mass } = piece;
            if high <= cap {
                mass * (low + high) / 2.0
            } else if low >= cap {
                mass * cap
            } else {
                let share = (cap - low) / (high - low);
                mass * (share * (low + cap) / 2.0 + (1.0 - share) * cap)
            }
        });
        pieces.sum()
    }

    fn fraction_below(&self, bytes: f64) -> f64 {
        let pieces = self.pieces().map(|Piece { low, high, mass }| {
            if high < bytes {
                mass
            } else if low >= bytes {
                0.0
            } else {
                mass * (bytes - low) / (high - low)
            }
        });
        pieces.sum()
    }

    /// The distribution as pieces of even density; one of no width is a single size.
    fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.rows.iter().enumerate().map(|(index, &(size, cdf))| {
            let (size_before, cdf_before) = match index {
                0 => (size, 0.0),
                _ => self.rows[index - 1],
            };
            let low = if self.rule == Sampling::Linear { size_before } else { size };
            Piece { low, high: size, mass: cdf - cdf_before }
        })
    }
}

struct Piece {
    low: f64,
    high: f64,
    mass: f64,
}

/// Whether a first line names the columns.
fn is_header(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use floodway_model::random::Stream;
    use proptest::prelude::*;

    use super::*;

    fn table(text: &str, rule: Sampling) -> Distribution {
        Distribution::from_csv(text, rule).unwrap()
    }

    #[test]
    fn linear_by_hand() {
        // An atom of one half at 100, the rest even between 100 and 300.
        let even = table("size_bytes,cdf\n100,0.5\n300,1\n", Sampling::Linear);
        assert_eq!(even.sample(0.0), 100);
        assert_eq!(even.sample(0.75), 200);
        assert_eq!(even.mean(), 50.0 + 100.0);
        assert_eq!(even.fraction_below(100.0), 0.0);
        assert_eq!(even.fraction_below(200.0), 0.75);
        // Cut at 200: the upper quarter becomes 200.
        let cut = even.capped(200);
        assert_eq!(cut.mean(), 50.0 + 0.25 * 150.0 + 0.25 * 200.0);
        assert_eq!(cut.sample(0.9), 200);
        assert_eq!(cut.fraction_below(200.0), 0.75);
        assert_eq!(cut.largest(), 200);
    }

    #[test]
    fn step_by_hand() {
        let step = table("100,0.5\n300,1\n", Sampling::Step);
        assert_eq!([0.0, 0.49, 0.5, 0.99].map(|unit| step.sample(unit)), [100, 100, 300, 300]);
        assert_eq!(step.mean(), 200.0);
        assert_eq!(step.fraction_below(300.0), 0.5);
        assert_eq!(step.capped(150).mean(), 125.0);
    }

    #[test]
    fn a_flow_has_at_least_one_byte() {
        assert_eq!(table("0,0\n10,1\n", Sampling::Linear).sample(0.0), 1);
        assert_eq!(Distribution::fixed(64).sample(0.3), 64);
        assert_eq!(Distribution::fixed(64).mean(), 64.0);
    }

    #[test]
    fn bad_tables_say_where_and_why() {
        let error = |text: &str| {
            let error = Distribution::from_csv(text, Sampling::Linear).unwrap_err();
            format!("{}: {}", error.line, error.cause)
        };
        assert_eq!(error(""), "1: the table has no rows");
        assert_eq!(error("size_bytes,cdf\n10;1"), "2: `10;1` is not a size and a probability");
        assert_eq!(error("10,0.5\n10,1"), "2: the size 10 is not above 10");
        assert_eq!(error("10,0.5\n20,0.4"), "2: the probability falls from 0.5 to 0.4");
        assert_eq!(error("10,0.5\n20,1.5"), "2: the probability 1.5 is not between 0 and 1");
        assert_eq!(error("10,nan"), "1: the probability NaN is not between 0 and 1");
        assert_eq!(error("10,0.5\n20,0.9\n\n"), "2: the last probability is 0.9");
        assert_eq!(error("0,1"), "1: all sizes are 0");
    }

    proptest! {
        #[test]
        fn samples_have_the_mean_that_is_said(
            steps in proptest::collection::vec((1u64..50_000, 0.0f64..1.0), 1..12),
            linear in any::<bool>(),
            cap in 1u64..400_000,
            seed in any::<u64>(),
        ) {
            let total: f64 = steps.iter().map(|step| step.1).sum::<f64>() + 1e-9;
            let (mut size, mut cdf, mut text) = (0, 0.0, String::new());
            for (index, (width, mass)) in steps.iter().enumerate() {
                size += width;
                cdf += mass / total;
                let cdf = if index + 1 == steps.len() { 1.0 } else { cdf.min(1.0) };
                text += &format!("{size},{cdf}\n");
            }
            let rule = if linear { Sampling::Linear } else { Sampling::Step };
            let sizes = table(&text, rule).capped(cap);
            // An even grid of the unit interval integrates what random numbers estimate.
            let n = 20_000;
            let grid = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
            let mean = (0..n).map(|i| sizes.sample(grid(i)) as f64).sum::<f64>() / f64::from(n);
            prop_assert!((mean - sizes.mean()).abs() <= 1.0 + sizes.mean() * 0.01, "{mean}");
            let mut rng = Stream::named(seed, "sizes");
            prop_assert!((0..100).all(|_| sizes.sample(rng.unit()) <= sizes.largest().max(1)));
        }

        #[test]
        fn exponential_sizes_agree_with_themselves(
            least in 1u64..100_000,
            width in 1u64..1_000_000,
            place in 0.0f64..=1.0,
            cap in 0.0f64..1.2,
        ) {
            let (most, within) = (least + width, |part: f64| least + (width as f64 * part) as u64);
            let (mean, cap) = (within(place), within(cap));
            let text = format!("exponential({mean}B, {least}B, {most}B)");
            let sizes = Distribution::from(text.parse::<Exponential>().unwrap()).capped(cap);
            prop_assert_eq!(sizes.largest(), cap.min(most));
            let n = 20_000;
            let grid = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
            let samples: Vec<u64> = (0..n).map(|i| sizes.sample(grid(i))).collect();
            prop_assert!(samples.iter().all(|size| (least..=cap.min(most)).contains(size)));
            let average = samples.iter().sum::<u64>() as f64 / f64::from(n);
            prop_assert!((average - sizes.mean()).abs() <= 0.5 + sizes.mean() * 1e-3, "{average}");
            // Sizes are rounded, so that one below `edge` is one below half a byte less.
            for part in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let edge = within(part) + 1;
                let below = samples.iter().filter(|size| **size < edge).count() as f64;
                let exact = sizes.fraction_below(edge as f64 - 0.5);
                prop_assert!((below / f64::from(n) - exact).abs() <= 2e-4, "{below} {exact}");
            }
        }
    }
}
