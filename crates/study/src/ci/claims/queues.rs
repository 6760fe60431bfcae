//! Queue depths, and losses without PFC.

use floodway_report::shapes::Depths;

use crate::claim::{GIVEN, Row, Rule};
use crate::evidence::{Case, Evidence, Facts};
use crate::measure::{Measured, change, percent_of_logs};

use super::super::{CONGESTING, MONITORED};
use super::{LOSSY, TWO, both, class_drops, class_pauses, lossy_flows, of_facts};

/// Claims D9 to D12.
pub const QUEUES_AND_LOSSES: &[Row] = &[
    Row {
        id: "D9a",
        part: "average",
        metric: "mean depth of the non-congested queue, with isolation vs. without",
        claimed: "quite low",
        source: "2018-01, queue depth",
        rule: Rule::Less(10.0),
        expected: "less by far",
        measure: &|e| of_facts(e, TWO, |facts| facts.mean_depth(MONITORED)),
    },
    Row {
        id: "D9b",
        part: "maximum",
        metric: "largest depth of any non-congested queue with isolation",
        claimed: "never exceeds XOFF (750 KB)",
        source: "2018-01, queue depth",
        rule: Rule::AtMost(750.0),
        expected: "about 300 KB: above the high threshold every packet isolates its flow",
        measure: &|e| {
            let (_, with) = both(e, TWO);
            e.most(with, "KB", |facts| facts.largest(MONITORED) / 1e3)
        },
    },
    Row {
        id: "D9c",
        part: "no HOLB",
        metric: "XOFF frames for the class of the non-congested queue with isolation, the most of any run",
        claimed: "head-of-line blocking never occurs",
        source: "2018-01, queue depth",
        rule: Rule::Exactly(0.0),
        expected: "more than 0: what arrives in that class and is isolated only here can be stopped \
                   by nothing but a pause of that class",
        measure: &|e| {
            let (_, with) = both(e, TWO);
            e.most(with, "", |facts| class_pauses(facts, MONITORED))
        },
    },
    Row {
        id: "D10",
        part: "average",
        metric: "mean depth without isolation, queue 1 vs. queue 0",
        claimed: "the two queues have similar distributions",
        source: "2018-01, queue depth",
        rule: Rule::None(50.0),
        expected: GIVEN,
        measure: &|e| {
            let (without, _) = both(e, TWO);
            let log = |(at, facts): (u32, &Facts)| {
                (at, libm::log(facts.mean_depth(CONGESTING) / facts.mean_depth(MONITORED)))
            };
            percent_of_logs(e.runs(without).map(log).map(|(_, log)| log))
        },
    },
    Row {
        id: "D10",
        part: "distribution",
        metric: "largest difference between the distribution functions of both queues' depths \
                 without isolation",
        claimed: "the two queues have similar distributions",
        source: "2018-01, queue depth",
        rule: Rule::AtMost(5.0),
        expected: GIVEN,
        measure: &|e| {
            let (without, _) = both(e, TWO);
            distance(e, without)
        },
    },
    Row {
        id: "D11",
        part: "> 10 KB",
        metric: "number of queues deeper than 10 KB on average (queue 1 with isolation, mean of both queues \
                 without), with isolation vs. without",
        claimed: "fewer",
        source: "2018-01, queue depth",
        rule: Rule::Less(10.0),
        expected: "open: less in all queues together, but isolation gathers in one queue what the \
                   hash spreads over two",
        measure: &|e| congested_queues(e, 1e4),
    },
    Row {
        id: "D11",
        part: "> 300 KB",
        metric: "number of queues deeper than 300 KB on average (queue 1 with isolation, mean of both queues \
                 without), with isolation vs. without",
        claimed: "fewer",
        source: "2018-01, queue depth",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| congested_queues(e, 3e5),
    },
    Row {
        id: "D12a",
        part: "loss rate",
        metric: "loss rate without PFC (packets dropped over packets sent), with isolation vs. without",
        claimed: "lower",
        source: "2018-01, lossy scenario",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| of_facts(e, LOSSY, Facts::loss_rate),
    },
    Row {
        id: "D12a",
        part: "flows with loss",
        metric: "number of flows of 1000 that lose a packet, with isolation vs. without",
        claimed: "fewer",
        source: "2018-01, lossy scenario",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| of_facts(e, LOSSY, lossy_flows),
    },
    Row {
        id: "D12b",
        part: "where",
        metric: "share of the drops with isolation that fall into the congested queue",
        claimed: "only packets from congested flows are dropped",
        source: "2018-01, lossy scenario",
        rule: Rule::Between(100.0, 100.0),
        expected: "100 %: the non-congested queue stays near 300 KB",
        measure: &|e| {
            let (_, with) = both(e, LOSSY);
            let drops = |queue| class_drops(e, with, queue) as f64;
            match drops(MONITORED) + drops(CONGESTING) {
                0.0 => Measured::default(),
                all => Measured::exactly(drops(CONGESTING) / all * 100.0, "% of drops"),
            }
        },
    },
];

/// How many queues are deeper than `bytes` on average: the congested one of ci against either of
/// without-ci.
fn congested_queues(evidence: &Evidence, bytes: f64) -> Measured {
    let (without, with) = both(evidence, TWO);
    change(evidence.pairs(without, with).map(|(_, a, b)| {
        let both = a.deeper_than(MONITORED, bytes) + a.deeper_than(CONGESTING, bytes);
        (both / 2.0, b.deeper_than(CONGESTING, bytes))
    }))
}

/// The largest difference between the distribution functions of the depths of both data queues
/// (the statistic of Kolmogorov and Smirnov), all replications as one.
fn distance(evidence: &Evidence, of: Case) -> Measured {
    let [a, b] = [MONITORED, CONGESTING].map(|queue| evidence.depths(of, queue));
    let total = |depths: &Depths| depths.values().sum::<u64>() as f64;
    if a.is_empty() || b.is_empty() {
        return Measured::default();
    }
    let mut edges: Vec<u64> = a.keys().chain(b.keys()).copied().collect();
    edges.sort_unstable();
    let below = |depths: &Depths, edge: u64| {
        depths.range(..=edge).map(|(_, samples)| *samples).sum::<u64>() as f64 / total(depths)
    };
    let most = edges.iter().map(|edge| (below(&a, *edge) - below(&b, *edge)).abs());
    Measured::exactly(most.fold(0.0, f64::max) * 100.0, "% of samples")
}
