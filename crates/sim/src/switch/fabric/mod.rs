//! The switching fabric: output queueing, or a crossbar with input queues.
//!
//! A crossbar moves whole frames (packet mode; Marsan, Bianco, Giaccone, Leonardi and Neri, IEEE/ACM
//! ToN 10(5), 2002). At the boundaries of slots, free inputs are matched to free outputs. A matched
//! pair is busy for one slot per cell of the frame, after which the frame joins its egress queue. With
//! a speedup above 1, frames are queued on both sides (combined input and output queueing). Feedback
//! and notifications bypass the crossbar, because they are few and small.

mod check;
mod clock;
#[cfg(test)]
mod conformance;
pub mod crossbar;
pub mod egress;
pub mod input_fifo;
mod islip;
mod lines;
pub mod output_queued;
mod requests;
#[cfg(test)]
mod tests;
pub mod voq;

use std::collections::VecDeque;
use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crossbar::{Crossbar, Waiting};
pub use lines::Lines;
use requests::Requests;

floodway_model::family! {
    /// What is between the ports of a switch, and so where data waits.
    "switch.fabric" as Fabric {
        lines() -> Option<Lines>;
        inputs(ports: usize, queues: usize) -> Option<Box<dyn Inputs>>;
        iterations() -> u32;
        queues_per_input(ports: u64) -> u64;
    }
    OutputQueued = "output_queued" in output_queued:
        "Nothing: data joins its egress queue on arrival, however many ports it comes by.",
    InputFifo = "input_fifo" in input_fifo:
        "A crossbar with one queue per ingress port and class; its head blocks the rest.",
    Voq = "voq" in voq:
        "A crossbar with virtual output queues at every ingress port, matched by iSLIP.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::OutputQueued(output_queued::Spec::default())
    }
}

/// Where congestion is measured if data waits on both sides of a crossbar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CongestionAt {
    /// In the egress queue and in all that waits for it at the inputs.
    #[default]
    VirtualOutput,
    /// In the egress queue only, which is small: congestion is under-reported.
    Egress,
}

/// Parameters of a switching fabric. The defaults are those of a switch without a crossbar.
pub trait Fabric {
    /// The parameters that all crossbars have; `None` without a crossbar.
    fn lines(&self) -> Option<Lines> {
        None
    }

    /// Empty input queues of its crossbar, for this many ports with this many data queues each.
    fn inputs(&self, _ports: usize, _queues: usize) -> Option<Box<dyn Inputs>> {
        None
    }

    /// Maximum number of iterations of requests, grants and accepts in a slot. The matching also
    /// ends when an iteration adds nothing.
    fn iterations(&self) -> u32 {
        u32::MAX
    }

    /// Number of input queues per ingress port and data queue, for the estimate of memory.
    fn queues_per_input(&self, _ports: u64) -> u64 {
        0
    }
}

/// The input queues of a crossbar. They set the requests: an input requests a data queue of an output
/// while it has a frame for it that may cross next.
pub trait Inputs: Debug + Send {
    /// Appends a frame. Returns whether it may cross next.
    fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool;

    /// Removes the next frame from an input to a data queue of an output, which was requested.
    fn take(&mut self, pair: (usize, usize), queue: usize, requests: &mut Requests) -> Waiting;

    /// Moves all frames from an input to a data queue of an output to `taken`.
    fn take_bound(
        &mut self,
        pair: (usize, usize),
        queue: usize,
        requests: &mut Requests,
        taken: &mut Vec<Waiting>,
    );

    /// All queues, each in the order in which its frames cross.
    fn rows(&self) -> &[VecDeque<Waiting>];
}
