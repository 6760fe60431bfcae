//! Ports that wait for each other in a cycle are found, and nothing else is.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowId, FlowSpec, Graph, NodeId, Operation, Trigger};
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::pfc::watchdog::{self, Action};
use floodway_sim::switch::flow_control::{cbfc, pause, pfc};
use floodway_sim::{Outcome, Simulation, Spec};

/// Switches in a ring or, open, in a line, with one host at each: hosts are the nodes 0 to n - 1.
fn row(switches: u32, closed: bool) -> Graph {
    let mut graph = Graph::default();
    (0..switches).for_each(|n| _ = graph.add(format!("host {n}"), NodeKind::Host));
    let ids: Vec<NodeId> = (0..switches)
        .map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 }))
        .collect();
    for (host, &switch) in ids.iter().enumerate() {
        graph.link(NodeId(host as u32), switch, GBPS_100, NS_200);
    }
    ids.windows(2).for_each(|pair| graph.link(pair[0], pair[1], GBPS_100, NS_200));
    if closed {
        graph.link(ids[ids.len() - 1], ids[0], GBPS_100, NS_200);
    }
    graph
}

fn persistent(src: u32, dst: u32) -> FlowSpec {
    flow(src, dst, FlowSpec::PERSISTENT, 0)
}

fn pfc(measured_on: pfc::MeasuredOn) -> pfc::Spec {
    pfc::Spec { xoff: Bytes(2_000), xon: Bytes(1_000), measured_on, ..prompt_pfc() }
}

/// From every host to that two switches further round the ring of five: that way is the shorter.
fn cycle() -> Spec {
    let flows = (0..5).map(|host| persistent(host, (host + 2) % 5)).collect();
    let mut spec = plain(row(5, true), flows);
    spec.switch.flow_control.pfc = Some(pfc(pfc::MeasuredOn::EgressQueue));
    spec.end = Duration::from_us(20);
    spec
}

/// Node and peer of the cycle, in its order.
fn way(outcome: &Outcome) -> Vec<(String, String)> {
    let table = outcome.table("deadlocks");
    table.texts("node").iter().cloned().zip(table.texts("peer").iter().cloned()).collect()
}

fn all_five() -> Vec<(String, String)> {
    (0..5).map(|n| (format!("switch {n}"), format!("switch {}", (n + 1) % 5))).collect()
}

/// A frame of 1086 bytes has 88.48 ns on the wire and 200 ns to go, so the first is at its switch at
/// 288.48 ns and, forwarded at once, at the next at 576.96 ns. From there on twice as much comes for
/// the link to the next switch as it carries. It is busy until 642.40 ns: the frame of 576.96 ns
/// waits, is sent, and another has come from the host. At 665.44 ns the second of the neighbor makes
/// that two, 2172 bytes and above XOFF, and a pause frame leaves. It takes 6.72 ns and 200 ns: at
/// 872.16 ns all five ports are stopped, by the next one.
const CLOSED_PS: u64 = 872_160;

#[test]
fn a_ring_closes_at_the_nanosecond_that_follows_from_its_frames() {
    let outcome = run(cycle());
    let table = outcome.table("deadlocks");
    assert_eq!(way(&outcome), all_five());
    assert_eq!(table.u64s("cycle"), [0; 5]);
    assert_eq!(table.u64s("place"), [0, 1, 2, 3, 4]);
    assert_eq!(table.u64s("class"), [0; 5]);
    assert_eq!(table.f64s("paused_since_ns"), [CLOSED_PS as f64 / 1e3; 5]);
    // Ten frames have come from the host, which is paused at that moment too, and five to be sent on
    // from the seven of the neighbor, which had begun the seventh; seven have left.
    assert_eq!(table.u64s("backlog_bytes"), [(10 + 5 - 7) * 1_086; 5]);
    assert_eq!(table.u64s("flows"), [2; 5]);
    // Frames leave in the order in which they come: the host's every 88.48 ns from 288.48 ns on, the neighbor's
    // from 576.96 ns on. The first seven are five of the host and two of the neighbor, so five and three are left.
    let filled = outcome.table("deadlock_flows");
    let (flows, bytes) = (filled.u64s("flow"), filled.u64s("bytes"));
    let rows = filled.u64s("place").iter().zip(flows.iter().zip(bytes));
    let mut rows: Vec<_> = rows.map(|(place, (flow, bytes))| (*place, *flow, *bytes)).collect();
    rows.sort_unstable_by_key(|(place, flow, _)| (*place, place != flow));
    let by_hand =
        (0..5).flat_map(|place| [(place, place, 5 * 1_086), (place, (place + 4) % 5, 3 * 1_086)]);
    assert_eq!(rows, by_hand.collect::<Vec<_>>());
    assert_eq!((outcome.counter("deadlocks"), outcome.counter("deadlocked_ports")), (1, 5));
    assert_eq!(outcome.counter("deadlocked_flows"), 5);
    assert_eq!(outcome.counter("ports_behind_deadlocks"), 0);
    // The last acknowledgements are on their way for two more round trips.
    assert!((1_108..3_000).contains(&outcome.counter("last_moved_ns")));
}

