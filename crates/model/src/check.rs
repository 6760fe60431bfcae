//! Validation of parameters. Each parameter type reports errors in terms of its own fields.
//!
//! A parameter type implements [`Check`] beside its definition. It reports to [`Findings`], which know the
//! table of the scenario that holds the parameters, so the type only needs its own field names:
//!
//! ```
//! # use floodway_model::check::{Check, Findings};
//! # struct Spec { w: f64 }
//! impl Check for Spec {
//!     fn check(&self, findings: &mut Findings<'_>) {
//!         findings.range("w", self.w, 1.0 / 1024.0..=1024.0, "the standard has 2");
//!     }
//! }
//! ```

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

use crate::units::{Bytes, Duration, Rate};

/// Probability that a frame of `bytes` has a bit error, if each of its bits has one with probability `rate`,
/// independently: 1 - (1 - rate)^(8 bytes), also where that is far below the precision of 1.
pub fn frame_error_rate(rate: f64, bytes: u64) -> f64 {
    -libm::expm1(bytes as f64 * 8.0 * libm::log1p(-rate))
}

/// Parameters that can validate themselves.
pub trait Check {
    /// Reports invalid or doubtful values that can be found from these parameters alone.
    fn check(&self, _findings: &mut Findings<'_>) {}
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario can run, but may not be what was intended.
    Warning,
    /// A setting without effect. It is a warning if the user wrote it; if it comes from a preset,
    /// it is ignored.
    Idle,
}

/// One problem with the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How severe the problem is.
    pub severity: Severity,
    /// Full paths of the fields involved, at least one. The message refers to the first of them
    /// that is in the file, or else to the place where the first would be.
    pub paths: Vec<String>,
    /// What is wrong; for a setting without effect, the reason.
    pub message: String,
    /// How to fix it.
    pub remedy: String,
}

/// Collects findings.
pub trait Sink {
    /// Adds a finding.
    fn add(&mut self, finding: Finding);

    /// Number of findings so far.
    fn count(&self) -> usize;
}

impl Sink for Vec<Finding> {
    fn add(&mut self, finding: Finding) {
        self.push(finding);
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// Reports findings about one table of a scenario. Field names are relative to the table; `""` is
/// the table itself, and a name that begins with `/` is the full path of a field elsewhere.
pub struct Findings<'a> {
    table: String,
    sink: &'a mut dyn Sink,
}

impl<'a> Findings<'a> {
    /// For the table at this path; `""` is the whole scenario.
    pub fn new(table: impl Into<String>, sink: &'a mut dyn Sink) -> Self {
        Self { table: table.into(), sink }
    }

    /// For a table within this one.
    pub fn within(&mut self, table: impl Display) -> Findings<'_> {
        Findings { table: self.path(&table.to_string()), sink: self.sink }
    }

    /// Full path of a field.
    pub fn path(&self, field: &str) -> String {
        match (field.strip_prefix('/'), &*self.table) {
            (Some(full), _) => full.to_owned(),
            (None, "") => field.to_owned(),
            (None, table) if field.is_empty() => table.to_owned(),
            (None, table) => format!("{table}.{field}"),
        }
    }

    /// Last part of the table's path; for a member of a family, its name.
    pub fn name(&self) -> &str {
        self.table.rsplit('.').next().unwrap_or("")
    }

    /// Number of findings so far, about all tables.
    pub fn count(&self) -> usize {
        self.sink.count()
    }

