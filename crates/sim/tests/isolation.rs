//! Congestion Isolation in a network: what is isolated, what is told upstream, and that nothing is
//! ever reordered (checked on every flow of every run by `common::run`).

mod common;

use common::*;
use floodway_model::Duration;
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::switch::flow_control::congestion_isolation::Signal;
use floodway_sim::{Outcome, Simulation, Spec};

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random.
fn busy(signal: Signal) -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch = isolating();
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    isolation.signal = signal;
    // Slow senders down late, so that queues fill and pauses happen.
    let dcqcn = dcqcn::Spec { cnp_interval: Duration::from_us(50), ..Default::default() };
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn));
    spec.end = Duration::from_ms(2);
    spec
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let on = |threads| -> Outcome {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(busy(Signal::Both)).run_with(&run)
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    for counter in ["pause_frames", "marked_packets", "isolations", "cims_received", "cnps_sent"] {
        assert!(one.counter(counter) > 0, "no {counter}: the run proves nothing");
    }
    for threads in [2, 3, 8] {
        let other = on(threads);
        assert_eq!(format!("{:?}", one.tables), format!("{:?}", other.tables), "{threads}");
        assert_eq!(one.fingerprint, other.fingerprint, "{threads} threads");
    }
}

#[test]
fn another_seed_is_another_run() {
    let mut other = busy(Signal::Both);
    other.seed = 2;
    assert_ne!(run(busy(Signal::Both)).fingerprint, run(other).fingerprint);
}

#[test]
fn the_monitored_queue_stays_below_xoff() {
    for signal in [Signal::Off, Signal::Both] {
        let outcome = run(busy(signal));
        let queues = outcome.table("queues");
        let deepest = |number: u64| {
            let rows = queues.u64s("queue").iter().zip(queues.u64s("max_backlog_bytes"));
            *rows.filter(|(queue, _)| **queue == number).map(|(_, max)| max).max().unwrap()
        };
        // Above 300 KB every packet's flow is isolated, so one frame may stick out (deck claim D9:
        // never above XOFF).
        assert!(deepest(0) <= 300_000 + 1086, "{signal:?}: {}", deepest(0));
        assert!(deepest(1) > 300_000, "{signal:?}: {}", deepest(1));
    }
}

#[test]
fn local_isolation_tells_nobody() {
    let outcome = run(busy(Signal::Off));
    assert!(outcome.counter("isolations") > 0);
    assert_eq!(outcome.counter("cims_sent"), 0);
    // Every isolated packet is marked, and nothing else is.
    let queues = outcome.table("queues");
    for row in 0..queues.rows() {
        let (marked, packets) = (queues.u64s("marked_packets")[row], queues.u64s("packets")[row]);
        let expected = if queues.u64s("queue")[row] == 1 { packets } else { 0 };
        assert_eq!(marked, expected);
    }
}

#[test]
fn with_signals_the_congesting_class_is_paused_instead() {
    let paused = |outcome: &Outcome, class: u64| -> f64 {
        let pauses = outcome.table("pauses");
        let rows = pauses.u64s("class").iter().zip(pauses.f64s("paused_ns"));
        rows.filter(|(row, _)| **row == class).map(|(_, ns)| ns).sum()
    };
    // A flow that only this switch isolates still comes in the monitored class, so that is what
    // PFC must stop.
    let local = run(busy(Signal::Off));
    assert!(paused(&local, 0) > paused(&local, 1));
    let signalled = run(busy(Signal::Both));
    assert!(signalled.counter("cims_sent") > 0);
    assert!(paused(&signalled, 0) < paused(&local, 0));
    assert!(paused(&signalled, 1) > paused(&local, 1));
}

#[test]
fn without_pfc_it_still_isolates() {
    let mut spec = busy(Signal::Off);
    spec.switch.flow_control.pfc = None;
    let outcome = run(spec);
    assert!(outcome.counter("isolations") > 0 && outcome.counter("pause_frames") == 0);
    // Deck claim D12: what is lost is lost from the congesting queue only.
    let drops = outcome.table("drops");
    assert!(drops.u64s("queue").iter().all(|&queue| queue == 1));
}

#[test]
fn a_lossless_baseline_marks_by_its_ramp() {
    let mut spec = busy(Signal::Off);
    spec.switch.flow_control.congestion_isolation = None;
    spec.switch.aqm = aqm::Spec::Ramp(Default::default());
    let outcome = run(spec);
    assert!(outcome.counter("marked_packets") > 0);
    assert_eq!(outcome.counter("isolations"), 0);
}

#[test]
fn only_what_is_stored_counts_as_marked() {
    let mut spec = busy(Signal::Off);
    spec.switch.flow_control.pfc = None;
    let outcome = run(spec);
    assert!(outcome.counter("dropped_packets") > 0);
    let queues = outcome.table("queues");
    let rows = queues.u64s("marked_packets").iter().zip(queues.u64s("packets"));
    assert!(rows.clone().all(|(marked, packets)| marked <= packets));
}

#[test]
fn a_nic_sends_in_the_monitored_class_again() {
    // What a CIM does to a NIC ends with the life of its entry: then the NIC is paused in the
    // congesting class for less time than if it stayed there.
    let mut spec = busy(Signal::Both);
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    isolation.cim_entry_life = Duration::from_us(1);
    let short = run(spec);
    let long = run(busy(Signal::Both));
    let charged = |outcome: &Outcome| -> f64 {
        let pauses = outcome.table("pauses");
        let rows = (0..pauses.rows())
            .filter(|&row| pauses.u64s("tier")[row] == 255 && pauses.u64s("class")[row] == 1);
        rows.map(|row| pauses.f64s("paused_ns")[row]).sum()
    };
    assert!(charged(&short) < charged(&long), "{} {}", charged(&short), charged(&long));
}

#[test]
fn a_message_about_acknowledgements_moves_nothing_of_who_sends_them() {
    // Host 1 sends to host 0 by TCP, and two others to host 1: the acknowledgements of host 0 meet their
    // data. It begins no flow, so that there is nothing of its own that a message could be about.
    let flows = [(1, 0), (1, 0), (2, 1), (3, 1)].map(|(src, dst)| flow(src, dst, 3_000_000, 0));
    let mut spec = plain(star(4), flows.into());
    spec.switch = isolating();
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Tcp(Default::default());
        profile.congestion = congestion::Spec::Cubic(Default::default());
    }
    let outcome = run(spec);
    let sent = outcome.counter("cims_sent");
    assert!(sent > 2, "{sent}");
    assert_eq!(outcome.counter("flows_unfinished"), 0);
}
