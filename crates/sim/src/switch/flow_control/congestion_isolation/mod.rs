//! Congestion Isolation (IEEE 802.1Q clause 49, once 802.1Qcz): a flow that a curve on the depth
//! of the monitored queue selects is put into the stream table of that egress port; while it is
//! there its packets go to the congesting queue. The AQM of the port judges them there as it judges
//! others; whether they are marked because they are isolated is a choice ([`Mark`]). The upstream
//! neighbour may be told by a congestion isolation message (CIM), so that it isolates the flow at its
//! own egress.
//!
//! Only PFC and the curve can tell where the congestion is. A flow that is isolated because of a
//! CIM counts as detected here too when the curve, asked about the congesting queue, selects one
//! of its packets while that queue may send.
//!
//! Order: a flow's first packets in the congesting queue wait until its last one has left the
//! monitored queue (clause 8.6.8.6 asks for order and its text is not public; this is the exact
//! rule with the least waiting). Back: entries are released only while the congesting queue is
//! empty, so that nothing of the flow can be overtaken.

mod check;
mod in_switch;
mod spec;
mod table;

pub use in_switch::Isolating;
pub use spec::{Mark, Signal, Spec, WhenFull};
pub use table::{Isolation, Place, Port, Reason};
