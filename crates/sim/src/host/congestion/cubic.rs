//! CUBIC (RFC 9438). After congestion the window follows a cubic function of time, which is flat
//! around the window at which congestion occurred. Growth is therefore independent of the round-trip
//! time. Where Reno would be faster, CUBIC follows Reno.
//!
//! The window is in whole packets, as in Linux; the fractional growth is stored separately, so
//! growth follows the RFC and not Linux's integer division. A mark counts as a loss (section 4.6).

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::{Hystart, SlowStart};
use super::window::{self, Window};
use super::{Ack, Congestion, Control, Needs, Path, Timeout};

/// Parameters of CUBIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// C, the scaling constant of the cubic function, in packets per cubic second. Default 0.4 (RFC
    /// 9438, section 5.1).
    pub c: f64,
    /// Multiplicative decrease factor: the fraction of the window that remains after a reduction,
    /// above 0 and below 1. Default 0.7 (RFC 9438, section 4.6; 0.8 in Ha, Rhee and Xu, 2008, with
    /// which the average window is 1.17 packets times (RTT^3 / p^3)^(1/4)).
    pub beta: f64,
    /// Whether the window is at least that of an AIMD flow with the same average as Reno (RFC 9438,
    /// section 4.3). Default true.
    pub reno_friendly: bool,
    /// Fast convergence: whether a flow whose window was reduced below its previous maximum
    /// releases bandwidth to other flows (RFC 9438, section 4.7). Default true.
    pub fast_convergence: bool,
    /// How the initial slow start ends. Default `hystart_pp`, as RFC 9438 (section 4.10)
    /// recommends. Linux uses HyStart, the predecessor of HyStart++.
    pub slow_start: SlowStart,
    /// Minimum window after a reduction, in packets. Default 2 (RFC 9438, section 4.6; Linux).
    pub minimum_window: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            c: 0.4,
            beta: 0.7,
            reno_friendly: true,
            fast_convergence: true,
            slow_start: SlowStart::HystartPp,
            minimum_window: window::MINIMUM,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("c", self.c, "RFC 9438 has 0.4 packets per cubic second");
        findings.between_0_and_1("beta", self.beta, "RFC 9438 leaves 0.7 of the window");
        findings.range("minimum_window", self.minimum_window, 1.., window::MINIMUM_IS);
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    window: Window,
    /// Growth of the window beyond whole packets, below 1.
    fraction: f64,
    hystart: Hystart,
    curve: Curve,
    /// The curve before the last reduction, in case it was spurious.
    prior: Curve,
    last_ack: Instant,
}

/// Target curve of the window. Windows are in packets, times in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// W_max; 0 if it is to be the window at which congestion avoidance begins.
    maximum: f64,
    /// cwnd_prior.
    before_cut: f64,
    /// Set from the first growth in congestion avoidance on.
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// K, the time at which the window reaches `origin` again.
    k: f64,
    origin: f64,
    /// W_est.
    reno: f64,
}

impl Epoch {
    /// W_cubic, `t` seconds after the start.
    fn at(&self, c: f64, t: f64) -> f64 {
        let distance = t - self.k;
        self.origin + c * distance * distance * distance
    }
}

impl Curve {
    /// The current epoch. If a new one begins, `window` is the flow's window.
    fn epoch(&mut self, c: f64, window: f64, now: Instant) -> &mut Epoch {
        let maximum = self.maximum;
        self.epoch.get_or_insert_with(|| {
            let (k, origin) = if maximum > window {
                (libm::cbrt((maximum - window) / c), maximum)
            } else {
                (0.0, window)
            };
            Epoch { start: now, k, origin, reno: window }
        })
    }

    /// Reduces the window after congestion at `window`.
    fn cut(&mut self, spec: &Spec, window: f64) {
        self.maximum = if spec.fast_convergence && window < self.maximum {
            window * (1.0 + spec.beta) / 2.0
        } else {
            window
        };
        self.before_cut = window;
        self.epoch = None;
    }

