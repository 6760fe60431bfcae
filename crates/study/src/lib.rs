//! Studies: the experiments behind a set of published claims, and what comes of each claim.
//!
//! ```text
//! Study::plan(level)   the experiments: scenario files with settings, by level
//! Evidence::add(run)   what the runs say, kept by experiment, variant and replication
//! Study::judge()       claims with verdicts over all readings, and checks
//! Study::sections      charts and tables
//! ```
//!
//! A claim has the words of its source. Its numbers are rows: what was claimed of each, the rule by
//! which it is judged, written down before the runs, and the function that measures it. A source
//! leaves things open, so a claim is judged in every reading of it, by the same rows. Whoever runs
//! the experiments (the command line) only carries runs from the plan to the evidence.
//!
//! - [`plan`]: levels and experiments
//! - [`evidence`]: what is kept of the runs
//! - [`flows`], [`histogram`]: completion times by group of flows
//! - [`deliveries`], [`fairness`]: rates over time, and how evenly flows share
//! - [`distribution`]: distributions over all replications
//! - [`measure`]: numbers with intervals from the evidence
//! - [`readings`]: what a source leaves open, designs over it, and verdicts over all readings
//! - [`library`]: what the scenarios say
//! - [`claim`]: claims, their numbers and the rules for them
//! - [`sql`]: numbers asked of the tables of a run in SQL
//! - [`facts`]: facts of scenarios, likewise
//! - `compile`: claims as files write them, checked and made into rows
//! - [`folder`]: studies that are folders of files; some of them are part of the program
//! - [`run_claims`]: the claims of a scenario, judged by its runs
//! - [`section`], [`exhibit`], [`curves`]: sections, their charts of rows and tables, and of lines
//! - [`matrix`]: their grids of small charts and heat maps

pub mod claim;
mod compile;
pub mod curves;
pub mod deliveries;
pub mod distribution;
pub mod evidence;
pub mod exhibit;
pub mod facts;
pub mod fairness;
pub mod flows;
pub mod folder;
pub mod histogram;
mod leaves;
pub mod library;
pub mod matrix;
pub mod measure;
pub mod plan;
pub mod readings;
pub mod run_claims;
pub mod section;
pub mod sql;

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use floodway_model::family::Entry;
use floodway_report::study::Section;
use floodway_scenario::Error;

pub use claim::{Claim, Of, Row, Rule};
pub use evidence::{Case, Evidence};
pub use flows::{FlowGroup, Quantile};
pub use library::Library;
pub use measure::Measured;
pub use plan::{Experiment, Level};
pub use readings::Judged;
pub use readings::closest::Closest;
pub use run_claims::RunClaims;

/// One study.
pub struct Study {
    /// Its name on the command line, and what it is in a line.
    pub entry: Entry,
    /// Its title.
    pub title: &'static str,
    /// What it asks, in one sentence.
    pub question: &'static str,
    /// Its scenarios.
    pub library: Library,
    /// The groups of flows that it looks at, in the order of its charts.
    pub groups: &'static [FlowGroup],
    /// Whether the measured flows of every run are kept, some 40 bytes each, and not only what
    /// groups come to: for measures of the same flow in two runs.
    pub keeps_flows: bool,
    /// What every run is asked in SQL.
    pub queries: &'static [sql::Query],
    /// The counters that are asked for by a name in a file, which may be misspelled.
    pub counters: &'static [&'static str],
    /// Names for the first of some experiments that was run.
    pub first_run: &'static [(&'static str, Vec<&'static str>)],
    /// Its experiments.
    pub plan: &'static (dyn Fn(Level) -> Vec<Experiment> + Sync),
    /// Its claims in the order of the sources.
    pub claims: &'static [Claim],
    /// The numbers that claims are judged by, and checks.
    pub rows: &'static [&'static [Row]],
    /// The readings of its sources that were run. None: there is only the main one.
    pub readings: Of<Judged>,
    /// What `--closest` comes near to; none if the sources give too few numbers for it.
    pub closest: Option<&'static Closest>,
    /// What the evidence answers, in a few sentences.
    pub answer: Of<Vec<String>>,
    /// The sections of its report.
    pub sections: Of<Vec<Section>>,
}

