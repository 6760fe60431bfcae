//! Hosts with several ports, against arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::program::{Action, Edge, On, SendEnd, Step};
use floodway_model::{
    Duration, FlowId, FlowSpec, Graph, Instant, NodeId, Operation, PortIx, Program, Trigger,
};
use floodway_sim::failure::Failure;
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec, Stop};

/// Ports of the hosts: host h has the nodes A\[h\] and B\[h\].
const A: [u32; 2] = [0, 2];
const B: [u32; 2] = [1, 3];

/// Two hosts with two ports each at 100 Gb/s, the first ones at one switch and the second ones at another.
fn two_planes() -> Graph {
    let mut graph = Graph::default();
    (0..2).for_each(|host| _ = graph.add_host(&format!("host {host}"), 2));
    for port in 0..2 {
        let switch = graph.add(format!("switch {port}"), NodeKind::Switch { tier: 0 });
        for host in [0, 2] {
            graph.link(NodeId(host + port), switch, GBPS_100, NS_200);
        }
    }
    graph
}

/// With Ethernet frames, which are not acknowledged.
fn spec(flows: Vec<FlowSpec>) -> Spec {
    let mut spec = plain(two_planes(), flows);
    let ethernet = transport::Spec::Ethernet(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = ethernet.clone());
    spec
}

