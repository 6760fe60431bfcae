//! The key of a simulation: the same for the same, another for every difference.

use crate::common::{clos, flow, isolating, plain};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowId, Instant, NodeId, Operation, PortIx, Reuse, Trigger};
use floodway_sim::failure::Failure;
use floodway_sim::rounds::SampledRounds;
use floodway_sim::{SOURCES, Spec};
use std::collections::BTreeSet;

fn spec() -> Spec {
    let flows = vec![flow(0, 3, 1_000, 0), flow(1, 2, 2_000, 5)];
    Spec { switch: isolating(), ..plain(clos(2, 2, 2), flows) }
}

/// What is changed, and how.
type Change = (&'static str, fn(&mut Spec));

#[test]
fn every_difference_makes_another_key() {
    let changes: [Change; 28] = [
        ("nothing", |_| {}),
        ("seed", |spec| spec.seed += 1),
        ("end", |spec| spec.end += Duration(1)),
        ("warm-up", |spec| spec.warmup += Duration(1)),
        ("end of arrivals", |spec| spec.measured_until += Duration(1)),
        ("sampling", |spec| spec.sample_interval += Duration(1)),
        ("departures", |spec| spec.departures = true),
        ("latencies", |spec| spec.latencies = true),
        ("record", |spec| spec.record = Some(2)),
        ("samples of flows", |spec| spec.flow_samples = Some(Duration(1))),
        ("overhead", |spec| spec.wire_overhead += 1),
        ("a node more", |spec| {
            spec.graph.add("host 4", NodeKind::Host);
        }),
        ("a link", |spec| spec.graph.nodes[0].ports[0].delay += Duration(1)),
        ("size of a flow", |spec| spec.flows[1].bytes += 1),
        ("start of a flow", |spec| spec.flows[1].start.0 += 1),
        ("turn of a flow", |spec| spec.flows[1].in_turn = true),
        ("trigger", |spec| {
            let (after, begins) = (FlowId(0), FlowId(1));
            spec.triggers.push(Trigger { after, begins, delay: Duration(1) });
        }),
        ("a connection", |spec| {
            spec.reuses.push(Reuse { flow: FlowId(1), of: FlowId(0) });
        }),
        ("operation", |spec| {
            spec.operations.push(Operation::of(0, [FlowId(0)]));
        }),
        ("a host", |spec| spec.host.pause_feedback = false),
        ("a profile", |spec| spec.profiles[1].congestion = Default::default()),
        ("workloads that are awaited", |spec| spec.awaited.push(true)),
        ("a failure", |spec| {
            let (node, port, at) = (NodeId(0), PortIx(0), Instant(1));
            let (until, detection) = (Instant::NEVER, Duration(1));
            spec.failures.push(Failure { node, port, at, until, detection });
        }),
        ("rounds of a job", |spec| {
            let (workload, simulated, warmup, of) = (0, 4, 1, 200);
            spec.sampled = Some(SampledRounds { workload, simulated, warmup, of });
        }),
        ("end of a flow", |spec| spec.flows[1].stop.0 -= 1),
        ("flows fewer", |spec| spec.flows.truncate(1)),
        ("order of flows", |spec| spec.flows.swap(0, 1)),
        ("a parameter deep inside", |spec| {
            let pfc = spec.switch.flow_control.pfc.as_mut().unwrap();
            pfc.xoff = Bytes(pfc.xoff.0 + 1);
        }),
    ];
    let mut keys = BTreeSet::new();
    for (what, change) in changes {
        let mut changed = spec();
        change(&mut changed);
        assert_eq!(changed.key(), changed.clone().key());
        assert!(keys.insert(changed.key()), "{what}");
    }
    assert_eq!(keys.first().unwrap().len(), 32);
    assert!(keys.contains(&spec().key()));
}

/// A field that is added does not compile here until it is listed, and is in what the key is a hash of.
#[test]
fn every_field_is_in_the_key() {
    macro_rules! fields {
        ($spec:expr; $($field:ident),+) => {{
            let Spec { $($field: _),+ } = $spec;
            [$(stringify!($field)),+]
        }};
    }
    let fields = fields!(
        spec();
        graph, switch, host, profiles, flows, triggers, reuses, programs, operations, wire_overhead, end, warmup,
        measured_until, awaited, sample_interval, flow_samples, departures, latencies, record,
        explained, failures, losses, errors, paces, changes, kernels, sampled, seed
    );
    let written = serde_json::to_value(spec()).unwrap();
    let written: BTreeSet<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(written, BTreeSet::from(fields));
}

#[test]
fn the_sources_have_a_hash() {
    assert_eq!(SOURCES.len(), 32);
    assert!(SOURCES.bytes().all(|digit| digit.is_ascii_hexdigit()));
}
