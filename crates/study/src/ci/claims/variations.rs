//! What the deck of January 2018 varies: number of queues, memory, thresholds, switch latency.

use crate::claim::{GIVEN, Row, Rule};
use crate::evidence::{Evidence, Facts};
use crate::flows::{Flow, FlowGroup};
use crate::measure::{Logs, Measured, contrast, magnitudes};

use super::super::{ALL, CI, ELEPHANTS, MICE, WITHOUT, case};
use super::{THREE, TWO, cnps, pauses, small_logs};

/// The baseline of what the deck of January 2018 varies: 128 servers.
pub(super) fn varied(evidence: &Evidence, experiment: &'static str, group: FlowGroup) -> Measured {
    evidence.fct_change(case(TWO, CI), case(experiment, CI), group)
}

/// How much more thresholds change elephants than mice, in either direction.
fn beyond_mice(evidence: &Evidence, experiments: &[&'static str]) -> Measured {
    let logs = |group| {
        let of = experiments.iter().enumerate().flat_map(|(at, experiment)| {
            let logs = evidence.fct_logs(case(TWO, CI), case(experiment, CI), group);
            // Replications of different experiments stand side by side.
            logs.into_iter().map(move |(r, log)| (r + 1_000 * at as u32, log))
        });
        of.collect::<Logs>()
    };
    magnitudes(&logs(ELEPHANTS), &logs(MICE))
}

/// Claims D3 to D8 and D13.
pub const VARIATIONS: &[Row] = &[
    Row {
        id: "D3",
        part: "all flows",
        metric: "ratio of the mean completion times of all flows with isolation to without, with two queues \
                 vs. three",
        claimed: "isolation performs even better with two queues",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less: with two queues mice gain too",
        measure: &|e| contrast(&small_logs(e, TWO, ALL), &small_logs(e, THREE, ALL)),
    },
    Row {
        id: "D3",
        part: "mice",
        metric: "ratio of the mean completion times of mice with isolation to without, with two queues vs. \
                 three",
        claimed: "mice benefit the most",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| contrast(&small_logs(e, TWO, MICE), &small_logs(e, THREE, MICE)),
    },
    Row {
        id: "D4",
        part: "",
        metric: "flows, with isolation and without, whose completion time with queues of 2 MB is not the \
                 same to the picosecond",
        claimed: "performance does not change at all",
        source: "2018-01, memory sensitivity",
        rule: Rule::Exactly(0.0),
        expected: GIVEN,
        measure: &|e| {
            let changed = |variant: &'static str| -> Option<f64> {
                let pairs = e.pairs(case(TWO, variant), case("memory-size", variant));
                let differ = |(_, a, b): (u32, &Facts, &Facts)| {
                    let same = |(x, y): (&Flow, &Flow)| {
                        x.flow == y.flow && x.fct_ns.to_bits() == y.fct_ns.to_bits()
                    };
                    let equal = a.flows.iter().zip(&b.flows).filter(|pair| same(*pair)).count();
                    (a.flows.len().max(b.flows.len()) - equal) as f64
                };
                pairs.map(differ).reduce(|a, b| a + b)
            };
            let value = changed(WITHOUT).zip(changed(CI)).map(|(a, b)| a + b);
            Measured { value, unit: "flows", ..Measured::default() }
        },
    },
    Row {
        id: "D5a",
        part: "all flows",
        metric: "mean completion time of all flows with isolation, with XOFF at 1500 KB vs. 750 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "hardly any change: with isolation few pauses are left",
        measure: &|e| varied(e, "memory-xoff", ALL),
    },
    Row {
        id: "D5a",
        part: "all flows, without CI",
        metric: "mean completion time of all flows without isolation, with XOFF at 1500 KB vs. 750 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less: fewer pauses",
        measure: &|e| e.fct_change(case(TWO, WITHOUT), case("memory-xoff", WITHOUT), ALL),
    },
    Row {
        id: "D5b",
        part: "large flows",
        metric: "size of the effect of XOFF at 1500 KB instead of 750 KB with isolation, on flows > 10 MB vs. mice",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open: both effects are small, and the mean of mice is a matter of rare long waits",
        measure: &|e| beyond_mice(e, &["memory-xoff"]),
    },
    Row {
        id: "D5a",
        part: "pause frames",
        metric: "number of pause frames with isolation, with XOFF at 1500 KB vs. 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| e.change(case(TWO, CI), case("memory-xoff", CI), pauses),
    },
    Row {
        id: "D5a",
        part: "CNPs",
        metric: "number of congestion notification packets with isolation, with XOFF at 1500 KB vs. 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "no clear change: XOFF does not mark",
        measure: &|e| e.change(case(TWO, CI), case("memory-xoff", CI), cnps),
    },
    Row {
        id: "D6a",
        part: "all flows",
        metric: "mean completion time of all flows with isolation, with the high threshold at 600 KB vs. 300 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less by a little: fewer flows are isolated by mistake",
        measure: &|e| varied(e, "memory-high", ALL),
    },
    Row {
        id: "D6b",
        part: "large flows",
        metric: "size of the effect of a high threshold of 600 KB instead of 300 KB with isolation, on flows > 10 MB \
                 vs. mice",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open: both effects are small, and the mean of mice is a matter of rare long waits",
        measure: &|e| beyond_mice(e, &["memory-high"]),
    },
    Row {
        id: "D6a",
        part: "pause frames",
        metric: "number of pause frames with isolation, with the high threshold at 600 KB vs. 300 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "open",
        measure: &|e| e.change(case(TWO, CI), case("memory-high", CI), pauses),
    },
    Row {
        id: "D6a",
        part: "CNPs",
        metric: "number of congestion notification packets with isolation, with the high threshold at 600 KB vs. \
                 300 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less: fewer flows are isolated and marked",
        measure: &|e| e.change(case(TWO, CI), case("memory-high", CI), cnps),
    },
    Row {
        id: "D7",
        part: "ci",
        metric: "median over mice of the increase of the completion time with isolation, 400 ns per switch vs. 0",
        claimed: "about 1.2 µs",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: GIVEN,
        measure: &|e| {
            e.flow_by_flow(case(TWO, CI), case("latency", CI), MICE, Some(crate::Quantile::P50))
        },
    },
    Row {
        id: "D7",
        part: "ci, mean",
        metric: "increase of the mean completion time of mice with isolation, 400 ns per switch vs. 0",
        claimed: "about 1.2 µs",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: GIVEN,
        measure: &|e| e.fct_difference(case(TWO, CI), case("latency", CI), MICE),
    },
    Row {
        id: "D8",
        part: "without CI",
        metric: "increase of the mean completion time of flows > 10 MB without isolation, 400 ns per switch vs. 0",
        claimed: "about 200 µs, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 µs; the interval may be wider than that",
        measure: &|e| e.fct_difference(case(TWO, WITHOUT), case("latency", WITHOUT), ELEPHANTS),
    },
    Row {
        id: "D8",
        part: "ci",
        metric: "increase of the mean completion time of flows > 10 MB with isolation, 400 ns per switch vs. 0",
        claimed: "about 200 µs, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 µs",
        measure: &|e| e.fct_difference(case(TWO, CI), case("latency", CI), ELEPHANTS),
    },
];

/// Claim D13. Which flows congest is not in their size; large ones are the nearest thing to it.
pub const SUMMARY: &[Row] = &[Row {
    id: "D13",
    part: "",
    metric: "size of the effect of doubling XOFF or the high threshold with isolation, on flows > 10 MB vs. mice",
    claimed: "thresholds are critical for congested flows, not for others",
    source: "2018-01, summary",
    rule: Rule::More(2.0),
    expected: "open, as D5 and D6",
    measure: &|e| beyond_mice(e, &["memory-xoff", "memory-high"]),
}];
