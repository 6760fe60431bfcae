//! Hosts: a NIC with one port, senders and receivers. Each port of a host with several is one of these
//! (`multiport.rs`).
//!
//! The path of a packet: a flow starts and gets a sender (`begin` in `starts.rs`). When the sender is
//! scheduled, it makes a packet (`take_from` in `sending.rs`), which goes to the wire (`send_next`), or
//! first to the transmit buffer if the NIC has one (`fill_buffer`). At the other end `arrive`, in this
//! file, handles it. Data goes to its receiver (`on_data` in `packets.rs`; `on_segment` in
//! `segments.rs`). The reply takes the same path back, to `on_feedback` or `on_segment_without_data`,
//! after which the sender may continue or end (`revisit`).

mod ahead;
pub mod application;
mod buffer;
pub mod congestion;
mod connections;
mod credit;
mod dependencies;
pub(crate) mod ended;
mod holds;
mod indications;
mod isolation;
mod kernel;
mod multiport;
mod nic;
mod packets;
mod physical_queues;
pub(crate) mod programs;
mod receiver;
pub(crate) mod receivers;
mod record;
mod regulated;
mod scheduled;
mod segments;
mod sender;
mod sending;
mod spec;
mod starts;
pub mod transport;

use std::sync::Arc;

use floodway_engine::Node;
use floodway_model::{
    Body, Class, Dscp, Duration, FlowId, FlowSpec, Instant, NodeId, Packet, Progressions,
};

use crate::context::Context;
use crate::distances::Distances;
use crate::failure::Outages;
use crate::link::Link;
use crate::metric::Tally;
use crate::observe::{Fact, Kinds};
use crate::pace::Pacing;
use crate::retry::Retry;
use crate::rounds::SampledRounds;
use crate::switch;
use application::Application;
use congestion::Request;
use credit::Granting;
use dependencies::Dependencies;
use ended::{Ended, Slots};
use holds::Holds;
use indications::Indications;
use nic::Nic;
use physical_queues::PhysicalQueues;
use receivers::Receivers;
use record::Record;
use scheduled::Scheduled;
use sender::Sender;
use transport::Sent;

pub use connections::{Connections, first_segments};
pub use dependencies::followers;
pub use kernel::KernelHost;
pub use multiport::{MultiportHost, Several};
pub use spec::{PauseScope, Profile, Spec};

/// Data shared by all hosts of a simulation.
#[derive(Debug)]
pub struct Shared {
    /// Parameters of the hosts.
    pub host: Spec,
    /// How flows are sent, by workload; a single profile if all workloads are alike.
    pub profiles: Vec<Profile>,
    /// Parameters of the switches, whose traffic classes the NICs also use.
    pub switch: Arc<switch::Spec>,
    /// All flows.
    pub flows: Progressions<FlowSpec>,
    /// By flow: number of flows with a size, including itself, that never start unless this flow
    /// starts; empty if there are no dependencies between flows.
    pub followers: Vec<u32>,
    /// By flow: its index among the outgoing flows of its sender, and among the incoming flows of
    /// its receiver.
    pub places: Progressions<(u32, u32)>,
    /// Hosts with several ports; `None` if each has one.
    pub several: Option<Box<Several>>,
    /// Which flows are sent over the connections of others.
    pub connections: Connections,
    /// Number of switch tiers in the network.
    pub tiers: u8,
    /// Distances between hosts; `None` if no congestion control needs them.
    pub distances: Option<Distances>,
    /// Whether packets may carry telemetry.
    pub telemetry: bool,
    /// Whether some transport has requests.
    pub requests: bool,
    /// By flow: whether the measured interval waits for its completion; empty if it waits for none.
    pub awaited: Progressions<bool>,
    /// By workload: whether the measured interval waits until the ranks of its job have finished; empty if
    /// it waits for none.
    pub awaited_jobs: Vec<bool>,
    /// The rounds of a job that are simulated; `None` for all.
    pub sampled: Option<SampledRounds>,
    /// Seed of all random number streams.
    pub seed: u64,
}

