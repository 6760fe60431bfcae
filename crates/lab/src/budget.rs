//! Estimates of the resources that runs need, made before the first one begins: memory, compared
//! with what is available to the process, and disk space. Runs that do not fit are refused, because
//! a process that runs out of memory is killed without a message.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use floodway_machine::disk;
use floodway_machine::memory::{self, Limit, Room};
use floodway_machine::read::size;
use floodway_scenario::{Error, Place, Problem, Scenario, Source, Sweep, Variant};

use crate::capture::Choice;

/// Largest number of runs of one command; each has a directory, or a row, of its own.
pub const MOST_RUNS: u64 = 1_000_000;

/// Memory for the first run regardless of its size, in bytes (measured): buffers of tables and of the
/// report.
const FIRST: u64 = 5_000_000;
/// Memory kept per run until the report is written: its numbers and distributions, in bytes
/// (measured).
const KEPT_OF_RUN: u64 = 100_000;
/// Memory kept per run of a sweep: its numbers, in bytes (a guess).
const KEPT_OF_ROW: u64 = 30_000;
/// Memory kept per flow for its completion time, in bytes, until all variants of its replication
/// have finished.
const KEPT_OF_FLOW: f64 = 40.0;
/// Disk space for the files of a run without its flows, in bytes.
const DISK_OF_RUN: u64 = 95_000;
/// Disk space per flow, compressed, in bytes.
const DISK_OF_FLOW: f64 = 30.0;

/// An estimate of resources. All sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Total number of runs.
    pub runs: u64,
    /// Threads.
    pub threads: usize,
    /// Memory that the process holds now: the program and the scenario with its variants.
    pub held: u64,
    /// Memory for the largest run while it is simulated, including its results.
    pub of_run: u64,
    /// Of these, memory for a capture, if it has as many frames as it may.
    pub captured: u64,
    /// Memory kept for all runs until the report is written.
    pub kept: u64,
    /// Disk space for the results.
    pub disk: u64,
    /// Memory still available to the process; `None` if the system does not report it.
    pub room: Option<Room>,
}

impl Budget {
    /// Estimate for these variants of a scenario in all their replications.
    pub fn of(scenario: &Scenario, variants: &[&Variant], threads: usize) -> Self {
        let runs = u64::from(scenario.replications).saturating_mul(variants.len() as u64);
        let seed = scenario.replication_seed(0);
        let each: Vec<(u64, f64)> = variants.iter().map(|of| footprint(of, seed)).collect();
        let flows: f64 = each.iter().map(|of| of.1).sum();
        let replications = f64::from(scenario.replications);
        // A single variant is compared with none.
        let compared = if variants.len() > 1 { flows } else { 0.0 };
        Self {
            kept: runs.saturating_mul(KEPT_OF_RUN) + (compared * KEPT_OF_FLOW) as u64,
            disk: runs.saturating_mul(DISK_OF_RUN)
                + (flows * replications * DISK_OF_FLOW) as u64
                + 3 * scenario.text.len() as u64,
            ..Self::alone(runs, threads, each.iter().map(|of| of.0).max())
        }
    }

    /// Estimate for one run of a variant whose results are not written to disk.
    pub fn of_one(variant: &Variant, seed: u64, threads: usize) -> Self {
        Self::alone(1, threads, Some(footprint(variant, seed).0))
    }

    /// Estimate for these variants of a sweep at all its points.
    pub fn of_sweep(sweep: &Sweep, variants: &[String], threads: usize) -> Self {
        let most = |replications: u32| match &sweep.until {
            Some(until) => until.at_most,
            None => replications,
        };
        let each = sweep.points.iter().map(|point| u64::from(most(point.scenario.replications)));
        let runs = each.sum::<u64>().saturating_mul(variants.len() as u64);
        let of_run = sweep.points.iter().flat_map(|point| {
            let seed = point.scenario.replication_seed(0);
            let wanted = |of: &&Variant| variants.contains(&of.name);
            point.scenario.variants().iter().filter(wanted).map(move |of| footprint(of, seed))
        });
        let (of_run, flows) =
            of_run.fold((0, 0.0f64), |(most, flows), of| (of.0.max(most), of.1.max(flows)));
        Self {
            kept: runs.saturating_mul(KEPT_OF_ROW),
            disk: runs.saturating_mul(DISK_OF_RUN + (flows * DISK_OF_FLOW) as u64),
            ..Self::alone(runs, threads, Some(of_run))
        }
    }

    fn alone(runs: u64, threads: usize, of_run: Option<u64>) -> Self {
        Self {
            runs,
            threads,
            held: memory::held().unwrap_or(0),
            of_run: of_run.unwrap_or(0),
            captured: 0,
            kept: 0,
            disk: 0,
            room: memory::room(),
        }
    }

