//! Rows and columns of very small charts with the same axes, for a reader to compare at a glance
//! (small multiples, E. Tufte). Cells have no ticks of their own; what their axes are stands once
//! below all of them.

use super::data::{self, Data};
use super::lines::called;
use super::matrix::{Layout, Matrix};
use super::scale::{Axis, Scale};
use super::svg::{Svg, short};
use super::trace::{FINE, Trace, extremes};
use super::{Line, Names, letters, look};

/// One small chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The lines from back to front. Of a line its points, its look, and whether it is of steps or
    /// an area are drawn; markers and intervals have no room.
    pub lines: Vec<Line>,
    /// The least and the greatest value of its vertical axis; none: as the whole chart has it, or
    /// else as its own data has it.
    pub y: Option<(f64, f64)>,
    /// A value that a dotted line across marks.
    pub level: Option<f64>,
    /// A number or a word in its upper right corner; may be empty.
    pub text: String,
    /// What it says, for a pointer resting on it.
    pub tooltip: String,
}

impl Cell {
    /// Whether there is nothing in it, as where a combination does not exist. It has no frame.
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.text.is_empty()
    }
}

/// The chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The headings.
    pub sides: Matrix,
    /// The cells, row by row; what is missing is empty.
    pub cells: Vec<Vec<Cell>>,
    /// The horizontal axis of every cell.
    pub x: Axis,
    /// The vertical axis; limits are for cells without their own.
    pub y: Axis,
    /// What the dotted lines are: `fair share`; may be empty.
    pub level: String,
}

/// Between cells.
const GAP: f64 = 4.0;
/// What a line of words below the cells takes.
const LINE: f64 = 18.0;

impl Grid {
    /// The points of the lines of every cell; `legend` is what their series are called.
    pub fn data(&self, legend: &Names) -> Data {
        let [down, across] = self.sides.names();
        let mut data = Data::new(&[down, across, "series"], data::names(&self.x, &self.y));
        for (row, column, cell) in self.filled() {
            let (row, column) = (&self.sides.rows[row], &self.sides.columns[column]);
            for (line, name) in cell.lines.iter().zip(called(&cell.lines, legend)) {
                for (x, y) in &line.points {
                    data.push(&[row, column, &name], &[Some(*x), Some(*y)]);
                }
            }
        }
        data
    }

    /// Draws it this wide, or wider if its cells would become too small.
    pub fn svg(&self, width: f64) -> String {
        let at = self.sides.layout(width, GAP, |width| (width * 0.72).clamp(30.0, 150.0));
        let (right, bottom) = (self.sides.right(&at), self.sides.bottom(&at));
        let width = width.max(right);
        let points = || self.filled().flat_map(|(.., cell)| &cell.lines).flat_map(|of| &of.points);
        let x = self.x.scale(points().map(|point| point.0), 0.0, at.width, 2);

        let keys = self.keys(&x, width - at.left);
        let mut svg = Svg::new(width, bottom + 8.0 + keys.len() as f64 * LINE, &self.title);
        let text = |row: usize, column: usize| {
            let text = &self.cells.get(row)?.get(column)?.text;
            Some(text.as_str()).filter(|text| !text.is_empty())
        };
        svg.describe(&self.sides.describe(text));
        self.sides.head(&mut svg, &at);
        let cell = format!("h{0}v{1}h-{0}z", short(at.width), short(at.height));
        let frames = self
            .filled()
            .map(|(row, column, _)| format!("M{} {}{cell}", short(at.x(column)), short(at.y(row))));
        svg.path(&frames.collect::<String>(), "frame");
        svg.open("cells", "");
        for (row, column, cell) in self.filled() {
            self.cell(&mut svg, cell, (at.x(column), at.y(row)), &at, &x);
        }
        svg.close();
        for (row, column, cell) in self.filled().filter(|(.., cell)| !cell.text.is_empty()) {
            let (x, y) = (at.x(column) + at.width - 3.0, at.y(row) + 11.0);
            svg.text(x, y, "end", "corner", &cell.text);
        }
        for (line, key) in keys.iter().enumerate() {
            svg.text(at.left, bottom + 22.0 + line as f64 * LINE, "start", "tick", key);
        }
        svg.finish()
    }

