//! The simulation engine: nodes, the time windows in which they are independent, and the threads that
//! run them.
//!
//! Every [`Node`] is a logical process that owns its state. No frame crosses a link in less than a
//! window, so within a window each node can be run by itself, from its sorted arrivals and its own
//! timers. Threads share out the nodes and synchronize at a barrier after every window. A single
//! thread runs the same code. The order of a node's events depends only on their times, kinds and
//! ports, so results are bit-identical for any number of threads. A run can also go over several
//! processes ([`run_over`]), which are to each other what threads are.
//!
//! The engine does not know what nodes are, what they send, or what is observed about them: each
//! thread runs a [`Part`] of the nodes, which has all three. A program with its own kinds of nodes
//! starts with a [`Layout`] (which thread has which nodes), makes a part for every thread with its
//! [`Wire`], and calls [`run`], or takes a run forward in [`Steps`].

mod barrier;
mod frame;
mod governor;
mod layout;
mod meeting;
mod order;
mod ranks;
mod schedule;
mod steps;
mod threads;
mod timers;
mod windows;
mod wire;
mod worker;

use std::sync::atomic::AtomicBool;

use floodway_model::{Instant, NodeId};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use frame::{Frame, Portable};
pub use governor::Reading;
pub use layout::Layout;
pub use ranks::{Letters, Ranks, Totals};
pub use steps::Steps;
pub use timers::Timers;
pub use windows::Windows;
pub use wire::{Arrival, MAX_PORTS, Parcel, Wire};
pub use worker::{STEPS, Window};

use governor::Governor;
use ranks::Abroad;
use threads::{Position, Threads};
use worker::Worker;

/// A logical process. Everything it can access besides its own state is in its context, which has
/// the [`Wire`].
pub trait Node<Context> {
    /// The type of frame it sends and receives.
    type Frame: Frame;

    /// Handles the arrival of a frame.
    fn arrive(&mut self, frame: &mut Self::Frame, now: Instant, context: &mut Context);

    /// Time of the node's next own event; [`Instant::NEVER`] if it has none.
    fn next_wake(&self) -> Instant;

    /// Handles the node's own event that is due at `now`.
    fn wake(&mut self, now: Instant, context: &mut Context);

    /// The same, for a node that may simulate ahead: until `limit` nothing arrives, and the window does not end.
    #[inline]
    fn wake_until(&mut self, now: Instant, _limit: Instant, context: &mut Context) {
        self.wake(now, context);
    }

    /// Asks for memory that the arrival of a frame will need, in [`STEPS`] steps. Each may read what the one before has
    /// asked for, and is given what the one before has returned, or 0. Called only if the layout is in blocks.
    #[inline(always)]
    fn look_ahead(&self, _frame: &Self::Frame, _step: usize, _found: u32) -> u32 {
        0
    }

    /// Asks for memory that the node's own events before `end` will need. Called only if the layout is in blocks.
    #[inline(always)]
    fn look_at_wakes(&self, _end: Instant) {}
}

/// The nodes that one thread runs, the frames they send, and the data observed about them. The nodes are in
/// the blocks that the [`Layout`] has for the part, which is one unless it is [in
/// blocks](Layout::in_blocks). The place of a node is its index among the nodes of its block.
pub trait Part: Send {
    /// The type of frame its nodes send.
    type Frame: Frame;

    /// Data that frames refer to and that the part keeps beside them. `()` if there is none.
    type Attached: Default + Send;

    /// Its nodes; those of each block in order of place.
    fn nodes(&self) -> Vec<NodeId>;

    /// By block: time of the first own event of each node, in order of place.
    fn wakes(&self) -> Vec<Vec<Instant>>;

    /// The wire, which holds the frames that its nodes have sent.
    fn wire(&mut self) -> &mut Wire<Self::Frame>;

    /// Runs those nodes of a block that have something to do in this window, with one call of
    /// [`Window::run`] for each kind of node, in order of place.
    fn run(&mut self, block: usize, window: &mut Window<'_, Self::Frame>);

    /// Removes the data that these frames refer to. They are about to be handed over to another part.
    fn detach(&mut self, _frames: &mut Parcel<Self::Frame>) -> Self::Attached {
        Self::Attached::default()
    }

    /// Takes over the data that another part has detached from these frames, and changes their
    /// references to it.
    fn attach(&mut self, _frames: &mut Parcel<Self::Frame>, _attached: Self::Attached) {}

    /// Totals so far. Counters that the caller does not use may be left at their defaults.
    fn done(&self) -> Done {
        Done::default()
    }

    /// Number of completed flows that are not fully acknowledged yet. Called only when all flows have
    /// completed, and if [`Limits::until_acknowledged`] is set.
    fn unacknowledged(&self) -> u64 {
        0
    }

    /// Called before the window that begins at `start`: time has been simulated up to `simulated`, and
    /// `awaited` is the number of awaited flows that have completed in all parts together. Measurements
    /// over an interval begin or end here.
    ///
    /// If the layout is in blocks, it is not called before every window, and `awaited` is 0 where flows have no effects.
    fn observe(&mut self, _start: Instant, _simulated: Instant, _awaited: u64) {}

    /// When [`Part::observe`] must be called next: before the first window that does not begin earlier, with
    /// the state of all nodes there. At most the current time if it has to be called because so many
    /// awaited flows have completed. The same for all parts.
    fn next_observation(&self, _awaited: u64) -> Instant {
        Instant::NEVER
    }

    /// Called when all finite flows have completed before the window that begins at `start`; only
    /// acknowledgements remain.
    fn drain(&mut self, _start: Instant) {}
}

/// Totals of a part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Frames sent.
    pub hops: u64,
    /// Flows completed. If the layout is in blocks, at nodes of its first side.
    pub flows: u64,
    /// Of these, flows whose completion the measured interval waits for.
    pub awaited: u64,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// Latest end of the run.
    pub end: Instant,
    /// Packet-hops so far.
    pub hops: u64,
    /// Flows completed, and all flows that will complete.
    pub flows: (u64, u64),
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All finite flows have completed.
    FlowsDone,
    /// The time limit was reached.
    TimeLimit,
    /// The run was interrupted from outside.
    Interrupted,
}

