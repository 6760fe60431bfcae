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

/// How much more thresholds do to elephants than to mice, in whichever direction.
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
        metric: "change of all flows by ci with two queues over the same with three",
        claimed: "isolation performs even better with two queues",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less: with two queues mice gain too",
        measure: |e| contrast(&small_logs(e, TWO, ALL), &small_logs(e, THREE, ALL)),
    },
    Row {
        id: "D3",
        part: "mice",
        metric: "change of mice by ci with two queues over the same with three",
        claimed: "mice benefit the most",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| contrast(&small_logs(e, TWO, MICE), &small_logs(e, THREE, MICE)),
    },
    Row {
        id: "D4",
        part: "",
        metric: "flows of ci and without-ci whose completion time is not the same to the \
                 picosecond with queues of 2 MB",
        claimed: "performance does not change at all",
        source: "2018-01, memory sensitivity",
        rule: Rule::Exactly(0.0),
        expected: GIVEN,
        measure: |e| {
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
        metric: "mean completion time of all flows of ci, XOFF 1500 KB against 750 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "hardly any change: with isolation few pauses are left",
        measure: |e| varied(e, "memory-xoff", ALL),
    },
    Row {
        id: "D5a",
        part: "all flows, without CI",
        metric: "the same of without-ci",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less: fewer pauses",
        measure: |e| e.fct_change(case(TWO, WITHOUT), case("memory-xoff", WITHOUT), ALL),
    },
    Row {
        id: "D5b",
        part: "large flows",
        metric: "size of the effect on flows > 10 MB over that on mice, ci, XOFF 1500 KB against 750 KB",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open: both effects are small, and the mean of mice is a matter of rare long waits",
        measure: |e| beyond_mice(e, &["memory-xoff"]),
    },
    Row {
        id: "D5a",
        part: "pause frames",
        metric: "pause frames of ci, XOFF 1500 KB against 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| e.change(case(TWO, CI), case("memory-xoff", CI), pauses),
    },
    Row {
        id: "D5a",
        part: "CNPs",
        metric: "congestion notification packets of ci, XOFF 1500 KB against 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "no clear change: XOFF does not mark",
        measure: |e| e.change(case(TWO, CI), case("memory-xoff", CI), cnps),
    },
    Row {
        id: "D6a",
        part: "all flows",
        metric: "mean completion time of all flows of ci, high threshold 600 KB against 300 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less by a little: fewer flows are isolated by mistake",
        measure: |e| varied(e, "memory-high", ALL),
    },
    Row {
        id: "D6b",
        part: "large flows",
        metric: "size of the effect on flows > 10 MB over that on mice, ci, high threshold 600 KB against 300 KB",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open: both effects are small, and the mean of mice is a matter of rare long waits",
        measure: |e| beyond_mice(e, &["memory-high"]),
    },
    Row {
        id: "D6a",
        part: "pause frames",
        metric: "pause frames of ci, high threshold 600 KB against 300 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "open",
        measure: |e| e.change(case(TWO, CI), case("memory-high", CI), pauses),
    },
    Row {
        id: "D6a",
        part: "CNPs",
        metric: "congestion notification packets of ci, high threshold 600 KB against 300 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less: fewer flows are isolated and marked",
        measure: |e| e.change(case(TWO, CI), case("memory-high", CI), cnps),
    },
    Row {
        id: "D7",
        part: "ci",
        metric: "median difference of the completion time of the same mouse, 400 ns against 0",
        claimed: "about 1.2 µs",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: GIVEN,
        measure: |e| e.fct_median_difference(case(TWO, CI), case("latency", CI), MICE),
    },
    Row {
        id: "D7",
        part: "ci, mean",
        metric: "difference of the mean completion times of mice, 400 ns against 0",
        claimed: "about 1.2 µs",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: GIVEN,
        measure: |e| e.fct_difference(case(TWO, CI), case("latency", CI), MICE),
    },
    Row {
        id: "D8",
        part: "without CI",
        metric: "difference of the mean completion times of flows > 10 MB, 400 ns against 0",
        claimed: "about 200 µs, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 µs; the interval may be wider than that",
        measure: |e| e.fct_difference(case(TWO, WITHOUT), case("latency", WITHOUT), ELEPHANTS),
    },
    Row {
        id: "D8",
        part: "ci",
        metric: "the same of ci",
        claimed: "about 200 µs, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 µs",
        measure: |e| e.fct_difference(case(TWO, CI), case("latency", CI), ELEPHANTS),
    },
];

/// Claim D13. Which flows congest is not in their size; large ones are the nearest thing to it.
pub const SUMMARY: &[Row] = &[Row {
    id: "D13",
    part: "",
    metric: "size of the effect on flows > 10 MB over that on mice, ci, XOFF and high threshold doubled",
    claimed: "thresholds are critical for congested flows, not for others",
    source: "2018-01, summary",
    rule: Rule::More(2.0),
    expected: "open, as D5 and D6",
    measure: |e| beyond_mice(e, &["memory-xoff", "memory-high"]),
}];
