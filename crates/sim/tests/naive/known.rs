//! What the naive simulator models. Everything else is refused before a run, so that a comparison
//! with the engine never leaves a mechanism out.

use floodway_sim::Spec;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::host::{Profile, congestion, transport};
use floodway_sim::switch::flow_control::pfc::MeasuredOn;
use floodway_sim::switch::{self, aqm, buffer, classify, fabric, flow_control, path, scheduler};

/// Panics if the naive simulator has no model of something that the engine would simulate.
pub fn check(spec: &Spec) {
    let has = |known: bool, what: &str| assert!(known, "the naive simulator has no {what}");
    check_switch(&spec.switch, has);
    spec.profiles.iter().for_each(|profile| check_profile(profile, has));
    let by_size = matches!(spec.switch.classify, classify::Spec::MiceElephants(_));
    let marked = spec.profiles.iter().any(|profile| profile.dscp.is_some());
    has(!by_size || !marked, "workloads with DSCPs beside mice and elephants");
    has(spec.host.buffer.is_none(), "buffer in a NIC");
    has(spec.triggers.is_empty(), "flows that start after others");
    has(spec.flows.iter().all(|flow| !flow.in_turn), "sequential flows");
    has(spec.failures.is_empty(), "links that fail");
    has(spec.errors.is_empty(), "bit errors");
}

fn check_switch(spec: &switch::Spec, has: impl Fn(bool, &str)) {
    has(matches!(spec.fabric, fabric::Spec::OutputQueued(_)), "crossbar");
    has(!matches!(spec.buffer, buffer::Spec::Shared(_)), "shared buffer");
    has(!matches!(spec.classify, classify::Spec::Ecn(_)), "queues by the ECN field");
    let aqm = matches!(spec.aqm, aqm::Spec::DropTail(_) | aqm::Spec::Step(_) | aqm::Spec::Ramp(_));
    has(aqm, "AQM but drop_tail, step and ramp");
    let departs = |ramp: &aqm::ramp::Spec| ramp.at == aqm::ramp::At::Departure;
    has(!matches!(&spec.aqm, aqm::Spec::Ramp(ramp) if departs(ramp)), "marks on departure");
    let by_queue = |ramp: &aqm::ramp::Spec| !ramp.queues.is_empty() || !ramp.by_queue.is_empty();
    has(!matches!(&spec.aqm, aqm::Spec::Ramp(ramp) if by_queue(ramp)), "curves by queue");
    has(spec.overflow.is_drop(), "packet trimming");
    has(spec.congestion_indication.is_none(), "layer 2 congestion indication");
    let scheduler = matches!(spec.scheduler, scheduler::Spec::Strict(_) | scheduler::Spec::Drr(_));
    has(scheduler, "scheduler but strict and drr");
    let ecmp = matches!(&spec.path, path::Spec::Ecmp(ecmp) if !ecmp.weighted);
    has(ecmp, "choice of paths but unweighted ecmp");
    let flow_control =
        flow_control::Spec { pfc: spec.flow_control.pfc.clone(), ..Default::default() };
    has(spec.flow_control == flow_control, "flow control but PFC");
    let on_pool = |pfc: &flow_control::pfc::Spec| pfc.measured_on == MeasuredOn::IngressPool;
    has(!spec.flow_control.pfc.as_ref().is_some_and(on_pool), "PFC on a shared buffer");
}

fn check_profile(profile: &Profile, has: impl Fn(bool, &str)) {
    match &profile.transport {
        transport::Spec::Rocev2(rocev2) => {
            let go_back_n = matches!(rocev2.recovery, recovery::Spec::GoBackN(_));
            has(go_back_n, "loss recovery but go_back_n");
            has(!rocev2.telemetry, "telemetry");
        }
        transport::Spec::Udp(_) => {}
        _ => has(false, "transport but rocev2 and udp"),
    }
    let congestion = matches!(
        profile.congestion,
        congestion::Spec::LineRate(_)
            | congestion::Spec::ConstantRate(_)
            | congestion::Spec::Dcqcn(_)
    );
    has(congestion, "congestion control but line_rate, constant_rate and dcqcn");
    has(profile.application.is_none(), "applications");
}
