//! A study as GitHub-flavoured Markdown, to be kept in a repository beside its charts. The numbers
//! are those of the page, in the same words.

use std::fmt::Write;

use floodway_machine::printable;

use crate::evidence::{Agreement, CHECKS, VERDICTS, VIOLATED, file_name, is_numeric};
use crate::html::{plain, shell, typed};
use crate::study::{Exhibit, Part, Section, Study};

/// The text. It refers to the charts by the names that [`crate::study::files`] gives them.
pub fn study(study: &Study) -> String {
    let mut text = format!("# {}\n\n{}\n", line(&study.title), line(&study.question));
    alert(&mut text, "CAUTION", VIOLATED, &study.violations);
    if !study.answer.is_empty() {
        text.push('\n');
        for sentence in &study.answer {
            let _ = writeln!(text, "- {}", line(sentence));
        }
    }
    alert(&mut text, "NOTE", "Before you rely on these numbers:", &study.notes());
    claims(&mut text, study);
    for (at, section) in study.sections.iter().enumerate() {
        self::section(&mut text, study, at + 1, section);
    }
    checks(&mut text, study);
    provenance(&mut text, study);
    text
}

/// A box with a list in it; nothing if there is nothing.
fn alert(text: &mut String, kind: &str, words: &str, list: &[String]) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n> [!{kind}]\n> {words}\n>");
    for item in list {
        let _ = writeln!(text, "> - {}", line(item));
    }
}

fn claims(text: &mut String, study: &Study) {
    if study.claims.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## Verdicts on the claims\n\n{}:\n", study.extent());
    for (verdict, count) in study.counts() {
        let (counted, meaning) = (verdict.counted(count), verdict.meaning());
        let _ = writeln!(text, "- {} **{counted}** {meaning}", sign(verdict));
    }
    *text += "\n| claim | what was claimed, what was measured | verdict |\n\
              | :-- | :-- | :-- |\n";
    for claim in &study.claims {
        let condition = match claim.condition.is_empty() {
            true => String::new(),
            false => format!("<br>*{}*", line(&claim.condition)),
        };
        let share = match claim.share() {
            share if share.is_empty() => share,
            share => format!("<br>{}", line(&share)),
        };
        let _ = writeln!(
            text,
            "| <a id=\"{}\"></a>**{}** | “{}” ({})<br>{}{condition} | {} {}{share} |",
            anchor(&claim.id),
            line(&claim.id),
            line(&claim.quotation),
            line(&claim.source),
            line(&claim.result),
            sign(claim.verdict),
            claim.verdict.name()
        );
    }
    *text += "\n### Numbers of the main reading\n\n";
    parts(text, &study.claims.iter().flat_map(|claim| &claim.parts).collect::<Vec<_>>());
    *text += "\n<details><summary>Expectations written down before the runs</summary>\n\n";
    for claim in &study.claims {
        // Parts of which the same was said follow each other.
        for same in claim.parts.chunk_by(|a, b| a.expected == b.expected) {
            let names: Vec<&str> = same.iter().map(|part| part.part.as_str()).collect();
            let names = match same.len() == claim.parts.len() {
                true => String::new(),
                false => format!(" {}", line(&names.join(", "))),
            };
            let _ = writeln!(text, "- **{}**{names}: {}", line(&claim.id), line(&same[0].expected));
        }
    }
    *text += "\n</details>\n";
}

/// What cannot fail, last.
fn checks(text: &mut String, study: &Study) {
    if study.checks.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## Checks of the set-up\n\n{}. {CHECKS}\n", study.checks_hold());
    parts(text, &study.checks.iter().collect::<Vec<_>>());
}

/// Numbers in a table.
fn parts(text: &mut String, parts: &[&Part]) {
    *text += "| claim | what | claimed | measured [95 % interval] | comparison |\n\
              | :-- | :-- | :-- | --: | :-- |\n";
    for part in parts {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} {} |",
            format!("**{}** {}", line(&part.id), line(&part.part)).trim_end(),
            what(part),
            line(&part.claimed),
            measured(part),
            sign(part.verdict),
            part.verdict.name()
        );
    }
}

fn sign(of: impl Into<Agreement>) -> &'static str {
    of.into().sign()
}

/// What the number is, and below it what is to be said about it.
fn what(part: &Part) -> String {
    match part.remark.is_empty() {
        true => line(&part.metric),
        false => format!("{}<br>{}", line(&part.metric), line(&part.remark)),
    }
}

/// What was measured, with its interval.
fn measured(part: &Part) -> String {
    match part.figures() {
        Some((value, range)) if range.is_empty() => line(&value),
        Some((value, range)) => format!("**{}** {}", line(&value), line(&range)),
        None => "–".to_string(),
    }
}

