//! Whether the packets of flows without a size can be numbered. Those of flows with a size are
//! looked at with the workloads.

use floodway_model::{Bytes, Graph};

use super::super::Problems;
use super::Placed;
use crate::document::Document;
use crate::workload::Ready;

/// Checks the flows of all workloads that are sent over this transport.
pub fn check(
    placed: &Placed,
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    let numbered = workloads.iter().zip(&settings.workload).enumerate();
    let mut of_this = numbered.filter(|(number, (_, entry))| {
        super::path(*number, "transport", entry.transport.is_some()) == placed.transport_path
    });
    if !of_this.any(|(_, (workload, _))| workload.persistent_flows() > 0) {
        return;
    }
    let Some(fastest) = graph.hosts().map(|host| graph.node(host).ports[0].rate).max() else {
        return;
    };
    let frame = u64::from(placed.transport.largest_frame());
    let wire = Bytes(frame + settings.wire_overhead.0);
    let packets = settings.limit.0 / fastest.time_for(wire).0.max(1);
    if packets < u64::from(u32::MAX) {
        return;
    }
    let field = placed.of_transport(placed.transport.full().field);
    findings.error(
        &["limit", &field],
        format!(
            "a flow without a size could send {packets} packets at {fastest} until the limit, and \
             packet numbers end at {}",
            u32::MAX
        ),
        format!("lower `limit`, or raise `{field}`"),
    );
}
