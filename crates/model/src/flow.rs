//! Flows and operations: the traffic that hosts are asked to send.

use serde::Serialize;

use crate::id::{FlowId, NodeId};
use crate::progressions::Progressions;
use crate::units::{Duration, Instant};

/// One message from one host to another. Its index in the flow list is its [`FlowId`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowSpec {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host, different from `src`.
    pub dst: NodeId,
    /// Payload in bytes, at least 1; [`FlowSpec::PERSISTENT`] for a long-lived flow without a size.
    pub bytes: u64,
    /// Time at which the application hands the flow to the sender. For a flow with `in_turn` or a
    /// [`Trigger`], the earliest such time.
    pub start: Instant,
    /// For a long-lived flow, the time after which the sender makes no new packets, although it
    /// still retransmits lost ones. For a flow with a size and `in_turn` or a [`Trigger`], the time
    /// after which it no longer starts. [`Instant::NEVER`] for a flow without end, and for every
    /// other flow with a size.
    pub stop: Instant,
    /// Index of the workload that generated it, counted from 0.
    pub workload: u16,
    /// Whether the flow starts only when the previous flow of the same sender and workload, in the
    /// order of the flow list, has been handed over: all of its packets have left the buffer of the
    /// source for the first time. A long-lived flow is never handed over in this sense. The first
    /// of these flows starts at its `start`.
    pub in_turn: bool,
}

impl FlowSpec {
    /// Size that denotes a long-lived flow, which sends as fast as it is allowed to until its
    /// `stop` or without end.
    pub const PERSISTENT: u64 = u64::MAX;

    /// Whether the flow is long-lived: it has a throughput but never completes.
    pub const fn is_persistent(&self) -> bool {
        self.bytes == Self::PERSISTENT
    }

    /// Time after which a sender that has started makes no new packets: the `stop` of a long-lived
    /// flow.
    pub const fn sends_until(&self) -> Instant {
        if self.is_persistent() { self.stop } else { Instant::NEVER }
    }
}

/// A dependency between flows: one starts after another. The event is local to the host that starts
/// the flow. The source of `begins` is either the destination of `after`, and the event is the
/// arrival of all of `after` there; or it is the source of `after`, and the event is the hand-over
/// of `after`: all of its packets have left the buffer of the source for the first time. A flow with
/// several triggers, or with `in_turn` in addition, starts when the last event has occurred and its
/// delay has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trigger {
    /// The flow that must finish first; it has a size.
    pub after: FlowId,
    /// The dependent flow.
    pub begins: FlowId,
    /// Delay between the event and the start.
    pub delay: Duration,
}

/// A flow of TCP that is sent over the connection of another one, so without a handshake. The other
/// flow goes either in the same direction, and its sender goes on with its windows, estimates and
/// segment numbers; or in the other direction, and this is the first flow in this direction.
///
/// Such a flow has a trigger, and begins only after the other flow has arrived, because the packet
/// that lets it begin carries the acknowledgement of the other flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reuse {
    /// The flow that is sent.
    pub flow: FlowId,
    /// The flow whose connection it uses. At most one flow in each direction follows a flow, and its own
    /// entry comes before.
    pub of: FlowId,
}

/// A group of flows that is measured as one unit, such as a call with its response or all messages
/// of a collective. It starts with the first of its flows that starts, and completes when all of
/// them have completed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// Index among the operations of the same workload, counted from 0.
    pub number: u32,
    /// All flows of the operation, which are of one workload; the first belongs to the node that
    /// initiates it.
    pub flows: Progressions<FlowId>,
    /// Whether it is a ping: a request, and the echo that begins when the request has arrived. Pings
    /// measure the network and are no work that it has to do, so statistics of flows and of other
    /// operations leave them out.
    #[serde(skip_serializing_if = "is_false")]
    pub ping: bool,
    /// Whether it is a job, whose ranks have programs: it starts with them, and completes when all of
    /// them have finished.
    #[serde(skip_serializing_if = "is_false")]
    pub job: bool,
    /// Whether it is a part of a job, which is another operation with all of its flows: only its bandwidth is
    /// measured by itself.
    #[serde(skip_serializing_if = "is_false")]
    pub of_job: bool,
    /// What it is, if it is a collective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collective: Option<Collective>,
    /// How it is heard, if it is a call: a flow of packets at regular intervals in each direction. Like pings, calls
    /// are left out of statistics of flows and of other operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<Voice>,
    /// What it loads, if it is a web page: the first of its flows begins at the navigation. Pages are left out of
    /// statistics of flows and of other operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Operation {
    /// One that is neither a ping, nor a job, nor a collective, nor a call, nor a page.
    pub fn of(number: u32, flows: impl Into<Progressions<FlowId>>) -> Self {
        Self {
            number,
            flows: flows.into(),
            ping: false,
            job: false,
            of_job: false,
            collective: None,
            voice: None,
            page: None,
        }
    }

    /// Whether it is work of the network, and not only there to measure what other traffic leaves.
    pub const fn is_work(&self) -> bool {
        !self.ping && self.voice.is_none() && self.page.is_none()
    }
}

/// How a call is heard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Voice {
    /// Time between two packets of a direction.
    pub interval: Duration,
    /// Time from the first sample of a packet until it is sent.
    pub codec_delay: Duration,
    /// The least time by which a receiver waits longer for packets than the fastest one took.
    pub jitter_buffer: Duration,
    /// Equipment impairment factor of the codec without loss, Ie (ITU-T G.113).
    pub impairment: f64,
    /// Packet-loss robustness factor of the codec, Bpl (ITU-T G.113).
    pub robustness: f64,
}

/// A web page that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Objects, the root document included.
    pub objects: u32,
    /// Sum of their sizes in bytes.
    pub bytes: u64,
    /// Connections that are opened for it.
    pub connections: u32,
}

/// A collective operation of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Collective {
    /// What the ranks have when it is complete.
    pub kind: CollectiveKind,
    /// Number of ranks, at least 2.
    pub ranks: u32,
    /// Its size as nccl-tests defines it: the buffer of all-reduce and broadcast, all of the input of
    /// reduce-scatter and of all-to-all, its own block included, and all of the output of all-gather.
    pub bytes: u64,
}

impl Collective {
    /// The factor between algorithm bandwidth, which is `bytes` by time, and bus bandwidth, which is
    /// what the port of a rank must carry with an algorithm that sends no more than it has to (source:
    /// `doc/PERFORMANCE.md` of nccl-tests).
    pub fn bus_factor(self) -> f64 {
        let (ranks, others) = (f64::from(self.ranks), f64::from(self.ranks) - 1.0);
        match self.kind {
            CollectiveKind::AllReduce => 2.0 * others / ranks,
            CollectiveKind::ReduceScatter
            | CollectiveKind::AllGather
            | CollectiveKind::AllToAll => others / ranks,
            CollectiveKind::Broadcast => 1.0,
        }
    }
}

/// What the ranks of a collective have when it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Every rank has the sum of what all had.
    AllReduce,
    /// Every rank has its part of that sum.
    ReduceScatter,
    /// Every rank has the parts of all.
    AllGather,
    /// Every rank has what the first had.
    Broadcast,
    /// Every rank has a part of what each had.
    AllToAll,
}

impl CollectiveKind {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllGather => "all_gather",
            Self::Broadcast => "broadcast",
            Self::AllToAll => "all_to_all",
        }
    }
}

/// The flows of a list with their identifiers.
pub fn numbered(flows: &[FlowSpec]) -> impl Iterator<Item = (FlowId, &FlowSpec)> {
    flows.iter().enumerate().map(|(index, flow)| (FlowId(index as u32), flow))
}
