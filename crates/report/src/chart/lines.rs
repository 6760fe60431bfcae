//! Lines over two axes: distributions, time series, measurements against a size.

use std::fmt::Write;

use super::data::{self, Data};
use super::scale::{Axis, Scale};
use super::svg::{Svg, short};
use super::{Names, look};

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
    /// Whether only the markers of its points are drawn and no line between them: for points in no
    /// order.
    pub scatter: bool,
    /// Whether it is no data but a law to compare data with: a thin dashed line, as far as it lies
    /// within what the data reaches.
    pub law: bool,
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
    /// Values of the vertical axis that a line along the chart marks, with what they are: quantiles.
    pub levels: Vec<(f64, String)>,
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
            levels: Vec::new(),
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

/// What each of these lines is called: as its legend has it or else its tooltip; several lines of one
/// look by both.
pub(crate) fn called(lines: &[Line], legend: &Names) -> Vec<String> {
    let name = |line: &Line| {
        let name = legend.iter().find(|(series, _)| *series == line.series).map(|(_, name)| name);
        let alone = lines.iter().filter(|other| other.series == line.series).count() == 1;
        match name {
            Some(name) if alone || line.tooltip.is_empty() || line.tooltip == *name => name.clone(),
            Some(name) => format!("{name}, {}", line.tooltip),
            None => line.tooltip.clone(),
        }
    };
    lines.iter().map(name).collect()
}

impl Lines {
    /// Its points, with the ends of their intervals; `legend` is what its series are called.
    pub fn data(&self, legend: &Names) -> Data {
        let [low, high] = ["low", "high"].map(String::from);
        let numbers = data::names(&self.x, &self.y).into_iter().chain([low, high]);
        let mut data = Data::new(&["series"], numbers.collect());
        for (line, name) in self.lines.iter().zip(called(&self.lines, legend)) {
            for (x, y) in &line.points {
                let ends = line.intervals.iter().find(|(at, ..)| at == x);
                let [low, high] = [ends.map(|ends| ends.1), ends.map(|ends| ends.2)];
                data.push(&[&name], &[Some(*x), Some(*y), low, high]);
            }
        }
        data
    }

