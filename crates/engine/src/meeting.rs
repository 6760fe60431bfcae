//! State shared by the threads of a run at the barrier after every window: the reports of their
//! workers, and the frames that they exchange.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::Part;
use crate::barrier::Barrier;
use crate::wire::Parcel;

/// State that workers exchange at the barrier. There are two copies, used alternately, so that a fast
/// thread can write for the next window while a slow one still reads for this one.
pub struct Meeting<P: Part> {
    pub barrier: Barrier,
    pub reports: [Vec<Report>; 2],
    pub mail: [Mail<P>; 2],
    /// Whether the run was interrupted; written by the first thread.
    pub interrupted: [AtomicBool; 2],
    /// Number of threads that work after this window; written by the first thread.
    pub active: [AtomicUsize; 2],
}

/// Frames between workers, with what is attached to them: `mail[from * workers + to]`.
pub type Mail<P> = Vec<Mutex<Vec<(Parcel<<P as Part>::Frame>, <P as Part>::Attached)>>>;

/// Report of one worker.
#[derive(Default)]
pub struct Report {
    /// First window in which the worker has something to do.
    pub next_window: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Flows completed.
    pub flows_done: AtomicU64,
    /// Of these, flows whose completion the measured interval waits for.
    pub awaited_done: AtomicU64,
    /// Completed flows that are not fully acknowledged; reported when all flows have completed.
    pub unacknowledged: AtomicU64,
}

impl<P: Part> Meeting<P> {
    /// For this number of workers, each with a thread.
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

    /// Sum of one reported value over all workers.
    pub fn sum(&self, turn: usize, of: impl Fn(&Report) -> &AtomicU64) -> u64 {
        self.reports[turn].iter().map(|report| of(report).load(Ordering::Relaxed)).sum()
    }

    /// First window in which any worker has something to do.
    pub fn next_window(&self, turn: usize) -> u64 {
        let earliest = |report: &Report| report.next_window.load(Ordering::Relaxed);
        self.reports[turn].iter().map(earliest).min().expect("there is a worker")
    }
}

/// Locks a mutex.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panicked while it held this")
}
