//! Hosts: a NIC with one port, senders and receivers.
//!
//! A packet's life in them: a flow begins and has a sender (`begin` in `starts.rs`); when its turn
//! comes the sender makes a packet (`take_from` in `sending.rs`), which goes to the wire (`send_next`),
//! or with a memory in the NIC there first (`fill_memory`). At the other end it is what `arrive` takes,
//! here: data comes to its receiver (`on_data` in `packets.rs`; `on_segment` in `segments.rs`), and what
//! that answers goes back the same way, to `on_feedback` or `on_segment_without_data`, after which the
//! sender may go on or ends (`revisit`).

pub mod application;
pub mod congestion;
mod credit;
mod dependencies;
mod holds;
mod indications;
mod isolation;
mod lanes;
mod memory;
mod nic;
mod packets;
mod receiver;
mod record;
mod regulated;
mod segments;
mod sender;
mod sending;
mod spec;
mod starts;
pub mod transport;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use floodway_engine::Node;
use floodway_model::{Body, Class, Duration, FlowId, FlowSpec, Instant, NodeId, Packet};

use crate::context::Context;
use crate::distances::Distances;
use crate::failure::Outages;
use crate::link::Link;
use crate::metric::Tally;
use crate::observe::{Fact, Kinds};
use crate::switch;
use crate::telemetry::{Cursor, Telemetry};
use application::Application;
use credit::Granting;
use dependencies::Dependencies;
use holds::Holds;
use indications::Indications;
use lanes::Lanes;
use nic::Nic;
use record::Record;
use sender::Sender;
use transport::Sent;

pub use dependencies::followers;
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
    pub switch: Arc<switch::Spec>,
    /// All flows.
    pub flows: Vec<FlowSpec>,
    /// By flow: how many flows with a size never begin if it does not, itself among them; empty if
    /// no flow waits for another.
    pub followers: Vec<u32>,
    /// By flow: its place among the flows that its sender sends, and among those that its receiver
    /// receives.
    pub places: Vec<(u32, u32)>,
    /// Tiers of switches in the network.
    pub tiers: u8,
    /// How far hosts are from each other; `None` if no congestion control asks.
    pub distances: Option<Distances>,
    /// What switches write into packets; `None` if nobody wants it.
    pub telemetry: Option<Arc<Telemetry>>,
    /// By flow: whether the measured interval lasts until it has completed; empty for none.
    pub awaited: Vec<bool>,
    /// Decides every random choice.
    pub seed: u64,
}

