//! Headroom in a shared memory, frame by frame.

use crate::common::prompt_pfc;
use crate::common::timeline::*;
use floodway_model::{Bytes, Rate};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::flow_control::pfc;

/// Three frames fit into the pool, and then as many into the headroom of the port as it has by its rate.
/// Ten come at 100 Gb/s while another one, of host 1, is on the wire of 10 Gb/s: what has no room is
/// dropped. No pause comes in time.
#[test]
fn a_port_has_the_headroom_of_its_rate() {
    for (rate, headroom, dropped) in [(100, 4, 3), (100, 2, 5), (100, 8, 0), (40, 4, 6)] {
        let flows = vec![burst(0, 2, 10, 1_050), burst(1, 2, 1, 1_000)];
        let mut spec = full_frames(slow_star(3), flows);
        let frames = |frames: u64| Bytes(frames * FRAME);
        let pool = shared::Pool { pool: frames(3), guaranteed: Bytes(0), alpha: None };
        let rate = Rate::from_gbps(rate);
        spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
            ingress: Some(pool),
            // A share of the pool that is no limit.
            by_rate: vec![shared::OfRate { rate, alpha: 1e6, headroom: frames(headroom) }],
            headroom: frames(1),
            ..Default::default()
        });
        spec.switch.flow_control.pfc = Some(pfc::Spec {
            xoff: frames(1_000),
            measured_on: pfc::MeasuredOn::Ingress,
            lossless: false,
            ..prompt_pfc()
        });
        let (outcome, _) = traced(spec);
        assert_eq!(outcome.counter("dropped_packets"), dropped, "{headroom}");
    }
}
