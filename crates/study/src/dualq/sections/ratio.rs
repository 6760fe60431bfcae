//! Slide 28: the ratio of the rates.

use floodway_report::chart::{Axis, Colours, Lines};
use floodway_report::study::{Exhibit, Section};

use super::mixes::{counts, headings};
use super::{all, experiments, times};
use crate::curves::{power_law, scatter};
use crate::dualq::measures::{overall, ratio as ratio_of, within, worst};
use crate::dualq::{AQMS, DUALQ, RED, mix, shared};
use crate::evidence::Evidence;
use crate::exhibit::{number, table};
use crate::matrix::heat_map;
use crate::measure::Measured;

/// Claim C8.
pub fn ratio(evidence: &Evidence) -> Section {
    let question = "Ratio of the rates of Cubic and DCTCP";
    let claims = ["C8a", "C8b", "C8c"];
    let mut section = evidence.section("ratio", question, &claims, &experiments(evidence, RED));
    if section.links.is_empty() {
        return section;
    }
    let of = |variant| times(&overall(evidence, all(evidence, variant)));
    section.answer = format!(
        "Over all mixes, the geometric mean of the ratio is {} under RED and {} in the DualQ with s_r 3. In \
         the DualQ, it is within a factor of 2 of 1 in {} and within a factor of 1.25 in {}.",
        of(RED),
        of(DUALQ),
        number(&within(evidence, all(evidence, DUALQ), 2.0)),
        number(&within(evidence, all(evidence, DUALQ), 1.25)),
    );
    section.text = vec![
        "The ratio is the rate of a Cubic flow over that of a DCTCP flow, each the mean over the flows of \
         its kind. The deck's axis goes from 0.01 to 10. Rates count as equal if the whole interval of a \
         ratio lies between 0.8 and 1.25."
            .to_owned(),
    ];
    let points = |variant| {
        let point = |of: (usize, usize)| {
            let value = ratio_of(evidence, mix(of, variant)).value?;
            Some((of.0 as f64 / of.1 as f64, value))
        };
        shared(evidence, variant).into_iter().filter_map(point).collect()
    };
    let mut lines: Vec<_> =
        AQMS.iter().map(|(variant, label, look)| scatter(*look, label, points(*variant))).collect();
    lines.push(power_law(5, "equal rates", 1.0, 0.0, (0.1, 10.0)));
    section.exhibits.push(Exhibit::Lines {
        name: "ratio-by-mix".to_owned(),
        caption: "Ratio of the rates, Cubic to DCTCP, by mix (slide 28)".to_owned(),
        legend: AQMS.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: vec![Lines {
            title: "Ratio of the rates over the ratio of the numbers of flows".to_owned(),
            x: Axis::log("Cubic flows to a DCTCP flow, logarithmic", "x")
                .within(0.08, 12.5)
                .labelled([0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
            y: Axis::log("rate of Cubic over rate of DCTCP, logarithmic", "x")
                .within(0.01, 10.0)
                .labelled([0.01, 0.1, 1.0, 10.0]),
            lines,
            height: 320.0,
            ..Lines::default()
        }],
        columns: 1,
        note: "A point for every mix of one to ten flows of either kind; dashed: equal rates."
            .to_owned(),
    });
    for (variant, label, _) in AQMS {
        let counts = counts(evidence, variant);
        let counts = (
            counts.0.into_iter().filter(|of| *of > 0).collect::<Vec<_>>(),
            counts.1.into_iter().filter(|of| *of > 0).collect::<Vec<_>>(),
        );
        let measure = |row: usize, column: usize| -> Measured {
            ratio_of(evidence, mix((counts.0[column], counts.1[row]), variant))
        };
        let scale = Axis::log("Cubic over DCTCP", "x").within(0.04, 25.0);
        section.exhibits.push(heat_map(
            (
                &format!("ratio-{variant}"),
                &format!("Ratio of the rates, Cubic to DCTCP: {label}"),
                "",
            ),
            (scale, Colours::Diverging(1.0), 1.0),
            headings(&counts),
            measure,
        ));
    }
    let row = |(variant, label, _): &(&'static str, &str, usize)| {
        vec![
            (*label).to_owned(),
            times(&overall(evidence, all(evidence, variant))),
            times(&worst(evidence, all(evidence, variant))),
            number(&within(evidence, all(evidence, variant), 1.25)),
            number(&within(evidence, all(evidence, variant), 2.0)),
        ]
    };
    section.exhibits.push(table(
        "ratio-numbers",
        "Ratio of the rates over all mixes",
        "",
        &["", "geometric mean", "farthest from 1, factor", "within 1.25", "within 2"],
        AQMS.iter().map(row).collect(),
    ));
    section
}