    /// The cells that have something in them, with their rows and columns.
    fn filled(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        let rows = self.cells.iter().take(self.sides.rows.len()).enumerate();
        let all = rows.flat_map(|(row, cells)| {
            let cells = cells.iter().take(self.sides.columns.len()).enumerate();
            cells.map(move |(column, cell)| (row, column, cell))
        });
        all.filter(|(.., cell)| !cell.is_empty())
    }

    /// What the axes of the cells are, in lines of this width.
    fn keys(&self, x: &Scale, width: f64) -> Vec<String> {
        let range = |axis: &Axis, (low, high)| {
            format!("{}, {} to {}", axis.label, axis.show(low), axis.show(high))
        };
        let mut keys = vec![format!("→ {}", range(&self.x, (x.low(), x.high())))];
        keys.push(match self.y.limits {
            Some(limits) => format!("↑ {}", range(&self.y, limits)),
            None => format!("↑ {}", self.y.label),
        });
        if !self.level.is_empty() {
            keys.push(format!("dotted: {}", self.level));
        }
        let mut lines: Vec<String> = Vec::new();
        for key in keys {
            match lines.last_mut() {
                Some(line) if letters(line) + letters(&key) + 24.0 <= width => {
                    line.push('\u{2003}');
                    line.push_str(&key);
                }
                _ => lines.push(key),
            }
        }
        lines
    }

    fn cell(&self, svg: &mut Svg, cell: &Cell, place: (f64, f64), at: &Layout, x: &Scale) {
        let axis = match cell.y {
            Some((low, high)) => self.y.clone().within(low, high),
            None => self.y.clone(),
        };
        let values = cell.lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        // Ticks decide how far an axis without limits reaches: fine ones, so that it ends soon.
        let y = axis.scale(values, at.height, 0.0, 10);
        svg.fine(place.0, place.1, FINE, &cell.tooltip);
        let alike = |a: &Line, b: &Line| look(a.series) == look(b.series) && a.area == b.area;
        for lines in cell.lines.chunk_by(alike) {
            let mut trace = Trace::default();
            for line in lines {
                draw(&mut trace, line, x, &y, at.height);
            }
            svg.open(&look(lines[0].series), "");
            svg.path(&trace.finish(), if lines[0].area { "area" } else { "line" });
            svg.close();
        }
        if let Some(level) = cell.level.filter(|level| y.holds(*level)) {
            let mut trace = Trace::default();
            trace.begin(0.0, y.at(level));
            trace.line(at.width, y.at(level));
            svg.path(&trace.finish(), "level");
        }
        svg.close();
    }
}

