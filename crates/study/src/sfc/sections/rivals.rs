//! No flow control, and backpressure by flow.

use floodway_report::study::Section;
use floodway_report::words::count;

use super::{cases, change};
use crate::evidence::Evidence;
use crate::exhibit::{Comparison, moves, number, table};
use crate::flows::Quantile;
use crate::sfc::{ALL_VARIANTS, BFC, GROUPS, INCAST, LOSSY, NATIVE, PFC, PROXY, SHORT, case, main};

/// What else there is.
pub fn rivals(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "What do other ways come to?";
    let mut section = evidence.section("rivals", question, &["E3", "E4"], &[main]);
    let (left, incasts) = evidence.unfinished_of_group(case(main, LOSSY), INCAST);
    let [left, incasts] = [left, incasts].map(|flows| count(flows as f64));
    section.answer = format!(
        "The mean completion time of background messages below 10 KB {} without flow control and {} \
         with BFC, against PFC; without flow control {left} of {incasts} incast messages had not \
         finished when the runs ended.",
        moves(&change(evidence, LOSSY, SHORT)),
        moves(&change(evidence, BFC, SHORT)),
    );
    section.text = vec![
        "Without flow control the same shared memory drops what it has no room for, and go-back-N \
         sends it again; the end of a message that is lost waits for a timeout of 4 ms, \
         and a receiver asks for the same packet once in 500 µs at most. BFC (NSDI \
         2022) pauses single physical queues, hop by hop; here with 32 of them at each port, and with \
         the same DCQCN, window and shared memory as all others. It is at a disadvantage: at this load \
         some 40 incast messages wait at once for each uplink of an edge switch, more than there are \
         queues, so that background messages must share queues with paused ones (collisions are counted \
         in the section on pauses)."
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
                [left, every].map(|flows| count(flows as f64)).join(" of "),
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
    section
}
