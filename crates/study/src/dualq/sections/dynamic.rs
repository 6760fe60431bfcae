//! Load that changes, unresponsive load, and interactive applications.

use floodway_report::chart::{Axis, Line, Lines, Mark};
use floodway_report::study::{Exhibit, Section};

use crate::curves::{tail_chart, tail_line};
use crate::departures::{Counts, Kind};
use crate::dualq::measures::{Queue, delay, departures, frame_latency, frames, lost, rate};
use crate::dualq::plan::{FIELDS, INTERACTIVE, OVERLOADS, interactive as over, overload as at};
use crate::dualq::{
    CLASSIC, DUALPI2, DUALQ, LOAD, PIE, RED, SCALABLE, SHORT_CLASSIC, SHORT_SCALABLE, THIRD, case,
};
use crate::evidence::Evidence;
use crate::exhibit::{Entry, number, rows, table};
use crate::flows::Quantile;
use crate::histogram::Histogram;
use crate::measure::Measured;

/// The share of packets with a longer queuing delay.
fn tail(series: usize, label: &str, counts: &Counts) -> Line {
    let grid = (0..=80).map(|step| libm::pow(10.0, 4.0 + f64::from(step) / 16.0));
    let points = grid.map(|ns| (ns, counts.above(ns as u64)));
    Line {
        series,
        points: points.filter(|point| point.1 > 0.0).collect(),
        tooltip: label.to_owned(),
        ..Line::default()
    }
}

/// The variants of load.toml.
const LOADED: [(&str, &str); 3] = [(RED, "RED"), (DUALQ, "DualQ"), (DUALPI2, "DualPI2")];

/// Claim P3.
pub fn load(evidence: &Evidence) -> Section {
    let question = "Queuing delay while short flows come and go";
    let mut section = evidence.section("load", question, &["P3"], &[LOAD]);
    let of = |variant| case(LOAD, variant);
    if !evidence.has(of(DUALPI2)) {
        return section;
    }
    let wait = |variant, queue, p| number(&delay(evidence, of(variant), queue, p));
    section.answer = format!(
        "The queuing delay of DCTCP is {} in the median and {} in the 99th percentile under DualPI2, {} and \
         {} in the DualQ, and {} and {} under RED.",
        wait(DUALPI2, Queue::Scalable, 0.5),
        wait(DUALPI2, Queue::Scalable, 0.99),
        wait(DUALQ, Queue::Scalable, 0.5),
        wait(DUALQ, Queue::Scalable, 0.99),
        wait(RED, Queue::Scalable, 0.5),
        wait(RED, Queue::Scalable, 0.99),
    );
    section.text = vec![
        "One long flow each of Cubic and of DCTCP, and short flows of each with the sizes of web search. \
         The short flows start at random, and those of each kind take a fifth of the link. They begin with \
         ten packets at once, which the low latency queue has to absorb."
            .to_owned(),
    ];
    let line = |variant, queue, look, label: &str| {
        tail(look, label, &departures(evidence, of(variant), queue, Kind::Sojourn))
    };
    let lines = vec![
        line(RED, Queue::Any, 0, "RED, all"),
        line(DUALQ, Queue::Classic, 2, "DualQ, classic"),
        line(DUALQ, Queue::Scalable, 1, "DualQ, low latency"),
        line(DUALPI2, Queue::Classic, 4, "DualPI2, classic"),
        line(DUALPI2, Queue::Scalable, 3, "DualPI2, low latency"),
    ];
    section.exhibits.push(Exhibit::Lines {
        name: "load-waits".to_owned(),
        caption: "Queuing delay distribution".to_owned(),
        legend: lines.iter().map(|line| (line.series, line.tooltip.clone())).collect(),
        charts: vec![Lines {
            title: "Share of packets with a longer queuing delay".to_owned(),
            x: Axis::log("time in the queue, logarithmic", "ns").within(1e4, 2e8),
            y: Axis::log("share of packets with a longer delay", "share").within(1e-4, 1.0),
            lines,
            marks: vec![(2e6, "2 ms".to_owned())],
            height: 300.0,
            ..Lines::default()
        }],
        columns: 1,
        note: "All replications.".to_owned(),
    });
    let row = |(variant, label): &(&'static str, &str)| {
        let fct = |group, quantile| number(&evidence.fct_quantile(of(variant), group, quantile));
        vec![
            (*label).to_owned(),
            wait(variant, Queue::Classic, 0.5),
            wait(variant, Queue::Scalable, 0.5),
            wait(variant, Queue::Scalable, 0.99),
            fct(SHORT_CLASSIC, Quantile::P50),
            fct(SHORT_SCALABLE, Quantile::P50),
            number(&rate(evidence, of(variant), CLASSIC)),
            number(&rate(evidence, of(variant), SCALABLE)),
            number(&lost(evidence, of(variant), &[SCALABLE, 3])),
        ]
    };
    section.exhibits.push(table(
        "load-numbers",
        "Queuing delay, short flows and long flows",
        "Medians, except in the column p99. Short flows are those below 100 KB; their times are completion \
         times. Drops are those of DCTCP, over all replications.",
        &[
            "",
            "Cubic waits",
            "DCTCP waits",
            "p99",
            "short Cubic",
            "short DCTCP",
            "long Cubic",
            "long DCTCP",
            "DCTCP drops",
        ],
        LOADED.iter().map(row).collect(),
    ));
    section
}

