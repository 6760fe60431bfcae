//! Numbers in rows and columns on a ground of color. The number stands in every cell, so that
//! color only leads the eye.

use super::data::{self, Data};
use super::letters;
use super::matrix::Matrix;
use super::scale::{Axis, Scale};
use super::svg::Svg;

/// From which colors to which.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Colors {
    /// From little to much, in one hue.
    #[default]
    Sequential,
    /// From one hue through none to another: what is less and what is more than this value. The
    /// first is that of the look 1, the second that of the look 2.
    Diverging(f64),
}

impl Colors {
    /// How many steps there are.
    pub(super) const fn steps(self) -> usize {
        match self {
            Self::Sequential => 8,
            Self::Diverging(_) => 11,
        }
    }

    /// The class of a step, and whether text on it has the color of the page instead of that of
    /// ink. Both hold in light and dark, because the steps that are dark in the one are bright in
    /// the other.
    pub(super) fn class(self, step: usize) -> (String, bool) {
        match self {
            Self::Sequential => (format!("q{step}"), step >= 5),
            Self::Diverging(_) => (format!("d{step}"), !(2..=8).contains(&step)),
        }
    }

    /// Which step a value has: all are as wide.
    pub(super) fn step(self, scale: &Scale, value: f64) -> usize {
        let steps = self.steps();
        // What lies on an edge but for the last bit belongs to the step above.
        let place = libm::floor(scale.share(value) * steps as f64 + 1e-9);
        (place as usize).min(steps - 1)
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// The value that gives it its color; none: no color.
    pub value: Option<f64>,
    /// The value in figures, as short as can be; may be empty.
    pub text: String,
    /// More, for a pointer resting on it.
    pub tooltip: String,
}

/// The chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The headings.
    pub sides: Matrix,
    /// The cells, row by row; what is missing is empty.
    pub cells: Vec<Vec<Tile>>,
    /// From values to colors. Limits of a diverging scale reach as far to either side as the
    /// farther of the two.
    pub scale: Axis,
    /// The colors.
    pub colors: Colors,
}

/// Between cells.
const GAP: f64 = 2.0;
/// What the legend of the colors takes below the cells.
const FOOT: f64 = 46.0;

impl HeatMap {
    /// The values of its cells.
    pub fn data(&self) -> Data {
        let mut data = Data::new(&self.sides.names(), vec![data::name(&self.scale, "value")]);
        for (row, cells) in self.sides.rows.iter().zip(&self.cells) {
            for (column, tile) in self.sides.columns.iter().zip(cells) {
                if tile.value.is_some() {
                    data.push(&[row, column], &[tile.value]);
                }
            }
        }
        data
    }

    /// Draws it this wide, or wider if its cells would become too small.
    pub fn svg(&self, width: f64) -> String {
        let at = self.sides.layout(width, GAP, |width| (width * 0.5).clamp(24.0, 40.0));
        let (right, bottom) = (self.sides.right(&at), self.sides.bottom(&at));
        let width = width.max(right);
        let legend = (right - at.left).min(360.0);
        let scale = self.steps(at.left, at.left + legend);

        let mut svg = Svg::new(width, bottom + FOOT, &self.title);
        let tile = |row: usize, column: usize| self.cells.get(row)?.get(column);
        let text = |row: usize, column: usize| {
            tile(row, column).map(|tile| tile.text.as_str()).filter(|text| !text.is_empty())
        };
        svg.describe(&self.sides.describe(text));
        self.sides.head(&mut svg, &at);
        for row in 0..self.sides.rows.len() {
            for column in 0..self.sides.columns.len() {
                let Some(tile) = tile(row, column) else { continue };
                let (x, y) = (at.x(column), at.y(row));
                svg.open("tile", &tile.tooltip);
                let value = tile.value.filter(|value| !value.is_nan());
                let (ground, inverse) = match value {
                    Some(value) => self.colors.class(self.colors.step(&scale, value)),
                    None => ("none".to_string(), false),
                };
                if value.is_some() {
                    svg.rect(x, y, at.width, at.height, &ground);
                }
                let small = letters(&tile.text) > at.width - 4.0;
                let class = match (value.is_some(), inverse) {
                    (false, _) => "tick",
                    (true, false) => "on",
                    (true, true) => "over",
                };
                let class = if small { format!("{class} small") } else { class.to_string() };
                let (x, y) = (x + at.width / 2.0, y + at.height / 2.0 + 4.0);
                svg.text(x, y, "middle", &class, &tile.text);
                svg.close();
            }
        }
        self.legend(&mut svg, &scale, (at.left, bottom + 14.0), legend);
        svg.finish()
    }

