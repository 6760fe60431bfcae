//! The loads at which each flow control reaches a steady state.

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

/// Whether it settles, as far as these runs show: short messages take clearly longer in longer runs.
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
    let growing = [PFC, NATIVE, PROXY].map(|variant| {
        let of = run(evidence).filter(|load| grows(&growth(evidence, load, variant)));
        of.map(|load| format!("{} + {} %", load.background, load.incasts)).collect::<Vec<_>>()
    });
    let of = run(evidence).count();
    (of > 0).then(|| {
        if growing.iter().all(Vec::is_empty) {
            return format!(
                "At none of {of} loads do short messages clearly take longer in longer runs."
            );
        }
        let at = |loads: &[String]| if loads.is_empty() { "none".into() } else { loads.join(", ") };
        let [pfc, native, proxy] = growing.each_ref().map(|loads| at(loads));
        format!(
            "At some of {of} loads (background + incasts, of the capacity), short messages clearly take \
             longer in longer runs: with PFC at {pfc}, with sfc-native at {native}, with sfc-proxy at \
             {proxy}. A gain at these loads is not that of a steady state."
        )
    })
}

/// The section.
pub fn loads(evidence: &Evidence) -> Section {
    let names: Vec<&'static str> = LOADS.iter().flat_map(|load| [load.short, load.long]).collect();
    let question = "Loads at which each flow control reaches a steady state";
    let mut section = evidence.section("loads", question, &["E3a", "E4"], &names);
    let Some(answer) = answer(evidence) else { return section };
    section.answer = answer;
    section.text = vec![
        "Runs have 128 hosts and three replications, and are measured from 2.5 ms to 4 ms and from 2.5 ms \
         to 8 ms. \"Carried\" is the payload that arrived in the shorter measurement, as a share of the \
         load offered on average. Sizes are heavy-tailed, so it varies by some percent around 100 even if \
         nothing is left behind. \"Growth\" is the change of the mean completion time of background \
         messages below 10 KB from the shorter to the longer measurement, in percent with its 95 % \
         interval. Where it is clearly above zero, completion times depend on the length of the run."
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
        "Carried load, and growth of completion times with the length of the run",
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
