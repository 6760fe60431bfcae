//! The quantities whose coverage is measured.

use floodway_model::random::Stream;
use floodway_report::statistics::Scale;

use super::draws::{Times, beta, gamma, log_normal, negative_binomial, normal, poisson};
use super::{Nature, Quantity, Values};

/// Flows of a replication of which a percentile is taken.
const FLOWS: usize = 300;

/// Flows of a replication of which the mean is taken.
const FEW_FLOWS: usize = 100;

/// One value per replication, whose mean is `truth`.
fn value(
    metric: &'static str,
    distribution: impl Into<String>,
    scale: Scale,
    truth: f64,
    draw: impl Fn(&mut Stream) -> f64 + Send + Sync + 'static,
) -> Quantity {
    Quantity {
        metric,
        distribution: distribution.into(),
        values: Values::One(Box::new(draw), scale),
        nature: Nature::Continuous,
        truth: Some(truth),
        percentile: None,
    }
}

/// A pair per replication, whose change is `truth`.
fn pair(
    metric: &'static str,
    distribution: impl Into<String>,
    truth: f64,
    draw: impl Fn(&mut Stream) -> (f64, f64) + Send + Sync + 'static,
) -> Quantity {
    Quantity {
        metric,
        distribution: distribution.into(),
        values: Values::Pair(Box::new(draw)),
        nature: Nature::Continuous,
        truth: Some(truth),
        percentile: None,
    }
}

impl Quantity {
    fn with(self, nature: Nature) -> Self {
        Self { nature, ..self }
    }
}

/// All of them.
pub fn quantities() -> Vec<Quantity> {
    let mut all = completion_times();
    all.extend(times());
    all.extend(slowdowns());
    all.extend(counts());
    all.extend(shares());
    all.extend(differences());
    all.extend(changes());
    all
}

/// Flow completion times. A replication has a load of its own that lengthens all of its flows.
fn completion_times() -> Vec<Quantity> {
    let light = ("log-normal flows (σ 1)", Times::LogNormal(1.0));
    let heavy = ("Pareto flows (tail 2.1)", Times::Pareto(2.1));
    let less_heavy = ("Pareto flows (tail 2.5)", Times::Pareto(2.5));
    let very_heavy = ("Pareto flows (tail 1.5)", Times::Pareto(1.5));
    let mean = |(name, times): (&str, Times), load: f64| {
        let distribution = format!("{FEW_FLOWS} {name}, load σ {load}");
        value("mean completion time", distribution, Scale::NON_NEGATIVE, 1.0, move |stream| {
            log_normal(stream, load) * times.mean(stream, FEW_FLOWS)
        })
    };
    let percentile = |metric, p: f64, flows: usize, (name, times): (&str, Times), load: f64| {
        let distribution = format!("{flows} {name}, load σ {load}");
        let draw = move |stream: &mut Stream| {
            log_normal(stream, load) * times.percentile(stream, p, flows)
        };
        let of = value(metric, distribution, Scale::NON_NEGATIVE, f64::NAN, draw);
        Quantity { truth: None, percentile: Some((p, flows)), ..of }
    };
    vec![
        mean(light, 0.1),
        mean(less_heavy, 0.1),
        mean(heavy, 0.1),
        mean(heavy, 0.4),
        mean(very_heavy, 0.1),
        percentile("p50", 0.5, FLOWS, light, 0.1),
        percentile("p50", 0.5, FLOWS, heavy, 0.4),
        percentile("p99", 0.99, FLOWS, light, 0.1),
        percentile("p99", 0.99, FLOWS, heavy, 0.1),
        percentile("p99", 0.99, FLOWS, heavy, 0.3),
        percentile("p99", 0.99, 100, heavy, 0.1),
        percentile("p99.9", 0.999, 3_000, light, 0.1),
        percentile("p99.9", 0.999, 3_000, heavy, 0.1),
        percentile("p99.9", 0.999, 1_000, light, 0.1),
        percentile("p99.9", 0.999, FLOWS, light, 0.1),
    ]
}

/// Times and other quantities that are zero or more.
fn times() -> Vec<Quantity> {
    let time = |distribution: &str, draw: fn(&mut Stream) -> f64| {
        value("time", distribution, Scale::NON_NEGATIVE, 1.0, draw)
    };
    vec![
        time("normal (CV 0.1)", |stream| 1.0 + 0.1 * normal(stream)),
        time("log-normal (CV 0.2)", |stream| log_normal(stream, 0.198)),
        time("log-normal (CV 0.5)", |stream| log_normal(stream, 0.472)),
        time("log-normal (CV 1.3)", |stream| log_normal(stream, 1.0)),
        time("gamma (CV 0.3)", |stream| gamma(stream, 11.1) / 11.1),
        time("gamma (CV 0.5)", |stream| gamma(stream, 4.0) / 4.0),
        time("exponential (CV 1)", |stream| stream.exponential(1.0)),
        time("2.5 in one of five, else 0.625", |stream| {
            let value = if stream.bernoulli(0.2) { 2.5 } else { 0.625 };
            value * log_normal(stream, 0.01)
        })
        .with(Nature::TwoModes),
    ]
}

