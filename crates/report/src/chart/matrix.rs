//! What charts of rows and columns of cells have in common: their headings, and where cells stand.

use super::letters;
use super::svg::Svg;

/// Cells in rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// What the columns differ in: `Cubic flows`; may be empty.
    pub across: String,
    /// The headings of the columns from left to right.
    pub columns: Vec<String>,
    /// What the rows differ in; may be empty.
    pub down: String,
    /// The headings of the rows from top to bottom.
    pub rows: Vec<String>,
}

/// Where the cells of a matrix stand, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// The left edge of the first column.
    pub left: f64,
    /// The upper edge of the first row.
    pub top: f64,
    /// How wide a cell is.
    pub width: f64,
    /// How high a cell is.
    pub height: f64,
    /// From a cell to the next.
    pub gap: f64,
}

/// The least width of a cell; a chart with more columns becomes wider than was asked for.
const LEAST: f64 = 26.0;
/// From one line of a heading to the next.
const LINE: f64 = 13.0;

impl Matrix {
    /// What the rows and the columns are, in that order, for the names of data.
    pub(super) fn names(&self) -> [&str; 2] {
        let down = if self.down.is_empty() { "row" } else { &self.down };
        [down, if self.across.is_empty() { "column" } else { &self.across }]
    }

    /// The layout in a chart of this width, with whole numbers, of cells whose height is that of
    /// their width.
    pub(super) fn layout(&self, width: f64, gap: f64, height: impl Fn(f64) -> f64) -> Layout {
        let widest = self.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        let title = if self.down.is_empty() { 0.0 } else { 20.0 };
        let left = title + widest as f64 * 7.0 + 10.0;
        let columns = self.columns.len().max(1) as f64;
        let cell = libm::floor((width - left + gap) / columns - gap).max(LEAST);
        let lines = self.columns.iter().map(|label| wrapped(label, cell + gap).len()).max();
        let more = lines.unwrap_or(1).saturating_sub(1) as f64 * LINE;
        let top = more + if self.across.is_empty() { 22.0 } else { 40.0 };
        Layout { left: libm::ceil(left), top, width: cell, height: libm::round(height(cell)), gap }
    }

    /// Draws the headings.
    pub(super) fn head(&self, svg: &mut Svg, at: &Layout) {
        // Above the first column, which a narrow screen shows first.
        svg.text(at.left, 13.0, "start", "axis", &self.across);
        for (column, label) in self.columns.iter().enumerate() {
            let x = at.x(column) + at.width / 2.0;
            for (above, line) in wrapped(label, at.width + at.gap).iter().rev().enumerate() {
                svg.text(x, at.top - 7.0 - above as f64 * LINE, "middle", "side", line);
            }
        }
        svg.open("upright", "");
        svg.text(-(at.top + self.bottom(at)) / 2.0, 11.0, "middle", "axis", &self.down);
        svg.close();
        for (row, label) in self.rows.iter().enumerate() {
            let y = at.y(row) + at.height / 2.0 + 4.0;
            svg.text(at.left - 8.0, y, "end", "side", label);
        }
    }

    /// The right edge of the last column.
    pub(super) fn right(&self, at: &Layout) -> f64 {
        at.x(self.columns.len().max(1) - 1) + at.width
    }

    /// The lower edge of the last row.
    pub(super) fn bottom(&self, at: &Layout) -> f64 {
        at.y(self.rows.len().max(1) - 1) + at.height
    }

    /// What it is in words, with the text of every cell that has one, for those who cannot see it.
    pub(super) fn describe<'a>(&self, text: impl Fn(usize, usize) -> Option<&'a str>) -> String {
        let mut words = format!(
            "{} rows, {}: {}. {} columns, {}: {}.",
            self.rows.len(),
            self.down,
            self.rows.join(", "),
            self.columns.len(),
            self.across,
            self.columns.join(", ")
        );
        for (row, label) in self.rows.iter().enumerate() {
            let texts = (0..self.columns.len()).map(|column| text(row, column).unwrap_or("none"));
            let texts: Vec<&str> = texts.collect();
            if texts.iter().any(|text| *text != "none") {
                words += &format!(" Row {label}: {}.", texts.join(", "));
            }
        }
        words
    }
}

/// The lines of a heading that would reach over its neighbors if it stood in one.
fn wrapped(label: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in label.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if letters(line) + letters(" ") + letters(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Layout {
    /// The left edge of a column.
    pub fn x(&self, column: usize) -> f64 {
        self.left + column as f64 * (self.width + self.gap)
    }

    /// The upper edge of a row.
    pub fn y(&self, row: usize) -> f64 {
        self.top + row as f64 * (self.height + self.gap)
    }
}
