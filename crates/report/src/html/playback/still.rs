//! One sample of a record as a picture, for paper and for those who run no scripts: the script draws
//! the same.

use std::fmt::Write;

use super::stage::{BAR, MANY, Stage, arc};
use crate::chart::escape;
use crate::recording::{Cell, End, Recording};

/// Steps in which the color of a link shows how busy it is; 0 is idle.
pub const STEPS: usize = 7;
/// Steps in which a pause shows how long it was.
pub const PAUSES: usize = 3;
/// A queue's bar stands so far beside its port, whose link is to be seen.
const BESIDE: f64 = 2.4;

/// The depth from which on the bars of queues grow: 1 KB.
pub const FLOOR: u8 = 33;
/// What stands beside the fabric: the names of rows.
const MARGIN: f64 = 86.0;

/// The step of a share of 200 among so many; 0 of none.
fn step(share: u8, steps: usize) -> usize {
    (usize::from(share) * steps).div_ceil(200).min(steps)
}

/// The height of a queue's bar, where the deepest of all queues is so deep.
fn bar(depth: u8, deepest: u8) -> f64 {
    if depth == 0 {
        return 0.0;
    }
    let over = f64::from(depth.saturating_sub(FLOOR));
    (BAR * over / f64::from(deepest.saturating_sub(FLOOR).max(1))).max(1.5)
}

/// The picture of a sample, so wide.
pub fn svg(recording: &Recording, sample: usize, deepest: u8, width: f64, title: &str) -> String {
    let still = Still { recording, sample, stage: Stage::of(&recording.fabric), width };
    let title = escape(title);
    let class = if recording.fabric.ends.len() > MANY { "many" } else { "few" };
    let mut text = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {0}\" width=\"{width}\" height=\"{0}\" role=\"img\" \
         aria-label=\"{title}\"><title>{title}</title>",
        short(still.stage.height)
    );
    still.links(&mut text);
    still.nodes(&mut text);
    still.queues(&mut text, deepest);
    text + "</svg>"
}

struct Still<'a> {
    recording: &'a Recording,
    sample: usize,
    stage: Stage,
    width: f64,
}

