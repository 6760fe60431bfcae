//! What the deck leaves open, and the effect of each choice.

use floodway_report::study::Section;
use floodway_report::words;

use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{number, short, table};
use crate::short_range::measures::{
    carried, entered, largest_response, latency, loss_ratio, lost, response,
};
use crate::short_range::plan::{
    self, ENTRIES_READINGS, MIXED_READINGS, MULTISTAGE_READINGS, READ_AT, Reading, SWEEP_READINGS,
};
use crate::short_range::{
    DRC, DRC_L2CI, DRC_STOP, ENTRIES, L2CI, NO_CONTROL, PAUSE, PAUSE_EGRESS, RED, case,
};

/// The readings of a network that were run, with what is as it stands first.
fn rows<'a>(
    evidence: &Evidence,
    network: &str,
    base: &'static str,
    readings: impl IntoIterator<Item = &'a Reading>,
    variant: &'static str,
) -> Vec<(&'static str, &'a str)> {
    let mut rows = vec![(base, "as it stands")];
    rows.extend(readings.into_iter().map(|of| (plan::reading(network, of.0), of.1)));
    rows.retain(|(name, _)| evidence.has(case(name, variant)));
    rows
}

/// A count of all replications.
fn count(evidence: &Evidence, of: Case) -> String {
    lost(evidence, of).value.map_or_else(String::new, words::count)
}

/// Of the sweeps.
pub fn sweeps(evidence: &Evidence) -> Section {
    let question = "Gain of Directional Rate Control by reading";
    let networks = ["backplane", "multistage"];
    let all = || SWEEP_READINGS.iter().chain(MULTISTAGE_READINGS);
    let names = networks.iter().flat_map(|of| all().map(move |row| plan::reading(of, row.0)));
    let names: Vec<&'static str> = names.collect();
    let mut section = evidence.section(
        "sweep-readings",
        question,
        &["B2a", "B2b", "B2c", "B2d", "B2e", "B3a", "B3b", "B3d"],
        &names,
    );
    if section.links.is_empty() {
        return section;
    }
    let mut gains = [0, 0, 0, 0];
    let mut rows_of = |network: &str, base: &'static str| -> Vec<Vec<String>> {
        let rows = rows(evidence, network, base, all(), NO_CONTROL);
        let row = |(name, label): (&'static str, &str)| {
            let of = |variant| case(name, variant);
            let change =
                |from, to, number: fn(&Facts) -> f64| evidence.change(of(from), of(to), number);
            let up =
                |from, to| change(from, to, carried).bounds().is_some_and(|(low, _)| low > 0.0);
            for (count, gains) in gains.iter_mut().zip([
                true,
                up(PAUSE_EGRESS, DRC),
                up(PAUSE, DRC),
                up(PAUSE, DRC_STOP),
            ]) {
                *count += usize::from(gains);
            }
            let mut row = vec![label.to_owned()];
            for variant in [DRC, DRC_STOP] {
                row.push(number(&evidence.number(of(variant), "Gb/s", carried)));
                row.push(short(&change(PAUSE_EGRESS, variant, carried)));
                row.push(short(&change(PAUSE, variant, carried)));
                row.push(short(&change(PAUSE_EGRESS, variant, latency)));
                row.push(short(&change(PAUSE, variant, latency)));
                row.push(count(evidence, of(variant)));
            }
            row
        };
        rows.into_iter().map(row).collect()
    };
    let tables = [
        ("backplane", rows_of("backplane", plan::backplane(READ_AT))),
        ("multistage", rows_of("multistage", plan::multistage(READ_AT))),
    ];
    let [all, egress, ingress, stop] = gains;
    section.answer = format!(
        "With 64 KB per port, Directional Rate Control has a clearly larger throughput than 802.3x \
         measured at output ports in {egress} of {all} readings, and than 802.3x measured at input ports \
         in {ingress}. If it only stops directions, the latter number is {stop}.",
    );
    section.text = vec![
        "Each row is a reading that makes one other choice. Changes of throughput and of mean latency are in \
         percent with 95 % intervals: from 802.3x measured at output ports (\"out\") and at input ports \
         (\"in\") to Directional Rate Control as it stands, which halves rates, and to Directional Rate \
         Control that only stops directions. \"Lost\" counts frames in all replications. Choices for \
         Directional Rate Control do not change 802.3x."
            .to_owned(),
    ];
    for (network, rows) in tables.into_iter().filter(|(_, rows)| rows.len() > 1) {
        section.exhibits.push(table(
            &format!("{network}-readings"),
            &format!("Effect of each choice: {network}, 64 KB per port"),
            "",
            &[
                "",
                "DRC: throughput",
                "from out",
                "from in",
                "latency: out",
                "in",
                "lost",
                "stops only: throughput",
                "from out",
                "from in",
                "latency: out",
                "in",
                "lost",
            ],
            rows,
        ));
    }
    section
}

