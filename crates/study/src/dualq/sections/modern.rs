//! Fairness of congestion controls beside Cubic.

use floodway_report::chart::{Axis, Colours};
use floodway_report::study::Section;

use super::dynamic::called;
use super::times;
use crate::dualq::measures::{Queue, mean_delay, rate, ratio};
use crate::dualq::plan::{MODERN, modern as beside};
use crate::dualq::{CLASSIC, DUALPI2, PIE, SCALABLE, case};
use crate::evidence::Evidence;
use crate::exhibit::{number, table};
use crate::matrix::{heat_map, sides};

const VARIANTS: [(&str, &str); 4] =
    [("drop-tail", "drop-tail, 50 ms"), ("codel", "CoDel"), (PIE, "PIE"), (DUALPI2, "DualPI2")];

/// One Cubic flow beside one of another kind.
pub fn modern(evidence: &Evidence) -> Section {
    let question = "Fairness of congestion controls beside Cubic";
    let mut section = evidence.section("beside-cubic", question, &[], &MODERN.map(beside));
    if section.links.is_empty() {
        return section;
    }
    let of = |congestion, variant| times(&ratio(evidence, case(beside(congestion), variant)));
    section.answer = format!(
        "In a drop-tail queue of 50 ms, a Cubic flow has {} times the rate of a BBR flow and {} times that \
         of a BBR v3 flow. Under DualPI2 it has {} times the rate of BBR, {} times that of BBR v3 and {} \
         times that of Prague.",
        of("bbr", "drop-tail"),
        of("bbr3", "drop-tail"),
        of("bbr", DUALPI2),
        of("bbr3", DUALPI2),
        of("prague", DUALPI2),
    );
    section.text = vec![
        "The access link carries one Cubic flow and one other. If the ratio of their rates is far below 1, \
         Cubic starves; if it is far above 1, the other one does. BBR and Reno are not ECN-capable and \
         share the classic queue with Cubic under DualPI2. DCTCP and Prague are ECN-capable."
            .to_owned(),
    ];
    section.exhibits.push(heat_map(
        ("beside-ratio", "Ratio of the rates, Cubic to the other", ""),
        (Axis::log("Cubic over the other", "x").within(0.04, 25.0), Colours::Diverging(1.0), 1.0),
        sides(("beside Cubic:", MODERN.map(called)), ("", VARIANTS.map(|of| of.1))),
        |row, column| ratio(evidence, case(beside(MODERN[column]), VARIANTS[row].0)),
    ));
    let mut rows = Vec::new();
    for (variant, label) in VARIANTS {
        for congestion in MODERN {
            let of = case(beside(congestion), variant);
            rows.push(vec![
                format!("{label}, {}", called(congestion)),
                number(&rate(evidence, of, CLASSIC)),
                number(&rate(evidence, of, SCALABLE)),
                number(&mean_delay(evidence, of, Queue::Classic)),
                number(&mean_delay(evidence, of, Queue::Scalable)),
            ]);
        }
    }
    section.exhibits.push(table(
        "beside-numbers",
        "Rates and queuing delays",
        "Means over replications. With one queue, both have the same delay.",
        &["", "Cubic", "the other", "classic delay, mean", "low latency delay, mean"],
        rows,
    ));
    section
}
