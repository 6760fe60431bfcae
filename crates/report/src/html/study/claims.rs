//! The claims and the verdicts on them.

use maud::{Markup, PreEscaped, html};

use super::super::r#type::{raw, rich, set, with_code};
use crate::evidence::{Agreement, CHECKS};
use crate::study::{Claim, Part, Study};

/// A verdict's mark, different in shape as well as in color.
pub(super) fn mark(agreement: impl Into<Agreement>) -> Markup {
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
    html! {
        svg.verdict.(agreement.class()) viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" {
            (PreEscaped(shape))
        }
    }
}

/// How many claims came to which verdict.
pub(super) fn overview(study: &Study) -> Markup {
    if study.claims.is_empty() {
        return html! {};
    }
    let counts = study.counts();
    html! {
        h2 #claims { "Verdicts by claim" a.anchor href="#claims" aria-label="Link to this section" { "#" } }
        p {
            (study.extent()) ". A claim is judged in every reading of its source, by rules that were written down \
             before the runs:"
        }
        div.tally aria-hidden="true" {
            @for (verdict, count) in counts.iter().filter(|(_, count)| *count > 0) {
                span class=(Agreement::from(*verdict).class()) style={ "flex-grow:" (count) } { b { (count) } }
            }
        }
        ul.verdicts {
            @for (verdict, count) in &counts {
                li.none[*count == 0] {
                    (mark(*verdict)) strong { (verdict.counted(*count)) } span.muted { (verdict.meaning()) }
                }
            }
        }
    }
}

/// All claims, each with its numbers.
pub(super) fn table(study: &Study) -> Markup {
    html! {
        @if !study.claims.is_empty() {
            table.claims {
                thead {
                    tr { th { "claim" } th.text { "what was claimed" } th { "measured" } th.text { "verdict" } }
                }
                @for claim in &study.claims {
                    tbody id={ "claim-" (claim.id) } { (head(study, claim)) }
                }
            }
        }
    }
}

/// The claims of a scenario, judged by its own runs: each with all its numbers.
pub(in crate::html) fn of_run(claims: &[Claim]) -> Markup {
    html! {
        p {
            "The scenario claims this of its results, with rules that stand in its file. A claim holds if each of its \
             numbers has the claimed sign or keeps the claimed limit, and if the intervals leave no doubt."
        }
        table.claims {
            thead {
                tr { th { "claim" } th.text { "what was claimed" } th { "measured" } th.text { "verdict" } }
            }
            @for claim in claims {
                tbody id={ "claim-" (claim.id) } {
                    tr.claim {
                        th scope="row" { b { (raw(&claim.id)) } }
                        td.text colspan="2" {
                            blockquote { (set(&claim.quotation)) }
                            p.source { (set(&claim.source)) }
                            @if !claim.condition.is_empty() { p.remark { (with_code(&claim.condition)) } }
                        }
                        td.text.judged.(Agreement::from(claim.verdict).class()) {
                            (mark(claim.verdict)) (claim.verdict.name())
                        }
                    }
                    (rows(&claim.parts))
                }
            }
        }
    }
}

/// What cannot fail, last.
pub(super) fn checks(study: &Study) -> Markup {
    html! {
        @if !study.checks.is_empty() {
            section #checks {
                details {
                    summary { h2 { "Checks of the set-up" } }
                    p { (study.checks_hold()) ". " (CHECKS) }
                    table.claims {
                        thead {
                            tr { th { "check" } th.text { "what" } th { "measured" } th.text { "comparison" } }
                        }
                        @for parts in study.checks.chunk_by(|a, b| a.id == b.id) {
                            tbody id={ "check-" (parts[0].id) } { (rows(parts)) }
                        }
                    }
                }
            }
        }
    }
}

fn rows(parts: &[Part]) -> Markup {
    html! {
        @for (at, part) in parts.iter().enumerate() {
            (row(part, at.checked_sub(1).map(|before| &parts[before])))
        }
    }
}

/// The claim itself: the words of its source, what came out, and where it holds.
fn head(study: &Study, claim: &Claim) -> Markup {
    let sections = study.sections_on(&claim.id);
    let share = claim.share();
    html! {
        tr.claim {
            th scope="row" { b { (raw(&claim.id)) } }
            td.text colspan="2" {
                blockquote { (set(&claim.quotation)) }
                p.source {
                    (set(&claim.source))
                    @if !claim.source.is_empty() && !sections.is_empty() { " · " }
                    @for (at, (number, section)) in sections.iter().enumerate() {
                        @if at > 0 { ", " }
                        a href={ "#" (section.name) } title=(section.question) { "section " (number) }
                    }
                }
                p { (rich(&claim.result)) }
                @if !claim.condition.is_empty() { p.remark { (with_code(&claim.condition)) } }
                details {
                    summary {
                        @match claim.parts.len() { 1 => "1 number", many => { (many) " numbers" } }
                        ", one by one"
                    }
                    table.claims { tbody { (rows(&claim.parts)) } }
                }
            }
            td.text.judged.(Agreement::from(claim.verdict).class()) {
                (mark(claim.verdict)) (claim.verdict.name())
                @if !share.is_empty() { span.range { (set(&share)) } }
            }
        }
    }
}

/// A number. What the one before has said already is not said again.
fn row(part: &Part, before: Option<&Part>) -> Markup {
    let new =
        !part.expected.is_empty() && before.is_none_or(|before| before.expected != part.expected);
    let name = if part.part.is_empty() { &part.id } else { &part.part };
    html! {
        tr {
            th scope="row" { span { (set(name)) } }
            td.text {
                p {
                    (with_code(&part.metric))
                    @if !part.claimed.is_empty() { ": " strong { (set(&part.claimed)) } }
                }
                @if !part.remark.is_empty() { p.remark { (with_code(&part.remark)) } }
                @if new { details { summary { "expected before the runs" } (with_code(&part.expected)) } }
            }
            @match part.figures() {
                Some((value, range)) => td {
                    strong { (set(&value)) }
                    @if !range.is_empty() { span.range { (set(&range)) } }
                },
                None => td.muted { "–" },
            }
            td.text.judged.(Agreement::from(part.verdict).class()) {
                (mark(part.verdict)) (part.verdict.name())
            }
        }
    }
}
