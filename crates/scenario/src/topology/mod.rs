//! Topologies: families of networks, each built into a [`Graph`] from a few numbers, or as it is
//! written out.
//!
//! Nodes stand in the order hosts, then switches by tier; names are `host 12`, `leaf 3`. In a custom
//! network order and names are as written, hosts before switches; in one from a file names have the
//! numbers of that file. The ports of a host that has several are nodes: `host 12.0`, `host 12.1`.

pub mod clos;
pub mod custom;
pub mod dumbbell;
pub mod fat_tree;
pub mod file;
pub mod parking_lot;
pub mod rails;
pub mod ring;
pub mod star;

use std::ops::Range;

use floodway_model::check::Findings;
use floodway_model::{Duration, Graph, NodeId, Rate};

pub(crate) use custom::set_tiers;

floodway_model::family! {
    /// Which network.
    "topology" without defaults:
    Clos = "clos" (clos::Spec): "Two tiers: every leaf switch has a link to every spine switch.",
    FatTree = "fat_tree" (fat_tree::Spec):
        "Three tiers: pods of edge and aggregation switches, joined by core switches.",
    Star = "star" (star::Spec): "Hosts around one switch.",
    Dumbbell = "dumbbell" (dumbbell::Spec):
        "Hosts on two switches that are joined by one link, the bottleneck.",
    ParkingLot = "parking_lot" (parking_lot::Spec):
        "Hosts at a line of switches: several bottlenecks one after the other.",
    Ring = "ring" (ring::Spec): "Hosts at a ring of switches, where buffers can wait for each other in a cycle.",
    Rails = "rails" (rails::Spec):
        "Servers of GPUs: the NIC of GPU i of every server at rail switch i, and NVLink in each server.",
    Custom = "custom" (custom::Spec):
        "Hosts, switches and links as they are written out, each link with its rate and delay.",
    File = "file" (file::Spec):
        "A network from a file of another tool: the HPCC simulator's or htsim's.",
}

/// Most ports that a host can have.
pub const MOST_HOST_PORTS: u16 = 64;

/// The number of ports of a host, unless it is written.
fn one() -> u16 {
    1
}

fn is_one(ports: &u16) -> bool {
    *ports == 1
}

/// Whether hosts can have this many ports, which is the field `ports`.
fn check_ports(ports: u16, findings: &mut Findings<'_>) {
    findings.range("ports", ports, 1..=MOST_HOST_PORTS, "leave it out for one");
}

/// Whether the ports of hosts can go to as many edge switches each: `count` is their number, the field `name`.
fn check_groups(ports: u16, (name, count): (&str, u32), findings: &mut Findings<'_>) {
    let ports = u32::from(ports);
    if (2..=MOST_HOST_PORTS.into()).contains(&ports) && count % ports != 0 {
        findings.error(
            ["ports", name],
            format!("each host has {ports} ports, and {count} switches make no groups of {ports}"),
            format!(
                "make `{name}` a multiple of `ports`: each port of a host goes to another switch"
            ),
        );
    }
}

/// Adds hosts, of which each `at_each` are at a group of as many edge switches as they have ports. Returns the first
/// port of each.
fn add_hosts(graph: &mut Graph, edges: u32, at_each: u32, ports: u16) -> Vec<NodeId> {
    let hosts = edges / u32::from(ports) * at_each;
    (0..hosts).map(|host| graph.add_host(&format!("host {host}"), ports)).collect()
}

/// The switches at which the hosts of [`add_hosts`] are, port by port: each port with its place among the edge
/// switches.
fn places(
    hosts: &[NodeId],
    at_each: u32,
    ports: u16,
) -> impl Iterator<Item = (NodeId, usize)> + '_ {
    let ports = u32::from(ports);
    hosts.iter().enumerate().flat_map(move |(number, &first)| {
        let group = number as u32 / at_each;
        (0..ports).map(move |port| (NodeId(first.0 + port), (group * ports + port) as usize))
    })
}

/// How large a network would be, known before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Links.
    pub links: u64,
    /// Ports of the node that has the most.
    pub most_ports: u64,
}

/// The network, which is as large as was said before.
#[cfg(test)]
fn built_as_said(spec: &Spec) -> Graph {
    let graph = spec.build();
    let most = graph.nodes.iter().map(|node| node.ports.len()).max().unwrap_or(0);
    let size = Size {
        hosts: graph.first_ports().count() as u64,
        switches: graph.switches().count() as u64,
        links: graph.links().count() as u64,
        most_ports: most as u64,
    };
    assert_eq!(size, spec.size());
    graph
}

/// Whether links can be as fast and as long as two fields say, `KIND_rate` and `KIND_delay`.
fn check_links(kind: &str, rate: Rate, delay: Duration, findings: &mut Findings<'_>) {
    findings.link_rate(&format!("{kind}_rate"), rate);
    findings.latency(&format!("{kind}_delay"), delay);
}

impl Spec {
    /// How large it will be.
    pub fn size(&self) -> Size {
        match self {
            Self::Clos(spec) => spec.size(),
            Self::FatTree(spec) => spec.size(),
            Self::Star(spec) => spec.size(),
            Self::Dumbbell(spec) => spec.size(),
            Self::ParkingLot(spec) => spec.size(),
            Self::Ring(spec) => spec.size(),
            Self::Rails(spec) => spec.size(),
            Self::Custom(spec) => spec.size(),
            Self::File(spec) => spec.size(),
        }
    }

    /// The network.
    pub fn build(&self) -> Graph {
        match self {
            Self::Clos(spec) => spec.build(),
            Self::FatTree(spec) => spec.build(),
            Self::Star(spec) => spec.build(),
            Self::Dumbbell(spec) => spec.build(),
            Self::ParkingLot(spec) => spec.build(),
            Self::Ring(spec) => spec.build(),
            Self::Rails(spec) => spec.build(),
            Self::Custom(spec) => spec.build(),
            Self::File(spec) => spec.build(),
        }
    }

    /// The numbers of the hosts on the left and on the right of a network that has two sides.
    pub fn sides(&self) -> Option<[Range<u64>; 2]> {
        match self {
            Self::Dumbbell(spec) => Some(spec.sides()),
            _ => None,
        }
    }

    /// The numbers of the hosts by their names.
    pub fn host_numbers(&self) -> impl Fn(&str) -> Option<u32> + use<> {
        let hosts = self.size().hosts;
        let written = match self {
            Self::Custom(spec) => {
                let mut nodes = spec.nodes();
                nodes.numbers.retain(|_, number| *number < nodes.hosts);
                Some(nodes.numbers)
            }
            Self::File(spec) => spec.network().map(|network| network.host_numbers()),
            _ => None,
        };
        move |name| match &written {
            Some(numbers) => numbers.get(name).copied(),
            None => {
                let number: u32 = name.strip_prefix("host ")?.parse().ok()?;
                (u64::from(number) < hosts && name == format!("host {number}")).then_some(number)
            }
        }
    }
}
