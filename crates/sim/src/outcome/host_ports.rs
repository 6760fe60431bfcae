//! The ports of hosts that have several.

use std::collections::BTreeMap;

use floodway_model::NodeId;
use floodway_model::table::Table;
use floodway_model::tables::{host_ports, links};

use super::flow_facts::FlowFacts;
use crate::Spec;

/// What a port has sent and received.
#[derive(Clone, Copy, Default)]
struct Counts {
    flows: [u64; 2],
    bytes: [u64; 2],
}

/// One row per port; `None` if all hosts have one. `all_links` is the table `links`.
pub(super) fn table(spec: &Spec, facts: &FlowFacts, all_links: &Table) -> Option<Table> {
    let graph = &spec.graph;
    if !graph.has_several_ports() {
        return None;
    }
    let mut counts: BTreeMap<NodeId, Counts> = BTreeMap::new();
    for (place, _, flow) in facts.begun(spec) {
        for (side, node) in [flow.src, flow.dst].into_iter().enumerate() {
            let counts = counts.entry(node).or_default();
            counts.flows[side] += 1;
            counts.bytes[side] += facts.received(place).delivered;
        }
    }
    let links = links::View::of_table(all_links)?;
    let used: BTreeMap<&str, f64> = links
        .node
        .iter()
        .zip(links.utilization)
        .map(|(node, used)| (node.as_str(), *used))
        .collect();
    let hosts = graph.first_ports().filter(|&host| graph.ports_of(host).len() > 1);
    let ports = hosts.flat_map(|host| graph.ports_of(host).zip(0..));
    let row = |(port, number): (NodeId, u64)| {
        let (node, end) = (graph.node(port), graph.node(port).ports[0]);
        let Counts { flows, bytes } = counts.get(&port).copied().unwrap_or_default();
        host_ports::Row {
            host: graph.host_name(port).to_owned(),
            port: number,
            node: node.name.clone(),
            number: port.0.into(),
            peer: graph.node(end.peer).name.clone(),
            rate_gbps: end.rate.as_gbps(),
            flows_sent: flows[0],
            flows_received: flows[1],
            sent_bytes: bytes[0],
            received_bytes: bytes[1],
            utilization: used.get(node.name.as_str()).copied().unwrap_or(0.0),
        }
    };
    Some(ports.map(row).collect())
}
