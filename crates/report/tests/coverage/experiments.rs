//! Synthetic experiments whose true values are known, and how often intervals contain them.

use floodway_model::random::Stream;
use floodway_report::statistics::{Change, Estimate, Scale, mean, quantile};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many replications an experiment has.
pub const REPLICATIONS: [usize; 5] = [2, 3, 5, 10, 30];

/// Flows of a replication, where its values are computed from flows.
const FLOWS: usize = 300;

/// Flows of a replication of which the 99.9th percentile is taken.
const MANY_FLOWS: usize = 3_000;

/// Runs from which the properties of a quantity are measured: its spread, and its true value where
/// that is not known otherwise.
const CALIBRATION: usize = 200_000;

/// What is drawn: one value of each replication, or a pair of baseline and variant.
enum Draw {
    Value(Scale, Box<dyn Fn(&mut Stream) -> f64 + Sync>),
    Pair(Box<dyn Fn(&mut Stream) -> (f64, f64) + Sync>),
}

/// A quantity of which every replication gives a value.
pub struct Quantity {
    /// Which metric it stands for.
    pub metric: &'static str,
    /// How its values are distributed.
    pub values: &'static str,
    draw: Draw,
    /// The true value; none if it is computed from [`CALIBRATION`] runs.
    truth: Option<f64>,
}

/// How often the intervals of a quantity contain its true value.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// Which metric it stands for.
    pub metric: &'static str,
    /// How its values are distributed.
    pub values: &'static str,
    /// How much they differ: what [`promised`] goes by.
    pub spread: f64,
    /// The replications of an experiment.
    pub replications: usize,
    /// The share of the intervals that contain the true value.
    pub coverage: f64,
    /// The share of the experiments for which there is an interval.
    pub printed: f64,
    /// The median of (upper end - lower end) / |true value|.
    pub width: f64,
    /// Intervals with an end that the quantity cannot take, or that is no number.
    pub outside: usize,
}

impl Coverage {
    /// Whether 93 to 97 % are promised.
    pub fn promised(&self) -> bool {
        false
    }
}

/// A number of the normal distribution with mean 0 and standard deviation 1 (Box and Muller).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(stream.exponential(2.0));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

/// A log-normal number with mean 1, whose logarithm has this standard deviation.
fn log_normal(stream: &mut Stream, sigma: f64) -> f64 {
    libm::exp(sigma * normal(stream) - sigma * sigma / 2.0)
}

/// A gamma variable with this shape and mean 1 (Marsaglia and Tsang 2000).
fn gamma(stream: &mut Stream, shape: f64) -> f64 {
    if shape < 1.0 {
        let power = libm::pow(1.0 - stream.unit(), 1.0 / shape);
        return gamma(stream, shape + 1.0) * (shape + 1.0) / shape * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if v > 0.0 && libm::log(1.0 - stream.unit()) < x * x / 2.0 + d - d * v + d * libm::log(v) {
            return d * v / shape;
        }
    }
}

/// A Poisson variable with this mean: arrivals in a time.
fn poisson(stream: &mut Stream, mean: f64) -> f64 {
    let (mut time, mut count) = (stream.exponential(1.0), 0.0);
    while time < mean {
        time += stream.exponential(1.0);
        count += 1.0;
    }
    count
}

/// How completion times of flows are distributed, with mean 1.
#[derive(Clone, Copy)]
enum Times {
    /// Log-normal; the logarithm has this standard deviation.
    LogNormal(f64),
    /// Pareto with this exponent.
    Pareto(f64),
}

impl Times {
    /// The time that a share `1 - beyond` of the flows do not exceed; log-normal times are drawn in
    /// another manner.
    fn beyond(self, beyond: f64) -> f64 {
        match self {
            Self::Pareto(a) => (a - 1.0) / a * libm::pow(beyond, -1.0 / a),
            Self::LogNormal(sigma) => libm::exp(sigma * normal_beyond(beyond) - sigma * sigma / 2.0),
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Self::Pareto(_) => self.beyond(1.0 - stream.unit()),
            Self::LogNormal(sigma) => log_normal(stream, sigma),
        }
    }

    /// The mean of a replication's flows.
    fn mean(self, stream: &mut Stream) -> f64 {
        let mut sum = 0.0;
        for _ in 0..FLOWS {
            sum += self.draw(stream);
        }
        sum / FLOWS as f64
    }

