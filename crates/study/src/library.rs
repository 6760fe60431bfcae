//! The scenarios of a study.

use std::path::Path;
use std::sync::Arc;

use floodway_scenario::{Error, Overrides, Place, Problem, Scenario, Source};

use crate::folder::FILE;

/// The scenario files of a study.
#[derive(Clone, Debug)]
pub enum Library {
    /// They are part of the program: pairs of file name and text.
    Built(&'static [(&'static str, &'static str)]),
    /// They are in files, of a study in this folder.
    Folder(&'static str),
}

impl Library {
    /// Reads a scenario. Fails if it cannot run; panics if it should be part of the program and is not.
    pub fn scenario(&self, file: &str, overrides: &Overrides) -> Result<Scenario, Error> {
        match self {
            Self::Built(files) => Scenario::of_library(files, file, overrides),
            Self::Folder(_) => Scenario::load(Path::new(file), overrides),
        }
    }

    /// The same error, where problems with the settings of an experiment have their place in the file of the study, if they
    /// are written out there. `given` are settings that come from somewhere else.
    pub fn placed(&self, error: &Error, given: &[String]) -> Error {
        let file = match self {
            Self::Built(_) => return error.clone(),
            Self::Folder(folder) => Path::new(folder).join(FILE),
        };
        let Ok(text) = std::fs::read_to_string(&file) else { return error.clone() };
        let source = Arc::new(Source::new(file.display().to_string(), text));
        let place = |of: &Place| {
            let (setting, within) = (of.source.inner(), of.range.clone()?);
            let is_own = of.source.name() == "--set" && !given.contains(setting);
            let at = is_own.then(|| source.inner().find(&format!("\"{setting}\"")))?? + 1;
            Some(Place::at(&source, at + within.start..at + within.end))
        };
        let placed = |problem: &Problem| {
            let place = place(&problem.place).unwrap_or_else(|| problem.place.clone());
            Problem { place, ..problem.clone() }
        };
        let problems = error.problems().iter().map(placed).collect();
        Error::of(problems).unwrap_or_else(|| error.clone())
    }

    /// The files that are part of the program.
    pub fn files(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Built(files) => files,
            Self::Folder(_) => &[],
        }
    }
}
