//! The nouns of floodway, known to every other crate and knowing none of them.
//!
//! - [`units`]: time in picoseconds, bytes, rates, and the text forms of scenario files
//! - [`id`]: what a number in the books is a number of
//! - [`packet`]: a frame as it crosses the network
//! - [`graph`]: nodes, ports and links
//! - [`flow`]: what a host is asked to send
//! - [`random`]: streams of chance, one per named component
//! - [`mod@family`]: sets of algorithms that answer the same question
//! - [`check`]: what is wrong with parameters, said beside them
//! - [`table`]: columns with units and meanings, the form of every result

pub mod check;
pub mod family;
pub mod flow;
pub mod graph;
pub mod id;
pub mod interval;
pub mod packet;
pub mod random;
pub mod table;
pub mod tables;
pub mod units;

pub use flow::{FlowSpec, Operation, Trigger};
pub use graph::Graph;
pub use id::{Class, FlowId, NodeId, PortIx};
pub use interval::IntervalEnd;
pub use packet::{
    AckFlags, Body, Dscp, Echo, Ecn, EcnFeedback, Packet, SackBlock, SegmentFlags, Tos,
};
pub use table::Table;
pub use units::{Bytes, Duration, Instant, Rate};
