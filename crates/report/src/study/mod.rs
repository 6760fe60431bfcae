//! A study as it comes out: what others claimed, what was measured, and the evidence, ready to be
//! shown as text ([`crate::terminal`]), as a page ([`crate::html`]) and as files ([`files`]).

mod directory;

use serde::{Deserialize, Serialize};

use crate::chart::{Grid, HeatMap, Lines, Rows};
use crate::evidence::file_name;
use crate::html;
use crate::markdown;
use crate::sample::{SAMPLE, Sample, Sampled};

pub(crate) use directory::README;
pub use directory::{Design, Error, begin, finish, may_hold, may_hold_text, write_text};

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Numbers in rows and columns on a ground of color.
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
            let drawn = html::drawn(section, exhibit).map(|chart| chart.page().svg());
            files.extend(drawn.map(|svg| (file_name(section, exhibit), svg)));
        }
    }
    files
}
