//! PowerTCP (Addanki, Michel and Schmid, NSDI 2022). The window is divided by the power of the most loaded
//! link: its arrival rate (current) times its data in flight and in the queue (voltage). It therefore reacts
//! to a queue and to its growth at the same time. Algorithm 1 computes power from the telemetry of every
//! switch on the path, algorithm 2 (theta-PowerTCP) from round-trip times alone.
//!
//! The window is stored as a rate R, as in HPCC: cwnd is R tau, where tau is the round-trip time without
//! queueing, and beta is HostBw tau / N. All are bytes on the wire, as are the counters of switches. The data
//! in flight is cwnd bytes, rounded up to whole packets.
//!
//! In equilibrium a window is cwnd / power + beta, and power is 1 + q / (b tau). All flows of a link together
//! have b tau + q in flight, so the queue q is the sum of their betas (theorem 1).
//!
//! `cwnd_old` is updated once per round trip, as in the authors' simulator and in the Linux module of their
//! group. It is the window at the beginning of the round trip in which the acknowledged packet was sent
//! (GetCwnd in the paper; the simulator and the module use the window at the beginning of the current round
//! trip).
//!
//! # Stability
//!
//! With telemetry, fast changes of the windows are not damped. Let all windows W = b tau + B be in
//! equilibrium, where the power is r = 1 + B / (b tau), and grow by a few bytes D at once. The link receives D
//! bytes beyond what it sends. For any time dt in which they arrive, they raise the smoothed power by (dt /
//! tau) * (D / (b dt)) * r = D r / (b tau), and a round trip later the windows change by -(W / r^2) * D r / (b
//! tau) = -D. Every round trip thus changes the sign of such a change but not its size; only gamma and slow
//! changes, which `cwnd_old` follows, reduce it. Windows are divided by power, and the mean of 1 / power
//! exceeds 1 / (mean power), so an oscillating queue is longer on average than the sum of the betas: up to 1.9
//! times as long for 2 to 8 flows with N = 10 or 20. With delay, a window changes once per round trip, and
//! there is no such cycle.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{RoundTrip, between};
use super::check::{self, Around, Network};
use super::{Answer, Control, Needs, Path};
use crate::telemetry::Hop;

/// Parameters of PowerTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Signal from which power is computed. Default `telemetry`.
    pub variant: Variant,
    /// Weight of a new window (gamma), above 0 and at most 1. Default 0.9 (paper; the authors'
    /// simulator has 0.7 with delay).
    pub gamma: f64,
    /// Expected number of flows that share the link of a host (N), at least 1. Every flow adds beta =
    /// line rate * `base_rtt` / N to its window, and in equilibrium the queue is the sum of the betas
    /// of the flows that share it: M flows are delayed by M/N of `base_rtt`. Default 100 (assumed: the
    /// paper leaves N to the operator. The authors' simulator adds 150 Mb/s, which is N = 167 for the
    /// 25 Gb/s hosts of the paper; the Linux module of their group has 10).
    pub flows: u32,
    /// Round-trip time without queueing (tau), the same for all flows. Default: that of a full packet
    /// and its acknowledgement between the hosts farthest apart (paper: the maximum in the network).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// Minimum rate of a flow. It has an effect only if the line rate divided by `flows` is below it.
    /// Default 100Mbps (assumed: that of HPCC, whose simulator the authors' simulator is based on).
    pub min_rate: Rate,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            gamma: 0.9,
            flows: 100,
            base_rtt: None,
            min_rate: Rate::from_mbps(100),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("gamma", self.gamma, "the paper has 0.9");
        let why = "it is how many flows are expected to share the link of a host";
        findings.range("flows", self.flows, 1.., why);
        findings.positive("base_rtt", self.base_rtt, "remove it for that of the network");
        findings.positive("min_rate", self.min_rate, check::LOWEST);
    }
}

