//! A study as it comes out: what others claimed, what was measured, and the evidence, ready to be
//! shown as text ([`crate::terminal`]), as a page ([`crate::html`]) and as files ([`files`]).

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::chart::{Grid, HeatMap, Lines, Rows};
use crate::evidence::file_name;
use crate::files::{IoError, named};
use crate::manifest::Listed;
use crate::owned::{self, HERE, Text};
use crate::sample::{SAMPLE, Sample, Sampled};
use crate::{html, lock, markdown};

/// A study with its claims and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// Its name on the command line: `ci`.
    pub study: String,
    /// Its title: `Congestion Isolation`.
    pub title: String,
    /// What it asks, in one sentence.
    pub question: String,
    /// What it answers, a sentence each.
    pub answer: Vec<String>,
    /// How thorough it was: `quick`, `standard` or `full`.
    pub level: String,
    /// Settings that were changed for all experiments, as `path=value`.
    pub settings: Vec<String>,
    /// Every claim, in the order of the sources.
    pub claims: Vec<Claim>,
    /// What cannot fail, or says nothing about a mechanism: whether the scenarios are what the
    /// sources describe, arithmetic, and numbers that follow from a choice that was made here.
    /// They are no results and are counted nowhere.
    pub checks: Vec<Part>,
    /// What a reader must know first: missing runs, settings that are not the study's.
    pub caveats: Vec<String>,
    /// Laws that a run broke, each with its experiment; empty in a sound study.
    pub violations: Vec<String>,
    /// The evidence, experiment by experiment.
    #[serde(skip)]
    pub sections: Vec<Section>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// Runs that are to be published with the text ([`crate::sample`]); none of what is no study.
    #[serde(skip)]
    pub sample: Vec<Sampled>,
}

/// One claim of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Its name: `A1`.
    pub id: String,
    /// The words of the source.
    pub quotation: String,
    /// Where they stand: `IETF 101, early results`.
    pub source: String,
    /// What came of it over all readings of the source.
    pub verdict: Verdict,
    /// Where it holds, if that depends on the reading: `if ECN: capped (with it in 15 of 16 readings,
    /// without it in 1 of 16 readings)`; empty otherwise.
    pub condition: String,
    /// What was measured in the main reading, in a sentence.
    pub result: String,
    /// In which readings it holds.
    pub readings: Readings,
    /// The numbers behind it, as the main reading has them.
    pub parts: Vec<Part>,
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// It holds in every reading that can be judged.
    #[serde(rename = "holds")]
    Holds,
    /// It holds in some readings and not in others.
    #[serde(rename = "holds if")]
    HoldsIf,
    /// It holds in none.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// Half of the readings or more cannot be judged.
    #[serde(rename = "cannot be judged")]
    CannotBeJudged,
}

impl Verdict {
    /// In words, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsIf => "holds if",
            Self::DoesNotHold => "does not hold",
            Self::CannotBeJudged => "cannot be judged",
        }
    }

    /// The same of so many claims: `1 holds`, `6 hold`.
    pub fn counted(self, claims: usize) -> String {
        let verb = match (self, claims) {
            (_, 1) | (Self::CannotBeJudged, _) => self.name(),
            (Self::Holds, _) => "hold",
            (Self::HoldsIf, _) => "hold if",
            (Self::DoesNotHold, _) => "do not hold",
        };
        format!("{claims} {verb}")
    }
}

/// In which readings of the source a claim holds. A reading makes a choice for everything that the
/// source leaves open.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Readings {
    /// In how many of all readings.
    #[serde(flatten)]
    pub counts: Counts,
    /// The share of the readings in which it holds, of those that can be judged; none if none can.
    pub share: Option<f64>,
    /// The choices on which it depends whether it holds; empty if it does not depend.
    pub deciding: Vec<Deciding>,
    /// What is counted.
    #[serde(skip)]
    pub of: Counted,
}

/// What a claim is judged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Readings of the source.
    #[default]
    Readings,
    /// Experiments, all in one reading: each number of the claim is of another one.
    Experiments,
}

