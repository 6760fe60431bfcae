//! One measurement.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use floodway_sim::Simulation;
use floodway_sim::simulation::Run;
use serde::{Deserialize, Serialize};

use super::Task;
use crate::failure::Failure;
use floodway_machine::memory;

/// What one case took with one number of threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// The case.
    pub case: String,
    /// The threads.
    pub threads: u16,
    /// Packet-hops: one frame over one link.
    pub hops: u64,
    /// Packet-hops per second, set-up not counted.
    pub hops_per_second: f64,
    /// The most memory that the process held, in bytes; none where the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// Seconds that it took, set-up not counted.
    pub wall_s: f64,
    /// Seconds from the scenario to a network that is ready to run.
    pub setup_s: f64,
    /// Simulated time in nanoseconds.
    pub simulated_ns: f64,
    /// Of the results: the same for any number of threads.
    pub fingerprint: String,
}

/// Runs a case in this process.
pub fn measure(task: &Task) -> Result<Measurement, Failure> {
    let Task { case, threads, length, set } = *task;
    let begun = Instant::now();
    let scenario = case.scenario(length, set)?;
    let simulation = Simulation::new(scenario.build(scenario.variant(case.variant)?, 0));
    let setup_s = begun.elapsed().as_secs_f64();
    let stop = AtomicBool::new(false);
    let run = Run { threads: threads.into(), stop: &stop, watch: &|_| {} };
    let outcome = simulation.run_with(&run);
    if !outcome.violations.is_empty() {
        return Err(Failure::Violations(outcome.violations));
    }
    let wall_s = outcome.wall.as_secs_f64();
    Ok(Measurement {
        case: case.name.to_owned(),
        threads,
        hops: outcome.hops,
        hops_per_second: outcome.hops as f64 / wall_s,
        peak_rss_bytes: memory::peak(),
        wall_s,
        setup_s,
        simulated_ns: outcome.simulated.0 as f64 / 1e3,
        fingerprint: floodway_report::manifest::hex(outcome.fingerprint),
    })
}
