//! Flows that begin when others have arrived or been handed over, against arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::{Duration, FlowId, FlowSpec, Instant, Operation, Trigger};
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec, Stop};

/// `begins` after `after`, and so many nanoseconds.
fn trigger(after: u32, begins: u32, delay_ns: u64) -> Trigger {
    Trigger { after: FlowId(after), begins: FlowId(begins), delay: Duration::from_ns(delay_ns) }
}

/// On a star, with Ethernet frames, which are not acknowledged.
fn spec(hosts: u32, flows: Vec<FlowSpec>, triggers: Vec<Trigger>) -> Spec {
    let mut spec = plain(star(hosts), flows);
    let ethernet = transport::Spec::Ethernet(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = ethernet.clone());
    Spec { triggers: triggers.into(), ..spec }
}

/// In picoseconds.
fn starts(outcome: &Outcome) -> Vec<u64> {
    outcome.table("flows").f64s("start_ns").iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// A frame with this payload at 100 Gb/s, preamble and gap included.
fn wire(payload: u64) -> u64 {
    ((payload + 18).max(64) + 20) * 80
}

/// From one host of the star to another, in one frame.
fn way(payload: u64) -> u64 {
    2 * wire(payload) + 400_000
}

#[test]
fn an_answer_begins_when_the_question_has_arrived() {
    let flows = vec![flow(0, 1, 1_000, 5), flow(1, 0, 700, 0), flow(0, 1, 40, 0)];
    let mut spec = spec(2, flows, vec![trigger(0, 1, 300), trigger(1, 2, 0)]);
    let flows = [0, 1].map(FlowId);
    spec.operations = vec![Operation::of(0, flows)].into();
    let outcome = run(spec);
    let answered = 5_000 + way(1_000) + 300_000;
    let again = answered + way(700);
    assert_eq!(starts(&outcome), [5_000, answered, again]);
    // Completion times are those of an idle network, from the beginning of each.
    assert_eq!(fct_ps(&outcome), [way(1_000), way(700), way(40)]);
    assert_eq!((outcome.stop, outcome.counter("flows_not_begun")), (Stop::FlowsDone, 0));
    let operations = outcome.table("operations");
    assert_eq!(operations.f64s("start_ns"), [5.0]);
    assert_eq!(operations.f64s("finish_ns"), [again as f64 / 1e3]);
    assert_eq!((operations.u64s("bytes"), operations.u64s("flows")), (&[1_700][..], &[2][..]));
}

#[test]
fn one_of_several_packets_begins_nothing() {
    let outcome =
        run(spec(2, vec![flow(0, 1, 4_500, 0), flow(1, 0, 1, 0)], vec![trigger(0, 1, 0)]));
    // Store and forward: the frames follow each other without a gap.
    assert_eq!(starts(&outcome), [0, 3 * wire(1_500) + wire(1_500) + 400_000]);
}

#[test]
fn the_last_of_several_counts_and_the_start_if_it_is_later() {
    let flows = vec![flow(1, 0, 100, 0), flow(2, 0, 1_500, 0), flow(0, 1, 1, 0), flow(0, 2, 1, 9)];
    let late = Instant(Duration::from_us(7).0);
    for (delay, start, begins) in [
        (0, Instant::ZERO, way(1_500)),
        (900, Instant::ZERO, way(100) + 900_000),
        (900, late, 7_000_000),
    ] {
        let mut flows = flows.clone();
        flows[2].start = start;
        // In order of start.
        let (place, triggers) = if start == late { (3, 2) } else { (2, 3) };
        flows.sort_by_key(|flow| flow.start);
        let triggers = vec![trigger(0, place, delay), trigger(1, place, 0)]
            .into_iter()
            .chain([trigger(0, triggers, 0)]);
        let outcome = run(spec(3, flows, triggers.collect()));
        assert_eq!(starts(&outcome)[place as usize], begins);
        // The other waits for the first only.
        assert_eq!(starts(&outcome)[if place == 3 { 2 } else { 3 }], way(100));
    }
}

#[test]
fn what_is_handed_over_is_known_at_its_source() {
    // Two chains of two, in parallel: each second one begins when the last frame of its first one
    // goes to the wire.
    let flows =
        vec![flow(0, 1, 3_000, 0), flow(0, 2, 1_500, 0), flow(0, 1, 1, 0), flow(0, 2, 1, 0)];
    let outcome = run(spec(3, flows, vec![trigger(0, 2, 0), trigger(1, 3, 10)]));
    // Frames of flows 0 and 1 take turns: the only one of flow 1 is the second, the last of flow 0
    // the third.
    let frame = wire(1_500);
    assert_eq!(starts(&outcome), [0, 0, 2 * frame, frame + 10_000]);
}

#[test]
fn those_that_are_too_late_take_those_after_them_with_them() {
    // A closed loop: each question waits for the answer before it, until 3 us.
    let pairs = 0..20u32;
    let flows: Vec<FlowSpec> = pairs
        .clone()
        .flat_map(|_| {
            let stop = Instant(3_000_000);
            [FlowSpec { stop, ..flow(0, 1, 100, 0) }, flow(1, 0, 100, 0)]
        })
        .collect();
    let triggers = (1..40).map(|begins| trigger(begins - 1, begins, 0)).collect();
    let outcome = run(spec(2, flows, triggers));
    let round = 2 * way(100);
    let begun = 3_000_000u64.div_ceil(round);
    assert_eq!(outcome.table("flows").rows() as u64, 2 * begun);
    assert_eq!(outcome.counter("flows_not_begun"), 40 - 2 * begun);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    assert_eq!(outcome.stop, Stop::FlowsDone);
    assert!(outcome.simulated.0 < 100_000_000);
}

#[test]
fn other_transports_tell_of_arrivals_too() {
    let rocev2 = transport::Spec::Rocev2(Default::default());
    let tcp = transport::Spec::Tcp(Default::default());
    let udp = transport::Spec::Udp(Default::default());
    for transport in [rocev2, tcp, udp] {
        let mut spec =
            spec(2, vec![flow(0, 1, 9_000, 0), flow(1, 0, 9_000, 0)], vec![trigger(0, 1, 100)]);
        spec.profiles.iter_mut().for_each(|profile| profile.transport = transport.clone());
        let outcome = run(spec);
        assert_eq!(starts(&outcome)[1], fct_ps(&outcome)[0] + 100_000);
        assert_eq!(outcome.table("flows").rows(), 2);
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    // Chains from host to host, over a network that loses packets.
    let chains = 64u32;
    let (mut flows, mut triggers) = (Vec::new(), Vec::new());
    for step in 0..40u32 {
        for chain in 0..chains {
            let at = |step: u32| (chain + step * (1 + chain % 5)) % 16;
            if step > 0 {
                triggers.push(trigger((step - 1) * chains + chain, step * chains + chain, 50));
            }
            flows.push(flow(at(step), at(step + 1), u64::from(50 + chain * 997 % 40_000), 0));
        }
    }
    let mut spec = spec(2, flows, triggers);
    (spec.graph, spec.end) = (clos(4, 2, 4), Duration::from_ms(1));
    spec.switch.queue.size = floodway_model::Bytes(30_000);
    let on = |threads| {
        let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
        Simulation::new(spec.clone()).run_with(&run)
    };
    let [one, two, three] = [1, 2, 3].map(on);
    assert_eq!(one.violations, Vec::<String>::new());
    assert!(one.counter("dropped_packets") > 0 && one.counter("flows_not_begun") > 0);
    assert_eq!([two.fingerprint, three.fingerprint], [one.fingerprint; 2]);
}

#[test]
fn a_flow_that_is_sent_again_is_handed_over_once() {
    // The link of host 1 loses what it carries from 300 ns to 500 ns, the packets of flow 0 that are on
    // it: they are sent again, and with go-back-N so is the last. Flow 2 waits for flow 0 to be handed
    // over and for flow 1, of a later host, to come.
    let flows = vec![flow(0, 1, 4 * 1_024, 0), flow(2, 0, 1, 50_000), flow(0, 2, 1, 0)];
    let mut spec = plain(star(3), flows);
    spec.flows.sort_by_key(|flow| flow.start);
    // In order of start: 0 as above, 1 what waits, 2 what comes later.
    spec.triggers = vec![trigger(0, 1, 0), trigger(2, 1, 0)].into();
    spec.failures = vec![floodway_sim::failure::Failure {
        node: floodway_model::NodeId(1),
        port: floodway_model::PortIx(0),
        at: Instant(300_000),
        until: Instant(500_000),
        detection: Duration::from_ms(1),
    }];
    let outcome = run(spec);
    let flows = outcome.table("flows");
    assert!(flows.u64s("retransmitted_packets")[0] > 0);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    // The shortest frame, over two links.
    let one = 2 * (64 + 20) * 80 + 400_000;
    assert_eq!(starts(&outcome), [0, 50_000_000 + one, 50_000_000]);
}
