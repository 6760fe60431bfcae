//! What the other end of a link has room for, as its sender knows it: the limit of a counter of all bytes sent, by class.

use floodway_model::id::CLASSES;

/// The counters of one direction of a link. They only grow, so that a limit that arrives late or is replaced by a newer one
/// does no harm.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// A class may send if the other end has room for this many bytes, those of the longest frame: the next frame may not
    /// be known before it is sent.
    frame: u64,
    /// Bytes sent since the start, by class.
    sent: [u64; CLASSES],
    /// The highest value that this counter may reach; `None` for a class without limit.
    limits: [Option<u64>; CLASSES],
}

impl Allowance {
    /// Lets the first `classes` classes send `room` bytes each, in frames of at most `frame` bytes. The others have no limit.
    pub fn new(classes: u8, room: u64, frame: u16) -> Self {
        let limits = std::array::from_fn(|class| (class < usize::from(classes)).then_some(room));
        Self { frame: frame.into(), sent: [0; CLASSES], limits }
    }

    fn suffices(&self, class: usize) -> bool {
        self.limits[class].is_none_or(|limit| self.sent[class] + self.frame <= limit)
    }

    /// A frame is sent. Returns whether the class must stop after it.
    pub fn spend(&mut self, class: usize, bytes: u16) -> bool {
        self.sent[class] += u64::from(bytes);
        !self.suffices(class)
    }

    /// The other end has a new limit for a class. Returns whether a class that had stopped may go on.
    pub fn raise(&mut self, class: usize, limit: u64) -> bool {
        let stopped = !self.suffices(class);
        self.limits[class] = self.limits[class].map(|old| old.max(limit));
        stopped && self.suffices(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stops_without_room_for_the_longest_frame() {
        let mut allowance = Allowance::new(2, 3_100, 1_000);
        assert!(!allowance.spend(1, 1_000));
        // 1100 bytes are left, and then 600.
        assert!(!allowance.spend(1, 1_000));
        assert!(allowance.spend(1, 500));
        // 999 and 1000 bytes.
        assert!(!allowance.raise(1, 3_499));
        assert!(allowance.raise(1, 3_500));
        assert!(!allowance.raise(1, 9_000));
        // An older limit changes nothing.
        assert!(!allowance.raise(1, 4_000));
        assert!(!allowance.spend(1, 1_000));
        // Other classes have their own counter, or no limit.
        assert!(!allowance.spend(0, 1_000));
        assert!((0..100).all(|_| !allowance.spend(2, 1_000)));
    }
}
