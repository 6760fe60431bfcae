//! Grids of mixes of Cubic and DCTCP flows, as the deck draws them.

use std::collections::BTreeSet;

use floodway_report::chart::{Axis, Cell, Colours, Matrix};
use floodway_report::study::{Exhibit, Section};

use super::{all, experiments, times};
use crate::curves::{departure_line, rate_lines};
use crate::departures::Kind;
use crate::dualq::measures::{
    LINK_MBPS, Queue, delay, departures, is_dual, mean_delay, overall, rate, ratio, signalled,
    worst,
};
use crate::dualq::plan::MIXES;
use crate::dualq::{
    CLASSIC, CLASSIC_LOOK, COUPLED, DUALPI2, DUALQ, Mix, RED, SCALABLE, SCALABLE_LOOK, mix, mixes,
};
use crate::evidence::Evidence;
use crate::exhibit::{number, table};
use crate::matrix::{grid, heat_map, sides};
use crate::measure::Measured;

/// Packets to which the deck's charts reach, and the bins up to there.
const AXIS: f64 = 300.0;
const BINS: usize = 60;

const LEGEND: [(usize, &str); 2] = [(CLASSIC_LOOK, "Cubic"), (SCALABLE_LOOK, "DCTCP")];

/// The numbers of flows that there are, of Cubic and of DCTCP.
pub fn counts(evidence: &Evidence, variant: &'static str) -> (Vec<usize>, Vec<usize>) {
    let mixes = mixes(evidence, variant);
    let cubic: BTreeSet<usize> = mixes.iter().map(|mix| mix.0).collect();
    let dctcp: BTreeSet<usize> = mixes.iter().map(|mix| mix.1).collect();
    (cubic.into_iter().collect(), dctcp.into_iter().collect())
}

/// Columns of Cubic and rows of DCTCP flows.
pub fn headings((cubic, dctcp): &(Vec<usize>, Vec<usize>)) -> Matrix {
    sides(("Cubic flows", cubic), ("DCTCP flows", dctcp))
}

/// The rates of all flows over time, as on slides 13 and 26.
fn throughputs(evidence: &Evidence, variant: &'static str, slide: &str) -> Exhibit {
    let counts = counts(evidence, variant);
    let first = mixes(evidence, variant).first().copied().unwrap_or((0, 1));
    let (_, end) = evidence.measurement(mix(first, variant).experiment).unwrap_or((0.0, 250e9));
    let cell = |row: usize, column: usize| {
        let of: Mix = (counts.0[column], counts.1[row]);
        let Some((_, facts)) = evidence.runs(mix(of, variant)).next() else {
            return Cell::default();
        };
        let Some(deliveries) = facts.deliveries.as_ref() else { return Cell::default() };
        let lines = rate_lines(deliveries, end / 50.0, |flow| {
            if flow.workload == CLASSIC { CLASSIC_LOOK } else { SCALABLE_LOOK }
        });
        let fair = LINK_MBPS / (of.0 + of.1) as f64;
        // The deck's rule for RED, whose DCTCP flows share what Cubic leaves.
        let shown = if variant == RED && of.1 > 0 { LINK_MBPS / of.1 as f64 } else { fair };
        let rate = |workload| number(&rate(evidence, mix(of, variant), workload));
        Cell {
            lines,
            y: Some((0.0, 2.0 * shown)),
            level: Some(fair),
            tooltip: format!(
                "{} Cubic, {} DCTCP: {} and {} a flow",
                of.0,
                of.1,
                rate(CLASSIC),
                rate(SCALABLE)
            ),
            ..Cell::default()
        }
    };
    let above = match variant {
        RED => "from 0 to 80 Mb/s over the number of DCTCP flows, in the first row of Cubic flows",
        _ => "from 0 to 80 Mb/s over the number of flows",
    };
    grid(
        (
            &format!("throughput-{variant}"),
            &format!("Rate of every flow over time ({slide})"),
            "First replication, payload in fifty windows.",
        ),
        (
            Axis::linear("time", "ns").within(0.0, end),
            Axis::linear(above, "").called("rate in Mb/s"),
            "the fair share of 40 Mb/s over all flows",
        ),
        headings(&counts),
        &LEGEND,
        cell,
    )
}

