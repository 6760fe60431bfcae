//! Whether congestion points make sense, and whether anybody obeys them.

use floodway_model::Graph;
use floodway_sim::host::congestion::Needs;
use floodway_sim::switch::flow_control::qcn::Spec;

use super::Findings;
use super::switch::{above_queue, there_are};
use crate::document::Document;

const TABLE: &str = "switch.flow_control.qcn";

/// Checks its parameters, and that queues reach the length at which they should be.
pub fn check(settings: &Document, spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{TABLE}.{field}");
    let count = settings.switch.queue.count;
    if let Some(index) = spec.queues.iter().position(|&number| number >= count) {
        findings.error(
            &[&path(&format!("queues.{index}"))],
            format!(
                "queue {} is to be a congestion point, but {}",
                spec.queues[index],
                there_are(count)
            ),
            "name queues that there are, or none to sample all",
        );
    }
    if spec.q_eq.0 == 0 {
        findings.error(
            &[&path("q_eq")],
            "`q_eq` is zero: feedback is a part of it",
            "write the length at which queues should be; the standard has 26000B",
        );
    }
    if spec.sample_base.0 == 0 {
        findings.error(
            &[&path("sample_base")],
            "`sample_base` is zero: every packet would be sampled",
            "write the bytes from one sample to the next; the standard has 150000B",
        );
    }
    if !(1.0 / 1_024.0..=1_024.0).contains(&spec.w) {
        findings.error(
            &[&path("w")],
            format!("the weight `w` is {}", super::number(spec.w)),
            "write a number from 1/1024 to 1024; the standard has 2",
        );
    }
    jitter(&path("jitter"), spec.jitter, findings);
    if spec.header_octets > 64 {
        findings.error(
            &[&path("header_octets")],
            format!(
                "a message has room for 64 octets of the packet, and not for {}",
                spec.header_octets
            ),
            "write 0 to 64; the standard has 0",
        );
    }
    above_queue(
        settings,
        graph,
        TABLE,
        "q_eq",
        ("Q_eq", spec.q_eq),
        "queues are full before sources are notified much",
        findings,
    );
    let profiles = settings.profiles();
    if !profiles.iter().any(|profile| profile.congestion.needs() == Needs::Messages) {
        findings.warn(
            &[TABLE],
            "switches send congestion notification messages, and no flow has a reaction point",
            "choose [host.congestion.qcn], or remove [switch.flow_control.qcn]",
        );
    }
}

/// Whether a part by which something varies is possible.
pub fn jitter(path: &str, jitter: f64, findings: &mut Findings<'_>) {
    if !(0.0..1.0).contains(&jitter) {
        findings.error(
            &[path],
            format!("`jitter` is {jitter}"),
            "write 0 or more and less than 1; the pseudo-code of QCN has 0.15",
        );
    }
}