/// A study that is part of the program. It is read when it is asked for, because all its experiments are checked then.
pub struct Built {
    /// Its folder, from the root of the repository. Its name is the last part of it.
    folder: &'static str,
    entry: OnceLock<Entry>,
    study: OnceLock<&'static Study>,
}

/// All studies that are part of the program.
pub static CATALOGUE: [Built; 6] = [
    Built::of("studies/ci"),
    Built::of("studies/sfc"),
    Built::of("studies/dualq"),
    Built::of("studies/short-range"),
    Built::of("studies/interplay"),
    Built::of("studies/access"),
];

impl Built {
    const fn of(folder: &'static str) -> Self {
        Self { folder, entry: OnceLock::new(), study: OnceLock::new() }
    }

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        self.folder.rsplit('/').next().unwrap_or(self.folder)
    }

    /// Its name on the command line, and what it is in a line.
    pub fn entry(&self) -> &Entry {
        self.entry.get_or_init(|| folder::entry(FILES, self.folder, self.name()))
    }

    /// The study. The first call takes some tenths of a second.
    pub fn study(&self) -> &'static Study {
        self.study.get_or_init(|| folder::built(FILES, self.folder, self.name()))
    }
}

/// Files that are part of the program, by their paths from the root of the repository.
macro_rules! files {
    ($($path:literal),+ $(,)?) => { &[$(($path, include_str!(concat!("../../../", $path)))),+] };
}

/// The files of these studies: their own, and their scenarios.
const FILES: &[(&str, &str)] = files![
    "studies/ci/study.toml",
    "scenarios/ci/lossless.toml",
    "scenarios/ci/ecn-step.toml",
    "scenarios/ci/three-queues.toml",
    "scenarios/ci/memory-size.toml",
    "scenarios/ci/memory-xoff.toml",
    "scenarios/ci/memory-high.toml",
    "scenarios/ci/latency.toml",
    "scenarios/ci/lossy.toml",
    "scenarios/ci/lossy-go-back-n.toml",
    "scenarios/ci/full.toml",
    "scenarios/ci/tcp-udp.toml",
    "studies/sfc/study.toml",
    "scenarios/sfc/benefits.toml",
    "scenarios/sfc/fairness-intra.toml",
    "scenarios/sfc/fairness-inter.toml",
    "scenarios/sfc/idle.toml",
    "scenarios/sfc/buildings.toml",
    "scenarios/sfc/transports.toml",
    "studies/dualq/study.toml",
    "scenarios/dualq/grid.toml",
    "scenarios/dualq/alone.toml",
    "scenarios/dualq/idle.toml",
    "scenarios/dualq/law.toml",
    "scenarios/dualq/pi2-grid.toml",
    "scenarios/dualq/load.toml",
    "scenarios/dualq/overload.toml",
    "scenarios/dualq/interactive.toml",
    "scenarios/dualq/modern.toml",
    "studies/short-range/study.toml",
    "scenarios/short-range/backplane.toml",
    "scenarios/short-range/multistage.toml",
    "scenarios/short-range/entries.toml",
    "scenarios/short-range/mixed.toml",
    "studies/interplay/study.toml",
    "studies/access/study.toml",
    "studies/access/linux.csv",
    "scenarios/access/load.toml",
    "scenarios/access/share.toml",
    "scenarios/access/home.toml",
];

impl fmt::Debug for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "study {}", self.entry.name)
    }
}

/// The study of this name or in this folder; none if there is neither. Fails if the study of the folder is wrong.
pub fn named(text: &str) -> Option<Result<&'static Study, Error>> {
    if let Some(known) = CATALOGUE.iter().find(|built| built.name() == text) {
        return Some(Ok(known.study()));
    }
    let path = Path::new(text);
    (path.components().count() > 1 || path.exists()).then(|| folder::load(path))
}

impl Study {
    /// What it is called on the command line: its name, or its folder.
    pub fn argument(&self) -> &'static str {
        match self.library {
            Library::Built(_) => self.entry.name,
            Library::Folder(folder) => folder,
        }
    }

    /// All its numbers.
    pub fn all_rows(&self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().copied().flatten()
    }

    /// The numbers that a claim is judged by.
    pub fn rows_of(&self, id: &str) -> Vec<&'static Row> {
        self.all_rows().filter(|row| row.id == id && !row.is_check()).collect()
    }
}
