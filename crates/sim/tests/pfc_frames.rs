//! One PFC frame about several classes (IEEE 802.1Q: a class-enable vector and eight timers).

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::Sent;
use floodway_sim::Spec;
use floodway_sim::host::transport::udp;
use floodway_sim::switch::classify::{self, mice_elephants};
use floodway_sim::switch::flow_control::pfc;

/// Hosts 0 to 5 on one switch; those of hosts 1 and 2 are links of 10 Gb/s, on which a full frame takes 1000 ns.
fn graph() -> Graph {
    let mut graph = Graph::default();
    (0..6).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for host in 0..6 {
        let slow = [1, 2].contains(&host);
        let rate = if slow { Rate::from_gbps(10) } else { GBPS_100 };
        graph.link(NodeId(host), switch, rate, NS_200);
    }
    graph
}

/// Bytes of a message in class 0, a frame of 64 bytes that takes 6.72 ns at 100 Gb/s, and of one in class 1,
/// 164 bytes that take 14.72 ns.
const SMALL: u64 = 18;
const LARGE: u64 = 118;

/// Frames of hosts 3 and 4 make the wires to hosts 1 and 2 busy; host 5 has one on the wire to host 0 from 300
/// to 400 ns and another from 1250 to 1350 ns. XOFF is 10 bytes: a class of host 0 is paused as soon as one frame
/// of it waits, and may go on when it has left.
fn spec(flows: Vec<FlowSpec>, busy_2: u64, combine_classes: bool) -> Spec {
    let others = vec![
        burst(3, 1, 1, 300),
        burst(4, 2, 1, busy_2),
        burst(5, 0, 1, 300),
        burst(5, 0, 1, 1_250),
    ];
    let mut spec = full_frames(graph(), [flows, others].concat());
    spec.profiles = vec![datagrams_of(PAYLOAD, udp::Field::NotEct)];
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::MiceElephants(mice_elephants::Spec {
        below: Bytes(100),
        mice: 0,
        elephants: Some(1),
    });
    spec.switch.flow_control.pfc = Some(pfc::Spec {
        xoff: Bytes(10),
        xon: Bytes(0),
        measured_on: pfc::MeasuredOn::Ingress,
        combine_classes,
        ..prompt_pfc()
    });
    spec.end = floodway_model::Duration::from_us(10);
    spec
}

/// The PFC frames to host 0: when each begins, which classes it stops and which it lets go on.
fn told(sent: &[Sent]) -> Vec<(u64, u8, u8)> {
    let of = |frame: &Sent| match frame.packet.body {
        Body::Pfc { classes, quanta, resumed } if frame.to.0.0 == 0 => {
            assert_eq!(frame.packet.bytes, 64);
            let (stopped, resumed) =
                if quanta == 0 { (0, classes | resumed) } else { (classes, resumed) };
            Some((begun(frame), stopped, resumed))
        }
        _ => None,
    };
    sent.iter().filter_map(of).collect()
}

/// A frame of each class comes from host 0 at 306.72 and 321.44 ns. They wait for the slow wires until 1300 ns,
/// when both leave; others follow that host 0 is to send at 700 ns. The wire to host 0 is busy at all of these
/// times, until 400 and 1350 ns.
#[test]
fn two_classes_that_cross_while_the_wire_is_busy_share_a_frame() {
    let flows = vec![
        flow(0, 1, SMALL, 100),
        flow(0, 2, LARGE, 100),
        flow(0, 1, SMALL, 700),
        flow(0, 2, LARGE, 700),
    ];
    let (outcome, sent) = traced(spec(flows.clone(), 300, true));
    assert_eq!(told(&sent), [(400_000, 0b11, 0), (1_350_000, 0, 0b11)]);
    let frames = sent.iter().filter(|frame| matches!(frame.packet.body, Body::Pfc { .. })).count();
    assert_eq!(outcome.counter("pfc_frames"), frames as u64);
    // Both obey: 6.72 ns and 200 ns after it begins, the frame is at host 0. Small first, 6.72 ns each.
    let leaves = |number: u32| sent.iter().find(|frame| frame.packet.flow.0 == number).map(begun);
    assert_eq!([leaves(2), leaves(3)], [Some(1_556_720), Some(1_563_440)]);

    // Without it there is one frame for each.
    let (outcome, sent) = traced(spec(flows, 300, false));
    let expected = [(400_000, 1, 0), (406_720, 2, 0), (1_350_000, 0, 1), (1_356_720, 0, 2)];
    assert_eq!(told(&sent), expected);
    assert!(outcome.table("counters").texts("name").iter().all(|name| name != "pfc_frames"));
}

/// The frame of class 1 comes at 1324.72 ns and finds its wire busy until 2000 ns; that of class 0 left at 1300 ns.
/// One frame at 1350 ns lets class 0 go on and stops class 1.
#[test]
fn a_frame_stops_one_class_and_lets_another_go_on() {
    let flows = vec![flow(0, 1, SMALL, 100), flow(0, 2, LARGE, 1_110)];
    let (_, sent) = traced(spec(flows, 1_000, true));
    // The wire to host 0 is idle at 2000 ns.
    assert_eq!(told(&sent), [(400_000, 1, 0), (1_350_000, 2, 1), (2_000_000, 0, 2)]);
}

/// A class that may go on before its pause was sent is in the frame once, with its last time.
#[test]
fn a_class_has_one_time_in_a_frame() {
    // The wire to host 1 is free from 1300 ns on: the small frame comes at 1286.72 and leaves at 1300 ns, both
    // while the wire to host 0 is busy.
    let flows = vec![flow(0, 1, SMALL, 1_080), flow(0, 2, LARGE, 1_110)];
    let (_, sent) = traced(spec(flows, 1_000, true));
    assert_eq!(told(&sent), [(1_350_000, 2, 1), (2_000_000, 0, 2)]);
}
