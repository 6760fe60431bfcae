//! Datagrams (RFC 768): nothing is acknowledged, nothing is sent again, and nobody learns of
//! congestion. With [`constant_rate`](crate::host::congestion) this is the unresponsive traffic
//! that queue management has to cope with.

use floodway_model::packet::length;
use floodway_model::{Body, Bytes, Ecn, FlowSpec, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Frame, Sent};
use crate::host::congestion;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full datagram. Default 1472B: 1500 bytes of IP packet.
    pub payload: Bytes,
    /// What the sender writes into the ECN field, as if it would answer to marks. Default
    /// `not_ect`.
    pub ecn: Field,
}

/// The ECN field of what is sent (RFC 3168 section 5).
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

impl Spec {
    /// Frame length of a datagram with this payload.
    pub fn frame(payload: u64) -> u16 {
        (payload as u16 + length::UDP_OVERHEAD).max(length::SHORTEST_FRAME)
    }

    /// Datagrams of a message; the most there can be for one that never ends.
    fn packets(&self, flow: &FlowSpec) -> u32 {
        if flow.is_persistent() {
            return u32::MAX;
        }
        flow.bytes.div_ceil(self.payload.0) as u32
    }
}

/// The sending side.
#[derive(Debug)]
pub struct Sender {
    /// How fast it may send.
    pub control: congestion::State,
    /// What it has sent.
    pub sent: Sent,
    /// The ECN field of its datagrams.
    pub ecn: Ecn,
    bytes: u64,
    packets: u32,
    next: u32,
    stop: Instant,
}

impl Sender {
    /// The sender of `flow`.
    pub fn new(spec: &Spec, flow: &FlowSpec, control: congestion::State) -> Self {
        Self {
            control,
            sent: Sent::default(),
            ecn: spec.ecn.into(),
            bytes: flow.bytes,
            packets: spec.packets(flow),
            next: 0,
            stop: flow.stop,
        }
    }

    /// Whether all datagrams are sent.
    pub fn is_done(&self) -> bool {
        self.next == self.packets
    }

    /// The next datagram; `None` if there is none.
    pub fn next_frame(&mut self, spec: &Spec, now: Instant) -> Option<Frame> {
        if now >= self.stop {
            self.packets = self.next;
        }
        if self.is_done() {
            return None;
        }
        let psn = self.next;
        self.next += 1;
        self.sent.packets += 1;
        let rest = self.bytes - u64::from(psn) * spec.payload.0;
        let bytes = Spec::frame(rest.min(spec.payload.0));
        Some(Frame { body: Body::Data { psn, sent_at: now }, bytes, ecn: self.ecn })
    }
}

/// The receiving side.
#[derive(Clone, Debug)]
pub struct Receiver {
    bytes: u64,
    payload: u64,
    packets: u32,
    arrived: u32,
    delivered: u64,
}

impl Receiver {
    /// The receiver of `flow`.
    pub fn new(spec: &Spec, flow: &FlowSpec) -> Self {
        let packets = spec.packets(flow);
        Self { bytes: flow.bytes, payload: spec.payload.0, packets, arrived: 0, delivered: 0 }
    }

    /// A datagram has come; whether all of the message have.
    pub fn on_data(&mut self, psn: u32) -> bool {
        self.arrived += 1;
        self.delivered += (self.bytes - u64::from(psn) * self.payload).min(self.payload);
        self.arrived == self.packets
    }

    /// Payload bytes that have arrived.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::congestion::Path;
    use floodway_model::{NodeId, Rate};

    #[test]
    fn a_message_is_cut_and_counted() {
        let spec = Spec { ecn: Field::Ect1, ..Spec::default() };
        let (src, dst, start, stop) = (NodeId(0), NodeId(1), Instant::ZERO, Instant::NEVER);
        let flow = FlowSpec { src, dst, bytes: 3_000, start, stop, workload: 0 };
        let congestion = congestion::Spec::LineRate(Default::default());
        let control = congestion::State::new(&congestion, &Path::at(Rate::from_gbps(1)));
        let mut sender = Sender::new(&spec, &flow, control);
        let mut receiver = Receiver::new(&spec, &flow);
        let mut frames = Vec::new();
        while let Some(frame) = sender.next_frame(&spec, Instant::ZERO) {
            let Body::Data { psn, .. } = frame.body else { panic!("no data") };
            assert_eq!((frame.ecn, receiver.on_data(psn)), (Ecn::Ect1, psn == 2));
            frames.push(frame.bytes);
        }
        // 1472 + 1472 + 56 bytes, and 14 + 20 + 8 + 4 of headers; none is below 64.
        assert_eq!(frames, [1_518, 1_518, 102]);
        assert_eq!((receiver.delivered(), sender.sent.packets), (3_000, 3));
        assert!(sender.is_done());
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let spec = Spec::default();
        let (src, dst, start, stop) = (NodeId(0), NodeId(1), Instant::ZERO, Instant(20));
        let flow = FlowSpec { src, dst, bytes: FlowSpec::PERSISTENT, start, stop, workload: 0 };
        let congestion = congestion::Spec::LineRate(Default::default());
        let control = congestion::State::new(&congestion, &Path::at(Rate::from_gbps(1)));
        let mut sender = Sender::new(&spec, &flow, control);
        assert!(sender.next_frame(&spec, Instant(19)).is_some() && !sender.is_done());
        assert!(sender.next_frame(&spec, Instant(20)).is_none() && sender.is_done());
    }
}