    fn legend(&self, svg: &mut Svg, scale: &Scale, (left, top): (f64, f64), width: f64) {
        let steps = self.colors.steps();
        let step = width / steps as f64;
        for at in 0..steps {
            // Without a seam: each reaches under the next.
            let (x, more) = (left + at as f64 * step, if at + 1 < steps { 0.5 } else { 0.0 });
            svg.rect(x, top, step + more, 10.0, &self.colors.class(at).0);
        }
        let values = || self.cells.iter().flatten().filter_map(|tile| tile.value);
        let (below, above) =
            (values().any(|value| value < scale.low()), values().any(|value| value > scale.high()));
        for tick in &scale.ticks {
            let at = scale.at(*tick);
            let beyond = match () {
                () if below && *tick <= scale.low() => "≤ ",
                () if above && *tick >= scale.high() => "≥ ",
                () => "",
            };
            svg.line(at, top + 10.0, at, top + 14.0, "zero");
            svg.text(
                at,
                top + 26.0,
                "middle",
                "tick",
                &format!("{beyond}{}", self.scale.show(*tick)),
            );
        }
        svg.text(left + width + 14.0, top + 9.0, "start", "axis", &self.scale.label);
    }

    /// The scale of the legend between these places; a diverging one is symmetric.
    fn steps(&self, from: f64, to: f64) -> Scale {
        let values = || self.cells.iter().flatten().filter_map(|tile| tile.value);
        let axis = match self.colors {
            Colors::Sequential => self.scale.clone(),
            Colors::Diverging(center) => {
                let scale = self.scale.scale(values().chain([center]), 0.0, 1.0, 4);
                let (low, high) = (scale.low(), scale.high());
                let (low, high) = if self.scale.log {
                    let far = (center / low).max(high / center);
                    (center / far, center * far)
                } else {
                    let far = (center - low).max(high - center);
                    (center - far, center + far)
                };
                self.scale.clone().within(low, high)
            }
        };
        axis.scale(values(), from, to, 6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::STYLE;

    fn map(colors: Colors, scale: Axis, values: &[f64]) -> HeatMap {
        let tile = |value: &f64| Tile {
            value: Some(*value),
            text: format!("{value}"),
            tooltip: String::new(),
        };
        HeatMap {
            title: "Ratio".to_string(),
            sides: Matrix {
                columns: values.iter().map(f64::to_string).collect(),
                rows: vec!["1".to_string()],
                ..Matrix::default()
            },
            cells: vec![values.iter().map(tile).collect()],
            scale,
            colors,
        }
    }

    fn classes(map: &HeatMap) -> Vec<String> {
        let svg = map.svg(400.0);
        let tiles = svg.split("<g class=\"tile\"><rect class=\"").skip(1);
        tiles.map(|tile| tile.split('"').next().unwrap().to_string()).collect()
    }

    #[test]
    fn diverging_colors_are_symmetric_about_their_center() {
        let axis = Axis::log("ratio", "x").within(0.1, 10.0);
        // Eleven steps of two decades: a step is 0.18 decades, a factor of 1.52; the middle one
        // reaches from 0.811 to 1.233.
        let values = [0.01, 0.1, 0.15, 0.80, 0.82, 1.0, 1.22, 1.24, 6.5, 6.6, 10.0, 1e3];
        let of = map(Colors::Diverging(1.0), axis, &values);
        let steps = ["d0", "d0", "d0", "d4", "d5", "d5", "d5", "d6", "d9", "d10", "d10", "d10"];
        assert_eq!(classes(&of), steps, "the last step begins at 6.58");
        let svg = of.svg(400.0);
        assert!(svg.contains(">≤ 0.1<") && svg.contains(">≥ 10<"), "beyond the scale: {svg}");
        // Limits that are not symmetric are made so: to a tenth if up to ten.
        let axis = Axis::log("ratio", "x").within(0.5, 10.0);
        assert_eq!(
            classes(&map(Colors::Diverging(1.0), axis, &[0.1, 1.0, 10.0])),
            ["d0", "d5", "d10"]
        );
        let axis = Axis::linear("change", "%");
        let of = map(Colors::Diverging(0.0), axis, &[-50.0, 0.0, 20.0]);
        assert_eq!(classes(&of), ["d0", "d5", "d7"], "20 of ±50: 0.7 of 11 steps");
    }

    #[test]
    fn a_heading_that_is_too_long_has_lines() {
        let axis = Axis::linear("change", "%");
        let mut of = map(Colors::Sequential, axis, &[1.0, 2.0, 3.0]);
        of.sides.columns =
            ["incast", "all-reduce beside an incast", "27-letters-and-no-space-in-it"]
                .map(str::to_owned)
                .into();
        // A row is called 1: 7 + 10 pixels. 400 - 17 of three columns with gaps of 2 are 126 for each, or 19 letters.
        let svg = of.svg(400.0);
        let at = |text: &str| {
            let (before, _) = svg
                .split_once(&format!(">{text}</text>"))
                .unwrap_or_else(|| panic!("{text}: {svg}"));
            let (_, y) = before.rsplit_once(" y=\"").unwrap();
            y.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        // The cells begin 13 lower than with one line, at 22.
        assert_eq!(at("incast"), 28.0);
        assert_eq!((at("all-reduce beside"), at("an incast")), (15.0, 28.0));
        assert_eq!(at("27-letters-and-no-space-in-it"), 28.0);
        of.sides.columns[1] = "nineteen letters it".to_owned();
        assert!(of.svg(400.0).contains(">nineteen letters it</text>"));
    }

    #[test]
    fn sequential_colors_begin_with_little() {
        let axis = Axis::linear("delay", "ns").within(0.0, 80.0);
        let of = map(Colors::Sequential, axis, &[0.0, 9.9, 10.0, 45.0, 80.0]);
        assert_eq!(classes(&of), ["q0", "q0", "q1", "q4", "q7"]);
    }

    #[test]
    fn its_data_has_a_row_for_each_cell_with_a_value() {
        let axis = Axis::log("delay, logarithmic", "ns");
        let mut map = map(Colors::Sequential, axis, &[2.0, 3.5, 4.0]);
        map.sides.across = "Cubic flows".to_string();
        map.cells[0][2].value = None;
        let csv = map.data().csv();
        assert_eq!(csv, "row,Cubic flows,delay [ns]\n1,2,2\n1,3.5,3.5\n");
    }

    /// The relative luminance of a color (WCAG 2.1).
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn text_on_every_color_can_be_read() {
        let (light, dark) = STYLE.split_once("@media").unwrap();
        let dark = dark.split_once("*/").unwrap().0;
        for block in [light, dark] {
            let property = |name: &str| {
                let start = block.find(&format!("--{name}: ")).expect(name) + name.len() + 4;
                luminance(&block[start..start + 7])
            };
            for colors in [Colors::Sequential, Colors::Diverging(1.0)] {
                for step in 0..colors.steps() {
                    let (class, over) = colors.class(step);
                    let (a, b) = (property(&class), property(if over { "page" } else { "ink" }));
                    let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                    assert!(contrast >= 4.5, "{class}: {contrast:.2}");
                }
            }
        }
    }
}
