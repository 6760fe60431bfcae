//! Charts over two lists of settings: heat maps, and grids of small charts. And charts of which there is one for each
//! setting.

use floodway_report::chart::{Cell, Colors, Line, Matrix};
use floodway_report::study::Exhibit;
use floodway_scenario::suggest;
use toml::Spanned;

use super::super::Loading;
use super::super::document::{Axis, Chart, Look, Section, Shared};
use super::{Drawing, What};
use crate::Measured;
use crate::compile::lists::Pick;
use crate::evidence::Evidence;
use crate::matrix::{grid, heat_map};

/// The settings of the rows and the columns, and which combination stands where.
pub(super) struct Sides {
    matrix: Matrix,
    /// By row and column the place among the combinations; none of one that is left out.
    places: Vec<Vec<Option<usize>>>,
}

impl Sides {
    /// Of the combinations of two lists.
    pub fn new(chart: &Chart, picks: &[Pick]) -> Self {
        // A heat map has no other axes than these.
        let side = |axis: &Option<Axis>, own: &String| match axis {
            Some(axis) if *chart.kind.get_ref() == Look::HeatMap => axis.label.clone(),
            _ => own.clone(),
        };
        let both = |pick: &Pick| -> [usize; 2] {
            let mut places = pick.places().map(|(_, at)| at);
            [places.next(), places.next()].map(Option::unwrap_or_default)
        };
        let of_side = |side: usize| {
            let mut all: Vec<(usize, String)> = picks
                .iter()
                .map(|pick| (both(pick)[side], pick.called(side, chart.labels)))
                .collect();
            all.sort_by_key(|(at, _)| *at);
            all.dedup();
            all
        };
        let (down, across) = (of_side(0), of_side(1));
        let place =
            |row: usize, column: usize| picks.iter().position(|pick| both(pick) == [row, column]);
        let places = down
            .iter()
            .map(|(row, _)| across.iter().map(|(column, _)| place(*row, *column)).collect());
        let names = |of: &[(usize, String)]| of.iter().map(|(_, name)| name.clone()).collect();
        let matrix = Matrix {
            across: side(&chart.x, &chart.across),
            columns: names(&across),
            down: side(&chart.y, &chart.down),
            rows: names(&down),
        };
        Self { places: places.collect(), matrix }
    }

    /// Without the rows and the columns of which nothing was run.
    fn that_were_run(&self, was_run: impl Fn(usize) -> bool) -> Self {
        let run = |at: &Option<usize>| at.is_some_and(&was_run);
        let rows: Vec<usize> =
            (0..self.places.len()).filter(|row| self.places[*row].iter().any(run)).collect();
        let columns = (0..self.matrix.columns.len())
            .filter(|column| self.places.iter().any(|row| run(&row[*column])));
        let columns: Vec<usize> = columns.collect();
        let of =
            |names: &[String], kept: &[usize]| kept.iter().map(|at| names[*at].clone()).collect();
        let places = rows
            .iter()
            .map(|row| columns.iter().map(|column| self.places[*row][*column]).collect());
        let matrix = Matrix {
            columns: of(&self.matrix.columns, &columns),
            rows: of(&self.matrix.rows, &rows),
            ..self.matrix.clone()
        };
        Self { places: places.collect(), matrix }
    }
}

impl Sides {
    /// What a combination is called.
    fn called(&self, row: usize, column: usize) -> String {
        let Matrix { across, columns, down, rows } = &self.matrix;
        format!("{across} {}, {down} {}", columns[column], rows[row])
    }
}

impl Drawing {
    pub(super) fn heat_map(&self, evidence: &Evidence) -> Exhibit {
        let all = self.series.iter().find_map(|series| match &series.what {
            What::Settings(all) => Some(all.as_slice()),
            _ => None,
        });
        let all = all.unwrap_or_default();
        let colors = match all.first() {
            Some((_, measure)) if measure.is_of_two() => Colors::Diverging(0.0),
            Some((_, measure)) if measure.is_ratio() => Colors::Diverging(1.0),
            _ => Colors::Sequential,
        };
        let sides = self.sides(|at| all.get(at).is_some_and(|(_, of)| of.was_run(evidence)));
        let cell = |row: usize, column: usize| {
            let of = sides.places[row][column].and_then(|at| all.get(at));
            of.map_or_else(Measured::default, |(_, measure)| measure.measure(evidence))
        };
        let words = (self.name.as_str(), self.caption.as_str(), self.note.as_str());
        heat_map(words, (self.z.clone(), colors, 1.0), sides.matrix.clone(), cell)
    }

