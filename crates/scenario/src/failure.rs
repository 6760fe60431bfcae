//! Links that fail, as a scenario writes them.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Graph, Instant, NodeId, PortIx};
use floodway_sim::failure::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link that fails for a while: frames on it are lost, in both directions, and those that its ends
/// send until they detect the failure. Then they send nothing, frames queued for it are dropped, and
/// all switches forward over the remaining paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFailure {
    /// The names of the nodes at both ends, for example ["leaf 0", "spine 1"].
    pub link: [String; 2],
    /// Which of several links between the two, from 0 in the order of their ports. Default all of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// When it fails, from the start of the run.
    pub at: Duration,
    /// When it works again. Default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// How long it takes until both ends and the routes of all switches know, that it has failed and
    /// that it works again. Default 100us (assumed: hardware sees the loss of a signal within
    /// microseconds; with tables that were computed before, switches can follow as fast. Routing
    /// protocols take milliseconds and more).
    #[serde(default = "detection")]
    pub detection: Duration,
}

impl Check for LinkFailure {
    fn check(&self, findings: &mut Findings<'_>) {
        if let Some(until) = self.until.filter(|&until| until <= self.at) {
            findings.error(
                ["until", "at"],
                format!("the link works again ({until}) before it has failed ({})", self.at),
                "both are counted from the start of the run: write an `until` after `at`, or none for \
                 a link that stays down",
            );
        }
    }
}

fn detection() -> Duration {
    Duration::from_us(100)
}

/// The node at one end of some links, by the names of both, with its ports; `None` if there is no such node.
pub(crate) fn ports_between(link: &[String; 2], graph: &Graph) -> Option<(NodeId, Vec<PortIx>)> {
    let node = |name: &str| {
        let place = graph.nodes.iter().position(|node| node.name == name)?;
        Some(NodeId(place as u32))
    };
    let [node, peer] = [node(&link[0])?, node(&link[1])?];
    let ports = graph.node(node).ports.iter().enumerate();
    let to_peer = ports.filter(|(_, end)| end.peer == peer);
    Some((node, to_peer.map(|(port, _)| PortIx(port as u16)).collect()))
}

/// The ports at one end of these links, or of one of them. Names that there are not give none.
pub(crate) fn ports_of(
    link: &[String; 2],
    number: Option<u32>,
    graph: &Graph,
) -> Vec<(NodeId, PortIx)> {
    let Some((node, ports)) = ports_between(link, graph) else { return Vec::new() };
    let wanted =
        |(place, _): &(usize, PortIx)| number.is_none_or(|wanted| wanted as usize == *place);
    ports.into_iter().enumerate().filter(wanted).map(|(_, port)| (node, port)).collect()
}

impl LinkFailure {
    /// The links that fail. Names that there are not give none.
    pub fn build(&self, graph: &Graph) -> Vec<Failure> {
        let failure = |(node, port): (NodeId, PortIx)| Failure {
            node,
            port,
            at: Instant(self.at.0),
            until: self.until.map_or(Instant::NEVER, |until| Instant(until.0)),
            detection: self.detection,
        };
        ports_of(&self.link, self.number, graph).into_iter().map(failure).collect()
    }
}
