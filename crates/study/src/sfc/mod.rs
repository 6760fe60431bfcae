//! Source Flow Control: the IEEE 802.1 deck "Source Flow Control Simulation Results: Fairness and
//! Performance" (interim of May 2022; claims E1 to E8), and three statements of its introduction
//! (S1 to S3). Claims N1 to N3 are about what the deck names and does not show.

mod claims;
mod next;
mod plan;
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
        name: "sfc",
        summary: "Source Flow Control (P802.1Qdw): background traffic, incasts, queues and fairness \
                  on a fat-tree with RoCEv2 and DCQCN.",
    },
    title: "Source Flow Control",
    question: "What does Source Flow Control do to background traffic, incasts, queues and fairness, \
               compared with PFC, with no flow control and with backpressure by flow?",
    library: Library::Built(&[
        ("scenarios/sfc/benefits.toml", include_str!("../../../../scenarios/sfc/benefits.toml")),
        (
            "scenarios/sfc/fairness-intra.toml",
            include_str!("../../../../scenarios/sfc/fairness-intra.toml"),
        ),
        (
            "scenarios/sfc/fairness-inter.toml",
            include_str!("../../../../scenarios/sfc/fairness-inter.toml"),
        ),
        ("scenarios/sfc/idle.toml", include_str!("../../../../scenarios/sfc/idle.toml")),
        (next::BUILDINGS, include_str!("../../../../scenarios/sfc/buildings.toml")),
        (next::TRANSPORTS, include_str!("../../../../scenarios/sfc/transports.toml")),
    ]),
    groups: GROUPS,
    // Millions of flows a run: what groups come to is enough.
    keeps_flows: false,
    queries: &[],
    first_run: &[],
    plan: &plan::experiments,
    claims: claims::CLAIMS,
    rows: &[
        setup::NETWORK,
        claims::BENEFITS,
        claims::FAIRNESS,
        setup::PARAMETERS,
        claims::CROSS_CHECK,
        claims::STATEMENTS,
        next::claims::SHORT_AT_SCALE,
        next::claims::MEDIUM_AT_SCALE,
        next::claims::GAIN_AT_SCALE,
        next::claims::SHORT_BY_RTT,
        next::claims::OCCUPANCY_BY_RTT,
        next::claims::DROPS_BY_RTT,
        next::claims::INCAST_BY_RTT,
        next::claims::OVER_TCP,
        next::claims::INCASTS_OVER_TCP,
        next::claims::OVER_UDP,
        next::claims::UDP_OVERLOAD,
    ],
    readings: &plan::readings,
    closest: None,
    answer: &sections::answer,
    sections: &sections::sections,
};

const PFC: &str = "pfc";
const PROXY: &str = "sfc-proxy";
const NATIVE: &str = "sfc-native";
const LOSSY: &str = "lossy";
const BFC: &str = "bfc";

/// Variants with their looks.
const MAIN: &[(&str, usize)] = &[(PFC, 0), (PROXY, 1), (NATIVE, 2)];
const ALL_VARIANTS: &[(&str, usize)] = &[(PFC, 0), (PROXY, 1), (NATIVE, 2), (LOSSY, 3), (BFC, 4)];

/// The messages of the background that the deck distinguishes.
const SHORT: FlowGroup = FlowGroup::all("background <10 KB").below(10_000).of_workload(0);
const MEDIUM: FlowGroup =
    FlowGroup::all("background 10 KB–1 MB").from(10_000).below(1_000_000).of_workload(0);
const LONG: FlowGroup = FlowGroup::all("background >1 MB").from(1_000_000).of_workload(0);
const INCAST: FlowGroup = FlowGroup::all("incast 256 KB").of_workload(1);
const BACKGROUND: &[FlowGroup] = &[SHORT, MEDIUM, LONG];
const GROUPS: &[FlowGroup] = &[SHORT, MEDIUM, LONG, INCAST];

/// The experiment with the deck's load, on two pods and on all five.
const SMALL: &str = "benefits-128";
const LARGE: &str = "benefits-320";
const INTRA: &str = "fairness-intra";
const INTER: &str = "fairness-inter";
const IDLE: &str = "idle";

/// A variant of an experiment.
const fn case(experiment: &'static str, variant: &'static str) -> Case {
    Case { experiment, variant }
}

/// The experiment with the deck's load at the largest size at which it was run.
fn main(evidence: &Evidence) -> &'static str {
    if evidence.has(case(LARGE, PFC)) { LARGE } else { SMALL }
}
