//! Results as text, for the terminal: the summary of an experiment, the claims of a study.

mod claims;
mod sweep;

use floodway_machine::printable;

use crate::better::Better;
use crate::latency;
use crate::statistics::{NoInterval, refused};
use crate::summary::{ClassSummary, Measure, Summary};
use crate::words;
use crate::{entries, jobs, operations, pings, sampling, throughput, video, voice, web};

pub use claims::{claims, run_claims};
pub use sweep::sweep;

/// How the text may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to color it with escape sequences.
    pub color: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Style {
    /// Plain, 100 columns.
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Counters of pauses, which a comparison of latency under load shows only if there are any.
const PAUSES: &[&str] = &["xoff_frames", "paused_ns"];

/// The counters that the table shows, in order.
const COUNTERS: &[(&str, &str)] = &[
    ("xoff_frames", "XOFF frames"),
    ("paused_ns", "paused time"),
    ("marked_packets", "marked packets"),
    ("indicated_packets", "packets with L2 indication"),
    ("isolations", "isolations"),
    ("cims_sent", "CIMs"),
    ("cnps_sent", "CNPs"),
    ("cnms_sent", "CNMs"),
    ("drc_feedback_frames", "DRC feedback frames"),
    ("reordered_packets", "reordered"),
    ("retransmitted_packets", "retransmitted"),
    ("trimmed_packets", "trimmed packets"),
    ("headers_dropped", "headers dropped"),
    ("credits_sent", "credit frames sent"),
    ("link_credits_sent", "credit frames of links sent"),
    ("credits_received", "credit frames received"),
    ("lost_on_links", "lost on links"),
    ("corrupted_frames", "frames with bit errors"),
    ("replayed_frames", "frames sent again by links"),
    ("lost_to_errors", "lost to bit errors"),
    ("dropped_packets", "dropped packets"),
    ("watchdog_drops", "by the watchdog"),
];

/// Counters of mechanisms that a network need not have: not shown if they are 0 in all variants.
const MECHANISMS: &[&str] = &[
    "indicated_packets",
    "isolations",
    "cims_sent",
    "cnps_sent",
    "cnms_sent",
    "drc_feedback_frames",
    "reordered_packets",
    "trimmed_packets",
    "headers_dropped",
    "credits_sent",
    "link_credits_sent",
    "credits_received",
    "lost_on_links",
    "corrupted_frames",
    "replayed_frames",
    "lost_to_errors",
    "watchdog_drops",
];

/// A row: its label, and for each variant a value and what stands beside it.
struct Row {
    label: String,
    cells: Vec<(String, Beside)>,
}

/// A change as text, with the paint that it deserves.
#[derive(Clone, Default)]
struct Beside {
    text: String,
    paint: Option<Paint>,
    /// Why there is no interval in it.
    why: Option<NoInterval>,
}

#[derive(Clone, Copy)]
enum Paint {
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
}

/// The answer, the table, what to know about it, and what it cost.
pub fn table(summary: &Summary, style: Style) -> String {
    let mut text = String::new();
    for violation in &summary.violations {
        text += &wrapped(&format!("VIOLATION: {violation}"), style.width, style, Paint::Red);
    }
    for deadlock in &summary.deadlocks {
        text += &wrapped(deadlock, style.width, style, Paint::Red);
    }
    for job in &summary.unfinished_jobs {
        text += &wrapped(job, style.width, style, Paint::Red);
    }
    for sentence in &summary.answer {
        text += &wrapped(sentence, style.width, style, Paint::Bold);
    }
    if let Some(legend) = legend(summary) {
        text.push('\n');
        text += &wrapped(&legend, style.width, style, Paint::Dim);
    }
    let times = if summary.has_flows() { times(summary) } else { Vec::new() };
    let rows: Vec<Row> =
        times.into_iter().chain(throughputs(summary)).chain(counters(summary)).collect();
    text += &blocks(summary, &rows, style);
    let reasons = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.1.why);
    if let Some(why) = refused(reasons) {
        text.push('\n');
        text += &wrapped(&why, style.width, style, Paint::Dim);
    }
    if !summary.caveats.is_empty() {
        text.push('\n');
    }
    for caveat in &summary.caveats {
        text += &wrapped(&format!("note: {caveat}"), style.width, style, Paint::Dim);
    }
    text.push('\n');
    text += &wrapped(&cost(summary), style.width, style, Paint::Dim);
    text
}

