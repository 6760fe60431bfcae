//! Sentences with numbers in them, and those that say with which settings something falls and rises.

use floodway_scenario::claims::Measure;
use floodway_scenario::suggest;
use toml::Spanned;

use super::Loading;
use crate::claim::Row;
use crate::compile::lists::placeholders;
use crate::compile::{self, measure::Compiled};
use crate::evidence::Evidence;
use crate::exhibit::{moves, number};

/// A number for sentences: a single one, or one for each combination of settings.
pub(super) struct Named {
    name: String,
    /// With what the settings are called; of a single number with nothing.
    measures: Vec<(String, Compiled)>,
    is_over: bool,
}

/// What a sentence may say of a number over settings: with which it clearly falls, clearly rises, does neither, which were
/// run, and for which there is an interval. `at most 5` is one more.
const WORDS: [&str; 5] = ["falls", "rises", "open", "run", "known"];
/// The word for those that are not above a number.
const AT_MOST: &str = "at most ";
/// What a number does, in words.
const MOVES: &str = "moves";

impl Named {
    /// What stands in braces for it, as far as there is a list of that: `mice falls`, and with `#` how many; or `mice`, and
    /// `mice moves`.
    fn words(&self) -> Vec<String> {
        let name = &self.name;
        match self.is_over {
            true => WORDS
                .iter()
                .flat_map(|word| [format!("{name} {word}"), format!("#{name} {word}")])
                .collect(),
            false => vec![name.clone(), format!("{name} {MOVES}")],
        }
    }

    /// Whether it knows what stands in braces.
    fn knows(&self, used: &str) -> bool {
        let rest = used.trim_start_matches('#').strip_prefix(self.name.as_str());
        let most = rest.and_then(|rest| rest.strip_prefix(' ')?.strip_prefix(AT_MOST));
        let is_most = self.is_over && most.is_some_and(|most| most.parse::<f64>().is_ok());
        is_most || self.words().iter().any(|word| word == used)
    }

    /// What stands there instead.
    fn in_words(&self, used: &str, evidence: &Evidence) -> String {
        let word = used.trim_start_matches('#')[self.name.len()..].trim_start();
        if !self.is_over {
            let measured = self.measures[0].1.measure(evidence);
            return if word == MOVES { moves(&measured) } else { number(&measured) };
        }
        let with = self.with(word, evidence);
        match with.as_slice() {
            with if used.starts_with('#') => with.len().to_string(),
            [] => "none".to_owned(),
            with => with.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", "),
        }
    }

    /// The settings of which a word holds.
    fn with(&self, word: &str, evidence: &Evidence) -> Vec<&str> {
        let run = self.measures.iter().filter(|(_, measure)| measure.was_run(evidence));
        let holds = |(_, measure): &&(String, Compiled)| {
            let measured = measure.measure(evidence);
            let bounds = measured.bounds();
            let (falls, rises) =
                bounds.map_or((false, false), |(low, high)| (high < 0.0, low > 0.0));
            match word {
                "falls" => falls,
                "rises" => rises,
                "open" => !falls && !rises,
                "known" => bounds.is_some(),
                word => match word.strip_prefix(AT_MOST).map(str::parse::<f64>) {
                    Some(Ok(most)) => measured.value.is_some_and(|value| value <= most),
                    _ => true,
                },
            }
        };
        run.filter(holds).map(|(label, _)| label.as_str()).collect()
    }
}

