//! Requests of a crossbar: for every output and data queue, the inputs with a frame that may cross to
//! it.

/// One bit per port, in words of 64.
pub(super) type Words = Vec<u64>;

pub(super) fn words(ports: usize) -> usize {
    ports.div_ceil(64)
}

/// A set of all ports.
pub(super) fn all(ports: usize) -> Words {
    let mut set = vec![0; words(ports)];
    (0..ports).for_each(|port| insert(&mut set, port));
    set
}

pub(super) fn insert(set: &mut [u64], port: usize) {
    set[port / 64] |= 1 << (port % 64);
}

pub(super) fn remove(set: &mut [u64], port: usize) {
    set[port / 64] &= !(1 << (port % 64));
}

pub(super) fn has(set: &[u64], port: usize) -> bool {
    set[port / 64] >> (port % 64) & 1 != 0
}

/// The first port from `start` on, and then from 0 on, whose bit is set.
#[inline]
pub(super) fn next(words: usize, start: usize, word: impl Fn(usize) -> u64) -> Option<usize> {
    let (first, from) = (start / 64, !0 << (start % 64));
    let lowest =
        |at: usize, bits: u64| (bits != 0).then(|| at * 64 + bits.trailing_zeros() as usize);
    let masked = |at: usize, mask: u64| lowest(at, word(at) & mask);
    masked(first, from)
        .or_else(|| (first + 1..words).find_map(|at| lowest(at, word(at))))
        .or_else(|| (0..first).find_map(|at| lowest(at, word(at))))
        .or_else(|| masked(first, !from))
}

/// The requests of all inputs of a switch, and the egress queues with room.
#[derive(Debug)]
pub struct Requests {
    /// By output, data queue and word.
    bits: Words,
    /// By output: bit q is set if its queue q has room.
    rooms: Vec<u8>,
    queues: usize,
    words: usize,
    /// Whether queues with lower numbers have strict priority.
    pub strict: bool,
}

impl Requests {
    /// No requests, and room in all queues.
    pub fn new(ports: usize, queues: usize, strict: bool) -> Self {
        let words = words(ports);
        let rooms = vec![u8::MAX >> (8 - queues); ports];
        Self { bits: vec![0; ports * queues * words], rooms, queues, words, strict }
    }

    fn row(&self, output: usize, queue: usize) -> std::ops::Range<usize> {
        let first = (output * self.queues + queue) * self.words;
        first..first + self.words
    }

    /// The inputs with a frame for this queue of this output.
    pub fn of(&self, output: usize, queue: usize) -> &[u64] {
        &self.bits[self.row(output, queue)]
    }

    pub fn set(&mut self, input: usize, output: usize, queue: usize) {
        let row = self.row(output, queue);
        insert(&mut self.bits[row], input);
    }

    pub fn clear(&mut self, input: usize, output: usize, queue: usize) {
        let row = self.row(output, queue);
        remove(&mut self.bits[row], input);
    }

    /// Bit mask of the queues of an output with room.
    pub fn rooms(&self, output: usize) -> u8 {
        self.rooms[output]
    }

    /// Sets whether a queue has room.
    pub fn set_room(&mut self, output: usize, queue: usize, room: bool) {
        let rooms = &mut self.rooms[output];
        *rooms = *rooms & !(1 << queue) | u8::from(room) << queue;
    }

    /// Bit mask of the queues for which `input` may send a frame to `output` now.
    pub fn between(&self, input: usize, output: usize) -> u8 {
        let has = |&queue: &usize| has(self.of(output, queue), input);
        let wanted = (0..self.queues).filter(has).fold(0, |set, queue| set | 1 << queue);
        wanted & self.rooms(output)
    }

    /// Whether one of these inputs has a frame for this queue.
    pub fn any(&self, output: usize, queue: usize, inputs: &[u64]) -> bool {
        self.of(output, queue).iter().zip(inputs).any(|(wants, free)| wants & free != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_is_found_round_the_end() {
        let mut set = vec![0; words(130)];
        for port in [3, 64, 129] {
            insert(&mut set, port);
        }
        let found = |start| next(3, start, |word| set[word]);
        assert_eq!([0, 3, 4, 64, 65, 129].map(found), [3, 3, 64, 64, 129, 129].map(Some));
        let one = [1 << 3, 0];
        assert_eq!(next(2, 4, |word| one[word]), Some(3));
        assert_eq!(next(2, 100, |_| 0), None);
        assert!(has(&all(65), 64) && all(65)[1] == 1);
    }
}
