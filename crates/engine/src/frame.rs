//! What is sent from node to node.

use floodway_model::{Packet, PortIx};

/// Something that is sent from node to node, by value.
pub trait Frame: Copy + Send {
    /// The port of the node at which it arrives.
    fn ingress(&self) -> PortIx;

    /// Whether it is only for the next node, such as a pause. Of frames that arrive at a node at the same
    /// time, these come first, whatever their ports.
    fn is_one_hop(&self) -> bool;
}

// Here because neither the trait nor the packet belongs to those who use both.
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

    /// The plainest frame.
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
