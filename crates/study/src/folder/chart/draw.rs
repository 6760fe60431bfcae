//! Sections and charts of a study in a folder, drawn from the evidence.

use std::collections::BTreeMap;

use floodway_report::chart::{Line, Lines, Mark};
use floodway_report::study::{Exhibit, Section};
use floodway_report::words::count;

use super::super::document::Look;
use super::{Drawing, Drawn, Part, Sheet, TableCell, TableRow, What};
use crate::curves::{self, power_law};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{self, Entry, number, rows, short, table};

impl Part {
    /// The section; none below its level, and none without a run of what its charts show.
    pub(super) fn section(&self, evidence: &Evidence) -> Option<Section> {
        let claims: Vec<&str> = self.claims.iter().map(String::as_str).collect();
        let of_readings = self.charts.iter().filter_map(|chart| chart.readings.as_ref());
        let mut experiments = self.experiments.clone();
        experiments.extend(of_readings.clone().flat_map(|of| of.experiments(evidence)));
        let mut section = evidence.section(&self.name, &self.heading, &claims, &experiments);
        let is_of_runs = !self.experiments.is_empty() || of_readings.count() > 0;
        if self.from > evidence.level || (is_of_runs && section.links.is_empty()) {
            return None;
        }
        let filled = |text: &String| self.numbers.filled(text, evidence);
        section.answer = self.answer.as_ref().map_or_else(String::new, filled);
        section.text = self.text.iter().map(filled).collect();
        let unfinished = evidence.unfinished_in_words(&self.unfinished);
        section.text.extend((!unfinished.is_empty()).then_some(unfinished));
        let shown = self.charts.iter().filter(|chart| chart.from <= evidence.level);
        let exhibits = shown.map(|chart| chart.exhibit(evidence));
        section.exhibits = exhibits.filter(has_something).collect();
        Some(section)
    }
}

impl Drawing {
    pub(super) fn exhibit(&self, evidence: &Evidence) -> Exhibit {
        if let Some(readings) = &self.readings {
            return readings.exhibit(self, evidence);
        }
        match self.look {
            Look::Numbers => self.numbers(evidence),
            Look::Table => self.table(evidence),
            Look::HeatMap => self.heat_map(evidence),
            Look::Grid => self.grid(evidence),
            _ => self.lines(evidence),
        }
    }

    /// Numbers along one axis: together, or of each series those over its settings.
    fn numbers(&self, evidence: &Evidence) -> Exhibit {
        let axis = self.x.clone();
        let mark = if self.bars { Mark::Bar } else { Mark::Point };
        let draw = |groups| rows(&self.name, &self.caption, axis, mark, &self.note, groups);
        let is_over = self.series.iter().any(|series| matches!(series.what, What::Settings(_)));
        if is_over {
            // By the settings of groups, and in each of them by series.
            let mut groups: BTreeMap<_, (&str, Vec<Entry>)> = BTreeMap::new();
            for (at, series) in self.series.iter().enumerate() {
                let What::Settings(all) = &series.what else { continue };
                let look = series.look.unwrap_or(at);
                let all = all.iter().zip(&series.looks).zip(&series.groups).zip(&series.claimed_of);
                for ((((label, measure), own), (places, group)), claimed) in all {
                    let measured = measure.measure(evidence);
                    // A change from zero has no percentage.
                    let known = !measure.is_change() || measured.unit == "%";
                    if known && measured.value.is_some() && measure.was_run(evidence) {
                        let entry = Entry::new(label, own.unwrap_or(look), measured);
                        let entry = Entry { claimed: *claimed, ..entry };
                        let of =
                            groups.entry((places.as_slice(), at)).or_insert((group, Vec::new()));
                        of.1.push(entry);
                    }
                }
            }
            let groups = groups.into_values();
            return draw(groups.map(|(label, entries)| (label.to_owned(), entries)).collect());
        }
        let entry = |(at, series): (usize, &Drawn)| {
            let What::Number(measure) = &series.what else { return None };
            let measured = measure.measure(evidence);
            measured.value?;
            let entry = Entry::new(&series.label, series.look.unwrap_or(at), measured);
            Some(Entry { claimed: series.claimed, ..entry })
        };
        let entries = self.series.iter().enumerate().filter_map(entry).collect();
        draw(vec![(self.caption.clone(), entries)])
    }

    fn table(&self, evidence: &Evidence) -> Exhibit {
        let head: Vec<&str> = self.table.head.iter().map(String::as_str).collect();
        let was_run = |row: &&TableRow| match row.case {
            Some(case) => evidence.has(case),
            None => row.experiment.is_none_or(|name| evidence.scenario(name).is_some()),
        };
        let line = |row: &TableRow| {
            let cell = |cell: &TableCell| match cell {
                TableCell::Number(measure) => number(&measure.measure(evidence)),
                TableCell::Short(measure) => short(&measure.measure(evidence)),
                TableCell::Text(text) => text.clone(),
                TableCell::Unfinished(group) => {
                    row.case.map_or_else(String::new, |case| match group {
                        Some(group) => {
                            let (left, all) = evidence.unfinished_of_group(case, *group);
                            [left, all].map(|flows| count(flows as f64)).join(" of ")
                        }
                        None => evidence.unfinished_cell(case),
                    })
                }
            };
            [row.label.clone()].into_iter().chain(row.cells.iter().map(cell)).collect()
        };
        let lines = self.table.settings.iter().flatten().filter(was_run).map(line).collect();
        table(&self.name, &self.caption, &self.note, &head, lines)
    }

