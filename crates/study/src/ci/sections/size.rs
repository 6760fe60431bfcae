//! The size of the network.

use floodway_report::chart::{Axis, Lines};
use floodway_report::study::{Exhibit, Section};

use crate::ci::plan::SIZES;
use crate::ci::{ALL, CI, ELEPHANTS, MICE, WITHOUT, case};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{line, moves, number, table};
use crate::flows::FlowGroup;
use crate::measure::Measured;

/// Claim A9.
pub fn scaling(evidence: &Evidence) -> Section {
    let run = SIZES.iter().filter(|(name, _)| evidence.has(case(name, CI)));
    let sizes: Vec<(&'static str, f64)> =
        run.map(|(name, _)| (*name, evidence.servers(name) as f64)).collect();
    let names: Vec<&'static str> = sizes.iter().map(|(name, _)| *name).collect();
    let question = "Gain by the size of the fabric";
    let mut section = evidence.section("scaling", question, &["A9"], &names);
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else { return section };
    if sizes.len() < 2 {
        return section;
    }
    let change = |name, group| evidence.fct_change(case(name, WITHOUT), case(name, CI), group);
    section.answer = format!(
        "With isolation, the mean completion time of all flows {} with {} servers and {} with {}.",
        moves(&change(first.0, ALL)),
        first.1,
        moves(&change(last.0, ALL)),
        last.1
    );
    section.text = vec![
        "The numbers of clusters and incasts grow with the fabric, except that the smallest one has one \
         incast although its share would be less than half of one. It is therefore the most congested. \
         The deck's curves are lost. Its sentence is taken to mean that flows suffer less from size with \
         isolation than without it."
            .to_owned(),
    ];
    let by_size = |series, variant: &'static str, group| {
        let at = |(name, servers): &(&'static str, f64)| {
            (*servers, evidence.fct(case(name, variant), group))
        };
        line(series, variant, &sizes.iter().map(at).collect::<Vec<_>>())
    };
    let chart = |(label, group): (&str, FlowGroup)| Lines {
        title: format!("Mean completion time of {label} by the number of servers"),
        heading: label.to_owned(),
        x: Axis::linear("servers", "").labelled(sizes.iter().map(|(_, servers)| *servers)),
        y: Axis::log("mean completion time", "ns"),
        lines: vec![by_size(0, WITHOUT, group), by_size(2, CI, group)],
        ..Lines::default()
    };
    section.exhibits.push(Exhibit::Lines {
        name: "scaling".to_owned(),
        caption: "Mean completion time by the size of the fabric".to_owned(),
        legend: vec![(0, WITHOUT.to_owned()), (2, CI.to_owned())],
        charts: [("mice", MICE), (">10 MB", ELEPHANTS), ("all flows", ALL)].map(chart).to_vec(),
        columns: 3,
        note:
            "Means with 95 % intervals; one that reaches zero is not drawn. Flows that had not finished \
               count with the time that they had taken until the end of the run."
                .to_owned(),
    });
    let row = |(name, servers): &(&'static str, f64)| {
        let pauses = |facts: &Facts| facts.number("pause_frames");
        let saved: Measured = evidence.change(case(name, WITHOUT), case(name, CI), pauses);
        vec![
            format!("{servers} servers"),
            number(&change(name, MICE)),
            number(&change(name, ELEPHANTS)),
            number(&change(name, ALL)),
            number(&saved),
            evidence.unfinished_cell(case(name, WITHOUT)),
        ]
    };
    section.exhibits.push(table(
        "scaling",
        "Changes with isolation, by the size of the fabric",
        "",
        &["", "mice", ">10 MB", "all flows", "pause frames", "unfinished without-ci"],
        sizes.iter().map(row).collect(),
    ));
    section
}
