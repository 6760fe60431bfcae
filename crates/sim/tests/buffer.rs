//! Shared memory in a network: what queues settle at under dynamic thresholds (Choudhury and Hahne,
//! IEEE/ACM ToN 1998), and PFC on the threshold of the ingress.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::congestion;
use floodway_sim::simulation::Run;
use floodway_sim::switch::buffer::{self, per_port, shared};
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::classify;
use floodway_sim::switch::flow_control::pausing::Link;
use floodway_sim::switch::flow_control::pfc::{MeasuredOn, Spec as Pfc};
use floodway_sim::{Outcome, Simulation, Spec};

const FRAME: f64 = 1086.0;

fn shared(
    ingress: Option<shared::Pool>,
    egress: Option<shared::Pool>,
    headroom: u64,
) -> buffer::Spec {
    buffer::Spec::Shared(shared::Spec {
        ingress,
        egress,
        headroom: Bytes(headroom),
        ..Default::default()
    })
}

fn pool(pool: u64, guaranteed: u64, alpha: f64) -> Option<shared::Pool> {
    Some(shared::Pool { pool: Bytes(pool), guaranteed: Bytes(guaranteed), alpha: Some(alpha) })
}

#[test]
fn the_queues_of_a_port_share_its_memory() {
    // Without limits of their own: ten packets and no eleventh, of both queues together. Mice and
    // elephants, told by their sizes, are in one each.
    let flow = |src: u32| flow(src, 0, if src > 2 { 90 * 1024 } else { 1000 * 1024 }, 0);
    let mut spec = plain(star(5), (1..5).map(flow).collect());
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::MiceElephants(Default::default());
    spec.switch.buffer = buffer::Spec::PerPort(per_port::Spec { size: Bytes(10 * 1086 + 1085) });
    spec.end = Duration::from_us(100);
    let outcome = run(spec);
    assert_eq!(outcome.table("switches").u64s("max_port_occupancy_bytes"), [10 * 1086]);
    assert!(drops(&outcome, "queue_full") > 0);
    let queues = outcome.table("queues");
    let max = |queue: usize| queues.u64s("max_backlog_bytes")[queue];
    assert!(max(0) > 0 && max(1) > 0 && max(0) + max(1) >= 10 * 1086);
}

/// Hosts 0 to n - 1 each receive from two senders at line rate, which stop for nothing. What the
/// queues do is spread evenly over the 88.48 ns of a frame: when one has sent a frame it is the next
/// to get one, before the others see the free memory.
fn saturated(queues: u32) -> Spec {
    let mut senders = Vec::new();
    for queue in 0..queues {
        let phase = 88_480 * u64::from(queue) / u64::from(queues);
        for (sender, phase) in [(0, phase), (1, phase + 40_000 / u64::from(queues))] {
            let src = queues + 2 * queue + sender;
            let start = Instant(phase);
            senders.push(FlowSpec { start, ..flow(src, queue, FlowSpec::PERSISTENT, 0) });
        }
    }
    let mut spec = plain(star(3 * queues), senders);
    spec.end = Duration::from_us(400);
    spec.warmup = Duration::from_us(200);
    spec.sample_interval = Duration::from_us(1);
    spec
}

/// Mean and largest backlog of the data queues at the first ports of the only switch.
fn backlogs(outcome: &Outcome, ports: u32) -> Vec<(f64, f64)> {
    let queues = outcome.table("queues");
    let rows = (0..queues.rows()).filter(|&row| queues.u64s("queue")[row] == 0);
    let backlog = |row| {
        let max = queues.u64s("max_backlog_bytes")[row];
        (queues.f64s("mean_backlog_bytes")[row], max as f64)
    };
    rows.map(backlog).take(ports as usize).collect()
}

/// A memory of 150 KB that all queues share without a limit for each.
#[test]
fn complete_sharing_gives_all_to_whoever_comes_first() {
    const POOL: u64 = 150_000;
    let pool = shared::Pool { pool: Bytes(POOL), guaranteed: Bytes(0), alpha: None };
    for n in [1, 2, 5] {
        let mut spec = saturated(n);
        spec.switch.buffer = shared(None, Some(pool.clone()), 0);
        let outcome = Simulation::new(spec).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        assert!(drops(&outcome, "egress_threshold") > 100);
        let most = outcome.table("switches").u64s("max_occupancy_bytes")[0];
        // Frames of 1086 bytes, as many as fit.
        assert_eq!(most, POOL / 1_086 * 1_086, "{n} queues");
        let backlogs = backlogs(&outcome, n);
        if n == 1 {
            assert_eq!(backlogs[0].1, most as f64);
        }
        // Always as full as it can be: only what just leaves is free.
        let mean: f64 = backlogs.iter().map(|backlog| backlog.0).sum();
        assert!(mean > (most - u64::from(n + 1) * 1_086) as f64, "{n} queues: {mean}");
    }
}

