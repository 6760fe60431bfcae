//! Hosts: a NIC with one port, senders and receivers.

pub mod application;
pub mod congestion;
mod holds;
mod indications;
mod lanes;
mod memory;
mod nic;
mod receiver;
mod regulated;
mod segments;
mod sender;
mod spec;
pub mod transport;
mod turns;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use floodway_model::packet::length;
use floodway_model::random;
use floodway_model::{
    Body, Class, Duration, Ecn, FlowId, FlowSpec, Instant, NodeId, Packet, PortIx, Tos,
};

use crate::engine::{Context, Node};
use crate::link::Link;
use crate::metric::{Latencies, Tally};
use crate::switch;
use application::Application;
use holds::Holds;
use indications::Indications;
use lanes::Lanes;
use nic::Nic;
use sender::{Header, Sender};
use transport::Sent;
use transport::rocev2::Arrived;
use turns::Turns;

pub use receiver::Receiver;
pub use spec::{PauseScope, Profile, Spec};

/// What all hosts of a simulation share.
#[derive(Debug)]
pub struct Shared {
    /// Parameters of the hosts.
    pub host: Spec,
    /// How flows are sent, by workload; a single one if all workloads are alike.
    pub profiles: Vec<Profile>,
    /// Parameters of the switches, whose classes the NICs use too.
    pub switch: switch::Spec,
    /// All flows.
    pub flows: Vec<FlowSpec>,
    /// By flow: its place among the flows that its sender sends, and among those that its receiver
    /// receives.
    pub places: Vec<(u32, u32)>,
    /// Tiers of switches in the network.
    pub tiers: u8,
    /// Time between two samples of what flows without a size have delivered.
    pub flow_samples: Option<Duration>,
    /// Whether receivers record how long packets took.
    pub latencies: bool,
    /// Decides every random choice.
    pub seed: u64,
}

impl Shared {
    /// How a flow is sent.
    #[inline]
    pub fn profile(&self, flow: FlowId) -> &Profile {
        // Nearly always there is one: no look-up in the list of all flows then.
        match self.profiles.as_slice() {
            [only] => only,
            profiles => &profiles[usize::from(self.flows[flow.index()].workload)],
        }
    }
}

/// A host.
#[derive(Debug)]
pub struct Host {
    id: NodeId,
    shared: Arc<Shared>,
    /// The network interface.
    pub nic: Nic,
    /// The flows that it sends, in order of start.
    outgoing: Vec<FlowId>,
    started: usize,
    /// Which of them begin after one another, if any do.
    turns: Option<Box<Turns>>,
    /// By place among the outgoing flows: the slot of the sender, while there is one.
    slots: Vec<u32>,
    senders: Vec<Option<Box<Sender>>>,
    free: Vec<u32>,
    /// By place among the incoming flows.
    pub receivers: Vec<Receiver>,
    /// By workload: how long packets of the measurement took, if it is recorded.
    pub latencies: Vec<Latencies>,
    /// What source flow control holds back.
    holds: Holds,
    /// What layer 2 has told of congestion.
    indications: Indications,
    /// When a sender may have waited too long.
    timeouts: BinaryHeap<Reverse<(Instant, u32, FlowId)>>,
    /// When a receiver, by its place, has to send something by itself.
    delayed: BinaryHeap<Reverse<(Instant, u32)>>,
    /// What writes the data of some flows, in order of their start.
    pub applications: Vec<Application>,
    /// When an application, by its place, hands something over.
    writes: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Senders that have ended, with what they counted.
    pub ended: Vec<(FlowId, Sent)>,
    wake: Instant,
    /// CNPs sent.
    pub cnps: u64,
    /// NAKs sent.
    pub naks: u64,
    /// Frames made here.
    pub emitted: u64,
    /// Frames that ended here.
    pub consumed: u64,
}