    fn lines(&self, evidence: &Evidence) -> Exhibit {
        let series = self.panels.first().map_or(&[][..], |sheet| &sheet.series);
        let legend = series.iter().enumerate().filter(|(_, of)| !matches!(of.what, What::Law(_)));
        let legend = legend.map(|(at, of)| (of.look.unwrap_or(at), of.label.clone()));
        let sheet = |sheet: &Sheet| {
            let series = sheet.series.iter().enumerate();
            let lines = series.flat_map(|(at, of)| of.lines(at, evidence));
            let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
            let x = sheet.x.clone();
            Lines {
                title: sheet.title.clone(),
                heading: sheet.heading.clone(),
                x: if sheet.at_points { x.labeled(places(&lines)) } else { x },
                y: sheet.y.clone(),
                lines,
                height: self.height,
                marks: sheet.marks.clone(),
                levels: sheet.levels.clone(),
            }
        };
        let mut charts: Vec<Lines> = self.panels.iter().map(sheet).collect();
        if self.look == Look::Tail {
            charts.iter_mut().for_each(curves::down_to_the_tail);
        }
        charts.retain(|chart| !chart.lines.is_empty());
        Exhibit::Lines {
            name: self.name.clone(),
            caption: self.caption.clone(),
            legend: legend.collect(),
            charts,
            columns: self.columns,
            note: self.note.clone(),
        }
    }

    /// The experiments that it shows.
    pub(super) fn experiments(&self) -> Vec<&'static str> {
        let lines = self.panels.iter().flat_map(|sheet| &sheet.series);
        let cases = self.series.iter().chain(lines).flat_map(|of| of.what.cases());
        let rows = self.table.settings.iter().flatten();
        let measured = rows.clone().flat_map(|row| &row.cells).flat_map(|cell| match cell {
            TableCell::Number(measure) | TableCell::Short(measure) => measure.cases(),
            TableCell::Unfinished(_) | TableCell::Text(_) => Vec::new(),
        });
        let rows = rows.filter_map(|row| row.experiment);
        cases.chain(measured).map(|case| case.experiment).chain(rows).collect()
    }
}

impl What {
    /// The cases that it is of.
    pub(super) fn cases(&self) -> Vec<Case> {
        match self {
            Self::Number(measure) => measure.cases(),
            Self::Settings(all) => all.iter().flat_map(|(_, of)| of.cases()).collect(),
            Self::Curve(points) => points.iter().flat_map(|(_, of)| of.cases()).collect(),
            Self::Times(_, case)
            | Self::Asked(_, case)
            | Self::Tail(_, case)
            | Self::Shares(_, case, ..) => vec![*case],
            Self::Cloud(measure, _) => measure.cases(),
            Self::Grid(all) => all.iter().flat_map(|(_, of)| of.cases()).collect(),
            Self::Law(_) | Self::Points(_) => Vec::new(),
        }
    }
}

impl Drawn {
    /// Its lines: of SQL with a third column one for each value of that.
    fn lines(&self, series: usize, evidence: &Evidence) -> Vec<Line> {
        let series = self.look.unwrap_or(series);
        let line =
            Line { series, steps: self.steps, tooltip: self.label.clone(), ..Line::default() };
        self.what.lines(line, evidence)
    }
}

impl What {
    /// The lines that show it, like this one.
    pub(super) fn lines(&self, line: Line, evidence: &Evidence) -> Vec<Line> {
        let (series, label) = (line.series, line.tooltip.clone());
        let line = match self {
            What::Number(_) | What::Settings(_) | What::Grid(_) => line,
            What::Law(law) => {
                let [from, to] = law.between;
                power_law(series, &label, law.factor, law.exponent, (from, to))
            }
            What::Cloud(measure, joined) => {
                let points = measure.cloud(evidence);
                Line { points, markers: *joined, scatter: !joined, ..line }
            }
            What::Curve(points) => {
                let measured: Vec<(f64, crate::Measured)> =
                    points.iter().map(|(at, measure)| (*at, measure.measure(evidence))).collect();
                exhibit::line(series, label, &measured)
            }
            What::Asked(query, case) => {
                let first = evidence.runs(*case).next();
                let lines = first.map_or_else(Vec::new, |(_, facts)| facts.lines(*query));
                return lines.into_iter().map(|points| Line { points, ..line.clone() }).collect();
            }
            What::Times(group, case) => {
                Line { points: evidence.times(*case, *group).larger(), ..line }
            }
            What::Tail(query, case) => {
                Line { points: evidence.distribution(*case, *query).larger(), ..line }
            }
            What::Shares(query, case, bins, up_to) => {
                let points = evidence.distribution(*case, *query).shares(*bins, *up_to);
                Line { points, steps: true, ..line }
            }
            What::Points(points) => Line { points: points.clone(), scatter: true, ..line },
        };
        vec![line]
    }
}

/// Where points of lines lie, each place once.
fn places(lines: &[Line]) -> Vec<f64> {
    let mut places: Vec<f64> =
        lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Whether anything was run that it shows. A table says of each row whether it was.
fn has_something(of: &Exhibit) -> bool {
    match of {
        Exhibit::Lines { charts, .. } => !charts.is_empty(),
        Exhibit::HeatMap { chart, .. } => !chart.cells.is_empty(),
        Exhibit::Grid { chart, .. } => !chart.cells.is_empty(),
        Exhibit::Rows { .. } | Exhibit::Table { .. } => true,
    }
}
