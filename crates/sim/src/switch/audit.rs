//! Counters of a switch, and the consistency check of its accounting.

use floodway_model::id::CLASSES;
use floodway_model::{Body, Instant, Packet};

use super::Switch;
use super::buffer::shared::HeadroomPool;
use super::flow_control::pausing::Paused;
use super::flow_control::pfc::watchdog::Event;
use super::mechanism::{Dropped, Events};
use super::occupancy::Scope;
use super::port::{DropReason, Drops, Port};
use super::queue::Queue;
use crate::context::Context;
use crate::metric::Tally;
use crate::observe::{Fact, Kinds};

impl Switch {
    /// Pauses sent to the neighbor at `port` for a class; with PAUSE, for all classes, counted as
    /// class 0. `None` if no mechanism pauses neighbors.
    pub fn sent_pauses(&self, port: usize, class: usize) -> Option<&Paused> {
        self.mechanisms.pauses_sent(port, class)
    }

    /// Pause storms detected at this switch.
    pub fn storms(&self) -> impl Iterator<Item = &Event> {
        self.mechanisms.storms()
    }

    /// The pool of headroom of its buffer, if it has one.
    pub fn headroom_pool(&self) -> Option<&HeadroomPool> {
        self.buffer.headroom_pool()
    }

    /// All frames queued in this switch.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.ports.iter().flat_map(|port| &port.queues[..]).flat_map(Queue::iter);
        let control = self.ports.iter().flat_map(Port::link_control);
        let inputs = self.crossbar.iter().flat_map(|crossbar| crossbar.packets());
        queued.chain(control).chain(inputs)
    }

    /// Counts and reports a dropped packet.
    #[cold]
    pub(super) fn drop(
        &mut self,
        egress: usize,
        queue: usize,
        reason: DropReason,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let fact = || Fact::Dropped { port: egress, queue, reason, packet };
        context.state(Kinds::DROPPED, self.id, now, fact);
        self.dropped += 1;
        if self.mechanisms.wants().has(Events::DROPPED) {
            self.ask_dropped(&Dropped { egress, queue, packet, reason }, now, context);
        }
        if reason.is_for_want_of_room() && queue != self.control_queue() {
            let (aqm, mut view) = self.aqm(egress, now);
            aqm.on_overflow(queue, packet, &mut view);
        }
        if let (Body::Trimmed { .. }, Some(trimming)) = (packet.body, &mut self.trimming) {
            trimming.headers_dropped += 1;
        }
        if packet.is_of_message() {
            *self.lost.entry(packet.flow).or_default() += 1;
        }
        let lossless = self.spec.flow_control.must_not_lose() >> packet.class.0 & 1 != 0;
        let data = packet.class.index() < self.control_queue();
        let lossless = lossless && data && reason.is_for_want_of_room();
        self.lossless_dropped += u64::from(lossless);
        self.ports[egress].count_drop(queue, reason, packet.bytes);
        context.free_telemetry(packet);
    }

    /// Samples queue depths and buffer occupancies.
    pub(super) fn sample(&mut self, sample: usize, context: &mut Context) {
        let (measured, tier) =
            (context.metrics.sampling().measures(sample), usize::from(self.tier));
        if measured {
            self.sampled += self.occupancy.bytes();
            context.metrics.sample_occupancy(tier, Scope::Switch, self.occupancy.bytes());
            for port in &self.ports {
                context.metrics.sample_occupancy(tier, Scope::Port, port.occupancy.bytes());
            }
            for input in self.crossbar.iter_mut().flat_map(|crossbar| &mut crossbar.inputs) {
                input.sampled += input.bytes();
            }
        }
        for port in &mut self.ports {
            for (number, queue) in port.queues.iter_mut().enumerate() {
                if measured {
                    queue.sample();
                }
                context.metrics.sample(sample, tier, number, queue.backlog());
            }
        }
    }

    /// Reports the state of every port at a sample, as a fact for observers.
    #[cold]
    pub(super) fn state_sample(&self, sample: usize, now: Instant, context: &mut Context) {
        let ports = self.ports.len();
        for (port, of) in self.ports.iter().enumerate() {
            let mut backlogs = [0; CLASSES + 1];
            for (backlog, queue) in backlogs.iter_mut().zip(&of.queues) {
                *backlog = queue.backlog();
            }
            let (tx, backlogs) = (&of.tx, &backlogs[..of.queues.len()]);
            let held = of.queues.iter().map(Queue::held).sum();
            let fact = || Fact::Sampled { sample, port, ports, tx, backlogs, held };
            context.state(Kinds::SAMPLED, self.id, now, fact);
        }
    }

    /// Adds the counters of this switch as of `now`, even if its last event was earlier.
    pub(crate) fn tally(&self, now: Instant, tally: &mut Tally) {
        tally.dropped_packets += self.dropped;
        tally.pfc_frames += self.pfc_frames;
        self.mechanisms.count(tally);
        if let Some(indication) = &self.indication {
            tally.indications_sent += indication.sent;
        }
        if let Some(trimming) = &self.trimming {
            tally.trimmed_packets += trimming.trimmed;
            tally.headers_dropped += trimming.headers_dropped;
        }
        for (number, port) in self.ports.iter().enumerate() {
            tally.lost_on_links += port.tx.lost();
            tally.count_errors(port.tx.errors());
            port.queues.iter().for_each(|queue| queue.count(now, tally));
            let marked = port.queues.iter().map(Queue::marked).sum::<u64>();
            match self.indication {
                None => tally.marked_packets += marked,
                Some(_) => tally.indicated_packets += marked,
            }
            let of_data = |drops: &&Drops| usize::from(drops.queue) != self.control_queue();
            for drops in port.drops.iter().filter(of_data) {
                tally.queues[usize::from(drops.queue)] += drops.packets;
            }
            // PAUSE stops the control queue too, but that queue is not a class of data.
            for class in 0..self.control_queue() {
                let sent_pauses = self.sent_pauses(number, class).copied().unwrap_or_default();
                tally.pause_frames += sent_pauses.xoffs + sent_pauses.refreshes;
                tally.xoff_frames += sent_pauses.xoffs;
                tally.xon_frames += sent_pauses.xons;
                let paused = port.tx.pauses()[class].total_at(now);
                tally.paused_ns += paused.0 / 1_000;
                let pauses = &mut tally.tier(usize::from(self.tier))[class];
                pauses.xoffs += sent_pauses.xoffs;
                pauses.paused += paused.0;
            }
        }
    }

    /// Inconsistencies in the accounting, one sentence each.
    pub fn audit(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let sent: u64 = self.ports.iter().map(|port| port.tx.frames).sum();
        let held = self.held().count() as u64;
        let (came, went) = (self.received + self.emitted, sent + self.dropped + held);
        if came != went {
            wrong.push(format!("{came} frames came in and {went} went out, were dropped or wait"));
        }
        let bound = self.crossbar.as_ref().map(|crossbar| crossbar.bound());
        let at_inputs = |port: usize, queue: usize| match &bound {
            Some(bound) if queue < self.control_queue() => {
                bound[port * self.control_queue() + queue]
            }
            _ => (0, 0),
        };
        let consistent = |(port, books): (usize, &Port)| {
            let mut queues = books.queues.iter().enumerate();
            queues.all(|(queue, books)| books.is_consistent(at_inputs(port, queue)))
        };
        if !self.ports.iter().enumerate().all(consistent) {
            wrong.push("the accounting of a queue differs from its packets".to_owned());
        }
        wrong.extend(self.crossbar.iter().flat_map(|crossbar| crossbar.audit(&self.ports)));
        let data = self.ports.iter().flat_map(|port| &port.queues[..self.control_queue()]);
        let held: u64 = data.map(Queue::backlog).sum();
        let ports: u64 = self.ports.iter().map(|port| port.occupancy.bytes()).sum();
        if (held, held) != (ports, self.occupancy.bytes()) {
            let switch = self.occupancy.bytes();
            wrong.push(format!(
                "data in its queues is {held} bytes, {ports} by port and {switch} by switch"
            ));
        }
        let inputs = self.crossbar.iter().flat_map(|crossbar| crossbar.packets());
        wrong.extend(self.buffer.audit(&self.ports, self.control_queue(), inputs, self.spec.cell));
        // If a pause frame was lost or late, the neighbor did not learn in time that it had to stop,
        // and a drop in a lossless class is not an error.
        let outages = self.ports.iter().filter_map(|port| port.tx.outages());
        let unheard: u64 = outages.map(|outages| outages.lost_pauses).sum();
        if self.lossless_dropped > 0 && unheard == 0 {
            let lost = self.lossless_dropped;
            wrong.push(format!("{lost} packets of lossless classes were dropped"));
        }
        wrong
    }
}
