//! DCQCN's reaction point (Zhu et al., SIGCOMM 2015, section 3.2 and figure 7) with real timers, and
//! the two variants that `docs/reference.md` describes: that of NICs and that of the HPCC authors'
//! simulator.

use floodway_model::{Instant, Rate};
use floodway_sim::host::congestion::dcqcn::{Spec, Variant};

use super::frame::after;

/// The timers. Those of one flow that expire together are handled in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    Alpha,
    Cut,
    Increase,
}

/// One flow.
#[derive(Debug)]
pub struct Dcqcn {
    line: f64,
    /// R_C, R_T and alpha of the paper.
    pub current: f64,
    target: f64,
    alpha: f64,
    /// When each timer expires, if it runs.
    expires: [Option<Instant>; 3],
    /// Expirations of the timer and of the byte counter since the last cut.
    timer_count: u32,
    byte_count: u32,
    bytes: u64,
    /// Whether a CNP has come since the last update of alpha (not `paper`).
    cnp_seen: bool,
    /// The last cut (`nic`), or the beginning of the grid of possible cuts (`periodic`).
    reference: Option<Instant>,
}

impl Dcqcn {
    pub fn new(line: Rate, spec: &Spec) -> Self {
        let line = line.0 as f64;
        Self {
            line,
            current: line,
            target: line,
            alpha: spec.initial_alpha,
            expires: [None; 3],
            timer_count: 0,
            byte_count: 0,
            bytes: 0,
            cnp_seen: false,
            reference: None,
        }
    }

    /// Bits per second; `None` at line rate.
    pub fn rate(&self) -> Option<f64> {
        (self.current < self.line).then_some(self.current)
    }

    /// When each running timer expires.
    pub fn timers(&self) -> [Option<(Option<Timer>, Instant)>; 3] {
        [Timer::Alpha, Timer::Cut, Timer::Increase]
            .map(|timer| self.expires[timer as usize].map(|at| (Some(timer), at)))
    }

    /// A timer may have expired: not if it has been set anew or stopped.
    pub fn on_timer(&mut self, timer: Timer, spec: &Spec, now: Instant) {
        if self.expires[timer as usize] != Some(now) {
            return;
        }
        match timer {
            Timer::Alpha => {
                // Equation 2; and with a CNP since, equation 1, if alpha has its own clock.
                let observed = if self.cnp_seen { spec.g } else { 0.0 };
                self.alpha = (1.0 - spec.g) * self.alpha + observed;
                self.cnp_seen = false;
                self.expires[Timer::Alpha as usize] = Some(after(now, spec.alpha_timer.0));
            }
            Timer::Cut => self.cut(spec, now),
            Timer::Increase => {
                self.timer_count += 1;
                self.increase(spec);
                self.expires[Timer::Increase as usize] = Some(after(now, spec.increase_timer.0));
            }
        }
    }

    pub fn on_cnp(&mut self, spec: &Spec, now: Instant) {
        let alpha_timer = Some(after(now, spec.alpha_timer.0));
        let first = self.expires[Timer::Alpha as usize].is_none();
        match spec.variant {
            Variant::Paper => {
                self.cut(spec, now);
                self.alpha = (1.0 - spec.g) * self.alpha + spec.g;
                self.expires[Timer::Alpha as usize] = alpha_timer;
            }
            Variant::Nic => {
                if first {
                    self.expires[Timer::Alpha as usize] = alpha_timer;
                }
                self.cnp_seen = true;
                let earliest = self.reference.map(|cut| after(cut, spec.cut_interval.0));
                match earliest.filter(|&at| at > now) {
                    Some(at) => self.expires[Timer::Cut as usize] = Some(at),
                    None => self.cut(spec, now),
                }
            }
            Variant::Periodic => {
                if first {
                    self.expires[Timer::Alpha as usize] = alpha_timer;
                    self.reference = Some(now);
                } else {
                    self.cnp_seen = true;
                }
                // The next time of the grid.
                let begin = self.reference.expect("the first CNP has set it");
                let periods = (now.0 - begin.0) / spec.cut_interval.0 + 1;
                let at = after(begin, periods * spec.cut_interval.0);
                self.expires[Timer::Cut as usize] = Some(at);
            }
        }
    }

    /// Equation 1.
    fn cut(&mut self, spec: &Spec, now: Instant) {
        let raised = self.timer_count > 0 || self.byte_count > 0;
        if spec.variant == Variant::Paper || spec.clamp_target || raised {
            self.target = self.current;
        }
        let factor = f64::max(1.0 - self.alpha / 2.0, spec.min_decrease_factor);
        self.current = f64::max(self.current * factor, spec.min_rate.0 as f64);
        (self.timer_count, self.byte_count, self.bytes) = (0, 0, 0);
        self.expires[Timer::Increase as usize] = Some(after(now, spec.increase_timer.0));
        self.expires[Timer::Cut as usize] = None;
        if spec.variant == Variant::Nic {
            self.reference = Some(now);
        }
    }

    /// So many bytes, on the wire, are sent.
    pub fn on_send(&mut self, spec: &Spec, bytes: u64) {
        let runs = self.expires[Timer::Increase as usize].is_some();
        if spec.byte_counter.0 == 0 || !runs {
            return;
        }
        self.bytes += bytes;
        if self.bytes >= spec.byte_counter.0 {
            self.bytes -= spec.byte_counter.0;
            self.byte_count += 1;
            self.increase(spec);
        }
    }

    /// Figure 7 of the paper: fast recovery, additive increase, hyper increase.
    fn increase(&mut self, spec: &Spec) {
        let (timer, bytes, fast) = (self.timer_count, self.byte_count, spec.fast_recovery);
        let step = if spec.byte_counter.0 == 0 && spec.variant != Variant::Paper {
            // NICs without a byte counter: one additive increase, then hyper increases.
            if timer <= fast {
                0
            } else if timer == fast + 1 {
                spec.additive_increase.0
            } else {
                spec.hyper_increase.0
            }
        } else if timer.max(bytes) <= fast {
            0
        } else if timer.min(bytes) > fast {
            spec.hyper_increase.0
        } else {
            spec.additive_increase.0
        };
        // Written for hosts of the reference rate, if there is one.
        let reference = spec.reference_rate.map_or(self.line, |rate| rate.0 as f64);
        let step = step as f64 * (self.line / reference);
        self.target = f64::min(self.target + step, self.line);
        self.current = (self.current + self.target) / 2.0;
    }
}
