//! What a session shows of its nodes while it runs: numbers that grow from the beginning, so that the difference of two
//! readings belongs to the time between them. Reading changes nothing.

use floodway_model::{Duration, FlowId, Instant, NodeId, PortIx, Rate};

use super::Session;
use crate::metric::fine_edge;

/// A port of a switch.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// The rate of its link.
    pub rate: Rate,
    /// Bytes of all frames that it has begun to send, with preamble and interframe gap.
    pub sent: u64,
    /// Its data queues.
    pub queues: Vec<Queue>,
}

/// A data queue of a port.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Bytes in it now.
    pub backlog: u64,
    /// Packets that were marked in it.
    pub marked: u64,
    /// Packets that were dropped on the way into it, or from it.
    pub dropped: u64,
    /// How long packets were in it that have left it; nothing without [`Spec::departures`](crate::Spec::departures).
    pub waits: Waits,
}

/// Sojourn times of packets that have left a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Number of packets.
    pub count: u64,
    /// Sum of their sojourn times, in ps.
    pub total: u128,
    /// Number by bin of the sojourn time.
    bins: Vec<u64>,
}

impl Waits {
    /// Of `count` packets with this sum of sojourn times in ps, and this number in each bin.
    pub(crate) fn new(count: u64, total: u128, bins: &[u64]) -> Self {
        Self { count, total, bins: bins.to_vec() }
    }

    /// Those since an earlier reading of the same queue.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |bin: usize| earlier.bins.get(bin).copied().unwrap_or(0);
        let bins = self.bins.iter().enumerate().map(|(bin, count)| count - before(bin)).collect();
        Self { count: self.count - earlier.count, total: self.total - earlier.total, bins }
    }

    /// Their mean; `None` without packets.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.total.checked_div(self.count.into())?;
        Some(Duration(mean as u64))
    }

    /// The least time, rounded up by at most 1.6 %, within which this share of them has left, from 0 to 1; `None` without
    /// packets.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bin = self.bins.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_ns(fine_edge(bin)))
    }
}

impl Session {
    /// The time until which everything has been simulated, to which readings belong: that of the session, or the end of its
    /// window.
    pub fn reached(&self) -> Instant {
        self.reached
    }

    /// Payload bytes of a flow that have arrived; 0 before it is known to its hosts.
    pub fn delivered(&self, flow: FlowId) -> u64 {
        match self.rest.spec.flows.get(flow.index()) {
            Some(spec) => self.live.delivered(flow, spec.dst),
            None => 0,
        }
    }

    /// A port of a switch; `None` if there is none.
    pub fn port(&self, node: NodeId, port: PortIx) -> Option<Port> {
        let of = self.live.switch(node)?.ports.get(port.index())?;
        let queue = |(number, queue): (usize, &crate::switch::queue::Queue)| {
            let drops = of.drops.iter().filter(|drops| usize::from(drops.queue) == number);
            Queue {
                backlog: queue.backlog(),
                marked: queue.marked(),
                dropped: drops.map(|drops| drops.packets).sum(),
                waits: self.live.waits(node, port.index(), number),
            }
        };
        let data = of.queues.len() - 1;
        Some(Port {
            rate: of.tx.link().rate,
            sent: of.tx.bytes + of.tx.frames * u64::from(of.tx.wire_overhead()),
            queues: of.queues[..data].iter().enumerate().map(queue).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sojourn_bin;

    fn waits(of: &[u64]) -> Waits {
        let mut bins = vec![0; sojourn_bin(Duration::from_ns(1_000)) + 1];
        for &ns in of {
            bins[sojourn_bin(Duration::from_ns(ns))] += 1;
        }
        Waits::new(of.len() as u64, u128::from(of.iter().sum::<u64>()) * 1_000, &bins)
    }

    #[test]
    fn a_difference_has_what_came_between() {
        let (early, late) = (waits(&[10, 20]), waits(&[10, 20, 30, 50, 100, 120]));
        let between = late.since(&early);
        assert_eq!((between.count, between.mean()), (4, Some(Duration::from_ns(75))));
        let quantiles = [0.0, 0.5, 0.75, 0.76, 1.0].map(|share| between.quantile(share));
        assert_eq!(quantiles, [30, 50, 100, 120, 120].map(|ns| Some(Duration::from_ns(ns))));
        let none = late.since(&late);
        assert_eq!((none.mean(), none.quantile(0.5)), (None, None));
    }
}
