//! Explained delays against arithmetic, and their exactness in networks in which everything happens.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::packet::length;
use floodway_model::tables::{delay_parts, delays, explained};
use floodway_model::{Bytes, Duration, FlowId, FlowSpec, Graph, Instant, NodeId, PortIx, Rate};
use floodway_sim::delays::{Chosen, Explained, Kind, Sample, Story};
use floodway_sim::errors::Errors;
use floodway_sim::host::{congestion, transport};
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::bfc;
use floodway_sim::switch::port::DropReason;
use floodway_sim::switch::{aqm, flow_control, overflow};
use floodway_sim::{Simulation, Spec};

/// Payload of a packet, and the time that one takes on a wire of 100 Gb/s.
const PAYLOAD: u64 = 1_000;

fn frame_time(spec: &Spec) -> u64 {
    let frame = spec.profiles[0].transport.frame(PAYLOAD);
    (u64::from(frame) + u64::from(length::PREAMBLE_AND_GAP)) * 80
}

fn explain(spec: Spec, flows: impl IntoIterator<Item = u32>) -> Explained {
    let flows: Vec<FlowId> = flows.into_iter().map(FlowId).collect();
    let chosen = Chosen { detailed: flows.clone(), flows, ..Chosen::default() };
    let run = Run { threads: 1, stop: &AtomicBool::new(false), watch: &|_| {} };
    let (outcome, explained) = Simulation::new(spec).explaining(chosen).run_explained(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    explained.expect("flows are explained")
}

fn time(story: &Story, kind: Kind) -> u64 {
    story.time(|part| part.kind == kind).0
}

fn is_ideal(story: &Story) -> bool {
    story.time(|part| !part.kind.is_ideal()) == Duration::ZERO
}

/// Hosts on a switch, with packets of 1000 bytes.
fn packets(graph: Graph, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = plain(graph, flows);
    rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(PAYLOAD));
    spec
}

/// A flow that is alone waits for nothing, and its parts are its ideal completion time.
#[test]
fn a_flow_that_is_alone_waits_for_nothing() {
    let spec = packets(clos(2, 1, 2), vec![flow(0, 3, 10 * PAYLOAD, 0)]);
    let t = frame_time(&spec);
    let outcome = run(spec.clone());
    let explained = explain(spec, [0]);
    let story = &explained.stories[0];
    assert!(is_ideal(story), "{story:?}");
    // Ten packets at the source, and the last one on three more links.
    assert_eq!(time(story, Kind::Serialization), (10 + 3) * t);
    assert_eq!(story.completed.since(story.began).0, fct_ps(&outcome)[0]);
    let ideal = outcome.table("flows").f64s("ideal_fct_ns")[0];
    assert_eq!(((ideal * 1e3).round()) as u64, fct_ps(&outcome)[0]);
}

/// Two hosts send to a third at once: the packets alternate at its port, so that each of the second
/// flow's is queued behind one of the first.
#[test]
fn a_packet_waits_behind_that_of_another_flow() {
    let spec = packets(star(3), vec![flow(1, 0, PAYLOAD, 0), flow(2, 0, PAYLOAD, 0)]);
    let t = frame_time(&spec);
    let Explained { stories, pauses, .. } = explain(spec, [0, 1]);
    let (first, second) = (&stories[0], &stories[1]);
    assert!(is_ideal(first) && pauses.is_empty());
    assert_eq!(time(second, Kind::OtherFlow(FlowId(0))), t);
    assert_eq!(second.time(|part| !part.kind.is_ideal()).0, t);
    let part = second.parts.iter().find(|part| !part.kind.is_ideal()).unwrap();
    assert_eq!((part.node, part.port), (NodeId(3), 0));
}

/// Two flows of one host take turns at its NIC: each waits there for the packets of the other.
#[test]
fn a_flow_waits_for_others_at_its_source() {
    let flows = vec![flow(1, 0, 5 * PAYLOAD, 0), flow(1, 2, 5 * PAYLOAD, 0)];
    let spec = packets(star(3), flows);
    let t = frame_time(&spec);
    let stories = explain(spec, [0, 1]).stories;
    assert_eq!(time(&stories[0], Kind::OtherFlow(FlowId(1))), 4 * t);
    assert_eq!(time(&stories[1], Kind::OtherFlow(FlowId(0))), 5 * t);
    assert!(stories.iter().all(|story| time(story, Kind::Serialization) == (5 + 1) * t));
}

