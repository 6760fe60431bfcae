//! What a client plays, and when it stalls.

use floodway_model::{Duration, Instant};

use super::Spec;

/// The player of a client, with its buffer.
#[derive(Clone, Debug)]
pub struct Playback {
    /// Time up to which the rest is known.
    now: Instant,
    /// Content that has arrived and was not played.
    content: Duration,
    is_playing: bool,
    has_started: bool,
}

/// What happened in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Time without playback, after it had started.
    pub stalled: Duration,
    /// Whether the buffer ran dry.
    pub ran_dry: bool,
}

impl Playback {
    /// A player without content.
    pub fn new(now: Instant) -> Self {
        Self { now, content: Duration::ZERO, is_playing: false, has_started: false }
    }

    /// Content in the buffer.
    pub fn content(&self) -> Duration {
        self.content
    }

    /// Plays until `until`.
    pub fn advance(&mut self, until: Instant) -> Played {
        let time = until.since(self.now);
        self.now = self.now.max(until);
        if !self.is_playing {
            let stalled = if self.has_started { time } else { Duration::ZERO };
            return Played { stalled, ran_dry: false };
        }
        let played = time.min(self.content);
        let stalled = Duration(time.0 - played.0);
        self.content = Duration(self.content.0 - played.0);
        let ran_dry = stalled > Duration::ZERO;
        self.is_playing = !ran_dry;
        Played { stalled, ran_dry }
    }

    /// A segment has arrived at the time up to which the player has advanced. Returns whether
    /// playback starts for the first time.
    pub fn arrive(&mut self, spec: &Spec) -> bool {
        self.content += spec.segment;
        let enough = if self.has_started { spec.rebuffer } else { spec.startup };
        self.is_playing |= self.content >= enough;
        let starts = self.is_playing && !self.has_started;
        self.has_started |= self.is_playing;
        starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 4 s that arrive after 3, 5, 13, 20, 22 and 24 s. Playback starts with the second
    /// one, 8 s of content. The third one arrives just in time.
    #[test]
    fn stalls_by_hand() {
        let seconds = |count: u64| Duration::from_ms(1_000 * count);
        let at = |count: u64| Instant::ZERO + seconds(count);
        let spec = Spec { startup: seconds(8), rebuffer: seconds(8), ..Spec::default() };
        let mut playback = Playback::new(Instant::ZERO);
        let mut arrive = |when: u64| {
            let played = playback.advance(at(when));
            let starts = playback.arrive(&spec);
            (played.stalled, played.ran_dry, starts, playback.content())
        };
        assert_eq!(arrive(3), (seconds(0), false, false, seconds(4)));
        assert_eq!(arrive(5), (seconds(0), false, true, seconds(8)));
        assert_eq!(arrive(13), (seconds(0), false, false, seconds(4)));
        // It runs dry after 17 s, and two segments are needed to go on: 3 s and then 2 s.
        assert_eq!(arrive(20), (seconds(3), true, false, seconds(4)));
        assert_eq!(arrive(22), (seconds(2), false, false, seconds(8)));
        assert_eq!(arrive(24), (seconds(0), false, false, seconds(10)));
    }
}
