//! What waits in switches, and who is stopped.

use floodway_report::study::{Exhibit, Section};

use super::cases;
use crate::curves::{depth_line, occupancy_chart};
use crate::evidence::{Evidence, Facts};
use crate::exhibit::{moves, number, table};
use crate::sfc::{ALL_VARIANTS, MAIN, NATIVE, PFC, PROXY, case, main};

/// The tiers of the fat-tree.
const TIERS: [(&str, u64); 3] = [("edge", 0), ("aggregation", 1), ("core", 2)];

/// Claim E5.
pub fn queues(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "How much waits in the network?";
    let mut section = evidence.section("queue-depth", question, &["E5"], &[main]);
    let held = |variant, name: &'static str| {
        let bytes = move |facts: &Facts| facts.number(name);
        moves(&evidence.change(case(main, PFC), case(main, variant), bytes))
    };
    section.answer = format!(
        "On average the bytes in a switch {} with NICs that obey and {} with the proxy; the most that \
         was ever in a switch {} and {}.",
        held(NATIVE, "switch_mean_occupancy_bytes"),
        held(PROXY, "switch_mean_occupancy_bytes"),
        held(NATIVE, "switch_max_occupancy_bytes"),
        held(PROXY, "switch_max_occupancy_bytes"),
    );
    section.text = vec![
        "Every 2 us the data in each port and each switch is counted. PFC with static thresholds \
         holds up to 650 KB for each ingress port before it stops a neighbour; Source Flow Control \
         speaks up at 100 KB in an egress queue, and what its senders send until they hear it still \
         comes."
            .to_owned(),
    ];
    let cases = cases(evidence, MAIN);
    let chart = |(tier, number): (&str, u64), scope: &str, range| {
        let line = |(name, series, case): &(&'static str, usize, _)| {
            depth_line(*series, name, &evidence.occupancy(*case, scope, &[number]))
        };
        let marks = [(1e5, "trigger"), (6.5e5, "XOFF")];
        let marks = if scope == "port" { &marks[..] } else { &[] };
        let heading = format!("{tier} {scope}s").replace("switchs", "switches");
        occupancy_chart(&heading, range, marks, cases.iter().map(line).collect())
    };
    for (scope, range, caption) in [
        ("port", (1e3, 1.6e7), "How much waits at a port?"),
        ("switch", (1e3, 1.7e7), "How much is in a switch?"),
    ] {
        section.exhibits.push(Exhibit::Lines {
            name: format!("occupancy-{scope}"),
            caption: caption.to_owned(),
            legend: cases.iter().map(|(name, series, _)| (*series, (*name).to_owned())).collect(),
            charts: TIERS.map(|tier| chart(tier, scope, range)).to_vec(),
            columns: 3,
            note: "All samples of the measurement, all replications.".to_owned(),
        });
    }
    let row = |(name, _, case): &(&'static str, usize, _)| {
        let bytes = |scalar: &'static str| {
            number(&evidence.number(*case, "KB", move |facts| facts.number(scalar) / 1e3))
        };
        vec![
            (*name).to_owned(),
            bytes("port_mean_occupancy_bytes"),
            bytes("port_p99_occupancy_bytes"),
            bytes("port_p999_occupancy_bytes"),
            bytes("port_max_occupancy_bytes"),
            bytes("switch_mean_occupancy_bytes"),
            bytes("switch_p99_occupancy_bytes"),
            bytes("switch_max_occupancy_bytes"),
        ]
    };
    section.exhibits.push(table(
        "occupancy-numbers",
        "Bytes that wait, over all ports and switches",
        "Means over replications. Percentiles are upper edges of bins that are 19 % wide.",
        &["", "port: mean", "p99", "p99.9", "most", "switch: mean", "p99", "most"],
        super::cases(evidence, ALL_VARIANTS).iter().map(row).collect(),
    ));
    section
}

/// Who is stopped, by what.
pub fn pauses(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Who is stopped, and what does it cost to say so?";
    let mut section = evidence.section("pauses", question, &["S1", "E7"], &[main]);
    let number_of = |variant, name: &'static str| {
        number(&evidence.number(case(main, variant), "", move |facts| facts.number(name)))
    };
    section.answer = format!(
        "PFC takes {} pause frames a run; Source Flow Control takes {} messages with the proxy and \
         {} with NICs that obey, and no port of a switch is ever stopped.",
        number_of(PFC, "pause_frames"),
        number_of(PROXY, "sfc_messages"),
        number_of(NATIVE, "sfc_messages"),
    );
    section.text = vec![
        "Counted from the warm-up to the end of arrivals. Reminders are pauses by which edge switches \
         stop their hosts because of the destination cache."
            .to_owned(),
    ];
    const COUNTERS: &[(&str, &str, &str)] = &[
        ("PFC frames that stop", "pause_frames", ""),
        ("ports of edge switches paused", "tier_0_paused_ns", "ns"),
        ("ports of aggregation switches paused", "tier_1_paused_ns", "ns"),
        ("ports of core switches paused", "tier_2_paused_ns", "ns"),
        ("hosts paused", "hosts_paused_ns", "ns"),
        ("destinations held by hosts", "sfc_holds_ns", "ns"),
        ("SFC messages", "sfc_messages", ""),
        ("reminders", "sfc_reminders", ""),
        ("PFC frames by proxies", "sfc_proxy_pauses", ""),
        ("BFC pauses", "bfc_pauses", ""),
        ("CNPs", "cnps_sent", ""),
        ("packets dropped", "dropped_packets", ""),
        ("packets sent again", "retransmitted_packets", ""),
    ];
    let cases = cases(evidence, ALL_VARIANTS);
    let row = |(label, name, unit): &(&str, &'static str, &'static str)| {
        let mut row = vec![(*label).to_owned()];
        for (.., case) in &cases {
            let value = evidence.number(*case, unit, |facts| facts.number(name));
            row.push(number(&value));
        }
        row
    };
    let mut head = vec!["per run"];
    head.extend(cases.iter().map(|(name, ..)| *name));
    let caption = "Pauses, messages and losses";
    let rows = COUNTERS.iter().map(row).collect();
    section.exhibits.push(table("pauses", caption, "", &head, rows));
    section
}
