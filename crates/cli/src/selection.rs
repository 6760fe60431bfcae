//! What both `run` and `check` begin with: a valid scenario and the variants that were asked for.

use floodway_scenario::{Overrides, Problem, Scenario, Variant};

use crate::failure::Failure;
use crate::options::Selection;
use crate::output;

impl Selection {
    /// Reads the scenario, with `more` settings after those of the command line.
    pub fn load(&self, more: impl IntoIterator<Item = String>) -> Result<Scenario, Failure> {
        let set = self.set.iter().cloned().chain(more).collect();
        Ok(Scenario::load(&self.file, &Overrides { quick: self.quick, set })?)
    }

    /// The variants that were asked for, or all, in the scenario's order: the first is the
    /// baseline.
    pub fn variants<'a>(&self, scenario: &'a Scenario) -> Result<Vec<&'a Variant>, Failure> {
        for name in &self.variant {
            scenario.variant(name)?;
        }
        let wanted =
            |variant: &&Variant| self.variant.is_empty() || self.variant.contains(&variant.name);
        Ok(scenario.variants().iter().filter(wanted).collect())
    }
}

/// Says what should be known before a run.
pub fn warn<'a>(warnings: impl IntoIterator<Item = &'a Problem>) {
    for warning in warnings {
        output::problem(&warning.plain());
    }
}
