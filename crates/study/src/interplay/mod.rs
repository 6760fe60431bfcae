//! What Congestion Isolation adds to other congestion controls and on other switch memories: what the
//! deck "P802.1Qcz - Proposed Project for Congestion Isolation" (IETF 101, March 2018) names as next
//! steps, "Alternative switch memory architectures" and "Interaction with other CC algorithms (e.g.
//! BBR, other rate or time-based schemes)". The rows ask of each what its claims A1 and A2 say of
//! DCQCN on its own model.

mod claims;
mod plan;
mod sections;

use floodway_model::family::Entry;

use crate::evidence::Case;
use crate::flows::FlowGroup;
use crate::{Library, Study};

/// The study.
pub static STUDY: Study = Study {
    entry: Entry {
        family: "study",
        name: "interplay",
        summary: "Congestion Isolation with HPCC, Swift, TIMELY, DCTCP, BBR and QCN, and on shared, \
                  input-queued and virtual-output-queued switch memories.",
    },
    title: "Interplay of Congestion Isolation",
    question: "Does Congestion Isolation still help with other congestion controls, and with other \
               switch memories?",
    library: Library::Built(&[(LOSSLESS, include_str!("../../../../scenarios/ci/lossless.toml"))]),
    groups: GROUPS,
    keeps_flows: false,
    queries: &[],
    plan: &plan::experiments,
    claims: claims::CLAIMS,
    rows: &[claims::CONTROLS, claims::MEMORIES],
    readings: &crate::Judged::main_only,
    closest: None,
    answer: &sections::answer,
    sections: &sections::sections,
};

const LOSSLESS: &str = "scenarios/ci/lossless.toml";
const WITHOUT: &str = "without-ci";
const LOCAL: &str = "ci-local";
const CI: &str = "ci";

/// The sizes that the deck distinguishes.
const MICE: FlowGroup = FlowGroup::all("<100 KB").below(100_000);
const MIDDLE: FlowGroup = FlowGroup::all("100 KB–10 MB").from(100_000).below(10_000_000);
const ELEPHANTS: FlowGroup = FlowGroup::all(">10 MB").from(10_000_000);
const ALL: FlowGroup = FlowGroup::all("all flows");
const GROUPS: &[FlowGroup] = &[MICE, MIDDLE, ELEPHANTS, ALL];

/// A variant of an experiment.
const fn case(experiment: &'static str, variant: &'static str) -> Case {
    Case { experiment, variant }
}
