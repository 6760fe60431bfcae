//! Losses without PFC.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::Section;

use crate::ci::claims::{class_drops, lossy_flows};
use crate::ci::{ALL, CI, CONGESTING, LOCAL, MONITORED, WITHOUT, case, largest};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Entry, moves, number, rows, table};

/// Claims A3, D12.
pub fn losses(evidence: &Evidence) -> Section {
    let main = largest(evidence, "lossy");
    let question = "What is lost without PFC?";
    let readings = [
        (main, "selective repeat"),
        ("lossy-go-back-n", "go-back-N"),
        ("lossy-ecn-step", "ECN as a step"),
        ("lossy-128-packets", "131 KB in flight at most"),
        ("lossy-bdp", "25 KB in flight at most"),
    ];
    let names: Vec<&'static str> =
        readings.iter().map(|(name, _)| *name).chain(["lossy"]).collect();
    let mut section = evidence.section("losses", question, &["A3", "D12a", "D12b"], &names);
    if !evidence.has(case(main, CI)) {
        return section;
    }
    let change = |number: fn(&Facts) -> f64| {
        moves(&evidence.change(case(main, WITHOUT), case(main, CI), number))
    };
    section.answer = format!(
        "The loss rate {}, and the number of flows that lose a packet {}.",
        change(Facts::loss_rate),
        change(lossy_flows)
    );
    section.text = vec![
        "The same fabric without PFC: a packet that finds its queue full is dropped. The decks do \
         not say how it is sent again. With selective repeat (as IRN does it) only what was lost \
         is; with go-back-N, as the first RDMA network cards had it, everything from there on. Nor do \
         they say how much may be in flight. RoCEv2 has no limit, and then only ECN slows an incast \
         down; IRN has one of the bandwidth-delay product, here 25 KB. The last three rows change one \
         thing in the first."
            .to_owned(),
    ];
    let mut experiments = readings.to_vec();
    experiments.retain(|(experiment, _)| evidence.has(case(experiment, CI)));
    let mut groups = Vec::new();
    for (experiment, recovery) in &experiments {
        let variants = [WITHOUT, LOCAL, CI].into_iter().enumerate();
        let entries = variants.filter(|(_, variant)| evidence.has(case(experiment, variant)));
        let entries = entries.map(|(series, variant)| {
            Entry::new(
                variant,
                series,
                evidence.share(case(experiment, variant), "% of packets", Facts::loss_rate),
            )
        });
        groups.push(((*recovery).to_owned(), entries.collect()));
    }
    section.exhibits.push(rows(
        "loss-rate",
        "Which share of the packets that are sent is dropped?",
        Axis::linear("loss rate, % of packets sent", ""),
        Mark::Bar,
        "",
        groups,
    ));
    let mut table_rows = Vec::new();
    let mut cases = Vec::new();
    for (experiment, recovery) in &experiments {
        for variant in [WITHOUT, LOCAL, CI] {
            let of = case(experiment, variant);
            if !evidence.has(of) {
                continue;
            }
            if *experiment == main {
                cases.push(of);
            }
            let (left, all) = evidence.unfinished(of);
            let drops = |queue| class_drops(evidence, of, queue);
            let sum = drops(MONITORED) + drops(CONGESTING);
            let share = if sum == 0 {
                "-".to_owned()
            } else {
                format!("{:.1} %", drops(CONGESTING) as f64 / sum as f64 * 100.0)
            };
            table_rows.push(vec![
                format!("{recovery}, {variant}"),
                number(&evidence.share(of, "% of packets", Facts::loss_rate)),
                number(&evidence.number(of, "", lossy_flows)),
                share,
                number(&evidence.fct(of, ALL)),
                format!("{left} of {all}"),
            ]);
        }
    }
    let left = evidence.unfinished_in_words(&cases);
    section.text.extend((!left.is_empty()).then_some(left));
    section.exhibits.push(table(
        "losses",
        "Losses, and who has them",
        "The loss rate is dropped frames of any kind over data packets sent, both during the measurement \
         and incasts included; the share of queue 1 is over \
         whole runs. Flows with loss are measured flows, so none of an incast.",
        &[
            "",
            "loss rate",
            "flows of 1000 with loss",
            "drops in queue 1",
            "mean completion time",
            "unfinished",
        ],
        table_rows,
    ));
    section
}
