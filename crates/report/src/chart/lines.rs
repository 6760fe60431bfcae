//! Lines over two axes: distributions, time series, measurements against a size.

use std::fmt::Write;

use super::look;
use super::scale::{Axis, Scale};
use super::svg::{Svg, short};

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Which look it has.
    pub series: usize,
    /// Its points from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether it keeps a value until the next point, as a distribution does.
    pub steps: bool,
    /// Whether the area below it is filled and the line itself thin: for a maximum above a mean.
    pub area: bool,
    /// Whether its points have markers: for a few points that were measured.
    pub markers: bool,
    /// The intervals of its points: where along the line, the lower and the upper end.
    pub intervals: Vec<(f64, f64, f64)>,
    /// What it says, for a pointer resting on it.
    pub tooltip: String,
}

/// The chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The heading above it; may be empty.
    pub heading: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines from back to front.
    pub lines: Vec<Line>,
    /// Values of the horizontal axis that a line across marks, with what they are: thresholds.
    pub marks: Vec<(f64, String)>,
    /// How high it is in pixels.
    pub height: f64,
}

impl Default for Lines {
    /// Without lines, 230 pixels high.
    fn default() -> Self {
        Self {
            title: String::new(),
            heading: String::new(),
            x: Axis::default(),
            y: Axis::default(),
            lines: Vec::new(),
            marks: Vec::new(),
            height: 230.0,
        }
    }
}

/// How far apart lines with intervals stand at the same value, so that none covers another.
const DODGE: f64 = 4.0;
/// Half the width of an interval's ends.
const CAP: f64 = 3.0;
/// What a row of labels of marks takes.
const LABEL: f64 = 14.0;

impl Lines {
    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let heading = if self.heading.is_empty() { 10.0 } else { 30.0 };
        let bottom = self.height - 40.0;
        let lines = || self.lines.iter();
        let points = || lines().flat_map(|line| &line.points);
        let intervals = || lines().flat_map(|line| &line.intervals);
        let ends = intervals().flat_map(|(_, low, high)| [*low, *high]);
        let ys: Vec<f64> = points().map(|point| point.1).chain(ends).collect();
        let ticks = |top: f64| ((bottom - top) / 26.0) as usize;
        let shown = |scale: &Scale| -> Vec<String> {
            scale.ticks.iter().map(|tick| self.y.show(*tick)).collect()
        };
        // How wide the labels are has to be known before the marks, whose rows take from the height.
        let labels = shown(&self.y.scale(ys.iter().copied(), bottom, heading, ticks(heading)));
        let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let left = widest as f64 * 7.0 + 26.0;
        let ticks_x = ((width - left) / 54.0) as usize;
        let xs = points().map(|point| point.0).chain(self.marks.iter().map(|mark| mark.0));
        let x = self.x.scale(xs, left, width - 16.0, ticks_x);
        let marks = placed(&self.marks, &x, width);
        let rows = marks.iter().map(|mark| mark.row + 1).max().unwrap_or(0);
        // A label that reaches beyond the axis stays clear of the highest value's there.
        let clear = if marks.iter().any(|mark| mark.start < left) { 8.0 } else { 0.0 };
        let top = heading + rows as f64 * LABEL + clear;
        let y = self.y.scale(ys.iter().copied(), bottom, top, ticks(top));
        let labels = shown(&y);

        let mut svg = Svg::new(width, self.height, &self.title);
        if !self.heading.is_empty() {
            svg.text(left, 16.0, "start", "heading", &self.heading);
        }
        for (tick, label) in y.ticks.iter().zip(&labels) {
            let at = y.at(*tick);
            let zero = *tick == 0.0 && !self.y.log && at < bottom;
            svg.line(left, at, width - 16.0, at, if zero { "zero" } else { "grid" });
            svg.text(left - 6.0, at + 4.0, "end", "tick", label);
        }
        svg.line(left, bottom, width - 16.0, bottom, "zero");
        for tick in &x.ticks {
            let at = x.at(*tick);
            svg.line(at, bottom, at, bottom + 4.0, "zero");
            svg.text(at, bottom + 17.0, "middle", "tick", &self.x.show(*tick));
        }
        svg.text((left + width - 16.0) / 2.0, bottom + 35.0, "middle", "axis", &self.x.label);
        // Upwards along the axis, as readers of charts expect it.
        svg.open("upright", "");
        svg.text(-(top + bottom) / 2.0, 11.0, "middle", "axis", &self.y.label);
        svg.close();
        for mark in &marks {
            let above = top - clear - mark.row as f64 * LABEL;
            svg.line(mark.x, above - LABEL + 3.0, mark.x, bottom, "mark");
            svg.text(mark.end, above - 4.0, "end", "tick", mark.label);
        }
        let many = lines().filter(|line| !line.intervals.is_empty()).count();
        let mut nth = 0;
        for line in &self.lines {
            if line.points.is_empty() {
                continue;
            }
            let mut aside = 0.0;
            if !line.intervals.is_empty() {
                aside = (nth as f64 - (many - 1) as f64 / 2.0) * DODGE;
                nth += 1;
            }
            let across = |value: f64| x.at(value) + aside;
            svg.open(&look(line.series), &line.tooltip);
            let data = path(line, across, &y);
            if line.area {
                let (first, last) = (line.points[0].0, line.points[line.points.len() - 1].0);
                let [first, last, floor] = [across(first), across(last), bottom].map(short);
                svg.path(&format!("{data}L{last} {floor}L{first} {floor}Z"), "area");
            } else {
                svg.path(&data, "line");
            }
            for (value, low, high) in &line.intervals {
                let (at, low, high) = (across(*value), y.at(*low), y.at(*high));
                svg.line(at, low, at, high, "whisker");
                for end in [low, high] {
                    svg.line(at - CAP, end, at + CAP, end, "whisker");
                }
            }
            for point in line.points.iter().filter(|_| line.markers) {
                svg.marker(line.series, across(point.0), y.at(point.1), 4.0);
            }
            svg.close();
        }
        svg.finish()
    }
}

