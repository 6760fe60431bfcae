//! Claims about the set-up: whether the scenarios are what the decks describe.

use floodway_scenario::topology;

use crate::claim::{Row, Rule, SET_UP};
use crate::evidence::Evidence;
use crate::library::Value;
use crate::measure::Measured;

use super::{CI, MICE, WITHOUT, case};

const LOSSLESS: &str = "scenarios/ci/lossless.toml";
const FULL: &str = "scenarios/ci/full.toml";

/// Of the deck of January 2018.
pub const ROWS_D: &[Row] = &[
    Row {
        id: "D1",
        part: "smallest",
        metric: "servers of lossless.toml",
        claimed: "128 servers",
        source: "2018-01, simulation set-up",
        rule: Rule::Exactly(128.0),
        expected: SET_UP,
        measure: &|e| servers(e, LOSSLESS),
    },
    Row {
        id: "D1",
        part: "largest",
        metric: "servers of full.toml",
        claimed: "1152 servers",
        source: "2018-01, simulation set-up",
        rule: Rule::Exactly(1152.0),
        expected: SET_UP,
        measure: &|e| servers(e, FULL),
    },
    Row {
        id: "D1",
        part: "switches",
        metric: "switches of full.toml",
        claimed: "72 switches (24 in the smallest)",
        source: "2018-01, simulation set-up",
        rule: Rule::Exactly(72.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(FULL, WITHOUT, "", |of| of.graph().switches().count() as f64),
    },
    Row {
        id: "D1",
        part: "mice",
        metric: "share of measured flows < 100 KB",
        claimed: "82 % mice",
        source: "2018-01, simulation set-up",
        rule: Rule::Between(80.0, 84.0),
        expected: SET_UP,
        measure: &|evidence| {
            evidence.share(case("two-queues", WITHOUT), "% of flows", |facts| {
                facts.group(MICE).flows() as f64 / facts.measured as f64
            })
        },
    },
    Row {
        id: "D2",
        part: "",
        metric: "thresholds of lossless.toml that are the deck's, of 12",
        claimed: "XOFF 750 KB, XON 4 KB, queue 1 MB; 10 KB, 300 KB, 1 % for ECN and for isolation",
        source: "2018-01, compared solutions",
        rule: Rule::Exactly(12.0),
        expected: SET_UP,
        measure: &|e| e.values_as_in(THRESHOLDS),
    },
];

/// Of the deck for IETF 101, where they come after the early results.
pub const ROWS_A: &[Row] = &[
    Row {
        id: "A4",
        part: "many-to-many",
        metric: "hosts of full.toml that send to all others of their cluster of 21",
        claimed: "50 clusters of 21",
        source: "IETF 101, simulation highlights",
        rule: Rule::Exactly(1050.0),
        expected: SET_UP,
        measure: &|e| e.of_variant(FULL, WITHOUT, "", |of| of.workloads()[0].hosts() as f64),
    },
    Row {
        id: "A4",
        part: "incast",
        metric: "flows of full.toml that never end",
        claimed: "4 permanent incasts of 20:1",
        source: "IETF 101, simulation highlights",
        rule: Rule::Exactly(80.0),
        expected: SET_UP,
        measure: &|e| {
            e.of_variant(FULL, WITHOUT, "", |of| of.workloads()[1].persistent_flows() as f64)
        },
    },
    Row {
        id: "A5",
        part: "",
        metric: "thresholds of lossless.toml that are the deck's, of 12",
        claimed: "queue 1 MB, XOFF 750 KB; 10 KB, 300 KB, 1 % for ECN and for isolation",
        source: "IETF 101, queue models",
        rule: Rule::Exactly(12.0),
        expected: SET_UP,
        measure: &|e| e.values_as_in(THRESHOLDS),
    },
];

/// Of the same deck: the length of a link.
pub const ROWS_A_LINK: &[Row] = &[Row {
    id: "A11",
    part: "",
    metric: "length of fibre (group index 1.468) that delays by a link's 200 ns",
    claimed: "200 ns are about 40 m",
    source: "IETF 101, simulation highlights",
    rule: Rule::Between(38.0, 42.0),
    expected: SET_UP,
    measure: &|e| {
        e.of_variant(LOSSLESS, WITHOUT, "m", |of| {
            let topology::Spec::Clos(clos) = &of.settings.topology else {
                unreachable!("lossless.toml is a Clos network")
            };
            clos.fabric_delay.as_ns() / (1.468 / 0.299_792_458)
        })
    },
}];

fn servers(evidence: &Evidence, file: &str) -> Measured {
    evidence.of_variant(file, WITHOUT, "", |of| of.graph().hosts().count() as f64)
}

/// What the decks say of queues and thresholds.
const THRESHOLDS: &[Value] = &[
    (LOSSLESS, WITHOUT, "/switch/queue/size", "1MB"),
    (LOSSLESS, WITHOUT, "/switch/flow_control/pfc/xoff", "750KB"),
    (LOSSLESS, WITHOUT, "/switch/flow_control/pfc/xon", "4KB"),
    (LOSSLESS, WITHOUT, "/switch/aqm/ramp/kmin", "10KB"),
    (LOSSLESS, WITHOUT, "/switch/aqm/ramp/kmax", "300KB"),
    (LOSSLESS, WITHOUT, "/switch/aqm/ramp/pmax", "0.01"),
    (LOSSLESS, CI, "/switch/queue/size", "1MB"),
    (LOSSLESS, CI, "/switch/flow_control/pfc/xoff", "750KB"),
    (LOSSLESS, CI, "/switch/flow_control/pfc/xon", "4KB"),
    (LOSSLESS, CI, "/switch/flow_control/congestion_isolation/curve/kmin", "10KB"),
    (LOSSLESS, CI, "/switch/flow_control/congestion_isolation/curve/kmax", "300KB"),
    (LOSSLESS, CI, "/switch/flow_control/congestion_isolation/curve/pmax", "0.01"),
];
