//! Sizes with an exponential distribution between a least and a most, written
//! `exponential(mean, least, most)`: the distribution of a mean without bounds, of which the values
//! outside of them are drawn again.

use std::str::FromStr;

use floodway_model::Bytes;

/// An exponential distribution on the condition of being between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// Mean without the bounds, bytes.
    mean: f64,
    /// The bounds, bytes.
    least: f64,
    most: f64,
}

/// Why a text says no such distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

/// What texts of this kind begin with.
pub const NAME: &str = "exponential";

const EXAMPLE: &str = "write mean, least and most: \"exponential(8000B, 46B, 64KB)\"";

impl FromStr for Exponential {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let fail = |cause: String, remedy: &str| {
            Err(TextError { cause: cause.to_owned(), remedy: remedy.to_owned() })
        };
        let inside = text.trim().strip_prefix(NAME).map(str::trim_start);
        let inside = inside.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        let parts: Vec<&str> = inside.map_or(Vec::new(), |inside| inside.split(',').collect());
        let [mean, least, most] = parts[..] else {
            return fail(format!("`{text}` is not an exponential distribution"), EXAMPLE);
        };
        let size = |part: &str| Bytes::from_str(part.trim());
        let (mean, least, most) = match (size(mean), size(least), size(most)) {
            (Ok(mean), Ok(least), Ok(most)) => (mean, least, most),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                return fail(error.to_string(), EXAMPLE);
            }
        };
        if least == Bytes(0) {
            return fail("the least size is 0 bytes".to_owned(), "a flow has at least one byte");
        }
        if least >= most {
            let cause = format!("the least size ({least}) is not below the most ({most})");
            return fail(cause, "for one size write only that, for example \"64KB\"");
        }
        if mean < least || mean > most {
            let cause = format!(
                "the mean ({mean}) is not between the least ({least}) and the most ({most})"
            );
            return fail(cause, "it is the mean without the bounds, and belongs between them");
        }
        Ok(Self { mean: mean.0 as f64, least: least.0 as f64, most: most.0 as f64 })
    }
}

impl Exponential {
    /// The upper bound in bytes.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// How much of the distribution without an upper bound lies below `size`, which is not below
    /// the lower one.
    fn below(&self, size: f64) -> f64 {
        -libm::expm1(-(size - self.least) / self.mean)
    }

    /// The size at a random number of [0, 1), not rounded.
    pub fn sample(&self, unit: f64) -> f64 {
        let size = self.least - self.mean * libm::log1p(-unit * self.below(self.most));
        size.min(self.most)
    }

    /// The mean size in bytes if larger ones than `cap` are set to it: the integral of the
    /// probability of a larger size.
    pub fn mean(&self, cap: f64) -> f64 {
        if cap <= self.least {
            return cap;
        }
        let cap = cap.min(self.most);
        let all = self.below(self.most);
        let beyond = (cap - self.least) * (1.0 - all);
        self.least + (self.mean * self.below(cap) - beyond) / all
    }

    /// The probability of a size below `bytes`.
    pub fn fraction_below(&self, bytes: f64) -> f64 {
        let size = bytes.clamp(self.least, self.most);
        self.below(size) / self.below(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Far from its bounds it is the exponential distribution: the memory is lost at the least.
        let wide: Exponential = "exponential(1KB, 1B, 1GB)".parse().unwrap();
        assert!((wide.mean(f64::INFINITY) - 1_001.0).abs() < 1e-9);
        assert!((wide.fraction_below(1_001.0) - (1.0 - libm::exp(-1.0))).abs() < 1e-12);
        assert!((wide.sample(0.5) - (1.0 + 1_000.0 * libm::log(2.0))).abs() < 1e-9);
        // Bounds ln 2 means apart cut away one half. What is left is 1 - ln 2 means above the least
        // on average: m - w q / (1 - q), where w is the width and q what is cut away.
        let (least, most) = (1_000_000.0, 1_000_000.0 + 1e6 * libm::log(2.0));
        let half = Exponential { mean: 1e6, least, most };
        let above = 1e6 * (1.0 - libm::log(2.0));
        assert!((half.mean(f64::INFINITY) - least - above).abs() < 1e-6);
        assert_eq!(half.sample(0.0), least);
        assert!(half.sample(1.0 - f64::EPSILON) <= most);
    }

    #[test]
    fn what_is_no_such_distribution() {
        let error = |text: &str| Exponential::from_str(text).unwrap_err().cause;
        for text in ["exponential", "exponential(8KB)", "exponential(8KB, 1B, 2KB", "exponential()"]
        {
            assert_eq!(error(text), format!("`{text}` is not an exponential distribution"));
        }
        assert!(error("exponential(8, 1B, 2KB)").contains('8'));
        assert_eq!(error("exponential(8KB, 0B, 64KB)"), "the least size is 0 bytes");
        assert_eq!(
            error("exponential(8KB, 9KB, 9KB)"),
            "the least size (9KB) is not below the most (9KB)"
        );
        assert_eq!(
            error("exponential(8KB, 9KB, 10KB)"),
            "the mean (8KB) is not between the least (9KB) and the most (10KB)"
        );
    }
}
