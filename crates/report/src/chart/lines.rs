//! Lines over two axes: distributions, time series.

use std::fmt::Write;

use super::look;
use super::scale::{Axis, Scale};
use super::svg::{Svg, short};

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Which look it has.
    pub series: usize,
    /// Its points from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether it keeps a value until the next point, as a distribution does.
    pub steps: bool,
    /// Whether the area below it is filled and the line itself thin: for a maximum above a mean.
    pub area: bool,
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
    /// How high it is in pixels.
    pub height: f64,
}

impl Lines {
    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let top = if self.heading.is_empty() { 10.0 } else { 30.0 };
        let bottom = self.height - 40.0;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let ticks = ((bottom - top) / 26.0) as usize;
        let y = self.y.scale(points().map(|point| point.1), bottom, top, ticks);
        let labels: Vec<String> = y.ticks.iter().map(|tick| self.y.show(*tick)).collect();
        let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let left = widest as f64 * 7.0 + 26.0;
        let ticks = ((width - left) / 54.0) as usize;
        let x = self.x.scale(points().map(|point| point.0), left, width - 16.0, ticks);

        let mut svg = Svg::new(width, self.height, &self.title);
        if !self.heading.is_empty() {
            svg.text(left, 16.0, "start", "heading", &self.heading);
        }
        for (tick, label) in y.ticks.iter().zip(&labels) {
            let at = y.at(*tick);
            svg.line(left, at, width - 16.0, at, "grid");
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
        for line in &self.lines {
            if line.points.is_empty() {
                continue;
            }
            svg.open(&look(line.series), &line.tooltip);
            let data = path(line, &x, &y);
            if line.area {
                let (first, last) = (line.points[0].0, line.points[line.points.len() - 1].0);
                let [first, last, floor] = [x.at(first), x.at(last), bottom].map(short);
                svg.path(&format!("{data}L{last} {floor}L{first} {floor}Z"), "area");
            } else {
                svg.path(&data, "line");
            }
            svg.close();
        }
        svg.finish()
    }
}

fn path(line: &Line, x: &Scale, y: &Scale) -> String {
    let mut data = String::new();
    // Points that fall on the last one's pixel would only make the page longer.
    let mut last = (String::new(), String::new());
    for (at, point) in line.points.iter().enumerate() {
        let place = (short(x.at(point.0)), short(y.at(point.1)));
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
