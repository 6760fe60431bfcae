//! What the deck leaves open, and the effect of each choice.

use floodway_report::chart::{Axis, Colours};
use floodway_report::study::{Exhibit, Section};

use super::times;
use crate::dualq::measures::{Queue, delay, overall, ratio, worst};
use crate::dualq::plan::{Choice, OPTIONS, Origin, SHARED, WHOLE, all_mixes, option};
use crate::dualq::{COUPLED, DUALPI2, DUALQ, Mix, RED, case, mix};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{number, table};
use crate::matrix::{heat_map, sides};

/// What grid.toml itself has, and its options.
fn readings() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    let plain =
        [(RED, "RED"), (COUPLED, "coupled queue"), (DUALQ, "DualQ, s_r 3"), (DUALPI2, "DualPI2")];
    let mut readings = Vec::new();
    for (variant, label) in plain {
        readings.push((variant, label, None));
        let of = OPTIONS.iter().filter(|of| of.variant == variant);
        readings.extend(of.map(|of| (variant, of.words, Some(of.name))));
    }
    readings
}

/// Whether a choice makes a reading.
fn is_reading(of: &Choice) -> bool {
    matches!(of.origin, Origin::Open(_))
}

/// The case of a mix with a reading.
fn at(variant: &'static str, name: Option<&'static str>, of: Mix) -> Case {
    name.map_or_else(|| mix(of, variant), |name| case(option(name, of), variant))
}

const CLAIMS: [&str; 7] = ["C5a", "C7a", "C7b", "C8a", "C8b", "C8c", "P6"];

/// Every other choice.
pub fn options(evidence: &Evidence) -> Section {
    let question = "Effects of the choices that the sources leave open";
    let names = OPTIONS.iter().flat_map(|of| all_mixes().map(|mix| option(of.name, mix)));
    let names: Vec<&'static str> = names.collect();
    let mut section = evidence.section("options", question, &CLAIMS, &names);
    if section.links.is_empty() {
        return section;
    }
    // Slopes have a section of their own.
    let mean = |of: &Choice| {
        let value = overall(evidence, SHARED.map(|mix| at(of.variant, Some(of.name), mix)));
        value.value.map(|known| (known, format!("{} ({})", times(&value), of.words)))
    };
    let of_the_deck = |of: &&Choice| of.variant == DUALQ && is_reading(of);
    let means = || OPTIONS.iter().filter(of_the_deck).filter_map(mean);
    let least = means().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = means().max_by(|a, b| a.0.total_cmp(&b.0));
    let main = times(&overall(evidence, SHARED.map(|of| mix(of, DUALQ))));
    section.answer = format!(
        "Over six mixes, the ratio of the rates in the deck's DualQ is {main} in the main reading. With one \
         other choice, it is between {} and {}.",
        least.map_or_else(|| "-".to_owned(), |of| of.1),
        most.map_or_else(|| "-".to_owned(), |of| of.1),
    );
    section.text = vec![
        "Each row makes one other choice, in six mixes of Cubic and DCTCP flows. A choice that the sources \
         leave open is a reading, in which the claims about this queue management are judged again. A \
         choice that they rule out was run for comparison only."
            .to_owned(),
        "Other points remain open. The deck's figures are pictures with axes but without numbers, so shapes \
         and limits are compared. Its flows ran over a DSL line between hosts with Linux 3.18, whose Cubic \
         and DCTCP differ in details from those of today. Its distributions over one second were taken at \
         unknown times. The division of the 8 ms between the two directions is assumed."
            .to_owned(),
    ];
    let row = |(variant, label, name): (&'static str, &str, Option<&'static str>)| {
        let cases = SHARED.map(|of| at(variant, name, of));
        let mut row = vec![label.to_owned()];
        row.extend(cases.map(|of| times(&ratio(evidence, of))));
        row.push(times(&overall(evidence, cases)));
        row.push(times(&worst(evidence, cases)));
        let five = at(variant, name, (5, 5));
        let wait = |queue, p| number(&delay(evidence, five, queue, p));
        row.extend([
            wait(Queue::Classic, 0.5),
            wait(Queue::Scalable, 0.5),
            wait(Queue::Scalable, 0.99),
        ]);
        row
    };
    let mixes = SHARED.map(|(cubic, dctcp)| format!("{cubic}+{dctcp}"));
    let mut head = vec![""];
    head.extend(mixes.iter().map(String::as_str));
    head.extend(["mean", "farthest", "Cubic delay: p50", "DCTCP delay: p50", "p99"]);
    section.exhibits.push(table(
        "options-numbers",
        "Ratio of the rates by mix, and queuing delays",
        "Rate of Cubic over that of DCTCP (m+n is a mix of m Cubic and n DCTCP flows), geometric means. \
         \"Farthest\" is the factor by which the ratio differs from 1 in the mix in which it is farthest from \
         it. Delays are queuing delays of 5+5.",
        &head,
        readings().into_iter().map(row).collect(),
    ));
    let origin = |of: &Choice| match of.origin {
        Origin::Open(who) => vec![of.words.to_owned(), "yes".to_owned(), who.to_owned()],
        Origin::RuledOut(words) => vec![of.words.to_owned(), "no".to_owned(), words.to_owned()],
    };
    section.exhibits.push(table(
        "options-origins",
        "Readings of the sources, and other choices",
        "A reading is a choice that the sources leave open; the source shown is one that makes this choice. \
         For other choices, it is the one that rules them out.",
        &["", "a reading", "source"],
        OPTIONS.iter().map(origin).collect(),
    ));
    for name in WHOLE {
        section.exhibits.extend(whole(evidence, name));
    }
    section
}

/// The ratios of all mixes with an option, if they were run.
fn whole(evidence: &Evidence, name: &'static str) -> Option<Exhibit> {
    let Choice { words: label, variant, .. } = OPTIONS.iter().find(|of| of.name == name)?;
    evidence.has(case(option(name, (3, 4)), variant)).then(|| {
        heat_map(
            (
                &format!("options-{name}"),
                &format!("Ratio of the rates, Cubic or Reno to DCTCP: {label}"),
                "",
            ),
            (Axis::log("classic over DCTCP", "x").within(0.04, 25.0), Colours::Diverging(1.0), 1.0),
            sides(("Cubic or Reno flows", 1..=10), ("DCTCP flows", 1..=10)),
            |row, column| ratio(evidence, case(option(name, (column + 1, row + 1)), variant)),
        )
    })
}
