//! When the feedback of Directional Rate Control is sent, and which severity it carries, to the nanosecond.

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::{Body, Bytes};
use floodway_sim::switch::flow_control::drc;

/// Ports have room for 1000 full frames, and thresholds and hysteresis are in frames. Feedback is about a
/// class in which no host sends, so it changes nothing.
fn law(thresholds: [f64; 3], hysteresis: f64, min_gap_ns: u64) -> drc::Spec {
    drc::Spec {
        thresholds: thresholds.map(|frames| frames / 1_000.0),
        hysteresis: hysteresis / 1_000.0,
        buffer: Some(Bytes(1_000 * FRAME)),
        min_gap: for_ns(min_gap_ns),
        interval: floodway_model::Duration::from_ms(50),
        classes: vec![5],
        ..Default::default()
    }
}

/// A frame of host 0 is on the wire to host 3 from 1000 ns on; then ten frames each come from hosts 1 and
/// 2, at 1020 and 1060 ns and every 100 ns after that. When the k-th pair has come, from k = 0 on, k + 2
/// frames wait, and k + 1 when one has left: at most 11, at 1960 ns. From 2000 ns on there is one less
/// every 100 ns.
///
/// Gives when host 4, to which nothing else is sent, is notified of which severity of the port to host 3.
fn told(law: drc::Spec) -> Vec<(u64, u64)> {
    let flows = vec![burst(0, 3, 1, 1_000), burst(1, 3, 10, 1_020), burst(2, 3, 10, 1_060)];
    let mut spec = full_frames(star(5), flows);
    spec.switch.flow_control.drc = Some(law);
    let (_, sent) = traced(spec);
    let severity = |statuses: u64| statuses >> (62 - 2 * 3) & 3;
    let to_host_4 = sent.iter().filter(|frame| frame.to.0.0 == 4);
    to_host_4
        .filter_map(|frame| match frame.packet.body {
            Body::Drc { statuses, .. } => Some((begun(frame), severity(statuses))),
            _ => None,
        })
        .collect()
}

/// A frame of feedback goes to host 3 too, before the data: 84 bytes on the wire, by which everything after
/// it leaves later.
const FEEDBACK_PS: u64 = 84 * 80;

#[test]
fn a_severity_begins_at_its_threshold_and_ends_below_its_hysteresis() {
    // Five frames wait at 1360 ns, nine at 1760 ns. With 4.5 and a hysteresis of 2 it ends when two are
    // left, at 2800 ns and the time of the frame of feedback that left before. Less than a frame of
    // hysteresis would let it end whenever a frame leaves while the queue grows.
    let never = 1_000.0;
    for (threshold, hysteresis, begins, ends) in [
        (4.5, 2.0, 1_360, 2_800),
        (8.5, 2.0, 1_760, 2_400),
        (4.5, 4.0, 1_360, 3_000),
        (4.5, 1.0, 1_360, 2_700),
    ] {
        let law = law([threshold, never, never], hysteresis, 0);
        let expected = [(ns(begins), 1), (ns(ends) + FEEDBACK_PS, 0)];
        assert_eq!(told(law), expected, "{threshold} {hysteresis}");
    }
}

#[test]
fn feedback_waits_for_the_gap() {
    // Severity 1 from 1160 ns on, when three frames wait, and 2 from 1360 ns on, when five do. With a gap
    // of 500 ns the second is reported at 1660 ns, when it does not change any more. On the wire to host 3 the
    // two frames of feedback leave before the data of 1200 and of 1706.72 ns. With their 13.44 ns, four
    // frames are left at 2613.44 ns, and two 200 ns later, which is reported 500 ns after the former.
    let law = law([2.5, 4.5, 1_000.0], 0.0, 500);
    let late = 2 * FEEDBACK_PS;
    let expected = [(ns(1_160), 1), (ns(1_660), 2), (ns(2_600) + late, 1), (ns(3_100) + late, 0)];
    assert_eq!(told(law), expected);
}
