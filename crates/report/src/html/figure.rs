//! Figures: charts with a caption, a legend and a note, and with their numbers, so that a script on
//! the page can draw them again to be explored, and save both as files.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, PreEscaped, html};
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};

use super::NARROW;
use super::r#type::{plain, set};
use crate::chart::spans::Spans;
use crate::chart::stack::{Stacks, swatch};
use crate::chart::{
    Axis, Data, Grid, HeatMap, LOOKS, Line, Lines, Mosaic, Paper, Rows, Sheet, called, mosaic,
    sample, stroke, vega,
};
use crate::evidence::{HALF, THIRD, WIDE};

/// A figure without its charts yet.
#[derive(Clone)]
pub(super) struct Figure {
    name: String,
    caption: String,
    legend: Legend,
    note: String,
    choice: &'static str,
    by_variant: bool,
}

/// A figure with its charts.
#[derive(Clone)]
pub struct Drawn {
    about: Figure,
    columns: usize,
    charts: Charts,
}

/// The charts of a figure, all of one kind.
#[derive(Clone)]
enum Charts {
    Rows(Rows),
    Stacks(Stacks),
    Spans(Vec<Spans>),
    Grid(Grid),
    HeatMap(HeatMap),
    Lines(Vec<Lines>),
    Mosaics(Vec<Mosaic>),
}

/// What distinguishes one series from another.
#[derive(Clone, Default)]
pub(super) struct Legend {
    html: Markup,
    /// What series are called, by their looks.
    names: Vec<(usize, String)>,
    kind: Kind,
    by_variant: bool,
}

/// What stands before the name of a series.
#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Sample,
    Stroke,
    Part,
}

impl Legend {
    /// Of series with a sample of each.
    pub fn samples(names: Vec<(usize, String)>) -> Self {
        Self::of(names, sample, Kind::Sample)
    }

    /// Of the variants of a run, which can be hidden on the whole page.
    pub fn variants(names: Vec<(usize, String)>) -> Self {
        Self { by_variant: true, ..Self::samples(names) }
    }

    /// Of series that have neither markers nor dashes.
    pub fn strokes(names: Vec<(usize, String)>) -> Self {
        Self::of(names, stroke, Kind::Stroke)
    }

    /// Of the parts of bars.
    pub fn swatches(names: &[String]) -> Self {
        Self::of(names.iter().cloned().enumerate().collect(), swatch, Kind::Part)
    }

    /// With one series more, whose look is that of none of the others.
    fn add(&mut self, name: &str) -> usize {
        let look = self.names.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
        self.names.push((look, name.to_owned()));
        let drawn = if self.kind == Kind::Stroke { stroke } else { sample };
        let Self { html, .. } = Self::of(self.names.clone(), drawn, self.kind);
        self.html = html;
        look
    }

    fn of(names: Vec<(usize, String)>, drawn: fn(usize) -> String, kind: Kind) -> Self {
        let html = html! {
            @if !names.is_empty() {
                ul.legend {
                    @for (at, name) in &names {
                        li data-look=(at % LOOKS) { (PreEscaped(drawn(*at))) span { (set(name)) } }
                    }
                }
            }
        };
        Self { html, names, kind, by_variant: false }
    }

    /// Of charts of tiles that share a scale, which says what colors mean.
    pub fn steps(scale: &Axis, label: &str) -> Self {
        let html = html! { ul.legend { li { (PreEscaped(mosaic::steps(scale))) (set(label)) } } };
        Self { html, ..Self::default() }
    }

    /// Of charts of one series each, with an area and a line.
    pub fn area_and_line(area: &str, line: &str) -> Self {
        let drawn = sample(1).replace("class=\"marker\"", "class=\"marker\" visibility=\"hidden\"");
        let html = html! {
            ul.legend.plain {
                li {
                    svg width="30" height="12" aria-hidden="true" {
                        g.c1 { rect.area width="30" height="12" {} }
                    }
                    (area)
                }
                li { (PreEscaped(drawn)) (line) }
            }
        };
        Self { html, ..Self::default() }
    }
}

