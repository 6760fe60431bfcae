//! Events of a switch, and the checks at each.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::id::CLASSES;
use floodway_model::{Body, Duration, Instant, NodeId, Packet};

use super::link_credit::{Announced, Credit};
use super::network::{Network, ROUNDING, is_same, paused_until};
use super::pauses::Pauses;
use super::queues::Queues;
use super::scheduler::Fairness;
use super::thresholds::Thresholds;
use super::{Log, marks, tags, time, trims};
use crate::csig::Tag;
use crate::switch::Spec;
use crate::switch::port::DropReason;

/// A switch as seen from outside.
#[derive(Debug)]
pub struct Switch {
    id: NodeId,
    queues: Queues,
    ports: Vec<Port>,
    thresholds: Option<Thresholds>,
    /// The frame that has arrived to be forwarded, until its queue is known.
    arrived: Option<Packet>,
    /// Number of packets that have joined queues.
    joined: u64,
    announced: Announced,
    /// Its parameters since queue management has changed.
    changed: Option<Arc<Spec>>,
}

#[derive(Debug, Default)]
struct Port {
    /// Beginning and end of the last frame on the wire.
    on_wire: (Instant, Instant),
    pauses: Pauses,
    fairness: Fairness,
    /// Classes and physical queues paused by Backpressure Flow Control.
    stopped: BTreeSet<(u8, u8)>,
    credit: Credit,
}

impl Switch {
    /// An empty switch.
    pub fn new(id: NodeId, network: &Network) -> Self {
        let ports = network.spec.graph.node(id).ports.iter();
        Self {
            id,
            queues: Queues::new(id, network),
            ports: ports.map(|_| Port::default()).collect(),
            thresholds: Thresholds::new(network),
            arrived: None,
            joined: 0,
            announced: Announced::new(network.spec.graph.node(id).ports.len()),
            changed: None,
        }
    }

    /// Its queue management has changed. What the queues have sent before does not count for the new scheduler.
    pub fn changes(&mut self, spec: &Arc<Spec>) {
        self.changed = Some(Arc::clone(spec));
        self.ports.iter_mut().for_each(|port| port.fairness = Fairness::default());
    }

    /// Its parameters now.
    fn spec<'a>(&'a self, network: &'a Network) -> &'a Spec {
        self.changed.as_deref().unwrap_or(&network.spec.switch)
    }

    /// Beginning and end of the last frame on the wire of a port.
    pub fn on_wire(&self, port: usize) -> (Instant, Instant) {
        self.ports[port].on_wire
    }

    /// Sets beginning and end of the last frame on the wire of a port.
    pub fn set_on_wire(&mut self, port: usize, on_wire: (Instant, Instant)) {
        self.ports[port].on_wire = on_wire;
    }

    /// A frame has arrived.
    pub fn arrives(&mut self, network: &Network, packet: &Packet, log: &mut Log) {
        self.check_arrived(log);
        let (port, now) = (packet.ingress.index(), log.now);
        let here = &mut self.ports[port];
        let closed = network.closed(self.id, port);
        let until = |quanta| paused_until(network, now, quanta, network.rate(self.id, port));
        match packet.body {
            Body::Pfc { classes, quanta, resumed } => {
                here.pauses.set(classes, now, until(quanta), closed);
                here.pauses.set(resumed, now, until(0), closed);
            }
            Body::Pause { quanta } => here.pauses.set(u8::MAX, now, until(quanta), closed),
            Body::Bfc { class, physical_queue, stop: true } => {
                here.stopped.insert((class, physical_queue));
            }
            Body::Bfc { class, physical_queue, stop: false } => {
                here.stopped.remove(&(class, physical_queue));
            }
            Body::LinkCredit { class, limit } => {
                let goes_on = here.credit.hears(network, port, (class, limit), log);
                here.pauses.set(u8::from(goes_on) << class, now, now, closed);
            }
            Body::Cim | Body::Drc { .. } | Body::Sfc { .. } => {}
            _ => {
                self.announced.arrives(packet);
                self.arrived = Some(*packet);
            }
        }
    }

    /// Checks that the previous arrival has been forwarded or dropped.
    fn check_arrived(&mut self, log: &mut Log) {
        if let Some(packet) = self.arrived.take() {
            log.flow(packet.flow, "a frame has been neither queued nor sent nor dropped");
        }
    }

