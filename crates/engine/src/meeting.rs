//! State shared by the threads of a run at the barrier after every window: the reports of their
//! workers, and the frames that they exchange.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::Part;
use crate::barrier::Barrier;
use crate::ranks::Totals;
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

impl Report {
    fn read(&self) -> Totals {
        Totals {
            next_window: self.next_window.load(Ordering::Relaxed),
            hops: self.hops.load(Ordering::Relaxed),
            flows_done: self.flows_done.load(Ordering::Relaxed),
            awaited_done: self.awaited_done.load(Ordering::Relaxed),
            unacknowledged: self.unacknowledged.load(Ordering::Relaxed),
            interrupted: 0,
        }
    }

    /// Replaces it.
    pub fn write(&self, totals: Totals) {
        self.next_window.store(totals.next_window, Ordering::Relaxed);
        self.hops.store(totals.hops, Ordering::Relaxed);
        self.flows_done.store(totals.flows_done, Ordering::Relaxed);
        self.awaited_done.store(totals.awaited_done, Ordering::Relaxed);
        self.unacknowledged.store(totals.unacknowledged, Ordering::Relaxed);
    }
}

impl<P: Part> Meeting<P> {
    /// For this number of workers, each with a thread, and for other processes if there are any: their
    /// report is the last one.
    pub fn new(workers: usize, others: bool) -> Self {
        let reports = workers + usize::from(others);
        let reports = [(); 2].map(|()| (0..reports).map(|_| Report::default()).collect());
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

    /// What all reports say together.
    pub fn totals(&self, turn: usize) -> Totals {
        let mut totals = Totals::NONE;
        self.reports[turn].iter().for_each(|report| totals.add(report.read()));
        totals
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
