//! Sections with charts of a study in a folder.

mod draw;
mod lines;
mod matrix;
mod readings;
mod table;

use std::ops::Range;

use floodway_report::chart;
use floodway_report::study::Section;
use floodway_scenario::claims::Measure;
use floodway_scenario::suggest;
use toml::Spanned;

use crate::compile::lists::Pick;
use crate::compile::measure::Compiled;
use crate::evidence::{Case, Evidence};
use crate::flows::FlowGroup;
use crate::plan::{Level, name};

use matrix::Sides;
use readings::OfReadings;

use super::Loading;
use super::answer::Numbers;
use super::document::{self, Axis, Chart, Look, Panel, Rank, Series};

/// How many bins a chart of shares has.
const BINS: usize = 50;

/// A chart, ready to be drawn.
struct Drawing {
    name: String,
    /// The least thorough level at which it is shown.
    from: Level,
    caption: String,
    note: String,
    look: Look,
    x: chart::Axis,
    y: chart::Axis,
    z: chart::Axis,
    /// What the dotted lines of a grid mark.
    level: Option<document::Marked>,
    /// What it shows; of lines, what each of its panels does.
    series: Vec<Drawn>,
    panels: Vec<Sheet>,
    columns: usize,
    height: f64,
    table: Table,
    sides: Option<Sides>,
    readings: Option<OfReadings>,
    bars: bool,
}

/// One chart of lines.
struct Sheet {
    heading: String,
    title: String,
    x: chart::Axis,
    y: chart::Axis,
    /// Whether labels stand at the places of points.
    at_points: bool,
    /// What lines mark on the one and the other.
    marks: Vec<(f64, String)>,
    levels: Vec<(f64, String)>,
    series: Vec<Drawn>,
}

/// Something that a chart shows.
struct Drawn {
    label: String,
    look: Option<usize>,
    /// The looks that settings have of their own, in the order of the combinations.
    looks: Vec<Option<usize>>,
    /// Likewise, if its label names lists: which of their settings, and what the group of these is called.
    groups: Vec<(Vec<usize>, String)>,
    steps: bool,
    claimed: Option<f64>,
    /// Likewise, by combination.
    claimed_of: Vec<Option<f64>>,
    aside: bool,
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
    /// A point for each case, and whether a line joins them.
    Cloud(Compiled, bool),
    /// What small charts show, each with what it is called.
    Grid(Vec<(String, What)>),
    /// A law.
    Law(document::Law),
    /// The tail of the completion times of a group of flows, over all runs of a case.
    Times(FlowGroup, Case),
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

/// A row: its name, its experiment, and what stands in it.
struct TableRow {
    label: String,
    experiment: Option<&'static str>,
    /// Its case, if it is not of the experiment as a whole.
    case: Option<Case>,
    cells: Vec<TableCell>,
}

enum TableCell {
    Number(Compiled),
    /// A change, in whole percent.
    Short(Compiled),
    Text(String),
    /// Of a group of flows, or of all.
    Unfinished(Option<FlowGroup>),
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
    unfinished: Vec<Case>,
    numbers: Numbers,
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
        numbers: Numbers,
    ) -> impl Fn(&Evidence) -> Vec<Section> + Sync + use<> {
        let document = self.document;
        let mut parts = Vec::new();
        for section in &document.section {
            let claims = document.claim.iter().map(|claim| claim.id.get_ref().as_str());
            let checks = document.check.iter().filter_map(|check| check.id.as_deref());
            let ids: Vec<&str> = claims.chain(checks).collect();
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
            for sentence in section.answer.iter().chain(&section.text) {
                self.sentence(sentence, numbers);
            }
            let charts: Vec<Drawing> =
                self.charts(section).iter().filter_map(|chart| self.drawing(chart)).collect();
            let mut experiments: Vec<&'static str> =
                charts.iter().flat_map(Drawing::experiments).collect();
            let sentences = section.answer.iter().chain(&section.text);
            experiments.extend(sentences.flat_map(|of| numbers.experiments(of.get_ref())));
            experiments.dedup();
            let unfinished = section.unfinished.iter().filter_map(|of| self.compiler.case(of));
            let unfinished = unfinished.collect();
            parts.push(Part {
                unfinished,
                name: section.name.clone(),
                heading: section.heading.clone(),
                text: section.text.iter().map(|text| text.get_ref().clone()).collect(),
                claims: section.claims.iter().map(|claim| claim.get_ref().clone()).collect(),
                experiments,
                charts,
                from: section.from.map_or(Level::Quick, Rank::into),
                answer: section.answer.as_ref().map(|answer| answer.get_ref().clone()),
                numbers,
            });
        }
        move |evidence| parts.iter().filter_map(|part| part.section(evidence)).collect()
    }

