//! Readings of a design over factors, and the search for the one that comes nearest to the numbers of the source.

use std::collections::BTreeSet;

use floodway_scenario::suggest;
use toml::Spanned;

use super::{Loading, document};
use crate::compile::lists::Pick;
use crate::compile::{all, kept};
use crate::evidence::Evidence;
use crate::leaves::leaves;
use crate::plan::{Experiment, Level, name};
use crate::readings::closest::{Closest, Number};
use crate::readings::{Choice, Factor, Network, Readings, of_each};

/// What stands for a variant in the numbers that the search is to come near to.
const VARIANT: &str = "variant";
/// The variants that have a table of settings, by the table.
type Having = &'static [(&'static str, &'static [&'static str])];

impl Loading<'_> {
    /// The readings, if anything is left open.
    pub(super) fn design(&mut self) -> Option<&'static Readings> {
        let document = self.document;
        let factors = self.factors();
        let mut named = BTreeSet::new();
        for of in document.readings_of.iter().filter(|of| !named.insert(of.get_ref())) {
            let message = format!("`{}` is there twice", of.get_ref());
            self.compiler.wrong(of.span(), message, "name each experiment once");
        }
        let wanted = document.readings_of.iter();
        let networks: Vec<Network> = wanted.filter_map(|of| self.network(of, &factors)).collect();
        if factors.is_empty() && document.readings_of.is_empty() {
            return None;
        }
        if document.readings_of.is_empty() || factors.is_empty() {
            let message = "`factor` and `readings_of` go together, and one of them is missing";
            self.compiler.wrong(0..0, message, "name the experiments that are run in every reading, as in readings_of = [\"main\"]");
            return None;
        }
        self.settings_of_each(&factors, &networks);
        self.choices();
        if !self.compiler.problems.is_empty() {
            return None;
        }
        Some(kept(Readings {
            factors: all(factors),
            networks: all(networks),
            common: kept(self.common()),
        }))
    }

    /// What experiments have in every reading, by level.
    fn common(&self) -> impl Fn(Level) -> Vec<String> + Sync + use<> {
        let (set, at_level) = (self.document.set.clone(), self.at_level());
        let own = self.document.level.iter().filter_map(|(rank, of)| {
            let of = of.readings.as_ref()?;
            Some((Level::from(*rank), of.set.clone(), of.replications))
        });
        let own: Vec<_> = own.collect();
        move |level| {
            let own = own.iter().find(|(of, ..)| *of == level);
            let (more, replications) = match own {
                Some((_, set, replications)) => (set.clone(), *replications),
                None => at_level(level),
            };
            let number = replications.map(|number| format!("replications={number}"));
            set.iter().cloned().chain(more).chain(number).collect()
        }
    }

    fn factors(&mut self) -> Vec<Factor> {
        let document = self.document;
        let mut factors = Vec::new();
        for factor in &document.factor {
            let choices = factor.choice.get_ref();
            if ![2, 4].contains(&choices.len()) {
                let message = format!("`{}` has {} choices", factor.name, choices.len());
                let help = "a factor has two or four: so every pair of choices of two factors is run equally often";
                self.compiler.wrong(factor.choice.span(), message, help);
            }
            let choice = |of: &document::Choice| Choice {
                name: name(&of.name),
                source: name(&of.source),
                set: all(of.set.iter().map(|set| name(set)).collect()),
            };
            let choices = all(choices.iter().map(choice).collect());
            factors.push(Factor { name: name(&factor.name), choices });
        }
        factors
    }

    /// An experiment that is run in every reading.
    fn network(&mut self, wanted: &Spanned<String>, factors: &[Factor]) -> Option<Network> {
        let document = self.document;
        let Some(known) = self.experiments.get(wanted.get_ref().as_str()) else {
            let names: Vec<&str> = self.experiments.keys().copied().collect();
            let message = format!("there is no experiment `{}`", wanted.get_ref());
            let help = suggest::remedy(wanted.get_ref(), "experiments", &names);
            self.compiler.wrong(wanted.span(), message, help);
            return None;
        };
        let (first, file) = (known.cells[0].name, known.cells[0].file);
        let every = known.cells[0].variants.clone();
        let of = document.experiment.get(wanted.get_ref())?;
        if of.vary.is_some() || !of.over.is_empty() || !of.set.is_empty() {
            let message = format!("`{}` has settings of its own", wanted.get_ref());
            let help = "an experiment that is run in every reading is as its scenario has it: move its settings there";
            self.compiler.wrong(wanted.span(), message, help);
        }
        let own = of.readings.as_ref();
        let mut variants = Vec::new();
        for variant in own.map_or(&[][..], |own| &own.variants) {
            if !every.contains(&variant.get_ref().as_str()) {
                let message =
                    format!("`{}` does not run `{}`", wanted.get_ref(), variant.get_ref());
                let help = suggest::remedy(variant.get_ref(), "variants", &every);
                self.compiler.wrong(variant.span(), message, help);
            }
            variants.push(name(variant.get_ref()));
        }
        let without = own.map_or(&[][..], |own| &own.without).iter().map(|path| name(path));
        let from = own.and_then(|own| own.from).or(of.from);
        Some(Network {
            stands_for: first,
            file,
            variants: all(if variants.is_empty() { every } else { variants }),
            having: self.having(file, factors),
            without: all(without.collect()),
            from: from.map_or(Level::Quick, Level::from),
        })
    }

    /// The tables in which choices set something for each variant that has them, with these variants of a scenario.
    fn having(&self, file: &'static str, factors: &[Factor]) -> Having {
        let choices = factors.iter().flat_map(|factor| factor.choices);
        let tables = choices.flat_map(|choice| choice.set).filter_map(|set| of_each(set));
        let tables: BTreeSet<&str> = tables.map(|(table, _)| table).collect();
        if tables.is_empty() {
            return &[];
        }
        let set = self.document.set.clone();
        let experiment = Experiment { set, ..Experiment::new("", file) };
        // It could be read when the experiments were.
        let Ok(scenario) = experiment.scenario(&self.files.library(), &[]) else { return &[] };
        let variants: Vec<(&'static str, Vec<String>)> = scenario
            .variants()
            .iter()
            .map(|variant| {
                let settings = serde_json::to_value(&variant.settings).unwrap_or_default();
                let paths = leaves(&settings).into_iter().map(|(path, _)| path.to_string());
                (name(&variant.name), paths.collect())
            })
            .collect();
        let with = |table: &str| {
            let within = format!("{table}.");
            let has =
                |(_, paths): &&(_, Vec<String>)| paths.iter().any(|of| of.starts_with(&within));
            let with: Vec<&'static str> = variants.iter().filter(has).map(|of| of.0).collect();
            (name(table), all(with))
        };
        all(tables.into_iter().map(with).collect())
    }

    /// Refuses a setting of each variant with a table that no variant has.
    fn settings_of_each(&mut self, factors: &[Factor], networks: &[Network]) {
        let document = self.document;
        let has = |table: &str| {
            let mut all = networks.iter().flat_map(|of| of.having);
            let given = table.rsplit_once('.').map(|(of, kind)| format!(".{of}={kind}"));
            let mut set = factors.iter().flat_map(|of| of.choices).flat_map(|of| of.set);
            all.any(|(known, variants)| *known == table && !variants.is_empty())
                || given.is_some_and(|given| set.any(|set| set.ends_with(&given)))
        };
        for factor in &document.factor {
            let choices = factor.choice.get_ref().iter().flat_map(|of| &of.set);
            for (table, path) in choices.filter_map(|set| of_each(set)) {
                if !has(table) {
                    let message = format!("no variant has `{table}`, so nothing has `{path}`");
                    let help = "`variants.*.` sets something for the variants that have the table that it is in";
                    self.compiler.wrong(factor.choice.span(), message, help);
                }
            }
        }
    }

    /// Refuses choices that cannot be told apart, change nothing, or set something for a variant that no experiment has:
    /// their effects would be zero, or those of something else.
    fn choices(&mut self) {
        let document = self.document;
        let known = document
            .readings_of
            .iter()
            .filter_map(|of| self.experiments.get(of.get_ref().as_str()));
        let known: BTreeSet<&'static str> =
            known.flat_map(|known| known.cells[0].variants.iter().copied()).collect();
        let mut factors = BTreeSet::new();
        for factor in &document.factor {
            let (range, choices) = (factor.choice.span(), factor.choice.get_ref());
            if factor.name.is_empty() || !factors.insert(&factor.name) {
                let message = format!("the factor `{}` has no name of its own", factor.name);
                self.compiler.wrong(range.clone(), message, "give each factor another name");
            }
            let mut names = BTreeSet::new();
            for choice in choices {
                if choice.name.is_empty() || !names.insert(&choice.name) {
                    let message = format!(
                        "a choice `{}` of `{}` has no name of its own",
                        choice.name, factor.name
                    );
                    self.compiler.wrong(range.clone(), message, "give each choice another name");
                }
            }
            for choice in choices.iter().skip(1).filter(|choice| choice.set.is_empty()) {
                let message =
                    format!("the choice `{}` of `{}` sets nothing", choice.name, factor.name);
                let help = "only the first choice, which is the main reading's, may leave everything as it is";
                self.compiler.wrong(range.clone(), message, help);
            }
            let variants = choices.iter().flat_map(|choice| &choice.set).filter_map(|set| {
                set.strip_prefix("variants.")?.split('.').next().filter(|name| *name != "*")
            });
            let unknown: BTreeSet<&str> = variants.filter(|name| !known.contains(name)).collect();
            for variant in unknown {
                let message = format!(
                    "`{}` sets something for `{variant}`, which is no variant",
                    factor.name
                );
                let names: Vec<&str> = known.iter().copied().collect();
                self.compiler.wrong(
                    range.clone(),
                    message,
                    suggest::remedy(variant, "variants", &names),
                );
            }
        }
    }

    /// The search for the nearest reading.
    pub(super) fn closest(&mut self) -> Option<&'static Closest> {
        let of = self.document.closest.as_ref()?;
        let range = of.variants.span();
        if self.document.factor.is_empty()
            || of.variants.get_ref().is_empty()
            || of.number.is_empty()
        {
            let message = "the search for the nearest reading has nothing to search for or among";
            let help =
                "it needs factors with choices, `variants` that the source may mean, and numbers";
            self.compiler.wrong(range, message, help);
            return None;
        }
        if of.most == 0 {
            let message = "the search for the nearest reading runs no experiment";
            self.compiler.wrong(range.clone(), message, "`most` is 1 or more");
        }
        let mut numbers = Vec::new();
        for number in &of.number {
            let mut measures = Vec::new();
            for variant in of.variants.get_ref() {
                let pick = Pick::of(VARIANT, variant.get_ref());
                let measure = self.compiler.measure(&pick.measure(&number.measure))?;
                if !measure.is_change() {
                    let message = format!("`{}` is no change", number.label);
                    let help = "write `from` and `to`: a distance is that of ratios";
                    self.compiler.wrong(number.measure.span(), message, help);
                    return None;
                }
                measures.push((name(variant.get_ref()), measure));
            }
            let logs = move |evidence: &Evidence, variant: &'static str| {
                let of = measures.iter().find(|(known, _)| *known == variant);
                of.map(|(_, measure)| measure.logs_of_change(evidence)).unwrap_or_default()
            };
            numbers.push(Number {
                name: name(&number.label),
                claimed: number.claimed,
                logs: kept(logs),
            });
        }
        let variants = of.variants.get_ref().iter().map(|of| name(of.get_ref())).collect();
        Some(kept(Closest {
            readings: self.readings?,
            variants: all(variants),
            numbers: all(numbers),
            most: of.most,
        }))
    }
}
