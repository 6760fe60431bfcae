//! The fields that crossbars have in common.

use floodway_model::Bytes;
use floodway_model::check::{Check, Findings};

use super::CongestionAt;

/// Declares the parameters of a crossbar: fields of its own with their defaults, and those of all. They
/// are fields of the structure itself and not of one inside, because serde's `flatten` takes values
/// out of sight of the reader, which knows their places.
macro_rules! with_lines {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// How many times as fast as the fastest port of the switch each line of the crossbar
            /// is, at least 1. Default 1 (Karol, Hluchyj and Morgan 1987, McKeown 1999: pure input
            /// queueing).
            pub speedup: f64,
            /// What crosses in a slot: a frame takes as many slots as it has cells of this size,
            /// the last one padded. Default 64B (Cisco 12000, McKeown 1999).
            pub cell: floodway_model::Bytes,
            /// The most bytes in an egress queue, those included that are crossing: as long as the
            /// longest frame would not fit, nothing begins to cross to it. Default: two of the
            /// longest frames times the speedup rounded up, so that one waits for the wire while
            /// the next crosses.
            pub egress_queue: Option<floodway_model::Bytes>,
            /// Where queue management, Congestion Isolation, QCN, source flow control, in-band
            /// telemetry and the `least_loaded` choice of a path look for congestion. PFC, PAUSE
            /// and the limits of memory always count what waits on both sides. Default
            /// `virtual_output`.
            pub congestion_at: $crate::switch::fabric::CongestionAt,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    speedup: 1.0,
                    cell: floodway_model::Bytes(64),
                    egress_queue: None,
                    congestion_at: Default::default(),
                }
            }
        }

        impl $name {
            /// The parameters that all crossbars have.
            pub(super) fn common(&self) -> $crate::switch::fabric::Lines {
                let Self { speedup, cell, egress_queue, congestion_at, .. } = *self;
                $crate::switch::fabric::Lines { speedup, cell, egress_queue, congestion_at }
            }
        }
    };
}
pub(super) use with_lines;

/// The parameters that all crossbars have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// How many times as fast as the fastest port.
    pub speedup: f64,
    /// Bytes that cross in a slot.
    pub cell: Bytes,
    /// The most bytes in an egress queue; `None` for the default.
    pub egress_queue: Option<Bytes>,
    /// Where congestion is measured.
    pub congestion_at: CongestionAt,
}

/// A crossbar this much faster than its ports is output queueing in all but name, and its slots are
/// still longer than a picosecond.
const FASTEST: f64 = 64.0;

/// Cells up to the longest frames that there are.
const LARGEST_CELL: Bytes = Bytes(65_535);

impl Check for Lines {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "1 is a line as fast as the fastest port";
        findings.range("speedup", self.speedup, 1.0..=FASTEST, why);
        let why = "64B is common for what crosses in a slot";
        findings.range("cell", self.cell, Bytes(1)..=LARGEST_CELL, why);
    }
}

impl Lines {
    /// The most bytes in an egress queue if the longest frame is this long.
    ///
    /// Two frames keep the wire of a port busy at a speedup of 1: one waits for it while the next
    /// crosses. A faster crossbar can bring that many more before the wire is free.
    pub fn egress_queue(&self, largest_frame: u16) -> Bytes {
        let frames = 2 * self.speedup.ceil() as u64;
        self.egress_queue.unwrap_or(Bytes(frames.saturating_mul(largest_frame.into())))
    }
}