    /// What the columns of its two axes are called in its numbers.
    pub fn columns(&self) -> Vec<String> {
        data::names(&self.x, &self.y).iter().map(|name| data::one_line(name)).collect()
    }

    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let heading = if self.heading.is_empty() { 10.0 } else { 30.0 };
        let bottom = self.height - 40.0;
        let lines = || self.lines.iter();
        // A law shows where data lies, and does not stretch an axis.
        let alone = lines().all(|line| line.law);
        let points = || lines().filter(|line| alone || !line.law).flat_map(|line| &line.points);
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
        }
        for tick in x.apart_by(|tick| self.x.show(tick).chars().count() as f64 * 6.5 + 4.0) {
            svg.text(x.at(tick), bottom + 17.0, "middle", "tick", &self.x.show(tick));
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
        for (value, label) in self.levels.iter().filter(|level| y.holds(level.0)) {
            let at = y.at(*value);
            svg.line(left, at, width - 16.0, at, "mark");
            // At the left, where what falls from 100 % leaves room.
            svg.text(left + 4.0, at - 4.0, "start", "tick", label);
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
            if line.law {
                svg.path(&law(line, &x, &y), "law");
            } else if line.scatter {
                // Only points, below.
            } else if line.area {
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
            let marked = line.points.iter().filter(|_| line.markers || line.scatter);
            // Many points in no order hide each other.
            let size = if line.scatter { 3.0 } else { 4.0 };
            for point in marked {
                svg.marker(line.series, across(point.0), y.at(point.1), size);
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

/// The path of a law, straight on the axes between its points, as far as it lies on both scales.
fn law(line: &Line, x: &Scale, y: &Scale) -> String {
    let (x_ends, y_ends) = ([x.low(), x.high()], [y.low(), y.high()]);
    let (x_ends, y_ends) = (x_ends.map(|end| x.at(end)), y_ends.map(|end| y.at(end)));
    let place = |point: &(f64, f64)| (x.beyond(point.0), y.beyond(point.1));
    let mut data = String::new();
    let mut last = None;
    for pair in line.points.windows(2) {
        let (a, b) = (place(&pair[0]), place(&pair[1]));
        // Which part of the segment lies between the ends of both scales (Liang and Barsky).
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (start, step, ends) in [(a.0, b.0 - a.0, x_ends), (a.1, b.1 - a.1, y_ends)] {
            if step == 0.0 {
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                from = if (low..=high).contains(&start) { from } else { f64::INFINITY };
            } else {
                let [one, other] = ends.map(|end| (end - start) / step);
                from = from.max(one.min(other));
                to = to.min(one.max(other));
            }
        }
        // What is not finite, as a logarithm of nothing, is nowhere.
        if from >= to || ![a.0, a.1, b.0, b.1].iter().all(|place| place.is_finite()) {
            continue;
        }
        let at = |share: f64| (short(a.0 + share * (b.0 - a.0)), short(a.1 + share * (b.1 - a.1)));
        let (start, end) = (at(from), at(to));
        if last.as_ref() != Some(&start) {
            let _ = write!(data, "M{} {}", start.0, start.1);
        }
        let _ = write!(data, "L{} {}", end.0, end.1);
        last = Some(end);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four decades by four. Without a heading and 204 pixels high it reaches from 164 up to 10; the
    /// labels up to `10,000` are six letters wide, so that it begins at 6 · 7 + 26 = 68 and ends at
    /// 270 - 16 = 254.
    fn square(lines: Vec<Line>) -> String {
        let chart = Lines {
            x: Axis::log("p", "").within(1e-4, 1.0),
            y: Axis::log("rate", "").within(1.0, 1e4),
            lines,
            height: 204.0,
            ..Lines::default()
        };
        chart.svg(270.0)
    }

    #[test]
    fn its_columns_are_called_as_in_its_numbers() {
        let chart = Lines {
            x: Axis::log("load, logarithmic", "share"),
            y: Axis::linear("mean FCT of flows <100\u{a0}KB", "ns"),
            lines: vec![Line { points: vec![(1.0, 2.0)], ..Line::default() }],
            ..Lines::default()
        };
        assert_eq!(chart.columns(), ["load [share]", "mean FCT of flows <100 KB [ns]"]);
        let head = format!("series,{}\n", chart.columns().join(","));
        assert!(chart.data(&[]).csv().starts_with(&head));
    }

    #[test]
    fn a_law_on_logarithmic_axes_is_straight_and_ends_at_the_frame() {
        let of = |points: Vec<(f64, f64)>| {
            let svg = square(vec![Line { series: 2, law: true, points, ..Line::default() }]);
            let start = svg.find("class=\"law\" d=\"").unwrap() + 15;
            svg[start..].split('"').next().unwrap().to_string()
        };
        // 1/√p falls half a decade of height in one across: from 100 at p = 1e-4, two decades above
        // the floor, to 1 at p = 1.
        assert_eq!(of(vec![(1e-4, 100.0), (1.0, 1.0)]), "M68 87L254 164");
        // The same law, given far beyond the frame on both sides.
        assert_eq!(of(vec![(1e-8, 1e4), (1e4, 1e-2)]), "M68 87L254 164");
        // 100/p leaves through the upper edge, where p is 0.01.
        assert_eq!(of(vec![(1e-4, 1e6), (1.0, 100.0)]), "M161 10L254 87");
        // Points in between join, and what lies wholly outside is not drawn.
        assert_eq!(of(vec![(1e-4, 100.0), (1e-2, 10.0), (1.0, 1.0)]), "M68 87L161 125.5L254 164");
        assert_eq!(of(vec![(1e-4, 0.1), (1.0, 0.5)]), "");
        assert_eq!(of(vec![(1e-4, 0.0), (1.0, 10.0)]), "", "zero has no place");
    }

    #[test]
    fn scattered_points_have_markers_and_no_line() {
        let points = vec![(1e-2, 10.0), (1e-4, 1e4)];
        let svg = square(vec![Line { series: 1, scatter: true, points, ..Line::default() }]);
        assert!(!svg.contains("class=\"line\""));
        assert_eq!(svg.matches("class=\"marker\"").count(), 2);
        // A square around (161, 125.5), 2.7 to each side.
        assert!(svg.contains("M158.3 122.8L163.7 122.8"), "{svg}");
    }

    #[test]
    fn a_law_does_not_stretch_an_axis() {
        let data = Line { points: vec![(1e-3, 10.0), (1e-2, 20.0)], ..Line::default() };
        let law = Line { law: true, points: vec![(1e-9, 1e9), (1.0, 1.0)], ..Line::default() };
        let (x, y) = (Axis::log("p", ""), Axis::log("rate", ""));
        let of = |lines| Lines { x: x.clone(), y: y.clone(), lines, ..Lines::default() }.svg(300.0);
        let ticks = |svg: String| svg.matches("class=\"tick\"").count();
        assert_eq!(ticks(of(vec![data.clone(), law])), ticks(of(vec![data])));
    }

    #[test]
    fn a_level_lies_across_at_its_value() {
        let chart = Lines {
            x: Axis::log("time", "").within(1e-4, 1.0),
            y: Axis::log("flows", "").within(1.0, 1e4),
            levels: vec![(100.0, "p99".to_string()), (1e5, "beyond".to_string())],
            height: 204.0,
            ..Lines::default()
        };
        // Half of the way from 164 up to 10.
        let svg = chart.svg(270.0);
        let line = "<line class=\"mark\" x1=\"68\" y1=\"87\" x2=\"254\" y2=\"87\"/>";
        let label = "<text class=\"tick\" x=\"72\" y=\"83\" text-anchor=\"start\">p99</text>";
        assert!(svg.contains(&format!("{line}{label}")), "{svg}");
        assert!(!svg.contains("beyond"));
    }

    #[test]
    fn its_data_names_lines_as_the_legend_does() {
        let line = |series: usize, tooltip: &str, x: f64| Line {
            series,
            points: vec![(x, 2.0 * x)],
            tooltip: tooltip.to_string(),
            ..Line::default()
        };
        let mut chart = Lines {
            x: Axis::linear("load", "share"),
            y: Axis::log("mean time, logarithmic", "ns"),
            lines: vec![line(0, "said of it", 1.0), line(1, "flow 3", 2.0), line(1, "flow 4", 3.0)],
            ..Lines::default()
        };
        chart.lines.push(line(7, "a law", 4.0));
        chart.lines[0].points.push((1.5, 8.0));
        chart.lines[0].intervals.push((1.5, 7.5, 9.0));
        let legend = [(0, "without".to_string()), (1, "DCTCP".to_string())];
        assert_eq!(
            chart.data(&legend).csv(),
            "series,load [share],mean time [ns],low,high\n\
             without,1,2,,\n\
             without,1.5,8,7.5,9\n\
             \"DCTCP, flow 3\",2,4,,\n\
             \"DCTCP, flow 4\",3,6,,\n\
             a law,4,8,,\n"
        );
    }

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
