//! Layer 2 congestion indications at the NIC, the edge of the layer 2 network
//! ([`congestion_indication`](crate::switch::congestion_indication)).

use floodway_model::{FlowId, Instant, Packet};

use super::Host;

/// Counters of indications.
#[derive(Debug, Default)]
pub(super) struct Indications {
    /// Packets with an indication: those that were ECN-capable, and those that were not.
    pub mapped: u64,
    pub passed: u64,
    /// Backward indications.
    pub received: u64,
}

impl Indications {
    /// A packet has arrived with an indication. The indication ends here; if the packet is
    /// ECN-capable, it is mapped to CE for layer 3.
    pub fn map(&mut self, packet: &mut Packet) {
        packet.indicated = false;
        if packet.ecn().is_capable() {
            packet.mark();
            self.mapped += 1;
        } else {
            self.passed += 1;
        }
    }
}

impl Host {
    /// A backward indication has arrived: a packet of this flow met congestion at a switch.
    pub(super) fn on_indication(&mut self, flow: FlowId, severity: u8, now: Instant) {
        self.indications.received += 1;
        let Some(slot) = self.slot_of(flow) else { return };
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let profile = self.shared.profile(flow);
        sender.transport.on_indication(severity, profile, now);
        if sender.timer_is_earlier(profile) {
            self.timeouts.push(sender.timer_at, (slot, flow));
        }
        self.revisit(slot, now);
    }

    /// A CNM has arrived: a congestion point has sampled a frame of this flow. The flow reacts if it
    /// has a reaction point.
    pub(super) fn on_cnm(&mut self, flow: FlowId, feedback: u8, now: Instant) {
        self.cnms += 1;
        let Some(slot) = self.slot_of(flow) else { return };
        if let Some(Some(sender)) = self.senders.get_mut(slot as usize) {
            let profile = self.shared.profile(flow);
            sender.control().on_cnm(&profile.congestion, now, feedback);
        }
    }
}
