//! Sections with charts of a study in a folder.

use floodway_report::chart::{self, Colours, Line, Lines, Mark};
use floodway_report::html::read_points;
use floodway_report::study::{Exhibit, Section};
use floodway_scenario::claims::Measure;
use floodway_scenario::suggest;
use toml::Spanned;

use crate::claim::Row;
use crate::compile::lists::Pick;
use crate::compile::measure::Compiled;
use crate::evidence::{Case, Evidence};
use crate::exhibit::{Entry, number, rows, table};
use crate::matrix::{heat_map, sides};
use crate::plan::{Level, name};
use crate::sql::Shape;

use super::Loading;
use super::answer::{Change, filled};
use super::document::{Axis, Chart, Look, Rank, Series, Shows};

/// How many bins a chart of shares has.
const BINS: usize = 50;

/// A chart, ready to be drawn.
struct Drawing {
    name: String,
    caption: String,
    note: String,
    look: Look,
    x: chart::Axis,
    y: chart::Axis,
    z: chart::Axis,
    series: Vec<Drawn>,
    table: Table,
    sides: Option<floodway_report::chart::Matrix>,
}

/// Something that it shows.
struct Drawn {
    label: String,
    look: Option<usize>,
    claimed: Option<f64>,
    what: What,
}

enum What {
    /// A number.
    Number(Compiled),
    /// A number for each setting of a list, with what that is called.
    Settings(Vec<(String, Compiled)>),
    /// Numbers at places of the horizontal axis.
    Curve(Vec<(f64, Compiled)>),
    /// The answer to a statement in the first run of a case.
    Asked(usize, Case),
    /// The share of values above each value of the distribution that a statement gives, over all runs of a case.
    Tail(usize, Case),
    /// The shares of its values in so many bins up to a value.
    Shares(usize, Case, usize, f64),
    /// Points of somebody else.
    Points(Vec<(f64, f64)>),
}

/// Rows and columns.
#[derive(Default)]
struct Table {
    head: Vec<String>,
    /// For each setting its rows.
    settings: Vec<Vec<TableRow>>,
}

/// A row: its name, its case, and what stands in it.
struct TableRow {
    label: String,
    case: Case,
    cells: Vec<TableCell>,
}

enum TableCell {
    Number(Compiled),
    Unfinished,
}

/// A section.
struct Part {
    name: String,
    heading: String,
    text: Vec<String>,
    claims: Vec<String>,
    experiments: Vec<&'static str>,
    charts: Vec<Drawing>,
    from: Level,
    answer: Option<String>,
    rows: &'static [Row],
    changes: &'static [Change],
}

impl Look {
    /// Whether it is a chart of lines, over which points may be laid.
    fn is_of_lines(self) -> bool {
        [Self::Curve, Self::Points, Self::Tail, Self::Shares].contains(&self)
    }
}

