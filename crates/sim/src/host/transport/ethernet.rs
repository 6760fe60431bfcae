//! Ethernet frames with nothing above: no addresses but those of the MAC, so nothing is
//! acknowledged, sent again or put in order, and there is no ECN field. It is how workloads of layer
//! 2 alone are described, in which flow control and queue management have nobody to help them.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datagram::Cut;
use super::{Full, Transport};
use crate::host::congestion;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full frame; a frame with less than 46 bytes of it is padded. Default 1500B
    /// (IEEE 802.3: the most that a frame carries).
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

impl Spec {
    /// How a message becomes frames.
    pub fn cut(&self) -> Cut {
        Cut { payload: self.payload.0, overhead: length::ETHERNET_OVERHEAD, ecn: Ecn::NotEct }
    }
}
