//! A congestion window in whole packets with its slow start threshold, shared by the TCP algorithms
//! that have a window. The arithmetic is that of Linux (`tcp_cong.c`), because whole numbers and a
//! minimum window of two packets determine how small flows share a link.

use super::{Ack, Path};

/// Default of the minimum window after a reduction in the algorithms' parameters, in packets (RFC
/// 5681, equation 4; Linux).
pub const MINIMUM: u32 = 2;

/// Source of that default.
pub const MINIMUM_IS: &str = "RFC 5681 and Linux have 2";

/// A threshold that no window reaches; the initial slow start has none.
const INFINITE: u32 = u32::MAX;

/// Maximum window, so that sums of windows cannot overflow.
const LARGEST: u32 = 1 << 30;

/// A window and its slow start threshold.
#[derive(Clone, Debug)]
pub struct Window {
    packets: u32,
    threshold: u32,
    /// Number of acknowledged packets that count towards the next growth (RFC 3465).
    count: u32,
    /// Minimum of a reduced window and of the threshold.
    minimum: u32,
    initial: u32,
    payload: u64,
    /// Whether the window was reduced and the packets in flight at that time are not yet
    /// acknowledged.
    reduced: bool,
    /// The window and the threshold before that reduction.
    prior: (u32, u32),
}

impl Window {
    /// The initial window of a flow; `minimum` is in packets.
    pub fn new(path: &Path, minimum: u32) -> Self {
        let packets = path.initial_window.clamp(1, LARGEST);
        Self {
            packets,
            threshold: INFINITE,
            count: 0,
            minimum: minimum.clamp(1, LARGEST),
            initial: packets,
            payload: path.payload,
            reduced: false,
            prior: (packets, INFINITE),
        }
    }