impl Counted {
    /// The noun for so many of them.
    pub fn noun(self, number: usize) -> &'static str {
        match (self, number) {
            (Self::Readings, 1) => "reading",
            (Self::Readings, _) => "readings",
            (Self::Experiments, 1) => "experiment",
            (Self::Experiments, _) => "experiments",
        }
    }
}

/// How many readings of some have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// In how many the claim holds.
    pub holds: usize,
    /// In how many it does not.
    pub does_not: usize,
    /// In how many it cannot be judged.
    pub cannot_be_judged: usize,
}

impl Counts {
    /// All of them.
    pub fn all(self) -> usize {
        self.holds + self.does_not + self.cannot_be_judged
    }

    /// Those that could be judged.
    pub fn judged(self) -> usize {
        self.holds + self.does_not
    }

    /// In words: `12 of 16 readings`, `12 of 16 readings (4 more cannot be judged)`.
    pub fn words(self, counted: Counted) -> String {
        let judged = self.judged();
        let of = format!("{} of {judged} {}", self.holds, counted.noun(judged));
        match self.cannot_be_judged {
            0 => of,
            open => format!("{of} ({open} more cannot be judged)"),
        }
    }
}

/// A choice on which it depends whether a claim holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deciding {
    /// What the source leaves open: `ECN`.
    pub factor: String,
    /// The choice: `capped`.
    pub choice: String,
    /// Who chooses so.
    pub source: String,
    /// The readings with this choice.
    pub with: Counts,
    /// All others.
    pub without: Counts,
}

/// One number of a claim or of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The name of its claim or check: `A1`.
    pub id: String,
    /// Which part of it: `mice`; empty if it has only one.
    pub part: String,
    /// What the number is: `mean completion time of flows < 100 KB, with isolation vs. without`.
    pub metric: String,
    /// What was claimed, in words: `-63 %`, `never above XOFF`.
    pub claimed: String,
    /// Where: `IETF 101, early results`.
    pub source: String,
    /// What was expected before the runs, and what counts as reproduced.
    pub expected: String,
    /// What was measured; none if there is nothing to measure it by.
    pub measured: Option<f64>,
    /// The lower end of its 95 % interval; none of a number without one.
    pub low: Option<f64>,
    /// The upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The unit of all three: `%`, `us`, `KB`; empty for a plain number.
    pub unit: String,
    /// How it compares with what was claimed.
    pub verdict: Comparison,
    /// Why, where the numbers do not speak for themselves; may be empty.
    pub remark: String,
}

/// How a number compares with what was claimed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Comparison {
    /// The measured value lies within the tolerance that was written down before.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The effect has the claimed sign, but not the claimed size.
    #[serde(rename = "same direction")]
    SameDirection,
    /// It has the other sign, or there is no effect where one was claimed.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// The interval is too wide, or the source does not say enough.
    #[serde(rename = "cannot judge")]
    CannotJudge,
}

impl Comparison {
    /// In words, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::NotReproduced => "not reproduced",
            Self::CannotJudge => "cannot judge",
        }
    }
}

/// One experiment, as the section of a paper's evaluation: a heading, the evidence, an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// A short name, fit for an anchor and for file names: `two-queues`.
    pub name: String,
    /// Its heading, a noun phrase in a study: `Completion times with two queues`.
    pub question: String,
    /// What came out, in one sentence.
    pub answer: String,
    /// How it was asked, and what else is worth knowing; a paragraph each.
    pub text: Vec<String>,
    /// The charts and tables, in order.
    pub exhibits: Vec<Exhibit>,
    /// The claims that it bears on: `A1`, `D3`.
    pub claims: Vec<String>,
    /// Commands that run the same by themselves, one for each experiment; of many that are alike a
    /// few, with a comment.
    pub commands: Vec<String>,
    /// Results directories beside the page, with their labels: (`two-queues`, `two-queues/report.html`).
    pub links: Vec<(String, String)>,
}