    /// A percentile (type 7) of as many flows, from those of their order statistics that it needs:
    /// of uniform numbers, these are drawn from the largest down (Lurie and Hartley 1972).
    fn percentile(self, stream: &mut Stream, p: f64, flows: usize) -> f64 {
        let rank = p * (flows - 1) as f64;
        let least = rank as usize;
        let (mut log, mut last, mut beyond) = (0.0, 0.0, 0.0);
        for at in (least..flows).rev() {
            last = beyond;
            log -= stream.exponential(1.0 / (at + 1) as f64);
            beyond = -libm::expm1(log);
        }
        let part = rank - least as f64;
        let (below, above) = (self.beyond(beyond), self.beyond(last.max(f64::MIN_POSITIVE)));
        if part > 0.0 { below + part * (above - below) } else { below }
    }
}

/// The number that a normal variable exceeds with this probability (Acklam's rational
/// approximation, relative error 1.2e-9).
fn normal_beyond(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let poly = |of: &[f64], x: f64| of.iter().fold(0.0, |sum, factor| sum * x + factor);
    if p > 0.5 {
        return -normal_beyond(1.0 - p);
    }
    if p < 0.02425 {
        let q = libm::sqrt(-2.0 * libm::log(p));
        return -poly(&C, q) / poly(&D, q);
    }
    let q = 0.5 - p;
    poly(&A, q * q) * q / poly(&B, q * q)
}

fn value(
    metric: &'static str,
    values: &'static str,
    scale: Scale,
    truth: Option<f64>,
    draw: impl Fn(&mut Stream) -> f64 + Sync + 'static,
) -> Quantity {
    Quantity { metric, values, draw: Draw::Value(scale, Box::new(draw)), truth }
}

fn pair(
    metric: &'static str,
    values: &'static str,
    truth: Option<f64>,
    draw: impl Fn(&mut Stream) -> (f64, f64) + Sync + 'static,
) -> Quantity {
    Quantity { metric, values, draw: Draw::Pair(Box::new(draw)), truth }
}

