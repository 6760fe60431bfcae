//! The threads of a run, and which of them runs which nodes.
//!
//! Nodes are assigned to workers once; there are as many workers as there may be threads. A working
//! thread runs one worker, or several if fewer threads work than there are workers
//! ([`Governor`](crate::governor::Governor)). The number of working threads changes only between
//! windows, where it cannot affect results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use floodway_machine::cores::Cores;
use floodway_model::Instant;

use crate::governor::Reading;
use crate::meeting::{Meeting, Report, lock};
use crate::ranks::{Abroad, Totals};
use crate::schedule::Schedule;
use crate::windows::Windows;
use crate::worker::Worker;
use crate::{Limits, Part, Progress, Stop};

/// The workers of a run, and the state shared by their threads.
pub struct Threads<'a, P: Part> {
    workers: Vec<Mutex<Worker<P>>>,
    meeting: Meeting<P>,
    /// The other processes of the run.
    abroad: Option<Abroad<'a, P>>,
    windows: Windows,
    limits: &'a Limits<'a>,
    /// Those of the working threads.
    cores: Cores,
    phase: Mutex<Phase>,
    changed: Condvar,
}

/// A sequence of stretches run by the same set of threads.
#[derive(Clone, Copy)]
struct Phase {
    number: u64,
    /// Number of working threads; they are the first ones.
    active: usize,
    position: Position,
    ended: Option<(Stop, Instant)>,
}

/// Progress of a run; identical in all working threads.
#[derive(Clone, Copy)]
pub struct Position {
    round: u64,
    schedule: Schedule,
    /// End of the last window that was run.
    pub simulated: Instant,
    /// Whether nothing is left to simulate.
    pub past_end: bool,
    /// Whether all finite flows have arrived and senders only wait for the last acknowledgements.
    draining: bool,
}

impl Position {
    /// Before the first window.
    pub const fn start(schedule: Schedule) -> Self {
        let simulated = Instant::ZERO;
        Self { round: 0, schedule, simulated, past_end: false, draining: false }
    }
}

impl<'a, P: Part> Threads<'a, P> {
    /// With one thread for each of these workers, which go on from this position.
    pub fn new(
        workers: Vec<Worker<P>>,
        windows: Windows,
        limits: &'a Limits<'a>,
        abroad: Option<Abroad<'a, P>>,
        position: Position,
    ) -> Self {
        let phase = Phase { number: 0, active: workers.len(), position, ended: None };
        Self {
            meeting: Meeting::new(workers.len(), abroad.is_some()),
            abroad,
            workers: workers.into_iter().map(Mutex::new).collect(),
            windows,
            limits,
            cores: Cores::default(),
            phase: Mutex::new(phase),
            changed: Condvar::new(),
        }
    }

    /// Begins with the first thread alone, which runs all workers. Others are started when `look` asks for them.
    #[must_use]
    pub fn alone(self) -> Self {
        lock(&self.phase).active = 1;
        self
    }

    /// Runs the nodes until the run ends; returns the reason and the time. `look` is called between
    /// windows and returns a new number of working threads if it changes.
    pub fn run(&self, mut look: impl FnMut(Reading) -> Option<usize>) -> (Stop, Instant) {
        let begun = std::time::Instant::now();
        let mut change = |work: u64| {
            let waited = Duration::from_nanos(self.meeting.barrier.waited_ns());
            look(Reading { wall: begun.elapsed(), work, waited })
        };
        std::thread::scope(|scope| {
            let mut started = 1;
            let mut start = |active: usize| {
                for thread in started..active {
                    scope.spawn(move || self.follow(thread));
                }
                started = started.max(active);
            };
            self.lead(&mut change, &mut start)
        })
    }

    /// How far the run has come.
    pub fn position(&self) -> Position {
        lock(&self.phase).position
    }

    /// The workers in their final state.
    pub fn into_workers(self) -> impl Iterator<Item = Worker<P>> {
        self.workers.into_iter().map(|worker| worker.into_inner().expect("no thread panicked"))
    }

