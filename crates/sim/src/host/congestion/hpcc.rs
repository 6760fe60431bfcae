//! HPCC (Li et al., SIGCOMM 2019, algorithm 1): every switch on the path writes its transmitted
//! bytes, queue length and a timestamp into the packet, and the sender sets its window so that the
//! most utilized link carries slightly less than its capacity.
//!
//! It has the form of the authors' simulator: a rate R, and from it the window R T, where T is the
//! round-trip time without queueing; the paper's window W is R T.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{FollowingWindow, RoundTrip, between};
use super::check::{self, Around, Network};
use super::{Answer, Control, Needs, Path};
use crate::telemetry::Hop;

/// Parameters of HPCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Target utilization of the most utilized link (eta), above 0 and at most 1. Default 0.95
    /// (paper, section 5.1).
    pub eta: f64,
    /// Number of consecutive round trips in which the rate only grows by `additive_increase`, before
    /// it is set from the utilization again (which always happens above `eta`); with 0 it is always
    /// set from the utilization. Default 5 (paper, section 5.1; `MI_THRESH` of the authors' simulator,
    /// whose script has 0).
    pub max_stage: u32,
    /// Additive increase of the rate, which makes flows converge to equal shares. Over one round
    /// trip it is W_AI of the paper, which should be at most 1 - eta of the link divided by the
    /// number of flows. Default 40Mbps (authors' script: 10 Mb/s for every 25 Gb/s, at 100 Gb/s).
    pub additive_increase: Rate,
    /// Minimum rate of a flow. Default 100Mbps (authors' simulator; its script has 1 Gb/s).
    pub min_rate: Rate,
    /// T, the round-trip time without queueing, the same for all flows. Default: that of a full
    /// packet and its acknowledgement between the hosts farthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// Whether every acknowledgement changes the rate, relative to a reference that is updated once
    /// per round trip; if false, only the acknowledgement that ends a round trip does. Default true
    /// (paper, section 3.2).
    pub fast_react: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            eta: 0.95,
            max_stage: 5,
            additive_increase: Rate::from_mbps(40),
            min_rate: Rate::from_mbps(100),
            base_rtt: None,
            fast_react: true,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("eta", self.eta, "the paper has 0.95");
        if self.additive_increase == Rate(0) {
            findings.warn(
                "additive_increase",
                "without additive increase all rates change by the same factor",
                "flows of unequal rates would never come to equal shares: write for example \"40Mbps\"",
            );
        }
        findings.positive("base_rtt", self.base_rtt, "remove it for that of the network");
        findings.positive("min_rate", self.min_rate, check::LOWEST);
    }
}