/// The variants of overload.toml, with looks.
const OVERLOADED: [(&str, &str, usize); 3] =
    [(PIE, "PIE", 0), (DUALQ, "DualQ", 1), (DUALPI2, "DualPI2", 2)];

/// Claim P4.
pub fn overload(evidence: &Evidence) -> Section {
    let question = "Overload by unresponsive traffic";
    let all = || FIELDS.into_iter().flat_map(|field| OVERLOADS.map(|of| (field, of)));
    let names: Vec<&'static str> = all().map(|(field, of)| at(field, of)).collect();
    let mut section = evidence.section("overload", question, &["P4"], &names);
    let run: Vec<u32> = OVERLOADS
        .into_iter()
        .filter(|of| evidence.has(case(at(FIELDS[0], *of), DUALPI2)))
        .collect();
    let Some(most) = run.last().copied() else { return section };
    let wait = |variant, field, queue| {
        number(&delay(evidence, case(at(field, most), variant), queue, 0.99))
    };
    section.answer = format!(
        "With unresponsive datagrams of {most} % of the link that are marked as ECN-capable, the 99th \
         percentile of the delay in the low latency queue is {} in the DualQ and {} under DualPI2. With \
         datagrams that are not ECN-capable, that of the classic queue is {} and {}.",
        wait(DUALQ, "ect1", Queue::Scalable),
        wait(DUALPI2, "ect1", Queue::Scalable),
        wait(DUALQ, "not_ect", Queue::Classic),
        wait(DUALPI2, "not_ect", Queue::Classic),
    );
    section.text = vec![
        "One Cubic and one DCTCP flow, and datagrams at a constant rate whose sender ignores marks. \
         Datagrams that are ECN-capable go to the low latency queue, the others to the classic one. The \
         deck's DualQ serves the low latency queue first, and marks but never drops there. DualPI2 drops \
         from both queues once all packets are marked. The memory is 250 ms of the link for each queue."
            .to_owned(),
    ];
    let curve = |field: &'static str, variant: &'static str, look, of: &dyn Fn(_) -> Measured| {
        let point = |percent: &u32| {
            let value = of(case(at(field, *percent), variant)).value?;
            Some((f64::from(*percent), value))
        };
        Line {
            series: look,
            points: run.iter().filter_map(point).collect(),
            markers: true,
            tooltip: variant.to_owned(),
            ..Line::default()
        }
    };
    let chart = |field: &'static str, heading: &str, y: Axis, of: &dyn Fn(_) -> Measured| Lines {
        title: format!("{heading} by the rate of unresponsive datagrams"),
        heading: heading.to_owned(),
        x: Axis::linear("rate of datagrams, % of the link", "x").within(0.0, 150.0),
        y,
        lines: OVERLOADED
            .iter()
            .map(|(variant, _, look)| curve(field, variant, *look, of))
            .collect(),
        ..Lines::default()
    };
    let legend: Vec<(usize, String)> =
        OVERLOADED.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect();
    let wait_axis = || Axis::log("99th percentile of the delay", "ns").within(1e5, 4e8);
    let rate_axis = || Axis::linear("rate of payload", "Mb/s").within(0.0, 40.0);
    for (field, what, capable) in
        [("ect1", "capable", "ECN-capable"), ("not_ect", "incapable", "not ECN-capable")]
    {
        let waits = |queue| move |of| delay(evidence, of, queue, 0.99);
        let rates = |workload| move |of| rate(evidence, of, workload);
        section.exhibits.push(Exhibit::Lines {
            name: format!("overload-{what}"),
            caption: format!("Delays and rates with datagrams that are {capable}"),
            legend: legend.clone(),
            charts: vec![
                chart(field, "Delay, classic queue", wait_axis(), &waits(Queue::Classic)),
                chart(field, "Delay, low latency queue", wait_axis(), &waits(Queue::Scalable)),
                chart(field, "Rate of Cubic", rate_axis(), &rates(CLASSIC)),
                chart(field, "Rate of DCTCP", rate_axis(), &rates(SCALABLE)),
                chart(field, "Rate of the datagrams", rate_axis(), &rates(THIRD)),
            ],
            columns: 3,
            note: "Means over replications.".to_owned(),
        });
    }
    section
}

/// The queue management of interactive.toml, with looks.
const MANAGED: [(&str, &str, usize); 6] = [
    ("drop-tail", "drop-tail, 250 ms", 0),
    (RED, "RED", 5),
    ("codel", "CoDel", 3),
    (PIE, "PIE", 4),
    (DUALQ, "DualQ", 1),
    (DUALPI2, "DualPI2", 2),
];

