//! Priority-based flow control (IEEE 802.1Q clause 36, once 802.1Qbb).

mod spec;

pub use spec::{Link, MeasuredOn, Spec};
