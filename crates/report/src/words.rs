//! Numbers as people read them. A plain minus and plain spaces; the page sets them in type.

use crate::statistics::{Change, NoInterval};
use crate::summary::{Interval, Measure};

/// A number with three significant digits and no exponent.
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let magnitude = libm::floor(libm::log10(value.abs()) + 1e-12) as i32;
    let decimals = (2 - magnitude).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    // 9.996 rounds up to 10.00: one digit too many.
    let surplus = decimals > 0
        && text.parse::<f64>().is_ok_and(|rounded| {
            rounded.abs() >= libm::pow(10.0, f64::from(magnitude + 1)) * (1.0 - 1e-12)
        });
    if surplus { format!("{value:.*}", decimals - 1) } else { text }
}

/// A count with its thousands apart: `1,234,567`, or `12.3 million` from ten million up. A mean
/// of counts keeps a digit after the point below one hundred.
pub fn count(value: f64) -> String {
    if value.abs() >= 1e7 {
        return large(value);
    }
    let whole = value == libm::trunc(value) || value.abs() >= 100.0;
    if !whole {
        return digits(value);
    }
    let plain = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// A large number with three digits: `471 million`.
pub fn large(value: f64) -> String {
    if value.abs() < 999_500.0 {
        return count(value.round());
    }
    scaled(value, COUNTS)
}

/// A duration in nanoseconds in the unit that suits it: `12.3 µs`.
pub fn time(ns: f64) -> String {
    scaled(ns, TIMES)
}

/// A number of bytes in the unit that suits it: `750 KB`.
pub fn bytes(value: f64) -> String {
    scaled(value, BYTES)
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let (scale, unit) = unit_for(value, units);
    format!("{} {unit}", digits(value / scale))
}

fn unit_for<'a>(value: f64, units: &[(f64, &'a str)]) -> (f64, &'a str) {
    let smallest = units.last().expect("units are given");
    // 999.6 reads 1000 with three digits, which belongs to the next unit.
    *units.iter().find(|(scale, _)| value.abs() >= scale * 0.9995).unwrap_or(smallest)
}

/// An interval beside its mean, in the mean's unit and with its decimals: `[41.6, 43.4]` beside
/// `42.5 µs`.
pub fn range(mean: f64, (low, high): (f64, f64), unit: &str) -> String {
    let shown = quantity(mean, unit);
    let number = shown.split(' ').next().unwrap_or("");
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let scale = match unit {
        "ns" => unit_for(mean, TIMES).0,
        "bytes" => unit_for(mean, BYTES).0,
        "b/s" => unit_for(mean, RATES).0,
        "" if mean.abs() >= 1e7 => unit_for(mean, COUNTS).0,
        "" => return format!("[{}, {}]", count(low), count(high)),
        _ => 1.0,
    };
    let (low, high) = (low / scale, high / scale);
    let ends = [low, high].map(|end| format!("{end:.decimals$}"));
    // A low end that rounds to nothing, and a high one far away, have digits of their own.
    if ends[0].chars().all(|digit| "0.".contains(digit)) && low > 0.0 || high >= 1e4 {
        return format!("[{}, {}]", digits(low), large_digits(high));
    }
    format!("[{}, {}]", ends[0], ends[1])
}

/// A number with three digits, from a million on with its power of ten in words.
fn large_digits(value: f64) -> String {
    if value >= 1e4 { large(value) } else { digits(value) }
}