impl Loading<'_> {
    /// Checks the sections.
    pub(super) fn sections(
        &mut self,
        rows: &'static [Row],
        changes: &'static [Change],
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
            if let Some(answer) = &section.answer {
                self.sentence(answer, rows, changes);
            }
            let charts: Vec<Drawing> =
                section.chart.iter().filter_map(|chart| self.drawing(chart)).collect();
            let mut experiments: Vec<&'static str> = Vec::new();
            for drawn in charts.iter().flat_map(|chart| &chart.series) {
                let cases: Vec<Case> = match &drawn.what {
                    What::Number(measure) => measure.cases(),
                    What::Settings(all) => {
                        all.iter().flat_map(|(_, measure)| measure.cases()).collect()
                    }
                    What::Curve(points) => {
                        points.iter().flat_map(|(_, measure)| measure.cases()).collect()
                    }
                    What::Asked(_, case) | What::Tail(_, case) | What::Shares(_, case, ..) => {
                        vec![*case]
                    }
                    What::Points(_) => Vec::new(),
                };
                experiments.extend(cases.iter().map(|case| case.experiment));
            }
            let lines = charts.iter().flat_map(|chart| chart.table.settings.iter().flatten());
            experiments.extend(lines.map(|row| row.case.experiment));
            experiments.dedup();
            parts.push(Part {
                name: section.name.clone(),
                heading: section.heading.clone(),
                text: section.text.clone(),
                claims: section.claims.iter().map(|claim| claim.get_ref().clone()).collect(),
                experiments,
                charts,
                from: section.from.map_or(Level::Quick, Rank::into),
                answer: section.answer.as_ref().map(|answer| answer.get_ref().clone()),
                rows,
                changes,
            });
        }
        move |evidence| parts.iter().filter_map(|part| part.section(evidence)).collect()
    }

    /// Checks a chart.
    fn drawing(&mut self, chart: &Chart) -> Option<Drawing> {
        let (look, range) = (*chart.kind.get_ref(), chart.kind.span());
        let picks = self.compiler.picks(&chart.over)?;
        let lists = match look {
            Look::Numbers | Look::Table => 0..=2,
            Look::Curve | Look::Points | Look::Tail | Look::Shares => 0..=0,
            Look::HeatMap => 2..=2,
        };
        if !lists.contains(&chart.over.len()) {
            let (message, help) = match look {
                Look::HeatMap => (
                    format!("the heat map `{}` is over {} lists", chart.name, chart.over.len()),
                    "name two lists of settings in `over`: the first goes down, the second across",
                ),
                _ => (
                    format!("`{}` is over lists of settings", chart.name),
                    "leave `over` out: only numbers, tables and heat maps have settings",
                ),
            };
            self.compiler.wrong(range, message, help);
            return None;
        }
        if look != Look::Table && chart.x.is_none() {
            let message = format!("`{}` has no axis", chart.name);
            self.compiler.wrong(range, message, "write x = { label = \"…\" }");
            return None;
        }
        if look == Look::HeatMap && chart.series.len() != 1 {
            let message =
                format!("the heat map `{}` has {} series", chart.name, chart.series.len());
            self.compiler.wrong(range, message, "give it one: what its colors show");
            return None;
        }
        let table = match look {
            Look::Table => self.table(chart, &picks)?,
            _ => Table::default(),
        };
        let series = match look {
            Look::Table => Vec::new(),
            _ => chart.series.iter().filter_map(|of| self.series(chart, of, &picks)).collect(),
        };
        let label =
            |axis: &Option<Axis>| axis.as_ref().map_or_else(String::new, |axis| axis.label.clone());
        let names = |list: &Spanned<String>| {
            let settings = self.compiler.lists.get(list.get_ref()).into_iter().flatten();
            settings.map(|setting| setting.name.clone()).collect::<Vec<_>>()
        };
        let sides = match (look, chart.over.as_slice()) {
            (Look::HeatMap, [down, across]) => {
                Some(sides((&label(&chart.x), names(across)), (&label(&chart.y), names(down))))
            }
            _ => None,
        };
        let axis = |of: &Option<Axis>| of.as_ref().map(axis).unwrap_or_default();
        Some(Drawing {
            name: chart.name.clone(),
            caption: chart.caption.clone(),
            note: chart.note.clone(),
            look,
            x: axis(&chart.x),
            y: axis(&chart.y),
            z: axis(&chart.z),
            series,
            table,
            sides,
        })
    }

    /// Checks a table.
    fn table(&mut self, chart: &Chart, picks: &[Pick]) -> Option<Table> {
        let head = [String::new()].into_iter();
        let head = head.chain(chart.column.iter().map(|column| column.label.clone())).collect();
        if chart.row.is_empty() || chart.column.is_empty() {
            let message = format!("the table `{}` has no rows or no columns", chart.name);
            let help = "write row = [{ label = \"…\", of = \"experiment/variant\" }] and column = [{ label = \"…\", \
                        measure = { … } }]";
            self.compiler.wrong(chart.kind.span(), message, help);
            return None;
        }
        let mut settings = Vec::new();
        for pick in picks {
            let mut rows = Vec::new();
            for row in &chart.row {
                let of = pick.case(&row.of);
                let case = self.compiler.case(&of)?;
                let mut cells = Vec::new();
                for column in &chart.column {
                    cells.push(match (&column.measure, &column.shows) {
                        (Some(measure), None) => {
                            let own = measure.get_ref();
                            if own.of.is_some() || own.from.is_some() || own.to.is_some() {
                                let message = "a column is of the cases of the rows";
                                let help = "leave `of`, `from` and `to` out";
                                self.compiler.wrong(measure.span(), message, help);
                                return None;
                            }
                            let own = Measure { of: Some(of.clone()), ..own.clone() };
                            let measure = Spanned::new(measure.span(), own);
                            TableCell::Number(self.compiler.measure(&measure)?)
                        }
                        (None, Some(shows)) => match shows.get_ref() {
                            Shows::Unfinished => TableCell::Unfinished,
                        },
                        _ => {
                            let message = format!(
                                "the column `{}` has exactly one of `measure` and `shows`",
                                column.label
                            );
                            let help = "write how it is measured, or shows = \"unfinished\"";
                            self.compiler.wrong(row.of.span(), message, help);
                            return None;
                        }
                    });
                }
                rows.push(TableRow { label: pick.labels(&row.label), case, cells });
            }
            settings.push(rows);
        }
        Some(Table { head, settings })
    }

    fn series(&mut self, chart: &Chart, series: &Series, picks: &[Pick]) -> Option<Drawn> {
        let look = *chart.kind.get_ref();
        let what = match (&series.measure, &series.points) {
            (None, Some(points)) if look.is_of_lines() => self.points(points).map(What::Points),
            (Some(measure), None) => match look {
                Look::Numbers | Look::HeatMap | Look::Table if !chart.over.is_empty() => {
                    let of = |pick: &Pick| {
                        let measure = self.compiler.measure(&pick.measure(measure))?;
                        Some((pick.label(), measure))
                    };
                    picks.iter().map(of).collect::<Option<_>>().map(What::Settings)
                }
                Look::Numbers | Look::HeatMap | Look::Table => {
                    self.compiler.measure(measure).map(What::Number)
                }
                Look::Curve => self.curve(measure).map(What::Curve),
                Look::Points | Look::Tail | Look::Shares => self.points_of(chart, measure),
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
        let (label, look) = (series.label.clone(), series.look);
        Some(Drawn { label, look, claimed: series.claimed, what: what? })
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
        let cells: Vec<(f64, &'static str)> =
            experiment.cells.iter().map(|cell| (cell.at, cell.name)).collect();
        let (_, first) = *cells.first()?;
        let compiled = self.compiler.measure_of(measure, Some((known, first)))?;
        Some(cells.into_iter().map(|(at, name)| (at, compiled.instead(first, name))).collect())
    }

    fn points_of(&mut self, chart: &Chart, measure: &Spanned<Measure>) -> Option<What> {
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
        let look = *chart.kind.get_ref();
        let shape = if look == Look::Points { Shape::Points } else { Shape::Distribution };
        let (query, case) = (self.compiler.query(sql, shape)?, self.compiler.case(case)?);
        let limits = chart.x.as_ref().and_then(|axis| axis.limits);
        match (look, limits) {
            (Look::Tail, _) => Some(What::Tail(query, case)),
            (Look::Shares, Some([0.0, up_to])) if up_to > 0.0 => {
                Some(What::Shares(query, case, chart.bins.unwrap_or(BINS).max(1), up_to))
            }
            (Look::Shares, _) => {
                let message = format!("the horizontal axis of `{}` has no end", chart.name);
                let help = "write limits = [0.0, …]: bins have the same width up to there";
                self.compiler.wrong(chart.kind.span(), message, help);
                None
            }
            _ => Some(What::Asked(query, case)),
        }
    }

    /// Points of a file with two columns.
    fn points(&mut self, file: &Spanned<String>) -> Option<Vec<(f64, f64)>> {
        let path = self.files.path(file.get_ref());
        let text = match self.files.text(file.get_ref()) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{} cannot be read: {error}", path.display());
                self.compiler.wrong(file.span(), message, "points are in a file beside study.toml");
                return None;
            }
        };
        match read_points(&text) {
            Ok(points) => Some(points),
            Err((line, message)) => {
                let message = format!("{}:{line}: {message}", path.display());
                let help = "after a line with the names of two columns, each line has two numbers and a comma between them";
                self.compiler.wrong(file.span(), message, help);
                None
            }
        }
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
    /// The section; none below its level, and none without a run of what its charts show.
    fn section(&self, evidence: &Evidence) -> Option<Section> {
        let claims: Vec<&str> = self.claims.iter().map(String::as_str).collect();
        let mut section = evidence.section(&self.name, &self.heading, &claims, &self.experiments);
        let is_of_runs = !self.experiments.is_empty();
        if self.from > evidence.level || (is_of_runs && section.links.is_empty()) {
            return None;
        }
        let answer = |text: &String| filled(text, self.rows, self.changes, evidence);
        section.answer = self.answer.as_ref().map_or_else(String::new, answer);
        section.text.clone_from(&self.text);
        section.exhibits = self.charts.iter().map(|chart| chart.exhibit(evidence)).collect();
        Some(section)
    }
}

impl Drawing {
    fn exhibit(&self, evidence: &Evidence) -> Exhibit {
        match self.look {
            Look::Numbers => self.numbers(evidence),
            Look::Table => self.table(evidence),
            Look::HeatMap => self.heat_map(evidence),
            _ => self.lines(evidence),
        }
    }

    /// Numbers along one axis: together, or of each series those over its settings.
    fn numbers(&self, evidence: &Evidence) -> Exhibit {
        let axis = self.x.clone();
        let draw = |groups| rows(&self.name, &self.caption, axis, Mark::Point, &self.note, groups);
        let is_over = self.series.iter().any(|series| matches!(series.what, What::Settings(_)));
        if is_over {
            let group = |(at, series): (usize, &Drawn)| {
                let What::Settings(all) = &series.what else { return (String::new(), Vec::new()) };
                let look = series.look.unwrap_or(at);
                let run = all.iter().filter(|(_, measure)| measure.was_run(evidence));
                let entries = run.filter_map(|(label, measure)| {
                    let measured = measure.measure(evidence);
                    // A change from zero has no percentage.
                    let known = !measure.is_change() || measured.unit == "%";
                    let known = known && measured.value.is_some();
                    known.then(|| Entry::new(label, look, measured))
                });
                (series.label.clone(), entries.collect())
            };
            return draw(self.series.iter().enumerate().map(group).collect());
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
        let was_run = |rows: &&Vec<TableRow>| rows.iter().all(|row| evidence.has(row.case));
        let line = |row: &TableRow| {
            let cell = |cell: &TableCell| match cell {
                TableCell::Number(measure) => number(&measure.measure(evidence)),
                TableCell::Unfinished => evidence.unfinished_cell(row.case),
            };
            [row.label.clone()].into_iter().chain(row.cells.iter().map(cell)).collect()
        };
        let lines = self.table.settings.iter().filter(was_run).flatten().map(line).collect();
        table(&self.name, &self.caption, &self.note, &head, lines)
    }

    fn heat_map(&self, evidence: &Evidence) -> Exhibit {
        let sides = self.sides.clone().unwrap_or_else(|| sides(("", [""; 0]), ("", [""; 0])));
        let columns = sides.columns.len();
        let all = self.series.iter().find_map(|series| match &series.what {
            What::Settings(all) => Some(all),
            _ => None,
        });
        let is_change = all.into_iter().flatten().any(|(_, measure)| measure.is_of_two());
        let colours = if is_change { Colours::Diverging(0.0) } else { Colours::Sequential };
        let cell = |row: usize, column: usize| {
            let of = all.and_then(|all| all.get(row * columns + column));
            of.map_or_else(crate::Measured::default, |(_, measure)| measure.measure(evidence))
        };
        let words = (self.name.as_str(), self.caption.as_str(), self.note.as_str());
        heat_map(words, (self.z.clone(), colours, 1.0), sides, cell)
    }

    fn lines(&self, evidence: &Evidence) -> Exhibit {
        let lines = self.series.iter().enumerate();
        let lines = lines.flat_map(|(at, series)| series.lines(at, evidence));
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
    /// Its lines: of SQL with a third column one for each value of that.
    fn lines(&self, series: usize, evidence: &Evidence) -> Vec<Line> {
        let line = Line { series, tooltip: self.label.clone(), ..Line::default() };
        let line = match &self.what {
            What::Number(_) | What::Settings(_) => line,
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
                let lines = first.map_or_else(Vec::new, |(_, facts)| facts.lines(*query));
                return lines.into_iter().map(|points| Line { points, ..line.clone() }).collect();
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