    /// Reports an error in these fields.
    pub fn error(
        &mut self,
        fields: impl Fields,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, fields, message.into(), remedy.into());
    }

    /// Reports a warning about these fields.
    pub fn warn(
        &mut self,
        fields: impl Fields,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Warning, fields, message.into(), remedy.into());
    }

    /// Reports that a field has no effect, in case it is written at all.
    pub fn idle(&mut self, field: &str, why: &str) {
        let message = format!("`{}` cannot act: {why}", self.path(field));
        let remedy = "remove it, so that nobody takes it for a setting of this scenario";
        self.add(Severity::Idle, field, message, remedy.into());
    }

    fn add(&mut self, severity: Severity, fields: impl Fields, message: String, remedy: String) {
        let paths = fields.each().into_iter().map(|field| self.path(field)).collect();
        self.sink.add(Finding { severity, paths, message, remedy });
    }

    /// Requires a value within a range; `remark` gives a usual value and its source. Numbers must also
    /// be finite.
    pub fn range<G: Given>(
        &mut self,
        field: &str,
        value: G,
        range: impl RangeBounds<G::Value>,
        remark: &str,
    ) {
        let Some(value) = value.given() else { return };
        if value.is_finite() && range.contains(&value) {
            return;
        }
        let remark = if remark.is_empty() { String::new() } else { format!("; {remark}") };
        let is = match G::Value::KIND {
            Some(_) if value == G::Value::default() => "zero".to_owned(),
            _ => value.shown(),
        };
        let message = format!("`{}` is {is}", self.path(field));
        self.error(field, message, format!("write {}{remark}", in_words(&range)));
    }

    /// Requires a value above zero.
    pub fn positive<G: Given>(&mut self, field: &str, value: G, remark: &str) {
        let zero = G::Value::default();
        self.range(field, value, (Bound::Excluded(zero), Bound::Unbounded), remark);
    }

    /// Requires a timeout that is not so short that a run consists of timeouts.
    pub fn timeout(&mut self, field: &str, value: impl Given<Value = Duration>, remark: &str) {
        self.range(field, value, SHORTEST_TIMEOUT.., remark);
    }

    /// Requires a weight, gain or nonzero fraction: above 0 and at most 1.
    pub fn weight(&mut self, field: &str, value: impl Given<Value = f64>, remark: &str) {
        self.range(field, value, (Bound::Excluded(0.0), Bound::Included(1.0)), remark);
    }

    /// Requires a fraction strictly between 0 and 1.
    pub fn between_0_and_1(&mut self, field: &str, value: impl Given<Value = f64>, remark: &str) {
        self.range(field, value, (Bound::Excluded(0.0), Bound::Excluded(1.0)), remark);
    }

    /// Requires a probability.
    pub fn probability(&mut self, field: &str, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            let message = format!("`{}` is {}, not a probability", self.path(field), number(value));
            self.error(field, message, "write a number from 0 to 1; 1 % is 0.01");
        }
    }

    /// Requires a valid link rate.
    pub fn link_rate(&mut self, field: &str, rate: impl Given<Value = Rate>) {
        let Some(rate) = rate.given() else { return };
        const REMEDY: &str = "write a rate like \"100Gbps\"";
        let path = self.path(field);
        if rate == Rate(0) {
            self.error(field, format!("`{path}` is zero"), REMEDY);
        } else if rate > FASTEST {
            self.error(field, format!("`{path}` is {rate}, above {FASTEST}"), REMEDY);
        }
    }

    /// Requires a latency, of propagation or processing, that is not too long.
    pub fn latency(&mut self, field: &str, value: impl Given<Value = Duration>) {
        if let Some(value) = value.given().filter(|&value| value > LONGEST_LATENCY) {
            let message = format!("`{}` is {}", self.path(field), rough_time(value));
            let remedy = format!("at most {LONGEST_LATENCY} is possible: 200 km of fibre take 1ms");
            self.error(field, message, remedy);
        }
    }

    /// Requires a time that is at most the longest possible run.
    pub fn within_a_run(&mut self, field: &str, value: impl Given<Value = Duration>) {
        if let Some(value) = value.given().filter(|&value| value > LONGEST_RUN) {
            let message = format!("`{}` is {}", self.path(field), rough_time(value));
            let remedy =
                format!("at most {LONGEST_RUN} are possible, which is longer than any run");
            self.error(field, message, remedy);
        }
    }

    /// Requires one field to be below another.
    pub fn below<T: Value>(&mut self, (low, a): (&str, T), (high, b): (&str, T), remedy: &str) {
        if a >= b {
            let message = format!("{} is not below {}", with(low, a), with(high, b));
            self.error([low, high], message, remedy);
        }
    }

    /// Requires one field to be at most another.
    pub fn at_most<T: Value>(&mut self, (low, a): (&str, T), (high, b): (&str, T), remedy: &str) {
        if a > b {
            let message = format!("{} is above {}", with(low, a), with(high, b));
            self.error([low, high], message, remedy);
        }
    }
}

/// One field, or several with the most informative one first.
pub trait Fields {
    /// All fields.
    fn each(&self) -> Vec<&str>;
}

impl Fields for &str {
    fn each(&self) -> Vec<&str> {
        vec![self]
    }
}

impl Fields for &String {
    fn each(&self) -> Vec<&str> {
        vec![self]
    }
}