/// What it cost, in a line.
pub fn cost(summary: &Summary) -> String {
    let memory = summary
        .peak_rss_bytes
        .map_or_else(String::new, |peak| format!("; {} of memory", words::bytes(peak as f64)));
    format!(
        "{} packet-hops in {}: {} a second{memory}; fingerprint {}",
        words::large(summary.hops as f64),
        words::time(summary.wall_s * 1e9),
        words::large(summary.hops_per_second),
        summary.fingerprint
    )
}

/// What the table's numbers are.
fn legend(summary: &Summary) -> Option<String> {
    let replications = summary.variants.values().map(|variant| variant.replications).max()?;
    let means = match replications {
        0 => return None,
        1 => "One replication".to_string(),
        n if summary.order.len() == 1 => format!("Means of {n} replications, [95 % interval]"),
        n => format!("Means of {n} replications"),
    };
    let changes = match summary.baseline().filter(|_| summary.order.len() > 1) {
        Some(baseline) if replications > 1 => {
            format!("; changes vs. {baseline}, paired by replication, [95 % interval]")
        }
        Some(baseline) => format!("; changes vs. {baseline}"),
        None => String::new(),
    };
    Some(format!("{means}{changes}."))
}

fn times(summary: &Summary) -> Vec<Row> {
    let heading = Row { label: "mean completion time".to_string(), cells: Vec::new() };
    let rows = summary.classes_with_flows().map(|class| Row {
        label: format!("  {}", class.label),
        cells: cells(summary, |name| {
            let class = summary.class(name, &class.key)?;
            Some((
                bound(&class.mean_ns) + &words::mean(&class.mean_ns, "ns"),
                beside(&class.mean_ns, "ns", Some(Better::Less)),
            ))
        }),
    });
    let all = summary.classes.last().map_or("", |class| class.key.as_str());
    let flows = |label: &str, of: fn(&ClassSummary) -> u64| Row {
        label: label.to_string(),
        cells: cells(summary, |name| {
            let flows = of(summary.class(name, all)?);
            Some((words::count(flows as f64), Beside::default()))
        }),
    };
    let measured = flows("  measured, in all", |class| class.finished + class.unfinished);
    let unfinished = flows("  unfinished, in all", |class| class.unfinished);
    std::iter::once(heading).chain(rows).chain([measured, unfinished]).collect()
}

/// What is delivered, what flows without a size get, and how long packets take and wait, where that
/// is known.
fn throughputs(summary: &Summary) -> Vec<Row> {
    let mut rows = Vec::new();
    let users = [
        ("delivered", latency::delivered(summary)),
        ("time from memory to memory", latency::all(summary)),
        ("time of calls, collectives and jobs", operations::times_of(summary)),
        ("estimated for all rounds", sampling::estimates_of(summary)),
        ("ranks of jobs", jobs::times_of(summary)),
        ("calls, collectives and jobs completed", operations::rates_of(summary)),
        ("latency under load", pings::headlines(summary)),
        ("round-trip time of pings", pings::round_trips(summary)),
        ("score of calls, worse direction", voice::scores_of(summary)),
        ("score of calls by direction", voice::scores_by_direction(summary)),
        ("time from mouth to ear", voice::delays_of(summary)),
        ("packets of calls lost or late", voice::missing_of(summary)),
        ("page load time", web::times_of(summary)),
        ("pages not complete at the end", web::incomplete_of(summary)),
    ];
    let flows = [
        ("mean bandwidth of collectives", operations::bandwidths_of(summary)),
        ("mean goodput per flow", throughput::goodputs_of(summary)),
        ("response time of database entries", entries::responses_of(summary)),
        ("throughput of database entries", entries::throughputs_of(summary)),
        ("queueing delay", throughput::waits_of(summary)),
    ];
    let all = users.into_iter().chain(video::groups(summary)).chain(flows);
    for (heading, shown) in all {
        if !shown.is_empty() {
            rows.push(Row { label: heading.to_string(), cells: Vec::new() });
        }
        for shown in shown {
            let cells = cells(summary, |name| {
                let counter = summary.counter(name, &shown.key)?;
                let value = words::mean(&counter.measure, &counter.unit);
                Some((value, beside(&counter.measure, &counter.unit, Better::of(&shown.key))))
            });
            rows.push(Row { label: format!("  {}", shown.label), cells });
        }
    }
    rows
}

