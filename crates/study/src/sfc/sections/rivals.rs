//! No flow control, and backpressure by flow.

use floodway_report::study::{Exhibit, Section};
use floodway_report::words::count;

use super::{cases, change};
use crate::evidence::Evidence;
use crate::exhibit::{Comparison, moves, number, short, table};
use crate::flows::Quantile;
use crate::sfc::plan::OPEN_RIVALS;
use crate::sfc::{
    ALL_VARIANTS, BFC, GROUPS, INCAST, LOSSY, MEDIUM, NATIVE, PFC, PROXY, SHORT, case, main,
};

/// Variants that are neither PFC nor Source Flow Control.
pub fn rivals(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Other mechanisms: no flow control, and backpressure per flow";
    let mut names = vec![main];
    names.extend(OPEN_RIVALS.iter().map(|row| row.0));
    let mut section = evidence.section("rivals", question, &["E3a", "E3b", "E3c", "E4"], &names);
    let (left, incasts) = evidence.unfinished_of_group(case(main, LOSSY), INCAST);
    let [left, incasts] = [left, incasts].map(|flows| count(flows as f64));
    section.answer = format!(
        "Compared with PFC, the mean completion time of background messages below 10 KB {} without flow \
         control and {} with BFC. Without flow control, {left} of {incasts} incast messages had not \
         finished when the runs ended.",
        moves(&change(evidence, LOSSY, SHORT)),
        moves(&change(evidence, BFC, SHORT)),
    );
    section.text = vec![
        "Without flow control, the same shared memory drops what does not fit, and go-back-N retransmits \
         it. If the end of a message is lost, the sender waits for a timeout of 4 ms. A receiver requests \
         the same packet at most once in 500 µs. BFC (NSDI 2022) pauses single physical queues, hop by \
         hop. Here it has 32 of them at each port, and the same DCQCN, window and shared memory as all \
         others. BFC is at a disadvantage: at this load, some 40 incast messages wait at once for each \
         uplink of an edge switch. That is more than there are queues, so background messages share \
         queues with paused ones (the section on pauses counts the collisions)."
            .to_owned(),
    ];
    let all = cases(evidence, ALL_VARIANTS);
    let left = evidence.unfinished_in_words(&all.iter().map(|(.., of)| *of).collect::<Vec<_>>());
    section.text.extend((!left.is_empty()).then_some(left));
    let of =
        |variant, series| Comparison::new(variant, series, case(main, PFC), case(main, variant));
    let comparisons = [of(PROXY, 1), of(NATIVE, 2), of(LOSSY, 3), of(BFC, 4)];
    let caption = "Change of the mean completion time from PFC";
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
                [left, every].map(|flows| count(flows as f64)).join(" of "),
            ]);
        }
    }
    section.exhibits.push(table(
        "rivals-times",
        "Completion times",
        "Means over replications. Flows that had not finished count with the time that they had taken until the \
         end of the run.",
        &["", "mean", "p50", "p99", "p99.9", "unfinished"],
        rows,
    ));
    section.exhibits.extend(needs(evidence));
    section
}

/// The same with more queues, more memory or another recovery, if that was run.
fn needs(evidence: &Evidence) -> Option<Exhibit> {
    let base = case("open-base", PFC);
    let rows: Vec<Vec<String>> = OPEN_RIVALS
        .iter()
        .filter(|(name, _, variant, _)| evidence.has(case(name, variant)))
        .map(|(name, label, variant, _)| {
            let of = case(name, variant);
            let time = |group| number(&evidence.fct(of, group));
            let counter = |name: &'static str| {
                number(&evidence.number(of, "", move |facts| facts.number(name)))
            };
            vec![
                format!("{variant}: {label}"),
                time(SHORT),
                short(&evidence.fct_change(base, of, SHORT)),
                time(MEDIUM),
                time(INCAST),
                counter("bfc_collisions"),
                counter("dropped_packets"),
                count(evidence.unfinished(of).0 as f64),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| {
        table(
            "rivals-needs",
            "BFC with more queues and memory, and other recovery of losses",
            "128 hosts, short runs. A collision is a message that must share a physical queue. \"Change\" is \
             that of the mean from PFC, in percent. \"Left\" counts messages that had not finished.",
            &["", "<10 KB", "change", "10 KB–1 MB", "incast", "collisions", "drops", "left"],
            rows,
        )
    })
}