impl Still<'_> {
    fn x(&self, share: f64) -> f64 {
        MARGIN + share * (self.width - MARGIN)
    }

    /// Where a port lies.
    fn port(&self, end: &End) -> (f64, f64) {
        let (y, height) = self.stage.rows[self.recording.fabric.nodes[end.node].row];
        (self.x(end.x), if end.top { y } else { y + height })
    }

    /// The half of a link that is next to its sending end.
    fn half(&self, end: &End) -> String {
        let fabric = &self.recording.fabric;
        let ((x, y), (to_x, to_y)) = (self.port(end), self.port(&fabric.ends[end.back]));
        let (mid_x, mid_y) = ((x + to_x) / 2.0, (y + to_y) / 2.0);
        if fabric.nodes[end.node].row != fabric.nodes[end.peer].row {
            return format!("M{} {}L{} {}", short(x), short(y), short(mid_x), short(mid_y));
        }
        // Half of a curve whose control point is twice as high as its middle.
        let high = arc((to_x - x).abs());
        let control = ((x + mid_x) / 2.0, y - high);
        let [cx, cy, mx, my] = [control.0, control.1, mid_x, mid_y - high].map(short);
        format!("M{} {}Q{cx} {cy} {mx} {my}", short(x), short(y))
    }

    fn cells(&self) -> impl Iterator<Item = (&End, Cell)> {
        let ends = self.recording.fabric.ends.iter().enumerate();
        ends.map(|(number, end)| (end, self.recording.cell(self.sample, number)))
    }

    /// All halves of links, one path for each color.
    fn links(&self, text: &mut String) {
        let mut busy = vec![String::new(); STEPS + 1];
        let mut paused = vec![String::new(); PAUSES + 1];
        for (end, cell) in self.cells() {
            let half = self.half(end);
            if !cell.is_root() {
                paused[step(cell.paused, PAUSES)] += &half;
            }
            busy[step(cell.busy, STEPS)] += &half;
        }
        for (step, data) in busy.iter().enumerate().filter(|(_, data)| !data.is_empty()) {
            let _ = write!(text, "<path class=\"busy b{step}\" d=\"{data}\"/>");
        }
        for (step, data) in paused.iter().enumerate().skip(1).filter(|(_, data)| !data.is_empty()) {
            let _ = write!(text, "<path class=\"paused p{step}\" d=\"{data}\"/>");
        }
    }

    /// Switches, hosts and the names of rows.
    fn nodes(&self, text: &mut String) {
        let fabric = &self.recording.fabric;
        let mut pauses = vec![false; fabric.nodes.len()];
        for (end, cell) in self.cells() {
            pauses[end.peer] |= cell.paused > 0 && !cell.is_root();
        }
        for (node, pauses) in fabric.nodes.iter().zip(pauses) {
            let (x, (y, height)) = (self.x(node.x), self.stage.rows[node.row]);
            if node.width == 0.0 {
                let _ = write!(
                    text,
                    "<circle class=\"node\" cx=\"{}\" cy=\"{}\" r=\"2\"/>",
                    short(x),
                    short(y + height / 2.0)
                );
                continue;
            }
            let width = node.width * (self.width - MARGIN);
            let [left, top, wide, high] = [x - width / 2.0, y, width, height].map(short);
            let class = if pauses { "node pauses" } else { "node" };
            let _ = write!(
                text,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" \
                 rx=\"3\"/>"
            );
            // About 6 pixels a letter.
            if node.label.chars().count() as f64 * 6.0 < width {
                let [x, y] = [x, y + height / 2.0 + 4.0].map(short);
                let label = escape(&node.label);
                let _ = write!(
                    text,
                    "<text class=\"small\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"
                );
            }
        }
        for (name, (y, height)) in fabric.rows.iter().zip(&self.stage.rows) {
            let (name, y) = (escape(name), short(y + height / 2.0 + 4.0));
            let _ = write!(text, "<text class=\"tick\" x=\"0\" y=\"{y}\">{name}</text>");
        }
    }

    /// What waits, where pauses come from, and where something is held back.
    fn queues(&self, text: &mut String, deepest: u8) {
        let (mut bars, mut roots, mut held) = (String::new(), String::new(), String::new());
        for (end, cell) in self.cells() {
            let (x, y) = self.port(end);
            let up = if end.top { -1.0 } else { 1.0 };
            let high = up * bar(cell.depth, deepest);
            if cell.depth > 0 {
                let _ = write!(bars, "M{} {}v{}", short(x + BESIDE), short(y), short(high));
            }
            if cell.is_root() {
                let [x, y] = [x + BESIDE, y + high + 6.0 * up].map(short);
                let _ = write!(roots, "M{x} {y}m0-6l6 6l-6 6l-6-6z");
            }
            if cell.held > 0 {
                let [x, y] = [x - 3.5, y].map(short);
                let _ = write!(held, "M{x} {y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0");
            }
        }
        for (class, data) in [("queue", bars), ("root", roots), ("held", held)] {
            if !data.is_empty() {
                let _ = write!(text, "<path class=\"{class}\" d=\"{data}\"/>");
            }
        }
    }
}

/// A tenth of a pixel, in as few characters as can be.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_never_drawn_as_nothing() {
        assert_eq!([0, 1, 28, 29, 57, 200].map(|share| step(share, STEPS)), [0, 1, 1, 2, 2, 7]);
        assert_eq!([0, 1, 66, 67, 134, 200].map(|share| step(share, PAUSES)), [0, 1, 1, 2, 3, 3]);
        assert_eq!([0, 1, 33, 93, 153].map(|depth| bar(depth, 153)), [0.0, 1.5, 1.5, 13.0, 26.0]);
        assert_eq!(bar(20, 20), 1.5);
    }
}
