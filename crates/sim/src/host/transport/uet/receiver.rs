//! The receiving side of one message.

use floodway_model::packet::{Answered, bitmap_base};
use floodway_model::{Body, Echo, Ecn, FlowSpec, Packet};

use super::Spec;
use crate::host::transport::Arrived;
use crate::host::transport::numbers::Numbers;

/// The receiving side of one message.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// First packet that has not arrived.
    expected: u32,
    packets: u32,
    /// Size of the message in bytes.
    bytes: u64,
    /// Packets above `expected` that have arrived; `None` if there are none.
    held: Option<Box<Numbers>>,
    /// Packets that have arrived, each counted once, and their payload in bytes.
    received: u32,
    delivered: u64,
    /// Bytes of frames that are not acknowledged.
    pending: u64,
}

impl Receiver {
    /// The receiver of `flow`.
    pub fn new(flow: &FlowSpec, spec: &Spec) -> Self {
        Self {
            expected: 0,
            packets: spec.packets(flow),
            bytes: flow.bytes,
            held: None,
            received: 0,
            delivered: 0,
            pending: 0,
        }
    }

    /// Whether a packet has arrived with its payload.
    pub fn has(&self, psn: u32) -> bool {
        psn < self.expected || self.held.as_ref().is_some_and(|held| held.contains(psn))
    }

    /// Payload bytes that have arrived, each counted once.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The data packet `psn` has arrived.
    pub fn on_data(&mut self, spec: &Spec, packet: &Packet, psn: u32) -> Arrived {
        let mut arrived = Arrived::default();
        let is_new = !self.has(psn);
        if is_new {
            self.take(spec, psn);
            arrived.completes = self.received == self.packets;
        }
        self.pending += u64::from(packet.bytes).max(spec.ack_min_packet.0);
        let Body::Data { echo, .. } = packet.body else { unreachable!("it is data") };
        let asked = echo.entropy().is_some_and(|entropy| entropy.wants_ack);
        let marked = spec.ack_on_mark && packet.ecn() == Ecn::Ce;
        if self.pending >= spec.ack_trigger.0 || asked || marked || !is_new || arrived.completes {
            self.pending = 0;
            arrived.acknowledge = Some(self.expected);
        }
        arrived
    }

    /// A packet has arrived for the first time.
    fn take(&mut self, spec: &Spec, psn: u32) {
        self.received += 1;
        self.delivered += spec.payload_of(psn, self.bytes, self.packets);
        if psn != self.expected {
            self.held.get_or_insert_default().insert(psn);
            return;
        }
        self.expected += 1;
        if let Some(held) = &mut self.held {
            self.expected = held.next_absent(self.expected);
            held.forget_below(self.expected);
            if held.is_empty() {
                self.held = None;
            }
        }
    }

    /// The acknowledgement that answers a request.
    pub fn on_request(&mut self) -> Body {
        self.pending = 0;
        self.answer(Answered::NONE)
    }

    /// The acknowledgement of `psn`, which arrived with this ECN field.
    pub fn acknowledgement(&self, psn: u32, echo: Echo, ecn: Ecn) -> Body {
        let ack = self.expected;
        let repeated = echo.entropy().is_some_and(|entropy| entropy.repeated);
        self.answer(Answered::new(psn, ack, ecn == Ecn::Ce, repeated))
    }

    fn answer(&self, about: Answered) -> Body {
        let ack = self.expected;
        let base = bitmap_base(about, ack);
        let bitmap = self.held.as_ref().map_or(0, |held| held.bits(base));
        Body::UetAck { received: self.received as u8, about, ack, bitmap }
    }
}
