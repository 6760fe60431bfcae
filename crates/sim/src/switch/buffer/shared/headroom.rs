//! A pool of headroom that all ports and lossless classes of a switch share. Each of them may still use
//! at most its own `headroom`, so the pool may be smaller than the sum: it is oversubscribed. SONiC
//! calls its size `xoff` of the ingress lossless pool, and Broadcom and Mellanox a shared headroom pool.
//!
//! An episode lasts from the first byte in an empty pool until it is empty again. Until the first loss,
//! a pool behaves as one without a limit, so the largest episode of a run says which smaller
//! pools had lost something.

use crate::metric::{fine_bin, fine_edge};

/// The pool, and how far it was used.
#[derive(Debug)]
pub struct HeadroomPool {
    size: u64,
    /// What ports and lossless classes may use together, each as much as it may.
    of_all: u64,
    /// Bytes in use.
    used: u64,
    /// Most bytes in use since the pool was empty.
    peak: u64,
    /// Most bytes in use of the whole run.
    max: u64,
    /// Episodes that have ended, by the bin of their peak.
    episodes: Vec<u64>,
}

impl HeadroomPool {
    /// An empty pool of `size` bytes, of which ports and classes may together use `of_all` if there
    /// are as many.
    pub(super) fn new(size: u64, of_all: u64) -> Self {
        Self { size, of_all, used: 0, peak: 0, max: 0, episodes: Vec::new() }
    }

    /// Whether there is room for `bytes` more.
    #[inline]
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.used + bytes <= self.size
    }

    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.used += bytes;
        self.peak = self.peak.max(self.used);
        self.max = self.max.max(self.used);
    }

    #[inline]
    pub(super) fn remove(&mut self, bytes: u64) {
        self.used -= bytes;
        if self.used == 0 && self.peak > 0 {
            count(&mut self.episodes, self.peak);
            self.peak = 0;
        }
    }

    /// A frame that needs so many bytes finds its port idle and leaves at once. It has found room.
    pub(super) fn pass(&mut self, bytes: u64) {
        self.add(bytes);
        self.remove(bytes);
    }

    /// Bytes that all ports and classes share.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The sum of what every port and lossless class may use.
    pub fn of_all(&self) -> u64 {
        self.of_all
    }

    /// Most bytes in use at any time, with frames that left at once.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Episodes by the upper edge of the bin of their peak, in ascending order. One that has not
    /// ended is among them.
    pub fn episodes(&self) -> Vec<(u64, u64)> {
        let mut all = self.episodes.clone();
        if self.peak > 0 {
            count(&mut all, self.peak);
        }
        let some = all.into_iter().enumerate().filter(|(_, episodes)| *episodes > 0);
        some.map(|(bin, episodes)| (fine_edge(bin), episodes)).collect()
    }

    /// The error of the accounting, if there is one, given the bytes in the headroom of all.
    pub(super) fn audit(&self, found: u64) -> Option<String> {
        let Self { size, used, .. } = self;
        (found != *used || used > size).then(|| {
            format!("the headroom pool of {size} bytes accounts for {used} and {found} are in use")
        })
    }
}

fn count(episodes: &mut Vec<u64>, peak: u64) {
    let bin = fine_bin(peak);
    if episodes.len() <= bin {
        episodes.resize(bin + 1, 0);
    }
    episodes[bin] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_by_hand() {
        let mut pool = HeadroomPool::new(1_000, 4_000);
        // 300, 700, 400, 0: an episode with a peak of 700, whose bin ends at 703, since bins of
        // eight bytes begin at 512.
        pool.add(300);
        pool.add(400);
        assert!(pool.has_room(300) && !pool.has_room(301));
        pool.remove(300);
        pool.remove(400);
        // Two of 100 bytes, where bins are exact, the second of which has not ended.
        pool.add(100);
        pool.remove(100);
        pool.add(100);
        assert_eq!(pool.audit(100), None);
        pool.remove(40);
        assert_eq!(pool.episodes(), [(100, 2), (703, 1)]);
        assert_eq!((pool.max(), pool.size(), pool.of_all()), (700, 1_000, 4_000));
        let wrong = "the headroom pool of 1000 bytes accounts for 60 and 61 are in use";
        assert_eq!(pool.audit(61), Some(wrong.to_owned()));
    }
}
