//! Whether the flows of a list are possible.

use floodway_model::{Bytes, Duration};

use super::Findings;
use crate::document::Document;
use crate::workload::list::{Flow, Spec};

/// Checks what needs no network; `path` is that of the flows.
pub fn check(path: &str, spec: &Spec, settings: &Document, findings: &mut Findings<'_>) {
    if spec.flow.is_empty() {
        let help = "add one, for example the lines: [[workload.list.flow]], src = 0, dst = 1";
        findings.error(&[path], "the list has no flows", help);
    }
    for (number, flow) in spec.flow.iter().enumerate() {
        check_flow(&format!("{path}.{number}"), flow, settings, findings);
    }
    check_jitter(&path.replace(".flow", ".jitter"), spec, settings, findings);
}

/// Whether every flow still begins in time if it starts later; `path` is that of the jitter.
pub fn check_jitter(path: &str, spec: &Spec, settings: &Document, findings: &mut Findings<'_>) {
    // What is left of each flow that begins in time at all, and of the arrivals after its start.
    let end = |flow: &Flow| flow.stop.map_or(settings.arrivals, |stop| stop.min(settings.arrivals));
    let left = |flow: &Flow| end(flow).0.saturating_sub(flow.start.0);
    let least = spec.flow.iter().map(left).filter(|&left| left > 0).min();
    if let Some(least) = least.filter(|&least| spec.jitter.0 >= least) {
        findings.error(
            &[path],
            format!(
                "a flow could start {} later, but it or the arrivals end {} after its start",
                spec.jitter,
                Duration(least)
            ),
            "make `jitter` shorter than that",
        );
    }
}

fn check_flow(path: &str, flow: &Flow, settings: &Document, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    let Flow { src, dst, start, bytes, stop } = *flow;
    if src == dst {
        let help = "`src` and `dst` are two different hosts";
        findings.error(&[&field("dst")], format!("host {src} would send to itself"), help);
    }
    if bytes == Some(Bytes(0)) {
        let help = "write a size, or remove it for a flow that sends as fast as it may";
        findings.error(&[&field("bytes")], "the flow would have 0 bytes", help);
    }
    if start >= settings.arrivals {
        findings.error(
            &[&field("start")],
            format!("the flow starts ({start}) when the arrivals are over ({})", settings.arrivals),
            "start it earlier or raise `arrivals`",
        );
    } else if bytes.is_some() && start < settings.warmup {
        findings.warn(
            &[&field("start"), path],
            format!(
                "the flow starts ({start}) during the warm-up ({}) and is not measured",
                settings.warmup
            ),
            "start it after the warm-up if its completion time matters",
        );
    }
    let Some(stop) = stop else { return };
    if bytes.is_some() {
        findings.error(
            &[&field("stop")],
            "the flow has a size (`bytes`) and an end in time (`stop`)",
            "keep one of the two: without `bytes` it sends as fast as it may until `stop`",
        );
    }
    if stop <= start {
        findings.error(
            &[&field("stop")],
            format!("the flow stops ({stop}) before it sends anything (start: {start})"),
            "make `stop` later than `start`",
        );
    }
}
