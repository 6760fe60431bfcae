//! Hosts that are kernels, with backends of a test: what arrives when, in which octets, and what the tables say.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{
    Bytes, Dscp, Duration, Ecn, FlowId, FlowSpec, Graph, Instant, NodeId, Rate, Tos,
};
use floodway_sim::host::transport::{self, ethernet};
use floodway_sim::kernel::{Backend, Header, Kernel, LongFlow, Order, Outgoing, connection};
use floodway_sim::session::{Options, Session};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::{Outcome, Simulation, Spec};

/// What a backend has seen, by host: times in ps, octets, marks.
type Seen = Arc<Mutex<Vec<(u32, &'static str, u64, Vec<u8>, bool)>>>;

/// The first octet of a frame that belongs to the third long-lived flow of a kernel.
const OF_A_FLOW: u8 = 9;

/// A kernel of a test: it sends frames at given times, and answers each one that it gets 5 us later, if its first octet
/// is 1.
#[derive(Debug)]
struct Fake {
    host: u32,
    /// When, to whom, how many octets, and the first of them.
    due: Vec<(u64, u32, usize, u8)>,
    seen: Seen,
}

impl Fake {
    fn note(&self, what: &'static str, at: Instant, octets: &[u8], marked: bool) {
        self.seen.lock().unwrap().push((self.host, what, at.0, octets.to_vec(), marked));
    }
}

impl Backend for Fake {
    fn next(&self) -> Instant {
        self.due.iter().map(|due| Instant(due.0)).min().unwrap_or(Instant::NEVER)
    }

    fn run(&mut self, limit: Instant, sent: &mut Vec<Outgoing>) {
        self.due.sort_by_key(|due| due.0);
        // It runs ahead, but not to the limit or beyond, and not after it has sent something.
        let at = self.due[0].0;
        assert!(Instant(at) <= limit);
        while let Some(&(when, dst, length, first)) = self.due.first()
            && when == at
        {
            self.due.remove(0);
            let mut octets = vec![0; length];
            octets[0] = first;
            let tos = Tos::new(Dscp::DEFAULT, Ecn::Ect0);
            let (dst, payload) = (NodeId(dst), length as u16 - 14);
            let connection = if first == OF_A_FLOW { connection(6, (20_002, 6_001)) } else { 7 };
            let header = Header { dst, tos, connection, payload, end: None };
            sent.push(Outgoing { at: Instant(at), octets: octets.into(), header });
        }
    }

    fn receive(&mut self, octets: &[u8], marked: bool, now: Instant) {
        self.note("received", now, octets, marked);
        if octets[0] == 1 {
            let to = if self.host == 0 { 1 } else { 0 };
            self.due.push((now.0 + 5_000_000, to, octets.len(), 2));
        }
    }

    fn transmitted(&mut self, now: Instant) {
        self.note("transmitted", now, &[], false);
    }

    fn order(&mut self, order: Order, now: Instant) {
        let (what, flow) = match order {
            Order::Start(flow) => ("start", flow),
            Order::Stop(flow) => ("stop", flow),
        };
        self.note(what, now, &flow.source.to_be_bytes(), false);
    }
}

/// Two kernels and another host at each of two switches; 40 Mb/s and 1 ms on every link.
fn network() -> Graph {
    let mut graph = Graph::default();
    (0..4).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switches: Vec<NodeId> =
        (0..2).map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 })).collect();
    let (rate, delay) = (Rate(40_000_000), Duration::from_ms(1));
    for host in 0..4 {
        graph.link(NodeId(host), switches[host as usize % 2], rate, delay);
    }
    graph.link(switches[0], switches[1], rate, delay);
    graph
}

/// Hosts 0 and 1 are kernels, with two flows in each direction.
fn spec() -> Spec {
    let graph = network();
    let kernel = |host: u32| Kernel {
        host: NodeId(host),
        workload: 0,
        command: String::new(),
        start: Duration::ZERO,
        mtu: 1_500,
        sysctl: Default::default(),
        long_flows: None,
        takes: Vec::new(),
    };
    let of_kernels =
        |src, dst| FlowSpec { start: Instant::NEVER, ..flow(src, dst, FlowSpec::PERSISTENT, 0) };
    let flows = vec![of_kernels(0, 1), of_kernels(0, 1), of_kernels(1, 0), of_kernels(1, 0)];
    let mut spec = plain(graph, flows);
    spec.switch.latency = Duration::ZERO;
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Ethernet(ethernet::Spec::default());
    }
    spec.kernels = vec![kernel(0), kernel(1)];
    spec.end = Duration::from_ms(100);
    spec.measured_until = spec.end;
    spec.flow_samples = Some(Duration::from_ms(10));
    spec
}

/// One whose kernels are asked for long-lived flows: kernel 0 for two at the beginning.
fn asked() -> Spec {
    let mut spec = spec();
    let long = |source| LongFlow { to: NodeId(1), source, port: LongFlow::port(0) };
    spec.kernels[0].start = Duration::from_ms(1);
    spec.kernels[0].long_flows = Some(vec![long(20_000), long(20_001)]);
    spec
}

