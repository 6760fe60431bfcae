//! What page, terminal and Markdown share of a study: claims in groups, verdicts counted, numbers
//! in words, and charts with their text set in type.

use crate::chart::{Grid, HeatMap, Lines, Matrix, Rows};
use crate::html::plain;
use crate::study::{Claim, Comparison, Counts, Exhibit, Part, Section, Study, Verdict};
use crate::words;

/// All verdicts, from the best to the one that says least.
pub(crate) const VERDICTS: [Verdict; 4] =
    [Verdict::Holds, Verdict::HoldsIf, Verdict::DoesNotHold, Verdict::CannotBeJudged];

/// What is to be said where runs broke a law.
pub(crate) const VIOLATED: &str = "Runs of this study violate a law that every sound run obeys. Do not use \
                                   its results: the program has an error.";

/// What checks are.
pub(crate) const CHECKS: &str = "Checks are not results and count toward no verdict. They are facts of the \
                                 set-up, arithmetic, and numbers that follow from a choice made here.";

/// How wide a chart is that has the column to itself, and one of which two or three share it.
pub(crate) const WIDE: f64 = 760.0;
pub(crate) const HALF: f64 = 370.0;
pub(crate) const THIRD: f64 = 244.0;

/// How well something agrees with what was claimed: what verdicts and comparisons look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It does.
    Yes,
    /// In part.
    Partly,
    /// It does not.
    No,
    /// Unknown.
    Open,
}

impl Agreement {
    /// A letter that stands for it, different in shape and not only in color.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Yes => "●",
            Self::Partly => "◐",
            Self::No => "×",
            Self::Open => "○",
        }
    }

    /// A word without spaces, for the names of styles.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
            Self::Open => "open",
        }
    }
}

impl From<Verdict> for Agreement {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Yes,
            Verdict::HoldsIf => Self::Partly,
            Verdict::DoesNotHold => Self::No,
            Verdict::CannotBeJudged => Self::Open,
        }
    }
}

impl From<Comparison> for Agreement {
    fn from(comparison: Comparison) -> Self {
        match comparison {
            Comparison::Reproduced => Self::Yes,
            Comparison::SameDirection => Self::Partly,
            Comparison::NotReproduced => Self::No,
            Comparison::CannotJudge => Self::Open,
        }
    }
}

impl Verdict {
    /// Where, after the verdict: `6 hold` … `in every reading that can be judged`.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Holds => "in every reading that can be judged",
            Self::HoldsIf => "certain conditions are met: in some readings but not in others",
            Self::DoesNotHold => "in any reading that can be judged",
            Self::CannotBeJudged => {
                "in at least half of the readings, or because the source says too little"
            }
        }
    }
}

impl Part {
    /// What was measured, and the interval in the same unit: (`-63 %`, `[-70, -55]`); none if
    /// nothing was.
    pub(crate) fn figures(&self) -> Option<(String, String)> {
        Some(words::result(self.measured?, self.low, self.high, &self.unit))
    }

    /// The name with the part: `A1 mice`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.id, self.part).trim_end().to_string()
    }
}

