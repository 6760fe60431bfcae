//! Reno (RFC 5681): the window grows by one packet per round trip and is halved after congestion.
//! The transport implements the extension of NewReno, to stay in recovery until all packets in
//! flight are acknowledged (RFC 6582).

use floodway_model::Instant;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::{Hystart, SlowStart};
use super::window::{self, Window};
use super::{Ack, Congestion, Control, Needs, Path, Timeout};

/// Parameters of Reno.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How the initial slow start ends. Default `standard` (RFC 5681; Linux's Reno).
    pub slow_start: SlowStart,
    /// Minimum window after a reduction, in packets. Default 2 (RFC 5681, equation 4; Linux).
    pub minimum_window: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { slow_start: SlowStart::Standard, minimum_window: window::MINIMUM }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("minimum_window", self.minimum_window, 1.., window::MINIMUM_IS);
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    window: Window,
    hystart: Hystart,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        Self { window: Window::new(path, spec.minimum_window), hystart: Hystart::default() }
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
        let mut acked = Window::growth(ack);
        if self.window.in_slow_start() {
            acked = self.hystart.slow_start(spec.slow_start, &mut self.window, ack, acked);
        }
        if acked > 0 {
            self.window.grow_as_reno(acked);
        }
    }

    fn on_congestion(&mut self, _: &Spec, _: &Congestion) {
        self.window.reduce(self.window.packets() / 2);
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
    use super::super::{Phase, Signal, conformance};
    use super::*;
    use floodway_model::{Duration, Rate};

    const RTT: Duration = Duration::from_ms(10);

    fn begun() -> State {
        State::new(&Spec::default(), &Path::at(Rate::from_gbps(1)))
    }

    fn acked(flow: &mut State, packets: u32, phase: Phase) -> u32 {
        for _ in 0..packets {
            let ack = conformance::ack(Instant::ZERO, RTT);
            flow.on_ack(&Spec::default(), &Ack { phase, ..ack });
        }
        flow.window.packets()
    }

    fn congestion(signal: Signal) -> Congestion {
        Congestion { now: Instant::ZERO, signal, in_flight: 0 }
    }

    #[test]
    fn doubles_then_adds_one_and_halves() {
        let spec = Spec::default();
        let mut flow = begun();
        assert_eq!(acked(&mut flow, 10, Phase::Open), 20);
        assert_eq!(acked(&mut flow, 20, Phase::Open), 40);
        flow.on_congestion(&spec, &congestion(Signal::Loss));
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(20 * 1_448));
        // Not until the packets in flight at that time are acknowledged.
        assert_eq!(acked(&mut flow, 100, Phase::Recovery), 20);
        assert_eq!(acked(&mut flow, 100, Phase::Reducing), 20);
        flow.on_recovered(&spec, Instant::ZERO);
        assert_eq!(acked(&mut flow, 19, Phase::Open), 20);
        assert_eq!(acked(&mut flow, 1, Phase::Open), 21);
        assert_eq!(acked(&mut flow, 21, Phase::Open), 22);
        // Half of an odd window is rounded down.
        assert_eq!(acked(&mut flow, 22, Phase::Open), 23);
        flow.on_congestion(&spec, &congestion(Signal::Mark));
        assert_eq!(flow.window.packets(), 11);
    }

    #[test]
    fn a_timeout_begins_again_up_to_half() {
        let spec = Spec::default();
        let mut flow = begun();
        acked(&mut flow, 30, Phase::Open);
        let timeout = Timeout { now: Instant::ZERO, in_flight: 40, again: false };
        flow.on_timeout(&spec, &timeout);
        assert_eq!(flow.window.packets(), 1);
        // The threshold stays when the timer expires again.
        flow.on_timeout(&spec, &Timeout { again: true, ..timeout });
        assert_eq!(acked(&mut flow, 19, Phase::Loss), 20);
        assert_eq!(acked(&mut flow, 19, Phase::Loss), 20);
        assert_eq!(acked(&mut flow, 1, Phase::Loss), 21);
        flow.on_undo(&spec, Instant::ZERO);
        assert_eq!(flow.window.packets(), 40);
        assert!(flow.window.in_slow_start());
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut flow = begun();
        let ack = conformance::ack(Instant::ZERO, RTT);
        flow.on_ack(&Spec::default(), &Ack { window_limited: false, ..ack });
        assert_eq!(flow.window.packets(), 10);
    }
}
