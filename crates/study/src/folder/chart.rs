//! Sections with charts of a study in a folder.

use std::path::Path;

use floodway_report::chart::{self, Line, Lines, Mark};
use floodway_report::study::{Exhibit, Section};
use floodway_scenario::claims::Measure;
use floodway_scenario::suggest;
use toml::Spanned;

use crate::compile::measure::Compiled;
use crate::evidence::{Case, Evidence};
use crate::exhibit::{Entry, rows};
use crate::plan::name;

use super::Loading;
use super::document::{Axis, Chart, Look, Series};

/// A chart, ready to be drawn.
struct Drawing {
    name: String,
    caption: String,
    note: String,
    look: Look,
    x: chart::Axis,
    y: chart::Axis,
    series: Vec<Drawn>,
}

/// Something that it shows.
struct Drawn {
    label: String,
    claimed: Option<f64>,
    what: What,
}

enum What {
    /// A number.
    Number(Compiled),
    /// Numbers at places of the horizontal axis.
    Curve(Vec<(f64, Compiled)>),
    /// The answer to a statement in the first run of a case.
    Asked(usize, Case),
    /// Points of somebody else.
    Points(Vec<(f64, f64)>),
}

/// A section.
struct Part {
    name: String,
    heading: String,
    text: Vec<String>,
    claims: Vec<String>,
    experiments: Vec<&'static str>,
    charts: Vec<Drawing>,
}

impl Loading<'_> {
    /// Checks the sections.
    pub(super) fn sections(
        &mut self,
        folder: &Path,
    ) -> impl Fn(&Evidence) -> Vec<Section> + Sync + use<> {
        let document = self.document;
        let mut parts = Vec::new();
        for section in &document.section {
            let ids: Vec<&str> =
                document.claim.iter().map(|claim| claim.id.get_ref().as_str()).collect();
            for claim in &section.claims {
                if !ids.contains(&claim.get_ref().as_str()) {
                    let message = format!("there is no claim `{}`", claim.get_ref());
                    self.compiler.wrong(
                        claim.span(),
                        message,
                        suggest::remedy(claim.get_ref(), "claims", &ids),
                    );
                }
            }
            let mut charts = Vec::new();
            for chart in &section.chart {
                let series: Vec<Drawn> = chart
                    .series
                    .iter()
                    .filter_map(|series| self.series(chart, series, folder))
                    .collect();
                charts.push(Drawing {
                    name: chart.name.clone(),
                    caption: chart.caption.clone(),
                    note: chart.note.clone(),
                    look: chart.kind,
                    x: axis(&chart.x),
                    y: chart.y.as_ref().map(axis).unwrap_or_default(),
                    series,
                });
            }
            let mut experiments: Vec<&'static str> = Vec::new();
            for drawn in charts.iter().flat_map(|chart| &chart.series) {
                let cases = match &drawn.what {
                    What::Number(measure) => measure.cases(),
                    What::Curve(points) => {
                        points.iter().flat_map(|(_, measure)| measure.cases()).collect()
                    }
                    What::Asked(_, case) => vec![*case],
                    What::Points(_) => Vec::new(),
                };
                experiments.extend(cases.iter().map(|case| case.experiment));
            }
            experiments.dedup();
            parts.push(Part {
                name: section.name.clone(),
                heading: section.heading.clone(),
                text: section.text.clone(),
                claims: section.claims.iter().map(|claim| claim.get_ref().clone()).collect(),
                experiments,
                charts,
            });
        }
        move |evidence| parts.iter().map(|part| part.section(evidence)).collect()
    }

    fn series(&mut self, chart: &Chart, series: &Series, folder: &Path) -> Option<Drawn> {
        let what = match (&series.measure, &series.points) {
            (None, Some(points)) => self.points(points, folder).map(What::Points),
            (Some(measure), None) => match chart.kind {
                Look::Numbers => self.compiler.measure(measure).map(What::Number),
                Look::Curve => self.curve(measure).map(What::Curve),
                Look::Points => self.points_of(measure),
            },
            _ => {
                let range = series.measure.as_ref().map_or(0..0, Spanned::span);
                let message =
                    format!("`{}` has exactly one of `measure` and `points`", series.label);
                self.compiler.wrong(
                    range,
                    message,
                    "write how it is measured, or the file of its points",
                );
                None
            }
        };
        Some(Drawn { label: series.label.clone(), claimed: series.claimed, what: what? })
    }

    /// A measure at every value of a setting that varies.
    fn curve(&mut self, measure: &Spanned<Measure>) -> Option<Vec<(f64, Compiled)>> {
        let of = measure.get_ref();
        let case = of.of.as_ref().or(of.to.as_ref());
        let label = case.and_then(|case| case.get_ref().rsplit_once('/')).map(|(label, _)| label);
        let document = self.document;
        let varied = document
            .experiment
            .iter()
            .find(|(known, of)| Some(known.as_str()) == label && of.vary.is_some());
        let Some((known, _)) = varied else {
            let range = case.map_or(measure.span(), Spanned::span);
            let message = "a curve is of an experiment in which a setting varies";
            self.compiler.wrong(
                range,
                message,
                "give the experiment `vary`, or choose the kind \"numbers\"",
            );
            return None;
        };
        let experiment = self.experiments.get(known.as_str())?;
        let (names, at) = (experiment.names.clone(), experiment.at.clone());
        let first = *names.first()?;
        let compiled = self.compiler.measure_of(measure, Some((known, first)))?;
        Some(at.into_iter().zip(names.iter().map(|name| compiled.instead(first, name))).collect())
    }

    fn points_of(&mut self, measure: &Spanned<Measure>) -> Option<What> {
        let of = measure.get_ref();
        let (Some(sql), Some(case)) = (&of.sql, &of.of) else {
            let message = "points are asked for in SQL, `of` a case";
            self.compiler.wrong(
                measure.span(),
                message,
                "write sql = \"SELECT x, y FROM …\" and of = \"experiment/variant\"",
            );
            return None;
        };
        let (query, case) = (self.compiler.query(sql, 2), self.compiler.case(case));
        Some(What::Asked(query?, case?))
    }

    /// Points of a file with two columns.
    fn points(&mut self, file: &Spanned<String>, folder: &Path) -> Option<Vec<(f64, f64)>> {
        let path = folder.join(file.get_ref());
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{} cannot be read: {error}", path.display());
                self.compiler.wrong(file.span(), message, "points are in a file beside study.toml");
                return None;
            }
        };
        let mut points = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let cells: Vec<Option<f64>> =
                line.split(',').map(|cell| cell.trim().parse().ok()).collect();
            match cells.as_slice() {
                [Some(x), Some(y)] => points.push((*x, *y)),
                _ => {
                    let message =
                        format!("{}:{}: `{line}` is not two numbers", path.display(), number + 1);
                    let help = "after a line with the names of two columns, each line has two numbers and a comma between them";
                    self.compiler.wrong(file.span(), message, help);
                    return None;
                }
            }
        }
        Some(points)
    }
}

