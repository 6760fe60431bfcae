//! Quantized congestion notification, QCN (IEEE 802.1Qau-2010, now clauses 30 to 33 of IEEE 802.1Q):
//! the reaction point. A message from a congestion point
//! ([`flow_control::qcn`](crate::switch::flow_control::qcn)) cuts the rate according to its feedback.
//! A byte counter and a timer raise it again, each in stages: fast recovery halves the distance to the
//! rate before the cut each time. After that the target rises too, slowly if only one of the two is
//! past fast recovery, and with growing steps if both are (`au-rong-qcn-serial-hai` pseudo-code,
//! 2007).
//!
//! Each flow has a reaction point of its own, which the standard allows; the default of the standard
//! is one for all frames that a port sends with a priority. QCN needs no acknowledgements, so it works
//! with any transport that leaves the rate to it.

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::{Control, Needs, Path};
use crate::switch::flow_control::qcn::JITTER;

/// Parameters of QCN. The defaults are those of IEEE8021-CN-MIB, which are for links of 10 Gb/s; on
/// faster links rates rise proportionally more slowly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Gd, the decrease gain: a message reduces the rate by this fraction for each of the 63 steps
    /// of its feedback. Default 0.0078125 (2^-7, `ieee8021CnRpgGd`): the strongest reduces it by
    /// nearly half.
    pub gd: f64,
    /// Minimum factor by which one message multiplies the rate, 0 to below 1. Default 0.5
    /// (`ieee8021CnRpgMinDecFac`).
    pub min_dec_fac: f64,
    /// Bytes per stage of the byte counter, including preamble and gap; half as many from stage
    /// `threshold` on. Default 150000B (`ieee8021CnRpgByteReset`).
    pub byte_reset: Bytes,
    /// Time per stage of the timer; half as long from stage `threshold` on. Default 15ms
    /// (`ieee8021CnRpgTimeReset`).
    pub time_reset: Duration,
    /// Number of stages of fast recovery. Default 5 (`ieee8021CnRpgThreshold`).
    pub threshold: u32,
    /// R_AI: growth of the target while one of byte counter and timer is past fast recovery. Default
    /// 5Mbps (`ieee8021CnRpgAiRate`).
    pub ai_rate: Rate,
    /// R_HAI: growth of the target while both are past fast recovery, multiplied by the number of
    /// stages that the slower one is past it. Default 50Mbps (`ieee8021CnRpgHaiRate`).
    pub hai_rate: Rate,
    /// Minimum rate. Default 5Mbps (`ieee8021CnRpgMinRate`).
    pub min_rate: Rate,
    /// Relative jitter: the fraction by which stages of byte counter and timer vary at random, 0 to
    /// below 1. Default 0.15 (the pseudo-code).
    pub jitter: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            gd: 1.0 / 128.0,
            min_dec_fac: 0.5,
            byte_reset: Bytes(150_000),
            time_reset: Duration::from_ms(15),
            threshold: 5,
            ai_rate: Rate::from_mbps(5),
            hai_rate: Rate::from_mbps(50),
            min_rate: Rate::from_mbps(5),
            jitter: 0.15,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("gd", self.gd, "the standard has 0.0078125 (1/128)");
        let why = "a message leaves at least this part of the rate; the standard has 0.5";
        findings.range("min_dec_fac", self.min_dec_fac, 0.0..1.0, why);
        let why = "with zero the rate would rise with every packet; the standard has 150000B";
        findings.positive("byte_reset", self.byte_reset, why);
        findings.positive("time_reset", self.time_reset, "");
        findings.range("jitter", self.jitter, 0.0..1.0, JITTER);
        for (field, rate, why) in [
            (
                "ai_rate",
                self.ai_rate,
                "with zero the rate would never rise beyond the target; for example \"5Mbps\"",
            ),
            (
                "hai_rate",
                self.hai_rate,
                "with zero the rate would stop rising after some time; for example \"50Mbps\"",
            ),
            (
                "min_rate",
                self.min_rate,
                "a flow at rate zero would never send again; for example \"5Mbps\"",
            ),
        ] {
            findings.positive(field, rate, why);
        }
    }
}

