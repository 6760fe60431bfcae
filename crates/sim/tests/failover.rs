//! Ports that stand in for others whose links have failed, against arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, FlowSpec, Graph, Instant, NodeId, PortIx};
use floodway_sim::failure::Failure;
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

/// Ports of the hosts: host h has the nodes A\[h\] and B\[h\].
const A: [u32; 3] = [0, 2, 4];
const B: [u32; 3] = [1, 3, 5];

/// Three hosts with two ports each at 100 Gb/s, the first ones at one switch and the second ones at another, and a link
/// between both.
fn joined_planes() -> Graph {
    let mut graph = Graph::default();
    (0..3).for_each(|host| _ = graph.add_host(&format!("host {host}"), 2));
    let switches = [0, 1].map(|plane| {
        let switch = graph.add(format!("switch {plane}"), NodeKind::Switch { tier: 0 });
        for host in [0, 2, 4] {
            graph.link(NodeId(host + plane), switch, GBPS_100, NS_200);
        }
        switch
    });
    graph.link(switches[0], switches[1], GBPS_100, NS_200);
    graph
}

fn us(us: u64) -> Instant {
    Instant(Duration::from_us(us).0)
}

/// The link of a port fails at 20 us, for ever or until so many microseconds, which is known 5 us later.
fn failure(port: u32, until: Option<u64>) -> Failure {
    Failure {
        node: NodeId(port),
        port: PortIx(0),
        at: us(20),
        until: until.map_or(Instant::NEVER, us),
        detection: Duration::from_us(5),
    }
}

fn failing(flows: Vec<FlowSpec>, failures: Vec<Failure>) -> Spec {
    let mut spec = plain(joined_planes(), flows);
    spec.host.failover = true;
    spec.failures = failures;
    spec
}

/// With Ethernet frames, which are not acknowledged and not repeated.
fn ethernet(mut spec: Spec) -> Spec {
    let ethernet = transport::Spec::Ethernet(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = ethernet.clone());
    spec
}

fn frames(outcome: &Outcome, node: &str, peer: &str) -> u64 {
    let links = outcome.table("links");
    let ends = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
    ends.filter(|((from, to), _)| (&***from, &***to) == (node, peer))
        .map(|(_, frames)| *frames)
        .sum()
}

/// Of a full Ethernet frame at 100 Gb/s: 1500 + 18 bytes, preamble and gap.
const FULL: u64 = 1_538 * 80;
/// On a link.
const DELAY: u64 = 200_000;

#[test]
fn after_the_detection_frames_leave_by_the_other_port() {
    const MANY: u64 = 1_000;
    let flows = vec![flow(A[0], A[1], MANY * 1_500, 0)];
    let outcome = run(ethernet(failing(flows, vec![failure(A[0], None)])));
    // Lost are frame 160, which is on the link at 20 us, and all that begin before 25 us: to frame 203.
    const { assert!(160 * FULL + DELAY < 20_000_000 && 161 * FULL + DELAY > 20_000_000) };
    const { assert!(203 * FULL < 25_000_000 && 204 * FULL > 25_000_000) };
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [(MANY - 44) * 1_500]);
    assert_eq!(frames(&outcome, "host 0.0", "switch 0"), 204);
    assert_eq!(frames(&outcome, "host 0.1", "switch 1"), MANY - 204);
    // The destination is at the other switch.
    assert_eq!(frames(&outcome, "switch 1", "switch 0"), MANY - 204);
    assert_eq!(frames(&outcome, "switch 0", "host 1.0"), MANY - 44);
}

#[test]
fn later_flows_take_the_other_port_at_either_end() {
    const MANY: u64 = 20;
    // By one more switch than with the link that failed.
    let longer = (MANY + 2) * FULL + 3 * DELAY;
    for port in [A[0], A[1]] {
        let flows = vec![flow(A[0], A[1], MANY * 1_500, 30_000)];
        let outcome = run(ethernet(failing(flows, vec![failure(port, None)])));
        assert_eq!(fct_ps(&outcome), [longer], "{port}");
    }
    // With both, all goes by the second plane.
    let flows = vec![flow(A[0], A[1], MANY * 1_500, 30_000)];
    let both = vec![failure(A[0], None), failure(A[1], None)];
    let outcome = run(ethernet(failing(flows, both)));
    assert_eq!(fct_ps(&outcome), [(MANY + 1) * FULL + 2 * DELAY]);
    assert_eq!(frames(&outcome, "host 0.1", "switch 1"), MANY);
    assert_eq!(frames(&outcome, "switch 1", "host 1.1"), MANY);
}

