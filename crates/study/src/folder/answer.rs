//! The sentences of the answer, and those that say with which settings something falls and rises.

use floodway_scenario::suggest;

use super::Loading;
use crate::claim::Row;
use crate::compile::all;
use crate::compile::measure::Compiled;
use crate::evidence::Evidence;
use crate::exhibit::{moves, number};

/// A change over lists of settings.
pub(super) struct Change {
    name: String,
    /// With what the settings are called.
    measures: Vec<(String, Compiled)>,
}

/// What a sentence may say of a change: with which settings it clearly falls, clearly rises, does neither, which were
/// run, and for which there is an interval.
const WORDS: [&str; 5] = ["falls", "rises", "open", "run", "known"];

impl Change {
    /// What stands in braces for it: `mice falls`, and with `#` how many.
    fn words(&self) -> impl Iterator<Item = String> {
        let of = |word: &&str| [format!("{} {word}", self.name), format!("#{} {word}", self.name)];
        WORDS.iter().flat_map(of)
    }

    /// The settings of which a word holds.
    fn with(&self, word: &str, evidence: &Evidence) -> Vec<&str> {
        let run = self.measures.iter().filter(|(_, measure)| measure.was_run(evidence));
        let holds = |(_, measure): &&(String, Compiled)| {
            let bounds = measure.measure(evidence).bounds();
            let (falls, rises) =
                bounds.map_or((false, false), |(low, high)| (high < 0.0, low > 0.0));
            match word {
                "falls" => falls,
                "rises" => rises,
                "open" => !falls && !rises,
                "known" => bounds.is_some(),
                _ => true,
            }
        };
        run.filter(holds).map(|(label, _)| label.as_str()).collect()
    }

    /// The same in words: names in quotes, or how many.
    fn in_words(&self, word: &str, evidence: &Evidence, counted: bool) -> String {
        let with = self.with(word, evidence);
        match with.as_slice() {
            with if counted => with.len().to_string(),
            [] => "none".to_owned(),
            with => with.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", "),
        }
    }
}

impl Loading<'_> {
    /// The changes of which sentences say with which settings they fall and rise.
    pub(super) fn changes(&mut self) -> &'static [Change] {
        let document = self.document;
        let mut changes = Vec::new();
        for (label, of) in &document.change {
            let Some(picks) = self.compiler.picks(&of.over) else { continue };
            let mut measures = Vec::new();
            for pick in picks {
                let Some(measure) = self.compiler.measure(&pick.measure(&of.measure)) else {
                    break;
                };
                if !measure.is_of_two() {
                    let message = format!("`{label}` is of one case, and a change is of two");
                    let help = "write `from` and `to` in place of `of`";
                    self.compiler.wrong(of.measure.span(), message, help);
                    break;
                }
                measures.push((pick.label(), measure));
            }
            changes.push(Change { name: label.clone(), measures });
        }
        all(changes)
    }

    /// Checks what stands in the braces of a sentence.
    pub(super) fn sentence(
        &mut self,
        sentence: &toml::Spanned<String>,
        rows: &'static [Row],
        changes: &'static [Change],
    ) {
        let of_changes = changes.iter().flat_map(Change::words);
        let known: Vec<String> = rows.iter().map(row_name).chain(of_changes).collect();
        for used in placeholders(sentence.get_ref()) {
            if !known.iter().any(|name| name == used) && self.compiler.problems.is_empty() {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                let message = format!("`{{{used}}}` is no number of a claim");
                self.compiler.wrong(
                    sentence.span(),
                    message,
                    suggest::remedy(used, "numbers", &names),
                );
            }
        }
    }

    /// The sentences of the answer, with numbers in them; by default what became of each number.
    pub(super) fn answer(
        &mut self,
        rows: &'static [Row],
        changes: &'static [Change],
    ) -> impl Fn(&Evidence) -> Vec<String> + Sync + use<> {
        let document = self.document;
        for sentence in &document.answer {
            self.sentence(sentence, rows, changes);
        }
        let sentences: Vec<String> =
            document.answer.iter().map(|sentence| sentence.get_ref().clone()).collect();
        move |evidence| {
            if sentences.is_empty() {
                let judged = rows.iter().filter(|row| !row.is_check());
                let of = judged.map(|row| (row, (row.measure)(evidence)));
                let told = |(row, measured): (&Row, crate::Measured)| match measured.unit {
                    "%" => format!("{}: {} {}.", row_name(row), row.metric, moves(&measured)),
                    _ => format!("{}: {}: {}.", row_name(row), row.metric, number(&measured)),
                };
                return of.map(told).collect();
            }
            sentences.iter().map(|sentence| filled(sentence, rows, changes, evidence)).collect()
        }
    }
}

/// What a number is called in braces.
fn row_name(row: &Row) -> String {
    match row.part {
        "" => row.id.to_owned(),
        part => format!("{}/{part}", row.id),
    }
}

/// A sentence with numbers in place of names.
pub(super) fn filled(
    sentence: &str,
    rows: &[Row],
    changes: &[Change],
    evidence: &Evidence,
) -> String {
    let mut text = sentence.to_owned();
    for row in rows {
        let place = format!("{{{}}}", row_name(row));
        if text.contains(&place) {
            text = text.replace(&place, &number(&(row.measure)(evidence)));
        }
    }
    for change in changes {
        for word in WORDS {
            for (mark, counted) in [("", false), ("#", true)] {
                let place = format!("{{{mark}{} {word}}}", change.name);
                if text.contains(&place) {
                    text = text.replace(&place, &change.in_words(word, evidence, counted));
                }
            }
        }
    }
    text
}

/// What stands in braces.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}
