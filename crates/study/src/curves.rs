//! Charts of lines from the evidence: how deep, how long, how fast.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::shapes::Depths;

use crate::histogram::Histogram;

/// The share of samples in which a queue was deeper than so many bytes.
pub fn deeper(depths: &Depths) -> Vec<(f64, f64)> {
    let total: u64 = depths.values().sum();
    let mut above = total;
    let mut points = Vec::new();
    for (edge, samples) in depths {
        above -= samples;
        // The last bin has no upper edge; nothing is above it.
        if *edge < u64::MAX && above > 0 {
            points.push(((*edge).max(1) as f64, above as f64 / total as f64));
        }
    }
    points
}

/// A line of such shares.
pub fn depth_line(series: usize, label: &str, depths: &Depths) -> Line {
    Line { series, points: deeper(depths), tooltip: label.to_owned(), ..Line::default() }
}

/// A chart of such lines over a range of depths, with thresholds; both in bytes.
pub fn depth_chart(
    heading: &str,
    range: (f64, f64),
    thresholds: &[(f64, &str)],
    lines: Vec<Line>,
) -> Lines {
    Lines {
        title: format!("Share of samples in which a queue is deeper than so many bytes, {heading}"),
        x: Axis::log("depth, logarithmic", "bytes").within(range.0, range.1),
        y: Axis::log("share of samples that are deeper", "share").within(floor(&lines, 0.1), 1.0),
        ..shares(heading, thresholds, lines)
    }
}

/// A line of the share of flows that take longer.
pub fn tail_line(series: usize, label: &str, times: &Histogram) -> Line {
    Line { series, points: times.larger(), tooltip: label.to_owned(), ..Line::default() }
}

/// The least share of flows that is drawn where there are so many; p99.9 lies at 0.1 %.
const LEAST: f64 = 1e-5;

/// A chart of such lines: the tail of the distribution of completion times, with times in
/// nanoseconds that are worth a mark.
pub fn tail_chart(heading: &str, marks: &[(f64, &str)], lines: Vec<Line>) -> Lines {
    // From p99.9 on at least, as far as there are flows.
    let floor = floor(&lines, 1e-3).max(LEAST);
    let mut lines = lines;
    for line in &mut lines {
        line.points.retain(|point| point.1 >= floor);
    }
    Lines {
        title: format!("Share of flows that take longer than so long, {heading}"),
        x: Axis::log("completion time, logarithmic", "ns"),
        y: Axis::log("share of flows that take longer", "share").within(floor, 1.0),
        levels: vec![(1e-3, "p99.9".to_owned())],
        ..shares(heading, marks, lines)
    }
}

/// Fits the vertical axis of a chart of shares that are larger than so much to its lines: down to the least share, or to the
/// least that has a mark. A share below one in a hundred thousand is not drawn.
pub fn down_to_the_tail(chart: &mut Lines) {
    if chart.y.limits.is_some() || !chart.y.log {
        return;
    }
    let marked = chart.levels.iter().map(|(at, _)| *at).fold(0.1, f64::min);
    let floor = floor(&chart.lines, marked).max(LEAST);
    for line in &mut chart.lines {
        line.points.retain(|point| point.1 >= floor);
    }
    chart.y.limits = Some((floor, 1.0));
}

/// Below the least share of these lines and below `most`.
fn floor(lines: &[Line], most: f64) -> f64 {
    let shares = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    shares.filter(|share| *share > 0.0).fold(most, f64::min) / 1.3
}

fn shares(heading: &str, marks: &[(f64, &str)], lines: Vec<Line>) -> Lines {
    Lines {
        heading: heading.to_owned(),
        lines,
        height: 260.0,
        marks: marks.iter().map(|(at, label)| (*at, (*label).to_owned())).collect(),
        ..Lines::default()
    }
}

/// The law `factor · x^exponent` between two values of x, for axes that are both logarithmic, where
/// it is straight. It is drawn as far as it lies between the limits of the axes.
pub fn power_law(
    series: usize,
    label: &str,
    factor: f64,
    exponent: f64,
    between: (f64, f64),
) -> Line {
    let point = |x: f64| (x, factor * libm::pow(x, exponent));
    let points = vec![point(between.0), point(between.1)];
    Line { series, points, law: true, tooltip: label.to_owned(), ..Line::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_above_a_depth_are_exact_at_the_edges() {
        let depths = Depths::from([(0, 90), (1_000, 6), (2_000, 3), (u64::MAX, 1)]);
        assert_eq!(deeper(&depths), [(1.0, 0.1), (1_000.0, 0.04), (2_000.0, 0.01)]);
    }

    #[test]
    fn a_tail_reaches_beyond_the_last_quantile_and_not_without_end() {
        // A share 1/x of the flows takes x or longer.
        let of = |many: u64| {
            let times: Vec<f64> = (0..many).map(|at| many as f64 / (many - at) as f64).collect();
            let line = tail_line(0, "", &Histogram::of_sorted(&times, 0));
            tail_chart("", &[], vec![line])
        };
        let lowest = |chart: &Lines| chart.y.limits.unwrap().0;
        assert!(lowest(&of(10)) < 1e-3, "p99.9 has its place, with few flows too");
        let million = of(1_000_000);
        assert_eq!(lowest(&million), LEAST);
        let points = &million.lines[0].points;
        assert!(
            points.iter().all(|point| point.1 >= LEAST && (point.0 * point.1 - 1.0).abs() < 0.1)
        );
        assert!(points.last().unwrap().1 < 1.1 * LEAST);
    }

    #[test]
    fn laws_are_given_by_their_ends() {
        // 1.22/√p is 122 at p = 1e-4 and 1.22 at p = 1.
        let law = power_law(2, "Reno", 1.22, -0.5, (1e-4, 1.0));
        assert!((law.points[0].1 - 122.0).abs() < 1e-9 && law.points[1] == (1.0, 1.22));
        assert!(law.law && !law.scatter);
    }
}
