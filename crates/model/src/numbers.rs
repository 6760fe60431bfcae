//! Columns of numbers that take little memory if there are many of them ([decision
//! 120](https://github.com/floodway-sim/floodway/blob/main/docs/decisions/0120-long-columns-are-packed-in-memory.md)).
//!
//! The first numbers of a column are stored as they are. A long column is packed in chunks of 1,024 numbers: each
//! chunk has a straight line, and for each number its distance from the line, in as many bits as the largest distance
//! needs. Numbers that are all alike, or that rise evenly, take no bits. Real numbers that are whole multiples of a
//! thousandth, as are times in nanoseconds, are packed as these multiples, all others as their bits.

use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers in a chunk.
const CHUNK: usize = 1_024;

/// Numbers that a column has before any are packed: short columns are slices.
const PLAIN: usize = 4 * CHUNK;

/// Numbers, in the order in which they were added.
#[derive(Clone, Debug)]
pub struct Numbers<T> {
    chunks: Vec<Chunk>,
    /// Those after the chunks.
    rest: Vec<T>,
    /// All of them, once somebody has asked for them as a slice although they are packed.
    expanded: OnceLock<Box<[T]>>,
}

/// Packed numbers. The word of number `i` is `base + step * i` and its distance; all arithmetic wraps.
#[derive(Clone, Debug)]
struct Chunk {
    base: u64,
    step: u64,
    /// Bits of a distance.
    width: u8,
    form: Form,
    distances: Box<[u64]>,
}

/// What the words of a chunk are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// The bits of numbers.
    Bits,
    /// Thousandths.
    Thousandths,
    /// Thousandths; the largest distance that the width allows stands for NaN.
    ThousandthsOrNan,
}

/// A number that a column can have.
pub trait Number: Copy + Default + PartialEq {
    /// The form in which these are packed.
    fn form(numbers: &[Self]) -> Form;

    /// Its word; `None` for NaN where that has none.
    fn word(self, form: Form) -> Option<u64>;

    /// The number of a word.
    fn of(word: Option<u64>, form: Form) -> Self;
}

impl Number for u64 {
    fn form(_: &[Self]) -> Form {
        Form::Bits
    }

    fn word(self, _: Form) -> Option<u64> {
        Some(self)
    }

    fn of(word: Option<u64>, _: Form) -> Self {
        word.unwrap_or_default()
    }
}

impl Number for f64 {
    fn form(numbers: &[Self]) -> Form {
        let is_nan = |number: &f64| number.to_bits() == f64::NAN.to_bits();
        let nans = numbers.iter().filter(|number| is_nan(number)).count();
        let whole = |number: &f64| is_nan(number) || thousandths(*number).is_some();
        match nans {
            _ if nans == numbers.len() || !numbers.iter().all(whole) => Form::Bits,
            0 => Form::Thousandths,
            _ => Form::ThousandthsOrNan,
        }
    }

    fn word(self, form: Form) -> Option<u64> {
        match form {
            Form::Bits => Some(self.to_bits()),
            _ => thousandths(self),
        }
    }

    fn of(word: Option<u64>, form: Form) -> Self {
        match (word, form) {
            (Some(word), Form::Bits) => f64::from_bits(word),
            (Some(word), _) => word as f64 / 1e3,
            (None, _) => f64::NAN,
        }
    }
}

/// The number of thousandths that a number is, if dividing them by 1000 results in the same bits.
fn thousandths(number: f64) -> Option<u64> {
    let word = (number * 1e3).round() as u64;
    (number < 1e12 && (word as f64 / 1e3).to_bits() == number.to_bits()).then_some(word)
}

impl Chunk {
    fn of<T: Number>(numbers: &[T]) -> Self {
        let form = T::form(numbers);
        let words: Vec<Option<u64>> = numbers.iter().map(|number| number.word(form)).collect();
        let known = || (0..).zip(&words).filter_map(|(at, word): (u64, _)| Some((at, (*word)?)));
        let first = known().next().unwrap_or_default();
        let last = known().last().unwrap_or_default();
        let steps = (last.0 - first.0).max(1) as i64;
        let rise = last.1.wrapping_sub(first.1) as i64;
        // To the nearest whole number, or the last numbers would be far from the line.
        let slope = rise.saturating_add(steps / 2).div_euclid(steps);
        let line = |step: u64| {
            let apart = |(at, word): (u64, u64)| distance(word, first.1, step, at) as i64;
            let lowest = known().map(apart).min().unwrap_or(0);
            let highest = known().map(apart).max().unwrap_or(0);
            let most = highest.wrapping_sub(lowest) as u64;
            let most = most.checked_add(u64::from(form == Form::ThousandthsOrNan));
            most.map(|most| (64 - most.leading_zeros(), first.1.wrapping_add(lowest as u64), step))
        };
        let narrowest = [line(0), line(slope as u64)].into_iter().flatten().min();
        let (width, base, step) = narrowest.expect("thousandths are less than 2^53");
        let mut distances = vec![0; (numbers.len() * width as usize).div_ceil(64)];
        for (at, word) in (0..).zip(&words) {
            let apart = word.map_or(mask(width), |word| distance(word, base, step, at));
            put(&mut distances, at as usize * width as usize, width, apart);
        }
        Self { base, step, width: width as u8, form, distances: distances.into() }
    }

