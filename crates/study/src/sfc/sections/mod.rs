//! The sections of the report: each has a heading, an answer in one sentence, charts and tables.

mod fairness;
mod flows;
mod loads;
mod next;
mod open;
mod queues;
mod rivals;

use floodway_report::statistics::Scale;
use floodway_report::study::Section;

use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{moves, number};
use crate::flows::FlowGroup;
use crate::measure::Measured;

use super::{INCAST, INTER, INTRA, LONG, MEDIUM, NATIVE, PFC, PROXY, SHORT, case, claims, main};

/// All sections in order.
pub fn sections(evidence: &Evidence) -> Vec<Section> {
    vec![
        flows::background(evidence),
        flows::incasts(evidence),
        queues::queues(evidence),
        queues::pauses(evidence),
        loads::loads(evidence),
        fairness::fairness(evidence),
        rivals::rivals(evidence),
        next::scale(evidence),
        next::distance(evidence),
        next::transports(evidence),
        open::open(evidence),
        flows::set_up(evidence),
    ]
    .into_iter()
    .filter(|section| !section.links.is_empty() && !section.exhibits.is_empty())
    .collect()
}

/// The mean completion time of a group with a variant compared with PFC, in the main experiment.
fn change(evidence: &Evidence, variant: &'static str, group: FlowGroup) -> Measured {
    let experiment = main(evidence);
    evidence.fct_change(case(experiment, PFC), case(experiment, variant), group)
}

/// Cases of the main experiment that were run, with their looks.
fn cases(
    evidence: &Evidence,
    variants: &[(&'static str, usize)],
) -> Vec<(&'static str, usize, Case)> {
    let experiment = main(evidence);
    let of = variants.iter().map(|(name, series)| (*name, *series, case(experiment, name)));
    of.filter(|(.., case)| evidence.has(*case)).collect()
}

/// What the variants are, for readers who have not seen the scenario.
const VARIANTS: &str = "The variants: `pfc`, the baseline, is priority-based flow control, which stops whole ports hop by \
    hop. With `sfc-native`, a switch with a deep queue notifies the sender, whose NIC holds back the data to \
    that destination. With `sfc-proxy`, the sender's edge switch converts the same message into a PFC frame, \
    which stops all data of that sender. `lossy` has no flow control, and `bfc` is backpressure per flow, \
    hop by hop. All have the same DCQCN, window and ECN.";

/// What the study answers.
pub fn answer(evidence: &Evidence) -> Vec<String> {
    let main = main(evidence);
    let moves_of = |variant, group| moves(&change(evidence, variant, group));
    let held = |variant| {
        let bytes = |facts: &crate::evidence::Facts| facts.number("switch_mean_occupancy_bytes");
        moves(&evidence.change(case(main, PFC), case(main, variant), bytes))
    };
    let sentence = |variant, how: &str| {
        format!(
            "With Source Flow Control {how} and {} hosts, compared with PFC, the mean completion time of \
             background messages below 10 KB {}, that of 10 KB to 1 MB {}, that of longer ones {}, and \
             that of incast messages {}. The mean number of bytes in a switch {}.",
            evidence.servers(main),
            moves_of(variant, SHORT),
            moves_of(variant, MEDIUM),
            moves_of(variant, LONG),
            moves_of(variant, INCAST),
            held(variant),
        )
    };
    let dropped = |variant| number(&evidence.number(case(main, variant), "", Facts::all_drops));
    let mut answer = vec![
        sentence(NATIVE, "in NICs (sfc-native)"),
        format!(
            "Switches drop {} packets per run with sfc-native and {} with sfc-proxy, compared with {} with \
             PFC.",
            dropped(NATIVE),
            dropped(PROXY),
            dropped(PFC),
        ),
        sentence(PROXY, "by a proxy at the edge switch (sfc-proxy)"),
    ];
    answer.extend(loads::answer(evidence));
    if evidence.has(case(INTRA, PFC)) {
        let index = |experiment, variant| {
            let index = |facts: &crate::evidence::Facts| facts.fairness(claims::SHARE_WINDOW);
            number(&evidence.on_scale(case(experiment, variant), Scale::SHARE, "", index))
        };
        let count = |variant, counter: &'static str| {
            number(&evidence.number(case(INTRA, variant), "", |facts| facts.number(counter)))
        };
        answer.push(format!(
            "Four senders at one switch share a link with a fairness index of {} with PFC, {} with sfc-proxy \
             and {} with sfc-native. With two of them at another switch, it is {}, {} and {}. With all at \
             one switch, PFC sends {} pause frames per run, sfc-proxy {} messages and sfc-native {}.",
            index(INTRA, PFC),
            index(INTRA, PROXY),
            index(INTRA, NATIVE),
            index(INTER, PFC),
            index(INTER, PROXY),
            index(INTER, NATIVE),
            count(PFC, "pause_frames"),
            count(PROXY, "sfc_messages"),
            count(NATIVE, "sfc_messages"),
        ));
    }
    answer
}
