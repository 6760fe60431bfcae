//! C3 and C5 to C8: Cubic and DCTCP flows under RED, a coupled queue and the DualQ.

use crate::claim::{GIVEN, Row, Rule};
use crate::departures::{Kind, Place};
use crate::dualq::measures::{
    Queue, above_the_chart, delay, largest, largest_ratio, lost, mean_delay, mean_length, overall,
    ratio, within, worst,
};
use crate::dualq::{CLASSIC, COUPLED, DUALQ, Mix, RED, SCALABLE, mix, shared};
use crate::evidence::{Case, Evidence, Facts};
use crate::measure::Measured;

const RED_SLIDES: &str = "slides 11 to 14";
const COUPLED_SLIDES: &str = "slides 20 and 21";
const DUAL_SLIDES: &str = "slides 22 to 25";
const GRID_SLIDES: &str = "slides 26 and 27";
const RATIO_SLIDE: &str = "slide 28";
/// The figures are pictures without numbers in the text that we have.
const STARVES: &str = "DCTCP does not work on traditional RED-ECN: Cubic far below its share";

/// All mixes with both kinds under one kind of queue management.
fn all(evidence: &Evidence, variant: &'static str) -> Vec<Case> {
    shared(evidence, variant).into_iter().map(|of| mix(of, variant)).collect()
}

fn milliseconds(of: Measured) -> Measured {
    of.scaled(1e-6, "ms")
}

/// C3.
pub const RED_CLAIMS: &[Row] = &[
    Row {
        id: "C3",
        part: "1+1",
        metric: "rate of a Cubic flow over that of a DCTCP flow, one of each under RED, the most of \
                 any run",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.06",
        measure: |e| largest_ratio(e, mix((1, 1), RED)),
    },
    Row {
        id: "C3",
        part: "5+5",
        metric: "the same, five of each",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.10",
        measure: |e| largest_ratio(e, mix((5, 5), RED)),
    },
    Row {
        id: "C3",
        part: "10+10",
        metric: "the same, ten of each",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.13",
        measure: |e| largest_ratio(e, mix((10, 10), RED)),
    },
    Row {
        id: "C3",
        part: "1+10",
        metric: "the same, one Cubic and ten DCTCP flows",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.14",
        measure: |e| largest_ratio(e, mix((1, 10), RED)),
    },
    Row {
        id: "C3",
        part: "10+1",
        metric: "the same, ten Cubic flows and one DCTCP flow",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.05",
        measure: |e| largest_ratio(e, mix((10, 1), RED)),
    },
    Row {
        id: "C3",
        part: "loss",
        metric: "share of Cubic's packets that are dropped under RED, with one DCTCP flow against alone",
        claimed: "HIGH drop",
        source: "slide 12",
        rule: Rule::More(50.0),
        expected: "some forty times as many",
        measure: |e| {
            let share =
                |facts: &Facts| facts.traffic.get(&CLASSIC).map_or(f64::NAN, |of| of.signalled());
            e.change(mix((1, 0), RED), mix((1, 1), RED), share)
        },
    },
    Row {
        id: "C3",
        part: "queue, 1+1",
        metric: "mean time that packets wait under RED, with one DCTCP flow beside Cubic against \
                 without",
        claimed: "continuous FULL queues",
        source: "slide 12",
        rule: Rule::More(10.0),
        expected: "about +80 %",
        measure: |e| {
            let of = |facts: &Facts| {
                let held = |place: &Place| Queue::Any.holds(RED, place);
                facts.departures.sum(Kind::Sojourn, held).mean()
            };
            e.change_on(mix((1, 0), RED), mix((1, 1), RED), Kind::Sojourn.scale(), of)
        },
    },
    Row {
        id: "C3",
        part: "queue, 10+10",
        metric: "mean queue at dequeue under RED, ten of each",
        claimed: "continuous FULL queues, on an axis to 300 packets (90 ms)",
        source: RED_SLIDES,
        rule: Rule::Between(200.0, 300.0),
        expected: "about 235 packets, 71 ms",
        measure: |e| mean_length(e, mix((10, 10), RED), Queue::Any),
    },
];

