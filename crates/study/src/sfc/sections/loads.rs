//! At which loads the compared flow controls settle.

use floodway_report::study::Section;

use crate::evidence::{Case, Evidence};
use crate::exhibit::{number, short, table};
use crate::measure::Measured;
use crate::sfc::plan::{LOADS, Load};
use crate::sfc::{NATIVE, PFC, PROXY, SHORT, case};

/// The payload that arrived in the measurement, of what is offered in it on average.
fn carried(evidence: &Evidence, case: Case) -> Measured {
    let Some(scenario) = evidence.scenario(case.experiment) else { return Measured::default() };
    let variant = &scenario.variants()[0];
    let graph = variant.graph();
    let rates = graph.hosts().map(|id| graph.node(id).ports[0].rate.as_gbps() * 1e9);
    let offered = variant.derived(1).host_load * rates.sum::<f64>();
    evidence.number(case, "% of the load", |facts| 100.0 * facts.number("throughput_bps") / offered)
}

/// What twice the time does to the mean completion time of short messages.
fn growth(evidence: &Evidence, load: &Load, variant: &'static str) -> Measured {
    evidence.fct_change(case(load.short, variant), case(load.long, variant), SHORT)
}

/// Whether it settles, as far as these runs tell: short messages take clearly longer in longer runs.
fn grows(measured: &Measured) -> bool {
    measured.bounds().is_some_and(|(low, _)| low > 0.0)
}

/// Those loads that were run.
fn run(evidence: &Evidence) -> impl Iterator<Item = &'static Load> {
    LOADS
        .iter()
        .filter(|load| evidence.has(case(load.short, PFC)) && evidence.has(case(load.long, PFC)))
}

/// In a sentence.
pub fn answer(evidence: &Evidence) -> Option<String> {
    let growing = |variant| {
        let of = run(evidence).filter(|load| grows(&growth(evidence, load, variant)));
        let of: Vec<String> =
            of.map(|load| format!("{} + {} %", load.background, load.incasts)).collect();
        if of.is_empty() { "none".to_owned() } else { of.join(", ") }
    };
    let of = run(evidence).count();
    (of > 0).then(|| {
        format!(
            "Of {of} loads (background and incasts, of the capacity) short messages take clearly longer \
             the longer the load goes on, so that no size of a gain is that of a steady state: with PFC \
             at {}; with NICs that obey at {}; with the proxy at {}.",
            growing(PFC),
            growing(NATIVE),
            growing(PROXY),
        )
    })
}

/// The section.
pub fn loads(evidence: &Evidence) -> Section {
    let names: Vec<&'static str> = LOADS.iter().flat_map(|load| [load.short, load.long]).collect();
    let question = "At which loads does each flow control settle?";
    let mut section = evidence.section("loads", question, &["E3a", "E4"], &names);
    let Some(answer) = answer(evidence) else { return section };
    section.answer = answer;
    section.text = vec![
        "Runs with 128 hosts and three replications, measured from 2.5 ms to 4 ms, and again to 8 ms. \
         \"Carried\" is the payload that arrived in the first of these, of what the load offers on \
         average; sizes are heavy-tailed, so it varies by some percent around 100 also where nothing is \
         left behind. \"Growth\" is the change of the mean completion time of background messages below 10 KB \
         from the shorter to the longer measurement, in percent with its 95 % interval. Where it is \
         clearly above zero, completion times depend on how long the load lasts."
            .to_owned(),
    ];
    let row = |load: &Load| {
        let mut row = vec![format!("{} % + {} %", load.background, load.incasts)];
        for variant in [PFC, NATIVE, PROXY] {
            row.push(number(&carried(evidence, case(load.short, variant))));
            row.push(short(&growth(evidence, load, variant)));
        }
        row
    };
    section.exhibits.push(table(
        "loads",
        "What is carried, and what grows with time",
        "",
        &[
            "background + incasts",
            "PFC: carried",
            "growth",
            "native: carried",
            "growth",
            "proxy: carried",
            "growth",
        ],
        run(evidence).map(row).collect(),
    ));
    section
}
