//! Selection of the SACK blocks that a receiver reports: most recent first (RFC 2018, section 4).

use floodway_model::SackBlock;

use crate::host::transport::numbers::Numbers;

/// Number of recent blocks that are remembered in order of arrival (Linux: 4).
const REMEMBERED: usize = 4;

/// The most recent blocks, each as its first number and the one after its last.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: [(u32, u32); REMEMBERED],
    count: usize,
}

impl Blocks {
    /// A segment has arrived that is held with others.
    pub fn on_held(&mut self, held: &Numbers, psn: u32) {
        let (from, to) = (held.first_of_run(psn), held.next_absent(psn));
        self.keep(|(start, end)| end < from || start > to);
        let kept = self.count.min(REMEMBERED - 1);
        self.blocks.copy_within(..kept, 1);
        self.blocks[0] = (from, to);
        self.count = kept + 1;
    }

    /// Everything below `expected` has arrived.
    pub fn forget_below(&mut self, expected: u32) {
        self.keep(|(_, end)| end > expected);
    }

    fn keep(&mut self, keep: impl Fn((u32, u32)) -> bool) {
        let mut kept = 0;
        for place in 0..self.count {
            if keep(self.blocks[place]) {
                self.blocks[kept] = self.blocks[place];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// The first `most` blocks that can be reported relative to `ack`.
    pub fn told(&self, ack: u32, most: usize) -> [SackBlock; 2] {
        let mut told = [SackBlock::default(); 2];
        let near = self.blocks[..self.count].iter().filter_map(|&(from, to)| {
            let count = (to - from).min(u16::MAX.into()) as u16;
            Some(SackBlock { from: u16::try_from(from - ack).ok()?, count })
        });
        told.iter_mut().zip(near.take(most)).for_each(|(place, block)| *place = block);
        told
    }
}
