//! Sets of physical queues. A class has at most 255 of them.

/// A set of numbers below 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits([u64; 4]);

impl Bits {
    /// The numbers below `count`.
    pub fn below(count: u8) -> Self {
        let mut bits = Self::default();
        (0..count).for_each(|number| bits.insert(number));
        bits
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: u8) {
        self.0[usize::from(number / 64)] |= 1 << (number % 64);
    }

    /// Removes a number.
    #[inline]
    pub fn remove(&mut self, number: u8) {
        self.0[usize::from(number / 64)] &= !(1 << (number % 64));
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn has(&self, number: u8) -> bool {
        self.0[usize::from(number / 64)] >> (number % 64) & 1 != 0
    }

    /// The numbers that are not in `other`.
    #[inline]
    pub fn without(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine &= !theirs);
        self
    }

    /// Number of elements.
    #[inline]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The first number at or after `from`, with wraparound.
    #[inline]
    pub fn next_from(&self, from: u8) -> Option<u8> {
        let (word, bit) = (usize::from(from / 64), from % 64);
        // The first word is examined twice: its upper part first, its lower part last.
        let upper = self.0[word] & u64::MAX << bit;
        let parts = (1..=4).map(|step| (word + step) % 4).map(|at| (at, self.0[at]));
        let mut parts = std::iter::once((word, upper)).chain(parts);
        let (at, part) = parts.find(|(_, part)| *part != 0)?;
        Some((at as u32 * 64 + part.trailing_zeros()) as u8)
    }

    /// All numbers, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|&number| self.has(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_set(numbers in proptest::collection::vec(0u8.., 0..40), from in 0u8..) {
            let (mut bits, mut set) = (Bits::default(), BTreeSet::new());
            for number in numbers {
                if set.insert(number) { bits.insert(number) } else {
                    set.remove(&number);
                    bits.remove(number);
                }
            }
            prop_assert_eq!(bits.iter().collect::<BTreeSet<u8>>(), set.clone());
            prop_assert_eq!(bits.count() as usize, set.len());
            prop_assert_eq!(bits.is_empty(), set.is_empty());
            let next = set.range(from..).next().or(set.first()).copied();
            prop_assert_eq!(bits.next_from(from), next);
            let rest = Bits::below(100).without(&bits);
            prop_assert!((0..=u8::MAX).all(|n| rest.has(n) == (n < 100 && !set.contains(&n))));
        }
    }
}
