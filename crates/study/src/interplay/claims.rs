//! How isolation changes mice, all flows and pauses with each congestion control and memory, with the
//! rule for each number and what was expected before the runs.
//!
//! The study runs on traffic of its own (`seed=3`). Expectations rest on what the algorithms do, and on
//! previews with another seed.

use crate::claim::{Claim, Row, Rule};
use crate::evidence::{Case, Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::Measured;

use super::plan::{self, FIRST, Setting};
use super::{ALL, CI, MICE, WITHOUT, case};

/// From the variant without isolation to the one with it.
pub(super) fn both(control: &Setting, memory: &Setting) -> (Case, Case) {
    let experiment = plan::pair(control, memory);
    (case(experiment, WITHOUT), case(experiment, CI))
}

/// A congestion control on the decks' memory.
pub(super) fn with_control(number: usize) -> (Case, Case) {
    both(&plan::CONTROLS[number], &plan::MEMORIES[FIRST])
}

/// The decks' congestion control on a memory.
pub(super) fn on_memory(number: usize) -> (Case, Case) {
    both(&plan::CONTROLS[FIRST], &plan::MEMORIES[number])
}

pub(super) fn fct(evidence: &Evidence, (from, to): (Case, Case), group: FlowGroup) -> Measured {
    evidence.fct_change(from, to, group)
}

pub(super) fn pause_frames(facts: &Facts) -> f64 {
    facts.number("pause_frames")
}

pub(super) fn pauses(evidence: &Evidence, (from, to): (Case, Case)) -> Measured {
    evidence.change(from, to, pause_frames)
}

/// What the deck asks for without showing it.
pub const CLAIMS: &[Claim] = &[
    Claim::new("I1", CONTROLS_ASKED).for_each("congestion control"),
    Claim::new("I2", CONTROLS_ASKED).for_each("congestion control"),
    Claim::new("I3", CONTROLS_ASKED).for_each("congestion control"),
    Claim::new("I4", MEMORIES_ASKED).for_each("memory"),
    Claim::new("I5", MEMORIES_ASKED).for_each("memory"),
    Claim::new("I6", MEMORIES_ASKED).for_each("memory"),
];

const CONTROLS_ASKED: &str = "Additional simulation analysis desired: Interaction with other CC algorithms (e.g. BBR, other \
    rate or time-based schemes)";
const MEMORIES_ASKED: &str =
    "Additional simulation analysis desired: Alternative switch memory architectures";
const NEXT_CONTROLS: &str = "IETF 101, next steps: interaction with other CC algorithms";
const NEXT_MEMORIES: &str = "IETF 101, next steps: alternative switch memory architectures";

/// The three rows of one setting: its number, its name, and what is expected of mice, of all flows
/// and of pauses.
macro_rules! rows {
    ($name:ident, $ids:expr, $cases:ident, $source:expr,
        $($number:literal $part:literal: $mice:literal, $all:literal, $pauses:literal;)+) => {
        pub const $name: &[Row] = &[$(
            Row {
                id: $ids[0],
                part: $part,
                metric: "mean completion time of flows < 100 KB, with isolation vs. without",
                claimed: "falls (-63 % with DCQCN, A1)",
                source: $source,
                rule: Rule::Less(5.0),
                expected: $mice,
                measure: &|e| fct(e, $cases($number), MICE),
            },
            Row {
                id: $ids[1],
                part: $part,
                metric: "mean completion time of all flows, with isolation vs. without",
                claimed: "falls (-38 % with DCQCN, A1)",
                source: $source,
                rule: Rule::Less(5.0),
                expected: $all,
                measure: &|e| fct(e, $cases($number), ALL),
            },
            Row {
                id: $ids[2],
                part: $part,
                metric: "number of pause frames of all ports, with isolation vs. without",
                claimed: "fall (-84 % with DCQCN, A2)",
                source: $source,
                rule: Rule::Less(10.0),
                expected: $pauses,
                measure: &|e| pauses(e, $cases($number)),
            },
        )+];
    };
}

rows! { CONTROLS, ["I1", "I2", "I3"], with_control, NEXT_CONTROLS,
    0 "DCQCN, ECN at most 1 %":
        "about -98 %, as in the study of isolation", "about -55 %", "about -75 %, in runs this short";
    1 "DCQCN, ECN as a step":
        "about -55 %", "rises by some per cent", "open: few are left";
    2 "HPCC":
        "falls by about 2 %: its queues stay short, so that there is next to nothing to isolate",
        "no clear difference", "none on either side";
    3 "TIMELY":
        "falls: it holds delays of 50 to 500 us, which is up to 6 MB at 100 Gb/s, and PFC acts first",
        "no clear difference: it does not heed marks, so elephants keep their shares", "open";
    4 "Swift":
        "falls: its queues are some tens of microseconds, which is long for mice",
        "falls a little", "none on either side";
    5 "DCTCP for RDMA":
        "no clear difference: 20 rates settle near the threshold, and marks come sooner",
        "no clear difference", "none on either side";
    6 "DCTCP over TCP":
        "falls: windows of at least two segments from 20 senders keep a queue at the incast, which is \
         not in the way any more",
        "falls", "open: few on either side";
    7 "BBR over TCP":
        "falls: it does not heed marks, and 20 of its windows keep a queue",
        "no clear difference", "open: few on either side";
    8 "BBRv3 over TCP":
        "falls, less than with BBR, which has longer queues", "no clear difference",
        "none on either side";
    9 "QCN":
        "no clear difference: QCN holds queues at 26 KB once it has settled, so little is isolated",
        "no clear difference", "none on either side";
    10 "25 KB in flight":
        "falls a little: 20 windows of 25 KB are 500 KB in the way, less than XOFF",
        "no clear difference", "none on either side";
}

rows! { MEMORIES, ["I4", "I5", "I6"], on_memory, NEXT_MEMORIES,
    1 "shared, dynamic":
        "falls: pauses come by what an input holds, which makes more of them", "falls", "falls";
    2 "static per port":
        "falls, as with a shared memory", "falls", "falls";
    3 "input queues":
        "falls: there is a queue for each class at an input, so that isolated flows block each other and \
         not the rest",
        "falls", "falls";
    4 "virtual output queues":
        "falls, as with output queues: the set of virtual output queues is what is monitored",
        "falls", "falls";
    5 "VOQ, egress only":
        "rises: the queue at the egress stays short while inputs fill, so that hardly anything is \
         isolated or marked, and all flows begin in one queue instead of two",
        "rises", "open";
    6 "VOQ, speed-up 2": "falls, as with output queues", "falls", "falls";
}
