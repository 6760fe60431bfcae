//! Every congestion control that TCP can have under every queue management: what has to hold for all
//! of them. Both lists are those of the catalogue, so that a new algorithm is tested by itself.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, EcnFeedback, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion::{self, Needs};
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, avq, bernoulli, blue, regular};
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Simulation, Spec};

/// The bottleneck, in bits per second.
const RATE: u64 = 20_000_000;
/// Until when long flows send, in seconds.
const SECONDS: u64 = 2;

fn controls() -> Vec<congestion::Spec> {
    let all = congestion::CATALOGUE.iter().map(|entry| by_name::<congestion::Spec>(entry.name));
    let of_rocev2 = [Needs::Notifications, Needs::Answers, Needs::Arrivals];
    all.filter(|control| !of_rocev2.contains(&control.needs())).collect()
}

fn queue_managements() -> Vec<aqm::Spec> {
    let all = aqm::CATALOGUE.iter().map(|entry| by_name(entry.name));
    // With the default, one in a hundred, two flows of Reno do not fill the link.
    let rarely = bernoulli::Spec { probability: 0.001 };
    let regularly = regular::Spec { packets: NonZeroU32::new(1_000).unwrap() };
    // The defaults are for many flows too: a loss stops a few flows for longer than the link needs.
    let gently = blue::Spec { increment: 0.001, decrement: 0.000_5, ..Default::default() };
    // With the default, flows without congestion control bring the virtual capacity to zero within 2 s, and what
    // they repeat is dropped until it has risen again, which takes as long as the whole run.
    let slowly = avq::Spec { alpha: 0.01, ..Default::default() };
    let all = all.map(|aqm| match aqm {
        aqm::Spec::Avq(_) => aqm::Spec::Avq(slowly.clone()),
        aqm::Spec::Blue(_) => aqm::Spec::Blue(gently.clone()),
        aqm::Spec::Bernoulli(_) => aqm::Spec::Bernoulli(rarely.clone()),
        aqm::Spec::Regular(_) => aqm::Spec::Regular(regularly.clone()),
        other => other,
    });
    all.collect()
}

/// Two times three hosts at 100 Mb/s and 20 ms between them, there and back.
fn dumbbell() -> Graph {
    let mut graph = Graph::default();
    for host in 0..6 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switches = ["left", "right"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
    for host in 0..6 {
        let switch = switches[(host / 3) as usize];
        graph.link(NodeId(host), switch, Rate::from_mbps(100), Duration::from_ms(1));
    }
    graph.link(switches[0], switches[1], Rate(RATE), Duration::from_ms(8));
    graph
}

/// Two long flows and some short ones to the right, and one long flow to the left, so that
/// acknowledgements wait and are lost, too.
fn scenario(control: &congestion::Spec, ecn: Option<tcp::Feedback>, aqm: &aqm::Spec) -> Spec {
    let ms = |ms: u64| ms * 1_000_000;
    let stop = Instant(Duration::from_ms(SECONDS * 1_000).0);
    let long = |src, dst, start| FlowSpec { stop, ..flow(src, dst, FlowSpec::PERSISTENT, start) };
    let mut flows = vec![long(0, 3, 0), long(1, 4, ms(100)), long(4, 1, ms(200))];
    for n in 0..10 {
        flows.push(flow(
            n % 3,
            3 + n / 4,
            1_000 + 5_000 * u64::from(n),
            ms(250 + 100 * u64::from(n)),
        ));
    }
    // The run is not over before the long flows have repeated what they lost.
    flows.push(flow(2, 5, 1_448, ms(SECONDS * 5_000)));
    let mut spec = plain(dumbbell(), flows);
    let tcp = tcp::Spec { ecn, ..Default::default() };
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Tcp(tcp.clone());
        profile.congestion = control.clone();
    }
    // Two bandwidth-delay products and what a step needs to mark.
    spec.switch.queue.size = Bytes(150_000);
    spec.switch.aqm = aqm.clone();
    if aqm.is_for_two_queues() {
        spec.switch.queue.count = 2;
        spec.switch.classify = classify::Spec::Ecn(Default::default());
        spec.switch.scheduler = match aqm {
            aqm::Spec::DualPi2(_) => scheduler::Spec::Wrr(Default::default()),
            aqm::Spec::CurvyRed(_) => scheduler::Spec::TimeShifted(Default::default()),
            _ => scheduler::Spec::Strict(Default::default()),
        };
    }
    spec.end = Duration::from_ms(60_000);
    spec.measured_until = spec.end;
    spec.sample_interval = Duration::from_ms(100);
    spec
}