fn counters(summary: &Summary) -> Vec<Row> {
    let heading = match summary.interval() {
        Some(interval) => format!("counters, {interval}"),
        None => "counters".to_string(),
    };
    let heading = Row { label: heading, cells: Vec::new() };
    let intervals = Row {
        label: "  measured interval".to_string(),
        cells: cells(summary, |name| {
            let interval = summary.variants.get(name)?.interval?;
            Some((words::interval(&interval), Beside::default()))
        }),
    };
    let intervals = summary.interval().is_none().then_some(intervals);
    // Nobody expects pauses on a line to a home.
    let of_home = !pings::headlines(summary).is_empty();
    let known = COUNTERS.iter().filter(|(key, _)| {
        let counters = summary.variants.values().filter_map(|variant| variant.counters.get(*key));
        let mut means = counters.map(|counter| counter.measure.estimate.mean);
        let is_rare = MECHANISMS.contains(key) || of_home && PAUSES.contains(key);
        means.any(|mean| mean != Some(0.0) || !is_rare)
    });
    let rows = known.map(|(key, label)| Row {
        label: format!("  {label}"),
        cells: cells(summary, |name| {
            let counter = summary.counter(name, key)?;
            let value = words::mean(&counter.measure, &counter.unit);
            Some((value, beside(&counter.measure, &counter.unit, Better::of(key))))
        }),
    });
    std::iter::once(heading).chain(intervals).chain(rows).collect()
}

fn cells(
    summary: &Summary,
    cell: impl Fn(&str) -> Option<(String, Beside)>,
) -> Vec<(String, Beside)> {
    let nothing = || ("-".to_string(), Beside::default());
    let alone = summary.order.len() == 1;
    let shown = |(at, name): (usize, &String)| {
        let (value, beside) = cell(name).unwrap_or_else(nothing);
        // Beside the baseline of a comparison the intervals of means would take the room of changes.
        if at == 0 && !alone { (value, Beside::default()) } else { (value, beside) }
    };
    summary.order.iter().enumerate().map(shown).collect()
}

/// What stands beside a mean: its change, painted only if its interval leaves no doubt; of one variant
/// alone its interval.
fn beside(measure: &Measure, unit: &str, better: Option<Better>) -> Beside {
    let Some(change) = measure.change else {
        let ends = measure.estimate.mean.zip(measure.estimate.interval());
        let text = ends.map_or_else(String::new, |(mean, ends)| words::range(mean, ends, unit));
        return Beside { text, paint: None, why: why(measure.estimate.no_interval) };
    };
    let text = if change.is_none() { String::new() } else { words::beside(&change) };
    let paint = match (change.is_clear(), change.size(), better) {
        (Some(false), ..) => Some(Paint::Dim),
        (Some(true), Some(size), Some(better)) => {
            Some(if (size < 0.0) == (better == Better::Less) { Paint::Green } else { Paint::Red })
        }
        _ => None,
    };
    Beside { why: why(change.no_interval).filter(|_| !text.is_empty()), text, paint }
}

/// The sign of a lower bound.
fn bound(measure: &Measure) -> String {
    if measure.bound { "≥".to_string() } else { String::new() }
}

/// A reason to be given below the table; that there is one replication is said above it, and of what is
/// zero on one side the numbers say it.
fn why(reason: Option<NoInterval>) -> Option<NoInterval> {
    reason.filter(|why| !matches!(why, NoInterval::OneReplication | NoInterval::NoRatio))
}

