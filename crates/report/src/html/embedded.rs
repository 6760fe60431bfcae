//! The results alone, as a page for a frame of another page, which shows the scenario itself and runs it
//! again when it changes. What changes at a glance comes first: the answer, the playback, queues,
//! completion times.

use maud::html;

use super::section::Section;
use super::r#type::with_code;
use super::{Page, document, playback};
use crate::{Experiment, Manifest, Summary, words};

/// Sections that are open, in order; others are folded.
const OPEN: [&str; 12] = [
    "congestion",
    "deadlocks",
    "queues",
    "fct-distribution",
    "slowdown",
    "latency",
    "goodput",
    "rates",
    "throughput",
    "delays",
    "pauses",
    "losses",
];

/// The page for a frame.
pub fn embedded(manifest: &Manifest, summary: &Summary, experiment: &Experiment) -> String {
    let page = Page { manifest, summary, experiment };
    let mut sections = page.results();
    let place = |section: &Section| OPEN.iter().position(|id| *id == section.id());
    sections.sort_by_key(|section| place(section).unwrap_or(OPEN.len()));
    let folded = sections.into_iter().map(|section| match place(&section) {
        Some(_) => section,
        None => section.folded(),
    });
    let body = html! {
        header {
            (page.answer())
            @if !summary.caveats.is_empty() {
                details.caveats {
                    summary { "Before you rely on these numbers (" (words::count(summary.caveats.len() as f64)) ")" }
                    ul { @for caveat in &summary.caveats { li { (with_code(caveat)) } } }
                }
            }
        }
        main {
            @for section in folded { (section.html()) }
            (page.guide().html())
        }
    };
    let (style, scripts): (&[&str], &[&str]) = match page.plays() {
        true => (&[playback::STYLE, STYLE], &playback::SCRIPTS),
        false => (&[STYLE], &[]),
    };
    let name = &manifest.scenario.name;
    document((name, name), &summary.order, (style, scripts), body)
}

/// How it differs from a page of its own.
const STYLE: &str = include_str!("embedded.css");
