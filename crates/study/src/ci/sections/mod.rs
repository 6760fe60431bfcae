//! The sections of the report: each has a heading, an answer in one sentence, charts and tables.

mod ablation;
mod flows;
mod goals;
mod losses;
mod pauses;
mod queues;
mod readings;
mod size;
mod variations;

use floodway_report::study::Section;

use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Comparison, moves, number, value};
use crate::flows::FlowGroup;

use super::{ALL, CI, ELEPHANTS, LOCAL, MICE, WITHOUT, case, largest};

/// All sections in order.
pub fn sections(evidence: &Evidence) -> Vec<Section> {
    vec![
        ablation::ablation(evidence),
        readings::readings(evidence),
        flows::two_queues(evidence),
        ablation::ecn(evidence),
        flows::three_queues(evidence),
        pauses::pauses(evidence),
        queues::depths(evidence),
        losses::losses(evidence),
        variations::memory(evidence),
        variations::latency(evidence),
        size::scaling(evidence),
        goals::transports(evidence),
        goals::buffers(evidence),
        flows::conformity(evidence),
        readings::closest(evidence),
    ]
    .into_iter()
    .filter(|section| !section.links.is_empty() && !section.exhibits.is_empty())
    .collect()
}

/// What the study answers.
pub fn answer(evidence: &Evidence) -> Vec<String> {
    let main = largest(evidence, "two-queues");
    let change = |experiment, group| {
        moves(&evidence.fct_change(case(experiment, WITHOUT), case(experiment, CI), group))
    };
    let pauses = |experiment| {
        let frames = |facts: &Facts| facts.number("pause_frames");
        moves(&evidence.change(case(experiment, WITHOUT), case(experiment, CI), frames))
    };
    let sentence = |experiment| {
        format!(
            "isolation changes flows as follows: the mean completion time of mice {}, that of elephants \
             {}, and that of all flows {}. The number of pause frames {}",
            change(experiment, MICE),
            change(experiment, ELEPHANTS),
            change(experiment, ALL),
            pauses(experiment)
        )
    };
    let mut answer = vec![format!(
        "With ECN taken literally from the decks (at most 1 % of packets are marked) and {} servers, {}.",
        evidence.servers(main),
        sentence(main)
    )];
    if evidence.has(case("ecn-step", CI)) {
        let frames = |experiment| {
            let frames = |facts: &Facts| facts.number("pause_frames");
            value(&evidence.number(case(experiment, WITHOUT), "", frames))
        };
        answer.push(format!(
            "With ECN as a step (every packet above the high threshold is marked, as in RED and DCQCN) \
             and {} servers, {}. Without isolation, there are {} pause frames per run with ECN as a step \
             and {} with ECN of at most 1 %.",
            evidence.servers("ecn-step"),
            sentence("ecn-step"),
            frames("ecn-step"),
            frames("two-queues"),
        ));
    }
    let lossy = largest(evidence, "lossy");
    if evidence.has(case(lossy, CI)) {
        let (from, to) = (case(lossy, WITHOUT), case(lossy, CI));
        let change = |number: fn(&Facts) -> f64| moves(&evidence.change(from, to, number));
        answer.push(format!(
            "Without PFC and with ECN of at most 1 %, isolation changes losses as follows: the loss rate \
             {}, and the number of flows that lose a packet {}.{}",
            change(Facts::loss_rate),
            change(super::claims::lossy_flows),
            loss_rates(evidence)
        ));
    }
    answer
}

/// The loss rates with both kinds of ECN, in sentences that begin with a space; empty if only one was
/// run. A change alone hides that ECN as a step leaves little to lose.
fn loss_rates(evidence: &Evidence) -> String {
    let rate = |experiment, variant| {
        number(&evidence.share(case(experiment, variant), "% of packets", Facts::loss_rate))
    };
    let kinds = [(largest(evidence, "lossy"), "of at most 1 %"), ("lossy-ecn-step", "as a step")];
    if !kinds.iter().all(|(experiment, _)| evidence.has(case(experiment, CI))) {
        return String::new();
    }
    let sentence = |(experiment, ecn): (&'static str, &str)| {
        format!(
            " With ECN {ecn}, {} are lost without isolation and {} with it.",
            rate(experiment, WITHOUT),
            rate(experiment, CI)
        )
    };
    kinds.map(sentence).concat()
}

/// Both variants with isolation, each compared with the one without, of an experiment.
fn against_without(
    evidence: &Evidence,
    experiment: &'static str,
    claimed: &'static [(FlowGroup, f64)],
) -> Vec<Comparison> {
    let of = |variant, series, claimed| Comparison {
        label: variant,
        series,
        from: case(experiment, WITHOUT),
        to: case(experiment, variant),
        claimed,
    };
    let all = [of(LOCAL, 1, &[]), of(CI, 2, claimed)];
    all.into_iter().filter(|comparison| evidence.has(comparison.to)).collect()
}
