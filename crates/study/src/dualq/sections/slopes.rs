//! The slope and the shape of the AQM of two queues, which the deck does not give in numbers.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::study::{Comparison, Exhibit, Section};

use super::times;
use crate::curves::power_law;
use crate::dualq::measures::{EQUAL, Queue, delay, overall, ratio, whole, worst};
use crate::dualq::plan::{SHARED, all_shared, option};
use crate::dualq::{DUALPI2, DUALQ, Mix, case, mix};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{number, table};
use crate::measure::Measured;

/// A slope or a shape: what it is, the variant, and the option that has it; none: grid.toml itself.
type Shape = (&'static str, &'static str, Option<&'static str>);

/// The slopes of the deck's DualQ: where a classic packet is dropped with certainty, in seconds.
const SLOPES: [(f64, Shape); 3] = [
    (0.537, ("DualQ, s_r 3: 0.54 s", DUALQ, None)),
    (1.074, ("DualQ, s_r 2: 1.07 s", DUALQ, Some("slope-2"))),
    (2.147, ("DualQ, s_r 1: 2.15 s", DUALQ, Some("slope-1"))),
];

const SHAPES: [Shape; 4] = [
    ("smoothed square, k 8: 0.5 s", DUALQ, Some("smoothed")),
    ("Curvy RED, k 2: 0.5 s", DUALQ, Some("curvy-red")),
    ("DualPI2, step at 1 ms", DUALPI2, None),
    ("DualPI2, ramp of 0.8 to 1.2 ms", DUALPI2, Some("dualpi2-ramp")),
];

/// The mixes of the chart, with looks.
const LINES: [(Mix, usize); 4] = [((1, 1), 0), ((2, 2), 2), ((5, 5), 1), ((10, 10), 3)];
const MEAN_LOOK: usize = 4;

fn at((_, variant, option): Shape, of: Mix) -> Case {
    option.map_or_else(|| mix(of, variant), |name| case(self::option(name, of), variant))
}

fn mean(evidence: &Evidence, shape: Shape) -> Measured {
    overall(evidence, SHARED.map(|of| at(shape, of)))
}

/// Whether rates are equal, by the rule of the claims.
fn equal(measured: &Measured) -> &'static str {
    match EQUAL.judge(measured) {
        Comparison::Reproduced => "yes",
        Comparison::NotReproduced => "no",
        Comparison::SameDirection | Comparison::CannotJudge => "open",
    }
}

