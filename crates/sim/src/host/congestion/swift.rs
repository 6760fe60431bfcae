//! Swift (Kumar et al., SIGCOMM 2020): the window grows by a packet per round trip while the
//! round-trip time is below a target, and shrinks according to the excess otherwise, at most once per
//! round trip (algorithm 1). The target is longer for longer paths and for smaller windows (section
//! 3.5). A window may be a fraction of a packet: packets are then sent individually, with a pause in
//! between.
//!
//! The paper has a second window for the time that packets spend in the receiving host. Hosts in this
//! model take no time to process packets, so that window would never be the smaller one, and the whole
//! round-trip time is that of the network.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Network;
use super::fractional::{self, Fractional, Limits};
use super::{Answer, Control, Needs, Path};

/// Parameters of Swift. The paper gives few numbers; the simulator csg-htsim has a full set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Target delay for a path without switches and a large window. Default 20us (csg-htsim).
    pub base_target: Duration,
    /// Increase of the target per switch on the path. Default 3050ns (csg-htsim: `base_target` over
    /// 6.55, read off figure 17).
    pub hop: Duration,
    /// Flow scaling: maximum increase of the target for small windows, reached at `fs_min_cwnd`.
    /// Default 100us (csg-htsim: five times `base_target`).
    pub fs_range: Duration,
    /// Window in packets at or below which all of `fs_range` is added. Default 0.1 (csg-htsim).
    pub fs_min_cwnd: f64,
    /// Window in packets from which on nothing is added. Default 100 (csg-htsim).
    pub fs_max_cwnd: f64,
    /// Additive increase: growth of the window per round trip below the target, in packets. Default
    /// 1 (csg-htsim).
    pub ai: f64,
    /// Multiplicative decrease: relative reduction of the window, multiplied by the fraction of the
    /// round-trip time that is above the target. Default 0.8 (csg-htsim).
    pub beta: f64,
    /// Maximum relative reduction of the window, also applied after a loss, 0 to 1. Default 0.5
    /// (csg-htsim).
    pub max_mdf: f64,
    /// Minimum window in packets, above 0 and at most 1. Default 0.001 (paper, section 3.3: one packet
    /// in a thousand round trips).
    pub min_cwnd: f64,
    /// Maximum window in packets. Default 1000 (csg-htsim).
    pub max_cwnd: f64,
    /// Initial window in packets. Default: the number that fills the path between the hosts farthest
    /// apart at line rate, without queueing (assumed: the paper does not say).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<f64>,
    /// Number of consecutive retransmission timeouts from which on the window is set to the
    /// minimum. Default 5 (csg-htsim).
    pub retx_reset_threshold: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            base_target: Duration::from_us(20),
            hop: Duration::from_ns(3_050),
            fs_range: Duration::from_us(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            ai: 1.0,
            beta: 0.8,
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
        findings.positive("base_target", self.base_target, "");
        findings.latency("base_target", self.base_target);
        findings.latency("hop", self.hop);
        findings.latency("fs_range", self.fs_range);
        findings.positive("fs_min_cwnd", self.fs_min_cwnd, "usual is 0.1 packets");
        findings.positive("fs_max_cwnd", self.fs_max_cwnd, "usual is 100 packets");
        findings.below(
            ("fs_min_cwnd", self.fs_min_cwnd),
            ("fs_max_cwnd", self.fs_max_cwnd),
            "lower the first or raise the second: usual are 0.1 and 100 packets",
        );
        findings.positive("ai", self.ai, "with 0 the window would never grow; usual is 1 packet");
        findings.between_0_and_1("beta", self.beta, "usual is 0.8");
        findings.between_0_and_1("max_mdf", self.max_mdf, "usual is 0.5");
        findings.weight("min_cwnd", self.min_cwnd, "the paper has 0.001 packets");
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

    /// Increase of the target for a window of `cwnd` packets, in picoseconds: alpha / √cwnd + beta
    /// within bounds, with alpha and beta chosen so that it is `fs_range` at `fs_min_cwnd` and 0 at
    /// `fs_max_cwnd`.
    fn flow_scaling(&self, cwnd: f64) -> f64 {
        let inverse = |cwnd: f64| 1.0 / cwnd.sqrt();
        let (most, least) = (inverse(self.fs_min_cwnd), inverse(self.fs_max_cwnd));
        let range = self.fs_range.0 as f64;
        (range * (inverse(cwnd) - least) / (most - least)).clamp(0.0, range)
    }

    /// Target in picoseconds for a path over `hops` switches and a window of `cwnd` packets.
    pub fn target(&self, hops: u8, cwnd: f64) -> f64 {
        (self.base_target + self.hop * u64::from(hops)).0 as f64 + self.flow_scaling(cwnd)
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    window: Fractional,
    hops: u8,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let window = Fractional::new(spec.initial_cwnd, &spec.limits(), path);
        Self { window, hops: path.hops }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
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
        if let Some(rtt) = answer.rtt {
            window.rtt = rtt;
            let (delay, target) = (rtt.0 as f64, spec.target(self.hops, window.cwnd));
            if delay < target {
                let acked = f64::from(answer.acked);
                let grown = window.cwnd + spec.ai * acked / window.cwnd.max(1.0);
                window.cwnd = grown.min(spec.max_cwnd);
            } else {
                let factor = 1.0 - spec.beta * (delay - target) / delay;
                window.decrease(factor.max(1.0 - spec.max_mdf), &spec.limits(), answer.now);
            }
        } else if answer.nak {
            window.on_loss(&spec.limits(), answer.now);
        }
    }

    fn on_retransmit_timeout(&mut self, spec: &Spec, now: Instant) {
        self.window.on_timeout(&spec.limits(), now);
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        fractional::check_single_packets(network, findings);
        let (graph, round_trip) = (network.graph, network.round_trip);
        // Number of switches between the first host and the one farthest from it.
        let links = graph.hosts().next().and_then(|first| {
            let distances = graph.distances(first);
            graph.hosts().filter_map(|host| distances[host.index()]).max()
        });
        let target = spec.base_target + spec.hop * u64::from(links.unwrap_or(0).saturating_sub(1));
        if target <= round_trip {
            findings.warn(
                ["base_target", ""],
                format!(
                    "the round trip of an empty network takes {round_trip}, and the target of a \
                     large window is {target}"
                ),
                "an empty network looks congested: raise `base_target` or `hop` above that",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;
    use floodway_model::Rate;

    const US: f64 = 1e6;

    /// Flow scaling is 10 us / √cwnd - 1 us: 1/√0.01 - 1/√100 = 9.9.
    fn spec() -> Spec {
        Spec {
            hop: Duration::from_us(2),
            fs_range: Duration::from_us(99),
            fs_min_cwnd: 0.01,
            ..Spec::default()
        }
    }

    /// Three switches, 1000 bytes of payload in 1250 on the wire.
    fn flow(cwnd: f64) -> State {
        let path = Path { payload: 1_000, wire: 1_250, ..Path::at(Rate::from_gbps(100)) };
        let mut flow = State::new(&spec(), &path);
        flow.window.cwnd = cwnd;
        flow
    }

    /// An acknowledgement at this time with this round-trip time, both in microseconds.
    fn ack(flow: &mut State, at: u64, rtt: u64) -> f64 {
        let answer = Answer { rtt: Some(Duration::from_us(rtt)), ..answer(at, 1, 2) };
        flow.on_answer(&spec(), &answer);
        flow.window.cwnd
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn the_target_on_paper() {
        let spec = spec();
        for (cwnd, us) in [
            (100.0, 0.0),
            (400.0, 0.0),
            (25.0, 1.0),
            (4.0, 4.0),
            (1.0, 9.0),
            (0.25, 19.0),
            (0.01, 99.0),
        ] {
            assert!(near(spec.target(0, cwnd), (20.0 + us) * US), "{cwnd}");
            assert!(near(spec.target(5, cwnd), (30.0 + us) * US), "{cwnd}");
        }
        assert!(near(spec.target(0, 0.001), 119.0 * US));
        // The defaults of csg-htsim: 100 us / (√10 - 1/10) = 32.6555 us, minus a tenth of that.
        let own = Spec::default();
        assert!((own.target(0, 1.0) - (20.0 + 32.6555 - 3.26555) * US).abs() < 100.0);
    }

    #[test]
    fn it_begins_with_what_fills_the_way() {
        let path = Path { wire: 1_250, ..Path::at(Rate::from_gbps(100)) };
        // 100 KB in 8 us.
        assert_eq!(State::new(&spec(), &path).window.cwnd, 80.0);
        let path = Path { base_rtt: Duration(8_000_001), ..path };
        assert_eq!(State::new(&spec(), &path).window.cwnd, 81.0);
        let some = Spec { initial_cwnd: Some(12.0), ..spec() };
        assert_eq!(State::new(&some, &path).window.cwnd, 12.0);
        assert_eq!(State::new(&Spec { max_cwnd: 10.0, ..some }, &path).window.cwnd, 10.0);
    }

    #[test]
    fn increase_on_paper() {
        // Below 26 + 4 us with a window of 4: growth by a quarter of a packet per acknowledgement.
        let mut few = flow(4.0);
        assert!(near(ack(&mut few, 100, 29), 4.25));
        assert!(near(ack(&mut few, 101, 29), 4.25 + 1.0 / 4.25));
        // With a window below one packet: growth by one per acknowledgement. Three at once are
        // three.
        assert!(near(ack(&mut flow(0.25), 100, 44), 1.25));
        let mut three = flow(10.0);
        let rtt = Some(Duration::from_us(20));
        three.on_answer(&spec(), &Answer { rtt, acked: 3, ..answer(1, 3, 9) });
        assert!(near(three.window.cwnd, 10.3));
        // Up to the maximum.
        let mut many = flow(999.9995);
        assert_eq!(ack(&mut many, 1, 9), 1_000.0);
    }

    #[test]
    fn decrease_on_paper_once_per_round_trip() {
        // The target is 26 + 1 us for 25 packets. 36 us: 1 - 0.8 · 9/36 = 0.8.
        let mut flow = flow(25.0);
        assert!(near(ack(&mut flow, 1_000, 36), 20.0));
        // Not again within that round-trip time, however large the excess.
        assert!(near(ack(&mut flow, 1_035, 36), 20.0));
        assert!(near(ack(&mut flow, 1_100, 900), 20.0));
        // At most half: 1 - 0.8 · (1 - 28/900) = 0.22.
        assert!(near(ack(&mut flow, 1_900, 900), 10.0));
        // At the target the window is neither reduced nor increased.
        let mut four = super::tests::flow(4.0);
        assert!(near(ack(&mut four, 1_000, 30), 4.0));
        // Growth is not limited to once per round trip.
        assert!(near(ack(&mut four, 1_001, 10), 4.25));
    }

    #[test]
    fn losses_on_paper() {
        let spec = spec();
        let nak = |at| Answer { nak: true, acked: 0, ..answer(at, 1, 2) };
        let mut flow = flow(16.0);
        ack(&mut flow, 10, 20);
        flow.window.cwnd = 16.0;
        flow.on_answer(&spec, &nak(100));
        flow.on_answer(&spec, &nak(119));
        assert_eq!(flow.window.cwnd, 8.0);
        flow.on_answer(&spec, &nak(120));
        assert_eq!(flow.window.cwnd, 4.0);
        // Timeouts: half each, and the minimum from the fifth consecutive one on.
        let windows = [1, 2, 3, 4, 5].map(|n| {
            flow.on_retransmit_timeout(&spec, Instant::ZERO + Duration::from_ms(n));
            flow.window.cwnd
        });
        assert_eq!(windows, [2.0, 1.0, 0.5, 0.25, 0.001]);
        // An acknowledgement resets the count.
        let mut other = super::tests::flow(16.0);
        for n in 1..20 {
            other.on_retransmit_timeout(&spec, Instant::ZERO + Duration::from_ms(n));
            ack(&mut other, n * 1_000, 500);
        }
        assert!(other.window.timeouts == 0 && other.window.cwnd >= 0.001);
    }

    #[test]
    fn parts_of_a_packet_are_paced() {
        let spec = spec();
        let mut flow = flow(4.99);
        flow.window.rtt = Duration::from_us(20);
        assert_eq!(
            (flow.rate(&spec, Instant::ZERO), flow.window(&spec, Instant::ZERO)),
            (None, Some(4_000))
        );
        flow.window.cwnd = 1.0;
        assert_eq!(
            (flow.rate(&spec, Instant::ZERO), flow.window(&spec, Instant::ZERO)),
            (None, Some(1_000))
        );
        // A quarter of a packet: one in 80 us, 10,000 bits on the wire: 125 Mb/s.
        flow.window.cwnd = 0.25;
        assert!(near(flow.rate(&spec, Instant::ZERO).unwrap(), 125e6));
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(1_000));
    }
}
