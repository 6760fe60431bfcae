//! Runs an experiment from its jobs to the finished results directory. `floodway run` does this
//! once, a study does it for each of its experiments.

use std::io;
use std::path::Path;
use std::thread;

use floodway_machine::memory;
use floodway_report::directory::{Error, Extra};
use floodway_report::manifest::Record;
use floodway_report::{
    Directory, Earlier, Ending, Experiment, INTERRUPTED, Lock, Manifest, Run, Status, Summary,
};
use floodway_scenario::{Scenario, Variant};
use floodway_study::{Evidence, RunClaims};

use crate::board::Board;
use crate::queue::{self, Finished, Job, Queue, Taker};
use crate::{How, Kept, Watcher, capture};

/// What to do with existing results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Keep them and fail.
    Refuse,
    /// Replace them.
    Replace,
    /// Keep the runs whose results would be identical, and replace the others.
    Resume,
}

/// Results of an experiment, and the cost of obtaining them.
#[derive(Clone, Debug)]
pub struct Done {
    /// The numbers, with violations if there are any.
    pub summary: Summary,
    /// Number of requested runs.
    pub runs: usize,
    /// Of these, runs that existed already.
    pub reused: usize,
    /// Of the others, runs that were simulated to their end; if any are missing, the experiment was
    /// interrupted.
    pub simulated: usize,
    /// Cost of the simulated runs, including those that were cut short.
    pub cost: Cost,
}

impl Done {
    /// Whether runs are missing.
    pub fn interrupted(&self) -> bool {
        self.reused + self.simulated < self.runs
    }
}

/// Cost of simulated runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Number of runs.
    pub runs: usize,
    /// Packet-hops.
    pub hops: u64,
    /// Simulated time.
    pub simulated_ns: f64,
    /// Time of all threads, in seconds.
    pub thread_s: f64,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct What<'a> {
    /// The name of the experiment, if there are several.
    pub name: Option<&'a str>,
    /// Its scenario.
    pub scenario: &'a Scenario,
    /// What is judged after the runs: the scenario's claims, if it has any and they are asked for.
    pub claims: Option<RunClaims>,
}

impl<'a> What<'a> {
    /// A scenario by itself, without its claims.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { name: None, scenario, claims: None }
    }
}

/// Runs variants of a scenario into a results directory. Every run, loaded or simulated, is passed to
/// `take` in the order of the jobs: by replication, and within it by variant. This includes
/// [`INTERRUPTED`] runs.
pub fn execute(
    what: &What,
    variants: &[&Variant],
    path: &Path,
    how: &How,
    watcher: &mut dyn Watcher,
    take: impl FnMut(&Run),
) -> Result<Done, Error> {
    let What { name, scenario, claims } = *what;
    let jobs = queue::jobs(scenario, variants, how.trace.is_some());
    let manifest = manifest(scenario, variants, how);
    // Checked before the directory is locked: if it holds anything else, nothing may be written
    // there, not even a lock.
    Directory::may_hold(path, &manifest)?;
    let _lock = Lock::take(path, how.command)?;
    let earlier = match how.existing {
        Existing::Resume => Some(Directory::earlier(path, &manifest)?),
        _ => None,
    };
    let there: Vec<_> = match &earlier {
        Some(earlier) => there(&jobs, earlier, how),
        None => vec![None; jobs.len()],
    };
    let kept: Vec<_> = there.iter().copied().flatten().collect();
    let directory = match &earlier {
        Some(earlier) => Directory::resume(earlier, &kept, &manifest)?,
        None => Directory::create(path, how.existing == Existing::Replace, &manifest)?,
    };
    let resumed = earlier.as_ref().is_some_and(|earlier| !earlier.is_empty());
    if let [first, ..] = directory.others() {
        watcher.others(&path.join(first), directory.others().len());
    }
    watcher.begin(name, resumed.then_some(kept.len()), jobs.len());

    let left: Vec<_> = jobs.iter().filter(|job| there[job.place].is_none()).copied().collect();
    let mut books = Books {
        experiment: Experiment::new(&manifest),
        claims: claims.map(|claims| (claims, claims.evidence())),
        directory,
        earlier: earlier.as_ref(),
        there: &there,
        due: 0,
        simulated: 0,
        cost: Cost::default(),
        ranks: how.ranks.map_or(1, |ranks| ranks.ranks()),
        watcher,
        take,
    };
    let board = Board::new(left.len());
    let work = |job: &Job, place| queue::simulate(job, how, &board, place);
    let queue = match how.ranks {
        Some(_) => Queue::one_by_one(left, how.threads),
        None => Queue::new(left, how.threads),
    };
    queue.run(how.stop, &board, work, &mut books)?;
    books.reuse_before(jobs.len())?;
    books.watcher.end();
    books.finish(jobs.len())
}

