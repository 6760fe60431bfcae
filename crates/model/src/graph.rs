//! Topology: nodes, ports and links.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{NodeId, PortIx};
use crate::line::Counting;
use crate::units::{Duration, Rate};

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum NodeKind {
    /// Sends and receives messages: a host with one port, or one of the ports of a host that has several.
    Host,
    /// Forwards packets.
    Switch {
        /// Distance from the hosts: 0 leaf or top of rack, 1 spine or aggregation, 2 core.
        tier: u8,
    },
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Human-readable name, unique in the graph: `host 12`, `leaf 3`.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Its ports in order.
    pub ports: Vec<Attachment>,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// The node at the other end.
    pub peer: NodeId,
    /// The port there.
    pub peer_port: PortIx,
    /// Rate at which this end sends. The other direction has [that of the other end](Graph::rate_to).
    pub rate: Rate,
    /// Propagation delay of the link, the same in both directions.
    pub delay: Duration,
    /// What the link adds to frames, the same in both directions. `None` on Ethernet: preamble and interframe gap, as the
    /// simulation has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Counting>,
}

impl Attachment {
    /// Bytes on the wire of a frame, with this much preamble and interframe gap on Ethernet.
    pub fn on_wire(&self, frame: u16, wire_overhead: u64) -> u64 {
        on_wire(self.line, frame, wire_overhead)
    }
}

/// Bytes on the wire of a frame on a line, or on Ethernet with this much preamble and interframe gap.
#[inline]
pub fn on_wire(line: Option<Counting>, frame: u16, wire_overhead: u64) -> u64 {
    match line {
        None => u64::from(frame) + wire_overhead,
        Some(line) => line.bytes(frame),
    }
}

/// The network: nodes, and links that join a port of one to a port of another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// All nodes; a [`NodeId`] is an index into this list.
    pub nodes: Vec<Node>,
    /// Hosts with several ports: the first port of each, and how many it has. Every port of such a host is a node
    /// with one link, as a host with one port is, and the nodes of a host follow each other.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    several: BTreeMap<NodeId, u16>,
}

