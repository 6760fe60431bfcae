//! Congestion Isolation in a host: the switch says which flows go to the congesting class.

use floodway_model::{Class, FlowId, Instant};

use super::Host;
use super::sender::Sender;

impl Host {
    /// The switch isolates this flow: its sender does the same, if it has not ended.
    pub(super) fn obey_cim(&mut self, flow: FlowId, now: Instant) {
        // What the receiver of a flow sends back for it, with TCP, is isolated as the flow is, and its
        // NIC hears of it; but it has no sender of the flow.
        if self.shared.flows[flow.index()].src != self.id {
            return;
        }
        // The connection of a CIM is not known to the switch: the flow says whose it is.
        let place = self.shared.places[flow.index()].0;
        let congesting = self.shared.switch.flow_control.congestion_isolation.as_ref();
        if let Some(spec) = congesting {
            let (monitored, class) = (Class(spec.monitored), Class(spec.congesting));
            let until = now + spec.cim_entry_life;
            // Only a flow that begins in the monitored class moves to the other.
            let moves = |sender: &Sender| sender.home_class() == monitored;
            if let Some((slot, sender)) = self.sender(place).filter(|(_, s)| moves(s)) {
                sender.isolate(class, until);
                self.nic.reclassify(slot, class);
            }
        }
    }

    /// The sender of a connection, with its slot; `None` if it has ended.
    fn sender(&mut self, connection: u32) -> Option<(u32, &mut Sender)> {
        let slot = self.slots[connection as usize];
        if slot == u32::MAX {
            return None;
        }
        self.senders[slot as usize].as_deref_mut().map(|sender| (slot, sender))
    }
}
