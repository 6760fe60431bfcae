//! Whether feedback can travel in the classes of data that it is given.

use floodway_sim::switch::buffer;
use floodway_sim::switch::fabric;

use super::Findings;
use super::switch::there_are;
use crate::document::Document;

/// Checks what needs no topology.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let switch = &settings.switch;
    let (count, control) = (switch.queue.count, &switch.flow_control);
    let parts = [
        (control.bfc.is_some(), "Backpressure Flow Control pauses physical queues by flow"),
        (control.drc.is_some(), "Directional Rate Control regulates directions"),
    ];
    let by_port = [
        (control.pause.is_some(), "PAUSE"),
        (matches!(switch.buffer, buffer::Spec::PerPort(_)), "a buffer for each port"),
        (!matches!(switch.fabric, fabric::Spec::OutputQueued(_)), "a crossbar"),
    ];
    for (name, queue, made_by_switches) in switch.feedback.fields() {
        let (path, Some(queue)) = (format!("switch.feedback.{name}"), queue) else { continue };
        if queue >= count {
            findings.error(
                &[&path],
                format!(
                    "feedback (`{name}`) is to wait in queue {queue}, but {}",
                    there_are(count)
                ),
                format!(
                    "name a data queue from 0 to {}, or remove `{name}` for the control class",
                    count.max(1) - 1
                ),
            );
        }
        if let Some((_, why)) = parts.iter().find(|(on, _)| *on) {
            findings.error(
                &[&path],
                format!(
                    "`{name}` is in a data queue, but {why}, to which feedback does not belong"
                ),
                format!("remove `{name}`: the control class is the default"),
            );
        }
        if made_by_switches && let Some((_, what)) = by_port.iter().find(|(on, _)| *on) {
            findings.error(
                &[&path],
                format!(
                    "`{name}` is in a data queue with {what}, which is charged to ingress ports; \
                     switches make these frames themselves"
                ),
                format!("remove `{name}`: the control class is the default"),
            );
        }
    }
}
