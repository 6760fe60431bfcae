//! Go-back-N: the receiver drops what comes out of order and asks once for the packet that it
//! expects; the sender starts again from there. What was in flight behind a lost packet has been
//! sent in vain.

use floodway_model::Duration;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time without progress after which everything unacknowledged is sent again. Default
    /// 16.777216ms (4.096 us times 2^12, InfiniBand local ACK timeout 12).
    pub retransmit_timeout: Duration,
    /// The least time between two NAKs for the same missing packet. Default 500us (HPCC authors'
    /// simulator); the first is sent at once.
    pub nak_interval: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self { retransmit_timeout: Duration(16_777_216_000), nak_interval: Duration::from_us(500) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("retransmit_timeout", self.retransmit_timeout, "InfiniBand has 16.8ms");
    }
}
