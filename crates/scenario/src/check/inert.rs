//! Settings that are written and cannot act, because another setting takes their place.

use floodway_sim::switch::buffer;
use floodway_sim::switch::flow_control::pfc;

use super::Findings;
use crate::document::Document;

/// Warns of each.
pub fn check(settings: &Document, findings: &mut Findings<'_>) {
    let instead = match settings.switch.buffer {
        buffer::Spec::Shared(_) => Some("the pools of `switch.buffer.shared` limit queues"),
        buffer::Spec::PerPort(_) => Some("`switch.buffer.per_port.size` limits ports"),
        buffer::Spec::PerQueue(_) => None,
    };
    if let Some(instead) = instead {
        inert("switch.queue.size", instead, findings);
    }
    let pfc = settings.switch.flow_control.pfc.as_ref();
    if pfc.is_some_and(|pfc| pfc.measured_on == pfc::MeasuredOn::IngressPool) {
        for field in ["xoff", "xon"] {
            let path = format!("switch.flow_control.pfc.{field}");
            inert(
                &path,
                "with `measured_on = \"ingress_pool\"` the pool's threshold pauses",
                findings,
            );
        }
    }
    for of in ["transport", "congestion"] {
        let own = |number| findings.document.written(&format!("workload.{number}.{of}")).is_some();
        if !settings.workload.is_empty() && (0..settings.workload.len()).all(own) {
            inert(&format!("host.{of}"), "every workload has its own", findings);
        }
    }
}

/// Warns if this setting is written.
pub fn inert(path: &str, instead: &str, findings: &mut Findings<'_>) {
    if findings.document.written(path).is_some() {
        findings.warn(
            &[path],
            format!("`{path}` cannot act: {instead}"),
            "remove it, so that nobody takes it for a setting of this scenario",
        );
    }
}