#[test]
fn it_is_none_before_it_has_closed() {
    let ends_at = |ps| {
        let mut spec = cycle();
        spec.end = Duration(ps);
        run(spec).table("deadlocks").rows()
    };
    assert_eq!((ends_at(CLOSED_PS), ends_at(CLOSED_PS + 1)), (0, 5));
}

#[test]
fn it_stays_however_often_its_pauses_are_refreshed() {
    let mut spec = cycle();
    // 20 us are many times the 512 ns of 100 quanta.
    spec.switch.flow_control.pfc.as_mut().unwrap().quanta = 100;
    let outcome = run(spec);
    assert_eq!(way(&outcome), all_five());
    assert_eq!(outcome.table("deadlocks").f64s("paused_since_ns"), [872.16; 5]);
}

#[test]
fn the_ingress_books_pause_and_credit_close_a_ring_too() {
    let mut by_ingress = cycle();
    by_ingress.switch.flow_control.pfc = Some(pfc(pfc::MeasuredOn::Ingress));
    let mut by_port = cycle();
    by_port.switch.flow_control.pfc = None;
    by_port.switch.flow_control.pause = Some(pause::Spec {
        xoff: Bytes(2_000),
        xon: Bytes(1_000),
        measured_on: pause::MeasuredOn::EgressPort,
        ..Default::default()
    });
    let mut by_memory = by_port.clone();
    by_memory.switch.flow_control.pause.as_mut().unwrap().measured_on = pause::MeasuredOn::Memory;
    // Room for two frames, and credit whenever one leaves.
    let mut by_credit = cycle();
    by_credit.switch.flow_control.pfc = None;
    let (buffer, threshold) = (Bytes(2 * 1_086), Bytes(1));
    by_credit.switch.flow_control.cbfc =
        Some(cbfc::Spec { buffer, threshold, period: None, ..Default::default() });
    for spec in [by_ingress, by_port, by_memory, by_credit] {
        let outcome = run(spec);
        assert_eq!(way(&outcome), all_five());
        assert_eq!(outcome.counter("deadlocked_flows"), 5);
    }
}

#[test]
fn who_waits_for_a_ring_is_behind_it() {
    let mut spec = cycle();
    // A sixth switch hangs on switch 0, and its host sends to that of switch 2.
    let host = spec.graph.add("host 5", NodeKind::Host);
    let switch = spec.graph.add("switch 5", NodeKind::Switch { tier: 0 });
    spec.graph.link(host, switch, GBPS_100, NS_200);
    spec.graph.link(switch, NodeId(5), GBPS_100, NS_200);
    spec.flows.push(persistent(host.0, 2));
    let outcome = run(spec);
    assert_eq!(way(&outcome), all_five());
    assert_eq!(outcome.counter("ports_behind_deadlocks"), 1);
}

#[test]
fn a_chain_of_pauses_is_none() {
    // All hosts of a line send to that at its end. With so much between XOFF and XON a pause lasts for
    // more than a microsecond.
    let flows = (0..5).map(|host| persistent(host, 5)).collect();
    let mut spec = plain(row(6, false), flows);
    let thresholds = pfc(pfc::MeasuredOn::EgressQueue);
    spec.switch.flow_control.pfc = Some(pfc::Spec { xoff: Bytes(50_000), ..thresholds });
    spec.sample_interval = Duration::from_ns(100);
    let mut ended_paused = u64::MAX;
    for us in (100..200).step_by(7) {
        spec.end = Duration::from_us(us);
        let outcome = run(spec.clone());
        // The last sample of queue 0; that of the control queue comes after it.
        let paused = outcome.table("timeline").u64s("paused_ports");
        ended_paused = ended_paused.min(paused[paused.len() - 2]);
        assert_eq!(outcome.table("deadlocks").rows(), 0);
    }
    // Of the five hosts and four ports of switches that point to the end, at least three were paused
    // whenever a run ended.
    assert!(ended_paused >= 3, "{ended_paused}");
}

#[test]
fn the_same_flows_through_a_spine_are_none() {
    // Twice as many hosts, so that the links to the one spine are short of capacity.
    let two_each = |host: u32| {
        let to = (host / 2 + 2) % 5 * 2;
        persistent(host, to + host % 2)
    };
    let mut spec = plain(clos(5, 1, 2), (0..10).map(two_each).collect());
    for measured_on in [pfc::MeasuredOn::EgressQueue, pfc::MeasuredOn::Ingress] {
        spec.switch.flow_control.pfc = Some(pfc(measured_on));
        for us in 20..30 {
            spec.end = Duration::from_us(us);
            let outcome = run(spec.clone());
            assert!(outcome.counter("xoff_frames") > 0);
            assert_eq!(outcome.table("deadlocks").rows(), 0);
        }
    }
}

#[test]
fn a_ring_with_room_for_everything_is_none() {
    let mut spec = cycle();
    spec.switch.flow_control.pfc = None;
    assert_eq!(run(spec).table("deadlocks").rows(), 0);
}

