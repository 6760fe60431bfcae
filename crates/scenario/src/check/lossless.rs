//! Whether any workload sends in a queue that PFC pauses, where DSCPs decide about queues.

use floodway_model::marking::DSCPS;
use floodway_model::{Dscp, Ecn, Marking, NodeId};
use floodway_sim::host::{Profile, transport};
use floodway_sim::switch::classify::{self, Classifier, dscp};
use floodway_sim::switch::flow_control::pfc;

use super::Problems;
use crate::document::Document;
use crate::workload::linux;

/// Warns if none does: everything is then dropped when buffers are full, as without PFC.
pub fn check(settings: &Document, findings: &mut Problems<'_>) {
    let switch = &settings.switch;
    let classify::Spec::Dscp(map) = &switch.classify else { return };
    let Some(pfc) = switch.flow_control.pfc.as_ref().filter(|pfc| !pfc.queues.is_empty()) else {
        return;
    };
    // Congestion Isolation moves packets to another queue, and kernels write DSCPs of their own.
    let moves = switch.flow_control.congestion_isolation.is_some();
    if moves || !linux::all(settings).is_empty() {
        return;
    }
    let queue_of = |dscp: Dscp| map.queue(dscp, Ecn::NotEct, NodeId::default(), switch.queue.count);
    let profiles = settings.profiles();
    let queues: Vec<u8> =
        profiles.iter().map(|of| queue_of(of.dscp.unwrap_or(Dscp::DEFAULT))).collect();
    if queues.iter().any(|queue| pfc.covers(*queue)) {
        return;
    }
    // Losses hurt RDMA most: it is what lossless queues are for.
    let is_rdma = |of: &Profile| matches!(of.transport, transport::Spec::Rocev2(_));
    let number = profiles.iter().position(is_rdma).unwrap_or(0);
    let Some((entry, queue)) = settings.workload.get(number).zip(queues.get(number)) else {
        return;
    };
    let name = match &entry.name {
        Some(name) => format!("`{name}`"),
        None => format!("workload {number}"),
    };
    let place = format!("workload.{number}");
    findings.warn(
        &[&format!("{place}.dscp"), &format!("{place}.{}", entry.traffic.name())],
        format!(
            "no workload sends in {}: {name} is in queue {queue}, which PFC does not pause",
            paused(pfc)
        ),
        match reaching(map, pfc) {
            Some(dscp) => format!(
                "write dscp = {dscp} in [[workload]] of {name}, or remove `switch.flow_control.pfc`"
            ),
            None => format!(
                "no DSCP leads there: give queue {} one in `switch.classify.dscp.queues`, and write it in \
                 [[workload]] of {name}",
                pfc.queues[0]
            ),
        },
    );
}

/// The queues that PFC pauses, for messages.
fn paused(pfc: &pfc::Spec) -> String {
    let (last, others) = pfc.queues.split_last().expect("PFC names its queues");
    let others: Vec<String> = others.iter().map(u8::to_string).collect();
    match others.is_empty() {
        true => format!("lossless queue {last}"),
        false => format!("lossless queues {} and {last}", others.join(", ")),
    }
}

/// A DSCP of a queue that PFC pauses, as scenarios write it: if possible one that is written there.
fn reaching(map: &dscp::Spec, pfc: &pfc::Spec) -> Option<String> {
    let entries = map.queues.entries();
    let listed = entries.iter().filter(|of| pfc.covers(of.queue)).find_map(|of| of.dscp.first());
    let is_free = |marking: &Marking| entries.iter().all(|of| !of.dscp.contains(marking));
    let unlisted = || (0..DSCPS).filter_map(Marking::new).find(is_free);
    let found = listed.copied().or_else(|| unlisted().filter(|_| pfc.covers(map.default)))?;
    serde_json::to_string(&found).ok()
}
