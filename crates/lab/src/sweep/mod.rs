//! A sweep: every variant at every point of a grid, repeated until the metrics are known well
//! enough. Nothing is simulated twice: a run that is in the store is loaded from there, so an
//! interrupted sweep continues where it stopped.
//!
//! The list of runs that are due ([`due`]) depends only on the runs so far, and a run ([`make`])
//! depends only on its task, so callers can distribute the work as they like.

mod due;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use floodway_report::manifest::{self, SCHEMA, hex};
use floodway_report::statistics::refused;
use floodway_report::store::Store;
use floodway_report::study::Provenance;
use floodway_report::sweep::{self as results, Axis, Meaning, Origin, Reference, Row};
use floodway_report::{INTERRUPTED, Lock, Run, lock};
use floodway_scenario::{Scenario, Sweep, Variant, sweep as grid};

use crate::board::Board;
use crate::queue::{self, Job, Queue, Taker};
use crate::{Budget, How, Watcher};

pub use due::due;
use due::is_known;

/// One run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// The point of the grid.
    pub point: usize,
    /// Index of the variant among those that are run.
    pub variant: usize,
    /// The replication, counted from 0.
    pub replication: u32,
}

/// The parameters of the request.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// The variants to run; all points must have them, and the first is the baseline.
    pub variants: &'a [String],
    /// Where runs are stored and found; `None` to simulate them every time.
    pub store: Option<&'a Store>,
    /// Results directory.
    pub path: &'a Path,
    /// The metrics that the page shows; if empty, a default selection.
    pub shown: &'a [String],
}

/// Reason why a sweep has no result.
#[derive(Debug)]
pub enum Failure {
    /// The results, or a run, cannot be stored.
    Results(results::Error),
    /// Another command writes to the same directory.
    Locked(lock::Error),
    /// The runs have no metric of this name; the message gives the closest name, if any is close,
    /// and all names.
    Metric {
        /// The requested name.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// The sweep does not fit into memory, or has too many runs.
    Scenario(floodway_scenario::Error),
    /// The sweep was interrupted; this number of runs is in the store, if there is one.
    Interrupted(usize),
}

/// Result of a sweep, and its page.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The runs with their numbers.
    pub result: results::Sweep,
    /// The page.
    pub page: PathBuf,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Made {
    /// The run with its numbers.
    pub row: Row,
    /// Meanings of the numbers.
    pub metrics: BTreeMap<String, Meaning>,
    /// The simulated time at the end, in nanoseconds.
    pub simulated_ns: f64,
    /// Whether it was in the store.
    pub found: bool,
}

/// Runs a sweep.
pub fn run(order: &Order, how: &How, watcher: &mut dyn Watcher) -> Result<Swept, Failure> {
    let Order { sweep, path, .. } = *order;
    let base = &sweep.points[0].scenario;
    Budget::of_sweep(sweep, order.variants, how.threads).check(&base.file_name)?;
    let _lock = begin(path, &base.name, how.command)?;
    if let Some(store) = order.store {
        store.collect();
    }
    let started = manifest::now();
    let mut books =
        Collector { order, rows: BTreeMap::new(), metrics: BTreeMap::new(), found: 0, watcher };
    loop {
        let tasks = due(sweep, order.variants, &books.rows, &books.metrics);
        if tasks.is_empty() {
            break;
        }
        let jobs: Vec<Job> = tasks.iter().enumerate().map(|task| job(order, task)).collect();
        let board = Board::new(jobs.len());
        books.watcher.begin(None, None, jobs.len());
        let queue = Queue::new(jobs, how.threads);
        let wrong = OnceLock::new();
        let work = |job: &Job, place: usize| {
            let task = tasks[job.place];
            let made = make(order, job, how.stop, &board, place);
            // Checked here and not where runs are taken, because they are taken in order and the
            // first may take hours.
            if let Ok(made) = &made
                && made.row.stop != INTERRUPTED
                && let Err(failure) = possible(order, &made.metrics)
            {
                let _ = wrong.set(failure);
                how.stop.store(true, Ordering::Relaxed);
            }
            (task, made)
        };
        let taken = queue.run(how.stop, &board, work, &mut books);
        if let Some(failure) = wrong.into_inner() {
            books.watcher.end();
            return Err(failure);
        }
        taken?;
        books.watcher.end();
        if how.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted(books.rows.len()));
        }
        known(order, &books.metrics)?;
    }
    let result = books.result(how, started);
    let page = results::finish(path, &result)?;
    Ok(Swept { result, page })
}