/// What a section shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhibit {
    /// Values with intervals along one axis, as wide as the column.
    Rows {
        /// A short name, fit for file names.
        name: String,
        /// What the chart asks or shows.
        caption: String,
        /// The chart.
        chart: Rows,
        /// How to read it; may be empty.
        note: String,
    },
    /// Small charts of lines, side by side.
    Lines {
        /// A short name, fit for file names.
        name: String,
        /// What the charts ask or show.
        caption: String,
        /// What each series is, by its look (see `Line::series`).
        legend: Vec<(usize, String)>,
        /// The charts.
        charts: Vec<Lines>,
        /// How many stand in a row: 1, 2 or 3.
        columns: usize,
        /// How to read them; may be empty.
        note: String,
    },
    /// Rows and columns of very small charts with the same axes.
    Grid {
        /// A short name, fit for file names.
        name: String,
        /// What the chart asks or shows.
        caption: String,
        /// What each series is, by its look (see `Line::series`).
        legend: Vec<(usize, String)>,
        /// The chart.
        chart: Grid,
        /// How to read it; may be empty.
        note: String,
    },
    /// Numbers in rows and columns on a ground of colour.
    HeatMap {
        /// A short name, fit for file names.
        name: String,
        /// What the chart asks or shows.
        caption: String,
        /// The chart.
        chart: HeatMap,
        /// How to read it; may be empty.
        note: String,
    },
    /// A table of text; numbers are already in words, the first column names the row.
    Table {
        /// A short name, fit for file names.
        name: String,
        /// What it shows.
        caption: String,
        /// The headings of the columns.
        head: Vec<String>,
        /// The rows, each as long as the head.
        rows: Vec<Vec<String>>,
        /// How to read it; may be empty.
        note: String,
    },
}

impl Exhibit {
    /// Whether it has nothing to show: a chart without a point, a table without a row.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Rows { chart, .. } => chart.data().is_empty(),
            Self::Lines { charts, legend, .. } => {
                charts.iter().all(|chart| chart.data(legend).is_empty())
            }
            Self::Grid { chart, legend, .. } => chart.data(legend).is_empty(),
            Self::HeatMap { chart, .. } => chart.data().is_empty(),
            Self::Table { rows, .. } => rows.is_empty(),
        }
    }
}

/// Where the numbers come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// The version of the program.
    pub floodway: String,
    /// The command line.
    pub command: Vec<String>,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Threads.
    pub threads: usize,
    /// How many runs the numbers rest on.
    pub runs: usize,
    /// Of these, those that an earlier call had done.
    pub reused: usize,
    /// Packet-hops of all of them.
    pub hops: u64,
    /// Seconds that all runs took, those of earlier calls included.
    pub run_s: f64,
    /// The fingerprints of all runs in one, in hexadecimal.
    pub fingerprint: String,
}

/// What to keep of a study in a repository, as names and contents: the text as `README.md`, which
/// is what is shown of a folder, every chart that it refers to as `<section>-<exhibit>.svg`, and the
/// sample of its runs.
pub fn files(study: &Study) -> Vec<(String, String)> {
    let mut files = vec![(README.to_owned(), markdown::study(study))];
    if !study.sample.is_empty() {
        let sample = Sample {
            study: study.study.clone(),
            level: study.level.clone(),
            settings: study.settings.clone(),
            floodway: study.provenance.floodway.clone(),
            fingerprint: study.provenance.fingerprint.clone(),
            runs: study.sample.clone(),
        };
        files.push((SAMPLE.to_owned(), sample.text()));
    }
    for section in &study.sections {
        for exhibit in &section.exhibits {
            files.extend(exhibit.file().map(|svg| (file_name(section, exhibit), svg)));
        }
    }
    files
}

/// The file that says whose a study's directory is and lists the files beside it: at first only its
/// name, in the end the whole [`Study`].
const STUDY: &str = "study.json";
/// The page of a study, beside the directories of its experiments.
const REPORT: &str = "report.html";
/// The folder with what [`files`] makes.
const TEXT: &str = "text";
/// The text itself, in that folder.
pub(crate) const README: &str = "README.md";

