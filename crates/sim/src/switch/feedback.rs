//! The class of feedback and notifications: the control class, with priority over all data, or a
//! data class, where feedback queues with the data. Kept out of line so that switches with only a
//! control class are not slowed down.

use floodway_model::{Body, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Switch;
use super::aqm::Verdict;
use super::port::DropReason;
use crate::context::Context;

/// The class of each kind of feedback, in switches and NICs. A kind without a field uses the
/// control class, which has priority over all data and is stopped only by PAUSE: the best case for
/// every mechanism with feedback. If a field gives the number of a data queue, frames of that kind
/// queue there like data: they count toward buffers, PFC and AQM thresholds, are stopped by pauses
/// of the class, and may be dropped. Congestion Isolation does not move them, and they trigger no
/// notifications. MAC control frames (PFC, PAUSE, and those of Backpressure Flow Control, of Directional Rate Control and of
/// credit-based flow control) are never queued with data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// ACKs and NAKs of RoCEv2, including those for trimmed packets. Default none: the control
    /// class. InfiniBand sends acknowledgements in the service level of the request, and Linux
    /// soft-RoCE (rxe) with the traffic class byte of the queue pair: in the class of the data, and
    /// ECN-capable if the data is. With this field set, floodway does the same; senders ignore
    /// marks on them. The simulator of the HPCC authors also does this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u8>,
    /// Headers of trimmed packets (`switch.overflow.trim`). Default none: the control class, with
    /// priority over all data. In a data queue of their own they get the share of the link that
    /// `wrr` or `drr` assigns to it; NDP serves 10 headers per data packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<u8>,
    /// Receiver credit, such as NDP's pulls, and requests for it; not ECN-capable. Default none: the
    /// control class. NDP queues pulls with headers, with priority over all data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<u8>,
    /// CNPs of RoCEv2; not ECN-capable. Default none: the control class. NICs have a configurable
    /// DSCP and priority for CNPs, and their manuals recommend a strict-priority class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp: Option<u8>,
    /// Congestion isolation messages. Default none: the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cim: Option<u8>,
    /// Source flow control messages; not ECN-capable. Default none: the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sfc: Option<u8>,
    /// Congestion notification messages of QCN. Default none: the control class. The standard gives
    /// them a priority of their own, and recommends the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnm: Option<u8>,
    /// Backward frames of layer 2 congestion indication. Default none: the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indication: Option<u8>,
}

impl Spec {
    /// The data queue for feedback of this kind; `None` for the control queue, and for frames that
    /// are not feedback.
    #[inline]
    pub const fn queue(&self, body: &Body) -> Option<u8> {
        match body {
            Body::Ack { .. } | Body::Nak { .. } | Body::TrimNak { .. } | Body::UetAck { .. } => {
                self.ack
            }
            Body::Trimmed { .. } => self.trimmed,
            Body::Credit { .. } | Body::Request { .. } => self.credit,
            Body::Cnp => self.cnp,
            Body::Cim => self.cim,
            Body::Sfc { .. } => self.sfc,
            Body::Cnm { .. } => self.cnm,
            Body::Indication { .. } => self.indication,
            _ => None,
        }
    }

    /// The name of each field, its value, and whether switches generate such frames.
    pub const fn fields(&self) -> [(&'static str, Option<u8>, bool); 8] {
        [
            ("ack", self.ack, false),
            ("trimmed", self.trimmed, false),
            ("credit", self.credit, false),
            ("cnp", self.cnp, false),
            ("cim", self.cim, true),
            ("sfc", self.sfc, true),
            ("cnm", self.cnm, true),
            ("indication", self.indication, true),
        ]
    }

    /// Whether all feedback uses the control class.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Switch {
    /// Enqueues feedback, generated here or elsewhere, in a data queue.
    #[inline(never)]
    pub(super) fn enqueue_among_data(
        &mut self,
        egress: usize,
        queue: u8,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let (mut packet, queue) = (*packet, usize::from(queue));
        let verdict = self.aqm_verdict(egress, queue, None, &packet, now);
        if verdict == Verdict::Drop {
            return self.drop(egress, queue, DropReason::Aqm, &packet, now, context);
        }
        if let Err(reason) = self.admit(egress, queue, &packet) {
            return self.drop(egress, queue, reason, &packet, now, context);
        }
        if verdict == Verdict::Congested {
            self.mark(egress, queue, &mut packet, now, context);
        }
        if !self.bypass_disabled && self.ports[egress].passes(queue, now) {
            return self.pass(egress, queue, &mut packet, now, context);
        }
        self.enqueue(egress, queue, None, &packet, now, context);
    }
}