impl Claim {
    /// In which readings it holds, in a line after the verdict: `in 12 of 16 readings`. A claim that is
    /// judged in experiments of one reading has these instead.
    pub(crate) fn share(&self) -> String {
        let (counts, of) = (self.readings.counts, self.readings.of);
        let Counts { holds, cannot_be_judged: open, .. } = counts;
        let (all, judged) = (counts.all(), counts.judged());
        let noun = of.noun(2);
        if self.verdict == Verdict::CannotBeJudged {
            return match (all, judged) {
                (0, _) => String::new(),
                // Not even that one was run.
                (1, _) if self.parts.iter().all(|part| part.measured.is_none()) => String::new(),
                (1, _) => format!("one {} was run", of.noun(1)),
                (2, 0) => format!("in either of 2 {noun}"),
                (_, 0) => format!("in any of {all} {noun}"),
                _ => {
                    let other = if judged == 1 { String::new() } else { format!(" {judged}") };
                    let holds = match holds {
                        0 => format!("does not hold in the other{other}"),
                        _ if holds == judged => format!("holds in the other{other}"),
                        _ => format!("holds in {holds} of the other{other}"),
                    };
                    format!("in {open} of {all} {noun}; {holds}")
                }
            };
        }
        let judged_of = match open {
            0 => format!("{judged} {}", of.noun(judged)),
            _ => format!("{judged} {} that can be judged ({open} cannot)", of.noun(judged)),
        };
        match (all, self.verdict) {
            (0, _) => String::new(),
            (1, _) => format!("in the only {} that was run", of.noun(1)),
            (_, Verdict::HoldsIf) => format!("in {holds} of {judged_of}"),
            _ if judged == 1 => {
                format!("in the only {} that can be judged ({open} cannot)", of.noun(1))
            }
            (_, Verdict::Holds) if judged == 2 => {
                format!("in both {}", judged_of.trim_start_matches("2 "))
            }
            (_, Verdict::Holds) => format!("in all {judged_of}"),
            _ if judged == 2 => format!("in either of {judged_of}"),
            _ => format!("in any of {judged_of}"),
        }
    }
}

impl Study {
    /// How many claims came to each verdict, those without any too.
    pub(crate) fn counts(&self) -> [(Verdict, usize); 4] {
        VERDICTS.map(|verdict| {
            (verdict, self.claims.iter().filter(|claim| claim.verdict == verdict).count())
        })
    }

    /// What there is to judge: `24 claims`.
    pub(crate) fn extent(&self) -> String {
        let claims = self.claims.len();
        format!("{claims} {}", if claims == 1 { "claim" } else { "claims" })
    }

    /// How many checks hold: `13 of 14 checks hold`.
    pub(crate) fn checks_hold(&self) -> String {
        let hold = self.checks.iter().filter(|of| of.verdict == Comparison::Reproduced).count();
        format!("{hold} of {} checks hold", self.checks.len())
    }

    /// What a reader must know first. Settings without effect share a line, as many readings have some.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut idle = Vec::new();
        for note in &self.caveats {
            match idle_setting(note) {
                Some(text) => idle.push(text),
                None => notes.push(note.clone()),
            }
        }
        match idle.as_slice() {
            [] => {}
            [_] => {
                notes.extend(self.caveats.iter().filter(|of| idle_setting(of).is_some()).cloned())
            }
            _ => notes
                .push(format!("Settings without effect in some experiments: {}.", idle.join("; "))),
        }
        notes
    }

    /// The sections, counted from 1, that bear on a claim.
    pub(crate) fn sections_on(&self, id: &str) -> Vec<(usize, &Section)> {
        let sections = self.sections.iter().enumerate().map(|(at, section)| (at + 1, section));
        sections.filter(|(_, section)| section.claims.iter().any(|claim| claim == id)).collect()
    }

    /// How its runs came about, in a line: `310 runs, 200 of them from earlier calls, 41 h …`.
    pub(crate) fn cost(&self) -> String {
        let from = &self.provenance;
        let reused = match from.reused {
            0 => String::new(),
            reused => format!(", {} of them from earlier calls", words::count(reused as f64)),
        };
        format!(
            "{} {}{reused}: {} packet-hops in {} of computing",
            words::count(from.runs as f64),
            if from.runs == 1 { "run" } else { "runs" },
            words::large(from.hops as f64),
            duration(from.run_s),
        )
    }
}

/// A note on a setting without effect (``reading-03 and 7 more: `field` cannot act: why.``), to be one of
/// several on a line: `` `field` (reading-03 and 7 more; why) ``. None of other notes.
fn idle_setting(note: &str) -> Option<String> {
    let (experiments, rest) = note.split_once(": ")?;
    let (field, why) = rest.split_once(" cannot act: ")?;
    let why = why.trim_end_matches('.');
    (field.starts_with('`')).then(|| format!("{field} ({experiments}; {why})"))
}

