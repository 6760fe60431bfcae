//! The page of a study: what was claimed, what came out, and the evidence, as a paper's evaluation
//! section has them. One file like the page of a run, in the same style.

mod claims;
pub(super) mod sections;

use std::fmt::Write;

use super::provenance::{shell, typed};
use super::r#type::{emphasised, set};
use super::{ALARM, NOTE, begin, end, notice};
use crate::chart::escape;
use crate::evidence::VIOLATED;
use crate::study::Study;

/// What this page and that of a sweep have beyond others.
pub(super) const STYLE: &str = include_str!("style.css");

/// The page.
pub fn study(study: &Study) -> String {
    let mut text = begin(&study.title, &format!("study-{}", study.study), &[STYLE], &[]);
    head(&mut text, study);
    text += "<main>\n";
    claims::overview(&mut text, study);
    claims::table(&mut text, study);
    sections::contents(&mut text, "The evidence", &study.sections);
    for (at, section) in study.sections.iter().enumerate() {
        let bears = sections::bears_on(study, section);
        sections::section(&mut text, &bears, at + 1, section);
    }
    claims::checks(&mut text, study);
    guide(&mut text);
    provenance(&mut text, study);
    text += "</main>\n<footer>Made by floodway. This page is one file and needs nothing else; the \
             detailed reports that it links to are in the folders beside it.</footer>\n";
    end(&mut text, &[]);
    text
}

fn head(text: &mut String, study: &Study) {
    let from = &study.provenance;
    let date = from.started.split('T').next().unwrap_or("");
    let _ = write!(
        text,
        "<header>\n<p class=\"eyebrow\">study {} · {} · {} · floodway {}</p>\n<h1>{}</h1>\n\
         <p class=\"question\">{}</p>\n",
        escape(&study.study),
        escape(&study.level),
        escape(date),
        escape(&from.floodway),
        set(&study.title),
        set(&study.question)
    );
    *text += &notice(ALARM, VIOLATED, &study.violations);
    if !study.answer.is_empty() {
        *text += "<ul class=\"answer\">\n";
        for sentence in &study.answer {
            let _ = writeln!(text, "<li class=\"c1\">{}</li>", rich(sentence));
        }
        *text += "</ul>\n";
    }
    *text += &notice(NOTE, "Before you rely on these numbers:", &study.notes());
    *text += "</header>\n";
}

/// What marks and numbers mean.
fn guide(text: &mut String) {
    *text += "<h2>How to read this</h2>\n<dl class=\"terms\">\n";
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
    for (name, meaning) in terms {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{meaning}</dd>");
    }
    *text += "</dl>\n";
}

fn provenance(text: &mut String, study: &Study) {
    let from = &study.provenance;
    *text += "<h2>Provenance</h2>\n<dl class=\"terms\">\n";
    let mut term = |name: &str, value: String| {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{value}</dd>");
    };
    term("program", format!("floodway {}", escape(&from.floodway)));
    if !from.command.is_empty() {
        term("command", format!("<code>{}</code>", escape(&shell(&typed(&from.command)))));
    }
    term("level", escape(&study.level));
    if !study.settings.is_empty() {
        let settings: Vec<String> =
            study.settings.iter().map(|set| format!("<code>{}</code>", escape(set))).collect();
        term("changed settings", settings.join("<br>"));
    }
    term("started", escape(&from.started));
    let threads = if from.threads == 1 { "thread" } else { "threads" };
    term("work", set(&format!("{}, {} {threads}", study.cost(), from.threads)));
    term(
        "fingerprint",
        format!(
            "<code>{}</code>, the same on every machine and with any number of threads",
            escape(&from.fingerprint)
        ),
    );
    *text += "</dl>\n";
}

/// A text with its numbers in bold, its intervals held back, and `code` in backquotes.
pub(super) fn rich(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => emphasised(part),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}
