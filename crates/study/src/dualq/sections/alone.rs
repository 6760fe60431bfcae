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
    let question = "How long is the queue of one flow alone?";
    let mut section = evidence.section("alone", question, &["C1", "C2"], &[IDLE, ALONE]);
    let of = |variant| case(ALONE, variant);
    if !evidence.has(of("reno")) {
        return section;
    }
    let half = |variant| number(&length(evidence, of(variant), Queue::Any, 0.5));
    let wide = |variant| number(&spread(evidence, of(variant), Queue::Any));
    section.answer = format!(
        "Half of Reno's packets leave a queue of at most {}, and nine of ten queues are within {} of \
         each other; DCTCP's median is {}, within {}.",
        half("reno"),
        wide("reno"),
        half("dctcp"),
        wide("dctcp"),
    );
    section.text = vec![
        "One flow over 40 Mb/s and 8 ms, which hold 27 packets of 1500 bytes. Reno and Cubic meet RED \
         with the deck's parameters, which smooths the queue and acts above 80 packets; DCTCP meets a \
         mark on every packet that joins a queue of 5. The deck's figures were measured on a DSL \
         testbed with Linux 3.18; its axes go to 100 packets and to 42 %."
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
        caption: "How long is the queue when a packet leaves it? (slides 8 to 10)".to_owned(),
        legend,
        charts: vec![sizes],
        columns: 1,
        note: "Packets in the queue at each departure, the one that leaves included; all \
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
        &["", "queue: p5", "p50", "p95", "mean wait", "rate"],
        FLOWS.iter().map(row).collect(),
    ));
    section
}
