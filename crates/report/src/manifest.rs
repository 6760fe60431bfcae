//! The manifest: what was run, how, when and by what, kept beside the results.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use floodway_model::{IntervalEnd, Table, tables};

use crate::Run;
use crate::files::Checksum;

/// The version of the form that `manifest.json`, `summary.json` and the tables have. It rises
/// when a reader of the old form could misunderstand the new one.
pub const SCHEMA: u32 = 1;

/// What `manifest.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this form.
    pub schema: u32,
    /// The version of floodway that made the results.
    pub floodway: String,
    /// How far it came.
    pub status: Status,
    /// The same in a sentence.
    pub note: String,
    /// The experiment.
    pub scenario: Scenario,
    /// What is compared, the baseline first.
    pub variants: Vec<Variant>,
    /// The workloads' names in order, those of the baseline; empty for one that has none.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// How many replications of each variant were asked for.
    pub replications: u32,
    /// The seed from which the replications' seeds come.
    pub seed: u64,
    /// How many threads the engine was given.
    pub threads: usize,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When it started, UTC, RFC 3339.
    pub started: String,
    /// How long it took in all, in seconds; of a command that went on with earlier runs, with the
    /// time that those took.
    pub wall_s: f64,
    /// Packet-hops of all runs: one frame over one link.
    pub hops: u64,
    /// Packet-hops per second of wall time.
    pub hops_per_second: f64,
    /// The most memory that the program held, in bytes; none where the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// The fingerprints of all runs in one, in hexadecimal; none before the end.
    pub fingerprint: Option<String>,
    /// The forms in which the tables are kept: names of [`crate::format::CATALOGUE`].
    pub formats: Vec<String>,
    /// The form of the traces that are kept of recorded runs, a name of [`crate::trace::CATALOGUE`],
    /// if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The lower edges, in bytes, of the size classes after the first.
    pub size_classes: Vec<u64>,
    /// The runs, in order of variant and replication.
    pub runs: Vec<Record>,
    /// Every file that floodway has written there or was about to write when it was killed; none
    /// of a version that did not list them. Nothing else is ever removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Listed>,
}

/// Names of files by their folder, relative to the results directory; `.` is the directory itself.
pub type Listed = BTreeMap<String, BTreeSet<String>>;

/// How far an experiment came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Under way, or killed.
    Running,
    /// Every run is there.
    Complete,
    /// Stopped before every run was done.
    Interrupted,
}

/// The experiment as its file states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The file that it was read from.
    pub file: String,
    /// The text of the file.
    pub text: String,
    /// What the command line changed: `switch.queue.size=2MB`.
    pub overrides: Vec<String>,
    /// The files that it names: flows, networks, tables of sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InputFile>,
    /// What the baseline simulates, as pairs of a noun and a phrase: network, traffic, transport.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
    /// The values that its variants take from device profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile_values: Vec<ProfileValue>,
}

/// A value of a device profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileValue {
    /// The name of the profile.
    pub profile: String,
    /// Where the value is in a scenario: `switch.cell`.
    pub path: String,
    /// The value.
    pub value: String,
    /// How it is known: `measured`, `datasheet`, `standard`, `vendor table` or `assumed`.
    pub evidence: String,
    /// From where.
    pub source: String,
}

impl ProfileValue {
    /// The class of evidence of what is not known.
    pub const ASSUMED: &str = "assumed";
}

/// A file that decided what was simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its path.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its hash: FNV-1a of 128 bits, in hexadecimal.
    pub hash: String,
}

/// Mechanisms with counters of their own, by the names of their settings, and how these counters begin.
pub const MECHANISMS: [(&str, &[&str]); 8] = [
    ("bfc", &["bfc_"]),
    ("cbfc", &["link_credits_"]),
    ("congestion_indication", &["indicated_", "indications_"]),
    ("congestion_isolation", &["isolations", "cims_"]),
    ("drc", &["drc_"]),
    ("qcn", &["cnms_"]),
    ("sfc", &["sfc_"]),
    ("watchdog", &["watchdog_"]),
];

/// One of the things compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: `ci-local`.
    pub name: String,
    /// What it is, in one line; may be empty.
    pub summary: String,
    /// The settings in which it differs from the baseline, as paths with values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// Which of [`MECHANISMS`] it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanisms: Option<Vec<String>>,
    /// What ends its measured interval.
    #[serde(default)]
    pub interval_end: IntervalEnd,
    /// When its arrivals end, in whole nanoseconds; 0 if that is not known.
    #[serde(default)]
    pub arrivals_ns: u64,
}

/// One finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The variant's name.
    pub variant: String,
    /// The replication, counted from 0.
    pub replication: u32,
    /// Its seed, shared by the variants.
    pub seed: u64,
    /// The fingerprint of its tables, in hexadecimal.
    pub fingerprint: String,
    /// Packet-hops.
    pub hops: u64,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// The simulated time at the end, in nanoseconds.
    pub simulated_ns: f64,
    /// Why it ended.
    pub stop: String,
    /// What was wrong with it; empty in a sound run.
    pub violations: Vec<String>,
    /// The folder of its tables.
    pub folder: String,
    /// What simulation it is: a hash of all parameters and of the program that ran it. Only a
    /// run whose key is the same is not repeated by `--resume`.
    #[serde(default)]
    pub key: String,
    /// Its tables as Parquet, in their order; none if they are kept in other forms only.
    #[serde(default)]
    pub tables: Vec<TableFile>,
}

