//! Which congestion controls get along with Cubic.

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
    let question = "Who gets along with Cubic?";
    let mut section = evidence.section("beside-cubic", question, &[], &MODERN.map(beside));
    if section.links.is_empty() {
        return section;
    }
    let of = |congestion, variant| times(&ratio(evidence, case(beside(congestion), variant)));
    section.answer = format!(
        "In a drop-tail queue of 50 ms a Cubic flow has {} times the rate of a BBR flow and {} times \
         that of a BBR v3 flow; under DualPI2 {} and {} times, and {} times that of Prague.",
        of("bbr", "drop-tail"),
        of("bbr3", "drop-tail"),
        of("bbr", DUALPI2),
        of("bbr3", DUALPI2),
        of("prague", DUALPI2),
    );
    section.text = vec![
        "The access link with one Cubic flow and one other. Where the ratio is far from 1 the two do \
         not get along: below 1 Cubic starves, above 1 the other. BBR and Reno are not ECN-capable, and \
         wait with Cubic under DualPI2; DCTCP and Prague are."
            .to_owned(),
    ];
    section.exhibits.push(heat_map(
        ("beside-ratio", "What is the ratio of the rates, Cubic to the other?", ""),
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
        "Rates and waiting times",
        "Means over replications. With one queue both wait the same.",
        &["", "Cubic", "the other", "classic wait, mean", "low latency wait, mean"],
        rows,
    ));
    section
}