/// Creates the results directory of a sweep of this scenario, or clears an existing one, and locks
/// it for a command.
pub fn begin(path: &Path, scenario: &str, command: &[String]) -> Result<Lock, Failure> {
    // Checked before the directory is locked: if it holds anything else, nothing may be written
    // there, not even a lock.
    results::may_hold(path, scenario)?;
    let lock = Lock::take(path, command)?;
    results::begin(path, scenario)?;
    Ok(lock)
}

/// The job of a task, with its index within the round.
pub fn job<'a>(order: &Order<'a>, (place, task): (usize, &Task)) -> Job<'a> {
    let scenario = &order.sweep.points[task.point].scenario;
    let variant = variant(scenario, &order.variants[task.variant]);
    let (replication, seed) = (task.replication, scenario.replication_seed(task.replication));
    Job { place, variant, replication, seed, threads: 1, traced: false }
}

fn variant<'a>(scenario: &'a Scenario, name: &str) -> &'a Variant {
    let found = scenario.variants().iter().find(|variant| variant.name == name);
    found.expect("all points have all variants")
}

/// Loads a run from the store, or simulates and stores it.
pub fn make(
    order: &Order,
    job: &Job,
    stop: &AtomicBool,
    board: &Board,
    place: usize,
) -> Result<Made, results::Error> {
    // Without recording: nothing shows the recordings of single runs.
    let spec = job.variant.build(job.seed);
    if let Some(store) = order.store
        && let Some(stored) = store.find(&spec.key())
    {
        board.done(place, stored.simulated_ns, 0);
        let run = Run {
            variant: &job.variant.name,
            replication: job.replication,
            seed: stored.seed,
            key: &spec.key(),
            tables: &stored.tables,
            hops: stored.hops,
            wall_s: stored.wall_s,
            simulated_ns: stored.simulated_ns,
            fingerprint: stored.fingerprint,
            violations: &stored.violations,
            stop: &stored.stop,
        };
        return Ok(made(&run, true));
    }
    let finished = queue::simulate_spec(job, spec, stop, board, place);
    let run = finished.run(job);
    if let Some(store) = order.store {
        store.put(&run)?;
    }
    Ok(made(&run, false))
}

/// The numbers of a run; its point is filled in by the caller.
fn made(run: &Run, found: bool) -> Made {
    let numbers = results::numbers(run.tables, run.simulated_ns);
    let row = Row {
        point: 0,
        variant: run.variant.to_owned(),
        replication: run.replication,
        seed: run.seed,
        key: run.key.to_owned(),
        fingerprint: hex(run.fingerprint),
        hops: run.hops,
        wall_s: run.wall_s,
        stop: run.stop.to_owned(),
        violations: run.violations.to_vec(),
        numbers: numbers.iter().map(|(name, of)| (name.clone(), of.scalar.value)).collect(),
        bounds: numbers.iter().filter(|of| of.1.bound).map(|of| of.0.clone()).collect(),
    };
    let metrics = numbers.iter().map(|(name, number)| (name.clone(), Meaning::of(number)));
    Made { row, metrics: metrics.collect(), simulated_ns: run.simulated_ns, found }
}

/// Checks that the runs have the requested metrics.
pub fn known(order: &Order, metrics: &BTreeMap<String, Meaning>) -> Result<(), Failure> {
    missing(order, metrics, |_| true)
}

