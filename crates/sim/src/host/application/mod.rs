//! Applications: what writes the data of flows without a size into their connections, bit by bit.

pub mod entries;
mod feed;
pub mod interactive;

use floodway_model::{FlowId, FlowSpec, Instant};

floodway_model::family! {
    /// What writes the data of flows without a size, over TCP.
    "workload.application":
    Interactive = "interactive" (interactive::Spec):
        "A video that follows what its transport can carry: a frame at regular times.",
    Entries = "entries" (entries::Spec):
        "Database entries on warm connections: the server answers each when it has all of it.",
}

/// One application.
#[derive(Debug)]
pub struct Application {
    /// The flow that it feeds.
    pub flow: FlowId,
    /// What it remembers.
    pub state: State,
}

/// What an application remembers, whichever it is.
#[derive(Debug)]
pub enum State {
    /// See [`interactive`].
    Interactive(interactive::State),
    /// See [`entries`].
    Entries(Box<entries::State>),
}

impl Application {
    /// The application of a flow that starts now. `seed` decides its random choices.
    pub fn new(spec: &Spec, (id, flow): (FlowId, &FlowSpec), seed: u64, now: Instant) -> Self {
        let state = match spec {
            Spec::Interactive(spec) => {
                State::Interactive(interactive::State::new(spec, now, flow.stop))
            }
            Spec::Entries(_) => State::Entries(Box::new(entries::State::new(id, flow.stop, seed))),
        };
        Self { flow: id, state }
    }
}

impl Spec {
    /// The bytes with which the receiver answers each thing that is handed over at once, when it has
    /// all of it; `None` if it does not answer.
    pub fn answer(&self) -> Option<u64> {
        match self {
            Self::Interactive(_) => None,
            Self::Entries(spec) => Some(spec.answer.0),
        }
    }
}
