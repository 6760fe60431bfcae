//! Credit-based flow control (CBFC) of links, in the manner of InfiniBand (Architecture Specification, volume 1, section 7.9) and
//! of Ultra Ethernet (UE Specification 1.0, link layer): a sender transmits a frame of a class only if the receiver has room
//! for it, according to the last credit that it has received.
//!
//! Both ends count bytes per class and never reset their counters. The sender counts what it has sent (InfiniBand: FCTBS)
//! and may not exceed the limit that the receiver sends it (FCCL): all bytes that have arrived so far plus the free part of the
//! receiver's buffer. A credit frame that is late or replaced by a newer one therefore loses nothing. Each ingress port and
//! class of a switch has a buffer of the same size, so that nothing is lost for want of room.
//!
//! The sending half is the [allowance](crate::allowance) of a transmitter. It works alike in switches and NICs: a class without
//! credit is paused until credit arrives, and the time without credit counts as paused. Feedback and notifications in
//! the control class need no credit. Hosts accept everything at once, so that no credit is needed on a link to a host.
//!
//! Differences from the specifications: counters are in bytes, not in blocks of 64 bytes, and do not wrap around; credit frames are
//! separate frames, one for each class; senders wait until there is room for the longest frame of the link, because hosts make
//! a frame only when it is sent; and there is no resynchronization after a loss of frames, because links that fail are
//! refused.

mod in_switch;
mod spec;
#[cfg(test)]
mod tests;

pub use in_switch::Cbfc;
pub use spec::Spec;
