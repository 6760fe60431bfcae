//! Where the threads of a run meet between windows.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// A barrier for short waits that may become long. A window takes microseconds, less than waking a
/// thread takes, so whoever waits spins at first. After that it yields, in case the thread that it
/// waits for is ready and lacks a core, and then sleeps: on a busy machine that thread may not run for
/// milliseconds.
#[derive(Debug)]
pub struct Barrier {
    spins: u32,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    /// Threads that sleep or are about to.
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    opened: Condvar,
    /// How long threads have waited beyond spinning, all together, in nanoseconds.
    waited: AtomicU64,
    /// A thread has panicked and will not come again.
    broken: AtomicBool,
}

impl Barrier {
    /// For at most this many threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            // With fewer cores than threads, whoever spins keeps the one it waits for from running.
            spins: if threads <= cores { SPINS } else { 0 },
            waiting: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            opened: Condvar::new(),
            waited: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Tells all that wait or will that a thread has panicked.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// How long threads have waited here beyond spinning, all together, in nanoseconds.
    pub fn waited_ns(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// Whether a thread has panicked.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until so many threads have come, which all say the same number. What any of them did
    /// before is visible to all after. Panics if one of them has panicked: it would be waited for in
    /// vain.
    pub fn wait(&self, threads: usize) {
        if threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::SeqCst);
            self.wake();
            return;
        }
        let is_open = || {
            assert!(!self.is_broken(), "another thread of the run panicked");
            self.generation.load(Ordering::SeqCst) != generation
        };
        for _ in 0..self.spins {
            if is_open() {
                return;
            }
            std::hint::spin_loop();
        }
        let begun = Instant::now();
        for _ in 0..YIELDS {
            if is_open() {
                return self.count(begun);
            }
            std::thread::yield_now();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever opens the barrier does so before it looks for sleepers, and this thread is one
        // before it looks at the barrier: one of them sees the other.
        while !is_open() {
            guard = self.opened.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        self.count(begun);
    }

    fn count(&self, begun: Instant) {
        let waited = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
    }

    /// Wakes those that sleep.
    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Between looking at the barrier and sleeping, sleepers hold the lock.
            drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.opened.notify_all();
        }
    }
}

/// Some tens of microseconds: longer than the threads of a balanced window are apart.
const SPINS: u32 = 2_000;

/// About as long again when nobody else wants the core.
const YIELDS: u32 = 200;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[should_panic(expected = "another thread of the run panicked")]
    fn nobody_waits_for_one_that_panicked() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Until the other one sleeps.
                while barrier.sleepers.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                barrier.give_up();
            });
            barrier.wait(2);
        });
    }

    #[test]
    fn nobody_runs_ahead() {
        let (barrier, rounds) = (Barrier::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (barrier, rounds) = (&barrier, &rounds);
                scope.spawn(move || {
                    for round in 0..500 {
                        assert!(rounds.load(Ordering::SeqCst) / 3 == round);
                        if thread == round % 3 && round % 50 == 0 {
                            // The others sleep by now.
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        barrier.wait(3);
                        rounds.fetch_add(1, Ordering::SeqCst);
                        barrier.wait(3);
                    }
                });
            }
        });
        assert!(barrier.waited_ns() > 0);
    }
}
