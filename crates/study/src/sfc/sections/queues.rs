//! Buffer occupancy, pauses and messages.

use floodway_model::graph::NodeKind;
use floodway_report::study::{Exhibit, Section};

use super::cases;
use crate::curves::{depth_line, occupancy_chart};
use crate::evidence::{Case, Evidence, Facts};
use crate::exhibit::{moves, number, table};
use crate::measure::Measured;
use crate::sfc::{ALL_VARIANTS, MAIN, NATIVE, PFC, PROXY, case, main};

/// The tiers of the fat-tree.
const TIERS: [(&str, u64); 3] = [("edge", 0), ("aggregation", 1), ("core", 2)];

/// Claim E5.
pub fn queues(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Buffer occupancy";
    let mut section = evidence.section("queue-depth", question, &["E5"], &[main]);
    let held = |variant, name: &'static str| {
        let bytes = move |facts: &Facts| facts.number(name);
        moves(&evidence.change(case(main, PFC), case(main, variant), bytes))
    };
    section.answer = format!(
        "Compared with PFC, the mean number of bytes in a switch {} with sfc-native and {} with sfc-proxy. \
         The largest number of bytes in a switch {} with sfc-native and {} with sfc-proxy.",
        held(NATIVE, "switch_mean_occupancy_bytes"),
        held(PROXY, "switch_mean_occupancy_bytes"),
        held(NATIVE, "switch_max_occupancy_bytes"),
        held(PROXY, "switch_max_occupancy_bytes"),
    );
    section.text = vec![
        "The data in each port and each switch is sampled every 2 µs. PFC with static thresholds holds up \
         to 650 KB for each ingress port before it stops a neighbor. Source Flow Control sends messages \
         from 100 KB in an egress queue on. Data that its senders send before a message reaches them \
         still arrives."
            .to_owned(),
    ];
    let cases = cases(evidence, MAIN);
    let chart = |(tier, number): (&str, u64), scope: &str, range| {
        let line = |(name, series, case): &(&'static str, usize, _)| {
            depth_line(*series, name, &evidence.occupancy(*case, scope, &[number]))
        };
        // XOFF is about bytes by ingress, which are spread over egress ports.
        let marks: &[_] = if scope == "port" { &[(1e5, "SFC trigger")] } else { &[] };
        let heading = format!("{tier} {scope}s").replace("switchs", "switches");
        occupancy_chart(&heading, range, marks, cases.iter().map(line).collect())
    };
    for (scope, range, caption) in [
        ("port", (1e3, 1.6e7), "Distribution of the bytes at a port"),
        ("switch", (1e3, 1.7e7), "Distribution of the bytes in a switch"),
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
        "Bytes in the buffers of all ports and switches",
        "Means over replications. Percentiles are the upper edges of bins that are 19 % wide.",
        &["", "port: mean", "p99", "p99.9", "most", "switch: mean", "p99", "most"],
        super::cases(evidence, ALL_VARIANTS).iter().map(row).collect(),
    ));
    section
}

/// The share of the measurement that a time is, of so many ports.
fn share(facts: &Facts, ns: f64, ports: f64) -> f64 {
    ns / (ports * facts.known("measured_ns"))
}

/// The share of time that ports of switches of these tiers may not send data, of those that lead to
/// another switch: hosts pause no neighbor.
pub(super) fn stopped(evidence: &Evidence, case: Case, tiers: &[u64]) -> Measured {
    let Some(scenario) = evidence.scenario(case.experiment) else { return Measured::default() };
    let graph = scenario.variants()[0].graph();
    let is_of = |kind| tiers.iter().any(|tier| kind == NodeKind::Switch { tier: *tier as u8 });
    let of = graph.switches().filter(|id| is_of(graph.node(*id).kind));
    let to_switch = |peer| matches!(graph.node(peer).kind, NodeKind::Switch { .. });
    let ports = of.flat_map(|id| &graph.node(id).ports).filter(|end| to_switch(end.peer)).count();
    let paused = |facts: &Facts, tier: &u64| facts.known(&format!("tier_{tier}_paused_ns"));
    evidence.share(case, "% of time", |facts| {
        share(facts, tiers.iter().map(|tier| paused(facts, tier)).sum(), ports as f64)
    })
}