/// A mark's place: its line, where its label starts and ends, and in which row above the plot
/// that stands.
struct Placed<'a> {
    x: f64,
    start: f64,
    end: f64,
    row: usize,
    label: &'a str,
}

/// Gives every mark on the scale a row in which its label touches no other, no line of another
/// crosses it, and its own line crosses no other. Labels end at their lines, so that those
/// farther right stand higher up.
fn placed<'a>(marks: &'a [(f64, String)], scale: &Scale, width: f64) -> Vec<Placed<'a>> {
    let mut marks: Vec<&(f64, String)> = marks.iter().filter(|mark| scale.holds(mark.0)).collect();
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut placed: Vec<Placed<'a>> = Vec::new();
    for (value, label) in marks {
        let x = scale.at(*value);
        let room = label.chars().count() as f64 * 6.4 + 4.0;
        let end = (x - 4.0).max(room).min(width);
        let start = end - room;
        let apart = |row: usize| {
            placed.iter().all(|other| {
                let touches =
                    other.row == row && start < other.end + 6.0 && other.start < end + 6.0;
                let crossed = other.row >= row && (start..=end + 3.0).contains(&other.x);
                let crosses = other.row < row && (other.start..=other.end).contains(&x);
                !(touches || crossed || crosses)
            })
        };
        let row = (0..=placed.len()).find(|row| apart(*row)).unwrap_or(placed.len());
        placed.push(Placed { x, start, end, row, label });
    }
    placed
}

fn path(line: &Line, x: impl Fn(f64) -> f64, y: &Scale) -> String {
    let mut data = String::new();
    // Points that fall on the last one's pixel would only make the page longer.
    let mut last = (String::new(), String::new());
    for (at, point) in line.points.iter().enumerate() {
        let place = (short(x(point.0)), short(y.at(point.1)));
        if place == last {
            continue;
        }
        let _ = match (at, line.steps) {
            (0, _) => write!(data, "M{} {}", place.0, place.1),
            (_, true) if place.0 == last.0 => write!(data, "V{}", place.1),
            (_, true) if place.1 == last.1 => write!(data, "H{}", place.0),
            (_, true) => write!(data, "H{}V{}", place.0, place.1),
            (_, false) => write!(data, "L{} {}", place.0, place.1),
        };
        last = place;
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(marks: &[(f64, &str)]) -> Vec<(String, usize)> {
        let scale = Axis::linear("", "").within(0.0, 400.0);
        let scale = scale.scale(std::iter::empty(), 0.0, 400.0, 4);
        let marks: Vec<_> = marks.iter().map(|(at, label)| (*at, label.to_string())).collect();
        placed(&marks, &scale, 400.0)
            .iter()
            .map(|mark| (mark.label.to_string(), mark.row))
            .collect()
    }

    #[test]
    fn labels_of_marks_make_room_for_each_other() {
        let named = |rows: &[(&str, usize)]| -> Vec<(String, usize)> {
            rows.iter().map(|(label, row)| (label.to_string(), *row)).collect()
        };
        // A letter takes 6.4: `XOFF` reaches 29.6 + 4 to the left of its line.
        let far = rows(&[(300.0, "XOFF"), (100.0, "low"), (200.0, "high")]);
        assert_eq!(far, named(&[("low", 0), ("high", 0), ("XOFF", 0)]), "from left to right");
        let near = rows(&[(300.0, "XOFF"), (280.0, "high"), (100.0, "low")]);
        assert_eq!(near, named(&[("low", 0), ("high", 0), ("XOFF", 1)]));
        let dense = rows(&[(280.0, "one"), (290.0, "two"), (300.0, "three")]);
        assert_eq!(dense, named(&[("one", 0), ("two", 1), ("three", 2)]));
        assert_eq!(rows(&[(500.0, "beyond")]), [], "what lies beyond the scale is not drawn");
    }
}
