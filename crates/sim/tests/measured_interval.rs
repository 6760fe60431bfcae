//! The measured interval of runs whose work is given in bytes: until it has completed.

use crate::common::timeline::datagrams_of;
use crate::common::{busy_flows, clos, flow, plain, run, star};
use floodway_model::{Duration, FlowId, FlowSpec, Instant, Trigger};
use floodway_sim::host::transport::udp;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};
use std::sync::atomic::{AtomicBool, Ordering};

/// Two flows of workload 0 to host 2, one after the other, and one without a size of workload 1 from
/// host 3 to host 4.
fn spec() -> Spec {
    let mut flows = vec![flow(0, 2, 20_480, 0), flow(1, 2, 20_480, 10_000)];
    flows.push(FlowSpec { workload: 1, ..flow(3, 4, FlowSpec::PERSISTENT, 0) });
    // Another that ends, so that the run goes on.
    flows.push(FlowSpec { workload: 1, ..flow(4, 3, 1_024, 40_000) });
    let mut spec = plain(star(5), flows);
    spec.end = Duration::from_us(50);
    spec.measured_until = Duration::ZERO;
    spec.awaited = vec![true, false];
    spec
}

fn run_on(spec: Spec, threads: usize) -> Outcome {
    let stop = AtomicBool::new(false);
    Simulation::new(spec).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
}

fn fct_ns(outcome: &Outcome, flow: usize) -> f64 {
    outcome.table("flows").f64s("fct_ns")[flow]
}

#[test]
fn it_lasts_until_the_last_awaited_flow_has_completed() {
    let outcome = run(spec());
    // To the end of the window in which it completes: a frame and the delay of a link at most, which
    // is below 0.4 us.
    let (done, measured) = (10_000.0 + fct_ns(&outcome, 1), outcome.counter("measured_ns") as f64);
    assert!(measured >= done - 1.0 && measured < done + 400.0, "{done} {measured}");
    // All of both, and of the one without a size what a link of 100 Gb/s carries until then, give or take what is on
    // its way.
    let other = outcome.counter("persistent_bytes_delivered") as f64;
    assert_eq!(outcome.counter("data_bytes_delivered") as f64 - other, 2.0 * 20_480.0);
    let carried = measured * 12.5 * 1_024.0 / 1_106.0;
    assert!(other > carried - 12_000.0 && other < carried, "{other} {carried}");
}

#[test]
fn it_lasts_at_least_as_long_as_it_is_to() {
    let mut spec = spec();
    spec.measured_until = Duration::from_us(30);
    assert_eq!(run(spec.clone()).counter("measured_ns"), 30_000);
    spec.awaited = Vec::new();
    assert_eq!(run(spec).counter("measured_ns"), 30_000);
}

#[test]
fn it_lasts_to_the_end_of_a_run_that_awaited_flows_do_not_see() {
    let mut spec = spec();
    spec.end = Duration::from_us(11);
    assert_eq!(run(spec).counter("measured_ns"), 11_000);
}

#[test]
fn flows_of_the_warm_up_are_not_awaited() {
    let mut spec = spec();
    // The first is so large that it takes longer than the second.
    spec.flows[0].bytes = 200_000;
    spec.warmup = Duration::from_us(10);
    let outcome = run(spec);
    let second = 10_000.0 + fct_ns(&outcome, 1);
    let until = 10_000.0 + outcome.counter("measured_ns") as f64;
    assert!(fct_ns(&outcome, 0) > second + 1_000.0);
    assert!(until >= second - 1.0 && until < second + 400.0, "{second} {until}");
}

#[test]
fn it_is_the_same_on_any_number_of_threads() {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.end = Duration::from_ms(2);
    spec.measured_until = Duration::from_us(100);
    spec.awaited = vec![false, true];
    let one = run_on(spec.clone(), 1);
    assert!(one.counter("measured_ns") > 1_000_000);
    for threads in [2, 3, 8] {
        assert_eq!(run_on(spec.clone(), threads).fingerprint, one.fingerprint, "{threads}");
    }
}

