//! A folded Clos network of three tiers: pods of edge and aggregation switches, joined by core
//! switches (Al-Fares et al., SIGCOMM 2008, section 3).
//!
//! Within a pod every edge switch has a link to every aggregation switch. The cores are shared out
//! evenly: of C cores and A aggregation switches per pod, aggregation switch j of every pod has
//! links to the cores j*C/A to (j+1)*C/A - 1, so every core has one link to every pod.

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, add_hosts, check_groups, check_links, check_ports, clos, places};

/// Parameters. `k` alone makes the k-ary fat-tree of Al-Fares et al. (SIGCOMM 2008): k pods, k/2
/// edge and k/2 aggregation switches in each, k/2 hosts at each edge switch, (k/2)^2 cores. A
/// number that is written takes the place of the one that follows from `k`; if all are written, `k`
/// is not needed. Every edge switch has a link to every aggregation switch of its pod; the cores
/// are shared out evenly to the aggregation switches of a pod, and each has a link to every pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Ports of every switch of a k-ary fat-tree, even. Default none: all numbers are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Pods. Default k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// Edge switches in each pod. Default k/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges_per_pod: Option<u32>,
    /// Aggregation switches in each pod. Default k/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregations_per_pod: Option<u32>,
    /// Core switches, a multiple of `aggregations_per_pod`. Default (k/2)^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Hosts at each edge switch. Default k/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_per_edge: Option<u32>,
    /// Ports of each host, at most 64, which go to as many edge switches of a pod that follow each other: with 2, port
    /// 0 of the first hosts to edge 0 and port 1 to edge 1. `edges_per_pod` is a multiple of it. Default 1.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub ports: u16,
    /// Rate of the links between hosts and edge switches. Default 100Gbps (Source Flow Control
    /// deck).
    #[serde(default = "clos::deck_rate")]
    pub host_rate: Rate,
    /// Propagation delay of these links. Default 500ns (Source Flow Control deck).
    #[serde(default = "deck_delay")]
    pub host_delay: Duration,
    /// Rate of the links between switches. Default 100Gbps (Al-Fares et al.: all links alike).
    #[serde(default = "clos::deck_rate")]
    pub fabric_rate: Rate,
    /// Propagation delay of these links. Default 500ns (Source Flow Control deck).
    #[serde(default = "deck_delay")]
    pub fabric_delay: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let missing = self.missing();
        if let Some(k) = self.k.filter(|&k| k == 0 || k % 2 == 1) {
            let remedy = "write an even number: each switch has k/2 links down and k/2 up";
            findings.error("k", format!("a k-ary fat-tree with k = {k} is not possible"), remedy);
        } else if !missing.is_empty() {
            let names: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
            findings.error(
                "",
                format!("{} and `k` are missing", names.join(", ")),
                "write the numbers, or `k`, from which all that is not written follows",
            );
        } else {
            self.counts().check(findings);
            check_ports(self.ports, findings);
            check_groups(self.ports, ("edges_per_pod", self.counts().edges_per_pod), findings);
        }
        check_links("host", self.host_rate, self.host_delay, findings);
        check_links("fabric", self.fabric_rate, self.fabric_delay, findings);
    }
}

/// The delay of every link in the Source Flow Control deck.
fn deck_delay() -> Duration {
    Duration::from_ns(500)
}

/// How many of everything, as written or by the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Pods.
    pub pods: u32,
    /// Edge switches in each pod.
    pub edges_per_pod: u32,
    /// Aggregation switches in each pod.
    pub aggregations_per_pod: u32,
    /// Core switches.
    pub cores: u32,
    /// Hosts at each edge switch.
    pub hosts_per_edge: u32,
}

