//! The curves as a page with charts: the Markdown and the look of a study's text.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::study::{Exhibit, Provenance, Section, Study};
use floodway_report::words::{bytes, count, digits, large, time};

use floodway_machine::neighbor::WALKED;

use super::curves::{Curve, Curves, Point};
use super::measure::spoken;

/// The page.
pub fn page(curves: &Curves) -> Study {
    let mut caveats = Vec::new();
    if curves.quick {
        caveats.push("Runs were shortened: this shows that all works, not how fast.".to_owned());
    }
    for (runs, beside) in
        [("these runs", false), ("those with a neighbor, while it walked through memory", true)]
    {
        let points = curves.points.iter();
        let points = points.filter(|one| (one.curve == Curve::HostsBesideNeighbor) == beside);
        let calibrations: Vec<_> = points.flat_map(|point| &point.calibrations).collect();
        caveats.extend(spoken(runs, &calibrations));
    }
    let machine = match &curves.processor {
        Some(processor) => format!("{processor}, {} threads at a time", curves.cores),
        None => format!("{} threads at a time", curves.cores),
    };
    Study {
        study: "curves".to_owned(),
        title: "How the cost of a packet-hop grows".to_owned(),
        question: format!(
            "What does a packet-hop, one frame over one link, cost when networks, load, flows and \
             threads grow? Measured on {machine}: of {} rounds the shortest time of each point, \
             set-up and reports not counted; the numbers are in `curves.json`.",
            curves.rounds
        ),
        answer: answer(curves),
        level: String::new(),
        settings: Vec::new(),
        claims: Vec::new(),
        checks: Vec::new(),
        caveats,
        violations: Vec::new(),
        sections: sections(curves),
        provenance: Provenance {
            floodway: curves.floodway.to_owned(),
            command: curves.command.split(' ').map(str::to_owned).collect(),
            started: curves.started.clone(),
            threads: 1,
            runs: curves.points.iter().map(|point| point.rounds_ns_per_hop.len()).sum(),
            hops: curves.points.iter().map(Point::all_hops).sum(),
            run_s: curves.points.iter().map(Point::all_seconds).sum(),
            ..Provenance::default()
        },
        sample: Vec::new(),
    }
}

impl Point {
    fn all_hops(&self) -> u64 {
        self.hops * self.rounds_ns_per_hop.len() as u64
    }

    fn all_seconds(&self) -> f64 {
        self.rounds_ns_per_hop.iter().sum::<f64>() * self.hops as f64 / 1e9
    }

    /// How much longer the longest round took than the shortest.
    fn spread(&self) -> f64 {
        self.rounds_ns_per_hop.iter().copied().fold(0.0, f64::max) / self.ns_per_hop - 1.0
    }
}

fn of(curves: &Curves, curve: Curve) -> Vec<&Point> {
    curves.points.iter().filter(|point| point.curve == curve).collect()
}

/// What a curve comes to between its ends, a sentence each.
fn answer(curves: &Curves) -> Vec<String> {
    let mut answer = Vec::new();
    let mut grows = |curve, what: &dyn Fn(f64) -> String| {
        let points = of(curves, curve);
        if let [first, .., last] = points.as_slice() {
            answer.push(format!(
                "From {} to {}, the cost of a packet-hop goes from {} to {}: times {}.",
                what(first.at),
                what(last.at),
                time(first.ns_per_hop),
                time(last.ns_per_hop),
                digits(last.ns_per_hop / first.ns_per_hop)
            ));
        }
    };
    grows(Curve::Hosts, &|hosts| format!("{} hosts", count(hosts)));
    grows(Curve::Load, &|load| format!("a load of {load}"));
    grows(Curve::Flows, &|flows| match flows {
        1.0 => "one open flow a host".to_owned(),
        _ => count(flows),
    });
    let both = [Curve::Hosts, Curve::HostsBesideNeighbor].map(|curve| of(curves, curve));
    if let [[first, .., last], [small, .., large]] = both.each_ref().map(Vec::as_slice) {
        answer.push(format!(
            "Beside a neighbor that walks through memory, a packet-hop takes {} times as long with {} \
             hosts, and {} times with {}.",
            digits(small.ns_per_hop / first.ns_per_hop),
            count(small.at),
            digits(large.ns_per_hop / last.ns_per_hop),
            count(large.at)
        ));
    }
    for (curve, hosts) in [(Curve::ThreadsSmall, "128"), (Curve::ThreadsLarge, "1,152")] {
        if let [first, .., last] = of(curves, curve).as_slice() {
            answer.push(format!(
                "With {hosts} hosts, {} threads are {} times as fast as one.",
                last.threads,
                digits(first.ns_per_hop / last.ns_per_hop)
            ));
        }
    }
    answer
}