    /// The frame that has just arrived, if it is this one.
    fn take_arrived(&mut self, packet: &Packet) -> Option<Packet> {
        self.arrived.take_if(|arrived| is_same(arrived, packet))
    }

    /// A packet joins a queue.
    pub fn joins(
        &mut self,
        network: &Network,
        place: (usize, usize),
        packet: &Packet,
        log: &mut Log,
    ) {
        self.check_idle(network, place.0, log);
        match self.take_arrived(packet) {
            Some(arrived) => {
                marks::check(network, self.spec(network), place, (&arrived, packet), log);
            }
            None if packet.is_control() => {}
            None => log.queue(place.0, place.1, "a packet joins that has not arrived"),
        }
        let in_headroom = self.check_room(network, place, packet, log);
        self.joined += 1;
        self.queues.add(place, self.joined, packet, in_headroom, log.now);
        self.announced.check_held(network, packet, &self.queues, log);
        if let Some(thresholds) =
            self.thresholds.as_mut().filter(|_| is_data_queue(network, place.1))
        {
            thresholds.joins(network, place, packet, log.now);
        }
    }

    /// Whether an admitted packet joins the headroom; reports a packet that does not fit.
    fn check_room(
        &self,
        network: &Network,
        place: (usize, usize),
        packet: &Packet,
        log: &mut Log,
    ) -> bool {
        self.queues.room(network, place, packet).unwrap_or_else(|reason| {
            let (backlog, bytes) = (self.queues.ports[place.0][place.1].bytes, packet.bytes);
            let text = format!(
                "a packet of {bytes} bytes is let in to {backlog} bytes, without room ({})",
                reason.name()
            );
            log.queue(place.0, place.1, text);
            false
        })
    }

    /// A port sends a frame, from the queue with the number of its class. `packet` is as on the wire.
    pub fn sent(&mut self, network: &Network, port: usize, packet: &Packet, log: &mut Log) {
        if let Some(thresholds) = &mut self.thresholds {
            thresholds.sent(port, packet, log);
        }
        self.announced.sends(network, port, packet, &self.queues, log);
        // Link control frames do not share queues and are never paused.
        if matches!(
            packet.body,
            Body::Pfc { .. }
                | Body::Pause { .. }
                | Body::Bfc { .. }
                | Body::Drc { .. }
                | Body::LinkCredit { .. }
        ) {
            return;
        }
        let place = (port, packet.class.index());
        self.check_pauses(network, place, packet, log);
        self.check_idle(network, port, log);
        let found = self.queues.find(place, packet);
        match found.filter(|_| self.arrived.is_none_or(|arrived| !is_same(&arrived, packet))) {
            Some(found) => {
                self.check_order(network, place, packet, log);
                if found > 0 && keeps_order(network) {
                    log.queue(place.0, place.1, format!("a packet overtakes {found} others"));
                }
                let before = self.take_out(network, place, found, log);
                marks::check(network, self.spec(network), place, (&before, packet), log);
            }
            None => self.check_passing(network, place, packet, log),
        }
        let here = &mut self.ports[port];
        if here.credit.sends(network, port, packet, log) {
            here.pauses.set(1 << place.1, log.now, Instant::NEVER, network.closed(self.id, port));
        }
    }

    /// A packet with a tag is about to be sent from a queue, or past it.
    pub fn tagged(&self, place: (usize, usize), packet: &Packet, tag: &Tag, log: &mut Log) {
        let passes = self.arrived.is_some_and(|arrived| is_same(&arrived, packet));
        let waited = match passes {
            true => Duration::ZERO,
            false => self.queues.waited(place, packet, log.now),
        };
        tags::check((self.id, place), packet, tag, waited, log);
    }

    /// A packet is sent without having been queued.
    fn check_passing(
        &mut self,
        network: &Network,
        place: (usize, usize),
        packet: &Packet,
        log: &mut Log,
    ) {
        match self.take_arrived(packet) {
            Some(arrived) => {
                marks::check(network, self.spec(network), place, (&arrived, packet), log);
                self.check_room(network, place, &arrived, log);
            }
            None if packet.is_control() => {}
            None => log.queue(place.0, place.1, "a packet is sent that is not here"),
        }
        self.check_order(network, place, packet, log);
        if keeps_order(network) && self.queues.ports[place.0][place.1].bytes > 0 {
            log.queue(place.0, place.1, "a packet overtakes all that wait");
        }
    }

