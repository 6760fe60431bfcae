//! A ring of switches with hosts at each. Traffic takes the shorter way round, and either one if both
//! are equally long; so it is the smallest network in which shortest paths can wait for each other in
//! a cycle (Hu et al., "Deadlocks in Datacenter Networks", HotNets 2016).

use floodway_model::Graph;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, parking_lot};

/// The line that is closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spec(pub parking_lot::Spec);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.0.check_row(3, "for a line of switches use [topology.parking_lot]", findings);
    }
}

impl Spec {
    pub(super) fn size(&self) -> Size {
        let line = self.0.size();
        let most_ports = u64::from(self.0.hosts_per_switch) + 2;
        Size { links: line.links.saturating_add(1), most_ports, ..line }
    }

    pub(super) fn build(&self) -> Graph {
        let (mut graph, switches) = self.0.line();
        if let (Some(&first), Some(&last)) = (switches.first(), switches.last()) {
            graph.link(last, first, self.0.fabric_rate, self.0.fabric_delay);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::graph::NodeKind;
    use floodway_model::{Duration, NodeId, Rate};

    use super::*;
    use crate::topology::{self, built_as_said, clos};

    fn ring(switches: u32, hosts_per_switch: u32) -> Spec {
        Spec(parking_lot::Spec {
            switches,
            hosts_per_switch,
            host_rate: clos::deck_rate(),
            host_delay: clos::deck_delay(),
            fabric_rate: Rate::from_gbps(400),
            fabric_delay: Duration::from_us(2),
        })
    }

    #[test]
    fn the_graph_is_as_large_as_said() {
        for spec in [ring(3, 1), ring(5, 2), ring(8, 4)] {
            let most_ports = spec.size().most_ports;
            let graph = built_as_said(&topology::Spec::Ring(spec));
            for switch in graph.switches() {
                assert_eq!(graph.node(switch).ports.len() as u64, most_ports);
            }
        }
        let size = Size { hosts: 10, switches: 5, links: 10 + 5, most_ports: 4 };
        assert_eq!(ring(5, 2).size(), size);
    }

    #[test]
    fn the_last_switch_is_joined_to_the_first_by_a_link_like_the_others() {
        let graph = ring(5, 1).build();
        let between = |id: NodeId| graph.node(id).kind != NodeKind::Host;
        let mut pairs: Vec<(u32, u32)> = graph
            .links()
            .filter(|(from, _, end)| between(*from) && between(end.peer))
            .map(|(from, _, end)| {
                assert_eq!((end.rate, end.delay), (Rate::from_gbps(400), Duration::from_us(2)));
                // Switch 0 is node 5.
                (from.0.min(end.peer.0) - 5, from.0.max(end.peer.0) - 5)
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs, [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn the_shorter_way_round_is_taken_and_of_two_equal_ones_either() {
        // Links from host to host: one more than switches on the way.
        let length = |ring: Spec, to| ring.build().path(NodeId(0), NodeId(to)).unwrap().len();
        assert_eq!([1, 2, 3, 4].map(|to| length(ring(5, 1), to)), [3, 4, 4, 3]);
        let next_hops = |switches: u32, to: u32| {
            let graph = ring(switches, 1).build();
            let distances = graph.distances(NodeId(to));
            let here = NodeId(switches);
            let closer = |peer: NodeId| distances[peer.index()] < distances[here.index()];
            graph.node(here).ports.iter().filter(|port| closer(port.peer)).count()
        };
        assert_eq!([next_hops(5, 2), next_hops(6, 2), next_hops(6, 3)], [1, 1, 2]);
    }
}