#[test]
fn after_the_repair_frames_take_their_own_port_again() {
    const MANY: u64 = 20;
    let flows = [30_000, 60_000].map(|start| flow(A[0], A[1], MANY * 1_500, start));
    let outcome = run(ethernet(failing(flows.into(), vec![failure(A[0], Some(50))])));
    let own = (MANY + 1) * FULL + 2 * DELAY;
    assert_eq!(fct_ps(&outcome), [own + FULL + DELAY, own]);
    assert_eq!(frames(&outcome, "host 0.0", "switch 0"), MANY);
    assert_eq!(frames(&outcome, "host 0.1", "switch 1"), MANY);
}

#[test]
fn two_ports_share_one_wire_frame_by_frame() {
    const MANY: u64 = 100;
    // To different hosts, each at the switch that is one further away.
    let flows =
        vec![flow(A[0], A[1], MANY * 1_500, 30_000), flow(B[0], A[2], MANY * 1_500, 30_000)];
    let outcome = run(ethernet(failing(flows, vec![failure(A[0], None)])));
    // The last frames of both are the last two on the wire.
    let last = (2 * MANY + 2) * FULL + 3 * DELAY;
    let mut done = fct_ps(&outcome);
    done.sort_unstable();
    assert_eq!(done, [last - FULL, last]);
    assert_eq!(frames(&outcome, "host 0.1", "switch 1"), 2 * MANY);
}

/// RoCEv2 goes back to the first packet that was lost, as soon as a NAK has come back over the other port.
#[test]
fn what_was_lost_is_sent_again_by_the_other_port() {
    const MANY: u64 = 1_000;
    // 1024 bytes of payload and 62 of headers; a NAK has 66 bytes.
    let (full, nak) = ((1_024 + 62 + 20) * 80, (66 + 20) * 80);
    let flows = vec![flow(A[0], A[1], MANY * 1_024, 0)];
    let outcome = run(failing(flows, vec![failure(A[0], None)]));
    let first_lost = 223;
    assert!(first_lost * full + DELAY < 20_000_000 && (first_lost + 1) * full + DELAY > 20_000_000);
    // The first packet by the other port arrives by three links, and so does the NAK; the wire is busy with packets
    // until then, which arrive too early.
    let known = 25_000_000;
    let heard = known + 3 * (full + DELAY) + 3 * (nak + DELAY);
    let again = known + (heard - known).div_ceil(full) * full;
    let done = again + (MANY - first_lost + 2) * full + 3 * DELAY;
    assert_eq!(fct_ps(&outcome), [done]);
}

#[test]
fn without_failover_flows_of_the_port_wait() {
    let flows = vec![flow(A[0], A[1], 15_000, 30_000), flow(B[0], B[1], 15_000, 30_000)];
    let mut spec = ethernet(failing(flows, vec![failure(A[0], Some(100))]));
    spec.host.failover = false;
    let outcome = run(spec);
    // Until 105 us, when the repair is known.
    let alone = 11 * FULL + 2 * DELAY;
    assert_eq!(fct_ps(&outcome), [75_000_000 + alone, alone]);
}

#[test]
fn results_do_not_depend_on_threads_or_on_a_record() {
    let all = (0..60).map(|n: u32| {
        let ends = [(A[0], A[1]), (B[1], B[0]), (B[0], A[2]), (A[1], A[0]), (A[2], B[1])];
        let (from, to) = ends[n as usize % 5];
        let in_turn = n.is_multiple_of(3);
        FlowSpec { in_turn, ..flow(from, to, 900 * u64::from(n + 1), u64::from(n) * 700) }
    });
    let failures = vec![failure(A[0], Some(40)), failure(A[1], None)];
    let mut spec = failing(all.collect(), failures);
    spec.switch.flow_control.pfc = Some(prompt_pfc());
    spec.switch.queue.size = floodway_model::Bytes(1_000_000);
    let on = |spec: &Spec, threads| {
        let stop = AtomicBool::new(false);
        Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
    };
    let one = on(&spec, 1);
    assert_eq!(one.violations, Vec::<String>::new());
    assert_eq!(one.counter("flows"), 60);
    for threads in [2, 3] {
        assert_eq!(one.fingerprint, on(&spec, threads).fingerprint, "{threads}");
    }
    let recorded = on(&Spec { record: Some(50), ..spec.clone() }, 1);
    assert_eq!(recorded.violations, Vec::<String>::new());
    assert_eq!(fct_ps(&one), fct_ps(&recorded));
}
