//! What a port that is held to a pace may have sent, by totals since the start instead of frame by frame.

use std::sync::Mutex;

use floodway_model::{Bytes, Duration, Instant, NodeId, PortIx};

use super::network::lock;
use crate::Spec;
use crate::pace::By;
use crate::pace::grants::Grants;

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
    /// Of a shaper: when all of it has left at its rate. Of grants: when the last frame has left.
    by: Instant,
}

impl Held {
    /// The port at the sending end of a link; `None` if nothing holds it.
    pub fn of(spec: &Spec, (node, port): (NodeId, PortIx)) -> Option<Self> {
        let pace = spec.paces.iter().find(|pace| (pace.node, pace.port) == (node, port))?;
        Some(Self { by: pace.by.clone(), sent: Mutex::default() })
    }

    /// A frame begins at `now` and has left at `left`; it has `bytes`, and `on_wire` on the wire, which take `time` at the rate
    /// of the link. When the next one may begin; `None` if it is more than there may be until then.
    pub fn free_from(
        &self,
        bytes: u16,
        (on_wire, time): (u64, Duration),
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
            By::Grants(grants) => {
                let begun = now.max(sent.by);
                sent.by = left;
                let early = grants.interval.0
                    + grants.delay.0.div_ceil(grants.interval.0) * grants.interval.0;
                let free = now.max(Instant(left.0.saturating_sub(early)));
                (slots(grants, now, begun, left) >= time.0).then_some(free)
            }
        }
    }
}

/// How long the wire is granted between `begun` and `left` to a frame that is taken at `taken`, interval by interval: the first
/// part of each, and all of those that begin late enough after its request.
fn slots(grants: &Grants, taken: Instant, begun: Instant, left: Instant) -> u64 {
    let requested = taken.0.div_ceil(grants.interval.0) * grants.interval.0;
    let (mut interval, mut sum) = (begun.0 / grants.interval.0 * grants.interval.0, 0);
    while interval < left.0 {
        let ends = match interval >= requested + grants.delay.0 {
            true => interval + grants.interval.0,
            false => interval + grants.proactive.0,
        };
        sum += ends.min(left.0).saturating_sub(interval.max(begun.0));
        interval += grants.interval.0;
    }
    sum
}
