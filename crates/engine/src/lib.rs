//! The engine: nodes, the windows in which they are independent, and the threads that share them.
//!
//! Every [`Node`] is a logical process that owns its state. No frame crosses a link in less than a
//! window, so within a window each node can be run by itself, from its sorted arrivals and its own
//! timers; threads share out the nodes and meet at a barrier per window. With one thread the same
//! code runs, and since the order of a node's events depends on nothing but their times, kinds and
//! ports, results are the same to the bit for any number of threads.
//!
//! The engine knows neither what nodes are nor what they send nor what is observed of them: each
//! thread runs a [`Part`] of the nodes, which has all three. A program with other nodes begins with a
//! [`Layout`] (which thread has which nodes), makes a part for every thread with its [`Wire`], and
//! calls [`run`].

mod alarms;
mod barrier;
mod frame;
mod governor;
mod layout;
mod meeting;
mod order;
mod threads;
mod windows;
mod wire;
mod worker;

use std::sync::atomic::AtomicBool;

use floodway_model::{Instant, NodeId};

pub use alarms::Alarms;
pub use frame::Frame;
pub use governor::Reading;
pub use layout::Layout;
pub use windows::Windows;
pub use wire::{Arrival, MAX_PORTS, Wire};
pub use worker::Window;

use governor::Governor;
use threads::Threads;
use worker::Worker;

/// A logical process. What it can reach besides itself is its context, which has the [`Wire`].
pub trait Node<Context> {
    /// What it sends and receives.
    type Frame: Frame;

    /// A frame has arrived.
    fn arrive(&mut self, frame: &mut Self::Frame, now: Instant, context: &mut Context);

    /// When the node has something to do by itself; [`Instant::NEVER`] if it has not.
    fn next_wake(&self) -> Instant;

    /// That time has come.
    fn wake(&mut self, now: Instant, context: &mut Context);
}

/// The nodes that one thread runs, what they send, and what is observed of them. A node's place is its
/// number among these.
pub trait Part: Send {
    /// What its nodes send.
    type Frame: Frame;

    /// Its nodes, in order of their places.
    fn nodes(&self) -> Vec<NodeId>;

    /// When each of them wants to wake for the first time.
    fn wakes(&self) -> Vec<Instant>;

    /// What they have sent.
    fn wire(&mut self) -> &mut Wire<Self::Frame>;

    /// Runs those of them that have something to do in this window: a call of [`Window::run`] for each
    /// kind of node, in order of places.
    fn run(&mut self, window: &mut Window<'_, Self::Frame>);

    /// What has been done so far. What nobody looks at may be left out.
    fn done(&self) -> Done {
        Done::default()
    }

    /// How many of its flows that have ended are still to be acknowledged. Only asked when all have ended,
    /// and if [`Limits::until_acknowledged`].
    fn unacknowledged(&self) -> u64 {
        0
    }

    /// The next window begins at `start`, the last one ended at `simulated`, and in all parts together so
    /// many of the awaited flows have ended. What is counted over an interval begins or ends here.
    fn observe(&mut self, _start: Instant, _simulated: Instant, _awaited: u64) {}

    /// All flows that end have ended before the window that begins at `start`; what follows are
    /// acknowledgements.
    fn drain(&mut self, _start: Instant) {}
}

/// What a part has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Frames that were sent.
    pub hops: u64,
    /// Flows that have ended.
    pub flows: u64,
    /// Of these, flows that the measured interval waits for.
    pub awaited: u64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// When it ends at the latest.
    pub end: Instant,
    /// Packet-hops so far.
    pub hops: u64,
    /// Flows that have ended, and all that will.
    pub flows: (u64, u64),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All flows that end have ended.
    FlowsDone,
    /// The time limit was reached.
    TimeLimit,
    /// Somebody asked for it.
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

/// When to stop and whom to notify.
pub struct Limits<'a> {
    /// The latest end.
    pub end: Instant,
    /// The run ends with the last of so many flows; with 0, at the latest end.
    pub flows: u64,
    /// Whether it goes on until the senders know that everything has arrived.
    pub until_acknowledged: bool,
    /// Set from outside to end the run early.
    pub stop: &'a AtomicBool,
    /// Called now and then with how far the run has come.
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

/// What is left after a run: the parts in their order, why it ended and when.
pub type Finished<P> = (Vec<P>, Stop, Instant);

/// Runs the nodes of all parts to the end, each part on a thread of its own or several on one, as
/// finishes soonest. The parts are those of a [`Layout`], in order.
pub fn run<P: Part>(parts: Vec<P>, layout: &Layout, limits: &Limits<'_>) -> Finished<P> {
    let mut governor = Governor::new(parts.len());
    run_governed(parts, layout, limits, |now| governor.look(now))
}

/// The same. `look` is called between windows and says how many threads are to work from then on, if
/// that changes.
pub fn run_governed<P: Part>(
    parts: Vec<P>,
    layout: &Layout,
    limits: &Limits<'_>,
    look: impl FnMut(Reading) -> Option<usize>,
) -> Finished<P> {
    let workers = parts.into_iter().enumerate();
    let workers = workers.map(|(number, part)| Worker::new(number, part, layout)).collect();
    let running = Threads::new(workers, layout.windows(), limits);
    let (stop, now) = running.run(look);
    (running.into_workers().map(|worker| worker.part).collect(), stop, now)
}