impl Check for Counts {
    fn check(&self, findings: &mut Findings<'_>) {
        const TIERS: &str = "for two tiers use [topology.clos]";
        let (cores, aggregations) = (self.cores, self.aggregations_per_pod);
        findings.range("pods", self.pods, 1.., "");
        findings.range("edges_per_pod", self.edges_per_pod, 1.., "");
        findings.range("hosts_per_edge", self.hosts_per_edge, 1.., "");
        findings.range("aggregations_per_pod", aggregations, 1.., TIERS);
        findings.range("cores", cores, 1.., TIERS);
        if cores > 0 && aggregations > 0 && cores % aggregations != 0 {
            findings.error(
                ["cores", "aggregations_per_pod"],
                format!(
                    "{cores} core switches cannot be shared out evenly to {aggregations} aggregation \
                     switches per pod"
                ),
                "make `cores` a multiple of `aggregations_per_pod`: each has a link to every pod",
            );
        }
    }
}

impl Counts {
    /// Cores that each aggregation switch has a link to; 0 as long as numbers are missing.
    pub fn cores_per_aggregation(&self) -> u32 {
        self.cores.checked_div(self.aggregations_per_pod).unwrap_or(0)
    }
}

impl Spec {
    /// The numbers that are neither written nor follow from `k`, by their names.
    pub fn missing(&self) -> Vec<&'static str> {
        if self.k.is_some() {
            return Vec::new();
        }
        let numbers = [
            ("pods", self.pods),
            ("edges_per_pod", self.edges_per_pod),
            ("aggregations_per_pod", self.aggregations_per_pod),
            ("cores", self.cores),
            ("hosts_per_edge", self.hosts_per_edge),
        ];
        numbers.iter().filter(|(_, number)| number.is_none()).map(|(name, _)| *name).collect()
    }

    /// All numbers; what is [`Spec::missing`] is 0.
    pub fn counts(&self) -> Counts {
        let k = self.k.unwrap_or(0);
        Counts {
            pods: self.pods.unwrap_or(k),
            edges_per_pod: self.edges_per_pod.unwrap_or(k / 2),
            aggregations_per_pod: self.aggregations_per_pod.unwrap_or(k / 2),
            cores: self.cores.unwrap_or((k / 2).saturating_mul(k / 2)),
            hosts_per_edge: self.hosts_per_edge.unwrap_or(k / 2),
        }
    }

    /// Capacity of an edge switch's hosts over that of its links upward; 1 is non-blocking.
    pub fn edge_oversubscription(&self) -> f64 {
        let counts = self.counts();
        let down = f64::from(counts.hosts_per_edge) * self.host_rate.0 as f64;
        let up = f64::from(counts.aggregations_per_pod) * self.fabric_rate.0 as f64;
        down / up
    }

    /// The same of an aggregation switch: its links to edge switches over those to cores.
    pub fn aggregation_oversubscription(&self) -> f64 {
        let counts = self.counts();
        f64::from(counts.edges_per_pod) / f64::from(counts.cores_per_aggregation())
    }

    pub(super) fn size(&self) -> Size {
        let Counts { pods, edges_per_pod, aggregations_per_pod, cores, hosts_per_edge } =
            self.counts();
        let per_aggregation = u64::from(self.counts().cores_per_aggregation());
        let [pods, edges_per_pod, aggregations_per_pod, cores, hosts_per_edge] =
            [pods, edges_per_pod, aggregations_per_pod, cores, hosts_per_edge].map(u64::from);
        let at_edges = (pods * edges_per_pod).saturating_mul(hosts_per_edge);
        let hosts = at_edges / u64::from(self.ports.max(1));
        let within = (pods * edges_per_pod).saturating_mul(aggregations_per_pod);
        let ports = [hosts_per_edge + aggregations_per_pod, edges_per_pod + per_aggregation, pods];
        Size {
            hosts,
            switches: pods
                .saturating_mul(edges_per_pod + aggregations_per_pod)
                .saturating_add(cores),
            links: at_edges.saturating_add(within).saturating_add(pods * cores),
            most_ports: ports.into_iter().max().unwrap_or(0),
        }
    }

    pub(super) fn build(&self) -> Graph {
        let counts = self.counts();
        let mut graph = Graph::default();
        let edges = counts.pods * counts.edges_per_pod;
        let hosts = add_hosts(&mut graph, edges, counts.hosts_per_edge, self.ports);
        let edges = add(&mut graph, "edge", edges, NodeKind::Switch { tier: 0 });
        let aggregations = counts.pods * counts.aggregations_per_pod;
        let aggregations =
            add(&mut graph, "aggregation", aggregations, NodeKind::Switch { tier: 1 });
        let cores = add(&mut graph, "core", counts.cores, NodeKind::Switch { tier: 2 });

        for (port, edge) in places(&hosts, counts.hosts_per_edge, self.ports) {
            graph.link(port, edges[edge], self.host_rate, self.host_delay);
        }
        let edges = edges.chunks(counts.edges_per_pod as usize);
        let aggregations = aggregations.chunks(counts.aggregations_per_pod as usize);
        for (edges, aggregations) in edges.zip(aggregations) {
            for &edge in edges {
                for &aggregation in aggregations {
                    graph.link(edge, aggregation, self.fabric_rate, self.fabric_delay);
                }
            }
            let cores = cores.chunks(counts.cores_per_aggregation() as usize);
            for (&aggregation, cores) in aggregations.iter().zip(cores) {
                for &core in cores {
                    graph.link(aggregation, core, self.fabric_rate, self.fabric_delay);
                }
            }
        }
        graph
    }
}