    /// Adds the memory and the disk space of a capture.
    pub fn add_capture(&mut self, choice: &Choice, variants: &[&Variant]) {
        let of = |variant: &&Variant| choice.memory(variant.graph());
        self.captured = variants.iter().map(of).max().unwrap_or(0);
        self.of_run = self.of_run.saturating_add(self.captured);
    }

    /// Divides a run over so many processes, as if each were on a machine of its own. What all of them hold, such as
    /// the list of flows, is estimated as if it were divided too.
    pub fn share(&mut self, ranks: usize) {
        self.threads = 1;
        self.of_run /= ranks.max(1) as u64;
    }

    /// Number of simultaneous runs.
    fn at_once(&self) -> u64 {
        (self.threads as u64).min(self.runs).max(1)
    }

    /// Additional memory needed with this number of simultaneous runs.
    fn needed(&self, at_once: u64) -> u64 {
        let at_once = self.of_run.saturating_mul(at_once);
        self.kept.saturating_add(FIRST).saturating_add(at_once)
    }

    /// Peak memory of the process.
    pub fn memory(&self) -> u64 {
        self.held.saturating_add(self.needed(self.at_once()))
    }

    /// Returns an error if there are too many runs or if they do not fit into memory. `file` is the
    /// scenario file.
    pub fn check(&self, file: &str) -> Result<(), Error> {
        let refused = |message: String, help: String| {
            let source = Arc::new(Source::new(file, String::new()));
            Err(Problem::error(Place::whole(&source), message, help).into())
        };
        if self.runs > MOST_RUNS {
            let message =
                format!("these are {} runs, and at most {MOST_RUNS} are possible", self.runs);
            return refused(message, FEWER.to_owned());
        }
        let Some(room) = self.room else { return Ok(()) };
        let at_once = self.at_once();
        let needed = self.needed(at_once);
        if needed <= room.bytes {
            return Ok(());
        }
        let runs = if self.runs == 1 {
            "1 run needs".to_owned()
        } else {
            format!("{} runs need", self.runs)
        };
        let message = format!(
            "{runs} roughly {} of memory, and {} are left {}",
            size(needed),
            size(room.bytes),
            room.limit
        );
        let flight = self.of_run.saturating_mul(at_once);
        let fewer = (1..at_once).rev().find(|&fewer| self.needed(fewer) <= room.bytes);
        let (largest, remedy) = match fewer {
            _ if self.captured > self.of_run / 2 => (
                format!("{} are for a capture", size(self.captured)),
                "capture fewer ports, or fewer frames of each: `--pcap-frames 1000`".to_owned(),
            ),
            _ if self.kept > flight => {
                (format!("{} are for what is kept of all runs", size(self.kept)), FEWER.to_owned())
            }
            Some(fewer) => (
                format!("{} are for {at_once} runs at the same time", size(flight)),
                format!("use fewer threads: `--threads {fewer}`"),
            ),
            None => (
                format!("{} are for one run alone", size(self.of_run)),
                "make it smaller, with fewer flows, hosts or samples, as in `--set arrivals=100us`"
                    .to_owned(),
            ),
        };
        refused(message, format!("{largest}; {remedy}"))
    }

    /// A warning, if the disk may be too small.
    pub fn warning(&self, path: &Path) -> Option<Problem> {
        let free = disk::free(path)?;
        self.warning_of(path, free)
    }

    fn warning_of(&self, path: &Path, free: u64) -> Option<Problem> {
        let source = Arc::new(Source::new(path.display().to_string(), String::new()));
        (self.disk > free).then(|| {
            let message = format!(
                "the results take roughly {} on the disk, and {} are free there",
                size(self.disk),
                size(free)
            );
            let help = "free some space, or choose a directory on another disk: `--out DIR`";
            Problem::warning(Place::whole(&source), message, help)
        })
    }
}

/// How to reduce the number of runs.
const FEWER: &str = "ask for fewer: `--replications`, `--variant`, or fewer points of a sweep";

fn footprint(variant: &Variant, seed: u64) -> (u64, f64) {
    let (bytes, flows) = variant.footprint_of_run(seed);
    (bytes.0, flows)
}

