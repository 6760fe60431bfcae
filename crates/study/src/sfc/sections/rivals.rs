//! No flow control, and backpressure by flow.

use floodway_report::study::{Exhibit, Section};

use super::{cases, change};
use crate::evidence::Evidence;
use crate::exhibit::{Comparison, moves, number, short, table};
use crate::flows::Quantile;
use crate::sfc::plan::OPEN_BFC;
use crate::sfc::{
    ALL_VARIANTS, BFC, GROUPS, INCAST, LOSSY, MEDIUM, NATIVE, PFC, PROXY, SHORT, case, main,
};

/// What else there is.
pub fn rivals(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "What do other ways come to?";
    let mut names = vec![main];
    names.extend(OPEN_BFC.iter().map(|row| row.0));
    let mut section = evidence.section("rivals", question, &["E3", "E4"], &names);
    section.answer = format!(
        "The mean completion time of background messages below 10 KB {} without flow control and {} \
         with BFC, against PFC.",
        moves(&change(evidence, LOSSY, SHORT)),
        moves(&change(evidence, BFC, SHORT)),
    );
    section.text = vec![
        "Without flow control the same shared memory drops what it has no room for, and go-back-N \
         sends it again; the end of a message that is lost waits for a timeout of 4 ms. BFC (NSDI \
         2022) pauses single physical queues, hop by hop; here with 32 of them at each port, and with \
         the same DCQCN, window and shared memory as all others. It is at a disadvantage: at this load \
         some 40 incast messages wait at once for each uplink of an edge switch, more than there are \
         queues, so that background messages must share queues with paused ones."
            .to_owned(),
    ];
    let all = cases(evidence, ALL_VARIANTS);
    let left = evidence.unfinished_in_words(&all.iter().map(|(.., of)| *of).collect::<Vec<_>>());
    section.text.extend((!left.is_empty()).then_some(left));
    let of =
        |variant, series| Comparison::new(variant, series, case(main, PFC), case(main, variant));
    let comparisons = [of(PROXY, 1), of(NATIVE, 2), of(LOSSY, 3), of(BFC, 4)];
    let caption = "How does the mean completion time change from PFC?";
    section.exhibits.push(evidence.changes("rivals", caption, "", &comparisons));
    let mut rows = Vec::new();
    for group in GROUPS {
        for (name, _, of) in &all {
            let quantile = |quantile| number(&evidence.fct_quantile(*of, *group, quantile));
            let (left, every) = evidence.unfinished_of_group(*of, *group);
            rows.push(vec![
                format!("{}, {name}", group.label),
                number(&evidence.fct(*of, *group)),
                quantile(Quantile::P50),
                quantile(Quantile::P99),
                quantile(Quantile::P999),
                format!("{left} of {every}"),
            ]);
        }
    }
    section.exhibits.push(table(
        "rivals-times",
        "Completion times",
        "Means over replications. Flows that had not finished count with the time that they had taken.",
        &["", "mean", "p50", "p99", "p99.9", "unfinished"],
        rows,
    ));
    section.exhibits.extend(bfc(evidence));
    section
}

/// What BFC needs, if that was run.
fn bfc(evidence: &Evidence) -> Option<Exhibit> {
    let base = case("open-base", PFC);
    let rows: Vec<Vec<String>> = OPEN_BFC
        .iter()
        .filter(|(name, ..)| evidence.has(case(name, BFC)))
        .map(|(name, label, _)| {
            let of = case(name, BFC);
            let time = |group| number(&evidence.fct(of, group));
            let counter = |name: &'static str| {
                number(&evidence.number(of, "", move |facts| facts.number(name)))
            };
            vec![
                (*label).to_owned(),
                time(SHORT),
                short(&evidence.fct_change(base, of, SHORT)),
                time(MEDIUM),
                time(INCAST),
                counter("bfc_collisions"),
                counter("dropped_packets"),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| {
        table(
            "rivals-bfc",
            "What does BFC need?",
            "128 hosts, short runs. A collision is a message that must share a physical queue. The \
             change is that of the mean from PFC, in percent.",
            &["", "<10 KB", "change from PFC", "10 KB–1 MB", "incast", "collisions", "drops"],
            rows,
        )
    })
}