/// Checks, given the metrics of one run, that some run may have the requested metrics. This is checked
/// for the first runs that end, so that hours are not spent on a mistyped name.
pub fn possible(order: &Order, metrics: &BTreeMap<String, Meaning>) -> Result<(), Failure> {
    let found = missing(order, metrics, |name| !results::may_be_missing(name));
    found.map_err(|failure| match failure {
        // A run without flows should not hide the metric that was meant.
        Failure::Metric { name, mut known } => {
            known.extend(results::OF_FLOWS.map(str::to_owned));
            known.sort();
            known.dedup();
            Failure::Metric { name, known }
        }
        other => other,
    })
}

fn missing(
    order: &Order,
    metrics: &BTreeMap<String, Meaning>,
    counts: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    let until = order.sweep.until.iter().map(|until| until.metric.clone());
    let mut wanted = until.chain(shown(order));
    match wanted.find(|name| !metrics.contains_key(name) && counts(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::Metric { name, known: metrics.keys().cloned().collect() }),
    }
}

/// The metrics that the page shows, by their names in results.
fn shown(order: &Order) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for name in order.shown.iter().map(|name| order.sweep.metric(name)) {
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    shown
}

/// Collects runs as they finish.
struct Collector<'a> {
    order: &'a Order<'a>,
    rows: BTreeMap<Task, Row>,
    metrics: BTreeMap<String, Meaning>,
    found: usize,
    watcher: &'a mut dyn Watcher,
}

impl<'a> Taker<'a> for Collector<'_> {
    type Product = (Task, Result<Made, results::Error>);
    type Error = Failure;

    fn take(&mut self, _job: &Job<'a>, (task, made): Self::Product) -> Result<(), Failure> {
        let Made { row, metrics, simulated_ns, found } = made?;
        let point = &self.order.sweep.points[task.point];
        let label = format!("{} {}", self.order.sweep.settings(point).join(" "), row.variant);
        let run = Run {
            variant: label.trim_start(),
            replication: row.replication,
            seed: row.seed,
            key: &row.key,
            tables: &[],
            hops: row.hops,
            wall_s: row.wall_s,
            simulated_ns,
            fingerprint: u64::from_str_radix(&row.fingerprint, 16).unwrap_or(0),
            violations: &row.violations,
            stop: &row.stop,
        };
        self.watcher.ended(&run, found);
        if row.stop == INTERRUPTED {
            return Ok(());
        }
        self.metrics.extend(metrics);
        self.found += usize::from(found);
        self.rows.insert(task, Row { point: task.point, ..row });
        Ok(())
    }

    fn look(&mut self, board: &Board, stopping: bool) {
        self.watcher.look(&board.total(), stopping);
    }
}

impl Collector<'_> {
    /// The complete result.
    fn result(self, how: &How, started: String) -> results::Sweep {
        let provenance = Provenance {
            command: how.command.to_vec(),
            started,
            threads: how.threads,
            ..Provenance::default()
        };
        result(self.order, self.rows, self.metrics, self.found, provenance)
    }
}

