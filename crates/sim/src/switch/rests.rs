//! Rate limit per key: an action is not repeated for the same key too soon.

use floodway_model::{Duration, Instant};
use rustc_hash::FxHashMap;

/// When an action was last performed, by key.
#[derive(Debug)]
pub(super) struct Rests<K> {
    last: FxHashMap<K, Instant>,
    /// Number of entries at which expired ones are removed.
    limit: usize,
}

impl<K> Default for Rests<K> {
    fn default() -> Self {
        Self { last: FxHashMap::default(), limit: 1_024 }
    }
}

impl<K: std::hash::Hash + Eq> Rests<K> {
    /// Records the action as performed now, regardless of the last time.
    pub fn done(&mut self, who: K, now: Instant) {
        self.last.insert(who, now);
    }

    /// Whether the action may be performed now: at least `rest` after the last time. If so, records
    /// it as performed.
    pub fn may(&mut self, who: K, rest: Duration, now: Instant) -> bool {
        if let Some(last) = self.last.get_mut(&who) {
            let rested = now.since(*last) >= rest;
            if rested {
                *last = now;
            }
            return rested;
        }
        if self.last.len() >= self.limit {
            self.last.retain(|_, last| now.since(*last) < rest);
            self.limit = 1_024.max(2 * self.last.len());
        }
        self.last.insert(who, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_rested_is_forgotten() {
        let mut rests = Rests::default();
        for at in 0..100_000u64 {
            assert!(rests.may(at, Duration::from_us(6), Instant(at * 1_000_000)));
        }
        assert!(rests.last.len() <= 1_024, "{}", rests.last.len());
    }
}
