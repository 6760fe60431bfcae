//! The claims and the verdicts on them.

use std::fmt::Write;

use super::super::r#type::{set, with_code};
use super::rich;
use crate::chart::escape;
use crate::evidence::{Agreement, CHECKS};
use crate::study::{Claim, Part, Study};

/// A verdict's mark, different in shape as well as in colour.
pub(super) fn mark(agreement: impl Into<Agreement>) -> String {
    let agreement = agreement.into();
    let shape = match agreement {
        Agreement::Yes => {
            "<circle class=\"full\" cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"over\" d=\"M4.6 8.4L7 \
             10.8L11.4 5.6\"/>"
        }
        Agreement::Partly => {
            "<circle class=\"ring\" cx=\"8\" cy=\"8\" r=\"6.2\"/><path class=\"full\" d=\"M8 1.8a6.2 \
             6.2 0 0 0 0 12.4Z\"/>"
        }
        Agreement::No => {
            "<rect class=\"full\" x=\"1.2\" y=\"1.2\" width=\"13.6\" height=\"13.6\" rx=\"1.5\"/>\
             <path class=\"over\" d=\"M5 5L11 11M11 5L5 11\"/>"
        }
        Agreement::Open => {
            "<circle class=\"ring dashed\" cx=\"8\" cy=\"8\" r=\"6.2\"/><path class=\"stroke\" d=\"M6.2 \
             6.4a1.8 1.8 0 1 1 2.6 1.6q-.8 .45 -.8 1.2M8 11.2v.3\"/>"
        }
    };
    format!(
        "<svg class=\"verdict {}\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" \
         aria-hidden=\"true\">{shape}</svg>",
        agreement.class()
    )
}

/// How many claims came to which verdict.
pub(super) fn overview(text: &mut String, study: &Study) {
    if study.claims.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "<h2 id=\"claims\">Verdicts on the claims</h2>\n<p>{}. A claim is judged in every reading of \
         its source, by rules that were written down before the runs:</p>\n<div class=\"tally\" aria-hidden=\"true\">",
        study.extent()
    );
    for (verdict, count) in study.counts().into_iter().filter(|(_, count)| *count > 0) {
        let _ = write!(
            text,
            "<span class=\"{}\" style=\"flex-grow:{count}\"><b>{count}</b></span>",
            Agreement::from(verdict).class()
        );
    }
    *text += "</div>\n<ul class=\"verdicts\">\n";
    for (verdict, count) in study.counts() {
        let _ = writeln!(
            text,
            "<li{}>{}<strong>{}</strong><span class=\"muted\">{}</span></li>",
            if count == 0 { " class=\"none\"" } else { "" },
            mark(verdict),
            verdict.counted(count),
            verdict.meaning()
        );
    }
    *text += "</ul>\n";
}

/// All claims, each with its numbers.
pub(super) fn table(text: &mut String, study: &Study) {
    if study.claims.is_empty() {
        return;
    }
    *text += "<table class=\"claims\">\n<thead><tr><th>claim</th><th class=\"text\">what was \
              claimed</th><th>measured</th><th class=\"text\">verdict</th></tr></thead>\n";
    for claim in &study.claims {
        let _ = writeln!(text, "<tbody id=\"claim-{}\">", escape(&claim.id));
        head(text, study, claim);
        for (at, part) in claim.parts.iter().enumerate() {
            row(text, part, at.checked_sub(1).map(|before| &claim.parts[before]));
        }
        *text += "</tbody>\n";
    }
    *text += "</table>\n";
}

/// What cannot fail, last.
pub(super) fn checks(text: &mut String, study: &Study) {
    if study.checks.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "<h2 id=\"checks\">Checks of the set-up</h2>\n<p>{}. {CHECKS}</p>\n\
         <table class=\"claims\">\n<thead><tr><th>check</th>\
         <th class=\"text\">what</th><th>measured</th><th class=\"text\">comparison</th></tr></thead>\n",
        study.checks_hold()
    );
    for parts in study.checks.chunk_by(|a, b| a.id == b.id) {
        let _ = writeln!(text, "<tbody id=\"check-{}\">", escape(&parts[0].id));
        for (at, part) in parts.iter().enumerate() {
            row(text, part, at.checked_sub(1).map(|before| &parts[before]));
        }
        *text += "</tbody>\n";
    }
    *text += "</table>\n";
}

/// The claim itself: the words of its source, what came out, and where it holds.
fn head(text: &mut String, study: &Study, claim: &Claim) {
    let links = evidence(study, &claim.id);
    let source = [set(&claim.source), links].into_iter().filter(|part| !part.is_empty());
    let _ = write!(
        text,
        "<tr class=\"claim\"><th scope=\"row\"><b>{}</b></th><td class=\"text\" colspan=\"2\">\
         <blockquote>{}</blockquote><p class=\"source\">{}</p><p>{}</p>",
        escape(&claim.id),
        set(&claim.quotation),
        source.collect::<Vec<_>>().join(" · "),
        rich(&claim.result)
    );
    let share = claim.share();
    let share = match share.is_empty() {
        true => share,
        false => format!("<span class=\"range\">{}</span>", set(&share)),
    };
    if !claim.condition.is_empty() {
        let _ = write!(text, "<p class=\"remark\">{}</p>", with_code(&claim.condition));
    }
    let _ = writeln!(
        text,
        "</td><td class=\"text judged {}\">{}{}{share}</td></tr>",
        Agreement::from(claim.verdict).class(),
        mark(claim.verdict),
        claim.verdict.name()
    );
}

/// A number. What the one before has said already is not said again.
fn row(text: &mut String, part: &Part, before: Option<&Part>) {
    let new = |of: fn(&Part) -> &str| {
        !of(part).is_empty() && before.is_none_or(|before| of(before) != of(part))
    };
    let name = if part.part.is_empty() { &part.id } else { &part.part };
    let _ = write!(
        text,
        "<tr><th scope=\"row\"><span>{}</span></th><td class=\"text\"><p>{}{}</p>",
        set(name),
        with_code(&part.metric),
        match part.claimed.as_str() {
            "" => String::new(),
            claimed => format!(": <strong>{}</strong>", set(claimed)),
        }
    );
    if !part.remark.is_empty() {
        let _ = write!(text, "<p class=\"remark\">{}</p>", with_code(&part.remark));
    }
    if new(|part| &part.expected) {
        let _ = write!(
            text,
            "<details><summary>expected before the runs</summary>{}</details>",
            with_code(&part.expected)
        );
    }
    *text += "</td>";
    figures(text, part);
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

fn figures(text: &mut String, part: &Part) {
    let value = match part.figures() {
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
        Agreement::from(part.verdict).class(),
        mark(part.verdict),
        part.verdict.name()
    );
}
