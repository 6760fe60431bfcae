//! Pictures as SVG, to stand inside a page whose style sheet gives them their colors, or in files
//! of their own ([`Sheet`]).
//!
//! A chart is a plain value that knows its data and its axes; `svg(width)` draws it. Text has the
//! same size whatever the width, so a page asks for a wide and a narrow rendition of the same
//! value instead of shrinking one. `data()` has the numbers that it draws. Series differ in shape or dashes as well as in color.

pub mod data;
pub mod grid;
pub mod heat;
pub mod lines;
pub mod matrix;
pub mod mosaic;
pub mod rows;
pub mod scale;
mod sheet;
pub mod spans;
pub mod stack;
mod svg;
mod trace;
pub mod vega;

pub use data::Data;
pub use grid::{Cell, Grid};
pub use heat::{Colors, HeatMap, Tile};
pub use lines::{Line, Lines};
pub use matrix::Matrix;
pub use mosaic::Mosaic;
pub use rows::{Group, Mark, Row, Rows};
pub use scale::{Axis, Scale};
pub use sheet::{Paper, Sheet, standalone, style};

pub(crate) use lines::called;
use svg::Svg;
pub(crate) use svg::escape;

/// The rules that charts are drawn by, for a page's style sheet.
pub const STYLE: &str = include_str!("style.css");

/// How many looks there are; a series beyond them begins again.
pub const LOOKS: usize = 6;

/// What series are called, by their looks, as a legend has it.
pub type Names = [(usize, String)];

/// The class that gives a series its color and its dashes.
fn look(series: usize) -> String {
    format!("c{}", series % LOOKS)
}

/// About how wide a text of the size of labels is, in pixels.
fn letters(text: &str) -> f64 {
    text.chars().count() as f64 * 6.6
}

/// The sample of a series that has neither markers nor dashes, as in the cells of a grid.
pub fn stroke(series: usize) -> String {
    let mut svg = Svg::new(30.0, 12.0, "");
    svg.open("cells", "");
    svg.fine(0.0, 0.0, trace::FINE, "");
    svg.open(&look(series), "");
    svg.path("M4 24h112", "line");
    for _ in 0..3 {
        svg.close();
    }
    svg.finish()
}

/// The sample of a series that stands in a legend: a piece of its line and its marker.
pub fn sample(series: usize) -> String {
    let mut svg = Svg::new(30.0, 12.0, "");
    svg.open(&look(series), "");
    svg.line(1.0, 6.0, 29.0, 6.0, "line");
    svg.marker(series, 15.0, 6.0, 4.0);
    svg.close();
    svg.finish()
}