impl Figure {
    /// With a name, fit for file names and the only one of the page, and a caption.
    pub fn new(name: impl Into<String>, caption: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            caption: caption.into(),
            legend: Legend::default(),
            note: String::new(),
            choice: "",
            by_variant: false,
        }
    }

    /// With a legend.
    pub fn legend(self, legend: Legend) -> Self {
        let by_variant = self.by_variant || legend.by_variant;
        Self { legend, by_variant, ..self }
    }

    /// Looks of series are those of variants.
    pub fn by_variant(self) -> Self {
        Self { by_variant: true, ..self }
    }

    /// With a note on how to read it.
    pub fn note(self, note: &str) -> Self {
        Self { note: note.to_string(), ..self }
    }

    /// Where a script runs, one chart at a time, chosen by its heading: what the headings are, in a
    /// noun. All figures of the same noun show the same choice.
    pub fn choice(self, noun: &'static str) -> Self {
        Self { choice: noun, ..self }
    }

    /// Of rows.
    pub fn rows(self, chart: Rows) -> Drawn {
        self.with(1, Charts::Rows(chart))
    }

    /// Of divided bars.
    pub fn stacks(self, chart: Stacks) -> Drawn {
        self.with(1, Charts::Stacks(chart))
    }

    /// Of intervals over time, one chart below the other.
    pub fn spans(self, charts: Vec<Spans>) -> Drawn {
        self.with(1, Charts::Spans(charts))
    }

    /// Of a chart whose cells cannot become narrower; on a narrow screen it scrolls in its figure.
    pub fn grid(self, chart: Grid) -> Drawn {
        self.with(1, Charts::Grid(chart))
    }

    /// The same of a map.
    pub fn heat_map(self, chart: HeatMap) -> Drawn {
        self.with(1, Charts::HeatMap(chart))
    }

    /// Of small charts side by side, at most three in a row.
    pub fn lines(self, columns: usize, charts: Vec<Lines>) -> Drawn {
        self.with(columns, Charts::Lines(charts))
    }

    /// The same of charts of tiles, which fit on every screen as they are.
    pub fn mosaics(self, columns: usize, charts: Vec<Mosaic>) -> Drawn {
        self.with(columns, Charts::Mosaics(charts))
    }

    fn with(self, columns: usize, charts: Charts) -> Drawn {
        Drawn { about: self, columns, charts }
    }
}

impl Drawn {
    /// Its name, the only one of the page.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// What it shows.
    pub fn caption(&self) -> String {
        plain(&self.about.caption)
    }

    /// Its numbers.
    pub fn data(&self) -> Data {
        let names = &self.about.legend.names;
        match &self.charts {
            Charts::Rows(chart) => chart.data(),
            Charts::Stacks(chart) => chart.data(),
            Charts::Grid(chart) => chart.data(names),
            Charts::HeatMap(chart) => chart.data(),
            Charts::Spans(charts) => of_charts(charts, |of| (&of.heading, of.data())),
            Charts::Lines(charts) => of_charts(charts, |of| (&of.heading, of.data(names))),
            Charts::Mosaics(charts) => of_charts(charts, |of| (&of.heading, of.data())),
        }
    }

    /// The headings of its charts, as one types them; empty of one chart without a heading.
    pub fn headings(&self) -> Vec<String> {
        let headings: Vec<&str> = match &self.charts {
            Charts::Lines(charts) => charts.iter().map(|chart| &*chart.heading).collect(),
            Charts::Mosaics(charts) => charts.iter().map(|chart| &*chart.heading).collect(),
            Charts::Spans(charts) => charts.iter().map(|chart| &*chart.heading).collect(),
            _ => Vec::new(),
        };
        headings.into_iter().filter(|heading| !heading.is_empty()).map(typed).collect()
    }

    /// The same with the chart of this heading alone, which then goes without its heading.
    pub fn only(self, heading: &str) -> Self {
        fn only<T>(all: Vec<T>, is_it: impl Fn(&T) -> bool) -> Vec<T> {
            all.into_iter().filter(is_it).collect()
        }
        let charts = match self.charts {
            Charts::Lines(all) => {
                let some = only(all, |chart| typed(&chart.heading) == heading).into_iter();
                Charts::Lines(some.map(|chart| Lines { heading: String::new(), ..chart }).collect())
            }
            Charts::Mosaics(all) => {
                Charts::Mosaics(only(all, |chart| typed(&chart.heading) == heading))
            }
            Charts::Spans(all) => {
                Charts::Spans(only(all, |chart| typed(&chart.heading) == heading))
            }
            other => other,
        };
        Self { charts, columns: 1, ..self }
    }

