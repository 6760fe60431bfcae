//! Backpressure Flow Control (BFC; Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson, NSDI 2022):
//! hop-by-hop flow control, nearly per flow.
//!
//! Every data queue of a port consists of physical queues ([`PhysicalQueues`]). A flow without queued
//! packets is assigned an empty physical queue if there is one, otherwise a random one, and keeps
//! it for some hop round-trip times after its last packet has left. The pause threshold is what a
//! physical queue, with its share of the port, sends in one hop round-trip time plus `tau`. A
//! packet that finds more than this in its physical queue keeps the physical queue from which the
//! upstream neighbor sent it paused until it leaves. NICs have physical queues too, one per flow as
//! far as they suffice.
//!
//! Differences from the paper: pauses and resumes are sent as separate frames, one per change,
//! instead of bitmaps sent every `tau`, because simulated links lose nothing; among empty physical
//! queues those that are not paused are preferred (assumed); and there is no high-priority queue
//! for the first packets of flows, an option of the paper that would need another class here.

mod audit;
mod bits;
mod in_switch;
mod paused;
mod physical_queues;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use audit::{Audit, audit};
pub use bits::Bits;
pub use in_switch::Bfc;
pub use paused::Paused;
pub use physical_queues::PhysicalQueues;
pub use spec::Spec;
