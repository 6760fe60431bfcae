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
use crate::measure::Measured;
use crate::readings::closest::{Closest, Number};
use crate::readings::{Reading, Readings};

/// A number for sentences: a single one, or one for each combination of settings, or for each reading.
pub(super) struct Named {
    name: String,
    /// With what the settings are called; of a single number with nothing.
    measures: Vec<(String, Compiled)>,
    kind: Kind,
}

/// What a number for sentences is of.
#[derive(Clone, Copy)]
enum Kind {
    /// Itself.
    Single,
    /// Settings of lists.
    Settings,
    /// Readings.
    Readings(&'static Readings),
    /// The reading that comes nearest to the numbers of the source.
    Nearest(&'static Closest),
}

/// What a sentence may say of a number over settings: with which it clearly falls, clearly rises, does neither, which were
/// run, and for which there is an interval. `at most 5` is one more.
const WORDS: [&str; 5] = ["falls", "rises", "open", "run", "known"];
/// The word for those that are not above a number.
const AT_MOST: &str = "at most ";
/// What a number does, in words; of settings what it does with each that was run.
const MOVES: &str = "moves";
/// What the nearest reading is called in sentences, and what they may say of it.
const CLOSEST: &str = "closest";
const OF_CLOSEST: [&str; 4] = ["tried", "variant", "reading", "numbers"];

impl Named {
    /// What stands in braces for it, as far as there is a list of that: `mice falls`, and with `#` how many; or `mice`, and
    /// `mice moves`.
    fn words(&self) -> Vec<String> {
        let name = &self.name;
        let words =
            WORDS.iter().flat_map(|word| [format!("{name} {word}"), format!("#{name} {word}")]);
        match self.kind {
            Kind::Single => vec![name.clone(), format!("{name} {MOVES}")],
            Kind::Nearest(_) => OF_CLOSEST.map(|word| format!("{name} {word}")).to_vec(),
            Kind::Readings(_) => words.collect(),
            Kind::Settings => words.chain([format!("{name} {MOVES}")]).collect(),
        }
    }

    /// Whether it knows what stands in braces.
    fn knows(&self, used: &str) -> bool {
        let rest = used.trim_start_matches('#').strip_prefix(self.name.as_str());
        let most = rest.and_then(|rest| rest.strip_prefix(' ')?.strip_prefix(AT_MOST));
        let is_over = matches!(self.kind, Kind::Settings | Kind::Readings(_));
        let is_most = is_over && most.is_some_and(|most| most.parse::<f64>().is_ok());
        is_most || self.words().iter().any(|word| word == used)
    }

    /// What stands there instead.
    fn in_words(&self, used: &str, evidence: &Evidence) -> String {
        let word = used.trim_start_matches('#')[self.name.len()..].trim_start();
        match self.kind {
            Kind::Single => {
                let measured = self.measures[0].1.measure(evidence);
                return if word == MOVES { moves(&measured) } else { number(&measured) };
            }
            Kind::Settings if word == MOVES => return self.each_moves(evidence),
            Kind::Nearest(closest) => return nearest(closest, word, evidence),
            Kind::Settings | Kind::Readings(_) => {}
        }
        let with = self.with(word, evidence);
        match with.as_slice() {
            with if used.starts_with('#') => with.len().to_string(),
            [] => "none".to_owned(),
            with => with.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", "),
        }
    }

    /// What it does with each setting that was run, one after the other.
    fn each_moves(&self, evidence: &Evidence) -> String {
        let of = self.measured(evidence).into_iter();
        let all: Vec<String> =
            of.map(|(label, measured)| format!("{label}: {}", moves(&measured))).collect();
        if all.is_empty() { "not measured".to_owned() } else { all.join("; ") }
    }

    /// The numbers of the settings, or the readings, that were run.
    fn measured(&self, evidence: &Evidence) -> Vec<(String, Measured)> {
        if let Kind::Readings(readings) = self.kind {
            let (_, measure) = &self.measures[0];
            let run = readings.judged(evidence).readings.into_iter();
            let view = |of: &Reading| evidence.of_reading(&of.stands_for);
            return run
                .map(|of| (of.in_words(readings.factors), measure.measure(&view(&of))))
                .collect();
        }
        let run = self.measures.iter().filter(|(_, measure)| measure.was_run(evidence));
        run.map(|(label, measure)| (label.clone(), measure.measure(evidence))).collect()
    }

    /// Those of which a word holds.
    fn with(&self, word: &str, evidence: &Evidence) -> Vec<String> {
        let holds = |(_, measured): &(String, Measured)| {
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
        self.measured(evidence).into_iter().filter(holds).map(|(label, _)| label).collect()
    }

    /// Whether there is a number at all.
    fn is_known(&self, evidence: &Evidence) -> bool {
        match self.kind {
            Kind::Nearest(closest) => !closest.tried(evidence).is_empty(),
            _ => self.measured(evidence).iter().any(|(_, of)| of.value.is_some()),
        }
    }
}

/// What a sentence says of the nearest reading; nothing if there is none.
fn nearest(closest: &Closest, word: &str, evidence: &Evidence) -> String {
    let tried = closest.tried(evidence);
    let Some(best) = tried.first() else { return String::new() };
    match word {
        "tried" => (tried.len() / closest.variants.len()).to_string(),
        "variant" => best.variant.to_owned(),
        "reading" => best.reading.in_words(closest.readings.factors),
        _ => {
            let numbers = closest.numbers.iter().zip(closest.numbers(evidence, best));
            let of = |(of, measured): (&Number, Measured)| {
                format!("{} {} (claimed: {} %)", of.name, number(&measured), of.claimed)
            };
            numbers.map(of).collect::<Vec<_>>().join(", ")
        }
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
            if of.in_readings && (!of.over.is_empty() || document.factor.is_empty()) {
                let message =
                    format!("`{label}` is measured in readings, and there are none of it");
                let help = "say what is left open as [[factor]], and leave `over` out";
                self.compiler.wrong(of.measure.span(), message, help);
                continue;
            }
            let kind = match (of.in_readings, self.readings) {
                (true, Some(readings)) => Kind::Readings(readings),
                (false, _) if of.over.is_empty() => Kind::Single,
                _ => Kind::Settings,
            };
            all.push(Named { name: label.clone(), measures, kind });
        }
        all.extend(self.closest.map(|closest| Named {
            name: CLOSEST.to_owned(),
            measures: Vec::new(),
            kind: Kind::Nearest(closest),
        }));
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
                all.push(Named { name: used.to_owned(), measures, kind: Kind::Single });
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
                None => named().is_some_and(|of| of.is_known(evidence)),
            }
        };
        let mut used = placeholders(sentence).peekable();
        used.peek().is_none() || used.any(is_known)
    }

    /// The experiments of the numbers that have names of their own in a sentence.
    pub(super) fn experiments(self, sentence: &str) -> Vec<&'static str> {
        let named =
            placeholders(sentence).filter_map(|used| self.named.iter().find(|of| of.knows(used)));
        // What is measured in readings is not of the experiments that it names.
        let named = named.filter(|of| !matches!(of.kind, Kind::Readings(_)));
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
