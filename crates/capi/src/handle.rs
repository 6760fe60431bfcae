//! What is behind a handle.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;

use floodway_lab::session::{self as lab, Choice, open, write_tables};
use floodway_model::{Instant, NodeId};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::Session;
use floodway_sim::session::{self, Completion};

/// What a function returns if it fails: a code of `floodway.h`, with the text of its message.
#[derive(Debug)]
pub struct Failure {
    pub code: i32,
    pub text: String,
}

/// The codes of `floodway.h`.
pub mod code {
    pub const OK: i32 = 0;
    pub const NONE: i32 = 1;
    pub const SCENARIO: i32 = 2;
    pub const ARGUMENT: i32 = 3;
    pub const CLOSED: i32 = 4;
    pub const FILE: i32 = 5;
    pub const INTERNAL: i32 = 6;
}

impl Failure {
    /// An argument that cannot be.
    pub fn argument(text: impl fmt::Display) -> Self {
        Self { code: code::ARGUMENT, text: text.to_string() }
    }
}

impl From<lab::Error> for Failure {
    fn from(error: lab::Error) -> Self {
        let code = match error {
            lab::Error::Scenario(_) => code::SCENARIO,
            lab::Error::Choice(_) | lab::Error::Session(_) => code::ARGUMENT,
        };
        Self { code, text: error.to_string() }
    }
}

impl From<session::Error> for Failure {
    fn from(error: session::Error) -> Self {
        Self::argument(error)
    }
}

/// An open session, or a closed one.
pub struct Handle {
    session: Option<Session>,
    /// The node of each host, by its number.
    hosts: Vec<NodeId>,
    /// Completions that have not been taken.
    waiting: VecDeque<Completion>,
    /// The number of the first injected flow, and the user's number of each.
    first: u32,
    users: Vec<u64>,
}

/// What is known of a session at any time. Times are picoseconds.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct State {
    pub now_ps: u64,
    pub latency_ps: u64,
    pub window_ps: u64,
    pub end_ps: u64,
    pub in_flight: u64,
    pub hosts: u32,
}

/// A flow that has arrived.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arrived {
    pub flow: u64,
    pub user: u64,
    pub start_ps: u64,
    pub completed_ps: u64,
}

/// What came out of a session.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Summary {
    pub simulated_ps: u64,
    pub hops: u64,
    pub fingerprint: u64,
    pub violations: u64,
}

impl Handle {
    /// Opens a session of the scenario in a file.
    pub fn load(path: &str, choice: &Choice) -> Result<Self, Failure> {
        let scenario = Scenario::load(Path::new(path), &Overrides::default());
        Self::open(&scenario.map_err(lab::Error::from)?, choice)
    }

    /// Opens a session of the scenario in a text.
    pub fn parse(text: &str, choice: &Choice) -> Result<Self, Failure> {
        let scenario = Scenario::parse(text, "<text>", &Overrides::default());
        Self::open(&scenario.map_err(lab::Error::from)?, choice)
    }

    fn open(scenario: &Scenario, choice: &Choice) -> Result<Self, Failure> {
        let session = open(scenario, choice)?;
        Ok(Self {
            hosts: session.spec().graph.hosts().collect(),
            waiting: VecDeque::new(),
            first: session.spec().flows.len() as u32,
            users: Vec::new(),
            session: Some(session),
        })
    }

    /// Drops a session whose state is not known, because a call has panicked.
    pub fn abandon(&mut self) {
        self.session = None;
    }

    fn session(&mut self) -> Result<&mut Session, Failure> {
        let closed = || Failure {
            code: code::CLOSED,
            text: "the session is closed: open another one".to_owned(),
        };
        self.session.as_mut().ok_or_else(closed)
    }

    pub fn state(&mut self) -> Result<State, Failure> {
        let (hosts, waiting) = (self.hosts.len() as u32, self.waiting.len() as u64);
        let session = self.session()?;
        Ok(State {
            now_ps: session.now().0,
            latency_ps: session.latency().0,
            window_ps: session.window().0,
            end_ps: session.end().0,
            in_flight: session.in_flight() + waiting,
            hosts,
        })
    }

    /// The number of the host of this name.
    pub fn host(&mut self, name: &str) -> Result<u32, Failure> {
        let node = self.session()?.host(name);
        let number = self.hosts.iter().position(|host| Some(*host) == node);
        number.map(|number| number as u32).ok_or_else(|| {
            Failure::argument(format!(
                "the network has no host `{name}`: it has {} hosts, named as in the topology",
                self.hosts.len()
            ))
        })
    }

    /// Injects a flow, now or at a time; its number.
    pub fn inject(
        &mut self,
        (source, destination): (u32, u32),
        bytes: u64,
        at: Option<u64>,
        user: u64,
    ) -> Result<u64, Failure> {
        // A number that is no host stays one that is none.
        let [src, dst] = [source, destination]
            .map(|number| self.hosts.get(number as usize).copied().unwrap_or(NodeId(number)));
        let session = self.session()?;
        let at = at.map_or(session.now(), Instant);
        let flow = session.inject_at(src, dst, bytes, at)?;
        self.users.push(user);
        Ok(flow.0.into())
    }

    pub fn advance(&mut self, until: u64) -> Result<(), Failure> {
        let found = self.session()?.advance(Instant(until))?;
        self.waiting.extend(found);
        Ok(())
    }

    /// The next completion that waits to be taken.
    pub fn take(&mut self) -> Result<Option<Arrived>, Failure> {
        self.session()?;
        let next = self.waiting.pop_front();
        Ok(next.map(|completion| self.arrived(completion)))
    }

    /// The same, or else the next one until then.
    pub fn next(&mut self, until: Option<u64>) -> Result<Option<Arrived>, Failure> {
        if let Some(waiting) = self.take()? {
            return Ok(Some(waiting));
        }
        let next = self.session()?.next(until.map(Instant))?;
        Ok(next.map(|completion| self.arrived(completion)))
    }

    fn arrived(&self, completion: Completion) -> Arrived {
        Arrived {
            flow: completion.flow.0.into(),
            user: self.users[(completion.flow.0 - self.first) as usize],
            start_ps: completion.start.0,
            completed_ps: completion.at.0,
        }
    }

    /// Ends the session, and writes its tables into a directory, if there is one.
    pub fn close(&mut self, directory: Option<&str>) -> Result<Summary, Failure> {
        self.session()?;
        let Some(session) = self.session.take() else { unreachable!("it was open") };
        let outcome = session.close();
        if let Some(directory) = directory {
            let cannot = |error: std::io::Error| Failure {
                code: code::FILE,
                text: format!("the tables cannot be written into `{directory}`: {error}"),
            };
            write_tables(&outcome, Path::new(directory)).map_err(cannot)?;
        }
        Ok(Summary {
            simulated_ps: outcome.simulated.0,
            hops: outcome.hops,
            fingerprint: outcome.fingerprint,
            violations: outcome.violations.len() as u64,
        })
    }
}
