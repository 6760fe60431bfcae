//! Tables of a study in a folder: rows of cases, of experiments, or of cells of their own.

use std::collections::BTreeSet;

use floodway_scenario::claims::Measure;
use toml::Spanned;

use super::super::Loading;
use super::super::document::{self, Chart, Shows};
use super::{Table, TableCell, TableRow};
use crate::compile::lists::Pick;
use crate::evidence::Case;

/// What stands where there is nothing to compare with.
const NOTHING: &str = "–";

impl Loading<'_> {
    /// Checks a table.
    pub(super) fn table(&mut self, chart: &Chart, picks: &[Pick]) -> Option<Table> {
        let head = [chart.corner.clone()].into_iter();
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
                rows.push(self.row(chart, row, pick)?);
            }
            settings.push(rows);
        }
        Some(Table { head, settings })
    }

    /// Checks a row: of a case, or of an experiment, of which the measures of the columns name variants.
    fn row(&mut self, chart: &Chart, row: &document::Line, pick: &Pick) -> Option<TableRow> {
        if !row.cell.is_empty() {
            return self.own_cells(chart, row, pick);
        }
        let Some(of) = row.of.as_ref().map(|of| pick.case(of)) else {
            let message = format!("the row `{}` is of no case", row.label);
            let help = "write of = \"experiment/variant\", or what stands in it: cell = [{ … }]";
            self.compiler.wrong(chart.kind.span(), message, help);
            return None;
        };
        if of.get_ref().contains('{') {
            return self.row_of_columns(chart, &of, pick, pick.labels(&row.label));
        }
        let cells = self.experiments.values().flat_map(|of| &of.cells);
        let mut names = cells.map(|cell| cell.name);
        let experiment = names.find(|name| *name == of.get_ref().as_str());
        let case = match experiment {
            Some(_) => None,
            None => Some(self.compiler.case(&of)?),
        };
        let known: BTreeSet<&str> =
            self.compiler.cases.iter().map(|(name, _)| name.as_str()).collect();
        let within = |own: &Option<Spanned<String>>| {
            let variant = own.as_ref()?;
            let all = [Some(&of), row.otherwise.as_ref()].into_iter().flatten();
            let mut all = all.map(|of| format!("{}/{}", of.get_ref(), variant.get_ref()));
            let case =
                all.clone().find(|case| known.contains(case.as_str())).or_else(|| all.next());
            Some(Spanned::new(variant.span(), case?))
        };
        let cases: Vec<[Option<Spanned<String>>; 3]> = chart
            .column
            .iter()
            .map(|column| {
                let of = column.measure.as_ref().map(Spanned::get_ref);
                [
                    of.and_then(|of| within(&of.of)),
                    of.and_then(|of| within(&of.from)),
                    of.and_then(|of| within(&of.to)),
                ]
            })
            .collect();
        let mut cells = Vec::new();
        for (column, variants) in chart.column.iter().zip(cases) {
            cells.push(self.cell(column, (row, &of, case), variants, pick)?);
        }
        let experiment = experiment.or(case.map(|case| case.experiment));
        Some(TableRow { label: pick.labels(&row.label), experiment, case, cells })
    }

    /// Checks what stands in a column, for a row of a case, or of an experiment with these cases of it.
    fn cell(
        &mut self,
        column: &document::Column,
        (row, of, case): (&document::Line, &Spanned<String>, Option<Case>),
        [one, from, to]: [Option<Spanned<String>>; 3],
        pick: &Pick,
    ) -> Option<TableCell> {
        let (message, help) = match (&column.measure, &column.shows) {
            (Some(measure), None) => {
                let own = measure.get_ref();
                let has_cases = own.of.is_some() || own.from.is_some() || own.to.is_some();
                if case.is_some() && has_cases {
                    let message = "a column is of the cases of the rows";
                    let help = "leave `of`, `from` and `to` out, or let rows be of experiments";
                    self.compiler.wrong(measure.span(), message, help);
                    return None;
                }
                let own = match (case, column.change, &row.from) {
                    (_, true, None) => return Some(TableCell::Text(NOTHING.to_owned())),
                    (Some(_), true, Some(from)) => {
                        let from = Some(pick.case(from));
                        Measure { from, to: Some(of.clone()), ..own.clone() }
                    }
                    (Some(_), ..) => Measure { of: Some(of.clone()), ..own.clone() },
                    (None, ..) => Measure { of: one, from, to, ..own.clone() },
                };
                let own = pick.measure(&Spanned::new(measure.span(), own));
                let measure = self.compiler.measure(&own)?;
                return Some(match column.short {
                    true => TableCell::Short(measure),
                    false => TableCell::Number(measure),
                });
            }
            (None, Some(shows)) if case.is_some() && *shows.get_ref() == Shows::Unfinished => {
                return Some(TableCell::Unfinished(match &column.flows {
                    Some(flows) => Some(self.compiler.group(&pick.case(flows))?),
                    None => None,
                }));
            }
            _ => (
                format!("the column `{}` has exactly one of `measure` and `shows`", column.label),
                "write how it is measured, or shows = \"unfinished\" of rows that are cases",
            ),
        };
        self.compiler.wrong(of.span(), message, help);
        None
    }

    /// A row of which each column has another case: with a setting of its own, or over a list.
    fn row_of_columns(
        &mut self,
        chart: &Chart,
        of: &Spanned<String>,
        pick: &Pick,
        label: String,
    ) -> Option<TableRow> {
        let mut cells = Vec::new();
        for column in &chart.column {
            let fill = |text: String, (list, setting): (&String, &String)| {
                text.replace(&format!("{{{list}}}"), setting)
            };
            let case = column.with.iter().fold(of.get_ref().clone(), fill);
            let case = Some(Spanned::new(of.span(), case));
            let Some(measure) = &column.measure else {
                let message = format!("the column `{}` has no `measure`", column.label);
                let help = "rows with a list in the name of their case have numbers only";
                self.compiler.wrong(of.span(), message, help);
                return None;
            };
            let own = Measure { of: case, ..measure.get_ref().clone() };
            let own = pick.measure(&Spanned::new(measure.span(), own));
            cells.push(TableCell::Number(self.compiler.measure(&own)?));
        }
        let first = cells.iter().find_map(|cell| match cell {
            TableCell::Number(measure) => measure.cases().first().copied(),
            _ => None,
        });
        Some(TableRow { label, experiment: first.map(|case| case.experiment), case: None, cells })
    }

    /// A row that says itself what stands in it.
    fn own_cells(&mut self, chart: &Chart, row: &document::Line, pick: &Pick) -> Option<TableRow> {
        if row.cell.len() != chart.column.len() {
            let message = format!(
                "the row `{}` has {} cells, and there are {} columns",
                row.label,
                row.cell.len(),
                chart.column.len()
            );
            self.compiler.wrong(chart.kind.span(), message, "give each column a cell");
            return None;
        }
        let mut cells = Vec::new();
        for cell in &row.cell {
            cells.push(match &cell.measure {
                Some(of) => {
                    let measure = self.compiler.measure(&pick.measure(of))?;
                    if cell.short { TableCell::Short(measure) } else { TableCell::Number(measure) }
                }
                None => TableCell::Text(pick.labels(&cell.text)),
            });
        }
        Some(TableRow { label: pick.labels(&row.label), experiment: None, case: None, cells })
    }
}
