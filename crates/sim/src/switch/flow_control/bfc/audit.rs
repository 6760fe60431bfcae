//! End-of-run check that pause counters, the pauses last sent, and the pauses that neighbors obey
//! agree.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::id::CLASSES;
use floodway_model::{Body, NodeId, Packet};
use serde::{Deserialize, Serialize};

use super::{Bfc, PhysicalQueues};
use crate::host::Host;
use crate::switch::Switch;
use crate::switch::flow_control::pausing::{Source, source_of};

/// A physical queue at its sending end: node, port, class, physical queue.
type End = (NodeId, usize, u8, u8);

/// State at the end of a run that is to be checked.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Audit {
    /// Inconsistencies within a switch, one sentence each.
    wrong: Vec<String>,
    /// Physical queues that the next hop has paused.
    told: BTreeSet<End>,
    /// Physical queues that are paused.
    obeyed: BTreeSet<End>,
    /// While the latest frame about a physical queue is queued or on the wire, its receiver does not
    /// obey it yet.
    unsettled: BTreeSet<End>,
}

impl Audit {
    /// Adds what another process has found in its nodes.
    pub fn merge(&mut self, other: Self) {
        self.wrong.extend(other.wrong);
        self.told.extend(other.told);
        self.obeyed.extend(other.obeyed);
        self.unsettled.extend(other.unsettled);
    }

    /// Inconsistencies, one sentence each.
    pub fn violations(self) -> Vec<String> {
        let Self { mut wrong, told, obeyed, unsettled } = self;
        let differ =
            told.symmetric_difference(&obeyed).filter(|end| !unsettled.contains(end)).count();
        if differ > 0 {
            wrong.push(format!(
                "{differ} physical queues are not in the state that the next hop has signalled"
            ));
        }
        wrong
    }
}

/// What is to be checked in these nodes.
pub(crate) fn audit(switches: &[Switch], hosts: &[Host], in_flight: &[Packet]) -> Audit {
    let Audit { mut wrong, mut told, mut obeyed, mut unsettled } = Audit::default();
    let on_wires = in_flight.iter();
    unsettled.extend(on_wires.filter_map(|frame| subject(frame, frame.dst, frame.ingress.index())));
    for switch in switches {
        let Some(bfc) = switch.mechanisms.bfc.as_deref() else { continue };
        let mut counted = BTreeMap::new();
        for end in waiting(switch, bfc) {
            *counted.entry(end).or_insert(0) += 1;
        }
        for (number, port) in switch.ports.iter().enumerate() {
            let link = port.tx.link();
            let peer = link.peer_port.index();
            let about = |frame| subject(frame, link.peer, peer);
            unsettled.extend(port.link_control().filter_map(about));
            for class in 0..CLASSES {
                let source = Source::new(number, class);
                for (physical_queue, &count) in bfc.counts(source).iter().enumerate() {
                    let physical_queue = physical_queue as u8;
                    if count != counted.remove(&(source, physical_queue)).unwrap_or(0) {
                        wrong.push(format!("{}: a pause counter is wrong", switch.id()));
                    }
                    if count > 0 {
                        told.insert((link.peer, peer, class as u8, physical_queue));
                    }
                }
            }
            for (class, queue) in port.queues.iter().enumerate() {
                let paused = queue
                    .discipline::<PhysicalQueues>()
                    .map(|physical_queues| physical_queues.paused().queues().iter());
                let end = |physical_queue| (switch.id(), number, class as u8, physical_queue);
                obeyed.extend(paused.into_iter().flatten().map(end));
            }
        }
        if !counted.is_empty() {
            wrong.push(format!("{}: packets count without a pause counter", switch.id()));
        }
    }
    for host in hosts {
        let paused =
            host.nic.physical_queues.iter().flat_map(|physical_queues| physical_queues.paused());
        obeyed.extend(paused.map(|(class, physical_queue)| (host.id(), 0, class, physical_queue)));
    }
    Audit { wrong, told, obeyed, unsettled }
}

/// Ingress port, class and upstream physical queue of each packet that is counted there as a reason
/// to pause.
fn waiting(switch: &Switch, bfc: &Bfc) -> Vec<(Source, u8)> {
    let mut counted = Vec::new();
    for (egress, port) in switch.ports.iter().enumerate() {
        for (queue, books) in port.queues.iter().enumerate() {
            let Some(physical_queues) = books.discipline::<PhysicalQueues>() else { continue };
            for (physical_queue, came) in bfc.waiting(egress, queue).enumerate() {
                let of_packet =
                    physical_queues.packets(physical_queue).map(|queued| source_of(&queued.packet));
                counted.extend(
                    of_packet
                        .zip(came)
                        .filter_map(|(of, physical_queue)| Some((of, physical_queue?))),
                );
            }
        }
    }
    counted
}

/// The physical queue that a frame to this node and port is about.
fn subject(frame: &Packet, node: NodeId, port: usize) -> Option<End> {
    match frame.body {
        Body::Bfc { class, physical_queue, .. } => Some((node, port, class, physical_queue)),
        _ => None,
    }
}