fn run_with(spec: Spec, due: &[(u64, u32, usize, u8)], threads: usize) -> (Outcome, Seen) {
    let seen = Seen::default();
    let backend = |host, due: &[_]| -> Box<dyn Backend> {
        Box::new(Fake { host, due: due.to_vec(), seen: seen.clone() })
    };
    let backends = vec![backend(0, due), backend(1, &[])];
    let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
    let outcome = Simulation::new(spec).audited(true).connected(backends).run_with(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    (outcome, seen)
}

/// Time of a frame on a link of 40 Mb/s in ps: 200,000 ps an octet, with FCS, preamble and gap.
fn wire(octets: u64) -> u64 {
    (octets + 4 + 20) * 200_000
}

const DELAY: u64 = 1_000_000_000;

#[test]
fn a_ping_takes_its_serializations_and_delays() {
    let (outcome, seen) = run_with(spec(), &[(7_000, 1, 98, 1)], 1);
    let there = 7_000 + 3 * (DELAY + wire(98));
    let back = there + 5_000_000 + 3 * (DELAY + wire(98));
    let seen = seen.lock().unwrap();
    let times: Vec<_> = seen.iter().map(|(host, what, at, ..)| (*host, *what, *at)).collect();
    let expected = [
        (0, "transmitted", 7_000 + wire(98)),
        (1, "received", there),
        (1, "transmitted", there + 5_000_000 + wire(98)),
        (0, "received", back),
    ];
    assert_eq!(times, expected);
    assert_eq!((seen[3].3.len(), seen[3].3[0], seen[3].4), (98, 2, false));
    // One flow has begun in each direction, with the payload behind 14 octets of header.
    let flows = outcome.table("flows");
    assert_eq!(flows.u64s("flow"), [0, 2]);
    assert_eq!(flows.u64s("delivered_bytes"), [84, 84]);
    assert_eq!(flows.u64s("packets_sent"), [1, 1]);
    assert_eq!(flows.f64s("start_ns"), [7.0, (there + 5_000_000) as f64 / 1e3]);
    assert_eq!(outcome.table("deliveries").u64s("flow").len(), 2 * 10);
}

#[test]
fn frames_of_a_burst_leave_one_after_the_other_and_short_ones_are_padded() {
    // 20 octets are padded to the 64 of a frame, FCS included.
    let burst = [(0, 1, 1_514, 3), (0, 1, 1_514, 4), (0, 1, 20, 5)];
    let (_, seen) = run_with(spec(), &burst, 1);
    let seen = seen.lock().unwrap();
    let times: Vec<u64> =
        seen.iter().filter(|seen| seen.1 == "transmitted").map(|seen| seen.2).collect();
    let full = wire(1_514);
    assert_eq!(times, [full, 2 * full, 2 * full + wire(60)]);
    let arrived: Vec<_> = seen.iter().filter(|seen| seen.1 == "received").collect();
    assert_eq!(arrived.iter().map(|seen| seen.3[0]).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(arrived[2].3.len(), 20);
}

/// Full frames back to back into the slower link between the switches.
fn overload() -> (Spec, Vec<(u64, u32, usize, u8)>) {
    let mut spec = spec();
    for node in &mut spec.graph.nodes {
        for end in &mut node.ports {
            if end.peer.0 < 4 || node.name.starts_with("host") {
                end.rate = Rate(400_000_000);
            }
        }
    }
    (spec, (0..40).map(|n| (n * 31_000_000, 1, 1_514, 3)).collect())
}

#[test]
fn a_mark_is_delivered_and_a_drop_is_forgotten() {
    let (mut spec, due) = overload();
    spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(8_000) });
    let (outcome, seen) = run_with(spec.clone(), &due, 1);
    let marked = seen.lock().unwrap().iter().filter(|seen| seen.4).count() as u64;
    assert_eq!(marked, outcome.table("flows").u64s("marked_packets").iter().sum::<u64>());
    assert!((20..40).contains(&marked), "{marked}");

    spec.switch.aqm = aqm::Spec::default();
    spec.switch.queue.size = Bytes(16_000);
    let (outcome, seen) = run_with(spec, &due, 1);
    let arrived = seen.lock().unwrap().iter().filter(|seen| seen.1 == "received").count() as u64;
    let lost = outcome.table("flows").u64s("lost_packets").iter().sum::<u64>();
    assert_eq!(arrived + lost, 40);
    assert!(lost > 10, "{lost}");
}

#[test]
fn results_are_the_same_on_two_threads() {
    let (spec, mut due) = overload();
    due.iter_mut().step_by(3).for_each(|due| due.3 = 1);
    let sorted = |seen: &Seen| {
        let mut seen = seen.lock().unwrap().clone();
        seen.sort_by_key(|seen| (seen.0, seen.2));
        seen
    };
    let (one, seen_by_one) = run_with(spec.clone(), &due, 1);
    let (two, seen_by_two) = run_with(spec, &due, 2);
    assert_eq!(one.fingerprint, two.fingerprint);
    assert_eq!(sorted(&seen_by_one), sorted(&seen_by_two));
}

