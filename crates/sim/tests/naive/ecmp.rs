//! Routes by hop count, and the choice of one of several next hops by a hash of the flow.

use floodway_model::{NodeId, random};
use floodway_sim::Spec;

/// The port by which `flow` leaves the switch `at` towards the host `dst`.
pub fn egress(spec: &Spec, at: NodeId, dst: NodeId, flow: u32) -> usize {
    let distances = spec.graph.distances(dst);
    let hops = |node: NodeId| distances[node.index()].expect("every host can be reached");
    let ports = spec.graph.node(at).ports.iter().enumerate();
    let closer =
        ports.filter(|(_, end)| distances[end.peer.index()].is_some() && hops(end.peer) < hops(at));
    let equal: Vec<usize> = closer.map(|(port, _)| port).collect();
    // 2^64 divided by the golden ratio spreads small numbers before SplitMix64 mixes them; the
    // choice is the integer part of the hash as a fraction of one, times the number of next hops.
    let name = u64::from(at.0) << 32 | u64::from(flow);
    let hash = random::mix(name.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % (1 << 32);
    equal[(hash * equal.len() as u64 / (1 << 32)) as usize]
}