#[test]
fn saturated_queues_share_the_pool_evenly_and_leave_the_rest() {
    const POOL: f64 = 400_000.0;
    for alpha in [0.25, 0.5, 1.0, 2.0, 8.0] {
        for n in [1, 2, 3, 7] {
            for guaranteed in [0, 20_000] {
                let mut spec = saturated(n);
                let egress = pool(POOL as u64, guaranteed, alpha);
                spec.switch.buffer = shared(None, egress, 0);
                let outcome = run(spec);
                assert!(drops(&outcome, "egress_threshold") > 1_000);
                let rest = POOL / (1.0 + alpha * f64::from(n));
                let share = guaranteed as f64 + alpha * rest;
                let case = format!("alpha {alpha}, {n} queues, {guaranteed} guaranteed");
                let found = backlogs(&outcome, n);
                for &(mean, max) in &found {
                    assert!((mean - share).abs() < FRAME, "{case}: mean {mean}, not {share}");
                    assert!((max - share).abs() < FRAME, "{case}: max {max}, not {share}");
                }
                let used: f64 = found.iter().map(|(mean, _)| mean - guaranteed as f64).sum();
                let free = POOL - used;
                // Each queue may lack up to a frame, and the rest is what n such frames make of it.
                let frames = f64::max(1.0, f64::from(n) / (1.0 + alpha * f64::from(n)));
                let enough = (free - rest).abs() < frames * FRAME;
                assert!(enough, "{case}: {free} free, not {rest}");
            }
        }
    }
}

#[test]
fn a_latecomer_gets_its_share() {
    // One queue alone has half of the pool, with alpha 1; of two each has a third.
    let mut spec = saturated(2);
    spec.switch.buffer = shared(None, pool(400_000, 0, 1.0), 0);
    for late in spec.flows.iter_mut().filter(|flow| flow.dst.0 == 1) {
        late.start += Duration::from_us(100);
    }
    let found = backlogs(&run(spec), 2);
    assert!((found[0].1 - 200_000.0).abs() < FRAME, "{found:?}");
    for (mean, _) in found {
        assert!((mean - 400_000.0 / 3.0).abs() < FRAME, "{mean}");
    }
}

#[test]
fn ports_share_the_ingress_likewise() {
    // All to one queue, which the egress does not limit: it has what four ports may hold together.
    let flows = (1..=4).map(|src| {
        let start = Instant(u64::from(src) * 20_000);
        FlowSpec { start, ..flow(src, 0, FlowSpec::PERSISTENT, 0) }
    });
    let mut spec = plain(star(5), flows.collect());
    spec.switch.buffer = shared(pool(400_000, 10_000, 0.5), None, 0);
    spec.end = Duration::from_us(400);
    spec.warmup = Duration::from_us(200);
    let outcome = run(spec);
    assert!(drops(&outcome, "ingress_threshold") > 1_000);
    let share = 10_000.0 + 0.5 * 400_000.0 / (1.0 + 0.5 * 4.0);
    let (mean, max) = backlogs(&outcome, 1)[0];
    assert!((mean / 4.0 - share).abs() < FRAME, "{mean} against 4 times {share}");
    assert!((max / 4.0 - share).abs() < FRAME, "{max} against 4 times {share}");
}

fn pfc() -> Pfc {
    Pfc {
        measured_on: MeasuredOn::IngressPool,
        response: Some(Duration::from_ns(100)),
        ..prompt_pfc()
    }
}

fn headroom() -> Bytes {
    let link = Link {
        rate: GBPS_100,
        delay: NS_200,
        lossless_classes: 1,
        smallest_frame: 64,
        largest_frame: 1086,
        wire_overhead: 20,
        latency: Duration::ZERO,
        cell: Cell::default(),
    };
    link.headroom(pfc().response.unwrap())
}

/// Hosts 1 to 200 send to host 0 as fast as they can; hosts 201 to 400 keep the wires back to them
/// busy, so that a pause frame may find a full frame in its way.
fn incast(ingress: Option<shared::Pool>, headroom: Bytes) -> Spec {
    const SENDERS: u32 = 200;
    let persistent = |src, dst| flow(src, dst, FlowSpec::PERSISTENT, 0);
    let to_one = (1..=SENDERS).map(|src| persistent(src, 0));
    let back = (1..=SENDERS).map(|dst| persistent(SENDERS + dst, dst));
    let mut spec = plain(star(2 * SENDERS + 1), to_one.chain(back).collect());
    spec.switch.buffer = shared(ingress, None, headroom.0);
    spec.switch.flow_control.pfc = Some(pfc());
    spec.end = Duration::from_us(200);
    spec
}

/// A pool too small for a frame: each port has its guarantee and its headroom, whose first frame is
/// the one that sends the pause.
fn guarantee_only() -> Option<shared::Pool> {
    pool(1, 20_000, 1.0)
}

