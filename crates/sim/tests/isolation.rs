//! Congestion Isolation in a network: what is isolated, what is reported upstream, and that nothing is
//! ever reordered (checked on every flow of every run by `common::run`).

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::switch::aqm::{ramp, step};
use floodway_sim::switch::classify;
use floodway_sim::switch::flow_control::congestion_isolation::{Mark, Signal};
use floodway_sim::{Outcome, Simulation, Spec};

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random.
fn busy(signal: Signal) -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.switch = isolating();
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    isolation.signal = signal;
    // Slow senders down late, so that queues fill and pauses happen.
    let dcqcn = dcqcn::Spec { cnp_interval: Duration::from_us(50), ..quick_dcqcn() };
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

/// One flow of 300 packets of 1086 bytes at 100 Gb/s to a port of 37 Gb/s.
///
/// When packet i comes (i = 1, 2, ...), 37 i / 100 of those before it have left the queue and the
/// first never was in it, so it finds i - 1 - floor(0.37 i): 47 for i = 75, 93 for i = 148.
fn one_fast_flow(mark: Mark, aqm: aqm::Spec) -> Spec {
    let mut graph = Graph::default();
    let hosts = ["sender", "receiver"].map(|name| graph.add(name, NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(hosts[0], switch, GBPS_100, NS_200);
    graph.link(hosts[1], switch, Rate::from_gbps(37), NS_200);
    let mut spec = plain(graph, vec![flow(0, 1, 300 * 1_024, 0)]);
    spec.switch = isolating();
    spec.switch.aqm = aqm;
    spec.switch.flow_control.pfc = None;
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    // A flow is congesting when one of its packets finds more than 92 others.
    isolation.curve = curve(100_000);
    isolation.mark = mark;
    isolation.signal = Signal::Off;
    spec
}

/// Nothing up to a depth, and all above it.
fn curve(depth: u64) -> ramp::Spec {
    ramp::Spec { kmin: Bytes(depth), kmax: Bytes(depth + 1), ..Default::default() }
}

/// Of the egress queues of the port to the receiver: packets, and of these marked ones.
fn marks(outcome: &Outcome) -> [(u64, u64); 2] {
    let queues = outcome.table("queues");
    let at = |queue| {
        let rows = (0..queues.rows()).filter(|&row| queues.u64s("queue")[row] == queue);
        let of = |row: usize| (queues.u64s("packets")[row], queues.u64s("marked_packets")[row]);
        rows.map(of).fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1))
    };
    [at(0), at(1)]
}

#[test]
fn who_marks_isolated_packets_is_a_choice() {
    // Marks what finds more than 46 packets. In the monitored queue that is packets 75 to 147. Packet
    // 148 and the 151 after it are isolated; the monitored queue has 93 packets left, and 152 packets
    // at 100 Gb/s come in the time in which 56 leave, so that none of the isolated ones leaves before
    // the last one has come: all but the first 47 find more than 46.
    let step = aqm::Spec::Step(step::Spec { threshold: Bytes(50_000) });
    let choices = [(Mark::None, 0), (Mark::Aqm, 152 - 47), (Mark::Detected, 152), (Mark::All, 152)];
    for (mark, isolated) in choices {
        let beside = run(one_fast_flow(mark, step.clone()));
        assert_eq!(marks(&beside), [(148, 73), (152, isolated)], "{mark:?}");
        let alone = run(one_fast_flow(mark, aqm::Spec::default()));
        let by_isolation = if isolated == 152 { 152 } else { 0 };
        assert_eq!(marks(&alone), [(148, 0), (152, by_isolation)], "{mark:?}");
    }
}

