//! Claims about results, each with the rule that judges it and what was expected before the runs.
//!
//! The study runs on traffic of its own (`seed=3`). Expectations rest on two replications of the
//! variants of benefits.toml on two pods with `seed=7`, which had been seen; where one says "open",
//! nothing of the kind had been measured.

use floodway_report::statistics::Scale;

use crate::claim::{Claim, Row, Rule, SET_UP};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::number;
use crate::flows::{FlowGroup, Quantile};
use crate::measure::{Measured, estimate};

use super::{INCAST, INTER, INTRA, LONG, MEDIUM, NATIVE, PFC, PROXY, SHORT, case, main};

const BACKGROUND: &str = "background traffic performance";
const INCASTS: &str = "incast performance and queue depth";
const HIGH_LEVEL: &str = "high level concept";
const WITH_PROXY: &str = "SFC w/ ToR proxy";
const FAIR: &str = "fairness comparison with PFC";
/// The figures are pictures without numbers in the text that we have.
const LOWER: &str = "significantly lower than with PFC (a figure without numbers)";

/// The mean completion time of a group compared with PFC.
fn mean(evidence: &Evidence, variant: &'static str, group: FlowGroup) -> Measured {
    let experiment = main(evidence);
    evidence.fct_change(case(experiment, PFC), case(experiment, variant), group)
}

/// The 99th percentile likewise.
fn p99(evidence: &Evidence, variant: &'static str, group: FlowGroup) -> Measured {
    let (from, to) = (case(main(evidence), PFC), case(main(evidence), variant));
    evidence.quantile_change(from, to, group, Quantile::P99)
}

/// A number about a run compared with PFC.
fn of(evidence: &Evidence, variant: &'static str, name: &'static str) -> Measured {
    let number = move |facts: &Facts| facts.number(name);
    evidence.change(case(main(evidence), PFC), case(main(evidence), variant), number)
}

