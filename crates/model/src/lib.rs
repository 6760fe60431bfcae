//! The basic types of floodway. All other crates depend on this one, and it depends on none of
//! them.
//!
//! - [`units`]: time in picoseconds, bytes, rates, and the text forms of scenario files
//! - [`id`]: identifiers of nodes, ports, flows and classes
//! - [`packet`]: a frame as it crosses the network
//! - [`graph`]: nodes, ports and links
//! - [`flow`]: the traffic that a host is asked to send
//! - [`program`]: what the ranks of a job do, step by step
//! - [`progressions`]: lists that take less memory where they follow a rule
//! - [`random`]: random number streams, one per named component
//! - [`mod@family`]: sets of interchangeable algorithms
//! - [`check`]: validation of parameters, next to their definitions
//! - [`numbers`]: columns of numbers, packed if they are long
//! - [`table`]: columns with units and meanings, the format of every result

pub mod check;
pub mod delay;
pub mod emodel;
pub mod family;
pub mod flow;
pub mod graph;
pub mod id;
pub mod interval;
pub mod line;
pub mod marking;
pub mod numbers;
pub mod packet;
pub mod program;
pub mod progressions;
pub mod random;
pub mod shared;
pub mod table;
pub mod tables;
pub mod units;

pub use delay::Delay;
pub use flow::{Collective, CollectiveKind, FlowSpec, Operation, Page, Reuse, Trigger, Voice};
pub use graph::Graph;
pub use id::{Class, FlowId, NodeId, PortIx};
pub use interval::IntervalEnd;
pub use marking::Marking;
pub use numbers::Numbers;
pub use packet::{
    AckFlags, Body, Dscp, Echo, Ecn, EcnFeedback, Packet, SackBlock, SegmentFlags, Tos,
};
pub use program::Program;
pub use progressions::Progressions;
pub use shared::SharedList;
pub use table::Table;
pub use units::{Bytes, Duration, Instant, Rate};