fn axis(of: &Axis) -> chart::Axis {
    let unit = name(&of.unit);
    let axis = match of.log {
        true => chart::Axis::log(&of.label, unit),
        false => chart::Axis::linear(&of.label, unit),
    };
    match of.limits {
        Some([low, high]) => axis.within(low, high),
        None => axis,
    }
}

impl Part {
    fn section(&self, evidence: &Evidence) -> Section {
        let claims: Vec<&str> = self.claims.iter().map(String::as_str).collect();
        let mut section = evidence.section(&self.name, &self.heading, &claims, &self.experiments);
        section.text.clone_from(&self.text);
        section.exhibits = self.charts.iter().map(|chart| chart.exhibit(evidence)).collect();
        section
    }
}

impl Drawing {
    fn exhibit(&self, evidence: &Evidence) -> Exhibit {
        if self.look == Look::Numbers {
            let entry = |(at, series): (usize, &Drawn)| {
                let What::Number(measure) = &series.what else { return None };
                let measured = measure.measure(evidence);
                measured.value?;
                let entry = Entry::new(&series.label, at, measured);
                Some(Entry { claimed: series.claimed, ..entry })
            };
            let entries = self.series.iter().enumerate().filter_map(entry).collect();
            let groups = vec![(self.caption.clone(), entries)];
            let axis = self.x.clone();
            return rows(&self.name, &self.caption, axis, Mark::Point, &self.note, groups);
        }
        let lines = self.series.iter().enumerate().map(|(at, series)| series.line(at, evidence));
        let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
        let legend = self.series.iter().enumerate();
        let legend = legend.map(|(at, series)| (at, series.label.clone()));
        let chart = Lines {
            title: self.caption.clone(),
            x: self.x.clone(),
            y: self.y.clone(),
            lines,
            height: 300.0,
            ..Lines::default()
        };
        Exhibit::Lines {
            name: self.name.clone(),
            caption: self.caption.clone(),
            legend: legend.collect(),
            charts: if chart.lines.is_empty() { Vec::new() } else { vec![chart] },
            columns: 1,
            note: self.note.clone(),
        }
    }
}

impl Drawn {
    fn line(&self, series: usize, evidence: &Evidence) -> Line {
        let line = Line { series, tooltip: self.label.clone(), ..Line::default() };
        match &self.what {
            What::Number(_) => line,
            What::Curve(points) => {
                let measured: Vec<(f64, crate::Measured)> =
                    points.iter().map(|(at, measure)| (*at, measure.measure(evidence))).collect();
                let known = measured.iter().filter_map(|(at, of)| Some((*at, of.value?)));
                let intervals = measured.iter().filter_map(|(at, of)| {
                    let (low, high) = of.interval()?;
                    Some((*at, low, high))
                });
                Line {
                    points: known.collect(),
                    intervals: intervals.collect(),
                    markers: true,
                    ..line
                }
            }
            What::Asked(query, case) => {
                let first = evidence.runs(*case).next();
                let points = first.map_or_else(Vec::new, |(_, facts)| facts.points(*query));
                Line { points, ..line }
            }
            What::Points(points) => Line { points: points.clone(), scatter: true, ..line },
        }
    }
}