fn draw(trace: &mut Trace, line: &Line, x: &Scale, y: &Scale, floor: f64) {
    let inside = line.points.iter().filter(|point| x.holds(point.0) && point.1.is_finite());
    let places: Vec<(f64, f64)> = inside.map(|point| (x.at(point.0), y.at(point.1))).collect();
    let places = extremes(&places);
    let Some((first, rest)) = places.split_first() else { return };
    trace.begin(first.0, first.1);
    for (x, y) in rest {
        if line.steps {
            trace.stair(*x, *y);
        } else {
            trace.line(*x, *y);
        }
    }
    if line.area {
        trace.close(floor, first.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(rows: usize, columns: usize) -> Matrix {
        let numbers = |many: usize| (0..many).map(|at| at.to_string()).collect();
        Matrix {
            across: "Cubic flows".to_string(),
            columns: numbers(columns),
            down: "DCTCP flows".to_string(),
            rows: numbers(rows),
        }
    }

    fn grid(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> Cell) -> Grid {
        let row = |row: usize| (0..columns).map(|column| cell(row, column)).collect();
        Grid {
            title: "Throughput".to_string(),
            sides: sides(rows, columns),
            cells: (0..rows).map(row).collect(),
            x: Axis::linear("time", "ns").within(0.0, 250e9),
            y: Axis::linear("throughput, 0 to twice the fair share", ""),
            level: "fair share".to_string(),
        }
    }

    #[test]
    fn points_stand_where_arithmetic_puts_them() {
        let cell = |row, column| Cell {
            lines: vec![
                Line {
                    series: 1,
                    points: vec![(0.0, 0.0), (125e9, 40.0), (250e9, 20.0)],
                    ..Line::default()
                },
                Line {
                    series: 2,
                    points: vec![(0.0, 10.0), (125e9, 90.0), (300e9, 0.0)],
                    steps: true,
                    ..Line::default()
                },
            ],
            y: Some((0.0, 80.0)),
            level: Some(40.0),
            text: if (row, column) == (0, 1) { "1.2" } else { "" }.to_string(),
            tooltip: "both".to_string(),
        };
        // Left: 20 for the title, 7 for a digit, 10 between: 37. Two columns and 4 between them in
        // 204: 100 each, 72 high. A unit of a path is a quarter of a pixel.
        let svg = grid(2, 2, cell).svg(37.0 + 204.0);
        for (x, y) in [(37, 40), (141, 40), (37, 116), (141, 116)] {
            assert!(svg.contains(&format!("translate({x} {y})scale(0.25)")), "{x} {y} in {svg}");
            assert!(svg.contains(&format!("M{x} {y}h100v72h-100z")));
        }
        // From the lower left corner up to the middle, then down to a quarter of the height.
        assert!(svg.contains("<path class=\"line\" d=\"M0 288l200-144 200 72\"/>"), "{svg}");
        // 10 of 80 is 36 from the floor; 90 lies at the upper edge; what is later is not drawn.
        assert!(svg.contains("<path class=\"line\" d=\"M0 252h200v-252\"/>"), "{svg}");
        assert!(svg.contains("<path class=\"level\" d=\"M0 144h400\"/>"));
        assert!(svg.contains("<text class=\"corner\" x=\"238\" y=\"51\" text-anchor=\"end\">1.2<"));
        assert!(svg.contains("Row 0: none, 1.2.</desc>"), "{svg}");
        assert!(svg.contains("→ time, 0 to 250 s"));
    }

    #[test]
    fn its_data_has_a_row_for_each_point_of_each_cell() {
        let cell = |row, column| match (row, column) {
            (0, 1) => Cell::default(),
            _ => Cell {
                lines: vec![Line { series: 1, points: vec![(0.0, 0.5)], ..Line::default() }],
                ..Cell::default()
            },
        };
        assert_eq!(
            grid(2, 2, cell).data(&[(1, "Cubic".to_string())]).csv(),
            "DCTCP flows,Cubic flows,series,time [ns],throughput\n\
             0,0,Cubic,0,0.5\n1,0,Cubic,0,0.5\n1,1,Cubic,0,0.5\n"
        );
    }

    #[test]
    fn empty_cells_have_no_frame_and_ragged_rows_no_effect() {
        let some = Cell { lines: vec![Line::default()], ..Cell::default() };
        let mut grid = grid(
            2,
            2,
            |row, column| if row + column == 0 { Cell::default() } else { some.clone() },
        );
        grid.cells[1].truncate(1);
        grid.cells[0].extend([some.clone(), some]);
        assert_eq!(grid.svg(241.0).matches("h100v72").count(), 2);
    }

    #[test]
    fn a_hundred_and_twenty_cells_of_twenty_lines_stay_small() {
        // Noise that no two lines share, on all of the height: the worst that a path can meet.
        let line = |seed: usize| {
            let mut state = seed as u64 + 1;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f64 / (1 << 24) as f64
            };
            let point = |at: u32| (f64::from(at) * 250e9 / 59.0, noise() * 80.0);
            Line { series: 1, points: (0..60).map(point).collect(), ..Line::default() }
        };
        let cell = |row: usize, column: usize| Cell {
            lines: (0..20).map(|at| line((row * 11 + column) * 20 + at)).collect(),
            y: Some((0.0, 80.0)),
            ..Cell::default()
        };
        let size = grid(11, 11, cell).svg(760.0).len();
        assert!(size < 760_000, "{size} bytes");
        // As many lines as there are flows, which vary by a fifth about their share.
        let calm = |row: usize, column: usize| {
            let mut cell = cell(row, column);
            cell.lines.truncate(row + column);
            for point in cell.lines.iter_mut().flat_map(|line| &mut line.points) {
                point.1 = 32.0 + point.1 * 0.2;
            }
            cell
        };
        let size = grid(11, 11, calm).svg(760.0).len();
        assert!(size < 400_000, "{size} bytes");
    }
}
