//! Rounds of a job of which only the first are simulated.
//!
//! The run ends when the last of them is complete, so that it is the beginning of the run of all rounds. Its
//! specification has one more round than is simulated, because ranks go on to the next round when they have finished
//! their part of one, and so disturb those that have not.

use floodway_model::graph::NodeKind;
use floodway_model::{FlowId, Program};
use serde::Serialize;

use crate::Spec;
use crate::host::{self, congestion, transport};
use crate::switch::{self, aqm, discipline, fabric, flow_control, overflow, path};

/// Which rounds of which workload are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SampledRounds {
    /// The workload: its operations are collectives, one for each round, or its ranks have programs with
    /// [`rounds`](Program::rounds).
    pub workload: u16,
    /// Rounds that are simulated, at least 1.
    pub simulated: u32,
    /// Of these, rounds at the beginning that estimates leave out.
    pub warmup: u32,
    /// Rounds of the whole job.
    pub of: u32,
}

impl SampledRounds {
    /// Whether an operation of a workload is a round that is not simulated as a whole.
    pub(crate) fn cuts(&self, workload: u16, operation: u32) -> bool {
        workload == self.workload && operation >= self.simulated
    }

    /// Number of the first steps of a program whose end the run waits for: all of a job that is not sampled.
    pub(crate) fn steps(&self, program: &Program) -> u32 {
        let all = program.steps.len() as u32;
        match program.rounds.get(self.simulated as usize - 1) {
            Some(&end) if program.workload == self.workload => end,
            _ => all,
        }
    }
}

/// By flow: whether it is of a simulated round of the sampled workload, so that the run waits for it. Of ranks with programs
/// these are flows that they send; what others forward of them is awaited with the steps that receive it.
pub(crate) fn within(spec: &Spec, sampled: &SampledRounds) -> Vec<bool> {
    let mut within = vec![false; spec.flows.len()];
    let mut set = |flow: FlowId| within[flow.index()] = true;
    for operation in spec.operations.iter().filter(|one| !one.job && !one.of_job) {
        let workload = spec.flows.at(operation.flows.at(0).index()).workload;
        if workload == sampled.workload && !sampled.cuts(workload, operation.number) {
            operation.flows.each().for_each(&mut set);
        }
    }
    for program in spec.programs.iter().filter(|program| program.workload == sampled.workload) {
        let steps = sampled.steps(program);
        program.sent().filter(|(step, _)| *step < steps).for_each(|(_, flow)| set(flow));
    }
    within
}

/// Whether a network in which nothing moves has no memory of what moved before, so that a round that begins then depends on
/// nothing but when each rank begins it. True only where all of these are known to hold:
///
/// - There is no traffic but the sampled job, and no failure, random loss, bit error, pace or kernel.
/// - Every flow has one path whatever its number, because each host has one port and switches form a tree.
/// - State of switches is about what is queued or paused: one data queue, first in, first out, with a threshold or without
///   AQM, PFC or no flow control, no crossbar, whose slots are at absolute times.
/// - State of hosts is that of flows, which each have a congestion control of their own that draws no random numbers.
pub(crate) fn forgets(spec: &Spec, sampled: &SampledRounds) -> bool {
    let alone = spec.flows.each().all(|flow| flow.workload == sampled.workload);
    let undisturbed = spec.failures.is_empty()
        && spec.losses.is_empty()
        && spec.errors.is_empty()
        && spec.paces.is_empty()
        && spec.kernels.is_empty();
    alone
        && undisturbed
        && has_one_path(spec)
        && switches_forget(&spec.switch)
        && hosts_forget(spec)
}

/// Whether there is one path between any two hosts.
fn has_one_path(spec: &Spec) -> bool {
    let of_switches = |id| matches!(spec.graph.node(id).kind, NodeKind::Switch { .. });
    let switches = spec.graph.switches().count();
    let ends = spec.graph.switches().flat_map(|id| &spec.graph.node(id).ports);
    let between = ends.filter(|end| of_switches(end.peer)).count() / 2;
    // Connected, or hosts could not reach each other.
    !spec.graph.has_several_ports() && between + 1 == switches
}

fn switches_forget(switch: &switch::Spec) -> bool {
    let pausing = flow_control::Spec { pfc: None, ..switch.flow_control.clone() };
    switch.queue.count == 1
        && switch.queue.discipline == discipline::Spec::default()
        && matches!(switch.fabric, fabric::Spec::OutputQueued(_))
        && matches!(switch.overflow, overflow::Spec::Drop(_))
        && matches!(switch.aqm, aqm::Spec::DropTail(_) | aqm::Spec::Step(_))
        && matches!(switch.path, path::Spec::Ecmp(_))
        && switch.congestion_indication.is_none()
        && pausing == flow_control::Spec::default()
}

fn hosts_forget(spec: &Spec) -> bool {
    let known = |profile: &host::Profile| {
        matches!(profile.transport, transport::Spec::Rocev2(_) | transport::Spec::Ethernet(_))
            && profile.application.is_none()
            && matches!(
                profile.congestion,
                congestion::Spec::LineRate(_)
                    | congestion::Spec::ConstantRate(_)
                    | congestion::Spec::Dcqcn(_)
                    | congestion::Spec::Swift(_)
            )
    };
    spec.host.buffer.is_none() && spec.profiles.iter().all(known)
}