/// Of entries.toml.
pub fn entries(evidence: &Evidence) -> Section {
    let question = "Gain of L2 Congestion Indication by reading";
    let names: Vec<&'static str> =
        ENTRIES_READINGS.iter().map(|of| plan::reading(ENTRIES, of.0)).collect();
    let mut section = evidence.section("entries-readings", question, &["B4", "B5"], &names);
    if section.links.is_empty() {
        return section;
    }
    let rows = rows(evidence, ENTRIES, ENTRIES, ENTRIES_READINGS, NO_CONTROL);
    let change = |name, from, number: fn(&Facts) -> f64| {
        evidence.change(case(name, from), case(name, L2CI), number)
    };
    let up = |from| {
        let clear = |(name, _): &&(&'static str, &str)| {
            change(name, from, entered).bounds().is_some_and(|(low, _)| low > 0.0)
        };
        rows.iter().filter(clear).count()
    };
    section.answer = format!(
        "In {} readings, the payload of completed requests is clearly larger with L2-CI than without flow \
         control in {}, than with 802.3x in {} and than with RED that drops in {}.",
        rows.len(),
        up(NO_CONTROL),
        up(PAUSE),
        up(RED),
    );
    section.text = vec![
        "Each row is a reading that makes one other choice, in runs of 1 s. Changes from the other \
         mechanism to L2-CI are in percent with 95 % intervals; changes above +400 % are factors. If the \
         result depends on a single client that waits for a timeout, replications differ so much that \
         the intervals of a few are wide."
            .to_owned(),
    ];
    let row = |(name, label): &(&'static str, &str)| {
        let mut row = vec![(*label).to_owned()];
        row.push(number(&evidence.number(case(name, L2CI), "Gb/s", entered)));
        row.extend([NO_CONTROL, PAUSE, RED].map(|from| short(&change(name, from, entered))));
        row.extend([NO_CONTROL, PAUSE, RED].map(|from| short(&change(name, from, response))));
        let lost = [NO_CONTROL, PAUSE, RED, L2CI].map(|of| count(evidence, case(name, of)));
        row.push(lost.join(", "));
        row
    };
    section.exhibits.push(table(
        "entries-readings",
        "Effect of each choice",
        "\"Lost\" counts packets in all replications: no flow control, 802.3x, RED, L2-CI.",
        &[
            "",
            "L2-CI: throughput",
            "from none",
            "from 802.3x",
            "from RED",
            "response: none",
            "802.3x",
            "RED",
            "lost",
        ],
        rows.iter().map(row).collect(),
    ));
    section
}

/// Of mixed.toml.
pub fn mixed(evidence: &Evidence) -> Section {
    let question = "Drops and response times by reading";
    let names: Vec<&'static str> =
        MIXED_READINGS.iter().map(|of| plan::reading("mixed", of.0)).collect();
    let claims = ["B7a", "B7b", "B8a", "B8b", "B9"];
    let mut section = evidence.section("mixed-readings", question, &claims, &names);
    if section.links.is_empty() {
        return section;
    }
    let rows = rows(evidence, "mixed", plan::mixed(READ_AT), MIXED_READINGS, RED);
    let without_loss = |variant| {
        let none = |(name, _): &&(&'static str, &str)| {
            lost(evidence, case(name, variant)).value == Some(0.0)
        };
        rows.iter().filter(none).count()
    };
    let few = |(name, _): &&(&'static str, &str)| {
        let ratio = loss_ratio(evidence, case(name, L2CI), case(name, RED)).value;
        ratio.is_some_and(|ratio| ratio <= 10.0)
    };
    section.answer = format!(
        "In {} readings, nothing is lost with 802.3x in {} and with Directional Rate Control in {}. L2-CI \
         alone loses at most a tenth of what RED drops in {}.",
        rows.len(),
        without_loss(PAUSE),
        without_loss(DRC_L2CI),
        rows.iter().filter(few).count(),
    );
    section.text = vec![
        "Each row is a reading that makes one other choice, in runs of 1 s with 64 KB per port. Numbers are \
         means over replications."
            .to_owned(),
    ];
    let row = |(name, label): &(&'static str, &str)| {
        let mut row = vec![(*label).to_owned()];
        for variant in [RED, PAUSE, L2CI, DRC_L2CI] {
            let of = case(name, variant);
            row.push(number(&evidence.number(of, "packets", Facts::all_drops)));
            row.push(number(&evidence.number(of, "Gb/s", entered)));
            row.push(number(&evidence.most(of, "ns", largest_response)));
        }
        row
    };
    section.exhibits.push(table(
        "mixed-readings",
        "Effect of each choice",
        "\"Largest\" is the largest response time of any replication.",
        &[
            "",
            "RED: lost",
            "throughput",
            "largest",
            "802.3x: lost",
            "throughput",
            "largest",
            "L2-CI: lost",
            "throughput",
            "largest",
            "with DRC: lost",
            "throughput",
            "largest",
        ],
        rows.iter().map(row).collect(),
    ));
    section
}
