//! Slides 8 and 10: throughput and latency against the buffer per port.

use crate::claim::{Row, Rule};
use crate::evidence::{Evidence, Facts};
use crate::measure::Measured;
use crate::short_range::measures::{carried, change_over, latency, lost};
use crate::short_range::plan::{backplane, multistage};
use crate::short_range::{DRC, DRC_STOP, NO_CONTROL, PAUSE, PAUSE_EGRESS, case, sizes};

const BACKPLANE: &str = "slide 8";
const MULTISTAGE: &str = "slide 10";
const REDUCE: &str = "Directional Mechanisms reduce HOL Blocking at Tx Ports";
const ALSO: &str = "Directional Mechanisms also show benefit in Multi-stage Topologies";

/// Smaller effects are none: percent.
const MATTERS: f64 = 1.0;

/// The change over all sizes of a sweep.
fn change(
    evidence: &Evidence,
    sweep: fn(u32) -> &'static str,
    from: &'static str,
    to: &'static str,
    number: fn(&Facts) -> f64,
) -> Measured {
    change_over(evidence, (sweep, &sizes(evidence, sweep)), (from, to), number)
}

/// What a variant loses with these sizes.
fn lost_with(evidence: &Evidence, variant: &'static str, least_kb: u32) -> Measured {
    let sizes = sizes(evidence, backplane).into_iter().filter(|kb| *kb >= least_kb);
    let of = sizes.map(|kb| lost(evidence, case(backplane(kb), variant)).value);
    let sum = of.sum::<Option<f64>>().filter(|_| evidence.has(case(backplane(64), variant)));
    Measured { value: sum, unit: "packets", ..Measured::default() }
}

/// Claim B2.
pub const BACKPLANE_CLAIMS: &[Row] = &[
    Row {
        id: "B2a",
        part: "throughput, 802.3x at the output",
        metric: "throughput over 8 to 512 KB per port, with DRC vs. 802.3x measured at output ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::More(MATTERS),
        expected: "+8 to +18 %: a paused neighbor stops for all directions",
        measure: &|e| change(e, backplane, PAUSE_EGRESS, DRC, carried),
    },
    Row {
        id: "B2a",
        part: "latency, 802.3x at the output",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC vs. 802.3x measured at output ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::Less(MATTERS),
        expected: "-10 to -20 %",
        measure: &|e| change(e, backplane, PAUSE_EGRESS, DRC, latency),
    },
    Row {
        id: "B2b",
        part: "throughput, 802.3x at the input",
        metric: "throughput over 8 to 512 KB per port, with DRC vs. 802.3x measured at input ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::More(MATTERS),
        expected: "0 to -4 %, the other way: lowered rates leave output ports idle, more so in large buffers",
        measure: &|e| change(e, backplane, PAUSE, DRC, carried),
    },
    Row {
        id: "B2b",
        part: "latency, 802.3x at the input",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC vs. 802.3x measured at input ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::Less(MATTERS),
        expected: "-25 to -35 %",
        measure: &|e| change(e, backplane, PAUSE, DRC, latency),
    },
    Row {
        id: "B2c",
        part: "throughput, no flow control",
        metric: "throughput over 8 to 512 KB per port, with DRC vs. no flow control",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::More(MATTERS),
        expected: "-10 to -15 %, the other way: what is dropped makes room for others",
        measure: &|e| change(e, backplane, NO_CONTROL, DRC, carried),
    },
    Row {
        id: "B2c",
        part: "latency, no flow control",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC vs. no flow control",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::Less(MATTERS),
        expected: "-5 to -15 %",
        measure: &|e| change(e, backplane, NO_CONTROL, DRC, latency),
    },
    Row {
        id: "B2d",
        part: "throughput, stops only, 802.3x at the input",
        metric: "throughput over 8 to 512 KB per port, with DRC that only stops directions vs. 802.3x measured \
                 at input ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::More(MATTERS),
        expected: "+5 to +10 %, with losses in buffers up to 64 KB",
        measure: &|e| change(e, backplane, PAUSE, DRC_STOP, carried),
    },
    Row {
        id: "B2d",
        part: "latency, stops only, 802.3x at the input",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC that only stops directions vs. 802.3x measured \
                 at input ports",
        claimed: REDUCE,
        source: BACKPLANE,
        rule: Rule::Less(MATTERS),
        expected: "-10 to -20 %",
        measure: &|e| change(e, backplane, PAUSE, DRC_STOP, latency),
    },
    Row {
        id: "B2e",
        part: "losses, 802.3x at the input",
        metric: "frames lost in all runs with 802.3x measured at input ports, 8 to 512 KB per port",
        claimed: "802.3x = 0 (of slides 17 and 18)",
        source: BACKPLANE,
        rule: Rule::Exactly(0.0),
        expected: "0: there is room for what is on the way",
        measure: &|e| lost_with(e, PAUSE, 0),
    },
    Row {
        id: "B2e",
        part: "losses, DRC",
        metric: "frames lost in all runs with DRC, 64 to 512 KB per port",
        claimed: "DRC = 0 (of slides 17 and 18)",
        source: BACKPLANE,
        rule: Rule::Exactly(0.0),
        expected: "0, although some 100 KB above the stop are needed to be sure",
        measure: &|e| lost_with(e, DRC, 64),
    },
    Row {
        id: "B2e",
        part: "losses, stops only",
        metric: "frames lost in all runs with DRC that only stops directions, 64 to 512 KB per port",
        claimed: "DRC = 0 (of slides 17 and 18)",
        source: BACKPLANE,
        rule: Rule::Exactly(0.0),
        expected: "hundreds per run at 64 KB: all neighbors come back at full rate together",
        measure: &|e| lost_with(e, DRC_STOP, 64),
    },
];

