use floodway_model::check::Findings;
use floodway_model::{Bytes, Dscp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{application, congestion, transport};
use crate::switch::check::Facts;
use crate::switch::flow_control::congestion_isolation::Signal;

/// Parameters that all flows of a host share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spec {
    /// Scope of a pause in the NIC.
    pub pause_scope: PauseScope,
    /// Size of the NIC's transmit buffer per class, in bytes; `None` for a NIC without one.
    pub buffer: Option<Bytes>,
    /// Whether a pause of a data class also stops feedback that travels in that class.
    pub pause_feedback: bool,
    /// Whether another port of a host stands in for one whose link is known to be down.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failover: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            pause_scope: PauseScope::default(),
            buffer: None,
            pause_feedback: true,
            failover: false,
        }
    }
}

/// Upper limit: a long-lived sender fills the buffer at once, frame by frame.
const LARGEST_BUFFER: Bytes = Bytes(1_000_000_000);

impl Spec {
    /// Checks that the transmit buffer is large enough and compatible with the switches. `findings` are
    /// about `host`.
    pub fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let Some(buffer) = self.buffer else { return };
        if self.failover {
            findings.error(
                ["buffer", "failover"],
                "frames in the buffer of a NIC would wait there while another port stands in for it",
                "remove `host.buffer` or `host.failover`",
            );
        }
        let frame = facts.largest_frame.unwrap_or(0);
        if buffer.0 < u64::from(frame) {
            findings.error(
                "buffer",
                format!("frames of {frame} bytes find no room in {buffer}"),
                "make it larger: a frame leaves the host only if the NIC has room for it",
            );
        }
        let why = "it is for each class; remove it for frames that stay in the host";
        findings.range("buffer", buffer, ..=LARGEST_BUFFER, why);
        let isolation = facts.switch.flow_control.congestion_isolation.as_ref();
        if isolation.is_some_and(|isolation| isolation.hosts && isolation.signal != Signal::Off) {
            findings.error(
                ["buffer", "/switch.flow_control.congestion_isolation"],
                "a flow that its NIC isolates would overtake its packets in the buffer of the NIC",
                "remove `host.buffer`, or leave isolation to switches with \
                 `switch.flow_control.congestion_isolation.hosts = false`",
            );
        }
        if facts.switch.flow_control.bfc.is_some() {
            findings.error(
                ["buffer", "/switch.flow_control.bfc"],
                "with Backpressure Flow Control the physical queues of a NIC hold flows back before \
                 they bring frames",
                "remove `host.buffer` or [switch.flow_control.bfc]",
            );
        }
    }
}

/// How the flows of a workload are sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Transport: how messages are divided into packets and delivered completely.
    pub transport: transport::Spec,
    /// Congestion control: how fast a flow may send.
    pub congestion: congestion::Spec,
    /// Application that writes the data of long-lived flows; `None` if all data is available from
    /// the beginning. It requires a transport that accepts data piece by piece: TCP.
    pub application: Option<application::Spec>,
    /// DSCP of the packets of its flows, of those of TCP in both directions; `None` if the classifier of
    /// the switches decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
}

/// What a pause of one class stops in a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// Only that class.
    #[default]
    Class,
    /// All data, as if the NIC had a single data queue.
    Nic,
}
