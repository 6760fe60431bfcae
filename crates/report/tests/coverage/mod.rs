//! Coverage: how often the intervals of `statistics` contain the true value.
//!
//! Synthetic experiments are drawn from distributions whose true value is known, in closed form or
//! from a large sample of its own, and their intervals are formed as those of results are.

mod draws;
mod quantities;

pub use quantities::quantities;

use floodway_model::random::Stream;
use floodway_report::statistics::{
    Change, Domain, Estimate, NoInterval, Scale, least_values, mean, quantile,
};
use floodway_report::summary::Basis;
use std::sync::Mutex;

/// How many replications an experiment has.
pub const REPLICATIONS: [usize; 5] = [2, 3, 5, 10, 30];

/// Replications from which a true value is computed that has no closed form. A percentile with a
/// coefficient of variation of 0.5 is then known to 0.1 %.
const LARGE_SAMPLE: usize = 200_000;

type Draw<T> = Box<dyn Fn(&mut Stream) -> T + Send + Sync>;

/// What a replication gives.
pub enum Values {
    /// A value.
    One(Draw<f64>, Scale),
    /// The values of baseline and variant.
    Pair(Draw<(f64, f64)>),
}

/// Why coverage of 93 to 97 % may not be promised whatever the spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nature {
    /// Values with one mode.
    Continuous,
    /// Counted events; so many per replication on average, of the rarer of two.
    Counts(f64),
    /// Values with two modes: something happens in some replications and not in others.
    TwoModes,
}

/// A quantity of synthetic experiments.
pub struct Quantity {
    /// Which metric it stands for.
    pub metric: &'static str,
    /// How its values are distributed.
    pub distribution: String,
    /// What a replication gives.
    pub values: Values,
    /// Whether these are counts or have two modes.
    pub nature: Nature,
    /// The true value; none if it is the mean of a large sample, and of pairs the geometric mean of
    /// the ratios.
    pub truth: Option<f64>,
    /// If it is a percentile, which one, and of how many flows.
    pub percentile: Option<(f64, usize)>,
}

/// Coverage of the intervals of one quantity.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which metric it stands for.
    pub metric: &'static str,
    /// How its values are distributed.
    pub distribution: String,
    /// How replications differ.
    pub spread: Spread,
    /// By number of replications, in the order of [`REPLICATIONS`].
    pub cells: Vec<Cell>,
}

/// How replications differ.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Their standard deviation on the scale of the quantity, by the delta method: the coefficient of
    /// variation of what is above the least value, and the standard deviation of a share `p` over
    /// `p (1 - p)`. None of differences and changes, whose intervals do not depend on it.
    pub deviation: Option<f64>,
    /// Their skewness on that scale: of logarithms, of logits, or of differences.
    pub skewness: f64,
}

/// Coverage with one number of replications.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The share of the intervals that contain the true value; NaN without any.
    pub coverage: f64,
    /// The share of the experiments for which there is an interval.
    pub printed: f64,
    /// The median of the distance of the ends over the magnitude of the true value.
    pub width: f64,
    /// Whether 93 to 97 % are promised.
    pub promised: bool,
    /// Intervals with an end that the quantity cannot take or that is not finite.
    pub outside: usize,
    /// Why experiments have no interval.
    pub reasons: Vec<NoInterval>,
}

impl Spread {
    fn of_values(values: &[f64], scale: Scale) -> Self {
        let (mean, deviation, skewness) = moments(values);
        let transformed = |of: fn(f64) -> f64| {
            let values: Vec<f64> = values.iter().map(|value| of(*value)).collect();
            let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
            moments(&finite).2
        };
        let (deviation, skewness) = match scale.domain {
            Domain::Real => (None, skewness),
            Domain::NonNegative => (Some(deviation / mean), transformed(libm::log)),
            Domain::AtLeastOne => {
                (Some(deviation / (mean - 1.0)), transformed(|value| libm::log(value - 1.0)))
            }
            Domain::Score => unreachable!("the scale of a share, from 1 to 4.5"),
            Domain::Share => {
                let logit = transformed(|value| libm::log(value / (1.0 - value)));
                (Some(deviation / (mean * (1.0 - mean))), logit)
            }
        };
        Self { deviation, skewness }
    }