fn sections(curves: &Curves) -> Vec<Section> {
    let mut sections = vec![
        grown(
            &of(curves, Curve::Hosts),
            "hosts",
            "Does the cost of a packet-hop grow with the network?",
            "The network of the decks on Congestion Isolation with N leaves, N/2 spines and N/2 \
             hosts at each leaf, PFC, DCQCN and Congestion Isolation on, an acknowledgement per \
             packet, half of every host's link in use, one thread, from an empty network on and for \
             the same time in all sizes.",
            Axis::log("hosts, logarithmic", ""),
        ),
        grown(
            &of(curves, Curve::Load),
            "load",
            "Does it grow with the load?",
            "The same with 128 hosts; `load` is the offered load of the \
             clusters on every host's link.",
            Axis::linear("load", "share"),
        ),
        grown(
            &of(curves, Curve::Flows),
            "flows",
            "Does it grow with the flows that are open?",
            "128 hosts, each with so many flows of DCQCN to one other host that never end.",
            Axis::log("open flows per host, logarithmic", ""),
        ),
        threads(curves),
    ];
    sections
        .insert(1, neighbor(&of(curves, Curve::Hosts), &of(curves, Curve::HostsBesideNeighbor)));
    sections.insert(2, set_up(&of(curves, Curve::SetUp)));
    sections.retain(|section| !section.exhibits.is_empty());
    sections
}

/// A section about one curve of costs.
fn grown(points: &[&Point], name: &str, question: &str, text: &str, x: Axis) -> Section {
    let mut section = Section {
        name: name.to_owned(),
        question: question.to_owned(),
        text: vec![text.to_owned()],
        ..Section::default()
    };
    let Some((first, last)) = points.first().zip(points.last()) else { return section };
    let line = costs(1, name, points);
    let chart = Lines {
        title: format!("Nanoseconds for a packet-hop by {name}"),
        x: x.within(first.at, last.at).labeled(points.iter().map(|point| point.at)),
        y: Axis::linear("time for a packet-hop", "ns"),
        lines: vec![line],
        ..Lines::default()
    };
    section.exhibits = vec![
        Exhibit::Lines {
            name: "cost".to_owned(),
            caption: question.to_owned(),
            legend: Vec::new(),
            charts: vec![chart],
            columns: 1,
            note: String::new(),
        },
        table(name, points, |point| match name {
            "load" => point.at.to_string(),
            _ => count(point.at),
        }),
    ];
    section.commands = points.iter().map(|point| point.command.clone()).collect();
    section
}

