//! Lines in as few characters as can be: pictures with a hundred small charts hold a hundred
//! thousand points.

use std::fmt::Write;

/// How many units of a path are a pixel. The group around it is scaled down by as much.
pub(super) const FINE: f64 = 4.0;

/// At most two points for each pixel across, the lowest and the highest of those that fall on it,
/// and the first and the last of all: what a line reaches stays in sight however many points it has.
/// Points are places in pixels from left to right.
pub(super) fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::with_capacity(points.len().min(512));
    kept.extend(points.first());
    let pixel = |point: &(f64, f64)| libm::floor(point.0);
    for column in points.chunk_by(|a, b| pixel(a) == pixel(b)) {
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).expect("a chunk holds a point");
        let highest = (0..column.len()).max_by(by_height).expect("a chunk holds a point");
        kept.push(column[lowest.min(highest)]);
        kept.push(column[lowest.max(highest)]);
    }
    kept.extend(points.last());
    kept.dedup();
    kept
}

/// A path in the making, of relative commands in whole units.
#[derive(Default)]
pub(super) struct Trace {
    text: String,
    /// The last command, which need not be written again.
    command: char,
    /// Where it is.
    at: (i64, i64),
    /// How far it goes across before anything else, not yet written.
    across: i64,
}

impl Trace {
    /// Begins a line at a place in pixels.
    pub fn begin(&mut self, x: f64, y: f64) {
        self.flush();
        self.at = units(x, y);
        self.push('M', &[self.at.0, self.at.1]);
    }

    /// Goes straight to a place.
    pub fn line(&mut self, x: f64, y: f64) {
        let (dx, dy) = self.step(x, y);
        if dy == 0 {
            // Back is another direction; on is one segment.
            if self.across * dx < 0 {
                self.flush();
            }
            self.across += dx;
            return;
        }
        self.flush();
        if dx == 0 {
            self.push('v', &[dy]);
        } else {
            self.push('l', &[dx, dy]);
        }
    }

    /// Goes across first and then up or down, as values do that last until the next.
    pub fn stair(&mut self, x: f64, y: f64) {
        let (dx, dy) = self.step(x, y);
        self.across += dx;
        if dy != 0 {
            self.flush();
            self.push('v', &[dy]);
        }
    }

    /// Down to the floor, back to where it began and up again.
    pub fn close(&mut self, floor: f64, from: f64) {
        self.flush();
        let (from, floor) = units(from, floor);
        self.push('V', &[floor]);
        self.push('H', &[from]);
        self.text.push('z');
        self.command = 'z';
    }

    /// The path's data.
    pub fn finish(mut self) -> String {
        self.flush();
        self.text
    }

    fn step(&mut self, x: f64, y: f64) -> (i64, i64) {
        let to = units(x, y);
        let from = std::mem::replace(&mut self.at, to);
        (to.0 - from.0, to.1 - from.1)
    }

    fn flush(&mut self) {
        let across = std::mem::take(&mut self.across);
        if across != 0 {
            self.push('h', &[across]);
        }
    }

    fn push(&mut self, command: char, numbers: &[i64]) {
        let mut apart = command == self.command && command != 'M';
        if !apart {
            self.text.push(command);
            self.command = command;
        }
        for number in numbers {
            // A minus sign separates as well as a space.
            if apart && *number >= 0 {
                self.text.push(' ');
            }
            let _ = write!(self.text, "{number}");
            apart = true;
        }
    }
}

fn units(x: f64, y: f64) -> (i64, i64) {
    (libm::round(x * FINE) as i64, libm::round(y * FINE) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_and_terse() {
        let mut trace = Trace::default();
        trace.begin(0.0, 10.0);
        for (x, y) in [(1.0, 7.0), (2.0, 8.0), (3.0, 8.0), (4.0, 8.0), (4.0, 8.1), (4.0, 9.0)] {
            trace.line(x, y);
        }
        // 4 units are a pixel; what is level is one segment, and a tenth of a pixel is nothing.
        assert_eq!(trace.finish(), "M0 40l4-12 4 4h8v4");
        let mut trace = Trace::default();
        trace.begin(0.0, 10.0);
        for (x, y) in [(1.0, 7.0), (2.0, 7.0), (3.0, 8.0)] {
            trace.stair(x, y);
        }
        trace.close(10.0, 0.0);
        trace.begin(5.0, 5.0);
        trace.line(6.0, 5.0);
        assert_eq!(trace.finish(), "M0 40h4v-12h8v4V40H0zM20 20h4");
    }

    #[test]
    fn thinning_keeps_what_lines_reach() {
        // 10,000 points over 50 pixels, with one spike up, one down, and ends of their own.
        let mut points: Vec<(f64, f64)> = (0..10_000)
            .map(|at| (f64::from(at) / 200.0, 20.0 + f64::from(at % 7) / 10.0))
            .collect();
        points[0].1 = 20.25;
        points[4_321].1 = 3.0;
        points[4_400].1 = 39.0;
        points[9_999].1 = 20.35;
        let thin = extremes(&points);
        assert!(thin.len() <= 2 * 50 + 2, "{}", thin.len());
        for at in [0, 4_321, 4_400, 9_999] {
            assert!(thin.contains(&points[at]), "{at}");
        }
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0));
        let few = [(0.0, 1.0), (10.0, 2.0), (10.5, 3.0)];
        assert_eq!(extremes(&few), few);
        assert_eq!(extremes(&[]), []);
    }
}
