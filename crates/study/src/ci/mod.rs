//! Congestion Isolation: two IEEE 802.1 decks, "P802.1Qcz - Proposed Project for Congestion
//! Isolation" (IETF 101, March 2018; claims A1 to A11) and "Simulation Analysis of Congestion
//! Isolation" (January 2018; claims D1 to D13). Claims N1 and N2 are about
//! goals of the first that neither shows anything of.

mod claims;
mod goals;
mod plan;
mod readings;
mod sections;
mod setup;

use floodway_model::family::Entry;

use crate::evidence::{Case, Evidence};
use crate::flows::FlowGroup;
use crate::{Library, Study};

/// The study.
pub static STUDY: Study = Study {
    entry: Entry {
        family: "study",
        name: "ci",
        summary: "Congestion Isolation (IEEE 802.1Qcz): completion times, pauses and losses on a \
                  Clos fabric with RoCEv2 and DCQCN.",
    },
    title: "Congestion Isolation",
    question: "What does Congestion Isolation do to flows, pauses, queues and losses in a data \
               center fabric, and how much of it is as claimed?",
    library: Library::Built(&[
        ("scenarios/ci/lossless.toml", include_str!("../../../../scenarios/ci/lossless.toml")),
        ("scenarios/ci/ecn-step.toml", include_str!("../../../../scenarios/ci/ecn-step.toml")),
        (
            "scenarios/ci/three-queues.toml",
            include_str!("../../../../scenarios/ci/three-queues.toml"),
        ),
        (
            "scenarios/ci/memory-size.toml",
            include_str!("../../../../scenarios/ci/memory-size.toml"),
        ),
        (
            "scenarios/ci/memory-xoff.toml",
            include_str!("../../../../scenarios/ci/memory-xoff.toml"),
        ),
        (
            "scenarios/ci/memory-high.toml",
            include_str!("../../../../scenarios/ci/memory-high.toml"),
        ),
        ("scenarios/ci/latency.toml", include_str!("../../../../scenarios/ci/latency.toml")),
        ("scenarios/ci/lossy.toml", include_str!("../../../../scenarios/ci/lossy.toml")),
        (
            "scenarios/ci/lossy-go-back-n.toml",
            include_str!("../../../../scenarios/ci/lossy-go-back-n.toml"),
        ),
        ("scenarios/ci/full.toml", include_str!("../../../../scenarios/ci/full.toml")),
        (goals::TCP_UDP, include_str!("../../../../scenarios/ci/tcp-udp.toml")),
    ]),
    groups: GROUPS,
    // The same flow is compared with itself, and to the picosecond.
    keeps_flows: true,
    queries: &[],
    counters: &[],
    first_run: &[],
    plan: &plan::experiments,
    claims: claims::CLAIMS,
    rows: &[
        claims::EARLY_RESULTS,
        setup::ROWS_A,
        claims::ISOLATION,
        setup::ROWS_A_LINK,
        setup::ROWS_D,
        claims::VARIATIONS,
        claims::QUEUES_AND_LOSSES,
        claims::SUMMARY,
        goals::claims::TCP_MICE,
        goals::claims::TCP_ALL,
        goals::claims::UDP_LOST,
        goals::claims::UDP_ARRIVES,
        goals::claims::QUARTER_MICE,
        goals::claims::QUARTER_ALL,
        goals::claims::QUARTER_PAUSES,
        goals::claims::QUARTER_LOSSES,
    ],
    readings: &|evidence| readings::READINGS.judged(evidence),
    closest: Some(&readings::CLOSEST),
    answer: &sections::answer,
    sections: &sections::sections,
};

const WITHOUT: &str = "without-ci";
const LOCAL: &str = "ci-local";
const CI: &str = "ci";
const ALL_VARIANTS: &[&str] = &[WITHOUT, LOCAL, CI];

/// The sizes that both decks distinguish.
const MICE: FlowGroup = FlowGroup::all("<100 KB").below(100_000);
const MEDIUM: FlowGroup = FlowGroup::all("100 KB–1 MB").from(100_000).below(1_000_000);
const LARGE: FlowGroup = FlowGroup::all("1 MB–10 MB").from(1_000_000).below(10_000_000);
const ELEPHANTS: FlowGroup = FlowGroup::all(">10 MB").from(10_000_000);
const ALL: FlowGroup = FlowGroup::all("all flows");
const GROUPS: &[FlowGroup] = &[MICE, MEDIUM, LARGE, ELEPHANTS, ALL];

/// A variant of an experiment.
const fn case(experiment: &'static str, variant: &'static str) -> Case {
    Case { experiment, variant }
}

/// An experiment at the largest size at which it was run.
fn largest(evidence: &Evidence, experiment: &'static str) -> &'static str {
    match experiment {
        "two-queues" if evidence.has(case("two-queues-1152", WITHOUT)) => "two-queues-1152",
        _ => experiment,
    }
}

/// The queue in which flows begin, of the two-queue model with isolation: the decks' queue 1.
const MONITORED: u64 = 0;
/// The queue to which congesting flows are moved: the decks' queue 0.
const CONGESTING: u64 = 1;
