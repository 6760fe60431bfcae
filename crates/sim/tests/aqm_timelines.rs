//! What queue managements remember from one burst to the next, by what they mark. A burst of full frames
//! comes to a port of 10 Gb/s at 100 Gb/s, so that frame k arrives after 100 k ns, leaves after 1000 k ns
//! and has waited for 900 k ns.

use crate::common::overload::two_queues;
use crate::common::timeline::*;
use floodway_model::line::{Framing, Line};
use floodway_model::{Bytes, Ecn, FlowSpec, Rate};
use floodway_sim::Sent;
use floodway_sim::Spec;
use floodway_sim::host::transport::udp;
use floodway_sim::switch::aqm::{self, codel, curvy_red, pie};
use floodway_sim::switch::classify::ecn::Scalable;
use floodway_sim::switch::discipline::{self, cake, fq_codel};

/// Bursts of host 0 to host 1, ECN-capable.
fn bursts(aqm: aqm::Spec, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = full_frames(slow_star(2), flows);
    spec.profiles = vec![datagrams_of(PAYLOAD, udp::Field::Ect0); 2];
    spec.switch.aqm = aqm;
    spec
}

/// Which frames of a flow arrive with a mark.
fn marked(sent: &[Sent], flow: u32) -> Vec<usize> {
    let frames = data_to(sent, 1, flow).enumerate();
    frames.filter(|(_, frame)| frame.packet.ecn() == Ecn::Ce).map(|(k, _)| k).collect()
}

/// CoDel with a target of 5 us and an interval of 20 us. Frame 6 is the first that has waited for 5 us, and
/// 20 us later, with frame 26, it begins to mark. The next mark is due after 20 us, and each further one
/// after 20 us / sqrt(count): at 46, 60.1, 71.7, 81.7, 90.6 and 98.8 us, when no more than a frame is left
/// behind. So the count is 6.
///
/// The second burst begins to mark with its frame 26 too, less than 16 intervals after the mark that was
/// due. So the count begins with the 6 - 1 that were marked beyond the first (RFC 8289, section 5.5): marks
/// are due 20 us / sqrt(5) later, and so on: at 34.9, 43.1, 50.7, 57.7 and 64.4 us, when all 64 frames have
/// left.
///
/// After more than 16 intervals it begins with 1.
#[test]
fn codel_goes_on_at_the_rate_at_which_it_stopped() {
    let spec =
        codel::Spec { target: for_ns(5_000), interval: for_ns(20_000), ..Default::default() };
    for (second_at, expected) in [(111_000, &[26, 35, 44, 51, 58][..]), (411_000, &[26, 46, 61])] {
        let flows = vec![burst(0, 1, 100, 1_000), burst(0, 1, 64, second_at)];
        let (_, sent) = traced(bursts(aqm::Spec::Codel(spec.clone()), flows));
        assert_eq!(marked(&sent, 0), [26, 46, 61, 72, 82, 91]);
        assert_eq!(marked(&sent, 1), expected);
    }
}

/// FQ-CoDel with the same numbers and two bursts at the same time from two hosts, one frame a round. Frame k of the first
/// flow leaves after 2000 k ns and has waited for 1900 k ns, so that frame 3, at 6 us, is the first that has waited for 5 us.
/// Frame 13 leaves 20 us later and has the first mark. Marks are due 20 us later, at 46, and then after 20 us / sqrt(n), n =
/// 2, 3, ...: at 60.1, 71.7, 81.7, 90.6, 98.8, 106.4, 113.4, 120.1, 126.4, 132.5, 138.2, 143.8, 149.1, 154.3, 159.3, 164.1,
/// 168.8, 173.4, 177.9, 182.3, 186.5 and 190.7 us, and each is that of the frame that leaves next, at an even number of
/// microseconds. The other flow has the same times, a frame later. One CoDel for all frames would mark half as many of each.
#[test]
fn fq_codel_has_the_control_law_in_each_flow() {
    let expected = [
        13, 23, 31, 36, 41, 46, 50, 54, 57, 61, 64, 67, 70, 72, 75, 78, 80, 83, 85, 87, 89, 92, 94,
        96,
    ];
    let flows = vec![burst(0, 2, 100, 1_000), burst(1, 2, 100, 1_000)];
    let mut spec = full_frames(slow_star(3), flows);
    spec.profiles = vec![datagrams_of(PAYLOAD, udp::Field::Ect0); 2];
    spec.switch.queue.discipline = discipline::Spec::FqCodel(fq_codel::Spec {
        quantum: Bytes(FRAME),
        target: for_ns(5_000),
        interval: for_ns(20_000),
        ..Default::default()
    });
    let (_, sent) = traced(spec);
    for flow in [0, 1] {
        let frames = data_to(&sent, 2, flow).enumerate();
        let marked: Vec<usize> =
            frames.filter(|(_, frame)| frame.packet.ecn() == Ecn::Ce).map(|(k, _)| k).collect();
        assert_eq!(marked, expected, "{flow}");
    }
}

