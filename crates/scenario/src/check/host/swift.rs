//! Whether Swift can work, and its target fits the network.

use floodway_model::Graph;
use floodway_sim::host::congestion::swift::Spec;
use floodway_sim::host::transport;

use super::super::{Findings, number};
use super::Placed;
use crate::derived;
use crate::document::Document;

/// Checks what needs no network; `family` is where it was written, such as `host.congestion`.
pub fn check(family: &str, spec: &Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("{family}.swift.{field}");
    findings.positive(&path("base_target"), spec.base_target);
    for (field, time) in
        [("base_target", spec.base_target), ("hop", spec.hop), ("fs_range", spec.fs_range)]
    {
        findings.latency(&path(field), time);
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    if !(positive(spec.fs_min_cwnd) && spec.fs_max_cwnd.is_finite())
        || spec.fs_min_cwnd >= spec.fs_max_cwnd
    {
        findings.error(
            &[&path("fs_min_cwnd"), &path("fs_max_cwnd")],
            format!(
                "`fs_min_cwnd` is {} and `fs_max_cwnd` is {}",
                spec.fs_min_cwnd, spec.fs_max_cwnd
            ),
            "write two windows above 0, the smaller one first; usual are 0.1 and 100 packets",
        );
    }
    if !positive(spec.ai) {
        findings.error(
            &[&path("ai")],
            format!("`ai` is {}: the window would never grow", spec.ai),
            "write a number of packets above 0; usual is 1",
        );
    }
    for (field, value, usual) in [("beta", spec.beta, "0.8"), ("max_mdf", spec.max_mdf, "0.5")] {
        if !(value > 0.0 && value < 1.0) {
            findings.error(
                &[&path(field)],
                format!("`{field}` is {}", number(value)),
                format!("write a number above 0 and below 1; usual is {usual}"),
            );
        }
    }
    if !(spec.min_cwnd > 0.0 && spec.min_cwnd <= 1.0) {
        findings.error(
            &[&path("min_cwnd")],
            format!("the least window is {} packets", spec.min_cwnd),
            "write a number above 0 and at most 1; the paper has 0.001",
        );
    }
    if !(spec.max_cwnd >= 1.0 && spec.max_cwnd.is_finite()) {
        findings.error(
            &[&path("max_cwnd")],
            format!("the largest window is {} packets", spec.max_cwnd),
            "write at least 1; usual is 1000",
        );
    }
    if let Some(cwnd) = spec.initial_cwnd.filter(|&cwnd| !positive(cwnd)) {
        findings.error(
            &[&path("initial_cwnd")],
            format!("a flow begins with a window of {cwnd} packets"),
            "write a number above 0, or remove it to begin with what fills the way",
        );
    }
    if spec.retx_reset_threshold == 0 {
        findings.error(
            &[&path("retx_reset_threshold")],
            "`retx_reset_threshold` is 0",
            "write after how many timeouts in a row the window is the least; usual is 5",
        );
    }
}

/// Checks what needs the network.
pub fn check_on(
    placed: &Placed,
    spec: &Spec,
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let family = &placed.congestion_path;
    if let transport::Spec::Rocev2(transport) = &placed.transport
        && transport.ack_every > 1
    {
        findings.error(
            &[&placed.of_transport("ack_every")],
            format!(
                "the window of `swift` may be 1 packet, and an acknowledgement comes after {}",
                transport.ack_every
            ),
            "the sender would wait for its timer: write ack_every = 1",
        );
    }
    let round_trip = derived::round_trip(settings, graph, largest_frame);
    let target = spec.base_target + spec.hop * most_switches(graph);
    if target <= round_trip {
        findings.warn(
            &[&format!("{family}.swift.base_target"), &format!("{family}.swift"), family],
            format!(
                "the round trip of an empty network takes {round_trip}, and the target of a large \
                 window is {target}"
            ),
            "an empty network looks congested: raise `base_target` or `hop` above that",
        );
    }
}

/// Switches between the first host and the one that is farthest from it.
fn most_switches(graph: &Graph) -> u64 {
    let Some(first) = graph.hosts().next() else { return 0 };
    let distances = graph.distances(first);
    let links = graph.hosts().filter_map(|host| distances[host.index()]).max().unwrap_or(0);
    u64::from(links).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::graph::NodeKind;
    use floodway_model::{Duration, NodeId, Rate};

    #[test]
    fn switches_are_one_less_than_links() {
        let mut graph = Graph::default();
        let hosts = [0, 1].map(|n| graph.add(format!("host {n}"), NodeKind::Host));
        let switches = [0, 1, 2].map(|n| graph.add(format!("{n}"), NodeKind::Switch { tier: 0 }));
        let link = |graph: &mut Graph, a: NodeId, b: NodeId| {
            graph.link(a, b, Rate::from_gbps(1), Duration::ZERO);
        };
        link(&mut graph, hosts[0], switches[0]);
        link(&mut graph, switches[0], switches[1]);
        link(&mut graph, switches[1], switches[2]);
        link(&mut graph, switches[2], hosts[1]);
        assert_eq!(most_switches(&graph), 3);
    }
}
