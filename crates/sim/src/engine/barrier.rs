//! Where the threads of a run meet between windows.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A barrier for short waits: it spins a little, then gives its turn away, because a window takes
/// microseconds and waking a sleeping thread takes ten of them.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    spins: u32,
    waiting: AtomicUsize,
    generation: AtomicUsize,
}

impl Barrier {
    /// For this many threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // With fewer cores than threads, whoever spins keeps the one it waits for from running.
        let spins = if threads <= cores { SPINS } else { 0 };
        Self { threads, spins, waiting: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    /// Waits until every thread has come. What any of them did before is visible to all after.
    pub fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            if spins < self.spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// About 20 us at 3.7 GHz: longer than threads of a balanced window are apart.
const SPINS: u32 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_runs_ahead() {
        let (barrier, rounds) = (Barrier::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..500 {
                        assert!(rounds.load(Ordering::SeqCst) / 3 == round);
                        barrier.wait();
                        rounds.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
