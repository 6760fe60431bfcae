//! What the scenarios of a study say: for claims about its set-up.

use std::path::Path;
use std::sync::Arc;

use floodway_scenario::{Error, Overrides, Place, Problem, Scenario, Source, Variant};

use crate::evidence::Evidence;
use crate::folder::FILE;
use crate::measure::Measured;

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

/// A value that a source names: scenario file, variant, place in its settings, and the value as
/// text.
pub type Value = (&'static str, &'static str, &'static str, &'static str);

impl Evidence {
    /// A variant of a scenario of the study, with the settings that were changed for all
    /// experiments; none if the file as it stands does not go with them.
    pub fn variant(&self, file: &str, name: &str) -> Option<Variant> {
        let overrides = Overrides { quick: false, set: self.settings.clone() };
        let scenario = self.study.library.scenario(file, &overrides).ok()?;
        let variant = scenario.variants().iter().find(|variant| variant.name == name);
        Some(variant.unwrap_or_else(|| panic!("{file} has a variant {name}")).clone())
    }

    /// A number of such a variant.
    pub fn of_variant(
        &self,
        file: &str,
        name: &str,
        unit: &'static str,
        number: impl Fn(&Variant) -> f64,
    ) -> Measured {
        let variant = self.variant(file, name);
        variant.map_or_else(Measured::default, |of| Measured::exactly(number(&of), unit))
    }

    /// How many of these values the scenarios have.
    pub fn values_as_in(&self, values: &[Value]) -> Measured {
        let has = |(file, name, place, value): &Value| {
            let variant = self.variant(file, name)?;
            let settings = serde_json::to_value(&variant.settings).expect("settings are text");
            Some(settings.pointer(place).is_some_and(|found| match found {
                serde_json::Value::String(text) => text == value,
                serde_json::Value::Number(number) => number.as_f64() == value.parse().ok(),
                serde_json::Value::Bool(flag) => flag.to_string() == *value,
                _ => false,
            }))
        };
        let all: Option<Vec<bool>> = values.iter().map(has).collect();
        let count = |all: Vec<bool>| all.iter().filter(|has| **has).count() as f64;
        all.map_or_else(Measured::default, |all| Measured::exactly(count(all), ""))
    }
}
