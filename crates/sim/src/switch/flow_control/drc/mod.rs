//! Directional Rate Control (DRC; Wadekar, McAlpine, Gupta, "Rate Control in Short Range 802.3
//! Interconnects", 2004; US patent 7,457,245 of the same authors): the rate on a link is controlled
//! separately for each output port of the next hop, so that one congested output port does not
//! block the others.
//!
//! A switch reports to its neighbors how severe congestion is at its output ports, with two bits
//! per port, and which classes are affected ([`Feedback`]). The transmitter at the other
//! end has, in each class, queues by direction, which is the output port of the peer
//! ([`Directions`]). The rate factor of a direction determines how long after a frame its queue may
//! be arbitrated again, and the highest severity stops the direction ([`Regulator`]). All of this
//! is local to a link: frames that are held back fill the queues of this switch, which then reports
//! congestion to its own neighbors.

mod by_direction;
mod check;
mod directions;
mod feedback;
mod in_switch;
mod peer;
mod regulator;
mod spec;
#[cfg(test)]
mod tests;

pub use directions::Directions;
pub use feedback::Feedback;
pub use in_switch::Drc;
pub use peer::{Peer, Peers};
pub use regulator::Regulator;
pub use spec::{Hop, Spec};

/// Directions covered by one feedback frame.
pub const DIRECTIONS: usize = 32;

/// The severities of [`DIRECTIONS`] output ports, two bits each, the first port in the two most
/// significant bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statuses(pub u64);

impl Statuses {
    const fn shift(place: usize) -> u32 {
        62 - 2 * place as u32
    }

    /// The severity of one port, 0 to 3.
    #[inline]
    pub const fn severity(self, place: usize) -> u8 {
        (self.0 >> Self::shift(place)) as u8 & 0b11
    }

    /// Sets the severity of one port.
    #[inline]
    pub const fn set(&mut self, place: usize, severity: u8) {
        let shift = Self::shift(place);
        self.0 = self.0 & !(0b11 << shift) | (severity as u64 & 0b11) << shift;
    }
}
