//! Slides 13 to 15: database entries over one switch with a shared memory.

use crate::claim::{Row, Rule};
use crate::evidence::{Evidence, Facts};
use crate::measure::Measured;
use crate::short_range::measures::{
    early_drops, entered, entered_by, loss_ratio, memory, response,
};
use crate::short_range::{ENTRIES, L2CI, NO_CONTROL, PAUSE, RED, TO_SERVER_2, case};

const SIMPLE: &str = "slide 13";
const PERFORMANCE: &str = "slide 14";
const MEMORY: &str = "slide 15";
const IMPROVES: &str = "L2-CI with ECN improves TCP Performance";
const REDUCES: &str = "L2-CI can significantly reduce packet drops & reduce buffer requirements";

/// The change of a number with L2-CI.
fn change(evidence: &Evidence, from: &'static str, number: fn(&Facts) -> f64) -> Measured {
    evidence.change(case(ENTRIES, from), case(ENTRIES, L2CI), number)
}

/// Claims B4 and B5.
pub const ENTRIES_CLAIMS: &[Row] = &[
    Row {
        id: "B4",
        part: "throughput, no flow control",
        metric: "payload of completed requests, with L2-CI vs. no flow control",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::More(5.0),
        expected: "+30 to +60 %: no client waits 200 ms for a timeout",
        measure: &|e| change(e, NO_CONTROL, entered),
    },
    Row {
        id: "B4",
        part: "throughput, 802.3x",
        metric: "payload of completed requests, with L2-CI vs. 802.3x",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::More(5.0),
        expected: "+25 to +35 %: client 1 is not stopped by server 1",
        measure: &|e| change(e, PAUSE, entered),
    },
    Row {
        id: "B4",
        part: "throughput, RED",
        metric: "payload of completed requests, with L2-CI vs. RED that drops",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::More(5.0),
        expected: "+40 to +70 %",
        measure: &|e| change(e, RED, entered),
    },
    Row {
        id: "B4",
        part: "response time, no flow control",
        metric: "mean response time, with L2-CI vs. no flow control",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::Less(5.0),
        expected: "-10 to -35 %",
        measure: &|e| change(e, NO_CONTROL, response),
    },
    Row {
        id: "B4",
        part: "response time, 802.3x",
        metric: "mean response time, with L2-CI vs. 802.3x",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::Less(5.0),
        expected: "-20 to -30 %",
        measure: &|e| change(e, PAUSE, response),
    },
    Row {
        id: "B4",
        part: "response time, RED",
        metric: "mean response time, with L2-CI vs. RED that drops",
        claimed: IMPROVES,
        source: PERFORMANCE,
        rule: Rule::Less(5.0),
        expected: "-40 to +20 %: while some clients wait for timeouts, others are fast",
        measure: &|e| change(e, RED, response),
    },
    Row {
        id: "B4",
        part: "blocking at client 1",
        metric: "payload of completed requests of client 1 at server 2, with 802.3x vs. L2-CI",
        claimed: "HOL Blocking at Client1 for Client1-Server2 traffic",
        source: SIMPLE,
        rule: Rule::Less(5.0),
        expected: "-50 to -60 %: it gets little more than server 1 lets through",
        measure: &|e| {
            let to_server_2 = |facts: &Facts| entered_by(facts, TO_SERVER_2);
            e.change(case(ENTRIES, L2CI), case(ENTRIES, PAUSE), to_server_2)
        },
    },
    Row {
        id: "B5",
        part: "drops, no flow control",
        metric: "packets lost with L2-CI, as a share of those lost without flow control",
        claimed: REDUCES,
        source: MEMORY,
        rule: Rule::AtMost(10.0),
        expected: "0 to 5 %",
        measure: &|e| loss_ratio(e, case(ENTRIES, L2CI), case(ENTRIES, NO_CONTROL)),
    },
    Row {
        id: "B5",
        part: "drops, RED",
        metric: "packets lost with L2-CI, as a share of those lost with RED that drops",
        claimed: REDUCES,
        source: MEMORY,
        rule: Rule::AtMost(10.0),
        expected: "0 to 5 %",
        measure: &|e| loss_ratio(e, case(ENTRIES, L2CI), case(ENTRIES, RED)),
    },
    Row {
        id: "B5",
        part: "initial drops",
        metric: "packets lost with L2-CI in the first 0.1 s, per run",
        claimed: "Some initial drops with ECN when it is stabilizing its average Q size",
        source: MEMORY,
        rule: Rule::Between(0.5, 1e6),
        expected: "1 to 100: windows grow for some round trips before the average has",
        measure: &|e| e.number(case(ENTRIES, L2CI), "packets", early_drops),
    },
    Row {
        id: "B5",
        part: "memory, no flow control",
        metric: "mean memory in use, with L2-CI vs. no flow control",
        claimed: REDUCES,
        source: MEMORY,
        rule: Rule::Less(5.0),
        expected: "-45 to -60 %",
        measure: &|e| change(e, NO_CONTROL, memory),
    },
    Row {
        id: "B5",
        part: "memory, 802.3x",
        metric: "mean memory in use, with L2-CI vs. 802.3x",
        claimed: REDUCES,
        source: MEMORY,
        rule: Rule::Less(5.0),
        expected: "-60 to -65 %: 802.3x keeps it at its threshold",
        measure: &|e| change(e, PAUSE, memory),
    },
];
