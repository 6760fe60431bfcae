//! Memory and switch latency.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::Section;

use crate::ci::{ALL, CI, ELEPHANTS, GROUPS, MICE, WITHOUT, case};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Comparison, Entry, moves, number, rows, table, value};

/// Claims D4 to D6, D13.
pub fn memory(evidence: &Evidence) -> Section {
    let question = "Effects of queue size and thresholds";
    let experiments = ["two-queues", "memory-size", "memory-xoff", "memory-high"];
    let mut section = evidence.section(
        "memory",
        question,
        &["D4", "D5a", "D5b", "D6a", "D6b", "D13"],
        &experiments,
    );
    if !evidence.has(case("memory-xoff", CI)) {
        return section;
    }
    let change = |experiment, group| {
        evidence.fct_change(case("two-queues", CI), case(experiment, CI), group)
    };
    section.answer = format!(
        "With isolation, the mean completion time of all flows {} if XOFF is raised to 1500 KB, and {} if \
         the high threshold is raised to 600 KB.",
        moves(&change("memory-xoff", ALL)),
        moves(&change("memory-high", ALL))
    );
    section.text = vec![
        "Three changes are each compared with the two-queue experiment on the same traffic: queues of \
         2 MB with the same thresholds, XOFF at 1500 KB (in queues of 2 MB), and the high threshold of \
         isolation at 600 KB."
            .to_owned(),
    ];
    let of = |label, series, experiment, variant| {
        Comparison::new(label, series, case("two-queues", variant), case(experiment, variant))
    };
    let comparisons = [
        of("XOFF 1500 KB, without-ci", 0, "memory-xoff", WITHOUT),
        of("XOFF 1500 KB, ci", 2, "memory-xoff", CI),
        of("high 600 KB, ci", 3, "memory-high", CI),
    ];
    let caption = "Change of the mean completion time with higher thresholds";
    section.exhibits.push(evidence.changes("memory", caption, "", &comparisons));
    let row = |(label, experiment, variant): (&str, &'static str, &'static str)| {
        let (from, to) = (case("two-queues", variant), case(experiment, variant));
        let counter = |name: &'static str| {
            number(&evidence.change(from, to, move |facts: &Facts| facts.number(name)))
        };
        let fct = |group| number(&evidence.fct_change(from, to, group));
        vec![
            format!("{label}, {variant}"),
            fct(MICE),
            fct(ELEPHANTS),
            fct(ALL),
            counter("pause_frames"),
            counter("cnps_sent"),
        ]
    };
    let cases = [
        ("queues of 2 MB", "memory-size", WITHOUT),
        ("queues of 2 MB", "memory-size", CI),
        ("XOFF 1500 KB", "memory-xoff", WITHOUT),
        ("XOFF 1500 KB", "memory-xoff", CI),
        ("high 600 KB", "memory-high", CI),
    ];
    section.exhibits.push(table(
        "memory",
        "Changes with queue size and thresholds",
        "",
        &["", "mice", ">10 MB", "all flows", "pause frames", "CNPs"],
        cases.into_iter().map(row).collect(),
    ));
    section
}

/// Claims D7, D8.
pub fn latency(evidence: &Evidence) -> Section {
    let question = "Cost of a static switch latency of 400 ns";
    let experiments = ["two-queues", "latency"];
    let mut section = evidence.section("latency", question, &["D7", "D8"], &experiments);
    if !evidence.has(case("latency", CI)) {
        return section;
    }
    let mean = |variant, group| {
        evidence.fct_difference(case("two-queues", variant), case("latency", variant), group)
    };
    let median = evidence.flow_by_flow(
        case("two-queues", CI),
        case("latency", CI),
        MICE,
        Some(crate::Quantile::P50),
    );
    section.answer = format!(
        "With isolation, the same mouse takes {} longer in the median, and the mean completion time of \
         elephants {}.",
        value(&median),
        moves(&mean(CI, ELEPHANTS))
    );
    section.text = vec![
        "A path through the fabric crosses three switches, so in an idle network a packet arrives 1.2 µs \
         later. Anything beyond that comes from congestion: as the round trip is longer, marks and pauses \
         arrive later."
            .to_owned(),
    ];
    let groups = GROUPS.iter().map(|group| {
        let entry = |(series, variant)| Entry::new(variant, series, mean(variant, *group));
        (group.label.to_owned(), [(0, WITHOUT), (2, CI)].map(entry).to_vec())
    });
    section.exhibits.push(rows(
        "latency",
        "Increase of the mean completion time with 400 ns per switch",
        Axis::linear("difference of means; right of 0 is later", "µs"),
        Mark::Point,
        "",
        groups.collect(),
    ));
    section
}
