//! Many values as small colored tiles in rows, without figures: every link of a network at a glance.
//! What colors mean is said once for several such charts ([`steps`]).

use super::data::{self, Data};
use super::heat::Colors;
use super::scale::{Axis, Scale};
use super::svg::{Svg, short};

/// One value, or the largest of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spot {
    /// What it is of, for its data: `port 3`.
    pub name: String,
    /// The value.
    pub value: f64,
}

/// Tiles of one kind beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// What they are: `to hosts`.
    pub label: String,
    /// The tiles of each row of the block; rows may be of different lengths.
    pub rows: Vec<Vec<Spot>>,
}

/// Rows of the same kinds of tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The names of the rows from top to bottom.
    pub rows: Vec<String>,
    /// More about each row, for a pointer resting on it.
    pub tooltips: Vec<String>,
    /// The kinds from left to right.
    pub bands: Vec<Band>,
}

/// The chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mosaic {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The heading above it; may be empty.
    pub heading: String,
    /// What a row is, for its data: `switch`.
    pub row: String,
    /// The blocks from top to bottom.
    pub blocks: Vec<Block>,
    /// From values to colors; it has limits.
    pub scale: Axis,
}

/// Between bands, and between blocks.
const GAP: f64 = 8.0;
/// What the labels of the bands take above the tiles.
const LABELS: f64 = 17.0;
/// The largest side of a tile.
const MOST: f64 = 14.0;
/// How high all rows together are about, if they are many.
const HEIGHT: f64 = 432.0;
/// Rows are labeled at least this far apart.
const APART: f64 = 11.0;
/// More letters of a row's name are cut off.
const LETTERS: usize = 14;

/// A letter of small text takes so many pixels.
fn small(text: &str) -> f64 {
    text.chars().count().min(LETTERS) as f64 * 5.6
}

impl Band {
    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// How wide it is with tiles of this width; its label needs room too.
    fn width(&self, tile: f64) -> f64 {
        (self.columns() as f64 * tile).max(small(&self.label) + 2.0)
    }
}

impl Block {
    fn width(&self, tile: f64) -> f64 {
        let gaps = self.bands.len().saturating_sub(1) as f64 * GAP;
        self.bands.iter().map(|band| band.width(tile)).sum::<f64>() + gaps
    }
}

impl Mosaic {
    /// How many tiles stand beside each other in the widest block.
    pub fn columns(&self) -> usize {
        let of = |block: &Block| block.bands.iter().map(Band::columns).sum();
        self.blocks.iter().map(of).max().unwrap_or(0)
    }

    /// Its values.
    pub fn data(&self) -> Data {
        let value = data::name(&self.scale, "value");
        let mut data = Data::new(&[&self.row, "direction", "port"], vec![value]);
        for block in &self.blocks {
            for (at, row) in block.rows.iter().enumerate() {
                for band in &block.bands {
                    for spot in band.rows.get(at).into_iter().flatten() {
                        data.push(&[row, &band.label, &spot.name], &[Some(spot.value)]);
                    }
                }
            }
        }
        data
    }

    /// Draws it this wide.
    pub fn svg(&self, width: f64) -> String {
        let names = || self.blocks.iter().flat_map(|block| &block.rows);
        let left = libm::ceil(names().map(|name| small(name)).fold(0.0, f64::max)) + 6.0;
        let fits = |tile: f64| self.blocks.iter().all(|block| left + block.width(tile) <= width);
        // Whole halves of a pixel; below one there is nothing to see.
        let halves = (2..=2 * MOST as usize).rev().map(|half| half as f64 / 2.0);
        let tile = halves.into_iter().find(|tile| fits(*tile)).unwrap_or(1.0);
        let rows = names().count().max(1) as f64;
        let row = libm::floor(HEIGHT / rows).clamp(4.0, MOST);
        let top = if self.heading.is_empty() { 0.0 } else { 24.0 };
        let blocks = self.blocks.len() as f64;
        let height = top + blocks * (LABELS + GAP) - GAP + rows * row + 4.0;
        let scale = self.scale.scale(std::iter::empty(), 0.0, 1.0, 4);

        let mut svg = Svg::new(width, height, &self.title);
        if !self.heading.is_empty() {
            svg.text(0.0, 14.0, "start", "heading", &self.heading);
        }
        let mut y = top;
        for block in &self.blocks {
            let mut x = left;
            for band in &block.bands {
                svg.text(x, y + 11.0, "start", "tick small", &band.label);
                x += band.width(tile) + GAP;
            }
            y += LABELS;
            let mut labeled = f64::NEG_INFINITY;
            for (at, name) in block.rows.iter().enumerate() {
                if y - labeled >= APART {
                    let name: String = name.chars().take(LETTERS).collect();
                    svg.text(left - 5.0, y + row / 2.0 + 3.5, "end", "side small", &name);
                    labeled = y;
                }
                let tooltip = block.tooltips.get(at).map_or("", String::as_str);
                svg.stroked("mosaic", row - gap(row), tooltip);
                let mut x = left;
                for band in &block.bands {
                    if let Some(spots) = band.rows.get(at) {
                        tiles(&mut svg, spots, (x, y + (row - gap(row)) / 2.0), tile, &scale);
                    }
                    x += band.width(tile) + GAP;
                }
                svg.close();
                y += row;
            }
            y += GAP;
        }
        svg.finish()
    }
}

