//! C3 and C5 to C8: Cubic and DCTCP flows under RED, a coupled queue and the DualQ.

use crate::claim::{GIVEN, Row, Rule};
use crate::departures::{Kind, Place};
use crate::dualq::measures::{
    EQUAL, NOT_FARTHER, Queue, above_its_share, above_the_chart, delay, largest, largest_ratio,
    lost, mean_delay, mean_length, overall, ratio, whole, within, worst,
};
use crate::dualq::plan::{SHARED, all_shared};
use crate::dualq::{CLASSIC, COUPLED, DUALQ, Mix, RED, SCALABLE, mix, shared};
use crate::evidence::{Case, Evidence, Facts};
use crate::measure::Measured;
use crate::traffic::Traffic;

const RED_SLIDES: &str = "slides 11 to 14";
const COUPLED_SLIDES: &str = "slides 20 and 21";
const DUAL_SLIDES: &str = "slides 22 to 25";
const GRID_SLIDES: &str = "slides 26 and 27";
const RATIO_SLIDE: &str = "slide 28";
/// The figures are pictures without numbers in the text that we have.
const STARVES: &str = "DCTCP does not work on traditional RED-ECN: Cubic far below its share";

const EACH_SLIDES: &str = "slides 15 and 28";
const AXIS: &str = "a vertical axis of 0 to 80/n Mb/s: no flow has more than twice its share";
const IN_EACH: &str = "an equal steady state rate is guaranteed; about 1 in each mix (a figure)";

/// The six mixes that every reading has.
fn six(variant: &'static str) -> [Case; 6] {
    SHARED.map(|of| mix(of, variant))
}

/// The 100 mixes of the deck.
fn hundred(variant: &'static str) -> impl Iterator<Item = Case> {
    all_shared().map(move |of| mix(of, variant))
}

/// The mixes with both kinds under one kind of queue management that were run, however many.
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
        measure: &|e| largest_ratio(e, mix((1, 1), RED)),
    },
    Row {
        id: "C3",
        part: "5+5",
        metric: "rate of a Cubic flow over that of a DCTCP flow, five of each under RED, the most of \
                 any run",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.10",
        measure: &|e| largest_ratio(e, mix((5, 5), RED)),
    },
    Row {
        id: "C3",
        part: "10+10",
        metric: "rate of a Cubic flow over that of a DCTCP flow, ten of each under RED, the most of \
                 any run",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.13",
        measure: &|e| largest_ratio(e, mix((10, 10), RED)),
    },
    Row {
        id: "C3",
        part: "1+10",
        metric: "rate of a Cubic flow over that of a DCTCP flow, one Cubic and ten DCTCP flows under RED, the most of \
                 any run",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.14",
        measure: &|e| largest_ratio(e, mix((1, 10), RED)),
    },
    Row {
        id: "C3",
        part: "10+1",
        metric: "rate of a Cubic flow over that of a DCTCP flow, ten Cubic flows and one DCTCP flow under RED, the most of \
                 any run",
        claimed: STARVES,
        source: RED_SLIDES,
        rule: Rule::AtMost(0.25),
        expected: "about 0.05",
        measure: &|e| largest_ratio(e, mix((10, 1), RED)),
    },
    Row {
        id: "C3",
        part: "loss",
        metric: "share of Cubic's packets that are dropped under RED, with one DCTCP flow beside the Cubic flow vs. \
                 Cubic alone",
        claimed: "HIGH drop",
        source: "slide 12",
        rule: Rule::More(50.0),
        expected: "some forty times as many",
        measure: &|e| {
            let share = |facts: &Facts| facts.of_workload(CLASSIC, Traffic::signalled);
            e.change(mix((1, 0), RED), mix((1, 1), RED), share)
        },
    },
    Row {
        id: "C3",
        part: "queue, 1+1",
        metric: "mean queuing delay under RED, with one DCTCP flow beside the Cubic flow vs. Cubic alone",
        claimed: "continuous FULL queues",
        source: "slide 12",
        rule: Rule::More(10.0),
        expected: "about +80 %",
        measure: &|e| {
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
        measure: &|e| mean_length(e, mix((10, 10), RED), Queue::Any),
    },
];

