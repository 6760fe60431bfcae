//! The sending side of a RoCEv2 message with go-back-N (InfiniBand architecture, section 9.7).

use floodway_model::{FlowSpec, Instant};
use floodway_sim::host::transport::rocev2::Spec;
use floodway_sim::host::transport::rocev2::recovery;

use super::frame::after;

/// One message.
#[derive(Debug)]
pub struct GoBackN {
    bytes: u64,
    /// Packets of the message.
    packets: u64,
    /// The next to send, and the first that is not acknowledged.
    pub next: u64,
    pub unacknowledged: u64,
    /// The first that was never sent.
    fresh: u64,
    stop: Instant,
    /// When the packet that is waited for was sent, or the last answer with progress came.
    progress: Instant,
    /// The most packets in flight.
    pub window: u64,
}

impl GoBackN {
    pub fn new(spec: &Spec, flow: &FlowSpec, now: Instant) -> Self {
        let endless = flow.is_persistent();
        let packets = if endless { u32::MAX.into() } else { flow.bytes.div_ceil(spec.mtu.0) };
        let stop = if endless { flow.stop } else { Instant::NEVER };
        Self {
            bytes: flow.bytes,
            packets,
            next: 0,
            unacknowledged: 0,
            fresh: 0,
            stop,
            progress: now,
            window: u64::MAX,
        }
    }

    pub fn is_done(&self) -> bool {
        self.unacknowledged == self.packets
    }

    pub fn has_more(&self) -> bool {
        self.next < self.packets && self.next - self.unacknowledged < self.window
    }

    /// Number and payload of the next packet.
    pub fn take(&mut self, spec: &Spec, now: Instant) -> Option<(u64, u64)> {
        if now >= self.stop {
            // The message ends with what has been sent.
            self.stop = Instant::NEVER;
            self.packets = self.fresh;
            self.bytes = self.fresh * spec.mtu.0;
        }
        if !self.has_more() {
            return None;
        }
        let psn = self.next;
        self.next += 1;
        self.fresh = self.fresh.max(self.next);
        if psn == self.unacknowledged {
            self.progress = now;
        }
        Some((psn, spec.mtu.0.min(self.bytes - psn * spec.mtu.0)))
    }

    /// Everything below `psn` has arrived.
    pub fn on_ack(&mut self, psn: u64, now: Instant) {
        if psn > self.unacknowledged {
            self.unacknowledged = psn;
            self.next = self.next.max(psn);
            self.progress = now;
        }
    }

    /// `psn` is missing, and everything below has arrived.
    pub fn on_nak(&mut self, psn: u64, now: Instant) {
        self.on_ack(psn, now);
        if psn == self.unacknowledged {
            self.next = psn;
            self.progress = now;
        }
    }

    /// When it has waited too long; `None` if nothing is in flight.
    pub fn deadline(&self, spec: &Spec) -> Option<Instant> {
        let recovery::Spec::GoBackN(go_back_n) = &spec.recovery else {
            unreachable!("`known::check` refuses it")
        };
        let timeout = go_back_n.retransmit_timeout.0;
        (self.next > self.unacknowledged).then(|| after(self.progress, timeout))
    }

    /// It has: everything that is not acknowledged is sent again.
    pub fn on_timeout(&mut self, now: Instant) {
        self.next = self.unacknowledged;
        self.progress = now;
    }
}
