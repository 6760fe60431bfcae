//! From the specification of a simulation to its nodes, and to windows and threads for them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use floodway_engine::{Layout, Windows};
use floodway_model::graph::{Attachment, Node, NodeKind};
use floodway_model::packet::length;
use floodway_model::progressions::Collector;
use floodway_model::{
    Bytes, Duration, FlowId, FlowSpec, Graph, NodeId, PortIx, Progressions, Rate, Trigger,
};

use super::{sampling, work};
use crate::Spec;
use crate::failure::{self, Outages};
use crate::host::{Host, MultiportHost, Profile, Shared};
use crate::link::Link;
use crate::pace::Pacing;
use crate::retry::Retry;
use crate::routing::Routes;
use crate::switch::change::Epoch;
use crate::switch::{Knowledge, Switch};

/// Transport profiles by workload; a single one if all are equal.
pub(super) fn profiles(spec: &Spec) -> Vec<Profile> {
    let mut profiles = spec.profiles.clone();
    if profiles.windows(2).all(|pair| pair[0] == pair[1]) {
        profiles.truncate(1);
    }
    profiles
}

/// Whether some congestion control relies on answers of receivers, or a transport on round-trip times of
/// the idle network, which are known then.
pub(super) fn asks_for_answers(spec: &Spec) -> bool {
    let asks = |profile: &Profile| {
        profile.congestion.needs().is_about_answers() || profile.transport.infers_losses()
    };
    spec.profiles.iter().any(asks)
}

/// Whether some packets have room for telemetry.
pub(super) fn wants_telemetry(spec: &Spec) -> bool {
    spec.profiles.iter().any(|profile| profile.transport.telemetry().is_some())
}

/// By flow: its index among the flows of its sender, and among those of its receiver.
pub(super) fn places(spec: &Spec) -> Progressions<(u32, u32)> {
    let mut next = vec![(0, 0); spec.graph.nodes.len()];
    let place = |flow: FlowSpec| {
        let sent = next[flow.src.index()].0;
        next[flow.src.index()].0 += 1;
        let received = next[flow.dst.index()].1;
        next[flow.dst.index()].1 += 1;
        (sent, received)
    };
    spec.flows.each().map(place).collect()
}

/// The switches that are `here`.
pub(super) fn switches(
    spec: &Spec,
    shared: &Shared,
    (tables, knowledge): (Vec<Routes>, &Knowledge),
    here: &dyn Fn(NodeId) -> bool,
) -> Vec<Switch> {
    let make = |(id, routes): (NodeId, Routes)| {
        let mut switch =
            Switch::new(id, (spec, &shared.switch), routes, &links(spec, id), knowledge);
        switch.ports.iter_mut().for_each(|port| port.telemetry = shared.telemetry);
        switch
    };
    let routed = spec.graph.switches().zip(tables).filter(|(id, _)| here(*id));
    let mut switches: Vec<Switch> = routed.map(make).collect();
    let mut epochs = vec![VecDeque::new(); spec.graph.switches().count()];
    let failover = spec.host.failover;
    for (at, tables) in failure::epochs(&spec.failures, &spec.graph, failover) {
        let switches = epochs.iter_mut().zip(tables);
        switches.for_each(|(epochs, routes)| epochs.push_back((at, Epoch::Routes(routes))));
    }
    let epochs = spec.graph.switches().zip(epochs).filter(|(id, _)| here(*id));
    for (switch, (_, epochs)) in switches.iter_mut().zip(epochs) {
        switch.fail(spec, epochs);
    }
    for change in &spec.changes {
        let to = Arc::new(change.switch.clone());
        switches.iter_mut().for_each(|switch| switch.change_at(change.at, Arc::clone(&to)));
    }
    switches
}

