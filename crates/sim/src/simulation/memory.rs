//! The memory of flows that have not begun, counted and not measured.

use std::collections::BTreeSet;

use floodway_model::random::mix;
use floodway_model::{
    Duration, FlowId, FlowSpec, Instant, NodeId, Operation, Progressions, Trigger,
};

use super::Simulation;
use crate::Spec;
use crate::small::{flow, spec, star};

const HOSTS: u32 = 128;
const AT_ONCE: u32 = 8;

/// An all-to-all of messages of two packets, of which each host sends so many at a time.
fn all_to_all(shift: impl Fn(u32) -> u32) -> Spec {
    let of = |src: u32| (1..HOSTS).map(move |step| (src, step));
    let pairs = (0..HOSTS).flat_map(of);
    let flows: Vec<FlowSpec> =
        pairs.map(|(src, step)| flow(src, (src + shift(step)) % HOSTS, 2_000, 0)).collect();
    let trigger = |begins: u32| Trigger {
        after: FlowId(begins - AT_ONCE),
        begins: FlowId(begins),
        delay: Duration::ZERO,
    };
    let place = |flow: u32| flow % (HOSTS - 1);
    let all = flows.len() as u32;
    let triggers: Progressions<Trigger> =
        (0..all).filter(|&flow| place(flow) >= AT_ONCE).map(trigger).collect();
    let operation = Operation::of(0, (0..all).map(FlowId).collect::<Progressions<FlowId>>());
    Spec {
        triggers,
        operations: vec![operation].into(),
        flows: flows.into_iter().collect(),
        awaited: vec![true],
        ..spec(star(HOSTS), Vec::new(), Duration::from_ms(10))
    }
}

/// Bytes for each flow before the run.
fn bytes(simulation: &Simulation) -> f64 {
    let Simulation { spec, nodes, .. } = simulation;
    let shared = nodes.hosts[0].shared();
    let of_spec = spec.flows.bytes() + spec.triggers.bytes() + spec.operations[0].flows.bytes();
    let of_all = shared.places.bytes() + shared.awaited.bytes() + shared.followers.capacity() * 4;
    let of_hosts: usize = nodes.hosts.iter().map(|host| host.bytes_of_flows()).sum();
    (of_spec + of_all + of_hosts) as f64 / spec.flows.len() as f64
}

/// An index of 4 bytes is left for each flow: which receiver it has. With fewer flows for each host, progressions and
/// lists that are always there have a larger share.
#[test]
fn a_flow_that_has_not_begun_takes_less_than_16_bytes() {
    let simulation = Simulation::new(all_to_all(|step| step));
    let bytes = bytes(&simulation);
    assert!((4.0..16.0).contains(&bytes), "{bytes} bytes");
}

/// What a run asks of flows must not need them as a slice, which would take 40 bytes for each.
#[test]
fn a_run_keeps_flows_as_progressions() {
    let shared = all_to_all(|step| step);
    let (flows, triggers) = (shared.flows.clone(), shared.triggers.clone());
    let before = (flows.bytes(), triggers.bytes());
    let outcome = Simulation::new(shared).audited(false).run();
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    let all = u64::from(HOSTS * (HOSTS - 1));
    assert_eq!([outcome.counter("flows"), outcome.counter("flows_unfinished")], [all, 0]);
    assert_eq!((flows.bytes(), triggers.bytes()), before);
}

/// The same flows as vectors have the same results.
#[test]
fn results_do_not_depend_on_the_form_of_lists() {
    let run = |spec: Spec| Simulation::new(spec).audited(false).run().fingerprint;
    let compact = all_to_all(|step| step);
    let mut plain = compact.clone();
    plain.flows.iter_mut().for_each(|flow| flow.stop = Instant::NEVER);
    plain.triggers.iter_mut().for_each(|trigger| trigger.delay = Duration::ZERO);
    assert!(plain.flows.bytes() > 10 * compact.flows.bytes());
    assert_eq!(compact.key(), plain.key());
    assert_eq!(run(compact), run(plain));
}

/// Of messages in an order without a rule, specifications of 40 bytes, two indices and a number at the receiver are
/// vectors; the run is as correct.
#[test]
fn an_order_without_a_rule_takes_vectors() {
    let mut order: Vec<u32> = (1..HOSTS).collect();
    order.sort_by_key(|step| mix((*step).into()));
    let spec = all_to_all(|step| order[step as usize - 1]);
    let pairs: BTreeSet<(NodeId, NodeId)> =
        spec.flows.each().map(|flow| (flow.src, flow.dst)).collect();
    assert_eq!(pairs.len() as u32, HOSTS * (HOSTS - 1));
    let simulation = Simulation::new(spec).audited(false);
    let bytes = bytes(&simulation);
    assert!((56.0..68.0).contains(&bytes), "{bytes} bytes");
    let outcome = simulation.run();
    assert_eq!((outcome.counter("flows_unfinished"), outcome.violations.len()), (0, 0));
}