impl Host {
    /// A host that sends `outgoing`, in order of start, and receives `incoming`.
    pub fn new(
        id: NodeId,
        link: Link,
        shared: Arc<Shared>,
        outgoing: Vec<FlowId>,
        incoming: &[FlowId],
    ) -> Self {
        let receiver = |&flow: &FlowId| {
            let (back, spec) = (shared.places[flow.index()].0, &shared.flows[flow.index()]);
            let mut receiver = Receiver::new(flow, spec, back, shared.profile(flow));
            if let Some(interval) = shared.flow_samples.filter(|_| spec.is_persistent()) {
                receiver.sample_every(interval);
            }
            receiver
        };
        let receivers = incoming.iter().map(receiver).collect();
        let mut host = Self {
            id,
            nic: Nic::new(link, &shared.host, Class(shared.switch.queue.count)),
            slots: vec![u32::MAX; outgoing.len()],
            turns: Turns::of(&outgoing, &shared.flows),
            outgoing,
            started: 0,
            senders: Vec::new(),
            free: Vec::new(),
            receivers,
            latencies: Vec::new(),
            holds: Holds::default(),
            indications: Indications::default(),
            timeouts: BinaryHeap::new(),
            delayed: BinaryHeap::new(),
            applications: Vec::new(),
            writes: BinaryHeap::new(),
            ended: Vec::new(),
            wake: Instant::ZERO,
            cnps: 0,
            naks: 0,
            emitted: 0,
            consumed: 0,
            shared,
        };
        let bfc = host.shared.switch.flow_control.bfc.as_ref();
        host.nic.lanes = bfc.map(|bfc| Box::new(Lanes::new(bfc.queues)));
        host.set_wake();
        host
    }

