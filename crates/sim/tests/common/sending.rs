//! Timelines to the picosecond: what a host sends, on a path of which a test chooses what is marked and
//! what is lost.

use std::sync::atomic::AtomicBool;

use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx, Rate};
use floodway_sim::Sent;
use floodway_sim::failure::Failure;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, rocev2, tcp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::{Outcome, Simulation, Spec};

use super::{GBPS_100, NS_200, flow, plain};

/// A full segment of TCP and an acknowledgement without options at 100 Gb/s, with preamble and gap.
pub const FULL: u64 = (1_518 + 20) * 80;
pub const ACK: u64 = (70 + 20) * 80;
/// A SYN, or its answer.
pub const SYN: u64 = (78 + 20) * 80;
/// The delay of the link to the receiver, so short that a single frame of a burst can be lost on it.
pub const LAST: u64 = 10_000;

/// The switches of [`path`].
pub const LEFT: NodeId = NodeId(4);
pub const RIGHT: NodeId = NodeId(5);

/// Host 0 sends to host 1 by two switches: the first link has this delay, the one between the switches
/// this rate and no delay to speak of, as the last has. Hosts 2 and 3 are at the first switch.
pub fn path(rate: Rate, delay: Duration) -> Graph {
    let mut graph = Graph::default();
    for host in 0..4 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    graph.add("left", NodeKind::Switch { tier: 0 });
    graph.add("right", NodeKind::Switch { tier: 0 });
    graph.link(NodeId(0), LEFT, GBPS_100, delay);
    graph.link(LEFT, RIGHT, rate, Duration(LAST));
    graph.link(RIGHT, NodeId(1), GBPS_100, Duration(LAST));
    for host in [2, 3] {
        graph.link(NodeId(host), LEFT, GBPS_100, NS_200);
    }
    graph
}

/// Over a [`path`] of 100 Gb/s there and back: a frame that takes so long, and its answer.
pub const fn round_trip(delay: Duration, there: u64, back: u64) -> u64 {
    2 * (delay.0 + 2 * LAST) + 3 * (there + back)
}

/// Runs it and insists that nothing went wrong; also every frame, in order of time.
pub fn traced(spec: &Spec) -> (Outcome, Vec<Sent>) {
    let (stop, watch) = (AtomicBool::new(false), |_| {});
    let run = Run { threads: 1, stop: &stop, watch: &watch };
    let (outcome, mut trace) = Simulation::new(spec.clone()).run_traced(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    trace.sort_by_key(|sent| sent.at);
    (outcome, trace)
}

/// The data packets that host 0 sends: when, and their numbers.
pub fn sent(trace: &[Sent]) -> Vec<(u64, u32)> {
    let mine = |sent: &&Sent| sent.packet.src == NodeId(0) && sent.to.0 == LEFT;
    let mine = trace.iter().filter(mine).filter(|sent| sent.packet.is_data());
    mine.map(|sent| (sent.at.0, number(sent))).collect()
}

fn number(sent: &Sent) -> u32 {
    match sent.packet.body {
        Body::Segment { psn, .. } | Body::Data { psn, .. } => psn,
        other => panic!("{other:?} has no number"),
    }
}

/// Times between two packets and the next.
pub fn gaps(sent: &[(u64, u32)]) -> Vec<u64> {
    sent.windows(2).map(|two| two[1].0 - two[0].0).collect()
}

/// How many packets are in each burst, where bursts are at least `apart`.
pub fn bursts(sent: &[(u64, u32)], apart: Duration) -> Vec<u64> {
    let mut bursts = vec![1];
    for gap in gaps(sent) {
        if gap < apart.0 {
            *bursts.last_mut().unwrap() += 1;
        } else {
            bursts.push(1);
        }
    }
    bursts
}

/// The link to the receiver loses the frame that is on it at this time and no other.
fn lose_at(spec: &mut Spec, at: u64) {
    let port = spec.graph.node(RIGHT).ports.iter().position(|end| end.peer == NodeId(1)).unwrap();
    let (at, until) = (Instant(at), Instant(at + 1));
    let port = PortIx(port as u16);
    let detection = Duration::from_ms(1_000_000);
    spec.failures.push(Failure { node: RIGHT, port, at, until, detection });
}

/// Loses packets of host 0 before `until`, each at its first transmission if its number is here once, and again
/// at its next if it is here twice.
pub fn lose(spec: &mut Spec, until: u64, numbers: impl IntoIterator<Item = u32>) {
    let mut lost = Vec::new();
    let end = std::mem::replace(&mut spec.end, Duration(until));
    for wanted in numbers {
        lost.push(wanted);
        let copies = lost.iter().filter(|number| **number == wanted).count();
        let (_, trace) = traced(spec);
        let arriving = trace.iter().filter(|sent| {
            sent.to.0 == NodeId(1) && sent.packet.src == NodeId(0) && sent.packet.is_data()
        });
        let copy = arriving.filter(|sent| number(sent) == wanted).nth(copies - 1);
        // Acknowledgements of those before have come, that of this one has not begun.
        lose_at(spec, copy.expect("it is sent so often").at.0 + 6 * LAST);
    }
    spec.end = end;
}

/// A frame of the crowd, with preamble and gap.
const LARGE: u64 = (30_000 + 62 + 20) * 80;

/// From `from` to `until`, and until they have left, some large packets wait between the switches: host 2
/// sends at line rate, and what host 3 sends in the beginning is more than leaves. They are ECN-capable,
/// so that with a threshold of nothing they and all that come meanwhile are marked and nothing is dropped.
pub fn crowd(spec: &mut Spec, from: u64, until: u64) {
    rocev2_of(spec, 1).mtu = Bytes(30_000);
    let start = Instant(from - LARGE - NS_200.0);
    for (host, time) in [(2, until - from), (3, 3 * LARGE)] {
        let stop = Instant(start.0 + time);
        let crowd = flow(host, 1, FlowSpec::PERSISTENT, 0);
        spec.flows.push(FlowSpec { start, stop, workload: 1, ..crowd });
    }
    spec.flows.sort_by_key(|flow| (flow.start, flow.src));
    spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(0) });
}

