//! Identifiers: dense numbers used as vector indices, so that no hashing is needed in the packet
//! path.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub $inner);

        impl $name {
            /// As an index into a vector with one entry per identifier.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A host or a switch, numbered from 0 in the order of [`crate::Graph`].
    NodeId(u32),
    "node "
);
id!(
    /// A port of one node, numbered from 0.
    PortIx(u16),
    "port "
);
id!(
    /// A flow, numbered from 0 in the order of the scenario's flow list.
    FlowId(u32),
    "flow "
);
id!(
    /// A traffic class on a link: the number of the egress queue that the frame was sent from,
    /// and the index that a PFC frame pauses (IEEE 802.1Q clause 36; at most eight).
    Class(u8),
    "class "
);

/// Number of traffic classes of a link (IEEE 802.1Q clause 36).
pub const CLASSES: usize = 8;
