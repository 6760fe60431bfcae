//! Pauses, by class and tier.

use floodway_report::chart::{Axis, Mark};
use floodway_report::study::Section;

use crate::ci::{CI, CONGESTING, LOCAL, MONITORED, WITHOUT, case, largest};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{Entry, moves, number, rows, table};

/// Claims A2, A8.
pub fn pauses(evidence: &Evidence) -> Section {
    let main = largest(evidence, "two-queues");
    let question = "Pauses";
    let mut section = evidence.section("pauses", question, &["A2", "A8a", "A8b"], &[main]);
    let change = |variant, name: &'static str| {
        let number = move |facts: &Facts| facts.number(name);
        evidence.change(case(main, WITHOUT), case(main, variant), number)
    };
    section.answer = format!(
        "With isolation, the number of pause frames {}, and the time that ports may not send {}.",
        moves(&change(CI, "pause_frames")),
        moves(&change(CI, "paused_ns"))
    );
    section.text = vec![
        "Pauses are counted from the warm-up to the end of arrivals, because runs without isolation take \
         longer to finish. Frames that prolong a pause are counted as well. The time is summed over \
         ports and classes."
            .to_owned(),
    ];
    let group = |label: &str, name: &'static str, claimed: Option<f64>| {
        let entry = |(series, variant)| Entry {
            claimed: claimed.filter(|_| variant == CI),
            ..Entry::new(variant, series, change(variant, name))
        };
        (label.to_owned(), [(1, LOCAL), (2, CI)].map(entry).to_vec())
    };
    section.exhibits.push(rows(
        "pauses",
        "Change of pauses from without-ci",
        Axis::linear("change", "%"),
        Mark::Point,
        "",
        vec![
            group("pause frames", "pause_frames", Some(-84.0)),
            group("paused time", "paused_ns", None),
        ],
    ));
    let mut table_rows = Vec::new();
    let places = [("leaves", "tier_0"), ("spines", "tier_1"), ("hosts", "hosts")];
    for (class, queue) in [("non-congested", MONITORED), ("congested", CONGESTING)] {
        for (place, key) in places {
            let mut row = vec![format!("class {queue} ({class}), {place}")];
            for variant in [WITHOUT, LOCAL, CI] {
                let of = |what: &str| format!("{key}_class_{queue}_{what}");
                let (frames, time) = (of("xoff_frames"), of("paused_ns"));
                row.push(match key {
                    "hosts" => "-".to_owned(),
                    _ => number(&evidence.number(case(main, variant), "", |f| f.number(&frames))),
                });
                row.push(number(&evidence.number(case(main, variant), "ns", |f| f.number(&time))));
            }
            table_rows.push(row);
        }
    }
    let note = "XOFF frames are those that the switches of a tier send to stop a class, without \
                refreshes; paused time is that during which ports of the tier may not send the \
                class. Hosts are paused and send no pauses. Without isolation both classes are \
                alike, and the names do not apply.";
    section.exhibits.push(table(
        "pauses-by-class",
        "Pauses by class and tier, per run",
        note,
        &[
            "",
            "without-ci: XOFF frames",
            "paused time",
            "ci-local: XOFF frames",
            "paused time",
            "ci: XOFF frames",
            "paused time",
        ],
        table_rows,
    ));
    section
}
