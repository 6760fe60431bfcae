//! Hosts: a NIC that sends for its flows by round robin, and the receivers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use floodway_model::{Ecn, Instant, NodeId};
use floodway_sim::Spec;
use floodway_sim::host::PauseScope;

use super::World;
use super::dcqcn::Timer;
use super::frame::{Frame, Kind, after};
use super::heap::Event;
use super::receiver::Receiver;
use super::sender::Sender;
use super::sending_end::SendingEnd;
use super::switch::class_of;

pub struct Host {
    id: NodeId,
    end: SendingEnd,
    /// Acknowledgements, NAKs and CNPs, which go before data.
    control: VecDeque<Frame>,
    /// By class of data: answers that travel in it, which go after those and before data.
    answers: [VecDeque<Frame>; 8],
    control_class: u8,
    /// A flow gets the slot that was given back last, else a new one.
    slots: Vec<Option<Sender>>,
    free: Vec<usize>,
    /// By class: slots of senders that may send, in their order.
    ready: [VecDeque<usize>; 8],
    /// The class that is asked first.
    turn: usize,
    /// Senders that may send later.
    paced: BTreeSet<(Instant, usize)>,
    receivers: BTreeMap<u32, Receiver>,
}

impl Host {
    pub fn new(spec: &Spec, id: NodeId) -> Self {
        Self {
            id,
            end: SendingEnd::new(spec, id, 0),
            control: VecDeque::new(),
            answers: Default::default(),
            control_class: spec.switch.queue.count,
            slots: Vec::new(),
            free: Vec::new(),
            ready: Default::default(),
            turn: 0,
            paced: BTreeSet::new(),
            receivers: BTreeMap::new(),
        }
    }

    pub fn on_event(&mut self, event: Event, now: Instant, world: &mut World) {
        match event {
            Event::Rate(timer, flow) => self.on_rate_timer(timer, flow, now, world),
            Event::Start(flow) => {
                self.start(flow, now, world);
                world.heap.push(now, self.id, Event::Send(0));
            }
            Event::Timeout { slot, flow } => {
                self.on_timeout(slot, flow, now, world);
                world.heap.push(now, self.id, Event::Send(0));
            }
            Event::Send(_) => self.send(now, world),
            Event::Refresh { .. } => unreachable!("hosts pause nobody"),
            Event::Arrival { frame, .. } => {
                self.on_arrival(frame, now, world);
                self.send(now, world);
            }
        }
    }

    fn start(&mut self, flow: u32, now: Instant, world: &mut World) {
        let spec = &world.spec.flows[flow as usize];
        let profile = world.profile(flow);
        let class = class_of(&world.spec.switch, spec, profile.dscp);
        let sender = Sender::new((flow, spec), class, profile, self.end.rate, now);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(sender);
        self.ready[class].push_back(slot);
    }