    /// Which node of the graph it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The senders that have not ended, with what they have counted so far.
    pub fn sending(&self) -> impl Iterator<Item = (FlowId, Sent)> + '_ {
        self.senders.iter().flatten().map(|sender| (sender.flow, sender.sent()))
    }

    /// What it shares with all hosts; its `places` lead to [`Host::receivers`].
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// When a flow began, [`Instant::NEVER`] if it did not; `None` of one that had no turn to wait
    /// for and so begins at its start.
    pub fn began(&self, flow: FlowId) -> Option<Instant> {
        self.turns.as_ref()?.began(self.shared.places[flow.index()].0)
    }

    /// When the next flow starts that waits for no other.
    fn next_start(&self) -> Instant {
        let next = self.outgoing.get(self.started);
        next.map_or(Instant::NEVER, |flow| self.shared.flows[flow.index()].start)
    }

    /// Starts the flows that are due.
    fn start(&mut self, now: Instant) {
        while self.next_start() <= now {
            let place = self.started;
            self.started += 1;
            if let Some(turns) = &self.turns {
                self.started = turns.skip(self.started);
            }
            self.begin(place, now);
        }
        self.start_early(now);
    }

    /// Starts the flow of this place.
    fn begin(&mut self, place: usize, now: Instant) {
        let flow = self.outgoing[place];
        let spec = &self.shared.flows[flow.index()];
        let switch = &self.shared.switch;
        let dscp = switch.classify.dscp(spec);
        let connection = self.shared.places[flow.index()].1;
        let header = Header { connection, dscp };
        let profile = self.shared.profile(flow);
        let seed = random::mix(self.shared.seed ^ u64::from(flow.0));
        let link = self.nic.tx.link();
        let mut sender = Sender::new((flow, spec), header, profile, link, seed, now);
        let queue = switch.classify.queue(dscp, sender.ecn(), spec.dst, switch.queue.count);
        let class = Class(queue);
        sender.begin_in(class);
        if let Some(lanes) = &mut self.nic.lanes {
            sender.lane = lanes.take(class, flow);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.senders.push(None);
            self.senders.len() as u32 - 1
        });
        if sender.rings_at != Instant::NEVER {
            self.timeouts.push(Reverse((sender.rings_at, slot, flow)));
        }
        self.senders[slot as usize] = Some(Box::new(sender));
        self.slots[place] = slot;
        self.nic.make_ready(slot, class);
        self.begin_application(flow, slot, now);
    }

    /// Sends what the NIC may send now, if its wire is free.
    fn send_next(&mut self, now: Instant, context: &mut Context) {
        if self.nic.memory.is_some() {
            return self.send_stored(now, context);
        }
        if self.nic.tx.busy_until > now {
            return;
        }
        if let Some(frame) = self.nic.take_control(now) {
            let control = self.nic.control_class;
            return self.nic.tx.transmit(frame, control, now, context);
        }
        self.nic.wake_paced(now, &self.senders);
        while let Some(slot) = self.nic.next_ready(now) {
            if slot == nic::MADE {
                let frame = self.nic.take_made();
                return self.nic.tx.transmit(frame, frame.class, now, context);
            }
            let Some(packet) = self.take_from(slot, now) else { continue };
            self.nic.tx.transmit(packet, packet.class, now, context);
            let wire = self.nic.tx.wire_time(packet.bytes);
            return self.after_taking((slot, packet.bytes), wire, now, context);
        }
    }

    /// The same with a memory in between, which is filled first and again when a frame has left it.
    #[inline(never)]
    fn send_stored(&mut self, now: Instant, context: &mut Context) {
        self.fill_memory(now, context);
        if self.nic.tx.busy_until > now {
            return;
        }
        if let Some(frame) = self.nic.take_control(now) {
            let control = self.nic.control_class;
            return self.nic.tx.transmit(frame, control, now, context);
        }
        if let Some(frame) = self.nic.take_stored(now) {
            self.nic.tx.transmit(frame, frame.class, now, context);
            self.fill_memory(now, context);
        }
    }

    /// Brings frames of senders to the memory of the NIC as far as there is room. That takes no
    /// time: a sender without a rate is stopped by the lack of room only.
    fn fill_memory(&mut self, now: Instant, context: &mut Context) {
        loop {
            self.nic.wake_paced(now, &self.senders);
            self.nic.unpark();
            let Some(slot) = self.nic.next_ready(now) else { return };
            if self.nic.parks(slot, &self.senders) {
                continue;
            }
            let Some(packet) = self.take_from(slot, now) else { continue };
            self.nic.push_data(packet);
            self.after_taking((slot, packet.bytes), Duration::ZERO, now, context);
        }
    }

    /// The next packet of the sender whose turn it is; `None` if it has none or may not send, and
    /// then it is put where it waits.
    #[inline(always)]
    fn take_from(&mut self, slot: u32, now: Instant) -> Option<Packet> {
        let Some(sender) = &mut self.senders[slot as usize] else {
            unreachable!("a sender leaves the NIC before it ends");
        };
        if sender.returns(now) {
            self.nic.make_ready(slot, sender.class);
            return None;
        }
        if sender.is_done() {
            self.end(slot);
            return None;
        }
        if let Some(until) = self.holds.until(sender.dst(), sender.home_class(), now) {
            sender.eligible_at = until;
            self.nic.put_back(slot, sender.class, until);
            return None;
        }
        if let Some(lanes) = &mut self.nic.lanes
            && lanes.parks(slot, sender.class, sender.lane)
        {
            return None;
        }
        sender.in_nic = false;
        let packet = sender.next_packet(self.shared.profile(sender.flow), now);
        if packet.is_some() {
            self.emitted += 1;
        } else if sender.is_done() {
            // Everything is sent; what is not acknowledged is waited for.
            self.end(slot);
        }
        packet
    }

    /// A packet of so many bytes was taken from the sender: when it may send its next one, which
    /// is not before `wire` has passed.
    #[inline(always)]
    fn after_taking(
        &mut self,
        (slot, bytes): (u32, u16),
        wire: Duration,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(sender) = &mut self.senders[slot as usize] else {
            unreachable!("it has sent something");
        };
        let profile = self.shared.profile(sender.flow);
        let gap = sender.on_sent(profile, now, bytes, wire, self.nic.tx.link());
        sender.eligible_at = now + gap;
        // Of RoCEv2 none rings earlier because a packet is sent.
        if matches!(sender.transport, sender::Transport::Tcp(_)) && sender.rings_earlier(profile) {
            self.timeouts.push(Reverse((sender.rings_at, slot, sender.flow)));
        }
        if sender.has_more() {
            sender.in_nic = true;
            let (class, at) = (sender.class, sender.eligible_at);
            return self.nic.put_back(slot, class, at);
        }
        let (flow, all) = (sender.flow, sender.is_handed_over());
        if sender.is_done() {
            self.end(slot);
        }
        if all && self.turns.is_some() {
            self.on_handed_over(flow, now, context);
        }
    }

    /// Gives a slot back.
    fn end(&mut self, slot: u32) {
        let sender = self.senders[slot as usize].take().expect("it has not ended yet");
        self.slots[self.shared.places[sender.flow.index()].0 as usize] = u32::MAX;
        if let Some(lanes) = &mut self.nic.lanes {
            lanes.give_back(sender.class, sender.lane);
        }
        self.ended.push((sender.flow, sender.sent()));
        self.free.push(slot);
    }

    /// The sender that feedback is for; `None` if it has ended.
    fn sender(&mut self, connection: u32) -> Option<(u32, &mut Sender)> {
        let slot = self.slots[connection as usize];
        if slot == u32::MAX {
            return None;
        }
        self.senders[slot as usize].as_deref_mut().map(|sender| (slot, sender))
    }

    /// After feedback: end the sender, or let it go on if it has something to send again.
    fn revisit(&mut self, slot: u32) {
        let Some(sender) = &mut self.senders[slot as usize] else { return };
        if sender.in_nic {
            return;
        }
        if sender.is_done() {
            self.end(slot);
        } else if sender.has_more() {
            sender.in_nic = true;
            let (class, at) = (sender.class, sender.eligible_at);
            self.nic.put_back(slot, class, at);
        }
    }

    fn on_timeouts(&mut self, now: Instant) {
        while let Some(&Reverse((at, slot, flow))) = self.timeouts.peek() {
            if at > now {
                return;
            }
            self.timeouts.pop();
            let sender = self.senders[slot as usize].as_deref_mut();
            // The slot may have another sender since, and the timer may have been set anew.
            let current = |sender: &&mut Sender| sender.flow == flow && sender.rings_at == at;
            let Some(sender) = sender.filter(current) else { continue };
            let profile = self.shared.profile(flow);
            if sender.deadline(profile) <= now {
                sender.on_timer(profile, now);
            }
            sender.rings_at = sender.deadline(profile);
            if sender.rings_at != Instant::NEVER {
                self.timeouts.push(Reverse((sender.rings_at, slot, flow)));
            }
            self.revisit(slot);
        }
    }

    /// An acknowledgement has come, or with `arrived` a NAK about that packet.
    fn on_feedback(&mut self, connection: u32, psn: u32, arrived: Option<u32>, now: Instant) {
        let slot = self.slots[connection as usize];
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let sender::Transport::Rocev2(transport) = &mut sender.transport else { return };
        match arrived {
            None => transport.on_ack(psn, now),
            Some(arrived) => transport.on_nak(psn, arrived, now),
        }
        let profile = self.shared.profile(sender.flow);
        sender.renew_window(profile, now);
        if sender.rings_earlier(profile) {
            self.timeouts.push(Reverse((sender.rings_at, slot, sender.flow)));
        }
        self.revisit(slot);
    }

    fn on_data(
        &mut self,
        packet: &Packet,
        psn: u32,
        sent_at: Instant,
        now: Instant,
        context: &mut Context,
    ) {
        let receiver = &mut self.receivers[packet.connection as usize];
        receiver.count(packet, sent_at, now);
        if self.shared.latencies {
            self.count_latency(packet, sent_at, now, context);
        }
        let receiver = &mut self.receivers[packet.connection as usize];
        let connection = receiver.back;
        let profile = self.shared.profile(packet.flow);
        let (arrived, notify) = match (&mut receiver.transport, &profile.transport) {
            (receiver::Transport::Rocev2(receiver), transport::Spec::Rocev2(spec)) => {
                let interval = profile.congestion.cnp_interval();
                let notify = packet.ecn() == Ecn::Ce && receiver.may_notify(interval, now);
                (receiver.on_data(spec, psn, now), notify)
            }
            (receiver::Transport::Datagram(receiver), _) => {
                (Arrived { completes: receiver.on_data(psn), ..Arrived::default() }, false)
            }
            _ => unreachable!("TCP has segments"),
        };
        if arrived.completes {
            receiver.finished = Some(now);
            context.metrics.count_flow_done();
        }
        if notify {
            self.cnps += 1;
            self.reply(packet, connection, length::ROCE_CNP, Body::Cnp);
        }
        match arrived {
            Arrived { acknowledge: Some(psn), .. } => {
                let body = Body::Ack { psn };
                self.reply(packet, connection, length::ROCE_ACK, body);
            }
            Arrived { missing: Some(missing), .. } => {
                self.naks += 1;
                let body = Body::Nak { psn: missing, arrived: psn };
                self.reply(packet, connection, length::ROCE_ACK, body);
            }
            _ => {}
        }
    }

    /// A packet that was sent at `sent_at` has come: how long it took, during the measurement.
    #[cold]
    fn count_latency(&mut self, packet: &Packet, sent_at: Instant, now: Instant, at: &Context) {
        if at.metrics.sampling().measures_at(now) {
            let workload = usize::from(self.shared.flows[packet.flow.index()].workload);
            if self.latencies.len() <= workload {
                self.latencies.resize_with(workload + 1, Latencies::default);
            }
            self.latencies[workload].count(now - sent_at);
        }
    }

    /// Queues a frame back to the sender of `packet`.
    fn reply(&mut self, packet: &Packet, connection: u32, bytes: u16, body: Body) {
        self.emitted += 1;
        self.nic.push_control(Packet {
            flow: packet.flow,
            connection,
            src: self.id,
            dst: packet.src,
            bytes,
            ingress: PortIx(0),
            class: self.nic.control_class,
            lane: 0,
            tos: Tos::default(),
            indicated: false,
            body,
        });
    }

    fn set_wake(&mut self) {
        let timeout = self.timeouts.peek().map_or(Instant::NEVER, |Reverse((at, ..))| *at);
        let delayed = self.delayed.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let write = self.writes.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let timer = timeout.min(delayed).min(write);
        self.wake = self.nic.next_wake().min(self.next_start()).min(timer);
        if let Some(turns) = &self.turns {
            self.wake = self.wake.min(turns.due());
        }
    }

    /// What is wrong with the books, in a sentence each.
    pub fn audit(&self) -> Vec<String> {
        let (made, sent) = (self.emitted, self.nic.tx.frames);
        let waits = self.nic.waiting() as u64;
        if made == sent + waits {
            return Vec::new();
        }
        vec![format!("{made} frames were made and {sent} sent while {waits} wait")]
    }
}

