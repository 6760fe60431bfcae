//! What is measured.

use floodway_scenario::{Overrides, Scenario};

use crate::failure::Failure;

/// A simulation of fixed length.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its scenario, one of the library.
    file: &'static str,
    /// The variant that is run.
    pub variant: &'static str,
    /// Settings for both lengths. They fix what decides the amount of work, so that a scenario can
    /// be tuned without making figures of different days incomparable.
    settings: &'static [&'static str],
    /// Settings.
    full: &'static [&'static str],
    /// The same for `--quick`.
    quick: &'static [&'static str],
}

/// Half of every host's link, from an empty network on.
const CI: &[&str] = &["workload.0.many_to_many.load=0.5", "warmup=0ns", "sample_interval=10us"];

/// The scenarios of all cases, with those that they extend.
const LIBRARY: &[(&str, &str)] = &[
    ("scenarios/ci/full.toml", include_str!("../../../../scenarios/ci/full.toml")),
    ("scenarios/ci/lossless.toml", include_str!("../../../../scenarios/ci/lossless.toml")),
    ("incast.toml", include_str!("incast.toml")),
    (
        "scenarios/peers/hpcc-case-b/scenario.toml",
        include_str!("../../../../scenarios/peers/hpcc-case-b/scenario.toml"),
    ),
    (
        "scenarios/peers/hpcc-case-b/topology.txt",
        include_str!("../../../../scenarios/peers/hpcc-case-b/topology.txt"),
    ),
    (
        "scenarios/peers/hpcc-case-b/flow.txt",
        include_str!("../../../../scenarios/peers/hpcc-case-b/flow.txt"),
    ),
];

/// All cases.
pub const CASES: &[Case] = &[
    // 1152 servers with Congestion Isolation, PFC and DCQCN; an acknowledgement per packet.
    Case {
        name: "ci-1152",
        file: "scenarios/ci/full.toml",
        variant: "ci",
        settings: CI,
        full: &["arrivals=5.9ms", "limit=6ms"],
        quick: &["arrivals=1.4ms", "limit=1.5ms"],
    },
    // The same with 128 servers, which fit into the caches of one core.
    Case {
        name: "ci-128",
        file: "scenarios/ci/lossless.toml",
        variant: "ci",
        settings: CI,
        full: &["arrivals=19.9ms", "limit=20ms"],
        quick: &["arrivals=2.9ms", "limit=3ms"],
    },
    // One congested port.
    Case {
        name: "incast",
        file: "incast.toml",
        variant: "base",
        settings: &[],
        full: &[],
        quick: &["limit=50ms"],
    },
    // An experiment of the HPCC authors' simulator, as `floodway import hpcc` writes it: 128 hosts, of
    // which it sends as many packets in as much time.
    Case {
        name: "hpcc-case-b",
        file: "scenarios/peers/hpcc-case-b/scenario.toml",
        variant: "base",
        settings: &[],
        full: &[],
        // Its flows start until the end.
        quick: &[],
    },
];

/// The names of all cases.
pub fn names() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|case| case.name)
}

impl Case {
    /// Its scenario.
    pub fn scenario(&self, quick: bool) -> Result<Scenario, Failure> {
        let length = if quick { self.quick } else { self.full };
        let set = self.settings.iter().chain(length).map(|&setting| setting.to_owned()).collect();
        Ok(Scenario::of_library(LIBRARY, self.file, &Overrides { quick: false, set })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_valid_in_both_lengths() {
        for case in CASES {
            for quick in [false, true] {
                let scenario = case.scenario(quick);
                let scenario = scenario.unwrap_or_else(|failure| panic!("{failure:?}"));
                scenario.variant(case.variant).unwrap();
            }
        }
    }

    #[test]
    fn the_largest_is_the_data_centre_of_the_decks() {
        let scenario = CASES[0].scenario(true).unwrap();
        let numbers = scenario.variant("ci").unwrap().derived(1);
        assert_eq!((numbers.hosts, numbers.switches), (1152, 72));
    }
}