fn section(text: &mut String, study: &Study, number: usize, section: &Section) {
    let _ = writeln!(text, "\n## {number}. {}", line(&section.question));
    if !section.answer.is_empty() {
        let _ = writeln!(text, "\n**{}**", line(&section.answer));
    }
    let claims = section.claims.iter().filter_map(|id| {
        let claim = study.claims.iter().find(|of| of.id == *id)?;
        Some(format!("[{}](#{}) {}", line(id), anchor(id), sign(claim.verdict)))
    });
    let claims: Vec<String> = claims.collect();
    if !claims.is_empty() {
        let _ = writeln!(text, "\nEvidence for or against {}.", claims.join(", "));
    }
    for paragraph in &section.text {
        let _ = writeln!(text, "\n{}", line(paragraph));
    }
    for exhibit in &section.exhibits {
        shown(text, section, exhibit);
    }
    if !section.commands.is_empty() {
        let _ = writeln!(
            text,
            "\n<details><summary>Commands that run these experiments alone</summary>\n\n```sh\n{}\n```\n\n</details>",
            printable::text(&section.commands.join("\n"))
        );
    }
}

fn shown(text: &mut String, section: &Section, exhibit: &Exhibit) {
    let note = match exhibit {
        Exhibit::Rows { caption, note, .. }
        | Exhibit::Lines { caption, note, .. }
        | Exhibit::Grid { caption, note, .. }
        | Exhibit::HeatMap { caption, note, .. } => {
            let _ = writeln!(text, "\n![{}]({})", line(caption), file_name(section, exhibit));
            note
        }
        Exhibit::Table { caption, head, rows, note, .. } => {
            let _ = writeln!(text, "\n**{}**\n", line(caption));
            let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            *text += &row(head.iter().map(|cell| line(cell)).collect());
            let rules = (0..head.len()).map(|column| match is_numeric(rows, column) {
                true => "--:".to_string(),
                false => ":--".to_string(),
            });
            *text += &row(rules.collect());
            for cells in rows {
                *text += &row(cells.iter().map(|cell| line(cell)).collect());
            }
            note
        }
    };
    if !note.is_empty() {
        let _ = writeln!(text, "\n<sub>{}</sub>", line(note));
    }
}

fn provenance(text: &mut String, study: &Study) {
    let from = &study.provenance;
    *text += "\n## Provenance\n\n";
    let mut item = |name: &str, value: String| {
        let _ = writeln!(text, "- {name}: {value}");
    };
    item("program", format!("floodway {}", line(&from.floodway)));
    if !from.command.is_empty() {
        item("command", code(&shell(&typed(&from.command))));
    }
    if !study.level.is_empty() {
        item("level", line(&study.level));
    }
    for setting in &study.settings {
        item("changed setting", code(setting));
    }
    item("started", line(&from.started));
    let threads = if from.threads == 1 { "thread" } else { "threads" };
    item("work", line(&format!("{}, {} {threads}", study.cost(), from.threads)));
    if !from.fingerprint.is_empty() {
        item("fingerprint", code(&from.fingerprint));
    }
    if study.claims.is_empty() {
        return;
    }
    let signs = VERDICTS.map(|verdict| format!("{} {}", sign(verdict), verdict.name()));
    let _ = writeln!(
        text,
        "\nVerdicts: {}. Intervals are 95 % confidence intervals over replications. A change of more \
         than +400 % is given as a factor: 8.0× is eight times as much. In charts, a hollow diamond is \
         the value that was claimed.",
        signs.join(", ")
    );
}

/// The name of a claim's place.
fn anchor(id: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("claim-{}", id.chars().map(letter).collect::<String>())
}

/// A text on one line that means nothing to Markdown but `code` in backquotes, set in type.
fn line(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => escaped(&plain(part)),
        _ => code(part),
    });
    parts.collect::<String>().replace('\n', " ")
}

/// Code, also in a table.
pub(crate) fn code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", printable::line(text).replace('|', "\\|"))
}

/// Text without the letters that Markdown or HTML would take for its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.chars().enumerate() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '|' | '*' | '_' | '~' | '`' | '$' => out.extend(['\\', letter]),
            '#' | '-' | '+' if at == 0 && text[1..].starts_with(' ') => out.extend(['\\', letter]),
            // Only what is followed by a bracket is a link.
            ']' if text.contains("](") => out += "\\]",
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_text() {
        assert_eq!(
            line("a | b * c_d ~5 <b> & -3 %"),
            "a \\| b \\* c\\_d \\~5 &lt;b&gt; &amp; −3\u{a0}%"
        );
        assert_eq!(line("-63 % [-70, -55]"), "−63\u{a0}% [−70, −55]");
        assert_eq!(line("see `a|b_c` [x](y)"), "see `a\\|b_c` [x\\](y)");
        assert_eq!(line("# no heading\nand no break"), "\\# no heading and no break");
        assert_eq!(line("a\x1b[2J `b\u{202e}\nc`"), "a\\\\u{1b}[2J `b\\u{202e}\\u{a}c`");
        assert_eq!(anchor("A1.b"), "claim-A1-b");
    }
}
