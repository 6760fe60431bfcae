//! Slides 16 to 18: database entries over several stages with one slow link.

use floodway_report::statistics::Scale;

use crate::claim::{GIVEN, Row, Rule};
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::moves;
use crate::measure::Measured;
use crate::short_range::measures::{
    above_l2, entered, largest_response, loss_ratio, lost, off, response,
};
use crate::short_range::plan::mixed;
use crate::short_range::{DRC_L2CI, L2CI, PAUSE, RED, case};

const NETWORK: &str = "slide 16";
const LARGE: &str = "slide 17";
const SMALL: &str = "slide 18";
const EXCELLENT: &str = "L2-CI/ECN shows excellent characteristic for short range TCP";
const ELIMINATES: &str = "Addition of DRC eliminates drops and response spikes";
const MAINTAINS: &str = "L2-CI/ECN maintains performance even with small switch buffers";

fn of(kb: u32, variant: &'static str) -> Case {
    case(mixed(kb), variant)
}

/// The change of a number between two variants with 64 KB per port.
fn change(
    evidence: &Evidence,
    (from, to): (&'static str, &'static str),
    number: fn(&Facts) -> f64,
) -> Measured {
    evidence.change(of(64, from), of(64, to), number)
}

/// What half of the memory costs with L2-CI, in a sentence.
pub fn by_memory(evidence: &Evidence) -> String {
    let change =
        |number: fn(&Facts) -> f64| moves(&evidence.change(of(64, L2CI), of(32, L2CI), number));
    format!(
        "With L2-CI and 32 KB per port, compared with 64 KB, the payload of completed requests {}, and \
         the mean response time {}.",
        change(entered),
        change(response)
    )
}