/// Why a study's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Something there is not floodway's.
    #[error(transparent)]
    Owned(#[from] owned::Error),
    /// Another command writes there.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// There is something else.
    #[error(
        "`{0}` is not empty and does not hold the study `{1}`, so nothing is written there; choose \
         another directory: `--out DIR`"
    )]
    Foreign(PathBuf, String),
    /// There is the same study with other settings.
    #[error(
        "`{0}` holds the {1} study `{2}` with other settings; its runs would be replaced. Give the \
         same settings to go on with it, choose another directory with `--out DIR`, or replace it \
         with `--force`"
    )]
    Other(PathBuf, String, String),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        match self {
            Self::Io(_) => true,
            Self::Owned(error) => error.is_of_system(),
            Self::Lock(error) => error.is_of_system(),
            _ => false,
        }
    }
}

/// Which study goes into a directory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Design<'a> {
    /// Its name.
    pub study: &'a str,
    /// How thorough it is.
    pub level: &'a str,
    /// Settings that are changed for all experiments.
    pub settings: &'a [String],
    /// The names of its experiments, each a directory.
    #[serde(skip)]
    pub experiments: &'a [&'a str],
}

impl Design<'_> {
    /// Whether a study that was begun had the same experiments, or some of them. What it does not
    /// say does not differ.
    fn goes_on_with(&self, begun: &Value) -> bool {
        let settings = serde_json::to_value(self.settings).expect("settings are text");
        let quick = |level: &str| level == "quick";
        begun["settings"].is_null()
            || begun["settings"] == settings
                && begun["level"].as_str().is_none_or(|level| quick(level) == quick(self.level))
    }
}

/// The fields of a [`Design`], which alone are in the file of a study that was begun.
const BEGUN: [&str; 3] = ["study", "level", "settings"];

/// What is in a directory that may hold a study.
enum Found {
    /// Nothing of this study itself.
    Nothing,
    /// The same study.
    Same(Listed),
    /// The same study with other settings.
    Other(Listed),
}

/// Whether a study may go into a directory, which holds nothing, parts of it or, with `force`, the
/// same study with other settings. Looking for it changes nothing there.
pub fn may_hold(path: &Path, design: &Design, force: bool) -> Result<(), Error> {
    find(path, design, force).map(|_| ())
}

fn find(path: &Path, design: &Design, force: bool) -> Result<Found, Error> {
    if owned::is_empty(path, STUDY)? {
        return Ok(Found::Nothing);
    }
    match owned::read_marker(path, STUDY) {
        Some(begun) if begun["study"] == design.study && owned::is_marker(&begun, &BEGUN) => {
            if design.goes_on_with(&begun) {
                return Ok(Found::Same(listed(path, &begun)?));
            }
            if !force {
                let level = begun["level"].as_str().unwrap_or("whole").to_string();
                return Err(Error::Other(path.into(), level, design.study.to_string()));
            }
            Ok(Found::Other(listed(path, &begun)?))
        }
        // Without its file a study is known by what else is there.
        _ if !is_ours(path, design) => Err(Error::Foreign(path.into(), design.study.to_string())),
        _ => Ok(Found::Nothing),
    }
}

/// The files that a study lists, or, of a version that did not list them, what it has written.
fn listed(path: &Path, marker: &Value) -> Result<Listed, Error> {
    if let Some(listed) = owned::listed(path, STUDY, marker)? {
        return Ok(listed);
    }
    let mut found = Listed::new();
    if !owned::has_version(marker) {
        // It had only begun.
        return Ok(found);
    }
    found.insert(HERE.to_owned(), [REPORT.to_owned()].into());
    owned::refuse_link(path, TEXT)?;
    found.insert(TEXT.to_owned(), owned::with_charts(&path.join(TEXT), README));
    Ok(found)
}