impl Shared {
    /// The same for no flows.
    pub fn without_flows(&self) -> Self {
        Self {
            host: self.host.clone(),
            profiles: Vec::new(),
            switch: Arc::clone(&self.switch),
            flows: Progressions::default(),
            followers: Vec::new(),
            places: Progressions::default(),
            several: None,
            connections: Connections::default(),
            tiers: self.tiers,
            distances: None,
            telemetry: self.telemetry,
            requests: self.requests,
            awaited: Progressions::default(),
            awaited_jobs: Vec::new(),
            sampled: None,
            seed: self.seed,
        }
    }

    /// Whether the measured interval waits for the completion of a flow.
    pub fn is_awaited(&self, flow: FlowId) -> bool {
        flow.index() < self.awaited.len() && self.awaited.at(flow.index())
    }

    /// Whether the measured interval waits until the ranks of the job of a workload have finished.
    pub fn awaits_job(&self, workload: u16) -> bool {
        self.awaited_jobs.get(usize::from(workload)).copied().unwrap_or(false)
    }

    /// The DSCP of the packets of a flow with this specification, in both directions.
    pub fn dscp(&self, flow: FlowId, spec: &FlowSpec) -> Dscp {
        let written = self.profile(flow).dscp;
        written.unwrap_or_else(|| self.switch.classify.dscp(spec))
    }

    /// The profile of a flow.
    #[inline]
    pub fn profile(&self, flow: FlowId) -> &Profile {
        // Usually there is one profile; no lookup in the list of all flows is needed then.
        match self.profiles.as_slice() {
            [only] => only,
            profiles => &profiles[usize::from(self.flows.at(flow.index()).workload)],
        }
    }
}

/// A host. Fields are ordered by access frequency.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// The network interface.
    pub nic: Nic,
    id: NodeId,
    wake: Instant,
    shared: Arc<Shared>,
    /// Frames consumed here.
    pub consumed: u64,
    /// Frames created here.
    pub emitted: u64,
    senders: Vec<Option<Box<Sender>>>,
    /// Slot of the sender, by index among the outgoing flows, while there is one.
    slots: Slots,
    /// Receivers, by index among the incoming flows.
    pub receivers: Receivers,
    /// Retransmission timers of senders.
    timeouts: Scheduled<(u32, FlowId)>,
    /// Timers of receivers, by receiver index.
    delayed: Scheduled<u32>,
    /// Times at which applications write, by application index.
    writes: Scheduled<u32>,
    /// Start of the next flow that depends on no other.
    next_start: Instant,
    /// The earlier of `next_start` and of the next sample of the recording, if there is one.
    scheduled_at: Instant,
    /// Dependencies between the outgoing flows, if there are any.
    dependencies: Option<Box<Dependencies>>,
    /// Outgoing flows, in order of start.
    outgoing: Progressions<FlowId>,
    started: usize,
    free: Vec<u32>,
    /// Traffic held back by source flow control.
    holds: Holds,
    /// CNPs sent.
    pub cnps: u64,
    /// CNMs received.
    pub cnms: u64,
    /// NAKs sent.
    pub naks: u64,
    /// Headers of trimmed packets received.
    pub headers: u64,
    /// Receiver halves of congestion control; `None` if no flow's congestion control has one.
    granting: Option<Box<Granting>>,
    /// Credit frames received.
    pub credits_received: u64,
    /// Counters of layer 2 congestion indications.
    indications: Indications,
    /// Applications of flows, in order of their start.
    pub applications: Vec<Application>,
    /// Recording of its port over time, if enabled.
    pub record: Option<Box<Record>>,
    /// Senders that have ended, with their counters.
    pub ended: Ended,
}

