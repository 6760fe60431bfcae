//! Slides 16 to 19: the window of one flow at a given probability.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::study::{Exhibit, Section};

use super::times;
use crate::curves::power_law;
use crate::dualq::laws::{coupling, exponent, factor, of, points, rtt_exponent};
use crate::dualq::measures::rate;
use crate::dualq::plan::{LAWS, LOSSES, RATE_BASED, law, losses};
use crate::dualq::{CLASSIC, case};
use crate::evidence::Evidence;
use crate::exhibit::table;
use crate::measure::Measured;

/// What the deck or a standard says of a variant: its look, what it is, the constant, and the
/// exponents of p and of the round-trip time in the window.
struct Theory {
    variant: &'static str,
    label: &'static str,
    look: usize,
    constant: f64,
    of_p: f64,
    of_rtt: f64,
    formula: &'static str,
}

const THEORIES: [Theory; 5] = [
    Theory {
        variant: "reno",
        label: "Reno",
        look: 0,
        constant: 1.22,
        of_p: -0.5,
        of_rtt: 0.0,
        formula: "1.22/(RTT p^1/2)",
    },
    Theory {
        variant: "cubic",
        label: "Cubic, beta 0.7",
        look: 2,
        constant: 1.054,
        of_p: -0.75,
        of_rtt: 0.75,
        formula: "1.054/(RTT^1/4 p^3/4)",
    },
    Theory {
        variant: "cubic-deck",
        label: "Cubic, beta 0.8",
        look: 4,
        constant: 1.174,
        of_p: -0.75,
        of_rtt: 0.75,
        formula: "1.17/(RTT^1/4 p^3/4)",
    },
    Theory {
        variant: "dctcp",
        label: "DCTCP",
        look: 1,
        constant: 2.0,
        of_p: -1.0,
        of_rtt: 0.0,
        formula: "2/(RTT p)",
    },
    Theory {
        variant: "prague",
        label: "Prague",
        look: 3,
        constant: 2.73 / 0.025,
        of_p: -1.0,
        of_rtt: 1.0,
        formula: "2.73/(25 ms p)",
    },
];

/// The constant that was measured. Prague has the same rate at all round-trip times up to 25 ms,
/// and its constant is for that one.
fn constant(evidence: &Evidence, theory: &Theory) -> Measured {
    let of = factor(evidence, theory.variant, theory.of_p, theory.of_rtt);
    if theory.variant == "prague" { of.scaled(0.025, "") } else { of }
}

