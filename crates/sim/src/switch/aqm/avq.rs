//! Adaptive Virtual Queue (Kunniyur and Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for
//! Active Queue Management", SIGCOMM 2001). Every port has a virtual queue: a counter to which arriving packets add their
//! length and which a virtual capacity empties. A packet that would overflow it is marked or dropped, and does not join
//! the virtual queue. The virtual capacity follows dC~/dt = alpha (gamma C - lambda), where lambda is the arrival rate, so
//! that senders that respond use the share gamma of the link, and the real queue stays short.
//!
//! Lengths include preamble and interframe gap, because the capacity of a link includes them. All data queues of a port
//! share its virtual queue. Feedback and notifications in the control queue are not counted.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Desired utilization of the link, above 0 and at most 1. Default 0.98 (paper, simulations).
    pub gamma: f64,
    /// Smoothing parameter: how fast the virtual capacity follows the arrival rate, per second, at least 0. With 0 the
    /// virtual capacity stays at `gamma` times the rate of the link. Default 0.15 (paper, simulations).
    pub alpha: f64,
    /// Size of the virtual queue, in bytes on the wire. Default 100KB (paper, simulations: 100 packets of 1000 bytes).
    pub buffer: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self { gamma: 0.98, alpha: 0.15, buffer: Bytes(100_000) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("gamma", self.gamma, "usual is 0.98");
        findings.range("alpha", self.alpha, 0.0.., "usual is 0.15");
        findings.positive("buffer", self.buffer, "usual is 100KB");
    }
}

/// The virtual queue of a port.
#[derive(Debug)]
pub struct State {
    spec: Spec,
    /// Bytes in the virtual queue.
    backlog: f64,
    /// Virtual capacity in bytes per second; `None` before the first packet.
    capacity: Option<f64>,
    /// Arrival of the previous packet.
    previous: Instant,
}

impl Aqm for State {
    type Spec = Spec;

    fn new(spec: &Spec, _queues: usize) -> Self {
        Self { spec: spec.clone(), backlog: 0.0, capacity: None, previous: Instant::ZERO }
    }

    fn start_at(&mut self, now: Instant) {
        self.previous = now;
    }

    /// In the order of the paper's pseudo code.
    fn on_arrival(&mut self, _: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let Spec { gamma, alpha, .. } = self.spec;
        let link = view.rate().0 as f64 / 8.0;
        let bytes = view.tx.link().on_wire(packet.bytes) as f64;
        let elapsed = view.now.since(self.previous).as_secs();
        self.previous = view.now;
        // The paper leaves the first value open: this one changes nothing if the link is used as desired.
        let capacity = self.capacity.unwrap_or(gamma * link);
        self.backlog = (self.backlog - capacity * elapsed).max(0.0);
        let overflows = self.backlog + bytes > self.spec.buffer.0 as f64;
        if !overflows {
            self.backlog += bytes;
        }
        let risen = (capacity + alpha * gamma * link * elapsed).min(link);
        self.capacity = Some((risen - alpha * bytes).max(0.0));
        Verdict::congested(overflows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::{Duration, Ecn};

    /// Bytes per second of the link, and of a packet on it.
    const LINK: f64 = 5e6;
    const PACKET: f64 = 1_020.0;

    fn arrivals(avq: &mut State, stand: &mut Stand, number: u32, apart: Duration) -> Vec<bool> {
        let verdicts = (0..number).map(|_| {
            stand.wait(apart);
            stand.arrives(avq, 0, Ecn::Ect0) == Verdict::Congested
        });
        verdicts.collect()
    }

    /// Ten packets of 1020 bytes on the wire fit, and the eleventh does not. After 204 us at half of the link's 5 MB/s
    /// another half packet fits, after 408 us a whole one.
    #[test]
    fn a_packet_that_would_overflow_the_virtual_queue_is_marked_and_not_counted() {
        let spec = Spec { gamma: 0.5, alpha: 0.0, buffer: Bytes(10_200) };
        let (mut avq, mut stand) = (State::new(&spec, 2), Stand::new(2));
        let at_once = arrivals(&mut avq, &mut stand, 12, Duration::ZERO);
        assert_eq!(at_once, [[false; 10].as_slice(), &[true; 2]].concat());
        let slow = arrivals(&mut avq, &mut stand, 4, Duration::from_us(205));
        assert_eq!(slow, [true, false, true, false]);
        // All queues of a port share it.
        assert_eq!(stand.arrives(&mut avq, 1, Ecn::NotEct), Verdict::Congested);
    }

    /// In 1 ms the capacity rises by alpha gamma C * 1 ms and falls by alpha times the packet's length.
    #[test]
    fn the_virtual_capacity_follows_the_arrival_rate() {
        let spec = Spec { gamma: 0.8, alpha: 10.0, buffer: Bytes(1_000_000) };
        let (mut avq, mut stand) = (State::new(&spec, 1), Stand::new(1));
        arrivals(&mut avq, &mut stand, 50, Duration::from_ms(1));
        // The rate of 1.02 MB/s is below 4 MB/s: it rises by 29,800 each time from 4 MB/s, up to what the link has.
        let expected = LINK - 10.0 * PACKET;
        assert!((avq.capacity.unwrap() - expected).abs() < 1e-3);
        // At the desired rate it stays; 255 us are a packet at 4 MB/s.
        avq.capacity = Some(3e6);
        arrivals(&mut avq, &mut stand, 100, Duration::from_us(255));
        assert!((avq.capacity.unwrap() - 3e6).abs() < 1e-3);
        // At 10.2 MB/s it falls by 10 (1020 - 400) for each packet, and not below zero.
        arrivals(&mut avq, &mut stand, 100, Duration::from_us(100));
        assert!((avq.capacity.unwrap() - (3e6 - 100.0 * 6_200.0)).abs() < 1e-3);
        arrivals(&mut avq, &mut stand, 1_000, Duration::from_us(100));
        assert_eq!(avq.capacity, Some(0.0));
        assert_eq!(stand.arrives(&mut avq, 0, Ecn::Ect0), Verdict::Congested);
    }
}