impl Loading<'_> {
    /// The numbers for sentences.
    pub(super) fn named(&mut self) -> &'static [Named] {
        let document = self.document;
        let mut all = Vec::new();
        for (label, of) in &document.measure {
            let Some(picks) = self.compiler.picks(&of.over, &of.except) else { continue };
            let mut measures = Vec::new();
            for pick in picks {
                let Some(measure) = self.compiler.measure(&pick.measure(&of.measure)) else {
                    break;
                };
                measures.push((pick.label(), measure));
            }
            let is_over = !of.over.is_empty();
            all.push(Named { name: label.clone(), measures, is_over });
        }
        all.extend(self.of_cases());
        compile::all(all)
    }

    /// The numbers that sentences name by a quantity and a case: `{delay main/red}`.
    fn of_cases(&mut self) -> Vec<Named> {
        let document = self.document;
        let of_sections = document.section.iter().flat_map(|of| of.answer.iter().chain(&of.text));
        let of_claims = document.claim.iter().filter_map(|of| of.result.as_ref());
        let mut all: Vec<Named> = Vec::new();
        for sentence in document.answer.iter().chain(of_sections).chain(of_claims) {
            for used in placeholders(sentence.get_ref()) {
                let used = used.strip_suffix(MOVES).map_or(used, str::trim_end);
                let Some((quantity, case)) = used.split_once(' ') else { continue };
                let is_known = all.iter().any(|of| of.name == used);
                if is_known
                    || !self.compiler.quantities.contains_key(quantity)
                    || !case.contains('/')
                {
                    continue;
                }
                let spanned = |text: &str| Some(Spanned::new(sentence.span(), text.to_owned()));
                let measure = Measure {
                    quantity: spanned(quantity),
                    of: spanned(case),
                    ..Measure::default()
                };
                let Some(measure) = self.compiler.measure(&Spanned::new(sentence.span(), measure))
                else {
                    continue;
                };
                let measures = vec![(String::new(), measure)];
                all.push(Named { name: used.to_owned(), measures, is_over: false });
            }
        }
        all
    }

    /// Checks what stands in the braces of a sentence.
    pub(super) fn sentence(&mut self, sentence: &toml::Spanned<String>, numbers: Numbers) {
        let of_rows = numbers.rows.iter().map(row_name);
        if sentence.get_ref().split('{').skip(1).any(|rest| !rest.contains('}')) {
            let help = "write `}` behind the name of the number";
            self.compiler.wrong(sentence.span(), "a brace of this sentence is not closed", help);
        }
        for used in placeholders(sentence.get_ref()) {
            let of_row = of_rows.clone().any(|name| of_row(used, &name).is_some());
            let known = of_row || numbers.named.iter().any(|of| of.knows(used));
            if !known && self.compiler.problems.is_empty() {
                let words = numbers.named.iter().flat_map(Named::words);
                let names: Vec<String> = of_rows.clone().chain(words).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
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
        numbers: Numbers,
    ) -> impl Fn(&Evidence) -> Vec<String> + Sync + use<> {
        let document = self.document;
        for sentence in &document.answer {
            self.sentence(sentence, numbers);
        }
        let sentences: Vec<String> =
            document.answer.iter().map(|sentence| sentence.get_ref().clone()).collect();
        move |evidence| {
            if sentences.is_empty() {
                let judged = numbers.rows.iter().filter(|row| !row.is_check());
                let of = judged.map(|row| (row, (row.measure)(evidence)));
                let told = |(row, measured): (&Row, crate::Measured)| match measured.unit {
                    "%" => format!("{}: {} {}.", row_name(row), row.metric, moves(&measured)),
                    _ => format!("{}: {}: {}.", row_name(row), row.metric, number(&measured)),
                };
                return of.map(told).collect();
            }
            let known = sentences.iter().filter(|sentence| numbers.any_known(sentence, evidence));
            known.map(|sentence| numbers.filled(sentence, evidence)).collect()
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

/// Whether a number of this name stands in braces: none if not, or whether in words.
fn of_row(used: &str, name: &str) -> Option<bool> {
    let rest = used.strip_prefix(name)?;
    [("", false), (" moves", true)].into_iter().find(|(word, _)| *word == rest).map(|of| of.1)
}

/// The numbers that sentences may name.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub rows: &'static [Row],
    pub named: &'static [Named],
}

impl Numbers {
    /// Whether a sentence says anything: it has no numbers, or one of them at least was measured.
    fn any_known(self, sentence: &str, evidence: &Evidence) -> bool {
        let is_known = |used: &str| {
            let row = self.rows.iter().find(|row| of_row(used, &row_name(row)).is_some());
            let named = || self.named.iter().find(|of| of.knows(used));
            match row {
                Some(row) => (row.measure)(evidence).value.is_some(),
                None => named().is_some_and(|of| {
                    of.measures.iter().any(|(_, of)| of.measure(evidence).value.is_some())
                }),
            }
        };
        let mut used = placeholders(sentence).peekable();
        used.peek().is_none() || used.any(is_known)
    }

    /// The experiments of the numbers that have names of their own in a sentence.
    pub(super) fn experiments(self, sentence: &str) -> Vec<&'static str> {
        let named =
            placeholders(sentence).filter_map(|used| self.named.iter().find(|of| of.knows(used)));
        let measures = named.flat_map(|of| &of.measures);
        measures.flat_map(|(_, of)| of.cases()).map(|case| case.experiment).collect()
    }

    /// A sentence with numbers in place of names.
    pub(super) fn filled(self, sentence: &str, evidence: &Evidence) -> String {
        let mut text = sentence.to_owned();
        for used in placeholders(sentence) {
            let mut rows = self.rows.iter();
            let of_rows = rows.find_map(|row| {
                let in_words = of_row(used, &row_name(row))?;
                let measured = (row.measure)(evidence);
                Some(if in_words { moves(&measured) } else { number(&measured) })
            });
            let named = || self.named.iter().find(|of| of.knows(used));
            let value = of_rows.or_else(|| Some(named()?.in_words(used, evidence)));
            if let Some(value) = value {
                text = text.replace(&format!("{{{used}}}"), &value);
            }
        }
        text
    }
}
