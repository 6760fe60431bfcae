//! What is between the ports of a switch: nothing, or a crossbar with queues at its inputs.
//!
//! A crossbar moves whole frames (packet mode; Marsan, Bianco, Giaccone, Leonardi and Neri, IEEE/ACM
//! ToN 10(5), 2002) at the boundaries of slots: free inputs are matched to free outputs, and a
//! matched pair is busy for as many slots as the frame has cells. Then the frame joins its egress
//! queue. With a speedup above 1 frames wait on both sides (combined input and output queueing).
//! Feedback and notifications, few and small, do not cross it.

mod check;
mod clock;
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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crossbar::{Crossbar, Waiting};
pub use lines::Lines;

floodway_model::family! {
    /// What is between the ports of a switch, and so where data waits.
    "switch.fabric":
    OutputQueued = "output_queued" (output_queued::Spec):
        "Nothing: data joins its egress queue on arrival, however many ports it comes by.",
    InputFifo = "input_fifo" (input_fifo::Spec):
        "A crossbar with one queue per ingress port and class; its head blocks the rest.",
    Voq = "voq" (voq::Spec):
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

impl Spec {
    /// Its crossbar, if it has one.
    pub fn lines(&self) -> Option<Lines> {
        match self {
            Self::OutputQueued(_) => None,
            Self::InputFifo(spec) => Some(spec.lines()),
            Self::Voq(spec) => Some(spec.lines()),
        }
    }
}
