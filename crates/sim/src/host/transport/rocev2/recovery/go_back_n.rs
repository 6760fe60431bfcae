//! Go-back-N: the receiver drops packets that arrive out of order and requests the expected packet
//! once; the sender starts again from there. Packets in flight behind a lost packet are wasted.

use floodway_model::Duration;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of go-back-N.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time without progress after which everything unacknowledged is retransmitted. Default
    /// 16.777216ms (4.096 us times 2^12, InfiniBand local ACK timeout 12).
    pub retransmit_timeout: Duration,
    /// Minimum time between two NAKs for the same missing packet; the first is sent at once.
    /// Default 500us (HPCC authors' simulator).
    pub nak_interval: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self { retransmit_timeout: Duration(16_777_216_000), nak_interval: Duration::from_us(500) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.timeout("retransmit_timeout", self.retransmit_timeout, "InfiniBand has 16.8ms");
    }
}
