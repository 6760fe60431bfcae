//! Congestion Isolation (IEEE 802.1Q clause 49, formerly 802.1Qcz). A flow selected by a
//! probability curve on the depth of the monitored queue is added to the stream table of that
//! egress port. While it is there, its packets go to the congesting queue. The AQM of the port
//! applies there as in any other queue; whether packets are also marked because they are isolated
//! is configurable ([`Mark`]). A congestion isolation message (CIM) may notify the upstream
//! neighbor, so that it isolates the flow at its own egress.
//!
//! Only PFC and the curve show where the congestion is. A flow that is isolated because of a CIM
//! counts as detected here too if the curve, applied to the congesting queue, selects one of its
//! packets while that queue is not paused.
//!
//! Order on isolation: a flow's first packets in the congesting queue are held until its last
//! packet has left the monitored queue (clause 8.6.8.6 requires order preservation, but its text is
//! not public; this is the exact rule with the shortest delay). Order on release: entries are
//! released only while the congesting queue is empty, so that no packet of the flow can be
//! overtaken.

mod check;
mod in_switch;
mod spec;
mod table;

pub use in_switch::Isolating;
pub use spec::{Mark, Signal, Spec, WhenFull};
pub use table::{Isolation, Place, Port, Reason};
