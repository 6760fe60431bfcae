//! Queue management in a whole switch: what departs is judged, what is dropped there leaves no trace
//! in the books, and a reader could work out when.

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec};
use floodway_sim::host::congestion;
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, bernoulli, codel, pie, red};
use floodway_sim::switch::classify;
use floodway_sim::{Outcome, Simulation, Spec};

/// CoDel for a network of microseconds.
fn codel(ecn: bool) -> aqm::Spec {
    let (target, interval) = (Duration::from_us(1), Duration::from_us(10));
    aqm::Spec::Codel(codel::Spec { target, interval, ecn, ce_threshold: None })
}

/// PIE for the same.
fn pie(ecn: bool) -> aqm::Spec {
    let us = Duration::from_us;
    let (target, tupdate, max_burst) = (us(5), us(5), us(20));
    let (alpha, beta) = (400.0, 4_000.0);
    aqm::Spec::Pie(pie::Spec { target, tupdate, max_burst, alpha, beta, ecn, ..Default::default() })
}

/// RED for a queue of some ten packets.
fn red(ecn: bool) -> aqm::Spec {
    aqm::Spec::Red(red::Spec {
        limit: Bytes(400_000),
        min: Bytes(10_000),
        max: Bytes(100_000),
        burst: 20,
        bandwidth: floodway_model::Rate::from_mbps(30_000),
        ecn,
        ..Default::default()
    })
}

/// Two hosts send all they can to a third until the end.
fn overload(aqm: aqm::Spec, end: Duration) -> Spec {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    (spec.end, spec.departures, spec.switch.aqm) = (end, true, aqm);
    spec
}

#[test]
fn codel_drops_as_often_as_the_square_root_says() {
    // The queue grows from 0.3 us on. Its head has waited for 1 us when 23 packets have left, at 2.3
    // us, and 10 us later the first one is dropped. Drop n comes 10 us/sqrt(n) after the one before,
    // and 10 us (2 sqrt(n) - 1.46) after the first: 987.7 us for n = 2511; 0.1 us are 5 of them.
    let dropping = run(overload(codel(false), Duration::from_ms(1)));
    let dropped = drops(&dropping, "aqm");
    assert!((2_500..2_522).contains(&dropped), "{dropped}");
    assert_eq!(dropping.counter("marked_packets"), 0);
    // What is dropped at the head costs no time: the link is full all the same, with data packets.
    let sent = dropping.table("sojourns").u64s("departures")[0];
    assert!((11_270..=11_303).contains(&sent), "{sent}");
    // Marks come at the same times.
    let marking = run(overload(codel(true), Duration::from_ms(1)));
    let marked = marking.counter("marked_packets");
    assert!(marked.abs_diff(dropped) < 10, "{marked} and {dropped}");
    assert_eq!(drops(&marking, "aqm"), 0);
}

#[test]
fn a_constant_probability_is_that_of_the_marks() {
    let spec = bernoulli::Spec { probability: 0.25 };
    let outcome = run(overload(aqm::Spec::Bernoulli(spec), Duration::from_ms(1)));
    // Of 22600 packets: 5650 +- 65, five of them.
    let table = outcome.table("queues");
    let joined = table.u64s("packets").iter().max().unwrap();
    let marked = outcome.counter("marked_packets");
    assert!(marked.abs_diff(joined / 4) < 325, "{marked} of {joined}");
}

#[test]
fn a_lossless_class_may_be_marked_or_thinned_but_never_stops() {
    for aqm in [codel(false), codel(true), pie(true), red(true)] {
        let mut spec = plain(clos(4, 2, 4), (1..12).map(|src| flow(src, 0, 300_000, 0)).collect());
        spec.switch.aqm = aqm;
        spec.switch.flow_control.pfc = Some(prompt_pfc());
        spec.switch.queue.size = Bytes(2_000_000);
        let outcome = run(spec);
        assert_eq!(outcome.counter("flows_unfinished"), 0);
        assert_eq!(drops(&outcome, "queue_full"), 0);
        assert!(outcome.counter("marked_packets") + drops(&outcome, "aqm") > 0);
    }
}

/// Short and long flows and an incast that never ends, in two queues that share links by weight.
fn busy(aqm: aqm::Spec) -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch.queue.count = 2;
    spec.switch.queue.size = Bytes(200_000);
    spec.switch.classify = classify::Spec::DestinationHash(Default::default());
    spec.switch.aqm = aqm;
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    spec.end = Duration::from_ms(4);
    spec
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    for aqm in [codel(false), pie(false), red(false)] {
        let on = |threads| -> Outcome {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let run = Run { threads, stop: &stop, watch: &|_| {} };
            Simulation::new(busy(aqm.clone())).run_with(&run)
        };
        let one = on(1);
        assert_eq!(one.violations, Vec::<String>::new());
        assert!(drops(&one, "aqm") > 0, "{}", aqm.name());
        for threads in [2, 3] {
            assert_eq!(one.fingerprint, on(threads).fingerprint, "{threads} threads");
        }
    }
}

#[test]
fn a_delay_is_kept_near_its_target() {
    // PIE marks and DCQCN obeys; without it the queue of the same flows is as long as it may be.
    let mean = |aqm| {
        let flows = [0, 1, 2, 3].map(|src| flow(src, 4, FlowSpec::PERSISTENT, 0));
        let mut spec = plain(star(5), flows.to_vec());
        (spec.switch.aqm, spec.departures) = (aqm, true);
        control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
        (spec.warmup, spec.end) = (Duration::from_ms(20), Duration::from_ms(40));
        spec.switch.queue.size = Bytes(1_000_000);
        run(spec).table("sojourns").f64s("mean_sojourn_ns")[0]
    };
    let (with, without) = (mean(pie(true)), mean(aqm::Spec::default()));
    // A full queue of 1 MB takes 80 us.
    assert!(without > 70_000.0, "{without}");
    assert!((500.0..15_000.0).contains(&with), "{with}");
}
