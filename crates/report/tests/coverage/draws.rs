//! Random numbers of known mean.

use floodway_model::random::Stream;
use statrs::distribution::{ContinuousCDF, Normal};

/// A normal number with mean 0 and standard deviation 1 (Box and Muller 1958).
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(stream.exponential(2.0));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

/// A log-normal number with mean 1, whose logarithm has the standard deviation `sigma`.
pub fn log_normal(stream: &mut Stream, sigma: f64) -> f64 {
    libm::exp(sigma * normal(stream) - sigma * sigma / 2.0)
}

/// A gamma-distributed number with mean `shape` and scale 1 (Marsaglia and Tsang 2000).
pub fn gamma(stream: &mut Stream, shape: f64) -> f64 {
    if shape < 1.0 {
        let power = libm::pow(1.0 - stream.unit(), 1.0 / shape);
        return gamma(stream, shape + 1.0) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let root = 1.0 + c * x;
        let v = root * root * root;
        if v > 0.0 && libm::log(1.0 - stream.unit()) < x * x / 2.0 + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

/// A share with mean `mean`, beta-distributed with the parameters `mean * size` and
/// `(1 - mean) * size`.
pub fn beta(stream: &mut Stream, mean: f64, size: f64) -> f64 {
    let of = gamma(stream, mean * size);
    of / (of + gamma(stream, (1.0 - mean) * size))
}

/// A Poisson-distributed number with mean `mean`: arrivals at exponential distances.
pub fn poisson(stream: &mut Stream, mean: f64) -> f64 {
    let (mut time, mut count) = (stream.exponential(1.0), 0.0);
    while time < mean {
        time += stream.exponential(1.0);
        count += 1.0;
    }
    count
}

/// A Poisson-distributed number whose mean is itself gamma-distributed with this shape: a negative
/// binomial number with mean `mean`.
pub fn negative_binomial(stream: &mut Stream, mean: f64, shape: f64) -> f64 {
    let load = gamma(stream, shape) / shape;
    poisson(stream, mean * load)
}

/// How the completion times of flows are distributed, with mean 1.
#[derive(Clone, Copy)]
pub enum Times {
    /// Log-normal; the logarithm has this standard deviation.
    LogNormal(f64),
    /// Pareto with this tail exponent.
    Pareto(f64),
}

impl Times {
    /// The time that a share `beyond` of the flows exceeds.
    fn exceeded_by(self, beyond: f64) -> f64 {
        match self {
            Self::LogNormal(sigma) => {
                libm::exp(-sigma * Normal::standard().inverse_cdf(beyond) - sigma * sigma / 2.0)
            }
            Self::Pareto(tail) => (tail - 1.0) / tail * libm::pow(beyond, -1.0 / tail),
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Self::LogNormal(sigma) => log_normal(stream, sigma),
            Self::Pareto(_) => self.exceeded_by(1.0 - stream.unit()),
        }
    }

    /// The mean of as many flows.
    pub fn mean(self, stream: &mut Stream, flows: usize) -> f64 {
        (0..flows).map(|_| self.draw(stream)).sum::<f64>() / flows as f64
    }

    /// The percentile of as many flows (type 7), from the two order statistics that it needs: those
    /// of uniform numbers are drawn from the largest down (Lurie and Hartley 1972).
    pub fn percentile(self, stream: &mut Stream, p: f64, flows: usize) -> f64 {
        let rank = p * (flows - 1) as f64;
        let below = rank as usize;
        let (mut log, mut beyond, mut last) = (0.0, 0.0, 0.0);
        for at in (below..flows).rev() {
            last = beyond;
            log -= stream.exponential(1.0 / (at + 1) as f64);
            beyond = -libm::expm1(log);
        }
        let part = rank - below as f64;
        let (low, high) = (self.exceeded_by(beyond), self.exceeded_by(last));
        if part > 0.0 { low + part * (high - low) } else { low }
    }
}
