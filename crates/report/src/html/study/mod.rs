//! The page of a study: what was claimed, what came out, and the evidence, as a paper's evaluation
//! section has them. One file like the page of a run, in the same style.

pub(super) mod claims;
pub(super) mod sections;

pub use sections::drawn;

use maud::{Markup, PreEscaped, html};

use super::provenance::{fingerprint, program, typed};
use super::r#type::{raw, rich, set};
use super::{contents, document, notice};
use crate::evidence::VIOLATED;
use crate::study::Study;

/// What this page and that of a sweep have beyond others.
pub(super) const STYLE: &str = include_str!("style.css");

/// The page.
pub fn study(study: &Study) -> String {
    let claims = (!study.claims.is_empty()).then_some(("claims", "Verdicts by claim", false));
    let checks = (!study.checks.is_empty()).then_some(("checks", "Checks of the set-up", true));
    let evidence = study.sections.iter().map(|of| (&*of.name, &*of.question, false));
    let entries = claims
        .into_iter()
        .chain(evidence)
        .chain(checks)
        .chain([("guide", "How to read this page", true), ("provenance", "Provenance", true)]);
    let body = html! {
        (head(study))
        (contents(entries))
        main {
            (claims::overview(study))
            (claims::table(study))
            @for (at, section) in study.sections.iter().enumerate() {
                (sections::section(sections::bears_on(study, section), at + 1, section))
            }
            (claims::checks(study))
            (guide())
            (provenance(study))
        }
        footer {
            "Made by floodway. This page is one file and needs nothing else; the detailed reports that it links to are \
             in the folders beside it."
        }
    };
    document((&study.title, &format!("study-{}", study.study)), &[], (&[STYLE], &[]), body)
}

fn head(study: &Study) -> Markup {
    let from = &study.provenance;
    let date = from.started.split('T').next().unwrap_or("");
    html! {
        header {
            p.eyebrow {
                "study " (raw(&study.study)) " · " (raw(&study.level)) " · " (raw(date)) " · floodway "
                (raw(&from.floodway))
            }
            h1 { (set(&study.title)) }
            p.question { (set(&study.question)) }
            (notice(true, VIOLATED, &study.violations))
            @if !study.answer.is_empty() {
                ul.answer { @for sentence in &study.answer { li.c1 { (rich(sentence)) } } }
            }
            (notice(false, "Before you rely on these numbers:", &study.notes()))
        }
    }
}

/// What marks and numbers mean.
fn guide() -> Markup {
    let terms = [
        (
            "verdict",
            "A source leaves things open. A reading is a choice for each of them. A claim <i>holds in \
             a reading</i> if each of its numbers has the claimed sign there, or stays within the claimed \
             limit, and if the interval leaves no doubt. The verdict is over all readings: <i>in 12 of \
             16 readings</i> means that 16 could be judged. A claim about several experiments of one \
             reading is judged over these experiments. The choices after <i>if</i> are the one or two \
             that best separate the readings in which a claim holds from the others.",
        ),
        (
            "comparison",
            "Of each number in the main reading: <i>reproduced</i> within the tolerance that was \
             written down before the runs, <i>same direction</i> with the claimed sign and another size, \
             <i>not reproduced</i> with the other sign or no effect, <i>cannot judge</i> where the \
             interval is too wide or the source gives too little to compare with.",
        ),
        (
            "−63 % [−70, −55]",
            "A measured value with its 95 % confidence interval over replications. Replication \
             <i>r</i> has the same traffic in every variant, so changes are taken within a \
             replication. If the interval of a change contains 0, there may be no change. A change of \
             more than +400 % is given as a factor: 8.0× is eight times as much.",
        ),
        (
            "<svg class=\"sample\" width=\"18\" height=\"18\" viewBox=\"0 0 18 18\" \
             aria-hidden=\"true\"><path class=\"claimed\" d=\"M9 1L17 9L9 17L1 9Z\"/></svg> claimed",
            "In charts, the value that the source gives. Markers with whiskers are values \
             measured here.",
        ),
        (
            "completion time",
            "From a flow's start to the arrival of its last byte (FCT). Less is better.",
        ),
        ("–", "Not measured, or nothing of the kind happened."),
    ];
    html! {
        section #guide {
            details {
                summary { h2 { "How to read this page" } }
                dl.terms {
                    @for (name, meaning) in terms { dt { (PreEscaped(name)) } dd { (PreEscaped(meaning)) } }
                }
            }
        }
    }
}

fn provenance(study: &Study) -> Markup {
    let from = &study.provenance;
    let threads = if from.threads == 1 { "thread" } else { "threads" };
    html! {
        section #provenance {
            details {
                summary { h2 { "Provenance" } }
                dl.terms {
                    (program(&from.floodway, &typed(&from.command)))
                    dt { "level" } dd { (raw(&study.level)) }
                    @if !study.settings.is_empty() {
                        dt { "changed settings" }
                        dd {
                            @for (at, setting) in study.settings.iter().enumerate() {
                                @if at > 0 { br; }
                                code { (raw(setting)) }
                            }
                        }
                    }
                    dt { "started" } dd { (raw(&from.started)) }
                    dt { "work" } dd { (set(&format!("{}, {} {threads}", study.cost(), from.threads))) }
                    (fingerprint(&from.fingerprint))
                }
            }
        }
    }
}
