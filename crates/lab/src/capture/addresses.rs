//! Addresses, ports and queue pairs of captured frames, which the simulation does not have: each follows from the
//! number of a node, a port or a flow.

use std::net::Ipv4Addr;

use floodway_model::graph::NodeKind;
use floodway_model::{FlowId, Graph, NodeId, PortIx};
use floodway_wire::Mac;

/// Addresses of the nodes of a network.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// By node: whether it is a host, and its place among the hosts or the switches.
    places: Vec<(bool, u32)>,
}

impl Addresses {
    /// Those of a network.
    pub fn of(graph: &Graph) -> Self {
        let (mut hosts, mut switches) = (0, 0);
        let place = |kind: NodeKind| {
            let is_host = kind == NodeKind::Host;
            let next = if is_host { &mut hosts } else { &mut switches };
            *next += 1;
            (is_host, *next - 1)
        };
        Self { places: graph.nodes.iter().map(|node| node.kind).map(place).collect() }
    }

    /// The IPv4 address: of host n, counted from 0, the (n + 1)-th of 10.0.0.0/9; of switch n of 10.128.0.0/9. Numbers
    /// have 23 bits.
    pub fn ip(&self, node: NodeId) -> Ipv4Addr {
        let (is_host, place) = self.places[node.index()];
        let block = if is_host { 0x0a00_0000 } else { 0x0a80_0000 };
        Ipv4Addr::from(block | ((place + 1) & 0x7f_ffff))
    }

    /// The MAC address of a node: 02-00 and its IPv4 address.
    pub fn mac(&self, node: NodeId) -> Mac {
        let [a, b, c, d] = self.ip(node).octets();
        Mac([0x02, 0x00, a, b, c, d])
    }

    /// The MAC address of a port: that of its host; of a switch, 06-00, the 16 least significant bits of its number
    /// counted from 0, and the number of the port.
    pub fn port(&self, node: NodeId, port: PortIx) -> Mac {
        let (is_host, place) = self.places[node.index()];
        if is_host {
            return self.mac(node);
        }
        let ([s, t], [p, q]) = ((place as u16).to_be_bytes(), port.0.to_be_bytes());
        Mac([0x06, 0x00, s, t, p, q])
    }
}

/// Ports for private use begin here (RFC 6335 section 6).
const FIRST_SOURCE_PORT: u32 = 49_152;
/// Bits of a flow's number in the port of its source.
const SOURCE_PORT_BITS: u32 = 14;
/// The first port at the destination.
const FIRST_DESTINATION_PORT: u32 = 5_001;
/// How many ports a destination uses.
const DESTINATION_PORTS: u32 = 40_000;
/// The queue pair of the first flow.
const FIRST_QUEUE_PAIR: u32 = 0x10_0000;
/// How many queue pairs there are.
const QUEUE_PAIRS: u32 = 0xe0_0000;

/// The port at the source of a flow: 49152 and the 14 least significant bits of its number.
pub fn source_port(flow: FlowId) -> u16 {
    (FIRST_SOURCE_PORT + flow.0 % (1 << SOURCE_PORT_BITS)) as u16
}

/// The port at its destination, of TCP and UDP: 5001 and the other bits of its number, modulo 40,000.
pub fn destination_port(flow: FlowId) -> u16 {
    (FIRST_DESTINATION_PORT + (flow.0 >> SOURCE_PORT_BITS) % DESTINATION_PORTS) as u16
}

/// The queue pair of a flow at both ends: 0x100000 and its number, modulo 0xe00000.
pub fn queue_pair(flow: FlowId) -> u32 {
    FIRST_QUEUE_PAIR + flow.0 % QUEUE_PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Duration, Rate};

    #[test]
    fn addresses_follow_from_numbers() {
        let mut graph = Graph::default();
        let leaf = graph.add("leaf 0", NodeKind::Switch { tier: 0 });
        let hosts: Vec<NodeId> =
            (0..300).map(|n| graph.add(format!("host {n}"), NodeKind::Host)).collect();
        for &host in &hosts {
            graph.link(host, leaf, Rate::from_gbps(100), Duration::from_ns(1));
        }
        let addresses = Addresses::of(&graph);
        assert_eq!(addresses.ip(hosts[0]).to_string(), "10.0.0.1");
        assert_eq!(addresses.ip(hosts[299]).to_string(), "10.0.1.44");
        assert_eq!(addresses.ip(leaf).to_string(), "10.128.0.1");
        assert_eq!(addresses.mac(hosts[299]).to_string(), "02:00:0a:00:01:2c");
        assert_eq!(addresses.port(hosts[0], PortIx(0)), addresses.mac(hosts[0]));
        assert_eq!(addresses.port(leaf, PortIx(258)).to_string(), "06:00:00:00:01:02");
    }

    #[test]
    fn flows_between_two_hosts_have_different_ports() {
        let ports = |flow| (source_port(FlowId(flow)), destination_port(FlowId(flow)));
        assert_eq!(ports(0), (49_152, 5_001));
        assert_eq!(ports(16_383), (65_535, 5_001));
        assert_eq!(ports(16_384), (49_152, 5_002));
        // The other bits of the largest number are 262,143, which is 22,143 modulo 40,000.
        assert_eq!(destination_port(FlowId(u32::MAX)), 27_144);
        assert_eq!(queue_pair(FlowId(5)), 0x10_0005);
        assert_eq!(queue_pair(FlowId(0xe0_0001)), 0x10_0001);
    }
}