impl Host {
    /// A host that sends the flows `outgoing`, in order of start, and receives `incoming`.
    pub fn new(
        id: NodeId,
        link: Link,
        shared: Arc<Shared>,
        outgoing: Progressions<FlowId>,
        incoming: Progressions<FlowId>,
    ) -> Self {
        let granting = Granting::of(&incoming, &shared);
        let mut host = Self {
            id,
            nic: Nic::new(link, &shared.host, Class(shared.switch.queue.count)),
            slots: Slots::default(),
            dependencies: None,
            outgoing,
            started: 0,
            next_start: Instant::NEVER,
            scheduled_at: Instant::NEVER,
            record: None,
            senders: Vec::new(),
            free: Vec::new(),
            receivers: Receivers::new(incoming),
            holds: Holds::default(),
            indications: Indications::default(),
            timeouts: Scheduled::new(),
            delayed: Scheduled::new(),
            applications: Vec::new(),
            writes: Scheduled::new(),
            ended: Ended::default(),
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
        host.nic.physical_queues = bfc.map(|bfc| Box::new(PhysicalQueues::new(bfc.queues)));
        let switch = &host.shared.switch;
        host.nic.tx.limit(switch.flow_control.allowance(&link, switch.queue.count));
        if switch.flow_control.pauses_are_endless() {
            host.nic.tx.pause_endlessly();
        }
        host.establish_receivers();
        host.set_started(0);
        host
    }

    /// Sets the failures of its link.
    pub fn fail(&mut self, outages: Option<Box<Outages>>) {
        self.nic.tx.fail(outages);
        self.set_wake();
    }

    /// Sets what its NIC sends again.
    pub fn retry(&mut self, retry: Option<Box<Retry>>) {
        self.nic.tx.retry(retry);
    }

    /// Sets what holds back its NIC.
    pub fn hold(&mut self, pacing: Option<Pacing>) {
        self.nic.tx.hold(pacing);
    }

    /// Bytes of memory that lists by flow take.
    #[cfg(test)]
    pub fn bytes_of_flows(&self) -> usize {
        let dependencies = self.dependencies.as_ref().map_or(0, |of| of.bytes());
        self.outgoing.bytes() + self.slots.bytes() + self.receivers.bytes() + dependencies
    }

    /// Its node in the graph.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Senders that have not ended, with their counters so far.
    pub fn sending(&self) -> impl Iterator<Item = (FlowId, Sent)> + '_ {
        self.senders.iter().flatten().map(|sender| (sender.flow, sender.sent()))
    }

    /// Number of senders of flows with a size that do not have acknowledgements of everything yet.
    pub fn open_senders(&self) -> u64 {
        let ends = |flow: FlowId| !self.shared.flows.at(flow.index()).is_persistent();
        let senders = self.senders.iter().flatten();
        senders.filter(|sender| ends(sender.flow) && !sender.is_done()).count() as u64
    }

    /// Exchanges the data shared with all hosts.
    pub fn exchange_shared(&mut self, shared: Arc<Shared>) -> Arc<Shared> {
        std::mem::replace(&mut self.shared, shared)
    }

    /// A long-lived flow that it sends makes no new packets from a time on that is not before now. One that has not begun
    /// reads its time from the list of flows.
    pub fn stop(&mut self, flow: FlowId, at: Instant) {
        let place = self.shared.places.at(flow.index()).0;
        let slot = self.slots.of(place);
        if let Some(Some(sender)) = self.senders.get_mut(slot as usize)
            && sender.flow == flow
        {
            sender.transport.stop_at(at);
        }
    }

    /// The payload bytes of a flow to it that have arrived.
    pub fn delivered(&self, flow: FlowId) -> u64 {
        let place = self.shared.places.at(flow.index()).1;
        self.receivers.arrived(place, &self.shared).delivered
    }

    /// Number of flows that it sends and that it receives, those that are over included.
    pub fn flows(&self) -> (u32, u32) {
        (self.outgoing.len() as u32, self.receivers.len() as u32)
    }

    /// The data shared with all hosts; its `places` are indices into [`Host::receivers`].
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Time at which a dependent flow started, [`Instant::NEVER`] if it did not; `None` for a flow
    /// without dependencies, which starts at its start time.
    pub fn began(&self, flow: FlowId) -> Option<Instant> {
        self.dependencies.as_ref()?.began(self.shared.places_at_host(flow).0)
    }

    /// Handles the timers that are due, apart from flow starts and recording.
    #[inline]
    fn act(&mut self, now: Instant, context: &mut Context) {
        self.nic.tx.update(now, context);
        if self.dependencies.as_ref().is_some_and(|of| of.due() <= now) {
            self.start_early(now, context);
        }
        self.on_timeouts(now);
        self.on_delayed(now, context);
        self.on_writes(now);
        self.send_next(now, context);
        self.set_wake();
    }