/// One line, for `floodway check`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads =
            if self.threads == 1 { "1 thread" } else { &format!("{} threads", self.threads) };
        write!(
            f,
            "all runs on {threads}, roughly: {} of memory ({} now, {} for each run at the same time, \
             {} kept of all runs) and {} on the disk",
            size(self.memory()),
            size(self.held),
            size(self.of_run),
            size(self.kept),
            size(self.disk)
        )?;
        match self.room {
            Some(Room { bytes, limit: Limit::Machine }) => {
                write!(f, "; {} of memory are left", size(bytes))
            }
            Some(Room { bytes, limit }) => {
                write!(f, "; {} of memory are left {limit}", size(bytes))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_scenario::Overrides;

    const ROOM: Room = Room { bytes: 1_000_000_000, limit: Limit::Process };

    fn budget() -> Budget {
        Budget {
            runs: 20,
            threads: 8,
            held: 0,
            of_run: 100_000_000,
            captured: 0,
            kept: 2_000_000,
            disk: 3_000_000,
            room: Some(ROOM),
        }
    }

    fn refused(budget: Budget) -> String {
        budget.check("a.toml").unwrap_err().plain()
    }

    #[test]
    fn what_fits_is_run() {
        assert_eq!(budget().check("a.toml"), Ok(()));
        // 8 x 100 MB, what is kept per run, and the 5 MB of the first run.
        assert_eq!(budget().memory(), 807_000_000);
        // There are never more simultaneous runs than runs.
        assert_eq!(Budget { runs: 3, ..budget() }.memory(), 307_000_000);
        assert_eq!(Budget { room: None, of_run: u64::MAX, ..budget() }.check("a.toml"), Ok(()));
    }

    #[test]
    fn fewer_threads_are_the_remedy_where_they_help() {
        assert_eq!(
            refused(Budget { threads: 16, ..budget() }),
            "error: 20 runs need roughly 1.61 GB of memory, and 1.00 GB are left of the process \
             (`ulimit -v` or `ulimit -d`)\n--> a.toml\n = help: 1.60 GB are for 16 runs at the same \
             time; use fewer threads: `--threads 9`\n"
        );
    }

    #[test]
    fn a_run_that_does_not_fit_has_to_be_smaller() {
        assert_eq!(
            refused(Budget { runs: 1, of_run: 4_000_000_000, ..budget() }),
            "error: 1 run needs roughly 4.01 GB of memory, and 1.00 GB are left of the process \
             (`ulimit -v` or `ulimit -d`)\n--> a.toml\n = help: 4.00 GB are for one run alone; make \
             it smaller, with fewer flows, hosts or samples, as in `--set arrivals=100us`\n"
        );
    }

    #[test]
    fn too_many_runs_are_refused() {
        assert_eq!(
            refused(Budget { runs: 400_000_000, ..budget() }),
            "error: these are 400000000 runs, and at most 1000000 are possible\n--> a.toml\n = \
             help: ask for fewer: `--replications`, `--variant`, or fewer points of a sweep\n"
        );
        assert_eq!(
            refused(Budget { runs: 100_000, kept: 10_000_000_000, ..budget() }),
            "error: 100000 runs need roughly 10.8 GB of memory, and 1.00 GB are left of the process \
             (`ulimit -v` or `ulimit -d`)\n--> a.toml\n = help: 10.0 GB are for what is kept of all \
             runs; ask for fewer: `--replications`, `--variant`, or fewer points of a sweep\n"
        );
    }

    /// The scenario of "Large collectives" in docs/performance.md, and what `/usr/bin/time -f %M floodway run
    /// all-to-all.toml --threads 2` said there, in bytes.
    #[test]
    fn the_estimate_for_an_all_to_all_is_near_what_was_measured() {
        for (leaves, measured) in [(16, 89_288_704), (32, 208_494_592), (64, 621_658_112_u64)] {
            let text = format!(
                "name = \"all-to-all\"\narrivals = \"100us\"\nwarmup = \"0ns\"\nlimit = \"50ms\"\n\
                 replications = 1\n[topology.clos]\nleaves = {leaves}\nspines = 32\n\
                 hosts_per_leaf = 32\nhost_delay = \"500ns\"\nfabric_delay = \"500ns\"\n\
                 [switch.queue]\ncount = 1\nsize = \"2MB\"\n[switch.aqm.ramp]\n\
                 [switch.flow_control.pfc]\nxoff = \"750KB\"\nxon = \"500KB\"\n\
                 [host.congestion.dcqcn]\n[[workload]]\n[workload.all_to_all]\nbytes = \"4KB\"\n\
                 at_once = 8\n"
            );
            let scenario = Scenario::parse(&text, "a.toml", &Overrides::default()).unwrap();
            let variants: Vec<&Variant> = scenario.variants().iter().collect();
            // What the program held before that run.
            let budget = Budget { held: 24_000_000, ..Budget::of(&scenario, &variants, 2) };
            let error = budget.memory() as f64 / measured as f64 - 1.0;
            assert!(error.abs() < 0.2, "{leaves} leaves: {} for {measured}", budget.memory());
        }
    }

    #[test]
    fn a_disk_that_is_too_small_is_a_warning() {
        let path = Path::new("results/a");
        assert_eq!(budget().warning_of(path, 3_000_000), None);
        assert_eq!(
            budget().warning_of(path, 2_999_999).unwrap().plain(),
            "warning: the results take roughly 3.00 MB on the disk, and 3.00 MB are free there\n--> \
             results/a\n = help: free some space, or choose a directory on another disk: `--out DIR`\n"
        );
    }
}