/// The rows with as many variants side by side as there is room for; the baseline is repeated.
fn blocks(summary: &Summary, rows: &[Row], style: Style) -> String {
    let labels = rows.iter().map(|row| width(&row.label)).max().unwrap_or(0);
    let columns: Vec<(usize, usize)> = (0..summary.order.len())
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.cells.get(at));
            let values = cells.clone().map(|cell| width(&cell.0)).max().unwrap_or(0);
            let besides = cells.map(|cell| width(&cell.1.text)).max().unwrap_or(0);
            let name = width(&summary.order[at]);
            (values, besides.max(name.saturating_sub(values + 1)))
        })
        .collect();
    let taken = |at: usize| 2 + columns[at].0 + 1 + columns[at].1;
    let mut text = String::new();
    let mut next = 1;
    while !columns.is_empty() {
        let mut shown = vec![0];
        let mut used = labels + taken(0);
        while next < columns.len() && (shown.len() == 1 || used + taken(next) <= style.width) {
            used += taken(next);
            shown.push(next);
            next += 1;
        }
        text += &block(summary, rows, style, &shown, labels, &columns);
        if next >= columns.len() {
            break;
        }
    }
    text
}

fn block(
    summary: &Summary,
    rows: &[Row],
    style: Style,
    shown: &[usize],
    labels: usize,
    columns: &[(usize, usize)],
) -> String {
    let mut text = String::new();
    for row in rows {
        let mut line = padded(&row.label, labels);
        let heading = row.cells.is_empty();
        if heading {
            text.push('\n');
            line = paint(&line, Some(Paint::Bold), style);
        }
        for at in shown {
            let (values, besides) = columns[*at];
            line += "  ";
            if heading {
                let name = padded(&summary.order[*at], values + 1 + besides);
                line += &paint(&name, Some(Paint::Bold), style);
                continue;
            }
            let (value, beside) = &row.cells[*at];
            line += &" ".repeat(values - width(value));
            line += &printable::line(value);
            line.push(' ');
            line += &paint(&beside.text, beside.paint, style);
            line += &" ".repeat(besides - width(&beside.text));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Columns of a text as it is printed, with control characters written out.
fn width(text: &str) -> usize {
    printable::line(text).chars().count()
}

fn padded(text: &str, columns: usize) -> String {
    let text = printable::line(text);
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.chars().count())))
}

/// The text, printable and colored: no color of others remains in it.
fn paint(text: &str, paint: Option<Paint>, style: Style) -> String {
    let text = &*printable::line(text);
    let code = match paint {
        Some(_) if !style.color || text.trim().is_empty() => return text.to_string(),
        None => return text.to_string(),
        Some(Paint::Bold) => 1,
        Some(Paint::Dim) => 2,
        Some(Paint::Green) => 32,
        Some(Paint::Yellow) => 33,
        Some(Paint::Red) => 31,
    };
    // Only the text itself, so that the end of a line can still be trimmed.
    let body = text.trim_end();
    format!("\x1b[{code}m{body}\x1b[0m{}", &text[body.len()..])
}

/// A paragraph in lines of this width; what follows the first is indented.
fn wrapped(text: &str, columns: usize, style: Style, color: Paint) -> String {
    let text = printable::line(text);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.trim().is_empty() && width(line) + 1 + width(word) > columns {
            lines.push(format!("    {word}"));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| paint(&line, Some(color), style) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_of_others_are_written_out() {
        let style = Style { color: true, width: 40 };
        assert_eq!(paint("a\x1b[31mb", Some(Paint::Green), style), "\x1b[32ma\\u{1b}[31mb\x1b[0m");
        assert_eq!(
            wrapped("a\x1b[31mb\nc", 40, style, Paint::Red),
            "\x1b[31ma\\u{1b}[31mb\\u{a}c\x1b[0m\n"
        );
        assert_eq!(padded("\u{7f}", 8), "\\u{7f}  ");
        assert_eq!(width("\u{202e}"), 8);
    }
}