/// E3 to E5.
pub const BENEFITS: &[Row] = &[
    Row {
        id: "E3a",
        part: "<10 KB, proxy, mean",
        metric: "mean completion time of background messages < 10 KB, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -85 %",
        measure: &|e| mean(e, PROXY, SHORT),
    },
    Row {
        id: "E3a",
        part: "<10 KB, proxy, p99",
        metric: "99th percentile of the completion times of background messages < 10 KB, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -80 %",
        measure: &|e| p99(e, PROXY, SHORT),
    },
    Row {
        id: "E3a",
        part: "<10 KB, native, mean",
        metric: "mean completion time of background messages < 10 KB, with sfc-native vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -90 %",
        measure: &|e| mean(e, NATIVE, SHORT),
    },
    Row {
        id: "E3a",
        part: "<10 KB, native, p99",
        metric: "99th percentile of the completion times of background messages < 10 KB, with sfc-native vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -65 %",
        measure: &|e| p99(e, NATIVE, SHORT),
    },
    Row {
        id: "E3b",
        part: "10 KB–1 MB, proxy, mean",
        metric: "mean completion time of background messages of 10 KB to 1 MB, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -15 %: the NIC of a sender of incasts is paused as a whole",
        measure: &|e| mean(e, PROXY, MEDIUM),
    },
    Row {
        id: "E3b",
        part: "10 KB–1 MB, proxy, p99",
        metric: "99th percentile of the completion times of background messages of 10 KB to 1 MB, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -5 %, too little to count",
        measure: &|e| p99(e, PROXY, MEDIUM),
    },
    Row {
        id: "E3b",
        part: "10 KB–1 MB, native, mean",
        metric: "mean completion time of background messages of 10 KB to 1 MB, with sfc-native vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -90 %",
        measure: &|e| mean(e, NATIVE, MEDIUM),
    },
    Row {
        id: "E3b",
        part: "10 KB–1 MB, native, p99",
        metric: "99th percentile of the completion times of background messages of 10 KB to 1 MB, with sfc-native vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -65 %",
        measure: &|e| p99(e, NATIVE, MEDIUM),
    },
    Row {
        id: "E3c",
        part: ">1 MB, proxy, mean",
        metric: "mean completion time of background messages > 1 MB, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about +10 %: not reproduced",
        measure: &|e| mean(e, PROXY, LONG),
    },
    Row {
        id: "E3c",
        part: ">1 MB, native, mean",
        metric: "mean completion time of background messages > 1 MB, with sfc-native vs. PFC",
        claimed: LOWER,
        source: BACKGROUND,
        rule: Rule::Less(10.0),
        expected: "about -60 %",
        measure: &|e| mean(e, NATIVE, LONG),
    },
    Row {
        id: "E4",
        part: "proxy, mean",
        metric: "mean completion time of incast messages, with sfc-proxy vs. PFC",
        claimed: "SFC does not negatively affect the incast FCT",
        source: INCASTS,
        rule: Rule::NotAbove(5.0),
        expected: "about +12 %: not reproduced",
        measure: &|e| mean(e, PROXY, INCAST),
    },
    Row {
        id: "E4",
        part: "proxy, p99",
        metric: "99th percentile of the completion times of incast messages, with sfc-proxy vs. PFC",
        claimed: "SFC does not negatively affect the incast FCT",
        source: INCASTS,
        rule: Rule::NotAbove(5.0),
        expected: "about -10 %",
        measure: &|e| p99(e, PROXY, INCAST),
    },
    Row {
        id: "E4",
        part: "native, mean",
        metric: "mean completion time of incast messages, with sfc-native vs. PFC",
        claimed: "SFC does not negatively affect the incast FCT",
        source: INCASTS,
        rule: Rule::NotAbove(5.0),
        expected: "about -17 %",
        measure: &|e| mean(e, NATIVE, INCAST),
    },
    Row {
        id: "E4",
        part: "native, p99",
        metric: "99th percentile of the completion times of incast messages, with sfc-native vs. PFC",
        claimed: "SFC does not negatively affect the incast FCT",
        source: INCASTS,
        rule: Rule::NotAbove(5.0),
        expected: "about -30 %",
        measure: &|e| p99(e, NATIVE, INCAST),
    },
    Row {
        id: "E5",
        part: "proxy, mean",
        metric: "mean number of bytes in a switch over time and switches, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "about -98 %",
        measure: &|e| of(e, PROXY, "switch_mean_occupancy_bytes"),
    },
    Row {
        id: "E5",
        part: "proxy, p99 of ports",
        metric: "99th percentile of the bytes at a port (in bins of 19 %), with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "open: about -90 %",
        measure: &|e| of(e, PROXY, "port_p99_occupancy_bytes"),
    },
    Row {
        id: "E5",
        part: "proxy, largest",
        metric: "largest number of bytes in a switch at any time, with sfc-proxy vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "about -70 %",
        measure: &|e| of(e, PROXY, "switch_max_occupancy_bytes"),
    },
    Row {
        id: "E5",
        part: "native, mean",
        metric: "mean number of bytes in a switch over time and switches, with sfc-native vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "about -80 %: sources that resume together send at line rate",
        measure: &|e| of(e, NATIVE, "switch_mean_occupancy_bytes"),
    },
    Row {
        id: "E5",
        part: "native, p99 of ports",
        metric: "99th percentile of the bytes at a port (in bins of 19 %), with sfc-native vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "open: about -70 %",
        measure: &|e| of(e, NATIVE, "port_p99_occupancy_bytes"),
    },
    Row {
        id: "E5",
        part: "native, largest",
        metric: "largest number of bytes in a switch at any time, with sfc-native vs. PFC",
        claimed: LOWER,
        source: INCASTS,
        rule: Rule::Less(10.0),
        expected: "about -10 %, open whether it counts",
        measure: &|e| of(e, NATIVE, "switch_max_occupancy_bytes"),
    },
];

/// Time over which shares of the link are compared, in nanoseconds.
pub const SHARE_WINDOW: f64 = 1e6;

/// By how much Jain's index is lower than with PFC.
fn lost(evidence: &Evidence, experiment: &'static str, variant: &'static str) -> Measured {
    let index = |facts: &Facts| facts.fairness(SHARE_WINDOW);
    let pairs = evidence.pairs(case(experiment, PFC), case(experiment, variant));
    estimate(pairs.map(|(_, pfc, sfc)| index(pfc) - index(sfc)), Scale::REAL, "")
}

