//! Lint: settings that are valid and have caused trouble in networks of others, by names that stay the same.
//! `docs/lint.md` has the formula of each and a scenario
//! that shows the trouble.
//!
//! The rules see facts: what each port of each switch has. They are made of a scenario
//! or of configurations of switches, so both are judged by the same rules.

mod cycles;
pub(crate) mod facts;
pub(crate) mod rules;
mod settings;

use std::path::Path;
use std::sync::Arc;

use crate::files::Files;
use crate::read::{self, Documents, Written};
use crate::scenario::{ONLY_VARIANT, Overrides, Variant, prepare_one};
use crate::text::{Error, Problem, Source};

pub use facts::Name;

/// Something that is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of finding it is.
    pub name: Name,
    /// The place, what is found, the remedy, and the variants that have it if not all of them do.
    pub problem: Problem,
}

impl Finding {
    /// Plain text, the same on every terminal: as [`Problem::plain`], with the name and the reason.
    pub fn plain(&self) -> String {
        let named = Problem {
            message: format!("[{}] {}", self.name, self.problem.message),
            ..self.problem.clone()
        };
        let text = named.plain();
        let (head, help) = text.rsplit_once("= help: ").unwrap_or((&text, ""));
        let margin = head.rsplit('\n').next().unwrap_or_default();
        format!("{head}= why: {}\n{margin}= help: {help}", self.name.why())
    }
}

/// What is found in the variants of a scenario file with these names, or in all if there are none.
pub fn scenario(
    path: &Path,
    overrides: &Overrides,
    variants: &[String],
) -> Result<Vec<Finding>, Error> {
    text(&read::scenario_file(path)?, &path.display().to_string(), overrides, variants)
}

/// The same of a scenario that is given as the text of a file. Files that it names are sought beside `file`.
pub fn text(
    text: &str,
    file: &str,
    overrides: &Overrides,
    variants: &[String],
) -> Result<Vec<Finding>, Error> {
    let source = Arc::new(Source::new(file, text.to_owned()));
    let written = Written::read(&source, &read::scenario_file)?;
    let documents = Documents::new(&written, overrides)?;
    let files = Files::default();
    let mut found: Vec<(Finding, Vec<String>)> = Vec::new();
    let mut count = 0;
    for at in 0..documents.count() {
        let (name, document) = documents.get(at)?;
        let name = name.unwrap_or(ONLY_VARIANT);
        if !variants.is_empty() && !variants.iter().any(|wanted| wanted == name) {
            continue;
        }
        count += 1;
        let (variant, problems) = prepare_one(name, document.clone(), &files);
        let variant = variant.ok_or_else(|| Error::new(problems))?;
        for finding in settings::find(&variant, &document) {
            match found.iter_mut().find(|(other, _)| *other == finding) {
                Some((_, names)) => names.push(name.to_owned()),
                None => found.push((finding, vec![name.to_owned()])),
            }
        }
    }
    let merged = found.into_iter().map(|(Finding { name, problem }, names)| {
        let variants = if names.len() == count { Vec::new() } else { names };
        Finding { name, problem: Problem { variants, ..problem } }
    });
    Ok(merged.collect())
}

/// The cycle of buffers that may wait for each other in a network, as a finding at `place`; none if there is none.
pub(crate) fn pause_cycle(variant: &Variant, place: crate::text::Place) -> Option<Finding> {
    settings::pauses_hop_by_hop(&variant.settings)
        .then(|| cycles::find(&variant.graph, &variant.settings, place))
        .flatten()
}