/// The hosts that are `here`, with one port and with several.
pub(super) fn hosts(
    spec: &Spec,
    shared: &Arc<Shared>,
    knowledge: &Knowledge,
    here: &dyn Fn(NodeId) -> bool,
) -> (Vec<Host>, Vec<MultiportHost>) {
    let nodes = spec.graph.nodes.len();
    let none = || vec![Collector::<FlowId>::default(); nodes];
    let (mut outgoing, mut incoming) = (none(), none());
    for (id, flow) in (0..).map(FlowId).zip(spec.flows.each()) {
        outgoing[flow.src.index()].push(id);
        incoming[flow.dst.index()].push(id);
    }
    let mut triggers: BTreeMap<NodeId, Collector<Trigger>> = BTreeMap::new();
    for trigger in spec.triggers.each() {
        let source = spec.graph.host_of(spec.flows.at(trigger.begins.index()).src);
        triggers.entry(source).or_default().push(trigger);
    }
    let mut programs: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
    for (index, program) in (0..).zip(&spec.programs) {
        programs.entry(program.host).or_default().push(index);
    }
    let mut make = |id: NodeId| {
        let link = links(spec, id)[0];
        let [sends, receives] = [&mut outgoing, &mut incoming]
            .map(|flows| std::mem::take(&mut flows[id.index()]).finish());
        let mut host = Host::new(id, link, shared.clone(), sends, receives);
        host.regulate(knowledge.peers.regulator(link.peer));
        let end = (id, PortIx(0));
        host.fail(Outages::at(spec, end));
        host.hold(Pacing::at(spec, end));
        host.retry(Retry::at(spec, end, &link));
        if let Some(limit) = spec.record {
            host.record(limit, &sampling(spec, 0));
        }
        host
    };
    let (mut single, mut several) = (Vec::new(), Vec::new());
    for id in spec.graph.first_ports().filter(|id| here(*id)) {
        let programs = programs.get(&id).map_or(&[][..], Vec::as_slice);
        let programs = (&spec.programs, programs);
        let triggers = triggers.remove(&id).unwrap_or_default().finish();
        let ports = spec.graph.ports_of(id);
        if ports.len() == 1 {
            let mut host = make(id);
            host.wait_for(&triggers, programs);
            single.push(host);
        } else {
            let ports = ports.map(&mut make).collect();
            let mut host = MultiportHost::new(ports, &triggers, programs, shared);
            if spec.host.failover {
                host.fail_over(failure::failovers(spec, id));
            }
            several.push(host);
        }
    }
    (single, several)
}

/// The links of a node, as its transmitters see them.
fn links(spec: &Spec, id: NodeId) -> Vec<Link> {
    let ports = spec.graph.node(id).ports.iter();
    let link = |(port, end): (usize, &Attachment)| Link {
        peer: end.peer,
        peer_port: end.peer_port,
        to: match spec.graph.host_of(end.peer) {
            // A port of a host with several; those follow each other.
            host if spec.graph.ports_of(host).len() > 1 => {
                (host, PortIx((end.peer.0 - host.0) as u16))
            }
            _ => (end.peer, end.peer_port),
        },
        rate: end.rate,
        rate_back: spec.graph.rate_to(end),
        line: end.line,
        delay: end.delay,
        latency: match spec.graph.node(end.peer).kind {
            NodeKind::Host => Duration::ZERO,
            NodeKind::Switch { .. } => spec.switch.latency,
        },
        response: response(spec, spec.graph.rate_to(end)),
        wire_overhead: spec.wire_overhead,
        largest_frame: largest_frame(spec),
        node: id,
        port: PortIx(port as u16),
    };
    ports.enumerate().map(link).collect()
}

/// Response time of a port of this rate to a pause frame.
fn response(spec: &Spec, rate: Rate) -> Duration {
    let flow_control = &spec.switch.flow_control;
    let pfc = flow_control.pfc.as_ref().map(|pfc| pfc.response_at(rate));
    pfc.or(flow_control.pause.as_ref().map(|pause| pause.response)).unwrap_or_default()
}

/// Which thread of which rank has which nodes, and in which blocks if that is useful.
pub(crate) fn layout(
    spec: &Spec,
    (windows, hop): (Windows, Duration),
    threads: (usize, usize),
    blocks: Blocks,
) -> Layout {
    let ports = |(id, node): (NodeId, &Node)| match node.kind {
        // Of several ports, the first one stands for all.
        NodeKind::Host if spec.graph.host_of(id) == id => spec.graph.ports_of(id).len(),
        NodeKind::Host => 0,
        NodeKind::Switch { .. } => node.ports.len(),
    };
    let ports: Vec<usize> = spec.graph.ids().zip(&spec.graph.nodes).map(ports).collect();
    let work = match threads {
        (1, 1) => ports.iter().map(|ports| *ports as u64).collect(),
        _ => work::of(spec, &ports),
    };
    let groups = groups(&spec.graph);
    let layout = Layout::new(&ports, &work, &groups, windows, hop, threads);
    let (most, always) = match blocks {
        Blocks::None => return layout,
        Blocks::IfUseful => (BLOCK, ports.iter().sum::<usize>() >= LARGE),
        Blocks::Of(ports) => (ports, true),
    };
    let group_of = group_of(&spec.graph, &groups);
    let reach = reach(spec, &group_of, windows);
    match sides(&spec.graph, &groups, &group_of) {
        Some(sides) if always || reach >= NEAR => {
            layout.in_blocks(&ports, &groups, &sides, (most, reach))
        }
        _ => layout,
    }
}

