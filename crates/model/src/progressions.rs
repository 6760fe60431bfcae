//! Lists that are stored as arithmetic progressions where that takes less memory. The flows of a collective, and all that
//! is known of them before they begin, follow few rules: of an all-to-all of N hosts, the list of N (N - 1) flows has
//! about 2 N progressions.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::flow::{FlowSpec, Trigger};
use crate::id::{FlowId, NodeId};

/// An element of [`Progressions`].
pub trait Stepped: Clone {
    /// The difference between an element of a progression and the next one.
    type Step: Copy + Debug + Default + PartialEq;

    /// The step from this element to `next`; `None` if no progression has both.
    fn step_to(&self, next: &Self) -> Option<Self::Step>;

    /// The element that follows after this many steps.
    #[must_use]
    fn after(&self, step: Self::Step, count: u32) -> Self;
}

impl Stepped for u32 {
    type Step = u32;

    fn step_to(&self, next: &Self) -> Option<u32> {
        Some(next.wrapping_sub(*self))
    }

    #[inline]
    fn after(&self, step: u32, count: u32) -> Self {
        self.wrapping_add(step.wrapping_mul(count))
    }
}

impl Stepped for bool {
    type Step = ();

    fn step_to(&self, next: &Self) -> Option<()> {
        (self == next).then_some(())
    }

    fn after(&self, (): (), _count: u32) -> Self {
        *self
    }
}

impl Stepped for (u32, u32) {
    type Step = (u32, u32);

    fn step_to(&self, next: &Self) -> Option<(u32, u32)> {
        self.0.step_to(&next.0).zip(self.1.step_to(&next.1))
    }

    #[inline]
    fn after(&self, (first, second): (u32, u32), count: u32) -> Self {
        (self.0.after(first, count), self.1.after(second, count))
    }
}

impl Stepped for FlowId {
    type Step = u32;

    fn step_to(&self, next: &Self) -> Option<u32> {
        self.0.step_to(&next.0)
    }

    #[inline]
    fn after(&self, step: u32, count: u32) -> Self {
        Self(self.0.after(step, count))
    }
}

/// Source and destination have steps; all else is equal.
impl Stepped for FlowSpec {
    type Step = (u32, u32);

    fn step_to(&self, next: &Self) -> Option<(u32, u32)> {
        let alike = Self { src: next.src, dst: next.dst, ..self.clone() } == *next;
        if alike { (self.src.0, self.dst.0).step_to(&(next.src.0, next.dst.0)) } else { None }
    }

    fn after(&self, step: (u32, u32), count: u32) -> Self {
        let (src, dst) = (self.src.0, self.dst.0).after(step, count);
        Self { src: NodeId(src), dst: NodeId(dst), ..self.clone() }
    }
}

/// Both flows have steps; the delay is equal.
impl Stepped for Trigger {
    type Step = (u32, u32);

    fn step_to(&self, next: &Self) -> Option<(u32, u32)> {
        let step = (self.after.0, self.begins.0).step_to(&(next.after.0, next.begins.0));
        step.filter(|_| self.delay == next.delay)
    }

    fn after(&self, step: (u32, u32), count: u32) -> Self {
        let (after, begins) = (self.after.0, self.begins.0).after(step, count);
        Self { after: FlowId(after), begins: FlowId(begins), delay: self.delay }
    }
}

/// A list whose clones share its memory until one of them is changed.
///
/// A list that is collected from an iterator is stored as progressions if that takes less memory; one that is made from a
/// vector is that vector. [`at`](Self::at) and [`each`](Self::each) read both forms. As a slice, for which it can be
/// dereferenced, a list of progressions needs the memory of all elements from then on, and a change turns it into a
/// vector: for few elements, and for tests.
#[derive(Clone, Debug)]
pub struct Progressions<T: Stepped>(Arc<Form<T>>);

#[derive(Clone, Debug)]
enum Form<T: Stepped> {
    Plain(Vec<T>),
    Runs(Runs<T>),
}

/// Elements by progressions.
#[derive(Clone, Debug)]
struct Runs<T: Stepped> {
    runs: Vec<Run<T>>,
    /// By number of a block of [`BLOCK`] elements: the progression of its first element.
    blocks: Vec<u32>,
    len: usize,
    /// All elements, once they have been asked for as a slice.
    expanded: OnceLock<Vec<T>>,
}

