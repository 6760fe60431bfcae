//! Datagrams (RFC 768): nothing is acknowledged or retransmitted, and the sender gets no congestion
//! feedback. With [`constant_rate`](crate::host::congestion) this is the unresponsive traffic that
//! queue management has to cope with.

use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use floodway_model::{Bytes, Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datagram::{Cut, Segmenting};
pub use super::datagram::{Receiver, Sender};
use super::{Full, Transport};
use crate::host::congestion;

/// Parameters of UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full datagram. Default 1472B: an IP packet of 1500 bytes.
    pub payload: Bytes,
    /// ECN field of the datagrams; the sender does not react to marks even if it claims to be
    /// ECN-capable. Default `not_ect`.
    pub ecn: Field,
}

/// The ECN field of sent packets (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

impl From<Field> for Ecn {
    fn from(field: Field) -> Self {
        match field {
            Field::NotEct => Self::NotEct,
            Field::Ect0 => Self::Ect0,
            Field::Ect1 => Self::Ect1,
        }
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self { payload: Bytes(1_472), ecn: Field::NotEct }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("payload", self.payload, "a full datagram has 1472B");
    }
}

impl Transport for Spec {
    fn payload(&self) -> u64 {
        self.payload.0
    }

    fn full(&self) -> Full {
        let usual = "an Ethernet packet of 1500 bytes has room for 1472";
        Full { field: "payload", overhead: length::UDP_OVERHEAD.into(), usual }
    }

    fn frame(&self, payload: u64) -> u16 {
        self.cut().frame(payload)
    }

    fn is_capable(&self, _: EcnFeedback) -> bool {
        Ecn::from(self.ecn).is_capable()
    }

    fn usual_control(&self) -> congestion::Spec {
        congestion::Spec::ConstantRate(Default::default())
    }
}

impl Segmenting for Spec {
    fn cut(&self) -> Cut {
        let ecn = self.ecn.into();
        Cut { payload: self.payload.0, overhead: length::UDP_OVERHEAD, ecn }
    }
}
