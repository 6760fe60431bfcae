//! A dumbbell: hosts on two switches with one link between them, the usual network of studies of
//! TCP (Floyd and Kohler, "Internet Research Needs Better Models", HotNets 2002). What goes from one
//! side to the other shares that link.

use std::ops::Range;

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, check_links};

/// Parameters. Hosts have the numbers 0 to `left` - 1 on the left, and then go on on the right.
/// The defaults make the access network of the "Data Center to the Home" deck: 40 Mb/s, and 8 ms
/// there and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts on the left.
    pub left: u32,
    /// Hosts on the right.
    pub right: u32,
    /// Rate of every host's link. Default 1Gbps (assumed: the deck does not say).
    #[serde(default = "host_rate")]
    pub host_rate: Rate,
    /// Propagation delay of these links. Default 1ms.
    #[serde(default = "host_delay")]
    pub host_delay: Duration,
    /// Propagation delays of the links of the left hosts, taken round robin, for flows of different
    /// round-trip times: ["1ms", "17ms"] are 1 ms for hosts 0, 2, 4 and 17 ms for hosts 1, 3, 5.
    /// Default `host_delay` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_delays: Vec<Duration>,
    /// Rate of the link between the switches. Default 40Mbps (deck).
    #[serde(default = "bottleneck_rate")]
    pub bottleneck_rate: Rate,
    /// Rate of this link from right to left, if it is another one: a line of 50 Mb/s down and 10 up has
    /// bottleneck_rate = "50Mbps" and bottleneck_rate_back = "10Mbps", with servers on the left. Default
    /// `bottleneck_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck_rate_back: Option<Rate>,
    /// Propagation delay of this link. Default 2ms (the deck has 8 ms in all, there and back; how
    /// they are shared out is assumed).
    #[serde(default = "bottleneck_delay")]
    pub bottleneck_delay: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        const STAR: &str = "for a single switch use [topology.star]";
        findings.range("left", self.left, 1.., STAR);
        findings.range("right", self.right, 1.., STAR);
        check_links("host", self.host_rate, self.host_delay, findings);
        check_links("bottleneck", self.bottleneck_rate, self.bottleneck_delay, findings);
        findings.link_rate("bottleneck_rate_back", self.bottleneck_rate_back);
        for (number, &delay) in self.left_delays.iter().enumerate() {
            findings.latency(&format!("left_delays.{number}"), delay);
        }
        let all = self.host_rate * self.left.max(self.right).into();
        let slowest = self.bottleneck_rate.min(self.back());
        if all <= slowest && all > Rate(0) {
            findings.warn(
                ["bottleneck_rate", "host_rate", ""],
                format!(
                    "the hosts of one side send {all} in all, and the link between the switches carries {}",
                    slowest
                ),
                "it is no bottleneck: lower `bottleneck_rate`, or raise `host_rate`",
            );
        }
    }
}

fn host_rate() -> Rate {
    Rate::from_gbps(1)
}

fn host_delay() -> Duration {
    Duration::from_ms(1)
}

fn bottleneck_rate() -> Rate {
    Rate(40_000_000)
}

fn bottleneck_delay() -> Duration {
    Duration::from_ms(2)
}

impl Spec {
    /// Rate of the link between the switches, from right to left.
    fn back(&self) -> Rate {
        self.bottleneck_rate_back.unwrap_or(self.bottleneck_rate)
    }

    pub(super) fn size(&self) -> Size {
        let (left, right) = (u64::from(self.left), u64::from(self.right));
        let hosts = left + right;
        Size { hosts, switches: 2, links: hosts + 1, most_ports: left.max(right) + 1 }
    }

    /// The numbers of the hosts on the left and on the right.
    pub fn sides(&self) -> [Range<u64>; 2] {
        let (left, right) = (u64::from(self.left), u64::from(self.right));
        [0..left, left..left + right]
    }

    fn left_delay(&self, host: u32) -> Duration {
        match self.left_delays.as_slice() {
            [] => self.host_delay,
            delays => delays[host as usize % delays.len()],
        }
    }

    pub(super) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        let hosts: Vec<_> = (0..self.left + self.right)
            .map(|host| graph.add(format!("host {host}"), NodeKind::Host))
            .collect();
        let left = graph.add("left switch", NodeKind::Switch { tier: 0 });
        let right = graph.add("right switch", NodeKind::Switch { tier: 0 });
        for (number, &host) in (0..).zip(&hosts) {
            if number < self.left {
                graph.link(host, left, self.host_rate, self.left_delay(number));
            } else {
                graph.link(host, right, self.host_rate, self.host_delay);
            }
        }
        let rates = [self.bottleneck_rate, self.back()];
        graph.link_each_way(left, right, rates, self.bottleneck_delay);
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, built_as_said};

    fn spec(text: &str) -> Spec {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_sides_share_one_link() {
        let spec = spec(r#"{ "left": 3, "right": 2, "left_delays": ["1ms", "17ms"] }"#);
        let graph = built_as_said(&topology::Spec::Dumbbell(spec.clone()));
        let bottleneck = |end: &floodway_model::graph::Attachment| {
            (end.rate, end.delay) == (Rate(40_000_000), Duration::from_ms(2))
        };
        let [left, right] = spec.sides().map(|side| {
            graph.hosts().filter(|host| side.contains(&u64::from(host.0))).collect::<Vec<_>>()
        });
        assert_eq!((left.len(), right.len()), (3, 2));
        for (from, to) in [(&left, &right), (&right, &left)] {
            for &src in from {
                let slow = |dst| {
                    let path = graph.path(src, dst).unwrap();
                    let ends =
                        path.iter().map(|(node, port)| graph.node(*node).ports[port.index()]);
                    ends.filter(bottleneck).count()
                };
                assert!(to.iter().all(|&dst| slow(dst) == 1));
                assert!(from.iter().filter(|&&dst| dst != src).all(|&dst| slow(dst) == 0));
            }
        }
    }

    #[test]
    fn delays_are_taken_in_turn_by_the_left_hosts() {
        let spec = spec(r#"{ "left": 3, "right": 2, "left_delays": ["3ms", "17ms"] }"#);
        let graph = spec.build();
        let ms: Vec<_> =
            graph.hosts().map(|host| graph.node(host).ports[0].delay.0 / 1_000_000_000).collect();
        assert_eq!(ms, [3, 17, 3, 1, 1]);
    }
}
