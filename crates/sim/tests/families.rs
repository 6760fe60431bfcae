//! What holds for every member of the families that act only in a network: flow control, loss
//! recovery, overflow and applications. Members come from the catalogue, so a new one is tested
//! without being named here.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::family::Entry;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::application;
use floodway_sim::host::congestion::{self, reno};
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::{flow_control, overflow};
use floodway_sim::{Outcome, Simulation, Spec};

const PACKET: u64 = 1_024;

/// The members of a family, by name, with default parameters.
fn members<T: serde::de::DeserializeOwned>(catalogue: &[Entry]) -> BTreeMap<&'static str, T> {
    assert!(catalogue.len() > 1);
    catalogue.iter().map(|entry| (entry.name, by_name(entry.name))).collect()
}

fn flow_controls() -> BTreeMap<&'static str, flow_control::Spec> {
    members(flow_control::CATALOGUE)
}

fn recoveries() -> BTreeMap<&'static str, recovery::Spec> {
    members(recovery::CATALOGUE)
}

/// Every host of leaves 1 and 2 sends to host 0, beside transfers between other hosts.
fn incasts() -> Spec {
    let mut flows: Vec<FlowSpec> = (4..12).map(|src| flow(src, 0, 400 * PACKET, 0)).collect();
    flows.extend([flow(4, 1, 50 * PACKET, 20_000), flow(1, 9, 100 * PACKET, 40_000)]);
    plain(clos(3, 2, 4), flows)
}

/// Three transfers that share no link.
fn apart() -> Spec {
    let flows = [(0, 4), (5, 8), (9, 1)].map(|(src, dst)| flow(src, dst, 30 * PACKET, 1_000));
    plain(clos(3, 1, 4), flows.to_vec())
}

/// Runs it with one thread and with three, audited, and compares them.
fn audited(spec: &Spec, name: &str) -> Outcome {
    let [one, three] = [1, 3].map(|threads| {
        let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
        let outcome = Simulation::new(spec.clone()).run_with(&run);
        assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
        outcome
    });
    assert_eq!(one.fingerprint, three.fingerprint, "{name}: threads change the result");
    one
}

fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.counter(name)
}

/// Every flow has arrived completely.
fn everything_arrives(outcome: &Outcome, spec: &Spec, name: &str) {
    assert_eq!(count(outcome, "flows_unfinished"), 0, "{name}");
    let sent: Vec<u64> = spec.flows.iter().map(|flow| flow.bytes).collect();
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), sent, "{name}");
}

/// Where there is room for everything, no mechanism loses a packet, and each one lets go of what it
/// held back.
#[test]
fn flow_control_loses_nothing_and_holds_nothing_for_ever() {
    for (name, flow_control) in flow_controls() {
        let mut spec = incasts();
        spec.switch.queue.count = 2;
        spec.switch.flow_control = flow_control;
        let outcome = audited(&spec, name);
        everything_arrives(&outcome, &spec, name);
        assert_eq!(count(&outcome, "dropped_packets"), 0, "{name}");
        assert_eq!(count(&outcome, "retransmitted_packets"), 0, "{name}");
    }
}

/// Host 0 receives 8 times 400 packets over one link, and no mechanism makes a link faster. The bound
/// is that link's time for them, without what they take until they get there.
#[test]
fn flow_control_adds_no_capacity() {
    let wire_ps = (PACKET + 62 + 20) * 80;
    for (name, flow_control) in flow_controls() {
        let mut spec = incasts();
        spec.switch.queue.count = 2;
        spec.switch.flow_control = flow_control;
        let last = fct_ps(&run(spec)).into_iter().take(8).max().unwrap();
        assert!(last > 8 * 400 * wire_ps, "{name}: {last}");
    }
}

/// Without congestion no mechanism pauses anything, and none changes when anything arrives, except for the
/// frames that credit needs all the time: each takes 84 bytes of a link.
#[test]
fn flow_control_is_idle_without_congestion() {
    let expected = fct_ps(&run(apart()));
    for (name, flow_control) in flow_controls() {
        let mut spec = apart();
        spec.switch.queue.count = 2;
        let credit = flow_control.cbfc.is_some();
        spec.switch.flow_control = flow_control;
        let outcome = run(spec);
        assert_eq!(count(&outcome, "paused_ns"), 0, "{name}");
        let frames = if credit { count(&outcome, "link_credits_sent") } else { 0 };
        for (fct, least) in fct_ps(&outcome).into_iter().zip(&expected) {
            assert!((*least..=least + frames * 84 * 80).contains(&fct), "{name}: {fct} {least}");
        }
    }
}

