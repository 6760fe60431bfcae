//! Barrier at which the threads of a run synchronize between windows.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A barrier for waits that are usually short but may become long. A window takes microseconds, less
/// than it takes to wake a thread, so a waiting thread spins first. Then it yields, in case the thread
/// that it waits for is ready to run and lacks a core. Finally it sleeps: on a busy machine the other
/// thread may not run for milliseconds.
#[derive(Debug)]
pub struct Barrier {
    spins: u32,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    /// Threads that sleep or are about to sleep.
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    opened: Condvar,
    /// Total time that all threads have waited beyond spinning, in nanoseconds.
    waited: AtomicU64,
    /// Set when a thread has panicked and will not reach the barrier again.
    broken: AtomicBool,
}

impl Barrier {
    /// A barrier for at most `threads` threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            // With fewer cores than threads, a spinning thread keeps the thread it waits for from
            // running.
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

    /// Marks the barrier as broken after a panic, so that present and future waiters stop waiting.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Total time that all threads have waited here beyond spinning, in nanoseconds.
    pub fn waited_ns(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// Whether a thread has panicked.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until `threads` threads have reached the barrier; all must pass the same number. What
    /// any of them wrote before is visible to all of them afterwards. Panics if one of the threads
    /// has panicked, because it would never arrive.
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
        while begun.elapsed() < YIELDING {
            if is_open() {
                return self.count(begun);
            }
            std::thread::yield_now();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread that opens the barrier does so before it checks for sleepers, and this thread
        // registers as a sleeper before it checks the barrier, so at least one of them sees the
        // other.
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

    /// Wakes the sleeping threads.
    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Sleepers hold the lock from checking the barrier until they sleep; taking it here
            // means that no wakeup is lost.
            drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.opened.notify_all();
        }
    }
}

/// Some tens of microseconds: longer than the difference in arrival times in a balanced window.
const SPINS: u32 = 2_000;

/// Longer than it takes to wake a thread, which on a virtual machine may be some tenths of a millisecond. Otherwise a
/// thread that wakes another one would sleep before that one has reached the next barrier, and so on: they would sleep
/// in every window.
const YIELDING: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "another thread of the run panicked")]
    fn nobody_waits_for_one_that_panicked() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Wait until the other thread sleeps.
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
                            // By now the other threads sleep.
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