    /// The slot of a flow that has a sender.
    fn slot_of(&self, flow: u32) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(|sender| sender.flow == flow))
    }

    fn sender(&mut self, slot: usize) -> &mut Sender {
        self.slots[slot].as_mut().expect("a sender is in its slot until it ends")
    }

    fn on_rate_timer(&mut self, timer: Timer, flow: u32, now: Instant, world: &mut World) {
        if let Some(slot) = self.slot_of(flow) {
            self.sender(slot).on_rate_timer(world.profile(flow), timer, now);
            self.set_timers(slot, world);
        }
    }

    /// Puts those timers of a sender into the heap that have been set since the last time.
    fn set_timers(&mut self, slot: usize, world: &mut World) {
        let id = self.id;
        let sender = self.sender(slot);
        let flow = sender.flow;
        let timers = sender.timers(world.profile(flow));
        let before = std::mem::replace(&mut sender.armed, timers);
        for (timer, before) in timers.into_iter().zip(before) {
            let Some((timer, at)) = timer.filter(|_| timer != before) else { continue };
            let event = match timer {
                Some(timer) => Event::Rate(timer, flow),
                None => Event::Timeout { slot, flow },
            };
            world.heap.push(at, id, event);
        }
    }

    fn on_timeout(&mut self, slot: usize, flow: u32, now: Instant, world: &mut World) {
        if self.slot_of(flow) != Some(slot) {
            return;
        }
        let profile = world.profile(flow);
        if self.sender(slot).deadline(profile) == Some(now) {
            self.sender(slot).on_timeout(profile, now);
            self.revisit(slot, now, world);
        }
    }

    fn on_arrival(&mut self, frame: Frame, now: Instant, world: &mut World) {
        match frame.kind {
            Kind::Pause { class, quanta } => self.end.pause(class, quanta, now, world),
            Kind::Data { psn } => self.on_data(&frame, psn, now, world),
            Kind::Ack { .. } | Kind::Nak { .. } | Kind::Cnp => {
                let Some(slot) = self.slot_of(frame.flow) else { return };
                self.sender(slot).on_answer(world.profile(frame.flow), &frame.kind, now);
                self.set_timers(slot, world);
                self.revisit(slot, now, world);
            }
        }
    }

    fn on_data(&mut self, frame: &Frame, psn: u32, now: Instant, world: &mut World) {
        let flow = &world.spec.flows[frame.flow as usize];
        let profile = world.profile(frame.flow);
        let receiver =
            self.receivers.entry(frame.flow).or_insert_with(|| Receiver::new(profile, flow));
        let answers = receiver.on_data(profile, psn, frame.ecn == Ecn::Ce, now);
        let lengths = match &profile.transport {
            floodway_sim::host::transport::Spec::Rocev2(spec) => spec.answer.0 as u16,
            _ => 0,
        };
        if receiver.is_complete() {
            world.seen.completed.entry(frame.flow).or_insert(now);
        }
        for kind in answers {
            // A CNP is a RoCEv2 packet with 16 bytes of its own (annex A17): 62 + 16.
            let bytes = if kind == Kind::Cnp { 78 } else { lengths };
            let feedback = &world.spec.switch.feedback;
            let is_cnp = kind == Kind::Cnp;
            let class = if is_cnp { feedback.cnp } else { feedback.ack };
            // The traffic class byte of the queue pair, which ACKs have too.
            let capable = class.is_some() && !is_cnp && frame.ecn != Ecn::NotEct;
            let answer = Frame {
                flow: frame.flow,
                dst: flow.src.0,
                bytes,
                ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct },
                class: class.unwrap_or(self.control_class),
                ingress: 0,
                kind,
            };
            match class {
                Some(class) => self.answers[usize::from(class)].push_back(answer),
                None => self.control.push_back(answer),
            }
        }
    }

    /// A sender that is not with the NIC ends, or joins it again if it has something to send.
    fn revisit(&mut self, slot: usize, now: Instant, world: &mut World) {
        let sender = self.sender(slot);
        if sender.in_nic {
            return;
        }
        if sender.is_done() {
            self.end(slot);
        } else if sender.has_more() {
            self.join(slot, now, world);
        }
    }

    /// The sender joins the round of its class, at once if its time comes before the wire is free.
    fn join(&mut self, slot: usize, now: Instant, world: &mut World) {
        let busy_until = self.end.busy_until;
        let sender = self.sender(slot);
        sender.in_nic = true;
        let (class, at) = (sender.class, sender.eligible_at);
        if at <= busy_until {
            self.ready[class].push_back(slot);
        } else {
            self.paced.insert((at, slot));
            world.heap.push(at.max(now), self.id, Event::Send(0));
        }
    }

    fn end(&mut self, slot: usize) {
        self.slots[slot] = None;
        self.free.push(slot);
    }

    /// Sends the next frame, if the wire is free.
    fn send(&mut self, now: Instant, world: &mut World) {
        if !self.end.is_free(now) {
            return;
        }
        if let Some(frame) = self.control.pop_front() {
            return self.end.transmit(frame, self.control_class.into(), now, world);
        }
        for class in 0..8 {
            let stopped = world.spec.host.pause_feedback && self.is_stopped(class, now, world);
            if !stopped && let Some(frame) = self.answers[class].pop_front() {
                return self.end.transmit(frame, class, now, world);
            }
        }
        while let Some(&(at, slot)) = self.paced.first()
            && at <= now
        {
            self.paced.pop_first();
            let class = self.sender(slot).class;
            self.ready[class].push_back(slot);
        }
        while let Some(slot) = self.next_in_turn(now, world) {
            if self.send_from(slot, now, world) {
                return;
            }
        }
    }

    /// Whether pauses stop data of this class.
    fn is_stopped(&self, class: usize, now: Instant, world: &World) -> bool {
        match world.spec.host.pause_scope {
            PauseScope::Class => self.end.is_paused(class, now),
            PauseScope::Nic => (0..8).any(|class| self.end.is_paused(class, now)),
        }
    }

    /// Takes the sender whose turn it is out of the round: classes that are not paused take turns.
    fn next_in_turn(&mut self, now: Instant, world: &World) -> Option<usize> {
        let stopped = |class| self.is_stopped(class, now, world);
        let classes = (0..8).map(|step| (self.turn + step) % 8);
        let class =
            classes.into_iter().find(|&class| !stopped(class) && !self.ready[class].is_empty())?;
        self.turn = (class + 1) % 8;
        self.ready[class].pop_front()
    }

    /// Sends a packet of this sender, if it has one.
    fn send_from(&mut self, slot: usize, now: Instant, world: &mut World) -> bool {
        let sender = self.sender(slot);
        let profile = world.profile(sender.flow);
        sender.in_nic = false;
        if sender.is_done() {
            self.end(slot);
            return false;
        }
        let Some((psn, bytes, ecn)) = sender.take(profile, now) else {
            if sender.is_done() {
                self.end(slot);
            }
            return false;
        };
        let (flow, class) = (sender.flow, sender.class);
        let on_wire = self.end.on_wire(bytes);
        let wire_time = self.end.wire_time(bytes);
        let sender = self.sender(slot);
        let gap = sender.on_sent(profile, on_wire).max(wire_time);
        sender.eligible_at = after(now, gap);
        let frame = Frame {
            flow,
            dst: world.spec.flows[flow as usize].dst.0,
            bytes,
            ecn,
            class: class as u8,
            ingress: 0,
            kind: Kind::Data { psn },
        };
        self.end.transmit(frame, class, now, world);
        self.set_timers(slot, world);
        if self.sender(slot).has_more() {
            self.join(slot, now, world);
        } else if self.sender(slot).is_done() {
            self.end(slot);
        }
        true
    }
}
