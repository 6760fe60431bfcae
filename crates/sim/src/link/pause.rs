//! The pause of a class at a transmitter, as an interval and in sums.

use floodway_model::units::ByteTime;
use floodway_model::{Duration, Instant, Rate};

/// How long a pause of `quanta` of 512 bit times lasts on a link of this rate (IEEE 802.3 clause
/// 31B.2).
pub fn pause_time(quanta: u16, rate: Rate) -> Duration {
    ByteTime::at(rate).of(u64::from(quanta) * 64)
}

/// The pause of one class at one transmitter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    pub(super) since: Instant,
    /// The class may not send before this time.
    pub until: Instant,
    /// Total time paused, up to the last change.
    pub total: Duration,
    /// Longest uninterrupted pause.
    pub longest: Duration,
}

impl Pause {
    /// Start of the current pause, if there is one.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Total time paused until `now`.
    pub fn total_at(&self, now: Instant) -> Duration {
        self.total + self.until.min(now).since(self.since.min(now))
    }

    /// Pauses the class from `now` until `until`. Returns the interval of the pause that ends now
    /// or has already ended, if there is one. If the pause is only extended, its interval
    /// continues.
    pub(super) fn set(&mut self, now: Instant, until: Instant) -> Option<(Instant, Instant)> {
        let paused = (self.since < self.until).then(|| (self.since, self.until.min(now)));
        let goes_on = self.until >= now && paused.is_some() && until > now;
        if goes_on {
            self.until = until;
            return None;
        }
        if let Some((since, end)) = paused {
            self.total += end.since(since);
            self.longest = self.longest.max(end.since(since));
        }
        (self.since, self.until) = (now, until);
        paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_paused_is_counted_once() {
        let mut pause = Pause::default();
        let at = Instant;
        assert_eq!(pause.set(at(100), at(200)), None);
        // Refreshed: a single interval.
        assert_eq!(pause.total_at(at(130)), Duration(30));
        assert_eq!(pause.set(at(150), at(250)), None);
        // Resumed early.
        assert_eq!(pause.set(at(220), at(220)), Some((at(100), at(220))));
        // Paused again, expires by itself, paused later: two intervals.
        assert_eq!(pause.set(at(300), at(310)), None);
        assert_eq!(pause.set(at(400), at(500)), Some((at(300), at(310))));
        assert_eq!(pause.set(at(450), at(450)), Some((at(400), at(450))));
        assert_eq!(pause.total, Duration(120 + 10 + 50));
        assert_eq!(pause.longest, Duration(120));
    }
}
