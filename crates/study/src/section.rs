//! What the sections of all studies have in common.

use floodway_report::study::Section;
use floodway_report::words::count;

use crate::evidence::{Case, Evidence};

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
        let of_plan = (self.study.plan)(self.level).into_iter();
        let run = of_plan.filter(|experiment| experiments.contains(&experiment.name));
        let (mut commands, mut links) = (Vec::new(), Vec::new());
        for experiment in run.filter(|experiment| self.scenario(experiment.name).is_some()) {
            commands.push(experiment.command(&self.settings));
            let label = experiment.name.to_owned();
            links.push((label, format!("{}/report.html", experiment.name)));
        }
        Section {
            name: name.to_owned(),
            question: question.to_owned(),
            claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
            commands,
            links,
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
