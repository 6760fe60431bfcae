//! Which reading comes nearest to all numbers of a source at once.
//!
//! It is found by a search that sees the numbers by which it is judged, so it is a lead to what the
//! source may have done, and no reproduction.

use std::collections::BTreeSet;
use std::fmt;

use crate::evidence::Evidence;
use crate::measure::{Logs, Measured, percent_of_logs};
use crate::plan::{Experiment, Level, name};

use super::{Reading, Readings};

/// A number of the source.
pub struct Number {
    /// What it is of: `mice`.
    pub name: &'static str,
    /// The change that the source gives, in percent.
    pub claimed: f64,
    /// The logarithms of the ratio by replication, of a variant in the main experiment.
    pub logs: LogsOf,
}

/// The logarithms of a ratio, of a variant.
pub type LogsOf = &'static (dyn Fn(&Evidence, &'static str) -> Logs + Sync);

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.claimed)
    }
}

/// What to come near to.
#[derive(Debug)]
pub struct Closest {
    /// The readings among which to search.
    pub readings: &'static Readings,
    /// The variants, each of which the source may mean.
    pub variants: &'static [&'static str],
    /// All numbers of the source.
    pub numbers: &'static [Number],
    /// At most so many experiments are run in search.
    pub most: usize,
}

/// A reading that was run, and how near it comes with one of the variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The reading.
    pub reading: Reading,
    /// The variant.
    pub variant: &'static str,
    /// The distance from the source: the root of the mean square, over all numbers, of the logarithm
    /// of the measured ratio over the claimed one. 0.1 is about 10 % off in each.
    pub distance: f64,
}

/// The names of experiments of the search begin so; the choices follow, a digit each.
const SEARCH: &str = "closest-";

impl Closest {
    /// How far a reading is from the source; none if a number was not measured.
    fn distance(&self, view: &Evidence, variant: &'static str) -> Option<f64> {
        let mut sum = 0.0;
        for number in self.numbers {
            let logs = (number.logs)(view, variant);
            let mean = logs.values().sum::<f64>() / logs.len() as f64;
            let off = mean - libm::log1p(number.claimed / 100.0);
            sum += off * off;
        }
        let distance = libm::sqrt(sum / self.numbers.len() as f64);
        distance.is_finite().then_some(distance)
    }

    /// The numbers of the source as a reading has them.
    pub fn numbers(&self, evidence: &Evidence, tried: &Tried) -> Vec<Measured> {
        let view = evidence.of_reading(&tried.reading.stands_for);
        let of =
            |number: &Number| percent_of_logs((number.logs)(&view, tried.variant).into_values());
        self.numbers.iter().map(of).collect()
    }

    /// All readings that were run, of the design and of the search, the nearest first.
    pub fn tried(&self, evidence: &Evidence) -> Vec<Tried> {
        let mut tried = Vec::new();
        for reading in self.run(evidence) {
            let view = evidence.of_reading(&reading.stands_for);
            for variant in self.variants {
                if let Some(distance) = self.distance(&view, variant) {
                    tried.push(Tried { reading: reading.clone(), variant, distance });
                }
            }
        }
        tried.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        tried
    }

    /// The readings of which the main experiment was run.
    fn run(&self, evidence: &Evidence) -> Vec<Reading> {
        let known = |reading: &Reading| evidence.scenario(reading.stands_for[0].1).is_some();
        let mut readings: Vec<Reading> = self.readings.all().into_iter().filter(known).collect();
        for experiment in evidence.experiments() {
            if let Some(digits) = experiment.strip_prefix(SEARCH) {
                let choices = digits.bytes().map(|digit| usize::from(digit - b'0')).collect();
                readings.push(self.reading(choices));
            }
        }
        readings
    }

    /// A reading of the search.
    fn reading(&self, choices: Vec<usize>) -> Reading {
        let digits: String = choices.iter().map(usize::to_string).collect();
        let main = self.readings.networks[0].stands_for;
        Reading { choices, stands_for: vec![(main, name(&format!("{SEARCH}{digits}")))] }
    }

    /// What to run next: the readings that differ in one choice from the nearest one so far and were
    /// not run. None if all of them were, so that no single choice brings it nearer, or if enough was
    /// run.
    pub fn next(&self, evidence: &Evidence, level: Level) -> Vec<Experiment> {
        let run = self.run(evidence);
        let searched = run.len().saturating_sub(self.readings.all().len());
        let Some(best) = self.tried(evidence).into_iter().next() else { return Vec::new() };
        let known: BTreeSet<&[usize]> = run.iter().map(|of| of.choices.as_slice()).collect();
        let mut next = Vec::new();
        for (at, factor) in self.readings.factors.iter().enumerate() {
            for choice in 0..factor.choices.len() {
                let mut choices = best.reading.choices.clone();
                choices[at] = choice;
                if !known.contains(choices.as_slice()) {
                    next.extend(self.readings.experiments(&self.reading(choices), level));
                }
            }
        }
        next.truncate(self.most.saturating_sub(searched));
        next
    }
}
