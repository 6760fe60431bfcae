//! The page that explains the results: one file that opens offline, without scripts and without
//! a request to anywhere. Charts are drawn in two widths, and the style sheet shows the one that
//! fits, so that their text stays readable on a narrow screen.

mod completion;
mod memory;
mod network;
mod provenance;
mod rates;
mod responses;
mod study;
mod sweep;
mod tables;
mod r#type;

use std::fmt::Write;

use crate::chart::{self, escape};
use crate::evidence::{HALF, THIRD, WIDE};
use crate::{Experiment, Manifest, Summary};
pub use study::study;
pub use sweep::sweep;

pub(crate) use provenance::shell;
pub(crate) use r#type::plain;
use r#type::{emphasised, set, with_code};

/// How wide a chart is on a narrow screen.
const NARROW: f64 = 360.0;

/// What the sections are made from.
pub(crate) struct Page<'a> {
    manifest: &'a Manifest,
    summary: &'a Summary,
    experiment: &'a Experiment,
}

/// The page. Of the manifest it shows what was run; of the summary the numbers; of the experiment
/// the shapes.
pub fn page(manifest: &Manifest, summary: &Summary, experiment: &Experiment) -> String {
    let page = Page { manifest, summary, experiment };
    let mut text = begin(&manifest.scenario.name, &[]);
    page.head(&mut text);
    text += "<main>\n";
    page.guide(&mut text);
    if summary.has_flows() {
        page.changes(&mut text);
        page.times(&mut text);
        page.distributions(&mut text);
    }
    page.throughputs(&mut text);
    page.rates(&mut text);
    page.responses(&mut text);
    page.pauses(&mut text);
    page.queues(&mut text);
    page.drops(&mut text);
    page.counters(&mut text);
    page.scenario(&mut text);
    page.provenance(&mut text);
    text += "</main>\n<footer>Made by floodway. This page is one file and needs nothing else; the \
             tables behind it are in the same folder, and <code>dictionary.md</code> says what \
             their columns mean.</footer>\n</body>\n</html>\n";
    text
}

/// The beginning of a page, up to its body, with more style than all pages have.
fn begin(title: &str, style: &[&str]) -> String {
    let mut text = String::with_capacity(1 << 18);
    let _ = write!(
        text,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<title>{} · floodway</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n",
        escape(title),
        chart::STYLE,
        include_str!("style.css"),
        style.concat()
    );
    text
}

/// A box with a list in it, for what a reader must know first; nothing if there is nothing.
fn notice(attributes: &str, words: &str, list: &[String]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let items: String = list.iter().map(|item| format!("<li>{}</li>", with_code(item))).collect();
    format!("<div {attributes}>{words}<ul>{items}</ul></div>\n")
}

const ALARM: &str = "class=\"alarm\" role=\"alert\"";
const NOTE: &str = "class=\"note\"";

impl Page<'_> {
    fn head(&self, text: &mut String) {
        let scenario = &self.manifest.scenario;
        let question =
            if scenario.question.is_empty() { &scenario.name } else { &scenario.question };
        let date = self.manifest.started.split('T').next().unwrap_or("");
        let _ = write!(
            text,
            "<header>\n<p class=\"eyebrow\">{} · {} · floodway {}</p>\n<h1>{}</h1>\n",
            escape(&scenario.name),
            escape(date),
            escape(&self.manifest.floodway),
            set(question)
        );
        *text += &notice(
            ALARM,
            "These results break a law that every sound run keeps. Do not use them; the program \
             has a mistake.",
            &self.summary.violations,
        );
        *text += &notice(
            ALARM,
            "Ports wait for each other in a circle, and would for ever:",
            &self.summary.deadlocks,
        );
        *text += "<ul class=\"answer\">\n";
        for (at, sentence) in self.summary.answer.iter().enumerate() {
            let name = &self.summary.order[at + 1];
            let rest = sentence.strip_prefix(name.as_str()).unwrap_or(sentence);
            let _ = writeln!(
                text,
                "<li class=\"c{}\"><strong>{}</strong>{}.</li>",
                (at + 1) % chart::LOOKS,
                escape(name),
                emphasised(rest)
            );
        }
        *text += "</ul>\n";
        *text += &notice(NOTE, "Before you rely on these numbers:", &self.summary.caveats);
        *text += "</header>\n";
    }

    fn guide(&self, text: &mut String) {
        *text += "<h2>How to read this</h2>\n<dl class=\"terms\">\n";
        let mut term = |name: &str, meaning: &str| {
            let _ = writeln!(text, "<dt>{name}</dt><dd>{meaning}</dd>");
        };
        for (at, name) in self.summary.order.iter().enumerate() {
            let of = &self.summary.variant(name).summary;
            let role = if at == 0 { "the baseline" } else { "" };
            let gap = if of.is_empty() || role.is_empty() { "" } else { "; " };
            let name =
                format!("<span class=\"legend\">{}{}</span>", chart::sample(at), escape(name));
            term(&name, &format!("{}{gap}{role}", set(of)));
        }
        term(
            "completion time",
            "From a flow's start to the arrival of its last byte (FCT). Less is better.",
        );
        term(
            "slowdown",
            "Completion time over that of the same flow on an idle network: 1 is ideal.",
        );
        term(
            "−63 % [−70, −55]",
            "The change from the baseline with its 95 % confidence interval. Replication <i>r</i> \
             has the same traffic in every variant, so changes are taken within a replication \
             (geometric mean of the ratios, Student's t on their logarithms). An interval that \
             contains 0 leaves open whether there is a change.",
        );
        term(
            "≥",
            "A lower bound: flows had not finished when the run ended, and the mean is over the \
             others.",
        );
        *text += "</dl>\n";
    }

    /// Every variant's name with its look, for charts that do not label each mark.
    fn legend(&self) -> String {
        let mut text = String::from("<ul class=\"legend\">");
        for (at, name) in self.summary.order.iter().enumerate() {
            let _ = write!(text, "<li>{}{}</li>", chart::sample(at), escape(name));
        }
        text + "</ul>"
    }
}

/// A chart that has the column to itself.
fn figure(caption: &str, note: &str, draw: impl Fn(f64) -> String) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<p>{}</p>", set(note)) };
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n<div class=\"wide\">{}</div><div \
         class=\"narrow\">{}</div>{note}</figure>\n",
        set(caption),
        draw(WIDE),
        draw(NARROW)
    )
}

/// A chart whose cells cannot become narrower; on a narrow screen it scrolls in its figure.
fn sideways(caption: &str, legend: &str, note: &str, chart: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<p>{}</p>", set(note)) };
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n{legend}<div class=\"sideways\" tabindex=\"0\">{chart}\
         </div>{note}</figure>\n",
        set(caption)
    )
}

/// Small charts side by side, at most three in a row.
fn grid(
    caption: &str,
    legend: &str,
    note: &str,
    columns: usize,
    charts: &[chart::Lines],
) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<p>{}</p>", set(note)) };
    // On a phone, a half can be enlarged to its width; other widths get a chart drawn for it.
    let (class, width) = match columns {
        1 => (" one", WIDE),
        3 => (" three", THIRD),
        _ => ("", HALF),
    };
    let cell = |chart: &chart::Lines| {
        if width == HALF {
            return format!("<div>{}</div>", chart.svg(HALF));
        }
        let (wide, narrow) = (chart.svg(width), chart.svg(NARROW));
        format!("<div><div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div></div>")
    };
    let charts: String = charts.iter().map(cell).collect();
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n{legend}<div class=\"grid{class}\">{charts}</div>{note}\
         </figure>\n",
        set(caption)
    )
}
