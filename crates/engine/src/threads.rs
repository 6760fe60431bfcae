//! The threads of a run, and which of them runs which nodes.
//!
//! Nodes are shared out among workers once, as many as there may be threads. When a thread works, it
//! has a worker, or several if fewer threads work than there are workers
//! ([`Governor`](crate::governor::Governor)). That changes between windows, where results cannot
//! depend on it.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use floodway_model::Instant;

use crate::governor::Reading;
use crate::meeting::{Meeting, lock};
use crate::windows::Windows;
use crate::worker::Worker;
use crate::{Limits, Part, Progress, Stop};

/// The workers of a run and what their threads have agreed on.
pub struct Threads<'a, P: Part> {
    workers: Vec<Mutex<Worker<P>>>,
    meeting: Meeting<P::Frame>,
    windows: Windows,
    limits: &'a Limits<'a>,
    phase: Mutex<Phase>,
    changed: Condvar,
}

/// Windows that are run by the same threads.
#[derive(Clone, Copy)]
struct Phase {
    number: u64,
    /// Threads that work, the first ones.
    active: usize,
    position: Position,
    ended: Option<(Stop, Instant)>,
}

/// How far a run has come. Every thread that works has the same.
#[derive(Clone, Copy)]
struct Position {
    round: u64,
    /// The end of the last window that was run.
    simulated: Instant,
    /// Nothing is left to simulate.
    past_end: bool,
    /// All flows that end have arrived, and senders wait for the last acknowledgements.
    draining: bool,
}

impl<'a, P: Part> Threads<'a, P> {
    /// With a thread for each of these workers.
    pub fn new(workers: Vec<Worker<P>>, windows: Windows, limits: &'a Limits<'a>) -> Self {
        let (simulated, past_end, draining) = (Instant::ZERO, false, false);
        let position = Position { round: 0, simulated, past_end, draining };
        let phase = Phase { number: 0, active: workers.len(), position, ended: None };
        Self {
            meeting: Meeting::new(workers.len()),
            workers: workers.into_iter().map(Mutex::new).collect(),
            windows,
            limits,
            phase: Mutex::new(phase),
            changed: Condvar::new(),
        }
    }

    /// Runs the nodes until something ends the run: what, and when. `look` says between windows how
    /// many threads are to work from then on, if that changes.
    pub fn run(&self, mut look: impl FnMut(Reading) -> Option<usize>) -> (Stop, Instant) {
        let begun = std::time::Instant::now();
        let mut change = |work: u64| {
            let waited = Duration::from_nanos(self.meeting.barrier.waited_ns());
            look(Reading { wall: begun.elapsed(), work, waited })
        };
        std::thread::scope(|scope| {
            for thread in 1..self.workers.len() {
                scope.spawn(move || self.follow(thread));
            }
            self.lead(&mut change)
        })
    }

    /// What the workers are after the run.
    pub fn into_workers(self) -> impl Iterator<Item = Worker<P>> {
        self.workers.into_iter().map(|worker| worker.into_inner().expect("no thread panicked"))
    }

    /// What the first thread does.
    fn lead(&self, change: &mut dyn FnMut(u64) -> Option<usize>) -> (Stop, Instant) {
        let _guard = Guard(self);
        loop {
            let now = *lock(&self.phase);
            let next = self.work(0, now, Some(change));
            *lock(&self.phase) = next;
            self.changed.notify_all();
            if let Some(ended) = next.ended {
                return ended;
            }
        }
    }

    /// What every other thread does: it works, or sleeps while it is not needed.
    fn follow(&self, thread: usize) {
        let _guard = Guard(self);
        let mut done = None;
        loop {
            let mut phase = lock(&self.phase);
            while phase.ended.is_none() && (done == Some(phase.number) || thread >= phase.active) {
                assert!(!self.meeting.barrier.is_broken(), "another thread of the run panicked");
                phase = self.changed.wait(phase).expect("no thread panicked with it");
            }
            let now = *phase;
            drop(phase);
            if now.ended.is_some() {
                return;
            }
            self.work(thread, now, None);
            done = Some(now.number);
        }
    }