    /// Main loop of the first thread. `start` starts so many threads, itself included, if they do not run yet.
    fn lead(
        &self,
        change: &mut dyn FnMut(u64) -> Option<usize>,
        start: &mut dyn FnMut(usize),
    ) -> (Stop, Instant) {
        let _guard = Guard(self);
        let begin = || {
            if self.workers.len() > 1 {
                self.cores.begin();
            }
        };
        begin();
        loop {
            let now = *lock(&self.phase);
            start(now.active);
            let next = self.work(0, now, Some(change));
            begin();
            *lock(&self.phase) = next;
            self.changed.notify_all();
            if let Some(ended) = next.ended {
                return ended;
            }
        }
    }

    /// Main loop of every other thread: it works, or sleeps while it is not needed.
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
            self.cores.join();
            self.work(thread, now, None);
            done = Some(now.number);
        }
    }

    /// Exchanges reports and frames with the other processes, while the threads of this one wait.
    fn meet_others(&self, abroad: &Abroad<'_, P>, turn: usize) {
        let (reports, interrupted) = (&self.meeting.reports[turn], &self.meeting.interrupted[turn]);
        let others = reports.last().expect("other processes have a report");
        others.write(Totals::NONE);
        let mut mine = self.meeting.totals(turn);
        mine.interrupted = interrupted.load(Ordering::Relaxed).into();
        let all = abroad.exchange(mine);
        interrupted.store(all.interrupted > 0, Ordering::Relaxed);
        others.write(Totals {
            next_window: all.next_window,
            hops: all.hops - mine.hops,
            flows_done: all.flows_done - mine.flows_done,
            awaited_done: all.awaited_done - mine.awaited_done,
            unacknowledged: all.unacknowledged - mine.unacknowledged,
            interrupted: 0,
        });
    }

    /// Runs windows until the run ends or the number of working threads changes, and returns the
    /// next phase. The first thread decides about that number.
    fn work(
        &self,
        thread: usize,
        phase: Phase,
        mut change: Option<&mut dyn FnMut(u64) -> Option<usize>>,
    ) -> Phase {
        let (meeting, limits, windows) = (&self.meeting, self.limits, self.windows);
        let active = phase.active;
        // The thread that had one of these workers before releases it after its last window.
        let mine = self.workers.iter().skip(thread).step_by(active);
        let mut mine: Vec<MutexGuard<'_, Worker<P>>> = mine.map(lock).collect();
        let Position { mut round, mut schedule, mut simulated, mut past_end, mut draining } =
            phase.position;
        // The window after the last one.
        let last = windows.index(Instant(limits.end.0.saturating_sub(1))) + 1;
        loop {
            // Publish what is due next, and read the same from all other workers.
            let turn = (round & 1) as usize;
            let (at, reports) = (schedule.at(), &meeting.reports[turn]);
            mine.iter_mut().for_each(|worker| worker.report(windows, at, reports));
            if let Some(change) = &mut change {
                let interrupted = limits.stop.load(Ordering::Relaxed);
                meeting.interrupted[turn].store(interrupted, Ordering::Relaxed);
                // First after the threads have met, so that all of them have begun.
                let met = round - phase.position.round;
                let look = self.workers.len() > 1 && met % ROUNDS_PER_LOOK == ROUNDS_PER_LOOK - 1;
                let hops = || meeting.sum(1 - turn, |report| &report.hops);
                let next = look.then(|| change(hops() + round)).flatten().unwrap_or(active);
                meeting.active[turn].store(next, Ordering::Relaxed);
            }
            meeting.barrier.wait(active);
            if let Some(abroad) = &self.abroad {
                if thread == 0 {
                    self.meet_others(abroad, turn);
                }
                meeting.barrier.wait(active);
            }
            // Take in what the other workers sent in the previous stretch.
            let abroad = self.abroad.as_ref();
            mine.iter_mut().for_each(|worker| worker.take_in(&meeting.mail[turn], abroad));

            let position = Position { round, schedule, simulated, past_end, draining };
            let ended = |stop, at: Instant| Phase {
                number: phase.number + 1,
                ended: Some((stop, at.min(limits.end))),
                position,
                ..phase
            };
            let window = meeting.next_window(turn);
            let start = windows.start(window);
            let counts_flows = schedule.counts_flows(window, last);
            // Of flows, what has effects here.
            let counted = |of: fn(&Report) -> &AtomicU64| match counts_flows {
                true => meeting.sum(turn, of),
                false => 0,
            };
            let awaited_done = counted(|report| &report.awaited_done);
            let flows_done = counted(|report| &report.flows_done);
            let all_done = flows_done >= limits.flows && limits.flows > 0;
            let is_acknowledged = || meeting.sum(turn, |report| &report.unacknowledged) == 0;
            let interrupted = meeting.interrupted[turn].load(Ordering::Relaxed);
            // The window before which all nodes are observed next, or the run ends.
            let until = |part: &P| {
                let next = part.next_observation(awaited_done).min(limits.end);
                windows.index(Instant(next.0.saturating_sub(1))) + 1
            };
            let stretch = if schedule.has_met(window) {
                for worker in &mut mine {
                    worker.part.observe(start, simulated, awaited_done);
                }
                if all_done {
                    if !limits.until_acknowledged {
                        return ended(Stop::FlowsDone, start);
                    }
                    if !draining {
                        mine.iter_mut().for_each(|worker| worker.drain(start.min(limits.end)));
                        draining = true;
                        round += 1;
                        continue;
                    }
                    if is_acknowledged() {
                        return ended(Stop::FlowsDone, simulated);
                    }
                }
                if start >= limits.end || past_end {
                    let stop = if draining { Stop::FlowsDone } else { Stop::TimeLimit };
                    return ended(stop, limits.end);
                }
                // Checked last: after a window that was cut off, `start` may be before its end.
                if interrupted {
                    return ended(Stop::Interrupted, start);
                }
                schedule.after_meeting(window, until(&mine[0].part))
            } else {
                let may_end =
                    all_done && (!limits.until_acknowledged || !draining || is_acknowledged());
                let is_observed = || {
                    let next = mine[0].part.next_observation(awaited_done);
                    next <= windows.start(schedule.reached())
                };
                let meets = may_end || interrupted || is_observed();
                schedule.catch_up(meets, until(&mine[0].part))
            };
            if thread == 0 && round % ROUNDS_PER_PROGRESS == 0 {
                (limits.watch)(Progress {
                    now: windows.start(stretch.windows.start),
                    end: limits.end,
                    hops: meeting.sum(turn, |report| &report.hops),
                    flows: (meeting.sum(turn, |report| &report.flows_done), limits.flows),
                });
            }

            // Frames to other workers are read after the next barrier.
            let mail = &meeting.mail[1 - turn];
            for worker in &mut mine {
                worker.run(&stretch, windows, limits.end);
                worker.hand_over(stretch.windows.start, mail, abroad);
            }
            simulated = windows.start(schedule.simulated()).min(limits.end);
            // The rest of the last window is not simulated.
            past_end = schedule.at() == [last; 2];
            let next = meeting.active[turn].load(Ordering::Relaxed);
            round += 1;
            if next != active {
                let position = Position { round, schedule, simulated, past_end, draining };
                return Phase { number: phase.number + 1, active: next, position, ended: None };
            }
        }
    }
}

/// Wakes the other threads if the thread that holds it panics; otherwise they would wait forever.
struct Guard<'t, 'a, P: Part>(&'t Threads<'a, P>);

impl<P: Part> Drop for Guard<'_, '_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.meeting.barrier.give_up();
            // Threads hold the lock from checking the phase until they sleep; taking it here means
            // that no wakeup is lost.
            drop(self.0.phase.lock().unwrap_or_else(PoisonError::into_inner));
            self.0.changed.notify_all();
        }
    }
}

/// Windows between two calls of the progress callback.
const ROUNDS_PER_PROGRESS: u64 = 1_000;

/// Windows between two readings of the clock.
const ROUNDS_PER_LOOK: u64 = 8;