fn on(spec: &Spec, threads: usize) -> Outcome {
    let stop = AtomicBool::new(false);
    Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
}

fn sum(outcome: &Outcome, table: &str, column: &str) -> u64 {
    outcome.table(table).u64s(column).iter().sum()
}

/// Whether its segments are ECN-capable.
fn is_capable(control: &congestion::Spec, ecn: Option<tcp::Feedback>) -> bool {
    let wanted = control.feedback();
    ecn.map_or(wanted, EcnFeedback::from) != EcnFeedback::None
}

/// What has to hold, whatever the algorithms; the part of the link that the flows to the right got.
fn check(control: &congestion::Spec, ecn: Option<tcp::Feedback>, aqm: &aqm::Spec) -> f64 {
    let name = format!("{} {ecn:?} under {}", control.name(), aqm.name());
    let spec = scenario(control, ecn, aqm);
    let outcome = on(&spec, 1);
    assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
    let beginning = Spec { end: Duration::from_ms(400), ..spec.clone() };
    let [one, two, three] = [1, 2, 3].map(|threads| on(&beginning, threads).fingerprint);
    assert_eq!((one, one), (two, three), "{name}");
    assert_eq!(outcome.counter("flows_unfinished"), 0, "{name}");
    if !is_capable(control, ecn) {
        assert_eq!(sum(&outcome, "queues", "marked_packets"), 0, "{name}");
    }
    // What is lost of acknowledgements and SYNs is in the drops only.
    let lost = sum(&outcome, "flows", "lost_packets");
    assert!(lost <= sum(&outcome, "drops", "packets"), "{name}");
    // What is lost is repeated, each time that it is.
    let again = sum(&outcome, "flows", "retransmitted_packets");
    assert!(again >= lost, "{name}: {lost} lost, {again} again");
    let flows = outcome.table("flows");
    let rows = || spec.flows.iter().zip(flows.u64s("delivered_bytes"));
    assert!(rows().all(|(flow, delivered)| flow.is_persistent() || *delivered == flow.bytes));
    let right = |flow: &FlowSpec| flow.src.0 < 3;
    let bytes: u64 = rows().filter(|row| right(row.0)).map(|row| row.1).sum();
    // Of 1538 bytes on the wire 1448 are payload.
    let could = outcome.simulated.0 as f64 / 1e12 * RATE as f64 / 8.0 * 1_448.0 / 1_538.0;
    assert!(bytes as f64 <= could, "{name}: {bytes} delivered");
    bytes as f64 / (SECONDS as f64 * RATE as f64 / 8.0 * 1_448.0 / 1_538.0)
}

#[test]
fn every_control_under_every_queue_management() {
    for control in &controls() {
        for aqm in &queue_managements() {
            let share = check(control, None, aqm);
            // Flows that heed congestion fill a link that has room for two bandwidth-delay
            // products. What they lose by acknowledgements that wait behind the other direction,
            // and where the target is a few milliseconds, is less than 40 %.
            let responsive = control.needs() == Needs::Acknowledgements;
            assert!(!responsive || share > 0.6, "{} {}: {share}", control.name(), aqm.name());
        }
    }
}

#[test]
fn every_kind_of_feedback_under_every_queue_management() {
    for ecn in [tcp::Feedback::Classic, tcp::Feedback::Dctcp, tcp::Feedback::Accurate] {
        for aqm in &queue_managements() {
            let reno = congestion::Spec::Reno(Default::default());
            let share = check(&reno, Some(ecn), aqm);
            // With accurate feedback they are in the low latency queue, whose few packets are
            // too few for a flow that halves its window.
            let shallow = ecn == tcp::Feedback::Accurate && aqm.is_for_two_queues();
            let least = if shallow { 0.3 } else { 0.6 };
            assert!(share > least, "{ecn:?} {}: {share}", aqm.name());
        }
    }
}
