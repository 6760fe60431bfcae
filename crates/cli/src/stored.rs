//! A run in a results directory, and the scenario that was run.

use floodway_lab::stored;
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_scenario::Scenario;

use crate::failure::Failure;
use crate::options::StoredRun;

impl StoredRun {
    /// The results.
    pub fn open(&self) -> Result<Results, Failure> {
        Ok(stored::open(&self.results)?)
    }

    /// The run.
    pub fn record<'a>(&self, results: &'a Results) -> Result<&'a Record, Failure> {
        Ok(stored::record(results, self.variant.as_deref(), self.replication)?)
    }

    /// The scenario that was run, read again: it has the network.
    pub fn scenario(&self, results: &Results) -> Result<Scenario, Failure> {
        Ok(stored::scenario(results, self.scenario.as_deref())?)
    }
}