    #[inline]
    fn at<T: Number>(&self, at: usize) -> T {
        let width = u32::from(self.width);
        let apart = get(&self.distances, at * width as usize, width);
        let is_nan = self.form == Form::ThousandthsOrNan && apart == mask(width);
        let line = self.base.wrapping_add(self.step.wrapping_mul(at as u64));
        T::of((!is_nan).then(|| line.wrapping_add(apart)), self.form)
    }
}

/// How far a word is from the line.
fn distance(word: u64, base: u64, step: u64, at: u64) -> u64 {
    word.wrapping_sub(base).wrapping_sub(step.wrapping_mul(at))
}

/// The largest number of so many bits.
fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

/// Writes a number of `width` bits at bit `at`, where all bits are 0.
fn put(words: &mut [u64], at: usize, width: u32, number: u64) {
    if width == 0 {
        return;
    }
    let (word, bit) = (at / 64, at as u32 % 64);
    words[word] |= number << bit;
    if bit + width > 64 {
        words[word + 1] |= number >> (64 - bit);
    }
}

/// The number of `width` bits at bit `at`.
#[inline]
fn get(words: &[u64], at: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let (word, bit) = (at / 64, at as u32 % 64);
    let mut number = words[word] >> bit;
    if bit + width > 64 {
        number |= words[word + 1] << (64 - bit);
    }
    number & mask(width)
}

impl<T: Number> Numbers<T> {
    /// Adds a number.
    pub fn push(&mut self, number: T) {
        self.expanded.take();
        self.rest.push(number);
        if self.rest.len() == if self.chunks.is_empty() { PLAIN } else { CHUNK } {
            self.chunks.extend(self.rest.chunks_exact(CHUNK).map(Chunk::of));
            self.rest = Vec::with_capacity(CHUNK);
        }
    }

    /// Adds numbers that are not to be packed, to others that are not. Panics if some are.
    pub fn extend_unpacked(&mut self, numbers: impl Iterator<Item = T>) {
        assert!(self.chunks.is_empty(), "some numbers are packed");
        self.rest.extend(numbers);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.chunks.len() * CHUNK + self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at this place. Panics if there is none.
    #[inline]
    pub fn at(&self, place: usize) -> T {
        match self.chunks.get(place / CHUNK) {
            Some(chunk) => chunk.at(place % CHUNK),
            None => self.rest[place - self.chunks.len() * CHUNK],
        }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// All of them as a slice; `None` if they are packed.
    pub fn slice(&self) -> Option<&[T]> {
        self.chunks.is_empty().then_some(&self.rest)
    }

    /// All of them as a slice. If they are packed, they are expanded, and kept so: that is for columns that are known to
    /// be short, and for tests.
    pub fn expanded(&self) -> &[T] {
        self.slice().unwrap_or_else(|| self.expanded.get_or_init(|| self.iter().collect()))
    }

    /// All of them as a vector.
    pub fn into_vec(self) -> Vec<T> {
        if self.chunks.is_empty() { self.rest } else { self.iter().collect() }
    }

    /// Bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        let of_chunks: usize = self.chunks.iter().map(|chunk| chunk.distances.len() * 8).sum();
        of_chunks + self.chunks.len() * size_of::<Chunk>() + self.rest.capacity() * size_of::<T>()
    }
}

/// None at all.
impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), rest: Vec::new(), expanded: OnceLock::new() }
    }
}

/// They are stored as they are.
impl<T> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self { chunks: Vec::new(), rest: numbers, expanded: OnceLock::new() }
    }
}

/// They are packed if there are many.
impl<T: Number> FromIterator<T> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut all = Self::default();
        numbers.into_iter().for_each(|number| all.push(number));
        all
    }
}

