//! One timer per slot, with fast access to the timer that expires next.
//!
//! A tree of times with eight children per node. Setting a timer updates the minimum of its group of
//! eight, then that of the parent group, and stops as soon as a minimum does not change. Reading the
//! next expiry is one load, and there are never stale entries to skip. Ties go to the lowest slot,
//! so the order is deterministic. A group of eight fills a cache line, and its minimum is found
//! without a branch that could be mispredicted.

use floodway_model::Instant;

/// Number of children per node of the tree.
const WIDTH: usize = 8;

/// Timers for a fixed number of slots.
#[derive(Clone, Debug)]
pub struct Timers {
    next: Instant,
    /// The first level has the slots. Each level behind it has the minimum of every group of eight
    /// of the level before; the last level is a single group.
    eights: Box<[Eight]>,
    /// Where the levels begin among these groups, and after them where the last one ends.
    levels: [u32; MOST_LEVELS + 1],
    depth: u8,
}

/// Enough for some million slots.
const MOST_LEVELS: usize = 7;

/// A group of eight times: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Eight([Instant; WIDTH]);

impl Eight {
    const NEVER: Self = Self([Instant::NEVER; WIDTH]);

    #[inline]
    fn earliest(&self) -> Instant {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }

    /// Position of the first time equal to `at`, which must be in the group.
    #[inline]
    fn position(&self, at: Instant) -> usize {
        let bits = self.0.iter().enumerate().map(|(index, time)| u32::from(*time == at) << index);
        bits.fold(0, |all, bit| all | bit).trailing_zeros() as usize % WIDTH
    }
}

impl Timers {
    /// Creates `slots` timers, none of them set.
    pub fn new(slots: usize) -> Self {
        let (mut levels, mut depth, mut eights) = ([0; MOST_LEVELS + 1], 0, slots);
        while eights > 1 || depth == 0 {
            eights = eights.div_ceil(WIDTH).max(1);
            levels[depth + 1] = levels[depth] + eights as u32;
            depth += 1;
        }
        let eights = vec![Eight::NEVER; levels[depth] as usize].into();
        Self { next: Instant::NEVER, eights, levels, depth: depth as u8 }
    }

    /// Sets the timer of `slot`, replacing its previous value; [`Instant::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Instant) {
        let (mut place, mut time) = (slot, at);
        for &first in &self.levels[..usize::from(self.depth)] {
            let eight = &mut self.eights[first as usize + place / WIDTH];
            if eight.0[place % WIDTH] == time {
                return;
            }
            eight.0[place % WIDTH] = time;
            (place, time) = (place / WIDTH, eight.earliest());
        }
        self.next = time;
    }

    /// Expiry time of the timer of `slot`.
    #[inline]
    pub fn at(&self, slot: usize) -> Instant {
        self.eights[slot / WIDTH].0[slot % WIDTH]
    }

    /// Asks for the memory of the timer of `slot`, which is about to be set.
    #[inline]
    pub fn ask_for(&self, slot: usize) {
        floodway_prefetch::ask_for(&self.eights[slot / WIDTH]);
    }

    /// The slots whose timers expire before `end`, ascending.
    pub fn due(&self, end: Instant) -> impl Iterator<Item = usize> + '_ {
        let groups = self.eights[..self.levels[1] as usize].iter().enumerate();
        let groups = groups.filter(move |(_, eight)| eight.earliest() < end);
        groups.flat_map(move |(group, eight)| {
            let slots = eight.0.iter().zip(group * WIDTH..);
            slots.filter(move |(at, _)| **at < end).map(|(_, slot)| slot)
        })
    }

    /// Earliest expiry time of all timers.
    #[inline]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// The lowest slot whose timer expires at [`Timers::next`].
    #[inline]
    pub fn next_slot(&self) -> usize {
        let levels = self.levels[..usize::from(self.depth)].iter().rev();
        let within =
            |first: u32, place: usize| self.eights[first as usize + place].position(self.next);
        levels.fold(0, |place, &first| place * WIDTH + within(first, place))
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
            let mut timers = Timers::new(slots);
            let mut list = vec![Instant::NEVER; slots];
            for (slot, at) in sets {
                let (slot, at) = (slot % slots, if at == 0 { Instant::NEVER } else { Instant(at) });
                timers.set(slot, at);
                list[slot] = at;
                let first = *list.iter().min().unwrap();
                prop_assert_eq!(timers.next(), first);
                prop_assert_eq!(timers.at(slot), at);
                if first < Instant::NEVER {
                    let lowest = list.iter().position(|&time| time == first).unwrap();
                    prop_assert_eq!(timers.next_slot(), lowest);
                }
                let due: Vec<usize> = timers.due(Instant(25)).collect();
                let before: Vec<usize> =
                    (0..slots).filter(|&slot| list[slot] < Instant(25)).collect();
                prop_assert_eq!(due, before);
            }
        }
    }
}