    /// Checks a chart.
    fn drawing(&mut self, chart: &Chart) -> Option<Drawing> {
        let look = *chart.kind.get_ref();
        let picks = self.compiler.picks(&chart.over, &chart.except)?;
        self.fitting(chart, look)?;
        if chart.rows_of.is_some() {
            let readings = self.of_readings(chart)?;
            return Some(Drawing { readings: Some(readings), ..Self::frame(chart, look) });
        }
        let table = match look {
            Look::Table => self.table(chart, &picks)?,
            _ => Table::default(),
        };
        let series = match look {
            Look::Table => Vec::new(),
            _ if look.is_of_lines() => Vec::new(),
            _ => self.all_series(chart, None, &picks),
        };
        let panels = if look.is_of_lines() { self.panels(chart, &picks) } else { Vec::new() };
        let sides = match look {
            Look::HeatMap | Look::Grid => Some(Sides::new(chart, &picks)),
            _ => None,
        };
        Some(Drawing {
            series,
            columns: chart.columns.unwrap_or(panels.len().max(1)),
            panels,
            table,
            sides,
            ..Self::frame(chart, look)
        })
    }

    /// Refuses lists and axes that do not go with what a chart looks like.
    fn fitting(&mut self, chart: &Chart, look: Look) -> Option<()> {
        let range = chart.kind.span();
        let lists = match look {
            Look::Numbers => 0..=3,
            Look::Table => 0..=2,
            Look::Curve => 0..=1,
            Look::Points | Look::Tail | Look::Shares => 0..=0,
            Look::HeatMap | Look::Grid => 2..=2,
        };
        if !lists.contains(&chart.over.len()) {
            let (message, help) = match look {
                Look::HeatMap | Look::Grid => (
                    format!(
                        "the {} `{}` is over {} lists",
                        if look == Look::Grid { "grid" } else { "heat map" },
                        chart.name,
                        chart.over.len()
                    ),
                    "name two lists of settings in `over`: the first goes down, the second across",
                ),
                _ => (
                    format!("`{}` is over lists of settings", chart.name),
                    "leave `over` out, or name one list for a curve: points have no settings",
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
        let axes = [&chart.x, &chart.y, &chart.z].into_iter().flatten();
        let axes = axes.chain(chart.panel.iter().flat_map(|panel| panel.x.iter().chain(&panel.y)));
        for axis in axes.filter(|axis| axis.log && axis.limits.is_some_and(|of| of[0] <= 0.0)) {
            let message = format!("the logarithmic axis `{}` begins at zero or below", axis.label);
            self.compiler.wrong(
                range.clone(),
                message,
                "its limits are above zero, or leave `log` out",
            );
        }
        if look == Look::HeatMap && chart.series.len() != 1 {
            let message =
                format!("the heat map `{}` has {} series", chart.name, chart.series.len());
            self.compiler.wrong(range, message, "give it one: what its colors show");
            return None;
        }
        Some(())
    }

    /// A chart without what it shows.
    fn frame(chart: &Chart, look: Look) -> Drawing {
        let axis = |of: &Option<Axis>| of.as_ref().map(axis).unwrap_or_default();
        Drawing {
            name: chart.name.clone(),
            from: chart.from.map_or(Level::Quick, Rank::into),
            caption: chart.caption.clone(),
            note: chart.note.clone(),
            look,
            x: axis(&chart.x),
            y: axis(&chart.y),
            z: axis(&chart.z),
            level: chart.y.as_ref().and_then(|axis| axis.marks.first().cloned()),
            series: Vec::new(),
            columns: 1,
            panels: Vec::new(),
            height: chart.height.unwrap_or(300.0),
            table: Table::default(),
            sides: None,
            readings: None,
            bars: chart.bars,
        }
    }

    /// The charts of lines: one, or as many as there are panels.
    fn panels(&mut self, chart: &Chart, picks: &[Pick]) -> Vec<Sheet> {
        let axis = |own: &Option<Axis>, other: &Option<Axis>| {
            own.as_ref().or(other.as_ref()).map(axis).unwrap_or_default()
        };
        if chart.panel.is_empty() {
            return vec![Sheet {
                heading: String::new(),
                title: chart.caption.clone(),
                x: axis(&chart.x, &None),
                y: axis(&chart.y, &None),
                at_points: chart.x.as_ref().is_some_and(|axis| axis.at_points),
                marks: marks(&chart.x),
                levels: marks(&chart.y),
                series: self.all_series(chart, None, picks),
            }];
        }
        let sheet = |panel: &Panel| Sheet {
            heading: panel.heading.clone(),
            title: match &panel.title {
                Some(title) => title.clone(),
                None => format!("{}: {}", chart.caption, panel.heading),
            },
            x: axis(&panel.x, &chart.x),
            y: axis(&panel.y, &chart.y),
            at_points: panel.x.as_ref().or(chart.x.as_ref()).is_some_and(|axis| axis.at_points),
            marks: marks(if panel.x.is_some() { &panel.x } else { &chart.x }),
            levels: marks(if panel.y.is_some() { &panel.y } else { &chart.y }),
            series: self.all_series(chart, panel.measure.as_ref(), picks),
        };
        chart.panel.iter().map(sheet).collect()
    }

    /// Checks what a chart shows, or a panel of it with what it says of all of its lines.
    fn all_series(
        &mut self,
        chart: &Chart,
        common: Option<&Spanned<Measure>>,
        picks: &[Pick],
    ) -> Vec<Drawn> {
        let with = |own: &Series| {
            let common = own.with.iter().fold(common.cloned(), |of, (key, name)| {
                of.map(|of| Pick::of(key, name).measure(&of))
            });
            match (&own.measure, common) {
                (Some(own), Some(common)) => {
                    Some(Spanned::new(own.span(), own.get_ref().or(common.get_ref())))
                }
                // A law and points of somebody else are not measured.
                (None, common) => common.filter(|_| own.law.is_none() && own.points.is_none()),
                (own, None) => own.clone(),
            }
        };
        let of = chart.series.iter().filter_map(|own| self.series(chart, own, with(own), picks));
        of.collect()
    }

    fn series(
        &mut self,
        chart: &Chart,
        series: &Series,
        measure: Option<Spanned<Measure>>,
        picks: &[Pick],
    ) -> Option<Drawn> {
        let look = *chart.kind.get_ref();
        let what = match (&measure, &series.points) {
            (None, None) if look.is_of_lines() && series.law.is_some() => series.law.map(What::Law),
            (None, Some(points)) if look.is_of_lines() => self.points(points).map(What::Points),
            (Some(measure), None) => match look {
                Look::Curve | Look::Points if !measure.get_ref().over.is_empty() => {
                    self.cloud(look, measure)
                }
                Look::Grid => {
                    let shape = if chart.bins.is_some() { Look::Shares } else { Look::Points };
                    let of = |pick: &Pick| {
                        Some((pick.label(), self.points_of(chart, shape, &pick.measure(measure))?))
                    };
                    picks.iter().map(of).collect::<Option<_>>().map(What::Grid)
                }
                Look::Numbers | Look::HeatMap | Look::Table if !chart.over.is_empty() => {
                    let of = |pick: &Pick| {
                        let label = pick.label_beside(&series.label);
                        let measure = self.compiler.measure(&pick.measure(measure))?;
                        Some((label, measure))
                    };
                    picks.iter().map(of).collect::<Option<_>>().map(What::Settings)
                }
                Look::Numbers | Look::HeatMap | Look::Table => {
                    self.compiler.measure(measure).map(What::Number)
                }
                Look::Curve if !picks.is_empty() && !chart.over.is_empty() => {
                    let of = |pick: &Pick| {
                        let measure = self.compiler.measure(&pick.measure(measure))?;
                        Some((self.place(pick, measure_span(series))?, measure))
                    };
                    let all: Option<Vec<(f64, Compiled)>> = picks.iter().map(of).collect();
                    // Lines go from left to right, whatever the order of the list.
                    all.map(|mut all| {
                        all.sort_by(|a, b| a.0.total_cmp(&b.0));
                        What::Curve(all)
                    })
                }
                Look::Curve => self.curve(measure).map(What::Curve),
                Look::Points | Look::Tail | Look::Shares => self.points_of(chart, look, measure),
            },
            _ => {
                let range = measure_span(series);
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
        let looks = picks.iter().map(Pick::look).collect();
        let groups = picks.iter().map(|pick| pick.group(&series.label)).collect();
        let claimed_of = self.claimed_of(series, picks);
        let (claimed, aside) = (series.claimed, series.aside);
        let steps = chart.steps;
        let what = what?;
        Some(Drawn { label, look, looks, groups, steps, claimed, claimed_of, aside, what })
    }

    /// What was claimed of each combination.
    fn claimed_of(&mut self, series: &Series, picks: &[Pick]) -> Vec<Option<f64>> {
        let names: Vec<String> = picks.iter().map(Pick::name).collect();
        for (wanted, number) in &series.claimed_of {
            if !names.contains(wanted) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("`claimed_of` has `{wanted}`, which the chart does not show");
                let help = suggest::remedy(wanted, "settings", &names);
                self.compiler.wrong(number.span(), message, help);
            }
        }
        let of = |name: &String| series.claimed_of.get(name).map(|number| *number.get_ref());
        names.iter().map(of).collect()
    }
}

/// Where a series says how it is measured.
fn measure_span(series: &Series) -> Range<usize> {
    series.measure.as_ref().map_or(0..0, Spanned::span)
}

/// What lines mark on an axis.
fn marks(axis: &Option<Axis>) -> Vec<(f64, String)> {
    axis.iter().flat_map(|axis| &axis.marks).map(|mark| (mark.at, mark.label.clone())).collect()
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