/// C5.
pub const COUPLED_CLAIMS: &[Row] = &[
    Row {
        id: "C5a",
        part: "all mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the coupled queue, geometric mean \
                 over all mixes",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: Rule::Between(0.8, 1.25),
        expected: "about 1.1",
        measure: |e| overall(e, all(e, COUPLED)),
    },
    Row {
        id: "C5a",
        part: "worst mix",
        metric: "by which factor it is off in the mix in which it is farthest from 1",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: Rule::AtMost(1.5),
        expected: "about 1.15",
        measure: |e| worst(e, all(e, COUPLED)),
    },
    Row {
        id: "C5b",
        part: "delay, 1+1",
        metric: "median time that DCTCP's packets wait in the coupled queue, one of each, in round \
                 trips of 8 ms",
        claimed: "\"too\" exactly: no latency gain",
        source: COUPLED_SLIDES,
        rule: Rule::Between(1.0, 10.0),
        expected: "about 2",
        measure: |e| delay(e, mix((1, 1), COUPLED), Queue::Scalable, 0.5).scaled(1.0 / 8e6, "RTT"),
    },
    Row {
        id: "C5b",
        part: "delay, 10+10",
        metric: "the same, ten of each",
        claimed: "\"too\" exactly: no latency gain",
        source: COUPLED_SLIDES,
        rule: Rule::Between(1.0, 10.0),
        expected: "about 7",
        measure: |e| {
            delay(e, mix((10, 10), COUPLED), Queue::Scalable, 0.5).scaled(1.0 / 8e6, "RTT")
        },
    },
];

/// C6.
pub const DUAL_CLAIMS: &[Row] = &[
    Row {
        id: "C6",
        part: "classic queue, 1+1",
        metric: "median time that Cubic's packets wait in the DualQ, one of each",
        claimed: "8 ms/(8 + 32) ms: a classic queue of 32 ms, within a factor of 2",
        source: DUAL_SLIDES,
        rule: Rule::Between(16.0, 64.0),
        expected: GIVEN,
        measure: |e| milliseconds(delay(e, mix((1, 1), DUALQ), Queue::Classic, 0.5)),
    },
    Row {
        id: "C6",
        part: "classic queue, 5+5",
        metric: "the same, five of each",
        claimed: "8 ms/(8 + 32) ms: a classic queue of 32 ms, within a factor of 2",
        source: DUAL_SLIDES,
        rule: Rule::Between(16.0, 64.0),
        expected: GIVEN,
        measure: |e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Classic, 0.5)),
    },
    Row {
        id: "C6",
        part: "low latency, median",
        metric: "median time that DCTCP's packets wait in the DualQ, five of each",
        claimed: "ZERO queue latency: less than the 0.3 ms of one packet",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(0.3),
        expected: "about 0.4: a packet that leaves has waited for one in transmission and for one before \
                   it",
        measure: |e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Scalable, 0.5)),
    },
    Row {
        id: "C6",
        part: "low latency, p99",
        metric: "the same, 99th percentile",
        claimed: "ZERO queue latency: here, less than 1 ms",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(1.0),
        expected: "about 0.7",
        measure: |e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Scalable, 0.99)),
    },
    Row {
        id: "C6",
        part: "against one queue",
        metric: "mean time that DCTCP's packets wait, five of each, DualQ over coupled queue",
        claimed: "ZERO queue latency, instead of no latency gain",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(0.05),
        expected: "about 0.01",
        measure: |e| {
            let of = |variant| mean_delay(e, mix((5, 5), variant), Queue::Scalable).value;
            let value = of(DUALQ).zip(of(COUPLED)).map(|(dual, one)| dual / one);
            Measured { value, unit: "x", ..Measured::default() }
        },
    },
];

fn of_all(evidence: &Evidence, of: impl Fn(Mix) -> Measured) -> Measured {
    largest(shared(evidence, DUALQ).into_iter().map(of))
}