impl Graph {
    /// Adds a node without links.
    pub fn add(&mut self, name: impl Into<String>, kind: NodeKind) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { name: name.into(), kind, ports: Vec::new() });
        id
    }

    /// Adds a host with this many ports, at least one, and returns its first one. Of several, each is a node of its
    /// own, with the name of the host and the number of the port: `host 3.0`, `host 3.1`.
    pub fn add_host(&mut self, name: &str, ports: u16) -> NodeId {
        if ports == 1 {
            return self.add(name, NodeKind::Host);
        }
        let first = NodeId(self.nodes.len() as u32);
        (0..ports).for_each(|port| _ = self.add(format!("{name}.{port}"), NodeKind::Host));
        self.join(first, ports);
        first
    }

    /// Makes this many hosts, from `first` on, the ports of one host.
    pub fn join(&mut self, first: NodeId, ports: u16) {
        self.several.insert(first, ports);
    }

    /// Connects two different nodes by a link, on a new port of each.
    pub fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Duration) {
        self.link_each_way(a, b, [rate, rate], delay);
    }

    /// Like [`Self::link`], with one rate from `a` to `b` and another one from `b` to `a`.
    pub fn link_each_way(&mut self, a: NodeId, b: NodeId, rates: [Rate; 2], delay: Duration) {
        assert_ne!(a, b, "a link joins two different nodes");
        let port_a = PortIx(self.node(a).ports.len() as u16);
        let port_b = PortIx(self.node(b).ports.len() as u16);
        let ([rate, back], line) = (rates, None);
        self.nodes[a.index()].ports.push(Attachment {
            peer: b,
            peer_port: port_b,
            rate,
            delay,
            line,
        });
        let rate = back;
        self.nodes[b.index()].ports.push(Attachment {
            peer: a,
            peer_port: port_a,
            rate,
            delay,
            line,
        });
    }

    /// Gives a link, the one at this port, a framing other than that of Ethernet.
    pub fn frame(&mut self, (node, port): (NodeId, PortIx), line: Counting) {
        let end = &mut self.nodes[node.index()].ports[port.index()];
        end.line = Some(line);
        let (peer, peer_port) = (end.peer, end.peer_port);
        self.nodes[peer.index()].ports[peer_port.index()].line = Some(line);
    }

    /// The rate at which frames come to this end of a link: that of the other end.
    pub fn rate_to(&self, end: &Attachment) -> Rate {
        self.node(end.peer).ports[end.peer_port.index()].rate
    }

    /// Both directions of all links, each as the end that sends.
    pub fn ends(&self) -> impl Iterator<Item = &Attachment> + '_ {
        self.nodes.iter().flat_map(|node| &node.ports)
    }

    /// Whether every link has the same rate in both directions.
    pub fn is_symmetric(&self) -> bool {
        self.ends().all(|end| end.rate == self.rate_to(end))
    }

    /// The node with this identifier.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The hosts in order; of hosts with several ports, every port.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ids().filter(|&id| self.node(id).kind == NodeKind::Host)
    }

    /// The hosts in order; of hosts with several ports, the first one.
    pub fn first_ports(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.hosts().filter(|&id| self.several.is_empty() || self.host_of(id) == id)
    }

    /// Whether some host has several ports.
    pub fn has_several_ports(&self) -> bool {
        !self.several.is_empty()
    }

    /// The first port of the host that a port belongs to; a host with one port, or a switch, is its own.
    pub fn host_of(&self, port: NodeId) -> NodeId {
        let before = self.several.range(..=port).next_back();
        before
            .filter(|(first, ports)| port.0 < first.0 + u32::from(**ports))
            .map_or(port, |of| *of.0)
    }

    /// The ports of a host, given its first one.
    pub fn ports_of(&self, host: NodeId) -> impl ExactSizeIterator<Item = NodeId> + Clone + use<> {
        let ports = self.several.get(&host).map_or(1, |ports| u32::from(*ports));
        (0..ports as usize).map(move |port| NodeId(host.0 + port as u32))
    }

    /// The name of the host that a port belongs to, without the number of the port.
    pub fn host_name(&self, port: NodeId) -> &str {
        let (host, name) = (self.host_of(port), &self.node(port).name);
        match name.rsplit_once('.') {
            Some((host_name, _)) if self.several.contains_key(&host) => host_name,
            _ => name,
        }
    }

    /// The switches in order.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ids().filter(|&id| self.node(id).kind != NodeKind::Host)
    }

    /// By node, of switches: a number of the part of the network that they are in, in which all reach each other
    /// without hosts; of hosts `u32::MAX`.
    pub fn parts_of_switches(&self) -> Vec<u32> {
        let mut parts = vec![u32::MAX; self.nodes.len()];
        for switch in self.switches() {
            if parts[switch.index()] != u32::MAX {
                continue;
            }
            let mut open = vec![switch];
            while let Some(node) = open.pop() {
                if parts[node.index()] == u32::MAX && self.node(node).kind != NodeKind::Host {
                    parts[node.index()] = switch.0;
                    open.extend(self.node(node).ports.iter().map(|end| end.peer));
                }
            }
        }
        parts
    }

    /// All identifiers in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All links, each listed once, as the node and port at the end with the lower node number.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, PortIx, Attachment)> + '_ {
        self.nodes.iter().enumerate().flat_map(|(index, node)| {
            let id = NodeId(index as u32);
            let ports = node.ports.iter().enumerate();
            ports.filter_map(move |(port, end)| {
                (id < end.peer).then_some((id, PortIx(port as u16), *end))
            })
        })
    }

    /// The path from `from` to `to` that takes the first of the equal-cost next hops at each node,
    /// as the sequence of egress ports. `None` if there is no path.
    pub fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<(NodeId, PortIx)>> {
        self.path_by(&self.distances(to), from, to)
    }

    /// Like [`Self::path`], given the [distances](Self::distances) to `to`.
    pub fn path_by(
        &self,
        distance: &[Option<u32>],
        from: NodeId,
        to: NodeId,
    ) -> Option<Vec<(NodeId, PortIx)>> {
        let mut at = from;
        let mut hops = Vec::new();
        while at != to {
            let here = distance[at.index()]?;
            let closer = |end: &Attachment| distance[end.peer.index()].is_some_and(|d| d < here);
            let port = self.node(at).ports.iter().position(closer)?;
            hops.push((at, PortIx(port as u16)));
            at = self.node(at).ports[port].peer;
        }
        Some(hops)
    }

    /// Hop count of the shortest path from every node to `to` through switches only; `None` where
    /// there is none.
    pub fn distances(&self, to: NodeId) -> Vec<Option<u32>> {
        self.distances_by(to, |_, _| true)
    }

    /// Like [`Self::distances`], using only links for which `works` returns true, given a node and
    /// one of its ports.
    pub fn distances_by(
        &self,
        to: NodeId,
        works: impl Fn(NodeId, PortIx) -> bool,
    ) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.nodes.len()];
        distance[to.index()] = Some(0);
        let mut ring = vec![to];
        let mut hops = 0;
        while !ring.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for node in ring {
                // Hosts do not forward.
                if node != to && self.node(node).kind == NodeKind::Host {
                    continue;
                }
                for (port, end) in self.node(node).ports.iter().enumerate() {
                    if distance[end.peer.index()].is_none() && works(node, PortIx(port as u16)) {
                        distance[end.peer.index()] = Some(hops);
                        next.push(end.peer);
                    }
                }
            }
            ring = next;
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_of_a_host_are_nodes_that_know_their_host() {
        let mut graph = Graph::default();
        let single = graph.add_host("host 0", 1);
        let double = graph.add_host("host 1", 2);
        let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
        let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["host 0", "host 1.0", "host 1.1", "switch"]);
        assert_eq!(graph.hosts().collect::<Vec<_>>(), [NodeId(0), NodeId(1), NodeId(2)]);
        assert_eq!(graph.first_ports().collect::<Vec<_>>(), [single, double]);
        assert_eq!(graph.ports_of(double).collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
        assert_eq!(graph.ports_of(single).collect::<Vec<_>>(), [single]);
        let hosts = [0, 1, 2, 3].map(|node| graph.host_of(NodeId(node)));
        assert_eq!(hosts, [single, double, double, switch]);
        let names = [0, 1, 2, 3].map(|node| graph.host_name(NodeId(node)));
        assert_eq!(names, ["host 0", "host 1", "host 1", "switch"]);
        assert!(graph.has_several_ports());
    }

    #[test]
    fn a_path_goes_through_switches_only() {
        let mut graph = Graph::default();
        let switch = NodeKind::Switch { tier: 0 };
        let (a, b) = (graph.add("host 0", NodeKind::Host), graph.add("host 1", NodeKind::Host));
        let (left, right) = (graph.add("left", switch), graph.add("right", switch));
        let middle = graph.add("two-legged host", NodeKind::Host);
        let rate = Rate::from_gbps(100);
        graph.link(a, left, rate, Duration::from_ns(200));
        graph.link(b, right, rate, Duration::from_ns(200));
        graph.link(left, middle, rate, Duration::from_ns(200));
        graph.link(middle, right, rate, Duration::from_ns(200));
        assert_eq!(graph.path(a, b), None);
        graph.link(left, right, rate, Duration::from_ns(200));
        assert_eq!(
            graph.path(a, b),
            Some(vec![(a, PortIx(0)), (left, PortIx(2)), (right, PortIx(0))])
        );
    }
}
