//! DCTCP (RFC 8257): after a mark the window shrinks by half the smoothed fraction of marked
//! packets, once per round trip; everything else is Reno.
//!
//! As in Linux (`tcp_dctcp.c`), the window is in whole packets, its reduction is rounded down, it
//! does not grow in the round trip after a mark, and a loss halves it.

use floodway_model::check::{Check, Findings};
use floodway_model::{EcnFeedback, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alpha::{self, Alpha};
use super::window::{self, Window};
use super::{Ack, Congestion, Control, Needs, Path, Signal, Timeout};

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Weight of a new observation in alpha, 0 to 1. Default 1/16 (RFC 8257; DCTCP, SIGCOMM 2010).
    pub g: f64,
    /// Alpha until the first round trip has ended, 0 to 1. Default 1 (RFC 8257; Linux).
    pub initial_alpha: f64,
    /// Minimum window after a reduction, in packets. Default 2 (Linux).
    pub minimum_window: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { g: 1.0 / 16.0, initial_alpha: 1.0, minimum_window: window::MINIMUM }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("g", self.g, alpha::WEIGHT);
        findings.range("initial_alpha", self.initial_alpha, 0.0..=1.0, "RFC 8257 has 1");
        findings.range("minimum_window", self.minimum_window, 1.., window::MINIMUM_IS);
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    window: Window,
    alpha: Alpha,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        Self {
            window: Window::new(path, spec.minimum_window),
            alpha: Alpha::new(spec.initial_alpha),
        }
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

    fn feedback(_: &Spec) -> EcnFeedback {
        EcnFeedback::Dctcp
    }

    #[inline]
    fn in_slow_start(&mut self, _: &Spec) -> bool {
        self.window.in_slow_start()
    }

    fn on_ack(&mut self, spec: &Spec, ack: &Ack) {
        self.alpha.count(ack);
        if ack.round_begins {
            self.alpha.update(spec.g);
        }
        let acked = Window::growth(ack);
        if acked > 0 {
            self.window.grow_as_reno(acked);
        }
    }

    fn on_congestion(&mut self, _: &Spec, congestion: &Congestion) {
        let packets = self.window.packets();
        self.window.reduce(match congestion.signal {
            Signal::Mark => packets - (f64::from(packets) * self.alpha.value() / 2.0) as u32,
            Signal::Loss => packets / 2,
        });
    }

    fn on_timeout(&mut self, _: &Spec, _: &Timeout) {
        self.window.collapse(self.window.packets() / 2);
    }

    fn on_recovered(&mut self, _: &Spec, _: Instant) {
        self.window.recovered();
    }

    fn on_undo(&mut self, _: &Spec, _: Instant) {
        self.window.undo();
    }

    fn on_restart(&mut self, _: &Spec, _: Instant, halvings: u32) {
        self.window.restart(halvings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Phase, conformance};
    use super::*;
    use floodway_model::{Duration, Rate};

    fn begun() -> State {
        State::new(&Spec::default(), &Path::at(Rate::from_gbps(1)))
    }

    /// Completes a round trip of 20 packets, the first `marked` of which are marked.
    fn round(flow: &mut State, marked: u32) {
        for n in 0..20 {
            let ack = conformance::ack(Instant::ZERO, Duration::from_ms(1));
            let ack = Ack {
                marked: u32::from(n < marked),
                round_begins: n == 19,
                phase: Phase::Reducing,
                ..ack
            };
            flow.on_ack(&Spec::default(), &ack);
        }
    }

    fn event(flow: &mut State, signal: Signal) -> u32 {
        let congestion = Congestion { now: Instant::ZERO, signal, in_flight: 0 };
        flow.on_congestion(&Spec::default(), &congestion);
        flow.on_recovered(&Spec::default(), Instant::ZERO);
        flow.window.packets()
    }

    #[test]
    fn alpha_is_the_closed_form() {
        let mut flow = begun();
        // Without marks alpha falls from 1 by a sixteenth per round trip.
        (0..7).for_each(|_| round(&mut flow, 0));
        let fallen = (15.0f64 / 16.0).powi(7);
        assert!((flow.alpha.value() - fallen).abs() < 1e-12);
        // With a fraction F of marks, the distance to F falls likewise.
        (0..30).for_each(|_| round(&mut flow, 5));
        let distance = (fallen - 0.25) * (15.0f64 / 16.0).powi(30);
        assert!((flow.alpha.value() - 0.25 - distance).abs() < 1e-12);
        // From 0, that is F (1 - (1 - g)^k).
        flow.alpha = Alpha::new(0.0);
        (0..10).for_each(|_| round(&mut flow, 20));
        assert!((flow.alpha.value() - (1.0 - (15.0f64 / 16.0).powi(10))).abs() < 1e-12);
    }

    #[test]
    fn cuts_by_half_of_alpha_and_rounds_the_cut_down() {
        let mut flow = begun();
        flow.window.set(100);
        flow.alpha = Alpha::new(0.25);
        // 12.5 and 11 packets.
        assert_eq!(event(&mut flow, Signal::Mark), 88);
        assert_eq!(event(&mut flow, Signal::Mark), 77);
        assert!(!flow.window.in_slow_start());
        // A reduction of less than one packet is none.
        flow.alpha = Alpha::new(0.025);
        assert_eq!(event(&mut flow, Signal::Mark), 77);
        assert_eq!(event(&mut flow, Signal::Loss), 38);
        flow.alpha = Alpha::new(1.0);
        assert_eq!([0; 5].map(|_| event(&mut flow, Signal::Mark)), [19, 10, 5, 3, 2]);
        assert_eq!(event(&mut flow, Signal::Mark), 2);
    }
}
