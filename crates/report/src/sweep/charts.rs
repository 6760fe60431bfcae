//! A metric of a sweep as charts.

use super::answer::{measured, ranked, size};
use super::{Axis as Dimension, Cell, Sweep};
use crate::chart::{Axis, Colors, Group, HeatMap, Line, Lines, Mark, Matrix, Row, Rows, Tile};
use crate::statistics::{Change, Estimate, NoInterval, refused};
use crate::study::{Exhibit, Section};
use crate::words;

/// More small charts than this are left out; the table has them all.
const MOST_CHARTS: usize = 12;
/// More cells than this, in either direction, are no heat map that can be read.
const MOST_CELLS: usize = 20;
/// The most letters beside a small chart.
const LABEL: usize = 30;
/// More rows than this are too many for a page.
const MOST_ROWS: usize = 400;
/// More points than this are too many for a chart with a row for each.
const MOST_CHANGES: usize = 60;

/// The section of a metric.
pub fn section(sweep: &Sweep, metric: &str) -> Section {
    let meaning = sweep.metrics.get(metric);
    let what = meaning.map_or(metric, |meaning| meaning.meaning.trim_end_matches('.'));
    let unit = unit(meaning.map_or("", |meaning| &meaning.unit));
    let question = sentence(what);
    // Charts have no other type for code.
    let what = &*what.replace('`', "");
    let cells = sweep.cells(metric);
    let mut exhibits = Vec::new();
    match sweep.axes.first() {
        Some(axis) if axis.numbers.is_some() && axis.values.len() > 1 => {
            exhibits.push(lines(sweep, metric, what, unit));
        }
        _ => exhibits.push(rows(sweep, metric, what, unit)),
    }
    if let [down, across, ..] = sweep.axes.as_slice()
        && [down, across].iter().all(|axis| (2..=MOST_CELLS).contains(&axis.values.len()))
        && sweep.axes.len() == 2
    {
        exhibits.extend(maps(sweep, metric, what, unit));
    }
    exhibits.extend(changes(sweep, &cells, metric, what));
    exhibits.push(table(sweep, &cells, metric, unit));
    Section {
        name: metric.replace('_', "-"),
        question,
        answer: ranked(sweep, &cells, metric).join(" "),
        text: vec![format!("In tables and settings `{metric}`.")],
        exhibits,
        ..Section::default()
    }
}

fn sentence(what: &str) -> String {
    let mut letters = what.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A unit that charts know.
fn unit(unit: &str) -> &'static str {
    ["ns", "bytes", "b/s", "Gb/s"].into_iter().find(|known| *known == unit).unwrap_or("")
}

/// The shortest end of an axis's path that no other axis has: `load`, or `1.many_to_many.load`. Paths
/// are long, and stand in full where the page says what was varied.
pub(super) fn short<'a>(sweep: &Sweep, axis: &'a Dimension) -> &'a str {
    let path = axis.path.as_str();
    let others = || sweep.axes.iter().filter(|other| other.path != path);
    let ends = path.rmatch_indices('.').map(|(dot, _)| &path[dot..]);
    let unique = |end: &&str| {
        let part = &end[1..];
        others().all(|other| other.path != part && !other.path.ends_with(end))
    };
    ends.into_iter().find(|end| unique(end)).map_or(path, |end| &end[1..])
}

/// The combinations of the values of all axes but the first, each with its points in the order of
/// the first.
fn families(sweep: &Sweep) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut families: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for (point, at) in sweep.points.iter().enumerate() {
        let rest = at.get(1..).unwrap_or_default();
        match families.iter_mut().find(|(other, _)| other == rest) {
            Some((_, points)) => points.push(point),
            None => families.push((rest.to_vec(), vec![point])),
        }
    }
    families
}

/// The other axes' values in words; empty if there is none.
fn heading(sweep: &Sweep, rest: &[usize]) -> String {
    let part =
        |(axis, at): (&Dimension, &usize)| format!("{} {}", short(sweep, axis), axis.values[*at]);
    sweep.axes.iter().skip(1).zip(rest).map(part).collect::<Vec<_>>().join(", ")
}