/// The unit in which queues are measured at dequeue: packets, as on slides 14 and 27, or time, which is
/// not proportional to packets if two queues share a link.
struct Measure {
    kind: Kind,
    name: &'static str,
    question: &'static str,
    axis: &'static str,
    unit: &'static str,
    /// How far the axis goes, and in how many bins.
    up_to: f64,
    bins: usize,
    bin: &'static str,
}

const PACKETS: Measure = Measure {
    kind: Kind::Packets,
    name: "queue",
    question: "Distribution of the queues at dequeue",
    axis: "queue of up to 450 KB, 90 ms of the link",
    unit: "packets",
    up_to: AXIS,
    bins: BINS,
    bin: "5 packets",
};

/// Bins are not narrower than the times that runs keep are exact: 1.6 % of them.
const TIME: Measure = Measure {
    kind: Kind::Sojourn,
    name: "wait",
    question: "Distribution of the queuing delay at dequeue",
    axis: "time in the queue",
    unit: "ns",
    up_to: 90e6,
    bins: 30,
    bin: "3 ms",
};

/// The distributions of the queues at dequeue.
fn queues(evidence: &Evidence, variant: &'static str, measure: &Measure, slide: &str) -> Exhibit {
    let counts = counts(evidence, variant);
    let dual = is_dual(variant);
    let cell = |row: usize, column: usize| {
        let of: Mix = (counts.0[column], counts.1[row]);
        if !evidence.has(mix(of, variant)) {
            return Cell::default();
        }
        let line = |queue, series| {
            let found = departures(evidence, mix(of, variant), queue, measure.kind);
            departure_line(series, "", &found, measure.bins, measure.up_to)
        };
        let lines = match dual {
            true => vec![line(Queue::Scalable, SCALABLE_LOOK), line(Queue::Classic, CLASSIC_LOOK)],
            false => vec![line(Queue::Any, 0)],
        };
        let lines: Vec<_> = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
        // Where a low latency queue is always empty, the classic one would not be seen beside it.
        let classic = |lines: &[floodway_report::chart::Line]| {
            let of = lines.iter().filter(|line| line.series != SCALABLE_LOOK);
            of.flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max)
        };
        let most = classic(&lines) * 1.2;
        let wait = |queue| number(&delay(evidence, mix(of, variant), queue, 0.5));
        Cell {
            lines,
            y: (dual && most > 0.0).then_some((0.0, most)),
            tooltip: match dual {
                true => format!(
                    "{} Cubic, {} DCTCP: medians of {} and {}",
                    of.0,
                    of.1,
                    wait(Queue::Classic),
                    wait(Queue::Scalable)
                ),
                false => format!("{} Cubic, {} DCTCP: median of {}", of.0, of.1, wait(Queue::Any)),
            },
            ..Cell::default()
        }
    };
    let legend: &[(usize, &str)] = match dual {
        true => &[(CLASSIC_LOOK, "classic queue"), (SCALABLE_LOOK, "low latency queue")],
        false => &[(0, "the queue")],
    };
    let bin = measure.bin;
    let note = match dual {
        true => format!(
            "At each departure, in bins of {bin}. The vertical axis fits the classic queue; curves that leave \
             it at the top are those of the low latency queue."
        ),
        false => format!("At each departure, in bins of {bin}; vertical axes differ."),
    };
    grid(
        (&format!("{}-{variant}", measure.name), &format!("{} ({slide})", measure.question), &note),
        (
            Axis::linear(measure.axis, measure.unit).within(0.0, measure.up_to),
            Axis::linear("share of packets", "share"),
            "",
        ),
        headings(&counts),
        legend,
        cell,
    )
}

