//! Charts and tables from the evidence, and numbers in words.

use floodway_report::chart::{Axis, Group, Line, Mark, Row, Rows};
use floodway_report::statistics::NoInterval;
use floodway_report::study::Exhibit;
use floodway_report::words;

use crate::evidence::{Case, Evidence};
use crate::measure::Measured;

/// Something to compare, or to show, in a row of its own.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is called.
    pub label: String,
    /// Which look it has.
    pub series: usize,
    /// The number.
    pub measured: Measured,
    /// The number that was claimed, if it is one.
    pub claimed: Option<f64>,
}

impl Entry {
    /// Without a claim.
    pub fn new(label: impl Into<String>, series: usize, measured: Measured) -> Self {
        Self { label: label.into(), series, measured, claimed: None }
    }
}

/// Rows along one axis, in groups; groups without rows are left out.
pub fn rows(
    name: &str,
    caption: &str,
    axis: Axis,
    mark: Mark,
    note: &str,
    groups: Vec<(String, Vec<Entry>)>,
) -> Exhibit {
    let row = |entry: Entry| Row {
        label: entry.label.clone(),
        series: entry.series,
        value: entry.measured.value,
        interval: entry.measured.interval(),
        figures: value(&entry.measured),
        range: range(&entry.measured),
        claimed: entry.claimed,
        tooltip: format!("{}: {}", entry.label, number(&entry.measured)),
    };
    let groups = groups.into_iter().filter(|(_, entries)| !entries.is_empty());
    let groups = groups
        .map(|(label, entries)| Group { label, rows: entries.into_iter().map(row).collect() });
    Exhibit::Rows {
        name: name.to_owned(),
        caption: caption.to_owned(),
        chart: Rows { title: caption.to_owned(), axis, mark, groups: groups.collect() },
        note: note.to_owned(),
    }
}

/// A table; rows must be as long as the head.
pub fn table(
    name: &str,
    caption: &str,
    note: &str,
    head: &[&str],
    rows: Vec<Vec<String>>,
) -> Exhibit {
    assert!(rows.iter().all(|row| row.len() == head.len()), "a row of {name} has another length");
    Exhibit::Table {
        name: name.to_owned(),
        caption: caption.to_owned(),
        head: head.iter().map(|cell| (*cell).to_owned()).collect(),
        rows,
        note: note.to_owned(),
    }
}

/// A line with markers through those numbers that were measured, and their intervals.
pub fn line(series: usize, tooltip: impl Into<String>, points: &[(f64, Measured)]) -> Line {
    let known = points.iter().filter_map(|(x, of)| Some((*x, of.value?)));
    let intervals =
        points.iter().filter_map(|(x, of)| of.interval().map(|(low, high)| (*x, low, high)));
    Line {
        series,
        points: known.collect(),
        intervals: intervals.collect(),
        markers: true,
        tooltip: tooltip.into(),
        ..Line::default()
    }
}

impl Evidence {
    /// How many of the flows had not finished, for a table: `3 of 1200`.
    pub fn unfinished_cell(&self, case: Case) -> String {
        let (left, all) = self.unfinished(case);
        format!("{left} of {all}")
    }
}

/// A number in its unit: `-63 %`, `1.2 us`; `-` if there is none.
pub fn value(measured: &Measured) -> String {
    parts(measured).0
}

/// Its interval: `[-70, -55]`; empty without one.
pub fn range(measured: &Measured) -> String {
    parts(measured).1
}

/// Both.
pub fn number(measured: &Measured) -> String {
    let (value, range) = parts(measured);
    format!("{value} {range}").trim_end().to_owned()
}

fn parts(measured: &Measured) -> (String, String) {
    let Measured { value, low, high, unit, .. } = *measured;
    let of = |value| words::result(value, low, high, unit);
    value.map_or_else(|| ("-".to_owned(), String::new()), of)
}

/// A change in whole percents, or as a factor if it is large: `-63 [-70, -55]`, `8.0× [2.9, 22.6]`; `-`
/// if there is none.
pub fn short(measured: &Measured) -> String {
    if is_factor(measured) {
        return number(measured);
    }
    let whole = |value: f64| format!("{:.0}", if value.abs() < 0.5 { 0.0 } else { value });
    let Some(value) = measured.value else { return "-".to_owned() };
    let range =
        measured.interval().map(|(low, high)| format!(" [{}, {}]", whole(low), whole(high)));
    whole(value) + &range.unwrap_or_default()
}

