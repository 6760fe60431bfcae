//! Intervals of time in rows, colored by what they are: what happened where, and when.

use super::data::Data;
use super::stack::{color, shortened};
use super::svg::Svg;
use super::{Axis, letters};

/// An interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// Its row.
    pub row: usize,
    /// Start and end.
    pub ends: (f64, f64),
    /// What it is, by its number among the names of the chart.
    pub kind: usize,
    /// More, for a pointer resting on it.
    pub tooltip: String,
}

/// The chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Spans {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The heading above it.
    pub heading: String,
    /// What the rows are, from top to bottom.
    pub rows: Vec<String>,
    /// What kinds are called.
    pub names: Vec<String>,
    /// The intervals.
    pub spans: Vec<Span>,
    /// The time.
    pub axis: Axis,
}

const ROW: f64 = 24.0;
const HEADING: f64 = 30.0;
const FOOT: f64 = 40.0;

impl Spans {
    /// Every interval.
    pub fn data(&self) -> Data {
        let unit = self.axis.unit;
        let numbers = [format!("from [{unit}]"), format!("to [{unit}]")];
        let mut data = Data::new(&["row", "kind"], numbers.to_vec());
        for span in &self.spans {
            let (from, to) = span.ends;
            data.push(&[&self.rows[span.row], &self.names[span.kind]], &[Some(from), Some(to)]);
        }
        data
    }

    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let label = |row: &String| letters(row) + 12.0;
        let left = self.rows.iter().map(label).fold(40.0, f64::max).min(width * 0.38);
        let height = HEADING + self.rows.len() as f64 * ROW + FOOT;
        let ends = self.spans.iter().flat_map(|span| [span.ends.0, span.ends.1]);
        let ticks = ((width - left) / 90.0) as usize;
        let scale = self.axis.scale(ends, left + 2.0, width - 30.0, ticks);
        let mut svg = Svg::new(width, height, &self.title);
        svg.text(0.0, HEADING - 11.0, "start", "heading", &self.heading);
        let floor = HEADING + self.rows.len() as f64 * ROW;
        for tick in &scale.ticks {
            let x = scale.at(*tick);
            svg.line(x, HEADING, x, floor, "grid");
            svg.text(x, floor + 17.0, "middle", "tick", &self.axis.show(*tick));
        }
        svg.text((left + width) / 2.0, floor + 35.0, "middle", "axis", &self.axis.label);
        for (row, name) in self.rows.iter().enumerate() {
            let y = HEADING + row as f64 * ROW;
            svg.text(0.0, y + 16.0, "start", "label", &shortened(name, (left / 6.4) as usize));
        }
        // What lies within half a pixel of the last one of its kind in its row continues it.
        let mut last: Vec<Option<(f64, f64, &Span)>> = vec![None; self.rows.len()];
        let draw = |svg: &mut Svg, (from, to, span): (f64, f64, &Span)| {
            let y = HEADING + span.row as f64 * ROW;
            svg.open("", &span.tooltip);
            svg.rect(from, y + 3.0, (to - from).max(0.6), ROW - 6.0, &color(span.kind));
            svg.close();
        };
        for span in &self.spans {
            let (from, to) = (scale.at(span.ends.0), scale.at(span.ends.1));
            match &mut last[span.row] {
                Some((_, end, before)) if before.kind == span.kind && from - *end < 0.5 => {
                    *end = to
                }
                // Too small to be seen between two others.
                Some((_, end, _)) if to - *end < 0.5 => {}
                other => {
                    if let Some(done) = other.replace((from, to, span)) {
                        draw(&mut svg, done);
                    }
                }
            }
        }
        last.into_iter().flatten().for_each(|done| draw(&mut svg, done));
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(spans: Vec<Span>) -> Spans {
        Spans {
            title: "Time".to_owned(),
            heading: "flow 7".to_owned(),
            rows: ["host 1", "leaf 0"].map(String::from).to_vec(),
            names: ["ideal", "paused"].map(String::from).to_vec(),
            spans,
            axis: Axis::linear("time since its start", "ns").within(0.0, 1_000.0),
        }
    }

    fn span(row: usize, ends: (f64, f64), kind: usize) -> Span {
        Span { row, ends, kind, tooltip: String::new() }
    }

    #[test]
    fn what_continues_is_drawn_as_one() {
        let rects = |spans| chart(spans).svg(700.0).matches("<rect").count();
        assert_eq!(rects(vec![span(0, (0.0, 500.0), 0), span(0, (500.0, 900.0), 0)]), 1);
        assert_eq!(rects(vec![span(0, (0.0, 500.0), 0), span(0, (500.0, 900.0), 1)]), 2);
        assert_eq!(rects(vec![span(0, (0.0, 500.0), 0), span(1, (500.0, 900.0), 0)]), 2);
        // A sliver between two parts is left out, and its neighbors become one.
        let sliver =
            vec![span(0, (0.0, 500.0), 0), span(0, (500.0, 500.1), 1), span(0, (500.1, 900.0), 0)];
        assert_eq!(rects(sliver), 1);
    }

    #[test]
    fn its_data_has_every_interval() {
        let chart = chart(vec![span(0, (0.0, 500.0), 0), span(1, (500.0, 900.0), 1)]);
        assert_eq!(
            chart.data().csv(),
            "row,kind,from [ns],to [ns]\nhost 1,ideal,0,500\nleaf 0,paused,500,900\n"
        );
    }
}
