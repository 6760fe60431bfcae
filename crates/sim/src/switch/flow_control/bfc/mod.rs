//! Backpressure Flow Control (Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson, NSDI 2022): flow
//! control from hop to hop and nearly per flow.
//!
//! Every data queue of a port consists of physical queues ([`Lanes`]). A flow without packets here
//! gets an empty one if there is one, else a random one, and keeps it for some hop round trips
//! after its last packet has left. When a packet finds more in its physical queue than that queue
//! sends, with its share of the port, in a hop round trip and `tau`, it is counted against the
//! physical queue from which the upstream neighbour sent it, until it leaves. That queue is paused
//! while packets are counted against it. NICs have such queues too, one per flow as far as they go.
//!
//! Beside the paper: pauses and resumes are frames of their own, one per change, instead of bit
//! maps sent every `tau`, because simulated links lose nothing; among empty physical queues those
//! that may send are preferred (assumed); and the first packets of flows have no queue of higher
//! priority, an option of the paper that needs another class here.

mod audit;
mod bits;
mod in_switch;
mod lanes;
mod paused;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use audit::audit;
pub use bits::Bits;
pub use in_switch::Bfc;
pub use lanes::Lanes;
pub use paused::Paused;
pub use spec::Spec;