/// Whether a change is so large that it is given as a factor.
fn is_factor(measured: &Measured) -> bool {
    measured.value.is_some_and(|value| words::is_factor(value, measured.high, measured.unit))
}

/// What a change does, in words: `falls by 63 % [55, 70]`, `rises by a factor of 94.1 [85.0, 104]`,
/// `does not change clearly (…)`.
pub fn moves(measured: &Measured) -> String {
    let Some(value) = measured.value else { return "was not measured".to_owned() };
    let clear = measured.bounds().is_none_or(|(low, high)| low > 0.0 || high < 0.0);
    match value {
        0.0 if measured.interval().is_none() => "does not change".to_owned(),
        // Such an interval says no more than that.
        _ if !clear && measured.high.is_some_and(|high| high > 1e5) => {
            "does not change clearly: replications differ by orders of magnitude".to_owned()
        }
        _ if !clear => format!("does not change clearly ({})", number(measured)),
        // Nothing is left of it.
        -100.0 if measured.unit == "%" => match measured.no_interval {
            Some(why @ NoInterval::OneReplication) => format!("falls to zero ({why})"),
            _ => "falls to zero in all replications".to_owned(),
        },
        _ => {
            let verb = if value < 0.0 { "falls" } else { "rises" };
            let reason = match measured.no_interval {
                Some(why) => format!(" ({why})"),
                None => String::new(),
            };
            let (size, range) = parts(measured);
            if is_factor(measured) {
                let factor = format!("{size} {range}").replacen('×', "", 1);
                return format!("rises by a factor of {}{reason}", factor.trim_end());
            }
            // The number's own digits: they depend on its sign, since nothing falls by more than 100 %.
            let size = size.trim_start_matches(['-', '+']);
            let ends: Vec<&str> = range.trim_matches(['[', ']']).split(", ").collect();
            let ends: Vec<&str> =
                ends.iter().map(|end| end.trim_start_matches(['-', '+'])).collect();
            let range = match ends.as_slice() {
                [low, high] if value < 0.0 => format!(" [{high}, {low}]"),
                [low, high] => format!(" [{low}, {high}]"),
                _ => String::new(),
            };
            format!("{verb} by {size}{range}{reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_words() {
        let of = |value, low, high| {
            let (low, high) = (Some(low), Some(high));
            Measured { value: Some(value), low, high, unit: "%", ..Measured::default() }
        };
        assert_eq!(moves(&of(-63.0, -70.0, -55.0)), "falls by 63 % [55, 70]");
        assert_eq!(moves(&of(120.0, 4.0, 300.0)), "rises by 120 % [4, 300]");
        assert_eq!(moves(&of(9_308.0, 8_400.0, 10_310.0)), "rises by a factor of 94.1 [85.0, 104]");
        assert_eq!(
            moves(&of(234.0, -79.0, 5_249.0)),
            "does not change clearly (3.34× [0.210, 53.5])"
        );
        assert_eq!(short(&of(702.0, 185.0, 2_160.0)), "8.02× [2.85, 22.6]");
        assert_eq!(short(&of(121.0, 30.0, 276.0)), "121 [30, 276]");
        assert_eq!(
            moves(&of(-87.0, -100.0, 7e8)),
            "does not change clearly: replications differ by orders of magnitude"
        );
        assert_eq!(moves(&of(-99.7, -99.98, -94.2)), "falls by 99.7 % [94.2, 100.0]");
        assert_eq!(moves(&of(1.0, -4.0, 6.0)), "does not change clearly (+1.0 % [-4.0, +6.0])");
        assert_eq!(moves(&Measured::default()), "was not measured");
        let without = |value, why| Measured {
            no_interval: Some(why),
            certain: why == NoInterval::AllEqual,
            ..Measured::exactly(value, "%")
        };
        let one = without(-50.0, NoInterval::OneReplication);
        assert_eq!(moves(&one), "falls by 50 % (one replication)");
        let same = without(-100.0, NoInterval::AllEqual);
        assert_eq!(moves(&same), "falls to zero in all replications");
        assert_eq!(moves(&without(0.0, NoInterval::AllEqual)), "does not change");
        assert_eq!(moves(&of(0.0, -9.0, 9.0)), "does not change clearly (0.0 % [-9.0, +9.0])");
        assert_eq!(number(&Measured::exactly(1_234.5, "ns")), words::time(1_234.5));
    }
}
