//! Dual queues and coupled queue management in whole simulations. RoCEv2 sends ECT(0), which is
//! classic by RFC 9331 and for low latency by the deck.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::Duration;
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, coupled, curvy_red, dualpi2, dualq, pi2};
use floodway_sim::switch::classify::ecn::{self, Scalable};
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Simulation, Spec};

fn two_queues(spec: &mut Spec, low_latency: Scalable, aqm: aqm::Spec) {
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::Ecn(ecn::Spec { low_latency });
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
    spec.switch.aqm = aqm;
}

/// Marks in the data queues of the port to host 2.
fn marked(outcome: &Outcome) -> Vec<u64> {
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("marked_packets"));
    rows.filter(|(port, _)| **port == 2).map(|(_, marked)| *marked).collect()
}

/// Hosts 0 and 1 send ten packets each to host 2, all at once: packet n waits for n - n/2 others.
fn incast(low_latency: Scalable, aqm: dualq::Spec) -> Vec<u64> {
    let mut spec = plain(star(3), vec![flow(0, 2, 10 * 1024, 0), flow(1, 2, 10 * 1024, 0)]);
    two_queues(&mut spec, low_latency, aqm::Spec::DualQ(aqm));
    marked(&run(spec))
}

#[test]
fn the_low_latency_queue_is_marked_above_its_threshold() {
    // Packets leave 0, 0, 0, 1, 1, 2, 2, ..., 8, 8 and 9 others behind, in some order: more than
    // five are left by 6, 6, 7, 7, 8, 8 and 9.
    assert_eq!(incast(Scalable::EcnCapable, dualq::Spec::default()), [7, 0, 0]);
}

#[test]
fn the_classic_queue_is_judged_by_its_waiting_time() {
    // With 31 bits two nanoseconds are certain: all are marked but the first, which does not wait.
    let steepest = dualq::Spec { s_r: 31, s_d: Some(31), ..Default::default() };
    assert_eq!(incast(Scalable::Ect1, steepest), [0, 19, 0]);
}

/// Five hosts send 43 us of data to another all at once.
fn overload(aqm: aqm::Spec) -> Spec {
    let flows = (1..6).map(|src| flow(src, 0, 500_000, 0)).collect();
    let mut spec = plain(star(6), flows);
    two_queues(&mut spec, Scalable::Ect1, aqm);
    spec
}

fn dropped_by_aqm(outcome: &Outcome) -> u64 {
    let drops = outcome.table("drops");
    let rows = drops.texts("reason").iter().zip(drops.u64s("packets"));
    rows.filter(|(reason, _)| *reason == "aqm").map(|(_, packets)| packets).sum()
}

fn fast_dualpi2(overload: dualpi2::Overload, judged_on: dualpi2::JudgedOn) -> aqm::Spec {
    aqm::Spec::DualPi2(dualpi2::Spec {
        target: Duration::from_us(2),
        update_interval: Duration::from_us(2),
        alpha: 2_000.0,
        beta: 20_000.0,
        overload,
        judged_on,
        ..Default::default()
    })
}

#[test]
fn overload_drops_what_could_be_marked_and_overflow_does_not() {
    use dualpi2::{JudgedOn, Overload};
    for judged_on in [JudgedOn::Departure, JudgedOn::Arrival] {
        let dropping = run(overload(fast_dualpi2(Overload::Drop, judged_on)));
        assert!(dropped_by_aqm(&dropping) > 0);
        let overflowing = run(overload(fast_dualpi2(Overload::Overflow, judged_on)));
        assert_eq!(dropped_by_aqm(&overflowing), 0);
        assert!(overflowing.table("queues").u64s("marked_packets").iter().sum::<u64>() > 100);
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let us = Duration::from_us;
    let aqms = [
        aqm::Spec::Coupled(coupled::Spec {
            full_size: floodway_model::Bytes(500_000),
            ..Default::default()
        }),
        aqm::Spec::Pi2(pi2::Spec {
            target: us(5),
            update_interval: us(3),
            alpha: 2_000.0,
            beta: 20_000.0,
            ..Default::default()
        }),
        aqm::Spec::DualQ(dualq::Spec { s_r: 16, ..Default::default() }),
        aqm::Spec::CurvyRed(curvy_red::Spec { s_c: -14, ..Default::default() }),
        fast_dualpi2(dualpi2::Overload::Drop, dualpi2::JudgedOn::Departure),
    ];
    let schedulers = [
        scheduler::Spec::Strict(Default::default()),
        scheduler::Spec::Wrr(Default::default()),
        scheduler::Spec::TimeShifted(scheduler::time_shifted::Spec { shift: us(5) }),
    ];
    for (number, aqm) in aqms.into_iter().enumerate() {
        let mut spec = overload(aqm);
        spec.switch.scheduler = schedulers[number % 3].clone();
        let on = |threads| {
            let stop = AtomicBool::new(false);
            let run = Run { threads, stop: &stop, watch: &|_| {} };
            let outcome = Simulation::new(spec.clone()).run_with(&run);
            assert_eq!(outcome.violations, Vec::<String>::new());
            outcome
        };
        let one = on(1);
        assert!(one.table("queues").u64s("marked_packets").iter().sum::<u64>() > 0, "{number}");
        assert_eq!(one.fingerprint, on(3).fingerprint, "{number}");
    }
}
