//! TCP beside UDP, and smaller queues in larger networks.

use floodway_report::chart::{Axis, Lines, Mark};
use floodway_report::study::{Exhibit, Section};

use crate::ci::claims::pauses;
use crate::ci::goals::claims::{arrived, lost, quartered};
use crate::ci::goals::{MIXES, NETWORKS, Network, QUARTER, QUEUES, queues};
use crate::ci::{ALL, CI, ELEPHANTS, MICE, WITHOUT, case};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Entry, line, moves, number, rows, table_of_cases};
use crate::flows::FlowGroup;

/// Claims N1.
pub fn transports(evidence: &Evidence) -> Section {
    let run: Vec<_> = MIXES.iter().filter(|of| evidence.has(case(of.0, CI))).collect();
    let names: Vec<&'static str> = run.iter().map(|of| of.0).collect();
    let question = "TCP and UDP flows";
    let mut section = evidence.section("tcp-udp", question, &["N1a", "N1b", "N1c", "N1d"], &names);
    if run.is_empty() {
        return section;
    }
    let change = |name, group| evidence.fct_change(case(name, WITHOUT), case(name, CI), group);
    let sentence = |(name, label, _): &&(&'static str, &str, _)| {
        let [mice, all] = [MICE, ALL].map(|group| moves(&change(name, group)));
        format!("that of mice {mice} and that of all TCP flows {all} ({label})")
    };
    section.answer = format!(
        "With isolation, the mean completion time changes as follows: {}.",
        run.iter().map(sentence).collect::<Vec<_>>().join("; ")
    );
    section.text = vec![
        "The flows of the data-mining distribution are TCP connections. The congestion is caused by \
         traffic that does not respond to it: 20 UDP flows of 10 Gb/s go to one host, twice what its \
         link carries. Every host also sends one UDP flow of 1 Gb/s to another host drawn at random; \
         these flows do not cause congestion. Cubic has no ECN, and queues drop when they are full. \
         DCTCP has a step at 100 KB in all queues, with isolation and without it, so isolation changes \
         queues and marks nothing."
            .to_owned(),
        "With RoCEv2 and ECN, isolation marks the packets of the flows that it isolates, and these marks \
         are much of the gain (see the first section). Here the flows that cause congestion ignore \
         marks, so the change is the effect of the second queue alone."
            .to_owned(),
    ];
    let of = |(label, group): (&str, FlowGroup)| {
        let entry = |(at, (name, mix, _)): (usize, &&(&'static str, &'static str, _))| {
            Entry::new(*mix, at, change(name, group))
        };
        let entries = run.iter().enumerate().map(entry);
        (label.to_owned(), entries.filter(|of| of.measured.value.is_some()).collect())
    };
    section.exhibits.push(rows(
        "tcp-udp",
        "Change of the mean completion time of TCP flows with isolation",
        Axis::linear("change of the mean completion time; left of 0 is sooner", "%"),
        Mark::Point,
        "",
        [("<100 KB", MICE), (">10 MB", ELEPHANTS), ("all flows", ALL)].map(of).to_vec(),
    ));
    let cases = run.iter().flat_map(|(name, label, _)| {
        [WITHOUT, CI].map(|variant| (format!("{label}, {variant}"), case(name, variant)))
    });
    section.exhibits.push(table_of_cases(
        "tcp-udp",
        "TCP and UDP with isolation and without",
        "Means per run. Datagrams are those of the flows of 1 Gb/s. Drops are those of whole runs and mostly \
         of the UDP flows that cause congestion. Flows that had not finished count with the time that they \
         had taken until the end of the run.",
        &cases.collect::<Vec<_>>(),
        &[
            ("mice", &evidence.fct_cell(MICE)),
            (">10 MB", &evidence.fct_cell(ELEPHANTS)),
            ("all flows", &evidence.fct_cell(ALL)),
            ("datagrams arrived", &evidence.cell(arrived)),
            ("dropped", &evidence.cell(lost)),
            ("all drops", &evidence.cell(Facts::all_drops)),
            ("retransmitted", &evidence.cell(|facts| facts.number("retransmitted_packets"))),
            ("pause frames", &evidence.cell(pauses)),
            ("isolations", &evidence.cell(|facts| facts.number("isolations"))),
            ("unfinished", &|case| evidence.unfinished_cell(case)),
        ],
    ));
    section
}