    /// Updates the time of the next own event.
    fn set_wake(&mut self) {
        let timer = self.timeouts.next().min(self.delayed.next()).min(self.writes.next());
        let update = self.nic.tx.next_update();
        self.wake = self.nic.next_wake().min(self.scheduled_at).min(timer).min(update);
        if let Some(dependencies) = &self.dependencies {
            self.wake = self.wake.min(dependencies.due());
        }
    }

    /// Frames that it made, that it sent, and that wait: the first are the sum of the others.
    pub fn frames(&self) -> [u64; 3] {
        [self.emitted, self.nic.tx.frames, self.nic.waiting() as u64]
    }
}

impl Host {
    /// Adds its counters as of `now`; the host need not have been woken for that time.
    pub(crate) fn tally(&self, now: Instant, tally: &mut Tally) {
        for (_, sent) in self.ended.iter().chain(self.sending()) {
            tally.data_packets_sent += sent.packets;
            tally.retransmitted_packets += sent.retransmitted;
            tally.timeouts += u64::from(sent.timeouts);
            tally.inferred_losses += u64::from(sent.inferred);
            tally.requests_sent += u64::from(sent.requests);
        }
        tally.reordered_packets += self.receivers.reordered();
        let (all, persistent) = self.receivers.delivered();
        tally.data_bytes_delivered += all;
        tally.persistent_bytes_delivered += persistent;
        tally.lost_on_links += self.nic.tx.lost();
        tally.count_errors(self.nic.tx.errors());
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
        if let Some(physical_queues) = &self.nic.physical_queues {
            tally.bfc_collisions += physical_queues.collisions;
            tally.bfc_paused_ns += physical_queues.paused_at(now).0 / 1_000;
        }
        if let Some(regulated) = self.nic.regulated() {
            regulated.regulator.count(now, tally);
        }
        // Hosts are counted after all tiers of switches.
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
        context.arrived(self.id, packet, now);
        self.handle(packet, now, context);
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

    #[inline]
    fn look_ahead(&self, packet: &Packet, step: usize, _: u32) -> u32 {
        self.look(packet, step);
        0
    }

    #[inline]
    fn look_at_wakes(&self, _: Instant) {
        self.look_at_itself();
    }
}

impl Host {
    /// Handles a frame that has arrived, at this port or at one that stands in for it.
    #[inline(always)]
    fn handle(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        self.consumed += 1;
        if packet.indicated {
            self.indications.map(packet);
        }
        match packet.body {
            Body::Data { echo, psn, sent_at } => {
                self.on_data(packet, (echo, psn, sent_at), now, context);
            }
            Body::Trimmed { psn, sent_at, .. } => {
                self.on_header(packet, (psn, sent_at), now, context);
            }
            Body::Ack { .. } | Body::Nak { .. } | Body::TrimNak { .. } | Body::UetAck { .. } => {
                self.on_feedback(packet, now, context);
            }
            Body::Cnp => self.on_cnp(packet.connection, now),
            Body::Credit { number } => self.on_credit(packet.connection, number, now),
            Body::Request { target } => {
                self.on_request(packet, Request { target }, now, context);
            }
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
            Body::LinkCredit { class, limit } => {
                self.nic.tx.raise_limit(class, limit, now, context);
            }
            Body::Sfc { towards, class, pause_ns } => {
                let until = now + Duration::from_ns(pause_ns.into());
                self.holds.hold(towards, class, now, until);
            }
            Body::Bfc { class, physical_queue, stop } => {
                context.state(Kinds::PAUSED, self.id, now, || {
                    let class = class.into();
                    Fact::QueuePaused { port: 0, class, queue: physical_queue, stop }
                });
                self.nic.obey_physical_queue(Class(class), physical_queue, stop, now)
            }
            Body::Drc { group, mask, statuses } => {
                self.obey_feedback((group, mask, statuses), now);
            }
            Body::Cim => self.obey_cim(packet.flow, now, context),
            Body::Octets { .. } => unreachable!("kernels send to kernels"),
        }
        self.send_next(now, context);
        self.set_wake();
    }
}