/// At a quarter of the line rate three of four frame times are spent waiting for the rate.
#[test]
fn a_flow_waits_for_its_rate() {
    let mut spec = packets(star(2), vec![flow(1, 0, 9 * PAYLOAD, 0)]);
    let rate = Rate::from_gbps(25);
    control(&mut spec, congestion::Spec::ConstantRate(congestion::constant_rate::Spec { rate }));
    let t = frame_time(&spec);
    let story = &explain(spec, [0]).stories[0];
    assert_eq!(time(story, Kind::Rate), 8 * 3 * t);
    assert_eq!(story.time(|part| !part.kind.is_ideal()).0, 8 * 3 * t);
}

/// With one packet in flight the sender waits for whole round trips, of which every part is known.
#[test]
fn a_wait_for_the_window_is_a_round_trip() {
    let mut spec = packets(star(2), vec![flow(1, 0, 4 * PAYLOAD, 0)]);
    rocev2(&mut spec, |rocev2| rocev2.in_flight = Some(Bytes(PAYLOAD)));
    let t = frame_time(&spec);
    let fct = fct_ps(&run(spec.clone()))[0];
    let story = &explain(spec, [0]).stories[0];
    // Nothing is queued anywhere, so the round trips consist of serialization and propagation.
    assert!(is_ideal(story), "{story:?}");
    // Three round trips but for the first transmission of each packet, then a way of 2 t and two delays.
    let round_trip = (fct - 2 * t - 400_000) / 3;
    assert_eq!(story.time(|part| part.in_window).0, 3 * (round_trip - t));
}

/// Queueing that an acknowledgement or its packet meets is seen through the window: a packet behind
/// those of another flow delays its successor.
#[test]
fn queueing_is_seen_through_the_window() {
    // The second flow begins a nanosecond later.
    let flows = vec![flow(2, 0, 8 * PAYLOAD, 0), flow(1, 0, 2 * PAYLOAD, 1)];
    let mut spec = packets(star(3), flows);
    rocev2(&mut spec, |rocev2| rocev2.in_flight = Some(Bytes(8 * PAYLOAD)));
    let mut slow = spec.profiles[0].clone();
    if let transport::Spec::Rocev2(rocev2) = &mut slow.transport {
        rocev2.in_flight = Some(Bytes(PAYLOAD));
    }
    spec.flows[1].workload = 1;
    spec.profiles = vec![spec.profiles[0].clone(), slow];
    let t = frame_time(&spec);
    let story = &explain(spec, [1]).stories[0];
    let waited = story.time(|part| part.in_window && part.kind == Kind::OtherFlow(FlowId(0)));
    assert_eq!(waited.0, t - 1_000);
}

/// An incast over two switches with PFC: the pause of the sender on the first switch has its root at the
/// port to the receiver, and a flow to an idle host is a victim of it.
#[test]
fn a_pause_is_followed_to_its_root() {
    // Hosts 0 to 2 on leaf 6, 3 to 5 on leaf 7, one spine, 8. All of leaf 7 sends to host 0; host 3 also
    // to host 1.
    let mut flows: Vec<FlowSpec> = (3..6).map(|src| flow(src, 0, 3_000_000, 0)).collect();
    flows.push(flow(2, 0, 3_000_000, 0));
    flows.push(flow(3, 1, 20_000, 100_000));
    flows.sort_by_key(|flow| flow.start);
    let mut spec = packets(clos(2, 1, 3), flows);
    spec.switch.flow_control.pfc = Some(prompt_pfc());
    let Explained { stories, pauses, .. } = explain(spec, [4]);
    let victim = &stories[0];
    let paused: Vec<usize> = victim
        .parts
        .iter()
        .filter_map(|part| match part.kind {
            Kind::Paused(number) => Some(number),
            _ => None,
        })
        .collect();
    assert!(!paused.is_empty());
    for pause in paused.into_iter().map(|number| pauses[number]) {
        let root = pause.root.unwrap();
        assert_eq!((root.node, root.port), (NodeId(6), 0), "{pause:?}");
        assert!(root.flow != FlowId(4));
    }
    assert!(pauses.iter().any(|pause| pause.depth == 3), "hosts of leaf 7 are three steps away");
}