/// One progression; it ends where the next one begins.
#[derive(Clone, Copy, Debug)]
struct Run<T: Stepped> {
    /// Index of its first element.
    first: u32,
    value: T,
    step: T::Step,
}

/// Elements for which the place of their progression is looked up at once.
const BLOCK: usize = 256;

/// Shorter lists are vectors, because these are faster.
const SHORT: usize = 64;

impl<T: Stepped> Runs<T> {
    fn at(&self, index: usize) -> T {
        assert!(index < self.len, "element {index} of a list of {}", self.len);
        let mut run = self.blocks[index / BLOCK] as usize;
        while self.runs.get(run + 1).is_some_and(|next| next.first as usize <= index) {
            run += 1;
        }
        let Run { first, value, step } = &self.runs[run];
        value.after(*step, (index - *first as usize) as u32)
    }
}

impl<T: Stepped> Progressions<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match &*self.0 {
            Form::Plain(list) => list.len(),
            Form::Runs(runs) => runs.len,
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that its elements take.
    pub fn bytes(&self) -> usize {
        match &*self.0 {
            Form::Plain(list) => list.capacity() * size_of::<T>(),
            Form::Runs(Runs { runs, blocks, expanded, .. }) => {
                let expanded = expanded.get().map_or(0, Vec::capacity) * size_of::<T>();
                runs.capacity() * size_of::<Run<T>>() + blocks.capacity() * 4 + expanded
            }
        }
    }

    /// The element at this index. Panics if there is none.
    #[inline]
    pub fn at(&self, index: usize) -> T {
        match &*self.0 {
            Form::Plain(list) => list[index].clone(),
            Form::Runs(runs) => runs.at(index),
        }
    }

    /// All elements in order.
    pub fn each(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    /// In a sorted list, the index of the first element for which `before` is false.
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if before(&self.at(middle)) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

/// Collects a list, see [`Progressions`].
#[derive(Clone, Debug)]
pub struct Collector<T: Stepped> {
    /// All elements, unless they are in `runs`.
    plain: Vec<T>,
    runs: Vec<Run<T>>,
    /// The last element and the number of elements, if they are in `runs`.
    last: Option<T>,
    len: usize,
}

impl<T: Stepped> Default for Collector<T> {
    fn default() -> Self {
        Self { plain: Vec::new(), runs: Vec::new(), last: None, len: 0 }
    }
}

impl<T: Stepped> Collector<T> {
    /// Adds an element.
    pub fn push(&mut self, element: T) {
        self.len += 1;
        if self.last.is_some() {
            self.extend_runs(element);
            if !self.pays() {
                self.plain = self.expand();
                (self.runs, self.last) = (Vec::new(), None);
            }
            return;
        }
        self.plain.push(element);
        // Tried once in a while, so that a list that begins without a rule may have one later.
        if self.len >= SHORT && self.len.is_power_of_two() {
            let plain = std::mem::take(&mut self.plain);
            plain.iter().cloned().zip(1..).for_each(|(element, len)| {
                self.len = len;
                self.extend_runs(element);
            });
            if !self.pays() {
                (self.plain, self.runs, self.last) = (plain, Vec::new(), None);
            }
        }
    }

    /// Adds the last of `len` elements to the progressions.
    fn extend_runs(&mut self, element: T) {
        let first = (self.len - 1) as u32;
        let step = self.last.as_ref().and_then(|last| last.step_to(&element));
        match (self.runs.last_mut(), step) {
            // Two elements make a progression, a third one must fit.
            (Some(run), Some(step)) if first == run.first + 1 => run.step = step,
            (Some(run), Some(step)) if run.step == step => {}
            _ => {
                let (value, step) = (element.clone(), T::Step::default());
                self.runs.push(Run { first, value, step });
            }
        }
        self.last = Some(element);
    }

    /// Whether the progressions take less than half of the memory of the elements.
    fn pays(&self) -> bool {
        2 * self.runs.len() * size_of::<Run<T>>() < self.len * size_of::<T>() + SHORT
    }

    fn expand(&self) -> Vec<T> {
        let ends = self.runs.iter().skip(1).map(|next| next.first).chain([self.len as u32]);
        let runs = self.runs.iter().zip(ends);
        runs.flat_map(|(run, end)| (0..end - run.first).map(|at| run.value.after(run.step, at)))
            .collect()
    }

    /// The list.
    pub fn finish(mut self) -> Progressions<T> {
        if self.last.is_none() {
            self.plain.shrink_to_fit();
            return self.plain.into();
        }
        self.runs.shrink_to_fit();
        let mut run = 0;
        let block = |block: usize| {
            let next = |run: usize| self.runs.get(run + 1).map(|next| next.first as usize);
            while next(run).is_some_and(|next| next <= block * BLOCK) {
                run += 1;
            }
            run as u32
        };
        let blocks = (0..self.len.div_ceil(BLOCK)).map(block).collect();
        let expanded = OnceLock::new();
        let runs = Runs { blocks, len: self.len, expanded, runs: self.runs };
        Progressions(Arc::new(Form::Runs(runs)))
    }
}

impl<T: Stepped> FromIterator<T> for Progressions<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut collector = Collector::default();
        elements.into_iter().for_each(|element| collector.push(element));
        collector.finish()
    }
}

