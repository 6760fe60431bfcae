//! The link and one flow alone on it.

use floodway_report::chart::{Axis, Lines};
use floodway_report::study::{Exhibit, Section};

use crate::curves::departure_line;
use crate::departures::Kind;
use crate::dualq::measures::{Queue, departures, length, mean_delay, rate, spread};
use crate::dualq::{ALONE, CLASSIC, IDLE, case};
use crate::evidence::Evidence;
use crate::exhibit::{number, table};

/// The flows with their looks.
const FLOWS: [(&str, &str, usize); 3] = [
    ("reno", "Reno, RED", 0),
    ("cubic", "Cubic, RED", 2),
    ("dctcp", "DCTCP, step at 5 packets", 1),
];

/// Packets to which the deck's chart reaches.
const AXIS: f64 = 100.0;

/// Claims C1 and C2.
pub fn alone(evidence: &Evidence) -> Section {
    let question = "Queue of a single flow";
    let mut section = evidence.section("alone", question, &["C1", "C2"], &[IDLE, ALONE]);
    let of = |variant| case(ALONE, variant);
    if !evidence.has(of("reno")) {
        return section;
    }
    let half = |variant| number(&length(evidence, of(variant), Queue::Any, 0.5));
    let wide = |variant| number(&spread(evidence, of(variant), Queue::Any));
    section.answer = format!(
        "With Reno, the median queue at dequeue is {}, and 90 % of the queues lie within a range of {}. \
         With DCTCP, the median is {}, and the range is {}.",
        half("reno"),
        wide("reno"),
        half("dctcp"),
        wide("dctcp"),
    );
    section.text = vec![
        "One flow over 40 Mb/s and 8 ms, a bandwidth-delay product of 27 packets of 1500 bytes. Reno and \
         Cubic have RED with the deck's parameters, which smooths the queue and acts above 80 packets. \
         DCTCP has a step: every packet that joins a queue of 5 packets is marked. The deck's figures were \
         measured on a DSL testbed with Linux 3.18. Their axes end at 100 packets and at 42 %."
            .to_owned(),
    ];
    let line = |(variant, label, series): &(&'static str, &str, usize)| {
        let found = departures(evidence, of(variant), Queue::Any, Kind::Packets);
        departure_line(*series, label, &found, 100, AXIS)
    };
    let sizes = Lines {
        title: "Distribution of the queue at dequeue".to_owned(),
        x: Axis::linear("queue at dequeue, packets", "").within(0.0, AXIS),
        y: Axis::linear("share of packets", "share"),
        lines: FLOWS.iter().map(line).collect(),
        height: 280.0,
        ..Lines::default()
    };
    let legend: Vec<(usize, String)> =
        FLOWS.iter().map(|(_, label, series)| (*series, (*label).to_owned())).collect();
    section.exhibits.push(Exhibit::Lines {
        name: "alone-queue".to_owned(),
        caption: "Distribution of the queue at dequeue (slides 8 to 10)".to_owned(),
        legend,
        charts: vec![sizes],
        columns: 1,
        note: "Packets in the queue at each departure, including the one that leaves; all \
               replications."
            .to_owned(),
    });
    let row = |(variant, label, _): &(&'static str, &str, usize)| {
        let quantile = |p| number(&length(evidence, of(variant), Queue::Any, p));
        vec![
            (*label).to_owned(),
            quantile(0.05),
            quantile(0.5),
            quantile(0.95),
            number(&mean_delay(evidence, of(variant), Queue::Any)),
            number(&rate(evidence, of(variant), CLASSIC)),
        ]
    };
    section.exhibits.push(table(
        "alone-numbers",
        "Queue and rate",
        "Means over replications. Payload takes 38.1 of the 40 Mb/s.",
        &["", "queue: p5", "p50", "p95", "mean queuing delay", "rate"],
        FLOWS.iter().map(row).collect(),
    ));
    section
}