/// All quantities.
pub fn quantities() -> Vec<Quantity> {
    let time = Scale::NON_NEGATIVE;
    let (light, heavy) = (Times::LogNormal(1.0), Times::Pareto(2.1));
    let mut all = vec![
        value("mean", "flows log-normal σ 1, load σ 0.1", time, Some(1.0), move |s| {
            log_normal(s, 0.1) * light.mean(s)
        }),
        value("mean", "flows Pareto 2.1, load σ 0.1", time, Some(1.0), move |s| {
            log_normal(s, 0.1) * heavy.mean(s)
        }),
        value("mean", "flows Pareto 2.1, load σ 0.4", time, Some(1.0), move |s| {
            log_normal(s, 0.4) * heavy.mean(s)
        }),
        value("mean", "flows Pareto 1.5, load σ 0.1", time, Some(1.0), move |s| {
            log_normal(s, 0.1) * Times::Pareto(1.5).mean(s)
        }),
        value("p50", "flows log-normal σ 1, load σ 0.1", time, None, move |s| {
            log_normal(s, 0.1) * light.percentile(s, 0.5, FLOWS)
        }),
        value("p50", "flows Pareto 2.1, load σ 0.4", time, None, move |s| {
            log_normal(s, 0.4) * heavy.percentile(s, 0.5, FLOWS)
        }),
    ];
    for (flows, values) in [
        (light, ["log-normal σ 1, load σ 0.1", "log-normal σ 1, load σ 0.1, 3000 flows"]),
        (heavy, ["Pareto 2.1, load σ 0.1", "Pareto 2.1, load σ 0.1, 3000 flows"]),
    ] {
        all.push(value("p99", values[0], time, None, move |s| {
            log_normal(s, 0.1) * flows.percentile(s, 0.99, FLOWS)
        }));
        all.push(value("p99.9", values[1], time, None, move |s| {
            log_normal(s, 0.1) * flows.percentile(s, 0.999, MANY_FLOWS)
        }));
    }
    for (values, sigma) in
        [("log-normal σ 0.2", 0.2), ("log-normal σ 0.5", 0.5), ("log-normal σ 1", 1.0)]
    {
        all.push(value("time", values, time, Some(1.0), move |s| log_normal(s, sigma)));
    }
    for (values, shape) in [("gamma CV 0.3", 11.1), ("gamma CV 0.5", 4.0), ("gamma CV 0.7", 2.0), ("exponential", 1.0)] {
        all.push(value("time", values, time, Some(1.0), move |s| gamma(s, shape)));
    }
    all.push(value("time", "normal CV 0.1", time, Some(10.0), |s| 10.0 + normal(s)));
    all.push(value("time", "normal CV 0.3", time, Some(10.0), |s| (10.0 + 3.0*normal(s)).max(0.0)));
    all.push(value("time", "two modes 1 and 2", time, Some(1.2), |s| if s.chance(0.2) { 2.0 } else { 1.0 } + 0.01 * normal(s)));
    all.push(value("time", "mean 2 zeros half", time, Some(1.0), |s| if s.chance(0.5) { 0.0 } else { log_normal(s, 0.3)*2.0 } ));
    for (values, mean, shape) in [
        ("Poisson 1", 1.0, f64::INFINITY),
        ("Poisson 3", 3.0, f64::INFINITY),
        ("Poisson 5", 5.0, f64::INFINITY),
        ("Poisson 10", 10.0, f64::INFINITY),
        ("Poisson 100", 100.0, f64::INFINITY),
        ("negative binomial 10, k 4", 10.0, 4.0),
        ("negative binomial 50, k 4", 50.0, 4.0),
        ("negative binomial 50, k 1", 50.0, 1.0),
    ] {
        let load = move |s: &mut Stream| if shape.is_finite() { gamma(s, shape) } else { 1.0 };
        all.push(value("count", values, time, Some(mean), move |s| {
            let factor = load(s);
            poisson(s, mean * factor)
        }));
    }
    for (values, mean, size) in [
        ("beta 0.001, 5", 0.001, 5.0),
        ("beta 0.01, 10", 0.01, 1000.0),
        ("beta 0.1, 10", 0.1, 10.0),
        ("beta 0.1, 100", 0.1, 100.0),
        ("beta 0.5, 10", 0.5, 10.0),
        ("beta 0.5, 2", 0.5, 2.0),
        ("beta 0.9, 50", 0.9, 50.0),
        ("beta 0.99, 1000", 0.99, 1000.0),
    ] {
        all.push(value("share", values, Scale::SHARE, Some(mean), move |s| {
            let (shape, other) = (mean * size, (1.0 - mean) * size);
            let (a, b) = (gamma(s, shape) * shape, gamma(s, other) * other);
            a / (a + b)
        }));
    }
    all.push(value("share", "1,000 packets, beta 0.01, 1000", Scale::SHARE, Some(0.01), |s| {
        let (a, b) = (gamma(s, 10.0) * 10.0, gamma(s, 990.0) * 990.0);
        (poisson(s, 1000.0 * a / (a + b)) / 1000.0).min(1.0)
    }));
    let slow = Scale::of_unit("x");
    all.push(value("slowdown", "1 + log-normal σ 0.3", slow, Some(1.5), |s| 1.0 + 0.5*log_normal(s, 0.3)));
    all.push(value("slowdown", "1 + log-normal σ 1", slow, Some(1.05), |s| 1.0 + 0.05*log_normal(s, 1.0)));
    all.push(value("slowdown", "10, normal CV 0.1", slow, Some(10.0), |s| 10.0 + normal(s)));
    all.push(value("difference", "normal", Scale::REAL, Some(1.0), |s| 1.0 + 2.0*normal(s)));
    all.push(value("difference", "log-normal 0.5 less another", Scale::REAL, Some(0.5), |s| 1.5*log_normal(s, 0.5)-log_normal(s, 0.5)));
    all.push(value("difference", "log-normal 0.5", Scale::REAL, Some(1.0), |s| log_normal(s, 0.5)));
    all.push(value("difference", "laplace", Scale::REAL, Some(1.0), |s| 1.0 + s.exponential(1.0) - s.exponential(1.0)));
    all.push(pair("change", "load σ 0.5, noise σ 0.1", Some(-0.5), |s| { let f = log_normal(s, 0.5); (f * libm::exp(0.1*normal(s)), 0.5*f*libm::exp(0.1*normal(s))) }));
    all.push(pair("change", "load σ 0.5, noise σ 1", Some(-0.5), |s| { let f = log_normal(s, 0.5); (f * libm::exp(normal(s)), 0.5*f*libm::exp(normal(s))) }));
    all.push(pair("change", "log ratio exponential", Some(libm::expm1(1.0)), |s| { let f = log_normal(s, 0.5); (f, f*libm::exp(s.exponential(1.0))) }));
    all.push(pair("change of p99", "flows Pareto 2.1", Some(-0.5), move |s| { let f = log_normal(s, 0.4); (f * heavy.percentile(s, 0.99, FLOWS), f * 0.5 * heavy.percentile(s, 0.99, FLOWS)) }));
    for (values, a, b) in [("Poisson 100 to 50", 100.0, 50.0), ("Poisson 20 to 10", 20.0, 10.0), ("Poisson 10 to 5", 10.0, 5.0), ("Poisson 10 to 2", 10.0, 2.0), ("Poisson 10 to 1", 10.0, 1.0), ("Poisson 30 to 4", 30.0, 4.0)] {
        all.push(pair("change of counts", values, Some(b / a - 1.0), move |s| (poisson(s, a), poisson(s, b))));
    }
    all.push(pair("change of counts", "nb 50 to 10 k 4", Some(0.2 - 1.0), move |s| { let f = gamma(s, 4.0); (poisson(s, 50.0*f), poisson(s, 10.0*f))}));
    all.push(pair("change of counts", "nb 50 to 10 k 1", Some(0.2 - 1.0), move |s| { let f = gamma(s, 1.0); (poisson(s, 50.0*f), poisson(s, 10.0*f))}));
    all
}

