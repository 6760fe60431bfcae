//! What page, terminal and Markdown share of a study: claims in groups, verdicts counted, numbers
//! in words, and charts with their text set in type.

use crate::chart::{Grid, HeatMap, Lines, Matrix, Rows, Sheet};
use crate::html::plain;
use crate::study::{Claim, Comparison, Exhibit, Part, Section, Study, Verdict};
use crate::words;

/// All verdicts, from the best to the one that says least.
pub(crate) const VERDICTS: [Verdict; 4] =
    [Verdict::Holds, Verdict::HoldsIf, Verdict::DoesNotHold, Verdict::CannotBeJudged];

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
    /// Nobody knows.
    Open,
}

impl Agreement {
    /// A letter that stands for it, different in shape and not only in colour.
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
    /// What it means, in a sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Holds => "in every reading of the source that can be judged",
            Self::HoldsIf => "in some readings, and not in others",
            Self::DoesNotHold => "in no reading",
            Self::CannotBeJudged => {
                "in half of the readings or more, or the source says too little"
            }
        }
    }
}

impl Part {
    /// What was measured, and the interval in the same unit: (`-63 %`, `[-70, -55]`); none if
    /// nothing was.
    pub(crate) fn figures(&self) -> Option<(String, String)> {
        Some(words::measured(self.measured?, self.low, self.high, &self.unit))
    }

    /// The name with the part: `A1 mice`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.id, self.part).trim_end().to_string()
    }
}

impl Claim {
    /// In which readings it holds, in a line.
    pub(crate) fn share(&self) -> String {
        let counts = self.readings.counts;
        match counts.all() {
            0 => String::new(),
            1 => "in the only reading that was run".to_string(),
            _ => format!("in {}", counts.words()),
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

    /// The chart as a file of its own; none of a table.
    pub fn file(&self) -> Option<String> {
        let sheet = match self {
            Self::Rows { caption, chart, .. } => Sheet {
                caption: plain(caption),
                charts: vec![typeset_rows(chart).svg(WIDE)],
                columns: 1,
                ..Sheet::default()
            },
            Self::Lines { caption, legend, charts, columns, .. } => {
                let width = match columns {
                    0 | 1 => WIDE,
                    2 => HALF,
                    _ => THIRD,
                };
                Sheet {
                    caption: plain(caption),
                    legend: legend.iter().map(|(at, text)| (*at, plain(text))).collect(),
                    charts: charts.iter().map(|chart| typeset_lines(chart).svg(width)).collect(),
                    columns: (*columns).clamp(1, 3),
                    ..Sheet::default()
                }
            }
            Self::Grid { caption, legend, chart, .. } => Sheet {
                caption: plain(caption),
                legend: legend.iter().map(|(at, text)| (*at, plain(text))).collect(),
                strokes: true,
                charts: vec![typeset_grid(chart).svg(WIDE)],
                columns: 1,
            },
            Self::HeatMap { caption, chart, .. } => Sheet {
                caption: plain(caption),
                charts: vec![typeset_heat(chart).svg(WIDE)],
                columns: 1,
                ..Sheet::default()
            },
            Self::Table { .. } => return None,
        };
        Some(sheet.svg())
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
