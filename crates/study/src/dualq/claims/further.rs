//! P1 to P6: what the papers and the RFC that followed the deck say, and what the deck is for.

use crate::claim::{Row, Rule};
use crate::dualq::measures::{
    EQUAL, LINK_MBPS, NOT_FARTHER, Queue, delay, largest, lost, overall, utilisation, whole, worst,
};
use crate::dualq::plan::{
    FIELDS, OVERLOADS, RATES, ROUND_TRIPS, SHARED, all_shared, interactive, link, overload,
};
use crate::dualq::{DUALPI2, DUALQ, LOAD, PI2, PIE, RED, SCALABLE, case, mix};
use crate::evidence::{Case, Evidence};
use crate::measure::{Measured, change};

const PI2_PAPER: &str = "De Schepper and others, \"PI2: A Linearized AQM for both Classic and \
                         Scalable TCP\", CoNEXT 2016";
const RFC: &str = "RFC 9332";
const L4S_PAPER: &str = "De Schepper and others, \"Dual Queue Coupled AQM: Deployable Very Low \
                         Queuing Delay for All\", arXiv 2209.01078, abstract";
const DECK: &str = "slides 2, 3 and 30";

/// The cells of the grid of links that were run.
fn links(variant: &'static str) -> impl Iterator<Item = Case> {
    let all = RATES.into_iter().flat_map(|rate| ROUND_TRIPS.map(|rtt| (rate, rtt)));
    all.map(move |(rate, rtt)| case(link(rate, rtt), variant))
}

/// P1 and P2.
pub const LINKS: &[Row] = &[
    Row {
        id: "P1a",
        part: "coupled",
        metric: "rate of a Cubic flow over that of a DCTCP flow under PI2 with k = 2, geometric mean \
                 over links of 4 to 200 Mb/s and 5 to 100 ms",
        claimed: "about 1",
        source: PI2_PAPER,
        rule: EQUAL,
        expected: "0.92, from 0.9 to 0.95",
        measure: &|e| overall(e, links(PI2)),
    },
    Row {
        id: "P1a",
        part: "not coupled",
        metric: "rate of a Cubic flow over that of a DCTCP flow under PIE, which has one probability, geometric mean over \
                 the same links",
        claimed: "about 1:10",
        source: PI2_PAPER,
        rule: Rule::Within(0.03, 0.33),
        expected: "0.125, from 0.12 to 0.13",
        measure: &|e| overall(e, links(PIE)),
    },
    Row {
        id: "P1b",
        part: "",
        metric: "factor by which the ratio under PI2 differs from 1 on the link on which it is farthest from it",
        claimed: "about 1 on all (a figure with a logarithmic axis)",
        source: PI2_PAPER,
        rule: NOT_FARTHER,
        expected: "1.82: not equal on every link",
        measure: &|e| worst(e, links(PI2)),
    },
    Row {
        id: "P2",
        part: "PI2",
        metric: "median queuing delay under PI2, 40 Mb/s and 10 ms",
        claimed: "the target of 20 ms",
        source: PI2_PAPER,
        rule: Rule::Between(15.0, 25.0),
        expected: "about 20",
        measure: &|e| queue(e, PI2),
    },
    Row {
        id: "P2",
        part: "DualPI2",
        metric: "median queuing delay of Cubic under DualPI2, the same link",
        claimed: "the target of 15 ms",
        source: RFC,
        rule: Rule::Between(11.0, 19.0),
        expected: "about 15",
        measure: &|e| queue(e, DUALPI2),
    },
];

fn queue(evidence: &Evidence, variant: &'static str) -> Measured {
    delay(evidence, case(link(40, 10), variant), Queue::Classic, 0.5).scaled(1e-6, "ms")
}

