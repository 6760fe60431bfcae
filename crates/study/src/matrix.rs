//! Exhibits of rows and columns: an experiment for each number of the one and the other.

use std::fmt::Display;

use floodway_report::chart::{Axis, Cell, Colors, Grid, HeatMap, Matrix, Tile};
use floodway_report::study::Exhibit;

use crate::exhibit::number;
use crate::measure::Measured;

/// The headings: what columns differ in and their values, and the same of the rows.
pub fn sides<A: Display, B: Display>(
    (across, columns): (&str, impl IntoIterator<Item = A>),
    (down, rows): (&str, impl IntoIterator<Item = B>),
) -> Matrix {
    Matrix {
        across: across.to_owned(),
        columns: columns.into_iter().map(|value| value.to_string()).collect(),
        down: down.to_owned(),
        rows: rows.into_iter().map(|value| value.to_string()).collect(),
    }
}

/// Every row's cells from left to right, by the numbers of row and column.
fn cells<T>(sides: &Matrix, cell: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    let (rows, columns) = (sides.rows.len(), sides.columns.len());
    (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

/// A grid of small charts with these axes; what is dotted in them, if anything; what each look is;
/// and the cells by the numbers of row and column. A default cell is left out.
pub fn grid(
    (name, caption, note): (&str, &str, &str),
    (x, y, level): (Axis, Axis, &str),
    sides: Matrix,
    legend: &[(usize, &str)],
    cell: impl Fn(usize, usize) -> Cell,
) -> Exhibit {
    Exhibit::Grid {
        name: name.to_owned(),
        caption: caption.to_owned(),
        legend: legend.iter().map(|(series, label)| (*series, (*label).to_owned())).collect(),
        chart: Grid {
            title: caption.to_owned(),
            cells: cells(&sides, cell),
            sides,
            x,
            y,
            level: level.to_owned(),
        },
        note: note.to_owned(),
    }
}

/// A heat map of numbers by the numbers of row and column. Those that were not measured stand as a
/// dash. The scale is in their unit, which the cells leave out; so that they stay short, they have
/// two digits, and `shown` is how many of it are one in the cells: 1e6 for milliseconds of
/// nanoseconds.
pub fn heat_map(
    (name, caption, note): (&str, &str, &str),
    (scale, colors, shown): (Axis, Colors, f64),
    sides: Matrix,
    measure: impl Fn(usize, usize) -> Measured,
) -> Exhibit {
    let tile = |row: usize, column: usize| {
        let measured = measure(row, column);
        let Some(value) = measured.value else {
            return Tile { text: "–".to_owned(), ..Tile::default() };
        };
        let place = [(&sides.across, &sides.columns[column]), (&sides.down, &sides.rows[row])];
        let [across, down] = place.map(|(of, value)| format!("{of} {value}"));
        Tile {
            value: Some(value),
            text: tight(value / shown),
            tooltip: format!("{across}, {down}: {}", number(&measured)),
        }
    };
    let cells = cells(&sides, tile);
    Exhibit::HeatMap {
        name: name.to_owned(),
        caption: caption.to_owned(),
        chart: HeatMap { title: caption.to_owned(), cells, sides, scale, colors },
        note: note.to_owned(),
    }
}

/// A number with two digits, or all of those before the point: `0.051`, `1.2`, `144`.
pub fn tight(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0" } else { "–" }.to_owned();
    }
    // 0.996 has one digit before the point when it is rounded.
    let magnitude = libm::floor(libm::log10(value.abs() * (1.0 + 0.005)) + 1e-12) as i32;
    let decimals = (1 - magnitude).clamp(0, 4) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_enough_in_a_cell() {
        let cases = [
            (0.0, "0"),
            (0.0512, "0.051"),
            (0.0004, "0.0004"),
            (0.82, "0.82"),
            (0.996, "1.0"),
            (1.24, "1.2"),
            (9.97, "10"),
            (14.4, "14"),
            (143.6, "144"),
            (-0.35, "-0.35"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(tight(value), text, "{value}");
        }
    }

    #[test]
    fn cells_are_by_row_and_column() {
        let sides = sides(("Cubic flows", 0..3), ("DCTCP flows", 1..3));
        assert_eq!(sides.columns, ["0", "1", "2"]);
        let measure = |row: usize, column: usize| match column {
            0 => Measured::default(),
            _ => Measured::exactly((10 * row + column) as f64 * 1e6, "ns"),
        };
        let axes = (Axis::linear("delay", "ns"), Colors::Sequential, 1e6);
        let exhibit = heat_map(("delay", "How long?", ""), axes, sides, measure);
        let Exhibit::HeatMap { chart, .. } = exhibit else { panic!("it is a heat map") };
        let texts: Vec<Vec<&str>> = chart
            .cells
            .iter()
            .map(|row| row.iter().map(|tile| tile.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [["–", "1.0", "2.0"], ["–", "11", "12"]]);
        assert_eq!(chart.cells[1][2].tooltip, "Cubic flows 2, DCTCP flows 2: 12.0 ms");
    }
}
