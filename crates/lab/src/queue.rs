//! The runs of an experiment, shared out over threads.
//!
//! Runs are independent of each other, so threads go to runs first, each with one; only if there
//! are fewer runs than threads do several work on one. Results are handed on in the order of the
//! jobs, so that nothing that is made from them depends on which run ended first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use floodway_report::Run;
use floodway_scenario::{Scenario, Variant};
use floodway_sim::simulation;
use floodway_sim::{Outcome, Simulation, Spec};

use crate::How;
use crate::board::{Board, nanoseconds};

/// One run to do.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its place among all runs of the experiment or, of a sweep, of its round.
    pub place: usize,
    /// The variant.
    pub variant: &'a Variant,
    /// The replication, counted from 0.
    pub replication: u32,
    /// Its seed.
    pub seed: u64,
    /// How many threads worked on it.
    pub threads: usize,
    /// Whether the first replication is to be traced, which needs a record.
    pub traced: bool,
}

/// How many moments the record behind a trace has at most if the scenario does not say.
const TRACED: u32 = 1000;

impl Job<'_> {
    /// Its simulation, which is recorded if it is one of those that are.
    pub fn spec(&self) -> Spec {
        let spec = self.variant.build_replication(self.replication, self.seed);
        let unrecorded = self.traced && self.replication == 0 && spec.record.is_none();
        let record = unrecorded.then(|| TRACED.min(self.variant.most_moments()).max(2));
        Spec { record: spec.record.or(record), ..spec }
    }
}

/// What came out of a job.
#[derive(Debug)]
pub struct Finished {
    /// The key of the simulation.
    pub key: String,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Finished {
    /// The run as results keep it.
    pub fn run<'a>(&'a self, job: &'a Job) -> Run<'a> {
        let outcome = &self.outcome;
        Run {
            variant: &job.variant.name,
            replication: job.replication,
            seed: job.seed,
            key: &self.key,
            tables: &outcome.tables,
            hops: outcome.hops,
            wall_s: outcome.wall.as_secs_f64(),
            simulated_ns: nanoseconds(outcome.simulated),
            fingerprint: outcome.fingerprint,
            violations: &outcome.violations,
            stop: outcome.stop.name(),
        }
    }
}

/// Every variant in every replication; by replication, so that all sides of a comparison are
/// early there.
pub fn jobs<'a>(scenario: &Scenario, variants: &[&'a Variant], traced: bool) -> Vec<Job<'a>> {
    let pairs = (0..scenario.replications)
        .flat_map(|replication| variants.iter().map(move |&variant| (replication, variant)));
    let job = |(place, (replication, variant))| {
        let seed = scenario.replication_seed(replication);
        Job { place, variant, replication, seed, threads: 1, traced }
    };
    pairs.enumerate().map(job).collect()
}

/// Who takes what comes out of jobs.
pub trait Taker<'a> {
    /// What comes out of a job.
    type Product;
    /// Why it cannot be kept.
    type Error;

    /// A job is done. They come in their order.
    fn take(&mut self, job: &Job<'a>, product: Self::Product) -> Result<(), Self::Error>;

    /// How far all are; told some times a second.
    fn look(&mut self, board: &Board, stopping: bool);
}

/// Runs to do, and the threads for them.
#[derive(Debug)]
pub struct Queue<'a> {
    jobs: Vec<Job<'a>>,
    /// The threads of each worker.
    workers: Vec<usize>,
}

impl<'a> Queue<'a> {
    /// Shares out threads over jobs.
    pub fn new(jobs: Vec<Job<'a>>, threads: usize) -> Self {
        let workers = shares(threads, jobs.len());
        Self { jobs, workers }
    }

    /// Does the jobs with `work` until all are done or `stop` is set, and hands on what comes out. If
    /// that cannot be taken, `stop` is set. `board` has a line for each job; `work` is told which.
    pub fn run<Takes: Taker<'a>>(
        &self,
        stop: &AtomicBool,
        board: &Board,
        work: impl Fn(&Job<'a>, usize) -> Takes::Product + Sync,
        taker: &mut Takes,
    ) -> Result<(), Takes::Error>
    where
        Takes::Product: Send,
    {
        let next = AtomicUsize::new(0);
        let (give, results) = mpsc::channel();
        thread::scope(|scope| {
            for &threads in &self.workers {
                let (give, next, work) = (give.clone(), &next, &work);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&job) = self.jobs.get(place) else { break };
                        let threads = threads.min(most_threads(job.variant));
                        let job = Job { threads, ..job };
                        let product = work(&job, place);
                        // After a failure nobody takes it, and `stop` is set.
                        let _ = give.send((place, job, product));
                    }
                });
            }
            drop(give);
            let mut due = 0;
            let mut early = BTreeMap::new();
            loop {
                match results.recv_timeout(BETWEEN_LOOKS) {
                    Ok((place, job, product)) => {
                        early.insert(place, (job, product));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                while let Some((job, product)) = early.remove(&due) {
                    due += 1;
                    taker
                        .take(&job, product)
                        .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                }
                taker.look(board, stop.load(Ordering::Relaxed));
            }
        })
    }
}

/// How often it is told how far all are.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Simulates a job, until it is stopped, and tells the board.
pub fn simulate(job: &Job, how: &How, board: &Board, place: usize) -> Finished {
    let spec = job.spec();
    // As asked for, in builds with debug assertions too: tests of the program would take several times as
    // long.
    let (key, simulation) = (spec.key(), Simulation::new(spec).audited(how.audit));
    finish(job, (key, simulation), how.stop, board, place)
}

/// The same with the job's simulation at hand, without an auditor.
pub fn simulate_spec(
    job: &Job,
    spec: Spec,
    stop: &AtomicBool,
    board: &Board,
    place: usize,
) -> Finished {
    finish(job, (spec.key(), Simulation::new(spec).audited(false)), stop, board, place)
}

fn finish(
    job: &Job,
    (key, simulation): (String, Simulation),
    stop: &AtomicBool,
    board: &Board,
    place: usize,
) -> Finished {
    let watch = |progress| board.reached(place, progress);
    let outcome =
        simulation.run_with(&simulation::Run { threads: job.threads, stop, watch: &watch });
    board.done(place, nanoseconds(outcome.simulated), outcome.hops);
    Finished { key, outcome }
}

/// Switches that a thread should have at least: with fewer it spends its time at the barrier.
const SWITCHES_PER_THREAD: usize = 4;

/// How many threads a run can use.
fn most_threads(variant: &Variant) -> usize {
    (variant.graph().switches().count() / SWITCHES_PER_THREAD).max(1)
}

/// The threads of each worker: as many workers as there are runs for, and the threads that are
/// left over given to them in turn.
fn shares(threads: usize, jobs: usize) -> Vec<usize> {
    let workers = threads.min(jobs).max(1);
    (0..workers).map(|worker| (threads + workers - 1 - worker) / workers).collect()
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn runs_come_before_threads_within_a_run() {
        assert_eq!(shares(1, 9), [1]);
        assert_eq!(shares(2, 9), [1, 1]);
        assert_eq!(shares(8, 3), [3, 3, 2]);
        assert_eq!(shares(4, 1), [4]);
        assert_eq!(shares(3, 3), [1, 1, 1]);
    }
}
