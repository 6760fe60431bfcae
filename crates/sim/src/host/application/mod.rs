//! Applications, which write the data of long-lived flows into their connections piece by piece.

pub mod entries;
mod feed;
pub mod interactive;
pub mod video;

use floodway_model::{FlowId, FlowSpec, Instant};

floodway_model::family! {
    /// Application that writes the data of long-lived flows, over TCP.
    "workload.application":
    Interactive = "interactive" (interactive::Spec):
        "A video that follows what its transport can carry: a frame at regular times.",
    Entries = "entries" (entries::Spec):
        "Database entries on warm connections: the server answers each when it has all of it.",
    Video = "video" (video::Spec):
        "Adaptive video in segments, whose bitrates the client chooses by throughput or buffer.",
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
    /// See [`video`].
    Video(Box<video::State>),
}

impl Application {
    /// The application of a flow that starts now. `seed` determines its random choices.
    pub fn new(spec: &Spec, (id, flow): (FlowId, &FlowSpec), seed: u64, now: Instant) -> Self {
        let state = match spec {
            Spec::Interactive(spec) => {
                State::Interactive(interactive::State::new(spec, now, flow.stop))
            }
            Spec::Entries(_) => State::Entries(Box::new(entries::State::new(id, flow.stop, seed))),
            Spec::Video(_) => State::Video(Box::new(video::State::new(now, flow.stop))),
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
            // The request of the next segment.
            Self::Video(spec) => Some(spec.request.0),
        }
    }

    /// The field with this size, and what it is called in messages.
    pub fn answer_name(&self) -> (&'static str, &'static str) {
        match self {
            Self::Interactive(_) | Self::Entries(_) => ("answer", "an answer"),
            Self::Video(_) => ("request", "a request"),
        }
    }
}
