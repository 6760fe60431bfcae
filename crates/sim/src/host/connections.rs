//! Connections of TCP that carry several messages, one flow for each: what a message leaves to the next one.

use std::collections::BTreeMap;

use floodway_model::{FlowId, FlowSpec, Instant, Progressions, Reuse};

use super::congestion::Control;
use super::sender::Sender;
use super::transport::tcp::{self, rules};
use super::{Host, congestion, transport};

/// Which flows are sent over the connections of others.
#[derive(Debug, Default)]
pub struct Connections {
    /// By flow: the one whose connection it uses.
    of: BTreeMap<FlowId, Before>,
    /// By flow: the next one in the same direction.
    next: BTreeMap<FlowId, FlowId>,
}

/// The flow before another one on its connection.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// In the same direction.
    Same(FlowId),
    /// In the other direction: it is the first in its own.
    Other,
}

impl Connections {
    /// Those of a simulation.
    pub fn new(reuses: &[Reuse], flows: &Progressions<FlowSpec>) -> Self {
        let mut all = Self::default();
        for &Reuse { flow, of } in reuses {
            let same = flows.at(flow.index()).src == flows.at(of.index()).src;
            all.of.insert(flow, if same { Before::Same(of) } else { Before::Other });
            if same {
                all.next.insert(of, flow);
            }
        }
        all
    }
}

/// State of senders that have ended, until the next flow of their connection begins.
pub type Kept = BTreeMap<FlowId, Box<tcp::Sender>>;

/// By flow that goes on with the segment numbers of others: its first segment.
pub fn first_segments(spec: &crate::Spec) -> BTreeMap<FlowId, u32> {
    let mut first = BTreeMap::new();
    for &Reuse { flow, of } in &spec.reuses {
        let before = spec.flows.at(of.index());
        let profile = spec.profiles.get(usize::from(before.workload)).or(spec.profiles.first());
        if let Some(transport::Spec::Tcp(tcp)) = profile.map(|profile| &profile.transport)
            && before.src == spec.flows.at(flow.index()).src
        {
            let from = first.get(&of).copied().unwrap_or(0);
            first.insert(flow, tcp.segments(before.bytes).saturating_add(from));
        }
    }
    first
}

impl Host {
    /// Of flows whose connections were opened in the other direction: receivers accept data at once.
    pub(super) fn establish_receivers(&mut self) {
        let shared = self.shared.clone();
        if shared.connections.of.is_empty() {
            return;
        }
        for place in 0..self.receivers.len() as u32 {
            let flow = self.receivers.flow(place);
            let profile = shared.profile(flow);
            if let Some(Before::Other) = shared.connections.of.get(&flow)
                && let transport::Receiver::Tcp(tcp) =
                    &mut self.receivers.at(place, &shared).transport
                && let transport::Spec::Tcp(spec) = &profile.transport
            {
                tcp.establish(spec.feedback(congestion::State::feedback(&profile.congestion)));
            }
        }
    }

    /// A sender that begins now uses the connection of another flow, if it is to.
    pub(super) fn take_connection(&mut self, sender: &mut Sender, now: Instant) {
        let Some(&before) = self.shared.connections.of.get(&sender.flow) else { return };
        let shared = self.shared.clone();
        let (bytes, profile) =
            (shared.flows.at(sender.flow.index()).bytes, shared.profile(sender.flow));
        let transport::Sender::Tcp(tcp) = &mut sender.transport else { return };
        match before {
            Before::Other => tcp.establish(),
            Before::Same(of) => {
                if !self.take_state(of, tcp, now) {
                    return;
                }
                tcp.next_message(rules(profile), bytes, now);
            }
        }
        sender.timer_at = sender.deadline(profile);
    }

    /// Exchanges a new sender and that of the flow before it on its connection. Returns whether there is one.
    fn take_state(&mut self, of: FlowId, tcp: &mut Box<tcp::Sender>, now: Instant) -> bool {
        let kept = self.dependencies.as_mut().and_then(|all| all.connections.remove(&of));
        if let Some(kept) = kept {
            *tcp = kept;
            return true;
        }
        // All of the flow before has arrived, but not its last acknowledgement.
        let slot = self.slots.of(self.shared.places.at(of.index()).0);
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return false };
        let transport::Sender::Tcp(old) = &mut sender.transport else { return false };
        std::mem::swap(old, tcp);
        old.retire(tcp);
        sender.note_acknowledged(now);
        self.revisit(slot, now);
        true
    }

    /// A sender has ended: keeps its state for the next flow of its connection, if there is one.
    pub(super) fn keep_connection(&mut self, sender: Sender) {
        if let Some(dependencies) = &mut self.dependencies
            && self.shared.connections.next.contains_key(&sender.flow)
            && let transport::Sender::Tcp(tcp) = sender.transport
            && tcp.acknowledged() > 0
        {
            dependencies.connections.insert(sender.flow, tcp);
        }
    }

    /// All of a flow has arrived: prepares the receiver of the next one on its connection, if there is one.
    pub(super) fn continue_connection(&mut self, flow: FlowId, place: u32) {
        let Some(&next) = self.shared.connections.next.get(&flow) else { return };
        let (spec, profile) = (self.shared.flows.at(next.index()), self.shared.profile(next));
        if let Some(transport::Receiver::Tcp(tcp)) = self.receivers.transport(place)
            && let transport::Spec::Tcp(parameters) = &profile.transport
        {
            let continued = Box::new(tcp.next(parameters, spec.bytes));
            let place = self.shared.places.at(next.index()).1;
            self.receivers.at(place, &self.shared).transport = transport::Receiver::Tcp(continued);
        }
    }
}
