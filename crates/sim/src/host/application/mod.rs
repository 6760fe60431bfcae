//! Applications, which write the data of long-lived flows into their connections piece by piece.

pub mod entries;
mod feed;
pub mod interactive;

use floodway_model::{FlowId, FlowSpec, Instant};

floodway_model::family! {
    /// Application that writes the data of long-lived flows, over TCP.
    "workload.application":
    Interactive = "interactive" (interactive::Spec):
        "A video that follows what its transport can carry: a frame at regular times.",
    Entries = "entries" (entries::Spec):
        "Database entries on warm connections: the server answers each when it has all of it.",
}

/// The application of one flow.
#[derive(Debug)]
pub struct Application {
    /// The flow that it feeds.
    pub flow: FlowId,
    /// Its state.
    pub state: State,
}

/// State of an application of any kind.
#[derive(Debug)]
pub enum State {
    /// See [`interactive`].
    Interactive(interactive::State),
    /// See [`entries`].
    Entries(Box<entries::State>),
}

impl Application {
    /// The application of a flow that starts now. `seed` determines its random choices.
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
    /// Size in bytes of the receiver's answer to each unit of data that is handed over at once, sent
    /// when the unit has arrived completely; `None` if the receiver does not answer.
    pub fn answer(&self) -> Option<u64> {
        match self {
            Self::Interactive(_) => None,
            Self::Entries(spec) => Some(spec.answer.0),
        }
    }
}
