//! Whether source flow control can act.

use floodway_model::{Duration, Graph};
use floodway_sim::switch::flow_control::source_flow_control::Spec;

use super::Findings;
use super::switch::{above_queue, there_are};
use crate::document::Document;

const TRIGGER: &str = "switch.flow_control.source_flow_control.trigger";
const TARGET: &str = "switch.flow_control.source_flow_control.target";

/// Checks what needs no topology.
pub fn check(settings: &Document, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("switch.flow_control.source_flow_control.{field}");
    let queue = &settings.switch.queue;
    if spec.target >= spec.trigger {
        findings.error(
            &[TARGET, TRIGGER],
            format!("the target ({}) is not below the trigger ({})", spec.target, spec.trigger),
            "sources are quiet while the queue drains from the trigger to the target: set the \
             target lower",
        );
    }
    if let Some(index) = spec.queues.iter().position(|&number| number >= queue.count) {
        findings.error(
            &[&path(&format!("queues.{index}"))],
            format!(
                "queue {} is to be watched, but {}",
                spec.queues[index],
                there_are(queue.count)
            ),
            "name queues that there are, or none to watch all",
        );
    }
    findings.latency(&path("deduct"), spec.deduct);
    findings.latency(&path("suppression"), spec.suppression);
    if spec.suppression == Duration::ZERO {
        findings.warn(
            &[&path("suppression")],
            "without a suppression period every packet above the trigger makes a message",
            "write about half a round trip, for example \"6us\"",
        );
    }
}

/// Whether a queue can become as deep as the trigger.
pub fn check_trigger(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    above_queue(
        settings,
        graph,
        "switch.flow_control.source_flow_control",
        "trigger",
        ("the trigger", spec.trigger),
        "no source is ever notified",
        findings,
    );
}
