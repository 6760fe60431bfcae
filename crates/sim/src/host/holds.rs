//! Traffic held back at a host by source flow control: for a time, the host sends nothing to a
//! destination that starts in a given class, even if the flow has since been isolated to another
//! class.

use floodway_model::{Class, Duration, Instant, NodeId};
use rustc_hash::FxHashMap;

/// Destinations that are held back.
#[derive(Debug, Default)]
pub struct Holds {
    /// End of the hold, by destination and class. Iterated only to count.
    until: FxHashMap<(NodeId, Class), Instant>,
    /// Latest end of all holds; after it no lookup is needed.
    last: Instant,
    /// Total hold time, counting the full length of each hold when it begins.
    booked: Duration,
}

impl Holds {
    /// Holds traffic to `dst` in this class until `until`. If there is a hold already, the later
    /// end applies.
    pub fn hold(&mut self, dst: NodeId, class: Class, now: Instant, until: Instant) {
        let known = self.until.entry((dst, class)).or_insert(Instant::ZERO);
        self.booked += until.since(now.max(*known));
        *known = until.max(*known);
        self.last = self.last.max(until);
    }

    /// End of the hold of `dst` in this class, if it is held.
    #[inline]
    pub fn until(&self, dst: NodeId, class: Class, now: Instant) -> Option<Instant> {
        if self.last <= now {
            return None;
        }
        self.until.get(&(dst, class)).copied().filter(|&until| until > now)
    }

    /// How many destinations are held, by class.
    pub fn count(&self, now: Instant) -> u64 {
        self.until.values().filter(|until| **until > now).count() as u64
    }

    /// Hold time, summed over destinations and classes; a hold that has begun counts in full.
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
        assert_eq!([holds.count(at(199)), holds.count(at(200))], [1, 0]);
        holds.hold(dst, class, at(160), at(260));
        assert_eq!(holds.until(dst, class, at(200)), Some(at(260)));
        assert_eq!(holds.until(dst, Class(1), at(200)), None);
        assert_eq!(holds.until(NodeId(5), class, at(200)), None);
        assert_eq!(holds.until(dst, class, at(260)), None);
        holds.hold(dst, class, at(300), at(310));
        assert_eq!(holds.booked(), Duration(160 + 10));
    }
}
