//! Where the threads of a run meet once per window, and what their workers tell and hand each other
//! there.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::barrier::Barrier;
use super::wire::Parcel;

/// What workers tell each other at the barrier. Two of each, used in turn, so that a fast thread can
/// write for the next window while a slow one still reads for this one.
pub struct Meeting {
    pub barrier: Barrier,
    pub tellings: [Vec<Telling>; 2],
    pub mail: [Mail; 2],
    /// Whether somebody asked for an end, which the first thread tells.
    pub interrupted: [AtomicBool; 2],
    /// How many threads work after this window, which the first thread tells.
    pub active: [AtomicUsize; 2],
}

/// Frames for other workers: `mail[from * workers + to]`.
pub type Mail = Vec<Mutex<Vec<Parcel>>>;

/// What one worker tells.
#[derive(Default)]
pub struct Telling {
    /// The first window in which it has something to do.
    pub next_window: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Flows that have ended.
    pub flows_done: AtomicU64,
    /// Of these, flows until whose completion the measured interval lasts.
    pub awaited_done: AtomicU64,
    /// Senders of flows that end and have not been acknowledged to their end; told when all have arrived.
    pub open: AtomicU64,
}

impl Meeting {
    /// Of so many workers, each with a thread.
    pub fn new(workers: usize) -> Self {
        let tellings = [(); 2].map(|()| (0..workers).map(|_| Telling::default()).collect());
        let mail = [(); 2].map(|()| (0..workers * workers).map(|_| Mutex::default()).collect());
        Self {
            barrier: Barrier::new(workers),
            tellings,
            mail,
            interrupted: Default::default(),
            active: Default::default(),
        }
    }

    /// The sum over workers of what they told.
    pub fn sum(&self, turn: usize, of: impl Fn(&Telling) -> &AtomicU64) -> u64 {
        self.tellings[turn].iter().map(|telling| of(telling).load(Ordering::Relaxed)).sum()
    }

    /// The first window in which a worker has something to do.
    pub fn next_window(&self, turn: usize) -> u64 {
        let earliest = |telling: &Telling| telling.next_window.load(Ordering::Relaxed);
        self.tellings[turn].iter().map(earliest).min().expect("there is a worker")
    }
}

/// What a lock guards.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panicked while it held this")
}
