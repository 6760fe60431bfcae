//! A study as it comes out: what others claimed, what was measured, and the evidence, ready to be
//! shown as text ([`crate::terminal`]), as a page ([`crate::html`]) and as files ([`files`]).

use std::io;
use std::path::{Path, PathBuf};

use floodway_machine::read;
use serde::Serialize;
use serde_json::Value;

use crate::chart::{Grid, HeatMap, Lines, Rows};
use crate::evidence::file_name;
use crate::files::{self, IoError, named};
use crate::lock;
use crate::markdown;

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
    /// What a reader must know first: missing runs, settings that are not the study's.
    pub caveats: Vec<String>,
    /// Laws that a run broke, each with its experiment; empty in a sound study.
    pub violations: Vec<String>,
    /// The evidence, experiment by experiment.
    #[serde(skip)]
    pub sections: Vec<Section>,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// One claim, or one part of a claim that has several numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim's name: `A1`. The parts of a claim share it.
    pub id: String,
    /// Which part of the claim: `mice`; empty if it has only one.
    pub part: String,
    /// Whether it checks the set-up, and is no result.
    pub set_up: bool,
    /// What the number is: `mean completion time of flows < 100 KB, ci against without-ci`.
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
    /// The judgement.
    pub verdict: Verdict,
    /// Why, where the numbers do not speak for themselves; may be empty.
    pub remark: String,
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
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

impl Verdict {
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

/// One experiment, as the section of a paper's evaluation: a question, the evidence, an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// A short name, fit for an anchor and for file names: `two-queues`.
    pub name: String,
    /// What it asks: `Do flows finish sooner?`.
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
/// is what is shown of a folder, and every chart that it refers to as `<section>-<exhibit>.svg`.
pub fn files(study: &Study) -> Vec<(String, String)> {
    let mut files = vec![("README.md".to_string(), markdown::study(study))];
    for section in &study.sections {
        for exhibit in &section.exhibits {
            files.extend(exhibit.file().map(|svg| (file_name(section, exhibit), svg)));
        }
    }
    files
}

/// The file that says whose a study's directory is: at first only its name, in the end the whole
/// [`Study`].
pub const STUDY: &str = "study.json";
/// The page of a study, beside the directories of its experiments.
const REPORT: &str = "report.html";
/// The folder with what [`files`] makes.
const TEXT: &str = "text";

/// Why a study's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Another command writes there.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// It is a file.
    #[error("`{0}` is a file; choose a directory: `--out DIR`")]
    File(PathBuf),
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

/// Makes the directory of a study, or goes on in one that has been begun. With `force` a study with
/// other settings is replaced.
pub fn begin(path: &Path, design: &Design, force: bool) -> Result<(), Error> {
    if path.is_file() {
        return Err(Error::File(path.into()));
    }
    let file = path.join(STUDY);
    let begun = read::bytes(&file, read::limit(16)).ok();
    let begun = begun.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match begun {
        Some(begun) if begun["study"] == design.study => {
            if design.goes_on_with(&begun) {
                return Ok(());
            }
            if !force {
                let level = begun["level"].as_str().unwrap_or("whole").to_string();
                return Err(Error::Other(path.into(), level, design.study.to_string()));
            }
        }
        // Without its file a study is known by what else is there.
        _ if !is_ours(path, design) => {
            return Err(Error::Foreign(path.into(), design.study.to_string()));
        }
        _ => {}
    }
    named(std::fs::create_dir_all(path), "make the directory of the study", path)?;
    let text = serde_json::to_string(design).expect("a design has text keys");
    files::write(&file, "the study", |out| writeln!(out, "{text}"))?;
    Ok(())
}

/// Whether a directory holds nothing but parts of this study, if anything.
fn is_ours(path: &Path, design: &Design) -> bool {
    let Ok(mut entries) = std::fs::read_dir(path) else { return !path.exists() };
    entries.all(|entry| {
        let name = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
        name.is_some_and(|name| {
            [STUDY, REPORT, TEXT, lock::FILE].contains(&name.as_str())
                || design.experiments.contains(&name.as_str())
        })
    })
}

/// Writes what came out into the directory: `study.json`, `report.html`, and the folder `text`.
/// Returns the path of the page.
pub fn finish(path: &Path, study: &Study) -> Result<PathBuf, Error> {
    files::write(&path.join(STUDY), "the study", |out| {
        serde_json::to_writer_pretty(&mut *out, study).map_err(io::Error::from)?;
        writeln!(out)
    })?;
    let report = path.join(REPORT);
    let page = crate::html::study(study);
    files::write(&report, "the report", |out| out.write_all(page.as_bytes()))?;
    write_text(&path.join(TEXT), study)?;
    Ok(report)
}

/// Writes the text with its charts ([`files`]) into a folder, which is made if it is not there.
pub fn write_text(folder: &Path, study: &Study) -> Result<(), Error> {
    named(std::fs::create_dir_all(folder), "make the folder of the text", folder)?;
    for (name, content) in files(study) {
        files::write(&folder.join(name), "the text", |out| out.write_all(content.as_bytes()))?;
    }
    Ok(())
}