fn add(graph: &mut Graph, name: &str, count: u32, kind: NodeKind) -> Vec<NodeId> {
    (0..count).map(|number| graph.add(format!("{name} {number}"), kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, built_as_said};

    fn k_ary(k: u32) -> Spec {
        Spec {
            k: Some(k),
            pods: None,
            edges_per_pod: None,
            aggregations_per_pod: None,
            cores: None,
            hosts_per_edge: None,
            ports: 1,
            host_rate: clos::deck_rate(),
            host_delay: deck_delay(),
            fabric_rate: clos::deck_rate(),
            fabric_delay: deck_delay(),
        }
    }

    /// The network of the Source Flow Control deck.
    fn deck() -> Spec {
        Spec {
            k: None,
            pods: Some(5),
            edges_per_pod: Some(4),
            aggregations_per_pod: Some(4),
            cores: Some(16),
            hosts_per_edge: Some(16),
            fabric_rate: Rate::from_gbps(400),
            ..k_ary(4)
        }
    }

    /// What is at the other ends of a node's ports.
    fn peers(graph: &Graph, name: &str) -> Vec<String> {
        let node = graph.nodes.iter().find(|node| node.name == name).unwrap();
        node.ports.iter().map(|port| graph.node(port.peer).name.clone()).collect()
    }

    #[test]
    fn the_papers_sizes() {
        // Al-Fares et al., section 3.1: k^3/4 hosts, 5k^2/4 switches, all with k ports.
        for (k, hosts, switches) in [(2, 2, 5), (4, 16, 20), (48, 27_648, 2_880)] {
            let size = k_ary(k).size();
            assert_eq!((size.hosts, size.switches, size.most_ports), (hosts, switches, k.into()));
            assert_eq!(size.links, 3 * hosts);
            assert_eq!(k_ary(k).edge_oversubscription(), 1.0);
            assert_eq!(k_ary(k).aggregation_oversubscription(), 1.0);
        }
    }

    #[test]
    fn the_decks_size() {
        let (spec, size) = (deck(), deck().size());
        assert_eq!((size.hosts, size.switches, size.most_ports), (320, 56, 20));
        // 320 to hosts, 5 x 4 x 4 within pods, 5 x 16 to cores.
        assert_eq!(size.links, 320 + 80 + 80);
        assert_eq!(spec.edge_oversubscription(), 1.0);
        assert_eq!(spec.aggregation_oversubscription(), 1.0);
        let graph = spec.build();
        for id in graph.switches() {
            let node = graph.node(id);
            let ports = match node.name.split_once(' ').unwrap().0 {
                "edge" => 20,
                "aggregation" => 8,
                _ => 5,
            };
            assert_eq!(node.ports.len(), ports, "{}", node.name);
            for port in &node.ports {
                let fabric = graph.node(port.peer).kind != NodeKind::Host;
                assert_eq!(port.rate, Rate::from_gbps(if fabric { 400 } else { 100 }));
                assert_eq!(port.delay, Duration::from_ns(500));
            }
        }
    }

    #[test]
    fn the_graph_is_as_large_as_said_and_in_order() {
        for spec in [k_ary(4), deck()] {
            built_as_said(&topology::Spec::FatTree(spec));
        }
        let graph = k_ary(4).build();
        let names: Vec<_> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names[15..17], ["host 15", "edge 0"]);
        assert_eq!(names[23..25], ["edge 7", "aggregation 0"]);
        assert_eq!(names[31..], ["aggregation 7", "core 0", "core 1", "core 2", "core 3"]);
        let tier = |name: &str| graph.nodes.iter().find(|node| node.name == name).unwrap().kind;
        assert_eq!(tier("edge 7"), NodeKind::Switch { tier: 0 });
        assert_eq!(tier("aggregation 7"), NodeKind::Switch { tier: 1 });
        assert_eq!(tier("core 3"), NodeKind::Switch { tier: 2 });
    }

    #[test]
    fn the_wiring_is_figure_3_of_the_paper() {
        let graph = k_ary(4).build();
        assert_eq!(peers(&graph, "edge 3"), ["host 6", "host 7", "aggregation 2", "aggregation 3"]);
        assert_eq!(peers(&graph, "aggregation 2"), ["edge 2", "edge 3", "core 0", "core 1"]);
        assert_eq!(peers(&graph, "aggregation 3"), ["edge 2", "edge 3", "core 2", "core 3"]);
        let first = [0, 2, 4, 6].map(|number| format!("aggregation {number}"));
        assert_eq!(peers(&graph, "core 1"), first);
    }

    #[test]
    fn hosts_are_two_four_or_six_links_apart() {
        let graph = deck().build();
        let links = |to| graph.path(NodeId(0), NodeId(to)).unwrap().len();
        // The same edge switch has hosts 0 to 15, the same pod 0 to 63.
        assert_eq!([1, 15, 16, 63, 64, 319].map(links), [2, 2, 4, 4, 6, 6]);
    }

    #[test]
    fn next_hops_are_equal_on_the_way_up_and_single_on_the_way_down() {
        let graph = deck().build();
        let distances = graph.distances(NodeId(0));
        let next_hops = |name: &str| {
            let id = graph.ids().find(|&id| graph.node(id).name == name).unwrap();
            let closer = |peer: NodeId| distances[peer.index()] < distances[id.index()];
            graph.node(id).ports.iter().filter(|port| closer(port.peer)).count()
        };
        // Host 0 is at edge 0 in pod 0; edge 1 is its neighbor, edge 4 and aggregation 4 are in
        // pod 1.
        assert_eq!(["edge 0", "edge 1", "edge 4"].map(next_hops), [1, 4, 4]);
        assert_eq!(["aggregation 0", "aggregation 4", "core 7"].map(next_hops), [1, 4, 1]);
    }

    #[test]
    fn a_number_that_is_written_takes_the_place_of_ks() {
        let spec = Spec { pods: Some(2), hosts_per_edge: Some(8), ..k_ary(4) };
        let size = spec.size();
        assert_eq!((size.hosts, size.switches), (2 * 2 * 8, 2 * 4 + 4));
        assert_eq!(spec.edge_oversubscription(), 4.0);
        let halved = Spec { cores: Some(2), ..k_ary(4) };
        assert_eq!(halved.aggregation_oversubscription(), 2.0);
        assert_eq!(
            Spec { k: None, ..spec }.missing(),
            ["edges_per_pod", "aggregations_per_pod", "cores"]
        );
    }
}
