//! Queue depths.

use floodway_report::study::{Exhibit, Section};

use crate::ci::{CI, CONGESTING, LOCAL, MONITORED, WITHOUT, case, largest};
use crate::curves::{depth_chart, depth_line};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{moves, number, table, value};

/// The depths that are shown, in bytes.
const DEPTHS: (f64, f64) = (1e3, 1.05e6);
/// The thresholds of the decks, in bytes.
const THRESHOLDS: &[(f64, &str)] = &[(300e3, "high"), (750e3, "XOFF")];

/// Claims D9 to D11.
pub fn depths(evidence: &Evidence) -> Section {
    let main = largest(evidence, "two-queues");
    let question = "Queue depths";
    let mut section =
        evidence.section("queue-depth", question, &["D9a", "D9b", "D9c", "D10", "D11"], &[main]);
    let (without, with) = (case(main, WITHOUT), case(main, CI));
    let mean = |facts: &Facts| facts.mean_depth(MONITORED);
    let most = evidence.most(with, "KB", |facts| facts.largest(MONITORED) / 1e3);
    section.answer = format!(
        "With isolation, the mean depth of the non-congested queue {}, and no such queue was ever deeper \
         than {}.",
        moves(&evidence.change(without, with, mean)),
        value(&most)
    );
    section.text = vec![format!(
        "Every egress queue of the fabric of {} servers is sampled periodically during the \
         measurement. The decks' queue 1 (non-congested) is our queue 0, in which flows begin; \
         their queue 0 (congested) is our queue 1.",
        evidence.servers(main)
    )];
    let variants = [WITHOUT, LOCAL, CI].into_iter().enumerate();
    let variants: Vec<_> = variants.filter(|(_, v)| evidence.has(case(main, v))).collect();
    let chart = |(heading, queue): (&str, u64)| {
        let line = |(series, variant): &(usize, &'static str)| {
            depth_line(*series, variant, &evidence.depths(case(main, variant), queue))
        };
        depth_chart(heading, DEPTHS, THRESHOLDS, variants.iter().map(line).collect())
    };
    section.exhibits.push(Exhibit::Lines {
        name: "queue-depth".to_owned(),
        caption: "Queue depth distribution: share of samples above a depth".to_owned(),
        legend: variants.iter().map(|(series, name)| (*series, (*name).to_owned())).collect(),
        charts: [("queue 0 (non-congested)", MONITORED), ("queue 1 (congested)", CONGESTING)]
            .map(chart)
            .to_vec(),
        columns: 2,
        note:
            "All samples of all queues and replications. Without isolation, both queues are alike: the hash \
             assigns flows to them."
                .to_owned(),
    });
    let mut rows = Vec::new();
    for (_, variant) in &variants {
        for (label, queue) in [("queue 0", MONITORED), ("queue 1", CONGESTING)] {
            let of = case(main, variant);
            let deeper = |bytes: f64| {
                number(&evidence.number(of, "", move |facts| facts.deeper_than(queue, bytes)))
            };
            rows.push(vec![
                format!("{variant}, {label}"),
                number(&evidence.number(of, "KB", |facts| facts.mean_depth(queue) / 1e3)),
                value(&evidence.most(of, "KB", |facts| facts.largest(queue) / 1e3)),
                deeper(1e4),
                deeper(3e5),
            ]);
        }
    }
    section.exhibits.push(table(
        "queue-depth-numbers",
        "Depths, over all queues of the fabric",
        "Means and counts are means over replications. The largest depth is that of all runs.",
        &["", "mean depth", "largest depth", "queues > 10 KB on average", "> 300 KB on average"],
        rows,
    ));
    section
}