impl Stop {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlowsDone => "flows_done",
            Self::TimeLimit => "time_limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Conditions for ending a run, and the progress callback.
pub struct Limits<'a> {
    /// Latest end of the run.
    pub end: Instant,
    /// Number of flows after whose completion the run ends; 0 to run until `end`.
    pub flows: u64,
    /// Whether the run continues until the senders have acknowledgements of everything.
    pub until_acknowledged: bool,
    /// Set by the caller to end the run early.
    pub stop: &'a AtomicBool,
    /// Called at intervals with the progress of the run.
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

/// Result of a run: the parts in their order, why it ended, and the simulated time at its end.
pub type Finished<P> = (Vec<P>, Stop, Instant);

/// Runs the nodes of all parts to the end, with a thread per part or several parts per thread,
/// whichever is faster. The parts are those of a [`Layout`], in order.
pub fn run<P: Part>(parts: Vec<P>, layout: &Layout, limits: &Limits<'_>) -> Finished<P> {
    let mut governor = Governor::new(parts.len());
    run_governed(parts, layout, limits, |now| governor.look(now))
}

/// Like [`run`], with the number of working threads under the caller's control. `look` is called
/// between windows and returns a new number if it changes.
pub fn run_governed<P: Part>(
    parts: Vec<P>,
    layout: &Layout,
    limits: &Limits<'_>,
    look: impl FnMut(Reading) -> Option<usize>,
) -> Finished<P> {
    let places = places(parts.iter().map(Part::nodes), layout);
    run_all(parts, layout, limits, (&places, None), look)
}

/// The place of each node in its block. `nodes` are those of each part.
fn places(nodes: impl Iterator<Item = Vec<NodeId>>, layout: &Layout) -> Vec<u32> {
    let mut places = vec![u32::MAX; layout.nodes()];
    for (part, nodes) in nodes.enumerate() {
        let mut next = vec![0; layout.blocks(part)];
        for node in nodes {
            let next = &mut next[layout.block(node)];
            places[node.index()] = *next;
            *next += 1;
        }
    }
    places
}

/// The other processes of a run, and what one of them knows about all parts of the [`Layout`].
pub struct Over<'a> {
    /// The processes.
    pub ranks: &'a dyn Ranks,
    /// The nodes of all parts, those of each block in order of place, as [`Part::nodes`] of each.
    pub nodes: &'a [Vec<NodeId>],
    /// The ranks that this one has links to, without itself.
    pub neighbors: &'a [usize],
}

/// Like [`run`], with the parts of this process in a run that goes over several: of `t` parts each, those
/// with numbers from `t * rank` on, in order.
pub fn run_over<P: Part>(
    parts: Vec<P>,
    layout: &Layout,
    limits: &Limits<'_>,
    over: &Over<'_>,
) -> Finished<P>
where
    P::Frame: Portable,
    P::Attached: Serialize + DeserializeOwned,
{
    let ranks = over.ranks;
    assert_eq!(parts.len() * ranks.ranks(), layout.parts(), "each rank has as many parts");
    let places = places(over.nodes.iter().cloned(), layout);
    let mut governor = Governor::new(parts.len());
    let abroad = Abroad::new(ranks, parts.len(), over.neighbors);
    run_all(parts, layout, limits, (&places, Some(abroad)), |now| governor.look(now))
}

fn run_all<P: Part>(
    parts: Vec<P>,
    layout: &Layout,
    limits: &Limits<'_>,
    (places, abroad): (&[u32], Option<Abroad<'_, P>>),
    look: impl FnMut(Reading) -> Option<usize>,
) -> Finished<P> {
    let slots = parts.len();
    let first = abroad.as_ref().map_or(0, |abroad| abroad.ranks.rank() * slots);
    let workers = parts.into_iter().enumerate();
    let workers = workers
        .map(|(slot, part)| Worker::new((slot, slots), first + slot, part, layout, places))
        .collect();
    let position = Position::start(layout.schedule());
    let running = Threads::new(workers, layout.windows(), limits, abroad, position);
    let (stop, now) = running.run(look);
    (running.into_workers().map(|worker| worker.part).collect(), stop, now)
}