/// Queues of ten packets lose much of an incast. Whatever is lost is sent again, at least once for
/// each time that it is lost.
#[test]
fn recovery_delivers_what_was_lost() {
    for (name, recovery) in recoveries() {
        let mut spec = incasts();
        spec.switch.queue.size = Bytes(10 * 1_086);
        rocev2(&mut spec, |rocev2| rocev2.recovery = recovery.clone());
        let outcome = audited(&spec, name);
        everything_arrives(&outcome, &spec, name);
        let lost: u64 = outcome.table("flows").u64s("lost_packets").iter().sum();
        let repeated = count(&outcome, "retransmitted_packets");
        assert!(0 < lost && lost <= repeated, "{name}: {lost} {repeated}");
    }
}

/// Where nothing is lost, every member sends the same packets at the same times.
#[test]
fn recovery_is_idle_without_loss() {
    let completion = |recovery: &recovery::Spec| {
        let mut spec = incasts();
        rocev2(&mut spec, |rocev2| rocev2.recovery = recovery.clone());
        let outcome = run(spec);
        assert_eq!(count(&outcome, "retransmitted_packets"), 0);
        fct_ps(&outcome)
    };
    let times: Vec<_> = recoveries().values().map(completion).collect();
    assert!(times.windows(2).all(|two| two[0] == two[1]));
}

/// What finds no room is dropped or trimmed, and all of it arrives in the end. Where there is room
/// no member acts.
#[test]
fn overflow_acts_only_on_what_finds_no_room() {
    let with = |overflow: &overflow::Spec, packets: u64| {
        let mut spec = incasts();
        rocev2(&mut spec, |rocev2| {
            rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
        });
        spec.switch.queue.size = Bytes(packets * 1_086);
        spec.switch.overflow = overflow.clone();
        spec
    };
    let expected = fct_ps(&run(with(&Default::default(), 10_000)));
    for (name, overflow) in members::<overflow::Spec>(overflow::CATALOGUE) {
        let short = with(&overflow, 10);
        let outcome = audited(&short, name);
        everything_arrives(&outcome, &short, name);
        let dropped = count(&outcome, "dropped_packets");
        // Only a switch that trims counts trimmed packets.
        match overflow.trims() {
            Some(_) => assert!(count(&outcome, "trimmed_packets") > 100, "{name}"),
            None => assert!(dropped > 100, "{name}: {dropped}"),
        }
        assert_eq!(fct_ps(&run(with(&overflow, 10_000))), expected, "{name}");
    }
}

/// An application writes as long as its flow lasts. All that it has written arrives, over an idle
/// path without a repetition, and the same seed gives the same data.
#[test]
fn applications_write_until_they_stop_and_all_of_it_arrives() {
    for (name, application) in members::<application::Spec>(application::CATALOGUE) {
        let stop = Instant::ZERO + Duration::from_ms(50);
        let lasting = FlowSpec { stop, ..flow(0, 4, FlowSpec::PERSISTENT, 0) };
        let mut spec = plain(clos(2, 1, 4), vec![lasting]);
        spec.profiles[0].transport = transport::Spec::Tcp(tcp::Spec::default());
        spec.profiles[0].congestion = congestion::Spec::Reno(reno::Spec::default());
        spec.profiles[0].application = Some(application);
        spec.end = Duration::from_ms(100);
        spec.measured_until = spec.end;
        let outcome = audited(&spec, name);
        let delivered = outcome.table("flows").u64s("delivered_bytes")[0];
        assert!(delivered > 10_000, "{name}: {delivered}");
        assert_eq!(count(&outcome, "retransmitted_packets"), 0, "{name}");
        assert_eq!(count(&outcome, "data_bytes_delivered"), delivered, "{name}");
        spec.end = Duration::from_ms(200);
        spec.measured_until = spec.end;
        let later = audited(&spec, name).table("flows").u64s("delivered_bytes")[0];
        assert_eq!(later, delivered, "{name}: it writes after its flow has stopped");
    }
}