/// A row of tiles from a place on: strokes as wide as tiles are high, a path for each color. Large
/// tiles stand a pixel apart.
fn tiles(svg: &mut Svg, spots: &[Spot], (x, y): (f64, f64), width: f64, scale: &Scale) {
    let gap = gap(width);
    let step = |spot: &Spot| Colors::Sequential.step(scale, spot.value);
    for class in 0..Colors::Sequential.steps() {
        let mut data = String::new();
        let mut at = 0;
        for run in spots.chunk_by(|a, b| gap == 0.0 && step(a) == step(b)) {
            if step(&run[0]) == class {
                let (from, wide) = (x + at as f64 * width, run.len() as f64 * width - gap);
                let [from, wide, y] = [from, wide, y].map(short);
                data += &format!("M{from} {y}h{wide}");
            }
            at += run.len();
        }
        if !data.is_empty() {
            svg.path(&data, &Colors::Sequential.class(class).0);
        }
    }
}

/// What lies between tiles of this size.
fn gap(side: f64) -> f64 {
    if side >= 6.0 { 1.0 } else { 0.0 }
}

/// What the colors of charts with this scale are, which has limits: a bar with the ends of its
/// steps.
pub fn steps(axis: &Axis) -> String {
    let steps = Colors::Sequential.steps();
    let (step, edge) = (30.0, 20.0);
    let scale = axis.scale(std::iter::empty(), edge, edge + steps as f64 * step, 5);
    let mut svg = Svg::new(steps as f64 * step + 2.0 * edge, 30.0, "");
    for at in 0..steps {
        let (x, more) = (edge + at as f64 * step, if at + 1 < steps { 0.5 } else { 0.0 });
        svg.rect(x, 2.0, step + more, 10.0, &Colors::Sequential.class(at).0);
    }
    for tick in &scale.ticks {
        let x = scale.at(*tick);
        svg.line(x, 12.0, x, 15.0, "zero");
        svg.text(x, 27.0, "middle", "tick", &axis.show(*tick));
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(values: &[f64]) -> Vec<Spot> {
        let spot = |(at, value): (usize, &f64)| Spot { name: at.to_string(), value: *value };
        values.iter().enumerate().map(spot).collect()
    }

    fn mosaic() -> Mosaic {
        let band = |label: &str, rows: Vec<Vec<Spot>>| Band { label: label.to_string(), rows };
        Mosaic {
            title: "Links".to_string(),
            row: "switch".to_string(),
            blocks: vec![Block {
                rows: vec!["leaf 0".to_string(), "leaf 1".to_string()],
                tooltips: vec!["the first".to_string(), "the second".to_string()],
                bands: vec![
                    band("to hosts", vec![spots(&[0.0, 0.2, 1.0]), spots(&[0.6])]),
                    band("up", vec![spots(&[0.5]), Vec::new()]),
                ],
            }],
            scale: Axis::linear("busy", "share").within(0.0, 0.8),
            ..Mosaic::default()
        }
    }

    #[test]
    fn tiles_stand_where_arithmetic_puts_them() {
        let svg = mosaic().svg(400.0);
        // Names of six small letters: 33.6, that is 34, and 6. Tiles of 14 a pixel apart, and above
        // them 17 for the labels. `to hosts` needs 46.8 pixels, three tiles 42; then 8 between.
        // A tenth for each step: 0.2 is the third, 0.6 the seventh, what is beyond the last.
        // Strokes lie in the middle of a tile: 6.5 below its upper edge.
        for tile in [
            "<path class=\"q0\" d=\"M40 23.5h13\"/>",
            "<path class=\"q2\" d=\"M54 23.5h13\"/>",
            "<path class=\"q7\" d=\"M68 23.5h13\"/>",
            "<path class=\"q5\" d=\"M94.8 23.5h13\"/>",
            "<path class=\"q6\" d=\"M40 37.5h13\"/>",
            "<g class=\"mosaic\" stroke-width=\"13\"><title>the second</title>",
        ] {
            assert!(svg.contains(tile), "{tile} in {svg}");
        }
        assert_eq!(svg.matches("<path").count(), 5, "where there is no link there is no tile");
    }

    #[test]
    fn many_rows_are_low_and_not_all_of_them_are_labeled() {
        let rows = 72;
        let block = Block {
            rows: (0..rows).map(|row| format!("leaf {row}")).collect(),
            tooltips: Vec::new(),
            bands: vec![Band {
                label: "to hosts".to_string(),
                rows: vec![spots(&[0.3; 60]); rows],
            }],
        };
        let svg = Mosaic { blocks: vec![block], ..mosaic() }.svg(244.0);
        // 432 / 72 = 6 high; of every second row 12 apart the label has room. From 46 on, 60 tiles
        // have 198 pixels: 3 each, and equal ones are one segment. Its middle is 2.5 below 17 + 6.
        assert_eq!(svg.matches("class=\"side small\"").count(), 36);
        assert!(svg.contains("d=\"M46 25.5h180\""), "{svg}");
    }

    #[test]
    fn its_data_has_a_row_for_each_tile() {
        let csv = mosaic().data().csv();
        assert_eq!(
            csv,
            "switch,direction,port,busy [share]\n\
             leaf 0,to hosts,0,0\nleaf 0,to hosts,1,0.2\nleaf 0,to hosts,2,1\nleaf 0,up,0,0.5\n\
             leaf 1,to hosts,0,0.6\n"
        );
    }
}
