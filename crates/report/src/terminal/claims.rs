//! The verdicts on the claims of a study.

use super::{Paint, Style, paint, wrapped};
use crate::evidence::Agreement;
use crate::study::{Claim, Comparison, Part, Study, Verdict};

/// Below the first line of a claim.
const INDENT: usize = 4;

/// Every claim with the verdict and what was measured, how many came to which, what to know about it, what
/// it cost, and last the answer. The numbers one by one are on the page.
pub fn claims(study: &Study, style: Style) -> String {
    let mut text = String::new();
    for violation in &study.violations {
        text += &wrapped(&format!("VIOLATION: {violation}"), style.width, style, Paint::Red);
    }
    for claim in &study.claims {
        text.push('\n');
        text += &self::claim(claim, style);
    }
    if !study.claims.is_empty() {
        text.push('\n');
        text += &counts(study, style);
    }
    if !study.checks.is_empty() {
        text += &checks(study, style);
    }
    let notes = study.notes();
    if !notes.is_empty() {
        text.push('\n');
    }
    for caveat in &notes {
        text += &wrapped(&format!("note: {caveat}"), style.width, style, Paint::Dim);
    }
    text.push('\n');
    let cost = format!("{}; fingerprint {}", study.cost(), study.provenance.fingerprint);
    text += &wrapped(&cost, style.width, style, Paint::Dim);
    if !study.answer.is_empty() {
        text.push('\n');
    }
    for sentence in &study.answer {
        text += &wrapped(sentence, style.width, style, Paint::Bold);
    }
    text
}

/// The claims of a scenario, judged by its own runs: verdict and words of each, then its numbers with what was claimed of
/// them. Empty if it claims nothing.
pub fn run_claims(claims: &[Claim], style: Style) -> String {
    let mut text = String::new();
    for claim in claims {
        let agreement = Agreement::from(claim.verdict);
        let verdict = format!("{} {}", agreement.sign(), claim.verdict.name());
        let painted = paint(&verdict, Some(color(agreement)), style);
        text.push('\n');
        text += &lines(&format!("{} {verdict}", claim.id), 0, style, None)
            .replacen(&verdict, &painted, 1);
        let quotation = format!("\"{}\" ({})", claim.quotation, claim.source);
        text += &lines(&quotation, INDENT, style, Some(Paint::Dim));
        text += &lines(&claim.condition, INDENT, style, None);
        for part in &claim.parts {
            text += &lines(&number(part), INDENT, style, None);
        }
    }
    text
}

/// A number of a claim in a line: what it is, what was measured, what was claimed, and how they compare.
fn number(part: &Part) -> String {
    let name = if part.part.is_empty() { String::new() } else { format!("{}: ", part.part) };
    let measured = match part.figures() {
        Some((value, range)) if range.is_empty() => value,
        Some((value, range)) => format!("{value} {range}"),
        None => "–".to_owned(),
    };
    let claimed = match part.claimed.as_str() {
        "" => String::new(),
        claimed => format!("; claimed: {claimed}"),
    };
    let verdict = match (part.verdict, part.remark.as_str()) {
        (Comparison::CannotJudge, remark) if !remark.is_empty() => remark.to_owned(),
        (verdict, "") => verdict.name().to_owned(),
        (verdict, remark) => format!("{} ({remark})", verdict.name()),
    };
    format!("{name}{}: {measured}{claimed}; {verdict}", part.metric)
}

/// A claim: verdict and name, then the words of the source, where it holds, and what was measured.
fn claim(claim: &Claim, style: Style) -> String {
    let agreement = Agreement::from(claim.verdict);
    let verdict = format!("{} {}", agreement.sign(), claim.verdict.name());
    let share = match claim.share() {
        share if share.is_empty() => share,
        share if claim.verdict == Verdict::HoldsIf => format!(", {share}"),
        share if share.starts_with("in ") => format!(" {share}"),
        share => format!(": {share}"),
    };
    let head = format!("{} {verdict}{share}", claim.id);
    let mut text = lines(&head, 0, style, None).replacen(
        &verdict,
        &paint(&verdict, Some(color(agreement)), style),
        1,
    );
    text += &lines(
        &format!("\"{}\" ({})", claim.quotation, claim.source),
        INDENT,
        style,
        Some(Paint::Dim),
    );
    text += &lines(&claim.condition, INDENT, style, None);
    text + &lines(&claim.result, INDENT, style, None)
}

/// A text, wrapped and moved to the right.
fn lines(text: &str, indent: usize, style: Style, with: Option<Paint>) -> String {
    if text.is_empty() {
        return String::new();
    }
    let room = style.width.saturating_sub(indent).max(1);
    let plain = Style { color: false, ..style };
    let wrapped = wrapped(text, room, plain, Paint::Bold);
    let line = |line: &str| format!("{}{}\n", " ".repeat(indent), paint(line, with, style));
    wrapped.lines().map(line).collect()
}

/// How many claims came to which verdict.
fn counts(study: &Study, style: Style) -> String {
    let counts = study.counts();
    let some = counts.iter().filter(|(_, count)| *count > 0);
    let of = |(verdict, count): &(Verdict, usize)| {
        format!("{} {}", Agreement::from(*verdict).sign(), verdict.counted(*count))
    };
    let list: Vec<String> = some.map(of).collect();
    let text = lines(&format!("{}: {}", study.extent(), list.join(", ")), 0, style, None);
    // Painted after it was wrapped, so that escape sequences take no room.
    counts.into_iter().fold(text, |text, (verdict, count)| {
        let agreement = Agreement::from(verdict);
        let sign = format!("{} {count}", agreement.sign());
        text.replace(&sign, &paint(&sign, Some(color(agreement)), style))
    })
}

/// How many checks hold, and which do not.
fn checks(study: &Study, style: Style) -> String {
    let mut text =
        lines(&format!("{}; checks are not results", study.checks_hold()), 0, style, None);
    let wrong = study.checks.iter().filter(|check| check.verdict == Comparison::NotReproduced);
    for check in wrong {
        let (value, _) = check.figures().unwrap_or_default();
        let expected = match check.claimed.as_str() {
            "" => String::new(),
            claimed => format!(", expected: {claimed}"),
        };
        let line = format!("check {}: {} is {value}{expected}", check.name(), check.metric);
        text += &lines(&line, INDENT, style, Some(Paint::Red));
    }
    text
}

fn color(agreement: Agreement) -> Paint {
    match agreement {
        Agreement::Yes => Paint::Green,
        Agreement::Partly => Paint::Yellow,
        Agreement::No => Paint::Red,
        Agreement::Open => Paint::Dim,
    }
}
