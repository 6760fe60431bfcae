//! Whether hosts can be Linux kernels beside what else a scenario has.

use std::collections::BTreeMap;

use floodway_model::{Graph, NodeId};
use floodway_sim::switch::flow_control::{congestion_isolation, source_flow_control};

use super::Problems;
use crate::document::Document;
use crate::workload::linux::{self, MOST_KERNELS};
use crate::workload::{self, Ready};

/// Checks what needs no network.
pub fn check(settings: &Document, findings: &mut Problems<'_>) {
    let mut of: BTreeMap<u32, usize> = BTreeMap::new();
    let mut last = None;
    for (number, spec) in linux::specs(settings) {
        last = Some(number);
        let hosts = format!("workload.{number}.linux.hosts");
        for host in spec.hosts.numbers(&settings.topology).unwrap_or_default() {
            if let Some(other) = of.insert(host, number).filter(|other| *other != number) {
                findings.error(
                    &[&hosts],
                    format!("host {host} is a kernel of workload {other} already"),
                    "a host runs one command: name it in one workload, and write both commands there",
                );
            }
        }
        let entry = &settings.workload[number];
        let own = [
            ("transport", entry.transport.is_some()),
            ("application", entry.application.is_some()),
        ];
        for (name, _) in own.into_iter().filter(|(_, is_own)| *is_own) {
            findings.error(
                &[&format!("workload.{number}.{name}")],
                format!("a Linux kernel does not have the {name} of the simulation"),
                "remove it; what the kernel sends, `run` decides",
            );
        }
    }
    let Some(last) = last else { return };
    let hosts = format!("workload.{last}.linux.hosts");
    match of.len() {
        1 => findings.error(
            &[&hosts],
            "there is one kernel, which has nobody to talk to",
            "kernels talk to kernels: name another host, in this workload or in another one",
        ),
        many if many > MOST_KERNELS => findings.error(
            &[&hosts],
            format!("there are {many} kernels"),
            format!("at most {MOST_KERNELS} are possible: name fewer hosts"),
        ),
        _ => {}
    }
    check_mechanisms(settings, findings);
}

/// Mechanisms by which switches talk to hosts need hosts that understand them. Isolation stays within switches if NICs do not
/// take part, and Source Flow Control has edge switches that send PFC frames to NICs, which obey those.
fn check_mechanisms(settings: &Document, findings: &mut Problems<'_>) {
    let (switch, control) = (&settings.switch, &settings.switch.flow_control);
    let native = |spec: &source_flow_control::Spec| spec.mode == source_flow_control::Mode::Native;
    let nics = |spec: &congestion_isolation::Spec| spec.hosts;
    let not_understood = [
        (
            "host.buffer",
            settings.host.buffer.is_some(),
            "is filled from senders of the simulation, and the NIC of a Linux kernel takes what the kernel sends",
        ),
        (
            "switch.overflow",
            switch.overflow.trims().is_some(),
            "trims packets to headers, which TCP of Linux does not understand",
        ),
        (
            "switch.congestion_indication",
            switch.congestion_indication.is_some(),
            "needs NICs that understand indications, and those of Linux kernels do not",
        ),
        (
            "switch.flow_control.bfc",
            control.bfc.is_some(),
            "pauses single queues of NICs, and those of Linux kernels have one for each class",
        ),
        (
            "switch.flow_control.drc",
            control.drc.is_some(),
            "needs NICs that pace by direction, and those of Linux kernels do not",
        ),
        (
            "switch.flow_control.qcn",
            control.qcn.is_some(),
            "needs rate limiters in NICs, and those of Linux kernels have none",
        ),
    ];
    let remedy = "remove it, or [workload.linux]; queue management, scheduling, PFC, PAUSE, Congestion Isolation and Source \
                  Flow Control are possible";
    for (path, _, why) in not_understood.into_iter().filter(|(_, is_there, _)| *is_there) {
        findings.error(&[path], format!("`{path}` {why}"), remedy);
    }
    if control.congestion_isolation.as_ref().is_some_and(nics) {
        findings.error(
            &["switch.flow_control.congestion_isolation.hosts", "switch.flow_control.congestion_isolation"],
            "NICs would move flows to the congesting class, and those of Linux kernels do not understand CIMs",
            "write `hosts = false`: switches then isolate flows among themselves",
        );
    }
    if control.source_flow_control.as_ref().is_some_and(native) {
        findings.error(
            &["switch.flow_control.source_flow_control.mode"],
            "sources would obey messages of Source Flow Control, and Linux kernels do not understand them",
            "write `mode = \"proxy\"`: the edge switch then pauses their NICs by PFC",
        );
    }
}

/// Checks that no simulated flow begins or ends at a kernel.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    let kernels = linux::all(settings);
    if kernels.is_empty() || workloads.len() < settings.workload.len() {
        return;
    }
    let hosts: Vec<NodeId> = graph.first_ports().collect();
    let number_of = |node: NodeId| hosts.iter().position(|host| *host == node).unwrap_or(0);
    let order = workload::order(settings, graph, settings.seed);
    let shares = workload::surroundings(workloads, settings, graph, &order, settings.seed);
    for (workload, around) in shares {
        let entry = &settings.workload[usize::from(around.number)];
        if matches!(entry.traffic, workload::Spec::Linux(_)) {
            continue;
        }
        let ends = workload.flows(around).into_iter().flat_map(|flow| [flow.src, flow.dst]);
        let kernel = ends.map(number_of).find(|host| kernels.contains_key(&(*host as u32)));
        if let Some(host) = kernel {
            findings.error(
                &[&format!("workload.{}.{}", around.number, entry.traffic.name())],
                format!("a simulated flow begins or ends at host {host}, which is a Linux kernel"),
                "simulated flows cross the same switches as those of kernels, between other hosts: name others",
            );
        }
    }
}
