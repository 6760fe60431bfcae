//! Charts and tables about readings: effects of choices, all readings, and those nearest to the source.

use floodway_report::chart::Mark;
use floodway_report::study::Exhibit;

use super::super::Loading;
use super::super::document::{Chart, Look, RowsOf, Shows};
use super::Drawing;
use crate::compile::measure::Compiled;
use crate::evidence::Evidence;
use crate::exhibit::{Entry, number, rows, short, table};
use crate::measure::Logs;
use crate::readings::closest::{Closest, Tried};
use crate::readings::effects::main_effect;
use crate::readings::{Reading, Readings};

/// How many of the nearest readings are shown.
const NEAREST: usize = 12;

/// What is shown of readings.
pub(super) struct OfReadings {
    rows: RowsOf,
    corner: String,
    readings: &'static Readings,
    closest: Option<&'static Closest>,
    columns: Vec<Column>,
}

/// A column of a table, or a series of a chart.
struct Column {
    label: String,
    look: usize,
    what: Shown,
}

enum Shown {
    Number(Compiled),
    /// In whole percent.
    Short(Compiled),
    /// The source of a choice.
    Source,
}

impl Loading<'_> {
    /// Checks what a chart shows of readings; none if it is about something else.
    pub(super) fn of_readings(&mut self, chart: &Chart) -> Option<OfReadings> {
        let wanted = chart.rows_of.as_ref()?;
        let (rows, range) = (*wanted.get_ref(), wanted.span());
        let look = *chart.kind.get_ref();
        let fits = look == Look::Table || (look == Look::Numbers && rows == RowsOf::Choices);
        let (message, help) = match rows {
            _ if !fits || !chart.over.is_empty() => (
                "rows of readings or choices are those of a table, or of a chart of numbers by choice",
                "choose kind = \"table\", and leave `over` out",
            ),
            RowsOf::Closest if self.document.closest.is_none() => {
                ("there are no numbers to come near to", "write them as [closest]")
            }
            _ if self.document.factor.is_empty() => {
                ("there are no readings of factors", "say what is left open as [[factor]]")
            }
            _ => ("", ""),
        };
        if !message.is_empty() {
            self.compiler.wrong(range, message, help);
            return None;
        }
        let columns = self.columns_of_readings(chart, rows)?;
        // Without readings something else is wrong already.
        let (readings, closest) = (self.readings?, self.closest);
        Some(OfReadings { rows, corner: chart.corner.clone(), readings, closest, columns })
    }

    fn columns_of_readings(&mut self, chart: &Chart, rows: RowsOf) -> Option<Vec<Column>> {
        let series = chart.series.iter().map(|of| (&of.label, of.measure.as_ref(), false, None));
        let columns = chart.column.iter();
        let columns =
            columns.map(|of| (&of.label, of.measure.as_ref(), of.short, of.shows.as_ref()));
        let mut all = Vec::new();
        for (look, (label, measure, short, shows)) in series.chain(columns).enumerate() {
            let is_source = shows.is_some_and(|shows| *shows.get_ref() == Shows::Source);
            let what = match measure {
                None if is_source && rows == RowsOf::Choices => Shown::Source,
                Some(measure) if shows.is_none() => {
                    let compiled = self.compiler.measure(measure)?;
                    if rows == RowsOf::Choices && !compiled.is_change() {
                        let message =
                            format!("`{label}` is no change, and has no effects of choices");
                        let help = "write `from` and `to`: an effect is that on a ratio";
                        self.compiler.wrong(measure.span(), message, help);
                        return None;
                    }
                    if short { Shown::Short(compiled) } else { Shown::Number(compiled) }
                }
                _ => {
                    let message = format!("`{label}` says nothing about readings");
                    let help = "write how it is measured, or of choices shows = \"source\"";
                    self.compiler.wrong(chart.kind.span(), message, help);
                    return None;
                }
            };
            all.push(Column { label: label.clone(), look, what });
        }
        Some(all)
    }
}

