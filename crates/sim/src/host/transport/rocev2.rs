//! RoCEv2 reliable connections (InfiniBand architecture, annex 17, on the wire as UDP port 4791).

use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full packet (the path MTU). Default 1024B.
    pub mtu: Bytes,
    /// Packets per acknowledgement; the last packet of a message is always acknowledged. Default 1.
    pub ack_every: u32,
    /// Time without progress after which everything unacknowledged is sent again. Default
    /// 16.777216ms (4.096 us times 2^12, InfiniBand local ACK timeout 12).
    pub retransmit_timeout: Duration,
    /// The least time between two NAKs for the same missing packet. Default 500us (HPCC authors'
    /// simulator); the first is sent at once.
    pub nak_interval: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mtu: Bytes(1_024),
            ack_every: 1,
            retransmit_timeout: Duration(16_777_216_000),
            nak_interval: Duration::from_us(500),
        }
    }
}
