//! Properties of the parameters of every transport.

use floodway_model::packet::length;

use super::{Full, Spec};

#[test]
fn frames_carry_their_payload_and_are_as_long_as_said() {
    for spec in Spec::all() {
        let Full { overhead, .. } = spec.full();
        assert_eq!(u64::from(spec.largest_frame()), spec.payload() + overhead, "{}", spec.name());
        let lengths: Vec<u16> = (1..=spec.payload()).map(|payload| spec.frame(payload)).collect();
        assert!(lengths.is_sorted() && lengths[0] >= spec.shortest_frame(), "{}", spec.name());
        assert!(spec.shortest_frame() <= length::SHORTEST_FRAME, "{}", spec.name());
        let others = [Some(spec.answer_frame()), spec.handshake_frame()];
        let shorter = |frame: u16| frame < spec.shortest_frame() || frame > spec.largest_frame();
        assert!(!others.into_iter().flatten().any(shorter), "{}", spec.name());
    }
}

#[test]
fn the_usual_congestion_control_hears_what_it_needs() {
    for spec in Spec::all() {
        assert!(spec.reports(spec.usual_control().needs()), "{}", spec.name());
        assert!(spec.initial_window() > 0, "{}", spec.name());
        assert!(spec.repeats() || spec.recovery().is_none(), "{}", spec.name());
    }
}
