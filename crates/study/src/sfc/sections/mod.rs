//! The sections of the report: each experiment a question, its charts, an answer in one sentence.

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

/// The mean completion time of a group, of a variant against PFC, in the main experiment.
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
const VARIANTS: &str = "What is compared: pfc is priority-based flow control, which stops whole ports hop by hop; the \
    baseline. With sfc-native a switch with a deep queue tells the sender, whose NIC holds back what goes \
    to that destination. With sfc-proxy the sender's edge switch turns the same message into a PFC frame, \
    which stops all data of that sender. lossy has no flow control, and bfc is backpressure by \
    flow, hop by hop. All have the same DCQCN, window and ECN.";

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
            "With Source Flow Control {how} and {} hosts, the mean completion time of background \
             messages below 10 KB {}, of those of 10 KB to 1 MB {}, of longer ones {}, and of incasts \
             {}, against PFC; the mean number of bytes in a switch {}.",
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
        sentence(NATIVE, "that NICs obey by destination"),
        format!(
            "The price: switches drop {} packets a run with NICs that obey and {} with the proxy, and \
             {} with PFC.",
            dropped(NATIVE),
            dropped(PROXY),
            dropped(PFC),
        ),
        sentence(PROXY, "through the proxy at the edge switch"),
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
            "Four senders share a link with a fairness index of {} with PFC, {} with the proxy and {} \
             with NICs that obey; with two of them far away, {}, {} and {}. PFC sends {} pause frames in a run, Source Flow Control {} and {} messages.",
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
