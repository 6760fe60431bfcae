//! Claims about results, each with the rule that judges it and what was expected before the runs.
//!
//! Expectations rest on the first runs at 128 servers (docs/studies/ci.md), which were shorter or
//! fewer. They were written down before the experiments of the study were run as they are now.

use crate::claim::{Row, Rule};
use crate::evidence::{Case, Evidence, Facts};
use crate::measure::{Logs, Measured, contrast, estimate, unpaired_contrast};

use super::plan::SIZES;
use super::{
    ALL, CI, CONGESTING, ELEPHANTS, LOCAL, MEDIUM, MICE, MONITORED, WITHOUT, case, largest,
};

/// From the variant without isolation to the one with it, of an experiment at its largest size.
fn both(evidence: &Evidence, experiment: &'static str) -> (Case, Case) {
    let experiment = largest(evidence, experiment);
    (case(experiment, WITHOUT), case(experiment, CI))
}

fn fct(evidence: &Evidence, experiment: &'static str, class: usize) -> Measured {
    let (without, with) = both(evidence, experiment);
    evidence.fct_change(without, with, class)
}

fn fct_logs(evidence: &Evidence, experiment: &'static str, class: usize) -> Logs {
    let (without, with) = both(evidence, experiment);
    evidence.fct_logs(without, with, class)
}

fn of_facts(
    evidence: &Evidence,
    experiment: &'static str,
    number: impl Fn(&Facts) -> f64,
) -> Measured {
    let (without, with) = both(evidence, experiment);
    evidence.change(without, with, number)
}

const TWO: &str = "two-queues";
const THREE: &str = "three-queues";
const LOSSY: &str = "lossy";

fn pauses(facts: &Facts) -> f64 {
    facts.number("pause_frames")
}

fn paused(facts: &Facts) -> f64 {
    facts.number("paused_ns")
}

fn cnps(facts: &Facts) -> f64 {
    facts.number("cnps_sent")
}

fn lossy_flows(facts: &Facts) -> f64 {
    facts.flows_with_loss as f64 / facts.flows.len() as f64 * 1_000.0
}

/// Claims A1 to A3.
pub const EARLY_RESULTS: &[Row] = &[
    Row {
        id: "A1",
        part: "mice",
        metric: "mean completion time of flows < 100 KB, ci against without-ci",
        claimed: "-63 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-73.0, -53.0),
        expected: "about -99 %: without isolation a mouse behind a paused queue waits for \
                   milliseconds",
        measure: |e| fct(e, TWO, MICE),
    },
    Row {
        id: "A1",
        part: "elephants",
        metric: "mean completion time of flows > 10 MB, ci against without-ci",
        claimed: "-23 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-33.0, -13.0),
        expected: "about -22 %",
        measure: |e| fct(e, TWO, ELEPHANTS),
    },
    Row {
        id: "A1",
        part: "all",
        metric: "mean completion time of all flows, ci against without-ci",
        claimed: "-38 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-48.0, -28.0),
        expected: "about -60 %",
        measure: |e| fct(e, TWO, ALL),
    },
    Row {
        id: "A1",
        part: "all, ECN as a step",
        metric: "the same where ECN marks every packet above 300 KB",
        claimed: "-38 %",
        source: "IETF 101, early simulation results, the other reading of its ECN",
        rule: Rule::Effect(-48.0, -28.0),
        expected: "about +4 %: ECN alone keeps nearly all pauses away, and isolation only adds marks",
        measure: |e| fct(e, "ecn-step", ALL),
    },
    Row {
        id: "A2",
        part: "",
        metric: "pause frames of all ports, ci against without-ci",
        claimed: "-84 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-94.0, -74.0),
        expected: "about -95 %",
        measure: |e| of_facts(e, TWO, pauses),
    },
    Row {
        id: "A2",
        part: "ECN as a step",
        metric: "the same where ECN marks every packet above 300 KB",
        claimed: "-84 %",
        source: "IETF 101, early simulation results, the other reading of its ECN",
        rule: Rule::Effect(-94.0, -74.0),
        expected: "no fall: hardly any pauses are left to save",
        measure: |e| of_facts(e, "ecn-step", pauses),
    },
    Row {
        id: "A3",
        part: "",
        metric: "dropped over sent packets without PFC, selective repeat, ci against without-ci",
        claimed: "-66 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-76.0, -56.0),
        expected: "less; the size is open, since no run of it existed",
        measure: |e| of_facts(e, LOSSY, Facts::loss_rate),
    },
];

