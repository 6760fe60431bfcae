//! Numbers of which some make no sense, so that a file with them is refused where they stand.

use serde::de::{Deserialize, Deserializer, Error};

/// A number that is neither infinite nor NaN.
pub fn finite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match number.is_finite() {
        true => Ok(number),
        false => Err(Error::custom(format!("{number} is no number that can be drawn"))),
    }
}

/// A change in percent to something above zero.
pub fn change<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let percent = f64::deserialize(from)?;
    match percent.is_finite() && percent > -100.0 {
        true => Ok(percent),
        false => {
            Err(Error::custom(format!("a change in percent is above -100, and not {percent}")))
        }
    }
}

/// A lesser value and a greater one.
pub fn between<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
    let [low, high] = <[f64; 2]>::deserialize(from)?;
    match low.is_finite() && high.is_finite() && low < high {
        true => Ok([low, high]),
        false => Err(Error::custom(format!(
            "{low} is not less than {high}: the lesser value comes first"
        ))),
    }
}

/// The ends of an axis.
pub fn limits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[f64; 2]>, D::Error> {
    between(from).map(Some)
}

/// Pixels from top to bottom.
pub fn height<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let height = f64::deserialize(from)?;
    match (50.0..=2_000.0).contains(&height) {
        true => Ok(Some(height)),
        false => Err(Error::custom(format!("a chart is 50 to 2000 pixels high, and not {height}"))),
    }
}

/// The number of bins of a histogram.
pub fn bins<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let bins = usize::deserialize(from)?;
    match (1..=10_000).contains(&bins) {
        true => Ok(Some(bins)),
        false => Err(Error::custom(format!("a chart has 1 to 10000 bins, and not {bins}"))),
    }
}
