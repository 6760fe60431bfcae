//! Whether the window is the limit for the sender (Linux: `tcp_cwnd_validate` and
//! `tcp_is_cwnd_limited`).

/// Usage of the current window's worth of segments.
#[derive(Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    most: u32,
    /// The first segment after it.
    ends: u32,
}

impl Usage {
    /// A segment was sent. Returns whether the window is full with it.
    #[inline]
    pub fn on_send(&mut self, full: bool, outstanding: u32, una: u32, next: u32) {
        if una >= self.ends || full || (!self.limited && outstanding > self.most) {
            self.limited = full;
            self.most = outstanding;
            self.ends = next;
        }
    }

    /// Whether the window was the limit. In slow start also if half of it was used, so that it may
    /// grow to twice the amount used.
    #[inline]
    pub fn is_limited(&self, window: u32, slow_start: bool) -> bool {
        self.limited || (slow_start && window < 2 * self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_counts_for_all_of_it() {
        let mut usage = Usage::default();
        assert!(!usage.is_limited(4, false));
        (1..=3).for_each(|n| usage.on_send(false, n, 0, n));
        assert!(!usage.is_limited(4, false));
        usage.on_send(true, 4, 0, 4);
        assert!(usage.is_limited(4, false));
        // The rest of the same window is not used: still limited.
        usage.on_send(false, 2, 3, 5);
        assert!(usage.is_limited(4, false));
        // Then the next window counts.
        usage.on_send(false, 1, 5, 6);
        assert!(!usage.is_limited(4, false));
    }

    #[test]
    fn in_slow_start_more_than_half_is_enough() {
        let mut usage = Usage::default();
        (1..=5).for_each(|n| usage.on_send(false, n, 0, n));
        assert!(usage.is_limited(9, true));
        assert!(!usage.is_limited(10, true));
        assert!(!usage.is_limited(9, false));
    }
}