/// Makes the directory of a study, or goes on in one that has been begun. With `force` a study with
/// other settings is replaced. Experiments are not looked at.
pub fn begin(path: &Path, design: &Design, force: bool) -> Result<(), Error> {
    named(std::fs::create_dir_all(path), "make the directory of the study", path)?;
    let below = design.experiments.iter().chain([&STUDY, &TEXT]);
    below.into_iter().try_for_each(|name| owned::refuse_link(path, name))?;
    let found = find(path, design, force)?;
    let nothing = Listed::new();
    let old = match &found {
        Found::Nothing => &nothing,
        Found::Same(listed) | Found::Other(listed) => listed,
    };
    owned::refuse_taken(path, old, HERE, [REPORT])?;
    owned::refuse_taken(path, old, TEXT, [README, SAMPLE])?;
    if let Found::Same(_) = found {
        owned::clear(path, STUDY, old, |_| true)?;
        return Ok(());
    }
    // One that cannot be read.
    let known = matches!(found, Found::Other(_));
    if !known && path.join(STUDY).symlink_metadata().is_ok() {
        return Err(owned::Error::InTheWay(path.join(STUDY)).into());
    }
    // Before anything is removed: what is left then is not taken for a whole study.
    owned::mark(path, STUDY, "the study", design, old)?;
    let none = owned::clear(path, STUDY, old, |_| false)?;
    Ok(owned::mark(path, STUDY, "the study", design, &none)?)
}

/// Whether a directory holds nothing but parts of this study, if anything.
fn is_ours(path: &Path, design: &Design) -> bool {
    let Ok(mut entries) = std::fs::read_dir(path) else { return false };
    entries.all(|entry| {
        let name = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
        name.is_some_and(|name| {
            [STUDY, REPORT, TEXT, lock::FILE].contains(&name.as_str())
                || crate::files::part_of(&name) == Some(STUDY)
                || design.experiments.contains(&name.as_str())
        })
    })
}

/// Writes what came out into the directory: `report.html`, the folder `text`, and last `study.json`.
/// Returns the path of the page.
pub fn finish(path: &Path, study: &Study) -> Result<PathBuf, Error> {
    let marker = owned::read_marker(path, STUDY);
    let old = marker.map_or(Ok(Listed::new()), |marker| listed(path, &marker))?;
    let text = |(name, content)| Text { folder: TEXT, name, content };
    let mut texts: Vec<Text> = files(study).into_iter().map(text).collect();
    let page = html::study(study);
    texts.push(Text { folder: HERE, name: REPORT.to_owned(), content: page });
    let Study { study: name, level, settings, .. } = study;
    let begun = Design { study: name, level, settings, experiments: &[] };
    owned::write_text(path, (STUDY, "the study"), (&begun, study), &old, &texts)?;
    Ok(path.join(REPORT))
}

/// Whether a text and its data may go into a folder ([`write_text`]).
pub fn may_hold_text(folder: &Path, data: &str) -> Result<(), Error> {
    earlier_text(folder, data).map(|_| ())
}

/// The files of an earlier text in a folder, whose data have this name.
fn earlier_text(folder: &Path, data: &str) -> Result<Listed, Error> {
    owned::refuse_link(folder, data)?;
    let marker = owned::read_marker(folder, data).filter(|marker| marker["floodway"].is_string());
    let mut old = Listed::new();
    match marker {
        Some(marker) => {
            let earlier = || [(HERE.to_owned(), owned::with_charts(folder, README))].into();
            old = owned::listed(folder, data, &marker)?.unwrap_or_else(earlier);
        }
        None => owned::refuse_taken(folder, &old, HERE, [data])?,
    }
    owned::refuse_taken(folder, &old, HERE, [README])?;
    Ok(old)
}

/// Writes the text with its charts ([`files`]) and a file with its data into a folder, which is made
/// if it is not there. Of what is there only files that it has written before are replaced: the data
/// list them. The data are an object with `floodway`, the version.
pub fn write_text(
    folder: &Path,
    study: &Study,
    (data, value): (&str, &impl Serialize),
) -> Result<(), Error> {
    named(std::fs::create_dir_all(folder), "make the folder of the text", folder)?;
    let old = earlier_text(folder, data)?;
    let text = |(name, content)| Text { folder: HERE, name, content };
    let texts: Vec<Text> = files(study).into_iter().map(text).collect();
    let begun = serde_json::json!({ "floodway": env!("CARGO_PKG_VERSION") });
    Ok(owned::write_text(folder, (data, "the data"), (&begun, value), &old, &texts)?)
}
