//! Poseidon (Wang et al., NSDI 2023): the window follows the largest delay in a switch of the path, the
//! maximum per-hop delay, instead of the sum of all. The target of this delay is longer for smaller rates,
//! so that all flows of a bottleneck, which see the same delay, have the same rate, and a flow reacts only
//! to the bottleneck at which its share is smallest: shares are max-min fair over several bottlenecks.
//!
//! The delay comes in a tag of fixed length ([`csig`]), not in an entry for each switch.
//!
//! With A = ln(max_rate) - ln(min_rate), the target of a rate r is T(r) = p (ln(max_rate) - ln(r)) / A + k,
//! and the window is multiplied by exp(m A (T(r) - d) / p) for a delay d: with m = 1 at once by what leads to
//! the rate whose target is d. N flows at a link of rate max_rate rest at a delay of k + p ln(N) / A.
//!
//! As with Swift, an increase is spread over the acknowledgements of a round trip, a decrease is made at
//! most once per round trip, and windows below one packet are paced. The rate is the window over the last
//! round-trip time. Equations and values are from knowledge of the paper, whose text was not at hand.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::fractional::{self, Fractional, Limits};
use super::{Answer, Control, Needs, Path};
use crate::csig;
use crate::host::transport;

/// Parameters of Poseidon. The paper's names; its values for 100 Gb/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Target of the largest delay in a switch for a flow at `max_rate`. Default 2us (paper).
    pub k: Duration,
    /// Increase of the target from `max_rate` down to `min_rate`, in proportion to the logarithm of the
    /// rate. Default 40us (paper).
    pub p: Duration,
    /// Step of an update, above 0 and at most 1, which would lead to the rate with the measured delay as
    /// its target within a round trip. Default 0.25 (paper).
    pub m: f64,
    /// Rate at and below which the target is `p` above `k`. Default 100Mbps (paper).
    pub min_rate: Rate,
    /// Rate at and above which the target is `k`; a flow does not become faster than that. All flows of a
    /// link should have the same. Default: rate of the sender's NIC (paper: 100 Gb/s, that of its NICs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<Rate>,
    /// Maximum relative reduction of the window, also applied after a loss, 0 to 1. Default 0.5
    /// (assumed: as for Swift).
    pub max_mdf: f64,
    /// Minimum window in packets, above 0 and at most 1. Default 0.001 (assumed: as for Swift).
    pub min_cwnd: f64,
    /// Maximum window in packets. Default 1000 (assumed: as for Swift).
    pub max_cwnd: f64,
    /// Initial window in packets. Default: the number that fills the path between the hosts farthest
    /// apart at line rate, without queueing (assumed: as for Swift).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<f64>,
    /// Number of consecutive retransmission timeouts from which on the window is set to the
    /// minimum. Default 5 (assumed: as for Swift).
    pub retx_reset_threshold: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            k: Duration::from_us(2),
            p: Duration::from_us(40),
            m: 0.25,
            min_rate: Rate::from_mbps(100),
            max_rate: None,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            max_cwnd: 1_000.0,
            initial_cwnd: None,
            retx_reset_threshold: 5,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("k", self.k, "the paper has 2us");
        findings.latency("k", self.k);
        findings.positive(
            "p",
            self.p,
            "with 0 the rate would make no difference; the paper has 40us",
        );
        findings.latency("p", self.p);
        findings.weight("m", self.m, "the paper has 0.25");
        findings.positive("min_rate", self.min_rate, "the paper has 100Mbps");
        if let Some(max_rate) = self.max_rate {
            findings.below(
                ("min_rate", self.min_rate),
                ("max_rate", max_rate),
                "lower the first or raise the second: the paper has 100Mbps and 100Gbps",
            );
        }
        findings.between_0_and_1("max_mdf", self.max_mdf, "usual is 0.5");
        findings.weight("min_cwnd", self.min_cwnd, "usual is 0.001 packets");
        findings.range("max_cwnd", self.max_cwnd, 1.0.., "usual is 1000 packets");
        let why = "remove it to begin with what fills the path";
        findings.positive("initial_cwnd", self.initial_cwnd, why);
        let why = "after so many timeouts in a row the window is the least; usual is 5";
        findings.range("retx_reset_threshold", self.retx_reset_threshold, 1.., why);
    }
}

impl Spec {
    const fn limits(&self) -> Limits {
        let Self { min_cwnd, max_cwnd, max_mdf, retx_reset_threshold, .. } = *self;
        Limits { min_cwnd, max_cwnd, max_mdf, retx_reset_threshold }
    }

