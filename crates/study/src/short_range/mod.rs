//! Rate control in short-range interconnects: the deck "Rate Control in Short Range 802.3
//! Interconnects" (M. Wadekar, G. McAlpine and T. Gupta, September 2004; claims B1 to B10).

mod claims;
mod measures;
mod plan;
mod sections;
mod setup;

use floodway_model::family::Entry;

use crate::evidence::{Case, Evidence};
use crate::{Library, Study};

/// The study.
pub static STUDY: Study = Study {
    entry: Entry {
        family: "study",
        name: "short-range",
        summary: "Rate Control in Short Range 802.3 Interconnects: PAUSE, Directional Rate Control \
                  and L2 Congestion Indication in backplanes, and under TCP.",
    },
    title: "Rate Control in Short Range 802.3 Interconnects",
    question: "Do Directional Rate Control and L2 Congestion Indication increase the throughput of \
               networks with little memory, and reduce latency and losses?",
    library: Library::Built(&[
        (BACKPLANE, include_str!("../../../../scenarios/short-range/backplane.toml")),
        (MULTISTAGE, include_str!("../../../../scenarios/short-range/multistage.toml")),
        (ENTRIES_FILE, include_str!("../../../../scenarios/short-range/entries.toml")),
        (MIXED, include_str!("../../../../scenarios/short-range/mixed.toml")),
    ]),
    groups: &[],
    keeps_flows: false,
    queries: &[],
    plan: &plan::experiments,
    claims: claims::CLAIMS,
    rows: &[
        setup::NETWORKS,
        claims::sweeps::BACKPLANE_CLAIMS,
        claims::sweeps::MULTISTAGE_CLAIMS,
        claims::entries::ENTRIES_CLAIMS,
        claims::mixed::MIXED_CLAIMS,
        setup::FORMAT,
    ],
    readings: &plan::readings,
    closest: None,
    answer: &sections::answer,
    sections: &sections::sections,
};

const BACKPLANE: &str = "scenarios/short-range/backplane.toml";
const MULTISTAGE: &str = "scenarios/short-range/multistage.toml";
const ENTRIES_FILE: &str = "scenarios/short-range/entries.toml";
const MIXED: &str = "scenarios/short-range/mixed.toml";

const NO_CONTROL: &str = "none";
const PAUSE: &str = "pause";
const PAUSE_EGRESS: &str = "pause-egress";
const DRC: &str = "drc";
const DRC_STOP: &str = "drc-stop";
const RED: &str = "red";
const L2CI: &str = "l2ci";
const DRC_L2CI: &str = "drc-l2ci";

/// The variants of the sweeps, with names and looks.
const SWEPT: [(&str, &str, usize); 5] = [
    (NO_CONTROL, "no flow control", 0),
    (PAUSE, "802.3x, measured where frames come in", 2),
    (PAUSE_EGRESS, "802.3x, measured where frames go out", 4),
    (DRC, "DRC, rates and stops", 1),
    (DRC_STOP, "DRC, stops only", 3),
];

/// The variants of entries.toml, likewise.
const OVER_ENTRIES: [(&str, &str, usize); 4] = [
    (NO_CONTROL, "no flow control", 0),
    (PAUSE, "802.3x", 2),
    (RED, "RED", 3),
    (L2CI, "RED with ECN by L2-CI", 1),
];

/// The variants of mixed.toml, likewise.
const OVER_MIXED: [(&str, &str, usize); 4] = [
    (RED, "NoFC_RED", 0),
    (PAUSE, "802.3x", 2),
    (L2CI, "NoFC_RED_ECN", 1),
    (DRC_L2CI, "DRC_RED_ECN", 3),
];

/// Peaks without any congestion, of backplane.toml and multistage.toml.
const PEAK_BACKPLANE: &str = "peak-backplane";
const PEAK_MULTISTAGE: &str = "peak-multistage";
/// entries.toml as it stands.
const ENTRIES: &str = "entries";

/// The workloads of entries.toml.
const TO_SERVER_1: u64 = 0;
const TO_SERVER_2: u64 = 1;

/// A variant of an experiment.
const fn case(experiment: &'static str, variant: &'static str) -> Case {
    Case { experiment, variant }
}

/// Those of the sizes of a sweep that were run.
fn sizes(evidence: &Evidence, sweep: fn(u32) -> &'static str) -> Vec<u32> {
    let run = |kb: &u32| evidence.has(case(sweep(*kb), NO_CONTROL));
    plan::SIZES.into_iter().filter(run).collect()
}