impl<T: Stepped> From<Vec<T>> for Progressions<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Arc::new(Form::Plain(list)))
    }
}

impl<T: Stepped> From<Box<[T]>> for Progressions<T> {
    fn from(list: Box<[T]>) -> Self {
        list.into_vec().into()
    }
}

impl<T: Stepped, const N: usize> From<[T; N]> for Progressions<T> {
    fn from(list: [T; N]) -> Self {
        Vec::from(list).into()
    }
}

impl<T: Stepped> Default for Progressions<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Stepped + PartialEq> PartialEq for Progressions<T> {
    fn eq(&self, other: &Self) -> bool {
        self.each().eq(other.each())
    }
}

impl<T: Stepped> Deref for Progressions<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match &*self.0 {
            Form::Plain(list) => list,
            Form::Runs(runs) => runs.expanded.get_or_init(|| self.each().collect()),
        }
    }
}

impl<T: Stepped> DerefMut for Progressions<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if matches!(&*self.0, Form::Runs(_)) {
            *self = self.each().collect::<Vec<T>>().into();
        }
        match Arc::make_mut(&mut self.0) {
            Form::Plain(list) => list,
            Form::Runs(_) => unreachable!("it has just become a vector"),
        }
    }
}

impl<'a, T: Stepped> IntoIterator for &'a Progressions<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Stepped> IntoIterator for &'a mut Progressions<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// As progressions, each with its first element, its step and its length, whatever the form: equal lists have equal
/// texts, and that of an all-to-all is short.
impl<T> Serialize for Progressions<T>
where
    T: Stepped + Serialize,
    T::Step: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut open: Option<(T, T::Step, u32)> = None;
        let mut last: Option<T> = None;
        for element in self.each() {
            let step = last.as_ref().and_then(|last| last.step_to(&element));
            match (&mut open, step) {
                (Some((_, of, count)), Some(step)) if *count == 1 || *of == step => {
                    (*of, *count) = (step, *count + 1);
                }
                _ => {
                    let next = (element.clone(), T::Step::default(), 1);
                    open.replace(next).iter().try_for_each(|run| list.serialize_element(run))?;
                }
            }
            last = Some(element);
        }
        open.iter().try_for_each(|run| list.serialize_element(run))?;
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Duration, Instant};

    fn runs<T: Stepped>(list: &Progressions<T>) -> Option<usize> {
        match &*list.0 {
            Form::Plain(_) => None,
            Form::Runs(runs) => Some(runs.runs.len()),
        }
    }

    /// The flows of an all-to-all, host by host, each to the hosts after it.
    fn all_to_all(hosts: u32) -> Vec<FlowSpec> {
        let flow = |src: u32, step: u32| FlowSpec {
            src: NodeId(src),
            dst: NodeId((src + step) % hosts),
            bytes: 4_000,
            start: Instant(7),
            stop: Instant::NEVER,
            workload: 3,
            in_turn: false,
        };
        (0..hosts).flat_map(|src| (1..hosts).map(move |step| flow(src, step))).collect()
    }

    #[test]
    fn the_flows_of_an_all_to_all_are_two_progressions_for_each_host() {
        let flows = all_to_all(100);
        let list: Progressions<FlowSpec> = flows.iter().cloned().collect();
        // The first host sends to all after it, without beginning again at 0, and so does the last.
        assert_eq!(runs(&list), Some(2 * 100 - 2));
        assert_eq!(list.len(), 9_900);
        assert!(list.each().eq(flows.iter().cloned()));
        assert_eq!((list.at(255), list.at(256)), (flows[255].clone(), flows[256].clone()));
        assert!(list.bytes() < 9_900 * size_of::<FlowSpec>() / 20, "{} bytes", list.bytes());
        // As a slice, and changed, it is the vector.
        assert_eq!(list[..], flows[..]);
        assert!(list.bytes() > 9_900 * size_of::<FlowSpec>());
        let mut changed = list.clone();
        changed[1].bytes = 1;
        assert_eq!((changed.at(1).bytes, list.at(1).bytes), (1, 4_000));
        assert_eq!(runs(&changed), None);
        assert_eq!(list, flows.into());
    }

    #[test]
    fn what_has_no_rule_is_a_vector() {
        let random = |at: u32| FlowId(crate::random::mix(at.into()) as u32);
        let list: Progressions<FlowId> = (0..10_000).map(random).collect();
        assert_eq!(runs(&list), None);
        assert!(list.each().eq((0..10_000).map(random)));
        // A rule that begins later, and one that ends.
        let later = |at: u32| if at < 100 { random(at) } else { FlowId(at) };
        let list: Progressions<FlowId> = (0..10_000).map(later).collect();
        assert_eq!(runs(&list), Some(51));
        assert!(list.each().eq((0..10_000).map(later)));
        let ends = |at: u32| if at < 5_000 { FlowId(3 * at) } else { random(at) };
        let list: Progressions<FlowId> = (0..10_000).map(ends).collect();
        assert_eq!(runs(&list), None);
        assert!(list.each().eq((0..10_000).map(ends)));
        // Short ones are vectors.
        assert_eq!(runs(&(0..10).map(FlowId).collect()), None);
    }

    #[test]
    fn elements_that_only_seem_to_follow_are_apart() {
        let trigger = |(after, delay): (u32, u64)| Trigger {
            after: FlowId(after),
            begins: FlowId(after + 8),
            delay: Duration(delay),
        };
        let all = || (0..200).map(|at| (at, u64::from(at >= 100))).map(trigger);
        let list: Progressions<Trigger> = all().collect();
        assert_eq!(runs(&list), Some(2));
        assert!(list.each().eq(all()));
        let bits: Progressions<bool> = (0..1_000).map(|at| at == 500).collect();
        assert_eq!(runs(&bits), Some(3));
        assert_eq!(bits.each().filter(|bit| *bit).count(), 1);
    }

    #[test]
    fn sorted_lists_are_searched_like_slices() {
        let list: Progressions<u32> = (0..1_000).map(|at| at / 100 * 7).collect();
        let plain: Vec<u32> = list.each().collect();
        for value in 0..80 {
            let expected = plain.partition_point(|&element| element < value);
            assert_eq!(list.partition_point(|&element| element < value), expected);
        }
    }

    #[test]
    fn a_clone_shares_the_list_until_it_is_changed() {
        let list = Progressions::from(vec![1u32, 2, 3]);
        let mut other = list.clone();
        assert_eq!(other.as_ptr(), list.as_ptr());
        other[1] = 5;
        assert_eq!((&list[..], &other[..]), (&[1, 2, 3][..], &[1, 5, 3][..]));
        // An owner that is alone changes the list in place.
        let before = other.as_ptr();
        other[0] = 4;
        assert_eq!(other.as_ptr(), before);
    }

    #[test]
    #[should_panic(expected = "element 100 of a list of 100")]
    fn there_is_nothing_behind_the_end() {
        (0..100).map(FlowId).collect::<Progressions<FlowId>>().at(100);
    }
}
