//! Expected work of nodes, by which they are distributed over ranks and threads. Whatever is expected, results are the
//! same.

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId};

use crate::Spec;

/// A port that carries nothing has timers and is looked at. This is assumed: a sixteenth of the work of a mean port.
const IDLE: f64 = 1.0 / 16.0;
/// The expected work of all nodes, in units that have no meaning by themselves.
const ALL: f64 = (1_u64 << 40) as f64;

/// Expected work of each node with so many ports: in proportion to the bytes that pass it, and to its ports if no flow
/// says how many.
pub(super) fn of(spec: &Spec, ports: &[usize]) -> Vec<u64> {
    let through = through(spec);
    let (all, count) = (through.iter().sum::<f64>(), ports.iter().sum::<usize>() as f64);
    let idle = if all > 0.0 { IDLE * all / count } else { 1.0 };
    let scale = ALL / (all + idle * count);
    let work = ports.iter().zip(through).map(|(&ports, bytes)| bytes + idle * ports as f64);
    work.map(|work| (work * scale) as u64).collect()
}

/// Bytes of payload that are expected to pass each node within the time limit.
fn through(spec: &Spec) -> Vec<f64> {
    let graph = &spec.graph;
    let mut through = of_hosts(spec);
    let mut switches: Vec<(u8, NodeId)> =
        graph.switches().filter_map(|id| Some((tier(graph, id)?, id))).collect();
    switches.sort_unstable();
    for (here, switch) in switches {
        // All that hosts send and receive goes by their switch, and all that a switch forwards by the switches above
        // it, evenly: more than there is where flows stay below, and none where switches of a tier are joined.
        let below = graph.node(switch).ports.iter().filter_map(|end| match tier(graph, end.peer) {
            None => {
                let host = graph.host_of(end.peer);
                Some(through[host.index()] / graph.ports_of(host).len() as f64)
            }
            Some(tier) if tier < here => {
                let up = graph.node(end.peer).ports.iter();
                let up = up.filter(|end| self::tier(graph, end.peer) > Some(tier)).count();
                Some(through[end.peer.index()] / up as f64)
            }
            Some(_) => None,
        });
        through[switch.index()] = below.sum();
    }
    through
}

/// Bytes that each host is expected to send and to receive.
fn of_hosts(spec: &Spec) -> Vec<f64> {
    let graph = &spec.graph;
    let seconds = spec.end.0 as f64 * 1e-12;
    let mut capacity = vec![0.0; graph.nodes.len()];
    for host in graph.first_ports() {
        let ports = graph.ports_of(host);
        let rates = ports.map(|port| graph.node(port).ports[0].rate.0 as f64 / 8.0);
        capacity[host.index()] = rates.sum::<f64>() * seconds;
    }
    let ends = |flow: &floodway_model::FlowSpec| {
        let [src, dst] = [flow.src, flow.dst].map(|port| graph.host_of(port).index());
        (src, dst, (flow.bytes as f64).min(capacity[src]))
    };
    let (mut sent, mut received) = (vec![0.0; capacity.len()], vec![0.0; capacity.len()]);
    for flow in spec.flows.each() {
        let (_, dst, bytes) = ends(&flow);
        received[dst] += bytes;
    }
    for flow in spec.flows.each() {
        let (src, dst, bytes) = ends(&flow);
        // Senders to one receiver share its link.
        sent[src] += bytes * (capacity[dst] / received[dst]).min(1.0);
    }
    let both = sent.iter().zip(&received).zip(&capacity);
    both.map(|((sent, received), capacity)| sent.min(*capacity) + received.min(*capacity)).collect()
}

/// The tier of a switch; `None` for a host.
fn tier(graph: &Graph, id: NodeId) -> Option<u8> {
    match graph.node(id).kind {
        NodeKind::Switch { tier } => Some(tier),
        NodeKind::Host => None,
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::{Duration, FlowSpec};

    use super::*;
    use crate::small::{GBPS_100, NS_200, flow, spec};

    /// Hosts 0 to 3, two on each of the leaves 4 and 5, and spines 6 and 7.
    fn leaves_and_spines() -> Graph {
        let mut graph = Graph::default();
        (0..4).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        for (name, tier) in [("leaf 0", 0), ("leaf 1", 0), ("spine 0", 1), ("spine 1", 1)] {
            graph.add(name, NodeKind::Switch { tier });
        }
        let links = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (4, 7), (5, 6), (5, 7)];
        for (a, b) in links {
            graph.link(NodeId(a), NodeId(b), GBPS_100, NS_200);
        }
        graph
    }

    #[test]
    fn what_passes_a_node_follows_from_flows_and_links() {
        // A link carries 10 MB in 800 us at 100 Gb/s. A flow of 10 MB and one without a size go to host 2, which can
        // receive half of what both offer: 5 MB from each. Each spine has half of what both leaves forward.
        let long = FlowSpec { bytes: FlowSpec::PERSISTENT, ..flow(1, 2, 1, 0) };
        let flows = vec![flow(0, 2, 10_000_000, 0), long];
        let spec = spec(leaves_and_spines(), flows, Duration::from_us(800));
        let megabytes: Vec<f64> =
            through(&spec).iter().map(|bytes| (bytes / 1e3).round() / 1e3).collect();
        assert_eq!(megabytes, [5.0, 5.0, 10.0, 0.0, 10.0, 10.0, 10.0, 10.0]);
        // 60 MB pass all nodes, which have 20 ports: 3.75 MB more for all ports, 0.1875 MB for each.
        let ports = [1, 1, 1, 1, 4, 4, 4, 4];
        let unit = ALL / 63.75;
        let expected = [5.1875, 5.1875, 10.1875, 0.1875, 10.75, 10.75, 10.75, 10.75];
        for (work, megabytes) in of(&spec, &ports).into_iter().zip(expected) {
            assert!((work as f64 / (megabytes * unit) - 1.0).abs() < 1e-6, "{work} {megabytes}");
        }
    }

    #[test]
    fn without_flows_work_is_in_proportion_to_ports() {
        let spec = spec(leaves_and_spines(), Vec::new(), Duration::from_us(800));
        let work = of(&spec, &[1, 1, 1, 1, 4, 4, 4, 4]);
        assert_eq!(work, [[(ALL / 20.0) as u64; 4], [(ALL / 5.0) as u64; 4]].concat());
    }
}
