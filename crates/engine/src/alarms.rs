//! One alarm per slot, and which rings next.
//!
//! A tree of times, eight below each: setting an alarm renews the earliest of its eight, and theirs,
//! and stops where nothing changes; looking at the next is one load, and there is never a stale
//! entry to skip. Ties go to the lowest slot, so the order is part of no one's luck. Eight are a
//! cache line, and their earliest is found without a branch that could be guessed wrong.

use floodway_model::Instant;

/// Times below one of the level above.
const WIDTH: usize = 8;

/// Alarms of a fixed number of slots.
#[derive(Clone, Debug)]
pub struct Alarms {
    next: Instant,
    /// The first level has the slots, each after it the earliest of the eights of the one before,
    /// and the last has one eight.
    levels: Box<[Box<[Eight]>]>,
}

/// One cache line.
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

    /// The first that is this time, which is one of them.
    #[inline]
    fn position(&self, at: Instant) -> usize {
        let bits = self.0.iter().enumerate().map(|(index, time)| u32::from(*time == at) << index);
        bits.fold(0, |all, bit| all | bit).trailing_zeros() as usize % WIDTH
    }
}

impl Alarms {
    /// No alarm set in any of `slots`.
    pub fn new(slots: usize) -> Self {
        let mut levels = Vec::new();
        let mut eights = slots.div_ceil(WIDTH).max(1);
        levels.push(vec![Eight::NEVER; eights].into());
        while eights > 1 {
            eights = eights.div_ceil(WIDTH);
            levels.push(vec![Eight::NEVER; eights].into());
        }
        Self { next: Instant::NEVER, levels: levels.into() }
    }

    /// Sets the alarm of `slot`, in place of the one it had; [`Instant::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Instant) {
        let (mut place, mut time) = (slot, at);
        for level in &mut self.levels {
            let eight = &mut level[place / WIDTH];
            if eight.0[place % WIDTH] == time {
                return;
            }
            eight.0[place % WIDTH] = time;
            (place, time) = (place / WIDTH, eight.earliest());
        }
        self.next = time;
    }

    /// The alarm of `slot`.
    #[inline]
    pub fn at(&self, slot: usize) -> Instant {
        self.levels[0][slot / WIDTH].0[slot % WIDTH]
    }

    /// The earliest time.
    #[inline]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// The lowest slot that rings at [`Alarms::next`].
    #[inline]
    pub fn next_slot(&self) -> usize {
        let levels = self.levels.iter().rev();
        levels.fold(0, |place, level| place * WIDTH + level[place].position(self.next))
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
