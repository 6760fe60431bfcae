//! The completion time of a flow that has the network to itself: the closed form that measured
//! completion times are compared with, and below which none may be.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::{Attachment, NodeKind};
use floodway_model::units::ByteTime;
use floodway_model::{Duration, FlowSpec, Graph, Instant, NodeId};

use crate::Spec;

/// Completion times on an idle network.
pub struct Ideal<'a> {
    spec: &'a Spec,
    /// Ways by the switches at their ends, with the first and last hop left out.
    between: BTreeMap<(NodeId, NodeId), Ways>,
}

/// The ways between two switches.
#[derive(Debug)]
struct Ways {
    hops: Vec<Hop>,
    /// Whether there is more than one.
    several: bool,
}

#[derive(Clone, Copy, Debug)]
struct Hop {
    byte_time: ByteTime,
    delay: Duration,
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
    /// plus all delays and latencies. If packets may take different ways, they wait for each other on
    /// the first and on the last hop only, and the last packet may overtake others in between. With TCP
    /// a SYN goes before, and its answer comes back. `None` if the flow never ends. `finished`, when it
    /// was complete, says which failures of links may have led its packets different ways.
    pub fn completion_time(&mut self, flow: &FlowSpec, finished: Instant) -> Option<Duration> {
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
        if self.are_apart(flow, finished) {
            return Some(
                delay + apart(packets, |hop| hops[hop].byte_time, hops.len(), (full, last)),
            );
        }
        let (mut before, mut slowest, mut longest) =
            (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for (j, hop) in hops.iter().enumerate() {
            let full = hop.byte_time.of(full);
            before += full;
            slowest = full.max(slowest);
            longest = (before + slowest * (packets - 2) + tail(j)).max(longest);
        }
        Some(delay + longest)
    }

    /// Whether one packet of the flow may take another way than the next.
    fn are_apart(&mut self, flow: &FlowSpec, finished: Instant) -> bool {
        let mut failures = self.spec.failures.iter();
        let rerouted = failures.any(|failure| failure.at + failure.detection <= finished);
        (rerouted || !self.spec.switch.path.keeps_order()) && self.ways(flow).several
    }

    fn ways(&mut self, flow: &FlowSpec) -> &Ways {
        let graph = &self.spec.graph;
        let [from, to] = [flow.src, flow.dst].map(|node| graph.node(node).ports[0].peer);
        self.between.entry((from, to)).or_insert_with(|| fastest(graph, from, to))
    }

    fn hops(&mut self, flow: &FlowSpec) -> Vec<Hop> {
        let graph = &self.spec.graph;
        let end = |node: NodeId| graph.node(node).ports[0];
        let (first, last) = (end(flow.src), end(flow.dst));
        let middle = &self.ways(flow).hops;
        let mut hops = vec![Hop { byte_time: ByteTime::at(first.rate), delay: first.delay }];
        hops.extend_from_slice(middle);
        hops.push(Hop { byte_time: ByteTime::at(last.rate), delay: last.delay });
        hops
    }
}

/// The serialization times of `packets` packets, of which all but the last are `full`, over `count`
/// hops of these rates: the last one has come after it has left the source behind the others; so have
/// the full ones; and all go by the last hop one after the other, from when the first is there.
fn apart(
    packets: u64,
    rate: impl Fn(usize) -> ByteTime,
    count: usize,
    (full, last): (u64, u64),
) -> Duration {
    let over = |bytes, hops: std::ops::Range<usize>| -> Duration {
        hops.map(|hop| rate(hop).of(bytes)).sum()
    };
    let end = count - 1;
    let fulls_sent = over(full, 0..1) * (packets - 1);
    let last_there = fulls_sent + over(last, 0..end);
    let fulls_there = over(full, 0..end);
    let fulls_arrive = over(full, end..count) * (packets - 1);
    let last_arrives = over(last, end..count);
    (last_there + last_arrives)
        .max(fulls_sent + over(full, 1..count))
        .max(fulls_there + fulls_arrive)
        .max(fulls_there.min(last_there) + fulls_arrive + last_arrives)
}

/// The shortest ways between two switches as one that is at least as fast as each of them: at every
/// step the fastest rate and the least delay that any of them has there.
fn fastest(graph: &Graph, from: NodeId, to: NodeId) -> Ways {
    let distance = graph.distances(to);
    let (mut hops, mut several) = (Vec::new(), false);
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
        several |= steps().count() > 1;
        front = steps().map(|end| end.peer).collect();
    }
    Ways { hops, several }
}