/// The curve of hosts with and without a neighbor; nothing on a machine with one core.
fn neighbor(alone: &[&Point], beside: &[&Point]) -> Section {
    let question = "How much more does a packet-hop cost beside a noisy neighbor?";
    let mut section = Section {
        name: "neighbor".to_owned(),
        question: question.to_owned(),
        text: vec![format!(
            "The same runs, each once more beside a process that walks through {} MiB of memory and \
             changes every cache line, as a neighbor on a shared host may. It has a core of its own, and \
             takes bandwidth of the memory and of caches that cores share.",
            WALKED >> 20
        )],
        ..Section::default()
    };
    let Some((first, last)) = beside.first().zip(beside.last()) else { return section };
    let (alone_label, beside_label) = ("alone", "beside a neighbor");
    let chart = Lines {
        title: "Nanoseconds for a packet-hop by hosts and neighbor".to_owned(),
        x: Axis::log("hosts, logarithmic", "")
            .within(first.at, last.at)
            .labeled(beside.iter().map(|point| point.at)),
        y: Axis::linear("time for a packet-hop", "ns"),
        lines: vec![costs(0, alone_label, alone), costs(1, beside_label, beside)],
        ..Lines::default()
    };
    let row = |(alone, beside): (&&Point, &&Point)| {
        vec![
            count(beside.at),
            time(alone.ns_per_hop),
            time(beside.ns_per_hop),
            digits(beside.ns_per_hop / alone.ns_per_hop),
            format!("+{:.1} %", beside.spread() * 100.0),
        ]
    };
    section.exhibits = vec![
        Exhibit::Lines {
            name: "cost".to_owned(),
            caption: question.to_owned(),
            legend: vec![(0, alone_label.into()), (1, beside_label.into())],
            charts: vec![chart],
            columns: 1,
            note: String::new(),
        },
        Exhibit::Table {
            name: "points".to_owned(),
            caption: "The points".to_owned(),
            head: ["hosts", alone_label, beside_label, "times", "spread beside a neighbor"]
                .map(str::to_owned)
                .to_vec(),
            rows: alone.iter().zip(beside).map(row).collect(),
            note: String::new(),
        },
    ];
    section.commands = beside.iter().map(|point| point.command.clone()).collect();
    section
}

fn costs(series: usize, label: &str, points: &[&Point]) -> Line {
    Line {
        series,
        points: points.iter().map(|point| (point.at, point.ns_per_hop)).collect(),
        markers: true,
        tooltip: label.to_owned(),
        ..Line::default()
    }
}

fn table(first: &str, points: &[&Point], at: impl Fn(&Point) -> String) -> Exhibit {
    let head = ["time for a packet-hop", "spread", "packet-hops of a run", "set-up", "memory"];
    let row = |point: &&Point| {
        vec![
            at(point),
            time(point.ns_per_hop),
            format!("+{:.1} %", point.spread() * 100.0),
            large(point.hops as f64),
            time(point.setup_s * 1e9),
            point.peak_rss_bytes.map_or("–".to_owned(), |peak| bytes(peak as f64)),
        ]
    };
    Exhibit::Table {
        name: "points".to_owned(),
        caption: "The points".to_owned(),
        head: std::iter::once(first).chain(head).map(str::to_owned).collect(),
        rows: points.iter().map(row).collect(),
        note:
            "The spread is how much longer the longest of the runs took than the shortest. Memory \
               is the most that the process held."
                .to_owned(),
    }
}