    pub(super) fn grid(&self, evidence: &Evidence) -> Exhibit {
        let all = |at: usize| {
            self.series.iter().enumerate().filter_map(move |(look, series)| match &series.what {
                What::Grid(all) => Some((series.look.unwrap_or(look), series, all.get(at)?)),
                _ => None,
            })
        };
        let was_run = |at: usize| {
            all(at).any(|(.., (_, what))| what.cases().iter().any(|case| evidence.has(*case)))
        };
        let sides = self.sides(was_run);
        let cell = |row: usize, column: usize| {
            let Some(at) = sides.places[row][column] else { return Cell::default() };
            let mut lines: Vec<Line> = Vec::new();
            let (mut most, mut is_beside) = (0.0_f64, false);
            for (series, of, (_, what)) in all(at) {
                let line = Line { series, ..Line::default() };
                let own = what.lines(line, evidence);
                let own: Vec<Line> =
                    own.into_iter().filter(|line| !line.points.is_empty()).collect();
                is_beside |= of.aside;
                if !of.aside {
                    let values = own.iter().flat_map(|line| &line.points).map(|point| point.1);
                    most = values.fold(most, f64::max);
                }
                lines.extend(own);
            }
            if lines.is_empty() {
                return Cell::default();
            }
            Cell {
                tooltip: sides.called(row, column),
                lines,
                y: (is_beside && most > 0.0).then_some((0.0, most * 1.2)),
                level: self.level.as_ref().map(|level| level.at),
                ..Cell::default()
            }
        };
        let looks = self.series.iter().enumerate();
        let legend: Vec<(usize, &str)> =
            looks.map(|(at, of)| (of.look.unwrap_or(at), of.label.as_str())).collect();
        let level = self.level.as_ref().map_or("", |level| level.label.as_str());
        let words = (self.name.as_str(), self.caption.as_str(), self.note.as_str());
        grid(words, (self.x.clone(), self.y.clone(), level), sides.matrix.clone(), &legend, cell)
    }

    fn sides(&self, was_run: impl Fn(usize) -> bool) -> Sides {
        let none = || Sides { matrix: Matrix::default(), places: Vec::new() };
        self.sides.as_ref().map_or_else(none, |sides| sides.that_were_run(was_run))
    }
}

impl Loading<'_> {
    /// The charts of a section: those of the whole file, and its own; those for each setting of lists one by one.
    pub(super) fn charts(&mut self, section: &Section) -> Vec<Chart> {
        let mut all = Vec::new();
        for shared in &section.shared {
            all.extend(self.shared(shared));
        }
        all.extend(section.chart.iter().cloned());
        let mut each = Vec::new();
        for chart in &all {
            for pick in self.compiler.picks(&chart.each, &[]).unwrap_or_default() {
                each.push(of_setting(chart, &pick));
            }
        }
        each
    }

    /// A chart of the whole file for some settings.
    fn shared(&mut self, of: &Shared) -> Option<Chart> {
        let charts = &self.document.chart;
        let Some(chart) = charts.get(of.chart.get_ref()) else {
            let names: Vec<&str> = charts.keys().map(String::as_str).collect();
            let message = format!("there is no chart `{}`", of.chart.get_ref());
            let help = match names.as_slice() {
                [] => {
                    "charts that several sections have stand in the file as [chart.NAME]".to_owned()
                }
                names => suggest::remedy(of.chart.get_ref(), "charts", names),
            };
            self.compiler.wrong(of.chart.span(), message, help);
            return None;
        };
        let mut chart = chart.clone();
        for (list, wanted) in &of.with {
            let lists = [Spanned::new(wanted.span(), list.clone())];
            let picks = self.compiler.picks(&lists, &[])?;
            let Some(pick) = picks.iter().find(|pick| pick.name() == *wanted.get_ref()) else {
                let names: Vec<String> = picks.iter().map(Pick::name).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("there is no setting `{}`", wanted.get_ref());
                let help = suggest::remedy(wanted.get_ref(), "settings", &names);
                self.compiler.wrong(wanted.span(), message, help);
                return None;
            };
            chart = of_setting(&chart, pick);
        }
        Some(chart)
    }
}

/// A chart with a setting in its names and texts.
fn of_setting(chart: &Chart, pick: &Pick) -> Chart {
    let mut of = chart.clone();
    let measure = |of: &mut Option<Spanned<_>>| {
        if let Some(own) = of {
            *own = pick.measure(own);
        }
    };
    of.name = pick.names_in(&of.name);
    for text in [&mut of.caption, &mut of.note] {
        *text = pick.labels(text);
    }
    for series in &mut of.series {
        series.label = pick.labels(&series.label);
        measure(&mut series.measure);
    }
    for panel in &mut of.panel {
        panel.heading = pick.labels(&panel.heading);
        measure(&mut panel.measure);
    }
    of.column.iter_mut().for_each(|column| measure(&mut column.measure));
    for row in &mut of.row {
        row.label = pick.labels(&row.label);
        row.of = row.of.as_ref().map(|case| pick.case(case));
        row.cell.iter_mut().for_each(|cell| measure(&mut cell.measure));
    }
    of
}
