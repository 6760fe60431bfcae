//! Whether a switch's books are right, checked at the end of every run.

use floodway_model::Packet;

use super::Switch;
use super::port::{DropReason, Drops};
use super::queue::Queue;

impl Switch {
    /// Frames that wait here.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.ports.iter().flat_map(|port| &port.queues).flat_map(Queue::iter);
        let control = self.ports.iter().flat_map(|port| &port.link_control);
        queued.map(|queued| &queued.packet).chain(control)
    }

    /// What is wrong with the books, in a sentence each.
    pub fn audit(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let sent: u64 = self.ports.iter().map(|port| port.tx.frames).sum();
        let held = self.held().count() as u64;
        let (came, went) = (self.received + self.emitted, sent + self.dropped + held);
        if came != went {
            wrong.push(format!("{came} frames came in and {went} went out, were dropped or wait"));
        }
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        if !queues.clone().all(Queue::is_consistent) {
            wrong.push("a queue's books differ from its packets".to_owned());
        }
        let data = self.ports.iter().flat_map(|port| &port.queues[..self.control_queue()]);
        let egress: u64 = data.map(Queue::backlog).sum();
        let ingress: u64 = self.ingress.iter().sum();
        if egress != ingress {
            wrong
                .push(format!("the ingress book has {ingress} bytes and the egress book {egress}"));
        }
        if let Some(pfc) = &self.spec.flow_control.pfc {
            let lossless = |drops: &&Drops| {
                let data = usize::from(drops.queue) < self.control_queue();
                data && drops.reason != DropReason::Aqm && pfc.covers(drops.queue)
            };
            let lost = self.ports.iter().flat_map(|port| &port.drops).filter(lossless);
            let lost: u64 = lost.map(|drops| drops.packets).sum();
            if lost > 0 {
                wrong.push(format!("{lost} packets of lossless classes were dropped"));
            }
        }
        wrong
    }
}
