//! Throughput and latency by the buffer per port: slides 8 and 10.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::study::{Exhibit, Section};
use floodway_report::words::count;

use crate::evidence::{Evidence, Facts};
use crate::exhibit::{line, number, table};
use crate::measure::Measured;
use crate::short_range::measures::{carried, change_over, latency, lost};
use crate::short_range::plan::{self, SIZES};
use crate::short_range::{
    DRC, DRC_STOP, NO_CONTROL, PAUSE, PAUSE_EGRESS, PEAK_BACKPLANE, PEAK_MULTISTAGE, SWEPT, case,
    sizes,
};

/// A sweep: its name, its experiments, and that of its peak.
type Sweep = (&'static str, fn(u32) -> &'static str, &'static str);

const BACKPLANE: Sweep = ("backplane", plan::backplane, PEAK_BACKPLANE);
const MULTISTAGE: Sweep = ("multistage", plan::multistage, PEAK_MULTISTAGE);

const MODEL: &str = "Sources always have another message, to another node drawn at random. A node passes \
     frames to its port as soon as that has room, so its buffer is full and is part of the latency. The \
     experiments differ in the memory per port, of nodes and switches alike. The deck does not say where \
     802.3x is measured, so there are two variants: by the data that came in by a port, for which each port \
     then has memory, or by the data that waits for an output port. Directional Rate Control is measured at \
     the output, as in the deck. How rates follow its two bits is assumed, so there are two variants of it: \
     one lowers rates and stops directions, the other only stops directions.";

/// Claims B1 and B2.
pub fn backplane(evidence: &Evidence) -> Section {
    sweep(
        evidence,
        BACKPLANE,
        "Throughput and latency of a backplane",
        &["B1", "B2a", "B2b", "B2c", "B2d", "B2e"],
        "Sixteen nodes at 10 Gb/s around one switch.",
    )
}

/// Claim B3.
pub fn multistage(evidence: &Evidence) -> Section {
    sweep(
        evidence,
        MULTISTAGE,
        "Throughput and latency of a network of several stages",
        &["B3a", "B3b", "B3d"],
        "Twelve nodes on three switches, each of which has a link to each of four more switches. The deck's \
         picture of the network is not in its text. A direction between the stages leads to four nodes, \
         so slowing it down affects the data to all of them. Directional Rate Control separates less \
         here.",
    )
}

fn sweep(
    evidence: &Evidence,
    (name, of, peak): Sweep,
    question: &str,
    claims: &[&str],
    network: &str,
) -> Section {
    let mut names: Vec<&'static str> = vec![peak];
    names.extend(SIZES.map(of));
    let mut section = evidence.section(name, question, claims, &names);
    let run = sizes(evidence, of);
    if run.is_empty() {
        return section;
    }
    let change = |from, to, what| number(&change_over(evidence, (of, &run), (from, to), what));
    let most = evidence.number(case(peak, NO_CONTROL), "Gb/s", carried);
    section.answer = format!(
        "Without contention the network carries {}. Over {} to {} KB per port, Directional Rate Control \
         changes throughput by {} and mean latency by {} compared with 802.3x measured at output ports, by \
         {} and {} compared with 802.3x measured at input ports, and by {} and {} compared with no flow \
         control, which loses frames. If it only stops directions, the changes are {} and {} compared with \
         802.3x measured at input ports.",
        number(&most),
        run[0],
        run[run.len() - 1],
        change(PAUSE_EGRESS, DRC, carried),
        change(PAUSE_EGRESS, DRC, latency),
        change(PAUSE, DRC, carried),
        change(PAUSE, DRC, latency),
        change(NO_CONTROL, DRC, carried),
        change(NO_CONTROL, DRC, latency),
        change(PAUSE, DRC_STOP, carried),
        change(PAUSE, DRC_STOP, latency),
    );
    section.text = vec![network.to_owned(), MODEL.to_owned()];
    let by_memory = |number: fn(&Facts) -> f64| {
        let lines = SWEPT.iter().map(|(variant, label, look)| {
            let at = |kb: &u32| evidence.number(case(of(*kb), variant), "", number);
            let points: Vec<(f64, Measured)> =
                run.iter().map(|kb| (f64::from(*kb) * 1e3, at(kb))).collect();
            line(*look, *label, &points)
        });
        lines.collect::<Vec<Line>>()
    };
    let x = || Axis::log("memory per port, logarithmic", "bytes");
    section.exhibits.push(Exhibit::Lines {
        name: format!("{name}-sweep"),
        caption: "Throughput above L2 and mean latency per frame, by memory per port".to_owned(),
        legend: SWEPT.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: vec![
            Lines {
                title: format!("Throughput by memory per port, {name}"),
                heading: "throughput".to_owned(),
                x: x(),
                y: Axis::linear("carried above L2", "Gb/s")
                    .within(0.0, most.value.unwrap_or(160.0)),
                lines: by_memory(carried),
                height: 300.0,
                ..Lines::default()
            },
            Lines {
                title: format!("Mean latency by memory per port, {name}"),
                heading: "latency".to_owned(),
                x: x(),
                y: Axis::log("mean latency, logarithmic", "ns"),
                lines: by_memory(latency),
                height: 300.0,
                ..Lines::default()
            },
        ],
        columns: 2,
        note: "Means over replications with 95 % intervals. The top of the left chart is the peak \
               without contention."
            .to_owned(),
    });
    let row = |kb: &u32, (variant, label, _): &(&'static str, &str, usize)| {
        let at = case(of(*kb), variant);
        let ns =
            |name: &'static str| number(&evidence.number(at, "ns", move |facts| facts.known(name)));
        vec![
            format!("{kb} KB, {label}"),
            number(&evidence.number(at, "Gb/s", carried)),
            ns("mean_latency_ns"),
            ns("p50_latency_ns"),
            ns("p99_latency_ns"),
            lost(evidence, at).value.map_or_else(String::new, count),
        ]
    };
    let rows = run.iter().flat_map(|kb| SWEPT.iter().map(move |variant| (kb, variant)));
    section.exhibits.push(table(
        &format!("{name}-numbers"),
        "Throughput, latency and losses by memory per port",
        "\"Lost\" counts frames in all replications. With 802.3x measured at input ports, there is room for \
         the data in flight. Measured at output ports, fifteen neighbors, or seven, can send more than \
         fits above the threshold, both with 802.3x and with Directional Rate Control.",
        &["", "throughput", "mean latency", "median", "p99", "lost"],
        rows.map(|(kb, variant)| row(kb, variant)).collect(),
    ));
    section
}
