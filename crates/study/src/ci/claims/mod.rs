//! Claims about results: the words of the decks, and the numbers by which they are judged, each with
//! its rule and with what was expected before the runs.
//!
//! The study runs on traffic of its own ([`FRESH`](super::plan::FRESH), `seed=4`). Expectations rest on
//! runs with other seeds. Those at 128 servers with and without isolation are in the history of
//! docs/studies/ci.md to the digit, so an expectation of A1, A2 or A6 is a repetition and not a
//! prediction. "Open" means that nothing of the kind had been measured, or too little to go by.

mod early;
mod isolation;
mod queues;
mod quoted;
mod variations;

pub use early::EARLY_RESULTS;
pub use isolation::ISOLATION;
pub use queues::QUEUES_AND_LOSSES;
pub use quoted::CLAIMS;
pub use variations::{SUMMARY, VARIATIONS};

use crate::evidence::{Case, Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::{Logs, Measured};

use super::{CI, WITHOUT, case, largest};

/// From the variant without isolation to the one with it, of an experiment at its largest size.
pub(super) fn both(evidence: &Evidence, experiment: &'static str) -> (Case, Case) {
    let experiment = largest(evidence, experiment);
    (case(experiment, WITHOUT), case(experiment, CI))
}

pub(super) fn fct(evidence: &Evidence, experiment: &'static str, group: FlowGroup) -> Measured {
    let (without, with) = both(evidence, experiment);
    evidence.fct_change(without, with, group)
}

pub(super) fn fct_logs(evidence: &Evidence, experiment: &'static str, group: FlowGroup) -> Logs {
    let (without, with) = both(evidence, experiment);
    evidence.fct_logs(without, with, group)
}

/// The same at 128 servers, where all experiments have the same traffic.
pub(super) fn small_logs(evidence: &Evidence, experiment: &'static str, group: FlowGroup) -> Logs {
    evidence.fct_logs(case(experiment, WITHOUT), case(experiment, CI), group)
}

pub(super) fn of_facts(
    evidence: &Evidence,
    experiment: &'static str,
    number: impl Fn(&Facts) -> f64,
) -> Measured {
    let (without, with) = both(evidence, experiment);
    evidence.change(without, with, number)
}

pub(super) const TWO: &str = "two-queues";
pub(super) const THREE: &str = "three-queues";
pub(super) const LOSSY: &str = "lossy";

pub(in crate::ci) fn pauses(facts: &Facts) -> f64 {
    facts.number("pause_frames")
}

pub(super) fn paused(facts: &Facts) -> f64 {
    facts.number("paused_ns")
}

pub(super) fn cnps(facts: &Facts) -> f64 {
    facts.number("cnps_sent")
}

/// Of 1000 measured flows, those that lost a packet.
pub(in crate::ci) fn lossy_flows(facts: &Facts) -> f64 {
    facts.flows_with_loss as f64 / facts.measured as f64 * 1_000.0
}

/// XOFF frames for a class, of all switches.
pub(in crate::ci) fn class_pauses(facts: &Facts, class: u64) -> f64 {
    let tiers = 0..2;
    tiers.map(|tier| facts.number(&format!("tier_{tier}_class_{class}_xoff_frames"))).sum()
}

/// Packets dropped for an egress queue, over all runs of a case.
pub(in crate::ci) fn class_drops(evidence: &Evidence, case: Case, queue: u64) -> u64 {
    evidence.runs(case).filter_map(|(_, facts)| facts.drops.get(&queue)).sum()
}
