//! Switches with a crossbar beside what stops, drops and measures: links that fail, the watchdog of
//! PFC, deadlocks, congestion points and telemetry know of frames at the inputs, by hand.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx};
use floodway_sim::failure::Failure;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, udp};
use floodway_sim::switch::fabric::{self, CongestionAt, input_fifo, voq};
use floodway_sim::switch::flow_control::pfc::watchdog::{self, Action};
use floodway_sim::switch::flow_control::{pause, pfc, qcn};
use floodway_sim::{Outcome, Spec};

const SLOT: u64 = 5_120;
const DELAY: u64 = 200_000;

fn fabrics() -> [fabric::Spec; 2] {
    let (fifo, voq) = (input_fifo::Spec::default(), voq::Spec::default());
    [fabric::Spec::InputFifo(fifo), fabric::Spec::Voq(voq)]
}

/// A crossbar whose inputs count as congestion or not.
fn measured(congestion_at: CongestionAt) -> fabric::Spec {
    fabric::Spec::Voq(voq::Spec { congestion_at, ..Default::default() })
}

fn datagrams(spec: &mut Spec) {
    for profile in &mut spec.profiles {
        let udp = udp::Spec { payload: Bytes(1_024), ..Default::default() };
        profile.transport = transport::Spec::Udp(udp);
    }
}

/// Of a host's link, which is known at once.
fn failure(host: u32, at: u64, until: u64) -> Failure {
    Failure {
        node: NodeId(host),
        port: PortIx(0),
        at: Instant(at),
        until: Instant(until),
        detection: Duration::ZERO,
    }
}

fn dropped(outcome: &Outcome, reason: &str) -> u64 {
    let table = outcome.table("drops");
    let rows = table.texts("reason").iter().zip(table.u64s("packets"));
    rows.filter(|(why, _)| *why == reason).map(|(_, packets)| *packets).sum()
}

#[test]
fn what_waits_at_inputs_for_a_link_that_fails_is_dropped() {
    const PACKETS: u64 = 400;
    // A datagram of 1070 bytes has 17 cells. The first two arrive at 287.2 ns, in slot 56, and one
    // crosses from slot 57 to 74; from then on the wire is never idle.
    let full = (1_024 + 46 + 20) * 80;
    assert_eq!((full + DELAY) / SLOT, 56);
    let starts = |packet: u64| 74 * SLOT + packet * full;
    // In the midst of things, and while a frame crosses that has just begun or is about to end.
    let moments = [20_000_000, 57 * SLOT, 57 * SLOT + 1, 74 * SLOT - 1, 74 * SLOT, 91 * SLOT];
    for (fabric, at) in
        fabrics().into_iter().flat_map(|fabric| moments.map(|at| (fabric.clone(), at)))
    {
        let mut flows: Vec<_> = [0, 1].map(|src| flow(src, 2, PACKETS * 1_024, 0)).into();
        // Later than the failure; its first packets stand behind others for host 2.
        flows.push(flow(0, 3, 100 * 1_024, 1_000));
        let mut spec = plain(star(4), flows);
        spec.switch.fabric = fabric;
        datagrams(&mut spec);
        spec.failures = vec![failure(2, at, u64::MAX)];
        spec.end = Duration::from_ms(1);
        let outcome = run(spec);
        let arrived = (0..PACKETS).filter(|n| starts(n + 1) + DELAY <= at).count() as u64;
        let lost = (0..PACKETS).filter(|n| starts(*n) < at).count() as u64 - arrived;
        let flows = outcome.table("flows");
        let delivered = flows.u64s("delivered_bytes");
        assert_eq!(delivered[0] + delivered[1], arrived * 1_024, "{at}");
        assert_eq!(delivered[2], 100 * 1_024, "{at}");
        assert_eq!(outcome.counter("lost_on_links"), lost, "{at}");
        assert_eq!(dropped(&outcome, "link_down"), 2 * PACKETS - arrived - lost, "{at}");
    }
}

#[test]
fn a_transfer_to_a_link_that_fails_occupies_the_crossbar_to_its_end() {
    // One datagram crosses from slot 57 to slot 74, its link fails in slot 60, and one for another host
    // has been waiting behind it since slot 73: it crosses from slot 74 on.
    for fabric in fabrics() {
        let flows = vec![flow(0, 1, 1_024, 0), flow(0, 2, 1_024, 0)];
        let mut spec = plain(star(3), flows);
        spec.switch.fabric = fabric;
        datagrams(&mut spec);
        spec.failures = vec![failure(1, 60 * SLOT, u64::MAX)];
        spec.end = Duration::from_us(10);
        let outcome = run(spec);
        let hop = (1_024 + 46 + 20) * 80 + DELAY;
        assert_eq!(fct_ps(&outcome)[1], 91 * SLOT + hop);
        assert_eq!(outcome.counter("dropped_packets"), 1);
        let inputs = outcome.table("inputs");
        // From 287.2 ns to slot 57; the second waits only while the first crosses.
        assert_eq!(inputs.f64s("blocked_ns")[0], (57 * SLOT - hop) as f64 / 1e3);
    }
}

