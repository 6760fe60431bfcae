//! The trait of frames sent between nodes.

use floodway_model::{Packet, PortIx};

/// A frame sent from node to node, passed by value.
pub trait Frame: Copy + Send {
    /// Ingress port at the receiving node.
    fn ingress(&self) -> PortIx;

    /// Whether the frame is for the adjacent node only, as a pause frame is. Of frames that arrive at a
    /// node at the same time, these come first, whatever their ports.
    fn is_one_hop(&self) -> bool;
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