/// Ten packets of each flow, all of which have come when the ring has closed.
fn ten_packets(action: Action) -> Spec {
    let mut spec = cycle();
    spec.flows.iter_mut().for_each(|flow| flow.bytes = 10_000);
    spec.end = Duration::from_ms(100);
    let us = Duration::from_us;
    let watchdog = watchdog::Spec { detection: us(10), restoration: us(5), action };
    spec.switch.flow_control.pfc.as_mut().unwrap().watchdog = Some(watchdog);
    spec
}

fn finished(outcome: &Outcome) -> usize {
    fct_ps(outcome).iter().filter(|&&fct| fct > 0).count()
}

#[test]
fn a_watchdog_that_drops_breaks_a_ring() {
    let mut spec = ten_packets(Action::Drop);
    let outcome = run(spec.clone());
    let events = outcome.table("watchdog_events");
    // All are detected 10 us after they have closed, with the eight packets that wait in each, and
    // nothing pauses them for 5 us.
    let first = |column: &str| events.f64s(column).to_vec();
    let ports = events.rows();
    let at: Vec<usize> = (0..ports).filter(|&row| first("detected_ns")[row] < 11e3).collect();
    assert_eq!(at.len(), 5);
    for row in at {
        assert_eq!(first("detected_ns")[row], 10_872.16);
        assert_eq!(first("restored_ns")[row], 15_872.16);
        assert_eq!(events.u64s("dropped_packets")[row], 8);
    }
    assert_eq!(outcome.counter("watchdog_storms"), ports as u64);
    assert_eq!(outcome.counter("watchdog_drops"), outcome.counter("dropped_packets"));
    assert!(outcome.table("drops").texts("reason").iter().all(|reason| reason == "watchdog"));
    assert_eq!((finished(&outcome), outcome.table("deadlocks").rows()), (5, 0));

    // Without it nothing ever arrives complete.
    spec.switch.flow_control.pfc.as_mut().unwrap().watchdog = None;
    spec.end = Duration::from_ms(10);
    let outcome = run(spec);
    assert_eq!((finished(&outcome), way(&outcome)), (0, all_five()));
}

#[test]
fn a_watchdog_that_forwards_breaks_a_ring_without_losses() {
    let outcome = run(ten_packets(Action::Forward));
    let events = outcome.table("watchdog_events");
    assert_eq!(events.f64s("detected_ns"), [10_872.16; 5]);
    assert_eq!(events.u64s("dropped_packets"), [0; 5]);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    assert_eq!((finished(&outcome), outcome.table("deadlocks").rows()), (5, 0));
}

#[test]
fn a_watchdog_leaves_pauses_alone_that_are_shorter_and_changes_nothing_by_itself() {
    let flows = (0..5).map(|host| persistent(host, 5)).collect();
    let mut spec = plain(row(6, false), flows);
    spec.switch.flow_control.pfc = Some(pfc(pfc::MeasuredOn::EgressQueue));
    spec.end = Duration::from_us(200);
    let without = run(spec.clone());
    assert!(without.counter("paused_ns") > 0);
    let longest = without.table("pauses").f64s("longest_pause_ns").iter().copied();
    let longest = Duration((longest.fold(0.0, f64::max) * 1e3) as u64);
    let watchdog = |detection| watchdog::Spec { detection, ..Default::default() };
    let pfc = spec.switch.flow_control.pfc.as_mut().unwrap();
    pfc.watchdog = Some(watchdog(longest + Duration(1)));
    let outcome = run(spec.clone());
    assert_eq!(outcome.counter("watchdog_storms"), 0);
    assert_eq!(outcome.fingerprint, without.fingerprint);
    // One that is too impatient acts.
    let pfc = spec.switch.flow_control.pfc.as_mut().unwrap();
    pfc.watchdog = Some(watchdog(Duration(longest.0 / 4)));
    assert!(run(spec).counter("watchdog_storms") > 0);
}

#[test]
fn threads_do_not_change_what_a_watchdog_does() {
    let run_on = |threads| {
        let stop = AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(ten_packets(Action::Drop)).run_with(&run).fingerprint
    };
    assert_eq!(run_on(1), run_on(3));
}

#[test]
fn calls_that_a_watchdog_drops_are_answered_all_the_same() {
    // Each of the flows of the ring is a question, of which the ring drops packets, and is answered when
    // it has arrived.
    let mut spec = ten_packets(Action::Drop);
    for asks in 0..5 {
        spec.flows.push(flow((asks + 2) % 5, asks, 2_000, 0));
        let [after, begins] = [asks, asks + 5].map(FlowId);
        spec.triggers.push(Trigger { after, begins, delay: Duration::ZERO });
        let flows = [after, begins];
        spec.operations.push(Operation::of(asks, flows));
    }
    let outcome = run(spec);
    assert!(outcome.counter("watchdog_drops") >= 40);
    assert_eq!((outcome.counter("flows_not_begun"), outcome.counter("flows_unfinished")), (0, 0));
    let operations = outcome.table("operations");
    assert_eq!(operations.f64s("finish_ns").iter().filter(|at| at.is_finite()).count(), 5);
}
