//! The DualQ Coupled AQM: the deck "Data Center to the Home" (K. De Schepper and others, March 2015;
//! claims C1 to C8), and results of the papers and the RFC that followed it (P1 to P6).

mod claims;
mod laws;
mod measures;
mod plan;
mod sections;
mod setup;

use floodway_model::family::Entry;

use crate::evidence::{Case, Evidence};
use crate::flows::FlowGroup;
use crate::plan::name;
use crate::{Library, Study};

/// The study.
pub static STUDY: Study = Study {
    entry: Entry {
        family: "study",
        name: "dualq",
        summary: "Data Center to the Home: Cubic and DCTCP on an access link, under RED, a coupled \
                  queue, the DualQ Coupled AQM and DualPI2.",
    },
    title: "Data Center to the Home: the DualQ Coupled AQM",
    question: "Can Cubic and DCTCP share an access link with equal rates, and can DCTCP do so without \
               queuing delay?",
    library: Library::Built(&[
        (GRID, include_str!("../../../../scenarios/dualq/grid.toml")),
        (ALONE_FILE, include_str!("../../../../scenarios/dualq/alone.toml")),
        (IDLE_FILE, include_str!("../../../../scenarios/dualq/idle.toml")),
        (LAW_FILE, include_str!("../../../../scenarios/dualq/law.toml")),
        (PI2_FILE, include_str!("../../../../scenarios/dualq/pi2-grid.toml")),
        (LOAD_FILE, include_str!("../../../../scenarios/dualq/load.toml")),
        (OVERLOAD_FILE, include_str!("../../../../scenarios/dualq/overload.toml")),
        (INTERACTIVE_FILE, include_str!("../../../../scenarios/dualq/interactive.toml")),
        (MODERN_FILE, include_str!("../../../../scenarios/dualq/modern.toml")),
    ]),
    groups: GROUPS,
    keeps_flows: false,
    queries: &[],
    first_run: &[],
    plan: &plan::experiments,
    claims: claims::CLAIMS,
    rows: &[
        setup::NETWORK,
        claims::alone::ALONE_FLOWS,
        claims::mixes::RED_CLAIMS,
        claims::laws::LAWS,
        claims::mixes::COUPLED_CLAIMS,
        claims::mixes::DUAL_CLAIMS,
        claims::mixes::ALL_MIXES,
        claims::mixes::RATIOS,
        claims::further::LINKS,
        claims::further::DYNAMIC,
    ],
    readings: &plan::readings,
    closest: None,
    answer: &sections::answer,
    sections: &sections::sections,
};

const GRID: &str = "scenarios/dualq/grid.toml";
const ALONE_FILE: &str = "scenarios/dualq/alone.toml";
const IDLE_FILE: &str = "scenarios/dualq/idle.toml";
const LAW_FILE: &str = "scenarios/dualq/law.toml";
const PI2_FILE: &str = "scenarios/dualq/pi2-grid.toml";
const LOAD_FILE: &str = "scenarios/dualq/load.toml";
const OVERLOAD_FILE: &str = "scenarios/dualq/overload.toml";
const INTERACTIVE_FILE: &str = "scenarios/dualq/interactive.toml";
const MODERN_FILE: &str = "scenarios/dualq/modern.toml";

const RED: &str = "red";
const COUPLED: &str = "coupled";
const DUALQ: &str = "dualq";
const DUALPI2: &str = "dualpi2";
const PIE: &str = "pie";
const PI2: &str = "pi2";

/// The queue management of grid.toml, with names and looks.
const AQMS: [(&str, &str, usize); 4] = [
    (RED, "RED", 0),
    (COUPLED, "coupled, one queue", 3),
    (DUALQ, "DualQ", 1),
    (DUALPI2, "DualPI2", 2),
];

/// The looks of the classic flows and queues, and of the scalable ones.
const CLASSIC_LOOK: usize = 2;
const SCALABLE_LOOK: usize = 1;

/// The workloads of Cubic or Reno, of DCTCP, and of a third.
const CLASSIC: u64 = 0;
const SCALABLE: u64 = 1;
const THIRD: u64 = 2;

const IDLE: &str = "idle";
const ALONE: &str = "alone";
const LOAD: &str = "load";

/// The messages of idle.toml.
const ONE_SEGMENT: FlowGroup = FlowGroup::all("one segment").below(2_000).of_workload(0);
const MANY_SEGMENTS: FlowGroup = FlowGroup::all("101 segments").from(2_000).of_workload(0);
/// The short flows of load.toml.
const SHORT_CLASSIC: FlowGroup = FlowGroup::all("<100 KB, Cubic").below(100_000).of_workload(2);
const SHORT_SCALABLE: FlowGroup = FlowGroup::all("<100 KB, DCTCP").below(100_000).of_workload(3);
const GROUPS: &[FlowGroup] = &[ONE_SEGMENT, MANY_SEGMENTS, SHORT_CLASSIC, SHORT_SCALABLE];

/// A variant of an experiment.
const fn case(experiment: &'static str, variant: &'static str) -> Case {
    Case { experiment, variant }
}

/// How many Cubic and how many DCTCP flows there are.
type Mix = (usize, usize);

/// A mix under one kind of queue management.
fn mix((cubic, dctcp): Mix, variant: &'static str) -> Case {
    case(name(&format!("mix-{cubic}-{dctcp}")), variant)
}

/// The mixes from none to ten flows of either kind that were run.
fn mixes(evidence: &Evidence, variant: &'static str) -> Vec<Mix> {
    plan::all_mixes().filter(|of| evidence.has(mix(*of, variant))).collect()
}

/// Of these, those with both kinds.
fn shared(evidence: &Evidence, variant: &'static str) -> Vec<Mix> {
    let both = |of: &Mix| of.0 > 0 && of.1 > 0;
    mixes(evidence, variant).into_iter().filter(both).collect()
}