    /// A: the range of rates between `min_rate` and this one, as a logarithm.
    fn range(&self, max_rate: f64) -> f64 {
        libm::log(max_rate / self.min_rate.0 as f64)
    }

    /// T: target in picoseconds at this rate in bit/s, of a flow with this maximum.
    pub fn target(&self, rate: f64, max_rate: f64) -> f64 {
        let rate = rate.clamp(self.min_rate.0 as f64, max_rate);
        self.p.0 as f64 * libm::log(max_rate / rate) / self.range(max_rate) + self.k.0 as f64
    }

    /// U: the factor for a delay in picoseconds at this rate.
    fn factor(&self, rate: f64, max_rate: f64, delay: f64) -> f64 {
        let steps = (self.target(rate, max_rate) - delay) / self.p.0 as f64;
        libm::exp(steps * self.range(max_rate) * self.m)
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    window: Fractional,
    /// In bit/s on the wire.
    max_rate: f64,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let window = Fractional::new(spec.initial_cwnd, &spec.limits(), path);
        // A NIC that is slower than `min_rate` has one target.
        let max_rate = spec.max_rate.unwrap_or(path.line_rate).0.max(spec.min_rate.0 + 1);
        Self { window, max_rate: max_rate as f64 }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn needs_tag(_: &Spec) -> bool {
        true
    }

    #[inline]
    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        self.window.rate()
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(self.window.bytes())
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        let window = &mut self.window;
        window.timeouts = 0;
        if let (Some(rtt), Some(tag)) = (answer.rtt, answer.tag) {
            window.rtt = rtt;
            let rate = window.mean_rate();
            let factor = spec.factor(rate, self.max_rate, tag.delay().0 as f64);
            if factor < 1.0 {
                window.decrease(factor.max(1.0 - spec.max_mdf), &spec.limits(), answer.now);
            } else {
                // One packet more, because parts of a packet are not sent.
                let most = (window.cwnd * self.max_rate / rate + 1.0).min(spec.max_cwnd);
                let acked = f64::from(answer.acked).min(window.cwnd);
                let grown = window.cwnd + (factor - 1.0) * acked;
                window.cwnd = grown.min(most.max(window.cwnd));
            }
        } else if answer.nak {
            window.on_loss(&spec.limits(), answer.now);
        }
    }

    fn on_retransmit_timeout(&mut self, spec: &Spec, now: Instant) {
        self.window.on_timeout(&spec.limits(), now);
    }

