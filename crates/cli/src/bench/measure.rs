//! One measurement.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use floodway_sim::Simulation;
use floodway_sim::simulation::Run;
use serde::{Deserialize, Serialize};

use super::Task;
use super::cases::Length;
use super::neighbor::Neighbor;
use crate::failure::Failure;
use crate::pages;
use floodway_machine::calibration::{self, WORKING_SETS};
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
    /// Whether a neighbor walked through memory meanwhile.
    pub neighbor: bool,
    /// How fast the machine was after it, beside the same neighbor; none where instructions are counted.
    pub calibration: Option<Calibration>,
}

/// How fast the machine is (see [`calibration`]): figures of two hosts or hours can be compared if these are alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// Nanoseconds for a multiplication and an addition that need the result before them.
    pub multiply_add_ns: f64,
    /// Nanoseconds for a load that needs the result of the load before it.
    pub loads: [Load; WORKING_SETS.len()],
}

/// Loads within so many bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Load {
    /// The bytes that are read in a random order.
    pub bytes: usize,
    /// Nanoseconds for a load.
    pub ns: f64,
}

impl Calibration {
    /// Measures the machine.
    fn take() -> Self {
        let found = calibration::calibrate();
        let loads = std::array::from_fn(|i| Load { bytes: WORKING_SETS[i], ns: found.load_ns[i] });
        Self { multiply_add_ns: found.multiply_add_ns, loads }
    }
}

/// What calibrations beside `runs` found, as a sentence with the least and most of each figure; none without any.
pub fn spoken(runs: &str, calibrations: &[&Calibration]) -> Option<String> {
    let range = |ns: &dyn Fn(&Calibration) -> f64| {
        let all = || calibrations.iter().map(|one| ns(one));
        let ends = [all().reduce(f64::min)?, all().reduce(f64::max)?].map(|ns| format!("{ns:.1}"));
        let [least, most] = &ends;
        Some(if least == most { format!("{least} ns") } else { format!("{least} to {most} ns") })
    };
    let loads: Option<Vec<_>> = WORKING_SETS
        .iter()
        .enumerate()
        .map(|(place, bytes)| {
            let size = if *bytes < 1 << 20 { bytes >> 10 } else { bytes >> 20 };
            let unit = if *bytes < 1 << 20 { "KiB" } else { "MiB" };
            Some(format!("{} within {size} {unit}", range(&|one| one.loads[place].ns)?))
        })
        .collect();
    Some(format!(
        "Beside {runs}, a multiply-add took {} and a load {}, each dependent on the one before.",
        range(&|one| one.multiply_add_ns)?,
        loads?.join(", ")
    ))
}

/// Runs a case in this process.
pub fn measure(task: &Task) -> Result<Measurement, Failure> {
    let Task { case, threads, length, set, neighbor } = *task;
    let begun = Instant::now();
    let scenario = case.scenario(length, set)?;
    let variant = scenario.variant(case.variant)?;
    pages::take_large_ones_for(variant.footprint_of_run(scenario.replication_seed(0)).0.0);
    let prepared = begun.elapsed();
    // Not before, because the call above may start this process again.
    let beside = neighbor.then(Neighbor::start).transpose()?;
    let begun = Instant::now();
    let simulation = Simulation::new(scenario.build(variant, 0));
    let setup_s = (prepared + begun.elapsed()).as_secs_f64();
    let stop = AtomicBool::new(false);
    let run = Run { threads: threads.into(), stop: &stop, watch: &|_| {} };
    let outcome = simulation.run_with(&run);
    if !outcome.violations.is_empty() {
        return Err(Failure::Violations(outcome.violations));
    }
    let wall_s = outcome.wall.as_secs_f64();
    // Before the calibration, which takes memory itself.
    let peak_rss_bytes = memory::peak();
    let calibration = (length != Length::Brief).then(Calibration::take);
    drop(beside);
    Ok(Measurement {
        case: case.name.to_owned(),
        threads,
        hops: outcome.hops,
        hops_per_second: outcome.hops as f64 / wall_s,
        peak_rss_bytes,
        wall_s,
        setup_s,
        simulated_ns: outcome.simulated.0 as f64 / 1e3,
        fingerprint: floodway_report::manifest::hex(outcome.fingerprint),
        neighbor,
        calibration,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibrations_are_told_with_their_ranges() {
        let calibration = |multiply_add_ns, far| {
            let loads = [1.25, 4.0, 17.0, far];
            let loads = std::array::from_fn(|i| Load { bytes: WORKING_SETS[i], ns: loads[i] });
            Calibration { multiply_add_ns, loads }
        };
        let (quiet, busy) = (calibration(2.0, 112.0), calibration(2.0, 190.5));
        assert_eq!(
            spoken("these runs", &[&quiet, &busy]).unwrap(),
            "Beside these runs, a multiply-add took 2.0 ns and a load 1.2 ns within 32 KiB, 4.0 ns within 512 KiB, \
             17.0 ns within 4 MiB, 112.0 to 190.5 ns within 64 MiB, each dependent on the one before."
        );
        assert_eq!(spoken("these runs", &[]), None);
    }
}
