//! Jobs in GOAL, the format of LogGOPSim and ATLAHS: for each rank what it computes, sends and receives,
//! and what has to come first. As text, and in the binary form that `txt2bin` makes of it.
//!
//! Source of both: `src/txt2bin.re` and `src/Parser.hpp` of <https://github.com/spcl/LogGOPSim>.

mod binary;
mod matching;
mod text;

use std::ops::Range;
use std::sync::Arc;

use floodway_model::program::Edge;

use super::{Files, Unreadable};
use crate::text::{Place, Problem, Source};

pub use matching::Message;

/// A job whose messages have been matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The ranks.
    pub ranks: Vec<Rank>,
    /// Each send with its receive, in order of the sending rank and step.
    pub messages: Vec<Message>,
}

/// What a rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Its operations, in the order of the file.
    pub steps: Vec<Step>,
    /// What has to come first.
    pub edges: Vec<Edge>,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Its `cpu`.
    pub cpu: u8,
    /// Its `nic`.
    pub nic: u8,
    /// Its line, from 1; 0 in the binary form.
    pub line: u32,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `calc`: computes for so many units of time.
    Compute(u64),
    /// `send`.
    Send(End),
    /// `recv`.
    Receive(End),
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The rank at the other end.
    pub peer: u32,
    /// Bytes.
    pub bytes: u64,
    /// Messages with the same tag between the same ranks are matched in order.
    pub tag: u32,
}

/// The number that stands for any rank or tag in the binary form.
const ANY: u32 = u32::MAX;

/// Where an operation stands in a text: itself, and its label, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    all: Range<usize>,
    label: Range<usize>,
}

/// Where the operations of a job stand.
enum Places {
    /// In a text, by rank and step.
    Text(Arc<Source>, Vec<Vec<Written>>),
    /// Nowhere: a file without lines.
    Binary,
}

/// What is wrong with an operation.
struct Fault {
    rank: u32,
    step: u32,
    message: String,
    help: String,
}

/// Why there is no job.
pub(crate) enum Failure {
    /// The file cannot be read at all, or is binary and has an error.
    File(Unreadable),
    /// Something in its text is wrong.
    Text(Box<Problem>),
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::File(unreadable)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Text(Box::new(problem))
    }
}

impl Places {
    /// What an operation is called in messages.
    fn name(&self, rank: u32, step: u32) -> String {
        match self {
            Self::Binary => format!("node {step} of rank {rank}"),
            Self::Text(source, places) => {
                let written = &places[rank as usize][step as usize];
                match &source.inner()[written.label.clone()] {
                    "" => {
                        let at = Place::at(source, written.all.clone());
                        let line = at.position().map_or(0, |position| position.line);
                        format!("line {line} of rank {rank}")
                    }
                    label => format!("`{label}` of rank {rank}"),
                }
            }
        }
    }

    fn failure(&self, fault: Fault) -> Failure {
        let Fault { rank, step, message, help } = fault;
        match self {
            Self::Binary => Unreadable { message, help }.into(),
            Self::Text(source, places) => {
                let range = places[rank as usize][step as usize].all.clone();
                Problem::error(Place::at(source, range), message, help).into()
            }
        }
    }
}

/// Reads a job, its path relative to that of the scenario. The first eight bytes say whether it is binary.
pub(crate) fn read(files: &Files, (path, scenario): (&str, &str)) -> Result<Job, Failure> {
    let (bytes, _) = files.bytes(path, scenario)?;
    let (ranks, places) = match binary::is_binary(&bytes) {
        true => {
            let ranks = binary::read(&bytes).map_err(|(message, help)| Unreadable {
                message: format!("`{path}`: {message}"),
                help,
            })?;
            (ranks, Places::Binary)
        }
        false => {
            let source = files.text(path, scenario).map_err(|unreadable| Unreadable {
                help: "a job is text in UTF-8, or binary as txt2bin of LogGOPSim writes it: check which file this is"
                    .to_owned(),
                ..unreadable
            })?;
            let (ranks, places) = text::read(&source)?;
            (ranks, Places::Text(source, places))
        }
    };
    matching::matched(ranks, &places).map_err(|fault| places.failure(fault))
}

#[cfg(test)]
mod tests;