/// Claims N2.
pub fn buffers(evidence: &Evidence) -> Section {
    let has = |of: &&Network| evidence.has(case(queues(QUARTER, of.name), CI));
    let run: Vec<&Network> = NETWORKS.iter().filter(has).collect();
    let experiments = run.iter().flat_map(|of| of.queues.iter().map(|size| queues(*size, of.name)));
    let names: Vec<&'static str> = experiments.collect();
    let question = "Isolation with smaller buffers";
    let mut section = evidence.section("buffers", question, &["N2a", "N2b", "N2c", "N2d"], &names);
    if run.is_empty() {
        return section;
    }
    let quarter = |of: &Network, group| {
        let (from, to) = quartered(of.name, CI);
        evidence.fct_change(from, to, group)
    };
    let sentence = |of: &&Network| {
        let [mice, all] = [MICE, ALL].map(|group| moves(&quarter(of, group)));
        format!("that of mice {mice} and that of all flows {all} ({})", of.label)
    };
    section.answer = format!(
        "With isolation and queues of {QUARTER} KB, compared with queues of {} KB without isolation, the \
         mean completion time changes as follows: {}.",
        QUEUES[0],
        run.iter().map(sentence).collect::<Vec<_>>().join("; ")
    );
    section.text = vec![
        "Queues are smaller than the decks' 1 MB, and every threshold in proportion: XOFF is always at \
         three quarters of a queue, and isolation begins at a hundredth. In the smallest queues, the \
         headroom above XOFF is too small if all neighbors send at once, so frames may be lost in spite \
         of PFC; drops are counted. The claims compare a quarter of the buffer with isolation to the whole \
         buffer without it, in networks of several sizes."
            .to_owned(),
        "Isolation marks every packet of an isolated flow, ECN at most one in a hundred, and marks alone \
         shorten queues. With \"ECN as a step\", everything above three tenths of a queue is marked \
         without isolation too, so what remains is the effect of the second queue."
            .to_owned(),
    ];
    let by_size = |of: &Network, series, variant: &'static str, group| {
        let at = |size: &u32| {
            (f64::from(*size), evidence.fct(case(queues(*size, of.name), variant), group))
        };
        let points: Vec<_> = of.queues.iter().rev().map(at).collect();
        line(series, format!("{variant}, {}", of.label), &points)
    };
    let chart = |of: &Network, (label, group): (&str, FlowGroup)| Lines {
        title: format!("Mean completion time of {label} by the size of a queue, {}", of.label),
        heading: format!("{label}, {}", of.label),
        x: Axis::log("queue, logarithmic", "KB").labelled(QUEUES.map(f64::from)),
        y: Axis::log("mean completion time", "ns"),
        lines: vec![by_size(of, 0, WITHOUT, group), by_size(of, 2, CI, group)],
        ..Lines::default()
    };
    let shown = run.iter().filter(|of| of.queues.len() == QUEUES.len());
    let groups = [("mice", MICE), (">10 MB", ELEPHANTS), ("all flows", ALL)];
    section.exhibits.push(Exhibit::Lines {
        name: "buffers".to_owned(),
        caption: "Mean completion time by the size of a queue".to_owned(),
        legend: vec![(0, WITHOUT.to_owned()), (2, CI.to_owned())],
        charts: shown.flat_map(|of| groups.map(|group| chart(of, group))).collect(),
        columns: 3,
        note: "Means with 95 % intervals; one that reaches zero is not drawn.".to_owned(),
    });
    let cases = run.iter().flat_map(|of| {
        let sizes = of.queues.iter().filter(|size| evidence.has(case(queues(**size, of.name), CI)));
        sizes.flat_map(|size| {
            [WITHOUT, CI].map(|variant| {
                let label = format!("{}, {size} KB, {variant}", of.label);
                (label, case(queues(*size, of.name), variant))
            })
        })
    });
    section.exhibits.push(table_of_cases(
        "buffers",
        "Completion times, pauses and losses by the size of a queue",
        "Means over replications. The loss rate is that of the measurement; drops are those of whole runs. \
         Flows that had not finished count with the time that they had taken until the end of the run.",
        &cases.collect::<Vec<_>>(),
        &[
            ("mice", &evidence.fct_cell(MICE)),
            (">10 MB", &evidence.fct_cell(ELEPHANTS)),
            ("all flows", &evidence.fct_cell(ALL)),
            ("pause frames", &evidence.cell(pauses)),
            ("loss rate", &|of| number(&evidence.share(of, "% of packets", Facts::loss_rate))),
            ("drops", &evidence.cell(Facts::all_drops)),
            ("unfinished", &|case| evidence.unfinished_cell(case)),
        ],
    ));
    section
}
