//! A window in packets that may be a fraction of one, as Swift and Poseidon have it: packets are then sent
//! individually, with a pause in between.

use floodway_model::check::Findings;
use floodway_model::{Duration, Instant};

use super::Path;
use super::check::Network;
use crate::host::transport;

/// Limits of a window.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Minimum in packets.
    pub min_cwnd: f64,
    /// Maximum in packets.
    pub max_cwnd: f64,
    /// Maximum relative reduction at once, also applied after a loss.
    pub max_mdf: f64,
    /// Number of consecutive retransmission timeouts from which on the window is set to the minimum.
    pub retx_reset_threshold: u32,
}

/// The window of one flow.
#[derive(Debug)]
pub struct Fractional {
    /// In packets.
    pub cwnd: f64,
    /// The last round-trip time; before the first sample, that of the idle network.
    pub rtt: Duration,
    last_decrease: Instant,
    /// Number of timeouts since the last acknowledgement.
    pub timeouts: u32,
    payload: u64,
    wire: u64,
}

impl Fractional {
    /// The window of a new flow: `initial`, or what fills the path between the hosts farthest apart at line
    /// rate, without queueing.
    pub fn new(initial: Option<f64>, limits: &Limits, path: &Path) -> Self {
        let fills = path.line_rate.0 as f64 * path.base_rtt.as_secs() / (8.0 * path.wire as f64);
        let cwnd = initial.unwrap_or(fills.ceil().max(1.0));
        Self {
            cwnd: cwnd.clamp(limits.min_cwnd, limits.max_cwnd),
            rtt: path.base_rtt,
            last_decrease: Instant::ZERO,
            timeouts: 0,
            payload: path.payload,
            wire: path.wire,
        }
    }

    /// Rate in bit/s on the wire that is a window per round trip.
    pub fn mean_rate(&self) -> f64 {
        8.0 * self.wire as f64 * self.cwnd / self.rtt.as_secs().max(1e-12)
    }

    /// Below one packet: one packet per `rtt / cwnd`.
    #[inline]
    pub fn rate(&self) -> Option<f64> {
        (self.cwnd < 1.0).then(|| self.mean_rate())
    }

    /// Payload bytes: whole packets, at least one.
    #[inline]
    pub fn bytes(&self) -> u64 {
        (self.cwnd as u64).max(1) * self.payload
    }

    /// Multiplies the window by `factor`, unless it was reduced less than a round trip ago.
    pub fn decrease(&mut self, factor: f64, limits: &Limits, now: Instant) {
        // The start of the flow does not count as a decrease.
        let rested =
            self.last_decrease == Instant::ZERO || now.since(self.last_decrease) >= self.rtt;
        if rested {
            self.shrink(self.cwnd * factor, limits, now);
        }
    }

    fn shrink(&mut self, cwnd: f64, limits: &Limits, now: Instant) {
        let cwnd = cwnd.max(limits.min_cwnd);
        if cwnd < self.cwnd {
            self.last_decrease = now;
        }
        self.cwnd = cwnd;
    }

    /// A packet is missing.
    pub fn on_loss(&mut self, limits: &Limits, now: Instant) {
        self.decrease(1.0 - limits.max_mdf, limits, now);
    }

    /// The retransmission timer has expired.
    pub fn on_timeout(&mut self, limits: &Limits, now: Instant) {
        self.timeouts += 1;
        if self.timeouts >= limits.retx_reset_threshold {
            self.shrink(limits.min_cwnd, limits, now);
        } else {
            self.on_loss(limits, now);
        }
    }
}

/// Checks that a window of one packet causes an acknowledgement.
pub fn check_single_packets(network: &Network<'_>, findings: &mut Findings<'_>) {
    if let transport::Spec::Rocev2(transport) = network.around.transport
        && transport.ack_every > 1
    {
        findings.error(
            &network.around.of_transport("ack_every"),
            format!(
                "the window of `{}` may be 1 packet, and an acknowledgement comes after {}",
                findings.name(),
                transport.ack_every
            ),
            "the sender would wait for its timer: write ack_every = 1",
        );
    }
}
