//! Quantized congestion notification, QCN (IEEE 802.1Qau-2010, now clauses 30 to 33 of IEEE
//! 802.1Q): the congestion point. Each data queue of a port samples arriving frames, one frame per
//! interval counted in bytes. If the queue is longer than its set point, or growing, a congestion
//! notification message (CNM) with six bits of feedback goes to the source of the sampled frame,
//! whose reaction point ([`congestion::qcn`](crate::host::congestion::qcn)) lowers the rate of the
//! flow.
//!
//! With q the bytes in the queue, including the frame that just joined but not the one on the wire,
//! and `q_old` those at the last sample,
//!
//! ```text
//! Fb = (q_eq - q) - w (q - q_old), but not below -q_eq (2 w + 1)
//! feedback = floor(-Fb 63 / (q_eq (2 w + 1))) if Fb < 0, else 0
//! ```
//!
//! and a CNM is sent unless the feedback is 0. The feedback also determines the bytes until the
//! next sample: `sample_base` if it is small, down to an eighth of that if it is large
//! (`au-rong-qcn-serial-hai` pseudo-code, 2007).
//!
//! All switches and hosts form one congestion notification domain. QCN is a layer 2 mechanism: its
//! messages do not cross a router, so it is not applicable to networks that route between leaves.

#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::packet::length;
use floodway_model::random::Stream;
use floodway_model::{Body, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::Profile;
use crate::host::congestion::Needs;
use crate::metric::Tally;
use crate::switch::check::{CheckBeside, Facts};
use crate::switch::mechanism::{
    Action, Actions, Events, Fate, Joined, Mechanism, Site, Transit, View,
};

/// The source of the usual jitter.
pub const JITTER: &str = "the pseudo-code of QCN has 0.15";

/// Parameters of the congestion points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Q_eq: set point of the queue length, in bytes. Default 26000B (IEEE8021-CN-MIB,
    /// `ieee8021CnCpQueueSizeSetPoint`).
    pub q_eq: Bytes,
    /// w: weight of the queue growth since the last sample, 1/1024 to 1024. Default 2
    /// (`ieee8021CnCpFeedbackWeight`, an exponent of 2: 1).
    pub w: f64,
    /// Bytes between two samples while there is little or no congestion. Default 150000B
    /// (`ieee8021CnCpMinSampleBase`): one frame of 1500 bytes in a hundred.
    pub sample_base: Bytes,
    /// Jitter of the sampling interval: the maximum random deviation in either direction, as a
    /// fraction, 0 to below 1. Default 0.15 (the pseudo-code).
    pub jitter: f64,
    /// Octets of the sampled frame, after its addresses, that a message carries back, 0 to 64.
    /// Default 0 (`ieee8021CnCpMinHeaderOctets`).
    pub header_octets: u8,
    /// Data queues that are congestion points, counted from 0; empty means all. Default all.
    pub queues: Vec<u8>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            q_eq: Bytes(26_000),
            w: 2.0,
            sample_base: Bytes(150_000),
            jitter: 0.15,
            header_octets: 0,
            queues: Vec::new(),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "feedback is a part of it; the standard has 26000B";
        findings.positive("q_eq", self.q_eq, why);
        let why = "with zero every packet would be sampled; the standard has 150000B";
        findings.positive("sample_base", self.sample_base, why);
        findings.range("w", self.w, 1.0 / 1024.0..=1024.0, "the standard has 2");
        findings.range("jitter", self.jitter, 0.0..1.0, JITTER);
        let why = "so many octets of the packet a message has room for; the standard has 0";
        findings.range("header_octets", self.header_octets, 0..=64, why);
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queues("queues", &self.queues, findings);
        let reacts = |profile: &Profile| profile.congestion.needs() == Needs::Messages;
        if !facts.profiles.iter().any(reacts) {
            findings.warn(
                "",
                "switches send congestion notification messages, and no flow has a reaction point",
                "choose [host.congestion.qcn], or remove [switch.flow_control.qcn]",
            );
        }
    }

    fn threshold(&self) -> Option<(&'static str, Bytes, &'static str)> {
        Some(("q_eq", self.q_eq, "queues are full before sources are notified much"))
    }
}

/// The largest feedback: six bits.
pub const MOST: u8 = 63;

/// Sampling interval as a fraction of [`Spec::sample_base`], in 300ths: 150, 75, 50, 37.5, 30, 25,
/// 21.5 and 18.5 KB of 150 KB, one for each eight feedback values.
const INTERVALS: [u16; 8] = [300, 150, 100, 75, 60, 50, 43, 37];