#[test]
fn kernels_without_backends_are_a_violation() {
    let outcome = Simulation::new(spec()).run();
    let expected =
        "host 0: it is a Linux kernel, which has not run; only `floodway emulate` runs kernels";
    assert_eq!(outcome.violations, [expected]);
}

/// What kernel 0 was asked for, with the times in ms.
fn orders(seen: &Seen) -> Vec<(&'static str, f64, u16)> {
    let seen = seen.lock().unwrap();
    let orders = seen.iter().filter(|seen| ["start", "stop"].contains(&seen.1));
    let order = |seen: &(u32, &'static str, u64, Vec<u8>, bool)| {
        assert_eq!(seen.0, 0);
        (seen.1, seen.2 as f64 / 1e9, u16::from_be_bytes([seen.3[0], seen.3[1]]))
    };
    orders.map(order).collect()
}

#[test]
fn a_kernel_is_asked_for_its_flows_when_its_command_starts() {
    let (_, seen) = run_with(asked(), &[], 1);
    assert_eq!(orders(&seen), [("start", 1.0, 20_000), ("start", 1.0, 20_001)]);
}

/// A step of a session ends at a multiple of its window, the shortest time of a frame on a link: 1 ms and 64 + 20 octets, which are
/// 1.0168 ms. What is asked for takes effect so much later.
#[test]
fn a_session_starts_and_stops_flows_of_kernels() {
    let steer = |threads: usize, steps: &[u64]| {
        let seen = Seen::default();
        // Of the flow that is started third, from port 20,002, there are three frames.
        let due =
            [30_000_000_000, 31_000_000_000, 32_000_000_000].map(|at| (at, 1, 114, OF_A_FLOW));
        let backend = |host, due: &[_]| -> Box<dyn Backend> {
            Box::new(Fake { host, due: due.to_vec(), seen: seen.clone() })
        };
        let options = Options { workload: 0, latency: None, threads, audit: true };
        let backends = vec![backend(0, &due), backend(1, &[])];
        let mut session = Session::connected(asked(), options, backends).unwrap();
        let first: Vec<_> = session.flows_of_kernels().collect();
        // The last of the flows to a destination.
        assert_eq!(first.iter().map(|flow| flow.0).collect::<Vec<_>>(), [0, 1]);
        // At 1.0168 ms.
        session.stop(first[1]).unwrap();
        for at in steps {
            session.advance(Instant::ZERO + Duration::from_ms(*at)).unwrap();
        }
        let third = session.start(NodeId(0), NodeId(1), 0).unwrap();
        session.advance(Instant::ZERO + Duration::from_ms(60)).unwrap();
        let delivered = session.delivered(third);
        session.stop(third).unwrap();
        session.advance(Instant::ZERO + Duration::from_ms(80)).unwrap();
        let outcome = session.close();
        assert_eq!(outcome.violations, Vec::<String>::new());
        (orders(&seen), delivered, outcome)
    };
    let (seen, delivered, outcome) = steer(1, &[20]);
    let expected = [
        ("start", 1.0, 20_000),
        ("start", 1.0, 20_001),
        ("stop", 1.0168, 20_001),
        ("start", 21.0168, 20_002),
        ("stop", 61.0168, 20_002),
    ];
    assert_eq!(seen, expected);
    // 114 octets with 14 of the header, three times.
    assert_eq!(delivered, 300);
    assert_eq!(outcome.table("flows").u64s("packets_sent"), [3]);
    for (threads, steps) in [(1, vec![3, 4, 20]), (2, vec![20])] {
        let (again, _, other) = steer(threads, &steps);
        assert_eq!((&again[..], other.fingerprint), (&expected[..], outcome.fingerprint));
    }
}

#[test]
fn what_kernels_cannot_be_asked_for_is_refused() {
    let seen = Seen::default();
    let backend =
        |host| -> Box<dyn Backend> { Box::new(Fake { host, due: Vec::new(), seen: seen.clone() }) };
    let options = Options { workload: 0, latency: None, threads: 1, audit: true };
    let refused = Session::open(spec(), options).unwrap_err();
    assert!(refused.to_string().starts_with("a session cannot have hosts that are Linux kernels"));
    let mut session = Session::connected(spec(), options, vec![backend(0), backend(1)]).unwrap();
    assert_eq!(
        session.start(NodeId(0), NodeId(2), 0).unwrap_err().to_string(),
        "a flow of a Linux kernel goes to a Linux kernel, and its destination is simulated: choose a host that is a kernel"
    );
    assert_eq!(
        session.stop(FlowId(0)).unwrap_err().to_string(),
        "this flow stands for connections of programs in a Linux kernel: choose a long-lived flow"
    );
    // The next one is that of programs.
    assert_eq!([12_767, 12_768].map(LongFlow::source), [Some(32_767), None]);
}
