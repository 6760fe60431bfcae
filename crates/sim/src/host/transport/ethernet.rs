//! Ethernet frames without higher layers: MAC addresses only, so nothing is acknowledged,
//! retransmitted or put in order, and there is no ECN field. This models pure layer 2 workloads,
//! where flow control and queue management get no help from end hosts.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datagram::{Cut, Segmenting};
pub use super::datagram::{Receiver, Sender};
use super::{Full, Transport};
use crate::host::congestion;

/// Parameters of Ethernet frames without higher layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full frame; frames with less than 46 bytes of payload are padded. Default 1500B
    /// (IEEE 802.3: maximum payload of a frame).
    pub payload: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self { payload: Bytes(1_500) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("payload", self.payload, "a full frame has 1500B");
    }
}

impl Transport for Spec {
    fn payload(&self) -> u64 {
        self.payload.0
    }

    fn full(&self) -> Full {
        let usual = "IEEE 802.3 has room for 1500, jumbo frames usually for 9000";
        Full { field: "payload", overhead: length::ETHERNET_OVERHEAD.into(), usual }
    }

    fn frame(&self, payload: u64) -> u16 {
        self.cut().frame(payload)
    }

    fn is_capable(&self, _: EcnFeedback) -> bool {
        false
    }

    fn usual_control(&self) -> congestion::Spec {
        congestion::Spec::LineRate(Default::default())
    }
}

impl Segmenting for Spec {
    fn cut(&self) -> Cut {
        Cut { payload: self.payload.0, overhead: length::ETHERNET_OVERHEAD, ecn: Ecn::NotEct }
    }
}