const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const BYTES: &[(f64, &str)] = &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")];
const RATES: &[(f64, &str)] = &[(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")];
const COUNTS: &[(f64, &str)] = &[(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];

/// A value in its unit: `ns`, `bytes`, `b/s`, `Gb/s`, `1/s`, `x` (a factor) or none for a count.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "ns" => time(value),
        "bytes" => bytes(value),
        "b/s" => scaled(value, RATES),
        "x" => digits(value),
        "" => count(value),
        "MOS" => format!("{value:.2}"),
        "1/s" => format!("{} {unit}", count(value)),
        _ => format!("{} {unit}", digits(value)),
    }
}

/// The same without zeros at the end of its decimals, for the labels of an axis: `10 µs`.
pub fn short(value: f64, unit: &str) -> String {
    let text = quantity(value, unit);
    let (number, rest) = text.split_once(' ').map_or((text.as_str(), ""), |parts| parts);
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    if rest.is_empty() { number.to_string() } else { format!("{number} {rest}") }
}

/// A measure's mean in its unit; `-` if there is none.
pub fn mean(measure: &Measure, unit: &str) -> String {
    measure.estimate.mean.map_or_else(|| "-".to_string(), |mean| quantity(mean, unit))
}

/// A measure's mean with its interval, where it has one: `12.3 µs [11.8 µs, 12.9 µs]`.
pub fn estimate(measure: &Measure, unit: &str) -> String {
    let interval = measure.estimate.interval().map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", quantity(low, unit), quantity(high, unit))
    });
    mean(measure, unit) + &interval
}

/// A measured interval: `100 µs to 16 ms`; where it ends at different times, `0 to 1.9–2.4 ms`.
pub fn interval(interval: &Interval) -> String {
    let time = |ns: f64| if ns == 0.0 { "0".to_string() } else { short(ns, "ns") };
    let from = time(interval.from_ns);
    let (first, last) = (time(interval.first_end_ns), time(interval.last_end_ns));
    if first == last {
        return format!("{from} to {last}");
    }
    match (first.split_once(' '), last.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => {
            format!("{from} to {number}–{last}")
        }
        _ => format!("{from} to {first}–{last}"),
    }
}

/// A list in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// A change in words: `-63 % [-70, -55]`, `from 0 to 12`, `unchanged`, `none` of nothing.
pub fn change(change: &Change, unit: &str) -> String {
    if change.no_interval == Some(NoInterval::Bound) {
        return "not known (bounds)".to_string();
    }
    if change.is_none() {
        return if change.from == 0.0 { "none" } else { "unchanged" }.to_string();
    }
    match change.percent {
        _ if change.points.is_some() => size(change),
        Some(_) if change.to > 0.0 => size(change),
        _ => format!("from {} to {}", quantity(change.from, unit), quantity(change.to, unit)),
    }
}

/// A change beside the value that it leads to: `-63 % [-70, -55]`, `-0.39 points [-0.48, -0.30]`, `from 0`, `-100 %`.
pub fn beside(change: &Change) -> String {
    match change.size() {
        _ if change.no_interval == Some(NoInterval::Bound) => "not known".to_string(),
        _ if change.is_none() => "none".to_string(),
        None => "from 0".to_string(),
        Some(_) => size(change),
    }
}

/// A change in percent, or of a score in points, with its interval, where it has one.
fn size(change: &Change) -> String {
    let (value, ends, decimals, unit) = match (change.points, change.percent) {
        (Some(of), _) => {
            let (value, decimals) = (of.value, if of.value.abs() < 0.095 { 3 } else { 2 });
            (value, of.low.zip(of.high), decimals, "points")
        }
        (None, Some(percent)) => {
            let ends = change.interval();
            (percent, ends, decimals(percent, ends), "%")
        }
        (None, None) => return String::new(),
    };
    let interval = ends.map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", signed(low, decimals), signed(high, decimals))
    });
    format!("{} {unit}{interval}", signed(value, decimals))
}