#[test]
fn queue_management_may_judge_what_leaves_both_queues() {
    // Marks what leaves more than 46 packets behind it. Of the monitored queue, 93 packets deep when
    // packet 148 comes, no packet joins after that: what leaves behind less than 47 is not marked.
    let at = ramp::At::Departure;
    let aqm = aqm::Spec::Ramp(ramp::Spec { at, ..curve(50_000) });
    let [monitored, congesting] = marks(&run(one_fast_flow(Mark::Aqm, aqm.clone())));
    // The queue rises from 47 to 93 and falls to 46 again. It has 47 others behind the head first when
    // 48 wait; 148 packets come in all, and of those that leave the last 47 leave 46 or fewer.
    assert_eq!((monitored.0, congesting.0), (148, 152));
    // None of the isolated packets leaves before the last one has come: the first leaves 151 behind.
    assert_eq!(congesting.1, 152 - 47);
    // Those that leave while the queue is deep: the 47 last are not among them, nor are those that left
    // before packet 76 came, which is the first one that 47 others find waiting behind a head.
    let left_before = 76 * 37 / 100 + 1;
    assert!((148 - 47 - left_before - 1..=148 - 47 - left_before + 1).contains(&monitored.1));
    assert_eq!(marks(&run(one_fast_flow(Mark::None, aqm)))[1].1, 0);
}

#[test]
fn what_cannot_be_marked_is_dropped_in_the_congesting_queue_too() {
    // Isolated from 30 KB on, and dropped from 50 KB on, unless congestion is not to be reported there.
    let step = aqm::Spec::Step(step::Spec { threshold: Bytes(50_000) });
    let deepest = |mark| {
        let mut spec = one_fast_flow(mark, step.clone());
        spec.flows[0].bytes = 300 * 1_000;
        for profile in &mut spec.profiles {
            profile.transport = transport::Spec::Udp(Default::default());
        }
        let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
        isolation.curve = curve(30_000);
        let outcome = run(spec);
        let queues = outcome.table("queues");
        let of = |queue| {
            let rows = queues.u64s("queue").iter().zip(queues.u64s("max_backlog_bytes"));
            *rows.filter(|(row, _)| **row == queue).map(|(_, depth)| depth).max().unwrap()
        };
        assert!(of(0) < 33_000);
        (of(1), outcome.counter("dropped_packets"))
    };
    for mark in [Mark::Aqm, Mark::Detected, Mark::All] {
        let (depth, drops) = deepest(mark);
        assert!(drops > 0 && (50_000..52_000).contains(&depth), "{mark:?}: {depth}, {drops}");
    }
    let (depth, drops) = deepest(Mark::None);
    assert!(drops == 0 && depth > 52_000, "{depth}, {drops}");
}

#[test]
fn messages_go_only_to_neighbors_that_take_part() {
    let at = |tiers: &[u8], hosts| {
        let mut spec = busy(Signal::Both);
        let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
        (isolation.tiers, isolation.hosts) = (tiers.to_vec(), hosts);
        let outcome = run(spec);
        let tables = ["isolations", "cims_sent", "cims_received"];
        tables.map(|counter| outcome.counter(counter) > 0)
    };
    // [isolations, CIMs sent, CIMs received by switches]
    assert_eq!(at(&[], true), [true, true, true]);
    assert_eq!(at(&[0], true), [true, true, false], "leaves tell their hosts, spines are deaf");
    assert_eq!(at(&[0], false), [true, false, false], "nobody is there to be told");
    assert_eq!(at(&[1], true), [true, false, false], "nor are those below the spines");
}

/// Leaves do not take part: their queue 1 is a data queue like others, in which the AQM marks although
/// `mark` is `none`, and the auditor knows that.
#[test]
fn switches_that_do_not_take_part_mark_in_all_queues() {
    let mut spec = busy(Signal::Both);
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    (isolation.tiers, isolation.mark) = (vec![1], Mark::None);
    spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(0) });
    spec.switch.classify = classify::Spec::DestinationHash(Default::default());
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("queue").iter().zip(queues.u64s("marked_packets"));
    assert!(rows.filter(|(queue, _)| **queue == 1).any(|(_, marked)| *marked > 0));
}

#[test]
fn a_small_table_with_short_keys_reorders_nothing() {
    use floodway_sim::switch::flow_control::congestion_isolation::WhenFull;
    let mut spec = busy(Signal::Both);
    let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
    (isolation.max_entries, isolation.key_bits) = (3, 4);
    (isolation.when_full, isolation.release_interval) = (WhenFull::Oldest, Duration::from_us(10));
    let outcome = run(spec);
    assert!(outcome.counter("isolations_evicted") > 0 && outcome.counter("isolations_refused") > 0);
}