/// Numbers about the mixes that every level has.
fn numbers(evidence: &Evidence, variant: &'static str) -> Exhibit {
    let row = |of: &Mix| {
        let case = mix(*of, variant);
        let wait = |queue, p| number(&delay(evidence, case, queue, p));
        let percent = |workload| {
            let share = signalled(evidence, case, workload).scaled(100.0, "%");
            number(&share).replace('+', "")
        };
        let mut row = vec![
            format!("{}+{}", of.0, of.1),
            number(&rate(evidence, case, CLASSIC)),
            number(&rate(evidence, case, SCALABLE)),
            times(&ratio(evidence, case)),
            percent(CLASSIC),
            percent(SCALABLE),
        ];
        match is_dual(variant) {
            true => row.extend([
                wait(Queue::Classic, 0.5),
                wait(Queue::Scalable, 0.5),
                wait(Queue::Scalable, 0.99),
            ]),
            false => row.extend([wait(Queue::Any, 0.5), wait(Queue::Any, 0.99)]),
        }
        row
    };
    let mut head = vec!["", "Cubic", "DCTCP", "ratio", "Cubic signaled", "DCTCP signaled"];
    head.extend(match is_dual(variant) {
        true => ["Cubic delay", "DCTCP delay", "p99"].as_slice(),
        false => &["delay", "p99"],
    });
    let run = MIXES.iter().filter(|of| evidence.has(mix(**of, variant)));
    table(
        &format!("mixes-{variant}"),
        "Rates, marks and queuing delays",
        "m+n is a mix of m Cubic and n DCTCP flows. Rates are those of payload, means over the flows of a \
         kind. \"Signaled\" is the share of packets that were marked or dropped. Delays are medians and \
         99th percentiles of the queuing delay. Means over replications; geometric means of the ratio.",
        &head,
        run.map(row).collect(),
    )
}

/// What all sections of a kind of queue management have.
fn section_of(
    evidence: &Evidence,
    variant: &'static str,
    (name, question, claims): (&str, &str, &[&str]),
    slides: [&str; 2],
) -> Section {
    let names = experiments(evidence, variant);
    let mut section = evidence.section(name, question, claims, &names);
    if names.is_empty() {
        return section;
    }
    section.exhibits = vec![
        throughputs(evidence, variant, slides[0]),
        queues(evidence, variant, &PACKETS, slides[1]),
    ];
    // One queue has the whole link, so that its length is its time.
    if is_dual(variant) {
        section.exhibits.push(queues(evidence, variant, &TIME, slides[1]));
    }
    section.exhibits.push(numbers(evidence, variant));
    section
}

/// Claim C3.
pub fn red(evidence: &Evidence) -> Section {
    let about = ("red", "Cubic and DCTCP under RED", &["C3"] as &[_]);
    let mut section = section_of(evidence, RED, about, ["slide 13", "slide 14"]);
    let ratio = |of| times(&ratio(evidence, mix(of, RED)));
    let wait = |of| number(&mean_delay(evidence, mix(of, RED), Queue::Any));
    section.answer = format!(
        "Under RED, a Cubic flow has {} times the rate of a DCTCP flow if there is one of each, and {} times \
         with ten of each. The mean queuing delay is {} and {}; it is {} if a Cubic flow is alone.",
        ratio((1, 1)),
        ratio((10, 10)),
        wait((1, 1)),
        wait((10, 10)),
        wait((1, 0)),
    );
    section.text = vec![
        "RED signals congestion with the same probability to all flows: by drops to Cubic and by marks to \
         DCTCP. DCTCP reduces its window in proportion to the share of marked packets, and Cubic by three \
         tenths for every drop. DCTCP therefore raises the average queue until the probability, which \
         hardly slows DCTCP, nearly stops Cubic. Above an average queue of 360 KB (240 packets), all \
         packets are marked or dropped."
            .to_owned(),
    ];
    section
}

/// Claim C5.
pub fn coupled(evidence: &Evidence) -> Section {
    let about = ("coupled", "Coupled probabilities in one queue", &["C5a", "C5b"] as &[_]);
    let mut section = section_of(evidence, COUPLED, about, ["as slide 13", "as slide 14"]);
    let wait = |of| number(&delay(evidence, mix(of, COUPLED), Queue::Scalable, 0.5));
    section.answer = format!(
        "With p for DCTCP and (p/1.63)² for Cubic, a Cubic flow has {} times the rate of a DCTCP flow over \
         all mixes; in the worst mix the ratio differs from 1 by a factor of {}. DCTCP has the queuing \
         delay of all packets: {} with one flow of each and {} with ten.",
        times(&overall(evidence, all(evidence, COUPLED))),
        times(&worst(evidence, all(evidence, COUPLED))),
        wait((1, 1)),
        wait((10, 10)),
    );
    section.text = vec![
        "There is one queue. The probability rises from an empty queue on and is not smoothed. The deck gives \
         no slope; here every packet of DCTCP would be marked at 330 ms."
            .to_owned(),
    ];
    section
}