/// At which slope rates are equal: claims C8b and C8c.
pub fn slopes(evidence: &Evidence) -> Section {
    let question = "Ratio of the rates by the slope of the DualQ";
    let shapes = || SLOPES.into_iter().map(|of| of.1).chain(SHAPES);
    let names = shapes().flat_map(|of| SHARED.map(|mix| at(of, mix).experiment));
    let names: Vec<&'static str> = names.collect();
    let mut section = evidence.section("slopes", question, &["C8b", "C8c"], &names);
    if !evidence.has(at(SLOPES[1].1, (1, 1))) {
        return section;
    }
    let of = |slope: usize| {
        let mean = mean(evidence, SLOPES[slope].1);
        format!("{} (equal: {})", times(&mean), equal(&mean))
    };
    let in_each = |of: &(f64, Shape)| {
        let mut judged = SHARED.iter().map(|mix| EQUAL.judge(&ratio(evidence, at(of.1, *mix))));
        judged.all(|of| of == Comparison::Reproduced)
    };
    let each = match SLOPES.iter().any(in_each) {
        true => "With one of these slopes, they are equal in each of the mixes.",
        false => "With none of these slopes are they equal in each of the mixes.",
    };
    section.answer = format!(
        "On average over six mixes, the rate of a Cubic flow over that of a DCTCP flow is {} with s_r 3, {} \
         with s_r 2 and {} with s_r 1, where \"equal\" says whether the rates count as equal. {each}",
        of(0),
        of(1),
        of(2),
    );
    section.text = vec![
        "The deck has a slope for Reno and one for DCTCP, in bits, but gives no numbers. A classic packet is \
         dropped with certainty when it has waited 2^(32 - s_r) ns, and DCTCP's slope is three bits \
         steeper. By the laws of slides 16 and 17 and with k = 8, the ratio of the rates is 1.22 × 8/2 × \
         8 ms/(8 ms + queuing delay of Cubic): rates are equal if that delay is 31 ms. The delay depends on \
         the slope and on the number of flows; a steeper slope (a larger s_r) makes it shorter. Each mix \
         therefore has its own slope at which rates are equal, and a claim of equal rates should be quoted \
         with the slope. The main reading takes s_r 3, which is nearest to the full scale of 0.5 s of the \
         draft that followed."
            .to_owned(),
        "Rates count as equal if the whole interval of the mean ratio lies between 0.8 and 1.25. The shapes: \
         the deck drops with the square of the queuing delay, Curvy RED with the square of a smoothed \
         queuing delay, and DualPI2 has a controller that keeps the classic queue at 15 ms, with a step or \
         a ramp for packets of the low latency queue. Curvy RED in RFC 9332 has k = 2; it was also run with \
         k = 8, as in the deck."
            .to_owned(),
    ];
    let line = |look: usize, label: &str, number: &dyn Fn(Shape) -> Measured| Line {
        series: look,
        points: SLOPES.iter().filter_map(|of| Some((of.0, number(of.1).value?))).collect(),
        markers: true,
        tooltip: label.to_owned(),
        ..Line::default()
    };
    let label = |(cubic, dctcp): Mix| format!("{cubic}+{dctcp}");
    let mut lines: Vec<Line> = LINES
        .iter()
        .map(|(mix, look)| line(*look, &label(*mix), &|of| ratio(evidence, at(of, *mix))))
        .collect();
    lines.push(line(MEAN_LOOK, "mean of six mixes", &|of| mean(evidence, of)));
    let legend = lines.iter().map(|line| (line.series, line.tooltip.clone())).collect();
    lines.push(power_law(5, "equal rates", 1.0, 0.0, (0.5, 2.3)));
    section.exhibits.push(Exhibit::Lines {
        name: "slopes-ratio".to_owned(),
        caption: "Ratio of the rates, Cubic to DCTCP, by the slope of the DualQ".to_owned(),
        legend,
        charts: vec![Lines {
            title: "Ratio of the rates by the queuing delay of certain drop".to_owned(),
            x: Axis::log("queuing delay of certain drop in seconds, logarithmic", "")
                .within(0.5, 2.3)
                .labelled([0.54, 1.07, 2.15]),
            y: Axis::log("rate of Cubic over rate of DCTCP, logarithmic", "x")
                .within(0.2, 4.0)
                .labelled([0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0]),
            lines,
            height: 300.0,
            ..Lines::default()
        }],
        columns: 1,
        note: "s_r 3, 2 and 1 from left to right; dashed: equal rates.".to_owned(),
    });
    let row = |shape: Shape| {
        let mean = mean(evidence, shape);
        let cases = SHARED.map(|of| at(shape, of));
        let all = overall(evidence, whole(evidence, all_shared().map(|of| at(shape, of))));
        let mut row = vec![shape.0.to_owned()];
        row.extend([(1, 1), (5, 5), (10, 10)].map(|of| times(&ratio(evidence, at(shape, of)))));
        row.extend([times(&mean), equal(&mean).to_owned(), times(&all)]);
        row.push(times(&worst(evidence, cases)));
        let wait = |of, queue, p| number(&delay(evidence, at(shape, of), queue, p));
        row.extend([
            wait((1, 1), Queue::Classic, 0.5),
            wait((5, 5), Queue::Classic, 0.5),
            wait((5, 5), Queue::Scalable, 0.5),
            wait((5, 5), Queue::Scalable, 0.99),
        ]);
        row
    };
    section.exhibits.push(table(
        "slopes-numbers",
        "Ratio of the rates and queuing delays, by slope and shape",
        "Rate of Cubic over that of DCTCP (m+n is a mix of m Cubic and n DCTCP flows), geometric means over \
         replications. The six mixes are 1+1, 2+2, 5+5, 10+10, 1+10 and 10+1. The mean of all is that over \
         all 100 mixes, if they were run. \"Farthest\" is the factor by which the ratio differs from 1 in \
         the mix of the six in which it is farthest from it. Delays are medians in 1+1 and 5+5, and the \
         99th percentile in 5+5.",
        &[
            "",
            "1+1",
            "5+5",
            "10+10",
            "mean of six",
            "equal",
            "mean of all",
            "farthest",
            "Cubic delay, 1+1",
            "Cubic delay, 5+5",
            "DCTCP delay, 5+5",
            "p99",
        ],
        shapes().map(row).collect(),
    ));
    section
}
