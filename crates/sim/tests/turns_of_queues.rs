//! Whose turn it is among the queues of a port, frame by frame: deficit round robin (Shreedhar and
//! Varghese, SIGCOMM 1995) among data queues and among the physical queues of Backpressure Flow
//! Control.

use crate::common::overload::two_queues;
use crate::common::timeline::*;
use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec};
use floodway_sim::Sent;
use floodway_sim::host::transport::udp;
use floodway_sim::switch::classify::ecn::Scalable;
use floodway_sim::switch::classify::{self, mice_elephants};
use floodway_sim::switch::flow_control::bfc;
use floodway_sim::switch::scheduler;

/// When the frames of a flow are sent to a node, in picoseconds.
fn times(sent: &[Sent], node: u32, flow: u32) -> Vec<u64> {
    data_to(sent, node, flow).map(begun).collect()
}

/// Hosts 1 and 2 keep the second of two queues full from 1050 ns on, and a quantum is that of three
/// frames. Frame 0 of host 1 goes straight to the wire at 1000 ns; then the second queue sends
/// three in each of its turns. A frame for the first queue comes at 1130 ns, has its turn at 1400
/// ns, and leaves credit for two. The turn ends with the queue empty, and a queue that is empty
/// loses its credit (section 3 of the paper). So of six frames that come from 1830 ns on, three
/// have the next turn, at 2100 ns, and three the one after that.
#[test]
fn an_empty_queue_keeps_no_credit() {
    let flows = vec![
        burst(0, 3, 1, 1_130),
        burst(0, 3, 6, 1_830),
        FlowSpec { workload: 1, ..burst(1, 3, 30, 1_000) },
        FlowSpec { workload: 1, ..burst(2, 3, 30, 1_050) },
    ];
    let mut spec = full_frames(star(4), flows);
    spec.profiles[0] = datagrams_of(PAYLOAD, udp::Field::Ect1);
    spec.profiles[1] = datagrams_of(PAYLOAD, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    let quantum = Bytes(3 * 1_250);
    spec.switch.scheduler =
        scheduler::Spec::Drr(scheduler::drr::Spec { quantum, ..Default::default() });
    let (_, sent) = traced(spec);
    assert_eq!(times(&sent, 3, 0), [ns(1_400)]);
    let expected = [2_100, 2_200, 2_300, 2_700, 2_800, 2_900].map(ns);
    assert_eq!(times(&sent, 3, 1), expected);
}

/// Of three queues the first is strict and empty, and the others have as much of the link. Ten mice
/// and forty elephants come to a port of 10 Gb/s: the first of each by 1050 ns, when the first
/// mouse is on the wire, and all before the second leaves at 2000 ns. Then the two queues take
/// turns with a frame each, which the queue with the lower number begins.
#[test]
fn queues_below_the_strict_ones_share() {
    for (strict, expected) in [
        (1, [1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 14_000, 16_000, 18_000]),
        (2, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000]),
    ] {
        let flows = vec![burst(0, 2, 10, 1_000), burst(1, 2, 40, 1_050)];
        let mut spec = full_frames(slow_star(3), flows);
        spec.switch.queue.count = 3;
        spec.switch.classify = classify::Spec::MiceElephants(mice_elephants::Spec {
            below: Bytes(20_000),
            mice: 1,
            elephants: Some(2),
        });
        let quantum = Bytes(1_250);
        spec.switch.scheduler =
            scheduler::Spec::Drr(scheduler::drr::Spec { quantum, strict, ..Default::default() });
        let (_, sent) = traced(spec);
        assert_eq!(times(&sent, 2, 0), expected.map(ns), "{strict}");
    }
}

/// So many physical queues, and thresholds that nothing reaches.
fn backpressure(queues: u8) -> bfc::Spec {
    let (tau, hop_rtt) = (Duration::from_ms(1), Some(for_ns(500)));
    bfc::Spec { queues, tau, hop_rtt, ..Default::default() }
}

