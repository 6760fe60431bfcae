//! TIMELY (Mittal et al., SIGCOMM 2015, algorithm 1): the rate follows the round-trip time and its
//! gradient. Zhu et al. (CoNEXT 2016, algorithm 2) show that it has no fixed point, and propose a
//! patched version.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{FollowingWindow, RoundTrip};
use super::check::{self, Network};
use super::{Answer, Control, Needs, Path};

/// Parameters of TIMELY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Round-trip time below which the rate increases for any gradient. Default 50us (paper, section
    /// 6.1).
    pub t_low: Duration,
    /// Round-trip time above which the rate decreases for any gradient. Default 500us (paper,
    /// section 6.1).
    pub t_high: Duration,
    /// Minimum round-trip time, by which the gradient is normalized. Default 20us (HPCC authors'
    /// simulator; Zhu et al., CoNEXT 2016, table 2).
    pub min_rtt: Duration,
    /// Weight of a new round-trip time difference in the gradient, above 0 and at most 1. Default
    /// 0.875 (HPCC authors' simulator; Zhu et al., table 2).
    pub alpha: f64,
    /// Multiplicative decrease: relative reduction of the rate if the gradient is 1 or the round-trip
    /// time far above `t_high`, above 0 and at most 1. Default 0.8 (paper, section 6.1), and 0.008 if
    /// `patched` (Zhu et al., section 5.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Additive increase of the rate (delta). Default 100Mbps (HPCC authors' script: 10 Mb/s for
    /// every 10 Gb/s, at 100 Gb/s; the paper has 10 Mb/s at 10 Gb/s).
    pub additive_increase: Rate,
    /// Increase of the rate after `hyper_after` consecutive updates without a positive gradient.
    /// Default 500Mbps (paper, section 4.3: five times `additive_increase`).
    pub hyper_increase: Rate,
    /// Number of consecutive updates without a positive gradient from which on the rate grows by
    /// `hyper_increase`. Default 5 (paper, section 4.3).
    pub hyper_after: u32,
    /// Which updates count towards `hyper_after`. Default `gradient` (paper).
    pub hyper_counts: HyperCounts,
    /// Minimum rate of a flow. Default 100Mbps (HPCC authors' simulator).
    pub min_rate: Rate,
    /// Segment size: payload after whose acknowledgement the rate is updated. Default none: once per
    /// round trip, as in the simulator of HPCC's authors; the paper has segments of 16 to 64 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Patched TIMELY: between `t_low` and `t_high` the gradient only sets the relative weight of
    /// an increase and of a decrease that is proportional to the excess of the round-trip time over
    /// `t_low`. Default false.
    pub patched: bool,
    /// Window: maximum payload sent and not acknowledged, as a time at the flow's rate, in whole
    /// packets. Default none (paper); with a window the algorithm is TIMELY+win of HPCC (SIGCOMM
    /// 2019, section 5.1), where it is the round-trip time without queueing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Duration>,
}

/// Updates that count towards hyperactive increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HyperCounts {
    /// Updates without a positive gradient, including the current one. Below `t_low` the rate always
    /// grows by `additive_increase` (paper, section 4.3 and algorithm 1).
    #[default]
    Gradient,
    /// Increases before the current one, including those below `t_low`, where the rate then also
    /// grows by `hyper_increase`; any decrease resets the count (simulator of HPCC's authors).
    Increases,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            t_low: Duration::from_us(50),
            t_high: Duration::from_us(500),
            min_rtt: Duration::from_us(20),
            alpha: 0.875,
            beta: None,
            additive_increase: Rate::from_mbps(100),
            hyper_increase: Rate::from_mbps(500),
            hyper_after: 5,
            hyper_counts: HyperCounts::Gradient,
            min_rate: Rate::from_mbps(100),
            segment: None,
            patched: false,
            window: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("min_rtt", self.min_rtt, "");
        let why = "between them the gradient decides; the paper has 50us and 500us";
        findings.below(("t_low", self.t_low), ("t_high", self.t_high), why);
        // `t_low` is the divisor of the error term.
        findings.positive("t_low", self.patched.then_some(self.t_low), "");
        findings.weight("alpha", self.alpha, "usual is 0.875");
        findings.weight("beta", self.beta, "usual is 0.8");
        findings.positive("additive_increase", self.additive_increase, check::INCREASE);
        findings.at_most(
            ("additive_increase", self.additive_increase),
            ("hyper_increase", self.hyper_increase),
            "set `hyper_increase` to five times `additive_increase`, as the paper has it",
        );
        let why = "for example \"16KB\"; remove it for one update per round trip";
        findings.positive("segment", self.segment, why);
        let why = "write the round-trip time without queues, or remove it";
        findings.positive("window", self.window, why);
        findings.positive("min_rate", self.min_rate, check::LOWEST);
    }
}