fn starts(outcome: &Outcome) -> Vec<u64> {
    outcome.table("flows").f64s("start_ns").iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

fn trigger(after: u32, begins: u32, delay_ns: u64) -> Trigger {
    Trigger { after: FlowId(after), begins: FlowId(begins), delay: Duration::from_ns(delay_ns) }
}

/// A frame with this payload at 100 Gb/s, preamble and gap included.
fn wire(payload: u64) -> u64 {
    ((payload + 18).max(64) + 20) * 80
}

/// From one host to the other, in one frame.
fn way(payload: u64) -> u64 {
    2 * wire(payload) + 400_000
}

/// Frames of a large flow; each has 1500 bytes of payload.
const MANY: u64 = 1_000;

#[test]
fn two_ports_carry_two_flows_in_the_time_of_one() {
    let bytes = MANY * 1_500;
    // Store and forward: all frames follow each other on the first link, and the last one crosses the second.
    let alone = (MANY + 1) * wire(1_500) + 400_000;
    let outcome = run(spec(vec![flow(A[0], A[1], bytes, 0), flow(B[0], B[1], bytes, 0)]));
    assert_eq!(fct_ps(&outcome), [alone; 2]);
    // At one port the two alternate, so that the last frames of both are the last two on the wire.
    let outcome = run(spec(vec![flow(A[0], A[1], bytes, 0), flow(A[0], A[1], bytes, 0)]));
    let last = (2 * MANY + 1) * wire(1_500) + 400_000;
    assert_eq!(fct_ps(&outcome), [last - wire(1_500), last]);
    let ports = outcome.table("host_ports");
    assert_eq!(ports.texts("host"), ["host 0", "host 0", "host 1", "host 1"]);
    assert_eq!(ports.u64s("port"), [0, 1, 0, 1]);
    assert_eq!(ports.u64s("flows_sent"), [2, 0, 0, 0]);
    assert_eq!(ports.u64s("flows_received"), [0, 0, 2, 0]);
    assert_eq!(ports.u64s("received_bytes"), [0, 0, 2 * bytes, 0]);
    let links = outcome.table("links");
    let sent = links.texts("node").iter().zip(links.u64s("frames"));
    let sent: Vec<(&str, u64)> = sent.map(|(node, frames)| (&**node, *frames)).collect();
    assert_eq!(sent[..2], [("host 0.0", 2 * MANY), ("host 0.1", 0)]);
}

#[test]
fn what_arrives_at_one_port_starts_a_flow_at_the_other() {
    let flows = vec![flow(A[0], A[1], 1_000, 5), flow(B[1], B[0], 700, 0), flow(A[0], A[1], 40, 0)];
    for delay in [0, 300] {
        let triggers = vec![trigger(0, 1, delay), trigger(1, 2, 0)];
        let outcome = run(Spec { triggers: triggers.into(), ..spec(flows.clone()) });
        let answered = 5_000 + way(1_000) + delay * 1_000;
        assert_eq!(starts(&outcome), [5_000, answered, answered + way(700)]);
        assert_eq!(fct_ps(&outcome), [way(1_000), way(700), way(40)]);
        assert_eq!((outcome.stop, outcome.counter("flows_not_begun")), (Stop::FlowsDone, 0));
    }
}

#[test]
fn flows_of_a_host_follow_each_other_over_its_ports() {
    // Each starts when all frames of the one before have left the source, which is when the last one begins.
    let sequential = |at: u32| FlowSpec {
        in_turn: true,
        ..flow([A, B][at as usize % 2][0], [A, B][at as usize % 2][1], 3_000, 0)
    };
    let outcome = run(spec((0..4).map(sequential).collect()));
    let begun = wire(1_500);
    assert_eq!(starts(&outcome), [0, begun, 2 * begun, 3 * begun]);
    assert_eq!(fct_ps(&outcome), [3 * wire(1_500) + 400_000; 4]);
}

fn steps_of(rank: u32, steps: Vec<Action>) -> Program {
    let after = 1..steps.len() as u32;
    Program {
        host: NodeId(A[rank as usize]),
        workload: 0,
        rank,
        start: Instant::ZERO,
        sends: SendEnd::HandedOver,
        steps: steps.into_iter().map(|action| Step { action, stream: 0, line: 0 }).collect(),
        edges: after.map(|to| Edge { from: to - 1, to, on: On::Finished }).collect(),
        nodes: Box::default(),
        rounds: Box::default(),
    }
}

/// Rank 0 sends by its first port, computes for 1 us and receives by its second one. Rank 1 receives, computes for 2 us,
/// sends by its second port, and ends with a receive of what came long before, by the first.
fn job() -> Spec {
    let flows = vec![flow(A[0], A[1], 1_000, 0), flow(B[1], B[0], 700, 0), flow(A[0], A[1], 40, 0)];
    let compute = |us| Action::Compute(Duration::from_us(us));
    let programs = vec![
        steps_of(
            0,
            vec![
                Action::Send(FlowId(0)),
                Action::Send(FlowId(2)),
                compute(1),
                Action::Receive(FlowId(1)),
            ],
        ),
        steps_of(
            1,
            vec![
                Action::Receive(FlowId(0)),
                compute(2),
                Action::Send(FlowId(1)),
                Action::Receive(FlowId(2)),
            ],
        ),
    ];
    let flows_of = [0, 1, 2].map(FlowId);
    let operations = vec![Operation { job: true, ..Operation::of(0, flows_of) }];
    Spec { programs: programs.into(), operations: operations.into(), ..spec(flows) }
}

#[test]
fn a_rank_sends_and_receives_by_any_port_of_its_host() {
    let outcome = run(job());
    let answer = way(1_000) + 2_000_000;
    assert_eq!(starts(&outcome), [0, answer, 0]);
    let ps = |column: &str| -> Vec<u64> {
        let values = outcome.table("steps").f64s(column);
        values.iter().map(|ns| (ns * 1e3).round() as u64).collect()
    };
    let end = answer + way(700);
    // A message is handed over when its last frame begins to leave; the second waits for the first one's wire.
    let sent = wire(1_000);
    let first = [0, sent, sent + 1_000_000, end];
    assert_eq!(ps("finish_ns"), [first, [way(1_000), answer, answer, answer]].concat());
    assert_eq!(outcome.table("ranks").u64s("node"), [u64::from(A[0]), u64::from(A[1])]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let on = |spec: &Spec, threads| {
        let stop = AtomicBool::new(false);
        Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
    };
    let mut mixed = spec(Vec::new());
    let all = (0..40).map(|n: u32| {
        let (from, to) = [(A[0], A[1]), (B[1], B[0]), (B[0], B[1]), (A[1], A[0])][n as usize % 4];
        FlowSpec {
            in_turn: n.is_multiple_of(3),
            ..flow(from, to, 700 * u64::from(n + 1), u64::from(n) * 60)
        }
    });
    mixed.flows = all.collect::<Vec<_>>().into();
    for spec in [job(), Spec { record: Some(30), ..mixed }] {
        let one = on(&spec, 1);
        assert_eq!(one.violations, Vec::<String>::new());
        for threads in [2, 3, 8] {
            let other = on(&spec, threads);
            assert_eq!(format!("{:?}", one.tables), format!("{:?}", other.tables), "{threads}");
        }
    }
}

#[test]
fn the_failure_of_one_port_leaves_the_other_as_it_is() {
    let bytes = MANY * 1_500;
    let mut spec = spec(vec![flow(A[0], A[1], bytes, 0), flow(B[0], B[1], bytes, 0)]);
    let us = |us| Instant(Duration::from_us(us).0);
    spec.failures = vec![Failure {
        node: NodeId(A[0]),
        port: PortIx(0),
        at: us(50),
        until: us(60),
        detection: Duration::ZERO,
    }];
    let outcome = run(spec);
    let alone = (MANY + 1) * wire(1_500) + 400_000;
    let done = fct_ps(&outcome);
    assert_eq!(done[1], alone);
    // Ethernet does not repeat what was on the wire.
    assert_eq!(outcome.table("flows").u64s("delivered_bytes")[1], bytes);
    assert!(outcome.table("flows").u64s("delivered_bytes")[0] < bytes);
}

#[test]
fn a_pause_stops_the_port_that_gets_it() {
    // Two hosts send to one port of a third: PFC pauses the ports that send there. The third port of the first host is
    // at the same switch, and sends to somebody else at full rate.
    let mut graph = Graph::default();
    graph.add_host("host 0", 2);
    (1..4).for_each(|host| _ = graph.add_host(&format!("host {host}"), 1));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    (0..5).for_each(|port| graph.link(NodeId(port), switch, GBPS_100, NS_200));
    let bytes = 4 * MANY * 1_500;
    let flows = vec![flow(0, 3, bytes, 0), flow(1, 4, bytes, 0), flow(2, 3, bytes, 0)];
    let mut spec = plain(graph, flows);
    let ethernet = transport::Spec::Ethernet(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = ethernet.clone());
    spec.switch.flow_control.pfc = Some(prompt_pfc());
    spec.switch.queue.size = floodway_model::Bytes(1_000_000);
    let outcome = run(spec);
    let pauses = outcome.table("pauses");
    let nodes = pauses.texts("node").iter().zip(pauses.f64s("paused_ns"));
    let paused = |name: &str| {
        nodes.clone().filter(|(node, _)| **node == *name).map(|row| *row.1).sum::<f64>()
    };
    assert!(paused("host 0.0") > 0.0);
    assert_eq!(paused("host 0.1"), 0.0);
    assert_eq!(fct_ps(&outcome)[1], (4 * MANY + 1) * wire(1_500) + 400_000);
}
