//! Main effects: how far a choice moves a number, over all readings.

use std::collections::BTreeSet;

use crate::measure::{Logs, Measured, percent_of_logs};

use super::Reading;

/// By how much a ratio is larger in the readings with a choice of a factor than in those with the first one, in
/// percent, with its interval over replications. `logs` are the logarithms of the ratio, by reading
/// and replication.
///
/// Every replication has its own traffic in all readings, so the effect within each replication is
/// an estimate that does not depend on the others. Replications that a reading lacks, or in which a
/// logarithm is not finite, are left out.
pub fn main_effect(readings: &[Reading], logs: &[Logs], factor: usize, choice: usize) -> Measured {
    let numbers = logs.iter().flat_map(|logs| logs.keys().copied()).collect::<BTreeSet<u32>>();
    let mean = |replication: u32, with: bool| {
        let chosen = readings.iter().zip(logs);
        let wanted = if with { choice } else { 0 };
        let chosen = chosen.filter(|(reading, _)| reading.choices[factor] == wanted);
        let values: Option<Vec<f64>> = chosen
            .map(|(_, logs)| logs.get(&replication).copied().filter(|log| log.is_finite()))
            .collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    percent_of_logs(numbers.into_iter().filter_map(|at| Some(mean(at, true)? - mean(at, false)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::design::resolution_iv;

    fn readings(factors: usize) -> Vec<Reading> {
        let row = |row: Vec<bool>| Reading {
            choices: row.into_iter().map(usize::from).collect(),
            stands_for: Vec::new(),
        };
        resolution_iv(factors).into_iter().map(row).collect()
    }

    /// Factors that multiply are separated, whatever the others do.
    #[test]
    fn effects_of_a_product_are_its_factors() {
        let readings = readings(4);
        let factors = [2.0, 0.5, 1.0, 1.25];
        let log = |reading: &Reading, at: u32| {
            let chosen = factors.iter().zip(&reading.choices).filter(|of| *of.1 == 1);
            chosen.map(|of| libm::log(*of.0)).sum::<f64>() + f64::from(at) * 0.3
        };
        let logs: Vec<Logs> = readings
            .iter()
            .map(|reading| (0..3).map(|at| (at, log(reading, at))).collect())
            .collect();
        for (factor, expected) in [(0, 100.0), (1, -50.0), (2, 0.0), (3, 25.0)] {
            let of = main_effect(&readings, &logs, factor, 1);
            assert!((of.value.unwrap() - expected).abs() < 1e-9, "{factor}: {of:?}");
        }
    }

    /// Two factors that matter only together change no main effect of a third.
    #[test]
    fn an_interaction_of_two_is_no_main_effect_of_a_third() {
        let readings = readings(4);
        let together = |reading: &Reading| f64::from(reading.choices[0] == reading.choices[1]);
        let logs: Vec<Logs> =
            readings.iter().map(|reading| [(0, together(reading))].into()).collect();
        for factor in 0..4 {
            let of = main_effect(&readings, &logs, factor, 1);
            assert!(of.value.unwrap().abs() < 1e-9, "{factor}: {of:?}");
        }
    }

    #[test]
    fn a_replication_that_a_reading_lacks_is_left_out() {
        let readings = readings(3);
        let mut logs: Vec<Logs> = readings
            .iter()
            .map(|reading| {
                let log = libm::log(2.0) * reading.choices[2] as f64;
                [(0, log), (1, log), (2, f64::NEG_INFINITY)].into()
            })
            .collect();
        logs[3].remove(&1);
        let of = main_effect(&readings, &logs, 2, 1);
        assert!((of.value.unwrap() - 100.0).abs() < 1e-9 && of.interval().is_none(), "{of:?}");
    }
}
