//! Rows of values along one axis, in groups: points with whiskers, or bars from zero. Every row
//! is labeled and its value stands in figures at its end, so that no legend is needed. What others
//! claimed of a value may stand in its row as a hollow diamond.

use super::data::{self, Data};
use super::look;
use super::scale::Axis;
use super::svg::Svg;

/// How a value is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A marker, for values whose zero is arbitrary or out of sight.
    Point,
    /// A bar from zero.
    Bar,
}

/// One value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What it belongs to: a variant's name.
    pub label: String,
    /// Which look it has.
    pub series: usize,
    /// The value; none is not drawn.
    pub value: Option<f64>,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// What others say that the value is.
    pub claimed: Option<f64>,
    /// The value in figures.
    pub figures: String,
    /// The interval in figures; left out where room is scarce.
    pub range: String,
    /// More, for a pointer resting on it.
    pub tooltip: String,
}

/// Rows under a common heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The heading.
    pub label: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// The chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The axis.
    pub axis: Axis,
    /// How values are drawn.
    pub mark: Mark,
    /// The groups from top to bottom.
    pub groups: Vec<Group>,
}

const ROW: f64 = 22.0;
const HEADING: f64 = 30.0;
const FOOT: f64 = 44.0;
/// Between the plot and the figures at its right.
const GAP: f64 = 14.0;
/// From the middle of a claimed value's diamond to a corner: a marker fits into it.
const CLAIMED: f64 = 8.0;
/// What the legend of claimed values takes.
const LEGEND: f64 = 76.0;

impl Rows {
    /// Its values with their intervals and what is claimed of them; a row without any is left out.
    pub fn data(&self) -> Data {
        let value = data::name(&self.axis, "value");
        let numbers = [&value, "low", "high", "claimed"].map(String::from);
        let mut data = Data::new(&["group", "series"], numbers.into());
        for group in &self.groups {
            for row in &group.rows {
                let (low, high) = row.interval.unzip();
                let numbers = [row.value, low, high, row.claimed];
                if numbers.iter().any(Option::is_some) {
                    data.push(&[&group.label, &row.label], &numbers);
                }
            }
        }
        data
    }

    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let wide = width >= 500.0;
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let columns = |text: &str| text.chars().count() as f64 * 6.6 + 10.0;
        let widest = |of: fn(&Row) -> &str| rows().map(|row| columns(of(row))).fold(0.0, f64::max);
        let claims = rows().any(|row| row.claimed.is_some());
        let least = if claims { LEGEND } else { 40.0 };
        let left = widest(|row| &row.label).clamp(least, (width * 0.26).max(least));
        let figures = widest(|row| &row.figures);
        let range = if wide { widest(|row| &row.range) } else { 0.0 };
        let right = width - figures - range - GAP;
        let height = FOOT + self.groups.len() as f64 * HEADING + rows().count() as f64 * ROW;
        let values = rows().flat_map(|row| {
            let (low, high) = row.interval.unzip();
            [row.value, low, high, row.claimed].into_iter().flatten()
        });
        let ticks = ((right - left) / 70.0) as usize;
        let scale = self.axis.scale(values, left + 10.0, right - 12.0, ticks);

        let mut svg = Svg::new(width, height, &self.title);
        let mut y = 0.0;
        for group in &self.groups {
            svg.text(0.0, y + HEADING - 9.0, "start", "heading", &group.label);
            y += HEADING;
            // Lines only behind the rows, so that they do not cross the headings.
            let end = y + group.rows.len() as f64 * ROW;
            for tick in &scale.ticks {
                let zero = *tick == 0.0 && !self.axis.log;
                let x = scale.at(*tick);
                svg.line(x, y, x, end, if zero { "zero" } else { "grid" });
            }
            for row in &group.rows {
                self.row(&mut svg, row, y + ROW / 2.0, left, &scale, wide);
                svg.text(right + GAP + figures - 6.0, y + 15.0, "end", "figure", &row.figures);
                if wide {
                    svg.text(right + GAP + figures + 2.0, y + 15.0, "start", "range", &row.range);
                }
                y += ROW;
            }
        }
        for tick in &scale.ticks {
            svg.text(scale.at(*tick), y + 18.0, "middle", "tick", &self.axis.show(*tick));
        }
        if claims {
            // Below the labels of the ticks, of which the first can begin before the plot.
            svg.diamond(9.0, y + 33.0, CLAIMED, "claimed");
            svg.text(21.0, y + 37.0, "start", "tick", "claimed");
        }
        svg.text((left + right) / 2.0, y + 37.0, "middle", "axis", &self.axis.label);
        svg.finish()
    }

    fn row(&self, svg: &mut Svg, row: &Row, y: f64, left: f64, scale: &super::Scale, wide: bool) {
        let room = ((left - 4.0) / 6.4) as usize;
        svg.open(&look(row.series), &row.tooltip);
        let label = if row.label.chars().count() > room {
            row.label.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        } else {
            row.label.clone()
        };
        svg.text(0.0, y + 4.0, "start", "label", &label);
        if let Some(value) = row.value {
            let x = scale.at(value);
            if self.mark == Mark::Bar {
                let zero = scale.at(0.0);
                svg.rect(zero.min(x), y - 6.0, (x - zero).abs(), 12.0, "bar");
            }
            if let Some((low, high)) = row.interval {
                let (a, b) = (scale.at(low), scale.at(high));
                let class = if self.mark == Mark::Bar { "whisker over" } else { "whisker" };
                svg.line(a, y, b, y, class);
                let cap = if wide { 4.0 } else { 3.0 };
                for end in [a, b] {
                    svg.line(end, y - cap, end, y + cap, class);
                }
            }
            if self.mark == Mark::Point {
                svg.marker(row.series, x, y, 4.2);
            }
        }
        svg.close();
        if let Some(claimed) = row.claimed {
            svg.diamond(scale.at(claimed), y, CLAIMED, "claimed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_data_has_a_row_for_each_value() {
        let row = |label: &str, value: Option<f64>| Row {
            label: label.to_string(),
            value,
            interval: value.map(|value| (value - 1.0, value + 2.0)),
            ..Row::default()
        };
        let mut rows = vec![row("without", None), row("ci", Some(-63.0))];
        rows.push(Row { claimed: Some(-50.0), ..row("more", None) });
        let chart = Rows {
            title: String::new(),
            axis: Axis::linear("change; left of 0 is sooner", "%"),
            mark: Mark::Point,
            groups: vec![Group { label: "<100\u{a0}KB".to_string(), rows }],
        };
        assert_eq!(
            chart.data().csv(),
            "group,series,change [%],low,high,claimed\n\
             <100 KB,ci,-63,-64,-61,\n\
             <100 KB,more,,,,-50\n"
        );
    }
}