/// E6.
pub const FAIRNESS: &[Row] = &[
    Row {
        id: "E6",
        part: "intra-switch, proxy",
        metric: "decrease of Jain's index (windows of 1 ms) from PFC to sfc-proxy, four senders at the switch",
        claimed: "SFC does not hurt fairness provided by DCQCN",
        source: FAIR,
        rule: Rule::NotAbove(0.02),
        expected: "about 0: marks keep the queue below the trigger nearly always",
        measure: &|e| lost(e, INTRA, PROXY),
    },
    Row {
        id: "E6",
        part: "intra-switch, native",
        metric: "decrease of Jain's index (windows of 1 ms) from PFC to sfc-native, four senders at the switch",
        claimed: "SFC does not hurt fairness provided by DCQCN",
        source: FAIR,
        rule: Rule::NotAbove(0.02),
        expected: "about 0",
        measure: &|e| lost(e, INTRA, NATIVE),
    },
    Row {
        id: "E6",
        part: "inter-switch, proxy",
        metric: "decrease of Jain's index (windows of 1 ms) from PFC to sfc-proxy, two of four senders at another \
                 edge switch",
        claimed: "SFC does not hurt fairness provided by DCQCN",
        source: FAIR,
        rule: Rule::NotAbove(0.02),
        expected: "about 0",
        measure: &|e| lost(e, INTER, PROXY),
    },
    Row {
        id: "E6",
        part: "inter-switch, native",
        metric: "decrease of Jain's index (windows of 1 ms) from PFC to sfc-native, two of four senders at another \
                 edge switch",
        claimed: "SFC does not hurt fairness provided by DCQCN",
        source: FAIR,
        rule: Rule::NotAbove(0.02),
        expected: "about 0",
        measure: &|e| lost(e, INTER, NATIVE),
    },
];

/// The claims that are not checks, in the words of the deck.
pub const CLAIMS: &[Claim] = &[
    Claim::new("E3a", "SFC can significantly reduce FCT for background traffic [messages < 10 KB]"),
    Claim::new(
        "E3b",
        "SFC can significantly reduce FCT for background traffic [messages > 10 KB and < 1 MB]",
    ),
    Claim::new("E3c", "SFC can significantly reduce FCT for background traffic [messages > 1 MB]"),
    Claim::new("E4", "SFC does not negatively affect the incast FCT"),
    Claim::new("E5", "SFC can significantly reduce queueing in the network"),
    Claim::new("E6", "SFC does not hurt fairness provided by DCQCN"),
    Claim::new("E8", "Note: we observed comparable results on NS3"),
    Claim::new("S2", "Only small chance for head-of-line blocking at sender NIC"),
    Claim::new("S3", "Does not require complex buffer tuning").told(&by_tuning),
    Claim::new(
        "N1a",
        "SFC can significantly reduce FCT for background traffic … Bigger scale … simulations [future \
         work; messages < 10 KB, 1,024 hosts]",
    ),
    Claim::new(
        "N1b",
        "SFC can significantly reduce FCT for background traffic … Bigger scale … simulations [future \
         work; messages > 10 KB and < 1 MB, 1,024 hosts]",
    ),
    Claim::new("N1c", "Bigger scale … simulations [future work; as large a gain as with 128 hosts]"),
    Claim::new(
        "N2a",
        "SFC can significantly reduce FCT for background traffic … higher RTT simulations [future \
         work; messages < 10 KB]",
    )
    .for_each("round trip"),
    Claim::new(
        "N2b",
        "SFC can significantly reduce queueing in the network … higher RTT simulations [future work]",
    )
    .for_each("round trip"),
    Claim::new(
        "N2c",
        "No negative side-effects … higher RTT simulations [future work; nothing is dropped]",
    )
    .for_each("round trip"),
    Claim::new(
        "N2d",
        "SFC does not negatively affect the incast FCT … higher RTT simulations [future work]",
    )
    .for_each("round trip"),
    Claim::new(
        "N3a",
        "Works with many types of transport protocols (RoCEv2, TCP, UDP) [TCP messages < 10 KB]",
    )
    .for_each("transport"),
    Claim::new(
        "N3b",
        "Works with many types of transport protocols (RoCEv2, TCP, UDP) [incasts do not take longer]",
    )
    .for_each("transport"),
    Claim::new(
        "N3c",
        "Works with many types of transport protocols (RoCEv2, TCP, UDP) [UDP beside them arrives]",
    )
    .for_each("transport"),
    Claim::new(
        "N3d",
        "Works with many types of transport protocols (RoCEv2, TCP, UDP) [UDP that is too much for \
         a link is not dropped]",
    ),
];

/// E8.
pub const CROSS_CHECK: &[Row] = &[Row {
    id: "E8",
    part: "",
    metric: "results of another simulator with the same set-up",
    claimed: "we observed comparable results on NS3",
    source: "simulation setup",
    rule: Rule::Never,
    expected: "cannot be judged: neither the Fabsim-X nor the ns-3 results are published as numbers",
    measure: &|_| Measured::default(),
}];

/// Time that ports of switches were not allowed to send, summed over ports.
fn switches_paused(facts: &Facts) -> f64 {
    let tiers = (0..3).map(|tier| facts.known(&format!("tier_{tier}_paused_ns")));
    tiers.sum::<f64>() / 1e3
}