fn rocev2_of(spec: &mut Spec, workload: usize) -> &mut rocev2::Spec {
    match &mut spec.profiles[workload].transport {
        transport::Spec::Rocev2(rocev2) => rocev2,
        other => panic!("{other:?} is not RoCEv2"),
    }
}

/// The flow of host 0 is over RDMA.
pub fn rdma(rate: Rate, delay: Duration, congestion: congestion::Spec) -> Spec {
    let mut spec = plain(path(rate, delay), vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    rocev2_of(&mut spec, 0).telemetry = congestion.needs_telemetry();
    spec.profiles[0].congestion = congestion;
    spec
}

/// The flow of host 0 is TCP, without end, and each segment is acknowledged.
pub fn tcp_alone(rate: Rate, delay: Duration, congestion: congestion::Spec) -> Spec {
    let mut spec = plain(path(rate, delay), vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    let tcp = tcp::Spec { ack_every: 1, ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Tcp(tcp);
    spec.profiles[0].congestion = congestion;
    spec.sample_interval = Duration::from_ms(1_000);
    spec
}

/// The transport of the flow of host 0.
pub fn tcp_of(spec: &mut Spec) -> &mut tcp::Spec {
    match &mut spec.profiles[0].transport {
        transport::Spec::Tcp(tcp) => tcp,
        other => panic!("{other:?} is not TCP"),
    }
}

/// From this time on packets go a way that is longer by `delay`, as the link between the switches has failed.
pub fn detour(spec: &mut Spec, rate: Rate, delay: Duration, at: u64) {
    let around = spec.graph.add("around", NodeKind::Switch { tier: 0 });
    spec.graph.link(LEFT, around, rate, delay);
    spec.graph.link(around, RIGHT, rate, Duration(LAST));
    let port = spec.graph.node(LEFT).ports.iter().position(|end| end.peer == RIGHT).unwrap();
    spec.failures.push(Failure {
        node: LEFT,
        port: PortIx(port as u16),
        at: Instant(at),
        until: Instant(u64::MAX),
        detection: Duration::ZERO,
    });
}

/// The packets of each round trip: one is over when the first packet of it has been acknowledged, and there
/// are no queues.
pub fn rounds(sent: &[(u64, u32)], round_trip: u64) -> Vec<&[(u64, u32)]> {
    let mut rounds = Vec::new();
    let mut rest = sent;
    while let Some(&(first, _)) = rest.first() {
        let count = rest.partition_point(|&(at, _)| at < first + round_trip);
        rounds.push(&rest[..count]);
        rest = &rest[count..];
    }
    rounds
}

/// The time between two packets and the next that half of them are longer than.
pub fn median_gap(sent: &[(u64, u32)]) -> f64 {
    let mut gaps = gaps(sent);
    gaps.sort_unstable();
    gaps[gaps.len() / 2] as f64
}

#[track_caller]
pub fn assert_near(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() < part, "{value}, {expected} on paper");
}

/// What host 0 has in flight just after it has sent each data packet, and when, as long as nothing is lost.
pub fn in_flight(trace: &[Sent]) -> Vec<(u64, u32)> {
    let mut acks: Vec<(u64, u32)> = Vec::new();
    for sent in trace.iter().filter(|sent| sent.to.0 == NodeId(0)) {
        if let Body::TcpAck { ack, .. } = sent.packet.body {
            acks.push((sent.handled_at.0, ack));
        }
    }
    let acknowledged = |at| acks[..acks.partition_point(|ack| ack.0 <= at)].last();
    let rows = sent(trace).into_iter();
    rows.map(|(at, psn)| (at, psn + 1 - acknowledged(at).map_or(0, |ack| ack.1))).collect()
}