/// C5.
pub const COUPLED_CLAIMS: &[Row] = &[
    Row {
        id: "C5a",
        part: "six mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the coupled queue, geometric mean \
                 over six mixes",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: EQUAL,
        expected: "1.06; 1.05 by waiting time, 1.02 with Reno",
        measure: &|e| overall(e, six(COUPLED)),
    },
    Row {
        id: "C5a",
        part: "six mixes, the farthest",
        metric: "factor by which the ratio in the coupled queue differs from 1 in the mix of the six in which it is \
                 farthest from it",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: NOT_FARTHER,
        expected: "1.10; 1.10 by waiting time, 1.04 with Reno",
        measure: &|e| worst(e, six(COUPLED)),
    },
    Row {
        id: "C5a",
        part: "all mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the coupled queue, geometric mean over all 100 mixes",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: EQUAL,
        expected: "1.05, from 1.04 to 1.06",
        measure: &|e| overall(e, whole(e, hundred(COUPLED))),
    },
    Row {
        id: "C5a",
        part: "all mixes, the farthest",
        metric: "factor by which the ratio in the coupled queue differs from 1 in the mix in which it is farthest from it",
        claimed: "works: DCTCP behaves exactly as Reno",
        source: COUPLED_SLIDES,
        rule: NOT_FARTHER,
        expected: "1.10; with three runs of each the longest of 100 intervals may reach beyond 1.25, \
                   and with two runs will",
        measure: &|e| worst(e, whole(e, hundred(COUPLED))),
    },
    Row {
        id: "C5b",
        part: "delay, 1+1",
        metric: "median queuing delay of DCTCP in the coupled queue in round trips of 8 ms, one of each",
        claimed: "\"too\" exactly: no latency gain",
        source: COUPLED_SLIDES,
        rule: Rule::Between(1.0, 10.0),
        expected: "about 2",
        measure: &|e| delay(e, mix((1, 1), COUPLED), Queue::Scalable, 0.5).scaled(1.0 / 8e6, "RTT"),
    },
    Row {
        id: "C5b",
        part: "delay, 10+10",
        metric: "median queuing delay of DCTCP in the coupled queue in round trips of 8 ms, ten of each",
        claimed: "\"too\" exactly: no latency gain",
        source: COUPLED_SLIDES,
        rule: Rule::Between(1.0, 10.0),
        expected: "about 7",
        measure: &|e| {
            delay(e, mix((10, 10), COUPLED), Queue::Scalable, 0.5).scaled(1.0 / 8e6, "RTT")
        },
    },
];

