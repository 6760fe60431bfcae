//! Losses without PFC.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::Section;

use super::loss_rates;
use crate::ci::claims::{class_drops, lossy_flows};
use crate::ci::{ALL, CI, CONGESTING, LOCAL, MONITORED, WITHOUT, case, largest};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Entry, moves, number, rows, table};

/// Claims A3, D12.
pub fn losses(evidence: &Evidence) -> Section {
    let main = largest(evidence, "lossy");
    let question = "Losses without PFC";
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
        "With ECN of at most 1 % and selective repeat, isolation changes losses as follows: the loss \
         rate {}, and the number of flows that lose a packet {}.{}",
        change(Facts::loss_rate),
        change(lossy_flows),
        loss_rates(evidence)
    );
    section.text = vec![
        "The same fabric without PFC: a packet that finds its queue full is dropped. The decks do not \
         say how it is retransmitted. Selective repeat (as in IRN) retransmits only what was lost. \
         Go-back-N, as in the first RDMA network cards, retransmits everything from there on. The decks \
         do not say either how much data may be in flight. RoCEv2 has no limit, so only ECN slows down \
         an incast. IRN limits it to the bandwidth-delay product, here 25 KB. \"Selective repeat\" has \
         ECN of at most 1 % and no limit; the experiments with other names differ from it only in \
         what the name says."
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
        "Loss rate: dropped packets as a share of packets sent",
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
        "Loss rates, and which flows and queues have losses",
        "The loss rate is the number of dropped frames of any kind over the number of data packets sent. \
         Both are counted during the measurement and include incasts. The share of queue 1 is over whole \
         runs. Flows with loss are measured flows, which do not include those of an incast.",
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
