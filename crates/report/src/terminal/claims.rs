//! What came of the claims of a study.

use floodway_machine::printable;

use super::{Paint, Style, padded, paint, width, wrapped};
use crate::study::{Claim, Study, Verdict};

/// Between columns.
const GAP: usize = 2;
/// A verdict with its sign: `× not reproduced`.
const VERDICT: usize = 16;
/// From this width on there is a column for what was measured; below, it has lines of its own.
const WIDE: usize = 96;
/// How many lines a cell of words may take; the page has what is cut.
const HIGH: usize = 4;

/// How wide the columns are.
struct Columns {
    name: usize,
    /// None on a narrow terminal.
    what: Option<usize>,
    claimed: usize,
    measured: usize,
}

/// The answer, every claim with what was measured and the verdict, how many came to which, what
/// to know about it, and what it cost.
pub fn claims(study: &Study, style: Style) -> String {
    let mut text = String::new();
    for violation in &study.violations {
        text += &wrapped(&format!("VIOLATION: {violation}"), style.width, style, Paint::Red);
    }
    for sentence in &study.answer {
        text += &wrapped(sentence, style.width, style, Paint::Bold);
    }
    if !study.claims.is_empty() {
        let columns = columns(study, style.width);
        text.push('\n');
        let what = columns.what.map(|what| padded("what", what));
        let head = [
            Some(padded("claim", columns.name)),
            what,
            Some(padded("claimed", columns.claimed)),
            Some(padded("measured [95 %]", columns.measured)),
            Some("verdict".to_string()),
        ];
        let head: Vec<String> = head.into_iter().flatten().collect();
        text += &paint(&head.join("  "), Some(Paint::Bold), style);
        text.push('\n');
        for (_, parts) in study.grouped() {
            for claim in parts {
                text += &row(claim, &columns, style);
            }
        }
        text.push('\n');
        text += &counts(study, style);
    }
    if !study.caveats.is_empty() {
        text.push('\n');
    }
    for caveat in &study.caveats {
        text += &wrapped(&format!("note: {caveat}"), style.width, style, Paint::Dim);
    }
    text.push('\n');
    let cost = format!("{}; fingerprint {}", study.cost(), study.provenance.fingerprint);
    text += &wrapped(&cost, style.width, style, Paint::Dim);
    text
}

/// The names take what they need up to a limit, and so does what was measured; the rest goes to
/// the words.
fn columns(study: &Study, total: usize) -> Columns {
    let widest = |of: &dyn Fn(&Claim) -> usize| study.claims.iter().map(of).max().unwrap_or(0);
    let wide = total >= WIDE;
    let name = widest(&|claim| width(&claim.name())).clamp(5, if wide { 14 } else { 12 });
    let whole = |claim: &Claim| match claim.figures() {
        Some((value, range)) => width(&value) + 1 + width(&range),
        None => 1,
    };
    let rest = total.saturating_sub(name + VERDICT + 2 * GAP);
    if !wide {
        let claimed = rest.saturating_sub(GAP) * 2 / 5;
        return Columns { name, what: None, claimed, measured: rest.saturating_sub(claimed + GAP) };
    }
    let measured = widest(&whole).clamp(15, rest / 3);
    let words = rest - measured - 2 * GAP;
    let claimed = widest(&|claim| width(&claim.claimed)).clamp(7, words * 2 / 5);
    Columns { name, what: Some(words - claimed), claimed, measured }
}

