//! End-of-run check that pause counters, the pauses last sent, and the pauses that neighbors obey
//! agree.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::id::CLASSES;
use floodway_model::{Body, NodeId, Packet};

use super::{Bfc, Lanes};
use crate::host::Host;
use crate::switch::Switch;
use crate::switch::flow_control::pausing::{Source, source_of};

/// A physical queue at its sending end: node, port, class, lane.
type End = (NodeId, usize, u8, u8);

/// Inconsistencies at the end of a run, one sentence each.
pub(crate) fn audit(switches: &[Switch], hosts: &[Host], in_flight: &[Packet]) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut told, mut obeyed) = (BTreeSet::<End>::new(), BTreeSet::<End>::new());
    // While the latest frame about a lane is queued or on the wire, its receiver does not obey it
    // yet.
    let mut unsettled: BTreeSet<End> = in_flight
        .iter()
        .filter_map(|frame| subject(frame, frame.dst, frame.ingress.index()))
        .collect();
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
                for (lane, &count) in bfc.counts(source).iter().enumerate() {
                    let lane = lane as u8;
                    if count != counted.remove(&(source, lane)).unwrap_or(0) {
                        wrong.push(format!("{}: a pause counter is wrong", switch.id()));
                    }
                    if count > 0 {
                        told.insert((link.peer, peer, class as u8, lane));
                    }
                }
            }
            for (class, queue) in port.queues.iter().enumerate() {
                let paused =
                    queue.discipline::<Lanes>().map(|lanes| lanes.paused().queues().iter());
                let end = |lane| (switch.id(), number, class as u8, lane);
                obeyed.extend(paused.into_iter().flatten().map(end));
            }
        }
        if !counted.is_empty() {
            wrong.push(format!("{}: packets count without a pause counter", switch.id()));
        }
    }
    for host in hosts {
        let paused = host.nic.lanes.iter().flat_map(|lanes| lanes.paused());
        obeyed.extend(paused.map(|(class, lane)| (host.id(), 0, class, lane)));
    }
    let differ = told.symmetric_difference(&obeyed).filter(|end| !unsettled.contains(end)).count();
    if differ > 0 {
        wrong.push(format!(
            "{differ} physical queues are not in the state that the next hop has signalled"
        ));
    }
    wrong
}

/// Ingress port, class and upstream lane of each packet that is counted there as a reason to pause.
fn waiting(switch: &Switch, bfc: &Bfc) -> Vec<(Source, u8)> {
    let mut counted = Vec::new();
    for (egress, port) in switch.ports.iter().enumerate() {
        for (queue, books) in port.queues.iter().enumerate() {
            let Some(lanes) = books.discipline::<Lanes>() else { continue };
            for (lane, came) in bfc.waiting(egress, queue).enumerate() {
                let of_packet = lanes.packets(lane).map(|queued| source_of(&queued.packet));
                counted.extend(of_packet.zip(came).filter_map(|(of, lane)| Some((of, lane?))));
            }
        }
    }
    counted
}

/// The lane that a frame to this node and port is about.
fn subject(frame: &Packet, node: NodeId, port: usize) -> Option<End> {
    match frame.body {
        Body::Bfc { class, lane, .. } => Some((node, port, class, lane)),
        _ => None,
    }
}