impl<T: Number> PartialEq for Numbers<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Number + Serialize> Serialize for Numbers<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Number + Deserialize<'de>> Deserialize<'de> for Numbers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    /// Twelve chunks and some numbers more.
    const MANY: u64 = 12 * CHUNK as u64 + 7;

    fn packed<T: Number>(number: impl Fn(u64) -> T) -> Numbers<T> {
        (0..MANY).map(number).collect()
    }

    /// Bits of each number in the chunks.
    fn bits<T: Number>(numbers: &Numbers<T>) -> usize {
        let words: usize = numbers.chunks.iter().map(|chunk| chunk.distances.len()).sum();
        words * 64 / (numbers.chunks.len() * CHUNK)
    }

    #[test]
    fn whole_numbers_take_the_bits_of_their_distance_from_a_line() {
        let at = |at: u64| at;
        let cases: [(&dyn Fn(u64) -> u64, usize); 8] = [
            (&|_| u64::MAX, 0),
            (&|at| 3 * at + 5, 0),
            (&|at| 1_000_000 - 7 * at, 0),
            (&|at| at % 2, 1),
            // From 1,000 to 1,255.
            (&|at| 1_000 + mix(at) % 256, 8),
            // Three more for each, and up to 15 beside that.
            (&|at| 1_000_000 * at + mix(at) % 16, 5),
            (&mix, 64),
            (&|at| if at % 2 == 0 { 0 } else { u64::MAX }, 1),
        ];
        for (case, (number, width)) in cases.into_iter().enumerate() {
            let numbers = packed(number);
            assert!(numbers.iter().eq((0..MANY).map(number)), "case {case}");
            assert!(bits(&numbers) <= width, "case {case} takes {} bits", bits(&numbers));
        }
        assert_eq!(packed(at).at(5 * CHUNK + 3), 5 * CHUNK as u64 + 3);
        assert_eq!((packed(at).len(), packed(at).slice()), (MANY as usize, None));
        let mut all = packed(at);
        assert_eq!(all.expanded()[MANY as usize - 1], at(MANY - 1));
        all.push(at(MANY));
        assert_eq!(all.expanded()[MANY as usize..], [at(MANY)]);
    }

    #[test]
    fn real_numbers_have_the_same_bits_as_before() {
        let ns = |ps: u64| ps as f64 / 1e3;
        let cases: [(&dyn Fn(u64) -> f64, usize); 9] = [
            (&|_| f64::NAN, 0),
            (&|_| 0.0, 0),
            (&|at| if at % 2 == 0 { 0.0 } else { -0.0 }, 64),
            (&|at| ns(1_000 * at), 0),
            (&|at| ns(40_000_000_000_000 + mix(at) % 4_096), 12),
            // One of the 4,096 distances more, for those that are empty.
            (&|at| if at % 3 == 0 { f64::NAN } else { ns(mix(at) % 4_095) }, 12),
            (&|at| ns(mix(at) % 4_095) / 7.0, 64),
            (&|at| f64::from_bits(0x7ff8_0000_0000_0000 + at % 2), 1),
            (&|at| [f64::INFINITY, -1.0, 1e300, f64::MIN_POSITIVE][at as usize % 4], 64),
        ];
        for (case, (number, width)) in cases.into_iter().enumerate() {
            let numbers = packed(number);
            let all = numbers.iter().map(f64::to_bits);
            assert!(all.eq((0..MANY).map(|at| number(at).to_bits())), "case {case}");
            assert!(bits(&numbers) <= width, "case {case} takes {} bits", bits(&numbers));
        }
    }

    /// Numbers of every size beside each other, and columns that rise, fall and wrap around.
    #[test]
    fn whatever_is_put_in_comes_out() {
        for seed in 0..60 {
            let random = |at: u64| mix(seed << 32 | at);
            let step = random(1) >> (random(2) % 64);
            let noise = random(3) % 65;
            let extremes = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 53];
            let number = |at: u64| match (seed % 3, random(at + 9) % 50) {
                (0, 0) => extremes[random(at) as usize % extremes.len()],
                (1, 0) => random(at),
                _ => step
                    .wrapping_mul(at)
                    .wrapping_add(random(at).checked_shr(noise as u32).unwrap_or(0)),
            };
            assert!(packed(number).iter().eq((0..MANY).map(number)), "{seed}");
            let real = |at: u64| match (seed % 4, number(at)) {
                (0, word) => f64::from_bits(word),
                (1, word) if word % 3 == 0 => f64::NAN,
                (2, word) if word % 977 == 0 => {
                    [f64::NAN, -f64::NAN, -0.0, f64::INFINITY, 1e15, 999_999_999_999.999]
                        [at as usize % 6]
                }
                (_, word) => (word % (1 << (seed % 52))) as f64 / 1e3,
            };
            let bits = packed(real).iter().map(f64::to_bits).collect::<Vec<_>>();
            assert!(bits.iter().copied().eq((0..MANY).map(|at| real(at).to_bits())), "{seed}");
        }
    }

    #[test]
    fn few_are_a_slice_and_many_are_equal_however_they_are_stored() {
        let few: Numbers<u64> = (0..PLAIN as u64 - 1).collect();
        assert_eq!(few.slice().map(<[u64]>::len), Some(PLAIN - 1));
        let all: Vec<u64> = (0..MANY).map(mix).collect();
        let plain = Numbers::from(all.clone());
        assert_eq!((plain.slice(), &plain), (Some(&all[..]), &packed(mix)));
        assert_ne!(plain, packed(|at| mix(at) + u64::from(at == 777)));
        assert_eq!(packed(mix).into_vec(), all);
        // 12 chunks of 48 bytes, and room for a chunk.
        let bytes = packed(|at| 3 * at).bytes();
        assert!(bytes < 16 * size_of::<Chunk>() + CHUNK * 8 + 1, "{bytes}");
    }
}
