//! Programs: what the ranks of a job do, each on its host. A program consists of steps with
//! dependencies, and its host decides at run time when each of them begins.

use serde::Serialize;

use crate::id::{FlowId, NodeId};
use crate::units::{Duration, Instant};

/// The program of one rank of a job.
///
/// A step begins when all steps that it depends on have finished (or begun, see [`On`]) and no step of
/// its stream computes. Of several that could begin on a stream, the one with the lowest number does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The host on which it runs.
    pub host: NodeId,
    /// The workload whose job it belongs to.
    pub workload: u16,
    /// Its rank in the job, counted from 0.
    pub rank: u32,
    /// When it begins.
    pub start: Instant,
    /// When its sends are finished.
    pub sends: SendEnd,
    /// Its steps. Other steps refer to them by their position.
    pub steps: Box<[Step]>,
    /// Dependencies between steps, without cycles.
    pub edges: Box<[Edge]>,
    /// The nodes of the trace that its steps were made of, in order of their steps; empty if each step is
    /// an operation of the file.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nodes: Box<[TraceNode]>,
    /// Of a job with iterations, the number of steps up to the end of each; empty for others.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub rounds: Box<[u32]>,
}

/// A node of a trace, which one or more consecutive steps carry out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceNode {
    /// Its identifier in the file.
    pub id: u64,
    /// Its name in the file.
    pub name: Box<str>,
    /// What it does: `compute`, `send`, or a collective like `all_reduce`.
    pub kind: &'static str,
    /// Its first step.
    pub first: u32,
    /// Number of its steps, at least 1.
    pub steps: u32,
}

impl Program {
    /// Number of its streams: one more than the highest that a step has.
    pub fn streams(&self) -> usize {
        self.steps.iter().map(|step| usize::from(step.stream) + 1).max().unwrap_or(0)
    }

    /// The flows that it sends, each with its step.
    pub fn sent(&self) -> impl Iterator<Item = (u32, FlowId)> + '_ {
        (0..).zip(&self.steps).filter_map(|(number, step)| match step.action {
            Action::Send(flow) => Some((number, flow)),
            _ => None,
        })
    }

    /// The flows that it receives, each with its step.
    pub fn received(&self) -> impl Iterator<Item = (u32, FlowId)> + '_ {
        (0..).zip(&self.steps).filter_map(|(number, step)| match step.action {
            Action::Receive(flow) => Some((number, flow)),
            _ => None,
        })
    }

    /// The same with other identifiers of flows.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(FlowId) -> FlowId) -> Self {
        for step in &mut self.steps {
            if let Action::Send(flow) | Action::Receive(flow) = &mut step.action {
                *flow = name(*flow);
            }
        }
        self
    }
}

/// A step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// The stream that it needs to be idle, and that it occupies if it computes.
    pub stream: u8,
    /// The line of the file in which it is written, counted from 1; 0 if there is none.
    pub line: u32,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Action {
    /// Occupies its stream for this time.
    Compute(Duration),
    /// Sends this flow, which has a size and starts when the step begins. Occupies its stream for no time.
    Send(FlowId),
    /// Receives this flow: it finishes when the step has begun and all of the flow has arrived, in
    /// either order. Occupies its stream for no time.
    Receive(FlowId),
    /// Occupies its stream until a [`Action::Release`] of it. Finishes as soon as it has begun, and is no
    /// computation.
    Hold,
    /// Ends the [`Action::Hold`] of its stream, for which it does not need to be idle.
    Release,
    /// Finishes after this time, and occupies its stream for no time.
    Elapse {
        /// The time.
        time: Duration,
        /// Whether it is computation.
        computes: bool,
    },
}

impl Action {
    /// Whether it begins only when its stream is idle.
    pub const fn needs_stream(self) -> bool {
        !matches!(self, Self::Release)
    }
}

/// A dependency between two steps of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The step that must come first.
    pub from: u32,
    /// The dependent step.
    pub to: u32,
    /// What the dependent step waits for.
    pub on: On,
}

/// The event of a step on which another one depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum On {
    /// It has finished.
    Finished,
    /// It has begun.
    Begun,
}

/// When a send is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum SendEnd {
    /// When all packets have left the buffer of the source for the first time.
    #[default]
    HandedOver,
    /// When the sender has an acknowledgement of everything. With transports without acknowledgements
    /// the same as the other.
    Acknowledged,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_know_their_streams_and_flows() {
        let step = |action, stream| Step { action, stream, line: 0 };
        let steps = [
            step(Action::Compute(Duration(1)), 0),
            step(Action::Send(FlowId(4)), 3),
            step(Action::Receive(FlowId(2)), 1),
        ];
        let program = Program {
            host: NodeId(0),
            workload: 0,
            rank: 0,
            start: Instant::ZERO,
            sends: SendEnd::HandedOver,
            steps: steps.into(),
            edges: Box::default(),
            nodes: Box::default(),
            rounds: Box::default(),
        };
        assert_eq!(program.streams(), 4);
        assert_eq!(program.sent().collect::<Vec<_>>(), [(1, FlowId(4))]);
        let other = program.renamed(|flow| FlowId(10 - flow.0));
        assert_eq!(other.sent().collect::<Vec<_>>(), [(1, FlowId(6))]);
        assert_eq!(other.received().collect::<Vec<_>>(), [(2, FlowId(8))]);
    }
}