    fn of_pairs(pairs: &[(f64, f64)]) -> Self {
        Self { deviation: None, skewness: moments(&log_ratios(pairs)).2 }
    }

    /// Whether the promise is made, by the numbers as printed.
    fn is_small(self, scale: Scale) -> bool {
        let printed = |value: f64| libm::round(value * 100.0) / 100.0;
        let (most, skewness) = match scale.domain {
            Domain::NonNegative | Domain::AtLeastOne => (0.5, -1.0..=0.5),
            Domain::Share | Domain::Score | Domain::Real => (1.0, -1.0..=1.0),
        };
        self.deviation.is_none_or(|deviation| printed(deviation) <= most)
            && skewness.contains(&printed(self.skewness))
    }
}

/// The logarithms of the ratios of pairs of numbers above zero.
fn log_ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    let positive = pairs.iter().filter(|(from, to)| *from > 0.0 && *to > 0.0);
    positive.map(|(from, to)| libm::log(to / from)).collect()
}

/// Mean, standard deviation and skewness.
fn moments(values: &[f64]) -> (f64, f64, f64) {
    let center = mean(values);
    let moment = |power: i32| {
        let terms = values.iter().map(|value| (value - center).powi(power));
        terms.sum::<f64>() / values.len() as f64
    };
    let deviation = libm::sqrt(moment(2));
    (center, deviation, moment(3) / deviation.powi(3))
}

impl Quantity {
    /// The coverage of its intervals in as many experiments for each number of replications.
    pub fn coverage(&self, experiments: usize) -> Row {
        let name = format!("{} {}", self.metric, self.distribution);
        let mut stream = Stream::named(1, &name);
        let most = REPLICATIONS[REPLICATIONS.len() - 1];
        let count = experiments * most;
        let (spread, cells) = match &self.values {
            Values::One(draw, scale) => {
                let truth = self.truth.unwrap_or_else(|| {
                    let mut stream = Stream::named(2, &name);
                    let sample = (0..LARGE_SAMPLE).map(|_| draw(&mut stream));
                    sample.sum::<f64>() / LARGE_SAMPLE as f64
                });
                let pool: Vec<f64> = (0..count).map(|_| draw(&mut stream)).collect();
                let spread = Spread::of_values(&pool, *scale);
                let cell = |n: usize| {
                    let of = |values: &[f64]| self.estimate(values, *scale);
                    let all: Vec<_> = pool.chunks_exact(n).take(experiments).map(of).collect();
                    self.cell(spread.is_small(*scale) && self.is_sound(n), truth, &all)
                };
                (spread, REPLICATIONS.map(cell))
            }
            Values::Pair(draw) => {
                let truth = self.truth.unwrap_or_else(|| {
                    let mut stream = Stream::named(2, &name);
                    let sample: Vec<_> = (0..LARGE_SAMPLE).map(|_| draw(&mut stream)).collect();
                    libm::expm1(mean(&log_ratios(&sample)))
                });
                let pool: Vec<(f64, f64)> = (0..count).map(|_| draw(&mut stream)).collect();
                let spread = Spread::of_pairs(&pool);
                let (from, to): (Vec<f64>, Vec<f64>) = pool.iter().copied().unzip();
                let is_small = |values: &[f64]| {
                    let scale = Scale::NON_NEGATIVE;
                    Spread::of_values(values, scale).is_small(scale)
                };
                let is_counted = matches!(self.nature, Nature::Counts(_));
                let small = spread.is_small(Scale::REAL)
                    && (!is_counted || is_small(&from) && is_small(&to));
                let cell = |n: usize| {
                    let all: Vec<_> = pool.chunks_exact(n).take(experiments).map(change).collect();
                    self.cell(small && self.is_sound(n), truth, &all)
                };
                (spread, REPLICATIONS.map(cell))
            }
        };
        let distribution = self.distribution.clone();
        Row { metric: self.metric, distribution, spread, cells: cells.to_vec() }
    }

