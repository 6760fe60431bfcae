//! Completion times: two queues, three queues, degrees of conformity.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::Section;

use super::against_without;
use crate::ci::{ALL, CI, ELEPHANTS, GROUPS, LOCAL, MICE, WITHOUT, case, largest};
use crate::evidence::Evidence;
use crate::exhibit::{Comparison, Entry, moves, number, rows, table};
use crate::flows::FlowGroup;

/// What the deck for IETF 101 gives, by size group.
const EARLY: &[(FlowGroup, f64)] = &[(MICE, -63.0), (ELEPHANTS, -23.0), (ALL, -38.0)];

/// Claims A1, A6, D3.
pub fn two_queues(evidence: &Evidence) -> Section {
    let main = largest(evidence, "two-queues");
    let question = "Completion times with two queues";
    let mut section =
        evidence.section("two-queues", question, &["A1", "A6", "D3"], &["two-queues", main]);
    let change = |group| moves(&evidence.fct_change(case(main, WITHOUT), case(main, CI), group));
    section.answer = format!(
        "With isolation, the mean completion time of mice {}, that of elephants {}, and that of all \
         flows {}.",
        change(MICE),
        change(ELEPHANTS),
        change(ALL)
    );
    section.text = vec![format!(
        "{} servers send each other flows of the data-mining distribution, while permanent incasts \
         congest some links for the whole run. Without isolation, a hash of the destination spreads \
         flows over two queues, each with ECN and PFC. With isolation, flows begin in one queue and are \
         moved to the other when a switch finds that they cause congestion. With ci-local each switch \
         does so on its own; with ci it also notifies the switch upstream.",
        evidence.servers(main)
    )];
    let left =
        evidence.unfinished_in_words(&[WITHOUT, LOCAL, CI].map(|variant| case(main, variant)));
    section.text.extend((!left.is_empty()).then_some(left));
    for experiment in if main == "two-queues" { vec![main] } else { vec![main, "two-queues"] } {
        let caption = format!(
            "Change of the mean completion time with isolation, by flow size ({} servers)",
            evidence.servers(experiment)
        );
        let comparisons = against_without(evidence, experiment, EARLY);
        section.exhibits.push(evidence.changes(experiment, &caption, "", &comparisons));
    }
    section.exhibits.push(times(evidence, main));
    section
}

/// Mean completion times themselves.
fn times(evidence: &Evidence, experiment: &'static str) -> floodway_report::study::Exhibit {
    let variants = [WITHOUT, LOCAL, CI].into_iter().enumerate();
    let variants: Vec<_> =
        variants.filter(|(_, variant)| evidence.has(case(experiment, variant))).collect();
    let groups = GROUPS.iter().map(|group| {
        let entry = |(series, variant): &(usize, &'static str)| {
            Entry::new(*variant, *series, evidence.fct(case(experiment, variant), *group))
        };
        (group.label.to_owned(), variants.iter().map(entry).collect())
    });
    rows(
        &format!("{experiment}-times"),
        "Mean completion time by flow size",
        Axis::log("mean completion time, logarithmic", "ns"),
        Mark::Point,
        "Flows that had not finished count with the time that they had taken until the end of the run.",
        groups.collect(),
    )
}

/// Claims A7, D3.
pub fn three_queues(evidence: &Evidence) -> Section {
    let (main, two) = ("three-queues", "two-queues");
    let question = "Completion times with a third queue for mice";
    let mut section = evidence.section("three-queues", question, &["A7", "D3"], &[main, two]);
    if !evidence.has(case(main, CI)) {
        return section;
    }
    let change = |experiment, group| {
        moves(&evidence.fct_change(case(experiment, WITHOUT), case(experiment, CI), group))
    };
    section.answer = format!(
        "With isolation and three queues, the mean completion time of mice {}, and that of all flows {}. \
         With isolation and two queues, that of mice {}.",
        change(main, MICE),
        change(main, ALL),
        change(two, MICE)
    );
    section.text = vec![
        "Flows below 100 KB have a queue with strict priority, both without isolation and with it. The \
         two other queues are those of the two-queue model. The decks say that mice are prioritized, but \
         not how. Here the sender knows the size of a flow and assigns its packets to the queue."
            .to_owned(),
    ];
    let of = |label, series, experiment| {
        Comparison::new(label, series, case(experiment, WITHOUT), case(experiment, CI))
    };
    let comparisons = [of("two queues", 2, two), of("three queues", 3, main)];
    let caption =
        "Change of the mean completion time with isolation, with two and with three queues";
    section.exhibits.push(evidence.changes("three-queues", caption, "", &comparisons));
    let mut rows = Vec::new();
    for (model, experiment) in [("two queues", two), ("three queues", main)] {
        for variant in [WITHOUT, CI] {
            let time = |group: &FlowGroup| number(&evidence.fct(case(experiment, variant), *group));
            let mut row = vec![format!("{model}, {variant}")];
            row.extend(GROUPS.iter().map(time));
            rows.push(row);
        }
    }
    let mut head = vec![""];
    head.extend(GROUPS.iter().map(|group| group.label));
    let caption = "Mean completion times in both models";
    section.exhibits.push(table("three-queues-times", caption, "", &head, rows));
    section
}

/// Claim A10.
pub fn conformity(evidence: &Evidence) -> Section {
    let (pfc, lossy) = (largest(evidence, "two-queues"), largest(evidence, "lossy"));
    let question = "Degrees of conformity: local isolation, and messages upstream";
    let mut section =
        evidence.section("conformity", question, &["A10a", "A10b", "A10c"], &[pfc, lossy]);
    let change = |experiment, from, to, group| {
        evidence.fct_change(case(experiment, from), case(experiment, to), group)
    };
    section.answer = format!(
        "With PFC and local isolation, the mean completion time of all flows {}. With messages to the \
         switch upstream, compared with local isolation, it {}, and that of mice {}.",
        moves(&change(pfc, WITHOUT, LOCAL, ALL)),
        moves(&change(pfc, LOCAL, CI, ALL)),
        moves(&change(pfc, LOCAL, CI, MICE)),
    );
    let mut groups = Vec::new();
    for (label, experiment) in [("with PFC", pfc), ("without PFC", lossy)] {
        for (name, group) in [("mice", MICE), (">10 MB", ELEPHANTS), ("all flows", ALL)] {
            let entry = |(series, variant)| {
                Entry::new(variant, series, change(experiment, WITHOUT, variant, group))
            };
            let entries = [(1, LOCAL), (2, CI)].map(entry).into_iter();
            let entries = entries.filter(|entry| entry.measured.value.is_some());
            groups.push((format!("{label}, {name}"), entries.collect()));
        }
    }
    section.exhibits.push(rows(
        "conformity",
        "Change of the mean completion time from without-ci, by degree of conformity",
        Axis::linear("change; left of 0 is sooner", "%"),
        Mark::Point,
        "",
        groups,
    ));
    section
}
