//! The claims and what came of them.

use std::fmt::Write;

use super::super::r#type::{set, with_code};
use crate::chart::escape;
use crate::study::{Claim, Study, Verdict};

/// A verdict's mark, different in shape as well as in colour.
pub(super) fn mark(verdict: Verdict) -> String {
    let shape = match verdict {
        Verdict::Reproduced => {
            "<circle class=\"full\" cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"over\" d=\"M4.6 8.4L7 \
             10.8L11.4 5.6\"/>"
        }
        Verdict::SameDirection => {
            "<circle class=\"ring\" cx=\"8\" cy=\"8\" r=\"6.2\"/><path class=\"full\" d=\"M8 1.8a6.2 \
             6.2 0 0 0 0 12.4Z\"/>"
        }
        Verdict::NotReproduced => {
            "<rect class=\"full\" x=\"1.2\" y=\"1.2\" width=\"13.6\" height=\"13.6\" rx=\"1.5\"/>\
             <path class=\"over\" d=\"M5 5L11 11M11 5L5 11\"/>"
        }
        Verdict::CannotJudge => {
            "<circle class=\"ring dashed\" cx=\"8\" cy=\"8\" r=\"6.2\"/><path class=\"stroke\" d=\"M6.2 \
             6.4a1.8 1.8 0 1 1 2.6 1.6q-.8 .45 -.8 1.2M8 11.2v.3\"/>"
        }
    };
    format!(
        "<svg class=\"verdict {}\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" \
         aria-hidden=\"true\">{shape}</svg>",
        verdict.class()
    )
}

/// How many claims came to which verdict.
pub(super) fn overview(text: &mut String, study: &Study) {
    if study.claims.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "<h2 id=\"claims\">What came of the claims?</h2>\n<p>{}, judged by what was expected before \
         the runs:</p>\n<div class=\"tally\" aria-hidden=\"true\">",
        study.extent()
    );
    for (verdict, count) in study.counts().into_iter().filter(|(_, count)| *count > 0) {
        let _ = write!(
            text,
            "<span class=\"{}\" style=\"flex-grow:{count}\"><b>{count}</b></span>",
            verdict.class()
        );
    }
    *text += "</div>\n<ul class=\"verdicts\">\n";
    for (verdict, count) in study.counts() {
        let _ = writeln!(
            text,
            "<li{}>{}<strong>{count} {}</strong><span class=\"muted\">{}</span></li>",
            if count == 0 { " class=\"none\"" } else { "" },
            mark(verdict),
            verdict.name(),
            verdict.meaning()
        );
    }
    *text += "</ul>\n";
}

/// All claims, the parts of each together.
pub(super) fn table(text: &mut String, study: &Study) {
    if study.claims.is_empty() {
        return;
    }
    *text += "<table class=\"claims\">\n<thead><tr><th>claim</th><th class=\"text\">what was \
              claimed</th><th>measured</th><th class=\"text\">verdict</th></tr></thead>\n";
    for (id, parts) in study.grouped() {
        let _ = writeln!(text, "<tbody id=\"claim-{}\">", escape(id));
        for (at, claim) in parts.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| parts[before]);
            let links = if at == 0 { evidence(study, id) } else { String::new() };
            row(text, claim, before, &links);
            figures(text, claim);
        }
        *text += "</tbody>\n";
    }
    *text += "</table>\n";
}

/// The name and the claim, with where it was made and where the evidence is. What the part before
/// has said already is not said again.
fn row(text: &mut String, claim: &Claim, before: Option<&Claim>, links: &str) {
    let new = |of: fn(&Claim) -> &str| {
        !of(claim).is_empty() && before.is_none_or(|before| of(before) != of(claim))
    };
    let source = if new(|claim| &claim.source) { set(&claim.source) } else { String::new() };
    let source = [source.as_str(), links].into_iter().filter(|part| !part.is_empty());
    let source = source.collect::<Vec<_>>().join(" · ");
    let part = match claim.part.is_empty() {
        true => String::new(),
        false => format!("<span>{}</span>", set(&claim.part)),
    };
    let _ = write!(
        text,
        "<tr><th scope=\"row\"><b{}>{}</b>{part}</th><td class=\"text\"><p>{}: <strong>{}</strong>\
         </p>",
        if before.is_some() { " class=\"again\"" } else { "" },
        escape(&claim.id),
        with_code(&claim.metric),
        set(&claim.claimed)
    );
    if !source.is_empty() {
        let _ = write!(text, "<p class=\"source\">{source}</p>");
    }
    if !claim.remark.is_empty() {
        let _ = write!(text, "<p class=\"remark\">{}</p>", with_code(&claim.remark));
    }
    if new(|claim| &claim.expected) {
        let _ = write!(
            text,
            "<details><summary>expected before the runs</summary>{}</details>",
            with_code(&claim.expected)
        );
    }
    *text += "</td>";
}

/// Links to the evidence for a claim.
fn evidence(study: &Study, id: &str) -> String {
    let links = study.sections_on(id).into_iter().map(|(number, section)| {
        format!(
            "<a href=\"#{}\" title=\"{}\">section {number}</a>",
            escape(&section.name),
            set(&section.question)
        )
    });
    links.collect::<Vec<_>>().join(", ")
}

fn figures(text: &mut String, claim: &Claim) {
    let value = match claim.figures() {
        Some((value, range)) => {
            let range = match range.is_empty() {
                true => range,
                false => format!("<span class=\"range\">{}</span>", set(&range)),
            };
            format!("<td><strong>{}</strong>{range}</td>", set(&value))
        }
        None => "<td class=\"muted\">–</td>".to_string(),
    };
    let _ = writeln!(
        text,
        "{value}<td class=\"text judged {}\">{}{}</td></tr>",
        claim.verdict.class(),
        mark(claim.verdict),
        claim.verdict.name()
    );
}
