//! Ideal flow completion times: the closed form for a flow alone in the network. It is the
//! reference for measured completion times and a lower bound on them.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::{Attachment, on_wire};
use floodway_model::line::Counting;
use floodway_model::units::ByteTime;
use floodway_model::{Duration, FlowSpec, Graph, Instant, Rate};

use crate::Spec;
use crate::search::{self, AT_ONCE, Fabric, Ring};

/// Completion times on an idle network.
pub struct Ideal<'a> {
    spec: &'a Spec,
    /// By node: its index among the edge switches, and among those of them that are destinations of
    /// flows.
    places: Vec<(u32, u32)>,
    /// Number of edge switches that are destinations of flows.
    destinations: usize,
    /// Index in `paths` of the shortest paths between two edge switches, without the first and last
    /// hop, by the indices of both switches; `u32::MAX` if there is no path.
    between: Vec<u32>,
    paths: Vec<Paths>,
}

/// A link on the way, with its rate in the direction of the data and in the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    rate: Rate,
    back: Rate,
    delay: Duration,
    line: Option<Counting>,
}

impl Step {
    /// The link in the direction in which this end sends.
    fn from(graph: &Graph, end: &Attachment) -> Self {
        Self { rate: end.rate, back: graph.rate_to(end), delay: end.delay, line: end.line }
    }

    /// The link in the direction in which this end receives.
    fn to(graph: &Graph, end: &Attachment) -> Self {
        Self { rate: graph.rate_to(end), back: end.rate, delay: end.delay, line: end.line }
    }
}

/// The shortest paths between two switches, combined into one that is at least as fast as each of
/// them: at every hop the highest rate and the lowest delay of any of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Paths {
    /// The last hop first.
    hops: Vec<Step>,
    /// Whether there is more than one path.
    several: bool,
}

impl Paths {
    /// Merges other paths of the same length.
    fn merge(&mut self, other: &Self) {
        for (hop, other) in self.hops.iter_mut().zip(&other.hops) {
            hop.rate = hop.rate.max(other.rate);
            hop.back = hop.back.max(other.back);
            hop.delay = hop.delay.min(other.delay);
            if hop.line != other.line {
                hop.line = Some(Counting::LEAST);
            }
        }
        self.several |= other.several;
    }
}

#[derive(Clone, Copy, Debug)]
struct Hop {
    byte_time: ByteTime,
    /// The same in the direction of answers.
    back: ByteTime,
    delay: Duration,
    line: Option<Counting>,
    wire_overhead: u64,
}

impl Hop {
    /// Time on the wire of a frame.
    fn time(&self, frame: u16) -> Duration {
        self.byte_time.of(on_wire(self.line, frame, self.wire_overhead))
    }

    /// The same in the direction of answers.
    fn time_back(&self, frame: u16) -> Duration {
        self.back.of(on_wire(self.line, frame, self.wire_overhead))
    }
}

impl<'a> Ideal<'a> {
    /// Prepares the paths for the flows of a simulation.
    pub fn new(spec: &'a Spec) -> Self {
        let graph = &spec.graph;
        let fabric = Fabric::new(graph, &BTreeSet::new());
        let (edges, places) = fabric.edges(graph);
        let mut places: Vec<(u32, u32)> = places.iter().map(|&place| (place, u32::MAX)).collect();
        let mut to = Vec::new();
        for flow in spec.flows.each() {
            let edge = graph.node(flow.dst).ports[0].peer;
            let place = &mut places[edge.index()].1;
            if *place == u32::MAX {
                *place = to.len() as u32;
                to.push(fabric.number(edge));
            }
        }
        let mut between = vec![u32::MAX; edges.len() * to.len()];
        let mut known = Known::default();
        for (chunk, some) in to.chunks(AT_ONCE).enumerate() {
            let found = towards(spec, &fabric, some, &mut known);
            for (row, &edge) in between.chunks_mut(to.len()).zip(&edges) {
                for &(bits, paths) in &found[edge as usize] {
                    search::bits(bits).for_each(|bit| row[chunk * AT_ONCE + bit] = paths);
                }
            }
        }
        Self { spec, places, destinations: to.len(), between, paths: known.paths }
    }