/// Claims A6 to A10.
pub const ROWS_A: &[Row] = &[
    Row {
        id: "A6",
        part: "against 100 KB-1 MB",
        metric: "change of mice over change of flows of 100 KB to 1 MB, two queues",
        claimed: "the mice benefit the most",
        source: "IETF 101, lossless scenario",
        rule: Rule::Less(10.0),
        expected: "less: about -99 % against -93 %",
        measure: |e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, TWO, MEDIUM)),
    },
    Row {
        id: "A6",
        part: "against > 10 MB",
        metric: "change of mice over change of flows > 10 MB, two queues",
        claimed: "the mice benefit the most",
        source: "IETF 101, lossless scenario",
        rule: Rule::Less(10.0),
        expected: "less: about -99 % against -22 %",
        measure: |e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, TWO, ELEPHANTS)),
    },
    Row {
        id: "A7",
        part: "",
        metric: "change of mice with three queues over change of mice with two",
        claimed: "mice not improved as much where they have priority already",
        source: "IETF 101, three-queue model",
        rule: Rule::More(10.0),
        expected: "more: mice with priority hardly wait, so there is little to gain",
        measure: |e| contrast(&fct_logs(e, THREE, MICE), &fct_logs(e, TWO, MICE)),
    },
    Row {
        id: "A8",
        part: "frames",
        metric: "pause frames of all ports, ci against without-ci",
        claimed: "falls",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::Less(10.0),
        expected: "about -95 %",
        measure: |e| of_facts(e, TWO, pauses),
    },
    Row {
        id: "A8",
        part: "duration",
        metric: "time that ports were not allowed to send a class, ci against without-ci",
        claimed: "falls",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::Less(10.0),
        expected: "about -90 %",
        measure: |e| of_facts(e, TWO, paused),
    },
    Row {
        id: "A8",
        part: "duration against frames",
        metric: "change of the time over change of the frames",
        claimed: "duration falls less than frames",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::More(10.0),
        expected: "open: the deck's reason is strict priority between the queues, which the main \
                   scenario does not have",
        measure: |e| {
            let (without, with) = both(e, TWO);
            contrast(&e.logs(without, with, paused), &e.logs(without, with, pauses))
        },
    },
    Row {
        id: "A9",
        part: "",
        metric: "change of all flows by ci in the largest fabric over the same at 128 servers",
        claimed: "with isolation a data center can be larger",
        source: "IETF 101, scaling comparison",
        rule: Rule::Less(10.0),
        expected: "open: the first run at 1152 servers gained as much as those at 128; the deck's \
                   curves are lost, and a gain that grows with the size is our reading",
        measure: |e| {
            let large = SIZES.iter().rev().map(|(name, _)| *name);
            let large = large.into_iter().find(|name| e.has(case(name, CI)));
            let logs = |name| e.fct_logs(case(name, WITHOUT), case(name, CI), ALL);
            match large {
                Some(large) if large != TWO => unpaired_contrast(&logs(large), &logs(TWO)),
                _ => Measured::default(),
            }
        },
    },
    Row {
        id: "A10",
        part: "without PFC",
        metric: "mean completion time of mice without PFC, ci against without-ci",
        claimed: "isolation works without PFC",
        source: "IETF 101, assertions",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| fct(e, LOSSY, MICE),
    },
    Row {
        id: "A10",
        part: "local only",
        metric: "mean completion time of all flows, ci-local against without-ci",
        claimed: "isolation works without messages",
        source: "IETF 101, assertions",
        rule: Rule::Less(10.0),
        expected: "about -60 %",
        measure: |e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, WITHOUT), case(experiment, LOCAL), ALL)
        },
    },
    Row {
        id: "A10",
        part: "messages, all flows",
        metric: "mean completion time of all flows, ci against ci-local",
        claimed: "isolation with messages is best",
        source: "IETF 101, assertions",
        rule: Rule::Less(5.0),
        expected: "no clear difference at 128 servers",
        measure: |e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, LOCAL), case(experiment, CI), ALL)
        },
    },
    Row {
        id: "A10",
        part: "messages, mice",
        metric: "mean completion time of mice, ci against ci-local",
        claimed: "isolation with messages is best",
        source: "IETF 101, assertions",
        rule: Rule::Less(5.0),
        expected: "less: upstream queues no longer hold mice behind paused flows",
        measure: |e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, LOCAL), case(experiment, CI), MICE)
        },
    },
];

