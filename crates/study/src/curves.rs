//! Lines of charts: tails of distributions, and laws.

use floodway_report::chart::{Line, Lines};

/// The least share of flows that is drawn where there are so many; p99.9 lies at 0.1 %.
const LEAST: f64 = 1e-5;

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
    use crate::histogram::Histogram;
    use floodway_report::chart::Axis;

    #[test]
    fn a_tail_reaches_beyond_a_marked_share_and_not_without_end() {
        // A share 1/x of the flows takes x or longer.
        let of = |many: u64| {
            let times: Vec<f64> = (0..many).map(|at| many as f64 / (many - at) as f64).collect();
            let points = Histogram::of_sorted(&times, 0).larger();
            let mut chart = Lines {
                y: Axis::log("share", "share"),
                levels: vec![(1e-3, "p99.9".to_owned())],
                lines: vec![Line { points, ..Line::default() }],
                ..Lines::default()
            };
            down_to_the_tail(&mut chart);
            chart
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
