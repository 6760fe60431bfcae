//! Whether Swift can work, and its target fits the network.

use floodway_model::Graph;
use floodway_sim::host::congestion::swift::Spec;
use floodway_sim::host::transport;

use super::{Checks, Network, Placed};
use crate::check::{Findings, number};
use crate::derived;

impl Checks for Spec {
    fn check(&self, path: &dyn Fn(&str) -> String, findings: &mut Findings<'_>) {
        findings.positive(&path("base_target"), self.base_target);
        for (field, time) in
            [("base_target", self.base_target), ("hop", self.hop), ("fs_range", self.fs_range)]
        {
            findings.latency(&path(field), time);
        }
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !(positive(self.fs_min_cwnd) && self.fs_max_cwnd.is_finite())
            || self.fs_min_cwnd >= self.fs_max_cwnd
        {
            findings.error(
                &[&path("fs_min_cwnd"), &path("fs_max_cwnd")],
                format!(
                    "`fs_min_cwnd` is {} and `fs_max_cwnd` is {}",
                    self.fs_min_cwnd, self.fs_max_cwnd
                ),
                "write two windows above 0, the smaller one first; usual are 0.1 and 100 packets",
            );
        }
        if !positive(self.ai) {
            findings.error(
                &[&path("ai")],
                format!("`ai` is {}: the window would never grow", self.ai),
                "write a number of packets above 0; usual is 1",
            );
        }
        for (field, value, usual) in [("beta", self.beta, "0.8"), ("max_mdf", self.max_mdf, "0.5")]
        {
            if !(value > 0.0 && value < 1.0) {
                findings.error(
                    &[&path(field)],
                    format!("`{field}` is {}", number(value)),
                    format!("write a number above 0 and below 1; usual is {usual}"),
                );
            }
        }
        if !(self.min_cwnd > 0.0 && self.min_cwnd <= 1.0) {
            findings.error(
                &[&path("min_cwnd")],
                format!("the least window is {} packets", self.min_cwnd),
                "write a number above 0 and at most 1; the paper has 0.001",
            );
        }
        if !(self.max_cwnd >= 1.0 && self.max_cwnd.is_finite()) {
            findings.error(
                &[&path("max_cwnd")],
                format!("the largest window is {} packets", self.max_cwnd),
                "write at least 1; usual is 1000",
            );
        }
        if let Some(cwnd) = self.initial_cwnd.filter(|&cwnd| !positive(cwnd)) {
            findings.error(
                &[&path("initial_cwnd")],
                format!("a flow begins with a window of {cwnd} packets"),
                "write a number above 0, or remove it to begin with what fills the path",
            );
        }
        if self.retx_reset_threshold == 0 {
            findings.error(
                &[&path("retx_reset_threshold")],
                "`retx_reset_threshold` is 0",
                "write after how many timeouts in a row the window is the least; usual is 5",
            );
        }
    }

    fn check_on(&self, placed: &Placed, network: &Network<'_>, findings: &mut Findings<'_>) {
        let &Network { settings, graph, largest_frame } = network;
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
        let target = self.base_target + self.hop * most_switches(graph);
        if target <= round_trip {
            findings.warn(
            &[&placed.of_congestion("base_target"), &placed.congestion_table(), &placed.congestion_path],
            format!(
                "the round trip of an empty network takes {round_trip}, and the target of a large \
                 window is {target}"
            ),
            "an empty network looks congested: raise `base_target` or `hop` above that",
        );
        }
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
