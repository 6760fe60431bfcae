//! Headroom and pools in a shared memory, frame by frame.

use crate::common::prompt_pfc;
use crate::common::timeline::*;
use floodway_model::{Body, Bytes, Rate};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::cell::Cell;
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

/// A pool of five frames where the switch is named and of three elsewhere, on either side. Ten come as
/// above; what has no room is dropped.
#[test]
fn a_switch_has_the_pools_of_its_name() {
    let frames = |frames: u64| Bytes(frames * FRAME);
    for of_ingress in [true, false] {
        for (name, dropped) in [("switch", 5), ("another", 7)] {
            let flows = vec![burst(0, 2, 10, 1_050), burst(1, 2, 1, 1_000)];
            let mut spec = full_frames(slow_star(3), flows);
            let pool = shared::Pool { pool: frames(3), guaranteed: Bytes(0), alpha: None };
            let other = Some(frames(5));
            let own = shared::OfSwitches {
                switches: vec![name.to_owned()],
                ingress_pool: other.filter(|_| of_ingress),
                egress_pool: other.filter(|_| !of_ingress),
                headroom_pool: None,
            };
            spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
                ingress: of_ingress.then_some(pool.clone()),
                egress: (!of_ingress).then_some(pool),
                by_switch: vec![own],
                ..Default::default()
            });
            let (outcome, _) = traced(spec);
            assert_eq!(outcome.counter("dropped_packets"), dropped, "{name}, {of_ingress}");
        }
    }
}

/// Eight frames come while a port may hold five and the others go into its headroom. The sixth pauses the
/// sender. One leaves every microsecond from 1050 ns on, so after `offset` fewer than five are left, that is
/// with frame 3 + `offset`, the sender may go on.
#[test]
fn xon_is_an_offset_below_the_threshold_of_the_pool() {
    let frames = |frames: u64| Bytes(frames * FRAME);
    for offset in [1, 2, 4] {
        let mut spec = full_frames(slow_star(2), vec![burst(0, 1, 8, 1_050)]);
        // A share of the pool that is next to nothing.
        let pool = shared::Pool { pool: frames(100), guaranteed: frames(5), alpha: Some(1e-9) };
        spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
            ingress: Some(pool),
            headroom: frames(10),
            ..Default::default()
        });
        spec.switch.flow_control.pfc = Some(pfc::Spec {
            measured_on: pfc::MeasuredOn::IngressPool,
            xon_offset: frames(offset),
            ..prompt_pfc()
        });
        let (_, sent) = traced(spec);
        let of = |is_xoff: bool| {
            let mine = sent.iter().filter(move |frame| {
                matches!(frame.packet.body, Body::Pfc { quanta, .. } if (quanta > 0) == is_xoff)
            });
            mine.map(begun).collect::<Vec<u64>>()
        };
        // The first frame is at the switch at 1050 ns, and on its wire; the seventh is the sixth that waits.
        assert_eq!(of(true), [ns(1_650)], "XOFF");
        assert_eq!(of(false), [ns(1_050 + (2 + offset) * 1_000)], "XON {offset}");
    }
}

/// Four senders begin at the same time, and the receiver is so slow that nothing leaves. A port holds five
/// frames; the sixth is the first in its headroom and pauses the sender. The pause frame takes 6.72 ns and the
/// link 200 ns each way. When the sixth frame is at the switch, its sender has begun two more, and until
/// it obeys it begins three more: 4.07 frames of 100 ns, and the one that it finishes. So each has six frames
/// in its headroom, all at the same time. The first frame goes onto the idle wire; its sender has everything
/// one frame later.
#[test]
fn a_pool_of_headroom_has_a_peak_that_adds_up() {
    const SENDERS: u64 = 4;
    for (cell, occupied) in [(1, FRAME), (100, 1_300)] {
        let frames = |frames: u64| Bytes(frames * occupied);
        let peak = SENDERS * 6 * occupied;
        // Each may have ten frames of it, so with all five ports it is oversubscribed.
        for (pool, lost) in [(peak + 1, 0), (peak, 0), (peak - cell, 1), (peak - occupied, 1)] {
            let flows = (0..4).map(|src| burst(src, 4, 40, 1_000)).collect();
            let mut spec = full_frames(star_to(5, Rate::from_mbps(1)), flows);
            spec.switch.cell = Cell::of(cell as u16);
            let ingress =
                shared::Pool { pool: frames(100), guaranteed: frames(5), alpha: Some(1e-9) };
            spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
                ingress: Some(ingress),
                headroom: frames(10),
                headroom_pool: Some(Bytes(pool)),
                ..Default::default()
            });
            spec.switch.flow_control.pfc = Some(pfc::Spec {
                measured_on: pfc::MeasuredOn::IngressPool,
                lossless: false,
                ..prompt_pfc()
            });
            let (outcome, _) = traced(spec);
            assert_eq!(outcome.counter("dropped_packets"), lost, "{pool}");
            let drops = outcome.table("drops");
            assert!(drops.texts("reason").iter().all(|reason| reason == "headroom_exceeded"));
            let table = outcome.table("headroom");
            let of = |column| table.u64s(column).to_vec();
            assert_eq!(of("max_bytes"), [peak - lost * occupied], "{pool}");
            assert_eq!(of("pool_bytes"), [pool]);
            assert_eq!(of("of_all_bytes"), [5 * 10 * occupied]);
            // It is in use until the end.
            assert_eq!(of("episodes"), [1]);
        }
    }
}

/// Without a limit for all, nothing is recorded and nothing is lost: each has its headroom to itself.
#[test]
fn without_a_pool_each_has_its_headroom_to_itself() {
    let flows = (0..4).map(|src| burst(src, 4, 40, 1_000)).collect();
    let mut spec = full_frames(star_to(5, Rate::from_mbps(1)), flows);
    let frames = |frames: u64| Bytes(frames * FRAME);
    let ingress = shared::Pool { pool: frames(100), guaranteed: frames(5), alpha: Some(1e-9) };
    spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
        ingress: Some(ingress),
        headroom: frames(6),
        ..Default::default()
    });
    let measured_on = pfc::MeasuredOn::IngressPool;
    spec.switch.flow_control.pfc = Some(pfc::Spec { measured_on, ..prompt_pfc() });
    let (outcome, _) = traced(spec);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    assert_eq!(outcome.table("headroom").rows(), 0);
}

/// The switch of this name has a pool that is a frame too small, the others one that is large enough.
#[test]
fn a_switch_has_the_headroom_pool_of_its_name() {
    for (name, lost) in [("switch", 1), ("another", 0)] {
        let flows = (0..4).map(|src| burst(src, 4, 40, 1_000)).collect();
        let mut spec = full_frames(star_to(5, Rate::from_mbps(1)), flows);
        let frames = |frames: u64| Bytes(frames * FRAME);
        let ingress = shared::Pool { pool: frames(100), guaranteed: frames(5), alpha: Some(1e-9) };
        let own = shared::OfSwitches {
            switches: vec![name.to_owned()],
            ingress_pool: None,
            egress_pool: None,
            headroom_pool: Some(frames(23)),
        };
        spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
            ingress: Some(ingress),
            headroom: frames(6),
            headroom_pool: Some(frames(24)),
            by_switch: vec![own],
            ..Default::default()
        });
        spec.switch.flow_control.pfc = Some(pfc::Spec {
            measured_on: pfc::MeasuredOn::IngressPool,
            lossless: false,
            ..prompt_pfc()
        });
        let (outcome, _) = traced(spec);
        assert_eq!(outcome.counter("dropped_packets"), lost, "{name}");
    }
}
