//! Settings that are written and cannot act, because another setting takes their place or nothing asks
//! for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::Ecn;
use floodway_sim::host::{PauseScope, Profile, transport};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::flow_control::source_flow_control::Mode;
use floodway_sim::switch::{aqm, classify, path};

use super::Findings;
use super::host::no_marks;
use crate::document::Document;
use crate::text::Problem;

/// Warns of each.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let instead = match &settings.switch.buffer {
        buffer::Spec::Shared(spec) => {
            check_switches(spec, findings);
            Some("the pools of `switch.buffer.shared` limit queues")
        }
        buffer::Spec::PerPort(_) => Some("`switch.buffer.per_port.size` limits ports"),
        buffer::Spec::PerQueue(_) => None,
    };
    if let Some(instead) = instead {
        inert("switch.queue.size", instead, findings);
    }
    if let Some(spec) = &settings.switch.flow_control.pfc {
        check_pfc(spec, findings);
    }
    for (name, queue, _) in settings.switch.feedback.fields() {
        if let (Some(_), Some(why)) = (queue, nobody_sends(name, settings)) {
            inert(&format!("switch.feedback.{name}"), why, findings);
        }
    }
    if let Some(why) = pauses_no_feedback(settings).filter(|_| !settings.host.pause_feedback) {
        inert("host.pause_feedback", why, findings);
    }
    if let Some(why) = pauses_no_class(settings)
        && settings.host.pause_scope == PauseScope::Nic
    {
        inert("host.pause_scope", why, findings);
    }
    if settings.switch.queue.count == 1 && settings.switch.flow_control.bfc.is_none() {
        inert("switch.scheduler", "there is one data queue (`switch.queue.count`)", findings);
    }
    if all_in_one_queue(settings) {
        inert(
            "switch.scheduler",
            "all data goes to one queue (`switch.classify.single`)",
            findings,
        );
    }
    check_ecn(settings, findings);
    if settings.switch.fabric.lines().is_some() && !looks_for_congestion(settings) {
        let path = format!("switch.fabric.{}.congestion_at", settings.switch.fabric.name());
        inert(&path, "nothing looks for congestion in switches", findings);
    }
    for of in ["transport", "congestion"] {
        let own = |number| findings.document.written(&format!("workload.{number}.{of}")).is_some();
        if !settings.workload.is_empty() && (0..settings.workload.len()).all(own) {
            inert(&format!("host.{of}"), "every workload has its own", findings);
        }
    }
}

/// Whether there are several data queues, and only one of them ever has packets.
fn all_in_one_queue(settings: &Document) -> bool {
    let switch = &settings.switch;
    let classify::Spec::Single(single) = &switch.classify else { return false };
    let flow_control = &switch.flow_control;
    let moves = flow_control.congestion_isolation.is_some()
        || flow_control.bfc.is_some()
        || flow_control.drc.is_some();
    let feedback = switch.feedback.fields().into_iter().any(|(name, queue, _)| {
        queue.is_some_and(|queue| queue != single.queue) && nobody_sends(name, settings).is_none()
    });
    switch.queue.count > 1 && !moves && !feedback
}

/// What is said about ECN where no packet is ECN-capable.
fn check_ecn(settings: &Document, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    let not_capable = "no packet is ECN-capable";
    for family in transports(settings) {
        let mut users = settings
            .workload
            .iter()
            .zip(&profiles)
            .enumerate()
            .filter(|(number, of)| transport_of(*number, of.0.transport.is_some()) == family);
        let says = |profile: &Profile| match &profile.transport {
            transport::Spec::Tcp(_) => is_capable(profile),
            _ => true,
        };
        if !users.any(|(_, (_, profile))| says(profile)) {
            let why = "without ECN no segment is ECN-capable (`ecn`)";
            inert(&format!("{family}.tcp.codepoint"), why, findings);
        }
    }
    // With layer 2 congestion indication nobody asks for the ECN field.
    let switch = &settings.switch;
    let any = profiles.is_empty() || profiles.iter().any(is_capable);
    if any || switch.congestion_indication.is_some() {
        return;
    }
    match &switch.aqm {
        aqm::Spec::Codel(spec) => {
            if spec.ecn {
                inert("switch.aqm.codel.ecn", not_capable, findings);
            }
            inert("switch.aqm.codel.ce_threshold", not_capable, findings);
        }
        aqm::Spec::Pie(spec) if spec.ecn => {
            inert("switch.aqm.pie.ecn", not_capable, findings);
            inert("switch.aqm.pie.mark_ecnth", not_capable, findings);
        }
        aqm::Spec::Red(spec) if spec.command.is_none() && spec.ecn => {
            inert("switch.aqm.red.ecn", not_capable, findings);
        }
        _ => {}
    }
}

/// Where the transports of the workloads were written, each place once.
fn transports(settings: &Document) -> BTreeSet<String> {
    let entries = settings.workload.iter().enumerate();
    entries.map(|(number, entry)| transport_of(number, entry.transport.is_some())).collect()
}

fn transport_of(workload: usize, own: bool) -> String {
    if own { format!("workload.{workload}.transport") } else { "host.transport".to_owned() }
}

/// Whether what a workload sends is ECN-capable.
fn is_capable(profile: &Profile) -> bool {
    match &profile.transport {
        transport::Spec::Rocev2(_) => true,
        transport::Spec::Tcp(tcp) => tcp.ecn_field(profile.congestion.feedback()).is_capable(),
        transport::Spec::Udp(udp) => Ecn::from(udp.ecn).is_capable(),
        transport::Spec::Ethernet(_) => false,
    }
}

