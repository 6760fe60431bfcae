//! Backpressure Flow Control (Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson, NSDI 2022): flow
//! control from hop to hop and nearly per flow.
//!
//! Every data queue of a port consists of physical queues ([`Lanes`]). A flow without packets here
//! gets an empty one if there is one, else a random one, and keeps it for some hop round trips
//! after its last packet has left. When a packet finds more in its physical queue than that queue
//! sends, with its share of the port, in a hop round trip and `tau`, it is counted against the
//! physical queue from which the upstream neighbour sent it, until it leaves. That queue is paused
//! while packets are counted against it. NICs have such queues too, one per flow as far as they go.
//!
//! Beside the paper: pauses and resumes are frames of their own, one per change, instead of bit
//! maps sent every `tau`, because simulated links lose nothing; among empty physical queues those
//! that may send are preferred (assumed); and the first packets of flows have no queue of higher
//! priority, an option of the paper that needs another class here.

mod audit;
mod bits;
mod lanes;
mod paused;
mod spec;
#[cfg(test)]
mod tests;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant, Packet, Rate};

pub(crate) use audit::audit;
pub use bits::Bits;
pub use lanes::{Lanes, Left};
pub use paused::Paused;
pub use spec::Spec;

use crate::link::Link;
use crate::switch::flow_control::pausing::Source;

/// What a switch remembers of its upstream neighbours.
#[derive(Debug)]
pub struct Bfc {
    /// By port: the hop round trip to the neighbour there.
    hops: Vec<Duration>,
    tau: Duration,
    sticky: u64,
    /// By source and lane there: the packets that wait here and are counted against it.
    counts: Vec<Vec<u32>>,
    /// Pauses and resumes ordered.
    pub pauses: u64,
    /// The same for resumes.
    pub resumes: u64,
}

impl Bfc {
    /// For a switch with these links and this latency.
    pub fn new(spec: &Spec, links: &[Link], latency: Duration) -> Self {
        Self {
            hops: links.iter().map(|link| spec.hop_round_trip(link, latency)).collect(),
            tau: spec.tau,
            sticky: u64::from(spec.sticky),
            counts: vec![Vec::new(); links.len() * CLASSES],
            pauses: 0,
            resumes: 0,
        }
    }

    /// Until when a flow keeps its lane after a packet that came in by this port.
    #[inline]
    pub fn keeps_until(&self, packet: &Packet, now: Instant) -> Instant {
        now + self.hops[packet.ingress.index()] * self.sticky
    }

    /// Whether a packet that finds `depth` bytes in its lane is a reason to pause: whether that is
    /// more than [`Spec::threshold`], compared without dividing.
    #[inline]
    pub fn exceeds(&self, depth: u64, active: u32, packet: &Packet, rate: Rate) -> bool {
        let reach = self.hops[packet.ingress.index()] + self.tau;
        let sent = u128::from(rate.0) * u128::from(reach.0);
        let whole = (u128::from(active.max(1)) * u128::from(depth)) * PS_PER_S_IN_BITS;
        whole > sent
    }

    /// A packet is counted against a lane of `source`. Whether that pauses it.
    pub fn count(&mut self, source: Source, lane: u8) -> bool {
        let (counts, lane) = (&mut self.counts[source.index()], usize::from(lane));
        if counts.len() <= lane {
            counts.resize(lane + 1, 0);
        }
        counts[lane] += 1;
        let stops = counts[lane] == 1;
        self.pauses += u64::from(stops);
        stops
    }

    /// It has left. Whether that lets the lane go on.
    pub fn uncount(&mut self, source: Source, lane: u8) -> bool {
        let count = &mut self.counts[source.index()][usize::from(lane)];
        *count -= 1;
        let goes_on = *count == 0;
        self.resumes += u64::from(goes_on);
        goes_on
    }

    /// The packets counted against each lane of a source.
    pub fn counts(&self, source: Source) -> &[u32] {
        &self.counts[source.index()]
    }
}

/// A second in picoseconds, times the bits of a byte.
const PS_PER_S_IN_BITS: u128 = 8_000_000_000_000;
