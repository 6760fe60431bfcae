//! A rate controlled by switches. On a backward layer 2 indication (`switch.congestion_indication`)
//! the sender reduces its rate, by an amount that depends on the severity of congestion but never
//! to zero, and then raises it step by step until it sends at line rate (US patent 7,474,616). This
//! is for traffic without TCP, which has neither acknowledgements nor marks to react to.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::{Control, Needs, Path};
use crate::host::transport;

/// Parameters of the indicated rate. The patent gives no values; all numbers are assumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Fraction by which an indication of full severity reduces the rate, above 0 and at most 1; a
    /// lower severity reduces it by n/256 of that. A CNP has full severity. Default 0.5 (assumed).
    pub max_decrease: f64,
    /// Minimum time between two decreases; with RoCEv2 also between two CNPs of a flow at its
    /// receiver. Default 25us (assumed: half the minimum interval between the indications of a
    /// switch, so that none of them arrives too soon).
    pub hold: Duration,
    /// Increase of the rate after every `period` without a decrease. Default 100Mbps (assumed).
    pub increase: Rate,
    /// Time from a decrease to the first increase, and between increases. Default 50us (assumed).
    pub period: Duration,
    /// Minimum rate. Default 10Mbps (assumed).
    pub min_rate: Rate,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            max_decrease: 0.5,
            hold: Duration::from_us(25),
            increase: Rate::from_mbps(100),
            period: Duration::from_us(50),
            min_rate: Rate::from_mbps(10),
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("max_decrease", self.max_decrease, "0.5 takes half of the rate");
        findings.positive("period", self.period, "");
        let why = "with zero the rate would never rise again; for example \"10Mbps\"";
        findings.positive("increase", self.increase, why);
        let why = "a flow at rate zero would never send again; for example \"10Mbps\"";
        findings.positive("min_rate", self.min_rate, why);
    }
}

/// State of one flow, which sends at line rate until the first indication.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire.
    line_rate: f64,
    current: f64,
    /// Time before which there is no further decrease.
    held_until: Instant,
    /// Time of the next increase; never while at line rate.
    increase_at: Instant,
}

impl State {
    /// State of a new flow.
    pub fn new(_: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        let (held_until, increase_at) = (Instant::ZERO, Instant::NEVER);
        Self { line_rate, current: line_rate, held_until, increase_at }
    }

    /// Processes all timer events since the last call.
    #[inline]
    fn catch_up(&mut self, spec: &Spec, now: Instant) {
        if self.increase_at > now {
            return;
        }
        let periods = now.since(self.increase_at).0 / spec.period.0 + 1;
        self.current += periods as f64 * spec.increase.0 as f64;
        if self.current < self.line_rate {
            self.increase_at += spec.period * periods;
        } else {
            self.current = self.line_rate;
            self.increase_at = Instant::NEVER;
        }
    }

    /// Reduces the rate; `parts` is the severity in 256ths.
    fn decrease(&mut self, spec: &Spec, now: Instant, parts: f64) {
        self.catch_up(spec, now);
        if now < self.held_until {
            return;
        }
        let least = (spec.min_rate.0 as f64).min(self.current);
        let left = 1.0 - spec.max_decrease * parts / 256.0;
        self.current = (self.current * left).max(least);
        self.held_until = now + spec.hold;
        self.increase_at = now + spec.period;
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Indications
    }

    #[inline]
    fn cnp_interval(spec: &Spec) -> Option<Duration> {
        Some(spec.hold)
    }

    #[inline]
    fn rate(&mut self, spec: &Spec, now: Instant) -> Option<f64> {
        self.catch_up(spec, now);
        (self.current < self.line_rate).then_some(self.current)
    }

    fn on_cnp(&mut self, spec: &Spec, now: Instant) {
        self.decrease(spec, now, 256.0);
    }