    /// Adds points to the chart with this heading, or to all. Returns whether there are lines to add them to.
    pub(super) fn add_points(
        &mut self,
        heading: Option<&str>,
        label: &str,
        points: &[(f64, f64)],
    ) -> bool {
        let Charts::Lines(charts) = &mut self.charts else { return false };
        let look = self.about.legend.add(label);
        let is_it = |chart: &&mut Lines| heading.is_none_or(|it| typed(&chart.heading) == it);
        for chart in charts.iter_mut().filter(is_it) {
            let (tooltip, points) = (label.to_owned(), points.to_vec());
            let line = Line { series: look, tooltip, points, scatter: true, ..Line::default() };
            chart.lines.push(line);
        }
        true
    }

    /// As a picture that stands alone, in the size that it has on a page.
    pub fn page(&self) -> Sheet {
        self.sheet(WIDE)
    }

    /// As it is set in a paper: so many charts beside each other as there is room for.
    pub fn paper(&self, paper: Paper) -> Sheet {
        const LEAST: f64 = 220.0;
        let width = paper.pixels();
        let count = self.headings().len().max(1);
        let columns = ((width / LEAST) as usize).clamp(1, 3).min(count);
        let cell = (width - GAP * (columns - 1) as f64) / columns as f64;
        Sheet { charts: self.drawn(cell, cell), columns, paper: Some(paper), ..self.sheet(width) }
    }

    /// Every chart of a single one at a width, of several at that of a cell.
    fn drawn(&self, width: f64, cell: f64) -> Vec<String> {
        match &self.charts {
            Charts::Rows(chart) => vec![chart.svg(width)],
            Charts::Stacks(chart) => vec![chart.svg(width)],
            Charts::Grid(chart) => vec![chart.svg(width)],
            Charts::HeatMap(chart) => vec![chart.svg(width)],
            Charts::Spans(charts) => charts.iter().map(|chart| chart.svg(width)).collect(),
            Charts::Lines(charts) => charts.iter().map(|chart| chart.svg(cell)).collect(),
            Charts::Mosaics(charts) => charts.iter().map(|chart| chart.svg(cell)).collect(),
        }
    }

    /// As a specification of Vega-Lite; none of maps of tiles and of intervals over time.
    pub fn vega(&self) -> Option<Value> {
        let names = &self.about.legend.names;
        let charts = match &self.charts {
            Charts::Rows(chart) => vec![chart.vega()],
            Charts::Stacks(chart) => vec![chart.vega()],
            Charts::Lines(charts) => charts.iter().map(|chart| chart.vega(names)).collect(),
            _ => Vec::new(),
        };
        vega::page(&self.caption(), self.columns, charts)
    }

    /// How wide one of several charts is on a page, where a single one is this wide.
    fn cell(&self, width: f64) -> f64 {
        match self.columns {
            1 => width,
            columns => width_of(columns),
        }
    }

    /// All charts as one picture with caption and legend; where there is one in a row, this wide.
    fn sheet(&self, width: f64) -> Sheet {
        let Figure { legend, .. } = &self.about;
        Sheet {
            caption: self.caption(),
            legend: legend.names.iter().map(|(at, name)| (*at, plain(name))).collect(),
            strokes: legend.kind == Kind::Stroke,
            parts: legend.kind == Kind::Part,
            charts: self.drawn(width, self.cell(width)),
            columns: self.columns,
            paper: None,
        }
    }