/// A measured value and its interval, both in the value's unit: (`-63 %`, `[-70, -55]`). Of an
/// interval with one end only there is `[≥ 3]` or `[≤ 3]`; without any the second is empty.
///
/// `%` is a change and has a sign; `ns`, `us`, `ms`, `s` and `B`, `KB`, `MB`, `GB` choose the
/// prefix that suits them; what begins otherwise stands as it is: `% of samples`.
pub fn measured(value: f64, low: Option<f64>, high: Option<f64>, unit: &str) -> (String, String) {
    let find = |units: &[(f64, &str)], unit: &str| {
        units.iter().find(|(_, name)| *name == unit).map(|(scale, _)| *scale)
    };
    let (base, units) = match unit {
        "us" => (Some(1e3), TIMES),
        "bytes" => (Some(1.0), BYTES),
        _ => match find(TIMES, unit) {
            Some(scale) => (Some(scale), TIMES),
            None => (find(BYTES, unit), BYTES),
        },
    };
    let ends = |show: &dyn Fn(f64) -> String| match (low, high) {
        (Some(low), Some(high)) => format!("[{}, {}]", show(low), show(high)),
        (Some(low), None) => format!("[≥ {}]", show(low)),
        (None, Some(high)) => format!("[≤ {}]", show(high)),
        (None, None) => String::new(),
    };
    if unit == "%" {
        let decimals = decimals(value, low.zip(high));
        return (format!("{} %", signed(value, decimals)), ends(&|end| signed(end, decimals)));
    }
    if unit.is_empty() && (value.abs() >= 100.0 || value == libm::trunc(value)) {
        let scale = unit_for(value, COUNTS).0;
        return match value.abs() < 1e7 {
            true => (count(value), ends(&count)),
            false => (count(value), ends(&|end| digits(end / scale))),
        };
    }
    // What was counted, and not averaged.
    let names_things = unit.starts_with(|first: char| first.is_ascii_lowercase());
    let counts = base.is_none() && names_things && !unit.contains('/') && unit != "x";
    let whole = value == libm::trunc(value) && value.abs() < 1e7;
    if counts && whole && low.or(high).is_none() {
        return (format!("{} {unit}", count(value)), String::new());
    }
    let (scale, name) = match base {
        // Of nothing the interval says how large it could be, or else the unit that was given.
        Some(base) => {
            let ends = [value, low.unwrap_or(0.0), high.unwrap_or(0.0)];
            let size = if value == 0.0 {
                ends.map(f64::abs).into_iter().fold(0.0, f64::max)
            } else {
                value
            };
            let (scale, name) = unit_for(if size == 0.0 { 1.0 } else { size } * base, units);
            (scale / base, name)
        }
        None => (1.0, unit),
    };
    let shown = digits(value / scale);
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let shown = match name {
        "" => shown,
        "x" => format!("{shown}×"),
        name => format!("{shown} {name}"),
    };
    (shown, ends(&|end| unsigned(format!("{:.decimals$}", end / scale))))
}

/// The same of a result of a study: a change of more than `FACTOR_FROM` percent, or one whose interval
/// reaches that far, is a factor: (`94.1×`, `[85.2, 104.0]`) instead of `+9308 %`.
pub fn result(value: f64, low: Option<f64>, high: Option<f64>, unit: &str) -> (String, String) {
    if !is_factor(value, high, unit) {
        return measured(value, low, high, unit);
    }
    let factor = |percent: f64| 1.0 + percent / 100.0;
    let interval = low.zip(high).map(|(low, high)| (factor(low), factor(high)));
    let ends = interval.map_or_else(String::new, |(low, high)| {
        format!("[{}, {}]", digits(low), large_digits(high))
    });
    (format!("{}×", digits(factor(value))), ends)
}

/// Whether [`result`] gives a change as a factor.
pub fn is_factor(percent: f64, high: Option<f64>, unit: &str) -> bool {
    unit == "%" && (percent > FACTOR_FROM || high.is_some_and(|high| high > FACTOR_FROM))
}

/// Larger changes in percent are hard to read.
const FACTOR_FROM: f64 = 400.0;

/// A number without a sign if it is rounded to nothing.
fn unsigned(text: String) -> String {
    let zero = text.trim_start_matches(['+', '-']);
    if zero.chars().all(|digit| "0.".contains(digit)) { zero.to_string() } else { text }
}

/// How many decimals a change and its interval need: enough that a small one does not round away, that
/// the ends of an interval do not read alike, and that only what is gone altogether reads -100 %.
fn decimals(percent: f64, interval: Option<(f64, f64)>) -> usize {
    let of_size = if percent == -100.0 {
        0
    } else if percent < -99.9 {
        2
    } else if percent.abs() < 9.5 || percent < -99.0 {
        1
    } else {
        0
    };
    let width = interval.map_or(f64::INFINITY, |(low, high)| high - low);
    let of_width = (0..6).find(|&decimals| width * libm::pow(10.0, f64::from(decimals)) >= 4.0);
    of_size.max(of_width.unwrap_or(6) as usize)
}

