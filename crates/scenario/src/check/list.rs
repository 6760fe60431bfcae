//! Whether the flows of a list are possible.

use floodway_model::Bytes;

use super::Findings;
use crate::document::Document;
use crate::workload::list::{Flow, Spec};

/// Checks what needs no network; `path` is that of the flows.
pub fn check(path: &str, spec: &Spec, settings: &Document, findings: &mut Findings<'_>) {
    if spec.flow.is_empty() {
        let help = "add one, for example the lines: [[workload.list.flow]], src = 0, dst = 1";
        findings.error(&[path], "the list has no flows", help);
    }
    let longest =
        spec.flow.iter().filter_map(|flow| Some(flow.stop?.0.saturating_sub(flow.start.0))).min();
    let longest = longest.map_or(settings.arrivals.0, |span| span.min(settings.arrivals.0));
    if spec.jitter.0 >= longest.max(1) {
        let jitter = path.replace(".flow", ".jitter");
        findings.error(
            &[&jitter],
            format!("a flow could start {} later, when it is over", spec.jitter),
            "make `jitter` shorter than every flow and than the arrivals",
        );
    }
    for (number, flow) in spec.flow.iter().enumerate() {
        check_flow(&format!("{path}.{number}"), flow, settings, findings);
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

/// Whether a network of `hosts` hosts has those of the list.
pub fn check_hosts(path: &str, spec: &Spec, hosts: u64, findings: &mut Findings<'_>) -> bool {
    let mut known = true;
    for (number, flow) in spec.flow.iter().enumerate() {
        for (field, host) in [("src", flow.src), ("dst", flow.dst)] {
            if u64::from(host) >= hosts {
                known = false;
                findings.error(
                    &[&format!("{path}.{number}.{field}")],
                    format!("there is no host {host}: the network has {hosts} hosts"),
                    format!("they have the numbers 0 to {}", hosts.saturating_sub(1)),
                );
            }
        }
    }
    known
}
