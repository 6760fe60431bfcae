//! Requests to databases over several stages with one slow link: slides 16 to 18.

use floodway_report::study::Section;

use super::{over_time, packets};
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{moves, number, table};
use crate::short_range::measures::{
    above_l2, early_drops, entered, largest_response, lost, response,
};
use crate::short_range::plan::{self, PORTS};
use crate::short_range::{DRC_L2CI, L2CI, OVER_MIXED, PAUSE, RED, case};

/// Claims B6 to B9.
pub fn mixed(evidence: &Evidence) -> Section {
    let question = "Requests over TCP and several stages, with little memory";
    let names: Vec<&'static str> = PORTS.map(plan::mixed).to_vec();
    let claims = ["B6", "B7a", "B7b", "B8a", "B8b", "B9"];
    let mut section = evidence.section("mixed", question, &claims, &names);
    let of = |kb, variant| case(plan::mixed(kb), variant);
    if !evidence.has(of(64, RED)) {
        return section;
    }
    let change = |kb, from, to, number: fn(&Facts) -> f64| {
        moves(&evidence.change(of(kb, from), of(kb, to), number))
    };
    let lose = |kb, variant| number(&packets(evidence, of(kb, variant)));
    let runs =
        |variant| PORTS.map(|kb| evidence.runs(of(kb, variant)).count()).iter().sum::<usize>();
    section.answer = format!(
        "With 64 KB per port, a run loses {} with RED that drops and {} with L2 Congestion Indication; with \
         32 KB, it loses {} and {}. {} runs with 802.3x lose {} packets in total, and {} runs with \
         Directional Rate Control lose {}. With L2-CI, compared with RED that drops, the payload of \
         completed requests {} (64 KB). With Directional Rate Control in addition, it {} (64 KB), and the \
         largest response time of a run {} (32 KB). With Directional Rate Control, RED and L2-CI, \
         compared with 802.3x alone, the payload {}, and the largest response time {} (64 KB).",
        lose(64, RED),
        lose(64, L2CI),
        lose(32, RED),
        lose(32, L2CI),
        runs(PAUSE),
        lost_in_all(evidence, PAUSE),
        runs(DRC_L2CI),
        lost_in_all(evidence, DRC_L2CI),
        change(64, RED, L2CI, entered),
        change(64, L2CI, DRC_L2CI, entered),
        change(32, L2CI, DRC_L2CI, largest_response),
        change(64, PAUSE, DRC_L2CI, entered),
        change(64, PAUSE, DRC_L2CI, largest_response),
    );
    section.text = vec![
        "Six clients on three access switches send requests to two servers behind a core switch. One \
         client has a link of 1 Gb/s. The deck's picture is not in its text. This reconstruction rests on \
         two points: the peak is that of two links of 10 Gb/s, and all clients send to all servers. The \
         deck does not say either how long its runs were, so its numbers of drops can only be compared \
         with each other. Here a run has 2 s, or less in the quick version."
            .to_owned(),
    ];
    for kb in PORTS {
        let cases: Vec<(Case, &str, usize)> = OVER_MIXED
            .iter()
            .map(|(variant, label, look)| (of(kb, variant), *label, *look))
            .collect();
        section.exhibits.push(over_time::exhibit(
            evidence,
            (
                &format!("mixed-{kb}-over-time"),
                &format!("Throughput and largest response time over time, {kb} KB per port"),
                "The first replication, in windows of a hundredth of it. A timeout takes 200 ms.",
            ),
            &cases,
        ));
    }
    let row = |kb: u32, (variant, label, _): &(&'static str, &str, usize)| {
        let of = of(kb, variant);
        vec![
            format!("{label}, {kb} KB"),
            number(&packets(evidence, of)),
            number(&evidence.number(of, "packets", early_drops)),
            number(&evidence.number(of, "Gb/s", entered)),
            number(&evidence.number(of, "GB/s", above_l2)),
            number(&evidence.number(of, "ns", response)),
            number(&evidence.number(of, "ns", largest_response)),
            number(&evidence.number(of, "", |facts| facts.number("timeouts"))),
        ]
    };
    let rows = PORTS.iter().flat_map(|kb| OVER_MIXED.iter().map(move |of| (*kb, of)));
    section.exhibits.push(table(
        "mixed-numbers",
        "Losses, throughput and response times",
        "Means over replications from 0.1 s on; losses are counted from the beginning. \"Early\" losses are \
         those of the first 0.1 s. The deck has drops of 2554, 0, 72 and 0 with 64 KB and 2373, 0, 105 and 0 with \
         32 KB.",
        &[
            "",
            "lost",
            "early",
            "throughput",
            "above L2",
            "mean response",
            "largest",
            "timeouts",
        ],
        rows.map(|(kb, of)| row(kb, of)).collect(),
    ));
    section
}

/// The packets that a variant lost in all runs with both sizes, in words.
fn lost_in_all(evidence: &Evidence, variant: &'static str) -> String {
    let lost = PORTS.map(|kb| lost(evidence, case(plan::mixed(kb), variant)).value);
    lost.into_iter().sum::<Option<f64>>().map_or_else(|| "-".to_owned(), |lost| format!("{lost}"))
}
