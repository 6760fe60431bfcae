//! What the sections of all studies have in common.

use std::collections::BTreeSet;

use floodway_report::study::Section;
use floodway_report::words::count;

use crate::evidence::{Case, Evidence};
use crate::plan::{Experiment, commands};

impl Evidence {
    /// A section on these experiments, with the commands and the links of those that were run, and
    /// without its text.
    pub fn section(
        &self,
        name: &str,
        question: &str,
        claims: &[&str],
        experiments: &[&'static str],
    ) -> Section {
        let first = |name: &&'static str| {
            let of = self.study.first_run.iter().find(|(known, _)| known == name);
            // Of several the one that was run.
            let run =
                of.map(|(_, all)| all.iter().copied().find(|name| self.scenario(name).is_some()));
            run.unwrap_or(Some(*name))
        };
        let wanted: BTreeSet<&str> = experiments.iter().filter_map(first).collect();
        let plan = (self.study.plan)(self.level);
        let run = plan.iter().filter(|experiment| {
            wanted.contains(experiment.name) && self.scenario(experiment.name).is_some()
        });
        let run: Vec<&Experiment> = run.collect();
        // What a search ran is in no plan.
        let planned: BTreeSet<&str> = plan.iter().map(|experiment| experiment.name).collect();
        let searched = wanted.difference(&planned).filter(|name| self.scenario(name).is_some());
        let names = run.iter().map(|experiment| experiment.name).chain(searched.copied());
        let link = |name: &str| (name.to_owned(), format!("{name}/report.html"));
        let study = self.study.argument();
        let all = format!("floodway study {study}{} --plan", self.level.option());
        Section {
            name: name.to_owned(),
            question: question.to_owned(),
            claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
            commands: commands(&run, &self.settings, &all),
            links: names.map(link).collect(),
            ..Section::default()
        }
    }

    /// The flows of these cases that had not finished, in a sentence; empty if all had.
    pub fn unfinished_in_words(&self, cases: &[Case]) -> String {
        let left = |case: &Case| {
            let (left, all) = self.unfinished(*case);
            let [of, every] = [left, all].map(|flows| count(flows as f64));
            (left > 0).then(|| format!("{of} of {every} flows of {}", case.variant))
        };
        let left: Vec<String> = cases.iter().filter_map(left).collect();
        if left.is_empty() {
            return String::new();
        }
        format!(
            "{} had not finished when their runs ended. They count with the time that they had taken \
             until then, so that the means of their variant are lower bounds.",
            left.join(", ")
        )
    }
}
