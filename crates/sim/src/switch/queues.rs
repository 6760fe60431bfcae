//! The queues of a port, beside it in memory.

use std::ops::{Deref, DerefMut};

use super::queue::Queue;

/// Queues that a port has in itself. A port with more has all of them elsewhere.
const FEW: usize = 4;

/// Data queues, followed by the control queue.
#[derive(Debug)]
#[repr(C)]
pub struct Queues {
    count: usize,
    /// All queues, if they are more than a few.
    many: Option<Box<Many>>,
    few: [Queue; FEW],
}

/// The queues of a port with more than a few. A pointer to it takes eight bytes, one to a slice sixteen.
#[derive(Debug)]
struct Many(Vec<Queue>);

impl Queues {
    /// These queues.
    pub fn new(queues: impl IntoIterator<Item = Queue>) -> Self {
        let mut all: Vec<Queue> = queues.into_iter().collect();
        let count = all.len();
        let mut few = [const { None }; FEW];
        let many = if count > FEW {
            Some(Box::new(Many(all)))
        } else {
            few.iter_mut().zip(all.drain(..)).for_each(|(place, queue)| *place = Some(queue));
            None
        };
        Self { count, many, few: few.map(Option::unwrap_or_default) }
    }
}

impl Deref for Queues {
    type Target = [Queue];

    #[inline(always)]
    fn deref(&self) -> &[Queue] {
        match &self.many {
            None => &self.few[..self.count],
            Some(many) => &many.0,
        }
    }
}

impl DerefMut for Queues {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Queue] {
        match &mut self.many {
            None => &mut self.few[..self.count],
            Some(many) => &mut many.0,
        }
    }
}

impl<'a> IntoIterator for &'a Queues {
    type Item = &'a Queue;
    type IntoIter = std::slice::Iter<'a, Queue>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
