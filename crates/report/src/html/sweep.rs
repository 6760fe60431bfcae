//! The page of a sweep: what was varied, and what it does to the metrics that matter. One file like
//! the page of a run, in the same style.

use std::fmt::Write;

use super::provenance::shell;
use super::study::{STYLE, rich, sections};
use super::r#type::set;
use super::{ALARM, NOTE, begin, end, notice};
use crate::chart::escape;
use crate::sweep::Sweep;
use crate::words;

/// The page.
pub fn sweep(sweep: &Sweep) -> String {
    let mut text = begin(&sweep.scenario, &format!("{}-sweep", sweep.scenario), &[STYLE], &[]);
    head(&mut text, sweep);
    text += "<main>\n";
    grid(&mut text, sweep);
    let all = sweep.sections();
    sections::contents(&mut text, "What changes?", &all);
    for (at, section) in all.iter().enumerate() {
        sections::section(&mut text, "", at + 1, section);
    }
    scenario(&mut text, sweep);
    provenance(&mut text, sweep);
    text += "</main>\n<footer>Made by floodway. This page is one file and needs nothing else; every \
             metric of every run is in the tables beside it.</footer>\n";
    end(&mut text, &[]);
    text
}

fn head(text: &mut String, sweep: &Sweep) {
    let from = &sweep.provenance;
    let date = from.started.split('T').next().unwrap_or("");
    let title = if sweep.question.is_empty() { &sweep.scenario } else { &sweep.question };
    let _ = write!(
        text,
        "<header>\n<p class=\"eyebrow\">sweep of {} · {} · floodway {}</p>\n<h1>{}</h1>\n",
        escape(&sweep.scenario),
        escape(date),
        escape(&from.floodway),
        set(title)
    );
    *text += &notice(
        ALARM,
        "Runs of this sweep break a law that every sound run keeps. Do not use its results; the \
         program has a mistake.",
        &sweep.violations,
    );
    *text += "<ul class=\"answer\">\n";
    for (variant, sentence) in sweep.answers() {
        let look = variant % crate::chart::LOOKS;
        let _ = writeln!(text, "<li class=\"c{look}\">{}</li>", rich(&sentence));
    }
    *text += "</ul>\n";
    *text += &notice(NOTE, "Before you rely on these numbers:", &sweep.caveats);
    *text += "</header>\n";
}

/// What was varied.
fn grid(text: &mut String, sweep: &Sweep) {
    *text += "<h2>What was varied?</h2>\n<dl class=\"terms\">\n";
    for axis in &sweep.axes {
        let _ = writeln!(
            text,
            "<dt><code>{}</code></dt><dd>{}</dd>",
            escape(&axis.path),
            set(&axis.values.join(", "))
        );
    }
    let _ = writeln!(text, "<dt>variants</dt><dd>{}</dd>", set(&sweep.variants.join(", ")));
    let points = match sweep.points.len() {
        1 => "1 point".to_owned(),
        many => format!("{} points", words::count(many as f64)),
    };
    let runs = words::count(sweep.runs.len() as f64);
    let _ = writeln!(text, "<dt>runs</dt><dd>{}</dd>", set(&format!("{runs} at {points}")));
    if sweep.points.len() > 1 {
        let name = sweep.name(sweep.reference.point);
        let origin = sweep.reference.origin.words();
        let reference = format!("<code>{}</code>, {}", escape(&name), set(origin));
        let _ = writeln!(text, "<dt>reference</dt><dd>{reference}</dd>");
    }
    if !sweep.until.is_empty() {
        let _ = writeln!(text, "<dt>repeated until</dt><dd>{}</dd>", set(&sweep.until));
    }
    *text += "</dl>\n";
}

fn scenario(text: &mut String, sweep: &Sweep) {
    if !sweep.text.is_empty() {
        let _ = write!(
            text,
            "<h2>What exactly was simulated?</h2>\n<details><summary>The scenario</summary>\n\
             <pre>{}</pre></details>\n",
            escape(&sweep.text)
        );
    }
}

fn provenance(text: &mut String, sweep: &Sweep) {
    let from = &sweep.provenance;
    *text += "<h2>Where do these numbers come from?</h2>\n<dl class=\"terms\">\n";
    let mut term = |name: &str, value: String| {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{value}</dd>");
    };
    term("program", format!("floodway {}", escape(&from.floodway)));
    if !from.command.is_empty() {
        term("command", format!("<code>{}</code>", escape(&shell(&from.command))));
    }
    term("started", escape(&from.started));
    let reused = match from.reused {
        0 => String::new(),
        some => format!(", {some} of them taken from the cache"),
    };
    term(
        "work",
        set(&format!(
            "{} runs{reused}, {} packet-hops, {} of computing",
            from.runs,
            words::large(from.hops as f64),
            words::time(from.run_s * 1e9)
        )),
    );
    term(
        "fingerprint",
        format!(
            "<code>{}</code>, the same on every machine and with any number of threads",
            escape(&from.fingerprint)
        ),
    );
    *text += "</dl>\n";
}