    /// Size in packets, at least one.
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Size in bytes of payload.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.packets) * self.payload
    }

    /// The slow start threshold in packets.
    pub const fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Whether the window is below the threshold, so that it doubles in a round trip.
    pub const fn in_slow_start(&self) -> bool {
        self.packets < self.threshold
    }

    /// Whether no threshold has been set yet.
    pub const fn in_first_slow_start(&self) -> bool {
        self.threshold == INFINITE
    }

    /// Number of packets by which this acknowledgement may grow the window: none during a reduction
    /// or if the window was not used.
    #[inline]
    pub fn growth(ack: &Ack) -> u32 {
        let grows = ack.acked > 0 && ack.window_limited && ack.phase.may_grow();
        if grows { ack.delivered } else { 0 }
    }

    /// Grows by one packet for every acknowledged one, up to the threshold; returns the rest of
    /// `acked`.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        if !self.in_slow_start() {
            return acked;
        }
        let before = self.packets;
        self.packets = before.saturating_add(acked).min(self.threshold).min(LARGEST);
        acked - (self.packets - before)
    }

    /// Grows by one packet for every `per` acknowledged packets.
    #[inline]
    pub fn grow(&mut self, acked: u32, per: u32) {
        let per = per.max(1);
        // Acknowledgements counted for a larger window are worth at most one packet.
        if self.count >= per {
            self.count = 0;
            self.set(self.packets.saturating_add(1));
        }
        self.count = self.count.saturating_add(acked);
        let whole = self.count / per;
        self.count -= whole * per;
        self.set(self.packets.saturating_add(whole));
    }

    /// Slow start, then congestion avoidance by one packet per window (RFC 5681 section 3.1).
    #[inline]
    pub fn grow_as_reno(&mut self, acked: u32) {
        let rest = self.slow_start(acked);
        if rest > 0 {
            self.grow(rest, self.packets);
        }
    }

    /// Sets the window to this many packets.
    #[inline]
    pub fn set(&mut self, packets: u32) {
        self.packets = packets.clamp(1, LARGEST);
    }

    /// Ends slow start at the current window.
    pub fn leave_slow_start(&mut self) {
        self.threshold = self.packets.max(self.minimum);
    }

    /// Reduces window and threshold to this many packets, but not below the minimum. A window that
    /// is smaller already does not change.
    pub fn reduce(&mut self, packets: u32) {
        self.remember();
        self.threshold = packets.max(self.minimum);
        self.packets = self.packets.min(self.threshold);
        self.count = 0;
    }

    /// After a timeout: one packet, and slow start up to `threshold` packets. The threshold does
    /// not change if it was set since the packets in flight were sent, which is so for a packet
    /// that is lost again (RFC 5681 section 3.1; Linux does so in recovery, too).
    pub fn collapse(&mut self, threshold: u32) {
        let again = self.reduced;
        self.remember();
        if !again {
            self.threshold = threshold.max(self.minimum);
        }
        self.packets = 1;
        self.count = 0;
    }

    fn remember(&mut self) {
        self.prior = if self.reduced {
            (self.prior.0.max(self.packets), self.prior.1.max(self.threshold))
        } else {
            (self.packets, self.threshold)
        };
        self.reduced = true;
    }

    /// Whether the packets in flight at a reduction are not yet acknowledged.
    pub const fn reduced(&self) -> bool {
        self.reduced
    }

    /// The packets in flight at the last reduction are acknowledged.
    pub fn recovered(&mut self) {
        self.reduced = false;
    }

    /// Undoes the last reduction, which was spurious.
    pub fn undo(&mut self) {
        self.packets = self.packets.max(self.prior.0);
        self.threshold = self.threshold.max(self.prior.1);
        self.reduced = false;
    }

    /// Restarts after an idle time: the window is halved `halvings` times, but not below its
    /// initial value (RFC 5681 section 4.1), with slow start up to three quarters of the previous
    /// window (RFC 2861; Linux).
    pub fn restart(&mut self, halvings: u32) {
        self.threshold = self.threshold.max(self.packets - self.packets / 4);
        let halved = self.packets.checked_shr(halvings).unwrap_or(0);
        self.packets = halved.max(self.packets.min(self.initial));
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Rate;

    fn window() -> Window {
        Window::new(&Path::at(Rate::from_gbps(1)), MINIMUM)
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_the_rest_counts() {
        let mut window = window();
        window.grow_as_reno(6);
        assert_eq!((window.packets(), window.bytes()), (16, 16 * 1_448));
        window.reduce(12);
        window.collapse(0);
        window.recovered();
        // Growth from 1 to 12 takes 11 packets; the other 13 are one window of 12 and one packet
        // left over.
        window.grow_as_reno(24);
        assert_eq!((window.packets(), window.count), (13, 1));
        window.grow_as_reno(11);
        assert_eq!(window.packets(), 13);
        window.grow_as_reno(1);
        assert_eq!(window.packets(), 14);
    }

    #[test]
    fn what_a_larger_window_counted_is_one_packet() {
        let mut window = window();
        window.leave_slow_start();
        window.grow(9, 100);
        window.grow(1, 3);
        // 9 at `per` 3 would be three packets; Linux grows by one and restarts the count.
        assert_eq!((window.packets(), window.count), (11, 1));
    }

    #[test]
    fn reductions_stop_at_the_minimum_and_never_raise() {
        let mut window = window();
        window.reduce(1);
        assert_eq!((window.packets(), window.threshold()), (2, 2));
        window.collapse(7);
        assert_eq!((window.packets(), window.threshold()), (1, 2));
        window.reduce(0);
        assert_eq!((window.packets(), window.threshold()), (1, 2));
    }

    #[test]
    fn undo_gives_back_what_the_first_of_several_reductions_took() {
        let mut window = window();
        window.reduce(5);
        window.collapse(2);
        assert_eq!((window.packets(), window.threshold()), (1, 5));
        window.undo();
        assert_eq!((window.packets(), window.threshold()), (10, INFINITE));
        // After recovery a reduction is a new one.
        window.reduce(5);
        window.recovered();
        window.collapse(2);
        assert_eq!((window.packets(), window.threshold()), (1, 2));
        window.undo();
        assert_eq!((window.packets(), window.threshold()), (5, 5));
    }

    #[test]
    fn after_idle_time_it_begins_with_the_initial_window() {
        let mut window = window();
        window.grow_as_reno(90);
        window.reduce(80);
        window.recovered();
        window.grow_as_reno(80 * 20);
        assert_eq!(window.packets(), 100);
        window.restart(u32::MAX);
        // Three quarters of 100 are less than the previous threshold.
        assert_eq!((window.packets(), window.threshold()), (10, 80));
        window.set(400);
        window.restart(u32::MAX);
        assert_eq!((window.packets(), window.threshold()), (10, 300));
        // 400, 200, 100, 50, 25, 12.5, and a minimum of 10.
        for (halvings, packets) in [(1, 200), (3, 50), (5, 12), (6, 10), (31, 10), (32, 10)] {
            window.set(400);
            window.restart(halvings);
            assert_eq!(window.packets(), packets, "{halvings}");
        }
        window.set(4);
        window.restart(1);
        assert_eq!(window.packets(), 4);
    }
}
