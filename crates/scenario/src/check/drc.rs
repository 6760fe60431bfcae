//! Directional Rate Control: whether stops come in time.

use std::collections::BTreeMap;

use floodway_model::{Bytes, Graph, NodeId};
use floodway_sim::switch::flow_control::drc::{Hop, Spec};

use super::pools::{Largest, largest_queues, places};
use super::{Problems, largest_frame};
use crate::document::Document;

const DRC: &str = "switch.flow_control.drc";
const THRESHOLDS: &str = "switch.flow_control.drc.thresholds";
const BUFFER: &str = "switch.flow_control.drc.buffer";

/// A direction is stopped when the last threshold is reached; what still comes must find room.
pub fn check(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let spec = settings.switch.flow_control.drc.as_ref();
    let Some(spec) = spec.filter(|spec| spec.lossless && spec.stop) else { return };
    for largest in largest_queues(settings, graph) {
        let available = above_stop(settings, spec, largest.bytes);
        let needed = headroom_of_directions(settings, spec, graph, largest.switches.into_iter());
        if available < needed.all_ports {
            let limit = settings.switch.buffer.limit(&settings.switch.queue);
            let raised = largest.own.as_deref().unwrap_or(limit.field);
            findings.warn(
                &places(&largest.own, &[THRESHOLDS, BUFFER, DRC]),
                format!(
                    "the buffer above the last threshold is {available}, but if all {} other ports \
                     of {} send to one queue it takes {}",
                    needed.others, needed.switch, needed.all_ports
                ),
                format!("frames may be lost: lower the thresholds or raise `{raised}`"),
            );
        }
    }
}

/// What a queue that may hold so much still takes when the last threshold of its port is reached.
fn above_stop(settings: &Document, spec: &Spec, largest: Bytes) -> Bytes {
    let queue = &settings.switch.queue;
    let [.., stop] = spec.rises(spec.buffer(queue.count, queue.size));
    Bytes(largest.0.saturating_sub(stop))
}

/// What a queue still takes when the last threshold of its port is reached, if it has a limit; what one
/// link may need of that, and all ports of a switch: of the switches that have least beyond their need.
pub fn headroom_above_stop(
    settings: &Document,
    spec: &Spec,
    graph: &Graph,
) -> (Option<Bytes>, Bytes, Bytes) {
    let of = |largest: Largest| {
        let needed = headroom_of_directions(settings, spec, graph, largest.switches.into_iter());
        (above_stop(settings, spec, largest.bytes), needed.one_link, needed.all_ports)
    };
    let spare = |&(available, _, needed): &(Bytes, Bytes, Bytes)| {
        i128::from(available.0) - i128::from(needed.0)
    };
    match largest_queues(settings, graph).into_iter().map(of).min_by_key(spare) {
        Some((available, one_link, all_ports)) => (Some(available), one_link, all_ports),
        None => {
            let needed = headroom_of_directions(settings, spec, graph, graph.switches());
            (None, needed.one_link, needed.all_ports)
        }
    }
}

/// What is needed above the last threshold.
struct Needed<'a> {
    /// On the link that needs most.
    one_link: Bytes,
    /// If all other ports of a switch send to the same port, of the switch where that is most.
    all_ports: Bytes,
    /// That switch.
    switch: &'a str,
    /// How many other ports it has.
    others: usize,
}

/// The headroom of Directional Rate Control in some switches.
fn headroom_of_directions<'a>(
    settings: &Document,
    spec: &Spec,
    graph: &'a Graph,
    switches: impl Iterator<Item = NodeId>,
) -> Needed<'a> {
    let mut kinds = BTreeMap::new();
    let mut most = Needed { one_link: Bytes(0), all_ports: Bytes(0), switch: "", others: 0 };
    for switch in switches {
        let node = graph.node(switch);
        let ports = node.ports.len();
        let need = |&(rate, delay, ports): &_| {
            spec.headroom(&Hop {
                rate,
                delay,
                largest_frame: largest_frame(settings),
                wire_overhead: settings.wire_overhead.0 as u16,
                ports,
                latency: settings.switch.latency,
            })
        };
        let (mut total, mut least) = (Bytes(0), Bytes(u64::MAX));
        for end in &node.ports {
            let kind = (end.rate, end.delay, ports);
            let need = *kinds.entry(kind).or_insert_with_key(need);
            most.one_link = most.one_link.max(need);
            (total, least) = (Bytes(total.0.saturating_add(need.0)), least.min(need));
        }
        // The port that they send to does not send to itself.
        if ports > 0 && total - least > most.all_ports {
            most.all_ports = total - least;
            (most.switch, most.others) = (&node.name, ports - 1);
        }
    }
    most
}
