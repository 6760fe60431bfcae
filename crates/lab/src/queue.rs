//! Distributes the runs of an experiment over threads.
//!
//! Runs are independent of each other, so each thread gets a run of its own first; only if there
//! are fewer runs than threads do several threads share a run. Results are handed on in the order
//! of the jobs, so that nothing derived from them depends on which run ended first.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use floodway_model::Instant;
use floodway_report::Run;
use floodway_scenario::{Scenario, Variant};
use floodway_sim::capture::{Port, Wanted};
use floodway_sim::simulation;
use floodway_sim::{Outcome, Ranks, Simulation, Spec};

use crate::How;
use crate::board::{Board, nanoseconds};
use crate::capture::{self, Choice};
use crate::kernels::Kept;
use crate::ranks;

/// One run to execute.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its index among all runs of the experiment or, for a sweep, of the current round.
    pub place: usize,
    /// The variant.
    pub variant: &'a Variant,
    /// The replication, counted from 0.
    pub replication: u32,
    /// Its seed.
    pub seed: u64,
    /// Number of threads that worked on it.
    pub threads: usize,
    /// Whether the first replication is traced, which requires a recording.
    pub traced: bool,
}

/// Largest number of samples in the recording behind a trace if the scenario does not specify it.
const TRACED: u32 = 1000;

impl Job<'_> {
    /// Its simulation, with recording if this run is to be recorded.
    pub fn spec(&self) -> Spec {
        let spec = self.variant.build_replication(self.replication, self.seed);
        let unrecorded = self.traced && self.replication == 0 && spec.record.is_none();
        let record = unrecorded.then(|| TRACED.min(self.variant.most_samples()).max(2));
        Spec { record: spec.record.or(record), ..spec }
    }
}

/// Result of a job.
#[derive(Debug)]
pub struct Finished {
    /// Key of the simulation.
    pub key: String,
    /// Outcome of the simulation.
    pub outcome: Outcome,
    /// What was captured; `None` for nothing.
    pub captured: Option<Captured>,
    /// Files about its kernels.
    pub kept: Vec<Kept>,
}

/// The capture of a run.
#[derive(Debug)]
pub struct Captured {
    spec: Spec,
    wanted: Wanted,
    seen: Vec<Port>,
    octets: u32,
}

impl Captured {
    /// Writes it; `about` says which run it is, which ended at `end`.
    pub fn write(
        &self,
        out: &mut (dyn io::Write + Send),
        about: &str,
        end: Instant,
    ) -> io::Result<()> {
        let of = (&*self.wanted.ports, &*self.seen);
        capture::write(out, (&self.spec, about), of, (self.octets, end))
    }
}

impl Finished {
    /// The run in the form in which results store it.
    pub fn run<'a>(&'a self, job: &'a Job) -> Run<'a> {
        let number = (job.replication, job.seed);
        floodway_describe::run(&job.variant.name, number, &self.key, &self.outcome)
    }
}

/// Every variant in every replication, ordered by replication, so that all sides of a comparison
/// are available early.
pub fn jobs<'a>(scenario: &Scenario, variants: &[&'a Variant], traced: bool) -> Vec<Job<'a>> {
    let pairs = (0..scenario.replications)
        .flat_map(|replication| variants.iter().map(move |&variant| (replication, variant)));
    let job = |(place, (replication, variant))| {
        let seed = scenario.replication_seed(replication);
        Job { place, variant, replication, seed, threads: 1, traced }
    };
    pairs.enumerate().map(job).collect()
}

/// Consumes the results of jobs.
pub trait Taker<'a> {
    /// Result of a job.
    type Product;
    /// Error if a result cannot be stored.
    type Error;

    /// A job is done. Jobs are reported in their order.
    fn take(&mut self, job: &Job<'a>, product: Self::Product) -> Result<(), Self::Error>;

    /// Progress of all jobs; called a few times per second.
    fn look(&mut self, board: &Board, stopping: bool);
}

/// The jobs, and the threads for them.
#[derive(Debug)]
pub struct Queue<'a> {
    jobs: Vec<Job<'a>>,
    /// Number of threads of each worker.
    workers: Vec<usize>,
    /// Whether they have that number even if a run can use fewer.
    asked: bool,
}

