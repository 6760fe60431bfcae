//! Selection of the SACK blocks that a receiver reports: most recent first (RFC 2018, section 4).

use floodway_model::SackBlock;

use crate::host::transport::numbers::Numbers;

/// Number of recent blocks that are remembered in order of arrival (Linux: 4).
const REMEMBERED: usize = 4;

/// Number of blocks that an acknowledgement has room for.
const TOLD: usize = 2;

/// The most recent blocks, each as its first number and the one after its last.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: [(u32, u32); REMEMBERED],
    count: usize,
}

impl Blocks {
    /// Whether a segment that is to be held moves a block out of the next acknowledgement: it begins another
    /// block, or extends one that is not among the most recent.
    pub fn moves_out(&self, psn: u32) -> bool {
        let extends = |&(from, to): &(u32, u32)| psn + 1 >= from && psn <= to;
        self.blocks[..self.count].iter().position(extends).unwrap_or(self.count) >= TOLD
    }

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
    pub fn told(&self, ack: u32, most: usize) -> [SackBlock; TOLD] {
        let mut told = [SackBlock::default(); TOLD];
        let near = self.blocks[..self.count].iter().filter_map(|&(from, to)| {
            let count = (to - from).min(u16::MAX.into()) as u16;
            Some(SackBlock { from: u16::try_from(from - ack).ok()?, count })
        });
        told.iter_mut().zip(near.take(most)).for_each(|(place, block)| *place = block);
        told
    }
}
