//! Settings that are written and cannot act, because another setting takes their place or nothing asks
//! for them.

use std::collections::BTreeMap;

use floodway_model::check::Findings;
use floodway_sim::host::{PauseScope, Profile, transport};
use floodway_sim::switch::buffer::Holder;
use floodway_sim::switch::flow_control::source_flow_control::Mode;
use floodway_sim::switch::{classify, path};

use super::{Problems, host};
use crate::document::Document;

/// Warns of each.
pub fn check(settings: &Document, problems: &mut Problems<'_>) {
    let own = |of: &str| {
        let own = |number| problems.document.written(&format!("workload.{number}.{of}")).is_some();
        !settings.workload.is_empty() && (0..settings.workload.len()).all(own)
    };
    let all_own = ["transport", "congestion"].map(|of| (of, own(of)));
    let findings = &mut problems.within("");
    let buffer = &settings.switch.buffer;
    let limit = buffer.limit(&settings.switch.queue);
    let instead = match limit.of {
        Holder::Queue => None,
        Holder::Port => Some(format!("`{}` limits ports", limit.field)),
        Holder::Switch => {
            Some(format!("the pools of `switch.buffer.{}` limit queues", buffer.name()))
        }
    };
    if let Some(instead) = instead {
        findings.idle("switch.queue.size", &instead);
    }
    for (name, queue, _) in settings.switch.feedback.fields() {
        if let (Some(_), Some(why)) = (queue, nobody_sends(name, settings)) {
            findings.idle(&format!("switch.feedback.{name}"), why);
        }
    }
    if let Some(why) = pauses_no_feedback(settings).filter(|_| !settings.host.pause_feedback) {
        findings.idle("host.pause_feedback", why);
    }
    if let Some(why) = pauses_no_class(settings)
        && settings.host.pause_scope == PauseScope::Nic
    {
        findings.idle("host.pause_scope", why);
    }
    if settings.switch.queue.count == 1 && settings.switch.flow_control.bfc.is_none() {
        findings.idle("switch.scheduler", "there is one data queue (`switch.queue.count`)");
    }
    if all_in_one_queue(settings) {
        findings.idle("switch.scheduler", "all data goes to one queue (`switch.classify.single`)");
    }
    check_ecn(settings, findings);
    if !settings.switch.has_aqm() {
        findings.idle("switch.marks_to_hosts", "there is no AQM (`switch.aqm`)");
    }
    if settings.switch.fabric.lines().is_some() && !looks_for_congestion(settings) {
        let path = format!("switch.fabric.{}.congestion_at", settings.switch.fabric.name());
        findings.idle(&path, "nothing looks for congestion in switches");
    }
    for (of, _) in all_own.into_iter().filter(|(_, all_own)| *all_own) {
        findings.idle(&format!("host.{of}"), "every workload has its own");
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
    // By the place of a transport: whether some flow uses what is said of ECN there.
    let mut uses: BTreeMap<String, bool> = BTreeMap::new();
    for (number, (entry, profile)) in settings.workload.iter().zip(&profiles).enumerate() {
        let path = host::path(number, "transport", entry.transport.is_some());
        let is_tcp = matches!(profile.transport, transport::Spec::Tcp(_));
        *uses.entry(path).or_default() |= !is_tcp || is_capable(profile);
    }
    for (path, _) in uses.iter().filter(|(_, uses)| !**uses) {
        let why = "without ECN no segment is ECN-capable (`ecn`)";
        findings.idle(&format!("{path}.tcp.codepoint"), why);
    }
    // With layer 2 congestion indication the ECN field is not used.
    let switch = &settings.switch;
    let any = profiles.is_empty() || profiles.iter().any(is_capable);
    if any || switch.congestion_indication.is_some() {
        return;
    }
    let table = switch.aqm_table();
    for field in switch.aqm_needs_ecn() {
        findings.idle(&format!("{table}.{field}"), "no packet is ECN-capable");
    }
}

/// Whether what a workload sends is ECN-capable.
fn is_capable(profile: &Profile) -> bool {
    profile.transport.is_capable(profile.congestion.feedback())
}

/// Why no pause stops a class of a NIC alone: PAUSE stops all, and BFC and DRC stop parts of classes.
fn pauses_no_class(settings: &Document) -> Option<&'static str> {
    let flow_control = &settings.switch.flow_control;
    let sfc = flow_control.source_flow_control.as_ref();
    let stops = flow_control.pfc.is_some() || flow_control.cbfc.is_some();
    if !stops && sfc.is_none_or(|sfc| sfc.mode != Mode::Proxy) {
        return Some("without PFC no class of data is paused");
    }
    (settings.switch.queue.count == 1).then_some("there is one class of data")
}

/// Whether anything in a switch asks how much waits for an egress.
fn looks_for_congestion(settings: &Document) -> bool {
    let switch = &settings.switch;
    let flow_control = &switch.flow_control;
    let telemetry = |profile: &Profile| profile.congestion.needs_telemetry();
    switch.has_aqm()
        || matches!(switch.path, path::Spec::LeastLoaded(_))
        || flow_control.congestion_isolation.is_some()
        || flow_control.qcn.is_some()
        || flow_control.source_flow_control.is_some()
        || settings.profiles().iter().any(telemetry)
}

/// Why no feedback of a kind is ever sent, by the name of the kind; `None` if some may be. Congestion
/// Isolation knows by itself whether it sends CIMs.
pub fn nobody_sends(name: &str, settings: &Document) -> Option<&'static str> {
    let switch = &settings.switch;
    let flow_control = &switch.flow_control;
    let profiles = settings.profiles();
    let answers =
        |of: &transport::Spec| matches!(of, transport::Spec::Rocev2(_) | transport::Spec::Uet(_));
    let (is_there, why) = match name {
        "ack" => (
            profiles.iter().any(|profile| answers(&profile.transport)),
            "no workload uses RoCEv2 or Ultra Ethernet, and acknowledgements of TCP are data",
        ),
        "cnp" if profiles.iter().all(|profile| profile.congestion.cnp_interval().is_none()) => {
            (false, "no receiver sends CNPs")
        }
        "cnp" => (
            switch.no_marks().is_none() || switch.overflow.trims().is_some_and(|spec| spec.mark),
            "nothing marks, so no receiver sends CNPs",
        ),
        "credit" => (
            profiles.iter().any(|profile| profile.congestion.has_receiver_half()),
            "no workload has a congestion control whose receivers send credit",
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
    let queues =
        [sent("ack", feedback.ack), sent("credit", feedback.credit), sent("cnp", feedback.cnp)];
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
