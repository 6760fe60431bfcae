//! A pool, and the bytes in use. A holder, which is a queue or an ingress port and class, may use
//! `alpha` times the free bytes. The terms of a holder differ between ports and between queues, so
//! they are arguments.

use super::Pool;

/// What a holder has of a pool, and beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// `None` is complete sharing.
    pub alpha: Option<f64>,
    pub guaranteed: u64,
}

impl Terms {
    /// The part of `held` bytes that is taken from the pool.
    #[inline]
    fn excess(self, held: u64) -> u64 {
        held.saturating_sub(self.guaranteed)
    }
}

#[derive(Debug)]
pub(super) struct Accounting {
    pool: u64,
    /// Bytes that all holders together use above their guarantees; at most the size of the pool.
    used: u64,
}

impl Accounting {
    pub fn new(spec: &Pool) -> Self {
        Self { pool: spec.pool.0, used: 0 }
    }

    /// Maximum number of bytes of the pool for one holder.
    #[inline]
    fn allowed(&self, alpha: Option<f64>) -> f64 {
        alpha.map_or(f64::INFINITY, |alpha| alpha * (self.pool - self.used) as f64)
    }

    /// Maximum number of bytes for one holder, including its guarantee.
    #[inline]
    pub fn threshold(&self, terms: Terms) -> f64 {
        terms.guaranteed as f64 + self.allowed(terms.alpha)
    }

    /// Whether a holder of `held` bytes may take `bytes` more.
    #[inline]
    pub fn accepts(&self, terms: Terms, held: u64, bytes: u64) -> bool {
        let (before, after) = (terms.excess(held), terms.excess(held + bytes));
        // If alpha is above 1 or infinite, alpha alone would permit more than the pool has.
        after == 0
            || (before + bytes) as f64 <= self.allowed(terms.alpha)
                && after - before <= self.pool - self.used
    }

    /// A holder of `held` bytes has taken `bytes` more.
    #[inline]
    pub fn add(&mut self, terms: Terms, held: u64, bytes: u64) {
        self.used += terms.excess(held + bytes) - terms.excess(held);
    }

    /// A holder of `held` bytes has released `bytes`.
    #[inline]
    pub fn remove(&mut self, terms: Terms, held: u64, bytes: u64) {
        self.used -= terms.excess(held) - terms.excess(held - bytes);
    }

    /// The error of the accounting, if there is one, given the bytes of all holders.
    pub fn audit(
        &self,
        name: &str,
        holdings: &mut dyn Iterator<Item = (Terms, u64)>,
    ) -> Option<String> {
        let found: u64 = holdings.map(|(terms, held)| terms.excess(held)).sum();
        let used = self.used;
        (found != used || used > self.pool).then(|| {
            let pool = self.pool;
            format!(
                "the {name} pool of {pool} bytes accounts for {used} and {found} are in the buffer"
            )
        })
    }

    #[cfg(test)]
    pub fn used(&self) -> u64 {
        self.used
    }
}