/// Host 0 sends to host 1, whose link has a hundredth of the rate.
#[test]
fn a_pause_is_said_again_when_the_link_works_again() {
    let mut graph = Graph::default();
    (0..2).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(NodeId(0), switch, GBPS_100, NS_200);
    graph.link(NodeId(1), switch, floodway_model::Rate::from_gbps(1), NS_200);
    let mut spec = plain(graph, vec![flow(0, 1, 1_000_000, 0)]);
    datagrams(&mut spec);
    // Before the pause of 335 us is refreshed for the first time.
    spec.failures = vec![failure(0, 20_000_000, 30_000_000)];
    spec.end = Duration::from_us(150);
    let by_pfc = pfc::Spec { xoff: Bytes(20_000), xon: Bytes(2_000), ..prompt_pfc() };
    let by_pause = pause::Spec { xoff: Bytes(20_000), xon: Bytes(2_000), ..Default::default() };
    let mut of_pfc = spec.clone();
    of_pfc.switch.flow_control.pfc = Some(by_pfc);
    spec.switch.flow_control.pause = Some(by_pause);
    for spec in [of_pfc, spec] {
        let outcome = run(spec);
        let most = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
        // 19 datagrams are above XOFF. Until the pause has come and what was on the wire has arrived
        // it takes 6.72 ns and two delays, once more after the failure: 5 more, each time, and the one
        // that was being sent.
        assert!((20_000..20_000 + 13 * 1_070).contains(&most), "{most}");
    }
}

/// Switches in a ring with one host at each, all of which send to the host two switches further on.
fn ring(fabric: fabric::Spec, measured_on: pfc::MeasuredOn) -> Spec {
    let mut graph = Graph::default();
    (0..5).for_each(|n| _ = graph.add(format!("host {n}"), NodeKind::Host));
    let ids: Vec<NodeId> =
        (0..5).map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 })).collect();
    (0..5).for_each(|n| graph.link(NodeId(n as u32), ids[n], GBPS_100, NS_200));
    (0..5).for_each(|n| graph.link(ids[n], ids[(n + 1) % 5], GBPS_100, NS_200));
    let flows = (0..5).map(|host| flow(host, (host + 2) % 5, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = plain(graph, flows);
    spec.switch.fabric = fabric;
    spec.switch.flow_control.pfc =
        Some(pfc::Spec { xoff: Bytes(2_000), xon: Bytes(1_000), measured_on, ..prompt_pfc() });
    spec.end = Duration::from_us(20);
    spec
}

#[test]
fn a_ring_of_crossbars_is_a_deadlock() {
    use pfc::MeasuredOn::{EgressQueue, Ingress};
    for (fabric, measured_on) in fabrics()
        .into_iter()
        .flat_map(|fabric| [EgressQueue, Ingress].map(|on| (fabric.clone(), on)))
    {
        let outcome = run(ring(fabric.clone(), measured_on));
        let table = outcome.table("deadlocks");
        let ways = table.texts("node").iter().zip(table.texts("peer"));
        let expected = (0..5).map(|n| (format!("switch {n}"), format!("switch {}", (n + 1) % 5)));
        assert!(ways.map(|(a, b)| (a.clone(), b.clone())).eq(expected), "{fabric:?}");
        assert_eq!(table.u64s("flows"), [2; 5]);
        assert_eq!(outcome.counter("deadlocked_flows"), 5);
        // Nothing has moved since long ago.
        assert!(outcome.counter("last_moved_ns") < 5_000);

        // Pauses that end are none.
        let mut open = ring(fabric.clone(), measured_on);
        open.flows.remove(0);
        for us in 20..30 {
            open.end = Duration::from_us(us);
            assert_eq!(run(open.clone()).table("deadlocks").rows(), 0);
        }
    }
}

#[test]
fn a_watchdog_breaks_a_ring_of_crossbars() {
    for fabric in fabrics() {
        let stuck = run(ring(fabric.clone(), pfc::MeasuredOn::EgressQueue));
        let backlogs = stuck.table("deadlocks").u64s("backlog_bytes").to_vec();
        for action in [Action::Drop, Action::Forward] {
            let mut spec = ring(fabric.clone(), pfc::MeasuredOn::EgressQueue);
            let watchdog = watchdog::Spec {
                detection: Duration::from_us(10),
                restoration: Duration::from_us(5),
                action,
            };
            spec.switch.flow_control.pfc.as_mut().unwrap().watchdog = Some(watchdog);
            spec.flows.iter_mut().for_each(|flow| flow.bytes = 10_000);
            let closed = stuck.table("deadlocks").f64s("paused_since_ns")[0];
            spec.end = Duration((closed * 1e3) as u64 + 10_000_001);
            let events = run(spec.clone());
            let events = events.table("watchdog_events");
            assert_eq!(events.f64s("detected_ns"), [closed + 10e3; 5]);
            // All that waited for the egress queue, at the inputs and behind the crossbar.
            let drops: Vec<u64> = match action {
                Action::Drop => backlogs.iter().map(|bytes| bytes / 1_086).collect(),
                Action::Forward => vec![0; 5],
            };
            assert_eq!(events.u64s("dropped_packets"), drops, "{fabric:?} {action:?}");
            // What was dropped is sent again after a timeout, by all at once: the ring closes again, a
            // few packets smaller.
            spec.end = Duration::from_ms(300);
            let outcome = run(spec);
            assert_eq!(outcome.counter("flows_unfinished"), 0, "{action:?}");
            assert_eq!(outcome.table("deadlocks").rows(), 0);
            assert_eq!(outcome.counter("watchdog_drops"), outcome.counter("dropped_packets"));
        }
    }
}

/// Two switches with three hosts each. On both, two hosts send to a third; the first of the two sends
/// to that of the other switch too.
fn two_switches(fabric: fabric::Spec) -> Spec {
    let mut graph = Graph::default();
    (0..6).for_each(|n| _ = graph.add(format!("host {n}"), NodeKind::Host));
    let ids = [0, 1].map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 }));
    (0..6).for_each(|n| graph.link(NodeId(n), ids[n as usize / 3], GBPS_100, NS_200));
    graph.link(ids[0], ids[1], GBPS_100, NS_200);
    let pairs = [(0, 1), (2, 1), (0, 4), (3, 4), (5, 4), (3, 1)];
    let flows = pairs.map(|(src, dst)| flow(src, dst, FlowSpec::PERSISTENT, 0)).to_vec();
    let mut spec = plain(graph, flows);
    spec.switch.fabric = fabric;
    let measured_on = pfc::MeasuredOn::EgressQueue;
    let pfc = pfc::Spec { xoff: Bytes(20_000), xon: Bytes(1_000), measured_on, ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(pfc);
    spec.end = Duration::from_us(500);
    spec
}