/// Whether nodes are run in blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocks {
    /// They are not: what happens in a window is needed before the next one.
    None,
    /// They are if their state is far larger than the caches, or if hosts are much nearer to their switches than
    /// switches to each other.
    IfUseful,
    /// They are, in blocks of so many ports, in any network that has two sides.
    Of(usize),
}

/// Ports of a network, those of hosts included, from which on its nodes are run in blocks. Their state takes some
/// 12 MB. With 4,600 ports, blocks gain nothing.
const LARGE: usize = 6_500;

/// Windows that a frame between two groups takes from which on nodes of smaller networks, too, are run in blocks:
/// threads then synchronize once for twice as many.
const NEAR: u64 = 4;

/// Ports of a block: some megabyte of state.
const BLOCK: usize = 512;

/// The side of each group: the parity of the tier of its switch. `None` if a link between two groups does not join two
/// sides, or if hosts are not all on the first side.
fn sides(graph: &Graph, groups: &[Vec<NodeId>], group_of: &[usize]) -> Option<Vec<u8>> {
    let side = |group: &Vec<NodeId>| match graph.node(*group.first()?).kind {
        NodeKind::Switch { tier } => Some(tier % 2).filter(|side| *side == 0 || group.len() == 1),
        NodeKind::Host => None,
    };
    let sides: Vec<u8> = groups.iter().map(side).collect::<Option<_>>()?;
    let mut between = between(graph, group_of);
    between.all(|(ends, _)| sides[ends[0]] != sides[ends[1]]).then_some(sides)
}

/// Number of the group of each node.
fn group_of(graph: &Graph, groups: &[Vec<NodeId>]) -> Vec<usize> {
    let mut group_of = vec![0; graph.nodes.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|node| group_of[node.index()] = number);
    }
    group_of
}

/// The ends of the links between groups, each with the groups here and there.
fn between<'a>(
    graph: &'a Graph,
    group_of: &'a [usize],
) -> impl Iterator<Item = ([usize; 2], &'a Attachment)> {
    let ends = move |(node, here): (&'a Node, &usize)| {
        let here = *here;
        node.ports.iter().map(move |end| ([here, group_of[end.peer.index()]], end))
    };
    graph.nodes.iter().zip(group_of).flat_map(ends).filter(|(ends, _)| ends[0] != ends[1])
}

/// The least number of windows that a frame between two groups takes.
fn reach(spec: &Spec, group_of: &[usize], windows: Windows) -> u64 {
    let frame = shortest_frame(spec);
    let times = between(&spec.graph, group_of).map(|(_, end)| time(spec, end, frame));
    times.min().map_or(1, |time| time.0 / windows.length().0)
}

/// Nodes that belong on the same thread: a switch with its hosts.
pub(crate) fn groups(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut groups: BTreeMap<NodeId, Vec<NodeId>> =
        graph.switches().map(|switch| (switch, vec![switch])).collect();
    for host in graph.first_ports() {
        let edge = graph.node(host).ports[0].peer;
        groups.entry(edge).or_default().extend(graph.ports_of(host));
    }
    groups.into_values().collect()
}

/// Length of the longest frame: a full packet of the workload with the largest packets.
fn largest_frame(spec: &Spec) -> u16 {
    let frames = spec.profiles.iter().map(|profile| profile.transport.largest_frame());
    frames.max().unwrap_or(length::SHORTEST_FRAME)
}

/// Length of the shortest frame. Link control has the shortest Ethernet frames, or credit frames of any length.
fn shortest_frame(spec: &Spec) -> u16 {
    let credit = spec.switch.flow_control.cbfc.iter().map(|cbfc| cbfc.frame.0 as u16);
    let frames = spec.profiles.iter().map(|profile| profile.transport.shortest_frame());
    frames.chain(credit).min().unwrap_or(length::SHORTEST_FRAME)
}

/// Time from sending a frame to its arrival at the other end of a link.
fn time(spec: &Spec, end: &Attachment, frame: u16) -> Duration {
    end.delay + end.rate.time_for(Bytes(end.on_wire(frame, u64::from(spec.wire_overhead))))
}

