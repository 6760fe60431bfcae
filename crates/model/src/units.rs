//! Quantities that carry their unit in the type.
//!
//! Time is a whole number of picoseconds, so a byte at 400 Gb/s (20 ps) is exact and sums never
//! round. In text a quantity always carries its unit: `"200ns"`, `"100Gbps"`, `"750KB"` (KB is 1000
//! bytes, KiB 1024).

use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time: picoseconds since the start of the simulation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Instant(pub u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A data rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

impl Instant {
    /// The start of the simulation.
    pub const ZERO: Self = Self(0);
    /// Later than every other time: the value of a timer that is not set.
    pub const NEVER: Self = Self(u64::MAX);

    /// Time since `earlier`; zero if `earlier` is not in the past.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero time.
    pub const ZERO: Self = Self(0);

    /// A whole number of nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// A whole number of microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// A whole number of milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// In seconds, for rates and reports.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// In nanoseconds, for columns whose suffix is `_ns`.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Rate {
    /// A whole number of gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// A whole number of megabits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// In gigabits per second, for reports.
    pub fn as_gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Number of whole bytes that this rate carries in `time`.
    pub fn bytes_in(self, time: Duration) -> Bytes {
        Bytes((u128::from(self.0) * u128::from(time.0) / (8 * u128::from(PS_PER_S))) as u64)
    }

    /// Time to transmit `bytes` at this rate.
    pub fn time_for(self, bytes: Bytes) -> Duration {
        ByteTime::at(self).of(bytes.0)
    }
}

/// Transmission time of one byte at a given rate, prepared so that the serialization delay of a
/// frame is one multiplication.
///
/// It is stored in units of 2^-20 ps and rounded up once. It is therefore exact if a byte takes a
/// whole number of picoseconds (1, 10, 25, 40, 100, 200, 400, 800 Gb/s), and otherwise at most
/// 2^-20 ps per byte too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTime(u64);

impl ByteTime {
    const FRACTION_BITS: u32 = 20;

    /// Prepares `rate`, which must be nonzero.
    pub fn at(rate: Rate) -> Self {
        let ps_per_byte = (8 * u128::from(PS_PER_S)) << Self::FRACTION_BITS;
        Self(ps_per_byte.div_ceil(u128::from(rate.0)) as u64)
    }

    /// Serialization delay of `bytes`, rounded up to a picosecond.
    #[inline]
    pub fn of(self, bytes: u64) -> Duration {
        let scaled = match self.0.checked_mul(bytes) {
            Some(product) => u128::from(product),
            None => u128::from(self.0) * u128::from(bytes),
        };
        let ps = (scaled + (1 << Self::FRACTION_BITS) - 1) >> Self::FRACTION_BITS;
        Duration(ps.min(u64::MAX.into()) as u64)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// Panics if the right side is later: use [`Instant::since`] where that can happen.
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0.checked_sub(earlier.0).expect("time runs forward"))
    }
}

macro_rules! arithmetic {
    ($($name:ident)*) => {$(
        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self { Self(self.0 - other.0) }
        }
        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) { *self = *self + other; }
        }
        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) { self.0 -= other.0; }
        }
        impl Mul<u64> for $name {
            type Output = Self;
            #[inline]
            fn mul(self, times: u64) -> Self { Self(self.0.saturating_mul(times)) }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self(0), Add::add)
            }
        }
    )*};
}
arithmetic!(Duration Bytes Rate);

impl Add for Duration {
    type Output = Self;
    /// Saturates.
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Not saturating: bytes are summed for every packet, and the sums are of existing data.
macro_rules! addition {
    ($($name:ident)*) => {$(
        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self { Self(self.0 + other.0) }
        }
    )*};
}
addition!(Bytes Rate);