/// C7.
pub const ALL_MIXES: &[Row] = &[
    Row {
        id: "C7a",
        part: "rates",
        metric: "mixes in which the ratio of the rates in the DualQ is between 0.5 and 2",
        claimed: "per-flow rates about equal in all mixes (a figure)",
        source: GRID_SLIDES,
        rule: Rule::Between(90.0, 100.0),
        expected: "about 97: not in 1+1, nor in 10+10 and its neighbours",
        measure: |e| within(e, all(e, DUALQ), 2.0),
    },
    Row {
        id: "C7a",
        part: "worst mix",
        metric: "by which factor the ratio is off in the mix in which it is farthest from 1",
        claimed: "per-flow rates about equal in all mixes (a figure)",
        source: GRID_SLIDES,
        rule: Rule::AtMost(2.0),
        expected: "about 2.4 in 10+10, where DCTCP has its least window and Cubic less than half; 2.0 the \
                   other way in 1+1",
        measure: |e| worst(e, all(e, DUALQ)),
    },
    Row {
        id: "C7a",
        part: "chart",
        metric: "seconds in which a flow has more than twice its share, five of each in the DualQ",
        claimed: "a vertical axis of 0 to 80/n Mb/s",
        source: GRID_SLIDES,
        rule: Rule::AtMost(1.0),
        expected: "about 0",
        measure: |e| above_the_chart(e, mix((5, 5), DUALQ), (5, 5)),
    },
    Row {
        id: "C7b",
        part: "low latency queue",
        metric: "mean time that DCTCP's packets wait in the DualQ, in the mix in which it is longest",
        claimed: "the queue of DCTCP is about zero in all mixes (a figure)",
        source: GRID_SLIDES,
        rule: Rule::AtMost(1.0),
        expected: "about 0.7, with ten DCTCP flows",
        measure: |e| {
            let of = |of| mean_delay(e, mix(of, DUALQ), Queue::Scalable);
            milliseconds(of_all(e, of))
        },
    },
    Row {
        id: "C7b",
        part: "classic queue",
        metric: "median time that Cubic's packets wait in the DualQ, in the mix in which it is longest",
        claimed: "an axis to 300 packets, 90 ms for the classic queue alone",
        source: GRID_SLIDES,
        rule: Rule::AtMost(90.0),
        expected: "about 71, in 10+10",
        measure: |e| {
            let of = |of| delay(e, mix(of, DUALQ), Queue::Classic, 0.5);
            milliseconds(of_all(e, of))
        },
    },
    Row {
        id: "C7b",
        part: "loss",
        metric: "packets of DCTCP that were dropped in the DualQ, over all mixes with Cubic",
        claimed: "zero congestion loss for DCTCP",
        source: "De Schepper and others, \"'Data Centre to the Home': Ultra-Low Latency for All\", \
                 2015, abstract",
        rule: Rule::Exactly(0.0),
        expected: "0: they are marked, and their queue is never full",
        measure: |e| {
            let of = |of| lost(e, mix(of, DUALQ), &[SCALABLE]).value;
            let lost = shared(e, DUALQ).into_iter().filter_map(of).reduce(|a, b| a + b);
            Measured { value: lost, ..Measured::default() }
        },
    },
];

/// C8.
pub const RATIOS: &[Row] = &[
    Row {
        id: "C8a",
        part: "RED",
        metric: "rate of a Cubic flow over that of a DCTCP flow under RED, geometric mean over all \
                 mixes",
        claimed: "far below 1 on an axis from 0.01 to 10 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::AtMost(0.25),
        expected: "about 0.1",
        measure: |e| overall(e, all(e, RED)),
    },
    Row {
        id: "C8b",
        part: "DualQ",
        metric: "the same in the DualQ",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::Between(0.8, 1.25),
        expected: "about 1.1 with s_r 3",
        measure: |e| overall(e, all(e, DUALQ)),
    },
    Row {
        id: "C8b",
        part: "1+1",
        metric: "the same in the DualQ, one of each",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::Between(0.5, 2.0),
        expected: "about 2.0: at the edge",
        measure: |e| ratio(e, mix((1, 1), DUALQ)),
    },
    Row {
        id: "C8b",
        part: "10+10",
        metric: "the same in the DualQ, ten of each",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::Between(0.5, 2.0),
        expected: "about 0.4, because DCTCP has no smaller window than two packets: not reproduced",
        measure: |e| ratio(e, mix((10, 10), DUALQ)),
    },
    Row {
        id: "C8b",
        part: "1+10",
        metric: "the same in the DualQ, one Cubic and ten DCTCP flows",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::Between(0.5, 2.0),
        expected: "about 1.05",
        measure: |e| ratio(e, mix((1, 10), DUALQ)),
    },
    Row {
        id: "C8b",
        part: "10+1",
        metric: "the same in the DualQ, ten Cubic flows and one DCTCP flow",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::Between(0.5, 2.0),
        expected: "about 1.05",
        measure: |e| ratio(e, mix((10, 1), DUALQ)),
    },
];