/// The quantum of a physical queue is the longest frame, 1250 bytes on the wire. A port of 10 Gb/s
/// is busy with one until 2000 ns; by then flows 1 and 2 have frames of 750 bytes there, in
/// physical queues of their own. In three rounds each sends one of 1250 bytes of credit, two of 500
/// + 1250, and two of 250 + 1250, which leaves nothing.
#[test]
fn physical_queues_have_a_frame_in_each_round() {
    let short = 684;
    // They come at 1020 and 1040 ns: 40 ns earlier than full frames would.
    let shorts =
        |src, at_ns| FlowSpec { bytes: 12 * short, workload: 1, ..burst(src, 3, 0, at_ns) };
    let flows = vec![burst(0, 3, 1, 1_000), shorts(1, 1_060), shorts(2, 1_080)];
    let mut spec = full_frames(slow_star(4), flows);
    spec.profiles[1] = datagrams_of(short, udp::Field::NotEct);
    spec.switch.flow_control.bfc = Some(backpressure(32));
    let (_, sent) = traced(spec);
    let turns = |turns: [u64; 10]| turns.map(|turn| ns(2_000 + 600 * turn));
    assert_eq!(times(&sent, 3, 1)[..10], turns([0, 2, 3, 6, 7, 10, 12, 13, 16, 17]));
    assert_eq!(times(&sent, 3, 2)[..10], turns([1, 4, 5, 8, 9, 11, 14, 15, 18, 19]));
}

/// A frame every 5 us has left the switch at once, and its flow keeps the physical queue for
/// `sticky` hop round trips: with 2.4 us two are 4.8 us, and three are 7.2 us. When it has none, it
/// is given the one that was given longest ago.
#[test]
fn a_flow_keeps_its_physical_queue_for_some_round_trips() {
    for (sticky, expected) in [(2, [0, 1, 2, 3]), (3, [0; 4])] {
        let first = FlowSpec { workload: 1, ..burst(0, 1, 4, 1_000) };
        let mut spec = full_frames(star(2), vec![first]);
        let hop_rtt = Some(for_ns(2_400));
        spec.switch.flow_control.bfc = Some(bfc::Spec { hop_rtt, sticky, ..backpressure(8) });
        let (_, sent) = traced(spec);
        let physical_queues: Vec<u8> =
            data_to(&sent, 1, 0).map(|frame| frame.packet.physical_queue).collect();
        assert_eq!(physical_queues, expected, "{sticky}");
    }
}

/// Every 2 us a frame occupies the wire, and meanwhile a frame each of two other flows come to the
/// port, which has two physical queues. They share one if their identifiers hash to the same entry
/// of the flow table: with one entry per queue that is one pair in two, with two one in four, and
/// with eight one in sixteen. Five standard deviations of 400 pairs are 50, 43 and 24.
#[test]
fn flows_of_one_entry_share_a_physical_queue() {
    for (table, entries, sigmas_5) in [(1, 2, 50), (2, 4, 43), (8, 16, 24)] {
        let pairs = 400;
        let mut flows = Vec::new();
        for pair in 0..pairs {
            let at = 1_000 + 2_000 * pair;
            flows.extend([burst(0, 3, 1, at), burst(1, 3, 1, at + 20), burst(2, 3, 1, at + 40)]);
        }
        let mut spec = full_frames(star(4), flows);
        spec.switch.flow_control.bfc = Some(bfc::Spec { table, sticky: 0, ..backpressure(2) });
        let (_, sent) = traced(spec);
        let physical_queue = |flow| data_to(&sent, 3, flow).next().unwrap().packet.physical_queue;
        let shared = (0..pairs as u32)
            .filter(|n| physical_queue(3 * n + 1) == physical_queue(3 * n + 2))
            .count() as i64;
        let expected = pairs as i64 / entries;
        assert!((shared - expected).abs() < sigmas_5, "{table}: {shared} of {expected}");
    }
}
