//! What the deck leaves open, and the effect of each choice.

use floodway_report::study::Section;

use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{number, short, table};
use crate::flows::FlowGroup;
use crate::sfc::plan::{OPEN, OPEN_PFC, OPEN_SFC};
use crate::sfc::{INCAST, MEDIUM, NATIVE, PFC, PROXY, SHORT, case};

const BASE: &str = "open-base";

fn held(facts: &Facts) -> f64 {
    facts.number("switch_mean_occupancy_bytes")
}

/// Every other choice.
pub fn open(evidence: &Evidence) -> Section {
    let question = "Effects of the choices that the deck leaves open";
    let names: Vec<&'static str> = OPEN
        .iter()
        .chain(OPEN_PFC)
        .map(|row| row.0)
        .chain(OPEN_SFC.iter().map(|row| row.0))
        .collect();
    let mut section = evidence.section(
        "open-choices",
        question,
        &["E3a", "E3b", "E3c", "E4", "E5", "S3"],
        &names,
    );
    if !evidence.has(case(BASE, PFC)) {
        return section;
    }
    let cells = |from: Case, to: Case| -> Vec<String> {
        let fct = |group| short(&evidence.fct_change(from, to, group));
        vec![fct(SHORT), fct(MEDIUM), fct(INCAST), short(&evidence.change(from, to, held))]
    };
    let row = |label: &str, pfc: Case, native: Case, proxy: Case| -> Vec<String> {
        let mut row = vec![label.to_owned(), number(&evidence.fct(pfc, SHORT))];
        row.extend(cells(pfc, native));
        row.extend(cells(pfc, proxy));
        let left = [pfc, native, proxy].map(|of| evidence.unfinished(of).0.to_string());
        row.push(left.join(", "));
        row
    };
    let mut rows = Vec::new();
    let base = |variant| case(BASE, variant);
    for (name, label, _) in OPEN {
        let pfc = case(name, PFC);
        if evidence.has(pfc) {
            rows.push(row(label, pfc, case(name, NATIVE), case(name, PROXY)));
        }
    }
    for (name, label, _) in OPEN_PFC {
        let pfc = case(name, PFC);
        if evidence.has(pfc) {
            rows.push(row(label, pfc, base(NATIVE), base(PROXY)));
        }
    }
    for (name, label, _) in OPEN_SFC {
        if evidence.has(case(name, NATIVE)) {
            rows.push(row(label, base(PFC), case(name, NATIVE), case(name, PROXY)));
        }
    }
    let gains = |variant, group: FlowGroup| {
        let clear = |name: &&(&'static str, &str, &[&str])| {
            let of = evidence.fct_change(case(name.0, PFC), case(name.0, variant), group);
            of.bounds().is_some_and(|(_, high)| high < 0.0)
        };
        let run = OPEN.iter().filter(|(name, ..)| evidence.has(case(name, variant)));
        (run.clone().filter(clear).count(), run.count())
    };
    let ((short_native, of), (short_proxy, _)) = (gains(NATIVE, SHORT), gains(PROXY, SHORT));
    let ((medium_native, _), (medium_proxy, _)) = (gains(NATIVE, MEDIUM), gains(PROXY, MEDIUM));
    section.answer = format!(
        "In {of} readings, background messages below 10 KB are clearly faster than with PFC in \
         {short_native} with sfc-native and in {short_proxy} with sfc-proxy. Those of 10 KB to 1 MB are \
         clearly faster in {medium_native} with sfc-native and in {medium_proxy} with sfc-proxy.",
    );
    section.text = vec![
        "Each row is another reading, in a shorter version of the main experiment (128 hosts, three \
         replications). Changes of the mean completion time, and of the mean number of bytes in a switch, \
         are relative to PFC, in percent with 95 % intervals; changes above +400 % are factors. If a \
         reading changes PFC or Source Flow Control only, the other side is as it stands. \"Left\" counts \
         flows that had not finished with PFC, native and proxy; the times of these variants are lower \
         bounds."
            .to_owned(),
    ];
    section.exhibits.push(table(
        "open-choices",
        "Gain of Source Flow Control by reading",
        "",
        &[
            "",
            "PFC: <10 KB",
            "native: <10 KB",
            "10 KB–1 MB",
            "incast",
            "bytes",
            "proxy: <10 KB",
            "10 KB–1 MB",
            "incast",
            "bytes",
            "left",
        ],
        rows,
    ));
    section
}
