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
    /// Settings for all lengths. They fix what decides the amount of work, so that a scenario can
    /// be tuned without making figures of different days incomparable.
    settings: &'static [&'static str],
    /// Settings by [`Length`].
    lengths: [&'static [&'static str]; 3],
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Long enough to compare speeds.
    Full,
    /// Long enough to see that all is well.
    Quick,
    /// As short as it can be for instructions to be counted.
    Brief,
}

/// Half of every host's link, from an empty network on.
const CI: &[&str] = &["workload.0.many_to_many.load=0.5", "warmup=0ns", "sample_interval=10us"];

/// Background traffic and incasts on the hosts of two pods, from an empty network on.
const SFC: &[&str] = &[
    "topology.fat_tree.pods=2",
    "workload.0.many_to_many.cluster_size=128",
    "workload.0.many_to_many.load=0.5",
    "workload.1.incast_series.hosts=128",
    "workload.1.incast_series.load=0.08",
    "warmup=0ns",
    "sample_interval=10us",
];

/// Five flows of Cubic and five of DCTCP, from their start on.
const DUALQ: &[&str] =
    &["workload.0.long_flows.count=5", "workload.1.long_flows.count=5", "warmup=0ns"];

/// The scenarios of all cases, with those that they extend.
const LIBRARY: &[(&str, &str)] = &[
    ("scenarios/ci/full.toml", include_str!("../../../../scenarios/ci/full.toml")),
    ("scenarios/ci/lossless.toml", include_str!("../../../../scenarios/ci/lossless.toml")),
    ("scenarios/sfc/benefits.toml", include_str!("../../../../scenarios/sfc/benefits.toml")),
    ("scenarios/dualq/grid.toml", include_str!("../../../../scenarios/dualq/grid.toml")),
    ("plain.toml", include_str!("plain.toml")),
    ("flows.toml", include_str!("flows.toml")),
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
    // Beside the one that it extends.
    ("scenarios/ci/large.toml", include_str!("large.toml")),
];

/// All cases.
pub const CASES: &[Case] = &[
    // 1152 servers with Congestion Isolation, PFC and DCQCN; an acknowledgement per packet.
    Case {
        name: "ci-1152",
        file: "scenarios/ci/full.toml",
        variant: "ci",
        settings: CI,
        lengths: [
            &["arrivals=5.9ms", "limit=6ms"],
            &["arrivals=1.4ms", "limit=1.5ms"],
            &["arrivals=20us", "limit=21us"],
        ],
    },
    // The same with 128 servers, which fit into the caches of one core.
    Case {
        name: "ci-128",
        file: "scenarios/ci/lossless.toml",
        variant: "ci",
        settings: CI,
        lengths: [
            &["arrivals=19.9ms", "limit=20ms"],
            &["arrivals=2.9ms", "limit=3ms"],
            &["arrivals=490us", "limit=500us"],
        ],
    },
    // Source Flow Control and a shared memory in two pods of the fat tree of its deck, with incasts.
    Case {
        name: "sfc-128",
        file: "scenarios/sfc/benefits.toml",
        variant: "sfc-proxy",
        settings: SFC,
        lengths: [
            &["arrivals=9.9ms", "limit=10ms"],
            &["arrivals=0.9ms", "limit=1ms"],
            &["arrivals=190us", "limit=200us"],
        ],
    },
    // TCP on an access link with DualPI2: few nodes, long times between events.
    Case {
        name: "dualq-tcp",
        file: "scenarios/dualq/grid.toml",
        variant: "dualpi2",
        settings: DUALQ,
        lengths: [
            &["arrivals=599s", "limit=600s"],
            &["arrivals=59s", "limit=60s"],
            &["arrivals=14s", "limit=15s"],
        ],
    },
    // The engine, forwarding and queues with nothing on: 128 hosts in pairs at a constant rate.
    Case {
        name: "plain-128",
        file: "plain.toml",
        variant: "base",
        settings: &["warmup=0ns", "sample_interval=10us"],
        lengths: [
            &["arrivals=1ms", "limit=20ms"],
            &["arrivals=1ms", "limit=3ms"],
            &["arrivals=50us", "limit=120us"],
        ],
    },
    // As many flows as there are hosts, none of which ends: open flows and nothing else.
    Case {
        name: "flows-128",
        file: "flows.toml",
        variant: "base",
        settings: &["warmup=0ns", "sample_interval=10us"],
        lengths: [
            &["arrivals=1ms", "limit=10ms"],
            &["arrivals=1ms", "limit=1.5ms"],
            &["arrivals=20us", "limit=30us"],
        ],
    },
    // One congested port.
    Case {
        name: "incast",
        file: "incast.toml",
        variant: "base",
        settings: &[],
        lengths: [&[], &["limit=50ms"], &["limit=2ms"]],
    },
    // An experiment of the HPCC authors' simulator, as `floodway import hpcc` writes it: 128 hosts, of
    // which it sends as many packets in as much time.
    Case {
        name: "hpcc-case-b",
        file: "scenarios/peers/hpcc-case-b/scenario.toml",
        variant: "base",
        settings: &[],
        // Its flows are as they are: all lengths are the whole of it.
        lengths: [&[], &[], &[]],
    },
    // 100,000 hosts and 300,000 flows: mostly what it takes to set them up.
    Case {
        name: "large",
        file: "scenarios/ci/large.toml",
        variant: "ci",
        settings: &[],
        lengths: [
            &[],
            &["topology.fat_tree.k=32", "workload.0.poisson.flows_per_second=3e10"],
            &["topology.fat_tree.k=8", "workload.0.poisson.flows_per_second=5e8"],
        ],
    },
];

/// The case of this name.
pub fn named(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).expect("it is one of them")
}

/// The names of all cases.
pub fn names() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|case| case.name)
}

impl Case {
    /// Its scenario, with further settings.
    pub fn scenario(&self, length: Length, set: &[String]) -> Result<Scenario, Failure> {
        let fixed = self.settings.iter().chain(self.lengths[length as usize]);
        let fixed = fixed.map(|&setting| setting.to_owned());
        let set = fixed.chain(set.iter().cloned()).collect();
        Ok(Scenario::of_library(LIBRARY, self.file, &Overrides { quick: false, set })?)
    }
}

impl Length {
    /// What chooses it on the command line.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Quick => Some("--quick"),
            Self::Brief => Some("--brief"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_valid_in_every_length() {
        for case in CASES {
            for length in [Length::Full, Length::Quick, Length::Brief] {
                let scenario = case.scenario(length, &[]);
                let scenario = scenario.unwrap_or_else(|failure| panic!("{failure:?}"));
                scenario.variant(case.variant).unwrap();
            }
        }
    }

    #[test]
    fn the_largest_is_the_data_center_of_the_decks() {
        let scenario = CASES[0].scenario(Length::Quick, &[]).unwrap();
        let numbers = scenario.variant("ci").unwrap().derived(1);
        assert_eq!((numbers.hosts, numbers.switches), (1152, 72));
    }
}