impl Node for Host {
    fn arrive(&mut self, mut packet: Packet, now: Instant, context: &mut Context) {
        self.consumed += 1;
        if packet.indicated {
            self.indications.map(&mut packet);
        }
        match packet.body {
            Body::Data { psn, sent_at } => self.on_data(&packet, psn, sent_at, now, context),
            Body::Ack { psn } => self.on_feedback(packet.connection, psn, None, now),
            Body::Nak { psn, arrived } => {
                self.on_feedback(packet.connection, psn, Some(arrived), now);
            }
            Body::Cnp => {
                let slot = self.slots[packet.connection as usize] as usize;
                if let Some(Some(sender)) = self.senders.get_mut(slot) {
                    let profile = self.shared.profile(sender.flow);
                    sender.control().on_cnp(&profile.congestion, now);
                    sender.renew_window(profile, now);
                }
            }
            Body::Indication { severity } => self.on_indication(packet.flow, severity, now),
            Body::Segment { flags, psn, sent_at } => {
                self.on_segment(&packet, (flags, psn, sent_at), now, context);
            }
            Body::Syn { .. } | Body::SynAck { .. } | Body::TcpAck { .. } => {
                self.on_segment_without_data(&packet, now);
            }
            Body::Pfc { classes, quanta } => self.nic.tx.pause(classes, quanta, now, context),
            Body::Pause { quanta } => self.nic.tx.pause(u8::MAX, quanta, now, context),
            Body::Sfc { towards, class, pause_ns } => {
                let until = now + Duration::from_ns(pause_ns.into());
                self.holds.hold(towards, class, now, until);
            }
            Body::Bfc { class, lane, stop } => self.nic.obey_lane(Class(class), lane, stop, now),
            Body::Drc { group, mask, statuses } => {
                self.obey_feedback((group, mask, statuses), now);
            }
            Body::Cim => {
                // The connection of a CIM is not known to the switch: the flow says whose it is.
                let place = self.shared.places[packet.flow.index()].0;
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
        }
        self.send_next(now, context);
        self.set_wake();
    }

    #[inline]
    fn next_wake(&self) -> Instant {
        self.wake
    }

    fn tally(&self, now: Instant, tally: &mut Tally) {
        for (_, sent) in self.ended.iter().copied().chain(self.sending()) {
            tally.data_packets_sent += sent.packets;
            tally.retransmitted_packets += sent.retransmitted;
            tally.timeouts += sent.timeouts;
        }
        for receiver in &self.receivers {
            tally.data_bytes_delivered += receiver.delivered();
            tally.persistent_bytes_delivered += receiver.delivered_of_persistent();
        }
        tally.cnps_sent += self.cnps;
        tally.naks_sent += self.naks;
        tally.indications_mapped += self.indications.mapped;
        tally.indications_passed += self.indications.passed;
        tally.indications_received += self.indications.received;
        tally.sfc_holds_ns += self.holds.booked().0 / 1_000;
        if let Some(lanes) = &self.nic.lanes {
            tally.bfc_collisions += lanes.collisions;
            tally.bfc_paused_ns += lanes.paused_at(now).0 / 1_000;
        }
        if let Some(regulated) = self.nic.regulated() {
            regulated.regulator.count(now, tally);
        }
        // Hosts come after all tiers of switches.
        let hosts = usize::from(self.shared.tiers);
        let classes = usize::from(self.shared.switch.queue.count);
        for (class, pause) in self.nic.tx.pauses[..classes].iter().enumerate() {
            let paused = pause.total_at(now).0;
            tally.paused_ns += paused / 1_000;
            tally.tier(hosts)[class].paused += paused;
        }
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        self.start(now);
        self.on_timeouts(now);
        self.on_delayed(now);
        self.on_writes(now);
        self.send_next(now, context);
        self.set_wake();
    }
}
