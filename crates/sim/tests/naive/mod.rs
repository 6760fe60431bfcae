//! A second simulator, as simple as can be, with which the engine is compared frame by frame.
//!
//! It has one event heap for the whole network, no windows and no threads, and it counts what
//! waits by looking at every frame. It reads the same [`Spec`] and shares the nouns of
//! `floodway-model` with the engine, but none of the engine's code. What it models, and the rules
//! for simultaneous events, are in `docs/decisions/0041-a-naive-simulator-checks-the-engine.md`.

mod dcqcn;
mod ecmp;
mod frame;
mod go_back_n;
mod heap;
mod host;
mod known;
mod pfc;
mod receiver;
mod scheduler;
mod sender;
mod sending_end;
mod switch;

use std::collections::BTreeMap;

use floodway_model::graph::NodeKind;
use floodway_model::{Ecn, Instant, NodeId, PortIx};
use floodway_sim::Spec;
use floodway_sim::host::Profile;

pub use frame::{Frame, Kind};
use heap::{Event, Heap};
use host::Host;
use switch::Switch;

/// A frame whose transmission began. The order of the fields is that of comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// When the transmission began.
    pub at: Instant,
    /// The receiving end of the link.
    pub to: (NodeId, PortIx),
    /// When the receiving end handles it.
    pub handled_at: Instant,
    /// The class in which it was sent.
    pub class: u8,
    /// Its flow; `u32::MAX` of a pause frame.
    pub flow: u32,
    /// Its length in bytes, destination address to FCS.
    pub bytes: u16,
    /// Whether it carries CE.
    pub marked: bool,
    /// What it carries.
    pub kind: Kind,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// All frames.
    pub sent: Vec<Sent>,
    /// By flow: when its last byte arrived.
    pub completed: BTreeMap<u32, Instant>,
    /// Frames dropped, by node, egress port, queue and reason.
    pub drops: BTreeMap<(u32, usize, usize, &'static str), u64>,
    /// Pauses ordered, refreshed and ended, by node, port and class.
    pub pauses: BTreeMap<(u32, usize, usize), [u64; 3]>,
    /// Frames marked, by node, port and queue.
    pub marks: BTreeMap<(u32, usize, usize), u64>,
}

/// What all nodes reach: the parameters, the event heap and what is observed.
pub struct World<'a> {
    pub spec: &'a Spec,
    pub heap: Heap,
    pub seen: Seen,
}

impl<'a> World<'a> {
    /// How a flow is sent.
    fn profile(&self, flow: u32) -> &'a Profile {
        let workload = self.spec.flows[flow as usize].workload;
        &self.spec.profiles[usize::from(workload)]
    }

    fn send(&mut self, at: Instant, to: (NodeId, PortIx), handled_at: Instant, frame: Frame) {
        let Frame { flow, bytes, ecn, class, kind, .. } = frame.clone();
        let marked = ecn == Ecn::Ce;
        self.seen.sent.push(Sent { at, to, handled_at, class, flow, bytes, marked, kind });
        self.heap.push(handled_at, to.0, Event::Arrival { port: to.1.index(), frame });
    }
}

enum Node {
    Switch(Switch),
    Host(Box<Host>),
}

/// Simulates everything that happens before `end`. Panics if the simulation has something that is
/// not modeled here.
pub fn run(spec: &Spec, end: Instant) -> Seen {
    known::check(spec);
    let mut world = World { spec, heap: Heap::default(), seen: Seen::default() };
    let node = |id| match spec.graph.node(id).kind {
        NodeKind::Host => Node::Host(Box::new(Host::new(spec, id))),
        NodeKind::Switch { .. } => Node::Switch(Switch::new(spec, id)),
    };
    let mut nodes: Vec<Node> = spec.graph.ids().map(node).collect();
    for (number, flow) in spec.flows.iter().enumerate() {
        world.heap.push(flow.start, flow.src, Event::Start(number as u32));
    }
    while let Some((now, id, event)) = world.heap.pop_before(end) {
        match &mut nodes[id.index()] {
            Node::Host(host) => host.on_event(event, now, &mut world),
            Node::Switch(switch) => switch.on_event(event, now, &mut world),
        }
    }
    world.seen
}