    /// The interval of an experiment, as a summary has it.
    fn estimate(&self, values: &[f64], scale: Scale) -> Result<(f64, f64), Option<NoInterval>> {
        let basis = self.percentile.map_or_else(Basis::default, |(p, flows)| Basis {
            needed: least_values(p),
            least: flows as u64,
            ..Basis::default()
        });
        let of = Estimate::of(values.iter().copied(), scale);
        let of = basis.refusal().map_or(of, |why| of.refuse(why));
        of.interval().ok_or(of.no_interval)
    }

    /// Whether its nature and the number of replications allow the promise.
    fn is_sound(&self, replications: usize) -> bool {
        match self.nature {
            Nature::Continuous => true,
            Nature::Counts(least) => least >= 10.0 && replications >= 3,
            Nature::TwoModes => false,
        }
    }

    fn cell(
        &self,
        promised: bool,
        truth: f64,
        all: &[Result<(f64, f64), Option<NoInterval>>],
    ) -> Cell {
        let intervals: Vec<(f64, f64)> = all.iter().filter_map(|of| of.ok()).collect();
        let mut reasons: Vec<NoInterval> = Vec::new();
        for reason in all.iter().filter_map(|of| of.err()) {
            let reason = reason.expect("without an interval there is a reason");
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let (least, most) = match &self.values {
            Values::Pair(_) => (-1.0, f64::MAX),
            Values::One(_, scale) => match scale.domain {
                Domain::Real => (f64::MIN, f64::MAX),
                Domain::NonNegative => (0.0, f64::MAX),
                Domain::AtLeastOne => (1.0, f64::MAX),
                Domain::Share => (0.0, 1.0),
                Domain::Score => (1.0, 4.5),
            },
        };
        let is_inside = |(low, high): &&(f64, f64)| least <= *low && *low <= *high && *high <= most;
        let holds = |(low, high): &&(f64, f64)| *low <= truth && truth <= *high;
        let mut widths: Vec<f64> =
            intervals.iter().map(|(low, high)| (high - low) / truth.abs()).collect();
        widths.sort_by(f64::total_cmp);
        Cell {
            coverage: intervals.iter().filter(holds).count() as f64 / intervals.len() as f64,
            printed: intervals.len() as f64 / all.len() as f64,
            width: quantile(&widths, 0.5),
            promised,
            outside: intervals.len() - intervals.iter().filter(is_inside).count(),
            reasons,
        }
    }
}

/// The interval of a change, as a share of the baseline.
fn change(pairs: &[(f64, f64)]) -> Result<(f64, f64), Option<NoInterval>> {
    let of = Change::of(pairs.iter().copied(), Scale::NON_NEGATIVE).expect("there are pairs");
    let interval = of.interval().map(|(low, high)| (low / 100.0, high / 100.0));
    interval.ok_or(of.no_interval)
}

/// The coverage of all quantities, in as many experiments for each number of replications.
pub fn measure(experiments: usize) -> Vec<Row> {
    let quantities = quantities();
    let left = Mutex::new(quantities.iter().enumerate());
    let rows = Mutex::new(vec![None; quantities.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let next = left.lock().expect("no thread has panicked").next();
            let Some((at, quantity)) = next else { return };
            let row = quantity.coverage(experiments);
            rows.lock().expect("no thread has panicked")[at] = Some(row);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let rows = rows.into_inner().expect("no thread has panicked");
    rows.into_iter().map(|row| row.expect("all quantities are measured")).collect()
}