/// P3 to P6.
pub const DYNAMIC: &[Row] = &[
    Row {
        id: "P3",
        part: "DualPI2, median",
        metric: "median queuing delay of DCTCP while short flows come and go, DualPI2",
        claimed: "median queuing delay of 100 to 300 us",
        source: L4S_PAPER,
        rule: Rule::Between(0.0, 0.3),
        expected: "about 0.42: more than the 0.3 ms of a packet on this link",
        measure: &|e| load(e, DUALPI2, 0.5),
    },
    Row {
        id: "P3",
        part: "DualPI2, p99",
        metric: "99th percentile of the queuing delay of DCTCP while short flows come and go, DualPI2",
        claimed: "99th percentile below 2 ms",
        source: L4S_PAPER,
        rule: Rule::AtMost(2.0),
        expected: "about 2",
        measure: &|e| load(e, DUALPI2, 0.99),
    },
    Row {
        id: "P3",
        part: "DualQ, median",
        metric: "median queuing delay of DCTCP while short flows come and go, DualQ",
        claimed: "median queuing delay of 100 to 300 us",
        source: L4S_PAPER,
        rule: Rule::Between(0.0, 0.3),
        expected: "about 0.41: more than the 0.3 ms of a packet on this link",
        measure: &|e| load(e, DUALQ, 0.5),
    },
    Row {
        id: "P3",
        part: "DualQ, p99",
        metric: "99th percentile of the queuing delay of DCTCP while short flows come and go, DualQ",
        claimed: "99th percentile below 2 ms",
        source: L4S_PAPER,
        rule: Rule::AtMost(2.0),
        expected: "about 2",
        measure: &|e| load(e, DUALQ, 0.99),
    },
    Row {
        id: "P3",
        part: "loss",
        metric: "packets of DCTCP that were dropped, DualPI2 and DualQ",
        claimed: "zero congestion loss",
        source: L4S_PAPER,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| {
            let of = |variant| lost(e, case(LOAD, variant), &[SCALABLE, 3]).value;
            let value = of(DUALPI2).zip(of(DUALQ)).map(|(a, b)| a + b);
            Measured { value, ..Measured::default() }
        },
    },
    Row {
        id: "P3",
        part: "utilisation",
        metric: "payload that arrived, as a share of what the link can carry, DualPI2",
        claimed: "near-full utilisation",
        source: L4S_PAPER,
        rule: Rule::Between(95.0, 100.0),
        expected: "about 99",
        measure: &|e| utilisation(e, case(LOAD, DUALPI2), LINK_MBPS),
    },
    Row {
        id: "P4",
        part: "DualPI2",
        metric: "99th percentile of the delay in the low latency queue of DualPI2 with unresponsive \
                 traffic of 20 to 150 % of the link, the longest of all rates",
        claimed: "delay stays bounded: drop on overload",
        source: "RFC 9332, section 4.2",
        rule: Rule::AtMost(50.0),
        expected: "about 20: it takes the place of the classic queue, at its target of 15",
        measure: &|e| overloads(e, DUALPI2, Queue::Scalable),
    },
    Row {
        id: "P4",
        part: "DualPI2, classic",
        metric: "99th percentile of the delay in the classic queue of DualPI2 with unresponsive traffic of 20 to 150 % \
                 of the link, the longest of all rates",
        claimed: "delay stays bounded: drop on overload",
        source: "RFC 9332, section 4.2",
        rule: Rule::AtMost(50.0),
        expected: "about 30",
        measure: &|e| overloads(e, DUALPI2, Queue::Classic),
    },
    Row {
        id: "P5",
        part: "DCTCP, DualQ against RED",
        metric: "99th percentile of the age of frames at arrival, over DCTCP in the DualQ vs. DCTCP under RED",
        claimed: "low latency and high throughput for adaptive interactive applications",
        source: DECK,
        rule: Rule::Less(25.0),
        expected: "about -75 %",
        measure: &|e| age(e, ("dctcp", RED), ("dctcp", DUALQ)),
    },
    Row {
        id: "P5",
        part: "DCTCP, DualPI2 against RED",
        metric: "99th percentile of the age of frames at arrival, over DCTCP under DualPI2 vs. DCTCP under RED",
        claimed: "low latency and high throughput for adaptive interactive applications",
        source: DECK,
        rule: Rule::Less(25.0),
        expected: "about -75 %",
        measure: &|e| age(e, ("dctcp", RED), ("dctcp", DUALPI2)),
    },
    Row {
        id: "P5",
        part: "DCTCP in DualQ against Cubic in drop-tail",
        metric: "99th percentile of the age of frames at arrival, over DCTCP in the DualQ vs. Cubic in a drop-tail queue \
                 of 250 ms",
        claimed: "large queues for high throughput: bad for interactive applications",
        source: DECK,
        rule: Rule::Less(25.0),
        expected: "about -95 %",
        measure: &|e| age(e, ("cubic", "drop-tail"), ("dctcp", DUALQ)),
    },
    Row {
        id: "P5",
        part: "Prague in DualPI2 against Cubic in PIE",
        metric: "99th percentile of the age of frames at arrival, over Prague under DualPI2 vs. Cubic under PIE",
        claimed: "low latency and high throughput for adaptive interactive applications",
        source: DECK,
        rule: Rule::Less(25.0),
        expected: "about -60 %",
        measure: &|e| age(e, ("cubic", PIE), ("prague", DUALPI2)),
    },
    Row {
        id: "P6",
        part: "six mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow under DualPI2, geometric mean over six \
                 mixes",
        claimed: "roughly equal flow rates",
        source: "RFC 9332, section 1",
        rule: EQUAL,
        expected: "0.51, which is not equal: k = 2 makes windows equal and Cubic has the longer round \
                   trip; 0.42 to 0.54 with the other choices, but 1.21 with Prague, for which it is made, \
                   in the band or across its upper end",
        measure: &|e| overall(e, SHARED.map(|of| mix(of, DUALPI2))),
    },
    Row {
        id: "P6",
        part: "all mixes",
        metric: "rate of a Cubic flow over that of a DCTCP flow under DualPI2, geometric mean over all 100 mixes",
        claimed: "roughly equal flow rates",
        source: "RFC 9332, section 1",
        rule: EQUAL,
        expected: "0.45",
        measure: &|e| overall(e, whole(e, all_shared().map(|of| mix(of, DUALPI2)))),
    },
];

fn load(evidence: &Evidence, variant: &'static str, p: f64) -> Measured {
    delay(evidence, case(LOAD, variant), Queue::Scalable, p).scaled(1e-6, "ms")
}

fn overloads(evidence: &Evidence, variant: &'static str, queue: Queue) -> Measured {
    let all = FIELDS.into_iter().flat_map(|field| OVERLOADS.map(|of| overload(field, of)));
    largest(all.map(|name| delay(evidence, case(name, variant), queue, 0.99))).scaled(1e-6, "ms")
}

/// The change of the 99th percentile of the latencies of frames, from one congestion control and
/// queue management to another.
fn age(evidence: &Evidence, from: (&str, &'static str), to: (&str, &'static str)) -> Measured {
    let of = |(congestion, variant): (&str, &'static str)| case(interactive(congestion), variant);
    let measurement = evidence.measurement(of(from).experiment);
    let Some((start, end)) = measurement else { return Measured::default() };
    let pairs = evidence.pairs(of(from), of(to));
    let p99 = |facts: &crate::evidence::Facts| facts.frames.made(start, end).latency(0.99);
    change(pairs.map(|(_, a, b)| (p99(a), p99(b))))
}