    /// Excludes time in which the window was not used (section 5.8).
    fn pause(&mut self, time: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start.0 = epoch.start.0.saturating_add(time.0);
        }
    }
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        Self {
            window: Window::new(path, spec.minimum_window),
            fraction: 0.0,
            hystart: Hystart::default(),
            curve: Curve::default(),
            prior: Curve::default(),
            last_ack: Instant::ZERO,
        }
    }

    /// The window including its fractional growth.
    fn exact(&self) -> f64 {
        f64::from(self.window.packets()) + self.fraction
    }

    fn set_exact(&mut self, window: f64) {
        self.window.set(window as u32);
        self.fraction = (window - f64::from(self.window.packets())).clamp(0.0, 1.0);
    }

    /// Window after a reduction, in whole packets.
    fn after_cut(&self, spec: &Spec) -> u32 {
        // A product that is mathematically whole, such as 0.7 times 90, may be slightly less in
        // floating point.
        (f64::from(self.window.packets()) * spec.beta + 1e-9) as u32
    }

    fn remember(&mut self) {
        if !self.window.reduced() {
            self.prior = self.curve;
        }
        self.fraction = 0.0;
    }

    /// Congestion avoidance (sections 4.2 to 4.5).
    fn avoid(&mut self, spec: &Spec, ack: &Ack, acked: u32) {
        let window = self.exact();
        let before_cut = self.curve.before_cut;
        let epoch = self.curve.epoch(spec.c, window, ack.now);
        let share = f64::from(acked) / window;
        // With this beta, Reno needs this slope for the same average as Reno with 1/2; from the
        // previous window on, the slope is Reno's own.
        let slope = 3.0 * (1.0 - spec.beta) / (1.0 + spec.beta);
        epoch.reno += share * if epoch.reno < before_cut { slope } else { 1.0 };
        let t = ack.now.since(epoch.start).as_secs();
        if spec.reno_friendly && epoch.at(spec.c, t) < epoch.reno {
            let reno = epoch.reno;
            return self.set_exact(reno.max(window));
        }
        let target = epoch.at(spec.c, t + ack.smoothed_rtt.as_secs());
        let target = target.clamp(window, 1.5 * window);
        self.set_exact(window + (target - window) * share);
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Acknowledgements
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(self.window.bytes())
    }

    #[inline]
    fn in_slow_start(&mut self, _: &Spec) -> bool {
        self.window.in_slow_start()
    }

    fn on_ack(&mut self, spec: &Spec, ack: &Ack) {
        let since_last = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        if !ack.window_limited {
            self.curve.pause(since_last);
        }
        let mut acked = Window::growth(ack);
        if self.window.in_slow_start() {
            // Congestion avoidance starts again after it.
            self.curve.epoch = None;
            acked = self.hystart.slow_start(spec.slow_start, &mut self.window, ack, acked);
        }
        if acked > 0 {
            self.avoid(spec, ack, acked);
        }
    }

    fn on_congestion(&mut self, spec: &Spec, _: &Congestion) {
        let window = self.exact();
        self.remember();
        self.curve.cut(spec, window);
        self.window.reduce(self.after_cut(spec));
    }

    fn on_timeout(&mut self, spec: &Spec, _: &Timeout) {
        self.remember();
        // The first congestion avoidance after it begins on the flat part of the curve (section
        // 4.8).
        self.curve = Curve { before_cut: f64::from(self.window.packets()), ..Curve::default() };
        self.window.collapse(self.after_cut(spec));
    }

    fn on_recovered(&mut self, _: &Spec, _: Instant) {
        self.window.recovered();
    }

    fn on_undo(&mut self, _: &Spec, _: Instant) {
        self.window.undo();
        self.curve = self.prior;
    }

    fn on_restart(&mut self, _: &Spec, now: Instant, halvings: u32) {
        self.curve.pause(now.since(self.last_ack));
        self.last_ack = now;
        self.fraction = 0.0;
        self.window.restart(halvings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Phase, Signal, conformance};
    use super::*;
    use floodway_model::Rate;

    fn begun(packets: u32) -> State {
        let mut flow = State::new(&Spec::default(), &Path::at(Rate::from_gbps(1)));
        flow.window.set(packets);
        flow
    }

    fn cut(flow: &mut State, now: Instant) -> u32 {
        let congestion = Congestion { now, signal: Signal::Loss, in_flight: 0 };
        flow.on_congestion(&Spec::default(), &congestion);
        flow.on_recovered(&Spec::default(), now);
        flow.window.packets()
    }

    fn at(seconds: f64) -> Instant {
        Instant((seconds * 1e12) as u64)
    }

    /// One acknowledgement per packet until `end` seconds; returns the final window.
    fn run(flow: &mut State, spec: &Spec, rtt: Duration, end: f64) -> f64 {
        while flow.last_ack < at(end) {
            let now = Instant(flow.last_ack.0 + rtt.0 / u64::from(flow.window.packets()));
            flow.on_ack(spec, &conformance::ack(now, rtt));
        }
        flow.exact()
    }

    #[test]
    fn the_curve_by_hand() {
        let mut flow = begun(100);
        assert_eq!(cut(&mut flow, Instant::ZERO), 70);
        let curve = *flow.curve.epoch(0.4, 70.0, Instant::ZERO);
        // K is the cube root of 30 / 0.4.
        assert!((curve.k - 4.217_163).abs() < 1e-6);
        for (t, window) in [(0.0, 70.0), (1.0, 86.680_9), (4.217_163, 100.0), (6.0, 102.266_5)] {
            assert!((curve.at(0.4, t) - window).abs() < 1e-3, "{t}: {}", curve.at(0.4, t));
        }
        assert!((curve.at(0.4, 2.0 * curve.k) - 130.0).abs() < 1e-9);
    }

    #[test]
    fn the_window_follows_the_curve() {
        let spec = Spec { reno_friendly: false, ..Spec::default() };
        let rtt = Duration::from_ms(20);
        let mut flow = begun(100);
        cut(&mut flow, Instant::ZERO);
        // The window aims at the value of the curve one round trip later and approaches it
        // exponentially. It is therefore on the curve except for the change between two round
        // trips: at most 1.6 packets, at the beginning, where the slope is 3 C K^2 = 21 packets per
        // second.
        for t in [0.5, 1.0, 2.0, 3.0, 4.2, 6.0, 8.4] {
            let window = run(&mut flow, &spec, rtt, t);
            let expected = 100.0 + 0.4 * (t - 4.217_163f64).powi(3);
            assert!((window - expected).abs() < 0.5, "{t}: {window}, {expected}");
        }
    }

    #[test]
    fn slower_than_reno_is_reno() {
        let spec = Spec::default();
        let rtt = Duration::from_ms(1);
        let mut flow = begun(20);
        assert_eq!(cut(&mut flow, Instant::ZERO), 14);
        // Alpha is 9/17 below 20 and 1 above; the cubic function grows by 7 packets per second. It
        // takes eleven and a third round trips to 20. The fraction of a packet in the window is not
        // sent, so the window grows too slowly by half a packet in twenty.
        let slope = 9.0 / 17.0;
        assert!((run(&mut flow, &spec, rtt, 0.010) - (14.0 + 10.0 * slope)).abs() < 0.3);
        let at_20 = 6.0 / slope * 1e-3;
        let window = run(&mut flow, &spec, rtt, at_20 + 0.010);
        assert!((window - (30.0 - 16.0 / 40.0)).abs() < 0.3, "{window}");
        // Without Reno-friendliness: 14 + 7 * 0.02.
        let spec = Spec { reno_friendly: false, ..spec };
        let mut flow = begun(20);
        cut(&mut flow, Instant::ZERO);
        assert!(run(&mut flow, &spec, rtt, 0.020) < 14.3);
    }

    #[test]
    fn fast_convergence() {
        let mut flow = begun(100);
        cut(&mut flow, Instant::ZERO);
        assert_eq!(flow.curve.maximum, 100.0);
        // 70 is below 100: the next maximum is 70 * 1.7 / 2.
        assert_eq!(cut(&mut flow, Instant::ZERO), 49);
        assert!((flow.curve.maximum - 59.5).abs() < 1e-9);
        flow.window.set(90);
        assert_eq!(cut(&mut flow, Instant::ZERO), 63);
        assert_eq!(flow.curve.maximum, 90.0);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_flat() {
        let spec = Spec { reno_friendly: false, ..Spec::default() };
        let mut flow = begun(100);
        flow.on_timeout(&spec, &Timeout { now: Instant::ZERO, in_flight: 100, again: false });
        assert_eq!((flow.window.packets(), flow.window.threshold()), (1, 70));
        for _ in 0..69 {
            let ack = conformance::ack(Instant::ZERO, Duration::from_ms(10));
            flow.on_ack(&spec, &Ack { phase: Phase::Loss, ..ack });
        }
        assert_eq!(flow.window.packets(), 70);
        // 0.4 t^3 above 70.
        let window = run(&mut flow, &spec, Duration::from_ms(10), 3.0);
        assert!((window - (70.0 + 0.4 * 27.0)).abs() < 0.1, "{window}");
    }

    #[test]
    fn undo_restores_the_curve() {
        let spec = Spec::default();
        let mut flow = begun(100);
        cut(&mut flow, Instant::ZERO);
        let rtt = Duration::from_ms(20);
        let window = run(&mut flow, &spec, rtt, 3.0);
        let start = flow.curve.epoch.unwrap().start;
        let congestion = Congestion { now: at(3.0), signal: Signal::Loss, in_flight: 0 };
        flow.on_congestion(&spec, &congestion);
        flow.on_timeout(&spec, &Timeout { now: at(3.0), in_flight: 9, again: false });
        flow.on_undo(&spec, at(3.0));
        assert_eq!(flow.window.packets(), window as u32);
        assert_eq!(flow.curve.epoch.unwrap().start, start);
        assert_eq!((flow.curve.maximum, flow.curve.before_cut), (100.0, 100.0));
    }

    #[test]
    fn time_without_use_does_not_count() {
        let spec = Spec { reno_friendly: false, ..Spec::default() };
        let rtt = Duration::from_ms(20);
        let (mut busy, mut idle) = (begun(100), begun(100));
        cut(&mut busy, Instant::ZERO);
        cut(&mut idle, Instant::ZERO);
        let expected = run(&mut busy, &spec, rtt, 3.0);
        run(&mut idle, &spec, rtt, 2.0);
        let unused = Ack { window_limited: false, ..conformance::ack(at(12.0), rtt) };
        idle.on_ack(&spec, &unused);
        let window = run(&mut idle, &spec, rtt, 13.0);
        assert!((window - expected).abs() < 0.1, "{window}, {expected}");
    }
}
