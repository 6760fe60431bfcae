//! A made-up study with everything that one may have: long texts, values of all kinds and none,
//! all verdicts, every exhibit. The numbers mean nothing.

mod mixes;

use floodway_report::chart::{Axis, Group, Line, Lines, Mark, Row, Rows};
use floodway_report::study::{
    Claim, Comparison, Counted, Counts, Deciding, Exhibit, Part, Provenance, Readings, Section,
    Study, Verdict,
};

pub use mixes::{queue_sizes, ratios, shares};

const DECK: &str = "IETF 101, early results, slide 14";
const REVIEW: &str = "IEEE 802.1, January 2018, slide 9 and the discussion after it";

/// The study.
pub fn study() -> Study {
    Study {
        study: "ci".to_string(),
        title: "Congestion Isolation".to_string(),
        question: "What does Congestion Isolation do to flows that are not to blame for the \
                   congestion, and what does it cost those that are?"
            .to_string(),
        answer: texts(&[
            "Mice finish sooner: with Congestion Isolation their mean completion time changes by \
             -63 % [-70, -55] at 1152 servers, as was claimed.",
            "Elephants gain less than claimed: -6.1 % [-9.9, -2.1] where -27 % was shown.",
            "Pause frames become rarer, but do not vanish: 918 of 6195 remain with `ci`.",
        ]),
        level: "standard".to_string(),
        settings: texts(&["switch.queue.size=2MB", "replications=10"]),
        claims: claims(),
        checks: checks(),
        caveats: texts(&[
            "2 of 310 runs are missing: `two-queues` at 1152 servers, replications 8 and 9.",
            "`switch.queue.size=2MB` was set for all experiments; the sources have 1 MB.",
        ]),
        violations: Vec::new(),
        sections: sections(),
        provenance: Provenance {
            floodway: "0.3.0".to_string(),
            command: texts(&["floodway", "study", "ci", "--set", "switch.queue.size=2MB"]),
            started: "2026-03-14T09:26:53Z".to_string(),
            threads: 2,
            runs: 310,
            reused: 120,
            hops: 41_234_567_890,
            run_s: 9_120.0,
            fingerprint: "c67100e52a8a10b4".to_string(),
        },
        sample: Vec::new(),
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

type Figures = (Option<f64>, Option<f64>, Option<f64>, &'static str);

fn part(name: (&str, &str), what: (&str, &str), figures: Figures, verdict: Comparison) -> Part {
    let (measured, low, high, unit) = figures;
    let early = name.0.starts_with('A');
    Part {
        id: name.0.to_string(),
        part: name.1.to_string(),
        metric: what.0.to_string(),
        claimed: what.1.to_string(),
        source: if early { DECK } else { REVIEW }.to_string(),
        expected: format!(
            "The claimed value within a third of it, interval included, at {} servers.",
            if early { 128 } else { 1152 }
        ),
        measured,
        low,
        high,
        unit: unit.to_string(),
        verdict,
        remark: String::new(),
    }
}

fn parts() -> Vec<Part> {
    use Comparison::{CannotJudge, NotReproduced, Reproduced, SameDirection};
    let with = |value, low, high, unit| (Some(value), Some(low), Some(high), unit);
    let mean = "mean completion time of flows < 100 KB, `ci` against `without-ci`";
    let long = "99th percentile of the completion time of flows from 1 MB to 10 MB, Congestion \
                Isolation with Priority-based Flow Control against Priority-based Flow Control alone";
    let mut parts = vec![
        part(("A1", "mice"), (mean, "-63 %"), with(-61.4, -66.2, -55.1, "%"), Reproduced),
        part(
            ("A1", "elephants"),
            ("mean completion time of flows > 10 MB", "-27 %"),
            with(-6.1, -9.9, -2.1, "%"),
            SameDirection,
        ),
        part(
            ("A1", "all"),
            ("mean completion time of all flows", "-30 %"),
            with(-24.3, -25.0, -23.5, "%"),
            Reproduced,
        ),
        part(
            ("A2", ""),
            (
                "depth of the non-congesting queue, largest of all ports and replications",
                "never above XOFF",
            ),
            (Some(231.0), None, Some(260.0), "KB"),
            Reproduced,
        ),
        part(
            ("A3", ""),
            ("XOFF frames of leaf switches during arrivals, `ci` against `without-ci`", "fewer"),
            with(-85.2, -86.3, -84.0, "%"),
            Reproduced,
        ),
        part(("A4", "load 0.3"), (long, "about a half"), with(3.2, -14.0, 24.0, "%"), CannotJudge),
        part(("A4", "load 0.8"), (long, "about a half"), with(12.4, 9.0, 16.1, "%"), NotReproduced),
        part(
            ("A5", ""),
            (
                "packets dropped",
                "none, with PFC on and 750 KB of headroom at every port of every switch",
            ),
            (Some(0.0), None, None, ""),
            Reproduced,
        ),
        part(
            ("A6", ""),
            ("effect of CIM loss", "not stated"),
            (None, None, None, "%"),
            CannotJudge,
        ),
    ];
    parts[5].remark =
        "Ten replications leave the interval wider than the effect that was claimed; \
                        `--replications 40` would settle it."
            .to_string();
    parts[6].remark =
        "Longer, not shorter: the congesting queue is served last, and flows of this \
                        size spend most of their life in it."
            .to_string();
    parts[8].remark = "The source gives no number and no figure.".to_string();
    let units: [(&str, f64, f64); 6] = [
        ("us", 42.5, 1.0),
        ("x", 3.2, 0.4),
        ("KB", 512.0, 60.0),
        ("", 5_044.0, 778.0),
        ("Gb/s", 87.25, 2.0),
        ("% of samples", 0.42, 0.09),
    ];
    let servers = [128, 288, 512, 800, 1_152];
    for at in 0..26_usize {
        let verdict = [Reproduced, SameDirection, Reproduced, NotReproduced, CannotJudge][at % 5];
        let (unit, value, half) = units[at % 6];
        let id = format!("D{}", 1 + at / 2);
        let part = if at < 18 { format!("{} servers", servers[at % 5]) } else { String::new() };
        let id = if at < 18 { id } else { format!("D{}", at - 8) };
        let what = [
            "mean completion time of flows < 100 KB with local isolation",
            "slowdown of mice at the 99th percentile over the ideal",
            "depth of the congesting queue that 1 % of samples exceed",
            "congestion isolation messages in a run",
            "goodput of an elephant during incast",
            "time that a port is paused",
        ][at % 6];
        let value = value * (1.0 + at as f64 / 40.0);
        let claimed =
            ["42 µs", "below 3", "500 KB", "a few thousand", "line rate", "< 0.1 %"][at % 6];
        let figures = with(value, value - half, value + half, unit);
        let mut part = self::part((&id, &part), (what, claimed), figures, verdict);
        if verdict == NotReproduced {
            part.remark = "The interval excludes the claimed value by far.".to_string();
        }
        parts.push(part);
    }
    parts
}

/// The parts of each claim together, with all verdicts.
fn claims() -> Vec<Claim> {
    let parts = parts();
    let claims = parts.chunk_by(|a, b| a.id == b.id).enumerate();
    let claim = |(at, parts): (usize, &[Part])| {
        let counts = |holds, does_not, open| Counts { holds, does_not, cannot_be_judged: open };
        let (verdict, counts, condition) = match at % 4 {
            0 => (
                Verdict::HoldsIf,
                counts(15, 15, 2),
                "if ECN: at most 1 % marked, and load: 0.5 – in 14 of 15 readings with both choices; otherwise in \
                 1 of 15 readings (2 more cannot be judged)",
            ),
            1 => (Verdict::Holds, counts(1, 0, 0), ""),
            2 => (Verdict::DoesNotHold, counts(0, 32, 0), ""),
            _ => (Verdict::CannotBeJudged, counts(2, 0, 30), ""),
        };
        let deciding = Deciding {
            factor: "ECN".to_string(),
            choice: "at most 1 % marked".to_string(),
            source: "deck: \"Max Probability 1%\"".to_string(),
            with: Counts { holds: 14, does_not: 1, cannot_be_judged: 0 },
            without: Counts { holds: 1, does_not: 14, cannot_be_judged: 2 },
        };
        let all = counts.judged() > 0;
        Claim {
            id: parts[0].id.clone(),
            quotation: "Lossless environment with PFC – Reduction in Flow Completion Times 63% (Mice), \
                        23% (Elephants), 38% (Average)"
                .to_string(),
            source: parts[0].source.clone(),
            verdict,
            condition: condition.to_string(),
            result: "The mean completion time of mice falls by 61 % [55, 66], that of elephants by 6.1 % \
                     [2.1, 9.9]."
                .to_string(),
            readings: Readings {
                counts,
                share: all.then(|| counts.holds as f64 / counts.judged() as f64),
                deciding: if condition.is_empty() { Vec::new() } else { vec![deciding] },
                of: Counted::Readings,
            },
            parts: parts.to_vec(),
        }
    };
    claims.map(claim).collect()
}

fn checks() -> Vec<Part> {
    let exact = |value| (Some(value), None, None, "");
    let mut checks = vec![
        part(("S1", "hosts"), ("hosts", "1152"), exact(1152.0), Comparison::Reproduced),
        part(("S1", "switches"), ("switches", "72"), exact(71.0), Comparison::NotReproduced),
        part(("S2", ""), ("links of 100 Gb/s", "all"), exact(1.0), Comparison::Reproduced),
    ];
    for check in &mut checks {
        check.expected = "a check of the scenario, not a result".to_string();
    }
    checks
}

fn sections() -> Vec<Section> {
    let plain = |name: &str, question: &str, answer: &str, claims: &[&str], exhibits| Section {
        name: name.to_string(),
        question: question.to_string(),
        answer: answer.to_string(),
        text: texts(&[
            "A leaf-spine fabric with 100 Gb/s links carries the data-mining distribution at 80 % \
             load for 10 ms after a warm-up of 2 ms; ten replications have the same arrivals in \
             both variants. Thresholds are those of the source: 10 KB to 300 KB for isolation, \
             XOFF at 750 KB, XON at 4 KB.",
        ]),
        exhibits,
        claims: texts(claims),
        commands: vec![format!("floodway run scenarios/ci/{name}.toml --replications 10")],
        links: vec![(name.to_string(), format!("{name}/report.html"))],
    };
    let mut sections = vec![
        plain(
            "two-queues",
            "Do flows finish sooner?",
            "Mice do: -61.4 % [-66.2, -55.1]; elephants gain little, -6.1 % [-9.9, -2.1]",
            &["A1", "A4", "D3"],
            vec![sizes(), table()],
        ),
        plain(
            "scale",
            "Does the gain last as the network grows?",
            "Yes: from 128 to 1152 servers the gain of mice stays between -58 % and -66 %",
            &["D1", "D2", "D3", "D4", "D5"],
            vec![scale()],
        ),
        plain(
            "depths",
            "How deep are the queues?",
            "The non-congesting queue stays below XOFF in every run; its deepest backlog was 231 KB",
            &["A2", "D6"],
            vec![depths(2), depths(3)],
        ),
        plain(
            "pauses",
            "How many pauses remain, and where do they begin?",
            "15 % of them, and nearly all begin at the receivers' leaf switches",
            &["A3"],
            vec![pauses(), depths(1)],
        ),
        plain(
            "losses",
            "Is anything lost?",
            "No packet was dropped in any run with PFC; without it, -3 to 12 packets a run more",
            &["A5", "A6"],
            Vec::new(),
        ),
        plain(
            "incast",
            "What happens to a victim flow during an incast of 120 senders to one receiver that \
             shares its leaf switch with the victim?",
            "",
            &["D7", "D8", "D9", "unknown"],
            vec![table()],
        ),
        plain(
            "signalling",
            "Are the messages worth it?",
            "Local isolation alone gives two thirds of the gain",
            &["D10", "D11"],
            vec![sizes()],
        ),
    ];
    let mut mixes = plain(
        "mixes",
        "How do different kinds of flows share a link?",
        "Each has its share, however many there are of either",
        &["D12", "D13"],
        vec![shares(6, 7), queue_sizes(6, 7), ratios(6, 7), mixes::delays(6, 7), mixes::laws()],
    );
    let mix = |at: usize| format!("mix-{}-{}", at / 7, at % 7);
    mixes.links = (1..42).map(|at| (mix(at), format!("{}/report.html", mix(at)))).collect();
    sections.push(mixes);
    sections.push(Section {
        name: "sensitivity".to_string(),
        question: "Which setting decides?".to_string(),
        answer: "None of the five that were varied changes a verdict".to_string(),
        ..Section::default()
    });
    sections
}

fn sizes() -> Exhibit {
    let classes = ["<100 KB", "100 KB–1 MB", "1 MB–10 MB", ">10 MB", "all flows"];
    let groups = classes.iter().enumerate().map(|(class, label)| {
        let row = |series: usize, name: &str, value: f64, half: f64, claimed| Row {
            label: name.to_string(),
            series,
            value: Some(value),
            interval: Some((value - half, value + half)),
            claimed,
            figures: format!("{value:+.0} %"),
            range: format!("[{:+.0}, {:+.0}]", value - half, value + half),
            tooltip: format!("{name}, {label}: {value:+.0} %"),
        };
        let gain = -61.0 + class as f64 * 16.0;
        let missing = Row {
            label: "ci without PFC".to_string(),
            series: 3,
            figures: "–".to_string(),
            ..Row::default()
        };
        Group {
            label: label.to_string(),
            rows: vec![
                row(1, "ci-local", gain * 0.6, 4.0, None),
                row(
                    2,
                    "ci",
                    gain,
                    5.5,
                    [Some(-63.0), None, Some(-29.0), Some(-27.0), Some(-30.0)][class],
                ),
                missing,
            ],
        }
    });
    Exhibit::Rows {
        name: "sizes".to_string(),
        caption: "By how much does the mean completion time change from without-ci, by flow size?"
            .to_string(),
        chart: Rows {
            title: "Change of the mean completion time by flow size".to_string(),
            axis: Axis::linear("change; left of 0 is sooner", "%"),
            mark: Mark::Point,
            groups: groups.collect(),
        },
        note: "Whiskers are 95 % intervals over 10 replications, -63 % is the slide's value."
            .to_string(),
    }
}

fn pauses() -> Exhibit {
    let row = |series: usize, label: &str, value: f64, claimed| Row {
        label: label.to_string(),
        series,
        value: Some(value),
        interval: Some((value * 0.9, value * 1.1)),
        claimed,
        figures: format!("{value:.0}"),
        range: "± 10".to_string(),
        ..Row::default()
    };
    let group = |label: &str, most: f64| Group {
        label: label.to_string(),
        rows: vec![
            row(0, "without-ci", most, None),
            row(1, "ci-local", most * 0.4, None),
            row(2, "ci", most * 0.15, Some(0.0)),
        ],
    };
    Exhibit::Rows {
        name: "tiers".to_string(),
        caption: "How many pause frames are sent, and by whom?".to_string(),
        chart: Rows {
            title: "Pause frames by tier".to_string(),
            axis: Axis::linear("frames", ""),
            mark: Mark::Bar,
            groups: vec![group("leaf switches", 5_200.0), group("spine switches", 995.0)],
        },
        note: String::new(),
    }
}

fn scale() -> Exhibit {
    let servers = [128.0, 288.0, 512.0, 800.0, 1_152.0];
    let line = |series: usize, scale: f64, first: f64, slope: f64| {
        let value = |at: usize| (first + slope * at as f64) * scale;
        let half = |at: usize| 0.04 * (at + 1) as f64 * first.abs() * scale;
        Line {
            series,
            points: servers.iter().enumerate().map(|(at, x)| (*x, value(at))).collect(),
            markers: true,
            intervals: servers
                .iter()
                .enumerate()
                .map(|(at, x)| (*x, value(at) - half(at), value(at) + half(at)))
                .collect(),
            tooltip: format!("series {series}"),
            ..Line::default()
        }
    };
    let servers = servers.to_vec();
    let charts = vec![
        Lines {
            title: "Mean completion time of mice by the number of servers".to_string(),
            heading: "mice (<100 KB)".to_string(),
            x: Axis::linear("servers", "").labeled(servers.clone()),
            y: Axis::linear("mean completion time", "ns"),
            lines: vec![line(0, 1e3, 72.0, 4.0), line(1, 1e3, 42.0, 2.0), line(2, 1e3, 27.0, 1.0)],
            ..Lines::default()
        },
        Lines {
            title: "Change of the mean completion time of elephants".to_string(),
            heading: "elephants (>10 MB)".to_string(),
            x: Axis::linear("servers", "").labeled(servers),
            y: Axis::linear("change from without-ci", "%"),
            lines: vec![line(1, 1.0, -12.0, 4.0), line(2, 1.0, -20.0, 3.0)],
            ..Lines::default()
        },
    ];
    Exhibit::Lines {
        name: "servers".to_string(),
        caption: "How does the completion time change with the number of servers?".to_string(),
        legend: legend(),
        charts,
        columns: 2,
        note: "Intervals of variants at the same size stand beside each other.".to_string(),
    }
}

fn legend() -> Vec<(usize, String)> {
    vec![(0, "without-ci".to_string()), (1, "ci-local".to_string()), (2, "ci".to_string())]
}

fn depths(columns: usize) -> Exhibit {
    let chart = |queue: usize| {
        let line = |series: usize, scale: f64| Line {
            series,
            points: (0..60)
                .map(|at| {
                    let depth = 100.0 * 10_f64.powf(at as f64 / 15.0) * scale;
                    (depth, 0.4 * (-depth / (scale * 90_000.0)).exp().max(1e-6))
                })
                .collect(),
            tooltip: format!("series {series}"),
            ..Line::default()
        };
        Lines {
            title: format!("Share of samples in which queue {queue} is deeper than a backlog"),
            heading: ["non-congesting queue", "congesting queue", "control queue"][queue]
                .to_string(),
            x: if queue == 1 {
                Axis::linear("backlog", "bytes")
            } else {
                Axis::log("backlog, logarithmic", "bytes").within(100.0, 1.2e6)
            },
            y: Axis::log("samples above it", "share").within(1e-6, 1.0),
            lines: vec![line(0, 1.0), line(1, 0.6), line(2, 0.3)],
            marks: vec![
                (750_000.0, "XOFF 750 KB".to_string()),
                (10_000.0, "10 KB".to_string()),
                (300_000.0, "300 KB".to_string()),
            ],
            ..Lines::default()
        }
    };
    Exhibit::Lines {
        name: format!("share-{columns}"),
        caption:
            "How often is a queue deeper than a backlog? Below the threshold of 10 KB nothing is \
                  isolated, above 300 KB everything, and at XOFF the neighbor is paused."
                .to_string(),
        legend: legend(),
        charts: (0..columns).map(chart).collect(),
        columns,
        note: "Samples of all ports of leaf switches.".to_string(),
    }
}

fn table() -> Exhibit {
    Exhibit::Table {
        name: "percentiles".to_string(),
        caption: "Completion times of mice".to_string(),
        head: texts(&["variant", "mean", "p99", "change of the p99", "remark"]),
        rows: [
            ["without-ci", "72.3 µs", "1.05 ms", "", "the baseline"],
            [
                "ci-local",
                "42.2 µs",
                "498 µs",
                "-53 % [-58, -47]",
                "`ci` without messages | local only",
            ],
            ["ci", "22.1 µs", "–", "-69.4 % [-69.7, -69.1]", "as in the source"],
        ]
        .iter()
        .map(|row| texts(row))
        .collect(),
        note: "Means over replications of the value in each.".to_string(),
    }
}
