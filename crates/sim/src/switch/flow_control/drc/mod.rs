//! Directional Rate Control (Wadekar, McAlpine, Gupta, "Rate Control in Short Range 802.3
//! Interconnects", 2004; US patent 7,457,245 of the same authors): what a link carries is held back
//! by where it goes next, so that one congested output port does not block the others.
//!
//! A switch tells its neighbours, two bits for each of its output ports, how severe congestion is
//! there, and which classes that concerns ([`Feedback`], [`frame`]). The transmitter at the other
//! end has queues by direction, which is the output port of the peer, in each class
//! ([`Directions`]). A rate factor of each direction says how long after a frame its queue waits
//! until it may be arbitrated again, and the highest severity stops the direction ([`Regulator`]).
//! All of it is local to a link: what is held back here fills the queues here, and is told to the
//! neighbours in turn.

mod by_direction;
mod check;
mod directions;
mod feedback;
pub mod frame;
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

/// Directions that one feedback frame tells of.
pub const DIRECTIONS: usize = 32;

/// The severities of [`DIRECTIONS`] output ports, two bits each, that of the first port in the two
/// most significant bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statuses(pub u64);

impl Statuses {
    const fn shift(place: usize) -> u32 {
        62 - 2 * place as u32
    }

    /// The severity, 0 to 3, of one of them.
    #[inline]
    pub const fn severity(self, place: usize) -> u8 {
        (self.0 >> Self::shift(place)) as u8 & 0b11
    }

    /// Sets it.
    #[inline]
    pub const fn set(&mut self, place: usize, severity: u8) {
        let shift = Self::shift(place);
        self.0 = self.0 & !(0b11 << shift) | (severity as u64 & 0b11) << shift;
    }
}
