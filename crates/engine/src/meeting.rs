//! Where the threads of a run meet once per window, and what their workers report and hand over
//! there.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::barrier::Barrier;
use crate::wire::Parcel;

/// What workers report to each other at the barrier. Two of each, used in turn, so that a fast thread can
/// write for the next window while a slow one still reads for this one.
pub struct Meeting<F> {
    pub barrier: Barrier,
    pub reports: [Vec<Report>; 2],
    pub mail: [Mail<F>; 2],
    /// Whether somebody asked for an end, as the first thread says.
    pub interrupted: [AtomicBool; 2],
    /// How many threads work after this window, as the first thread says.
    pub active: [AtomicUsize; 2],
}

/// Frames for other workers: `mail[from * workers + to]`.
pub type Mail<F> = Vec<Mutex<Vec<Parcel<F>>>>;

/// What one worker reports.
#[derive(Default)]
pub struct Report {
    /// The first window in which it has something to do.
    pub next_window: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Flows that have ended.
    pub flows_done: AtomicU64,
    /// Of these, flows until whose completion the measured interval lasts.
    pub awaited_done: AtomicU64,
    /// Flows that have ended and are not acknowledged to their end; reported when all have ended.
    pub unacknowledged: AtomicU64,
}

impl<F> Meeting<F> {
    /// Of so many workers, each with a thread.
    pub fn new(workers: usize) -> Self {
        let reports = [(); 2].map(|()| (0..workers).map(|_| Report::default()).collect());
        let mail = [(); 2].map(|()| (0..workers * workers).map(|_| Mutex::default()).collect());
        Self {
            barrier: Barrier::new(workers),
            reports,
            mail,
            interrupted: Default::default(),
            active: Default::default(),
        }
    }

    /// The sum over workers of what they reported.
    pub fn sum(&self, turn: usize, of: impl Fn(&Report) -> &AtomicU64) -> u64 {
        self.reports[turn].iter().map(|report| of(report).load(Ordering::Relaxed)).sum()
    }

    /// The first window in which a worker has something to do.
    pub fn next_window(&self, turn: usize) -> u64 {
        let earliest = |report: &Report| report.next_window.load(Ordering::Relaxed);
        self.reports[turn].iter().map(earliest).min().expect("there is a worker")
    }
}

/// What a lock guards.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panicked while it held this")
}
