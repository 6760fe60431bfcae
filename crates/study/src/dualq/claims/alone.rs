//! C2: one flow alone.

use crate::claim::{Row, Rule};
use crate::dualq::measures::{Queue, length, spread};
use crate::dualq::{ALONE, case};
use crate::evidence::Evidence;
use crate::measure::Measured;

const SLIDES: &str = "slides 8 to 10";

fn quantile(evidence: &Evidence, variant: &'static str, p: f64) -> Measured {
    length(evidence, case(ALONE, variant), Queue::Any, p)
}

/// C2.
pub const ALONE_FLOWS: &[Row] = &[
    Row {
        id: "C2",
        part: "Reno, spread",
        metric: "queue at dequeue, from its 5th to its 95th percentile, one Reno flow under RED",
        claimed: "broad: a distribution over most of 0 to 100 packets (a figure)",
        source: SLIDES,
        rule: Rule::Between(27.0, 100.0),
        expected: "about 50 packets: the window of some 120 packets is halved",
        measure: &|e| spread(e, case(ALONE, "reno"), Queue::Any),
    },
    Row {
        id: "C2",
        part: "DCTCP, median",
        metric: "median of the queue at dequeue, one DCTCP flow with a step at 5 packets",
        claimed: "close to the threshold of 5 packets (a figure)",
        source: SLIDES,
        rule: Rule::Between(2.0, 8.0),
        expected: "about 6 packets",
        measure: &|e| quantile(e, "dctcp", 0.5),
    },
    Row {
        id: "C2",
        part: "DCTCP, p95",
        metric: "95th percentile of the queue at dequeue, one DCTCP flow with a step at 5 packets",
        claimed: "narrow: nearly all below 9 packets (a figure)",
        source: SLIDES,
        rule: Rule::AtMost(12.0),
        expected: "about 9 packets",
        measure: &|e| quantile(e, "dctcp", 0.95),
    },
    Row {
        id: "C2",
        part: "spread",
        metric: "spread of DCTCP's queue over that of Reno's, p5 to p95",
        claimed: "narrow against broad (a figure)",
        source: SLIDES,
        rule: Rule::AtMost(1.0 / 3.0),
        expected: "about 0.15",
        measure: &|e| {
            let of = |variant| spread(e, case(ALONE, variant), Queue::Any).value;
            let value = of("dctcp").zip(of("reno")).map(|(dctcp, reno)| dctcp / reno);
            Measured { value, ..Measured::default() }
        },
    },
];