/// A claim in as many lines as its cells need, and a remark below.
fn row(claim: &Claim, columns: &Columns, style: Style) -> String {
    let mut text = String::new();
    let name = lines(&claim.name(), columns.name);
    let claimed = cut(lines(&claim.claimed, columns.claimed), columns.claimed);
    let measured = measured(claim, columns.measured);
    let verdict = format!("{} {}", claim.verdict.sign(), claim.verdict.name());
    let what = columns.what.map(|room| cut(lines(&claim.metric, room), room));
    if what.is_none() {
        // What is measured comes first, across the other columns.
        let room = style.width.saturating_sub(columns.name + GAP);
        for (at, line) in lines(&claim.metric, room).iter().enumerate() {
            let name = if at == 0 { &claim.id } else { "" };
            text += &padded(name, columns.name + GAP);
            text += line;
            text.push('\n');
        }
    }
    let name = match (&what, claim.part.is_empty()) {
        (None, true) => Vec::new(),
        (None, false) => lines(&claim.part, columns.name),
        (Some(_), _) => name,
    };
    let cells = [Some(&name), what.as_ref(), Some(&claimed), Some(&measured)];
    let widths = [Some(columns.name), columns.what, Some(columns.claimed), Some(columns.measured)];
    let height = cells.iter().flatten().map(|cell| cell.len()).max().unwrap_or(1).max(1);
    for at in 0..height {
        let mut line = String::new();
        for (cell, width) in cells.iter().flatten().zip(widths.iter().flatten()) {
            line += &padded(cell.get(at).map_or("", |text| text), width + GAP);
        }
        if at == 0 {
            line += &paint(&verdict, Some(colour(claim.verdict)), style);
        }
        text += line.trim_end();
        text.push('\n');
    }
    if !claim.remark.is_empty() {
        let indent = columns.name + GAP;
        for line in lines(&claim.remark, style.width.saturating_sub(indent)) {
            text += &" ".repeat(indent);
            text += &paint(&line, Some(Paint::Dim), style);
            text.push('\n');
        }
    }
    text
}

/// What was measured, with its interval beside it or, where there is no room, below.
fn measured(claim: &Claim, columns: usize) -> Vec<String> {
    let Some((value, range)) = claim.figures() else { return vec!["-".to_string()] };
    let whole = format!("{value} {range}").trim_end().to_string();
    if width(&whole) <= columns || range.is_empty() {
        return vec![whole];
    }
    vec![value, range]
}

/// How many claims came to which verdict.
fn counts(study: &Study, style: Style) -> String {
    let counts: Vec<String> = study
        .counts()
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{} {count} {}", verdict.sign(), verdict.name()))
        .collect();
    let text = lines(&format!("{}: {}", study.extent(), counts.join(", ")), style.width).join("\n");
    // Painted after it was wrapped, so that escape sequences take no room.
    let painted = study.counts().into_iter().fold(text, |text, (verdict, count)| {
        let sign = format!("{} {count}", verdict.sign());
        text.replace(&sign, &paint(&sign, Some(colour(verdict)), style))
    });
    painted + "\n"
}

fn colour(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Reproduced => Paint::Green,
        Verdict::SameDirection => Paint::Yellow,
        Verdict::NotReproduced => Paint::Red,
        Verdict::CannotJudge => Paint::Dim,
    }
}

/// As many lines as a cell may have, with an ellipsis where some are missing.
fn cut(mut lines: Vec<String>, columns: usize) -> Vec<String> {
    if lines.len() > HIGH {
        lines.truncate(HIGH);
        let last = &mut lines[HIGH - 1];
        *last = last.chars().take(columns - 1).collect();
        last.push('…');
    }
    lines
}

/// A text in lines of this width; a word that is wider is cut, with an ellipsis.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let text = printable::line(text);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word: String = match width(word) > columns {
            true => word.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
            false => word.to_string(),
        };
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{cut, lines};

    #[test]
    fn a_cell_has_four_lines_at_most() {
        assert_eq!(cut(lines("a b c d", 1), 1), ["a", "b", "c", "d"]);
        assert_eq!(cut(lines("aa bb cc dd ee", 2), 2), ["aa", "bb", "cc", "d…"]);
    }

    #[test]
    fn words_wrap_and_only_what_fits_nowhere_is_cut() {
        assert_eq!(lines("never above XOFF", 11), ["never above", "XOFF"]);
        assert_eq!(lines("unreasonableness at once", 8), ["unreaso…", "at once"]);
        assert_eq!(lines("", 8), Vec::<String>::new());
    }
}
