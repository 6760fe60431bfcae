//! The completion time of a flow that has the network to itself: the closed form that measured
//! completion times are compared with, and the time below which none may be.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::{Attachment, NodeKind};
use floodway_model::units::ByteTime;
use floodway_model::{Duration, FlowSpec, Graph, NodeId};

use crate::Spec;

/// Completion times on an idle network.
pub struct Ideal<'a> {
    spec: &'a Spec,
    /// Ways by the switches at their ends, with the first and last hop left out.
    between: BTreeMap<(NodeId, NodeId), Vec<Hop>>,
}

#[derive(Clone, Copy, Debug)]
struct Hop {
    byte_time: ByteTime,
    delay: Duration,
}

/// Packets of a flow, two at least: their number, and how long all but the last and the last take at
/// every hop.
struct Packets {
    count: u64,
    full: Vec<Duration>,
    last: Vec<Duration>,
}

impl Packets {
    /// The least time that they take if each may go another way.
    fn apart(&self) -> Duration {
        let sum = |times: &[Duration]| times.iter().copied().sum::<Duration>();
        let end = self.full.len() - 1;
        let before_last = self.full[0] * (self.count - 1);
        let first = sum(&self.full[..end]).min(before_last + sum(&self.last[..end]));
        let at_last_hop = first + self.full[end] * (self.count - 1) + self.last[end];
        let next_to_last = before_last + sum(&self.full[1..]);
        (before_last + sum(&self.last)).max(next_to_last).max(at_last_hop)
    }
}

impl<'a> Ideal<'a> {
    /// For the flows of a simulation.
    pub fn new(spec: &'a Spec) -> Self {
        Self { spec, between: BTreeMap::new() }
    }

    /// The time from the start of `flow` to the arrival of its last bit if it sends at line rate
    /// and never waits: store and forward, so with n packets of which all but the last are equal,
    /// and hops of serialization times L (full packet) and l (last packet),
    ///
    /// max over j of L_1 + … + L_j + (n − 2)·max(L_1 … L_j) + l_j + … + l_H,
    ///
    /// the longest of the ways in which one packet can wait for another (for n = 1, l_1 + … + l_H),
    /// plus all delays and latencies. With TCP a SYN goes before, and its answer comes back. `None`
    /// if the flow never ends.
    pub fn completion_time(&mut self, flow: &FlowSpec) -> Option<Duration> {
        self.time(flow, |_, one_way| one_way)
    }

    /// The time in which no flow can be faster. It is the same as the ideal, unless packets of a flow
    /// may take different ways: then they wait for each other at the first and the last hop only, and
    /// a short last packet can overtake, so that it is the longest of
    ///
    /// (n − 1)·L_1 + l_1 + … + l_H, the way of the last packet,
    /// (n − 1)·L_1 + L_2 + … + L_H, that of the one before it, and
    /// a + (n − 1)·L_H + l_H, all packets at the last hop, where the first one comes after a.
    pub fn least_time(&mut self, flow: &FlowSpec) -> Option<Duration> {
        let spec = self.spec;
        let one_way = spec.switch.path.keeps_order() && spec.failures.is_empty();
        self.time(flow, |packets, in_order| {
            // On the way between hosts of one switch there is nothing to choose.
            if one_way || packets.full.len() < 3 { in_order } else { packets.apart() }
        })
    }

    /// Delays, and what `choose` says of the packets and of the time that they take one behind the
    /// other.
    fn time(
        &mut self,
        flow: &FlowSpec,
        choose: impl FnOnce(&Packets, Duration) -> Duration,
    ) -> Option<Duration> {
        if flow.is_persistent() {
            return None;
        }
        let transport = &self.spec.profiles[usize::from(flow.workload)].transport;
        let payload = transport.payload();
        let packets = flow.bytes.div_ceil(payload);
        let last = flow.bytes - (packets - 1) * payload;
        let overhead = u64::from(self.spec.wire_overhead);
        let wire = |payload| u64::from(transport.frame(payload)) + overhead;
        let (full, last) = (wire(payload), wire(last));

        let hops = self.hops(flow);
        let latency = self.spec.switch.latency * (hops.len() as u64 - 1);
        let delay = hops.iter().map(|hop| hop.delay).sum::<Duration>() + latency;
        let frame = |bytes: u64, from: usize| -> Duration {
            hops[from..].iter().map(|hop| hop.byte_time.of(bytes)).sum()
        };
        let tail = |from: usize| frame(last, from);
        // Links are alike in both directions, so that the way back is as long.
        let delay = delay
            + transport
                .handshake_frame()
                .map_or(Duration::ZERO, |syn| (delay + frame(u64::from(syn) + overhead, 0)) * 2);
        if packets == 1 {
            return Some(delay + tail(0));
        }
        let (mut before, mut slowest, mut longest) =
            (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for (j, hop) in hops.iter().enumerate() {
            let full = hop.byte_time.of(full);
            before += full;
            slowest = full.max(slowest);
            longest = (before + slowest * (packets - 2) + tail(j)).max(longest);
        }
        let times = |bytes: u64| hops.iter().map(|hop| hop.byte_time.of(bytes)).collect();
        let packets = Packets { count: packets, full: times(full), last: times(last) };
        Some(delay + choose(&packets, longest))
    }

    fn hops(&mut self, flow: &FlowSpec) -> Vec<Hop> {
        let graph = &self.spec.graph;
        let end = |node: NodeId| graph.node(node).ports[0];
        let (first, last) = (end(flow.src), end(flow.dst));
        let middle = self
            .between
            .entry((first.peer, last.peer))
            .or_insert_with(|| fastest(graph, first.peer, last.peer));
        let mut hops = vec![Hop { byte_time: ByteTime::at(first.rate), delay: first.delay }];
        hops.extend_from_slice(middle);
        hops.push(Hop { byte_time: ByteTime::at(last.rate), delay: last.delay });
        hops
    }
}

/// The shortest ways between two switches as one that is at least as fast as each of them: at every
/// step the fastest rate and the least delay that any of them has there.
fn fastest(graph: &Graph, from: NodeId, to: NodeId) -> Vec<Hop> {
    let distance = graph.distances(to);
    let mut hops = Vec::new();
    let mut front = BTreeSet::from([from]);
    while !front.contains(&to) {
        let closer = |at: NodeId, end: &Attachment| {
            let (here, there) = (distance[at.index()], distance[end.peer.index()]);
            let forwards = graph.node(end.peer).kind != NodeKind::Host;
            forwards && there.is_some() && there < here
        };
        let steps = || {
            let ends = |&at: &NodeId| graph.node(at).ports.iter().map(move |end| (at, end));
            front.iter().flat_map(ends).filter(|(at, end)| closer(*at, end)).map(|(_, end)| end)
        };
        let rate = steps().map(|end| end.rate).max().expect("a destination can be reached");
        let delay = steps().map(|end| end.delay).min().expect("as above");
        hops.push(Hop { byte_time: ByteTime::at(rate), delay });
        front = steps().map(|end| end.peer).collect();
    }
    hops
}
