//! RACK: a segment is lost if one that was sent later has arrived and the reordering window has
//! passed (RFC 8985, sections 5 and 6).
//!
//! Linux and the RFC use one timer, which expires for the last of the segments within the
//! reordering window; here it expires for the first, so that each loss is detected at its own time.

use floodway_model::{Duration, Instant};

use super::rtt::RoundTrips;
use super::scoreboard::{Record, Scoreboard};

/// Number of selectively acknowledged segments at which the reordering window ends (section 3.3.2).
const DUP_THRESHOLD: u32 = 3;
/// Number of recoveries for which a larger reordering window is kept (section 6.2).
const PERSIST: u32 = 16;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Rack {
    /// Of the most recently sent segment among those that have arrived: its transmission time, its
    /// number, and its round-trip time.
    sent_at: Instant,
    psn: u32,
    rtt: Duration,
    /// Whether any segment has arrived.
    any: bool,
    /// Whether that segment has changed since losses were last looked for. If not, nothing can be
    /// found before the timer expires; above all not after a timeout was undone, when it may be the
    /// last copy of a segment whose first copy has arrived.
    pub advanced: bool,
    /// First sequence number above all segments that have arrived.
    forward: u32,
    /// Whether a segment that was sent once has arrived after a later one.
    reordering_seen: bool,
    /// Reordering window in quarters of the minimum round-trip time, and the number of further
    /// recoveries for which it stays above one.
    quarters: u32,
    persist: u32,
    /// Duplicates are ignored until this segment is acknowledged.
    duplicate_round: Option<u32>,
    /// Expiry of the reordering timer, for the first segment.
    pub timer_at: Instant,
}

impl Rack {
    pub fn new() -> Self {
        Self {
            sent_at: Instant::ZERO,
            psn: 0,
            rtt: Duration::ZERO,
            any: false,
            advanced: false,
            forward: 0,
            reordering_seen: false,
            quarters: 1,
            persist: 0,
            duplicate_round: None,
            timer_at: Instant::NEVER,
        }
    }

    /// A segment is reported as arrived, in order of sequence numbers within one acknowledgement
    /// (steps 2 and 3).
    #[inline]
    pub fn on_arrived(&mut self, psn: u32, record: &Record, min_rtt: Duration, now: Instant) {
        if psn >= self.forward {
            self.forward = psn + 1;
        } else if !record.repeated {
            self.reordering_seen = true;
        }
        let rtt = now.since(record.sent_at);
        // It is unknown which of two copies has arrived; not the later one if there was too little
        // time for it.
        if record.repeated && rtt < min_rtt {
            return;
        }
        if !self.any || (record.sent_at, psn) > (self.sent_at, self.psn) {
            self.any = true;
            self.advanced = true;
            self.sent_at = record.sent_at;
            self.psn = psn;
            self.rtt = rtt;
        }
    }

    /// The receiver had a segment already: the segment was overtaken and not lost.
    pub fn on_duplicate(&mut self, una: u32, next: u32) {
        if self.duplicate_round.is_none_or(|round| una >= round) {
            self.duplicate_round = Some(next);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery, or the phase after a timeout, is over.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Reordering window of a segment (step 4).
    pub fn window(&self, trips: &RoundTrips, sacked: u32, recovering: bool) -> Duration {
        if !self.reordering_seen && (recovering || sacked >= DUP_THRESHOLD) {
            return Duration::ZERO;
        }
        Duration(trips.min.0 / 4 * u64::from(self.quarters)).min(trips.smoothed)
    }

    /// The next lost segment (step 5); sets the timer if there is none.
    #[inline]
    pub fn next_lost(
        &mut self,
        board: &mut Scoreboard,
        window: Duration,
        now: Instant,
    ) -> Option<u32> {
        self.timer_at = Instant::NEVER;
        if !self.any {
            return None;
        }
        let mut timer_at = Instant::NEVER;
        let deadline = |psn: u32, record: &Record| {
            let earlier = (record.sent_at, psn) < (self.sent_at, self.psn);
            earlier.then(|| record.sent_at + self.rtt + window)
        };
        let original = board.first_original().and_then(|(psn, r)| Some((psn, deadline(psn, r)?)));
        let repeat = board.first_repeat().and_then(|(psn, r)| Some((psn, deadline(psn, r)?)));
        for (psn, at) in [original, repeat].into_iter().flatten() {
            if at <= now {
                return Some(psn);
            }
            timer_at = timer_at.min(at);
        }
        self.timer_at = timer_at;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::transport::tcp::Spec;

    const MS: fn(u64) -> Duration = Duration::from_ms;

    fn trips(min: u64, later: u64) -> RoundTrips {
        let mut trips = RoundTrips::new(&Spec::default());
        for ms in [min, later] {
            trips.on_oldest(&Spec::default(), MS(ms));
            trips.on_latest(MS(ms));
        }
        trips
    }

    /// Section 6.2, step 4: a quarter of the minimum round-trip time, none with DupThresh.
    #[test]
    fn the_window_is_a_quarter_until_three_are_sacked() {
        let (mut rack, trips) = (Rack::new(), trips(40, 40));
        assert_eq!(rack.window(&trips, 2, false), MS(10));
        assert_eq!(rack.window(&trips, 3, false), Duration::ZERO);
        assert_eq!(rack.window(&trips, 0, true), Duration::ZERO);
        rack.reordering_seen = true;
        assert_eq!(rack.window(&trips, 3, true), MS(10));
    }

    /// A quarter more for each round trip with a duplicate, up to the smoothed round-trip time;
    /// back to one after 16 recoveries without duplicates.
    #[test]
    fn duplicates_widen_the_window_for_a_while() {
        // SRTT = 7/8 40 + 1/8 80 = 45.
        let (mut rack, trips) = (Rack::new(), trips(40, 80));
        rack.on_duplicate(5, 20);
        assert_eq!(rack.window(&trips, 0, false), MS(20));
        // In the same round trip.
        rack.on_duplicate(19, 30);
        assert_eq!(rack.window(&trips, 0, false), MS(20));
        rack.on_duplicate(20, 40);
        assert_eq!(rack.window(&trips, 0, false), MS(30));
        rack.on_duplicate(40, 50);
        rack.on_duplicate(50, 60);
        assert_eq!(rack.window(&trips, 0, false), MS(45));
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(rack.window(&trips, 0, false), MS(45));
        rack.on_recovered();
        assert_eq!(rack.window(&trips, 0, false), MS(10));
    }
}
