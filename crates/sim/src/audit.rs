//! The audit at the end of every run: sums that must agree, and what nodes find wrong in themselves.
//! [`Audit::of`] takes it from nodes; those of several processes can be added.

use std::collections::BTreeMap;

use floodway_model::{Body, NodeId};
use serde::{Deserialize, Serialize};

use crate::Spec;
use crate::host::Host;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::flow_control::bfc;

/// State at the end of a run that is to be checked.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Audit {
    /// What is wrong within a node: whether it is a host, the node, and a sentence.
    nodes: Vec<(bool, NodeId, String)>,
    bfc: bfc::Audit,
    sums: Sums,
    /// Telemetry records in use; `None` if no flow uses telemetry.
    records: Option<u64>,
    /// The name of a host that is a kernel and was not connected to one.
    unconnected: Option<String>,
}

/// Declares sums, each with what is counted.
macro_rules! sums {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Numbers of frames.
        #[derive(Debug, Default, Serialize, Deserialize)]
        struct Sums {
            $($(#[doc = $doc])+ $name: u64,)+
        }

        impl Sums {
            fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)+
            }
        }
    };
}

sums! {
    /// Generated.
    made,
    /// Delivered, consumed or dropped.
    ended,
    /// Of these, dropped by switches.
    dropped,
    /// Queued in switches.
    held,
    /// Queued in NICs.
    in_nics,
    /// On a wire.
    flies,
    /// Lost on links.
    lost,
    /// Packets trimmed.
    trimmed,
    /// Headers of trimmed packets that were dropped.
    headers_dropped,
    /// Headers that have arrived.
    headers_arrived,
    /// Headers in switches and on wires.
    headers_on_path,
    /// Headers lost on links. Hosts do not forward, so these are links of switches.
    headers_lost,
    /// Credit frames sent.
    credits_sent,
    /// Credit frames that have arrived.
    credits_arrived,
    /// Credit frames in NICs, in switches and on wires.
    credits_on_path,
    /// Frames in switches and on wires that have a telemetry record.
    with_record,
    /// Frames of kernels in switches and on wires.
    of_kernels,
    /// Frames of kernels whose octets are kept.
    octets_kept,
}

impl Audit {
    /// What is to be checked in the nodes of a process.
    pub fn of(spec: &Spec, finished: &Finished) -> Self {
        let (switches, hosts) = (&finished.switches, &finished.hosts);
        Self {
            nodes: of_nodes(spec, finished),
            bfc: bfc::audit(switches, hosts, &finished.in_flight),
            sums: sums(finished),
            records: finished.records,
            unconnected: finished.unconnected.map(|host| spec.graph.node(host).name.clone()),
        }
    }

    /// Adds what another process found in its nodes.
    pub fn merge(&mut self, other: Self) {
        self.nodes.extend(other.nodes);
        self.nodes.sort_by_key(|(is_host, node, _)| (*is_host, *node));
        self.bfc.merge(other.bfc);
        self.sums.add(&other.sums);
        if let Some(records) = other.records {
            *self.records.get_or_insert(0) += records;
        }
        self.unconnected = self.unconnected.take().or(other.unconnected);
    }

    /// Detected errors, one sentence each: none, unless floodway has a bug or a "lossless" network
    /// loses packets.
    pub fn violations(self) -> Vec<String> {
        let mut wrong: Vec<String> = self.nodes.into_iter().map(|(.., what)| what).collect();
        if let Some(kernel) = self.unconnected {
            wrong.push(format!(
                "{kernel}: it is a Linux kernel, which has not run; only `floodway emulate` runs kernels"
            ));
        }
        wrong.extend(self.bfc.violations());
        wrong.extend(telemetry(self.records, &self.sums));
        wrong.extend(octets(&self.sums));
        wrong.extend(trimming(&self.sums));
        wrong.extend(credit(&self.sums));
        wrong.extend(frames(&self.sums));
        wrong
    }
}

/// What nodes find wrong in themselves: switches first, in order of node.
fn of_nodes(spec: &Spec, finished: &Finished) -> Vec<(bool, NodeId, String)> {
    let mut wrong = Vec::new();
    let name = |id: NodeId| &spec.graph.node(id).name;
    for switch in &finished.switches {
        let id = switch.id();
        let sentence = |what: &_| (false, id, format!("{}: {what}", name(id)));
        wrong.extend(switch.audit().iter().map(sentence));
    }
    // With failover, frames that one port makes may leave by another one of its host.
    let accounts = |id: NodeId| if spec.host.failover { spec.graph.host_of(id) } else { id };
    let mut frames: BTreeMap<NodeId, [u64; 3]> = BTreeMap::new();
    for host in &finished.hosts {
        let sums = frames.entry(accounts(host.id())).or_default();
        sums.iter_mut().zip(host.frames()).for_each(|(sum, of_port)| *sum += of_port);
    }
    for host in &finished.hosts {
        let id = host.id();
        if let Some([made, sent, waits]) = frames.remove(&id).filter(|[a, b, c]| *a != b + c) {
            let what = format!("{made} frames were made and {sent} sent while {waits} wait");
            wrong.push((true, id, format!("{}: {what}", name(id))));
        }
        let reordered = host.receivers.reordered();
        if reordered > 0 && keeps_order(spec) {
            wrong.push((
                true,
                id,
                format!("{}: {reordered} packets arrived out of order", name(id)),
            ));
        }
    }
    wrong
}