/// The result of a sweep from its runs, `found` of which were in the store. Of the provenance, the
/// caller supplies the command, the start and the threads.
pub fn result(
    order: &Order,
    rows: BTreeMap<Task, Row>,
    metrics: BTreeMap<String, Meaning>,
    found: usize,
    provenance: Provenance,
) -> results::Sweep {
    let sweep = order.sweep;
    let base = &sweep.points[0].scenario;
    let axis = |axis: &floodway_scenario::sweep::Axis| {
        let (numbers, unit) = axis.numbers.clone().unzip();
        Axis {
            path: axis.path.clone(),
            values: axis.values.clone(),
            numbers,
            unit: unit.unwrap_or("").to_owned(),
        }
    };
    let runs: Vec<Row> = rows.into_values().collect();
    let violation = |row: &Row| {
        let from = format!(
            "{} {} replication {}",
            sweep.settings(&sweep.points[row.point]).join(" "),
            row.variant,
            row.replication
        );
        row.violations.iter().map(move |text| format!("{from}: {text}")).collect::<Vec<_>>()
    };
    let provenance = Provenance {
        floodway: env!("CARGO_PKG_VERSION").to_owned(),
        runs: runs.len(),
        reused: found,
        hops: runs.iter().map(|row| row.hops).sum(),
        run_s: runs.iter().map(|row| row.wall_s).sum(),
        fingerprint: manifest::together(runs.iter().map(|row| row.fingerprint.as_str())),
        ..provenance
    };
    let mut result = results::Sweep {
        schema: SCHEMA,
        scenario: base.name.clone(),
        question: base.question.clone(),
        axes: sweep.axes.iter().map(axis).collect(),
        points: sweep.points.iter().map(|point| point.at.clone()).collect(),
        reference: Reference {
            point: sweep.reference.point,
            origin: match sweep.reference.origin {
                grid::Origin::Given => Origin::Given,
                grid::Origin::Scenario => Origin::Scenario,
                grid::Origin::First => Origin::First,
            },
        },
        traffic: sweep.traffic(order.variants),
        variants: order.variants.to_vec(),
        until: sweep.until.as_ref().map_or_else(String::new, |until| {
            format!(
                "the 95 % interval of {} reaches at most {} % of its mean to either side, with at most \
                 {} replications",
                until.metric,
                until.half_width * 100.0,
                until.at_most
            )
        }),
        shown: shown(order),
        violations: runs.iter().flat_map(violation).collect(),
        runs,
        metrics,
        comparisons: Vec::new(),
        caveats: Vec::new(),
        provenance,
        text: base.text.clone(),
    };
    result.caveats = caveats(sweep, &result);
    result.comparisons =
        result.shown().into_iter().flat_map(|metric| result.cells(metric)).collect();
    result
}

/// Caveats that a reader must know first.
fn caveats(sweep: &Sweep, result: &results::Sweep) -> Vec<String> {
    let mut caveats = Vec::new();
    let cells = || {
        (0..result.points.len())
            .flat_map(|point| result.variants.iter().map(move |variant| (point, variant)))
    };
    let unfinished: f64 = result.runs.iter().filter_map(|row| row.numbers.get("unfinished")).sum();
    if unfinished > 0.0 {
        caveats.push(format!(
            "{unfinished} flows had not completed when their runs ended. They count with the time that \
             they had taken by then, so means are restricted means; a percentile that lies among them is \
             a lower bound. `unfinished` has their number at every point."
        ));
    }
    if sweep.points.iter().any(|point| point.scenario.replications < 2) && sweep.until.is_none() {
        caveats.push(
            "There is a single replication, so there are no confidence intervals: give \
             `--replications` or `--until`."
                .to_owned(),
        );
    }
    if let Some(until) = &sweep.until {
        caveats.push(
            "Runs were repeated until intervals were narrow enough, and that makes them somewhat too \
             narrow: less than 95 % of them hold the true mean."
                .to_owned(),
        );
        let short = cells().filter(|(point, variant)| {
            !is_known(&result.estimate(*point, variant, &until.metric), until.half_width)
        });
        match short.count() {
            0 => {}
            many => caveats.push(format!(
                "At {many} of {} points and variants {} is not known to {} % after {} replications or \
                 fewer, where more would not help: {}",
                cells().count(),
                until.metric,
                until.half_width * 100.0,
                result.runs.iter().map(|row| row.replication + 1).max().unwrap_or(0),
                refused(cells().filter_map(|(point, variant)| {
                    result.estimate(point, variant, &until.metric).no_interval
                }))
                .unwrap_or_else(|| "the intervals are wide.".to_owned())
            )),
        }
    }
    if result.points.len() > 1 && result.reference.origin == Origin::First {
        caveats.push(format!(
            "No point of the grid has the scenario's own values, so changes are from the first point, \
             `{}`: choose another with `--reference`.",
            result.short_name(result.reference.point)
        ));
    }
    caveats.extend(result.idle());
    caveats
}

impl From<floodway_scenario::Error> for Failure {
    fn from(error: floodway_scenario::Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<lock::Error> for Failure {
    fn from(error: lock::Error) -> Self {
        Self::Locked(error)
    }
}

impl From<results::Error> for Failure {
    fn from(error: results::Error) -> Self {
        Self::Results(error)
    }
}
