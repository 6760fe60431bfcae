//! Whether feedback can travel in the classes of data that it is given.

use floodway_sim::switch::buffer::Holder;
use floodway_sim::switch::check::there_are;
use floodway_sim::switch::flow_control::congestion_isolation::Mark;

use super::Problems;
use super::inert::nobody_sends;
use super::pausing::Pausing;
use crate::document::Document;

/// Checks what needs no topology.
pub fn check(settings: &Document, findings: &mut Problems<'_>) {
    let switch = &settings.switch;
    let (count, control) = (switch.queue.count, &switch.flow_control);
    let parts = [
        (control.bfc.is_some(), "Backpressure Flow Control pauses physical queues by flow"),
        (control.drc.is_some(), "Directional Rate Control regulates directions"),
    ];
    let by_port = [
        (control.pause.is_some(), "PAUSE stops the ports by which waiting frames came in"),
        (
            switch.buffer.limit(&switch.queue).of == Holder::Port && on_ingress(settings),
            "the buffer of a port is charged with what came in by it, because flow control is measured on \
             the ingress",
        ),
        (
            switch.fabric.lines().is_some(),
            "frames wait in a crossbar at the ports by which they came in",
        ),
    ];
    for (name, queue, made_by_switches) in switch.feedback.fields() {
        let (path, Some(queue)) = (format!("switch.feedback.{name}"), queue) else { continue };
        let remedy = format!("remove `{name}`: the control class is the default");
        if queue >= count {
            let message = format!("`{path}` names queue {queue}, but {}", there_are(count));
            findings.error(&[&path], message, format!("name another data queue, or {remedy}"));
        }
        if let Some((_, why)) = parts.iter().find(|(on, _)| *on) {
            let why = format!("{why}, to which feedback does not belong");
            findings.error(&[&path], format!("`{name}` is in a data queue, but {why}"), &remedy);
        }
        if made_by_switches && let Some((_, why)) = by_port.iter().find(|(on, _)| *on) {
            let why = format!("{why}; switches make these frames themselves");
            findings.error(&[&path], format!("`{name}` is in a data queue, but {why}"), &remedy);
        }
        check_marks(name, queue, settings, findings);
    }
}

/// Whether flow control of ports or classes is measured by what came in.
fn on_ingress(settings: &Document) -> bool {
    Pausing::of(settings).is_some_and(|pausing| pausing.measured.is_ingress())
}

/// Whether the queue management drops feedback where it marks data.
fn check_marks(name: &str, queue: u8, settings: &Document, findings: &mut Problems<'_>) {
    let switch = &settings.switch;
    let kind = match name {
        // They are ECN-capable if the data is.
        "ack" | "trimmed" => return,
        "credit" => "credit frames",
        "cnp" => "CNPs",
        "cim" => "congestion isolation messages",
        "sfc" => "source flow control messages",
        "cnm" => "congestion notification messages",
        _ => "backward indications",
    };
    // With layer 2 congestion indication the ECN field is not used.
    let is_asked = switch.congestion_indication.is_none() && switch.aqm_never_marks().is_none();
    let isolation = switch.flow_control.congestion_isolation.as_ref();
    let is_silent = isolation.is_some_and(|spec| {
        spec.mark == Mark::None && spec.tiers.is_empty() && spec.congesting == queue
    });
    if !is_asked || is_silent || nobody_sends(name, settings).is_some() {
        return;
    }
    findings.warn(
        &[&format!("switch.feedback.{name}")],
        format!(
            "{kind} are not ECN-capable: in data queue {queue} `{}` drops them where it \
             would mark data",
            switch.aqm_table()
        ),
        format!("remove `{name}` for the control class, unless they are meant to be lost"),
    );
}