impl Spec {
    /// Maximum relative decrease.
    pub fn beta(&self) -> f64 {
        self.beta.unwrap_or(if self.patched { 0.008 } else { 0.8 })
    }
}

/// State of one flow, which starts at line rate.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire.
    line_rate: f64,
    current: f64,
    window: Option<FollowingWindow>,
    /// The last round-trip time that was used; `None` before the first.
    previous: Option<Duration>,
    /// Smoothed difference between consecutive round-trip times, in picoseconds.
    difference: f64,
    /// Number of consecutive updates without a positive gradient.
    falling: u32,
    round: RoundTrip,
    /// Packets acknowledged of the current segment, and packets per segment.
    acknowledged: u64,
    segment: u64,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        Self {
            line_rate,
            current: line_rate,
            window: spec.window.map(|length| FollowingWindow::new(length, path)),
            previous: None,
            difference: 0.0,
            falling: 0,
            round: RoundTrip::default(),
            acknowledged: 0,
            segment: spec.segment.map_or(0, |bytes| bytes.0.div_ceil(path.payload)),
        }
    }

    /// Whether this acknowledgement updates the rate.
    fn is_due(&mut self, answer: &Answer<'_>) -> bool {
        if self.segment == 0 {
            return self.round.ends(answer);
        }
        self.acknowledged += u64::from(answer.acked);
        let due = self.acknowledged >= self.segment;
        if due {
            self.acknowledged %= self.segment;
        }
        due
    }

    /// Updates the rate for a round-trip time.
    fn update(&mut self, spec: &Spec, rtt: Duration) {
        let Some(previous) = self.previous.replace(rtt) else { return };
        let new = rtt.0 as f64 - previous.0 as f64;
        self.difference += spec.alpha * (new - self.difference);
        let gradient = self.difference / spec.min_rtt.0 as f64;
        let delta = match spec.hyper_counts {
            HyperCounts::Gradient => {
                self.falling = if gradient <= 0.0 { self.falling + 1 } else { 0 };
                spec.additive_increase
            }
            HyperCounts::Increases => {
                let hyper = self.falling >= spec.hyper_after;
                let rises = rtt < spec.t_low || rtt <= spec.t_high && gradient <= 0.0;
                self.falling = if rises { self.falling.saturating_add(1) } else { 0 };
                if hyper { spec.hyper_increase } else { spec.additive_increase }
            }
        };
        let delta = delta.0 as f64;
        let beta = spec.beta();
        let rate = if rtt < spec.t_low {
            self.current + delta
        } else if rtt > spec.t_high {
            self.falling = 0;
            self.current * (1.0 - beta * (1.0 - spec.t_high.0 as f64 / rtt.0 as f64))
        } else if spec.patched {
            let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
            let error = rtt.0 as f64 / spec.t_low.0 as f64 - 1.0;
            delta * (1.0 - weight) + self.current * (1.0 - beta * weight * error)
        } else if gradient > 0.0 {
            self.current * (1.0 - beta * gradient)
        } else if spec.hyper_counts == HyperCounts::Gradient && self.falling >= spec.hyper_after {
            self.current + spec.hyper_increase.0 as f64
        } else {
            self.current + delta
        };
        self.current = rate.max(spec.min_rate.0 as f64).min(self.line_rate);
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn initial_window(spec: &Spec, _: Duration) -> Option<Duration> {
        spec.window
    }

    #[inline]
    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        (self.current < self.line_rate).then_some(self.current)
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        self.window.map(|window| window.at(self.current))
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        // A NAK has no round-trip time; a round trip or segment that would end with it ends with
        // the next acknowledgement.
        if let Some(rtt) = answer.rtt
            && self.is_due(answer)
        {
            self.update(spec, rtt);
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "100Mbps", findings);
        let round_trip = network.round_trip;
        let message = |field: &str, threshold: Duration| {
            format!(
                "the round trip of an empty network takes {round_trip}, and `{field}` is {threshold}"
            )
        };
        if round_trip >= spec.t_high {
            let remedy = "flows would only become slower: raise it well above that";
            findings.error(["t_high", "t_low", ""], message("t_high", spec.t_high), remedy);
        } else if round_trip >= spec.t_low {
            let remedy = "an empty network looks congested: raise it above that";
            findings.warn(["t_low", ""], message("t_low", spec.t_low), remedy);
        }
        if let Some(window) = spec.window {
            network.check_length(("window", window), findings);
            network.check_window(spec.min_rate, window, findings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;

    fn path() -> Path {
        Path { payload: 1_000, ..Path::at(Rate::from_gbps(100)) }
    }

    /// A flow at 40 Gb/s whose last round-trip time was 100 us.
    fn flow(spec: &Spec) -> State {
        let mut flow = State::new(spec, &path());
        flow.current = 40e9;
        flow.update(spec, Duration::from_us(100));
        assert_eq!(flow.current, 40e9);
        flow
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    #[test]
    fn the_gradient_on_paper() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        // 8 us more, of which 7/8 are 7 us: a gradient of 7/20. 1 - 0.8 * 0.35 = 0.72.
        flow.update(&spec, Duration::from_us(108));
        assert!(near(flow.difference, 7e6) && near(flow.current, 28.8e9), "{}", flow.current);
        // Unchanged: 7/8 us remain of the 7, a gradient of 0.04375. 1 - 0.035.
        flow.update(&spec, Duration::from_us(108));
        assert!(near(flow.difference, 0.875e6) && near(flow.current, 28.8e9 * 0.965));
        // 9 us less: 0.875/8 - 7.875 us, a negative gradient: increase by delta.
        let before = flow.current;
        flow.update(&spec, Duration::from_us(99));
        assert!(near(flow.difference, 109_375.0 - 7.875e6) && near(flow.current, before + 100e6));
    }

    #[test]
    fn the_thresholds_overrule_the_gradient() {
        let spec = Spec::default();
        // From 100 to 49 us and back up to just below 50: increases, although the round-trip time
        // rises.
        let mut one = flow(&spec);
        one.update(&spec, Duration::from_us(40));
        assert_eq!(one.current, 40.1e9);
        one.update(&spec, Duration(49_999_999));
        one.update(&spec, Duration(49_999_999));
        assert_eq!(one.current, 40.3e9);
        // Above 500 us: 1 - 0.8 (1 - 500/800) = 0.7, and when it falls to 625: 1 - 0.8 * 0.2 = 0.84.
        let mut other = flow(&spec);
        other.update(&spec, Duration::from_us(800));
        assert!(near(other.current, 28e9));
        other.update(&spec, Duration::from_us(625));
        assert!(near(other.current, 28e9 * 0.84));
        // At 500 us the gradient decides again.
        other.update(&spec, Duration::from_us(500));
        assert!(near(other.current, 28e9 * 0.84 + 100e6));
    }

    #[test]
    fn hyperactive_increase_from_the_fifth_on() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        let mut increases = Vec::new();
        for n in 1..=7u64 {
            let before = flow.current;
            flow.update(&spec, Duration::from_us(100 - n));
            increases.push(((flow.current - before) / 1e6).round());
        }
        assert_eq!(increases, [100.0, 100.0, 100.0, 100.0, 500.0, 500.0, 500.0]);
        // One positive gradient resets the count.
        flow.update(&spec, Duration::from_us(120));
        let before = flow.current;
        flow.update(&spec, Duration::from_us(90));
        assert!(near(flow.current, before + 100e6));
    }

    /// Counting as in the simulator of HPCC's authors: five increases by 100 Mb/s, below 50 us or not,
    /// then 500 Mb/s, below 50 us too, until a decrease.
    #[test]
    fn hyperactive_increase_after_five_increases_of_any_kind() {
        let spec = Spec { hyper_counts: HyperCounts::Increases, ..Spec::default() };
        let mut flow = flow(&spec);
        let mut step = |us: u64| {
            let before = flow.current;
            flow.update(&spec, Duration::from_us(us));
            ((flow.current - before) / 1e6).round()
        };
        let increases = [90, 40, 41, 42, 43, 44, 45].map(&mut step);
        assert_eq!(increases, [100.0, 100.0, 100.0, 100.0, 100.0, 500.0, 500.0]);
        assert!(step(90) < 0.0);
        assert_eq!([40, 41, 42, 43, 44, 45].map(&mut step)[4..], [100.0, 500.0]);
        // The paper counts no increase below 50 us while the round-trip time rises.
        let paper = Spec::default();
        let mut flow = self::flow(&paper);
        let mut step = |us: u64| {
            let before = flow.current;
            flow.update(&paper, Duration::from_us(us));
            ((flow.current - before) / 1e6).round()
        };
        assert_eq!([90, 40, 41, 42, 43, 44, 45].map(&mut step), [100.0; 7]);
    }

    #[test]
    fn once_per_round_trip_or_segment() {
        let rtt = Some(Duration::from_us(600));
        let updates = |spec: &Spec, acked: u32| {
            let mut flow = State::new(spec, &path());
            let mut changes = Vec::new();
            for ack in 1..=40 {
                let before = flow.current;
                flow.on_answer(spec, &Answer { rtt, acked, ..answer(0, ack, ack + 9) });
                if flow.current != before {
                    changes.push(ack);
                }
            }
            changes
        };
        // The first acknowledgement determines that packet 10 ends the round trip: acknowledgement
        // 11. Then 20.
        assert_eq!(updates(&Spec::default(), 1), [11, 21, 31]);
        // 16 KB are 16 packets; the first segment has no previous round-trip time to compare with.
        let spec = Spec { segment: Some(Bytes(16_000)), ..Spec::default() };
        assert_eq!(updates(&spec, 1), [32]);
        // Four packets per acknowledgement: 4, 8, 12, ...
        assert_eq!(updates(&spec, 4), [8, 12, 16, 20, 24, 28, 32, 36, 40]);
        // Packets without a measurement do not count.
        let mut flow = State::new(&spec, &path());
        (1..100)
            .for_each(|ack| flow.on_answer(&spec, &Answer { nak: true, ..answer(0, ack, 100) }));
        assert_eq!(flow.previous, None);
    }

    #[test]
    fn rates_and_windows_have_their_bounds() {
        let spec = Spec { window: Some(Duration::from_us(10)), ..Spec::default() };
        let mut flow = State::new(&spec, &path());
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(125_000));
        for n in 1..100 {
            flow.update(&spec, Duration::from_us(1_000 * n));
        }
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(100e6));
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(1_000));
        for _ in 0..1_000 {
            flow.update(&spec, Duration::from_us(10));
        }
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        assert_eq!(State::new(&Spec::default(), &path()).window(&spec, Instant::ZERO), None);
    }

    #[test]
    fn the_patched_update_on_paper() {
        let spec = Spec { patched: true, ..Spec::default() };
        let mut flow = flow(&spec);
        assert_eq!(flow.window(&spec, Instant::ZERO), None);
        // Unchanged at 100 us: weight 1/2, error 1. 50 Mb/s more, and 0.4 % of 40 Gb/s less.
        flow.update(&spec, Duration::from_us(100));
        assert!(near(flow.current, 40e9 * 0.996 + 50e6));
        // 2 us less: 1.75 us of 20 are a gradient of -0.0875, weight 0.325; error 0.96.
        let before = flow.current;
        flow.update(&spec, Duration::from_us(98));
        assert!(near(flow.current, 0.675 * 100e6 + before * (1.0 - 0.008 * 0.325 * 0.96)));
        // Far above, it only decreases; far below, it only increases.
        let before = flow.current;
        flow.update(&spec, Duration::from_us(150));
        assert!(near(flow.current, before * (1.0 - 0.008 * 2.0)));
        let before = flow.current;
        flow.update(&spec, Duration::from_us(60));
        assert!(near(flow.current, before + 100e6));
    }

    /// Flows through one link of 100 Gb/s, in steps of 1 us, each updated once per round trip.
    /// Returns their rates and the round-trip time of the last step in microseconds.
    fn share(spec: &Spec, rates: &[f64], steps: u64) -> (Vec<f64>, f64) {
        let mut flows: Vec<State> = rates.iter().map(|_| State::new(spec, &path())).collect();
        let mut next = vec![0u64; rates.len()];
        for (flow, rate) in flows.iter_mut().zip(rates) {
            flow.current = *rate;
        }
        let (mut queue, mut rtt) = (0.0, 0.0);
        for now in 0..steps {
            let offered: f64 = flows.iter().map(|flow| flow.current).sum();
            queue = f64::max(queue + (offered - 100e9) * 1e-6 / 8.0, 0.0);
            rtt = 20.0 + queue * 8.0 / 100e9 * 1e6;
            for (flow, next) in flows.iter_mut().zip(&mut next).filter(|(_, next)| **next <= now) {
                flow.update(spec, Duration((rtt * 1e6) as u64));
                *next = now + rtt as u64;
            }
        }
        (flows.iter().map(|flow| flow.current).collect(), rtt)
    }

    /// In equilibrium the gradient is zero and the weight 1/2, so that with R = C / N
    /// delta = beta R (RTT / T_low - 1), and RTT = T_low (1 + N delta / (beta C)) (Zhu et al., equation 31). Four flows
    /// with 100 Mb/s: 75 us.
    #[test]
    fn patched_timely_has_the_published_fixed_point() {
        let spec = Spec { patched: true, ..Spec::default() };
        for (flows, rtt) in [(2, 62.5), (4, 75.0), (8, 100.0)] {
            let rates: Vec<f64> = (1..=flows).map(|n| 20e9 / f64::from(n)).collect();
            let (rates, settled) = share(&spec, &rates, 400_000);
            let fair = 100e9 / f64::from(flows);
            assert!(rates.iter().all(|rate| (rate / fair - 1.0).abs() < 0.02), "{rates:?}");
            assert!((settled / rtt - 1.0).abs() < 0.02, "{flows} flows: {settled} us");
        }
    }

    /// At a constant round-trip time the patched algorithm converges to a single rate, delta over beta
    /// times the error, from any initial rate. TIMELY itself has no such rate and grows without bound
    /// (Zhu et al., theorem 3).
    #[test]
    fn at_a_constant_round_trip_time_only_the_patched_rate_rests() {
        let after = |spec: &Spec, rate: f64| {
            let mut flow = flow(spec);
            flow.current = rate;
            (0..10_000).for_each(|_| flow.update(spec, Duration::from_us(75)));
            flow.current
        };
        let patched = Spec { patched: true, ..Spec::default() };
        for rate in [1e9, 10e9, 80e9] {
            assert!((after(&patched, rate) / 25e9 - 1.0).abs() < 1e-6);
            assert_eq!(after(&Spec::default(), rate), 100e9);
        }
    }
}
