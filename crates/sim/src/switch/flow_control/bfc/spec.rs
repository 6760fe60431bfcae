use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link::Link;
use crate::switch::check::{CheckBeside, Facts};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Number of physical queues in each data queue of a port, and in each data class of a NIC, 1
    /// to 255. Default 32 (the paper).
    pub queues: u8,
    /// Interval between pause frames in the paper, which sends them periodically. Here every change
    /// is sent at once, so `tau` only adds a margin to the pause threshold, (hop round-trip time +
    /// tau) x rate / active queues. Default 1us (assumed: half a hop round-trip time of the paper's
    /// links).
    pub tau: Duration,
    /// Hop round-trip time (HRTT): from a pause or resume until the first packet affected by it
    /// arrives. Default none: for each link, twice the sum of its delay and the transmission time
    /// of its longest frame, plus `switch.latency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_rtt: Option<Duration>,
    /// How long a flow keeps its physical queue after its last packet has left, in hop round-trip
    /// times. Default 2 (the paper).
    pub sticky: u8,
    /// Number of flow table entries per physical queue, 1 to 10000. Flows that hash to the same
    /// entry are treated as one flow. Default 100 (the paper).
    pub table: u16,
}

impl Default for Spec {
    fn default() -> Self {
        Self { queues: 32, tau: Duration::from_us(1), hop_rtt: None, sticky: 2, table: 100 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("queues", self.queues, 1..=255, "the paper has 32");
        // Every port has a table of this size for each physical queue.
        findings.range("table", self.table, 1..=10_000, "the paper has 100");
        findings.positive("tau", self.tau, "usual is 1us");
        findings.latency("tau", self.tau);
        findings.positive("hop_rtt", self.hop_rtt, "remove it for that of the links");
        findings.latency("hop_rtt", self.hop_rtt);
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        if facts.switch.flow_control.congestion_isolation.is_some() {
            findings.error(
                "",
                "Backpressure Flow Control and Congestion Isolation are both on",
                "each decides in which queue a flow waits: remove one of the two, for example with \
                 `switch.flow_control.congestion_isolation = false`",
            );
        }
    }
}

impl Spec {
    /// Hop round-trip time of a link whose far end is a switch with this latency.
    ///
    /// The pause frame may be behind a frame that is on the wire, and the neighbor may have just
    /// started to send another one.
    pub fn hop_round_trip(&self, link: &Link, latency: Duration) -> Duration {
        let frame = u64::from(link.largest_frame) + u64::from(link.wire_overhead);
        let frames = link.rate.time_for(Bytes(frame)) + link.rate_back.time_for(Bytes(frame));
        self.hop_rtt.unwrap_or(link.delay * 2 + frames + latency)
    }

    /// Pause threshold: the most bytes that a packet may find in its physical queue without pausing
    /// the queue that it came from. This is what the queue, with its share of the port, sends in
    /// one hop round-trip time plus `tau`.
    pub fn threshold(&self, hop_round_trip: Duration, rate: Rate, active: u32) -> Bytes {
        Bytes(rate.bytes_in(hop_round_trip + self.tau).0 / u64::from(active.max(1)))
    }

    /// Number of entries of a flow table.
    pub fn entries(&self) -> u32 {
        u32::from(self.table) * u32::from(self.queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{NodeId, PortIx};

    #[test]
    fn threshold_by_hand() {
        let link = Link {
            peer: NodeId(0),
            peer_port: PortIx(0),
            to: (NodeId(0), PortIx(0)),
            rate: Rate::from_gbps(100),
            rate_back: Rate::from_gbps(100),
            line: None,
            delay: Duration::from_ns(200),
            latency: Duration::ZERO,
            response: Duration::ZERO,
            wire_overhead: 20,
            largest_frame: 1086,
            node: NodeId(0),
            port: PortIx(0),
        };
        let spec = Spec::default();
        // 2 x (200 ns + 1106 bytes x 80 ps) + 50 ns.
        let hop = spec.hop_round_trip(&link, Duration::from_ns(50));
        assert_eq!(hop, Duration(2 * (200_000 + 88_480) + 50_000));
        // (626.96 ns + 1000 ns) x 12.5 bytes per ns = 20337 bytes, shared by 1, 2 and 4.
        let shares = [1, 2, 4].map(|active| spec.threshold(hop, link.rate, active));
        assert_eq!(shares, [Bytes(20_337), Bytes(10_168), Bytes(5_084)]);
        // If the queue itself is paused, no queue may be active.
        assert_eq!(spec.threshold(hop, link.rate, 0), Bytes(20_337));
        // The paper's example: links of 1 us have a hop round-trip time of at least 2 us.
        let paper = Spec { hop_rtt: Some(Duration::from_us(2)), ..Spec::default() };
        let hop = paper.hop_round_trip(&link, Duration::from_ns(50));
        assert_eq!(paper.threshold(hop, link.rate, 1), Bytes(37_500));
    }
}