/// Seconds as people count them from a minute on: `41 min`, `2.5 h`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => words::time(s * 1e9),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// Whether a column holds numbers, which stand below each other's ends: (`-63 %`, `≥ 3`, `–`).
pub(crate) fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    let cells = || rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
    let number = |cell: &str| {
        let digits = cell.trim_start_matches(['+', '-', '−', '≥', '≤', '<', '>', '±', '~', ' ']);
        digits.is_empty()
            || digits == "–"
            || digits.starts_with(|first: char| first.is_ascii_digit())
    };
    column > 0 && cells().all(number) && cells().any(|cell| !cell.is_empty())
}

/// A chart with its text set in type.
pub(crate) fn typeset_rows(chart: &Rows) -> Rows {
    let mut chart = chart.clone();
    chart.title = plain(&chart.title);
    chart.axis.label = plain(&chart.axis.label);
    for group in &mut chart.groups {
        group.label = plain(&group.label);
        for row in &mut group.rows {
            for text in [&mut row.label, &mut row.figures, &mut row.range, &mut row.tooltip] {
                *text = plain(text);
            }
        }
    }
    chart
}

/// The same for lines.
pub(crate) fn typeset_lines(chart: &Lines) -> Lines {
    let mut chart = chart.clone();
    for text in [&mut chart.title, &mut chart.heading, &mut chart.x.label, &mut chart.y.label] {
        *text = plain(text);
    }
    for line in &mut chart.lines {
        line.tooltip = plain(&line.tooltip);
    }
    for (_, label) in &mut chart.marks {
        *label = plain(label);
    }
    chart
}

/// The same for a grid.
pub(crate) fn typeset_grid(chart: &Grid) -> Grid {
    let mut chart = chart.clone();
    typeset_sides(&mut chart.sides);
    for text in [&mut chart.title, &mut chart.x.label, &mut chart.y.label, &mut chart.level] {
        *text = plain(text);
    }
    for cell in chart.cells.iter_mut().flatten() {
        cell.text = plain(&cell.text);
        cell.tooltip = plain(&cell.tooltip);
    }
    chart
}

/// The same for a heat map.
pub(crate) fn typeset_heat(chart: &HeatMap) -> HeatMap {
    let mut chart = chart.clone();
    typeset_sides(&mut chart.sides);
    for text in [&mut chart.title, &mut chart.scale.label] {
        *text = plain(text);
    }
    for tile in chart.cells.iter_mut().flatten() {
        tile.text = plain(&tile.text);
        tile.tooltip = plain(&tile.tooltip);
    }
    chart
}

fn typeset_sides(sides: &mut Matrix) {
    let headings = sides.columns.iter_mut().chain(&mut sides.rows);
    for text in headings.chain([&mut sides.across, &mut sides.down]) {
        *text = plain(text);
    }
}

impl Exhibit {
    /// Its short name.
    pub fn name(&self) -> &str {
        match self {
            Self::Rows { name, .. }
            | Self::Lines { name, .. }
            | Self::Grid { name, .. }
            | Self::HeatMap { name, .. }
            | Self::Table { name, .. } => name,
        }
    }

    /// What it asks or shows.
    pub fn caption(&self) -> &str {
        match self {
            Self::Rows { caption, .. }
            | Self::Lines { caption, .. }
            | Self::Grid { caption, .. }
            | Self::HeatMap { caption, .. }
            | Self::Table { caption, .. } => caption,
        }
    }
}

/// The name of a chart among all of a study: `two-queues-sizes`.
pub(crate) fn file_stem(section: &Section, exhibit: &Exhibit) -> String {
    format!("{}-{}", section.name, exhibit.name())
}

/// The file of a chart: `two-queues-sizes.svg`.
pub(crate) fn file_name(section: &Section, exhibit: &Exhibit) -> String {
    file_stem(section, exhibit) + ".svg"
}