/// What the introduction says beside the numbered claims. That no switch stops another is how
/// Source Flow Control is made, and no result: S1 can only fail if the scenario is wrong.
pub const STATEMENTS: &[Row] = &[
    Row {
        id: "S1",
        part: "proxy",
        metric: "total time that ports of switches are paused with sfc-proxy, the most of any run",
        claimed: "removes head-of-line blocking completely from the network",
        source: HIGH_LEVEL,
        rule: Rule::Exactly(0.0),
        expected: SET_UP,
        measure: &|e| e.most(case(main(e), PROXY), "us", switches_paused),
    },
    Row {
        id: "S1",
        part: "native",
        metric: "total time that ports of switches are paused with sfc-native, the most of any run",
        claimed: "removes head-of-line blocking completely from the network",
        source: HIGH_LEVEL,
        rule: Rule::Exactly(0.0),
        expected: SET_UP,
        measure: &|e| e.most(case(main(e), NATIVE), "us", switches_paused),
    },
    Row {
        id: "S2",
        part: "<10 KB",
        metric: "mean completion time of background messages < 10 KB, with sfc-proxy vs. sfc-native",
        claimed: "only small chance for head-of-line blocking at sender NIC",
        source: WITH_PROXY,
        rule: Rule::NotAbove(10.0),
        expected: "about +35 %: not reproduced",
        measure: &|e| by_proxy(e, SHORT),
    },
    Row {
        id: "S2",
        part: "10 KB–1 MB",
        metric: "mean completion time of background messages of 10 KB to 1 MB, with sfc-proxy vs. sfc-native",
        claimed: "only small chance for head-of-line blocking at sender NIC",
        source: WITH_PROXY,
        rule: Rule::NotAbove(10.0),
        expected: "about ten times as long: not reproduced",
        measure: &|e| by_proxy(e, MEDIUM),
    },
    Row {
        id: "S3",
        part: "proxy",
        metric: "largest difference of the mean completion time of background messages < 10 KB (the longer \
                 relative to the shorter), with sfc-proxy and trigger and target, or the suppression \
                 period, halved or doubled",
        claimed: "does not require complex buffer tuning",
        source: HIGH_LEVEL,
        rule: Rule::NotAbove(25.0),
        expected: "open",
        measure: &|e| most_by_tuning(e, PROXY),
    },
    Row {
        id: "S3",
        part: "native",
        metric: "largest difference of the mean completion time of background messages < 10 KB (the longer \
                 relative to the shorter), with sfc-native and trigger and target, or the suppression \
                 period, halved or doubled",
        claimed: "does not require complex buffer tuning",
        source: HIGH_LEVEL,
        rule: Rule::NotAbove(25.0),
        expected: "open",
        measure: &|e| most_by_tuning(e, NATIVE),
    },
];

/// The largest difference that halving or doubling makes, as the rise from the shorter of both times
/// to the longer: that the deck's value does much better than its neighbors and that it does much
/// worse both mean that it has to be tuned.
fn most_by_tuning(evidence: &Evidence, variant: &'static str) -> Measured {
    let base = case("open-base", variant);
    let tuned = ["open-trigger-50", "open-trigger-200", "open-suppress-3", "open-suppress-12"];
    let rises = tuned.map(|name| {
        let change = |from, to| evidence.fct_change(from, to, SHORT);
        let (there, back) = (change(base, case(name, variant)), change(case(name, variant), base));
        if there.value >= back.value { there } else { back }
    });
    let size = |of: &Measured| of.value.unwrap_or(0.0);
    let known = rises.into_iter().filter(|rise| rise.value.is_some());
    known.max_by(|a, b| f64::total_cmp(&size(a), &size(b))).unwrap_or_default()
}

/// What tuning changes, in a sentence.
fn by_tuning(evidence: &Evidence) -> String {
    let most = |variant| {
        let of = number(&most_by_tuning(evidence, variant));
        of.trim_start_matches('+').replace(" [+", " [").replace(", +", ", ")
    };
    format!(
        "If trigger and target, or the suppression period, are halved or doubled, the mean completion \
         time of background messages < 10 KB differs by at most {} with sfc-proxy and {} with \
         sfc-native (the longer time relative to the shorter).",
        most(PROXY),
        most(NATIVE)
    )
}

/// What the proxy costs where the NIC could hold back by destination.
fn by_proxy(evidence: &Evidence, group: FlowGroup) -> Measured {
    let (native, proxy) = (case(main(evidence), NATIVE), case(main(evidence), PROXY));
    evidence.fct_change(native, proxy, group)
}
