//! A set of packet numbers within a sliding window.

use std::collections::VecDeque;

/// One bit per number, in 64-bit words from the lowest to the highest member.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// The first word starts at 64 times this number.
    first: u32,
    words: VecDeque<u64>,
}

impl Numbers {
    /// Adds a number.
    pub fn insert(&mut self, number: u32) {
        let word = number / 64;
        if self.words.is_empty() {
            self.first = word;
        }
        while word < self.first {
            self.words.push_front(0);
            self.first -= 1;
        }
        let place = (word - self.first) as usize;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        self.words[place] |= 1 << (number % 64);
    }

    /// Removes a number, if it is a member.
    pub fn remove(&mut self, number: u32) {
        let place = (number / 64).checked_sub(self.first);
        if let Some(word) = place.and_then(|place| self.words.get_mut(place as usize)) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Whether a number is a member.
    pub fn contains(&self, number: u32) -> bool {
        self.word(number) >> (number % 64) & 1 != 0
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Number of members.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Removes the numbers below `floor`.
    pub fn forget_below(&mut self, floor: u32) {
        while self.first < floor / 64 && self.words.pop_front().is_some() {
            self.first += 1;
        }
        if self.first == floor / 64
            && let Some(word) = self.words.front_mut()
        {
            *word &= u64::MAX << (floor % 64);
        }
    }

    /// Lowest number at or above `from` that is not a member.
    pub fn next_absent(&self, from: u32) -> u32 {
        let mut number = from;
        loop {
            let ones = (self.word(number) >> (number % 64)).trailing_ones();
            number += ones;
            // The run continues in the next word only if it reaches the end of this one.
            if ones == 0 || !number.is_multiple_of(64) {
                return number;
            }
        }
    }

    /// Lowest member.
    pub fn first(&self) -> Option<u32> {
        let place = self.words.iter().position(|&word| word != 0)?;
        let bit = self.words[place].trailing_zeros();
        Some((self.first + place as u32) * 64 + bit)
    }

    /// Lowest number of the run of members that ends with `last`, which must be a member.
    pub fn first_of_run(&self, last: u32) -> u32 {
        let mut number = last;
        loop {
            let ones = (self.word(number) << (63 - number % 64)).leading_ones();
            // The run continues in the previous word only if it reaches the beginning of this one.
            if ones <= number % 64 || number < 64 {
                return number + 1 - ones;
            }
            if self.word(number - ones) >> 63 == 0 {
                return number + 1 - ones;
            }
            number -= ones;
        }
    }

    /// Bit n is set if `from` + n is a member.
    pub fn bits(&self, from: u32) -> u64 {
        let (low, shift) = (self.word(from) >> (from % 64), from % 64);
        match from.checked_add(64) {
            Some(next) if shift > 0 => low | self.word(next) << (64 - shift),
            _ => low,
        }
    }

    fn word(&self, number: u32) -> u64 {
        let place = (number / 64).checked_sub(self.first);
        place.and_then(|place| self.words.get(place as usize)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn runs_end_where_they_end() {
        let mut numbers = Numbers::default();
        (10..200).for_each(|number| numbers.insert(number));
        assert_eq!(numbers.next_absent(9), 9);
        assert_eq!(numbers.next_absent(10), 200);
        assert_eq!(numbers.next_absent(128), 200);
        numbers.forget_below(100);
        assert_eq!(numbers.next_absent(10), 10);
        assert_eq!(numbers.next_absent(100), 200);
        numbers.forget_below(200);
        assert!(numbers.is_empty());
    }

    proptest! {
        #[test]
        fn it_is_a_set(steps in prop::collection::vec((0u32..500, 0u32..40), 1..60)) {
            let (mut numbers, mut set) = (Numbers::default(), BTreeSet::new());
            let mut floor = 0;
            for (number, up) in steps {
                numbers.insert(floor + number);
                set.insert(floor + number);
                let first = (0..=floor + number).rev().find(|other| !set.contains(other));
                let first = first.map_or(0, |absent| absent + 1);
                prop_assert_eq!(numbers.first_of_run(floor + number), first);
                if up % 3 == 0 {
                    numbers.remove(floor + up);
                    set.remove(&(floor + up));
                }
                floor += up;
                numbers.forget_below(floor);
                set.retain(|&number| number >= floor);
                prop_assert_eq!(numbers.is_empty(), set.is_empty());
                prop_assert_eq!(numbers.count(), set.len() as u64);
                prop_assert_eq!(numbers.first(), set.first().copied());
                for number in floor..floor + 600 {
                    prop_assert_eq!(numbers.contains(number), set.contains(&number));
                }
                let bits = (0..64).filter(|n| set.contains(&(floor + n))).map(|n| 1 << n);
                prop_assert_eq!(numbers.bits(floor), bits.sum::<u64>());
                let absent = (floor..).find(|number| !set.contains(number)).unwrap();
                prop_assert_eq!(numbers.next_absent(floor), absent);
            }
        }
    }
}