fn signed(value: f64, decimals: usize) -> String {
    // Nothing is neither more nor less.
    unsigned(format!("{value:+.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Kind, Scale};

    #[test]
    fn three_digits_tell_enough() {
        let cases = [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (123.4, "123"),
            (-4.56, "-4.56"),
            (98_765.0, "98765"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn quantities_choose_their_unit() {
        let cases = [
            (12_345.0, "ns", "12.3 µs"),
            (999.7, "ns", "1.00 µs"),
            (0.5, "ns", "0.500 ns"),
            (2.5e9, "ns", "2.50 s"),
            (750_000.0, "bytes", "750 KB"),
            (0.0, "bytes", "0 B"),
            (1_234_567.0, "", "1,234,567"),
            (-1_234.0, "", "-1,234"),
            (999.0, "", "999"),
            (12.5, "", "12.5"),
            (1_234.6, "", "1,235"),
            (12_345_678.0, "", "12.3 million"),
            (3.456, "x", "3.46"),
            (999_700.0, "large", "1.00 million"),
            (471.2e6, "large", "471 million"),
            (12_345.6, "large", "12,346"),
            (87.25, "Gb/s", "87.2 Gb/s"),
            (642_083.4, "1/s", "642,083 1/s"),
        ];
        for (value, unit, text) in cases {
            let shown = if unit == "large" { large(value) } else { quantity(value, unit) };
            assert_eq!(shown, text);
        }
    }

    #[test]
    fn measured_values_share_their_unit_with_their_interval() {
        let both = |value, low, high, unit| measured(value, Some(low), Some(high), unit);
        let cases = [
            (both(-63.2, -70.4, -54.8, "%"), ("-63 %", "[-70, -55]")),
            (both(0.4, -1.04, 1.9, "%"), ("+0.4 %", "[-1.0, +1.9]")),
            (both(12.5, 11.0, 13.9, "% of samples"), ("12.5 % of samples", "[11.0, 13.9]")),
            (both(1_234.0, 1_190.0, 1_275.0, "us"), ("1.23 ms", "[1.19, 1.27]")),
            (both(231.0, 225.4, 240.0, "KB"), ("231 KB", "[225, 240]")),
            (both(0.832, 0.8, 0.861, ""), ("0.832", "[0.800, 0.861]")),
            (both(5_044.0, 4_266.0, 5_822.0, ""), ("5,044", "[4,266, 5,822]")),
            (both(12.34e6, 11e6, 13e6, ""), ("12.3 million", "[11.0, 13.0]")),
            (both(0.0, 0.0, 0.0, "KB"), ("0 KB", "[0, 0]")),
            (both(0.0, -2.0, 12e3, "KB"), ("0 MB", "[0, 12]")),
            (both(4.0, -0.001, 9.0, ""), ("4", "[-0.00100, 9]")),
            (measured(0.0, None, None, ""), ("0", "")),
            (measured(2.0, None, None, "packets"), ("2 packets", "")),
            (measured(36_087.0, None, None, "packets"), ("36,087 packets", "")),
            (measured(2.5, None, None, "packets"), ("2.50 packets", "")),
            (measured(3.2, None, Some(4.0), "Gb/s"), ("3.20 Gb/s", "[≤ 4.00]")),
            (measured(3.2, Some(2.5), None, "x"), ("3.20×", "[≥ 2.50]")),
        ];
        for ((value, interval), expected) in cases {
            assert_eq!((value.as_str(), interval.as_str()), expected);
        }
    }

    #[test]
    fn large_changes_are_factors() {
        let of = |value, low, high| {
            let (number, interval) = result(value, Some(low), Some(high), "%");
            format!("{number} {interval}")
        };
        assert_eq!(of(-63.2, -70.4, -54.8), "-63 % [-70, -55]");
        assert_eq!(of(230.0, 140.0, 399.0), "+230 % [+140, +399]");
        assert_eq!(of(9_308.0, 8_400.0, 10_310.0), "94.1× [85.0, 104]");
        assert_eq!(of(234.0, -79.0, 5_249.0), "3.34× [0.210, 53.5]");
        assert_eq!(result(702.0, None, None, "%"), ("8.02×".to_string(), String::new()));
        assert_eq!(result(702.0, None, None, "% of flows").0, "702 % of flows");
    }

    #[test]
    fn measured_intervals_have_both_ends() {
        let of = |from_ns, first_end_ns, last_end_ns| {
            interval(&Interval { from_ns, first_end_ns, last_end_ns, end: Default::default() })
        };
        assert_eq!(of(100e3, 16e6, 16e6), "100 µs to 16 ms");
        assert_eq!(of(0.0, 1.9e6, 2.4e6), "0 to 1.9–2.4 ms");
        assert_eq!(of(0.0, 900e3, 2.4e6), "0 to 900 µs–2.4 ms");
    }

    #[test]
    fn an_interval_has_the_unit_of_its_mean() {
        assert_eq!(range(42_500.0, (41_648.0, 43_352.0), "ns"), "[41.6, 43.4]");
        assert_eq!(range(1_050_000.0, (771_000.0, 1_430_000.0), "ns"), "[0.77, 1.43]");
        assert_eq!(range(5_044.0, (4_266.0, 5_822.0), ""), "[4,266, 5,822]");
        assert_eq!(range(59.8, (55.2, 64.6), ""), "[55.2, 64.6]");
        assert_eq!(range(14.8, (14.2, 15.4), "x"), "[14.2, 15.4]");
        assert_eq!(range(88e6, (85.5e6, 90.57e6), ""), "[85.5, 90.6]");
    }

    #[test]
    fn changes_read_as_a_sentence_needs_them() {
        let of = |percent, interval: Option<(f64, f64)>| Change {
            kind: Kind::Ratio,
            from: 1.0,
            to: 0.5,
            percent: Some(percent),
            low: interval.map(|interval| interval.0),
            high: interval.map(|interval| interval.1),
            points: None,
            n: 5,
            p: None,
            no_interval: None,
        };
        assert_eq!(change(&of(-63.2, Some((-70.4, -54.8))), "ns"), "-63 % [-70, -55]");
        assert_eq!(change(&of(2.34, Some((-1.0, 5.9))), "ns"), "+2.3 % [-1.0, +5.9]");
        assert_eq!(change(&of(-99.97, None), ""), "-99.97 %");
        assert_eq!(change(&of(0.01, None), ""), "0.0 %");
        let of =
            |pairs: &[(f64, f64)]| Change::of(pairs.iter().copied(), Scale::NON_NEGATIVE).unwrap();
        let (new, gone) = (of(&[(0.0, 1_500.0)]), of(&[(3_000.0, 0.0)]));
        let (none, same) = (of(&[(0.0, 0.0), (0.0, 0.0)]), of(&[(7.0, 7.0), (7.0, 7.0)]));
        assert_eq!(change(&new, ""), "from 0 to 1,500");
        assert_eq!(change(&gone, "ns"), "from 3.00 µs to 0 ns");
        assert_eq!([change(&none, ""), change(&same, "ns")], ["none", "unchanged"]);
        assert_eq!([&none, &new, &gone].map(beside), ["none", "from 0", "-100 %"]);
        assert_eq!(beside(&of(&[(30.0, 2.0), (30.0, 2.0)])), "-93 %");
        // Differences of scores: -0.3, -0.4 and -0.5, ± t(2) 0.1 / √3.
        let score = |pairs: &[(f64, f64)]| Change::of(pairs.iter().copied(), Scale::SCORE).unwrap();
        let worse = score(&[(4.3, 4.0), (4.3, 3.9), (4.3, 3.8)]);
        let said = "-0.40 points [-0.65, -0.15]";
        assert_eq!([change(&worse, "MOS"), beside(&worse)], [said, said]);
        assert_eq!(beside(&score(&[(4.3, 4.32)])), "+0.020 points");
        assert_eq!(beside(&score(&[(4.3, 4.3), (4.36, 4.36)])), "none");
    }
}
