//! Where the threads of a run meet between windows.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A barrier for short waits: it spins a little, then gives its turn away, because a window takes
/// microseconds and waking a sleeping thread takes no less.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    spins: u32,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    /// A thread has panicked and will not come again.
    broken: AtomicBool,
}

impl Barrier {
    /// For this many threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // With fewer cores than threads, whoever spins keeps the one it waits for from running.
        let spins = if threads <= cores { SPINS } else { 0 };
        Self {
            threads,
            spins,
            waiting: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Breaks the barrier if the thread that holds the guard panics.
    pub fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Waits until every thread has come. What any of them did before is visible to all after.
    /// Panics if one of them has panicked: it would be waited for in vain.
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
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the run panicked");
            if spins < self.spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// See [`Barrier::guard`].
pub struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Some tens of microseconds: longer than the threads of a balanced window are apart.
const SPINS: u32 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_one_that_panicked() {
        let barrier = Barrier::new(2);
        let ended = std::thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _guard = barrier.guard();
                panic!("on purpose");
            });
            let waits = scope.spawn(|| {
                let _guard = barrier.guard();
                barrier.wait();
            });
            [panics.join().is_err(), waits.join().is_err()]
        });
        assert_eq!(ended, [true, true]);
    }

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
