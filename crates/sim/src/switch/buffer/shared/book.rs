//! One book: a pool, and what is taken of it. How many times its free bytes one may hold, `alpha`, may
//! differ from port to port, and is told each time.

use super::Pool;

#[derive(Debug)]
pub(super) struct Book {
    pool: u64,
    guaranteed: u64,
    /// What all together hold above their guarantees; never more than the pool.
    used: u64,
}

impl Book {
    pub fn new(spec: &Pool) -> Self {
        Self { pool: spec.pool.0, guaranteed: spec.guaranteed.0, used: 0 }
    }

    /// Of `held` bytes, those in the pool.
    #[inline]
    fn excess(&self, held: u64) -> u64 {
        held.saturating_sub(self.guaranteed)
    }

    /// What one may hold of the pool.
    #[inline]
    fn allowed(&self, alpha: Option<f64>) -> f64 {
        alpha.map_or(f64::INFINITY, |alpha| alpha * (self.pool - self.used) as f64)
    }

    /// What one may hold.
    #[inline]
    pub fn threshold(&self, alpha: Option<f64>) -> f64 {
        self.guaranteed as f64 + self.allowed(alpha)
    }

    /// Whether one that holds `held` may take `bytes` more.
    #[inline]
    pub fn accepts(&self, alpha: Option<f64>, held: u64, bytes: u64) -> bool {
        let (before, after) = (self.excess(held), self.excess(held + bytes));
        // Above 1 or without a limit, alpha alone would give away more than there is.
        after == 0
            || (before + bytes) as f64 <= self.allowed(alpha)
                && after - before <= self.pool - self.used
    }

    /// One that held `held` has taken `bytes` more.
    #[inline]
    pub fn add(&mut self, held: u64, bytes: u64) {
        self.used += self.excess(held + bytes) - self.excess(held);
    }

    /// One that held `held` has given `bytes` back.
    #[inline]
    pub fn remove(&mut self, held: u64, bytes: u64) {
        self.used -= self.excess(held) - self.excess(held - bytes);
    }

    /// What is wrong with it, if these are all that hold something.
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
