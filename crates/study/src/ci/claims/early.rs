//! The early results of the deck for IETF 101.

use crate::claim::{Row, Rule};
use crate::evidence::Facts;

use super::super::{ALL, ELEPHANTS, MICE};
use super::{LOSSY, TWO, fct, of_facts, pauses};

/// Claims A1 to A3.
pub const EARLY_RESULTS: &[Row] = &[
    Row {
        id: "A1",
        part: "mice",
        metric: "mean completion time of flows < 100 KB, with isolation vs. without",
        claimed: "-63 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-73.0, -53.0),
        expected: "about -99 %: without isolation a mouse behind a paused queue waits for \
                   milliseconds",
        measure: &|e| fct(e, TWO, MICE),
    },
    Row {
        id: "A1",
        part: "elephants",
        metric: "mean completion time of flows > 10 MB, with isolation vs. without",
        claimed: "-23 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-33.0, -13.0),
        expected: "about -22 %",
        measure: &|e| fct(e, TWO, ELEPHANTS),
    },
    Row {
        id: "A1",
        part: "all",
        metric: "mean completion time of all flows, with isolation vs. without",
        claimed: "-38 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-48.0, -28.0),
        expected: "about -60 %",
        measure: &|e| fct(e, TWO, ALL),
    },
    Row {
        id: "A2",
        part: "",
        metric: "number of pause frames of all ports, with isolation vs. without",
        claimed: "-84 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-94.0, -74.0),
        expected: "about -95 %",
        measure: &|e| of_facts(e, TWO, pauses),
    },
    Row {
        id: "A3",
        part: "",
        metric: "loss rate without PFC (packets dropped over packets sent; selective repeat), with isolation \
                 vs. without",
        claimed: "-66 %",
        source: "IETF 101, early simulation results",
        rule: Rule::Effect(-76.0, -56.0),
        expected: "less; the size is open, since no run of it existed",
        measure: &|e| of_facts(e, LOSSY, Facts::loss_rate),
    },
];