/// The metric over the first axis: a line for each variant, a chart for each combination of the
/// other axes.
fn lines(sweep: &Sweep, metric: &str, what: &str, unit: &'static str) -> Exhibit {
    let first = &sweep.axes[0];
    let numbers = first.numbers.as_deref().unwrap_or_default();
    let families = families(sweep);
    let left_out = families.len().saturating_sub(MOST_CHARTS);
    let all = sweep.points.iter().enumerate().flat_map(|(point, _)| {
        sweep.variants.iter().map(move |variant| sweep.estimate(point, variant, metric))
    });
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for estimate in all {
        let ends = estimate.interval().or(estimate.mean.map(|mean| (mean, mean)));
        low = low.min(ends.map_or(low, |ends| ends.0));
        high = high.max(ends.map_or(high, |ends| ends.1));
    }
    let log = low > 0.0 && high / low > 30.0;
    // The caption says what it is; beside a small chart there is no room for many words.
    let label = if what.chars().count() <= LABEL { what } else { "" };
    let y = match log {
        true => Axis::log(if label.is_empty() { "logarithmic" } else { label }, unit),
        false => Axis::linear(label, unit),
    };
    let y = y.called(what);
    // All charts of a metric have the same axis, so that they can be compared.
    let y = match (families.len() > 1 && low < high, log) {
        (true, true) => y.within(low, high),
        (true, false) => y.within(low.min(0.0), high),
        _ => y,
    };
    let (least, most) = (
        numbers.iter().copied().fold(f64::INFINITY, f64::min),
        numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    let wide = least > 0.0 && most / least > 30.0;
    let short = short(sweep, first);
    let x = match wide {
        true => Axis::log(&format!("{short}, logarithmic"), self::unit(&first.unit)),
        false => Axis::linear(short, self::unit(&first.unit)),
    };
    let x = x.within(least, most).labeled(numbers.iter().copied());
    let line = |(series, variant): (usize, &String), points: &[usize]| {
        let mut of: Vec<(f64, Estimate)> = points
            .iter()
            .map(|&point| {
                let at = numbers[sweep.points[point][0]];
                (at, sweep.estimate(point, variant, metric))
            })
            .filter(|(_, estimate)| estimate.mean.is_some())
            .collect();
        of.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line {
            series,
            points: of.iter().filter_map(|(at, estimate)| Some((*at, estimate.mean?))).collect(),
            intervals: of
                .iter()
                .filter_map(|(at, estimate)| {
                    let (low, high) = estimate.interval()?;
                    Some((*at, low, high))
                })
                .collect(),
            markers: true,
            tooltip: variant.clone(),
            ..Line::default()
        }
    };
    let charts = families.iter().take(MOST_CHARTS).map(|(rest, points)| Lines {
        title: format!("{what} vs. {}", first.path),
        heading: heading(sweep, rest),
        x: x.clone(),
        y: y.clone(),
        lines: sweep.variants.iter().enumerate().map(|of| line(of, points)).collect(),
        ..Lines::default()
    });
    let charts: Vec<Lines> = charts.collect();
    let columns = charts.len().clamp(1, 3);
    let note = match left_out {
        0 => "Whiskers are 95 % confidence intervals over replications.".to_owned(),
        more => format!(
            "Whiskers are 95 % confidence intervals over replications. {more} more combinations are \
             in the table only."
        ),
    };
    Exhibit::Lines {
        name: metric.replace('_', "-"),
        caption: format!("{} vs. {}", sentence(what), first.path),
        legend: sweep.variants.iter().cloned().enumerate().collect(),
        charts,
        columns,
        note,
    }
}

/// The metric in rows, in groups by point.
fn rows(sweep: &Sweep, metric: &str, what: &str, unit: &'static str) -> Exhibit {
    let row = |point: usize, (series, variant): (usize, &String)| {
        let estimate = sweep.estimate(point, variant, metric);
        let (figures, range) = figures(&estimate, unit);
        Row {
            label: variant.clone(),
            series,
            value: estimate.mean,
            interval: estimate.interval(),
            claimed: None,
            tooltip: format!("{}, {variant}: {figures} {range}", sweep.name(point)),
            figures,
            range,
        }
    };
    let group = |point: usize| Group {
        label: sweep.name(point),
        rows: sweep.variants.iter().enumerate().map(|variant| row(point, variant)).collect(),
    };
    let caption = format!("{} at every point", sentence(what));
    Exhibit::Rows {
        name: metric.replace('_', "-"),
        chart: Rows {
            title: caption.clone(),
            axis: Axis::linear(what, unit),
            mark: Mark::Point,
            groups: (0..sweep.points.len().min(MOST_ROWS)).map(group).collect(),
        },
        caption,
        note: String::new(),
    }
}

/// Of two axes, a map for each variant.
fn maps(sweep: &Sweep, metric: &str, what: &str, unit: &'static str) -> Vec<Exhibit> {
    let [down, across] = sweep.axes.as_slice() else { return Vec::new() };
    let all = |variant: &String| -> Vec<Option<f64>> {
        (0..sweep.points.len()).map(|point| sweep.estimate(point, variant, metric).mean).collect()
    };
    let values: Vec<_> = sweep.variants.iter().map(all).collect();
    let known = || values.iter().flatten().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let [below, beside] = [down, across].map(|axis| short(sweep, axis));
    let scale = match low > 0.0 && high / low > 10.0 {
        true => Axis::log(&format!("{what}, logarithmic"), unit).within(low, high),
        false => Axis::linear(what, unit).within(low.min(high), high),
    };
    let map = |(variant, values): (&String, &Vec<Option<f64>>)| {
        let tile = |row: usize, column: usize| {
            let point = sweep.points.iter().position(|at| *at == [row, column]);
            let value = point.and_then(|point| values[point]);
            Tile {
                value,
                text: value.map_or_else(String::new, |value| words::short(value, unit)),
                tooltip: point.map_or_else(String::new, |point| sweep.name(point)),
            }
        };
        let cells = (0..down.values.len())
            .map(|row| (0..across.values.len()).map(|column| tile(row, column)).collect());
        let caption = format!("{variant}: {what}");
        Exhibit::HeatMap {
            name: format!("{}-{variant}", metric.replace('_', "-")),
            chart: HeatMap {
                title: caption.clone(),
                sides: Matrix {
                    across: beside.to_owned(),
                    columns: across.values.clone(),
                    down: below.to_owned(),
                    rows: down.values.clone(),
                },
                cells: cells.collect(),
                scale: scale.clone(),
                colors: Colors::Sequential,
            },
            caption,
            note: String::new(),
        }
    };
    sweep.variants.iter().zip(&values).map(map).collect()
}

/// The changes from the reference point, a row for each other point; none if there is none, or if there
/// are too many.
fn changes(sweep: &Sweep, cells: &[Cell], metric: &str, what: &str) -> Option<Exhibit> {
    let others: Vec<usize> =
        (0..sweep.points.len()).filter(|point| *point != sweep.reference.point).collect();
    let known = cells.iter().any(|cell| cell.vs_reference.is_some_and(|of| of.size().is_some()));
    if !known || others.len() > MOST_CHANGES {
        return None;
    }
    let row = |(series, point): (usize, usize)| {
        let cell = &cells[point * sweep.variants.len() + series];
        let change = cell.vs_reference.filter(|_| !cell.same_as_reference);
        let (figures, range) = change
            .and_then(|of| measured(&of))
            .unwrap_or_else(|| (from_reference(sweep, cell), String::new()));
        let name = sweep.short_name(point);
        let tooltip = format!("{}, {}: {figures} {range}", sweep.name(point), cell.variant);
        Row {
            label: name,
            series,
            value: change.and_then(|change| change.size()),
            interval: change.and_then(|change| {
                let [low, high] = change.ends();
                low.zip(high)
            }),
            claimed: None,
            tooltip,
            figures,
            range,
        }
    };
    let group = |(series, variant): (usize, &String)| Group {
        label: variant.clone(),
        rows: others.iter().map(|&point| row((series, point))).collect(),
    };
    let reference = sweep.short_name(sweep.reference.point);
    let in_points = |cell: &Cell| cell.vs_reference.is_some_and(|of| of.points.is_some());
    let unit = if cells.iter().any(in_points) { "points" } else { "%" };
    let caption = format!("{}: change from the reference {reference}", sentence(what));
    let mut note = sweep.legend().first().map_or_else(String::new, |line| line.replace('`', ""));
    let differs = (0..sweep.variants.len()).any(|variant| {
        let home = sweep.traffic_of(sweep.reference.point, variant);
        others.iter().any(|&point| sweep.traffic_of(point, variant) != home)
    });
    if differs {
        note += " Some points have other traffic than the reference: seeds are the same, flows are not.";
    }
    Some(Exhibit::Rows {
        name: format!("{}-change", metric.replace('_', "-")),
        chart: Rows {
            title: caption.clone(),
            axis: Axis::linear(&format!("change from {reference}"), unit),
            mark: Mark::Point,
            groups: sweep.variants.iter().enumerate().map(group).collect(),
        },
        caption,
        note,
    })
}

/// The means with their intervals, the changes from the first variant and from the reference point, and
/// the best set.
fn table(sweep: &Sweep, cells: &[Cell], metric: &str, unit: &str) -> Exhibit {
    let many = sweep.variants.len() > 1;
    let points = sweep.points.len();
    let ranked = cells.iter().any(|cell| cell.place.is_some());
    let mut head: Vec<String> =
        sweep.axes.iter().map(|axis| short(sweep, axis).to_owned()).collect();
    for (number, variant) in sweep.variants.iter().enumerate() {
        let of = if many { format!("{variant} ") } else { String::new() };
        head.push(variant.clone());
        if number > 0 {
            head.push(format!("{of}vs. {}", sweep.variants[0]));
        }
        if points > 1 {
            head.push(format!("{of}vs. reference"));
        }
        if ranked {
            head.push(format!("{of}best set"));
        }
    }
    let row = |point: usize| {
        let at = sweep.axes.iter().zip(&sweep.points[point]);
        let mut row: Vec<String> = at.map(|(axis, at)| axis.values[*at].clone()).collect();
        for number in 0..sweep.variants.len() {
            let cell = &cells[point * sweep.variants.len() + number];
            let (value, range) = figures(&cell.estimate, unit);
            let bound = if cell.bound { "≥ " } else { "" };
            row.push(format!("{bound}{value} {range}").trim_end().to_owned());
            if number > 0 {
                row.push(changed(cell.vs_variant.as_ref(), cell.same_as_variant));
            }
            if points > 1 {
                row.push(from_reference(sweep, cell));
            }
            if ranked {
                row.push(in_best_set(cell));
            }
        }
        row
    };
    let mut notes = sweep.legend();
    notes.extend(refusals(cells));
    if let Some(more @ 1..) = points.checked_sub(MOST_ROWS) {
        notes.push(format!("{more} more points are in points_long.csv."));
    }
    Exhibit::Table {
        name: format!("{}-table", metric.replace('_', "-")),
        caption: "At every point".to_owned(),
        head,
        rows: (0..points.min(MOST_ROWS)).map(row).collect(),
        note: notes.join(" ").replace('`', ""),
    }
}

/// Why some intervals are missing; none if all are there.
pub fn refusals(cells: &[Cell]) -> Option<String> {
    refused(cells.iter().filter_map(Cell::refusal))
}

/// A mean in its unit, and its interval.
fn figures(estimate: &Estimate, unit: &str) -> (String, String) {
    match estimate.mean {
        None => ("-".to_owned(), String::new()),
        Some(mean) => {
            let range = estimate.interval().map(|ends| words::range(mean, ends, unit));
            (words::quantity(mean, unit), range.unwrap_or_default())
        }
    }
}

/// The change from the reference point in words.
fn from_reference(sweep: &Sweep, cell: &Cell) -> String {
    match cell.point == sweep.reference.point {
        true => "reference".to_owned(),
        false => changed(cell.vs_reference.as_ref(), cell.same_as_reference),
    }
}

fn changed(change: Option<&Change>, same: bool) -> String {
    match change {
        _ if same => "same runs".to_owned(),
        None => "-".to_owned(),
        Some(change) if change.is_none() => "none".to_owned(),
        Some(change) if change.size().is_some() => size(change),
        Some(_) => "from 0".to_owned(),
    }
}

/// Whether a point belongs to the best set, and the adjusted probability of its change from the best.
fn in_best_set(cell: &Cell) -> String {
    let Some(place) = &cell.place else { return "-".to_owned() };
    // Without any variation there is no probability.
    let always = place.vs_best.and_then(|change| change.no_interval) == Some(NoInterval::AllEqual);
    let p = |p: f64| if p < 0.001 { "p < 0.001".to_owned() } else { format!("p {p:.3}") };
    match (place.in_best_set, place.p) {
        _ if place.rank == 1 => "best mean".to_owned(),
        _ if place.vs_best.is_some_and(|change| change.is_none()) => "yes, the same".to_owned(),
        (Some(true), Some(of)) => format!("yes, {}", p(of)),
        (Some(false), Some(_)) if always => "no, all alike".to_owned(),
        (Some(false), Some(of)) => format!("no, {}", p(of)),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sweep, tuned};
    use super::*;

    #[test]
    fn code_in_a_meaning_is_code_in_the_heading_and_plain_in_charts() {
        let mut sweep = sweep();
        let meaning = sweep.metrics.get_mut("fct_mean_ns").unwrap();
        meaning.meaning = "packets that `switch.feedback` puts there".to_owned();
        let section = section(&sweep, "fct_mean_ns");
        assert_eq!(section.question, "Packets that `switch.feedback` puts there");
        for exhibit in &section.exhibits {
            assert!(!exhibit.caption().contains('`'), "{}", exhibit.caption());
        }
        sweep.shown = vec!["fct_mean_ns".to_owned()];
        let page = crate::html::sweep(&sweep);
        let heading = "Packets that <code>switch.feedback</code> puts there</span><a";
        assert!(page.contains(heading) && !page.contains("`switch.feedback`"), "{page}");
    }

    #[test]
    fn a_numeric_axis_gives_lines_and_others_rows() {
        let mut sweep = sweep();
        let section = section(&sweep, "fct_mean_ns");
        let Exhibit::Lines { charts, legend, .. } = &section.exhibits[0] else { panic!("lines") };
        assert_eq!(legend.len(), 2);
        assert_eq!(charts[0].lines[1].points, [(0.2, 50.5), (0.4, 130.0)]);
        assert_eq!(charts[0].lines[1].intervals.len(), 2);
        sweep.axes[0].numbers = None;
        let section = super::section(&sweep, "fct_mean_ns");
        let Exhibit::Rows { chart, .. } = &section.exhibits[0] else { panic!("rows") };
        assert_eq!(chart.groups.len(), 2);
        assert_eq!(chart.groups[1].rows[0].value, Some(210.0));
        let Exhibit::Rows { chart, .. } = &section.exhibits[1] else { panic!("changes") };
        let rows: Vec<_> = chart.groups.iter().flat_map(|group| &group.rows).collect();
        assert_eq!(chart.groups[1].label, "b");
        // 200 / 100 and 220 / 102; 150 / 50 and 110 / 51.
        for (row, ratio) in rows.iter().zip([(2.0 * 220.0 / 102.0), (3.0 * 110.0 / 51.0)]) {
            let percent = (libm::sqrt(ratio) - 1.0) * 100.0;
            assert!((row.value.unwrap() - percent).abs() < 1e-9, "{row:?}");
        }
        let Exhibit::Table { head, rows, .. } = &section.exhibits[2] else { panic!("a table") };
        assert_eq!(head, &["load", "a", "a vs. reference", "b", "b vs. a", "b vs. reference"]);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0][2].as_str(), rows[0][4].as_str()), ("reference", "-50 %"));
    }

    #[test]
    fn the_table_says_which_points_are_in_the_best_set() {
        let mut sweep = tuned();
        let section = section(&sweep, "fct_mean_ns");
        assert!(section.answer.contains("is lowest at `size=2MB`"), "{}", section.answer);
        let table = |sweep: &Sweep| match super::section(sweep, "fct_mean_ns").exhibits.pop() {
            Some(Exhibit::Table { head, rows, note, .. }) => (head, rows, note),
            _ => panic!("a table"),
        };
        let (head, rows, note) = table(&sweep);
        assert_eq!(head, ["size", "base", "vs. reference", "best set"]);
        let column = |at: usize| rows.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
        assert_eq!(column(2), ["+10 %", "reference", "+2.0 % [-0.5, +4.5]"]);
        assert_eq!(column(3), ["no, all alike", "best mean", "yes, p 0.073"]);
        let end = "Best set: the points that cannot be distinguished from the best mean (Holm-adjusted p > \
                   0.05). Without an interval: the same in all replications.";
        assert!(note.ends_with(end), "{note}");
        // The same runs are not a change of 0.0 %.
        for row in sweep.runs.iter_mut() {
            row.fingerprint = row.replication.to_string();
            row.numbers.insert("fct_mean_ns".to_owned(), 7.0 + f64::from(row.replication));
        }
        let (_, rows, _) = table(&sweep);
        assert_eq!(
            [0, 1, 2].map(|at| rows[at][2].clone()),
            ["same runs", "reference", "same runs"]
        );
    }

    #[test]
    fn two_axes_give_a_map_for_each_variant() {
        let mut sweep = sweep();
        sweep.axes.push(Axis2::of("size", &["1KB", "2KB"]));
        sweep.points = vec![vec![0, 0], vec![0, 1]];
        let section = section(&sweep, "fct_mean_ns");
        let maps =
            section.exhibits.iter().filter(|exhibit| matches!(exhibit, Exhibit::HeatMap { .. }));
        assert_eq!(maps.count(), 2);
        let Exhibit::Lines { charts, .. } = &section.exhibits[0] else { panic!("lines") };
        assert_eq!(charts.len(), 2);
        assert_eq!(charts[1].heading, "size 2KB");
    }

    #[test]
    fn names_of_axes_are_as_long_as_it_takes_to_tell_them_apart() {
        let mut sweep = sweep();
        let names = |sweep: &mut Sweep, paths: &[&str]| -> Vec<String> {
            sweep.axes = paths.iter().map(|path| Axis2::of(path, &["1", "2"])).collect();
            sweep.axes.iter().map(|axis| short(sweep, axis).to_owned()).collect()
        };
        let paths = ["workload.0.many_to_many.load", "workload.1.many_to_many.load", "switch.size"];
        let expected = ["0.many_to_many.load", "1.many_to_many.load", "size"];
        assert_eq!(names(&mut sweep, &paths), expected);
        assert_eq!(
            names(&mut sweep, &["load", "a.load", "b.overload"]),
            ["load", "a.load", "overload"]
        );
        sweep.axes = paths[..2].iter().map(|path| Axis2::of(path, &["1", "2"])).collect();
        sweep.points = vec![vec![0, 0], vec![0, 1]];
        let section = section(&sweep, "fct_mean_ns");
        let Some(Exhibit::Table { head, .. }) = section.exhibits.last() else { panic!("a table") };
        assert_eq!(head[..2], expected[..2]);
    }

    struct Axis2;

    impl Axis2 {
        fn of(path: &str, values: &[&str]) -> Dimension {
            Dimension {
                path: path.to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
                ..Dimension::default()
            }
        }
    }
}
