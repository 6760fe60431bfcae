//! The congestion point, compared with values computed by hand.

use super::*;
use crate::switch::mechanism::SitePort;

/// The parameters of the standard, without jitter.
fn spec() -> Spec {
    Spec { jitter: 0.0, ..Spec::default() }
}

#[test]
fn feedback_by_hand() {
    let spec = spec();
    // The maximum, 26,000 (2 · 2 + 1) = 130,000 bytes, gives 63.
    for (q, old, feedback) in [
        // At Q_eq and constant, or below it without growing enough: no feedback.
        (26_000, 26_000, 0),
        (0, 0, 0),
        // Below Q_eq and growing: -1 + 2 · 12,998 = 25,995 → 12.6.
        (25_999, 13_001, 12),
        // Twice Q_eq, all of it since the last sample: 26,000 + 2 · 26,000 = 78,000 → 37.8.
        (52_000, 26_000, 37),
        // Twice Q_eq, constant: 26,000 → 12.6.
        (52_000, 52_000, 12),
        // Shrinking: 26,000 - 2 · 13,000 = 0.
        (52_000, 65_000, 0),
        (52_000, 64_999, 0),
        // 130,000 / 63 = 2063.49: the smallest feedback.
        (28_063, 28_063, 0),
        (28_064, 28_064, 1),
        // The largest feedback: from 130,000 on.
        (155_999, 155_999, 62),
        (156_000, 156_000, 63),
        (u64::MAX >> 20, 0, 63),
    ] {
        assert_eq!(spec.feedback(q, old), feedback, "{q} {old}");
    }
    // With another weight: 26,000 + 26,000 / 2 = 39,000 of 26,000 · 2 → 47.25.
    assert_eq!(Spec { w: 0.5, ..spec }.feedback(52_000, 26_000), 47);
}

#[test]
fn intervals_are_those_of_the_pseudo_code() {
    let spec = spec();
    let kilobytes: Vec<f64> = (0..64).step_by(8).map(|fb| spec.interval(fb) / 1e3).collect();
    assert_eq!(kilobytes, [150.0, 75.0, 50.0, 37.5, 30.0, 25.0, 21.5, 18.5]);
    assert_eq!([7, 15, 63].map(|feedback| spec.interval(feedback)), [150e3, 75e3, 18.5e3]);
    // In proportion to the base.
    let spec = Spec { sample_base: Bytes(15_000), ..spec };
    assert_eq!([0, 8, 63].map(|feedback| spec.interval(feedback)), [15e3, 7.5e3, 1.85e3]);
}

/// Frames of 1500 bytes join until there is a message: returns the number of frames and the content
/// of the message.
fn joins(qcn: &mut Qcn, q: u64) -> (u32, u8, i16, i16) {
    for n in 1.. {
        if let Some(Body::Cnm { feedback, offset, delta }) = qcn.sample(0, q, 1_500) {
            return (n, feedback, offset, delta);
        }
    }
    unreachable!()
}

#[test]
fn a_sequence_of_frames_by_hand() {
    let spec = spec();
    let mut qcn = Qcn::new(&spec, &Site::with_ports("switch", 1, &[SitePort::HOST; 1]));
    // 150,000 bytes are 100 frames; the next one is sampled. 52,000 bytes after an empty queue:
    // 26,000 + 104,000 = 130,000 → 63; offset -26,000/64, delta 52,000/64.
    assert_eq!(joins(&mut qcn, 52_000), (101, 63, -406, 812));
    // 18,500 bytes are 12.3 frames. Constant: 12.
    assert_eq!(joins(&mut qcn, 52_000), (13, 12, -406, 0));
    // 75,000 bytes are 50 frames. 40,000: 14,000 - 24,000 < 0, no message; 150,000 later
    // 14,000 → 6.78. The two samples are 51 and 101 frames.
    assert_eq!(joins(&mut qcn, 40_000), (152, 6, -218, 0));
    // Feedback 6 does not change the interval.
    assert_eq!(joins(&mut qcn, 30_000), (202, 1, -62, 0));
    // The other point is not affected.
    assert_eq!((qcn.points[1].old, qcn.points[1].left), (0, 150_000.0));
    // Values that exceed 16 bits saturate.
    let offset = joins(&mut qcn, 10_000_000).2;
    assert_eq!(offset, i16::MIN);
}

#[test]
fn jitter_is_even_and_on_average_none() {
    let spec = Spec::default();
    // Initially the intervals of 10,000 points are 150 KB, plus or minus at most 22.5 KB.
    let qcn = Qcn::new(&spec, &Site::with_ports("switch", 7, &[SitePort::HOST; 1_250]));
    let lefts: Vec<f64> = qcn.points.iter().map(|point| point.left / 1e3).collect();
    assert!(lefts.iter().all(|left| (127.5..172.5).contains(left)));
    let mean = lefts.iter().sum::<f64>() / 1e4;
    // A uniform distribution of 45 KB width has a deviation of 13 KB; that of the mean is 0.13. The
    // bound is five of these.
    assert!((mean - 150.0).abs() < 0.65, "{mean}");
    let low = lefts.iter().filter(|left| **left < 138.75).count();
    // A quarter; five standard deviations are 217.
    assert!((2_283..2_717).contains(&low), "{low}");
}

#[test]
fn queues_that_are_congestion_points() {
    assert!(Spec::default().covers(3));
    let spec = Spec { queues: vec![1], ..Spec::default() };
    assert_eq!([0, 1, 2].map(|queue| spec.covers(queue)), [false, true, false]);
}

#[test]
fn a_message_has_room_for_the_octets_of_the_sampled_frame() {
    // Both addresses, both tags, the type and the FCS add 26 to a PDU of 24 to 88.
    for (octets, expected) in [(0, 64), (14, 64), (15, 65), (64, 26 + 88)] {
        let spec = Spec { header_octets: octets, ..Default::default() };
        assert_eq!(spec.message_bytes(1_518), expected, "{octets}");
    }
    // A frame of 64 octets has 46 after its addresses and type.
    let spec = Spec { header_octets: 64, ..Default::default() };
    assert_eq!(spec.message_bytes(64), 26 + 24 + 46);
}