impl OfReadings {
    /// The experiments that it shows.
    pub(super) fn experiments(&self, evidence: &Evidence) -> Vec<&'static str> {
        let main = |of: &Reading| of.stands_for[0].1;
        match self.rows {
            RowsOf::Closest => self.nearest(evidence).iter().map(|of| main(&of.reading)).collect(),
            _ => {
                let pairs = self.readings.all().into_iter().flat_map(|of| of.stands_for);
                pairs.map(|(_, is)| is).collect()
            }
        }
    }

    /// The chart or the table.
    pub(super) fn exhibit(&self, of: &Drawing, evidence: &Evidence) -> Exhibit {
        if of.look == Look::Numbers {
            return self.chart(of, evidence);
        }
        let own = self.columns.iter().map(|column| column.label.as_str());
        let mut head = vec![self.corner.as_str()];
        let lines = match self.rows {
            RowsOf::Choices => self.effects(evidence),
            RowsOf::Readings => self.list(evidence),
            RowsOf::Closest => {
                head.extend(["variant", "distance"]);
                head.extend(self.closest.iter().flat_map(|of| of.numbers).map(|of| of.name));
                self.nearest(evidence).iter().map(|tried| self.near(evidence, tried)).collect()
            }
        };
        head.extend(own);
        table(&of.name, &of.caption, &of.note, &head, lines)
    }

    /// All choices but the first of each factor: both by number, and what it is called.
    fn choices(&self) -> impl Iterator<Item = (usize, usize, String)> {
        self.readings.factors.iter().enumerate().flat_map(|(at, factor)| {
            let others = factor.choices.iter().enumerate().skip(1);
            others.map(move |(choice, of)| (at, choice, format!("{}: {}", factor.name, of.name)))
        })
    }

    /// The readings that were run, with the evidence of each.
    fn views(&self, evidence: &Evidence) -> Vec<(Reading, Evidence)> {
        let run = self.readings.judged(evidence).readings.into_iter();
        run.map(|of| (of.clone(), evidence.of_reading(&of.stands_for))).collect()
    }

    /// The logarithms of the ratios of each column, by reading.
    fn logs(&self, evidence: &Evidence) -> (Vec<Reading>, Vec<Vec<Logs>>) {
        let (readings, views): (Vec<Reading>, Vec<Evidence>) =
            self.views(evidence).into_iter().unzip();
        let logs = self.columns.iter().map(|column| match &column.what {
            Shown::Number(of) | Shown::Short(of) => {
                views.iter().map(|view| of.logs_of_change(view)).collect()
            }
            Shown::Source => Vec::new(),
        });
        (readings, logs.collect())
    }

    fn chart(&self, of: &Drawing, evidence: &Evidence) -> Exhibit {
        let (readings, logs) = self.logs(evidence);
        let groups = self.choices().map(|(factor, choice, label)| {
            let entry = |(column, logs): (&Column, &Vec<Logs>)| {
                let effect = main_effect(&readings, logs, factor, choice);
                Entry::new(&column.label, column.look, effect)
            };
            (label, self.columns.iter().zip(&logs).map(entry).collect())
        });
        let axis = of.x.clone();
        rows(&of.name, &of.caption, axis, Mark::Point, &of.note, groups.collect())
    }

    fn effects(&self, evidence: &Evidence) -> Vec<Vec<String>> {
        let (readings, logs) = self.logs(evidence);
        let row = |(factor, choice, label): (usize, usize, String)| {
            let choices = self.readings.factors[factor].choices;
            let cell = |(column, logs): (&Column, &Vec<Logs>)| match column.what {
                Shown::Source => choices[choice].source.to_owned(),
                Shown::Short(_) => short(&main_effect(&readings, logs, factor, choice)),
                Shown::Number(_) => number(&main_effect(&readings, logs, factor, choice)),
            };
            let first = format!("{label} (instead of {})", choices[0].name);
            [first].into_iter().chain(self.columns.iter().zip(&logs).map(cell)).collect()
        };
        self.choices().map(row).collect()
    }

    fn list(&self, evidence: &Evidence) -> Vec<Vec<String>> {
        let row = |(reading, view): (Reading, Evidence)| {
            let cell = |column: &Column| match &column.what {
                Shown::Number(of) => number(&of.measure(&view)),
                Shown::Short(of) => short(&of.measure(&view)),
                Shown::Source => String::new(),
            };
            let words = reading.in_words(self.readings.factors);
            [words].into_iter().chain(self.columns.iter().map(cell)).collect()
        };
        self.views(evidence).into_iter().map(row).collect()
    }

    fn nearest(&self, evidence: &Evidence) -> Vec<Tried> {
        let mut tried = self.closest.map_or_else(Vec::new, |of| of.tried(evidence));
        tried.truncate(NEAREST);
        tried
    }

    fn near(&self, evidence: &Evidence, tried: &Tried) -> Vec<String> {
        let words = tried.reading.in_words(self.readings.factors);
        let numbers = self.closest.map_or_else(Vec::new, |of| of.numbers(evidence, tried));
        let own = [words, tried.variant.to_owned(), format!("{:.2}", tried.distance)];
        own.into_iter().chain(numbers.iter().map(short)).collect()
    }
}
