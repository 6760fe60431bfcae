//! How high the rows of a fabric lie, in pixels, the same for the picture and for the script.

use crate::recording::Fabric;

/// The height of the longest bar of a queue.
pub const BAR: f64 = 26.0;
/// The height of a switch, and of a bundle of hosts; a single host is a dot.
const SWITCH: f64 = 20.0;
const BUNDLE: f64 = 16.0;
const HOST: f64 = 4.0;
/// Between hosts and the row above them, between other rows, and the same where links are many.
const ABOVE_HOSTS: f64 = 66.0;
const BETWEEN: f64 = 150.0;
const BETWEEN_MANY: f64 = 230.0;
/// From so many directions of links on.
pub const MANY: usize = 1_000;
/// Above the first row, and where links there lead from switch to switch.
const ABOVE: f64 = 6.0;
const ABOVE_ARCS: f64 = 78.0;

/// The upper edge and the height of every row, the lowest first, and of all.
pub struct Stage {
    pub rows: Vec<(f64, f64)>,
    pub height: f64,
}

impl Stage {
    pub fn of(fabric: &Fabric) -> Self {
        let rows = fabric.rows.len();
        let hosts = |row: usize| {
            let mut here = fabric.nodes.iter().filter(|node| node.row == row);
            here.all(|node| node.hosts > 0)
        };
        let arcs = fabric.ends.iter().any(|end| {
            let row = fabric.nodes[end.node].row;
            row + 1 == rows && row == fabric.nodes[end.peer].row
        });
        let between = if fabric.ends.len() > MANY { BETWEEN_MANY } else { BETWEEN };
        let mut y = if arcs { ABOVE_ARCS } else { ABOVE };
        let mut places = vec![(0.0, 0.0); rows];
        for row in (0..rows).rev() {
            let height = match hosts(row) {
                false => SWITCH,
                true if fabric.bundles() => BUNDLE,
                true => HOST,
            };
            places[row] = (y, height);
            y += height + if row == 1 && hosts(0) { ABOVE_HOSTS } else { between };
        }
        let last = places.first().map_or(0.0, |(y, height)| y + height);
        // Below switches without hosts their queues need room.
        let below = if rows > 0 && hosts(0) { ABOVE } else { BAR + ABOVE };
        Self { rows: places, height: last + below }
    }
}

/// How high the middle of an arc lies above its ends, which are so far from each other.
pub fn arc(apart: f64) -> f64 {
    (14.0 + 0.1 * apart).min(66.0)
}