    fn check_signals(spec: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        let transport::Spec::Rocev2(transport) = around.transport else { return };
        let (default, table) = (csig::Spec::default(), around.of_transport("csig"));
        let tag = transport.csig.as_ref().unwrap_or(&default);
        let (unit, longest, target) = (tag.unit(), tag.longest(), spec.p + spec.k);
        if longest < target {
            findings.warn(
                [&format!("{table}.unit"), &table, "p", ""],
                format!(
                    "the tag of CSIG distinguishes delays up to {longest}, and the target of a flow \
                     at `min_rate` is {target}"
                ),
                "flows with a longer target never see more than that: raise `unit`, or choose \
                 format = \"wide\"",
            );
        }
        if unit > spec.k {
            findings.warn(
                [&format!("{table}.unit"), &table, "k", ""],
                format!("the tag of CSIG has units of {unit}, and `k` is {}", spec.k),
                "delays of less than a unit look like none, and the fastest flows wait for a unit \
                 instead of `k`: lower `unit`, or choose format = \"wide\"",
            );
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        fractional::check_single_packets(network, findings);
        let (slowest, fastest) = (network.slowest_host(), network.fastest_host());
        if spec.max_rate.is_none() && slowest < fastest {
            findings.warn(
                ["max_rate", ""],
                format!("hosts have rates from {slowest} to {fastest}, and so have their targets"),
                format!(
                    "flows of slower hosts would get less than their share: write max_rate = \
                     \"{fastest}\""
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;
    use crate::csig::Format;
    use floodway_model::{NodeId, PortIx};

    const US: f64 = 1e6;

    /// The range of rates is e^4, and 40 us are 10 us for a factor e.
    fn spec() -> Spec {
        let e4 = libm::exp(4.0);
        Spec { min_rate: Rate((100e9 / e4) as u64), ..Spec::default() }
    }

    /// 1250 bytes on the wire; a window of w packets in a round trip of w/10 us are 100 Gb/s.
    fn flow(cwnd: f64) -> State {
        let path = Path { payload: 1_000, wire: 1_250, ..Path::at(Rate::from_gbps(100)) };
        let mut flow = State::new(&spec(), &path);
        flow.window.cwnd = cwnd;
        flow
    }

    /// An acknowledgement at this time with this round-trip time and largest delay, in microseconds.
    fn ack(flow: &mut State, at: u64, rtt: f64, delay: u64) -> f64 {
        let mut tag = csig::Spec { format: Format::Wide, unit: None }.tag();
        tag.pass((NodeId(9), PortIx(0)), Duration::from_us(delay));
        let rtt = Some(Duration((rtt * US) as u64));
        flow.on_answer(&spec(), &Answer { rtt, tag: Some(tag), ..answer(at, 1, 2) });
        flow.window.cwnd
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs().max(1.0)
    }

    #[test]
    fn the_target_on_paper() {
        let e = libm::exp(1.0);
        let targets = [(100e9, 2.0), (200e9, 2.0), (100e9 / e, 12.0), (100e9 / e / e, 22.0)];
        for (rate, us) in [&targets[..], &[(1e3, 42.0)]].concat() {
            assert!(near(spec().target(rate, 100e9), us * US), "{rate}");
        }
        // The paper's: two flows of 50 Gb/s, 2 us + 40 us ln 2 / ln 1000.
        let half = Spec::default().target(50e9, 100e9);
        assert!(near(half, (2.0 + 40.0 * std::f64::consts::LN_2 / 6.907_755_28) * US), "{half}");
    }

    #[test]
    fn updates_on_paper() {
        // 100 packets in 10 us are 100 Gb/s, whose target is 2 us. 10 us above it the factor is
        // exp(-0.25 · 10/10).
        let mut full = flow(100.0);
        assert!(near(ack(&mut full, 1_000, 10.0, 12), 100.0 * 0.778_800_78));
        // Not again in that round trip.
        assert!(near(ack(&mut full, 1_009, 10.0, 12), 77.880_078));
        // At most half: 40 us above the target it would be 1/e.
        assert!(near(ack(&mut flow(100.0), 1_000, 10.0, 42), 50.0));
        // 40 packets in 4 e us have a target of 12 us. Without a queue, every acknowledgement adds
        // exp(0.25 · 12/10) - 1.
        let e = libm::exp(1.0);
        assert!(near(ack(&mut flow(40.0), 1_000, 4.0 * e, 0), 40.0 + 0.349_858_8));
        // At the target nothing changes.
        assert!((ack(&mut flow(40.0), 1_000, 4.0 * e, 12) - 40.0).abs() < 1e-4);
    }

    #[test]
    fn a_flow_does_not_become_faster_than_the_maximum() {
        // 99.9 packets in 10 us are 99.9 Gb/s, 101 are a packet more than 100.
        let mut flow = flow(99.9);
        for n in 0..100 {
            ack(&mut flow, 1_000 + n, 10.0, 0);
        }
        assert!(near(flow.window.cwnd, 101.0), "{}", flow.window.cwnd);
    }

    #[test]
    fn a_fraction_of_a_packet_grows_by_its_factor() {
        // A tenth of a packet in 10 us: 100 Mb/s, below the least rate: 42 us. exp(0.25 · 42/10).
        assert!(near(ack(&mut flow(0.1), 1_000, 10.0, 0), 0.1 * 2.857_651_1));
    }

    #[test]
    fn losses_halve_the_window() {
        let mut flow = flow(16.0);
        let nak = Answer { nak: true, acked: 0, ..answer(100, 1, 2) };
        flow.on_answer(&spec(), &nak);
        assert_eq!(flow.window.cwnd, 8.0);
        flow.on_retransmit_timeout(&spec(), Instant(200_000_000));
        assert_eq!(flow.window.cwnd, 4.0);
    }

    /// Flows of unequal rates through one link, all with the same delay: the law alone makes them equal,
    /// and the delay is that of the closed form.
    #[test]
    fn shares_become_equal_at_the_delay_of_the_closed_form() {
        let spec = Spec::default();
        let mut rates = [60e9, 25e9, 10e9, 5e9];
        let mut queue = 0.0_f64; // in picoseconds
        for _ in 0..2_000 {
            let sum: f64 = rates.iter().sum();
            queue = (queue + (sum / 100e9 - 1.0) * 10.0 * US).max(0.0);
            for rate in &mut rates {
                *rate *= spec.factor(*rate, 100e9, queue);
            }
        }
        // 2 us + 40 us ln 4 / ln 1000.
        assert!((queue / US - 10.027_2).abs() < 1e-3, "{queue}");
        assert!(rates.iter().all(|rate| (rate / 25e9 - 1.0).abs() < 1e-6), "{rates:?}");
    }
}