/// Claims B6 to B9.
pub const MIXED_CLAIMS: &[Row] = &[
    Row {
        id: "B6",
        part: "",
        metric: "difference of the throughput above L2 with 802.3x from 2.434 GB/s, with both servers busy all \
                 the time",
        claimed: "Peak Throughput = 2.434 Gigabytes / Sec",
        source: NETWORK,
        rule: Rule::Between(-0.1, 0.1),
        expected: GIVEN,
        measure: &|e| {
            e.on_scale(of(64, PAUSE), Scale::REAL, "%", |facts| off(above_l2(facts), 2.434))
        },
    },
    Row {
        id: "B7a",
        part: "drops, 802.3x",
        metric: "packets lost in all runs with 802.3x, 64 KB per port",
        claimed: "802.3x = 0",
        source: LARGE,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| lost(e, of(64, PAUSE)),
    },
    Row {
        id: "B7a",
        part: "drops, DRC",
        metric: "packets lost in all runs with DRC, RED and ECN, 64 KB per port",
        claimed: "DRC_RED_ECN = 0",
        source: LARGE,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| lost(e, of(64, DRC_L2CI)),
    },
    Row {
        id: "B7a",
        part: "drops, ECN",
        metric: "packets lost with RED and ECN, as a share of those lost with RED that drops, 64 KB per port",
        claimed: "NoFC_RED_ECN = 72, NoFC_RED = 2554: 2.8 %",
        source: LARGE,
        rule: Rule::AtMost(10.0),
        expected: "3 to 10 %",
        measure: &|e| loss_ratio(e, of(64, L2CI), of(64, RED)),
    },
    Row {
        id: "B7b",
        part: "throughput",
        metric: "payload of completed requests, with L2-CI vs. RED that drops",
        claimed: EXCELLENT,
        source: LARGE,
        rule: Rule::More(5.0),
        expected: "+60 to +150 %",
        measure: &|e| change(e, (RED, L2CI), entered),
    },
    Row {
        id: "B7b",
        part: "response time",
        metric: "mean response time, with L2-CI vs. RED that drops",
        claimed: EXCELLENT,
        source: LARGE,
        rule: Rule::Less(5.0),
        expected: "-40 to +20 %: while some clients wait for timeouts, others are fast",
        measure: &|e| change(e, (RED, L2CI), response),
    },
    Row {
        id: "B8a",
        part: "drops, 802.3x",
        metric: "packets lost in all runs with 802.3x, 32 KB per port",
        claimed: "802.3x = 0",
        source: SMALL,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| lost(e, of(32, PAUSE)),
    },
    Row {
        id: "B8a",
        part: "drops, DRC",
        metric: "packets lost in all runs with DRC, RED and ECN, 32 KB per port",
        claimed: "DRC_RED_ECN = 0",
        source: SMALL,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| lost(e, of(32, DRC_L2CI)),
    },
    Row {
        id: "B8a",
        part: "drops, ECN",
        metric: "packets lost with RED and ECN, as a share of those lost with RED that drops, 32 KB per port",
        claimed: "NoFC_RED_ECN = 105, NoFC_RED = 2373: 4.4 %",
        source: SMALL,
        rule: Rule::AtMost(10.0),
        expected: "10 to 25 %: the average is too slow for so little memory",
        measure: &|e| loss_ratio(e, of(32, L2CI), of(32, RED)),
    },
    Row {
        id: "B8a",
        part: "drops, RED, half the memory",
        metric: "number of packets lost with RED, with 32 KB per port vs. 64 KB",
        claimed: "from 2554 to 2373: fewer with less memory",
        source: SMALL,
        rule: Rule::Less(1.0),
        expected: "within 10 % of none: what is dropped is what the average decides",
        measure: &|e| e.change(of(64, RED), of(32, RED), Facts::all_drops),
    },
    Row {
        id: "B8a",
        part: "drops, ECN, half the memory",
        metric: "number of packets lost with RED and ECN, with 32 KB per port vs. 64 KB",
        claimed: "from 72 to 105: more with less memory",
        source: SMALL,
        rule: Rule::More(5.0),
        expected: "+50 to +200 %",
        measure: &|e| e.change(of(64, L2CI), of(32, L2CI), Facts::all_drops),
    },
    Row {
        id: "B8b",
        part: "throughput",
        metric: "decrease of the payload of completed requests with L2-CI, with 32 KB per port vs. 64 KB",
        claimed: MAINTAINS,
        source: SMALL,
        rule: Rule::NotAbove(5.0),
        expected: "-5 to +2 %",
        measure: &|e| e.change(of(64, L2CI), of(32, L2CI), entered).scaled(-1.0, "%"),
    },
    Row {
        id: "B8b",
        part: "response time",
        metric: "mean response time with L2-CI, with 32 KB per port vs. 64 KB",
        claimed: MAINTAINS,
        source: SMALL,
        rule: Rule::NotAbove(5.0),
        expected: "-2 to +2 %",
        measure: &|e| e.change(of(64, L2CI), of(32, L2CI), response),
    },
    Row {
        id: "B9",
        part: "drops",
        metric: "packets lost in all runs with DRC, 32 and 64 KB per port, if L2-CI alone loses some",
        claimed: ELIMINATES,
        source: LARGE,
        rule: Rule::Exactly(0.0),
        expected: "0",
        measure: &|e| {
            let some = |kb| lost(e, of(kb, L2CI)).value.filter(|lost| *lost > 0.0);
            let sum = |kb| some(kb).and(lost(e, of(kb, DRC_L2CI)).value);
            let value = sum(64).zip(sum(32)).map(|(large, small)| large + small);
            Measured { value, unit: "packets", ..Measured::default() }
        },
    },
    Row {
        id: "B9",
        part: "spikes",
        metric: "largest response time of a run with 32 KB per port, with L2-CI and DRC vs. L2-CI alone",
        claimed: ELIMINATES,
        source: SMALL,
        rule: Rule::Less(10.0),
        expected: "-80 to -98 %: no timeouts, and what a rate factor delays instead",
        measure: &|e| e.change(of(32, L2CI), of(32, DRC_L2CI), largest_response),
    },
    Row {
        id: "B9",
        part: "largest response",
        metric: "largest response time of any run with DRC, 32 and 64 KB per port",
        claimed: ELIMINATES,
        source: LARGE,
        rule: Rule::AtMost(2e7),
        expected: "10 to 18 ms, far from the 200 ms of a timeout",
        measure: &|e| {
            let most = |kb| e.most(of(kb, DRC_L2CI), "ns", largest_response);
            let largest = most(64).value.zip(most(32).value).map(|(a, b)| a.max(b));
            Measured { value: largest, unit: "ns", ..Measured::default() }
        },
    },
];