impl<'a> Queue<'a> {
    /// Distributes threads over jobs.
    pub fn new(jobs: Vec<Job<'a>>, threads: usize) -> Self {
        let workers = shares(threads, jobs.len());
        Self { jobs, workers, asked: false }
    }

    /// One job after the other, all with so many threads.
    pub fn one_by_one(jobs: Vec<Job<'a>>, threads: usize) -> Self {
        Self { jobs, workers: vec![threads], asked: true }
    }

    /// Runs `work` on the jobs until all are done or `stop` is set, and hands on the results. If a
    /// result cannot be taken, `stop` is set. `board` has a line for each job, whose index is passed
    /// to `work`.
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
                        let most = if self.asked { threads } else { most_threads(job.variant) };
                        let threads = threads.min(most);
                        let job = Job { threads, ..job };
                        let product = work(&job, place);
                        // After a failure the receiver is gone, and `stop` is set.
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

/// Interval between two progress reports.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Simulates a job until it is done or stopped, and reports its progress to the board.
pub fn simulate(job: &Job, how: &How, board: &Board, place: usize) -> Finished {
    let spec = job.spec();
    let key = spec.key();
    if let Some(ranks) = how.ranks {
        return simulate_over(job, (key, spec), (ranks, how.stop), board, place);
    }
    // Audited only on request, even in builds with debug assertions: otherwise tests of the program would
    // take several times as long.
    let mut simulation = Simulation::new(spec.clone()).audited(how.audit);
    let mut files = None;
    if let Some(kernels) = how.kernels.filter(|_| !spec.kernels.is_empty()) {
        let started = kernels.start(&spec);
        simulation = simulation.connected(started.backends);
        files = Some(started.files);
    }
    let finished = match how.capture.filter(|_| job.replication == 0) {
        Some(choice) => captured(job, (key, spec, simulation), (choice, how.stop), board, place),
        None => finish(job, (key, simulation), how.stop, board, place),
    };
    Finished { kept: files.map_or_else(Vec::new, |files| files()), ..finished }
}

/// Runs a simulation with a capture.
fn captured(
    job: &Job,
    (key, spec, simulation): (String, Spec, Simulation),
    (choice, stop): (&Choice, &AtomicBool),
    board: &Board,
    place: usize,
) -> Finished {
    // What was refused here was not checked before.
    let wanted = choice.wanted(&spec.graph, spec.flows.len()).expect("a choice that was checked");
    let watch = |progress| board.reached(place, progress);
    let run = simulation::Run { threads: job.threads, stop, watch: &watch };
    let (outcome, seen) = simulation.capturing(wanted.clone()).run_captured(&run);
    board.done(place, nanoseconds(outcome.simulated), outcome.hops);
    let captured = Some(Captured { spec, wanted, seen, octets: choice.octets });
    Finished { key, outcome, captured, kept: Vec::new() }
}

/// Like [`simulate`], over several processes.
fn simulate_over(
    job: &Job,
    (key, spec): (String, Spec),
    (ranks, stop): (&dyn Ranks, &AtomicBool),
    board: &Board,
    place: usize,
) -> Finished {
    let watch = |progress| board.reached(place, progress);
    let run = simulation::Run { threads: job.threads, stop, watch: &watch };
    let outcome = ranks::lead(job, (spec, &key), ranks, &run);
    board.done(place, nanoseconds(outcome.simulated), outcome.hops);
    Finished { key, outcome, captured: None, kept: Vec::new() }
}

/// Like [`simulate`], for an existing simulation and without an auditor.
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
    Finished { key, outcome, captured: None, kept: Vec::new() }
}

/// A thread should have at least this many switches; with fewer it spends its time at the barrier.
const SWITCHES_PER_THREAD: usize = 4;

/// Number of threads that a run can use.
fn most_threads(variant: &Variant) -> usize {
    if variant.has_kernels() {
        // They take more time than switches do.
        return variant.graph().switches().count().max(1);
    }
    (variant.graph().switches().count() / SWITCHES_PER_THREAD).max(1)
}

/// Number of threads of each worker: at most one worker per run, with the remaining threads
/// distributed round robin.
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
