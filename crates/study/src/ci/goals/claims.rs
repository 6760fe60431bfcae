//! The numbers of these claims, each with its rule and with what was expected before the runs that count.
//!
//! Expectations follow from the decks' numbers and from what is known of isolation with RoCEv2. Single
//! short runs with `seed=7` showed that the scenarios run; no tolerance is from them.

use crate::claim::{Rule, rows_alike};
use crate::evidence::{Case, Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::Measured;
use crate::traffic::Traffic;

use super::{QUARTER, QUEUES, UDP, queues};
use crate::ci::claims::pauses;
use crate::ci::{ALL, CI, MICE, WITHOUT, case};

const GOALS: &str = "IETF 101, goals";
const LESS: &str = "improves (no numbers)";

/// The two cases that a claim compares, by experiment and variant.
type Cases = fn(&'static str, &'static str) -> (Case, Case);

/// The change of the mean completion time of a group.
fn fct(
    cases: Cases,
    group: FlowGroup,
) -> impl Fn(&Evidence, &'static str, &'static str) -> Measured {
    move |evidence, experiment, variant| {
        let (from, to) = cases(experiment, variant);
        evidence.fct_change(from, to, group)
    }
}

/// The change of a number of a run.
fn number(
    cases: Cases,
    of: fn(&Facts) -> f64,
) -> impl Fn(&Evidence, &'static str, &'static str) -> Measured {
    move |evidence, experiment, variant| {
        let (from, to) = cases(experiment, variant);
        evidence.change(from, to, of)
    }
}

/// Without isolation and with it.
fn isolated(experiment: &'static str, variant: &'static str) -> (Case, Case) {
    (case(experiment, WITHOUT), case(experiment, variant))
}

/// Datagrams of UDP flows that do not cause congestion and were dropped.
pub fn lost(facts: &Facts) -> f64 {
    facts.of_workload(UDP, |of| of.lost as f64)
}

/// Those that arrived.
pub fn arrived(facts: &Facts) -> f64 {
    facts.of_workload(UDP, Traffic::arrived)
}

rows_alike! { TCP_MICE, "N1a": "mean completion time of TCP flows < 100 KB, with isolation vs. without",
    claimed LESS, in GOALS, Rule::Less(5.0), fct(isolated, MICE);
    "Cubic, no PFC": "tcp-cubic" CI,
        "about -80 %: Cubic fills queues of 1 MB, 80 µs, and isolation keeps those where flows begin \
         below 300 KB";
    "DCTCP, no PFC": "tcp-dctcp" CI,
        "about -50 %: DCTCP keeps queues near 100 KB, and only where UDP congests is there more to gain";
    "Cubic, PFC": "tcp-cubic-pfc" CI,
        "about -80 %: UDP that does not respond keeps its class paused in half of the fabric";
    "DCTCP, PFC": "tcp-dctcp-pfc" CI, "about -90 %, likewise";
}

rows_alike! { TCP_ALL, "N1b": "mean completion time of all TCP flows, with isolation vs. without",
    claimed LESS, in GOALS, Rule::Less(5.0), fct(isolated, ALL);
    "Cubic, no PFC": "tcp-cubic" CI,
        "about -10 %: few large flows go where UDP congests; they have losses with isolation too";
    "DCTCP, no PFC": "tcp-dctcp" CI, "about -10 %, likewise";
    "Cubic, PFC": "tcp-cubic-pfc" CI, "about -40 %: what was paused with UDP goes on";
    "DCTCP, PFC": "tcp-dctcp-pfc" CI, "about -50 %, likewise";
}

rows_alike! { UDP_LOST, "N1c": "number of dropped datagrams of UDP flows of 1 Gb/s, with isolation vs. without",
    claimed LESS, in GOALS, Rule::Less(10.0), number(isolated, lost);
    "Cubic, no PFC": "tcp-cubic" CI,
        "about -80 %: a queue that isolation watches does not fill; what is isolated itself is lost";
    "DCTCP, no PFC": "tcp-dctcp" CI, "about -80 %, of fewer";
}

rows_alike! { UDP_ARRIVES, "N1d": "number of datagrams of UDP flows of 1 Gb/s that arrive, with isolation vs. \
    without",
    claimed LESS, in GOALS, Rule::More(1.0), number(isolated, arrived);
    "Cubic, PFC": "tcp-cubic-pfc" CI, "more by some per cent: NICs are paused less";
    "DCTCP, PFC": "tcp-dctcp-pfc" CI, "likewise";
}

/// From the whole queue without isolation to a quarter of it with isolation.
pub fn quartered(network: &str, variant: &'static str) -> (Case, Case) {
    (case(queues(QUEUES[0], network), WITHOUT), case(queues(QUARTER, network), variant))
}

const SHALLOW: &str = "about -90 %: without isolation a mouse waits for a paused class, with it behind \
    75 KB, 6 µs, at most";

rows_alike! { QUARTER_MICE, "N2a": "mean completion time of mice, with isolation and queues of 250 KB vs. \
    queues of 1 MB without isolation",
    claimed "not slower (no numbers)", in GOALS, Rule::NotAbove(5.0), fct(quartered, MICE);
    "128 servers, PFC": "128-pfc" CI, SHALLOW;
    "288 servers, PFC": "288-pfc" CI, SHALLOW;
    "512 servers, PFC": "512-pfc" CI, SHALLOW;
    "128 servers, no PFC": "128-lossy" CI, "about -60 %: behind 75 KB, and not up to 1 MB";
    "288 servers, no PFC": "288-lossy" CI, "about -60 %, likewise";
    "512 servers, no PFC": "512-lossy" CI, "about -60 %, likewise";
    "128 servers, PFC, ECN as a step": "128-pfc-step" CI,
        "about -60 %: without isolation queues stay near 300 KB, with it near 75 KB";
    "128 servers, no PFC, ECN as a step": "128-lossy-step" CI, "about -60 %, likewise";
}

const EARLIER: &str =
    "about -40 %: ECN of at most 1 % leaves the incast to PFC, and isolation marks it";

rows_alike! { QUARTER_ALL, "N2b": "mean completion time of all flows, with isolation and queues of 250 KB vs. \
    queues of 1 MB without isolation",
    claimed "not slower (no numbers)", in GOALS, Rule::NotAbove(5.0), fct(quartered, ALL);
    "128 servers, PFC": "128-pfc" CI, EARLIER;
    "288 servers, PFC": "288-pfc" CI, EARLIER;
    "512 servers, PFC": "512-pfc" CI, EARLIER;
    "128 servers, no PFC": "128-lossy" CI,
        "slower by 10 %: elephants are isolated and marked at 75 KB, and nobody was paused before";
    "288 servers, no PFC": "288-lossy" CI, "likewise";
    "512 servers, no PFC": "512-lossy" CI, "likewise";
    "128 servers, PFC, ECN as a step": "128-pfc-step" CI,
        "slower by 10 %: with as much marking isolation gains nothing for elephants, and marks earlier";
    "128 servers, no PFC, ECN as a step": "128-lossy-step" CI, "likewise";
}

rows_alike! { QUARTER_PAUSES, "N2c": "number of pause frames, with isolation and queues of 250 KB vs. queues of \
    1 MB without isolation",
    claimed "not more (no numbers)", in GOALS, Rule::NotAbove(5.0), number(quartered, pauses);
    "128 servers, PFC": "128-pfc" CI,
        "about -50 %: fewer by isolation (-84 % in the deck), and a queue is full four times as soon";
    "288 servers, PFC": "288-pfc" CI, "likewise";
    "512 servers, PFC": "512-pfc" CI, "likewise";
    "128 servers, PFC, ECN as a step": "128-pfc-step" CI,
        "more: ECN that marks everything leaves few, and 190 KB are full sooner than 750";
}

rows_alike! { QUARTER_LOSSES, "N2d": "loss rate without PFC (packets dropped over packets sent), with isolation \
    and queues of 250 KB vs. queues of 1 MB without isolation",
    claimed "not more (no numbers)", in GOALS, Rule::NotAbove(5.0), number(quartered, Facts::loss_rate);
    "128 servers, no PFC": "128-lossy" CI,
        "about -80 %: where the incast is marked it needs no more than 250 KB once it has settled";
    "288 servers, no PFC": "288-lossy" CI, "likewise";
    "512 servers, no PFC": "512-lossy" CI, "likewise";
    "128 servers, no PFC, ECN as a step": "128-lossy-step" CI,
        "open: little is lost in 1 MB with ECN that marks everything";
}