/// Existing runs, by job: those with the same key that are complete.
fn there<'a>(jobs: &[Job<'_>], earlier: &'a Earlier, how: &How) -> Vec<Option<&'a Record>> {
    let look = |job: &Job| {
        // A capture is made while the run is.
        if how.capture.is_some() && job.replication == 0 {
            return None;
        }
        let record = earlier.run(&job.variant.name, job.replication)?;
        let same = record.key == job.spec().key();
        // Loaded here only to check that the run is complete, and again when its job is due:
        // holding all runs at once would take too much memory.
        (same && earlier.load(record).is_ok()).then_some(record)
    };
    let share = jobs.len().div_ceil(how.threads).max(1);
    thread::scope(|scope| {
        let look = &look;
        let part = |jobs| scope.spawn(move || <[Job]>::iter(jobs).map(look).collect::<Vec<_>>());
        let parts: Vec<_> = jobs.chunks(share).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a panic ends the program")).collect()
    })
}

/// Writes a file about kernels.
fn write_kept(kept: &Kept) -> impl Fn(&mut (dyn io::Write + Send)) -> io::Result<()> {
    |out| out.write_all(&kept.octets)
}

/// Collects runs in the order of their jobs.
struct Books<'a, Take> {
    directory: Directory,
    experiment: Experiment,
    /// What is claimed, and what the runs say of it.
    claims: Option<(RunClaims, Evidence)>,
    earlier: Option<&'a Earlier>,
    /// The existing run, by job.
    there: &'a [Option<&'a Record>],
    /// The next job.
    due: usize,
    /// Number of runs that were not cut short.
    simulated: usize,
    cost: Cost,
    /// Number of processes that share a run.
    ranks: usize,
    watcher: &'a mut dyn Watcher,
    take: Take,
}

impl<'a, Take: FnMut(&Run)> Taker<'a> for Books<'_, Take> {
    type Product = Finished;
    type Error = Error;

    /// Takes a simulated run, after all existing runs of earlier jobs.
    fn take(&mut self, job: &Job<'a>, finished: Finished) -> Result<(), Error> {
        self.reuse_before(job.place)?;
        self.due += 1;
        let run = finished.run(job);
        let about =
            format!("variant {}, replication {}, seed {}", run.variant, run.replication, run.seed);
        let end = finished.outcome.simulated;
        let capture = finished.captured.as_ref().map(|captured| {
            move |out: &mut (dyn io::Write + Send)| captured.write(out, &about, end)
        });
        let kept: Vec<_> = finished.kept.iter().map(write_kept).collect();
        let mut extras: Vec<Extra<'_>> = Vec::new();
        if let Some(write) = &capture {
            extras.push(Extra { name: capture::NAME, what: "the capture", write });
        }
        for (kept, write) in finished.kept.iter().zip(&kept) {
            extras.push(Extra { name: kept.name, what: kept.what, write });
        }
        self.directory.add_run_with(&run, &extras)?;
        self.simulated += usize::from(run.stop != INTERRUPTED);
        self.cost.runs += 1;
        self.cost.hops += run.hops;
        self.cost.simulated_ns += run.simulated_ns;
        self.cost.thread_s += run.wall_s * (job.threads * self.ranks) as f64;
        self.give(&run, false);
        Ok(())
    }

    fn look(&mut self, board: &Board, stopping: bool) {
        // If this fails, the next run or the end fails too, and reports the error.
        let _ = self.directory.catch_up();
        self.watcher.look(&board.total(), stopping);
    }
}

impl<Take: FnMut(&Run)> Books<'_, Take> {
    /// Takes the existing runs of jobs before `place`.
    fn reuse_before(&mut self, place: usize) -> Result<(), Error> {
        let there = self.there;
        for record in there[self.due..place].iter().flatten() {
            let earlier = self.earlier.expect("what is there was found in it");
            let loaded = earlier.load(record)?;
            let run = loaded.run();
            self.directory.complete_run(&run)?;
            self.give(&run, true);
        }
        self.due = place;
        Ok(())
    }

    fn give(&mut self, run: &Run, there_already: bool) {
        self.watcher.ended(run, there_already);
        self.experiment.add_run(run);
        if let Some((_, evidence)) = &mut self.claims {
            evidence.add("", run);
        }
        (self.take)(run);
    }

    /// Completes the directory.
    fn finish(mut self, runs: usize) -> Result<Done, Error> {
        if let Some((claims, evidence)) = &self.claims {
            self.experiment.set_claims(claims.judge(evidence));
        }
        let reused = self.there.iter().flatten().count();
        // A signal that arrives after the last run has ended has no effect.
        let whole = reused + self.simulated == runs;
        let ending = Ending {
            status: if whole { Status::Complete } else { Status::Interrupted },
            wall_s: self.directory.wall_s(),
            peak_rss_bytes: memory::peak(),
        };
        let summary = self.directory.finish(&self.experiment, &ending)?;
        Ok(Done { summary, runs, reused, simulated: self.simulated, cost: self.cost })
    }
}

/// The manifest of an experiment that starts now.
fn manifest(scenario: &Scenario, variants: &[&Variant], how: &How) -> Manifest {
    Manifest {
        replications: scenario.replications,
        threads: how.threads * how.ranks.map_or(1, |ranks| ranks.ranks()),
        command: how.command.to_vec(),
        formats: how.formats.to_vec(),
        trace: how.trace.map(str::to_owned),
        ..floodway_describe::manifest(scenario, variants)
    }
}
