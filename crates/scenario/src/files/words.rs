//! Texts in lines and words that know where they stand.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use floodway_machine::printable::short;
use floodway_model::Duration;

use crate::text::{Place, Problem, Source};

/// The byte order mark, with which some editors begin a file.
pub const MARK: char = '\u{feff}';

/// A line of a text.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The line as a whole, without blanks at its ends.
    pub all: Word<'a>,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// What it is.
    pub text: &'a str,
    source: &'a Arc<Source>,
    at: usize,
}

/// The lines of a text that are not empty.
pub fn lines(source: &Arc<Source>) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    source.inner().split_inclusive('\n').filter_map(move |text| {
        let all = Word { text, source, at }.trimmed();
        at += text.len();
        (!all.text.is_empty()).then_some(Line { all })
    })
}

impl<'a> Line<'a> {
    /// What blanks separate.
    pub fn words(self) -> impl Iterator<Item = Word<'a>> {
        let text = self.all.text;
        let words = text.split_ascii_whitespace();
        words.map(move |word| self.all.part(word.as_ptr() as usize - text.as_ptr() as usize, word))
    }

    /// What commas separate, without blanks around it; a comma between double quotes separates
    /// nothing, and the quotes are left out.
    pub fn cells(self) -> impl Iterator<Item = Word<'a>> {
        let text = self.all.text;
        let mut rest = Some(0);
        std::iter::from_fn(move || {
            let start = rest?;
            let mut quoted = false;
            let end = text[start..].find(|c| {
                quoted ^= c == '"';
                c == ',' && !quoted
            });
            let end = end.map(|length| start + length);
            rest = end.map(|end| end + 1);
            let cell = self.all.part(start, &text[start..end.unwrap_or(text.len())]).trimmed();
            let inner = cell.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            Some(inner.map_or(cell, |inner| cell.part(1, inner)))
        })
    }
}

impl<'a> Word<'a> {
    /// A part of it that begins `from` bytes after it.
    pub fn part(self, from: usize, text: &'a str) -> Self {
        Self { text, at: self.at + from, ..self }
    }

    fn trimmed(self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        self.part(start, self.text.trim())
    }

    /// Where it stands: the first byte and the one behind the last.
    pub fn range(self) -> std::ops::Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// What is wrong with it.
    pub fn problem(self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::error(Place::at(self.source, self.range()), message, help)
    }

    /// What is doubtful about it.
    pub fn warning(self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::warning(Place::at(self.source, self.range()), message, help)
    }

    /// A whole number, zero or more; `what` it counts, for the message.
    pub fn whole(self, what: &str) -> Result<u64, Problem> {
        decimal(self.text).and_then(|number| number.exactly()).ok_or_else(|| {
            let message = format!("{what} is `{}`, not a whole number", short(self.text));
            let help = match self.text.starts_with(MARK) {
                true => "a byte order mark stands before it: save the file without one".to_owned(),
                false => format!("write a whole number from 0 to {}", u64::MAX),
            };
            self.problem(message, help)
        })
    }

    /// A time in `unit`, rounded to the nearest picosecond; `what` happens then, for the message.
    pub fn time(self, what: &str, unit: Unit) -> Result<Duration, Problem> {
        let time = decimal(self.text).and_then(|number| number.shifted(unit.digits()).rounded());
        time.map(Duration).ok_or_else(|| {
            let message = format!("{what} is `{}`, not a time", short(self.text));
            self.problem(message, format!("write {}, zero or more", unit.name()))
        })
    }

    /// A quantity with its unit, or why it is none.
    pub fn quantity<T: FromStr<Err: Display>>(self) -> Result<T, String> {
        self.text.parse().map_err(|error: T::Err| match short(self.text) {
            Cow::Borrowed(_) => error.to_string(),
            Cow::Owned(short) => format!("\"{short}\" is too long to be one"),
        })
    }

    /// A real number.
    pub fn real(self, what: &str) -> Result<f64, Problem> {
        let number = self.text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            let message = format!("{what} is `{}`, not a number", short(self.text));
            self.problem(message, "write a number like 0.5")
        })
    }
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Picoseconds.
    Picoseconds,
}

impl Unit {
    /// By how many digits picoseconds are finer.
    fn digits(self) -> i32 {
        match self {
            Self::Seconds => 12,
            Self::Nanoseconds => 3,
            Self::Picoseconds => 0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Nanoseconds => "nanoseconds",
            Self::Picoseconds => "picoseconds",
        }
    }
}