fn slowdowns() -> Vec<Quantity> {
    let slowdown = |distribution: &str, truth: f64, draw: fn(&mut Stream) -> f64| {
        value("slowdown", distribution, Scale::of_unit("x"), truth, draw)
    };
    vec![
        slowdown("10, normal (CV 0.1)", 10.0, |stream| 10.0 + normal(stream)),
        slowdown("1 + log-normal (CV 0.5) / 2", 1.5, |stream| {
            1.0 + log_normal(stream, 0.472) / 2.0
        }),
        slowdown("1 + log-normal (CV 0.3) / 20", 1.05, |stream| {
            1.0 + log_normal(stream, 0.294) / 20.0
        }),
        slowdown("1 + log-normal (CV 1.3) / 20", 1.05, |stream| {
            1.0 + log_normal(stream, 1.0) / 20.0
        }),
    ]
}

fn counts() -> Vec<Quantity> {
    let count = |mean: f64, shape: Option<f64>| {
        let distribution = match shape {
            None => format!("Poisson, mean {mean}"),
            Some(shape) => format!("negative binomial, mean {mean}, shape {shape}"),
        };
        let draw = move |stream: &mut Stream| match shape {
            None => poisson(stream, mean),
            Some(shape) => negative_binomial(stream, mean, shape),
        };
        value("count", distribution, Scale::NON_NEGATIVE, mean, draw).with(Nature::Counts(mean))
    };
    vec![
        count(1.0, None),
        count(3.0, None),
        count(10.0, None),
        count(100.0, None),
        count(20.0, Some(6.0)),
        count(50.0, Some(6.0)),
        count(50.0, Some(1.0)),
    ]
}

fn shares() -> Vec<Quantity> {
    let share = |mean: f64, size: f64| {
        let distribution = format!("beta, mean {mean}, size {size}");
        value("share", distribution, Scale::SHARE, mean, move |stream| beta(stream, mean, size))
    };
    let lost = |mean: f64, packets: f64| {
        let distribution = format!("of {packets} packets, beta-binomial, mean {mean}, size 1000");
        let draw = move |stream: &mut Stream| {
            // Of rare losses the binomial distribution is that of Poisson.
            let rate = beta(stream, mean, 1_000.0);
            (poisson(stream, packets * rate) / packets).min(1.0)
        };
        value("share", distribution, Scale::SHARE, mean, draw).with(Nature::Counts(mean * packets))
    };
    vec![
        share(0.01, 1_000.0),
        share(0.1, 10.0),
        share(0.5, 2.0),
        share(0.5, 10.0),
        share(0.9, 50.0),
        share(0.99, 1_000.0),
        share(0.01, 5.0),
        lost(0.01, 200.0),
        lost(0.01, 1_000.0),
        lost(0.01, 10_000.0),
    ]
}

fn differences() -> Vec<Quantity> {
    let difference = |distribution: &str, truth: f64, draw: fn(&mut Stream) -> f64| {
        value("difference", distribution, Scale::REAL, truth, draw)
    };
    vec![
        difference("normal", 1.0, |stream| 1.0 + 2.0 * normal(stream)),
        difference("Laplace", 1.0, |stream| {
            1.0 + stream.exponential(1.0) - stream.exponential(1.0)
        }),
        difference("of log-normal (CV 0.5) times", 0.5, |stream| {
            1.5 * log_normal(stream, 0.472) - log_normal(stream, 0.472)
        }),
        difference("exponential", 1.0, |stream| stream.exponential(1.0)),
    ]
}

/// Paired changes, here by half unless it is said otherwise. Both sides have the load of their
/// replication.
fn changes() -> Vec<Quantity> {
    let times = |distribution: &str, noise: fn(&mut Stream) -> f64| {
        pair("change", distribution, -0.5, move |stream| {
            let load = log_normal(stream, 0.5);
            (load * noise(stream), load * noise(stream) / 2.0)
        })
    };
    let counts = |from: f64, to: f64, shape: Option<f64>| {
        let (distribution, load) = match shape {
            None => (format!("Poisson, {from} to {to}"), String::new()),
            Some(shape) => {
                (format!("Poisson, {from} to {to}"), format!(", gamma load of shape {shape}"))
            }
        };
        let draw = move |stream: &mut Stream| {
            let load = shape.map_or(1.0, |shape| gamma(stream, shape) / shape);
            (poisson(stream, from * load), poisson(stream, to * load))
        };
        let of = pair("change of a count", distribution + &load, to / from - 1.0, draw);
        // Without zeros it is the geometric mean of the ratios, with zeros the ratio of the means.
        let truth = of.truth.filter(|_| from.min(to) < 10.0 || shape.is_some_and(|of| of < 6.0));
        Quantity { truth, ..of }.with(Nature::Counts(from.min(to)))
    };
    vec![
        times("times, log-normal noise (σ 0.1)", |stream| log_normal(stream, 0.1)),
        times("times, log-normal noise (σ 1)", |stream| log_normal(stream, 1.0)),
        times("p99 of 300 Pareto flows (tail 2.1)", |stream| {
            Times::Pareto(2.1).percentile(stream, 0.99, FLOWS)
        }),
        pair("change", "log ratio exponential", std::f64::consts::E - 1.0, |stream| {
            let load = log_normal(stream, 0.5);
            (load, load * libm::exp(stream.exponential(1.0)))
        }),
        counts(100.0, 50.0, None),
        counts(100.0, 10.0, None),
        counts(20.0, 10.0, None),
        counts(10.0, 1.0, None),
        counts(100.0, 50.0, Some(6.0)),
        counts(50.0, 10.0, Some(4.0)),
        counts(50.0, 10.0, Some(1.0)),
    ]
}