/// State of one flow. Until the first message, and again once it has recovered, it sends at line
/// rate and neither counter nor timer runs.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire.
    line_rate: f64,
    /// CR and TR.
    current: f64,
    target: f64,
    /// Bytes until the byte counter expires.
    left: f64,
    /// Expiry of the timer; never without a rate limit.
    expires_at: Instant,
    /// Number of expirations since the last cut.
    byte_stage: u32,
    time_stage: u32,
    rng: Stream,
}

impl State {
    /// State of a new flow.
    pub fn new(_: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        Self {
            line_rate,
            current: line_rate,
            target: line_rate,
            left: 0.0,
            expires_at: Instant::NEVER,
            byte_stage: 0,
            time_stage: 0,
            rng: Stream::named(path.seed, "qcn"),
        }
    }

    /// Whether its rate is limited.
    #[inline]
    fn is_limited(&self) -> bool {
        self.expires_at != Instant::NEVER
    }

    /// Length of stage `stage`, as a fraction of a full one.
    fn part(&mut self, spec: &Spec, stage: u32) -> f64 {
        let part = if stage < spec.threshold { 1.0 } else { 0.5 };
        part * (1.0 + spec.jitter * (2.0 * self.rng.unit() - 1.0))
    }

    fn restart_counter(&mut self, spec: &Spec) {
        self.left = spec.byte_reset.0 as f64 * self.part(spec, self.byte_stage);
    }

    fn restart_timer(&mut self, spec: &Spec, from: Instant) {
        let time = spec.time_reset.0 as f64 * self.part(spec, self.time_stage);
        self.expires_at = from + Duration((time as u64).max(1));
    }

    /// Processes all timer events since the last call.
    #[inline]
    fn catch_up(&mut self, spec: &Spec, now: Instant) {
        while self.expires_at <= now {
            let at = self.expires_at;
            self.time_stage += 1;
            self.restart_timer(spec, at);
            self.increase(spec);
        }
    }

    /// Byte counter or timer has expired; its stage has counted the expiration already.
    fn increase(&mut self, spec: &Spec) {
        let (bytes, time) = (self.byte_stage, self.time_stage);
        let past = |stage: u32| stage.saturating_sub(spec.threshold);
        let both = past(bytes.min(time));
        if both > 0 {
            self.target += spec.hai_rate.0 as f64 * f64::from(both);
        } else if past(bytes.max(time)) > 0 {
            self.target += spec.ai_rate.0 as f64;
        }
        // After many cuts from one target, do not return to it at once.
        if (bytes == 1 || time == 1) && self.target > 10.0 * self.current {
            self.target /= 8.0;
        }
        self.current = (self.current + self.target) / 2.0;
        if self.current >= self.line_rate {
            // At line rate nothing is held back, so the limit is released.
            (self.current, self.target) = (self.line_rate, self.line_rate);
            (self.byte_stage, self.time_stage) = (0, 0);
            self.expires_at = Instant::NEVER;
        }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Messages
    }

    #[inline]
    fn rate(&mut self, spec: &Spec, now: Instant) -> Option<f64> {
        self.catch_up(spec, now);
        self.is_limited().then_some(self.current)
    }

    #[inline]
    fn on_send(&mut self, spec: &Spec, now: Instant, bytes: u64) {
        self.catch_up(spec, now);
        if !self.is_limited() {
            return;
        }
        self.left -= bytes as f64;
        if self.left <= 0.0 {
            self.byte_stage += 1;
            self.restart_counter(spec);
            self.increase(spec);
        }
    }