    /// The time from the start of `flow` to the arrival of its last bit if it sends at line rate
    /// and is never queued. With store and forward, n packets of which all but the last are equal,
    /// H hops, and serialization times L (full packet) and l (last packet) per hop, it is
    ///
    /// max over j of L_1 + … + L_j + (n − 2)·max(L_1 … L_j) + l_j + … + l_H
    ///
    /// (for n = 1, l_1 + … + l_H), the longest chain of packets that follow each other on the
    /// links, plus all delays and latencies. If packets may take different paths, they follow each
    /// other only on the first and on the last hop, and the last packet may overtake others in
    /// between. With TCP, the SYN and its answer precede the data. `None` for a long-lived flow.
    /// A `connected` flow has no handshake. `finished`, the completion time of the flow, determines
    /// which link failures may have moved its packets to different paths.
    pub fn completion_time(
        &self,
        flow: &FlowSpec,
        connected: bool,
        finished: Instant,
    ) -> Option<Duration> {
        if flow.is_persistent() {
            return None;
        }
        let transport = &self.spec.profiles[usize::from(flow.workload)].transport;
        let payload = transport.payload();
        let packets = flow.bytes.div_ceil(payload);
        let last = flow.bytes - (packets - 1) * payload;
        let (full, last) = (transport.frame(payload), transport.frame(last));

        let hops = self.hops(flow);
        let latency = self.spec.switch.latency * (hops.len() as u64 - 1);
        let delay = hops.iter().map(|hop| hop.delay).sum::<Duration>() + latency;
        let frame = |bytes: u16, from: usize| -> Duration {
            hops[from..].iter().map(|hop| hop.time(bytes)).sum()
        };
        let tail = |from: usize| frame(last, from);
        // The answer to the SYN takes the same links back.
        let there_and_back = |syn: u16| -> Duration {
            let back = hops.iter().map(|hop| hop.time_back(syn)).sum::<Duration>();
            delay * 2 + frame(syn, 0) + back
        };
        let delay = delay
            + transport
                .handshake_frame()
                .filter(|_| !connected)
                .map_or(Duration::ZERO, there_and_back);
        if packets == 1 {
            return Some(delay + tail(0));
        }
        if self.are_apart(flow, finished) {
            return Some(
                delay
                    + apart(packets, |hop, bytes| hops[hop].time(bytes), hops.len(), (full, last)),
            );
        }
        let (mut before, mut slowest, mut longest) =
            (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for (j, hop) in hops.iter().enumerate() {
            let full = hop.time(full);
            before += full;
            slowest = full.max(slowest);
            longest = (before + slowest * (packets - 2) + tail(j)).max(longest);
        }
        Some(delay + longest)
    }

    /// Whether two packets of the flow may take different paths.
    fn are_apart(&self, flow: &FlowSpec, finished: Instant) -> bool {
        let mut failures = self.spec.failures.iter();
        let rerouted = failures.any(|failure| failure.at + failure.detection <= finished);
        let profiles = &self.spec.profiles;
        let profile = profiles.get(usize::from(flow.workload)).or(profiles.first());
        let sprays = profile.is_some_and(|profile| profile.transport.entropies() > 1);
        let apart = rerouted || sprays || !self.spec.switch.path.keeps_order();
        apart && self.paths(flow).several
    }

    fn paths(&self, flow: &FlowSpec) -> &Paths {
        let graph = &self.spec.graph;
        let [from, to] =
            [flow.src, flow.dst].map(|node| self.places[graph.node(node).ports[0].peer.index()]);
        let paths = self.between[from.0 as usize * self.destinations + to.1 as usize];
        assert_ne!(paths, u32::MAX, "a destination can be reached");
        &self.paths[paths as usize]
    }

    fn hops(&self, flow: &FlowSpec) -> Vec<Hop> {
        let graph = &self.spec.graph;
        let [first, last] = [flow.src, flow.dst].map(|node| graph.node(node).ports[0]);
        let middle = self.paths(flow).hops.iter().rev().copied();
        let hops = std::iter::once(Step::from(graph, &first))
            .chain(middle)
            .chain([Step::to(graph, &last)]);
        let hop = |Step { rate, back, delay, line }| Hop {
            byte_time: ByteTime::at(rate),
            back: ByteTime::at(back),
            delay,
            line,
            wire_overhead: self.spec.wire_overhead.into(),
        };
        hops.map(hop).collect()
    }
}

/// The distinct sets of paths found so far; a regular network has few.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<Paths, u32>,
    paths: Vec<Paths>,
}

