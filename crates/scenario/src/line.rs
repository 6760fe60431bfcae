//! Links that are no Ethernet, or that lose frames at random, as a scenario writes them.

use floodway_model::check::{Check, Findings};
use floodway_model::line::{Counting, Framing, Line};
use floodway_model::{Bytes, Graph, NodeId, PortIx};
use floodway_sim::loss::Loss;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::ports_of;

/// A line of an access network: what it adds to frames, and what it loses. Both apply to both directions; the rates are
/// those of the topology, and count everything that is on the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessLine {
    /// The names of the nodes at both ends, for example ["left switch", "right switch"].
    pub link: [String; 2],
    /// Which of several links between the two, from 0 in the order of their ports. Default all of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Kind of line, with the overhead, the smallest size and the framing that tc-cake(8) has for it. Default Ethernet with
    /// `wire_overhead`, or the kind `ethernet` if a field below is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Line>,
    /// Bytes that the line adds to an IP packet, in place of those of its kind: 40 with PPPoE and LLC/SNAP on ADSL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// Smallest size on the line, before framing, in place of that of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Bytes>,
    /// How the line divides packets, in place of what its kind does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Probability that a frame is lost, independently of others; outside of bursts, if there are any. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss: f64,
    /// Bursts of losses. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
}

/// Bursts of losses by the model of Gilbert and Elliott: a bad state of the line, which begins and ends with these
/// probabilities after each frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability that a burst begins, after each frame outside of one (p).
    pub p: f64,
    /// Probability that it ends, after each frame in it (r): it lasts for 1 / r frames on average.
    pub r: f64,
    /// Probability that a frame is lost in it. Default 1.
    #[serde(default = "one")]
    pub loss: f64,
}

/// The smallest probability with which a burst begins or ends: once in a million frames.
const RAREST: f64 = 1e-6;

fn one() -> f64 {
    1.0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Check for AccessLine {
    fn check(&self, findings: &mut Findings<'_>) {
        const OVERHEAD: &str = "ADSL with PPPoE and LLC/SNAP has 40B";
        findings.range("overhead", self.overhead, Bytes(0)..=Bytes(256), OVERHEAD);
        findings.range("mpu", self.mpu, Bytes(0)..=Bytes(256), "Ethernet has 84B");
        findings.range("loss", self.loss, 0.0..1.0, "0.001 loses one frame in a thousand");
        if let Some(bursts) = &self.bursts {
            let findings = &mut findings.within("bursts");
            const OFTEN: &str = "0.001 begins a burst after every thousandth frame";
            findings.range("p", bursts.p, RAREST..=1.0, OFTEN);
            findings.range("r", bursts.r, RAREST..=1.0, "0.25 makes bursts of 4 frames");
            findings.range("loss", bursts.loss, 0.0..=1.0, "1 loses all frames of a burst");
        }
    }
}

impl AccessLine {
    /// What it adds to frames; `None` if it is Ethernet as other links are.
    pub fn counting(&self) -> Option<Counting> {
        let written = self.kind.is_some()
            || self.overhead.is_some()
            || self.mpu.is_some()
            || self.framing.is_some();
        let kind = self.kind.unwrap_or(Line::Ethernet);
        let overhead = self.overhead.and_then(|overhead| i64::try_from(overhead.0).ok());
        written.then(|| kind.counting().with(overhead, self.mpu, self.framing))
    }

    /// Whether it loses anything.
    pub const fn loses(&self) -> bool {
        self.loss > 0.0 || self.bursts.is_some()
    }

    /// Gives the links their framing.
    pub fn frame(&self, graph: &mut Graph) {
        let Some(counting) = self.counting() else { return };
        for end in ports_of(&self.link, self.number, graph) {
            graph.frame(end, counting);
        }
    }

    /// What the links lose, for both directions.
    pub fn losses(&self, graph: &Graph) -> Vec<Loss> {
        if !self.loses() {
            return Vec::new();
        }
        let (bad, enters, leaves) =
            self.bursts.as_ref().map_or((0.0, 0.0, 0.0), |of| (of.loss, of.p, of.r));
        let loss = |(node, port): (NodeId, PortIx)| Loss {
            node,
            port,
            good: self.loss,
            bad,
            enters,
            leaves,
        };
        let ends = ports_of(&self.link, self.number, graph).into_iter().flat_map(|(node, port)| {
            let end = &graph.node(node).ports[port.index()];
            [(node, port), (end.peer, end.peer_port)]
        });
        ends.map(loss).collect()
    }
}