/// PAUSE stops every class of a port; its cause is the queue to the receiver as well.
#[test]
fn a_pause_of_a_whole_port_has_a_root_too() {
    let flows = vec![
        flow(1, 0, 300_000, 0),
        flow(2, 0, 300_000, 0),
        FlowSpec { workload: 1, ..flow(2, 3, 20_000, 20_000) },
    ];
    let mut spec = packets(star(4), flows);
    spec.switch.queue.count = 2;
    spec.switch.flow_control.pause = Some(flow_control::pause::Spec {
        xoff: Bytes(20_000),
        xon: Bytes(10_000),
        ..Default::default()
    });
    let Explained { stories, pauses, .. } = explain(spec, [2]);
    let paused = stories[0].time(|part| matches!(part.kind, Kind::Paused(_)));
    assert!(paused > Duration::ZERO && !pauses.is_empty());
    for pause in &pauses {
        let root = pause.root.unwrap();
        assert_eq!((root.node, root.port, pause.depth), (NodeId(4), 0, 1), "{pause:?}");
    }
}

/// A packet that an AQM or a full queue drops is found by a timeout or a NAK, and that is where the
/// time goes.
#[test]
fn a_loss_is_named() {
    let mut spec = packets(star(3), vec![flow(1, 0, 40_000, 0), flow(2, 0, 40_000, 0)]);
    spec.switch.queue.size = Bytes(5_000);
    let stories = explain(spec, [0, 1]).stories;
    assert!(
        stories.iter().any(|story| { !story.losses.is_empty() && time(story, Kind::Recovery) > 0 })
    );
}

/// A frame with a bit error is not one that a failed link has lost.
#[test]
fn a_bit_error_is_named() {
    let mut spec = packets(star(2), vec![flow(0, 1, 20 * PAYLOAD, 0)]);
    let (node, port) = (NodeId(0), PortIx(0));
    spec.errors = vec![Errors { node, port, rate: 0.0, frames: vec![3], retry: None }];
    let stories = explain(spec, [0]).stories;
    assert_eq!(stories[0].losses, [(3, node, DropReason::Corrupted)]);
}

/// TCP in a full window waits for round trips too, each of which ends with the acknowledgement of a
/// segment that is known. Nothing is queued, so all of them are serialization and propagation, and
/// receivers that acknowledge late.
#[test]
fn a_tcp_window_is_a_round_trip() {
    let mut spec = packets(star(2), vec![flow(1, 0, 40 * 1_448, 0)]);
    let tcp = transport::tcp::Spec { receive_window: Some(Bytes(2 * 1_448)), ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Tcp(tcp);
    spec.profiles[0].congestion = congestion::Spec::Reno(Default::default());
    let story = &explain(spec, [0]).stories[0];
    assert!(time(story, Kind::Handshake) > 0, "{story:?}");
    assert_eq!(time(story, Kind::Window), 0, "{story:?}");
    let in_window = story.time(|part| part.in_window && part.kind.is_ideal());
    assert!(in_window > Duration::ZERO);
    let known = [Kind::Handshake, Kind::Answer].map(|kind| time(story, kind)).iter().sum::<u64>();
    let ideal = story.time(|part| part.kind.is_ideal());
    assert_eq!(ideal.0 + known, story.completed.since(story.began).0);
}

/// Three flows in sequence: each of the others waited for the one before.
#[test]
fn a_flow_names_the_one_that_it_waited_for() {
    let mut flows: Vec<FlowSpec> = (0..3).map(|_| flow(1, 0, 5 * PAYLOAD, 0)).collect();
    flows.iter_mut().for_each(|flow| flow.in_turn = true);
    let spec = packets(star(2), flows);
    let stories = explain(spec, 0..3).stories;
    let after: Vec<Option<FlowId>> = stories.iter().map(|story| story.after).collect();
    assert_eq!(after, [None, Some(FlowId(0)), Some(FlowId(1))]);
    // The next one begins when the last packet of the one before is handed over.
    assert!(stories.windows(2).all(|pair| pair[1].began < pair[0].completed));
    assert!(stories.windows(2).all(|pair| pair[1].began > pair[0].began));
}

/// Marks are counted where a packet gets them: at the port of a switch to the receiver, and at the link
/// from a leaf to the spine, behind which two more ports send the marked packet.
#[test]
fn marks_have_a_place() {
    let two_to_one = (star(3), [flow(1, 0, 200_000, 0), flow(2, 0, 200_000, 0)], (3, 0));
    let uplink = (clos(2, 1, 2), [flow(0, 2, 200_000, 0), flow(1, 3, 200_000, 0)], (4, 2));
    for (graph, flows, (node, port)) in [two_to_one, uplink] {
        let mut spec = packets(graph, flows.to_vec());
        spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(20_000) });
        control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        let outcome = run(spec.clone());
        let stories = explain(spec, [0, 1]).stories;
        let marked = outcome.table("flows").u64s("marked_packets").to_vec();
        assert!(marked.iter().sum::<u64>() > 10);
        for (story, marked) in stories.iter().zip(marked) {
            assert_eq!(story.marks, [((NodeId(node), port), marked)]);
        }
    }
}