    /// A packet leaves a queue, sent or dropped.
    fn take_out(
        &mut self,
        network: &Network,
        place: (usize, usize),
        found: usize,
        log: &mut Log,
    ) -> Packet {
        let before = self.queues.remove(place, found);
        if self.queues.ports[place.0][place.1].bytes == 0 {
            self.ports[place.0].fairness.emptied(place.1);
        }
        if let Some(thresholds) =
            self.thresholds.as_mut().filter(|_| is_data_queue(network, place.1))
        {
            thresholds.leaves(network, place, &before, log.now);
        }
        before
    }

    /// Checks that nothing is sent while paused.
    fn check_pauses(
        &mut self,
        network: &Network,
        (port, queue): (usize, usize),
        packet: &Packet,
        log: &mut Log,
    ) {
        let here = &mut self.ports[port];
        here.pauses.end(log.now, network.closed(self.id, port));
        if let Some(until) = here.pauses.until(queue, log.now).filter(|_| !ignores_pauses(network))
        {
            log.queue(port, queue, format!("a packet is sent while paused until {}", time(until)));
        }
        if here.stopped.contains(&(packet.class.0, packet.physical_queue)) && !packet.is_control() {
            let physical_queue = packet.physical_queue;
            log.queue(
                port,
                queue,
                format!("physical queue {physical_queue} sends while it is stopped"),
            );
        }
    }

    /// Checks that the queue may send now with respect to the other queues.
    fn check_order(
        &mut self,
        network: &Network,
        (port, queue): (usize, usize),
        packet: &Packet,
        log: &mut Log,
    ) {
        let control = usize::from(network.spec.switch.queue.count);
        let (now, pauses) = (log.now, &self.ports[port].pauses);
        let queues = &self.queues.ports[port];
        if queue == control {
            return;
        }
        if !queues[control].packets.is_empty() && pauses.until(control, now).is_none() {
            log.queue(port, queue, "data is sent while feedback waits, which goes first");
        }
        if has_parts(network) || ignores_pauses(network) {
            return;
        }
        let able = (0..control).filter(|&other| {
            let paused = pauses.until(other, now).is_some();
            other == queue
                || !queues[other].packets.is_empty()
                    && !paused
                    && !self.is_held(network, port, other)
        });
        let able = able.fold(0, |bits, other| bits | 1 << other);
        let length = u64::from(packet.bytes) + u64::from(network.spec.wire_overhead);
        let spec = self.changed.as_deref().unwrap_or(&network.spec.switch);
        let fairness = &mut self.ports[port].fairness;
        fairness.sends((network, &spec.scheduler), (port, queue), able, length, log);
    }

    /// Congestion Isolation: whether earlier packets of the flow at the head of a queue are still
    /// in the monitored queue.
    fn is_held(&self, network: &Network, port: usize, queue: usize) -> bool {
        let queues = &self.queues.ports[port];
        let isolation = network.spec.switch.flow_control.congestion_isolation.as_ref();
        let Some(spec) = isolation.filter(|spec| usize::from(spec.congesting) == queue) else {
            return false;
        };
        let Some((number, head)) = queues[queue].packets.front() else { return false };
        let monitored = &queues[usize::from(spec.monitored)].packets;
        let mut earlier = monitored.iter().take_while(|(other, _)| other < number);
        earlier.any(|(_, packet)| spec.key_of(packet.flow) == spec.key_of(head.flow))
    }

    /// Checks that a port sends as soon as its wire is free and a queue with packets is not paused.
    fn check_idle(&self, network: &Network, port: usize, log: &mut Log) {
        // With a retry, a port also waits for replays and for its replay buffer.
        if has_parts(network) || ignores_pauses(network) || network.is_retried(self.id, port) {
            return;
        }
        let (here, now) = (&self.ports[port], log.now);
        let congesting = network.spec.switch.flow_control.congestion_isolation.as_ref();
        let congesting = congesting.map(|spec| usize::from(spec.congesting));
        for (number, queue) in self.queues.ports[port].iter().enumerate() {
            // Isolated packets may wait for other packets of their flow.
            if queue.packets.is_empty() || congesting == Some(number) {
                continue;
            }
            let since = here.pauses.free_from(number, here.on_wire.1.max(queue.since));
            let closed = network.closed(self.id, port);
            let down = closed.iter().any(|&(from, until)| from <= now && since <= until);
            if since < now && since + ROUNDING < now && !down {
                let bytes = queue.bytes;
                let text = format!("{bytes} bytes could have been sent since {}", time(since));
                log.queue(port, number, text);
            }
        }
    }

