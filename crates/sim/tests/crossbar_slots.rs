//! Which frames cross a switch in which slot. A cell of 2500 bytes holds every frame and takes 200 ns at
//! 100 Gb/s, so slots begin at the multiples of 200 ns, and a frame that crosses in one is on the wire when
//! the next begins.

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::{Bytes, Rate};
use floodway_sim::Sent;
use floodway_sim::switch::fabric::{self, input_fifo, voq};

const CELL: Bytes = Bytes(2_500);

/// When the first frame of a flow is sent to a host, in picoseconds.
fn leaves(sent: &[Sent], host: u32, flow: u32) -> u64 {
    begun(data_to(sent, host, flow).next().unwrap())
}

/// Before the slot at 1200 ns host 0 has sent a frame to host 3 and one to host 4, and hosts 1 and 2 one
/// each to host 4. All pointers are at port 0, so both outputs grant input 0, which accepts output 3
/// (iSLIP, McKeown 1999).
///
/// With one iteration that is all. From then on output 4 grants input 0, input 1 and input 2.
///
/// With two, output 4 grants input 1 in the second, whose acceptance moves no pointer. So it
/// grants input 0 in the next slot and not input 2, and input 2 after that.
#[test]
fn only_the_first_iteration_moves_pointers() {
    for (iterations, expected) in
        [(1, [1_400, 1_600, 1_800, 2_000]), (2, [1_400, 1_600, 1_400, 1_800])]
    {
        let flows = vec![
            burst(0, 3, 1, 1_020),
            burst(0, 4, 1, 1_120),
            burst(1, 4, 1, 1_040),
            burst(2, 4, 1, 1_060),
        ];
        let mut spec = full_frames(star(5), flows);
        spec.switch.fabric =
            fabric::Spec::Voq(voq::Spec { iterations, cell: CELL, ..Default::default() });
        let (_, sent) = traced(spec);
        let found = [(3, 0), (4, 1), (4, 2), (4, 3)].map(|(host, flow)| leaves(&sent, host, flow));
        assert_eq!(found, expected.map(ns), "{iterations}");
    }
}

/// Six frames to a host with 8 Gb/s, 1250 ns each, and then one to another host, all in one queue of the
/// input. The first four cross from 1200 ns on. The first of them is on the wire from 1400 ns on and the
/// others wait in the egress queue; if that holds three, the fifth crosses after the second has left, at
/// 2650 ns: from 2800 ns on. The sixth follows the third, which leaves at 3900 ns: from 4000 ns on, and the
/// last one from 4200 ns on. If it holds four, the fifth crosses at 2000 ns, the sixth at 2800 ns and the
/// last at 3000 ns; with six, one after the other.
#[test]
fn an_egress_queue_is_full_when_the_longest_frame_does_not_fit() {
    for (frames, last) in [(3, 4_400), (4, 3_200), (6, 2_600)] {
        let flows = vec![burst(0, 2, 6, 1_020), burst(0, 1, 1, 1_620)];
        let mut spec = full_frames(star_to(3, Rate::from_gbps(8)), flows);
        let egress_queue = Some(Bytes(frames * FRAME));
        spec.switch.fabric = fabric::Spec::InputFifo(input_fifo::Spec {
            cell: CELL,
            egress_queue,
            ..Default::default()
        });
        let (_, sent) = traced(spec);
        assert_eq!(leaves(&sent, 1, 1), ns(last), "{frames}");
    }
}
