//! Which flows gain, pauses, size, and degrees of conformity.

use crate::claim::{Row, Rule};
use crate::measure::{Measured, contrast, unpaired_contrast};

use super::super::plan::SIZES;
use super::super::{ALL, CI, ELEPHANTS, LARGE, LOCAL, MEDIUM, MICE, WITHOUT, case, largest};
use super::{LOSSY, THREE, TWO, both, fct, fct_logs, of_facts, paused, pauses, small_logs};

/// Claims A6 to A10.
pub const ISOLATION: &[Row] = &[
    Row {
        id: "A6",
        part: "against 100 KB-1 MB",
        metric: "ratio of mean completion times with isolation to without (two queues), of mice vs. flows of \
                 100 KB to 1 MB",
        claimed: "the mice benefit the most",
        source: "IETF 101, lossless scenario",
        rule: Rule::Less(10.0),
        expected: "less: about -99 % against -93 %",
        measure: &|e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, TWO, MEDIUM)),
    },
    Row {
        id: "A6",
        part: "against 1-10 MB",
        metric: "ratio of mean completion times with isolation to without (two queues), of mice vs. flows of \
                 1 MB to 10 MB",
        claimed: "the mice benefit the most",
        source: "IETF 101, lossless scenario",
        rule: Rule::Less(10.0),
        expected: "less: about -99 % against -79 %",
        measure: &|e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, TWO, LARGE)),
    },
    Row {
        id: "A6",
        part: "against > 10 MB",
        metric: "ratio of mean completion times with isolation to without (two queues), of mice vs. flows \
                 > 10 MB",
        claimed: "the mice benefit the most",
        source: "IETF 101, lossless scenario",
        rule: Rule::Less(10.0),
        expected: "less: about -99 % against -22 %",
        measure: &|e| contrast(&fct_logs(e, TWO, MICE), &fct_logs(e, TWO, ELEPHANTS)),
    },
    Row {
        id: "A7",
        part: "",
        metric: "ratio of the mean completion times of mice with isolation to without, with three queues \
                 vs. two",
        claimed: "mice not improved as much where they have priority already",
        source: "IETF 101, three-queue model",
        rule: Rule::More(10.0),
        expected: "more: mice with priority hardly wait, so there is little to gain",
        measure: &|e| contrast(&small_logs(e, THREE, MICE), &small_logs(e, TWO, MICE)),
    },
    Row {
        id: "A8a",
        part: "frames",
        metric: "number of pause frames of all ports, with isolation vs. without",
        claimed: "falls",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::Less(10.0),
        expected: "about -95 %",
        measure: &|e| of_facts(e, TWO, pauses),
    },
    Row {
        id: "A8a",
        part: "duration",
        metric: "total time that ports may not send a class, with isolation vs. without",
        claimed: "falls",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::Less(10.0),
        expected: "about -90 %",
        measure: &|e| of_facts(e, TWO, paused),
    },
    Row {
        id: "A8b",
        part: "duration against frames",
        metric: "ratio with isolation to without, of paused time vs. number of pause frames",
        claimed: "duration falls less than frames",
        source: "IETF 101, reducing the impact of PFC",
        rule: Rule::More(10.0),
        expected: "open: the deck's reason is strict priority between the queues, which the main \
                   scenario does not have",
        measure: &|e| {
            let (without, with) = both(e, TWO);
            contrast(&e.logs(without, with, paused), &e.logs(without, with, pauses))
        },
    },
    Row {
        id: "A9",
        part: "",
        metric: "ratio of the mean completion times of all flows with isolation to without, in the largest \
                 fabric vs. one of 288 servers (as many incasts for its size)",
        claimed: "with isolation a data center can be larger",
        source: "IETF 101, scaling comparison",
        rule: Rule::Less(10.0),
        expected: "open: the deck's curves are lost, and a gain that grows with the size is our reading",
        measure: &|e| {
            let small = "servers-288";
            let large =
                SIZES.iter().rev().map(|(name, _)| *name).find(|name| e.has(case(name, CI)));
            let logs = |name| e.fct_logs(case(name, WITHOUT), case(name, CI), ALL);
            match large {
                Some(large) if large != small && large != TWO => {
                    unpaired_contrast(&logs(large), &logs(small))
                }
                _ => Measured::default(),
            }
        },
    },
    Row {
        id: "A10a",
        part: "without PFC",
        metric: "mean completion time of mice without PFC, with isolation vs. without",
        claimed: "isolation works without PFC",
        source: "IETF 101, assertions",
        rule: Rule::Less(10.0),
        expected: "less",
        measure: &|e| fct(e, LOSSY, MICE),
    },
    Row {
        id: "A10b",
        part: "local only",
        metric: "mean completion time of all flows, with local isolation vs. without",
        claimed: "isolation works without messages",
        source: "IETF 101, assertions",
        rule: Rule::Less(10.0),
        expected: "about -60 %",
        measure: &|e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, WITHOUT), case(experiment, LOCAL), ALL)
        },
    },
    Row {
        id: "A10c",
        part: "messages, all flows",
        metric: "mean completion time of all flows, with messages to the switch upstream vs. local isolation",
        claimed: "isolation with messages is best",
        source: "IETF 101, assertions",
        rule: Rule::Less(0.0),
        expected: "no clear difference at 128 servers",
        measure: &|e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, LOCAL), case(experiment, CI), ALL)
        },
    },
    Row {
        id: "A10c",
        part: "messages, mice",
        metric: "mean completion time of mice, with messages to the switch upstream vs. local isolation",
        claimed: "isolation with messages is best",
        source: "IETF 101, assertions",
        rule: Rule::Less(0.0),
        expected: "less: upstream queues no longer hold mice behind paused flows",
        measure: &|e| {
            let experiment = largest(e, TWO);
            e.fct_change(case(experiment, LOCAL), case(experiment, CI), MICE)
        },
    },
];