    fn on_cnm(&mut self, spec: &Spec, now: Instant, feedback: u8) {
        self.catch_up(spec, now);
        // The flow recovers from consecutive cuts together.
        if self.byte_stage > 0 || self.time_stage > 0 {
            self.target = self.current;
        }
        let factor = (1.0 - spec.gd * f64::from(feedback)).max(spec.min_dec_fac);
        let least = (spec.min_rate.0 as f64).min(self.current);
        self.current = (self.current * factor).max(least);
        (self.byte_stage, self.time_stage) = (0, 0);
        self.restart_counter(spec);
        self.restart_timer(spec, now);
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        if around.switch.flow_control.qcn.is_none() {
            findings.warn(
                "",
                "`qcn` obeys congestion points, and no switch has any",
                format!("add [switch.flow_control.qcn], or choose {}", around.other("line_rate")),
            );
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "5Mbps", findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: f64 = 10e9;

    /// The standard's parameters, without jitter.
    fn spec() -> Spec {
        Spec { jitter: 0.0, ..Spec::default() }
    }

    fn flow(spec: &Spec) -> State {
        State::new(spec, &Path::at(Rate::from_gbps(10)))
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn cuts_by_hand() {
        let spec = spec();
        let mut flow = flow(&spec);
        assert_eq!(flow.rate(&spec, ms(9)), None);
        // 1 - 32/128 = 3/4; the target stays at the rate before the first of several cuts.
        flow.on_cnm(&spec, ms(10), 32);
        assert_eq!((flow.rate(&spec, ms(10)), flow.target), (Some(7.5e9), LINE));
        // 1 - 63/128 = 65/128.
        flow.on_cnm(&spec, ms(11), 63);
        assert_eq!((flow.rate(&spec, ms(11)), flow.target), (Some(7.5e9 * 65.0 / 128.0), LINE));
        // With a larger gain the cut is at most half.
        let steep = Spec { gd: 1.0 / 64.0, ..spec.clone() };
        let before = flow.current;
        flow.on_cnm(&steep, ms(12), 63);
        assert_eq!(flow.current, before / 2.0);
        // Never below the minimum rate; the lowest feedback is 1.
        (0..100).for_each(|_| flow.on_cnm(&spec, ms(13), 63));
        assert_eq!(flow.rate(&spec, ms(13)), Some(5e6));
        flow.current = 1e9;
        flow.on_cnm(&spec, ms(14), 1);
        assert_eq!(flow.current, 1e9 * 127.0 / 128.0);
    }

    #[test]
    fn stages_by_hand() {
        let spec = spec();
        let mut flow = flow(&spec);
        flow.on_cnm(&spec, ms(0), 63);
        // Fast recovery by bytes: half of the distance to 10 Gb/s five times, each after 150,000
        // bytes.
        let mut current = LINE * 65.0 / 128.0;
        for stage in 1..=5 {
            flow.on_send(&spec, ms(0), 149_999);
            assert_eq!((flow.current, flow.byte_stage), (current, stage - 1));
            flow.on_send(&spec, ms(0), 1);
            current = f64::midpoint(current, LINE);
            assert_eq!((flow.current, flow.target), (current, LINE), "{stage}");
        }
        // 1/32 of the cut remains: 63/128/32 of 10 Gb/s, 153.8 Mb/s.
        assert_eq!(flow.current, LINE - LINE * 63.0 / 128.0 / 32.0);
        // A new cut starts from there: the target is the rate before it.
        let before = flow.current;
        flow.on_cnm(&spec, ms(1), 32);
        assert_eq!((flow.target, flow.current), (before, before * 0.75));
        assert_eq!((flow.byte_stage, flow.time_stage, flow.left), (0, 0, 150_000.0));
        // Fast recovery by the timer, at 16, 31, 46, 61 and 76 ms.
        assert_eq!(flow.rate(&spec, Instant(ms(76).0 - 1)).unwrap(), before - before * 0.25 / 16.0);
        assert_eq!(flow.rate(&spec, ms(76)).unwrap(), before - before * 0.25 / 32.0);
        // Active increase every 7.5 ms from then on: the target grows by 5 Mb/s each time.
        let (mut current, mut target) = (flow.current, before);
        for expiration in 1..=4 {
            let at = ms(76) + Duration::from_us(7_500) * expiration;
            assert_eq!(flow.rate(&spec, Instant(at.0 - 1)), Some(current));
            target += 5e6;
            current = f64::midpoint(current, target);
            assert_eq!(flow.rate(&spec, at), Some(current), "{expiration}");
        }
        // The timer is at stage 9. The byte counter passes its five stages, with active increase
        // because one of the two is past fast recovery.
        for _ in 0..5 {
            flow.on_send(&spec, ms(107), 150_000);
            target += 5e6;
        }
        // A stage is now 75,000 bytes. Both are past fast recovery: hyper-active increase by 50
        // Mb/s times the number of stages that the byte counter is past it, 1 and 2.
        flow.on_send(&spec, ms(107), 75_000);
        assert_eq!(flow.target, target + 50e6);
        flow.on_send(&spec, ms(107), 75_000);
        assert_eq!((flow.target, flow.byte_stage), (target + 150e6, 7));
    }

    #[test]
    fn a_target_out_of_reach_is_brought_down() {
        let spec = spec();
        let mut flow = flow(&spec);
        // Six cuts to 65/128 leave 171 Mb/s of 10 Gb/s; the target is 10 Gb/s.
        (0..6).for_each(|_| flow.on_cnm(&spec, ms(0), 63));
        let left = LINE * (65.0f64 / 128.0).powi(6);
        assert!((flow.current - left).abs() < 1.0);
        // The first stage reduces the target to an eighth, and the rate goes half of the way there.
        flow.rate(&spec, ms(15));
        assert_eq!(flow.target, LINE / 8.0);
        assert!((flow.current - f64::midpoint(left, 1.25e9)).abs() < 1.0);
        // The first stage of the byte counter leaves the target: 1.25 Gb/s is less than ten times
        // the rate.
        flow.on_send(&spec, ms(15), 150_000);
        assert_eq!((flow.target, flow.byte_stage), (LINE / 8.0, 1));
    }

    #[test]
    fn at_line_rate_the_limit_is_released() {
        let spec = spec();
        let mut flow = flow(&spec);
        flow.on_cnm(&spec, ms(0), 1);
        // The target was the line rate: after fast recovery 5 Mb/s more bring the rate there. The
        // cut was 78.1 Mb/s, of which 2.4 Mb/s remain after five stages.
        (0..5).for_each(|_| flow.on_send(&spec, ms(0), 150_000));
        assert_eq!(flow.rate(&spec, ms(0)), Some(LINE - LINE / 128.0 / 32.0));
        flow.on_send(&spec, ms(0), 75_000);
        assert_eq!(flow.rate(&spec, ms(0)), None);
        // Nothing runs, and the next message starts from the beginning.
        flow.on_send(&spec, ms(1), 1_000_000);
        assert_eq!((flow.rate(&spec, ms(900)), flow.byte_stage, flow.time_stage), (None, 0, 0));
        flow.on_cnm(&spec, ms(900), 64 / 2);
        assert_eq!((flow.rate(&spec, ms(900)), flow.target), (Some(7.5e9), LINE));
    }

    #[test]
    fn it_catches_up_on_any_time_at_once() {
        let spec = Spec::default();
        let (mut once, mut often) = (flow(&spec), flow(&spec));
        for flow in [&mut once, &mut often] {
            (0..6).for_each(|_| flow.on_cnm(&spec, ms(0), 63));
        }
        // It has not returned to line rate by then.
        for at in 0..3_000 {
            often.rate(&spec, ms(at));
        }
        assert_eq!(once.rate(&spec, ms(2_999)), often.rate(&spec, ms(2_999)));
        assert_eq!(once.time_stage, often.time_stage);
        assert!(once.time_stage > 300, "{}", once.time_stage);
    }

    #[test]
    fn stages_are_more_or_less_as_long() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        let lengths: Vec<(f64, f64)> = (0..10_000)
            .map(|_| {
                flow.on_cnm(&spec, ms(0), 1);
                (flow.left / 150e3, flow.expires_at.0 as f64 / ms(15).0 as f64)
            })
            .collect();
        let within = |part: &f64| (0.85..1.15).contains(part);
        assert!(lengths.iter().all(|(bytes, time)| within(bytes) && within(time)));
        // The jitter has width 0.3 and standard deviation 0.0866; five standard errors of the mean
        // of 10,000 are 0.0043.
        let mean = |sum: f64| (sum / 1e4 - 1.0).abs() < 0.0043;
        assert!(mean(lengths.iter().map(|length| length.0).sum()));
        assert!(mean(lengths.iter().map(|length| length.1).sum()));
    }
}
