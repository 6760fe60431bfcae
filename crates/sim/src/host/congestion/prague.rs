//! Prague (draft-briscoe-iccrg-prague-congestion-control, and TCP Prague 0.7 for Linux where that is
//! more precise): DCTCP for the Internet, a scalable congestion control as defined by RFC 9331.
//!
//! It differs from DCTCP as follows:
//! - The window is fractional: reductions smaller than a packet count, and below two packets the
//!   pacing rate continues to shrink.
//! - The window grows with every packet that arrives without a mark, also in the round trip after a
//!   reduction (DCTCP's does not).
//! - On paths shorter than a reference round-trip time it behaves as if the round trip took that
//!   long, so that flows with different round-trip times share a link evenly.
//! - The first mark halves the window; alpha is updated only from then on, from 0.
//! - Packets are paced.
//!
//! After a loss it behaves like Reno. Not modeled: the fallback when a classic ECN queue is
//! suspected (optional, off by default in Linux), smaller packets below 1 Mb/s, and the second
//! representation of the window as a rate, with its 3 % variation, that Linux switches to at four
//! packets.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, EcnFeedback, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alpha::{self, Alpha};
use super::window::{self, Window};
use super::{Ack, Congestion, Control, Needs, Path, Phase, Signal, Timeout};

/// Parameters of Prague.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Weight of a new observation in alpha, 0 to 1. Default 1/16 (draft, as DCTCP).
    pub g: f64,
    /// Reference round-trip time. Paths with a shorter one are treated as if they had it: per
    /// reference round-trip time the window grows as much as on a path with that round-trip time,
    /// there is one reduction, and alpha is updated once. With 0ns every flow uses its own
    /// round-trip time. Default 25ms (draft; Linux).
    pub reference_rtt: Duration,
    /// Number of round trips after slow start before `reference_rtt` applies, so that short flows
    /// are not slowed by it. Default 4 (Linux 0.7; 500 before).
    pub transition_rounds: u32,
    /// Minimum pacing rate, on the wire. Default 100Kbps (Linux 0.7).
    pub minimum_rate: Rate,
    /// Minimum window after a reduction, in packets; pacing goes below it. Default 2 (Linux).
    pub minimum_window: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            g: 1.0 / 16.0,
            reference_rtt: Duration::from_ms(25),
            transition_rounds: 4,
            minimum_rate: Rate(100_000),
            minimum_window: window::MINIMUM,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("g", self.g, alpha::WEIGHT);
        let why = "a flow at rate zero would never send; for example \"1Mbps\"";
        findings.positive("minimum_rate", self.minimum_rate, why);
        findings.range("minimum_window", self.minimum_window, 1.., window::MINIMUM_IS);
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    /// `exact` rounded up to whole packets, at least the minimum.
    window: Window,
    /// Fractional window, in packets.
    exact: f64,
    /// The fractional window before the last reduction, in case that was spurious.
    prior: f64,
    alpha: Alpha,
    alpha_at: Instant,
    /// Whether a mark has been seen: there is an AQM on the path.
    marked: bool,
    reduced_at: Option<Instant>,
    /// Number of round trips in congestion avoidance.
    rounds: u32,
    smoothed_rtt: Duration,
    /// Bits of a full packet on the wire.
    wire_bits: f64,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let window = Window::new(path, spec.minimum_window);
        let exact = f64::from(window.packets());
        Self {
            window,
            exact,
            prior: exact,
            alpha: Alpha::new(0.0),
            alpha_at: Instant::ZERO,
            marked: false,
            reduced_at: None,
            rounds: 0,
            smoothed_rtt: Duration::ZERO,
            wire_bits: path.wire as f64 * 8.0,
        }
    }

    /// Whether the reference round-trip time applies.
    fn independent(&self, spec: &Spec) -> bool {
        self.rounds >= spec.transition_rounds && !self.window.in_slow_start()
    }

    /// Growth of the window per round trip, in packets: one per reference round-trip time for a
    /// window that is smaller by the same ratio as the round trip is shorter.
    fn increase(&self, spec: &Spec) -> f64 {
        if !self.independent(spec) || self.smoothed_rtt >= spec.reference_rtt {
            return 1.0;
        }
        let ratio = self.smoothed_rtt.as_secs() / spec.reference_rtt.as_secs();
        ratio * ratio
    }

    fn grow(&mut self, spec: &Spec, packets: u32) {
        let mut rest = packets;
        if self.window.in_slow_start() {
            rest = self.window.slow_start(packets);
            self.exact = f64::from(self.window.packets());
        }
        if rest > 0 {
            self.exact += f64::from(rest) * self.increase(spec) / self.exact.max(1.0);
            self.window.set((libm::ceil(self.exact) as u32).max(spec.minimum_window));
        }
    }

    fn on_round(&mut self, spec: &Spec, now: Instant) {
        if !self.window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        if !self.marked {
            self.alpha.forget();
        } else if !self.independent(spec) || now.since(self.alpha_at) >= spec.reference_rtt {
            self.alpha.update(spec.g);
            self.alpha_at = now;
        }
    }

    fn remember(&mut self) {
        self.prior = if self.window.reduced() { self.prior.max(self.exact) } else { self.exact };
    }

    /// Reduces the window to this fraction.
    fn reduce(&mut self, spec: &Spec, share: f64) {
        self.remember();
        let least = spec.minimum_rate.0 as f64 * self.smoothed_rtt.as_secs() / self.wire_bits;
        self.exact = (self.exact * share).max(least).min(self.exact);
        self.window.reduce(libm::ceil(self.exact) as u32);
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Acknowledgements
    }

    fn feedback(_: &Spec) -> EcnFeedback {
        EcnFeedback::Accurate
    }

    #[inline]
    fn in_slow_start(&mut self, _: &Spec) -> bool {
        self.window.in_slow_start()
    }

    /// The window per round trip, or twice that while slow start is far from its end.
    fn rate(&mut self, spec: &Spec, _: Instant) -> Option<f64> {
        if self.smoothed_rtt == Duration::ZERO {
            return None;
        }
        let gain = if self.window.packets() < self.window.threshold() / 2 { 2.0 } else { 1.0 };
        let rate = gain * self.exact * self.wire_bits / self.smoothed_rtt.as_secs();
        Some(rate.max(spec.minimum_rate.0.max(1) as f64))
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(self.window.bytes())
    }

    fn on_ack(&mut self, spec: &Spec, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.marked |= ack.marked > 0;
        self.alpha.count(ack);
        let unmarked = ack.delivered.saturating_sub(ack.marked);
        if unmarked > 0 && ack.window_limited && ack.phase != Phase::Recovery {
            self.grow(spec, unmarked);
        }
        if ack.round_begins {
            self.on_round(spec, ack.now);
        }
    }

    fn on_congestion(&mut self, spec: &Spec, congestion: &Congestion) {
        let now = congestion.now;
        if congestion.signal == Signal::Loss {
            return self.reduce(spec, 0.5);
        }
        if !self.marked {
            self.marked = true;
            self.reduced_at = Some(now);
            return self.reduce(spec, 0.5);
        }
        let since = self.reduced_at.map_or(Duration(u64::MAX), |at| now.since(at));
        if !self.independent(spec) || since >= spec.reference_rtt {
            self.reduced_at = Some(now);
            self.reduce(spec, 1.0 - self.alpha.value() / 2.0);
        }
    }

    fn on_timeout(&mut self, _: &Spec, _: &Timeout) {
        self.remember();
        self.window.collapse(libm::ceil(self.exact / 2.0) as u32);
        self.exact = self.exact.min(1.0);
    }

    fn on_recovered(&mut self, _: &Spec, _: Instant) {
        self.window.recovered();
    }

    fn on_undo(&mut self, _: &Spec, _: Instant) {
        self.window.undo();
        self.exact = self.exact.max(self.prior);
    }

    fn on_restart(&mut self, _: &Spec, _: Instant, halvings: u32) {
        self.window.restart(halvings);
        self.exact = self.exact.min(f64::from(self.window.packets()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance;
    use super::*;

    const RTT: Duration = Duration::from_ms(5);

    /// A flow in congestion avoidance with this window, to which its reference round-trip time
    /// applies.
    fn begun(exact: f64) -> State {
        let mut flow = State::new(&Spec::default(), &Path::at(Rate::from_gbps(1)));
        flow.exact = exact;
        flow.window.set(libm::ceil(exact) as u32);
        flow.window.leave_slow_start();
        flow.rounds = 4;
        flow.smoothed_rtt = RTT;
        flow.marked = true;
        flow
    }

    fn mark(flow: &mut State, now: Instant) {
        let congestion = Congestion { now, signal: Signal::Mark, in_flight: 0 };
        flow.on_congestion(&Spec::default(), &congestion);
    }

    #[test]
    fn the_first_mark_halves_and_alpha_begins_at_zero() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &Path::at(Rate::from_gbps(1)));
        for n in 0..11 {
            let ack = conformance::ack(Instant::ZERO, RTT);
            flow.on_ack(&spec, &Ack { round_begins: n == 10, ..ack });
        }
        assert_eq!((flow.window.packets(), flow.exact), (21, 21.0));
        mark(&mut flow, Instant::ZERO);
        assert_eq!((flow.window.packets(), flow.exact), (11, 10.5));
        // A quarter of the next round trip is marked: alpha rises by a sixteenth of that.
        for n in 0..12 {
            let ack = conformance::ack(Instant::ZERO, RTT);
            let ack = Ack { marked: u32::from(n < 3), round_begins: n == 11, ..ack };
            flow.on_ack(&spec, &Ack { phase: Phase::Reducing, ..ack });
        }
        assert!((flow.alpha.value() - 1.0 / 64.0).abs() < 1e-12);
    }

    #[test]
    fn reductions_below_a_packet_add_up() {
        let mut flow = begun(40.0);
        flow.alpha = Alpha::new(0.02);
        // 1 % each, once per 25 ms.
        for n in 0..6 {
            mark(&mut flow, Instant(n * Duration::from_ms(10).0));
        }
        assert!((flow.exact - 40.0 * 0.99 * 0.99).abs() < 1e-9);
        assert_eq!(flow.window.packets(), 40);
        mark(&mut flow, Instant(60 * Duration::from_ms(1).0));
        assert_eq!(flow.window.packets(), 39);
    }

    #[test]
    fn grows_by_unmarked_packets_also_while_reducing() {
        let spec = Spec::default();
        let mut flow = begun(10.0);
        let ack = conformance::ack(Instant::ZERO, RTT);
        flow.on_ack(&spec, &Ack { phase: Phase::Reducing, ..ack });
        // A fifth of the reference round-trip time: a twenty-fifth of a tenth.
        assert!((flow.exact - 10.004).abs() < 1e-12);
        assert_eq!(flow.window.packets(), 11);
        flow.on_ack(&spec, &Ack { marked: 1, ..ack });
        flow.on_ack(&spec, &Ack { phase: Phase::Recovery, ..ack });
        assert!((flow.exact - 10.004).abs() < 1e-12);
        // Before the reference applies, or on a longer path: one packet per window.
        flow.rounds = 3;
        flow.exact = 10.0;
        flow.on_ack(&spec, &ack);
        assert!((flow.exact - 10.1).abs() < 1e-12);
        flow.rounds = 4;
        flow.exact = 10.0;
        flow.on_ack(&spec, &conformance::ack(Instant::ZERO, Duration::from_ms(40)));
        assert!((flow.exact - 10.1).abs() < 1e-12);
    }

    #[test]
    fn paces_below_the_minimum_window() {
        let spec = Spec::default();
        let mut flow = begun(4.0);
        let packet = 1_518.0 * 8.0;
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(4.0 * packet / 5e-3));
        flow.alpha = Alpha::new(1.0);
        mark(&mut flow, Instant::ZERO);
        mark(&mut flow, Instant(Duration::from_ms(30).0));
        mark(&mut flow, Instant(Duration::from_ms(60).0));
        assert_eq!(flow.window.packets(), 2);
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(0.5 * packet / 5e-3));
        for n in 3..20 {
            mark(&mut flow, Instant(n * Duration::from_ms(30).0));
        }
        assert!((flow.rate(&spec, Instant::ZERO).unwrap() - 100e3).abs() < 1e-6);
        assert_eq!(flow.window.packets(), 2);
    }

    #[test]
    fn slow_start_is_paced_at_twice_the_window() {
        let spec = Spec::default();
        let mut flow = State::new(&spec, &Path::at(Rate::from_gbps(1)));
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        flow.on_ack(&spec, &conformance::ack(Instant::ZERO, RTT));
        let rate = 2.0 * 11.0 * 1_518.0 * 8.0 / 5e-3;
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(rate));
    }

    #[test]
    fn a_loss_halves_and_a_timeout_begins_again() {
        let spec = Spec::default();
        let mut flow = begun(21.5);
        let loss = Congestion { now: Instant::ZERO, signal: Signal::Loss, in_flight: 0 };
        flow.on_congestion(&spec, &loss);
        assert_eq!((flow.exact, flow.window.packets()), (10.75, 11));
        flow.on_undo(&spec, Instant::ZERO);
        assert_eq!((flow.exact, flow.window.packets()), (21.5, 22));
        flow.on_timeout(&spec, &Timeout { now: Instant::ZERO, in_flight: 22, again: false });
        assert_eq!((flow.exact, flow.window.packets()), (1.0, 1));
        let ack = Ack { phase: Phase::Loss, ..conformance::ack(Instant::ZERO, RTT) };
        (0..10).for_each(|_| flow.on_ack(&spec, &ack));
        assert_eq!((flow.exact, flow.window.packets()), (11.0, 11));
        // Slow start up to half of the previous window; then by fractions of a packet.
        flow.on_ack(&spec, &ack);
        assert_eq!(flow.window.packets(), 12);
        assert!(flow.exact < 11.1);
    }
}
