//! Congestion Isolation in a host: the adjacent switch says which flows move to the congesting
//! class.

use floodway_model::{Class, FlowId, Instant};

use super::Host;
use super::sender::Sender;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

impl Host {
    /// The switch isolates this flow; its sender moves to the congesting class too, if it has not
    /// ended.
    pub(super) fn obey_cim(&mut self, flow: FlowId, now: Instant, context: &mut Context) {
        let Some(slot) = self.slot_of(flow) else { return };
        let congesting = self.shared.switch.flow_control.congestion_isolation.as_ref();
        if let Some(spec) = congesting {
            let (monitored, class) = (Class(spec.monitored), Class(spec.congesting));
            let until = now + spec.cim_entry_life;
            // Only a flow whose home class is the monitored class moves.
            let moves = |sender: &Sender| sender.home_class() == monitored;
            let sender = self.senders[slot as usize].as_deref_mut();
            if let Some(sender) = sender.filter(|sender| moves(sender)) {
                sender.isolate(class, until);
                self.nic.reclassify(slot, class);
                context.state(Kinds::BEGAN, self.id, now, || Fact::Reclassified { flow, class });
            }
        }
    }

    /// Slot of the sender of a flow named in a frame without a connection number. `None` if the sender
    /// has ended, or if the flow starts at another host: the switch then refers to the replies of this
    /// host.
    pub(super) fn slot_of(&self, flow: FlowId) -> Option<u32> {
        if self.shared.flows.at(flow.index()).src != self.id {
            return None;
        }
        let slot = self.slots.of(self.shared.places.at(flow.index()).0);
        (slot != u32::MAX).then_some(slot)
    }
}