impl Known {
    fn number(&mut self, paths: Paths) -> u32 {
        let next = self.paths.len() as u32;
        *self.numbers.entry(paths).or_insert_with_key(|paths| {
            self.paths.push(paths.clone());
            next
        })
    }
}

/// Destinations to which a switch has the same paths.
#[derive(Clone)]
struct Class {
    bits: u64,
    paths: Option<Paths>,
    /// The last step that was added: the paths that follow it, and its link.
    last: Option<(u32, Step)>,
}

impl Class {
    /// Adds the paths of one more next hop.
    fn take(&mut self, step: (u32, Step), known: &Known) {
        let Some(paths) = &mut self.paths else {
            let mut paths = known.paths[step.0 as usize].clone();
            paths.hops.push(step.1);
            (self.paths, self.last) = (Some(paths), Some(step));
            return;
        };
        paths.several = true;
        // Usually all steps are identical.
        if self.last != Some(step) {
            let (following, link) = step;
            let mut others = known.paths[following as usize].clone();
            others.hops.push(link);
            paths.merge(&others);
            self.last = Some(step);
        }
    }
}

/// By switch: the paths to the destinations, as sets of destinations (bits) with common paths.
fn towards(spec: &Spec, fabric: &Fabric, to: &[u32], known: &mut Known) -> Vec<Vec<(u64, u32)>> {
    let mut found: Vec<Vec<(u64, u32)>> = vec![Vec::new(); fabric.len()];
    let here = known.number(Paths::default());
    (0..).zip(to).for_each(|(bit, &number)| found[number as usize].push((1 << bit, here)));
    fabric.search(to, |ring| {
        for &number in ring.switches {
            let paths = paths_from(spec, fabric, &ring, (number, &found), known);
            found[number as usize].extend(paths);
        }
    });
    found
}

/// The paths of one switch to the destinations at the distance of the ring.
fn paths_from(
    spec: &Spec,
    fabric: &Fabric,
    ring: &Ring,
    (number, found): (u32, &[Vec<(u64, u32)>]),
    known: &mut Known,
) -> Vec<(u64, u32)> {
    let ports = &spec.graph.node(fabric.node(number)).ports;
    let mut classes = vec![Class { bits: ring.here[number as usize], paths: None, last: None }];
    for step in fabric.links(number) {
        let closer = ring.closer[step.peer as usize];
        let link = Step::from(&spec.graph, &ports[usize::from(step.port)]);
        for &(bits, following) in &found[step.peer as usize] {
            // Only those paths of the peer that are one hop shorter.
            let bits = bits & closer;
            for place in 0..classes.len() {
                let both = classes[place].bits & bits;
                if both == 0 {
                    continue;
                }
                if both != classes[place].bits {
                    let apart =
                        Class { bits: classes[place].bits & !bits, ..classes[place].clone() };
                    classes.push(apart);
                    classes[place].bits = both;
                }
                classes[place].take((following, link), known);
            }
        }
    }
    let mut whole: Vec<(u64, u32)> = Vec::new();
    for Class { bits, paths, .. } in classes {
        let paths = known.number(paths.expect("a ring has a link to the one before it"));
        // Sets that differed only in their ports are identical now.
        match whole.iter_mut().find(|(_, other)| *other == paths) {
            Some((others, _)) => *others |= bits,
            None => whole.push((bits, paths)),
        }
    }
    whole
}

/// The serialization times of `packets` packets, of which all but the last are `full`, over `count`
/// hops of these rates, if packets may overtake each other between the first and the last hop. It
/// is the largest of these bounds: the last packet, and likewise the full ones, leave the source
/// one after the other before they arrive; and all packets use the last hop one after the other,
/// once the first has reached it.
fn apart(
    packets: u64,
    time: impl Fn(usize, u16) -> Duration,
    count: usize,
    (full, last): (u16, u16),
) -> Duration {
    let over = |bytes, hops: std::ops::Range<usize>| -> Duration {
        hops.map(|hop| time(hop, bytes)).sum()
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
