//! The threads of a run, and which of them runs which nodes.
//!
//! Nodes are shared out among workers once, as many as there may be threads. When a thread works, it
//! has a worker, or several if fewer threads work than there are workers
//! ([`Governor`](super::governor::Governor)). That changes between windows, where results cannot
//! depend on it.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use floodway_model::Instant;

use super::governor::Reading;
use super::meeting::{Meeting, lock};
use super::worker::Worker;
use super::{Limits, Progress, Stop};

/// The workers of a run and what their threads have agreed on.
pub struct Threads<'a> {
    workers: Vec<Mutex<Worker>>,
    meeting: Meeting,
    limits: &'a Limits<'a>,
    stretch: Mutex<Stretch>,
    changed: Condvar,
}

/// Windows that are run by the same threads.
#[derive(Clone, Copy)]
struct Stretch {
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

impl<'a> Threads<'a> {
    /// With a thread for each of these workers.
    pub fn new(workers: Vec<Worker>, limits: &'a Limits<'a>) -> Self {
        let (simulated, past_end, draining) = (Instant::ZERO, false, false);
        let position = Position { round: 0, simulated, past_end, draining };
        let stretch = Stretch { number: 0, active: workers.len(), position, ended: None };
        Self {
            meeting: Meeting::new(workers.len()),
            workers: workers.into_iter().map(Mutex::new).collect(),
            limits,
            stretch: Mutex::new(stretch),
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
    pub fn into_workers(self) -> impl Iterator<Item = Worker> {
        self.workers.into_iter().map(|worker| worker.into_inner().expect("no thread panicked"))
    }

    /// What the first thread does.
    fn lead(&self, change: &mut dyn FnMut(u64) -> Option<usize>) -> (Stop, Instant) {
        let _guard = Guard(self);
        loop {
            let now = *lock(&self.stretch);
            let next = self.work(0, now, Some(change));
            *lock(&self.stretch) = next;
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
            let mut stretch = lock(&self.stretch);
            while stretch.ended.is_none()
                && (done == Some(stretch.number) || thread >= stretch.active)
            {
                assert!(!self.meeting.barrier.is_broken(), "another thread of the run panicked");
                stretch = self.changed.wait(stretch).expect("no thread panicked with it");
            }
            let now = *stretch;
            drop(stretch);
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
        stretch: Stretch,
        mut change: Option<&mut dyn FnMut(u64) -> Option<usize>>,
    ) -> Stretch {
        let (meeting, limits, windows) = (&self.meeting, self.limits, self.limits.windows);
        let active = stretch.active;
        // Whoever had one of these before gives it back after its last window.
        let mine = self.workers.iter().skip(thread).step_by(active);
        let mut mine: Vec<MutexGuard<'_, Worker>> = mine.map(lock).collect();
        let Position { mut round, mut simulated, mut past_end, mut draining } = stretch.position;
        loop {
            // Tell the others what is next, and read the same from all of them.
            let turn = (round & 1) as usize;
            mine.iter_mut().for_each(|worker| worker.tell(windows, &meeting.tellings[turn]));
            if let Some(change) = &mut change {
                let interrupted = limits.stop.load(Ordering::Relaxed);
                meeting.interrupted[turn].store(interrupted, Ordering::Relaxed);
                let look = self.workers.len() > 1 && round % ROUNDS_PER_LOOK == 0;
                let hops = || meeting.sum(1 - turn, |telling| &telling.hops);
                let next = look.then(|| change(hops() + round)).flatten().unwrap_or(active);
                meeting.active[turn].store(next, Ordering::Relaxed);
            }
            meeting.barrier.wait(active);
            // Take in what the others sent in the window before.
            mine.iter_mut().for_each(|worker| worker.take_in(&meeting.mail[turn]));

            let ended = |stop, at: Instant| Stretch {
                number: stretch.number + 1,
                ended: Some((stop, at.min(limits.end))),
                ..stretch
            };
            let window = meeting.next_window(turn);
            let start = windows.start(window);
            let awaited_done = meeting.sum(turn, |telling| &telling.awaited_done);
            let flows_done = meeting.sum(turn, |telling| &telling.flows_done);
            for worker in &mut mine {
                worker.measure(limits, start, simulated, awaited_done);
            }
            if flows_done >= limits.flows && limits.flows > 0 {
                if !limits.until_acknowledged {
                    return ended(Stop::FlowsDone, start);
                }
                if !draining {
                    // From now on workers tell how many senders are left.
                    mine.iter_mut().for_each(|worker| worker.drain(limits, start));
                    draining = true;
                    round += 1;
                    continue;
                }
                if meeting.sum(turn, |telling| &telling.open) == 0 {
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
                    hops: meeting.sum(turn, |telling| &telling.hops),
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
                return Stretch { number: stretch.number + 1, active: next, position, ended: None };
            }
        }
    }
}

/// Tells the others if the thread that holds it panics: they would wait for it in vain.
struct Guard<'t, 'a>(&'t Threads<'a>);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.meeting.barrier.give_up();
            // Between looking at the barrier and sleeping, they hold the lock.
            drop(self.0.stretch.lock().unwrap_or_else(PoisonError::into_inner));
            self.0.changed.notify_all();
        }
    }
}

/// Windows between two calls of the watcher.
const ROUNDS_PER_PROGRESS: u64 = 1_000;

/// Windows from one look at the clock to the next.
const ROUNDS_PER_LOOK: u64 = 8;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use floodway_model::graph::NodeKind;
    use floodway_model::{Graph, NodeId};

