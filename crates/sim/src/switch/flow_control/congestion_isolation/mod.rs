//! Congestion Isolation (IEEE 802.1Q clause 49, once 802.1Qcz).

mod spec;

pub use spec::{Signal, Spec};