    /// What a script needs to draw line charts again, besides their numbers: for each chart its axes
    /// and for each line its name, its look and the number of its points.
    fn live(&self) -> Option<String> {
        let Charts::Lines(charts) = &self.charts else { return None };
        let chart = |of: &Lines| {
            let names = called(&of.lines, &self.about.legend.names);
            let lines = of.lines.iter().zip(names).map(|(line, name)| {
                let kind = match () {
                    () if line.law => "law",
                    () if line.scatter => "scatter",
                    () if line.area => "area",
                    () if line.steps => "steps",
                    () if line.markers => "points",
                    () => "line",
                };
                json!([plain(&name), line.series % LOOKS, kind, line.points.len()])
            });
            let labeled = |of: &[(f64, String)]| -> Vec<Value> {
                of.iter().map(|(at, label)| json!([at, plain(label)])).collect()
            };
            json!({
                "heading": plain(&of.heading),
                "columns": of.columns(),
                "title": plain(&of.title),
                "height": of.height,
                "x": axis(&of.x),
                "y": axis(&of.y),
                "lines": lines.collect::<Vec<_>>(),
                "marks": labeled(&of.marks),
                "levels": labeled(&of.levels),
            })
        };
        Some(Value::from(charts.iter().map(chart).collect::<Vec<_>>()).to_string())
    }

    /// On a page.
    pub fn html(&self) -> Markup {
        let Figure { name, caption, legend, note, choice, by_variant } = &self.about;
        let id = format!("figure-{name}");
        let columns = self.columns;
        let grid = match columns {
            1 => "grid one",
            3 => "grid three",
            _ => "grid",
        };
        let drawn = |svg: &String| PreEscaped(svg.clone());
        html! {
            figure data-name=(name) id=(id) data-columns=(columns) data-by=[by_variant.then_some("variant")]
                data-live=[self.live()]
                data-choice=[Some(choice).filter(|choice| !choice.is_empty())] {
                figcaption { (set(caption)) a.anchor href={ "#" (id) } aria-label="Link to this figure" { "#" } }
                (legend.html)
                div.drawn {
                    @match &self.charts {
                        Charts::Rows(_) | Charts::Stacks(_) | Charts::Spans(_) => {
                            @for (wide, narrow) in self.drawn(WIDE, WIDE).iter().zip(&self.drawn(NARROW, NARROW)) {
                                div.wide { (drawn(wide)) }
                                div.narrow { (drawn(narrow)) }
                            }
                        },
                        Charts::Grid(_) | Charts::HeatMap(_) => {
                            @for chart in &self.drawn(WIDE, WIDE) {
                                div.sideways tabindex="0" { (drawn(chart)) }
                            }
                        },
                        Charts::Lines(_) => {
                            div class=(grid) { @for chart in &self.drawn(WIDE, self.cell(WIDE)) { div { (drawn(chart)) } } }
                        },
                        Charts::Mosaics(_) => {
                            div class={ (grid) " tiles" } {
                                @for chart in &self.drawn(WIDE, self.cell(WIDE)) { div { (drawn(chart)) } }
                            }
                        },
                    }
                }
                @if !note.is_empty() { p { (set(note)) } }
                template { (packed(&self.data().csv())) }
            }
        }
    }
}

fn of_charts<T>(charts: &[T], of: impl Fn(&T) -> (&String, Data)) -> Data {
    let of = |chart: &T| {
        let (heading, data) = of(chart);
        (heading.clone(), data)
    };
    Data::of_charts(charts.iter().map(of).collect())
}

/// A heading with plain spaces.
fn typed(heading: &str) -> String {
    heading.replace('\u{a0}', " ")
}

/// An axis for the script: its label, its unit, whether it is logarithmic, and its ends where given.
fn axis(of: &Axis) -> Value {
    let (low, high) = of.limits.unzip();
    json!([plain(&of.label), of.unit, of.log, low, high])
}

/// A text in the space that a page can spare for it: as zlib (RFC 1950) in base64. Time series have
/// thousands of points, and numbers in full would make a page twice as large.
pub(super) fn packed(text: &str) -> String {
    packed_bytes(text.as_bytes())
}

/// The same of bytes.
pub(super) fn packed_bytes(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(compress_to_vec_zlib(bytes, 9))
}

/// Between charts beside each other, as a sheet has them.
const GAP: f64 = 20.0;

/// How wide a chart is of which so many stand in a row.
fn width_of(columns: usize) -> f64 {
    match columns {
        1 => WIDE,
        3 => THIRD,
        _ => HALF,
    }
}