#[test]
fn nothing_is_lost_with_the_computed_headroom() {
    for ingress in [guarantee_only(), pool(3_000_000, 10_000, 0.5), pool(1_000_000, 2_000, 8.0)] {
        let outcome = run(incast(ingress, headroom()));
        assert!(outcome.counter("xoff_frames") >= 200);
        assert!(outcome.counter("xon_frames") > 0);
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
}

#[test]
fn one_frame_less_loses() {
    let spec = incast(guarantee_only(), headroom() - Bytes(1086));
    let outcome = Simulation::new(spec).run();
    let lost = outcome.counter("dropped_packets");
    assert!(lost > 0);
    assert_eq!(drops(&outcome, "headroom_exceeded"), lost);
    let lossless = format!("switch: {lost} packets of lossless classes were dropped");
    assert_eq!(outcome.violations, [lossless]);
}

#[test]
fn the_first_pauses_come_at_the_threshold_to_the_picosecond() {
    // Two hosts send to a third, from 0 on. The n-th frames of both arrive after 200 + 88.48 n ns,
    // just when the wire takes another one; the first passes. So n wait, of which the second port
    // holds the half, rounded up. A pool of 100 frames, alpha 1: with 67, the second port holds 34
    // and 33 are free, so it is paused; with 66 it held 33 and 34 were free. One frame later the
    // first port holds 34 too, with at most 33 free.
    let after = |ps: u64| {
        let flows = [1, 2].map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0));
        let mut spec = plain(star(3), flows.to_vec());
        spec.switch.buffer = shared(pool(100 * 1_086, 0, 1.0), None, headroom().0);
        spec.switch.flow_control.pfc = Some(pfc());
        spec.end = Duration(ps);
        let outcome = run(spec);
        outcome.table("pauses").u64s("xoff_frames").to_vec()
    };
    let arrival = |n: u64| 200_000 + n * 88_480;
    // Rows are of the three hosts, then of the ports of the switch.
    assert_eq!(after(arrival(67) - 1), [0; 6]);
    assert_eq!(after(arrival(67) + 1), [0, 0, 0, 0, 0, 1]);
    assert_eq!(after(arrival(68) - 1), [0, 0, 0, 0, 0, 1]);
    assert_eq!(after(arrival(68) + 1), [0, 0, 0, 0, 1, 1]);
}

#[test]
fn paused_ports_hold_what_the_formula_gives() {
    // The switch of the deck's fairness runs: 19 to one of 20 ports. Each stops at 50 KB and
    // 0.5 * 9 MB / (1 + 0.5 * 19), and no more comes than has headroom.
    let flows = (1..20).map(|src| flow(src, 0, FlowSpec::PERSISTENT, u64::from(src) * 4));
    let mut spec = plain(star(20), flows.collect());
    let (ingress, egress) = (pool(9_000_000, 50_000, 0.5), pool(16_000_000, 50_000, 2.0));
    spec.switch.buffer = shared(ingress, egress, 350_000);
    spec.switch.flow_control.pfc = Some(pfc());
    spec.end = Duration::from_us(400);
    let outcome = run(spec);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    let share = 50_000.0 + 0.5 * 9e6 / (1.0 + 0.5 * 19.0);
    let each = backlogs(&outcome, 1)[0].1 / 19.0;
    assert!(each > share - FRAME, "{each} against {share}");
    assert!(each < share + headroom().0 as f64, "{each} against {share}");
}

#[test]
fn what_the_egress_refuses_of_a_lossless_class_is_a_violation() {
    let flows = (1..20).map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(20), flows.collect());
    let (ingress, egress) = (pool(9_000_000, 50_000, 0.5), pool(1_000_000, 50_000, 2.0));
    spec.switch.buffer = shared(ingress, egress, 350_000);
    spec.switch.flow_control.pfc = Some(pfc());
    spec.end = Duration::from_us(100);
    let outcome = Simulation::new(spec).run();
    let lost = drops(&outcome, "egress_threshold");
    assert!(lost > 0);
    let lossless = format!("switch: {lost} packets of lossless classes were dropped");
    assert_eq!(outcome.violations, [lossless]);
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let on = |threads, lossless: bool| -> Outcome {
        let mut spec = plain(clos(8, 4, 4), busy_flows());
        let ingress = if lossless { pool(300_000, 10_000, 0.5) } else { None };
        let egress = if lossless { pool(4_000_000, 10_000, 2.0) } else { pool(300_000, 0, 1.0) };
        spec.switch.buffer = shared(ingress, egress, 20_000);
        spec.switch.flow_control.pfc = lossless.then(pfc);
        control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        spec.end = Duration::from_ms(1);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(spec).run_with(&run)
    };
    for lossless in [true, false] {
        let one = on(1, lossless);
        assert_eq!(one.violations, Vec::<String>::new());
        let acts = if lossless { "pause_frames" } else { "dropped_packets" };
        assert!(one.counter(acts) > 100, "{acts}: the run proves nothing");
        for threads in [2, 3] {
            let other = on(threads, lossless);
            assert_eq!(one.fingerprint, other.fingerprint, "{threads} threads");
        }
    }
}
