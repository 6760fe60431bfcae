//! The trait of frames sent between nodes.

use floodway_model::packet::WORDS;
use floodway_model::{Packet, PortIx};

/// A frame sent from node to node, passed by value.
pub trait Frame: Copy + Send {
    /// Ingress port at the receiving node.
    fn ingress(&self) -> PortIx;

    /// Whether the frame is for the adjacent node only, as a pause frame is. Of frames that arrive at a
    /// node at the same time, these come first, whatever their ports.
    fn is_one_hop(&self) -> bool;
}

/// A frame that can go to another process.
pub trait Portable: Frame {
    /// Number of octets that it takes.
    const OCTETS: usize;

    /// Writes it into so many octets.
    fn write(&self, octets: &mut [u8]);

    /// Reads it from so many octets, which the same program has written.
    fn read(octets: &[u8]) -> Self;
}

impl Portable for Packet {
    const OCTETS: usize = WORDS * size_of::<u64>();

    #[inline]
    fn write(&self, octets: &mut [u8]) {
        for (octets, word) in octets.chunks_exact_mut(size_of::<u64>()).zip(self.to_words()) {
            octets.copy_from_slice(&word.to_le_bytes());
        }
    }

    #[inline]
    fn read(octets: &[u8]) -> Self {
        let word = |octets: &[u8]| u64::from_le_bytes(octets.try_into().expect("eight octets"));
        let mut words = [0; WORDS];
        let octets = octets.chunks_exact(size_of::<u64>());
        words.iter_mut().zip(octets).for_each(|(to, octets)| *to = word(octets));
        Self::from_words(words).expect("a frame as another process has written it")
    }
}

// Implemented here because neither the trait nor the packet type belongs to the crates that use
// both.
impl Frame for Packet {
    #[inline]
    fn ingress(&self) -> PortIx {
        self.ingress
    }

    #[inline]
    fn is_one_hop(&self) -> bool {
        Packet::is_one_hop(self)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The simplest frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Pebble {
        pub ingress: PortIx,
        one_hop: bool,
    }

    pub fn pebble(port: u16, one_hop: bool) -> Pebble {
        Pebble { ingress: PortIx(port), one_hop }
    }

    impl Frame for Pebble {
        fn ingress(&self) -> PortIx {
            self.ingress
        }

        fn is_one_hop(&self) -> bool {
            self.one_hop
        }
    }
}