/// Error in the text of a quantity, with the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// A number without a unit.
    #[error("\"{text}\" has no unit: {noun} is written like \"{example}\"")]
    NoUnit {
        /// Text as written.
        text: String,
        /// Expected quantity, with its article.
        noun: &'static str,
        /// Example of a correct spelling.
        example: &'static str,
    },
    /// A unit that this quantity does not have.
    #[error("unknown unit \"{unit}\" in \"{text}\": {noun} takes {units}")]
    UnknownUnit {
        /// Text as written.
        text: String,
        /// The part that is not a unit of this quantity.
        unit: String,
        /// Expected quantity, with its article.
        noun: &'static str,
        /// The valid units.
        units: String,
    },
    /// The part before the unit is not a non-negative number.
    #[error("\"{text}\" is not {noun}: write a number and a unit, like \"{example}\"")]
    NotANumber {
        /// Text as written.
        text: String,
        /// Expected quantity, with its article.
        noun: &'static str,
        /// Example of a correct spelling.
        example: &'static str,
    },
    /// A part of the smallest unit, such as half a byte.
    #[error("\"{text}\" is no whole number of {unit}: {noun} is written like \"{example}\"")]
    NotWhole {
        /// Text as written.
        text: String,
        /// The smallest unit.
        unit: &'static str,
        /// Expected quantity, with its article.
        noun: &'static str,
        /// Example of a correct spelling.
        example: &'static str,
    },
    /// The value is larger than floodway can represent.
    #[error("\"{text}\" is too large for {noun}: the most is {most}")]
    TooLarge {
        /// Text as written.
        text: String,
        /// Expected quantity, with its article.
        noun: &'static str,
        /// The largest value.
        most: String,
    },
}

/// The written form of a quantity: its name with article, an example, and its units by size.
struct Spelling {
    noun: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
}

impl Spelling {
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let Self { noun, example, units } = *self;
        let owned = || text.to_owned();
        let trimmed = text.trim();
        let end_of_number = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end_of_number);
        let unit = unit.trim_start();
        let number = number.replace('_', "");
        let Some((whole, numerator, denominator)) = decimal(&number) else {
            return Err(UnitError::NotANumber { text: owned(), noun, example });
        };
        if unit.is_empty() {
            return Err(UnitError::NoUnit { text: owned(), noun, example });
        }
        let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
            let units = units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return Err(UnitError::UnknownUnit {
                text: owned(),
                unit: unit.to_owned(),
                noun,
                units,
            });
        };
        if scale == 1 && numerator > 0 {
            let unit = units[0].0;
            return Err(UnitError::NotWhole { text: owned(), unit, noun, example });
        }
        // Exact to the last digit, then rounded to the nearest base unit.
        let scale = u128::from(scale);
        let value = whole * scale + (numerator * scale + denominator / 2) / denominator;
        u64::try_from(value).map_err(|_| UnitError::TooLarge {
            text: owned(),
            noun,
            most: self.format(u64::MAX),
        })
    }

    /// Regular expression for the written form.
    fn pattern(&self) -> String {
        let units: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        let number = r"([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)";
        // Or what it follows from: `xoff - 20KB`, `auto`. One word of it is a name.
        let word = r"\(*[A-Za-z0-9_.]+\)*";
        let derived = format!(r"(?=.*\b[a-z][a-z_]{{2,}}){word}(\s*[-+*/]\s*{word})+|auto");
        format!(r"^\s*({number}\s*({})|{derived})\s*$", units.join("|"))
    }

    /// Formats in the largest unit in which the value is at least one and exact with at most three
    /// decimals, otherwise in the smallest unit. No time is none in any unit, and is written in seconds.
    fn format(&self, value: u64) -> String {
        let base = self.units[0];
        if value == 0 && self.units.contains(&("s", PS_PER_S)) {
            return "0s".to_owned();
        }
        // Decimal units with ASCII names only: "us" and not "µs", "KB" and not "KiB".
        let plain = |name: &str| name.is_ascii() && !name.contains('i');
        let mut decimal: Vec<_> = self.units.iter().filter(|(name, _)| plain(name)).collect();
        decimal.sort_by_key(|(_, scale)| *scale);
        for &&(name, scale) in decimal.iter().rev() {
            if scale <= 1 || value < scale {
                continue;
            }
            let thousandth = scale / 1000;
            if value.is_multiple_of(thousandth) {
                let text = format!("{}.{:03}", value / scale, value % scale / thousandth);
                return format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.'));
            }
        }
        format!("{value}{}", base.0)
    }
}

/// Splits `12.5` into its whole part and its fraction: 12, 5 and 10.
fn decimal(number: &str) -> Option<(u128, u128, u128)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let denominator = 10u128.checked_pow(fraction.len() as u32)?;
    Some((digits(whole)?.into(), digits(fraction)?.into(), denominator))
}

macro_rules! spelled {
    ($name:ident, $noun:literal, $example:literal, [$(($unit:literal, $scale:expr)),* $(,)?]) => {
        impl $name {
            const SPELLING: Spelling =
                Spelling { noun: $noun, example: $example, units: &[$(($unit, $scale)),*] };
        }

        impl FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                Self::SPELLING.parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&Self::SPELLING.format(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_str(self),
                    false => serializer.serialize_u64(self.0),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    return u64::deserialize(deserializer).map(Self);
                }
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, concat!($noun, " with its unit in quotes, like \"", $example, "\""))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!($noun, " with its unit, like \"", $example, "\""),
                    "examples": [$example],
                    "pattern": Self::SPELLING.pattern(),
                })
            }
        }
    };
}

