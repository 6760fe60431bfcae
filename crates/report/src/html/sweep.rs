//! The page of a sweep: what was varied, and what it does to the metrics that matter. One file like
//! the page of a run, in the same style.

use maud::{Markup, html};

use super::provenance::{fingerprint, program};
use super::study::{STYLE, sections};
use super::r#type::{raw, rich, set};
use super::{contents, document, notice};
use crate::chart::LOOKS;
use crate::sweep::Sweep;
use crate::words;

/// The page.
pub fn sweep(sweep: &Sweep) -> String {
    let all = sweep.sections();
    let entries = [("varied", "What was varied", false)]
        .into_iter()
        .chain(all.iter().map(|section| (&*section.name, &*section.question, false)))
        .chain([("scenario", "Scenario", true), ("provenance", "Provenance", true)]);
    let body = html! {
        (head(sweep))
        (contents(entries))
        main {
            (grid(sweep))
            @for (at, section) in all.iter().enumerate() { (sections::section(html! {}, at + 1, section)) }
            (scenario(sweep))
            (provenance(sweep))
        }
        footer {
            "Made by floodway. This page is one file and needs nothing else; every metric of every run is in the tables \
             beside it."
        }
    };
    let name = format!("{}-sweep", sweep.scenario);
    document((&sweep.scenario, &name), &[], (&[STYLE], &[]), body)
}

fn head(sweep: &Sweep) -> Markup {
    let from = &sweep.provenance;
    let date = from.started.split('T').next().unwrap_or("");
    let title = if sweep.question.is_empty() { &sweep.scenario } else { &sweep.question };
    html! {
        header {
            p.eyebrow { "sweep of " (raw(&sweep.scenario)) " · " (raw(date)) " · floodway " (raw(&from.floodway)) }
            h1 { (set(title)) }
            (notice(
                true,
                "Runs of this sweep break a law that every sound run keeps. Do not use its results; the program has a \
                 mistake.",
                &sweep.violations,
            ))
            ul.answer {
                @for (variant, sentence) in sweep.answers() {
                    li class={ "c" (variant % LOOKS) } { (rich(&sentence)) }
                }
            }
            (notice(false, "Before you rely on these numbers:", &sweep.caveats))
        }
    }
}

/// What was varied.
fn grid(sweep: &Sweep) -> Markup {
    let points = match sweep.points.len() {
        1 => "1 point".to_owned(),
        many => format!("{} points", words::count(many as f64)),
    };
    let runs = words::count(sweep.runs.len() as f64);
    html! {
        section #varied {
            h2 { "What was varied" }
            dl.terms {
                @for axis in &sweep.axes { dt { code { (raw(&axis.path)) } } dd { (set(&axis.values.join(", "))) } }
                dt { "variants" } dd { (set(&sweep.variants.join(", "))) }
                dt { "runs" } dd { (set(&format!("{runs} at {points}"))) }
                @if sweep.points.len() > 1 {
                    dt { "reference" }
                    dd {
                        code { (raw(&sweep.name(sweep.reference.point))) } ", "
                        (set(sweep.reference.origin.words()))
                    }
                }
                @if !sweep.until.is_empty() { dt { "repeated until" } dd { (set(&sweep.until)) } }
            }
        }
    }
}

fn scenario(sweep: &Sweep) -> Markup {
    html! {
        section #scenario {
            details { summary { h2 { "Scenario" } } pre { (raw(&sweep.text)) } }
        }
    }
}

fn provenance(sweep: &Sweep) -> Markup {
    let from = &sweep.provenance;
    let reused = match from.reused {
        0 => String::new(),
        some => format!(", {some} of them taken from the cache"),
    };
    let work = format!(
        "{} runs{reused}, {} packet-hops, {} of computing",
        from.runs,
        words::large(from.hops as f64),
        words::time(from.run_s * 1e9)
    );
    html! {
        section #provenance {
            details {
                summary { h2 { "Provenance" } }
                dl.terms {
                    (program(&from.floodway, &from.command))
                    dt { "started" } dd { (raw(&from.started)) }
                    dt { "work" } dd { (set(&work)) }
                    (fingerprint(&from.fingerprint))
                }
            }
        }
    }
}