/// Claim P5.
pub fn interactive(evidence: &Evidence) -> Section {
    let question = "Age of the frames of an interactive application";
    let mut section = evidence.section("interactive", question, &["P5"], &INTERACTIVE.map(over));
    if section.links.is_empty() {
        return section;
    }
    let age = |congestion, variant, p| {
        number(&frame_latency(evidence, case(over(congestion), variant), p))
    };
    section.answer = format!(
        "99 of 100 frames arrive within {} over DCTCP in the DualQ and {} over Prague under DualPI2; \
         over Cubic it takes {} in a drop-tail queue of 250 ms, and over DCTCP {} under RED.",
        age("dctcp", DUALQ, 0.99),
        age("prague", DUALPI2, 0.99),
        age("cubic", "drop-tail", 0.99),
        age("dctcp", RED, 0.99),
    );
    section.text = vec![
        "The application makes a frame every 20 ms at 0.8 of its window over the round trip, within 0.5 \
         to 10 Mb/s. It skips a frame while an earlier one waits to be sent. A Cubic and a DCTCP download \
         run beside it. The age of a frame is the time from when it is made to the arrival of its last \
         byte; 4 ms of it are the delay of the path."
            .to_owned(),
    ];
    let group = |congestion: &'static str| {
        let entry = |(variant, label, look): &(&'static str, &str, usize)| {
            let of = case(over(congestion), variant);
            Entry::new(*label, *look, frame_latency(evidence, of, 0.99))
        };
        let entries = MANAGED.iter().map(entry).filter(|entry| entry.measured.value.is_some());
        (format!("over {}", called(congestion)), entries.collect())
    };
    section.exhibits.push(rows(
        "frame-p99",
        "99th percentile of the age of frames at arrival",
        Axis::log("99th percentile of the age of frames at arrival, logarithmic", "ns"),
        Mark::Point,
        "",
        INTERACTIVE.map(group).to_vec(),
    ));
    let chart = |congestion: &'static str| {
        let line = |(variant, label, look): &(&'static str, &str, usize)| {
            let of = case(over(congestion), variant);
            let (from, to) = evidence.measurement(of.experiment).unwrap_or_default();
            let mut ages = Histogram::default();
            for (_, facts) in evidence.runs(of) {
                ages.add(&facts.frames.made(from, to).histogram());
            }
            tail_line(*look, label, &ages)
        };
        let lines: Vec<Line> = MANAGED.iter().map(line).collect();
        Lines {
            title: format!("Share of frames that are older, over {}", called(congestion)),
            x: Axis::log("age at arrival, logarithmic", "ns").within(3e6, 1e9),
            y: Axis::log("share of frames that are older", "share").within(1e-3, 1.0),
            ..tail_chart(&format!("over {}", called(congestion)), &[], lines)
        }
    };
    section.exhibits.push(Exhibit::Lines {
        name: "frames".to_owned(),
        caption: "Distribution of the age of frames at arrival".to_owned(),
        legend: MANAGED.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: INTERACTIVE.map(chart).to_vec(),
        columns: 3,
        note: "All replications.".to_owned(),
    });
    let mut numbers = Vec::new();
    for congestion in INTERACTIVE {
        for (variant, label, _) in MANAGED {
            let of = case(over(congestion), variant);
            let (made, mbps) = frames(evidence, of);
            numbers.push(vec![
                format!("{}, {label}", called(congestion)),
                age(congestion, variant, 0.5),
                age(congestion, variant, 0.99),
                number(&mbps),
                number(&made),
                number(&rate(evidence, of, CLASSIC)),
                number(&rate(evidence, of, SCALABLE)),
            ]);
        }
    }
    section.exhibits.push(table(
        "frame-numbers",
        "Frames, and the downloads beside them",
        "Means over replications. \"Made\" is the share of due frames that were made; \"rate\" is the rate of \
         these frames.",
        &[
            "",
            "age: p50",
            "p99",
            "rate",
            "made",
            "Cubic download",
            "DCTCP download",
        ],
        numbers,
    ));
    section
}

/// What a congestion control is called.
pub fn called(congestion: &str) -> &str {
    match congestion {
        "cubic" => "Cubic",
        "reno" => "Reno",
        "dctcp" => "DCTCP",
        "prague" => "Prague",
        "bbr" => "BBR",
        "bbr3" => "BBR v3",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_share_that_waits_longer() {
        let counts = Counts::of([(0, 50), (1_000_000, 40), (10_000_000, 10)]);
        let line = tail(0, "", &counts);
        let at = |ns: f64| line.points.iter().rev().find(|point| point.0 <= ns * 1.0001).unwrap().1;
        assert_eq!((at(1e4), at(9e5), at(1e6), at(9e6)), (0.5, 0.5, 0.1, 0.1));
        assert!(line.points.iter().all(|point| point.0 < 1e7));
    }
}
