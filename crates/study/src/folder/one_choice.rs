//! Readings that are experiments of their own, each of which makes one other choice than the main one.

use std::collections::BTreeSet;

use floodway_scenario::suggest;
use toml::Spanned;

use super::{Loading, document};
use crate::compile::all;
use crate::compile::lists::Pick;
use crate::evidence::Evidence;
use crate::readings::Judged;

/// A reading: what it is called, and which experiments stand for which.
pub(super) struct OneChoice {
    label: String,
    stands_for: Vec<(&'static str, &'static str)>,
}

impl OneChoice {
    /// Pairs of an experiment and of the one that stands for it.
    pub fn pairs(&self) -> &[(&'static str, &'static str)] {
        &self.stands_for
    }
}

/// What claims are judged over. What was not run stands for nothing.
pub(super) fn judged(main: &OneChoice, others: &[OneChoice], evidence: &Evidence) -> Judged {
    let run = |of: &OneChoice| {
        let pairs = of.stands_for.iter().copied();
        let pairs = pairs.filter(|(_, is)| evidence.scenario(is).is_some());
        (of.label.clone(), pairs.collect())
    };
    let others = others.iter().map(run);
    Judged::one_at_a_time(main.stands_for.clone(), others).that_were_run(evidence)
}

impl Loading<'_> {
    /// The readings, the main one first; none if the file has none.
    pub(super) fn one_at_a_time(&mut self) -> &'static [OneChoice] {
        let document = self.document;
        let every = self.document.experiment.0.iter();
        let every = every.filter_map(|(label, _)| self.experiments.get(label.as_str()));
        let every: Vec<&'static str> =
            every.flat_map(|of| &of.cells).map(|cell| cell.name).collect();
        let known: BTreeSet<&'static str> = every.iter().copied().collect();
        let mut readings = Vec::new();
        for of in &document.reading {
            for pick in self.compiler.picks(&of.over, &of.except).unwrap_or_default() {
                let stands_for = self.pairs(of, &pick, &known);
                let label = of.label.clone().unwrap_or_else(|| pick.label());
                readings.push(OneChoice { label, stands_for });
            }
        }
        let others = readings.iter().flat_map(|of| &of.stands_for).map(|(_, is)| *is);
        let others: BTreeSet<&str> = others.collect();
        let main = every.iter().filter(|name| !others.contains(**name));
        let main: Vec<_> = main.map(|name| (*name, *name)).collect();
        for of in readings.iter_mut().filter(|of| of.stands_for.is_empty()) {
            of.stands_for.clone_from(&main);
        }
        all(readings)
    }

    /// Which experiments stand in a reading for which: over lists that their names mention, as far as there are any.
    fn pairs(
        &mut self,
        of: &document::Reading,
        pick: &Pick,
        known: &BTreeSet<&'static str>,
    ) -> Vec<(&'static str, &'static str)> {
        let mut pairs = Vec::new();
        for (meant, stands) in &of.stands_for {
            let (meant, stands) = (pick.case(meant), pick.case(stands));
            let lists = self.compiler.lists_in(&[&meant, &stands]);
            let (before, mut is_meant) = (pairs.len(), false);
            for inner in self.compiler.picks(&lists, &[]).unwrap_or_default() {
                let find = |of: &Spanned<String>| known.get(inner.names_in(of.get_ref()).as_str());
                is_meant |= find(&meant).is_some();
                pairs.extend(find(&meant).copied().zip(find(&stands).copied()));
            }
            if pairs.len() == before {
                let unknown = if is_meant { stands } else { meant };
                let names: Vec<&str> = known.iter().copied().collect();
                let message = format!("there is no experiment `{}`", unknown.get_ref());
                let help = suggest::remedy(unknown.get_ref(), "experiments", &names);
                self.compiler.wrong(unknown.span(), message, help);
            }
        }
        pairs
    }
}