impl<S: AsRef<str>, const N: usize> Fields for [S; N] {
    fn each(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>> Fields for &[S] {
    fn each(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

/// A number or a quantity in a scenario.
pub trait Value: Copy + Default + PartialOrd {
    /// Name of the quantity; `None` for a plain number.
    const KIND: Option<&'static str>;

    /// Text for messages.
    fn shown(self) -> String;

    /// Whether the value is a finite number.
    fn is_finite(self) -> bool {
        true
    }
}

/// A value, or an optional one.
pub trait Given {
    /// Type of the value if present.
    type Value: Value;

    /// The value, if present.
    fn given(self) -> Option<Self::Value>;
}

impl<V: Value> Given for V {
    type Value = V;

    fn given(self) -> Option<V> {
        Some(self)
    }
}

impl<V: Value> Given for Option<V> {
    type Value = V;

    fn given(self) -> Self {
        self
    }
}

impl Value for f64 {
    const KIND: Option<&'static str> = None;

    fn shown(self) -> String {
        number(self)
    }

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

macro_rules! values {
    ($($type:ty: $kind:expr),+) => {$(
        impl Value for $type {
            const KIND: Option<&'static str> = $kind;

            fn shown(self) -> String {
                self.to_string()
            }
        }
    )+};
}
values!(u8: None, u16: None, u32: None, i8: None, usize: None);
values!(Bytes: Some("a size"), Duration: Some("a time"), Rate: Some("a rate"));

/// A field with its value, for messages.
fn with(field: &str, value: impl Value) -> String {
    format!("`{}` ({})", field.trim_start_matches('/'), value.shown())
}

/// Describes a range for messages.
fn in_words<T: Value>(range: &impl RangeBounds<T>) -> String {
    let text = |bound: &T| match T::KIND {
        Some(_) if *bound == T::default() => "zero".to_owned(),
        Some(_) => format!("\"{}\"", bound.shown()),
        None => bound.shown(),
    };
    let kind = T::KIND.unwrap_or("a number");
    let start = match range.start_bound() {
        Bound::Included(a) => format!(" of at least {}", text(a)),
        Bound::Excluded(a) => format!(" above {}", text(a)),
        Bound::Unbounded => String::new(),
    };
    let and = if start.is_empty() { " of" } else { " and" };
    match (range.start_bound(), range.end_bound()) {
        (Bound::Included(a), Bound::Included(b)) => {
            format!("{kind} from {} to {}", text(a), text(b))
        }
        (_, Bound::Included(b)) => format!("{kind}{start}{and} at most {}", text(b)),
        (_, Bound::Excluded(b)) => format!("{kind}{start} and below {}", text(b)),
        (_, Bound::Unbounded) => format!("{kind}{start}"),
    }
}

/// Numbers above 1, such as gains by which something grows.
pub const ABOVE_ONE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(1.0), Bound::Unbounded);

/// Above this rate a frame takes so little time that a resolution of one picosecond is too coarse.
pub const FASTEST: Rate = Rate::from_gbps(100_000);

/// Longer than the propagation delay of any terrestrial path.
pub const LONGEST_LATENCY: Duration = Duration::from_ms(1_000);

/// Shorter than the round-trip time over one switch; each timeout is an event.
pub const SHORTEST_TIMEOUT: Duration = Duration::from_us(1);

/// More than a day; picoseconds are counted in 64 bits.
pub const LONGEST_RUN: Duration = Duration::from_ms(100_000_000);

/// A number for messages: in plain notation, or with an exponent if it would have many zeros.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 && size.is_finite() || (size > 0.0 && size < 1e-9) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A size for messages, to three digits.
pub fn rough_bytes(bytes: Bytes) -> String {
    rough(bytes.0 as f64, &["B", "KB", "MB", "GB", "TB"])
}

/// A time for messages, to three digits.
pub fn rough_time(time: Duration) -> String {
    rough(time.0 as f64, &["ps", "ns", "us", "ms", "s"])
}

fn rough(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value >= 99.95 || value.fract() == 0.0 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {}", units[unit])
}

/// A count with its noun: `1 packet`, `3 packets`.
pub fn count_of(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count if noun.ends_with('s') => format!("{count} {noun}es"),
        count => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_many_zeros_have_an_exponent() {
        for (value, text) in [
            (1.01, "1.01"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (1e14, "100000000000000"),
            (1e308, "1e308"),
            (-1.5e300, "-1.5e300"),
            (1e-300, "1e-300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_finding_has_the_full_paths_of_its_fields_and_a_range_in_words() {
        let mut all = Vec::new();
        let mut host = Findings::new("host.congestion", &mut all);
        let mut table = host.within("qcn");
        assert_eq!(table.name(), "qcn");
        table.weight("gd", 1.5, "the standard has 1/128");
        table.weight("gd", None::<f64>, "");
        table.range("jitter", f64::NAN, 0.0..1.0, "");
        table.range("w", Some(9_u8), 1..=8, "usual is 2");
        table.positive("rate", Rate(0), "without one nothing is sent");
        table.range("timer", Duration::ZERO, Duration::from_ns(10).., "");
        table.below(("low", Bytes(2)), ("/switch.high", Bytes(2)), "set it lower");
        table.idle("", "nothing asks");
        let told: Vec<_> =
            all.iter().map(|of| (&*of.paths[0], &*of.message, &*of.remedy)).collect();
        assert_eq!(
            told[..6],
            [
                (
                    "host.congestion.qcn.gd",
                    "`host.congestion.qcn.gd` is 1.5",
                    "write a number above 0 and at most 1; the standard has 1/128"
                ),
                (
                    "host.congestion.qcn.jitter",
                    "`host.congestion.qcn.jitter` is NaN",
                    "write a number of at least 0 and below 1"
                ),
                (
                    "host.congestion.qcn.w",
                    "`host.congestion.qcn.w` is 9",
                    "write a number from 1 to 8; usual is 2"
                ),
                (
                    "host.congestion.qcn.rate",
                    "`host.congestion.qcn.rate` is zero",
                    "write a rate above zero; without one nothing is sent"
                ),
                (
                    "host.congestion.qcn.timer",
                    "`host.congestion.qcn.timer` is zero",
                    "write a time of at least \"10ns\""
                ),
                (
                    "host.congestion.qcn.low",
                    "`low` (2B) is not below `switch.high` (2B)",
                    "set it lower"
                ),
            ]
        );
        assert_eq!(all[5].paths[1], "switch.high");
        assert_eq!((all[6].severity, &*all[6].paths[0]), (Severity::Idle, "host.congestion.qcn"));
    }
}