    /// Runs windows until the run ends or other threads are to work; gives what follows. The first
    /// thread decides whether others are to work.
    fn work(
        &self,
        thread: usize,
        phase: Phase,
        mut change: Option<&mut dyn FnMut(u64) -> Option<usize>>,
    ) -> Phase {
        let (meeting, limits, windows) = (&self.meeting, self.limits, self.windows);
        let active = phase.active;
        // Whoever had one of these before gives it back after its last window.
        let mine = self.workers.iter().skip(thread).step_by(active);
        let mut mine: Vec<MutexGuard<'_, Worker<P>>> = mine.map(lock).collect();
        let Position { mut round, mut simulated, mut past_end, mut draining } = phase.position;
        loop {
            // Report to the others what is next, and read the same from all of them.
            let turn = (round & 1) as usize;
            mine.iter_mut().for_each(|worker| worker.report(windows, &meeting.reports[turn]));
            if let Some(change) = &mut change {
                let interrupted = limits.stop.load(Ordering::Relaxed);
                meeting.interrupted[turn].store(interrupted, Ordering::Relaxed);
                let look = self.workers.len() > 1 && round % ROUNDS_PER_LOOK == 0;
                let hops = || meeting.sum(1 - turn, |report| &report.hops);
                let next = look.then(|| change(hops() + round)).flatten().unwrap_or(active);
                meeting.active[turn].store(next, Ordering::Relaxed);
            }
            meeting.barrier.wait(active);
            // Take in what the others sent in the window before.
            mine.iter_mut().for_each(|worker| worker.take_in(&meeting.mail[turn]));

            let ended = |stop, at: Instant| Phase {
                number: phase.number + 1,
                ended: Some((stop, at.min(limits.end))),
                ..phase
            };
            let window = meeting.next_window(turn);
            let start = windows.start(window);
            let awaited_done = meeting.sum(turn, |report| &report.awaited_done);
            let flows_done = meeting.sum(turn, |report| &report.flows_done);
            for worker in &mut mine {
                worker.part.observe(start, simulated, awaited_done);
            }
            if flows_done >= limits.flows && limits.flows > 0 {
                if !limits.until_acknowledged {
                    return ended(Stop::FlowsDone, start);
                }
                if !draining {
                    mine.iter_mut().for_each(|worker| worker.drain(start.min(limits.end)));
                    draining = true;
                    round += 1;
                    continue;
                }
                if meeting.sum(turn, |report| &report.unacknowledged) == 0 {
                    return ended(Stop::FlowsDone, simulated);
                }
            }
            if start >= limits.end || past_end {
                let stop = if draining { Stop::FlowsDone } else { Stop::TimeLimit };
                return ended(stop, limits.end);
            }
            // Last: after a window that was cut off, `start` may be before its end.
            if meeting.interrupted[turn].load(Ordering::Relaxed) {
                return ended(Stop::Interrupted, start);
            }
            if thread == 0 && round % ROUNDS_PER_PROGRESS == 0 {
                (limits.watch)(Progress {
                    now: start,
                    end: limits.end,
                    hops: meeting.sum(turn, |report| &report.hops),
                    flows: (flows_done, limits.flows),
                });
            }

            let end = windows.start(window + 1).min(limits.end);
            // What is left of the last window is not simulated.
            past_end = end == limits.end;
            // What goes to other workers is read after the next barrier.
            let mail = &meeting.mail[1 - turn];
            for worker in &mut mine {
                worker.run_window(window, (start, end), past_end);
                worker.hand_over(mail);
            }
            simulated = end;
            let next = meeting.active[turn].load(Ordering::Relaxed);
            round += 1;
            if next != active {
                let position = Position { round, simulated, past_end, draining };
                return Phase { number: phase.number + 1, active: next, position, ended: None };
            }
        }
    }
}

/// Wakes the others if the thread that holds it panics: they would wait for it in vain.
struct Guard<'t, 'a, P: Part>(&'t Threads<'a, P>);

impl<P: Part> Drop for Guard<'_, '_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.meeting.barrier.give_up();
            // Between looking at the barrier and sleeping, they hold the lock.
            drop(self.0.phase.lock().unwrap_or_else(PoisonError::into_inner));
            self.0.changed.notify_all();
        }
    }
}

/// Windows between two calls of the watcher.
const ROUNDS_PER_PROGRESS: u64 = 1_000;

/// Windows from one look at the clock to the next.
const ROUNDS_PER_LOOK: u64 = 8;
