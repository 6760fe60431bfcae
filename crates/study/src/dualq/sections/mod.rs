//! The sections of the report: each has a heading, an answer in one sentence, charts and tables.

mod alone;
mod dynamic;
mod laws;
mod links;
mod mixes;
mod modern;
mod options;
mod ratio;
mod slopes;

use floodway_report::study::Section;

use crate::evidence::{Case, Evidence};
use crate::exhibit::number;
use crate::measure::Measured;

use super::measures::{Queue, delay, overall};
use super::{COUPLED, DUALPI2, DUALQ, Mix, RED, mix, mixes, shared};

/// All sections in order.
pub fn sections(evidence: &Evidence) -> Vec<Section> {
    vec![
        alone::alone(evidence),
        mixes::red(evidence),
        laws::laws(evidence),
        mixes::coupled(evidence),
        mixes::dual(evidence),
        ratio::ratio(evidence),
        slopes::slopes(evidence),
        mixes::dualpi2(evidence),
        links::links(evidence),
        dynamic::load(evidence),
        dynamic::overload(evidence),
        dynamic::interactive(evidence),
        modern::modern(evidence),
        options::options(evidence),
    ]
    .into_iter()
    .filter(|section| !section.links.is_empty() && !section.exhibits.is_empty())
    .collect()
}

/// All mixes with both kinds under one kind of queue management.
fn all(evidence: &Evidence, variant: &'static str) -> Vec<Case> {
    shared(evidence, variant).into_iter().map(|of| mix(of, variant)).collect()
}

/// The experiments of the mixes.
fn experiments(evidence: &Evidence, variant: &'static str) -> Vec<&'static str> {
    mixes(evidence, variant).into_iter().map(|of| mix(of, variant).experiment).collect()
}

/// A ratio without a unit: `0.06`; `-` if there is none.
fn times(of: &Measured) -> String {
    number(&Measured { unit: "", ..*of })
}

/// What the study answers.
pub fn answer(evidence: &Evidence) -> Vec<String> {
    let ratio = |variant| times(&overall(evidence, all(evidence, variant)));
    let wait = |variant, queue, of: Mix| number(&delay(evidence, mix(of, variant), queue, 0.5));
    vec![
        format!(
            "Over all mixes of Cubic and DCTCP flows on a link of 40 Mb/s, a Cubic flow has {} times the \
             rate of a DCTCP flow under RED, {} times in one coupled queue, {} times in the DualQ of the \
             deck (with the slope s_r 3; the deck gives none), and {} times under DualPI2.",
            ratio(RED),
            ratio(COUPLED),
            ratio(DUALQ),
            ratio(DUALPI2),
        ),
        format!(
            "With five flows of each kind, the median queuing delay of DCTCP is {} under RED, {} in the \
             coupled queue, {} in the DualQ and {} under DualPI2. That of Cubic is {} in the DualQ and {} \
             under DualPI2.",
            wait(RED, Queue::Scalable, (5, 5)),
            wait(COUPLED, Queue::Scalable, (5, 5)),
            wait(DUALQ, Queue::Scalable, (5, 5)),
            wait(DUALPI2, Queue::Scalable, (5, 5)),
            wait(DUALQ, Queue::Classic, (5, 5)),
            wait(DUALPI2, Queue::Classic, (5, 5)),
        ),
    ]
}