/// A table that can be read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// The table's name.
    pub name: String,
    /// The checksum of its file, 64-bit FNV-1a, in hexadecimal. A table without rows has no file and no checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// Whether a table needs no file: it has no rows, and its columns are known.
pub(crate) fn needs_no_file(table: &Table) -> bool {
    table.rows() == 0 && tables::empty(&table.name).is_some()
}

/// How an experiment ended, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// Complete or interrupted.
    pub status: Status,
    /// How long it took in all, in seconds.
    pub wall_s: f64,
    /// The most memory that the program held, in bytes; none where the system does not report it.
    pub peak_rss_bytes: Option<u64>,
}

impl Manifest {
    /// The manifest of an experiment that starts now, one replication on one thread with seed 1
    /// unless the fields are set otherwise; its tables are kept as Parquet.
    pub fn new(scenario: Scenario, variants: Vec<Variant>) -> Self {
        Self {
            schema: SCHEMA,
            floodway: env!("CARGO_PKG_VERSION").to_string(),
            status: Status::Running,
            note: note(Status::Running).to_string(),
            scenario,
            variants,
            workloads: Vec::new(),
            replications: 1,
            seed: 1,
            threads: 1,
            command: Vec::new(),
            started: now(),
            wall_s: 0.0,
            hops: 0,
            hops_per_second: 0.0,
            peak_rss_bytes: None,
            fingerprint: None,
            formats: vec!["parquet".to_string()],
            trace: None,
            size_classes: crate::metrics::SizeClasses::default().edges().to_vec(),
            runs: Vec::new(),
            files: Some(Listed::new()),
        }
    }

    /// The place of the variant of this name; panics if there is none, because variants are
    /// declared before anything runs.
    pub(crate) fn place(&self, variant: &str) -> usize {
        self.variants
            .iter()
            .position(|known| known.name == variant)
            .unwrap_or_else(|| panic!("variant {variant} is not in the manifest"))
    }

    /// Takes a finished run into the books, with the files that it can be read back from.
    pub(crate) fn record(&mut self, run: &Run, tables: Vec<TableFile>) {
        let record = Record {
            variant: run.variant.to_string(),
            replication: run.replication,
            seed: run.seed,
            fingerprint: hex(run.fingerprint),
            hops: run.hops,
            wall_s: run.wall_s,
            simulated_ns: run.simulated_ns,
            stop: run.stop.to_string(),
            violations: run.violations.to_vec(),
            folder: folder(run.variant, run.replication),
            key: run.key.to_string(),
            tables,
        };
        self.add(record);
    }

    /// Takes a run into the books, at its place.
    pub(crate) fn add(&mut self, record: Record) {
        let order = |run: &Record| {
            (self.variants.iter().position(|known| known.name == run.variant), run.replication)
        };
        let place = order(&record);
        let at = self.runs.partition_point(|run| order(run) <= place);
        self.runs.insert(at, record);
    }

    /// Closes the books.
    pub(crate) fn end(&mut self, ending: &Ending) {
        self.status = ending.status;
        self.note = note(ending.status).to_string();
        self.wall_s = ending.wall_s;
        self.peak_rss_bytes = ending.peak_rss_bytes;
        self.hops = self.runs.iter().map(|run| run.hops).sum();
        self.hops_per_second =
            if ending.wall_s > 0.0 { self.hops as f64 / ending.wall_s } else { 0.0 };
        self.fingerprint = Some(combined(&self.runs));
    }

    /// Every violation of every run, with the run that it comes from.
    pub fn violations(&self) -> Vec<String> {
        let of = |run: &Record| {
            let from = format!("{} replication {}", run.variant, run.replication);
            run.violations.iter().map(move |text| format!("{from}: {text}")).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of).collect()
    }
}

/// The folder of a run's tables, below that of the results.
pub fn folder(variant: &str, replication: u32) -> String {
    format!("runs/{variant}/{replication}")
}

/// A fingerprint as it is shown.
pub fn hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// The fingerprints of the runs in one: FNV-1a over their digits, in order of variant and
/// replication.
pub(crate) fn combined(runs: &[Record]) -> String {
    together(runs.iter().map(|run| run.fingerprint.as_str()))
}

/// Several fingerprints in one, in hexadecimal.
pub fn together<'a>(fingerprints: impl Iterator<Item = &'a str>) -> String {
    let mut sum = Checksum::new();
    fingerprints.for_each(|fingerprint| sum.add(fingerprint.as_bytes()));
    hex(sum.0)
}

/// The time now, UTC, RFC 3339.
pub fn now() -> String {
    rfc3339(SystemTime::now())
}

fn note(status: Status) -> &'static str {
    match status {
        Status::Running => {
            "this run did not finish: either it is still under way, or it was killed; the runs \
             listed here are whole, and nothing else is"
        }
        Status::Complete => "every run finished",
        Status::Interrupted => {
            "this run was interrupted: the runs listed here are whole unless their `stop` says \
             interrupted, and the others are missing"
        }
    }
}

/// A time in UTC to the second, as RFC 3339 writes it.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a civil date, in eras of 400 years that begin on the first of March, so that the
    // leap day is the last of a year (Hinnant, "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + late;
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