/// Why no pause stops a class of a NIC alone: PAUSE stops all, and BFC and DRC stop parts of classes.
fn pauses_no_class(settings: &Document) -> Option<&'static str> {
    let flow_control = &settings.switch.flow_control;
    let sfc = flow_control.source_flow_control.as_ref();
    if flow_control.pfc.is_none() && sfc.is_none_or(|sfc| sfc.mode != Mode::Proxy) {
        return Some("without PFC no class of data is paused");
    }
    (settings.switch.queue.count == 1).then_some("there is one class of data")
}

/// Whether anything in a switch asks how much waits for an egress.
fn looks_for_congestion(settings: &Document) -> bool {
    let switch = &settings.switch;
    let flow_control = &switch.flow_control;
    let telemetry = |profile: &Profile| profile.congestion.needs_telemetry();
    !matches!(switch.aqm, aqm::Spec::DropTail(_))
        || matches!(switch.path, path::Spec::LeastLoaded(_))
        || flow_control.congestion_isolation.is_some()
        || flow_control.qcn.is_some()
        || flow_control.source_flow_control.is_some()
        || settings.profiles().iter().any(telemetry)
}

/// Pools of switches that name no switch, or change no pool.
fn check_switches(spec: &shared::Spec, findings: &mut Findings<'_>) {
    const LIST: &str = "switch.buffer.shared.by_switch";
    if spec.by_switch.is_empty() {
        inert(LIST, "it is empty", findings);
    }
    for (number, of) in spec.by_switch.iter().enumerate() {
        let path = format!("{LIST}.{number}");
        if of.switches.is_empty() {
            inert(&path, "it names no switch", findings);
        } else if of.ingress_pool.is_none() && of.egress_pool.is_none() {
            inert(&path, "it has neither `ingress_pool` nor `egress_pool`", findings);
        }
    }
}

fn check_pfc(spec: &pfc::Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("switch.flow_control.pfc.{field}");
    if spec.measured_on == pfc::MeasuredOn::IngressPool {
        let why = "with `measured_on = \"ingress_pool\"` the pool's threshold pauses";
        for field in ["xoff", "xon", "xon_of_xoff"] {
            inert(&path(field), why, findings);
        }
    } else {
        if spec.xon_of_xoff.is_some() {
            inert(&path("xon"), "with `xon_of_xoff` XON is a part of XOFF", findings);
        }
        let why =
            "only with `measured_on = \"ingress_pool\"` is there a threshold that it is below";
        inert(&path("xon_offset"), why, findings);
    }
    if !spec.refresh && spec.quanta > 0 {
        let why = "with `refresh = false` a pause lasts until a frame ends it";
        inert(&path("quanta"), why, findings);
    }
}

/// Why no feedback of a kind is ever sent, by the name of the kind; `None` if some may be. Congestion
/// Isolation knows by itself whether it sends CIMs.
pub fn nobody_sends(name: &str, settings: &Document) -> Option<&'static str> {
    let switch = &settings.switch;
    let flow_control = &switch.flow_control;
    let profiles = settings.profiles();
    let is_rocev2 = |of: &transport::Spec| matches!(of, transport::Spec::Rocev2(_));
    let (is_there, why) = match name {
        "ack" => (
            profiles.iter().any(|profile| is_rocev2(&profile.transport)),
            "no workload uses RoCEv2, and acknowledgements of TCP are data",
        ),
        "cnp" if profiles.iter().all(|profile| profile.congestion.cnp_interval().is_none()) => {
            (false, "no receiver sends CNPs")
        }
        "cnp" => (
            no_marks(switch).is_none() || switch.overflow.trims().is_some_and(|spec| spec.mark),
            "nothing marks, so no receiver sends CNPs",
        ),
        "trimmed" => (switch.overflow.trims().is_some(), "without trimming there are no headers"),
        "cim" => (
            flow_control.congestion_isolation.is_some(),
            "without Congestion Isolation no switch sends CIMs",
        ),
        "sfc" => (
            flow_control.source_flow_control.is_some(),
            "without source flow control no switch sends its messages",
        ),
        "cnm" => (flow_control.qcn.is_some(), "without QCN no switch sends CNMs"),
        _ => (
            switch.congestion_indication.as_ref().is_some_and(|spec| spec.backward),
            "no switch sends backward indications",
        ),
    };
    (!is_there).then_some(why)
}

/// Why no pause stops feedback of hosts anyway, apart from PAUSE, which stops all feedback.
fn pauses_no_feedback(settings: &Document) -> Option<&'static str> {
    let feedback = &settings.switch.feedback;
    let sent =
        |name: &str, queue: Option<u8>| queue.filter(|_| nobody_sends(name, settings).is_none());
    let queues = [sent("ack", feedback.ack), sent("cnp", feedback.cnp)];
    let mut queues = queues.into_iter().flatten().peekable();
    if queues.peek().is_none() {
        return Some("hosts send no feedback in a class of data (`switch.feedback`)");
    }
    let flow_control = &settings.switch.flow_control;
    let sfc = flow_control.source_flow_control.as_ref();
    if sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
        return None;
    }
    let Some(pfc) = &flow_control.pfc else {
        return Some("without PFC no class of data is paused");
    };
    let any = settings.host.pause_scope == PauseScope::Nic || queues.any(|queue| pfc.covers(queue));
    (!any).then_some("PFC does not pause the classes of feedback")
}

/// Warns if this setting is written, and not by a preset alone.
pub fn inert(path: &str, why: &str, findings: &mut Findings<'_>) {
    if let Some(place) = findings.document.written_itself(path) {
        let warning = Problem::warning(
            place,
            format!("`{path}` cannot act: {why}"),
            "remove it, so that nobody takes it for a setting of this scenario",
        );
        findings.problems.push(Problem { idle: Some(Arc::new(path.to_owned())), ..warning });
    }
}
