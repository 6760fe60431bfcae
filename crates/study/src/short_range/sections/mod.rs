//! The sections of the report: each has a heading, an answer in one sentence, charts and tables.

mod entries;
mod mixed;
mod over_time;
mod readings;
mod sweeps;

use floodway_report::study::Section;

use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::number;
use crate::measure::Measured;

use super::measures::{carried, change_over, entered, largest_response, latency, lost, response};
use super::plan::{backplane, mixed};
use super::{
    DRC, DRC_L2CI, DRC_STOP, ENTRIES, L2CI, NO_CONTROL, PAUSE, PAUSE_EGRESS, RED, case, sizes,
};

/// All sections in order.
pub fn sections(evidence: &Evidence) -> Vec<Section> {
    vec![
        sweeps::backplane(evidence),
        sweeps::multistage(evidence),
        readings::sweeps(evidence),
        entries::entries(evidence),
        readings::entries(evidence),
        mixed::mixed(evidence),
        readings::mixed(evidence),
    ]
    .into_iter()
    .filter(|section| !section.links.is_empty() && !section.exhibits.is_empty())
    .collect()
}

/// A mean of packets, in a few digits.
fn packets(evidence: &Evidence, of: Case) -> Measured {
    evidence.number(of, "packets", Facts::all_drops)
}

/// What the study answers.
pub fn answer(evidence: &Evidence) -> Vec<String> {
    let sizes = sizes(evidence, backplane);
    let change = |from, to, of| number(&change_over(evidence, (backplane, &sizes), (from, to), of));
    let requests = |from, of: fn(&Facts) -> f64| {
        number(&evidence.change(case(ENTRIES, from), case(ENTRIES, L2CI), of))
    };
    let lose = |kb, variant| number(&packets(evidence, case(mixed(kb), variant)));
    let both = |of: &dyn Fn(Case) -> Measured| {
        [PAUSE, L2CI, DRC_L2CI].map(|variant| number(&of(case(mixed(64), variant))))
    };
    let [entered_pause, entered_l2ci, entered_drc] =
        both(&|of| evidence.number(of, "Gb/s", entered));
    let [slowest_pause, slowest_l2ci, slowest_drc] =
        both(&|of| evidence.number(of, "ns", largest_response));
    vec![
        format!(
            "In the backplane, over buffers of 8 to 512 KB per port, Directional Rate Control changes \
             throughput by {} and mean latency by {} compared with 802.3x measured at output ports, and by \
             {} and {} compared with 802.3x measured at input ports. If it only stops directions, it \
             changes throughput by {} compared with 802.3x measured at input ports.",
            change(PAUSE_EGRESS, DRC, carried),
            change(PAUSE_EGRESS, DRC, latency),
            change(PAUSE, DRC, carried),
            change(PAUSE, DRC, latency),
            change(PAUSE, DRC_STOP, carried),
        ),
        format!(
            "L2 Congestion Indication changes the payload of completed requests by {} and the mean response \
             time by {} compared with no flow control, by {} and {} compared with 802.3x, and by {} and {} \
             compared with RED that drops.",
            requests(NO_CONTROL, entered),
            requests(NO_CONTROL, response),
            requests(PAUSE, entered),
            requests(PAUSE, response),
            requests(RED, entered),
            requests(RED, response),
        ),
        // The deck shows these numbers in an order that hides this comparison.
        format!(
            "In the network of slides 16 to 18, in which every client sends to every server, plain 802.3x \
             completes requests of {entered_pause} with a largest response time of {slowest_pause}. L2 \
             Congestion Indication comes to {entered_l2ci} and {slowest_l2ci}, and both mechanisms of the \
             deck together to {entered_drc} and {slowest_drc} (64 KB per port)."
        ),
        format!(
            "In that network with 64 KB per port, a run loses {} with RED that drops and {} with L2 \
             Congestion Indication; all runs together lose {} with 802.3x and {} with Directional Rate \
             Control. With 32 KB these numbers are {}, {}, {} and {}.",
            lose(64, RED),
            lose(64, L2CI),
            number(&lost(evidence, case(mixed(64), PAUSE))),
            number(&lost(evidence, case(mixed(64), DRC_L2CI))),
            lose(32, RED),
            lose(32, L2CI),
            number(&lost(evidence, case(mixed(32), PAUSE))),
            number(&lost(evidence, case(mixed(32), DRC_L2CI))),
        ),
    ]
}