/// A number that is zero or more, exactly: `digits` times ten to the power of `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

/// Reads `12`, `12.5` and `1.25e1`.
fn decimal(text: &str) -> Option<Decimal> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i16>().ok()?.into()),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Zeros behind the last digit of a fraction say nothing, and are many with some tools.
    let fraction = fraction.trim_end_matches('0');
    let digits = [whole, fraction].concat();
    let digits = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(Decimal { digits, exponent: exponent - fraction.len() as i32 })
}

impl Decimal {
    fn shifted(self, digits: i32) -> Self {
        Self { exponent: self.exponent + digits, ..self }
    }

    /// As a whole number, if it is one that fits.
    fn exactly(self) -> Option<u64> {
        let value = match 10u128.checked_pow(self.exponent.unsigned_abs()) {
            _ if self.digits == 0 => 0,
            Some(power) if self.exponent >= 0 => self.digits.checked_mul(power)?,
            Some(power) if self.digits.is_multiple_of(power) => self.digits / power,
            _ => return None,
        };
        value.try_into().ok()
    }

    /// The nearest whole number, if it fits.
    fn rounded(self) -> Option<u64> {
        if self.exponent >= 0 || self.digits == 0 {
            return self.exactly();
        }
        let value = match 10u128.checked_pow(self.exponent.unsigned_abs()) {
            Some(power) => {
                self.digits / power + u128::from(self.digits % power >= power.div_ceil(2))
            }
            None => 0,
        };
        value.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<u64> {
        decimal(text)?.exactly()
    }

    fn in_ps(text: &str, unit: Unit) -> Option<u64> {
        decimal(text)?.shifted(unit.digits()).rounded()
    }

    #[test]
    fn whole_numbers_are_exact_in_every_spelling() {
        assert_eq!(whole("0"), Some(0));
        assert_eq!(whole("1500.0"), Some(1_500));
        assert_eq!(whole("1.5e3"), Some(1_500));
        assert_eq!(whole("15E+2"), Some(1_500));
        assert_eq!(whole("1500e-2"), Some(15));
        // Above what 32 bits and doubles hold.
        assert_eq!(whole("4294967296"), Some(1 << 32));
        assert_eq!(whole("9007199254740993"), Some(9_007_199_254_740_993));
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        for text in [
            "",
            ".",
            "-1",
            "+1",
            "1.5",
            "1e-1",
            "18446744073709551616",
            "1e99",
            "nan",
            "0x10",
            "1_000",
            "1e",
            "1e40000",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_exact_to_the_picosecond() {
        assert_eq!(in_ps("2", Unit::Seconds), Some(2_000_000_000_000));
        assert_eq!(in_ps("2.000000001000", Unit::Seconds), Some(2_000_000_001_000));
        assert_eq!(in_ps("1e-6", Unit::Seconds), Some(1_000_000));
        assert_eq!(in_ps(".5", Unit::Nanoseconds), Some(500));
        // A float of 32 bits would make 1000000064 of it.
        assert_eq!(in_ps("1000000033", Unit::Picoseconds), Some(1_000_000_033));
        // Rounded to the nearest, a half up.
        assert_eq!(in_ps("0.0004", Unit::Nanoseconds), Some(0));
        assert_eq!(in_ps("0.0005", Unit::Nanoseconds), Some(1));
        assert_eq!(in_ps("1e-300", Unit::Seconds), Some(0));
        assert_eq!(in_ps("18446745", Unit::Seconds), None);
    }

    #[test]
    fn cells_and_words_know_their_places() {
        let text = "a b\n\n  \"x, y\" ,,7 \n";
        let source = Arc::new(Source::new("f", text.to_owned()));
        let all: Vec<Line<'_>> = lines(&source).collect();
        assert_eq!(all.len(), 2);
        let of = |words: Vec<Word<'_>>| -> Vec<(String, String)> {
            let each = words.into_iter();
            each.map(|word| (word.text.to_owned(), text[word.range()].to_owned())).collect()
        };
        let same = |text: &str| (text.to_owned(), text.to_owned());
        assert_eq!(of(all[0].words().collect()), ["a", "b"].map(same));
        assert_eq!(of(all[1].cells().collect()), ["x, y", "", "7"].map(same));
    }
}
