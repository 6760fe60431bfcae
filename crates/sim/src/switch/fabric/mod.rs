//! What is between the ports of a switch: nothing, or a crossbar with queues at its inputs.
//!
//! A crossbar moves whole frames (packet mode; Marsan, Bianco, Giaccone, Leonardi and Neri, IEEE/ACM
//! ToN 10(5), 2002) at the boundaries of slots: free inputs are matched to free outputs, and a
//! matched pair is busy for as many slots as the frame has cells. Then the frame joins its egress
//! queue. With a speedup above 1 frames wait on both sides (combined input and output queueing).
//! Feedback and notifications, few and small, do not cross it.

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

/// Parameters of what is between the ports. One that implements nothing has nothing there.
pub trait Fabric {
    /// What its crossbar has in common with all others; `None` if it has no crossbar.
    fn lines(&self) -> Option<Lines> {
        None
    }

    /// The empty queues at the inputs of its crossbar, for this many ports with this many data queues each.
    fn inputs(&self, _ports: usize, _queues: usize) -> Option<Box<dyn Inputs>> {
        None
    }

    /// How many times requests, grants and accepts go round in a slot. Where an input requests few
    /// outputs at a time, it ends by itself.
    fn iterations(&self) -> u32 {
        u32::MAX
    }

    /// Queues of each input and data queue that take memory even if they are empty.
    fn queues_per_input(&self, _ports: u64) -> u64 {
        0
    }
}

/// The queues at the inputs of a crossbar. They set the requests: an input requests an output and a data queue
/// while it has a frame for it that may cross next.
pub trait Inputs: Debug + Send {
    /// Appends a frame. Whether it may cross next.
    fn push(&mut self, input: usize, frame: Waiting, requests: &mut Requests) -> bool;

    /// Takes the next frame from an input to a data queue of an output, which was requested.
    fn take(&mut self, pair: (usize, usize), queue: usize, requests: &mut Requests) -> Waiting;

    /// Appends to `taken` all frames from an input to a data queue of an output.
    fn take_bound(
        &mut self,
        pair: (usize, usize),
        queue: usize,
        requests: &mut Requests,
        taken: &mut Vec<Waiting>,
    );

    /// All queues. Each is in the order in which its frames cross.
    fn rows(&self) -> &[VecDeque<Waiting>];
}