/// Windows as long as the shortest time from a decision to send to the arrival; and the longest
/// such time.
pub(crate) fn windows(spec: &Spec) -> (Windows, Duration) {
    let (shortest, largest) = (shortest_frame(spec), largest_frame(spec));
    let links = || spec.graph.ends();
    let shortest = links().map(|end| time(spec, end, shortest)).min();
    let longest = links().map(|end| time(spec, end, largest)).max().unwrap_or_default();
    let response = links().map(|end| response(spec, end.rate)).max().unwrap_or_default();
    let longest = longest + spec.switch.latency.max(response);
    let of_hosts = spec.graph.first_ports().map(|host| spec.graph.ports_of(host).len());
    let ports = spec.graph.nodes.iter().map(|node| node.ports.len()).chain(of_hosts);
    let ports = ports.max().unwrap_or(1);
    (Windows::new(shortest.unwrap_or(Duration(u64::MAX)), ports), longest)
}

/// Number of switch tiers.
pub(super) fn tiers(graph: &Graph) -> u8 {
    let tier = |id| match graph.node(id).kind {
        NodeKind::Switch { tier } => tier + 1,
        NodeKind::Host => 0,
    };
    graph.switches().map(tier).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small;

    /// The number of blocks of one port at most, so of groups; 1 if the network has no two sides.
    fn blocks(graph: Graph) -> usize {
        let spec = small::spec(graph, Vec::new(), Duration::from_us(1));
        layout(&spec, windows(&spec), (1, 1), Blocks::Of(1)).blocks(0)
    }

    /// Switches of these tiers, each with so many hosts, and these links between them.
    fn network(switches: &[(u8, u32)], links: &[(u32, u32)]) -> Graph {
        let mut graph = Graph::default();
        let (rate, delay) = (small::GBPS_100, small::NS_200);
        for (number, &(tier, _)) in switches.iter().enumerate() {
            graph.add(format!("switch {number}"), NodeKind::Switch { tier });
        }
        for (number, &(_, hosts)) in (0..).zip(switches) {
            for _ in 0..hosts {
                let host = graph.add(format!("host {}", graph.nodes.len()), NodeKind::Host);
                graph.link(host, NodeId(number), rate, delay);
            }
        }
        links.iter().for_each(|&(a, b)| graph.link(NodeId(a), NodeId(b), rate, delay));
        graph
    }

    #[test]
    fn a_network_whose_links_join_two_sides_may_be_in_blocks() {
        // Two leaves and a spine; with a core switch above it.
        assert_eq!(blocks(network(&[(0, 2), (0, 2), (1, 0)], &[(0, 2), (1, 2)])), 3);
        let tiers = [(0, 1), (1, 0), (2, 0), (1, 0), (0, 1)];
        assert_eq!(blocks(network(&tiers, &[(0, 1), (1, 2), (2, 3), (3, 4)])), 5);
        // Leaves that are neighbors; a host at a spine.
        assert_eq!(blocks(network(&[(0, 2), (0, 2), (1, 0)], &[(0, 2), (1, 2), (0, 1)])), 1);
        assert_eq!(blocks(network(&[(0, 2), (0, 2), (1, 1)], &[(0, 2), (1, 2)])), 1);
    }

    #[test]
    fn small_networks_and_sessions_have_no_blocks_unless_hosts_are_near() {
        let graph = network(&[(0, 2), (0, 2), (1, 0)], &[(0, 2), (1, 2)]);
        let mut spec = small::spec(graph, Vec::new(), Duration::from_us(1));
        let blocks = |spec: &Spec, blocks| layout(spec, windows(spec), (1, 1), blocks).blocks(0);
        for choice in [Blocks::IfUseful, Blocks::None] {
            assert_eq!(blocks(&spec, choice), 1);
        }
        // With the 6.72 ns of the shortest frame, 44.96 ns are a quarter of 206.72 ns, and 45 ns are more.
        for (delay, expected) in [(45_000, 1), (44_960, 2)] {
            let hosts: Vec<NodeId> = spec.graph.first_ports().collect();
            for node in &mut spec.graph.nodes {
                let is_host = matches!(node.kind, NodeKind::Host);
                let short =
                    node.ports.iter_mut().filter(|end| is_host || hosts.contains(&end.peer));
                short.for_each(|end| end.delay = Duration(delay));
            }
            assert_eq!(blocks(&spec, Blocks::IfUseful), expected, "{delay}");
            assert_eq!(blocks(&spec, Blocks::None), 1);
        }
    }
}