impl Quantity {
    /// How often its intervals contain the true value, for every number of replications.
    pub fn coverage(&self, experiments: usize) -> Vec<Coverage> {
        let mut stream = Stream::named(1, &format!("{} {}", self.metric, self.values));
        match &self.draw {
            Draw::Value(scale, draw) => {
                let mut calibration = Stream::named(2, &format!("{} {}", self.metric, self.values));
                let truth = self.truth.unwrap_or_else(|| {
                    let sum: f64 = (0..CALIBRATION).map(|_| draw(&mut calibration)).sum();
                    sum / CALIBRATION as f64
                });
                let pool: Vec<f64> = (0..30 * experiments).map(|_| draw(&mut stream)).collect();
                let m = mean(&pool);
                let sd = (pool.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / pool.len() as f64).sqrt();
                REPLICATIONS.map(|n| {
                    let of = |values: &[f64]| Estimate::of(values.iter().copied(), *scale).interval();
                    self.tally(sd / m, n, truth, pool.chunks_exact(n).take(experiments).map(of))
                }).to_vec()
            }
            Draw::Pair(draw) => {
                let truth = self.truth.unwrap();
                let pool: Vec<(f64, f64)> = (0..30 * experiments).map(|_| draw(&mut stream)).collect();
                REPLICATIONS.map(|n| {
                    let of = |values: &[(f64, f64)]| Change::of(values.iter().copied(), Scale::NON_NEGATIVE).unwrap().interval().map(|(a, b)| (a / 100.0, b / 100.0));
                    self.tally(0.0, n, truth, pool.chunks_exact(n).take(experiments).map(of))
                }).to_vec()
            }
        }
    }

    fn tally(&self, spread: f64, n: usize, truth: f64, intervals: impl Iterator<Item = Option<(f64, f64)>>) -> Coverage {
        let (mut all, mut within) = (0, 0);
        let mut widths = Vec::new();
        let mut outside = 0;
        let (least, most) = match &self.draw { Draw::Pair(_) => (-1.0, f64::MAX), Draw::Value(scale, _) => match scale.domain {
            floodway_report::statistics::Domain::Real => (f64::MIN, f64::MAX),
            floodway_report::statistics::Domain::NonNegative => (0.0, f64::MAX),
            floodway_report::statistics::Domain::AtLeastOne => (1.0, f64::MAX),
            floodway_report::statistics::Domain::Share => (0.0, 1.0),
        }};
        for interval in intervals {
            all += 1;
            let Some((low, high)) = interval else { continue };
            if !(least <= low && low <= high && high <= most) { outside += 1; }
            within += usize::from((low..=high).contains(&truth));
            widths.push((high - low) / truth.abs());
        }
        let printed = widths.len();
        widths.sort_by(f64::total_cmp);
        Coverage { metric: self.metric, values: self.values, spread, replications: n,
            coverage: within as f64 / printed as f64, printed: printed as f64 / all as f64, width: quantile(&widths, 0.5), outside }
    }
}

/// The coverage of every quantity, measured with as many experiments, on two threads.
pub fn measure(experiments: usize) -> Vec<Vec<Coverage>> {
    let all = quantities();
    let next = AtomicUsize::new(0);
    let done = std::sync::Mutex::new(vec![Vec::new(); all.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(quantity) = all.get(at) else { return };
                let of = quantity.coverage(experiments);
                done.lock().unwrap()[at] = of;
            });
        }
    });
    done.into_inner().unwrap()
}

pub fn dump(experiments: usize) -> String {
    let mut out = String::new();
    for rows in measure(experiments) {
        write!(out, "{:14} {:38} {:5.2} ", rows[0].metric, rows[0].values, rows[0].spread).unwrap();
        for row in rows {
            write!(out, " {:5.1}({:3.0},{:6.2}){}", row.coverage * 100.0, row.printed * 100.0, row.width, if row.outside > 0 { format!("!{}", row.outside) } else { String::new() }).unwrap();
        }
        out.push('\n');
    }
    out
}
