//! iSLIP (McKeown, IEEE/ACM ToN 7(2), 1999): matches free inputs to free outputs by requests, grants
//! and accepts, with a round-robin pointer at every output and every input. A pointer moves to one
//! beyond the chosen port, but only if the grant is accepted in the first iteration. This
//! desynchronizes the pointers of outputs, and prevents starvation.
//!
//! With strict priority, outputs grant and inputs accept the lowest-numbered queue (the paper's
//! prioritized form, with one pointer for all levels).

use super::requests::{Requests, Words, all, has, insert, next, remove, words};

/// The ports that are not busy.
#[derive(Debug)]
pub(super) struct Free {
    pub inputs: Words,
    pub outputs: Words,
}

impl Free {
    /// All.
    pub fn new(ports: usize) -> Self {
        Self { inputs: all(ports), outputs: all(ports) }
    }
}

#[derive(Debug)]
pub(super) struct Islip {
    ports: usize,
    words: usize,
    /// By output: the input at its pointer.
    grant: Vec<u16>,
    /// By input: the output at its pointer.
    accept: Vec<u16>,
    /// By input and word: the outputs that have granted its request. Empty between calls.
    granted: Words,
    /// The inputs that have a grant. Empty between calls.
    chosen: Words,
    /// By output that has granted: the queue, with strict priority.
    level: Vec<u8>,
}

impl Islip {
    /// All pointers at port 0.
    pub fn new(ports: usize) -> Self {
        let words = words(ports);
        Self {
            ports,
            words,
            grant: vec![0; ports],
            accept: vec![0; ports],
            granted: vec![0; ports * words],
            chosen: vec![0; words],
            level: vec![0; ports],
        }
    }

    /// Matches free inputs to free outputs, removes them from `free`, and appends the pairs. Returns
    /// whether the matching is maximal; if not, more iterations would find more pairs.
    pub fn run(
        &mut self,
        requests: &Requests,
        free: &mut Free,
        iterations: u32,
        pairs: &mut Vec<(usize, usize)>,
    ) -> bool {
        for iteration in 0..iterations {
            if !self.grant(requests, free) {
                return true;
            }
            self.accept(requests.strict, iteration == 0, free, pairs);
        }
        false
    }

    /// Every free output grants one request. Returns whether there is a grant.
    fn grant(&mut self, requests: &Requests, free: &Free) -> bool {
        let mut any = false;
        for word in 0..self.words {
            let mut outputs = free.outputs[word];
            while outputs != 0 {
                let output = word * 64 + outputs.trailing_zeros() as usize;
                outputs &= outputs - 1;
                let Some((input, level)) = self.choose(output, requests, free) else { continue };
                insert(&mut self.granted[input * self.words..][..self.words], output);
                insert(&mut self.chosen, input);
                self.level[output] = level;
                any = true;
            }
        }
        any
    }

    fn choose(&self, output: usize, requests: &Requests, free: &Free) -> Option<(usize, u8)> {
        let start = usize::from(self.grant[output]);
        let rooms = requests.rooms(output);
        let queues = || (0..8u8).filter(move |queue| rooms >> queue & 1 != 0);
        let of = |queue: u8, word: usize| requests.of(output, queue.into())[word];
        if requests.strict {
            return queues().find_map(|queue| {
                let input = next(self.words, start, |w| of(queue, w) & free.inputs[w])?;
                Some((input, queue))
            });
        }
        let any = |word: usize| queues().fold(0, |set, queue| set | of(queue, word));
        let input = next(self.words, start, |word| any(word) & free.inputs[word])?;
        Some((input, 0))
    }

    /// Every input with grants accepts one.
    fn accept(
        &mut self,
        strict: bool,
        first: bool,
        free: &mut Free,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        for word in 0..self.words {
            let mut inputs = std::mem::take(&mut self.chosen[word]);
            while inputs != 0 {
                let input = word * 64 + inputs.trailing_zeros() as usize;
                inputs &= inputs - 1;
                let granted = &mut self.granted[input * self.words..][..self.words];
                if strict {
                    keep_first_level(granted, &self.level);
                }
                let start = usize::from(self.accept[input]);
                let output = next(self.words, start, |word| granted[word]);
                let output = output.expect("an input that was chosen has a grant");
                granted.fill(0);
                remove(&mut free.inputs, input);
                remove(&mut free.outputs, output);
                pairs.push((input, output));
                if first {
                    self.grant[output] = ((input + 1) % self.ports) as u16;
                    self.accept[input] = ((output + 1) % self.ports) as u16;
                }
            }
        }
    }

    /// The pointers of outputs and of inputs.
    #[cfg(test)]
    pub fn pointers(&self) -> (&[u16], &[u16]) {
        (&self.grant, &self.accept)
    }
}

/// Keeps the outputs of the set with the lowest level.
fn keep_first_level(set: &mut [u64], level: &[u8]) {
    let members = (0..level.len()).filter(|&output| has(set, output));
    let lowest = members.map(|output| level[output]).min();
    for (output, level) in level.iter().enumerate() {
        if Some(*level) != lowest {
            remove(set, output);
        }
    }
}
