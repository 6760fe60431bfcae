//! Figures: charts with a caption, a legend and a note, and with their numbers, so that a script on
//! the page can save both as files.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;

use super::NARROW;
use super::r#type::set;
use crate::chart::spans::Spans;
use crate::chart::stack::{Stacks, swatch};
use crate::chart::{
    Axis, Data, Grid, HeatMap, Lines, Mosaic, Rows, escape, mosaic, sample, stroke,
};
use crate::evidence::{HALF, THIRD, WIDE};

/// What stands around the charts of a figure.
pub(super) struct Figure {
    name: String,
    caption: String,
    legend: Legend,
    note: String,
}

/// What distinguishes one series from another.
#[derive(Default)]
pub(super) struct Legend {
    html: String,
    /// What series are called, by their looks.
    names: Vec<(usize, String)>,
}

impl Legend {
    /// Of series with a sample of each.
    pub fn samples(names: Vec<(usize, String)>) -> Self {
        Self::of(names, sample)
    }

    /// Of series that have neither markers nor dashes.
    pub fn strokes(names: Vec<(usize, String)>) -> Self {
        Self::of(names, stroke)
    }

    fn of(names: Vec<(usize, String)>, sample: fn(usize) -> String) -> Self {
        let item = |(at, name): &(usize, String)| format!("<li>{}{}</li>", sample(*at), set(name));
        let items: String = names.iter().map(item).collect();
        let html = match items.is_empty() {
            true => items,
            false => format!("<ul class=\"legend\">{items}</ul>"),
        };
        Self { html, names }
    }

    /// Of charts of tiles that share a scale, which says what colours mean.
    pub fn steps(scale: &Axis, label: &str) -> Self {
        let item = format!("<li>{}{}</li>", mosaic::steps(scale), set(label));
        Self { html: format!("<ul class=\"legend\">{item}</ul>"), names: Vec::new() }
    }

    /// Of the parts of bars.
    pub fn swatches(names: &[String]) -> Self {
        let item = |(at, name): (usize, &String)| format!("<li>{}{}</li>", swatch(at), set(name));
        let items: String = names.iter().enumerate().map(item).collect();
        Self { html: format!("<ul class=\"legend\">{items}</ul>"), names: Vec::new() }
    }

    /// Of charts of one series each, with an area and a line.
    pub fn area_and_line(area: &str, line: &str) -> Self {
        let line_sample =
            sample(1).replace("class=\"marker\"", "class=\"marker\" visibility=\"hidden\"");
        let html = format!(
            "<ul class=\"legend plain\"><li><svg width=\"30\" height=\"12\" aria-hidden=\"true\">\
             <g class=\"c1\"><rect class=\"area\" width=\"30\" height=\"12\"/></g></svg>{area}</li>\
             <li>{line_sample}{line}</li></ul>"
        );
        Self { html, names: Vec::new() }
    }
}

impl Figure {
    /// With a name, fit for file names and the only one of the page, and a caption.
    pub fn new(name: impl Into<String>, caption: impl Into<String>) -> Self {
        let (name, caption) = (name.into(), caption.into());
        Self { name, caption, legend: Legend::default(), note: String::new() }
    }

    /// With a legend.
    pub fn legend(self, legend: Legend) -> Self {
        Self { legend, ..self }
    }

    /// With a note on how to read it.
    pub fn note(self, note: &str) -> Self {
        Self { note: note.to_string(), ..self }
    }

    /// Of rows.
    pub fn rows(&self, chart: &Rows) -> String {
        self.html(1, &chart.data(), &both(WIDE, |width| chart.svg(width)))
    }

    /// Of divided bars.
    pub fn stacks(&self, chart: &Stacks) -> String {
        self.html(1, &chart.data(), &both(WIDE, |width| chart.svg(width)))
    }

    /// Of intervals over time, one chart below the other.
    pub fn spans(&self, charts: &[Spans]) -> String {
        let data = |chart: &Spans| (chart.heading.clone(), chart.data());
        let data = Data::of_charts(charts.iter().map(data).collect());
        let charts: String =
            charts.iter().map(|chart| both(WIDE, |width| chart.svg(width))).collect();
        self.html(1, &data, &charts)
    }

    /// Of a chart whose cells cannot become narrower; on a narrow screen it scrolls in its figure.
    pub fn grid(&self, chart: &Grid) -> String {
        self.html(1, &chart.data(&self.legend.names), &sideways(&chart.svg(WIDE)))
    }

    /// The same of a map.
    pub fn heat_map(&self, chart: &HeatMap) -> String {
        self.html(1, &chart.data(), &sideways(&chart.svg(WIDE)))
    }

    /// Of small charts side by side, at most three in a row.
    pub fn lines(&self, columns: usize, charts: &[Lines]) -> String {
        let data = |chart: &Lines| (chart.heading.clone(), chart.data(&self.legend.names));
        let data = Data::of_charts(charts.iter().map(data).collect());
        // On a phone, a half can be enlarged to its width; other widths get a chart drawn for it.
        let draw = |chart: &Lines| match width(columns) {
            HALF => chart.svg(HALF),
            width => both(width, |width| chart.svg(width)),
        };
        self.side_by_side(columns, "", &data, charts.iter().map(draw))
    }

    /// The same of charts of tiles, which fit on every screen as they are.
    pub fn mosaics(&self, columns: usize, charts: &[Mosaic]) -> String {
        let data = |chart: &Mosaic| (chart.heading.clone(), chart.data());
        let data = Data::of_charts(charts.iter().map(data).collect());
        let charts = charts.iter().map(|chart| chart.svg(width(columns)));
        self.side_by_side(columns, " tiles", &data, charts)
    }

    fn side_by_side(
        &self,
        columns: usize,
        kind: &str,
        data: &Data,
        charts: impl Iterator<Item = String>,
    ) -> String {
        let class = match columns {
            1 => " one",
            3 => " three",
            _ => "",
        };
        let cells: String = charts.map(|chart| format!("<div>{chart}</div>")).collect();
        self.html(columns, data, &format!("<div class=\"grid{class}{kind}\">{cells}</div>"))
    }

    /// The figure with these charts, so many in a row, and their numbers.
    fn html(&self, columns: usize, data: &Data, charts: &str) -> String {
        let note = match self.note.is_empty() {
            true => String::new(),
            false => format!("<p>{}</p>", set(&self.note)),
        };
        format!(
            "<figure data-name=\"{}\" data-columns=\"{columns}\">\n<figcaption>{}</figcaption>\n{}\
             {charts}{note}<template>{}</template></figure>\n",
            escape(&self.name),
            set(&self.caption),
            self.legend.html,
            packed(&data.csv())
        )
    }
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

/// How wide a chart is of which so many stand in a row.
fn width(columns: usize) -> f64 {
    match columns {
        1 => WIDE,
        3 => THIRD,
        _ => HALF,
    }
}

/// A rendition of this width, and a narrow one.
fn both(width: f64, draw: impl Fn(f64) -> String) -> String {
    let (wide, narrow) = (draw(width), draw(NARROW));
    format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>")
}

fn sideways(chart: &str) -> String {
    format!("<div class=\"sideways\" tabindex=\"0\">{chart}</div>")
}