/// Claim C4.
pub fn laws(evidence: &Evidence) -> Section {
    let question = "How fast is one flow at a given probability?";
    let mut names: Vec<&'static str> = Vec::new();
    for of in LAWS {
        names.extend(of.probabilities.iter().map(|p| law(of.variant, of.rtt_ms, p)));
        let middle = of.probabilities[of.probabilities.len() / 2];
        names.extend(of.others.iter().map(|rtt| law(of.variant, *rtt, middle)));
    }
    names.extend(LOSSES.map(losses));
    let mut section = evidence.section("laws", question, &["C4"], &names);
    if section.links.is_empty() {
        return section;
    }
    section.answer = format!(
        "At random losses Reno has {}/(RTT √p) and Cubic with beta 0.8 {}/(RTT^¼ p^¾); at random marks \
         DCTCP has {}/(RTT p). Reno and DCTCP have the same window if Reno's probability is the square \
         of DCTCP's over {}.",
        times(&factor(evidence, "reno", -0.5, 0.0)),
        times(&factor(evidence, "cubic-deck", -0.75, 0.75)),
        times(&factor(evidence, "dctcp", -1.0, 0.0)),
        times(&coupling(evidence)),
    );
    section.text = vec![
        "One flow on a link that is never full. Every packet is dropped, or marked if it is \
         ECN-capable, with the same probability, whatever happened to others; every packet is \
         acknowledged. The window is what arrives in a round trip. Laws of the deck are of losses and \
         marks at even distances. Cubic has its own law only where it grows faster than Reno: here \
         with a round trip of 100 ms and without the part that makes it as fast as Reno. Over the \
         access link of 8 ms it is Reno in effect, as the deck says."
            .to_owned(),
        "Prague grows as slowly as if its round trip were 25 ms, so that it has the same rate at all \
         shorter ones. With marks at even distances it has two of them in 25 ms, as DCTCP has; with \
         marks at random theory says 2.73, because only the first of a round trip counts."
            .to_owned(),
    ];
    let line = |theory: &Theory| Line {
        series: theory.look,
        points: points(evidence, of(theory.variant)),
        markers: true,
        tooltip: theory.label.to_owned(),
        ..Line::default()
    };
    let expected = |theory: &Theory| {
        let of = of(theory.variant);
        let ends = [of.probabilities[0], of.probabilities[of.probabilities.len() - 1]];
        let [from, to] = ends.map(|text| text.parse::<f64>().expect("probabilities are numbers"));
        let rtt = f64::from(of.rtt_ms) / 1e3;
        let factor = theory.constant * libm::pow(rtt, theory.of_rtt);
        power_law(theory.look, theory.formula, factor, theory.of_p, (from, to))
    };
    let mut lines: Vec<Line> = THEORIES.iter().map(expected).collect();
    lines.extend(THEORIES.iter().map(line));
    let legend = THEORIES.iter().map(|of| {
        let rtt = self::of(of.variant).rtt_ms;
        (of.look, format!("{}, {rtt} ms", of.label))
    });
    section.exhibits.push(Exhibit::Lines {
        name: "windows".to_owned(),
        caption: "How large is the window? (slides 16 and 17)".to_owned(),
        legend: legend.collect(),
        charts: vec![Lines {
            title: "Window over the probability of a loss or a mark".to_owned(),
            x: Axis::log("probability p of a loss or a mark, logarithmic", "share"),
            y: Axis::log("packets in a round trip, logarithmic", ""),
            lines,
            height: 360.0,
            ..Lines::default()
        }],
        columns: 1,
        note:
            "Markers: measured; dashed: the laws of the deck, of RFC 9438 for Cubic of today, and \
               of theory for Prague."
                .to_owned(),
    });
    let row = |theory: &Theory| {
        vec![
            theory.label.to_owned(),
            theory.formula.to_owned(),
            times(&constant(evidence, theory)),
            times(&exponent(evidence, theory.variant)),
            times(&rtt_exponent(evidence, theory.variant)),
        ]
    };
    section.exhibits.push(table(
        "law-constants",
        "Constants and exponents of the rate",
        "The constant with the exponents of the law, and the exponents that fit best; exponents of the \
         round-trip time in longer versions only.",
        &["", "law", "constant", "exponent of p", "exponent of RTT"],
        THEORIES.iter().map(row).collect(),
    ));
    section.exhibits.extend(rate_based(evidence));
    section
}

/// Congestion controls that have no such law, beside Reno, if that was run.
fn rate_based(evidence: &Evidence) -> Option<Exhibit> {
    let looks = [("reno", "Reno", 0), (RATE_BASED[0], "BBR", 4), (RATE_BASED[1], "BBR v3", 5)];
    let line = |(variant, label, look): &(&'static str, &str, usize)| {
        let point = |p: &'static str| {
            let mbps = rate(evidence, case(losses(p), variant), CLASSIC).value?;
            Some((p.parse::<f64>().ok()?, mbps))
        };
        Line {
            series: *look,
            points: LOSSES.into_iter().filter_map(point).collect(),
            markers: true,
            tooltip: (*label).to_owned(),
            ..Line::default()
        }
    };
    evidence.has(case(losses(LOSSES[0]), "bbr")).then(|| Exhibit::Lines {
        name: "losses".to_owned(),
        caption: "What do losses do to congestion controls that do not count them?".to_owned(),
        legend: looks.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: vec![Lines {
            title: "Rate over the probability of a loss".to_owned(),
            x: Axis::log("probability of a loss, logarithmic", "share"),
            y: Axis::linear("rate of payload", "Mb/s").within(0.0, 100.0),
            lines: looks.iter().map(line).collect(),
            ..Lines::default()
        }],
        columns: 1,
        note: "One flow on a link of 100 Mb/s, 10 ms.".to_owned(),
    })
}
