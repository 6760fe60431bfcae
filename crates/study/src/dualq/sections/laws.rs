//! Slides 16 to 19: the window of one flow at a given probability.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::study::{Exhibit, Section};

use super::times;
use crate::curves::power_law;
use crate::dualq::laws::{at_even_distances, coupling, exponent, factor, of, points, rtt_exponent};
use crate::dualq::measures::rate;
use crate::dualq::plan::{LAWS, LOSSES, RATE_BASED, evenly, law, losses};
use crate::dualq::{CLASSIC, case};
use crate::evidence::Evidence;
use crate::exhibit::table;
use crate::measure::Measured;

/// What the deck or a standard says of a variant: its look, what it is, the constant for signals at
/// random (if there is one) and at even distances, and the exponents of p and of the round-trip time
/// in the window.
struct Theory {
    variant: &'static str,
    label: &'static str,
    look: usize,
    random: &'static str,
    even: &'static str,
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
        random: "1.31",
        even: "√(3/2) = 1.2247; deck: 1.22",
        constant: 1.22,
        of_p: -0.5,
        of_rtt: 0.0,
        formula: "1.22/(RTT p^1/2)",
    },
    Theory {
        variant: "cubic",
        label: "Cubic, beta 0.7",
        look: 2,
        random: "-",
        even: "1.054",
        constant: 1.054,
        of_p: -0.75,
        of_rtt: 0.75,
        formula: "1.054/(RTT^1/4 p^3/4)",
    },
    Theory {
        variant: "cubic-deck",
        label: "Cubic, beta 0.8",
        look: 4,
        random: "-",
        even: "1.174; deck: 1.17",
        constant: 1.174,
        of_p: -0.75,
        of_rtt: 0.75,
        formula: "1.17/(RTT^1/4 p^3/4)",
    },
    Theory {
        variant: "dctcp",
        label: "DCTCP",
        look: 1,
        random: "1.8",
        even: "2; deck: 2",
        constant: 2.0,
        of_p: -1.0,
        of_rtt: 0.0,
        formula: "2/(RTT p)",
    },
    Theory {
        variant: "prague",
        label: "Prague",
        look: 3,
        random: "2.73",
        even: "2",
        constant: 2.0 / 0.025,
        of_p: -1.0,
        of_rtt: 1.0,
        formula: "2/(25 ms p)",
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
    let question = "Rate of a single flow by the probability of a loss or a mark";
    let mut names: Vec<&'static str> = Vec::new();
    for of in LAWS {
        names.extend(of.points().map(|(rtt_ms, p)| law(of.variant, rtt_ms, p)));
    }
    names.extend(evenly().into_iter().map(|(_, even)| even));
    names.extend(LOSSES.map(losses));
    let mut section = evidence.section("laws", question, &["C4"], &names);
    if section.links.is_empty() {
        return section;
    }
    let even = at_even_distances(evidence);
    let constants = |evidence: &Evidence| {
        format!(
            "the rate of Reno is {}/(RTT √p), that of Cubic with beta 0.8 is {}/(RTT^¼ p^¾), and that of DCTCP \
             is {}/(RTT p)",
            times(&factor(evidence, "reno", -0.5, 0.0)),
            times(&factor(evidence, "cubic-deck", -0.75, 0.75)),
            times(&factor(evidence, "dctcp", -1.0, 0.0)),
        )
    };
    section.answer = format!(
        "With losses and marks at random, {}. With losses and marks at even distances, {}. Reno and DCTCP \
         have the same window if Reno's probability is (p/k)² where that of DCTCP is p, with k = {} at \
         random and k = {} at even distances.",
        constants(evidence),
        constants(&even),
        times(&coupling(evidence)),
        times(&coupling(&even)),
    );
    section.text = vec![
        "One flow on a link that is never full. At random means that every packet is dropped, or marked if \
         it is ECN-capable, independently with the same probability. At even distances means one packet \
         in n, where n is the nearest whole number to 1/p. Every packet is acknowledged. The window is the \
         data that arrives in a round trip. The constants of the deck were computed for even distances, \
         but the deck does not say which it means, so claim C4 is judged with both. Cubic has its own law \
         only where it grows faster than Reno: here with a round trip of 100 ms and without its \
         Reno-friendly region. Over the access link of 8 ms it behaves like Reno, as the deck says."
            .to_owned(),
        "Prague grows as slowly as if its round trip were 25 ms, so it has the same rate with all shorter \
         round trips. With marks at even distances it gets two marks in 25 ms, as DCTCP does in a round \
         trip. With marks at random, theory gives 2.73, because only the first mark of a round trip counts."
            .to_owned(),
        "At even distances nothing is random and all runs are the same, so these numbers have no interval. \
         Windows are whole numbers, and may settle anywhere near the flat fixed point of Cubic."
            .to_owned(),
    ];
    let line = |evidence: &Evidence, theory: &Theory| Line {
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
    let chart = |evidence: &Evidence, heading: &str| Lines {
        title: format!("Window over the probability of a loss or a mark, {heading}"),
        heading: heading.to_owned(),
        x: Axis::log("probability p of a loss or a mark, logarithmic", "share"),
        y: Axis::log("packets in a round trip, logarithmic", ""),
        lines: THEORIES
            .iter()
            .map(expected)
            .chain(THEORIES.iter().map(|of| line(evidence, of)))
            .collect(),
        height: 360.0,
        ..Lines::default()
    };
    let legend = THEORIES.iter().map(|of| {
        let rtt = self::of(of.variant).rtt_ms;
        (of.look, format!("{}, {rtt} ms", of.label))
    });
    section.exhibits.push(Exhibit::Lines {
        name: "windows".to_owned(),
        caption: "Window by the probability of a loss or a mark (slides 16 and 17)".to_owned(),
        legend: legend.collect(),
        charts: vec![chart(evidence, "signals at random"), chart(&even, "at even distances")],
        columns: 2,
        note: "Markers: measured; dashed: the laws of the deck, of RFC 9438 for Cubic with beta 0.7, and \
               of theory for Prague, all for signals at even distances."
            .to_owned(),
    });
    let rows = |theory: &Theory| {
        let row = |signals: &str, evidence: &Evidence, expected: &str| {
            vec![
                format!("{}, {signals}", theory.label),
                theory.formula.to_owned(),
                expected.to_owned(),
                times(&constant(evidence, theory)),
                times(&exponent(evidence, theory.variant)),
                times(&rtt_exponent(evidence, theory.variant)),
            ]
        };
        [row("at random", evidence, theory.random), row("even", &even, theory.even)]
    };
    section.exhibits.push(table(
        "law-constants",
        "Constants and exponents of the rate",
        "Losses and marks at random or at even distances. In theory Reno has 1.31 at random (Ott and \
         others, 1996) and the square root of 3/2 at even distances (Mathis and others, 1997), Cubic \
         the fourth root of 0.4 (3 + beta)/(4 (1 - beta)) (RFC 9438), and DCTCP 1.8 where reductions are \
         rounded down to whole packets. The constant is measured with the exponents of the law, and the \
         exponents are those that fit best; those of the round-trip time in longer versions only.",
        &["", "law", "constant in theory", "measured", "exponent of p", "exponent of RTT"],
        THEORIES.iter().flat_map(rows).collect(),
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
        caption: "Rate by the probability of a loss, for congestion controls that do not respond to single losses".to_owned(),
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