spelled!(
    Duration,
    "a duration",
    "200ns",
    [
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", PS_PER_S),
    ]
);
spelled!(
    Bytes,
    "a size",
    "750KB",
    [
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ]
);
spelled!(
    Rate,
    "a rate",
    "100Gbps",
    [
        ("bps", 1),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ]
);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Overflow saturates at the largest value, which as a time means "never".
    #[test]
    fn sums_and_products_stay_at_the_most_there_is() {
        let most = Duration(u64::MAX);
        assert_eq!(most + Duration(1), most);
        assert_eq!(Duration(u64::MAX / 2) * 3, most);
        assert_eq!([most, most].into_iter().sum::<Duration>(), most);
        assert_eq!(ByteTime::at(Rate(1)).of(u64::MAX), most);
        // 1 bit/s: 8 s a byte.
        assert_eq!(ByteTime::at(Rate(1)).of(3), Duration(24 * PS_PER_S));
    }

    #[test]
    fn serialization_at_ethernet_rates_is_exact() {
        // 1538 bytes on the wire at 100 Gb/s: 80 ps a byte.
        assert_eq!(ByteTime::at(Rate::from_gbps(100)).of(1538), Duration(123_040));
        assert_eq!(ByteTime::at(Rate::from_gbps(400)).of(64), Duration(1_280));
        assert_eq!(ByteTime::at(Rate::from_mbps(40)).of(1500), Duration(300_000_000));
    }

    #[test]
    fn text_forms() {
        assert_eq!("750KB".parse(), Ok(Bytes(750_000)));
        assert_eq!("1KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("0.5us".parse(), Ok(Duration(500_000)));
        assert_eq!("100 Gbps".parse(), Ok(Rate::from_gbps(100)));
        assert_eq!("1_000ns".parse(), Ok(Duration::from_us(1)));
    }

    #[test]
    fn errors_name_the_remedy() {
        let error = |text: &str| text.parse::<Duration>().unwrap_err().to_string();
        assert_eq!(error("200"), "\"200\" has no unit: a duration is written like \"200ns\"");
        assert_eq!(
            error("200sec"),
            "unknown unit \"sec\" in \"200sec\": a duration takes ps, ns, us, µs, ms, s"
        );
        assert_eq!(
            error("fast"),
            "\"fast\" is not a duration: write a number and a unit, like \"200ns\""
        );
        assert_eq!(
            error("99999999999s"),
            "\"99999999999s\" is too large for a duration: the most is 18446744073709551.615ns"
        );
        assert_eq!(
            "1.5B".parse::<Bytes>().unwrap_err().to_string(),
            "\"1.5B\" is no whole number of B: a size is written like \"750KB\""
        );
        assert_eq!(("1.0B".parse(), "1.5KB".parse()), (Ok(Bytes(1)), Ok(Bytes(1_500))));
        assert_eq!(
            "-5KB".parse::<Bytes>().unwrap_err().to_string(),
            "\"-5KB\" is not a size: write a number and a unit, like \"750KB\""
        );
    }

    #[test]
    fn display_is_what_a_person_would_write() {
        assert_eq!(Duration::from_ns(200).to_string(), "200ns");
        assert_eq!(Duration(1_500_000).to_string(), "1.5us");
        assert_eq!(Duration::ZERO.to_string(), "0s");
        assert_eq!([Bytes(0).to_string(), Rate(0).to_string()], ["0B", "0bps"]);
        assert_eq!(Bytes(750_000).to_string(), "750KB");
        assert_eq!(Bytes(1_048_576).to_string(), "1048.576KB");
        assert_eq!(Rate::from_gbps(100).to_string(), "100Gbps");
    }

    proptest! {
        #[test]
        fn what_is_printed_can_be_read(value in any::<u64>()) {
            prop_assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
        }

        #[test]
        fn byte_time_is_never_early_and_hardly_late(
            rate in 1_000_000u64..1_000_000_000_000, bytes in 1u64..65_536,
        ) {
            let exact = (bytes as f64) * 8e12 / rate as f64;
            let ours = ByteTime::at(Rate(rate)).of(bytes).0 as f64;
            prop_assert!(ours >= exact - 1e-3 * exact.max(1.0) * 1e-9);
            prop_assert!(ours <= exact + 2.0);
        }
    }
}