/// Whether packets of a flow cannot overtake each other.
fn keeps_order(spec: &Spec) -> bool {
    // Packets with different entropy take different paths.
    if spec.profiles.iter().any(|profile| profile.transport.entropies() > 1) {
        return false;
    }
    let switch = &spec.switch;
    // Of packets before and after a change, the later ones may have the faster queue.
    let stays = spec.changes.iter().all(|change| change.switch.classify == switch.classify);
    stays && switch.classify.keeps_order() && switch.path.keeps_order() && spec.failures.is_empty()
}

fn sums(finished: &Finished) -> Sums {
    let (switches, hosts) = (&finished.switches, &finished.hosts);
    let ports = || switches.iter().flat_map(|switch| &switch.ports).map(|port| &port.tx);
    let trimming = || switches.iter().filter_map(|switch| switch.trimming.as_ref());
    let on_path = || switches.iter().flat_map(Switch::held).chain(&finished.in_flight);
    let dropped = switches.iter().map(|switch| switch.dropped).sum::<u64>();
    let credits = on_path().chain(hosts.iter().flat_map(|host| host.nic.feedback()));
    let is_credit = |body: &Body| matches!(body, Body::Credit { .. });
    let is_octets = |body: &Body| matches!(body, Body::Octets { .. });
    let is_header = |body: &Body| matches!(body, Body::Trimmed { .. });
    Sums {
        made: switches.iter().map(|switch| switch.emitted).sum::<u64>()
            + hosts.iter().map(|host| host.emitted).sum::<u64>(),
        ended: dropped
            + switches.iter().map(|switch| switch.consumed).sum::<u64>()
            + hosts.iter().map(|host| host.consumed).sum::<u64>(),
        dropped,
        held: switches.iter().map(|switch| switch.held().count() as u64).sum(),
        in_nics: hosts.iter().map(|host| host.nic.waiting() as u64).sum(),
        flies: finished.in_flight.len() as u64,
        lost: ports()
            .chain(hosts.iter().map(|host| &host.nic.tx))
            .map(|tx| tx.lost() + tx.errors().lost)
            .sum(),
        trimmed: trimming().map(|trimming| trimming.trimmed).sum(),
        headers_dropped: trimming().map(|trimming| trimming.headers_dropped).sum(),
        headers_arrived: hosts.iter().map(|host| host.headers).sum(),
        headers_on_path: on_path().filter(|packet| is_header(&packet.body)).count() as u64,
        headers_lost: ports().filter_map(|tx| tx.outages()).map(|of| of.lost_headers).sum(),
        credits_sent: hosts.iter().map(Host::credits_sent).sum(),
        credits_arrived: hosts.iter().map(|host| host.credits_received).sum(),
        credits_on_path: credits.filter(|frame| is_credit(&frame.body)).count() as u64,
        of_kernels: on_path().filter(|packet| is_octets(&packet.body)).count() as u64,
        octets_kept: finished.octets,
        with_record: on_path().filter(|packet| packet.record().is_some()).count() as u64,
    }
}

/// Every generated frame has ended, is queued in a node, or is on a wire.
fn frames(sums: &Sums) -> Option<String> {
    let Sums { made, ended, flies, lost, .. } = sums;
    let waits = sums.held + sums.in_nics;
    (*made != ended + waits + flies + lost).then(|| {
        let lost = match lost {
            0 => String::new(),
            lost => format!(", {lost} were lost on links"),
        };
        format!(
            "{made} frames were made, {ended} ended, {waits} wait and {flies} are on the wire{lost}"
        )
    })
}

/// Every trimmed packet is a header that has arrived, is queued, is on a wire, or is counted as
/// lost.
fn trimming(sums: &Sums) -> Option<String> {
    let (trimmed, arrived, dropped) = (sums.trimmed, sums.headers_arrived, sums.headers_dropped);
    let (on_path, lost) = (sums.headers_on_path, sums.headers_lost);
    (trimmed != arrived + dropped + on_path + lost).then(|| {
        format!(
            "{trimmed} packets were trimmed; of their headers {arrived} have arrived, {dropped} were \
             dropped, {on_path} are on their path and {lost} were lost on links"
        )
    })
}

/// No credit was created from nothing. If no frame was dropped or lost, all credit has arrived or
/// is on its path.
fn credit(sums: &Sums) -> Option<String> {
    let (sent, arrived, on_path) = (sums.credits_sent, sums.credits_arrived, sums.credits_on_path);
    let lost = sums.dropped + sums.lost;
    let known = arrived + on_path..=arrived + on_path + lost;
    (!known.contains(&sent)).then(|| {
        format!(
            "{sent} credit frames were sent; {arrived} have arrived, {on_path} are on their path and \
             {lost} frames of any kind were lost"
        )
    })
}

/// Octets are kept of frames in switches, on wires and in NICs, and of those that were lost on links.
fn octets(sums: &Sums) -> Option<String> {
    let (kept, carried) = (sums.octets_kept, sums.of_kernels);
    (!(carried..=carried + sums.in_nics + sums.lost).contains(&kept)).then(|| {
        format!("octets of {kept} frames of kernels are kept, and {carried} are in the network")
    })
}

/// Every telemetry record is free or belongs to a packet, in a switch, on a wire or in a NIC.
fn telemetry(records: Option<u64>, sums: &Sums) -> Option<String> {
    let (taken, carried) = (records?, sums.with_record);
    let known = carried..=carried + sums.in_nics;
    (!known.contains(&taken)).then(|| {
        format!(
            "{taken} telemetry records are taken, and {carried} packets in the network have one"
        )
    })
}