/// CAKE's shaper on a link of 10 Gb/s: 1230 bytes of a frame are 1212 of an IP packet and with 38 of Ethernet 1250 on the
/// line, 10 us at 1 Gb/s. As 1,212 bytes of PTM, without overhead, they have 19 more: 1231, 9.848 us. The first frame leaves
/// when it arrives.
#[test]
fn a_shaper_makes_the_port_wait() {
    for (line, framing, ns) in
        [(Line::Ethernet, None, 10_000), (Line::BridgedPtm, Some(Framing::Ptm), 9_848)]
    {
        let overhead = framing.map(|_| 0);
        let mut spec = full_frames(slow_star(2), vec![burst(0, 1, 50, 1_000)]);
        let rate = Some(Rate::from_gbps(1));
        let shaped = cake::Spec { rate, line, overhead, framing, ..Default::default() };
        spec.switch.queue.discipline = discipline::Spec::Cake(shaped);
        let (_, sent) = traced(spec);
        let times: Vec<u64> = data_to(&sent, 1, 0).map(|frame| frame.at.0).collect();
        assert_eq!((times.len(), times[0]), (50, 1_000_000));
        for (k, time) in times.iter().enumerate() {
            assert_eq!(*time, 1_000_000 + k as u64 * ns * 1_000, "{line:?}: frame {k}");
        }
    }
}

/// PIE that is updated every 100 us. At the first update frame 89 has left, at 99.5 us, which had waited
/// for 80.1 us: with 15000000 / s of that, of which a probability of 0 takes 1/2048, it is 0.587. The burst
/// ends at 160.5 us. From the third update on the delay is 0, now and before, and each leaves 0.98 of the
/// probability (RFC 8033, section 4.2). What it falls by itself, 15000000 / s of the target of 2 ps, is
/// 3e-5 each time.
///
/// The second burst comes after n of these, within 100 us. Marks are at least 0.85 / p packets apart
/// (section 5.4), and from there on every packet has a mark with probability p: 2 + 1/p with 0.283 < p <
/// 0.425, and with 0.425 < p < 0.85 1 + 1/p. The first four find no more than two frames. Five standard
/// deviations of the number are 5 sqrt(packets (1 - p) / p^2 / distance^3).
#[test]
fn pie_forgets_by_a_fiftieth_in_each_quiet_update() {
    let spec = pie::Spec {
        target: floodway_model::Duration(2),
        tupdate: for_ns(100_000),
        alpha: 15e6,
        beta: 0.0,
        max_burst: for_ns(0),
        ecn: true,
        mark_ecnth: 1.0,
    };
    for quiet in [0, 34] {
        let second_at = 201_000 + 100_000 * quiet;
        let flows = vec![burst(0, 1, 150, 10_500), burst(0, 1, 404, second_at)];
        let (_, sent) = traced(bursts(aqm::Spec::Pie(spec.clone()), flows));
        assert_eq!(marked(&sent, 0), [0; 0]);
        let p = 15e6 * 80.1e-6 / 2_048.0 * 0.98_f64.powi(quiet as i32);
        let distance = (0.85 / p).ceil() - 1.0 + 1.0 / p;
        let sigma = (400.0 * (1.0 - p) / p.powi(2) / distance.powi(3)).sqrt();
        let found = marked(&sent, 1).len() as f64;
        let expected = 400.0 / distance;
        assert!((found - expected).abs() < 5.0 * sigma, "{quiet}: {found} {expected} {sigma}");
    }
}

/// A full scale of more than a second: at 10 Mb/s frame k leaves after k ms and has waited for as long. It
/// is marked with the square of that over 2^1 s (RFC 9332, appendix B).
#[test]
fn curvy_red_has_a_scale_of_seconds() {
    let frames = 1_500;
    let curvy = curvy_red::Spec { s_c: 1, f_c: 0, ..Default::default() };
    let mut spec = bursts(aqm::Spec::CurvyRed(curvy), vec![burst(0, 1, frames, 1_000)]);
    spec.graph = star_to(2, Rate::from_mbps(10));
    two_queues(&mut spec, Scalable::Ect1);
    (spec.end, spec.sample_interval) = (for_ns(2_000_000_000), for_ns(10_000_000));
    let (_, sent) = traced(spec);
    let p = (0..frames).map(|k| (k as f64 / 2_000.0).powi(2));
    let expected: f64 = p.clone().sum();
    let sigma = p.map(|p| p * (1.0 - p)).sum::<f64>().sqrt();
    let found = marked(&sent, 0).len() as f64;
    assert!((found - expected).abs() < 5.0 * sigma, "{found} {expected} {sigma}");
}
