//! The scenarios of a study.

use std::path::Path;

use floodway_scenario::{Error, Overrides, Scenario};

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

    /// The files that are part of the program.
    pub fn files(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Built(files) => files,
            Self::Folder(_) => &[],
        }
    }
}