fn set_up(points: &[&Point]) -> Section {
    let question = "How long does it take to build a network, and how much memory?";
    let mut section = Section {
        name: "set-up".to_owned(),
        question: question.to_owned(),
        text: vec![
            "From the text of the scenario to a network that is ready to run, and the most memory \
             that the process held while it built and ran 2 µs."
                .to_owned(),
        ],
        ..Section::default()
    };
    let Some((first, last)) = points.first().zip(points.last()) else { return section };
    let x = Axis::log("hosts, logarithmic", "").within(first.at, last.at);
    let x = x.labeled(points.iter().map(|point| point.at));
    let chart = |title: &str, label, unit, value: &dyn Fn(&Point) -> Option<f64>| Lines {
        title: title.to_owned(),
        heading: title.to_owned(),
        x: x.clone(),
        y: Axis::log(label, unit),
        lines: vec![Line {
            series: 1,
            points: points.iter().filter_map(|p| Some((p.at, value(p)?))).collect(),
            markers: true,
            tooltip: title.to_owned(),
            ..Line::default()
        }],
        ..Lines::default()
    };
    let seconds = |point: &Point| Some(point.setup_s * 1e9);
    let memory = |point: &Point| point.peak_rss_bytes.map(|peak| peak as f64);
    let row = |point: &&Point| {
        let peak = memory(point);
        vec![
            count(point.at),
            time(point.setup_s * 1e9),
            time(point.setup_s * 1e9 / point.at),
            peak.map_or("–".to_owned(), bytes),
            peak.map_or("–".to_owned(), |peak| bytes(peak / point.at)),
        ]
    };
    let head = ["hosts", "set-up", "per host", "memory", "per host"];
    section.exhibits = vec![
        Exhibit::Lines {
            name: "time-and-memory".to_owned(),
            caption: question.to_owned(),
            legend: Vec::new(),
            charts: vec![
                chart("Time", "time, logarithmic", "ns", &seconds),
                chart("Memory", "memory, logarithmic", "bytes", &memory),
            ],
            columns: 2,
            note: String::new(),
        },
        Exhibit::Table {
            name: "points".to_owned(),
            caption: "The points".to_owned(),
            head: head.map(str::to_owned).to_vec(),
            rows: points.iter().map(row).collect(),
            note: String::new(),
        },
    ];
    section.commands = points.iter().map(|point| point.command.clone()).collect();
    section
}

fn threads(curves: &Curves) -> Section {
    let question = "How much do further threads help?";
    let curves = [(Curve::ThreadsSmall, "128 hosts"), (Curve::ThreadsLarge, "1,152 hosts")]
        .map(|(curve, label)| (of(curves, curve), label));
    let mut section = Section {
        name: "threads".to_owned(),
        question: question.to_owned(),
        text: vec![
            "The same traffic on several threads, up to as many as the machine runs at a \
                    time. Time goes by the clock on the wall."
                .to_owned(),
        ],
        ..Section::default()
    };
    let all: Vec<&Point> = curves.iter().flat_map(|(points, _)| points.iter().copied()).collect();
    let most = all.iter().map(|point| point.at).fold(1.0, f64::max);
    if all.is_empty() {
        return section;
    }
    let ticks = curves[0].0.iter().map(|point| point.at);
    let lines = curves.iter().enumerate();
    let chart = Lines {
        title: "Nanoseconds for a packet-hop by threads".to_owned(),
        x: Axis::linear("threads", "").within(1.0, most.max(2.0)).labeled(ticks),
        y: Axis::linear("time for a packet-hop", "ns"),
        lines: lines.map(|(series, (points, label))| costs(series, label, points)).collect(),
        ..Lines::default()
    };
    let legend = curves.iter().enumerate().map(|(series, (_, label))| (series, (*label).into()));
    let row = |label: &str, points: &[&Point]| -> Vec<Vec<String>> {
        let one = points[0].ns_per_hop;
        let row = |point: &&Point| {
            vec![
                label.to_owned(),
                point.threads.to_string(),
                time(point.ns_per_hop),
                digits(one / point.ns_per_hop),
            ]
        };
        points.iter().map(row).collect()
    };
    section.exhibits = vec![
        Exhibit::Lines {
            name: "cost".to_owned(),
            caption: question.to_owned(),
            legend: legend.collect(),
            charts: vec![chart],
            columns: 1,
            note: String::new(),
        },
        Exhibit::Table {
            name: "points".to_owned(),
            caption: "The points".to_owned(),
            head: ["network", "threads", "time for a packet-hop", "times as fast as one"]
                .map(str::to_owned)
                .to_vec(),
            rows: curves.iter().flat_map(|(points, label)| row(label, points)).collect(),
            note: String::new(),
        },
    ];
    section.commands = all.iter().map(|point| point.command.clone()).collect();
    section
}
