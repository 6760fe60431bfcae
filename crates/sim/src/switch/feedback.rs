//! The class of feedback and notifications: the control class above all data, or a data class, in
//! which they wait with the data. Kept out of line, so that switches with a control class only are
//! not slower.

use floodway_model::{Body, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Switch;
use super::aqm::Verdict;
use super::port::DropReason;
use crate::context::Context;

/// The class of each kind of feedback, in switches and NICs. Without a field it is the control class,
/// which goes before all data and is stopped by PAUSE only: the best case for every mechanism with
/// feedback. With the number of a data queue, frames of this kind wait there like data. They count in
/// buffers, PFC and the thresholds of the AQM, are stopped by pauses of the class, and may be dropped.
/// Congestion Isolation does not move them, and they cause no notifications. MAC control frames (PFC,
/// PAUSE, and those of Backpressure Flow Control and of Directional Rate Control) are never queued with
/// data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// ACKs and NAKs of RoCEv2, those of trimmed packets among them. Default none, the control class. InfiniBand answers in the service level
    /// of the request, and Linux soft-RoCE (rxe) with the traffic class byte of the queue pair: the class
    /// of the data, and ECN-capable if the data is. So are they here; senders ignore marks on them. The
    /// simulator of the HPCC authors does the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u8>,
    /// Headers of trimmed packets (`switch.overflow.trim`). Default none, the control class, before all data. In a data
    /// queue of their own they have the share of the link that `wrr` or `drr` gives them, as in NDP, which serves 10
    /// headers for a packet of data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<u8>,
    /// Credit of receivers, as NDP's pulls; not ECN-capable. Default none, the control class: NDP queues pulls with
    /// headers, before all data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<u8>,
    /// CNPs of RoCEv2; not ECN-capable. Default none, the control class: network cards have a DSCP and a
    /// priority for CNPs, for which manuals ask a class of strict priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp: Option<u8>,
    /// Congestion isolation messages. Default none, the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cim: Option<u8>,
    /// Source flow control messages; not ECN-capable. Default none, the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sfc: Option<u8>,
    /// Congestion notification messages of QCN. Default none, the control class: the standard gives them
    /// a priority of their own, the highest by recommendation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnm: Option<u8>,
    /// Backward indications of layer 2 congestion indication. Default none, the control class (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indication: Option<u8>,
}

impl Spec {
    /// The data queue in which feedback of this kind waits; `None` for the control queue, and for what is
    /// no feedback.
    #[inline]
    pub const fn queue(&self, body: &Body) -> Option<u8> {
        match body {
            Body::Ack { .. } | Body::Nak { .. } | Body::TrimNak { .. } => self.ack,
            Body::Trimmed { .. } => self.trimmed,
            Body::Credit { .. } => self.credit,
            Body::Cnp => self.cnp,
            Body::Cim => self.cim,
            Body::Sfc { .. } => self.sfc,
            Body::Cnm { .. } => self.cnm,
            Body::Indication { .. } => self.indication,
            _ => None,
        }
    }

    /// Each field with its name, its value and whether switches make such frames.
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

    /// Whether everything is in the control class.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Switch {
    /// Feedback, from here or from elsewhere, is to wait in a data queue.
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