    fn on_indication(&mut self, spec: &Spec, now: Instant, severity: u8) {
        self.decrease(spec, now, f64::from(severity) + 1.0);
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        let indication = around.switch.congestion_indication.as_ref();
        // RoCEv2 also has notifications of marks.
        let rocev2 = matches!(around.transport, transport::Spec::Rocev2(_));
        if indication.is_some_and(|spec| spec.backward)
            || rocev2 && around.switch.no_marks().is_none()
        {
            return;
        }
        findings.warn(
            ["/switch.congestion_indication", ""],
            "`indicated_rate` relies on backward indications, but no switch sends any",
            format!(
                "write backward = true in [switch.congestion_indication], or choose {}",
                around.other("line_rate")
            ),
        );
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "10Mbps", findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant(us * 1_000_000)
    }

    /// A flow at 10 Gb/s.
    fn flow(spec: &Spec) -> State {
        State::new(spec, &Path::at(Rate::from_gbps(10)))
    }

    #[test]
    fn it_drops_by_the_severity_and_rises_again() {
        let spec = Spec { hold: Duration::from_us(50), ..Spec::default() };
        let mut flow = flow(&spec);
        assert_eq!(flow.rate(&spec, us(99)), None);
        // Full severity: half. 128 of 256 parts: a quarter; 64: an eighth.
        flow.on_indication(&spec, us(100), 255);
        assert_eq!(flow.rate(&spec, us(100)), Some(5e9));
        // No further decrease within 50 us.
        flow.on_indication(&spec, us(149), 255);
        assert_eq!(flow.rate(&spec, us(149)), Some(5e9));
        // At 150 us the rate has risen by 100 Mb/s, and is reduced to three quarters of that.
        flow.on_indication(&spec, us(150), 127);
        assert_eq!(flow.rate(&spec, us(150)), Some(3.825e9));
        // Increases at 200, 250 and 300 us.
        assert_eq!(flow.rate(&spec, us(199)), Some(3.825e9));
        assert_eq!(flow.rate(&spec, us(250)), Some(4.025e9));
        flow.on_indication(&spec, us(300), 63);
        assert_eq!(flow.rate(&spec, us(300)), Some(4.125e9 * 0.875));
        // 6.390625 Gb/s remain to 10 Gb/s: 64 periods.
        assert_eq!(flow.rate(&spec, us(300 + 63 * 50)), Some(3.609375e9 + 6.3e9));
        assert_eq!(flow.rate(&spec, us(300 + 64 * 50)), None);
        assert_eq!(flow.increase_at, Instant::NEVER);
    }

    #[test]
    fn a_notification_is_of_full_severity() {
        let spec = Spec { max_decrease: 0.25, hold: Duration::from_us(10), ..Spec::default() };
        let mut flow = flow(&spec);
        let rates = [0, 10, 20].map(|at| {
            flow.on_cnp(&spec, us(at));
            flow.rate(&spec, us(at)).unwrap()
        });
        assert_eq!(rates, [7.5e9, 5.625e9, 4.21875e9]);
    }

    #[test]
    fn it_never_stops() {
        let spec = Spec { max_decrease: 1.0, hold: Duration::ZERO, ..Spec::default() };
        let mut flow = flow(&spec);
        flow.on_indication(&spec, us(1), 255);
        assert_eq!(flow.rate(&spec, us(1)), Some(1e7));
        flow.on_indication(&spec, us(2), 255);
        assert_eq!(flow.rate(&spec, us(2)), Some(1e7));
        // A link slower than the minimum rate.
        let mut slow = State::new(&spec, &Path::at(Rate::from_mbps(1)));
        slow.on_indication(&spec, us(1), 255);
        assert_eq!(slow.rate(&spec, us(1)), None);
    }

    #[test]
    fn it_catches_up_on_any_time_at_once() {
        let spec = Spec { increase: Rate(1), ..Spec::default() };
        let (mut once, mut often) = (flow(&spec), flow(&spec));
        for flow in [&mut once, &mut often] {
            flow.on_indication(&spec, us(0), 255);
        }
        for at in 0..10_000 {
            often.rate(&spec, us(at));
        }
        // 199 periods: at 50 us, and every 50 us until 9950 us.
        assert_eq!(once.rate(&spec, us(9_999)), Some(5e9 + 199.0));
        assert_eq!(often.rate(&spec, us(9_999)), Some(5e9 + 199.0));
    }
}