/// Signal from which power is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Queue lengths, transmitted bytes and timestamps, which every switch on the path writes into
    /// packets; the window changes with every acknowledgement (algorithm 1).
    #[default]
    Telemetry,
    /// The round-trip time and its gradient, without support by switches; the window changes once per
    /// round trip (algorithm 2, theta-PowerTCP).
    Delay,
}

/// State of one flow, which starts at line rate.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire: of the NIC, and R.
    line_rate: f64,
    current: f64,
    /// R at the beginning of the round trip in which the acknowledged packet was sent (`cwnd_old` is
    /// this times tau), and R at the beginning of the current round trip.
    old: f64,
    next_old: f64,
    /// Round-trip time without queueing (tau).
    base_rtt: Duration,
    /// Size of a full packet in bytes, on the wire and of payload.
    wire: u64,
    payload: u64,
    /// Normalized power, smoothed over tau.
    power: f64,
    round: RoundTrip,
    /// Latest telemetry of the links.
    links: Vec<Hop>,
    /// Arrival of the last acknowledgement with a round-trip time, and that time.
    last: Option<(Instant, Duration)>,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        let hops = match spec.variant {
            Variant::Telemetry => path.hops,
            Variant::Delay => 0,
        };
        Self {
            line_rate,
            current: line_rate,
            old: line_rate,
            next_old: line_rate,
            base_rtt: spec.base_rtt.unwrap_or(path.base_rtt),
            wire: path.wire,
            payload: path.payload,
            power: 1.0,
            round: RoundTrip::default(),
            links: Vec::with_capacity(hops.into()),
            last: None,
        }
    }

    /// Normalized power from telemetry, and the time in seconds over which it was measured; `None` if
    /// there is no previous telemetry to compare with.
    fn of_links(&self, hops: &[Hop]) -> Option<(f64, f64)> {
        if hops.is_empty() || hops.len() != self.links.len() {
            return None;
        }
        let (mut most, mut time) = (0.0, 0.0);
        for (new, old) in hops.iter().zip(&self.links) {
            let (bytes, dt) = between(old, new)?;
            let rate = new.rate.0 as f64;
            let grown = new.backlog as f64 - old.backlog as f64;
            // Current and voltage, each relative to that of a full link without a queue.
            let current = (grown + bytes as f64) * 8.0 / dt / rate;
            let voltage = 1.0 + new.backlog as f64 * 8.0 / (rate * self.base_rtt.as_secs());
            // Dropping queued packets must not give a negative current.
            let power = (current * voltage).max(0.0);
            if power > most || time == 0.0 {
                (most, time) = (power, dt);
            }
        }
        Some((most, time))
    }

    /// Normalized power from the round-trip time, and the time in seconds over which it was
    /// measured.
    fn of_delay(&mut self, now: Instant, rtt: Duration) -> Option<(f64, f64)> {
        let Some((then, before)) = self.last else {
            self.last = Some((now, rtt));
            return None;
        };
        let dt = now.since(then).as_secs();
        if dt <= 0.0 {
            return None;
        }
        self.last = Some((now, rtt));
        let (rtt, before, tau) = (rtt.as_secs(), before.as_secs(), self.base_rtt.as_secs());
        // Assumed, for flows that paused until their packets in flight fitted a smaller window: after
        // more than tau there is no gradient, and the current is never negative, although round-trip
        // times may shrink by more than the time between acknowledgements (the authors' simulator uses
        // at least 0.5).
        let gradient = if dt < tau { (rtt - before) / dt } else { 0.0 };
        Some(((gradient + 1.0).max(0.0) * rtt / tau, dt))
    }

    /// UpdateWindow, as a rate.
    fn set_rate(&mut self, spec: &Spec) {
        let scaled = if self.power > 0.0 { self.old / self.power } else { f64::INFINITY };
        let increase = self.line_rate / f64::from(spec.flows.max(1));
        let rate = spec.gamma * (scaled + increase) + (1.0 - spec.gamma) * self.current;
        // Above line rate the window would grow without bound while the NIC is the bottleneck.
        self.current = rate.max(spec.min_rate.0 as f64).min(self.line_rate);
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn needs_telemetry(spec: &Spec) -> bool {
        spec.variant == Variant::Telemetry
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
        let bytes = self.current * self.base_rtt.0 as f64 / 8e12;
        Some((bytes as u64).div_ceil(self.wire).max(1) * self.payload)
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        let renews = self.round.ends(answer);
        if renews {
            self.old = self.next_old;
        }
        let measured = match spec.variant {
            Variant::Telemetry => {
                let measured = self.of_links(answer.hops);
                self.links.clear();
                self.links.extend_from_slice(answer.hops);
                measured
            }
            Variant::Delay => answer.rtt.and_then(|rtt| self.of_delay(answer.now, rtt)),
        };
        if let Some((power, time)) = measured {
            let weight = (time / self.base_rtt.as_secs()).min(1.0);
            self.power += weight * (power - self.power);
            if renews || spec.variant == Variant::Telemetry {
                self.set_rate(spec);
            }
        }
        if renews {
            self.next_old = self.current;
        }
    }

    fn check_signals(spec: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        if spec.variant == Variant::Telemetry {
            around.check_telemetry(findings);
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "100Mbps", findings);
        if spec.variant == Variant::Telemetry {
            network.check_hops(findings);
        }
        let base_rtt = network.check_base_rtt(spec.base_rtt, findings);
        // The additive increase keeps the rate above a fraction of the link rate.
        let share = Rate(network.slowest_host().0 / u64::from(spec.flows.max(1)));
        network.check_every_packet(spec.min_rate.max(share), base_rtt, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;

    const LINE: f64 = 100e9;

    /// 10 us at 100 Gb/s are 125,000 bytes, 100 packets of 1250 bytes with 1000 of payload.
    fn path() -> Path {
        let base_rtt = Duration::from_us(10);
        let gbps_100 = Rate::from_gbps(100);
        Path { payload: 1_000, wire: 1_250, base_rtt, hops: 1, ..Path::at(gbps_100) }
    }

    /// beta is a tenth of the line rate times tau: 12,500 bytes.
    fn ten() -> Spec {
        Spec { flows: 10, ..Spec::default() }
    }

    fn delay() -> Spec {
        Spec { variant: Variant::Delay, ..ten() }
    }

    fn hop(gbps: u64, us: u64, tx_bytes: u64, backlog: u64) -> Hop {
        Hop { rate: Rate::from_gbps(gbps), tx_bytes, backlog, at: Instant(us * 1_000_000) }
    }

    fn answered(flow: &mut State, spec: &Spec, (ack, sent): (u32, u32), hops: &[Hop]) -> f64 {
        flow.on_answer(spec, &Answer { hops, ..answer(0, ack, sent) });
        flow.current
    }

    /// An acknowledgement at `us` with a round-trip time of `rtt`, both in microseconds.
    fn after(flow: &mut State, spec: &Spec, us: u64, rtt: u64, (ack, sent): (u32, u32)) -> f64 {
        let rtt = Some(Duration::from_us(rtt));
        flow.on_answer(spec, &Answer { rtt, ..answer(us, ack, sent) });
        flow.current
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    #[test]
    fn one_update_on_paper() {
        let spec = ten();
        let mut flow = State::new(&spec, &path());
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(100_000));
        // The first acknowledgement only provides the counter values.
        assert_eq!(answered(&mut flow, &spec, (1, 100), &[hop(100, 20, 1_000_000, 50_000)]), LINE);
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        // In 4 us the link sends 50,000 bytes, all that it can, and the queue grows by 25,000: the
        // current is 150 Gb/s. The voltage is 75,000 + 125,000 bytes. Power is 1.5 * 1.6 = 2.4 times
        // that of a full link without a queue, with weight 4/10 added to the previous 1: 1.56. cwnd
        // = 0.9 (125,000 / 1.56 + 12,500) + 0.1 * 125,000 = 95,865.4 bytes.
        let rate = answered(&mut flow, &spec, (2, 110), &[hop(100, 24, 1_050_000, 75_000)]);
        let cwnd = 0.9 * (125_000.0 / 1.56 + 12_500.0) + 12_500.0;
        assert!(near(flow.power, 1.56) && near(rate, cwnd * 8.0 / 10e-6), "{rate}");
        // 76.7 packets, rounded up.
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(77_000));
        // The next acknowledgement starts from the old window again. Nothing has arrived in 12 us,
        // and 75,000 bytes have left: zero power, with full weight, and the window is that of line
        // rate.
        let rate = answered(&mut flow, &spec, (3, 110), &[hop(100, 36, 1_125_000, 0)]);
        assert_eq!((flow.power, rate), (0.0, LINE));
    }

    #[test]
    fn the_link_with_the_greatest_power_counts() {
        let spec = Spec { gamma: 1.0, ..ten() };
        let mut flow = State::new(&spec, &path());
        answered(&mut flow, &spec, (1, 100), &[hop(100, 0, 0, 40_000), hop(40, 1, 0, 5_000)]);
        // After 10 us: 62,500 of 125,000 bytes and a constant queue: 0.5 * 1.32 = 0.66. And 50,000
        // of 50,000 bytes with a constant queue of 5,000 bytes: 1 * 1.1.
        let hops = [hop(100, 10, 62_500, 40_000), hop(40, 11, 50_000, 5_000)];
        let rate = answered(&mut flow, &spec, (2, 100), &hops);
        assert!(near(flow.power, 1.1));
        // 100 / 1.1 + 100 / 10 are more than 100 Gb/s.
        assert_eq!(rate, LINE);
        let hops = [hop(100, 20, 125_000, 40_000), hop(40, 21, 100_000, 55_000)];
        let rate = answered(&mut flow, &spec, (2, 100), &hops);
        // The second queue grows as fast as the link sends: a current of 2 and a voltage of 2.1.
        assert!(near(flow.power, 4.2) && near(rate, 100e9 / 4.2 + 10e9), "{rate}");
    }

    #[test]
    fn the_old_window_is_that_of_the_round_trip_before() {
        let spec = Spec { gamma: 1.0, ..ten() };
        let mut flow = State::new(&spec, &path());
        // In every 10 us the link is full with a queue of 125,000 bytes: the power is 2.
        let full = |n: u64| [hop(100, 10 * n, 125_000 * n, 125_000)];
        answered(&mut flow, &spec, (1, 100), &full(0));
        // The packets of the first round trip were sent at line rate.
        for n in 1..4 {
            assert!(near(answered(&mut flow, &spec, (1 + n, 150), &full(n.into())), 60e9));
        }
        // Packet 100 was sent after the first acknowledgement, when R was still the line rate.
        assert!(near(answered(&mut flow, &spec, (101, 160), &full(4)), 60e9));
        assert!(near(answered(&mut flow, &spec, (110, 170), &full(5)), 60e9));
        // Packet 160 was sent at 60 Gb/s: 60 / 2 + 10.
        assert!(near(answered(&mut flow, &spec, (161, 200), &full(6)), 40e9));
    }

    /// Two flows in equilibrium: betas of 12,500 bytes, a queue of 25,000, a power of 1.2 and windows of
    /// 75,000 = 75,000 / 1.2 + 12,500 bytes.
    #[test]
    fn a_fast_change_comes_back_with_the_other_sign() {
        let spec = Spec { gamma: 1.0, ..ten() };
        let mut flow = State::new(&spec, &path());
        (flow.current, flow.old, flow.next_old, flow.power) = (60e9, 60e9, 60e9, 1.2);
        let now = |ns: u64, tx_bytes: u64, backlog: u64| {
            [Hop { at: Instant(ns * 1_000), ..hop(100, 0, tx_bytes, backlog) }]
        };
        answered(&mut flow, &spec, (1, 100), &now(1_000, 12_500, 25_000));
        let rate = answered(&mut flow, &spec, (2, 100), &now(1_100, 13_750, 25_000));
        assert!(near(rate, 60e9));
        // Both windows have grown by 1,250 bytes. Within 100 ns the link sends 1,250 bytes and the queue
        // grows by 2,500: a power of 3 * 1.22, with weight 1/100.
        let rate = answered(&mut flow, &spec, (3, 100), &now(1_200, 15_000, 27_500));
        let window = 75_000.0 / (1.2 + (3.66 - 1.2) / 100.0) + 12_500.0;
        assert!(near(rate, window * 8.0 / 10e-6), "{rate}");
        // 1,255 bytes less: 1,250, and 5 because the queue is longer too.
        assert!((75_000.0 - window - 1_255.0).abs() < 1.0, "{window}");
    }

    #[test]
    fn one_update_by_delay_on_paper() {
        let spec = delay();
        let mut flow = State::new(&spec, &path());
        assert_eq!(after(&mut flow, &spec, 20, 10, (1, 100)), LINE);
        // 2 us more in 4 us: (0.5 + 1) * 12 / 10 = 1.8, with weight 4/10 added to the previous 1:
        // 1.32.
        assert_eq!(after(&mut flow, &spec, 24, 12, (2, 110)), LINE);
        assert!(near(flow.power, 1.32));
        // A NAK has no round-trip time, and two acknowledgements at the same time give no gradient.
        flow.on_answer(&spec, &Answer { nak: true, ..answer(25, 3, 120) });
        assert_eq!(after(&mut flow, &spec, 24, 12, (4, 120)), LINE);
        assert!(near(flow.power, 1.32));
        // A new round trip, 4 us later, which still takes 12 us: 0.6 * 1.32 + 0.4 * 1.2 = 1.272.
        let rate = after(&mut flow, &spec, 28, 12, (101, 200));
        let expected = 0.9 * (100e9 / 1.272 + 10e9) + 10e9;
        assert!(near(flow.power, 1.272) && near(rate, expected), "{rate}");
    }

    #[test]
    fn no_power_is_below_zero() {
        let spec = delay();
        let mut flow = State::new(&spec, &path());
        after(&mut flow, &spec, 20, 90, (1, 100));
        // 80 us less in 5 us, with weight 5/10 added to the previous 1: 0.5, not 0.5 - 15 * 0.5.
        after(&mut flow, &spec, 25, 10, (2, 200));
        assert!(near(flow.power, 0.5));
        // 10 us less in 40 us, more than tau: only the round-trip time counts, with full weight.
        after(&mut flow, &spec, 45, 30, (3, 200));
        after(&mut flow, &spec, 85, 20, (4, 200));
        assert!(near(flow.power, 2.0));
    }

    #[test]
    fn another_path_is_measured_anew() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &path());
        let full = |us: u64| hop(100, us, 12_500 * us, 100_000);
        answered(&mut flow, &spec, (1, 100), &[full(0)]);
        for hops in [&[full(1), full(1)][..], &[hop(40, 2, 0, 9_000), full(2)], &[], &[full(9)]] {
            assert_eq!(answered(&mut flow, &spec, (2, 100), hops), LINE, "{hops:?}");
        }
        assert!(answered(&mut flow, &spec, (2, 100), &[full(10)]) < LINE);
    }

    #[test]
    fn the_minimum_is_the_share_of_n_or_the_lowest_rate() {
        for (flows, expected) in [(10, 10e9), (100_000, 100e6)] {
            let spec = Spec { flows, ..Spec::default() };
            let mut flow = State::new(&spec, &path());
            for n in 0..1_000 {
                // A queue of 1.25 GB: the power is 10,001.
                let hops = [hop(100, 10 * u64::from(n), 125_000 * u64::from(n), 1_250_000_000)];
                answered(&mut flow, &spec, (1 + n, 1 + n), &hops);
            }
            let rate = flow.rate(&spec, Instant::ZERO).unwrap();
            assert!((rate / expected - 1.0).abs() < 1e-3, "{rate}");
        }
    }
}
