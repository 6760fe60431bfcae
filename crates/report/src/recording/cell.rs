//! A port at a sample in four bytes, finely enough for the eye.

/// A queue with less than this looks as one with this, in bytes.
pub const SMALLEST: f64 = 64.0;
/// Depths that are distinguished from one to the next that is twice as deep.
pub const LEVELS_PER_DOUBLING: f64 = 8.0;
/// Of [`Cell::paused`]: pauses spread from the port.
pub const ROOT: u8 = 255;
/// The byte of a share of 1.
const WHOLE: f64 = 200.0;

/// A port at a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Of 200: the share of the time since the sample before in which the wire was busy. Of several
    /// links the mean.
    pub busy: u8,
    /// How much waits: 0 for nothing, then [`LEVELS_PER_DOUBLING`] from [`SMALLEST`] on. Of several
    /// links the most.
    pub depth: u8,
    /// Of 200: the share of that time in which it was not allowed to send, summed over classes; or
    /// [`ROOT`]. Of several links the most.
    pub paused: u8,
    /// Physical queues, directions and destinations that are held back, up to 255. Of several links the sum.
    pub held: u8,
}

impl Cell {
    /// What waits, in bytes, within a twentieth.
    pub fn backlog(self) -> f64 {
        match self.depth {
            0 => 0.0,
            level => SMALLEST * libm::exp2(f64::from(level - 1) / LEVELS_PER_DOUBLING),
        }
    }

    /// Whether pauses spread from it.
    pub fn is_root(self) -> bool {
        self.paused == ROOT
    }
}

/// The links that are drawn as one.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    links: u32,
    busy: f64,
    paused: f64,
    backlog: u64,
    root: bool,
    held: u64,
}

impl Members {
    pub fn add(&mut self, busy: f64, paused: f64, (backlog, held): (u64, u64), root: bool) {
        self.links += 1;
        self.busy += busy;
        self.paused = self.paused.max(paused);
        self.backlog = self.backlog.max(backlog);
        self.root |= root;
        self.held += held;
    }

    pub fn cell(&self) -> Cell {
        Cell {
            busy: share(self.busy / f64::from(self.links.max(1))),
            depth: depth(self.backlog),
            paused: if self.root { ROOT } else { share(self.paused) },
            held: self.held.min(255) as u8,
        }
    }
}

/// Something is never shown as nothing.
fn share(share: f64) -> u8 {
    if share > 0.0 { libm::round(share * WHOLE).clamp(1.0, WHOLE) as u8 } else { 0 }
}

fn depth(bytes: u64) -> u8 {
    if bytes == 0 {
        return 0;
    }
    let doublings = libm::log2((bytes as f64 / SMALLEST).max(1.0));
    libm::round(1.0 + LEVELS_PER_DOUBLING * doublings).min(255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_to_half_a_percent() {
        assert_eq!([0.0, 1e-9, 0.005, 0.5, 0.996, 1.0].map(share), [0, 1, 1, 100, 199, 200]);
    }

    #[test]
    fn depths_are_within_a_twentieth() {
        assert_eq!([0, 1, 64, 128, 64 << 20].map(depth), [0, 1, 1, 9, 161]);
        // Half a step of an eighth of a doubling: 2^(1/16) is 1.044.
        let mut bytes = 64;
        while bytes < 1_u64 << 35 {
            let shown = Cell { depth: depth(bytes), ..Cell::default() }.backlog();
            assert!((shown / bytes as f64 - 1.0).abs() < 0.045, "{bytes} as {shown}");
            bytes = bytes * 11 / 10;
        }
        assert_eq!(depth(u64::MAX), 255);
    }

    #[test]
    fn of_several_links_the_worst_stands_out() {
        let mut members = Members::default();
        members.add(1.0, 0.0, (64, 2), false);
        members.add(0.5, 0.25, (128, 1), false);
        members.add(0.0, 0.0, (0, 0), false);
        assert_eq!(members.cell(), Cell { busy: 100, depth: 9, paused: 50, held: 3 });
        members.add(0.5, 0.0, (0, 900), true);
        assert_eq!(members.cell().held, 255);
        assert!(members.cell().is_root());
    }
}