/// The baseline of what the deck of January 2018 varies: 128 servers.
fn varied(evidence: &Evidence, experiment: &'static str, class: usize) -> Measured {
    evidence.fct_change(case(TWO, CI), case(experiment, CI), class)
}

fn varied_logs(evidence: &Evidence, experiment: &'static str, class: usize) -> Logs {
    evidence.fct_logs(case(TWO, CI), case(experiment, CI), class)
}

/// By how much more elephants are affected than mice, whatever the direction: the difference of
/// the magnitudes of both changes, in percent of the completion time.
fn more_than_mice(evidence: &Evidence, experiments: &[&'static str]) -> Measured {
    let magnitude = |log: f64| (libm::exp(log) - 1.0).abs() * 100.0;
    let of = experiments.iter().flat_map(|experiment| {
        let mice = varied_logs(evidence, experiment, MICE);
        let elephants = varied_logs(evidence, experiment, ELEPHANTS);
        let difference = |(at, log): (u32, f64)| Some(magnitude(log) - magnitude(*mice.get(&at)?));
        elephants.into_iter().filter_map(difference).collect::<Vec<_>>()
    });
    estimate(of, "%")
}

/// Claims D3 to D8 and D13.
pub const ROWS_D: &[Row] = &[
    Row {
        id: "D3",
        part: "all flows",
        metric: "change of all flows by ci with two queues over the same with three",
        claimed: "isolation performs even better with two queues",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less: with two queues mice gain too",
        measure: |e| contrast(&fct_logs(e, TWO, ALL), &fct_logs(e, THREE, ALL)),
    },
    Row {
        id: "D3",
        part: "mice",
        metric: "change of mice by ci with two queues over the same with three",
        claimed: "mice benefit the most",
        source: "2018-01, two-queue model",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, THREE, MICE)),
    },
    Row {
        id: "D4",
        part: "",
        metric: "flows of ci and without-ci whose completion time is not the same to the \
                 picosecond with queues of 2 MB",
        claimed: "performance does not change at all",
        source: "2018-01, memory sensitivity",
        rule: Rule::Exactly(0.0),
        expected: "0: with PFC no queue reaches 1 MB, so its size is never asked for",
        measure: |e| {
            let changed = |variant: &'static str| -> Option<f64> {
                let pairs = e.pairs(case(TWO, variant), case("memory-size", variant));
                let differ = |(_, a, b): (u32, &Facts, &Facts)| {
                    let same = |(x, y): (&crate::evidence::Flow, &crate::evidence::Flow)| {
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
        id: "D5",
        part: "all flows",
        metric: "mean completion time of all flows of ci, XOFF 1500 KB against 750 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "hardly any change: with isolation few pauses are left",
        measure: |e| varied(e, "memory-xoff", ALL),
    },
    Row {
        id: "D5",
        part: "all flows, without CI",
        metric: "the same of without-ci",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less: fewer pauses",
        measure: |e| e.fct_change(case(TWO, WITHOUT), case("memory-xoff", WITHOUT), ALL),
    },
    Row {
        id: "D5",
        part: "large flows",
        metric: "change of flows > 10 MB beyond change of mice, magnitudes, XOFF 1500 KB",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open",
        measure: |e| more_than_mice(e, &["memory-xoff"]),
    },
    Row {
        id: "D5",
        part: "pause frames",
        metric: "pause frames of ci, XOFF 1500 KB against 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| e.change(case(TWO, CI), case("memory-xoff", CI), pauses),
    },
    Row {
        id: "D5",
        part: "CNPs",
        metric: "congestion notification packets of ci, XOFF 1500 KB against 750 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "no clear change: XOFF does not mark",
        measure: |e| e.change(case(TWO, CI), case("memory-xoff", CI), cnps),
    },
    Row {
        id: "D6",
        part: "all flows",
        metric: "mean completion time of all flows of ci, high threshold 600 KB against 300 KB",
        claimed: "improves",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(5.0),
        expected: "less by a little: fewer flows are isolated by mistake",
        measure: |e| varied(e, "memory-high", ALL),
    },
    Row {
        id: "D6",
        part: "large flows",
        metric: "change of flows > 10 MB beyond change of mice, magnitudes, high threshold 600 KB",
        claimed: "large flows are affected more than small flows",
        source: "2018-01, memory sensitivity",
        rule: Rule::More(2.0),
        expected: "open",
        measure: |e| more_than_mice(e, &["memory-high"]),
    },
    Row {
        id: "D6",
        part: "pause frames",
        metric: "pause frames of ci, high threshold 600 KB against 300 KB",
        claimed: "fewer",
        source: "2018-01, memory sensitivity",
        rule: Rule::Less(10.0),
        expected: "open",
        measure: |e| e.change(case(TWO, CI), case("memory-high", CI), pauses),
    },
    Row {
        id: "D6",
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
        claimed: "about 1.2 us",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: "1.2 us: three switches of 400 ns on nearly all paths",
        measure: |e| e.fct_median_difference(case(TWO, CI), case("latency", CI), MICE),
    },
    Row {
        id: "D7",
        part: "ci, mean",
        metric: "difference of the mean completion times of mice, 400 ns against 0",
        claimed: "about 1.2 us",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(1.0, 1.4),
        expected: "about 1.2 us, if the few mice that wait for long do not blur it",
        measure: |e| e.fct_difference(case(TWO, CI), case("latency", CI), MICE),
    },
    Row {
        id: "D8",
        part: "without CI",
        metric: "difference of the mean completion times of flows > 10 MB, 400 ns against 0",
        claimed: "about 200 us, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 us; the interval may be wider than that",
        measure: |e| e.fct_difference(case(TWO, WITHOUT), case("latency", WITHOUT), ELEPHANTS),
    },
    Row {
        id: "D8",
        part: "ci",
        metric: "the same of ci",
        claimed: "about 200 us, because of more pauses",
        source: "2018-01, static switch latency",
        rule: Rule::Effect(100.0, 300.0),
        expected: "more, of some 100 us",
        measure: |e| e.fct_difference(case(TWO, CI), case("latency", CI), ELEPHANTS),
    },
];

/// Claims D9 to D13.
pub const DEPTHS_AND_LOSSES: &[Row] = &[
    Row {
        id: "D9",
        part: "average",
        metric: "mean depth of the non-congested queue of ci against the same queue of without-ci",
        claimed: "quite low",
        source: "2018-01, queue depth",
        rule: Rule::Less(10.0),
        expected: "less by far",
        measure: |e| of_facts(e, TWO, |facts| facts.mean_depth(MONITORED)),
    },
    Row {
        id: "D9",
        part: "maximum",
        metric: "largest depth that any non-congested queue of ci ever had",
        claimed: "never exceeds XOFF (750 KB)",
        source: "2018-01, queue depth",
        rule: Rule::AtMost(750.0),
        expected: "about 300 KB: above the high threshold every packet isolates its flow",
        measure: |e| {
            let (_, with) = both(e, TWO);
            e.most(with, "KB", |facts| facts.largest(MONITORED) / 1e3)
        },
    },
    Row {
        id: "D9",
        part: "no HOLB",
        metric: "pause frames for the class of the non-congested queue of ci",
        claimed: "head-of-line blocking never occurs",
        source: "2018-01, queue depth",
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: |e| {
            let (_, with) = both(e, TWO);
            e.most(with, "", |facts| class_pauses(facts, MONITORED))
        },
    },
    Row {
        id: "D10",
        part: "average",
        metric: "mean depth of queue 1 over that of queue 0, without-ci",
        claimed: "the two queues have similar distributions",
        source: "2018-01, queue depth",
        rule: Rule::None(50.0),
        expected: "no clear difference: a hash spreads destinations; but each incast is in one queue, \
                   and there are few, so that the interval is wide",
        measure: |e| {
            let (without, _) = both(e, TWO);
            let log = |(at, facts): (u32, &Facts)| {
                (at, libm::log(facts.mean_depth(CONGESTING) / facts.mean_depth(MONITORED)))
            };
            crate::measure::percent_of_logs(e.runs(without).map(log).map(|(_, log)| log))
        },
    },
    Row {
        id: "D10",
        part: "distribution",
        metric: "largest difference between the two distributions of depth, all replications as \
                 one, without-ci",
        claimed: "the two queues have similar distributions",
        source: "2018-01, queue depth",
        rule: Rule::AtMost(5.0),
        expected: "a few percentage points",
        measure: |e| {
            let (without, _) = both(e, TWO);
            distance(e, without)
        },
    },
    Row {
        id: "D11",
        part: "",
        metric: "congested queues of the fabric deeper than 10 KB on average: queue 1 of ci \
                 against either queue of without-ci",
        claimed: "fewer",
        source: "2018-01, queue depth",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| {
            let (without, with) = both(e, TWO);
            let pairs = e.pairs(without, with).map(|(_, a, b)| {
                let either = a.deeper_than(MONITORED, 1e4) + a.deeper_than(CONGESTING, 1e4);
                (either / 2.0, b.deeper_than(CONGESTING, 1e4))
            });
            crate::measure::change(pairs)
        },
    },
    Row {
        id: "D12",
        part: "loss rate",
        metric: "dropped over sent packets without PFC, ci against without-ci",
        claimed: "lower",
        source: "2018-01, lossy scenario",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| of_facts(e, LOSSY, Facts::loss_rate),
    },
    Row {
        id: "D12",
        part: "flows with loss",
        metric: "measured flows of 1000 that lost a packet, ci against without-ci",
        claimed: "fewer",
        source: "2018-01, lossy scenario",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: |e| of_facts(e, LOSSY, lossy_flows),
    },
    Row {
        id: "D12",
        part: "where",
        metric: "share of the drops of ci that fall into the congested queue",
        claimed: "only packets from congested flows are dropped",
        source: "2018-01, lossy scenario",
        rule: Rule::Between(100.0, 100.0),
        expected: "100 %: the non-congested queue stays near 300 KB",
        measure: |e| {
            let (_, with) = both(e, LOSSY);
            let sum = |queue: Option<u64>| -> f64 {
                let of = |facts: &Facts| -> u64 {
                    let counts = |of: &(&u64, &u64)| queue.is_none_or(|queue| *of.0 == queue);
                    facts.drops.iter().filter(counts).map(|(_, packets)| packets).sum()
                };
                e.runs(with).map(|(_, facts)| of(facts)).sum::<u64>() as f64
            };
            match sum(None) {
                0.0 => Measured::default(),
                all => Measured::exactly(sum(Some(CONGESTING)) / all * 100.0, "%"),
            }
        },
    },
    Row {
        id: "D13",
        part: "",
        metric: "change of flows > 10 MB beyond change of mice, magnitudes, XOFF and high threshold \
                 doubled",
        claimed: "thresholds are critical for congested flows, not for others",
        source: "2018-01, summary",
        rule: Rule::More(2.0),
        expected: "open",
        measure: |e| more_than_mice(e, &["memory-xoff", "memory-high"]),
    },
];

/// XOFF frames for a class, of all switches.
pub(super) fn class_pauses(facts: &Facts, class: u64) -> f64 {
    let tiers = 0..2;
    tiers.map(|tier| facts.number(&format!("tier_{tier}_class_{class}_xoff_frames"))).sum()
}

/// The largest difference between the distribution functions of the depths of both data queues
/// (the statistic of Kolmogorov and Smirnov), all replications as one.
fn distance(evidence: &Evidence, of: Case) -> Measured {
    let [a, b] = [MONITORED, CONGESTING].map(|queue| evidence.depths(of, queue));
    let total = |depths: &floodway_report::shapes::Depths| depths.values().sum::<u64>() as f64;
    if a.is_empty() || b.is_empty() {
        return Measured::default();
    }
    let mut edges: Vec<u64> = a.keys().chain(b.keys()).copied().collect();
    edges.sort_unstable();
    let below = |depths: &floodway_report::shapes::Depths, edge: u64| {
        depths.range(..=edge).map(|(_, samples)| *samples).sum::<u64>() as f64 / total(depths)
    };
    let most = edges.iter().map(|edge| (below(&a, *edge) - below(&b, *edge)).abs());
    Measured::exactly(most.fold(0.0, f64::max) * 100.0, "%")
}