/// C6.
pub const DUAL_CLAIMS: &[Row] = &[
    Row {
        id: "C6",
        part: "classic queue, 1+1",
        metric: "median queuing delay of Cubic in the DualQ, one of each",
        claimed: "8 ms/(8 + 32) ms: a classic queue of 32 ms, within a factor of 2",
        source: DUAL_SLIDES,
        rule: Rule::Between(16.0, 64.0),
        expected: GIVEN,
        measure: &|e| milliseconds(delay(e, mix((1, 1), DUALQ), Queue::Classic, 0.5)),
    },
    Row {
        id: "C6",
        part: "classic queue, 5+5",
        metric: "median queuing delay of Cubic in the DualQ, five of each",
        claimed: "8 ms/(8 + 32) ms: a classic queue of 32 ms, within a factor of 2",
        source: DUAL_SLIDES,
        rule: Rule::Between(16.0, 64.0),
        expected: GIVEN,
        measure: &|e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Classic, 0.5)),
    },
    Row {
        id: "C6",
        part: "low latency, median",
        metric: "median queuing delay of DCTCP in the DualQ, five of each",
        claimed: "ZERO queue latency: less than the 0.3 ms of one packet",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(0.3),
        expected: "about 0.4: a packet that leaves has waited for one in transmission and for one before \
                   it",
        measure: &|e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Scalable, 0.5)),
    },
    Row {
        id: "C6",
        part: "low latency, p99",
        metric: "99th percentile of the queuing delay of DCTCP in the DualQ, five of each",
        claimed: "ZERO queue latency: here, less than 1 ms",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(1.0),
        expected: "about 0.7",
        measure: &|e| milliseconds(delay(e, mix((5, 5), DUALQ), Queue::Scalable, 0.99)),
    },
    Row {
        id: "C6",
        part: "against one queue",
        metric: "mean queuing delay of DCTCP in the DualQ over that in the coupled queue, five of each",
        claimed: "ZERO queue latency, instead of no latency gain",
        source: DUAL_SLIDES,
        rule: Rule::AtMost(0.05),
        expected: "about 0.01",
        measure: &|e| {
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
        part: "above the chart",
        metric: "share of seconds in which a flow has more than twice its share of the link, five of each in the DualQ",
        claimed: AXIS,
        source: GRID_SLIDES,
        rule: Rule::NotAbove(1.0),
        expected: "0.1 %, not above 0.3 %",
        measure: &|e| above_the_chart(e, mix((5, 5), DUALQ), (5, 5)),
    },
    Row {
        id: "C7a",
        part: "more than its share, six mixes",
        metric: "mean rate of a flow over its fair share, the largest of both kinds and of six mixes in the DualQ",
        claimed: AXIS,
        source: GRID_SLIDES,
        rule: Rule::AtMost(2.0),
        expected: "1.42 in 10+10 with s_r 3; 1.85 of the one DCTCP flow in 10+1 with s_r 1",
        measure: &|e| largest(six(DUALQ).map(|of| above_its_share(e, of))),
    },
    Row {
        id: "C7a",
        part: "more than its share, all mixes",
        metric: "mean rate of a flow over its fair share, the largest of both kinds and of all 100 mixes in the DualQ",
        claimed: AXIS,
        source: GRID_SLIDES,
        rule: Rule::AtMost(2.0),
        expected: "1.4 to 1.5 with s_r 3",
        measure: &|e| {
            let all = whole(e, hundred(DUALQ)).into_iter();
            largest(all.map(|of| above_its_share(e, of)))
        },
    },
    Row {
        id: "C7a",
        part: "within a factor of 2",
        metric: "share of mixes in which the ratio of the rates in the DualQ is between 0.5 and 2",
        claimed: "nothing in numbers (a figure)",
        source: GRID_SLIDES,
        rule: Rule::Described,
        expected: "about 98: not in 1+1, nor in 10+10 and its neighbors",
        measure: &|e| within(e, all(e, DUALQ), 2.0),
    },
    Row {
        id: "C7a",
        part: "within a factor of 1.25",
        metric: "share of mixes in which the ratio of the rates in the DualQ is between 0.8 and 1.25",
        claimed: "nothing in numbers (a figure)",
        source: GRID_SLIDES,
        rule: Rule::Described,
        expected: "67: equal where the classic queue is near 32 ms",
        measure: &|e| within(e, all(e, DUALQ), 1.25),
    },
    Row {
        id: "C7b",
        part: "low latency queue",
        metric: "mean queuing delay of DCTCP in the DualQ, in the mix in which it is longest",
        claimed: "the queue of DCTCP is about zero in all mixes (a figure)",
        source: GRID_SLIDES,
        rule: Rule::AtMost(1.0),
        expected: "about 0.7, with ten DCTCP flows",
        measure: &|e| {
            let of = |of| mean_delay(e, mix(of, DUALQ), Queue::Scalable);
            milliseconds(of_all(e, of))
        },
    },
    Row {
        id: "C7b",
        part: "classic queue",
        metric: "median queuing delay of Cubic in the DualQ, in the mix in which it is longest",
        claimed: "an axis to 300 packets, 90 ms for the classic queue alone",
        source: GRID_SLIDES,
        rule: Rule::AtMost(90.0),
        expected: "74, in 10+10; above 90 with s_r 2 and 1",
        measure: &|e| {
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
        measure: &|e| {
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
        part: "six mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow under RED, geometric mean over six \
                 mixes",
        claimed: "far below 1 on an axis from 0.01 to 10 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::NotAbove(0.25),
        expected: "0.096; 0.105 with Reno",
        measure: &|e| overall(e, six(RED)),
    },
    Row {
        id: "C8a",
        part: "all mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow under RED, geometric mean over all 100 mixes",
        claimed: "far below 1 on an axis from 0.01 to 10 (a figure)",
        source: RATIO_SLIDE,
        rule: Rule::NotAbove(0.25),
        expected: "0.103",
        measure: &|e| overall(e, whole(e, hundred(RED))),
    },
    Row {
        id: "C8b",
        part: "six mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, geometric mean over six mixes",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: EQUAL,
        expected: "1.08 with s_r 3, 0.78 with s_r 2, across or below the lower end of the band, and 0.51 with \
                   s_r 1; 0.89 to 1.21 with other thresholds, Reno, beta 0.8 or every packet acknowledged, \
                   1.30 if flows are paced",
        measure: &|e| overall(e, six(DUALQ)),
    },
    Row {
        id: "C8b",
        part: "all mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, geometric mean over all 100 mixes",
        claimed: "about 1 (a figure)",
        source: RATIO_SLIDE,
        rule: EQUAL,
        expected: "1.02 with s_r 3; below 0.8 with s_r 2 and 1",
        measure: &|e| overall(e, whole(e, hundred(DUALQ))),
    },
    Row {
        id: "C8c",
        part: "1+1",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, one of each",
        claimed: IN_EACH,
        source: EACH_SLIDES,
        rule: EQUAL,
        expected: "1.99, which is not equal: k = 8 is right for a classic queue of 32 ms, and one Cubic \
                   flow rests at 14 ms; 1.52 with s_r 2 and 1.07 with s_r 1",
        measure: &|e| ratio(e, mix((1, 1), DUALQ)),
    },
    Row {
        id: "C8c",
        part: "10+10",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, ten of each",
        claimed: IN_EACH,
        source: EACH_SLIDES,
        rule: EQUAL,
        expected: "0.41, because DCTCP has no smaller window than two packets; 0.44 and 0.28 with s_r 2 \
                   and 1; 0.96 if flows are paced",
        measure: &|e| ratio(e, mix((10, 10), DUALQ)),
    },
    Row {
        id: "C8c",
        part: "1+10",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, one Cubic and ten DCTCP flows",
        claimed: IN_EACH,
        source: EACH_SLIDES,
        rule: EQUAL,
        expected: "1.07 with s_r 3, 0.63 and 0.36 with s_r 2 and 1",
        measure: &|e| ratio(e, mix((1, 10), DUALQ)),
    },
    Row {
        id: "C8c",
        part: "10+1",
        metric: "rate of a Cubic flow over that of a DCTCP flow in the DualQ, ten Cubic flows and one DCTCP flow",
        claimed: IN_EACH,
        source: EACH_SLIDES,
        rule: EQUAL,
        expected: "1.03 with s_r 3, 0.71 and 0.50 with s_r 2 and 1",
        measure: &|e| ratio(e, mix((10, 1), DUALQ)),
    },
    Row {
        id: "C8c",
        part: "all mixes, the farthest",
        metric: "factor by which the ratio in the DualQ differs from 1 in the mix in which it is farthest from it",
        claimed: IN_EACH,
        source: EACH_SLIDES,
        rule: NOT_FARTHER,
        expected: "2.44 in 10+10 with s_r 3",
        measure: &|e| worst(e, whole(e, hundred(DUALQ))),
    },
];
