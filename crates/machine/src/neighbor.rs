//! A noisy neighbor: it takes caches that cores share, and bandwidth of the memory, from what runs beside it.

use std::hint::black_box;

use crate::calibration::LINE;

/// Bytes that the neighbor walks through: more than caches have.
pub const WALKED: usize = 256 << 20;

/// A cache line. One number in it is changed, so that all of it has to be read, and written back.
#[derive(Clone)]
#[repr(align(64))]
struct Line(u32);

/// Walks through the memory again and again, and calls `before` before each pass.
pub fn walk(mut before: impl FnMut()) -> ! {
    let mut lines = vec![Line(1); WALKED / LINE];
    loop {
        before();
        pass(&mut lines);
    }
}

fn pass(lines: &mut [Line]) {
    for line in &mut *lines {
        line.0 = line.0.wrapping_mul(3);
    }
    black_box(lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_changes_every_line() {
        let mut lines = vec![Line(1); 5];
        (0..4).for_each(|_| pass(&mut lines));
        assert!(lines.iter().all(|line| line.0 == 81));
        assert_eq!(size_of_val(lines.as_slice()), 5 * LINE);
    }
}
