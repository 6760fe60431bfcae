//! How fast simulated time goes in a run that somebody looks at. Results do not depend on it.

use std::collections::VecDeque;
use std::time::{Duration as Wall, Instant as Now};

use floodway_model::{Duration, Instant};

/// The longest time without a look at signals.
const LOOK: Wall = Wall::from_millis(50);

/// The pace of a run.
#[derive(Debug)]
pub struct Pace {
    /// Simulated seconds in a second; `None` for as many as possible.
    speed: Option<f64>,
    paused: bool,
    /// Since when time goes at this speed, and the simulated time then.
    since: (Now, Instant),
    /// The ends of the steps in the last second, and the simulated time then.
    lately: VecDeque<(Now, Instant)>,
}

impl Pace {
    /// Time begins.
    pub fn new(speed: Option<f64>) -> Self {
        let since = (Now::now(), Instant::ZERO);
        Self { speed, paused: false, since, lately: VecDeque::from([since]) }
    }

    /// The speed that is asked for.
    pub fn speed(&self) -> Option<f64> {
        self.speed
    }

    /// Whether time stands still.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Simulated seconds in the last second.
    pub fn reached(&self) -> f64 {
        let Some((begun, from)) = self.lately.front() else { return 0.0 };
        let Some((_, to)) = self.lately.back() else { return 0.0 };
        let wall = begun.elapsed().as_secs_f64();
        if wall > 0.0 { to.since(*from).as_secs() / wall } else { 0.0 }
    }

    /// Changes the speed.
    pub fn set_speed(&mut self, speed: Option<f64>, now: Instant) {
        self.speed = speed;
        self.since = (Now::now(), now);
    }

    /// Stops time, or lets it go on.
    pub fn pause(&mut self, paused: bool, now: Instant) {
        self.paused = paused;
        self.since = (Now::now(), now);
        self.lately = VecDeque::from([self.since]);
    }

    /// When the end of the next step is due; `None` if it is due at once.
    fn due(&self, now: Instant, step: Duration) -> Option<Now> {
        let ahead = (now + step).since(self.since.1).as_secs() / self.speed?;
        self.since.0.checked_add(Wall::try_from_secs_f64(ahead).ok()?)
    }

    /// How long to wait for commands before the next look.
    pub fn wait(&self, now: Instant, step: Duration) -> Wall {
        if self.paused {
            return LOOK;
        }
        let due = self.due(now, step).map(|due| due.saturating_duration_since(Now::now()));
        due.unwrap_or(Wall::ZERO).min(LOOK)
    }

    /// Whether the next step is due.
    pub fn is_due(&self, now: Instant, step: Duration) -> bool {
        !self.paused && self.due(now, step).is_none_or(|due| due <= Now::now())
    }

    /// A step has been taken. A simulation that is too slow does not catch up later.
    pub fn advanced(&mut self, now: Instant) {
        let wall = Now::now();
        if self.due(now, Duration::ZERO).is_some_and(|due| due + LOOK < wall) {
            self.since = (wall, now);
        }
        self.lately.push_back((wall, now));
        while self.lately.len() > 2
            && self.lately.front().is_some_and(|(at, _)| wall - *at > Wall::from_secs(1))
        {
            self.lately.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_ms(100);

    fn at_ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn steps_are_due_by_the_speed() {
        let mut pace = Pace::new(Some(10.0));
        let begun = pace.since.0;
        // The fifth step ends after 500 ms, which are 50 ms of the clock.
        assert_eq!(pace.due(at_ms(400), STEP), Some(begun + Wall::from_millis(50)));
        pace.set_speed(None, at_ms(400));
        assert!(pace.is_due(at_ms(400), STEP));
        assert_eq!(pace.wait(at_ms(400), STEP), Wall::ZERO);
        pace.pause(true, at_ms(500));
        assert!(!pace.is_due(at_ms(500), STEP));
        assert_eq!(pace.wait(at_ms(500), STEP), LOOK);
    }

    /// Ten seconds late: the next step is due a step later, and not a hundred steps at once.
    #[test]
    fn what_is_late_is_not_made_up_for() {
        let mut pace = Pace::new(Some(1.0));
        let Some(long_ago) = Now::now().checked_sub(Wall::from_secs(10)) else { return };
        pace.since.0 = long_ago;
        pace.advanced(at_ms(100));
        assert!(!pace.is_due(at_ms(100), STEP));
    }
}
