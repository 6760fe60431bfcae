//! DCQCN (Zhu et al., SIGCOMM 2015): the reaction point of RoCEv2. A congestion notification packet
//! (CNP) cuts the rate by a factor that follows the fraction of time with congestion; a timer and,
//! optionally, a byte counter raise it again in three phases.
//!
//! Published versions differ in when alpha is updated and when a cut happens ([`Variant`]).

mod spec;

use floodway_model::check::Findings;
use floodway_model::{Duration, Instant};

use super::check::{Around, Network};
use super::{Control, Needs, Path};

pub use spec::{Notification, Spec, Variant};

/// One flow at its reaction point. Until the first CNP it sends at line rate and no timers run.
#[derive(Debug)]
#[repr(C)]
pub struct State {
    /// The earliest of the times below; before it there is nothing to update.
    next: Instant,
    line_rate: f64,
    /// R_C of the paper, bits per second on the wire.
    current: f64,
    /// Window at line rate, in bytes of payload.
    window: Option<u64>,
    /// R_T of the paper.
    target: f64,
    alpha: f64,
    /// Time at which alpha decays or, except for `paper`, is updated.
    alpha_at: Instant,
    /// Whether a CNP has arrived since alpha was updated (not `paper`).
    cnp_for_alpha: bool,
    /// Whether a CNP has arrived that has not cut the rate yet (not `paper`).
    cnp_for_cut: bool,
    /// Time before which there is no further cut (`nic`), or of the next check whether to cut
    /// (`periodic`).
    cut_at: Instant,
    /// Expiry of the increase timer.
    increase_at: Instant,
    /// Expirations of timer and byte counter since the last cut: T and BC of the paper.
    timer_stage: u32,
    byte_stage: u32,
    bytes: u64,
}