#[test]
fn heads_for_each_other_deadlock_two_switches_without_any_ring() {
    // Too much is bound for host 1, so switch 0 has stopped switch 1, and the same the other way
    // round. At the input of host 0 a frame for the other switch is the head, and behind it wait those
    // for host 1 that would have to leave before switch 1 may go on.
    let [fifo, voq] = fabrics().map(|fabric| run(two_switches(fabric)));
    let table = fifo.table("deadlocks");
    assert_eq!(table.texts("node"), ["switch 0", "switch 1"]);
    assert_eq!(table.texts("peer"), ["switch 1", "switch 0"]);
    assert!((3_000..10_000).contains(&fifo.counter("last_moved_ns")));
    // With virtual output queues nothing is behind anything that is not for the same port.
    assert_eq!(voq.table("deadlocks").rows(), 0);
    assert!(voq.counter("xoff_frames") > 20);
    let delivered =
        |outcome: &Outcome| *outcome.table("flows").u64s("delivered_bytes").iter().min().unwrap();
    assert!(delivered(&voq) > 1_000_000, "{}", delivered(&voq));

    // It is found from some time on, and from then on always: nothing was taken for a deadlock that
    // dissolved.
    let found = (1..80).map(|tenth| {
        let mut early = two_switches(fabrics()[0].clone());
        early.end = Duration::from_ns(100 * tenth);
        run(early).table("deadlocks").rows()
    });
    let found: Vec<usize> = found.collect();
    assert!(found.is_sorted() && found[0] == 0 && found[78] == 2, "{found:?}");
}

#[test]
fn congestion_points_see_the_inputs_unless_only_the_egress_counts() {
    let messages = |congestion_at| {
        let flows = vec![flow(0, 2, 2_000_000, 0), flow(1, 2, 2_000_000, 0)];
        let mut spec = plain(star(3), flows);
        spec.switch.fabric = measured(congestion_at);
        spec.switch.flow_control.qcn = Some(qcn::Spec::default());
        run(spec).counter("cnms_sent")
    };
    // Two frames behind the crossbar are never above 26 KB.
    assert_eq!(messages(CongestionAt::Egress), 0);
    assert!(messages(CongestionAt::VirtualOutput) > 10);
}

#[test]
fn telemetry_has_the_inputs_in_it() {
    let most = |fabric: fabric::Spec| {
        let flows = (0..4).map(|src| flow(src, 4, 4_000_000, 0)).collect();
        let mut spec = plain(star(5), flows);
        spec.switch.fabric = fabric;
        control(&mut spec, congestion::Spec::Hpcc(Default::default()));
        rocev2(&mut spec, |rocev2| rocev2.telemetry = true);
        spec.warmup = Duration::from_us(300);
        spec.measured_until = Duration::from_us(1_000);
        spec.end = spec.measured_until;
        let outcome = run(spec);
        let samples = outcome.table("timeline").u64s("max_backlog_bytes").to_vec();
        *samples[samples.len() / 2..].iter().max().unwrap()
    };
    let ideal = most(fabric::Spec::default());
    let seen = most(measured(CongestionAt::VirtualOutput));
    assert!(ideal < 20_000 && seen < 20_000, "{ideal} {seen}");
}
