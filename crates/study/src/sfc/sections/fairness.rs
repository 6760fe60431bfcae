//! Shares of a link among four senders.

use floodway_report::chart::{Axis, Mark};
use floodway_report::statistics::Scale;
use floodway_report::study::{Exhibit, Section};

use crate::curves::{share_chart, share_lines};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Entry, number, rows, table};
use crate::sfc::claims::SHARE_WINDOW;
use crate::sfc::{INTER, INTRA, MAIN, NATIVE, PFC, PROXY, case};

/// Time over which the shares that are drawn are taken, in nanoseconds.
const DRAWN_WINDOW: f64 = 2e5;

/// The rate of the link that is shared, in Gb/s.
const LINK: f64 = 100.0;

/// Claim E6.
pub fn fairness(evidence: &Evidence) -> Section {
    let question = "Fairness of the shares of a link";
    let mut section = evidence.section("fairness", question, &["E6"], &[INTRA, INTER]);
    if !evidence.has(case(INTRA, PFC)) {
        return section;
    }
    let index = |experiment, variant| {
        let index = |facts: &Facts| facts.fairness(SHARE_WINDOW);
        evidence.on_scale(case(experiment, variant), Scale::SHARE, "", index)
    };
    let in_words = |experiment, variant| number(&index(experiment, variant));
    let count = |variant, counter: &'static str| {
        number(&evidence.number(case(INTRA, variant), "", |facts| facts.number(counter)))
    };
    section.answer = format!(
        "With all senders at one switch, Jain's index is {} with PFC, {} with sfc-proxy and {} with \
         sfc-native. With two of them at another switch, it is {}, {} and {}. With all at one switch, PFC \
         sends {} pause frames per run, sfc-proxy {} messages and sfc-native {}.",
        in_words(INTRA, PFC),
        in_words(INTRA, PROXY),
        in_words(INTRA, NATIVE),
        in_words(INTER, PFC),
        in_words(INTER, PROXY),
        in_words(INTER, NATIVE),
        count(PFC, "pause_frames"),
        count(PROXY, "sfc_messages"),
        count(NATIVE, "sfc_messages"),
    );
    section.text = vec![
        "Four flows to one host start 5 ms apart and stop 5 ms apart in the same order. The share of a \
         flow is the data that arrives of it in a window of 1 ms. The index is 1 if all active flows have \
         the same share, and 1/n if one of n flows has everything. It is averaged over the windows with \
         at least two flows."
            .to_owned(),
    ];
    let group = |(label, experiment): (&str, &'static str)| {
        let entry = |(name, series): &(&'static str, usize)| {
            Entry::new(*name, *series, index(experiment, name))
        };
        (label.to_owned(), MAIN.iter().map(entry).collect())
    };
    let places = [("intra-switch", INTRA), ("inter-switch", INTER)];
    section.exhibits.push(rows(
        "jain",
        "Jain's fairness index",
        Axis::linear("Jain's index; 1 is fair", "").within(0.0, 1.0),
        Mark::Point,
        "",
        places.map(group).to_vec(),
    ));
    let mut rows = Vec::new();
    for (place, experiment) in places {
        for (name, _) in MAIN {
            let count = |counter: &'static str| {
                let of = |facts: &Facts| facts.number(counter);
                number(&evidence.number(case(experiment, name), "", of))
            };
            let counters = ["cnps_sent", "pause_frames", "sfc_messages", "dropped_packets"];
            let label = format!("{place}, {name}");
            rows.push(std::iter::once(label).chain(counters.map(count)).collect());
        }
    }
    section.exhibits.push(table(
        "fairness-counts",
        "Notifications, pauses and messages that slow down the senders",
        "Means per run. Where flow control hardly ever acts, DCQCN is compared with itself. A claim that \
         flow control does no harm is weak there.",
        &["", "CNPs", "PFC frames that stop", "SFC messages", "packets dropped"],
        rows,
    ));
    let mut charts = Vec::new();
    for (place, experiment) in places {
        for (name, _) in MAIN {
            let first = evidence.runs(case(experiment, name)).next();
            if let Some(deliveries) = first.and_then(|(_, facts)| facts.deliveries.as_ref()) {
                let lines = share_lines(deliveries, DRAWN_WINDOW, LINK);
                charts.push(share_chart(&format!("{place}, {name}"), lines));
            }
        }
    }
    if !charts.is_empty() {
        section.exhibits.push(Exhibit::Lines {
            name: "shares".to_owned(),
            caption: "Share of the link of each flow over time".to_owned(),
            legend: (0..4).map(|flow| (flow, format!("flow {flow}"))).collect(),
            charts,
            columns: 3,
            note: "First replication; payload in windows of 200 µs, as a share of the rate of the link. \
                   Headers, preamble and gap take 7 % of it."
                .to_owned(),
        });
    }
    section
}