impl Spec {
    /// Whether this data queue is a congestion point.
    #[inline]
    pub fn covers(&self, queue: usize) -> bool {
        self.queues.is_empty() || self.queues.iter().any(|&number| usize::from(number) == queue)
    }

    /// The feedback for a queue of `q` bytes that had `old` bytes at the last sample, 0 to
    /// [`MOST`].
    pub fn feedback(&self, q: u64, old: u64) -> u8 {
        let (q, old, q_eq) = (q as f64, old as f64, self.q_eq.0 as f64);
        let most = q_eq * (2.0 * self.w + 1.0);
        let excess = (q - q_eq) + self.w * (q - old);
        // Rounds toward zero, within bounds.
        (excess.clamp(0.0, most) * f64::from(MOST) / most) as u8
    }

    /// Bytes from a sample with this feedback to the next one, without jitter.
    pub fn interval(&self, feedback: u8) -> f64 {
        self.sample_base.0 as f64 * f64::from(INTERVALS[usize::from(feedback >> 3)]) / 300.0
    }

    /// Length of the message about a frame of this many bytes.
    pub fn message_bytes(&self, bytes: u16) -> u16 {
        let copied = u16::from(self.header_octets).min(bytes - length::ETHERNET_OVERHEAD);
        (length::CNM + copied).max(length::SHORTEST_FRAME)
    }
}

/// State of a congestion point.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Bytes in the queue at the last sample.
    old: u64,
    /// Bytes until the next sample, which is due when this falls below 0.
    left: f64,
}

/// The congestion points of a switch.
#[derive(Debug)]
pub struct Qcn {
    spec: Spec,
    points: Vec<Point>,
    rng: Stream,
    /// Messages sent.
    sent: u64,
}

impl Qcn {
    /// Initial state of the congestion points of a switch, with empty queues.
    fn new(spec: &Spec, site: &Site<'_>) -> Self {
        let mut rng = Stream::named(site.seed, &format!("{}, congestion points", site.name));
        let mut point = || Point { old: 0, left: jittered(spec, spec.interval(0), &mut rng) };
        let points = (0..site.ports.len() * CLASSES).map(|_| point()).collect();
        Self { spec: spec.clone(), points, rng, sent: 0 }
    }

    /// A frame of this many bytes has joined the queue of `point`, which now has `q` bytes. Returns
    /// the message to its source, if any.
    fn sample(&mut self, point: usize, q: u64, bytes: u16) -> Option<Body> {
        let (spec, state) = (&self.spec, &mut self.points[point]);
        state.left -= f64::from(bytes);
        if state.left >= 0.0 {
            return None;
        }
        let feedback = spec.feedback(q, state.old);
        // In units of 64 octets, limited to 16 bits.
        let units = |bytes: i64| (bytes / 64).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let offset = units(spec.q_eq.0 as i64 - q as i64);
        let delta = units(q as i64 - state.old as i64);
        state.old = q;
        state.left = jittered(spec, spec.interval(feedback), &mut self.rng);
        (feedback > 0).then_some(Body::Cnm { feedback, offset, delta })
    }
}

impl Mechanism for Qcn {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        Some(Self::new(spec, site))
    }

    fn wants(&self) -> Events {
        Events::JOINED.and(Events::LONE).and(Events::TRANSIT)
    }

    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        let Joined { egress, queue, packet, .. } = *joined;
        if !self.spec.covers(queue) {
            return;
        }
        let q = view.ports[egress].queues[queue].congestion();
        let message = self.sample(egress * CLASSES + queue, q, packet.bytes);
        // TCP segments without data have no reaction point at their source.
        let Some(body) = message.filter(|_| packet.is_data()) else { return };
        let frame = view.to_source(packet, self.spec.message_bytes(packet.bytes), body);
        actions.push(Action::Send { frame, except: Some(egress) });
    }

    fn on_transit(&mut self, transit: &Transit<'_>, _: &View<'_>, _: &mut Actions) -> Fate {
        let begins = transit.own && matches!(transit.frame.body, Body::Cnm { .. });
        self.sent += u64::from(begins);
        Fate::Forward
    }

    fn count(&self, tally: &mut Tally) {
        tally.cnms_sent += self.sent;
    }
}

/// A number of bytes with random jitter.
fn jittered(spec: &Spec, bytes: f64, rng: &mut Stream) -> f64 {
    bytes * (1.0 + spec.jitter * (2.0 * rng.unit() - 1.0))
}