/// Explaining a run changes none of its results, and its tables add up to the completion times.
#[test]
fn tables_add_up_and_change_nothing() {
    let mut spec = packets(clos(4, 2, 8), busy_flows());
    spec.switch = isolating();
    spec.end = Duration::from_ms(2);
    let plain = run(spec.clone());
    spec.explained = Some(Sample { flows: 50, share: 1.0 });
    let stop = AtomicBool::new(false);
    let outcome = Simulation::new(spec).run_with(&Run { threads: 3, stop: &stop, watch: &|_| {} });
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.fingerprint, plain.fingerprint);
    let names: Vec<&str> = outcome.tables.iter().map(|table| &*table.name).collect();
    assert!(names.ends_with(&floodway_model::table::EXPLAINED));
    let explained = explained::View::of(&outcome.tables).unwrap();
    assert!((40..=50).contains(&explained.rows()));
    let delays = delays::View::of(&outcome.tables).unwrap();
    let parts = delay_parts::View::of(&outcome.tables).unwrap();
    for row in 0..explained.rows() {
        let flow = explained.flow[row];
        let of = |flows: &[u64], times: &mut dyn Iterator<Item = u64>| -> u64 {
            flows.iter().zip(times).filter(|(of, _)| **of == flow).map(|(_, time)| time).sum()
        };
        assert_eq!(of(delays.flow, &mut delays.time_ps.iter().copied()), explained.fct_ps[row]);
        let lengths = parts.from_ps.iter().zip(parts.to_ps).map(|(from, to)| to - from);
        let detailed = of(parts.flow, &mut lengths.into_iter());
        assert_eq!(detailed, explained.fct_ps[row] * explained.detailed[row]);
    }
    assert_eq!(explained.detailed.iter().sum::<u64>(), 10);
}

/// The parts add up in networks in which everything happens at once: `run_explained` reports a
/// violation otherwise. They are the same whichever other flows are followed.
#[test]
fn all_delays_add_up() {
    let specs: [fn(&mut Spec); 9] = [
        |spec| {
            spec.switch = isolating();
            let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
            isolation.cim_entry_life = Duration::from_us(50);
            control(spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        },
        |spec| spec.switch.flow_control.bfc = Some(bfc::Spec { queues: 4, ..Default::default() }),
        |spec| spec.switch.flow_control.cbfc = Some(Default::default()),
        |spec| spec.switch = isolating(),
        |spec| {
            spec.switch = isolating();
            control(spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        },
        |spec| spec.switch.queue.size = Bytes(40_000),
        |spec| {
            spec.switch.aqm = aqm::Spec::Step(Default::default());
            spec.profiles[0] = floodway_sim::host::Profile {
                transport: transport::Spec::Tcp(Default::default()),
                congestion: congestion::Spec::Dctcp(Default::default()),
                ..spec.profiles[0].clone()
            };
            spec.profiles = vec![spec.profiles[0].clone(); 2];
        },
        |spec| {
            spec.switch.overflow = overflow::Spec::Trim(Default::default());
            spec.switch.queue.size = Bytes(40_000);
        },
        |spec| spec.host.buffer = Some(Bytes(20_000)),
    ];
    for (number, change) in specs.into_iter().enumerate() {
        let mut spec = packets(clos(4, 2, 8), busy_flows());
        spec.end = Duration::from_ms(2);
        change(&mut spec);
        let outcome = run(spec.clone());
        let finished = fct_ps(&outcome);
        let sized = (12..spec.flows.len() as u32).filter(|flow| flow % 3 == 0);
        let stories = explain(spec.clone(), sized).stories;
        assert!(stories.len() > 60, "{number}: {}", stories.len());
        let flows = outcome.table("flows").u64s("flow").to_vec();
        for story in &stories {
            let row = flows.iter().position(|flow| *flow == u64::from(story.flow.0)).unwrap();
            let fct = story.completed.since(story.began).0;
            assert_eq!(fct, finished[row], "{number}: {}", story.flow.0);
            assert!(story.wrong_at.is_none() && story.began >= Instant::ZERO);
        }
        for story in stories.iter().step_by(stories.len() / 2) {
            let alone = &explain(spec.clone(), [story.flow.0]).stories[0];
            assert_eq!(alone.parts, story.parts, "{number}: {}", story.flow.0);
            assert_eq!(alone.cuts, story.cuts, "{number}: {}", story.flow.0);
        }
    }
}