/// Claims C6 and C7.
pub fn dual(evidence: &Evidence) -> Section {
    let about = ("dualq", "Two coupled queues: the DualQ", &["C6", "C7a", "C7b"] as &[_]);
    let mut section = section_of(evidence, DUALQ, about, ["slide 26", "slide 27"]);
    let wait = |of, queue, p| number(&delay(evidence, mix(of, DUALQ), queue, p));
    section.answer = format!(
        "In the DualQ with s_r 3, a Cubic flow has {} times the rate of a DCTCP flow over all mixes; in the \
         worst mix the ratio differs from 1 by a factor of {}. With five flows of each, the queuing delay \
         of DCTCP is {} in the median and {} in the 99th percentile, and that of Cubic {} in the median.",
        times(&overall(evidence, all(evidence, DUALQ))),
        times(&worst(evidence, all(evidence, DUALQ))),
        wait((5, 5), Queue::Scalable, 0.5),
        wait((5, 5), Queue::Scalable, 0.99),
        wait((5, 5), Queue::Classic, 0.5),
    );
    section.text = vec![
        "DCTCP is served first, so only Cubic waits. The delay of Cubic sets the probability with which \
         DCTCP is marked; its square over 64 is the probability for Cubic. k is 8 because the round trip \
         of Cubic is 40 ms with a queuing delay of 32 ms, and that of DCTCP is 8 ms. If the delay of Cubic \
         is shorter, Cubic has more than its share; if it is longer, less. This determines the ratio along \
         the grid, together with the smallest window of two packets: ten DCTCP flows with two packets in \
         8 ms have 30 Mb/s, no matter how many packets are marked."
            .to_owned(),
    ];
    for (name, queue, what) in
        [("classic", Queue::Classic, "Cubic's"), ("low-latency", Queue::Scalable, "DCTCP's")]
    {
        let counts = counts(evidence, DUALQ);
        let measure = |row: usize, column: usize| -> Measured {
            let (cubic, dctcp) = (counts.0[column], counts.1[row]);
            let none = if queue == Queue::Classic { cubic == 0 } else { dctcp == 0 };
            if none {
                return Measured::default();
            }
            delay(evidence, mix((cubic, dctcp), DUALQ), queue, 0.99)
        };
        if !section.exhibits.is_empty() {
            section.exhibits.push(heat_map(
                (
                    &format!("dualq-p99-{name}"),
                    &format!("99th percentile of {what} queuing delay in ms"),
                    "",
                ),
                (
                    Axis::linear("99th percentile of the queuing delay", "ns"),
                    Colours::Sequential,
                    1e6,
                ),
                headings(&counts),
                measure,
            ));
        }
    }
    section
}

/// Claim P6.
pub fn dualpi2(evidence: &Evidence) -> Section {
    let about = ("dualpi2", "DualPI2, the successor of the DualQ", &["P6"] as &[_]);
    let mut section = section_of(evidence, DUALPI2, about, ["as slide 26", "as slide 27"]);
    let wait = |queue, p| number(&delay(evidence, mix((5, 5), DUALPI2), queue, p));
    section.answer = format!(
        "Under DualPI2, a Cubic flow has {} times the rate of a DCTCP flow over all mixes; in the worst mix \
         the ratio differs from 1 by a factor of {}. With five flows of each, the queuing delay of Cubic \
         is {} in the median, and that of DCTCP {} in the median and {} in the 99th percentile.",
        times(&overall(evidence, all(evidence, DUALPI2))),
        times(&worst(evidence, all(evidence, DUALPI2))),
        wait(Queue::Classic, 0.5),
        wait(Queue::Scalable, 0.5),
        wait(Queue::Scalable, 0.99),
    );
    section.text = vec![
        "RFC 9332 with the defaults of Linux. A controller holds the classic queue at 15 ms. Low latency \
         packets are marked with twice the square root of the probability for classic ones, and always \
         above a step of 1 ms. One of ten bytes is classic even if the low latency queue is not empty. \
         k = 2 makes windows equal, not rates: a flow that waits has a lower rate. DCTCP takes the place \
         of Prague here, as in the deck."
            .to_owned(),
    ];
    section
}
