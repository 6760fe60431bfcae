//! Events of a host, and the checks at each.

use std::collections::BTreeSet;

use floodway_model::id::CLASSES;
use floodway_model::{Body, Duration, FlowId, Instant, NodeId, Packet};
use rustc_hash::FxHashMap;

use super::credit::Grants;
use super::flows::{Receiver, Sender};
use super::link_credit::Credit;
use super::network::{Network, paused_until};
use super::pauses::Pauses;
use super::{Log, time};
use crate::host::PauseScope;
use crate::observe::{Delivery, Departure};

/// A host as seen from outside.
#[derive(Debug, Default)]
pub struct Host {
    /// Beginning and end of the last frame on the wire.
    pub on_wire: (Instant, Instant),
    pauses: Pauses,
    /// Classes and physical queues paused by Backpressure Flow Control.
    stopped: BTreeSet<(u8, u8)>,
    /// End of the hold by source flow control, by destination and class.
    holds: FxHashMap<(NodeId, u8), Instant>,
    /// Bytes of senders queued in the buffer of the NIC, by class.
    waiting: [u64; CLASSES],
    senders: FxHashMap<FlowId, Sender>,
    receivers: FxHashMap<FlowId, Receiver>,
    grants: Grants,
    credit: Credit,
}

impl Host {
    fn sender(&mut self, network: &Network, flow: FlowId) -> &mut Sender {
        self.senders.entry(flow).or_insert_with(|| Sender::of(network, flow))
    }

    fn receiver(&mut self, network: &Network, flow: FlowId) -> &mut Receiver {
        self.receivers.entry(flow).or_insert_with(|| Receiver::of(network, flow))
    }

    /// A frame has arrived.
    pub fn arrives(&mut self, network: &Network, packet: &Packet, log: &mut Log) {
        let (node, now) = (log.node, log.now);
        let closed = network.closed(node, 0);
        let until = |quanta| paused_until(network, now, quanta, network.rate(node, 0));
        match packet.body {
            Body::Pfc { classes, quanta, resumed } => {
                self.pauses.set(classes, now, until(quanta), closed);
                self.pauses.set(resumed, now, until(0), closed);
            }
            Body::Pause { quanta } => self.pauses.set(u8::MAX, now, until(quanta), closed),
            Body::LinkCredit { class, limit } => {
                let goes_on = self.credit.hears(network, 0, (class, limit), log);
                self.pauses.set(u8::from(goes_on) << class, now, now, closed);
            }
            Body::Bfc { class, physical_queue, stop: true } => {
                self.stopped.insert((class, physical_queue));
            }
            Body::Bfc { class, physical_queue, stop: false } => {
                self.stopped.remove(&(class, physical_queue));
            }
            Body::Sfc { towards, class, pause_ns } => {
                let hold = self.holds.entry((towards, class.0)).or_default();
                *hold = (*hold).max(now + Duration::from_ns(pause_ns.into()));
            }
            Body::Ack { .. } | Body::Nak { .. } | Body::TcpAck { .. } | Body::UetAck { .. } => {
                self.sender(network, packet.flow).hears(&packet.body);
            }
            Body::Credit { number } => {
                self.sender(network, packet.flow).credit.hears(network, packet.flow, number);
            }
            Body::Data { .. } | Body::Trimmed { .. } | Body::Request { .. } => {
                self.grants.arrives(network, packet, log.now);
            }
            _ => {}
        }
    }

    /// A sender has made a packet, which goes to the wire or to the buffer of the NIC.
    pub fn departs(&mut self, network: &Network, departure: &Departure, log: &mut Log) {
        let packet = &departure.packet;
        let held = self.holds.get(&(packet.dst, departure.home.0)).copied();
        if let Some(until) = held.filter(|until| log.now < *until) {
            let text =
                format!("a packet is sent to a destination that is held until {}", time(until));
            log.flow(packet.flow, text);
        }
        let (class, physical_queue) = (packet.class.0, packet.physical_queue);
        if self.stopped.contains(&(class, physical_queue)) {
            let text = format!(
                "physical queue {physical_queue} of class {class} sends while it is stopped"
            );
            log.flow(packet.flow, text);
        }
        if let Some(size) = network.spec.host.buffer {
            let waiting = &mut self.waiting[packet.class.index()];
            *waiting += u64::from(packet.bytes);
            if *waiting > size.0 {
                let text =
                    format!("{waiting} bytes wait in the NIC, which has room for {}", size.0);
                log.queue(0, class.into(), text);
            }
        }
        self.sender(network, packet.flow).departs(network, departure, log);
    }

    /// A frame is sent.
    pub fn sent(&mut self, network: &Network, packet: &Packet, log: &mut Log) {
        let (class, now) = (packet.class.index(), log.now);
        self.pauses.end(now, network.closed(log.node, 0));
        let (host, control) = (&network.spec.host, usize::from(network.spec.switch.queue.count));
        let is_feedback = packet.is_control() && class < control;
        let exempt = is_feedback && !host.pause_feedback;
        let all_data = host.pause_scope == PauseScope::Nic && class < control && !exempt;
        // Frames that pauses of data do not stop are stopped by PAUSE like the control class.
        let own = if exempt { control } else { class };
        let stops = |paused: usize| paused == own || all_data;
        let until = (0..CLASSES).filter(|&paused| stops(paused));
        if let Some(until) = until.filter_map(|paused| self.pauses.until(paused, now)).max() {
            log.queue(0, class, format!("a packet is sent while paused until {}", time(until)));
        }
        if self.credit.sends(network, 0, packet, log) {
            self.pauses.set(1 << class, now, Instant::NEVER, network.closed(log.node, 0));
        }
        let waiting = &mut self.waiting[class];
        if packet.is_data() || matches!(packet.body, Body::Syn { .. }) {
            *waiting = waiting.saturating_sub(packet.bytes.into());
        }
    }

    /// An acknowledgment of TCP is sent.
    pub fn answers(&mut self, network: &Network, flow: FlowId, ack: u32, log: &mut Log) {
        self.receiver(network, flow).check_answer(flow, Some(ack), log);
    }

    /// A receiver half has made a credit frame.
    pub fn grants(&mut self, network: &Network, credit: &Packet, log: &mut Log) {
        self.grants.grants(network, credit, log);
    }

    /// A receiver has accepted a packet.
    pub fn delivers(&mut self, network: &Network, delivery: &Delivery, log: &mut Log) {
        let receiver = self.receiver(network, delivery.packet.flow);
        receiver.delivers(network, delivery, log);
    }
}
