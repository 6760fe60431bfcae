//! A pool, and the bytes in use. A holder, which is a queue or an ingress port and class, may use
//! `alpha` times the free bytes. `alpha` differs between ports, so it is an argument.

use super::Pool;

#[derive(Debug)]
pub(super) struct Accounting {
    pool: u64,
    guaranteed: u64,
    /// Bytes that all holders together use above their guarantees; at most the size of the pool.
    used: u64,
}

impl Accounting {
    pub fn new(spec: &Pool) -> Self {
        Self { pool: spec.pool.0, guaranteed: spec.guaranteed.0, used: 0 }
    }

    /// The part of `held` bytes that is taken from the pool.
    #[inline]
    fn excess(&self, held: u64) -> u64 {
        held.saturating_sub(self.guaranteed)
    }

    /// Maximum number of bytes of the pool for one holder.
    #[inline]
    fn allowed(&self, alpha: Option<f64>) -> f64 {
        alpha.map_or(f64::INFINITY, |alpha| alpha * (self.pool - self.used) as f64)
    }

    /// Maximum number of bytes for one holder, including its guarantee.
    #[inline]
    pub fn threshold(&self, alpha: Option<f64>) -> f64 {
        self.guaranteed as f64 + self.allowed(alpha)
    }

    /// Whether a holder of `held` bytes may take `bytes` more.
    #[inline]
    pub fn accepts(&self, alpha: Option<f64>, held: u64, bytes: u64) -> bool {
        let (before, after) = (self.excess(held), self.excess(held + bytes));
        // If alpha is above 1 or infinite, alpha alone would permit more than the pool has.
        after == 0
            || (before + bytes) as f64 <= self.allowed(alpha)
                && after - before <= self.pool - self.used
    }

    /// A holder of `held` bytes has taken `bytes` more.
    #[inline]
    pub fn add(&mut self, held: u64, bytes: u64) {
        self.used += self.excess(held + bytes) - self.excess(held);
    }

    /// A holder of `held` bytes has released `bytes`.
    #[inline]
    pub fn remove(&mut self, held: u64, bytes: u64) {
        self.used -= self.excess(held) - self.excess(held - bytes);
    }

    /// The error of the accounting, if there is one, given the bytes of all holders.
    pub fn audit(&self, name: &str, holdings: &mut dyn Iterator<Item = u64>) -> Option<String> {
        let found: u64 = holdings.map(|held| self.excess(held)).sum();
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
