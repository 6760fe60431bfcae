//! What a port that is held to a pace may have sent, by totals since the start instead of frame by frame.

use std::sync::Mutex;

use floodway_model::{Bytes, Instant, NodeId, PortIx};

use super::network::lock;
use crate::Spec;
use crate::pace::By;

/// A port that is held to a pace.
#[derive(Debug)]
pub struct Held {
    by: By,
    sent: Mutex<Sent>,
}

/// What it has sent.
#[derive(Debug, Default)]
struct Sent {
    /// Bytes, as its pace counts them.
    bytes: u64,
    /// When the first frame began.
    begun: Option<Instant>,
    /// Of a shaper: when all of it has left at its rate.
    by: Instant,
}

impl Held {
    /// The port at the sending end of a link; `None` if nothing holds it.
    pub fn of(spec: &Spec, (node, port): (NodeId, PortIx)) -> Option<Self> {
        let pace = spec.paces.iter().find(|pace| (pace.node, pace.port) == (node, port))?;
        Some(Self { by: pace.by.clone(), sent: Mutex::default() })
    }

    /// A frame begins at `now` and has left at `left`; it has `bytes`, and `on_wire` on the wire. When the next one may
    /// begin; `None` if it is more than there may be until then.
    pub fn free_from(
        &self,
        bytes: u16,
        on_wire: u64,
        now: Instant,
        left: Instant,
    ) -> Option<Instant> {
        let mut sent = lock(&self.sent);
        let begun = *sent.begun.get_or_insert(now);
        match &self.by {
            By::Trace(trace) => {
                // An IP packet and four bytes.
                sent.bytes += u64::from(bytes) - 18 + 4;
                (sent.bytes <= trace.bytes_until(left)).then_some(left)
            }
            By::Shaper { rate, burst } => {
                // A byte more for what is rounded.
                let allowed = rate.0 as f64 / 8.0 * now.since(begun).as_secs();
                let is_allowed = sent.bytes as f64 <= allowed + burst.0 as f64 + 1.0;
                sent.bytes += on_wire;
                sent.by = sent.by.max(now) + rate.time_for(Bytes(on_wire));
                let early = rate.time_for(*burst);
                is_allowed.then_some(left.max(Instant(sent.by.0.saturating_sub(early.0))))
            }
        }
    }
}