    use super::*;
    use crate::engine;
    use crate::outcome::Outcome;
    use crate::simulation::{Run, Simulation};
    use crate::{Spec, small};

    /// Eight hosts on four switches in a row; each host sends to the next ones.
    fn row() -> Spec {
        let mut graph = Graph::default();
        (0..8).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let (rate, delay) = (small::GBPS_100, small::NS_200);
        for number in 0..4 {
            let switch = graph.add(format!("switch {number}"), NodeKind::Switch { tier: 0 });
            (0..2).for_each(|host| graph.link(NodeId(2 * number + host), switch, rate, delay));
            if number > 0 {
                graph.link(NodeId(switch.0 - 1), switch, rate, delay);
            }
        }
        let flow = |src: u32, hop: u32| {
            let (bytes, start_ns) = (50_000 * u64::from(hop), u64::from(src + 8 * hop) * 1_000);
            small::flow(src, (src + hop) % 8, bytes, start_ns)
        };
        let flows = (0..8).flat_map(|src| (1..8).map(move |hop| flow(src, hop))).collect();
        let spec = small::spec(graph, flows, floodway_model::Duration::from_ms(20));
        Spec { awaited: vec![true], ..spec }
    }

    fn fingerprint(look: impl FnMut(Reading) -> Option<usize>, threads: usize) -> u64 {
        let stop = AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        let (spec, finished) = Simulation::new(row()).finish_by(&run, |nodes, limits, metrics| {
            engine::run_governed(nodes, threads, (limits, metrics), look)
        });
        assert_eq!(finished.stop, Stop::FlowsDone);
        Outcome::new(&spec, &finished, Vec::new(), Duration::ZERO).fingerprint
    }

    #[test]
    fn results_do_not_depend_on_how_many_threads_work_when() {
        let expected = fingerprint(|_| None, 1);
        for threads in 2..=4 {
            let mut looks = 0;
            let others = |_| {
                looks += 1;
                Some(1 + looks * 7 / 3 % threads)
            };
            assert_eq!(fingerprint(others, threads), expected, "{threads} threads");
            assert!(looks > 20, "{looks}");
        }
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn threads_that_sleep_are_not_left_behind_by_one_that_panics() {
        let mut looks = 0;
        fingerprint(
            |_| {
                looks += 1;
                assert!(looks < 10, "on purpose");
                Some(1 + looks % 2)
            },
            4,
        );
    }
}