/// State of one flow, which starts at line rate.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire: of the NIC, R, and its reference R_C.
    line_rate: f64,
    current: f64,
    reference: f64,
    window: FollowingWindow,
    /// U: ratio of the data in flight on the most utilized link to what it carries in T, smoothed
    /// over T.
    utilization: f64,
    /// Number of consecutive round trips with additive increase.
    stage: u32,
    round: RoundTrip,
    /// L: the latest telemetry of the links.
    links: Vec<Hop>,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        Self {
            line_rate,
            current: line_rate,
            reference: line_rate,
            window: FollowingWindow::new(spec.base_rtt.unwrap_or(path.base_rtt), path),
            utilization: 1.0,
            stage: 0,
            round: RoundTrip::default(),
            links: Vec::with_capacity(path.hops.into()),
        }
    }

    /// MeasureInflight of algorithm 1. Returns whether there was previous telemetry to compare
    /// with. There is none at the first acknowledgement, or if packets have changed path or been
    /// reordered.
    fn measure(&mut self, hops: &[Hop]) -> bool {
        if hops.is_empty() || hops.len() != self.links.len() {
            return false;
        }
        let base = self.window.length().as_secs();
        let (mut busiest, mut time) = (0.0, 0.0);
        for (new, old) in hops.iter().zip(&self.links) {
            let Some((bytes, tau)) = between(old, new) else { return false };
            let rate = new.rate.0 as f64;
            let sent = bytes as f64 * 8.0 / tau;
            let waiting = new.backlog.min(old.backlog) as f64 * 8.0;
            let utilization = sent / rate + waiting / (rate * base);
            if utilization > busiest {
                (busiest, time) = (utilization, tau);
            }
        }
        let weight = (time / base).min(1.0);
        self.utilization += weight * (busiest - self.utilization);
        true
    }

    /// ComputeWind of algorithm 1, as a rate; with `commits` it becomes the reference.
    fn set_rate(&mut self, spec: &Spec, commits: bool) {
        let increase = spec.additive_increase.0 as f64;
        let excess = self.utilization / spec.eta;
        let (rate, stage) = if excess >= 1.0 || self.stage >= spec.max_stage {
            (self.reference / excess + increase, 0)
        } else {
            (self.reference + increase, self.stage + 1)
        };
        self.current = rate.max(spec.min_rate.0 as f64).min(self.line_rate);
        if commits {
            (self.reference, self.stage) = (self.current, stage);
        }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn needs_telemetry(_: &Spec) -> bool {
        true
    }

    fn initial_window(spec: &Spec, base_rtt: Duration) -> Option<Duration> {
        Some(spec.base_rtt.unwrap_or(base_rtt))
    }

    #[inline]
    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        (self.current < self.line_rate).then_some(self.current)
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(self.window.at(self.current))
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        let commits = self.round.ends(answer);
        if !commits && !spec.fast_react {
            return;
        }
        if self.measure(answer.hops) {
            self.set_rate(spec, commits);
        }
        self.links.clear();
        self.links.extend_from_slice(answer.hops);
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        around.check_telemetry(findings);
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "100Mbps", findings);
        network.check_hops(findings);
        let base_rtt = network.check_base_rtt(spec.base_rtt, findings);
        network.check_every_packet(spec.min_rate, base_rtt, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;

    const LINE: f64 = 100e9;

    /// 10 us at 100 Gb/s are 125 packets of 1000 bytes.
    fn path() -> Path {
        let base_rtt = Duration::from_us(10);
        Path { payload: 1_000, base_rtt, hops: 1, ..Path::at(Rate::from_gbps(100)) }
    }

    fn hop(gbps: u64, us: u64, tx_bytes: u64, backlog: u64) -> Hop {
        Hop { rate: Rate::from_gbps(gbps), tx_bytes, backlog, at: Instant(us * 1_000_000) }
    }

    fn hear(flow: &mut State, spec: &Spec, (ack, sent): (u32, u32), hops: &[Hop]) -> f64 {
        flow.on_answer(spec, &Answer { hops, ..answer(0, ack, sent) });
        flow.current
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    #[test]
    fn one_update_on_paper() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(125_000));
        // The first acknowledgement only provides the counter values.
        assert_eq!(hear(&mut flow, &spec, (1, 100), &[hop(100, 20, 1_000_000, 50_000)]), LINE);
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        // 4 us later 50,000 bytes more, all that the link can carry; the queue had 50,000 and has
        // 25,000. u = 1 + 25,000 B / 125,000 B = 1.2, with weight 4/10 added to the previous 1: U =
        // 1.08. R = 100 Gb/s / (1.08 / 0.95) + 40 Mb/s.
        let rate = hear(&mut flow, &spec, (2, 110), &[hop(100, 24, 1_050_000, 25_000)]);
        let expected = 100e9 * 0.95 / 1.08 + 40e6;
        assert!(near(flow.utilization, 1.08) && near(rate, expected), "{rate}");
        // At 88 Gb/s the window is 110.005 packets, rounded up.
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(111_000));
        // The reference is still the line rate: nothing sent since the first acknowledgement has
        // arrived.
        assert_eq!(flow.reference, LINE);
        // After an idle time of 30 us, three times T, only the new sample counts, and U is 0.02.
        // Below eta the rate grows by 40 Mb/s, but not above line rate.
        let rate = hear(&mut flow, &spec, (101, 200), &[hop(100, 54, 1_057_500, 0)]);
        assert!(near(flow.utilization, 0.02) && rate == LINE);
        assert_eq!((flow.reference, flow.stage), (LINE, 1));
    }

    #[test]
    fn the_busiest_link_counts() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        hear(&mut flow, &spec, (1, 100), &[hop(100, 0, 0, 0), hop(40, 1, 0, 9_000)]);
        // After 10 us: 62,500 of 125,000 bytes, and 50,000 of 50,000 and a queue of 5,000: 0.5, 1.1.
        let hops = [hop(100, 10, 62_500, 40_000), hop(40, 11, 50_000, 5_000)];
        let rate = hear(&mut flow, &spec, (2, 100), &hops);
        assert!(near(flow.utilization, 1.1));
        assert!(near(rate, 100e9 * 0.95 / 1.1 + 40e6));
    }

    #[test]
    fn every_answer_starts_from_the_reference_of_the_round_trip() {
        let spec = Spec { additive_increase: Rate(0), ..Spec::default() };
        let mut flow = State::new(&spec, &path());
        hear(&mut flow, &spec, (1, 100), &[hop(100, 0, 0, 0)]);
        // The link is full from then on, without a queue: U stays 1, and R is 95 Gb/s after any
        // number of acknowledgements.
        for n in 1..=99 {
            let rate = hear(
                &mut flow,
                &spec,
                (1 + n, 150),
                &[hop(100, n.into(), 12_500 * u64::from(n), 0)],
            );
            assert!(near(rate, 95e9), "{rate}");
        }
        // Packet 100 was sent after the first acknowledgement. The rate becomes the reference now,
        // and is reduced again in the next round trip if the link is still full.
        let rate = hear(&mut flow, &spec, (101, 200), &[hop(100, 100, 1_250_000, 0)]);
        assert!(near(rate, 95e9) && near(flow.reference, 95e9));
        let rate = hear(&mut flow, &spec, (102, 200), &[hop(100, 101, 1_262_500, 0)]);
        assert!(near(rate, 0.95 * 95e9));
        // Without fast reaction only the acknowledgement that ends a round trip has an effect.
        let spec = Spec { fast_react: false, ..spec };
        let mut flow = State::new(&spec, &path());
        hear(&mut flow, &spec, (1, 100), &[hop(100, 0, 0, 0)]);
        assert_eq!(hear(&mut flow, &spec, (2, 150), &[hop(100, 9, 112_500, 0)]), LINE);
        assert!(near(hear(&mut flow, &spec, (101, 150), &[hop(100, 10, 125_000, 0)]), 95e9));
    }

    #[test]
    fn after_max_stage_round_trips_the_rate_is_set_by_the_utilization() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        flow.reference = 10e9;
        hear(&mut flow, &spec, (1, 1), &[hop(100, 0, 0, 0)]);
        // The link is half full, in every round trip of 10 us.
        let mut rates = Vec::new();
        for n in 1..=7 {
            let hops = [hop(100, 10 * u64::from(n), 62_500 * u64::from(n), 0)];
            rates.push(hear(&mut flow, &spec, (1 + n, 1 + n), &hops));
        }
        for (n, rate) in rates[..5].iter().enumerate() {
            assert!(near(*rate, 10e9 + 40e6 * (n + 1) as f64));
        }
        assert!(near(rates[5], 10.2e9 * 0.95 / 0.5 + 40e6));
        assert!(near(rates[6], rates[5] + 40e6));
    }

    #[test]
    fn another_way_is_measured_anew() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        let full = |us: u64| hop(100, us, 12_500 * us, 100_000);
        hear(&mut flow, &spec, (1, 100), &[full(0)]);
        for hops in [
            &[full(1), full(1)][..],              // one hop more
            &[hop(40, 2, 0, 9_000), full(2)],     // another link
            &[hop(40, 3, 9_000, 9_000), full(3)], // more than a link of 40 Gb/s sends in 1 us
            &[hop(40, 2, 9_000, 9_000), full(2)], // out of order
            &[],                                  // no telemetry
            &[full(9)],
        ] {
            assert_eq!(hear(&mut flow, &spec, (2, 100), hops), LINE, "{hops:?}");
        }
        assert!(hear(&mut flow, &spec, (2, 100), &[full(10)]) < LINE);
    }

    #[test]
    fn never_below_the_minimum() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        for n in 0..100 {
            let hops = [hop(100, 10 * u64::from(n), 125_000 * u64::from(n), 10_000_000)];
            hear(&mut flow, &spec, (1 + n, 1 + n), &hops);
        }
        // U is 81, so R would be slightly above 40 Mb/s; the minimum is 100 Mb/s.
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(100e6));
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(1_000));
    }

    /// Flows of unequal rates through one link, in steps of T: what they send in a step is either
    /// carried by the link or queued.
    fn share(spec: &Spec, rates: &[f64], steps: u32) -> (Vec<f64>, f64, f64) {
        let mut flows: Vec<State> = rates.iter().map(|_| State::new(spec, &path())).collect();
        for (flow, rate) in flows.iter_mut().zip(rates) {
            (flow.reference, flow.current) = (*rate, *rate);
        }
        let (mut sent, mut queue, mut carried) = (0.0, 0.0, 0.0);
        for n in 0..steps {
            let hops = [hop(100, 10 * u64::from(n), sent as u64, queue as u64)];
            for flow in &mut flows {
                hear(flow, spec, (1 + n, 1 + n), &hops);
            }
            let offered: f64 = flows.iter().map(|flow| flow.current * 10e-6 / 8.0).sum();
            carried = (queue + offered).min(125_000.0);
            queue += offered - carried;
            sent += carried;
        }
        (flows.iter().map(|flow| flow.current).collect(), queue, carried / 125_000.0)
    }

    #[test]
    fn flows_come_to_equal_shares_of_eta_without_a_queue() {
        // Every round trip multiplies all rates by eta / U and adds 40 Mb/s to each. In equilibrium
        // N R = U B and R = R eta / U + a: U = eta + a N / B, 0.9508 for two flows.
        let spec = Spec { max_stage: 0, ..Spec::default() };
        let (rates, queue, carried) = share(&spec, &[90e9, 30e9], 20_000);
        assert!((carried - 0.9508).abs() < 1e-4, "{carried}");
        assert!(rates.iter().all(|rate| (rate / 47.54e9 - 1.0).abs() < 1e-3), "{rates:?}");
        assert_eq!(queue, 0.0);
        // The difference shrinks by eta / U, 0.99916, in a round trip: from 60 Gb/s to below 5 in
        // 3000, and correspondingly more with additive round trips in between.
        let (rates, queue, _) = share(&spec, &[90e9, 30e9], 3_000);
        assert!((1e9..6e9).contains(&(rates[0] - rates[1])), "{rates:?}");
        assert_eq!(queue, 0.0);
        let (rates, queue, carried) = share(&Spec::default(), &[90e9, 30e9], 40_000);
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.01, "{rates:?}");
        // Five steps of 80 Mb/s on 100 Gb/s are 0.4 %.
        assert!((0.95..0.956).contains(&carried), "{carried}");
        assert_eq!(queue, 0.0);
    }
}
