//! One alarm per slot, and which rings next.
//!
//! A tournament tree of times: setting an alarm replays the matches on its way to the root and
//! stops where nothing changes, looking at the next is one load, and there is never a stale entry
//! to skip. Ties go to the lowest slot, so the order is part of no one's luck.

use floodway_model::Instant;

/// Alarms of a fixed number of slots.
#[derive(Clone, Debug)]
pub struct Alarms {
    /// `tree[1]` is the root; node i has the children 2i and 2i + 1; slot s is `tree[leaves + s]`.
    tree: Vec<Instant>,
    leaves: usize,
}

impl Alarms {
    /// No alarm set in any of `slots`.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two();
        Self { tree: vec![Instant::NEVER; 2 * leaves], leaves }
    }

    /// Sets the alarm of `slot`, in place of the one it had; [`Instant::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Instant) {
        let mut node = self.leaves + slot;
        if self.tree[node] == at {
            return;
        }
        self.tree[node] = at;
        while node > 1 {
            let winner = self.tree[node & !1].min(self.tree[node | 1]);
            node /= 2;
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }

    /// The alarm of `slot`.
    #[inline]
    pub fn at(&self, slot: usize) -> Instant {
        self.tree[self.leaves + slot]
    }

    /// The earliest time.
    #[inline]
    pub fn next(&self) -> Instant {
        self.tree[1]
    }

    /// The lowest slot that rings at [`Alarms::next`].
    #[inline]
    pub fn next_slot(&self) -> usize {
        let first = self.tree[1];
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if self.tree[node] != first {
                node += 1;
            }
        }
        node - self.leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_list(
            slots in 1usize..70,
            sets in proptest::collection::vec((0usize..70, 0u64..50), 0..200),
        ) {
            let mut alarms = Alarms::new(slots);
            let mut list = vec![Instant::NEVER; slots];
            for (slot, at) in sets {
                let (slot, at) = (slot % slots, if at == 0 { Instant::NEVER } else { Instant(at) });
                alarms.set(slot, at);
                list[slot] = at;
                let first = *list.iter().min().unwrap();
                prop_assert_eq!(alarms.next(), first);
                prop_assert_eq!(alarms.at(slot), at);
                if first < Instant::NEVER {
                    let lowest = list.iter().position(|&time| time == first).unwrap();
                    prop_assert_eq!(alarms.next_slot(), lowest);
                }
            }
        }
    }
}
