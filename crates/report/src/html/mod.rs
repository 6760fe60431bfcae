//! The page that explains the results: one file that opens offline, without a request to anywhere.
//! Charts are drawn in two widths, and the style sheet shows the one that fits, so that their text
//! stays readable on a narrow screen. Scripts only add to it: without them the page is whole.

mod completion;
mod delays;
mod figure;
mod links;
mod memory;
mod network;
mod playback;
mod provenance;
mod rates;
mod responses;
mod study;
mod sweep;
mod tables;
mod r#type;

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::chart::{self, escape};
use crate::{Experiment, Manifest, Summary};
pub use study::study;
pub use sweep::sweep;

use figure::{Figure, Legend};
pub(crate) use provenance::{shell, typed};
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
    let (style, scripts): (&[&str], &[&str]) = match page.plays() {
        true => (&[playback::STYLE], &playback::SCRIPTS),
        false => (&[], &[]),
    };
    let mut text = begin(&manifest.scenario.name, &manifest.scenario.name, style, scripts);
    page.head(&mut text);
    text += "<main>\n";
    page.guide(&mut text);
    if summary.has_flows() {
        page.changes(&mut text);
        page.times(&mut text);
        page.distributions(&mut text);
    }
    page.delays(&mut text);
    page.throughputs(&mut text);
    page.rates(&mut text);
    page.responses(&mut text);
    page.playback(&mut text);
    page.busy_links(&mut text);
    page.pauses(&mut text);
    page.queues(&mut text);
    page.drops(&mut text);
    page.counters(&mut text);
    page.scenario(&mut text);
    page.provenance(&mut text);
    text += "</main>\n<footer>Made by floodway. This page is one file and needs nothing else; the \
             tables behind it are in the same folder, and <code>dictionary.md</code> says what \
             their columns mean.</footer>\n";
    end(&mut text, scripts);
    text
}

/// What pages do beyond what they show, and `more` that one does: each source is a script of its own,
/// and no other script may run on the page.
fn scripts<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&[include_str!("save.js")], more].concat()
}

/// The hash by which a page's policy knows a script (CSP Level 3, section 2.3.1).
fn hash(script: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)))
}

/// The beginning of a page, up to its body, with more style and more scripts than all pages have. Names
/// of files that it saves begin with `name`.
fn begin(title: &str, name: &str, style: &[&str], more: &[&str]) -> String {
    let hashes: Vec<String> = scripts(more).iter().map(|script| hash(script)).collect();
    let mut text = String::with_capacity(1 << 18);
    let _ = write!(
        text,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src {}\">\n<title>{} · floodway</title>\n<style>\n{}{}{}</style>\n\
         </head>\n<body data-name=\"{}\">\n",
        hashes.join(" "),
        escape(title),
        chart::STYLE,
        include_str!("style.css"),
        style.concat(),
        escape(&slug(name))
    );
    text
}

/// The end of a page: its scripts, and the style of the pictures that they save.
fn end(text: &mut String, more: &[&str]) {
    let _ = writeln!(text, "<template id=\"chart-style\">{}</template>", escape(&chart::style()));
    for script in scripts(more) {
        let _ = writeln!(text, "<script>{script}</script>");
    }
    *text += "</body>\n</html>\n";
}

/// A text as a part of a file's name: other characters than letters, digits, points and underscores
/// become hyphens.
fn slug(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    let letters = text.chars().map(|letter| if plain(letter) { letter } else { '-' });
    let hyphens: String = letters.collect();
    hyphens.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
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
            "Ports wait for each other in a cycle, and would for ever:",
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
            "unfinished",
            "Flows that had not completed when the run ended. They count with the time that they had \
             taken by then, so means are restricted means; changes are over all flows.",
        );
        term("≥", "A lower bound: a percentile that lies among unfinished flows.");
        term(
            "needs 100 flows",
            "A percentile has no interval if a replication has fewer flows than it has parts. Other \
             reasons: <i>all equal</i>, no variation over the replications; <i>too varied</i>, more \
             replications are needed.",
        );
        term(
            "measured interval",
            &format!("Counters, queue depths, waiting times and rates: {}.", self.within()),
        );
        *text += "</dl>\n";
    }

    /// Every variant's name with its look, for charts that do not label each mark.
    fn legend(&self) -> Legend {
        Legend::samples(self.summary.order.iter().cloned().enumerate().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_hash() {
        // The example of CSP Level 3, section 8.3, and what FIPS 180-4 has for `abc`.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
        assert_eq!(hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }

    #[test]
    fn scripts_cannot_be_ended_by_their_own_text() {
        for script in scripts(&playback::SCRIPTS) {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(slug("ci-lossless"), "ci-lossless");
        assert_eq!(slug("a/b: <c> v1.2_x"), "a-b-c-v1.2_x");
    }
}