    /// A packet is dropped that was to join a queue, or is in it.
    pub fn drops(
        &mut self,
        network: &Network,
        place: (usize, usize),
        reason: DropReason,
        packet: &Packet,
        log: &mut Log,
    ) {
        let (port, queue) = place;
        let name = reason.name();
        let spec = &network.spec.switch;
        let allowed = match reason {
            DropReason::Aqm => marks::may_drop(self.spec(network), packet),
            DropReason::LinkDown => network.is_closed(self.id, port, log.now),
            DropReason::NoRoute => !network.spec.failures.is_empty(),
            DropReason::Watchdog => {
                spec.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.watchdog.is_some())
            }
            DropReason::PushedOut => !spec.queue.discipline.is_fifo(),
            _ => true,
        };
        if !allowed {
            log.queue(port, queue, format!("a packet is dropped ({name}) without that reason"));
        }
        // A packet that is pushed out was queued; the arriving packet is yet to be admitted.
        let waited = reason == DropReason::PushedOut;
        let arrived = if waited { None } else { self.take_arrived(packet) };
        if arrived.is_some() || reason.is_for_want_of_room() && !waited {
            let room = self.queues.room(network, place, &arrived.unwrap_or(*packet));
            if reason.is_for_want_of_room() && room != Err(reason) {
                let (backlog, bytes) = (self.queues.ports[port][queue].bytes, packet.bytes);
                let text = format!(
                    "a packet of {bytes} bytes is dropped ({name}) from {backlog} bytes, where it \
                     has room or lacks it for another reason"
                );
                log.queue(port, queue, text);
            }
            return;
        }
        if let Some(found) = self.queues.find(place, packet) {
            self.take_out(network, place, found, log);
        } else if !packet.is_one_hop() && !packet.is_control() {
            log.queue(port, queue, "a packet is dropped that is not here");
        }
    }

    /// A packet is trimmed: the one that has arrived or, if it `waited`, the last of its queue.
    pub fn trims(
        &mut self,
        network: &Network,
        place: (usize, usize),
        (packet, header, waited): (&Packet, &Packet, bool),
        log: &mut Log,
    ) {
        trims::check(network, place, (packet, header, waited), log);
        let refused = if waited { self.arrived } else { self.take_arrived(packet) };
        match refused {
            Some(refused) => {
                let queues = &self.queues;
                if queues.room(network, place, &refused).is_ok()
                    && trims::fits(network, queues.ports[place.0][place.1].bytes, &refused)
                {
                    log.queue(place.0, place.1, "a packet is trimmed, and there is room");
                }
            }
            None => log.queue(place.0, place.1, "a packet is trimmed, and none has arrived"),
        }
        if waited {
            match self.queues.find(place, packet) {
                Some(found) if found + 1 == self.queues.ports[place.0][place.1].packets.len() => {
                    self.take_out(network, place, found, log);
                }
                _ => log.queue(place.0, place.1, "a packet is trimmed that is not the last"),
            }
        }
    }

    /// The run ends.
    pub fn finish(&mut self, network: &Network, log: &mut Log) {
        self.check_arrived(log);
        for port in 0..self.ports.len() {
            if self.ports[port].on_wire.1 < log.now {
                self.check_idle(network, port, log);
                if let Some(thresholds) = &mut self.thresholds {
                    thresholds.check_owed(port, log);
                }
            }
        }
    }
}

/// Whether it is a data queue, not the control queue.
fn is_data_queue(network: &Network, queue: usize) -> bool {
    queue < usize::from(network.spec.switch.queue.count)
}

/// Whether queues have subqueues, from which packets depart in another order and which may be held
/// back.
fn has_parts(network: &Network) -> bool {
    let spec = &network.spec.switch;
    let (bfc, drc) = (&spec.flow_control.bfc, &spec.flow_control.drc);
    bfc.is_some()
        || drc.is_some()
        || !spec.queue.discipline.is_fifo()
        || spec.fabric.lines().is_some()
}

fn keeps_order(network: &Network) -> bool {
    !has_parts(network)
}

/// Whether the PFC watchdog may end pauses by itself.
fn ignores_pauses(network: &Network) -> bool {
    let pfc = network.spec.switch.flow_control.pfc.as_ref();
    pfc.is_some_and(|pfc| pfc.watchdog.is_some())
}

const _: () = assert!(CLASSES == 8, "a byte has a bit for each class");
