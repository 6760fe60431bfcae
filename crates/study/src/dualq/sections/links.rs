//! The grid of PI2: one Cubic and one DCTCP flow over links of many rates and lengths.

use floodway_report::chart::{Axis, Colours};
use floodway_report::study::Section;

use super::times;
use crate::dualq::measures::{Queue, delay, overall, ratio, worst};
use crate::dualq::plan::{RATES, ROUND_TRIPS, link};
use crate::dualq::{DUALPI2, DUALQ, PI2, PIE, case};
use crate::evidence::{Case, Evidence};
use crate::exhibit::number;
use crate::matrix::{heat_map, sides};
use crate::measure::Measured;

const VARIANTS: [(&str, &str); 4] =
    [(PIE, "PIE, not coupled"), (PI2, "PI2"), (DUALQ, "DualQ of the deck"), (DUALPI2, "DualPI2")];

/// Claims P1 and P2.
pub fn links(evidence: &Evidence) -> Section {
    let question = "Coupling over other links";
    let all: Vec<(u32, u32)> =
        RATES.into_iter().flat_map(|rate| ROUND_TRIPS.map(|rtt| (rate, rtt))).collect();
    let names: Vec<&'static str> = all.iter().map(|(rate, rtt)| link(*rate, *rtt)).collect();
    let mut section = evidence.section("links", question, &["P1a", "P1b", "P2"], &names);
    if section.links.is_empty() {
        return section;
    }
    let run = |variant| -> Vec<Case> {
        names.iter().map(|name| case(name, variant)).filter(|of| evidence.has(*of)).collect()
    };
    let mean = |variant| times(&overall(evidence, run(variant)));
    let wait = |variant| number(&delay(evidence, case(link(40, 10), variant), Queue::Classic, 0.5));
    section.answer = format!(
        "On average over links of 4 to 200 Mb/s and 5 to 100 ms, a Cubic flow has {} times the rate of a \
         DCTCP flow under PIE, {} times under PI2 (which is off by a factor of {} on the worst link), {} \
         times in the deck's DualQ and {} times under DualPI2. At 40 Mb/s and 10 ms, the median queuing \
         delay of classic packets is {} under PI2 and {} under DualPI2.",
        mean(PIE),
        mean(PI2),
        times(&worst(evidence, run(PI2))),
        mean(DUALQ),
        mean(DUALPI2),
        wait(PI2),
        wait(DUALPI2),
    );
    section.text = vec![
        "One Cubic and one DCTCP flow, as in figures 15 and 16 of the paper on PI2. PIE drops and marks \
         with the same probability. PI2 has one queue and couples by the square with k = 2. The others \
         have two queues. The deck's DualQ was made for one link, and its k of 8 for the round trip of \
         that link."
            .to_owned(),
    ];
    let ran: Vec<(u32, u32)> = all
        .iter()
        .copied()
        .filter(|(rate, rtt)| evidence.has(case(link(*rate, *rtt), PI2)))
        .collect();
    let rates: Vec<u32> =
        RATES.into_iter().filter(|of| ran.iter().any(|(at, _)| at == of)).collect();
    let trips: Vec<u32> =
        ROUND_TRIPS.into_iter().filter(|of| ran.iter().any(|(_, at)| at == of)).collect();
    let headings = || sides(("rate of the link, Mb/s", &rates), ("round trip, ms", &trips));
    for (variant, label) in VARIANTS {
        let measure = |row: usize, column: usize| -> Measured {
            ratio(evidence, case(link(rates[column], trips[row]), variant))
        };
        section.exhibits.push(heat_map(
            (
                &format!("links-ratio-{variant}"),
                &format!("Ratio of the rates, Cubic to DCTCP: {label}"),
                "",
            ),
            (Axis::log("Cubic over DCTCP", "x").within(0.04, 25.0), Colours::Diverging(1.0), 1.0),
            headings(),
            measure,
        ));
    }
    for (variant, label) in VARIANTS {
        let measure = |row: usize, column: usize| -> Measured {
            delay(evidence, case(link(rates[column], trips[row]), variant), Queue::Classic, 0.5)
        };
        section.exhibits.push(heat_map(
            (
                &format!("links-delay-{variant}"),
                &format!("Median queuing delay of classic packets in ms: {label}"),
                "",
            ),
            (Axis::linear("median queuing delay", "ns").within(0.0, 4e7), Colours::Sequential, 1e6),
            headings(),
            measure,
        ));
    }
    section
}
