//! What a host holds back because source flow control asked for it: everything to a destination
//! that begins in a class, even if it is isolated in another meanwhile, for a time.

use floodway_model::{Class, Duration, Instant, NodeId};
use rustc_hash::FxHashMap;

/// Destinations that wait.
#[derive(Debug, Default)]
pub struct Holds {
    /// By destination and class: until when. Never iterated.
    until: FxHashMap<(NodeId, Class), Instant>,
    /// When the last of them ends: after it none needs to be looked up.
    last: Instant,
    /// Times for which destinations were held, one after the other.
    booked: Duration,
}

impl Holds {
    /// Nothing may go to `dst` in this class before `until`. Of two holds the later end counts.
    pub fn hold(&mut self, dst: NodeId, class: Class, now: Instant, until: Instant) {
        let known = self.until.entry((dst, class)).or_insert(Instant::ZERO);
        self.booked += until.since(now.max(*known));
        *known = until.max(*known);
        self.last = self.last.max(until);
    }

    /// Until when `dst` is held in this class, if it is.
    #[inline]
    pub fn until(&self, dst: NodeId, class: Class, now: Instant) -> Option<Instant> {
        if self.last <= now {
            return None;
        }
        self.until.get(&(dst, class)).copied().filter(|&until| until > now)
    }

    /// Time held, summed over destinations and classes; a hold that has begun counts in full.
    pub fn booked(&self) -> Duration {
        self.booked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_end_counts_and_time_is_booked_once() {
        let (mut holds, at) = (Holds::default(), Instant);
        let (dst, class) = (NodeId(4), Class(0));
        holds.hold(dst, class, at(100), at(200));
        holds.hold(dst, class, at(150), at(180));
        assert_eq!(holds.until(dst, class, at(199)), Some(at(200)));
        holds.hold(dst, class, at(160), at(260));
        assert_eq!(holds.until(dst, class, at(200)), Some(at(260)));
        assert_eq!(holds.until(dst, Class(1), at(200)), None);
        assert_eq!(holds.until(NodeId(5), class, at(200)), None);
        assert_eq!(holds.until(dst, class, at(260)), None);
        holds.hold(dst, class, at(300), at(310));
        assert_eq!(holds.booked(), Duration(160 + 10));
    }
}