/// Claim B3.
pub const MULTISTAGE_CLAIMS: &[Row] = &[
    Row {
        id: "B3a",
        part: "throughput, 802.3x at the output",
        metric: "throughput over 8 to 512 KB per port, with DRC vs. 802.3x measured at output ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::More(MATTERS),
        expected: "-5 to +3 %: a direction within the network is many destinations",
        measure: &|e| change(e, multistage, PAUSE_EGRESS, DRC, carried),
    },
    Row {
        id: "B3a",
        part: "latency, 802.3x at the output",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC vs. 802.3x measured at output ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::Less(MATTERS),
        expected: "-8 to -14 %",
        measure: &|e| change(e, multistage, PAUSE_EGRESS, DRC, latency),
    },
    Row {
        id: "B3b",
        part: "throughput, 802.3x at the input",
        metric: "throughput over 8 to 512 KB per port, with DRC vs. 802.3x measured at input ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::More(MATTERS),
        expected: "-10 to -20 %, the other way",
        measure: &|e| change(e, multistage, PAUSE, DRC, carried),
    },
    Row {
        id: "B3b",
        part: "latency, 802.3x at the input",
        metric: "mean latency per frame over 8 to 512 KB per port, with DRC vs. 802.3x measured at input ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::Less(MATTERS),
        expected: "-25 to -32 %",
        measure: &|e| change(e, multistage, PAUSE, DRC, latency),
    },
    Row {
        id: "B3d",
        part: "throughput, stops only, 802.3x at the output",
        metric: "throughput over 8 to 512 KB per port, with DRC that only stops directions vs. 802.3x measured \
                 at output ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::More(MATTERS),
        expected: "+10 to +25 %",
        measure: &|e| change(e, multistage, PAUSE_EGRESS, DRC_STOP, carried),
    },
    Row {
        id: "B3d",
        part: "throughput, stops only, 802.3x at the input",
        metric: "throughput over 8 to 512 KB per port, with DRC that only stops directions vs. 802.3x measured \
                 at input ports",
        claimed: ALSO,
        source: MULTISTAGE,
        rule: Rule::More(MATTERS),
        expected: "+6 to +10 %, all of it in small buffers, which lose frames then",
        measure: &|e| change(e, multistage, PAUSE, DRC_STOP, carried),
    },
];