impl State {
    /// A new flow: line rate and the initial alpha.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate;
        let window = spec.window.map(|time| line_rate.bytes_in(time).0);
        let line_rate = line_rate.0 as f64;
        Self {
            line_rate,
            window,
            current: line_rate,
            target: line_rate,
            alpha: spec.initial_alpha,
            alpha_at: Instant::NEVER,
            cnp_for_alpha: false,
            cnp_for_cut: false,
            cut_at: Instant::ZERO,
            increase_at: Instant::NEVER,
            timer_stage: 0,
            byte_stage: 0,
            bytes: 0,
            next: Instant::NEVER,
        }
    }

    /// Processes all timer events since the last call, in order.
    #[inline]
    fn catch_up(&mut self, spec: &Spec, now: Instant) {
        while self.next <= now {
            let at = self.next;
            // At equal times alpha is updated first, so that a cut uses it, and a cut comes before
            // an increase.
            if self.alpha_at == at {
                self.on_alpha_timer(spec);
            } else if self.cnp_for_cut && self.cut_at == at {
                self.cut(spec, at);
            } else {
                self.timer_stage += 1;
                self.increase(spec);
                self.increase_at = at + spec.increase_timer;
            }
            self.set_next();
        }
    }

    fn set_next(&mut self) {
        let cut = if self.cnp_for_cut { self.cut_at } else { Instant::NEVER };
        self.next = self.alpha_at.min(cut).min(self.increase_at);
    }

    fn on_alpha_timer(&mut self, spec: &Spec) {
        let seen = std::mem::take(&mut self.cnp_for_alpha);
        self.alpha = (1.0 - spec.g) * self.alpha + if seen { spec.g } else { 0.0 };
        self.alpha_at += spec.alpha_timer;
    }

    fn cut(&mut self, spec: &Spec, now: Instant) {
        let clamp = spec.clamp_target || spec.variant == Variant::Paper;
        if clamp || self.timer_stage > 0 || self.byte_stage > 0 {
            self.target = self.current;
        }
        let factor = (1.0 - self.alpha / 2.0).max(spec.min_decrease_factor);
        self.current = (self.current * factor).max(spec.min_rate.0 as f64);
        (self.timer_stage, self.byte_stage, self.bytes) = (0, 0, 0);
        self.increase_at = now + spec.increase_timer;
        self.cnp_for_cut = false;
        self.cut_at = now + spec.cut_interval;
    }

    /// Handles one expiration of the timer or the byte counter, which is already counted in its
    /// stage.
    fn increase(&mut self, spec: &Spec) {
        let (timer, bytes, recovery) = (self.timer_stage, self.byte_stage, spec.fast_recovery);
        let growth = if spec.byte_counter.0 == 0 && spec.variant != Variant::Paper {
            match timer {
                _ if timer <= recovery => 0,
                _ if timer == recovery + 1 => spec.additive_increase.0,
                _ => spec.hyper_increase.0,
            }
        } else if timer.max(bytes) <= recovery {
            0
        } else if timer.min(bytes) > recovery {
            spec.hyper_increase.0
        } else {
            spec.additive_increase.0
        };
        let scale = spec.reference_rate.map_or(1.0, |rate| self.line_rate / rate.0 as f64);
        self.target = (self.target + growth as f64 * scale).min(self.line_rate);
        self.current = (self.current + self.target) / 2.0;
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Notifications
    }

    #[inline]
    fn marks_are_notifications(spec: &Spec) -> bool {
        spec.notification == Notification::Ack
    }

    #[inline]
    fn cnp_interval(spec: &Spec) -> Option<Duration> {
        (spec.notification == Notification::Cnp).then_some(spec.cnp_interval)
    }

    fn initial_window(spec: &Spec, _: Duration) -> Option<Duration> {
        spec.window
    }

    #[inline]
    fn rate(&mut self, spec: &Spec, now: Instant) -> Option<f64> {
        self.catch_up(spec, now);
        (self.current < self.line_rate).then_some(self.current)
    }

    #[inline]
    fn window(&mut self, spec: &Spec, now: Instant) -> Option<u64> {
        let at_line_rate = self.window?;
        if !spec.window_follows_rate {
            return Some(at_line_rate);
        }
        self.catch_up(spec, now);
        Some((at_line_rate as f64 * (self.current / self.line_rate)) as u64)
    }

    #[inline]
    fn on_send(&mut self, spec: &Spec, now: Instant, bytes: u64) {
        if spec.byte_counter.0 == 0 {
            return;
        }
        self.catch_up(spec, now);
        // The byte counter runs from the first cut on, as the increase timer does.
        if self.increase_at == Instant::NEVER {
            return;
        }
        self.bytes += bytes;
        if self.bytes >= spec.byte_counter.0 {
            self.bytes -= spec.byte_counter.0;
            self.byte_stage += 1;
            self.increase(spec);
        }
    }

    fn on_cnp(&mut self, spec: &Spec, now: Instant) {
        self.catch_up(spec, now);
        match spec.variant {
            Variant::Paper => {
                // Section 3.2, equation 1: the cut uses alpha before its update.
                self.cut(spec, now);
                self.alpha = (1.0 - spec.g) * self.alpha + spec.g;
                self.alpha_at = now + spec.alpha_timer;
            }
            Variant::Nic => {
                if self.alpha_at == Instant::NEVER {
                    self.alpha_at = now + spec.alpha_timer;
                }
                self.cnp_for_alpha = true;
                self.cnp_for_cut = true;
                self.cut_at = self.cut_at.max(now);
            }
            Variant::Periodic => {
                if self.alpha_at == Instant::NEVER {
                    // The first CNP starts the timers and does not count towards alpha.
                    self.alpha_at = now + spec.alpha_timer;
                    self.cut_at = now + spec.cut_interval;
                } else {
                    self.cnp_for_alpha = true;
                    if self.cut_at <= now {
                        let periods = now.since(self.cut_at).0 / spec.cut_interval.0 + 1;
                        self.cut_at += spec.cut_interval * periods;
                    }
                }
                self.cnp_for_cut = true;
            }
        }
        self.set_next();
        self.catch_up(spec, now);
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        // Backward indications count like marks, and so do the marks of trimmed packets.
        let indication = around.switch.congestion_indication.as_ref();
        let trims = around.switch.overflow.trims().is_some_and(|spec| spec.mark);
        if indication.is_some_and(|spec| spec.backward)
            || trims && around.transport.understands_trimming()
        {
            return;
        }
        if let Some(place) = around.switch.no_marks() {
            around.nothing_marks(place, "ramp", findings);
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "100Mbps", findings);
        spec.check_window(network, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Bytes, Duration, Rate};

    const LINE: f64 = 100e9;

    fn us(us: u64) -> Instant {
        Instant(us * 1_000_000)
    }

    /// The timers of NICs and no byte counter, with the paper's increases.
    fn quick() -> Spec {
        Spec {
            variant: Variant::Nic,
            cnp_interval: Duration::from_us(4),
            alpha_timer: Duration::from_us(1),
            byte_counter: Bytes(0),
            ..Spec::default()
        }
    }

    fn with(spec: &Spec) -> State {
        State::new(spec, &Path::at(Rate::from_gbps(100)))
    }

    fn begun() -> State {
        with(&quick())
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b
    }

    #[test]
    fn paper_cut_and_recovery_by_hand() {
        let spec = Spec {
            variant: Variant::Paper,
            alpha_timer: Duration::from_us(55),
            g: 1.0 / 16.0,
            ..quick()
        };
        let mut flow = begun();
        assert_eq!(flow.rate(&spec, us(5)), None);
        flow.on_cnp(&spec, us(10));
        // alpha 1: the rate is halved; the target is unchanged.
        assert_eq!(flow.rate(&spec, us(10)), Some(LINE / 2.0));
        // Each of five 55 us steps halves the distance to the target: 1 - 2^-6 of the line rate
        // after the fifth.
        let after = |n: i32| LINE * (1.0 - 0.5f64.powi(n + 1));
        assert!(near(flow.rate(&spec, us(10 + 55)).unwrap(), after(1)));
        assert!(near(flow.rate(&spec, us(10 + 5 * 55)).unwrap(), after(5)));
        // alpha stayed 1 at the CNP and has decayed five times since.
        assert!(near(flow.alpha, (15.0f64 / 16.0).powi(5)));
    }

    #[test]
    fn target_grows_after_fast_recovery() {
        let spec = Spec { variant: Variant::Paper, ..quick() };
        let mut flow = begun();
        // Two CNPs: target 50 Gb/s, current about 25.
        flow.on_cnp(&spec, us(0));
        flow.on_cnp(&spec, us(1));
        assert!(near(flow.target, 50e9));
        flow.rate(&spec, us(1 + 5 * 55));
        assert!(near(flow.target, 50e9));
        flow.rate(&spec, us(1 + 7 * 55));
        assert!(near(flow.target, 50e9 + 2.0 * 40e6));
    }

    #[test]
    fn nic_cuts_at_most_once_per_interval() {
        let spec = quick();
        let mut flow = begun();
        flow.on_cnp(&spec, us(100));
        assert_eq!(flow.rate(&spec, us(100)), Some(LINE / 2.0));
        flow.on_cnp(&spec, us(101));
        flow.on_cnp(&spec, us(102));
        assert_eq!(flow.rate(&spec, us(103)), Some(LINE / 2.0));
        // At 104 us there is one more cut; alpha had three updates with a CNP (at 101, 102, 103,
        // the first by the CNP at 100) and one without (104): it is 1 - g.
        let alpha = 1.0 - spec.g;
        assert!(near(flow.rate(&spec, us(104)).unwrap(), LINE / 2.0 * (1.0 - alpha / 2.0)));
        assert!(near(flow.rate(&spec, us(120)).unwrap(), flow.current));
    }

    #[test]
    fn periodic_asks_on_a_grid_that_the_first_cnp_begins() {
        let spec = Spec { variant: Variant::Periodic, ..quick() };
        let mut flow = begun();
        flow.on_cnp(&spec, us(100));
        assert_eq!(flow.rate(&spec, us(103)), None);
        // At 104 us, by an alpha that has decayed four times; the single CNP does not raise it.
        let rest = 255.0f64 / 256.0;
        let first = LINE * (1.0 - rest.powi(4) / 2.0);
        assert!(near(flow.rate(&spec, us(104)).unwrap(), first));
        // No CNP arrived until 108, nor until 112: the CNP at 113 takes effect at 116. Alpha decays
        // nine times until 113, is raised once at 114, and decays twice more.
        flow.on_cnp(&spec, us(113));
        assert!(near(flow.rate(&spec, us(115)).unwrap(), first));
        let alpha = (rest.powi(13) * rest + 1.0 / 256.0) * rest * rest;
        assert!(near(flow.rate(&spec, us(116)).unwrap(), first * (1.0 - alpha / 2.0)));
        // The increase timer runs from the cut; the flow recovers from both cuts together.
        assert!(near(flow.target, LINE));
        assert!(near(flow.rate(&spec, us(170)).unwrap(), first * (1.0 - alpha / 2.0)));
        let half_way = (first * (1.0 - alpha / 2.0) + LINE) / 2.0;
        assert!(near(flow.rate(&spec, us(171)).unwrap(), half_way));
    }

    #[test]
    fn periodic_cuts_in_every_period_with_a_cnp() {
        let spec = Spec { variant: Variant::Periodic, g: 1e-9, ..quick() };
        let mut flow = begun();
        // A mark in every acknowledgement, one per microsecond: the rate is halved at 14, 18 and 22
        // us.
        let mut rates = Vec::new();
        for at in 10..=22 {
            rates.push(flow.rate(&spec, us(at)).map_or(100, |rate| (rate / 1e9).round() as u64));
            flow.on_cnp(&spec, us(at));
        }
        assert_eq!(rates, [100, 100, 100, 100, 50, 50, 50, 50, 25, 25, 25, 25, 13]);
    }

    #[test]
    fn nic_phases() {
        let spec = Spec { fast_recovery: 1, ..quick() };
        let mut flow = begun();
        flow.on_cnp(&spec, us(0));
        flow.on_cnp(&spec, us(4));
        // The second cut comes before any increase: the target stays where the first one set it.
        assert!(near(flow.target, LINE));
        flow.target = 20e9;
        let target = flow.target;
        // One fast recovery, one additive increase, then hyper increase (HPCC authors' simulator).
        for (expiration, growth) in [(1, 0.0), (2, 40e6), (3, 240e6), (4, 440e6)] {
            flow.rate(&spec, us(4 + 55 * expiration));
            assert!(near(flow.target, target + growth), "{expiration}");
        }
    }

    #[test]
    fn byte_counter_raises_too() {
        let spec = Spec {
            variant: Variant::Paper,
            byte_counter: Bytes(10_000),
            increase_timer: Duration::from_ms(100),
            ..quick()
        };
        let mut flow = begun();
        flow.on_cnp(&spec, us(0));
        (0..9).for_each(|_| flow.on_send(&spec, us(1), 1_000));
        assert_eq!(flow.rate(&spec, us(1)), Some(50e9));
        flow.on_send(&spec, us(1), 1_000);
        assert_eq!(flow.rate(&spec, us(1)), Some(75e9));
    }

    #[test]
    fn byte_counter_counts_the_first_packet_after_the_first_cut() {
        let spec = Spec {
            variant: Variant::Periodic,
            byte_counter: Bytes(10_000),
            alpha_timer: Duration::from_ms(100),
            increase_timer: Duration::from_ms(100),
            ..quick()
        };
        let mut flow = begun();
        flow.on_cnp(&spec, us(0));
        // The cut is at 4 us, by an alpha of 1, and takes effect only when a packet is sent.
        (0..9).for_each(|_| flow.on_send(&spec, us(5), 1_000));
        assert_eq!(flow.rate(&spec, us(5)), Some(50e9));
        // 10,000 bytes after the cut: halfway back to the target.
        flow.on_send(&spec, us(5), 1_000);
        assert_eq!(flow.rate(&spec, us(5)), Some(75e9));
    }

    #[test]
    fn window_by_hand() {
        // The Source Flow Control deck: 15 us at 100 Gb/s.
        let fixed = Spec { window: Some(Duration::from_us(15)), ..quick() };
        let follows = Spec { window_follows_rate: true, ..fixed.clone() };
        let (mut one, mut other) = (with(&fixed), with(&follows));
        assert_eq!(one.window(&fixed, us(0)), Some(187_500));
        assert_eq!(other.window(&follows, us(0)), Some(187_500));
        one.on_cnp(&fixed, us(100));
        other.on_cnp(&follows, us(100));
        // Half the rate, half the window; after the first increase both are at three quarters.
        assert_eq!(one.window(&fixed, us(100)), Some(187_500));
        assert_eq!(other.window(&follows, us(100)), Some(187_500 / 2));
        assert_eq!(other.window(&follows, us(154)), Some(187_500 / 2));
        assert_eq!(other.window(&follows, us(155)), Some(187_500 / 4 * 3));
        assert_eq!(begun().window(&quick(), us(0)), None);
    }

    /// DCQCN and DCQCN+win of HPCC (SIGCOMM 2019, section 5.1), each with the reaction point of the
    /// paper and that of the NIC.
    #[test]
    fn with_and_without_a_window_in_both_variants() {
        let rest = 255.0 / 256.0;
        let alpha = (rest * rest + 1.0 / 256.0) * rest;
        for (variant, rates) in [
            // A cut for each CNP, the second by an alpha that was 1: a quarter.
            (Variant::Paper, [50e9, 25e9, 25e9]),
            // The second CNP takes effect 4 us after the first cut. Until then alpha has been
            // updated with a CNP at 101 and 103 us, and without one at 102 and 104 us.
            (Variant::Nic, [50e9, 50e9, 50e9 * (1.0 - alpha / 2.0)]),
        ] {
            for (window, follows) in [(None, false), (Some(15), false), (Some(15), true)] {
                let spec = Spec {
                    variant,
                    alpha_timer: Duration::from_us(if variant == Variant::Nic { 1 } else { 55 }),
                    window: window.map(Duration::from_us),
                    window_follows_rate: follows,
                    ..quick()
                };
                let mut flow = with(&spec);
                let mut hear = |at, cnp: bool| {
                    if cnp {
                        flow.on_cnp(&spec, us(at));
                    }
                    (flow.rate(&spec, us(at)).unwrap(), flow.window(&spec, us(at)))
                };
                let heard = [hear(100, true), hear(102, true), hear(104, false)];
                for ((rate, window), expected) in heard.into_iter().zip(rates) {
                    assert!(near(rate, expected), "{spec:?}: {rate}");
                    let length = if follows { rate } else { LINE };
                    let bytes = spec.window.map(|_| (length * 15e-6 / 8.0) as u64);
                    assert!(window.zip(bytes).is_none_or(|(a, b)| a.abs_diff(b) <= 1));
                    assert_eq!(window.is_some(), bytes.is_some());
                }
            }
        }
    }

    /// The parameters of the Source Flow Control deck. Its increases of 0.0125 and 0.025 have no
    /// unit; read as bytes per nanosecond they are 100 and 200 Mb/s.
    fn source_flow_control() -> Spec {
        Spec {
            fast_recovery: 1,
            g: 0.0009813,
            byte_counter: Bytes(2_097_152),
            increase_timer: Duration::from_us(4),
            alpha_timer: Duration::from_us(5),
            additive_increase: Rate::from_mbps(100),
            hyper_increase: Rate::from_mbps(200),
            ..quick()
        }
    }

    #[test]
    fn nic_with_a_byte_counter_has_the_phases_of_the_paper() {
        let spec = source_flow_control();
        let mut flow = begun();
        flow.on_cnp(&spec, us(0));
        flow.target = 20e9;
        let mut target = flow.target;
        // Timer and bytes, how often each has expired, and the effect on the target: fast recovery
        // while both have expired at most once, hyper increase once both have expired more than
        // once, additive increase otherwise.
        let steps = [
            (Some(4), 0.0),    // T 1, BC 0
            (None, 0.0),       // T 1, BC 1
            (Some(8), 100e6),  // T 2, BC 1
            (Some(12), 100e6), // T 3, BC 1
            (None, 200e6),     // T 3, BC 2
            (Some(16), 200e6), // T 4, BC 2
        ];
        let mut now = 0;
        for (at, growth) in steps {
            match at {
                Some(at) => now = at,
                None => flow.on_send(&spec, us(now), 2_097_152),
            }
            let rate = flow.rate(&spec, us(now)).unwrap();
            target += growth;
            assert!(near(flow.target, target), "{now}: {} is not {target}", flow.target);
            assert!(rate < LINE);
        }
        // A cut restarts all counters.
        flow.on_cnp(&spec, us(17));
        assert_eq!((flow.timer_stage, flow.byte_stage, flow.bytes), (0, 0, 0));
        // Additive increase also applies if the byte counter is ahead of the timer.
        let target = flow.target;
        (0..3).for_each(|_| flow.on_send(&spec, us(18), 2_097_152));
        assert!(near(flow.target, target + 2.0 * 100e6));
    }

    #[test]
    fn alpha_with_the_gain_of_the_source_flow_control_deck() {
        let spec = source_flow_control();
        let mut flow = begun();
        flow.on_cnp(&spec, us(0));
        // The period of 5 us that had the CNP leaves alpha at 1; each further one reduces it by
        // 1/1019.
        flow.rate(&spec, us(14));
        assert!(near(flow.alpha, 1.0 - 0.0009813));
        flow.rate(&spec, us(15));
        assert!(near(flow.alpha, (1.0f64 - 0.0009813).powi(2)));
    }

    #[test]
    fn never_below_the_minimum_nor_above_the_line() {
        let spec = quick();
        let mut flow = begun();
        for n in 0..1_000 {
            flow.on_cnp(&spec, us(4 * n));
        }
        assert_eq!(flow.rate(&spec, us(4_000)), Some(spec.min_rate.0 as f64));
        flow.rate(&spec, us(40_000_000));
        assert!(flow.current <= LINE && near(flow.current, LINE));
    }
}
