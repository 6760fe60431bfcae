//! Pauses: that of a class at a transmitter, as an interval and in sums, and what a transmitter may not send because of them.

use floodway_model::id::CLASSES;
use floodway_model::units::ByteTime;
use floodway_model::{Duration, Instant, Rate};

use super::Transmitter;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

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

impl Transmitter {
    /// Obeys a pause frame: classes whose bit is set are paused for this many quanta, or resumed if
    /// there are none. A new frame replaces the pause of an earlier one.
    pub fn pause(&mut self, classes: u8, quanta: u16, now: Instant, context: &mut Context) {
        // A frame that was still being handled when the link was found to be down.
        if self.is_closed() {
            return;
        }
        let until = Instant(now.0.saturating_add(self.lasts_at(quanta, self.seldom.link.rate).0));
        self.pause_until(classes, until, now, context);
    }

    pub(super) fn pause_until(
        &mut self,
        classes: u8,
        until: Instant,
        now: Instant,
        context: &mut Context,
    ) {
        let port = self.seldom.link.port.index();
        context.state(Kinds::PAUSED, self.seldom.link.node, now, || Fact::Paused {
            port,
            classes,
            until,
        });
        for class in (0..CLASSES).filter(|class| classes & 1 << class != 0) {
            if let Some(ended) = self.seldom.pauses[class].set(now, until) {
                context.metrics.count_pause(class, ended);
                context.state(Kinds::PAUSE_ENDED, self.seldom.link.node, now, || {
                    self.pause_ended(class, ended)
                });
            }
            self.last_pause_ends = self.last_pause_ends.max(until);
        }
    }

    /// Whether no pause lasts beyond the time at which the wire is free, and no retry may stall the port.
    #[inline]
    pub fn unpaused_when_free(&self) -> bool {
        self.last_pause_ends <= self.busy_until
    }

    /// Until when a retry stalls the port now; a time that is over if it does not.
    pub fn stalled(&mut self, now: Instant) -> Instant {
        self.seldom.retry.as_mut().map_or(Instant::ZERO, |retry| retry.stalled(now))
    }

    /// The same when the wire is free.
    pub fn stalled_when_free(&self) -> Instant {
        let free = self.busy_until;
        self.seldom.retry.as_ref().map_or(Instant::ZERO, |retry| retry.stalled_later(free))
    }

    /// Bits of the classes that may not send now, because they are paused or because a retry stalls the port.
    #[inline]
    pub fn stopped(&mut self, now: Instant) -> u8 {
        if self.last_pause_ends <= now { 0 } else { self.stopped_here(now) }
    }

    fn stopped_here(&mut self, now: Instant) -> u8 {
        if self.stalled(now) > now { u8::MAX } else { self.paused(now) }
    }

    /// Whether a packet for this queue must join it even if the port is idle: the class is paused, or all frames are to be
    /// taken from queues.
    #[inline]
    pub fn bars(&self, queue: usize, now: Instant) -> bool {
        self.last_pause_ends > now
            && (self.seldom.retry.is_some() || self.paused(now) >> queue & 1 != 0)
    }

    /// Bits of the classes that are paused now.
    #[inline]
    pub fn paused(&self, now: Instant) -> u8 {
        if self.last_pause_ends <= now {
            return 0;
        }
        let mut bits = 0;
        for (class, pause) in self.seldom.pauses.iter().enumerate() {
            bits |= u8::from(pause.until > now) << class;
        }
        bits
    }

    pub(super) fn pause_ended(
        &self,
        class: usize,
        (since, until): (Instant, Instant),
    ) -> Fact<'static> {
        Fact::PauseEnded { port: self.seldom.link.port.index(), class, since, until }
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