/// The run ends by its time within the first window of 200 ns; a stop that is asked for while that
/// is simulated comes too late to end it.
#[test]
fn a_stop_in_the_last_window_changes_nothing() {
    let spec = || Spec {
        end: Duration::from_ns(150),
        ..plain(star(2), vec![flow(0, 1, FlowSpec::PERSISTENT, 0)])
    };
    let stop = AtomicBool::new(false);
    let watch = |_: floodway_sim::Progress| stop.store(true, Ordering::Relaxed);
    let stopped = Simulation::new(spec()).run_with(&Run { threads: 1, stop: &stop, watch: &watch });
    let whole = run(spec());
    assert!(stop.load(Ordering::Relaxed));
    assert_eq!((stopped.stop, stopped.simulated), (whole.stop, Instant(150_000)));
    assert_eq!(stopped.fingerprint, whole.fingerprint);
}

/// A packet of 1024 bytes takes 288.48 ns to the switch and as long to host 1, the acknowledgement twice
/// 206.88 ns back: 990.72 ns. The run goes on until the sender knows, and the measured interval still ends
/// with the window in which the last byte arrives, which is shorter than 207 ns.
#[test]
fn the_last_flow_is_acknowledged_and_that_is_not_measured() {
    let mut spec = plain(star(2), vec![flow(0, 1, 1_024, 0)]);
    spec.measured_until = Duration::ZERO;
    let acked = |outcome: &Outcome| outcome.table("flows").f64s("acked_fct_ns")[0];
    let measured = |outcome: &Outcome| outcome.counter("measured_ns") as f64;
    // Nothing is awaited: the run ends with the last byte.
    assert!(acked(&run(spec.clone())).is_nan());
    spec.awaited = vec![true];
    let outcome = run(spec.clone());
    assert_eq!((fct_ns(&outcome, 0), acked(&outcome)), (576.96, 990.72));
    assert!((576.0..784.0).contains(&measured(&outcome)), "{}", measured(&outcome));
    let end = outcome.simulated.0 as f64 / 1e3;
    assert!((990.72..1_198.0).contains(&end), "{end}");
    // Not even if the interval could last longer.
    spec.measured_until = Duration::from_us(30);
    let outcome = run(spec);
    assert_eq!(acked(&outcome), 990.72);
    assert!((576.0..991.0).contains(&measured(&outcome)), "{}", measured(&outcome));
}

/// Datagrams are not acknowledged, so there is nothing to wait for.
#[test]
fn nobody_waits_for_acknowledgements_of_datagrams() {
    let mut spec = plain(star(2), vec![flow(0, 1, 1_000, 0)]);
    spec.profiles = vec![datagrams_of(1_000, udp::Field::NotEct)];
    spec.awaited = vec![true];
    let outcome = run(spec);
    assert_eq!(outcome.stop.name(), "flows_done");
    assert!(fct_ns(&outcome, 0) > 0.0);
}

/// An answer to a question of 1024 bytes arrives in the warm-up, after 1153.92 ns, and is acknowledged after it, at
/// 1567.68 ns, while another flow goes on. Nothing is measured, and nothing is counted.
#[test]
fn nothing_is_measured_of_a_run_whose_work_is_done_in_the_warm_up() {
    let endless = FlowSpec { workload: 1, ..flow(2, 3, FlowSpec::PERSISTENT, 0) };
    let mut spec = plain(star(4), vec![flow(0, 1, 1_024, 0), flow(1, 0, 1_024, 0), endless]);
    let [after, begins] = [0, 1].map(FlowId);
    spec.triggers = vec![Trigger { after, begins, delay: Duration::ZERO }].into();
    spec.warmup = Duration::from_ns(1_400);
    spec.measured_until = Duration::ZERO;
    spec.awaited = vec![true, false];
    let outcome = run(spec);
    assert!(outcome.simulated >= Instant(1_567_680), "{:?}", outcome.simulated);
    for counter in ["measured_ns", "data_packets_sent", "data_bytes_delivered"] {
        assert_eq!(outcome.counter(counter), 0, "{counter}");
    }
}
