//! What pauses do between two switches, to the nanosecond: what they do not stop, what they come before,
//! and when the watchdog calls them a storm.

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx, Rate};
use floodway_sim::failure::Failure;
use floodway_sim::host::Profile;
use floodway_sim::host::congestion;
use floodway_sim::switch::flow_control::pfc::{self, watchdog};
use floodway_sim::{Outcome, Spec};

/// When the first frame of host 0 arrives at switch b.
const FIRST_NS: u64 = 1_050;
/// The switches.
const A: u32 = 4;
const B: u32 = 5;

/// Hosts 0 and 1 at switch a, hosts 2 and 3 at switch b, host 3 with 10 Gb/s, and a link between the two.
fn two_switches(delay: Duration) -> Graph {
    let mut graph = Graph::default();
    (0..4).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let [a, b] = ["a", "b"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    (0..2).for_each(|host| graph.link(NodeId(host), a, GBPS_100, NS_200));
    graph.link(NodeId(2), b, GBPS_100, NS_200);
    graph.link(NodeId(3), b, Rate::from_gbps(10), NS_200);
    graph.link(a, b, GBPS_100, delay);
    graph
}

/// A frame of host 2 is on the wire to host 3 from 1000 ns on, and leaves room for another every 1000 ns.
/// The frames of host 0 come to switch b at 1050 ns and every 100 ns after that: when number k has come, k+1
/// of them wait, from 2000 ns on one less. So number 11, at 2150 ns, is the first to make 11 frames, more than
/// XOFF. The pause, 84 bytes, is at switch a 6.72 ns and the delay of the link later: at 2356.72 ns with 200
/// ns. The last frame that was begun there before is number 16, at 2350 ns: 17 frames of host 0 come to switch
/// b. One leaves at 2000 ns and every 1000 ns; one is left after the sixteenth, at 17 us, when the queue is at
/// XON.
fn paused(graph: Graph, frames: u64) -> Spec {
    let from_0 = flow(0, 3, frames * PAYLOAD, FIRST_NS - 2 * WAY_NS);
    let mut spec = full_frames(graph, vec![from_0, burst(2, 3, 1, 1_000)]);
    spec.switch.flow_control.pfc = Some(pfc::Spec {
        xoff: Bytes(10 * FRAME + FRAME / 2),
        xon: Bytes(FRAME + FRAME / 2),
        measured_on: pfc::MeasuredOn::EgressQueue,
        ..prompt_pfc()
    });
    spec.end = Duration::from_us(60);
    spec
}

const XOFF_PS: u64 = ns(2_150);
const HEARD_PS: u64 = XOFF_PS + 84 * 80 + ns(200);

/// PFC stops classes, not the queue of acknowledgements (IEEE 802.1Q clause 36: each priority by itself).
/// One comes to switch a at 2400 ns, when frame 16 is on the wire and its class has been paused: it leaves
/// when the wire is free, at 2450 ns.
#[test]
fn a_paused_class_stops_no_other() {
    let mut spec = paused(two_switches(NS_200), 30);
    spec.profiles[1] = Profile {
        congestion: congestion::Spec::LineRate(Default::default()),
        ..Default::default()
    };
    // 1024 bytes by RoCEv2 are 1106 on the wire, and 88.48 ns on each of three; the acknowledgement is 86
    // bytes there, and 6.88 ns on the one to switch a. Each has a delay of 200 ns.
    let way_ps = 3 * 88_480 + 6_880 + 4 * ns(200);
    let message = flow(2, 1, 1_024, 0);
    spec.flows.push(FlowSpec { workload: 1, start: Instant(ns(2_400) - way_ps), ..message });
    let (_, sent) = traced(spec);
    let paused = sent
        .iter()
        .find(|frame| frame.to.0.0 == A && matches!(frame.packet.body, Body::Pfc { .. }));
    assert_eq!(paused.map(|frame| (begun(frame), frame.handled_at.0)), Some((XOFF_PS, HEARD_PS)));
    let from_a = |n: usize| data_to(&sent, B, 0).nth(n).map(begun);
    assert_eq!(from_a(16), Some(ns(2_350)));
    assert!(from_a(17).unwrap() > ns(17_000));
    let ack = sent
        .iter()
        .find(|frame| frame.to.0.0 == B && matches!(frame.packet.body, Body::Ack { .. }));
    assert_eq!(ack.map(begun), Some(ns(2_450)));
}

/// With 196.64 ns to switch b all is 3.36 ns earlier there, and the pause, 203.36 ns on its way, is back at
/// 2350 ns: when frame 15 has just left and frame 16 arrives. Pauses are heard before frames that come at
/// the same time (decision 41), so frame 16 waits for XON. With one frame less one is left after the
/// fifteenth has left, at 16 us, which is heard 203.36 ns later.
#[test]
fn a_pause_comes_before_a_frame_of_the_same_time() {
    let mut spec = paused(two_switches(Duration(196_640)), 30);
    // The frame that sets the time of all departures comes as much earlier too.
    spec.flows[1].start = Instant(spec.flows[1].start.0 - 3_360);
    let (_, sent) = traced(spec);
    let paused = sent
        .iter()
        .find(|frame| frame.to.0.0 == A && matches!(frame.packet.body, Body::Pfc { .. }));
    assert_eq!(paused.map(|frame| frame.handled_at.0), Some(ns(2_350)));
    let from_a = |n: usize| data_to(&sent, B, 0).nth(n).map(begun);
    assert_eq!(from_a(15), Some(ns(2_250)));
    assert_eq!(from_a(16), Some(ns(16_000) - 3_360 + 203_360));
}

/// The first frame that waits at switch a is number 17, which arrives at 2450 ns. With a detection time of
/// 3 us the storm begins at 5450 ns.
fn watched(restoration: Duration) -> Spec {
    let mut spec = paused(two_switches(NS_200), 40);
    let pfc = spec.switch.flow_control.pfc.as_mut().unwrap();
    // 1000 quanta are 5.12 us at 100 Gb/s; a pause is refreshed every 2.56 us.
    pfc.quanta = 1_000;
    let (detection, action) = (Duration::from_us(3), watchdog::Action::Drop);
    pfc.watchdog = Some(watchdog::Spec { detection, restoration, action });
    spec
}

/// When storms began and ended, in nanoseconds.
fn storms(outcome: &Outcome) -> Vec<(f64, f64)> {
    let events = outcome.table("watchdog_events");
    let times = events.f64s("detected_ns").iter().zip(events.f64s("restored_ns"));
    times.map(|(&detected, &restored)| (detected, restored)).collect()
}

/// Until XON at 17 us the pause is refreshed five times, the last time 12.8 us after it began. The storm is
/// over when nothing has paused the queue for the restoration time since then.
#[test]
fn a_storm_lasts_until_no_pause_comes_any_more() {
    for restoration_us in [3, 4] {
        let (outcome, _) = traced(watched(Duration::from_us(restoration_us)));
        let last_ps = HEARD_PS + 5 * ns(2_560);
        let over = (last_ps + ns(1_000 * restoration_us)) as f64 / 1e3;
        assert_eq!(storms(&outcome), [(5_450.0, over)]);
    }
}

/// The link fails at 4 us. Its pauses are forgotten with it, so that nothing is paused when the detection
/// time is over.
#[test]
fn a_pause_that_is_forgotten_is_no_storm() {
    let mut spec = watched(Duration::from_us(4));
    spec.failures = vec![Failure {
        node: NodeId(A),
        port: PortIx(2),
        at: Instant(ns(4_000)),
        until: Instant::NEVER,
        detection: Duration::ZERO,
    }];
    let (outcome, _) = traced(spec);
    assert_eq!(storms(&outcome), []);
}