impl Shared {
    /// Whether the measured interval lasts until a flow has completed.
    pub fn is_awaited(&self, flow: FlowId) -> bool {
        self.awaited.get(flow.index()).copied().unwrap_or(false)
    }

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

/// A host. In order of use.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// The network interface.
    pub nic: Nic,
    id: NodeId,
    wake: Instant,
    shared: Arc<Shared>,
    /// Frames that ended here.
    pub consumed: u64,
    /// Frames made here.
    pub emitted: u64,
    senders: Vec<Option<Box<Sender>>>,
    /// By place among the outgoing flows: the slot of the sender, while there is one.
    slots: Vec<u32>,
    /// By place among the incoming flows.
    pub receivers: Vec<Receiver>,
    /// When a sender may have waited too long.
    timeouts: BinaryHeap<Reverse<(Instant, u32, FlowId)>>,
    /// When a receiver, by its place, has to send something by itself.
    delayed: BinaryHeap<Reverse<(Instant, u32)>>,
    /// When an application, by its place, hands something over.
    writes: BinaryHeap<Reverse<(Instant, u32)>>,
    /// When the next flow starts that waits for no other.
    next_start: Instant,
    /// The earlier of that and of the next moment at which its port is recorded, if it is.
    scheduled_at: Instant,
    /// Which of the flows that it sends begin after one another, if any do.
    dependencies: Option<Box<Dependencies>>,
    /// The flows that it sends, in order of start.
    outgoing: Vec<FlowId>,
    started: usize,
    free: Vec<u32>,
    /// What source flow control holds back.
    holds: Holds,
    /// CNPs sent.
    pub cnps: u64,
    /// CNMs received.
    pub cnms: u64,
    /// NAKs sent.
    pub naks: u64,
    /// Trimmed packets that have arrived.
    pub headers: u64,
    /// Receivers' halves of congestion control; `None` without flows whose control has one.
    granting: Option<Box<Granting>>,
    /// Credit frames received.
    pub credits_received: u64,
    /// Where its telemetry records are.
    cursor: Cursor,
    /// What layer 2 has told of congestion.
    indications: Indications,
    /// What writes the data of some flows, in order of their start.
    pub applications: Vec<Application>,
    /// Its port over time, if that is recorded.
    pub record: Option<Box<Record>>,
    /// Senders that have ended, with what they counted.
    pub ended: Vec<(FlowId, Sent)>,
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
            Receiver::new(flow, spec, back, shared.profile(flow))
        };
        let receivers = incoming.iter().map(receiver).collect();
        let granting = Granting::of(incoming, &shared);
        let mut host = Self {
            id,
            nic: Nic::new(link, &shared.host, Class(shared.switch.queue.count)),
            slots: vec![u32::MAX; outgoing.len()],
            dependencies: None,
            outgoing,
            started: 0,
            next_start: Instant::NEVER,
            scheduled_at: Instant::NEVER,
            record: None,
            senders: Vec::new(),
            free: Vec::new(),
            receivers,
            cursor: Cursor::default(),
            holds: Holds::default(),
            indications: Indications::default(),
            timeouts: BinaryHeap::new(),
            delayed: BinaryHeap::new(),
            applications: Vec::new(),
            writes: BinaryHeap::new(),
            ended: Vec::new(),
            wake: Instant::ZERO,
            cnps: 0,
            cnms: 0,
            naks: 0,
            headers: 0,
            granting,
            credits_received: 0,
            emitted: 0,
            consumed: 0,
            shared,
        };
        let bfc = host.shared.switch.flow_control.bfc.as_ref();
        host.nic.lanes = bfc.map(|bfc| Box::new(Lanes::new(bfc.queues)));
        if host.shared.switch.flow_control.pauses_are_endless() {
            host.nic.tx.pause_endlessly();
        }
        host.set_started(0);
        host
    }

    /// Its link fails.
    pub fn fail(&mut self, outages: Option<Box<Outages>>) {
        self.nic.tx.fail(outages);
        self.set_wake();
    }

    /// Which node of the graph it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The senders that have not ended, with what they have counted so far.
    pub fn sending(&self) -> impl Iterator<Item = (FlowId, Sent)> + '_ {
        self.senders.iter().flatten().map(|sender| (sender.flow, sender.sent()))
    }

    /// How many senders of flows with a size do not know yet that everything has arrived.
    pub fn open_senders(&self) -> u64 {
        let ends = |flow: FlowId| !self.shared.flows[flow.index()].is_persistent();
        let senders = self.senders.iter().flatten();
        senders.filter(|sender| ends(sender.flow) && !sender.is_done()).count() as u64
    }

    /// What it shares with all hosts; its `places` lead to [`Host::receivers`].
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// When a flow began, [`Instant::NEVER`] if it did not; `None` of one that had no turn to wait
    /// for and so begins at its start.
    pub fn began(&self, flow: FlowId) -> Option<Instant> {
        self.dependencies.as_ref()?.began(self.shared.places[flow.index()].0)
    }

    /// Does what is due by itself, apart from the beginnings of flows and the record.
    #[inline]
    fn act(&mut self, now: Instant, context: &mut Context) {
        self.nic.tx.update(now, context);
        self.start_early(now);
        self.on_timeouts(now);
        self.on_delayed(now, context);
        self.on_writes(now);
        self.send_next(now, context);
        self.set_wake();
    }

    /// When something is due here by itself.
    fn set_wake(&mut self) {
        let timeout = self.timeouts.peek().map_or(Instant::NEVER, |Reverse((at, ..))| *at);
        let delayed = self.delayed.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let write = self.writes.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let timer = timeout.min(delayed).min(write);
        let update = self.nic.tx.next_update();
        self.wake = self.nic.next_wake().min(self.scheduled_at).min(timer).min(update);
        if let Some(dependencies) = &self.dependencies {
            self.wake = self.wake.min(dependencies.due());
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

/// What it has counted.
impl Host {
    /// Adds what it has counted until `now`, for which it need not have been woken.
    pub(crate) fn tally(&self, now: Instant, tally: &mut Tally) {
        for (_, sent) in self.ended.iter().copied().chain(self.sending()) {
            tally.data_packets_sent += sent.packets;
            tally.retransmitted_packets += sent.retransmitted;
            tally.timeouts += u64::from(sent.timeouts);
        }
        for receiver in &self.receivers {
            tally.reordered_packets += receiver.reordered;
            tally.data_bytes_delivered += receiver.delivered();
            tally.persistent_bytes_delivered += receiver.delivered_of_persistent();
        }
        tally.lost_on_links += self.nic.tx.lost();
        tally.cnps_sent += self.cnps;
        tally.cnms_received += self.cnms;
        tally.naks_sent += self.naks;
        tally.headers_received += self.headers;
        tally.credits_sent += self.credits_sent();
        tally.credits_received += self.credits_received;
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
        for (class, pause) in self.nic.tx.pauses()[..classes].iter().enumerate() {
            let paused = pause.total_at(now).0;
            tally.paused_ns += paused / 1_000;
            tally.tier(hosts)[class].paused += paused;
        }
    }
}

impl Node<Context> for Host {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        self.consumed += 1;
        context.state(Kinds::ARRIVED, self.id, now, || Fact::Arrived { packet });
        if packet.indicated {
            self.indications.map(packet);
        }
        match packet.body {
            Body::Data { echo, psn, sent_at } => {
                self.on_data(packet, (echo, psn, sent_at), now, context);
            }
            Body::Trimmed { psn, sent_at } => self.on_header(packet, (psn, sent_at), now, context),
            Body::Ack { .. } | Body::Nak { .. } | Body::TrimNak { .. } => {
                self.on_feedback(packet, now);
            }
            Body::Cnp => self.on_cnp(packet.connection, now),
            Body::Credit { number } => self.on_credit(packet.connection, number, now),
            Body::Indication { severity } => self.on_indication(packet.flow, severity, now),
            Body::Cnm { feedback, .. } => self.on_cnm(packet.flow, feedback, now),
            Body::Segment { flags, psn, sent_at } => {
                self.on_segment(packet, (flags, psn, sent_at), now, context);
            }
            Body::Syn { .. } | Body::SynAck { .. } | Body::TcpAck { .. } => {
                self.on_segment_without_data(packet, now);
            }
            Body::Pfc { classes, quanta, resumed } => {
                self.nic.tx.pause(classes, quanta, now, context);
                if resumed != 0 {
                    self.nic.tx.pause(resumed, 0, now, context);
                }
            }
            Body::Pause { quanta } => self.nic.tx.pause(u8::MAX, quanta, now, context),
            Body::Sfc { towards, class, pause_ns } => {
                let until = now + Duration::from_ns(pause_ns.into());
                self.holds.hold(towards, class, now, until);
            }
            Body::Bfc { class, lane, stop } => self.nic.obey_lane(Class(class), lane, stop, now),
            Body::Drc { group, mask, statuses } => {
                self.obey_feedback((group, mask, statuses), now);
            }
            Body::Cim => self.obey_cim(packet.flow, now),
        }
        self.send_next(now, context);
        self.set_wake();
    }

    #[inline]
    fn next_wake(&self) -> Instant {
        self.wake
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        if self.scheduled_at <= now {
            return self.run_scheduled(now, context);
        }
        self.act(now, context);
    }
}
