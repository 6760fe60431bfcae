//! How often the points of a sweep are repeated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem;
use crate::text::Error;

/// When there are enough replications: at every point and in every variant neither end of the 95 %
/// confidence interval of a metric's mean is farther from the mean than this part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The metric, one of the columns of the sweep's results: `fct_p99_ns`.
    pub metric: String,
    /// The distance from the mean to the farther end of its interval, as a part of the mean, above 0.
    /// Default 0.05.
    #[serde(default = "half_width")]
    pub half_width: f64,
    /// The most replications of a point and variant. Default 30.
    #[serde(default = "at_most")]
    pub at_most: u32,
}

fn half_width() -> f64 {
    0.05
}

fn at_most() -> u32 {
    30
}

impl Until {
    /// Reads `METRIC` or `METRIC=HALF_WIDTH`.
    pub fn parse(argument: &str) -> Result<Self, Error> {
        let (metric, half_width) = match argument.split_once('=') {
            None => (argument, half_width()),
            Some((metric, width)) => {
                let width = width.trim().parse().map_err(|_| {
                    let message = format!("`{width}` is not a number");
                    problem("--until", argument, message, "write it like --until fct_p99_ns=0.05")
                })?;
                (metric, width)
            }
        };
        let until = Self { metric: metric.trim().to_owned(), half_width, at_most: at_most() };
        until.check()?;
        Ok(until)
    }

    /// Whether the most replications are at least those that the scenario asks for.
    pub(super) fn allow(&self, replications: u32) -> Result<(), Error> {
        if self.at_most >= replications {
            return Ok(());
        }
        let message = format!(
            "at_most is {}, but the scenario requires at least {replications} replications",
            self.at_most
        );
        let help = format!(
            "lower `replications` (`--replications`), or raise `at_most` (`--at-most`) to \
             {replications}"
        );
        Err(problem("sweep.until", &self.metric, message, &help).into())
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |what: String, help: &str| problem("sweep.until", &self.metric, what, help);
        if self.metric.is_empty() {
            return Err(wrong("the metric has no name".to_owned(), "name one: fct_p99_ns").into());
        }
        if !(self.half_width > 0.0 && self.half_width.is_finite()) {
            let message = format!("half_width is {}, not above 0", self.half_width);
            return Err(wrong(message, "0.05 is a twentieth of the mean to both sides").into());
        }
        if self.at_most < 2 {
            let message = format!("at_most is {}", self.at_most);
            return Err(wrong(message, "an interval needs at least 2 replications").into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_read_and_checked() {
        let until = Until::parse("fct_p99_ns=0.1").unwrap();
        assert_eq!(
            (until.metric.as_str(), until.half_width, until.at_most),
            ("fct_p99_ns", 0.1, 30)
        );
        assert_eq!(Until::parse("x").unwrap().half_width, 0.05);
        let message = |text| Until::parse(text).unwrap_err().problems()[0].message.clone();
        assert_eq!(message("x=y"), "`y` is not a number");
        assert_eq!(message("x=0"), "half_width is 0, not above 0");
        assert_eq!(message("=1"), "the metric has no name");
    }
}