/// The share of time that NICs may not send data at all.
pub(super) fn nics_stopped(evidence: &Evidence, case: Case) -> Measured {
    let hosts = evidence.servers(case.experiment) as f64;
    evidence.share(case, "% of time", |facts| share(facts, facts.known("hosts_paused_ns"), hosts))
}

/// Which ports and NICs are stopped, and by what.
pub fn pauses(evidence: &Evidence) -> Section {
    let main = main(evidence);
    let question = "Pauses and messages";
    let mut section = evidence.section("pauses", question, &["S1", "E7"], &[main]);
    let number_of = |variant, name: &'static str| {
        number(&evidence.number(case(main, variant), "", move |facts| facts.number(name)))
    };
    let stopped = |variant| number(&stopped(evidence, case(main, variant), &[0, 1, 2]));
    section.answer = format!(
        "PFC sends {} pause frames per run, and ports between switches are stopped for {}. Source Flow \
         Control sends {} messages and {} pause frames with sfc-proxy, and {} messages with sfc-native. \
         Ports between switches are stopped for {} with sfc-proxy and {} with sfc-native. NICs are \
         stopped as a whole for {} with PFC and for {} with sfc-proxy.",
        number_of(PFC, "pause_frames"),
        stopped(PFC),
        number_of(PROXY, "sfc_messages"),
        number_of(PROXY, "sfc_proxy_pauses"),
        number_of(NATIVE, "sfc_messages"),
        stopped(PROXY),
        stopped(NATIVE),
        number(&nics_stopped(evidence, case(main, PFC))),
        number(&nics_stopped(evidence, case(main, PROXY))),
    );
    section.text = vec![
        "All counts are from the warm-up to the end of arrivals. A port counts as stopped while it may \
         not send data, whether it has any or not. Only ports that lead to another switch count. \
         Reminders are pauses by which edge switches stop their hosts because of the destination cache. \
         The time that destinations are held is summed over hosts and destinations."
            .to_owned(),
        "All variants are offered the same messages. A variant that sends clearly fewer packets in the \
         same time does not carry the load: messages accumulate in its hosts as long as new ones arrive, \
         and its completion times depend on the length of the run."
            .to_owned(),
    ];
    let cases = cases(evidence, ALL_VARIANTS);
    let line = |label: &str, of: &dyn Fn(Case) -> Measured| {
        let values = cases.iter().map(|(.., case)| number(&of(*case)));
        std::iter::once(label.to_owned()).chain(values).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for (label, tier) in TIERS {
        let label = format!("ports of {label} switches stopped");
        rows.push(line(&label, &|case| self::stopped(evidence, case, &[tier])));
    }
    rows.push(line("NICs stopped", &|case| nics_stopped(evidence, case)));
    const COUNTERS: &[(&str, &str, &str, f64)] = &[
        ("destinations held by NICs", "sfc_holds_ns", "ns", 1.0),
        ("PFC frames that stop, by thresholds", "pause_frames", "", 1.0),
        ("SFC messages", "sfc_messages", "", 1.0),
        ("PFC frames that stop, by proxies", "sfc_proxy_pauses", "", 1.0),
        ("reminders", "sfc_reminders", "", 1.0),
        ("BFC pauses", "bfc_pauses", "", 1.0),
        ("BFC collisions, thousands", "bfc_collisions", "", 1e3),
        ("CNPs, thousands", "cnps_sent", "", 1e3),
        ("data packets sent, thousands", "data_packets_sent", "", 1e3),
        ("packets retransmitted", "retransmitted_packets", "", 1.0),
    ];
    for (label, name, unit, per) in COUNTERS {
        rows.push(line(label, &|case| {
            evidence.number(case, unit, |facts| facts.number(name) / per)
        }));
    }
    rows.push(line("packets dropped in the whole run", &|case| {
        evidence.number(case, "", Facts::all_drops)
    }));
    let mut head = vec!["per run"];
    head.extend(cases.iter().map(|(name, ..)| *name));
    let caption = "Pauses, messages and losses";
    section.exhibits.push(table("pauses", caption, "", &head, rows));
    section
}
