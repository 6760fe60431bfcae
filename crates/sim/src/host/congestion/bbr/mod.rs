//! BBR, version 1 (Cardwell et al., ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; Linux, `tcp_bbr.c`). It paces at the highest
//! recent delivery rate and keeps at most twice the bandwidth-delay product in flight; neither
//! depends on losses or marks.
//!
//! Where the draft and Linux differ, this follows Linux: it paces one percent below the bandwidth,
//! and the window allows for aggregated acknowledgements. Linux's detection of token-bucket
//! policers (`lt_bw`) is not modeled. Packets are paced individually, as by a host without
//! segmentation offload; the window has room for send quanta nevertheless, as in Linux. BBR sets its
//! own window in recovery: see [`Control::owns_recovery`].

#[cfg(test)]
mod closed_loop;
mod control;
pub(super) mod model;
#[cfg(test)]
pub(super) mod path;
#[cfg(test)]
mod random;
mod spec;
#[cfg(test)]
mod tests;

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant};

use super::{Ack, Congestion, Control, Needs, Path, Phase, Timeout};
pub(super) use control::{Pacing, ProbeRtt, Window, recovers};
use model::{Aggregation, FullPipe, Idle, MaxFilter, MinRtt, Rounds, sample};
pub use spec::Spec;

/// Pacing gains of ProbeBW: one phase above 1 to probe for bandwidth, one below 1 to drain the
/// resulting queue, and six phases at 1.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Pacing rate in bit/s from which a send quantum has at least two packets.
const TWO_PACKETS_FROM: f64 = 1.2e6;

/// Rounds per half of the window over which acknowledgement aggregation is tracked (Linux).
const EXTRA_ACKED_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// In this phase of the cycle.
    ProbeBw(usize),
    ProbeRtt,
}

/// State of one flow. Boxed, because the states of other algorithms are small.
#[derive(Debug)]
pub struct State(Box<Flow>);

#[derive(Debug)]
struct Flow {
    mode: Mode,
    /// Time at which the phase of the cycle began.
    cycle_at: Instant,
    rounds: Rounds,
    bandwidth: MaxFilter,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    idle: Idle,
    probe_rtt: ProbeRtt,
    pacing: Pacing,
    window: Window,
    initial_window: u32,
    payload: u64,
    /// Phase of the transport at the last acknowledgement that reported a delivery.
    phase: Phase,
    /// Packet conservation in the first round of recovery: as many packets are sent as are
    /// delivered.
    conserves: bool,
    stream: Stream,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let initial_window = path.initial_window.max(1);
        let path = &Path { initial_window, ..*path };
        Self(Box::new(Flow {
            mode: Mode::Startup,
            cycle_at: Instant::ZERO,
            rounds: Rounds::default(),
            bandwidth: MaxFilter::default(),
            min_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            idle: Idle::default(),
            probe_rtt: ProbeRtt::default(),
            pacing: Pacing::new(path, spec.startup_gain, spec.pacing_margin),
            window: Window::new(initial_window),
            initial_window,
            payload: path.payload,
            phase: Phase::Open,
            conserves: false,
            stream: Stream::named(path.seed, "bbr"),
        }))
    }
}

impl Flow {
    /// Gains of pacing rate and window.
    fn gains(&self, spec: &Spec) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (spec.startup_gain, spec.startup_gain),
            Mode::Drain => (1.0 / spec.startup_gain, spec.startup_gain),
            Mode::ProbeBw(phase) => (CYCLE[phase], spec.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    fn bdp(&self, gain: f64) -> u32 {
        self.min_rtt.bdp(self.bandwidth.max(), gain, self.initial_window)
    }

    /// The send quantum in packets.
    fn quantum(&self) -> u32 {
        let least = if self.pacing.rate < TWO_PACKETS_FROM { 1 } else { 2 };
        self.pacing.quantum(self.payload, 0, least)
    }

    /// Adds room for three quanta, for offload in the sending and receiving hosts; rounds up to an
    /// even number, for receivers that acknowledge every other packet; and adds room so that a
    /// probe is visible even with a small bandwidth-delay product.
    fn with_quanta(&self, amount: u32) -> u32 {
        let even = amount.saturating_add(3 * self.quantum() + 1) & !1;
        even.saturating_add(if self.mode == Mode::ProbeBw(0) { 2 } else { 0 })
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        let Some(sample) = sample(ack) else { return };
        let bandwidth = sample.per_second();
        if !self.probe_rtt.limits(sample) || bandwidth >= self.bandwidth.max() {
            self.bandwidth.take(self.rounds.count, bandwidth);
        }
    }

    fn update_cycle(&mut self, ack: &Ack) {
        let Mode::ProbeBw(phase) = self.mode else { return };
        let lasted = ack.now.since(self.cycle_at) > self.min_rtt.value.unwrap_or_default();
        let gain = CYCLE[phase];
        let over = if gain > 1.0 {
            // Data in flight must have grown to the target, unless it does not fit into the buffer.
            let target = self.with_quanta(self.bdp(gain));
            let next = ack.prior_in_flight.saturating_add(self.quantum());
            lasted && (ack.lost > 0 || next >= target)
        } else if gain < 1.0 {
            lasted || ack.prior_in_flight <= self.with_quanta(self.bdp(1.0))
        } else {
            lasted
        };
        if over {
            self.begin_phase((phase + 1) % CYCLE.len(), ack.now);
        }
    }

    fn begin_phase(&mut self, phase: usize, now: Instant) {
        (self.mode, self.cycle_at) = (Mode::ProbeBw(phase), now);
    }

    /// Begins in any phase except the draining one, at random, so that flows do not probe in
    /// synchrony.
    fn begin_probing(&mut self, now: Instant) {
        let drawn = self.stream.below(CYCLE.len() as u64 - 1) as usize;
        self.begin_phase((CYCLE.len() - drawn) % CYCLE.len(), now);
    }

    fn check_full_pipe(&mut self, ack: &Ack) {
        if self.rounds.begins && !self.probe_rtt.limits_ack(ack) {
            self.full_pipe.judge(self.bandwidth.max(), true);
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight <= self.with_quanta(self.bdp(1.0)) {
            self.begin_probing(ack.now);
        }
    }

    fn update_min_rtt(&mut self, spec: &Spec, ack: &Ack) {
        let expired = self.min_rtt.expired(ack.now, spec.min_rtt_window);
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.value.is_none_or(|shortest| rtt <= shortest))
        {
            self.min_rtt.set(rtt, ack.now);
        }
        if expired && !self.idle.restarted && self.mode != Mode::ProbeRtt {
            self.window.save(recovers(self.phase));
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.begin(&self.rounds);
        }
        if self.mode == Mode::ProbeRtt {
            let (target, time) = (spec.min_window, spec.probe_rtt_time);
            if self.probe_rtt.on_ack(ack, &mut self.rounds, target, time) {
                self.end_probe_rtt(ack.now);
            }
        }
    }

    fn end_probe_rtt(&mut self, now: Instant) {
        self.min_rtt.at = now;
        self.window.restore();
        if self.full_pipe.reached {
            self.begin_probing(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn set_window(&mut self, spec: &Spec, ack: &Ack, gain: f64) {
        if ack.delivered > 0 {
            self.window.packets = self.window.packets.saturating_sub(ack.lost).max(1);
            let before = std::mem::replace(&mut self.phase, ack.phase);
            let conserved = ack.in_flight.saturating_add(ack.delivered);
            if ack.phase == Phase::Recovery && before != Phase::Recovery {
                self.conserves = true;
                self.rounds.restart();
                self.window.packets = conserved;
            } else if recovers(before) && !recovers(ack.phase) {
                self.conserves = false;
                self.window.restore();
            }
            if self.conserves {
                self.window.packets = self.window.packets.max(conserved);
            } else {
                self.approach_target(spec, ack, gain);
            }
        }
        if self.mode == Mode::ProbeRtt {
            self.window.packets = self.window.packets.min(spec.min_window);
        }
    }

    /// Approaches the target by slow start from below and, once the pipe has been full, immediately
    /// from above.
    fn approach_target(&mut self, spec: &Spec, ack: &Ack, gain: f64) {
        let extra = match self.full_pipe.reached {
            true => self.aggregation.allowance(self.bandwidth.max(), spec.extra_acked_gain),
            false => 0,
        };
        let target = self.with_quanta(self.bdp(gain).saturating_add(extra));
        let grown = self.window.packets.saturating_add(ack.delivered);
        let packets = if self.full_pipe.reached {
            grown.min(target)
        } else if self.window.packets < target
            || self.rounds.delivered < u64::from(self.initial_window)
        {
            grown
        } else {
            self.window.packets
        };
        self.window.packets = packets.max(spec.min_window);
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Acknowledgements
    }

    /// BBR sets the window itself at all times, including after a loss (Linux, `cong_control`).
    fn owns_recovery(&mut self, _: &Spec) -> bool {
        true
    }

    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        self.0.pacing.asked()
    }

    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(u64::from(self.0.window.packets).saturating_mul(self.0.payload))
    }

    fn on_established(&mut self, spec: &Spec, now: Instant, rtt: Duration) {
        let flow = &mut *self.0;
        flow.min_rtt.set(rtt, now);
        flow.pacing.on_rtt(flow.window.packets, rtt, spec.startup_gain);
    }

    fn on_send(&mut self, _: &Spec, now: Instant, _: u64) {
        let flow = &mut *self.0;
        if !flow.idle.on_send(now, flow.pacing.gap()) {
            return;
        }
        flow.aggregation.restart(now);
        match flow.mode {
            // The queue is empty, so there is no reason to send faster or slower than the network
            // can carry.
            Mode::ProbeBw(_) => {
                flow.pacing.set(flow.bandwidth.max(), 1.0, flow.full_pipe.reached);
            }
            Mode::ProbeRtt if flow.probe_rtt.over(now) => flow.end_probe_rtt(now),
            _ => {}
        }
    }

    fn on_ack(&mut self, spec: &Spec, ack: &Ack) {
        let flow = &mut *self.0;
        flow.rounds.on_ack(ack);
        flow.conserves &= !flow.rounds.begins;
        flow.update_bandwidth(ack);
        let (begins, window) = (flow.rounds.begins, flow.window.packets);
        let bandwidth = flow.bandwidth.max();
        flow.aggregation.on_ack(ack, bandwidth, begins, EXTRA_ACKED_ROUNDS, window);
        flow.update_cycle(ack);
        flow.check_full_pipe(ack);
        flow.check_drain(ack);
        flow.update_min_rtt(spec, ack);
        flow.idle.on_ack(ack);
        let (pacing_gain, window_gain) = flow.gains(spec);
        flow.pacing.on_rtt(flow.window.packets, ack.smoothed_rtt, spec.startup_gain);
        flow.pacing.set(bandwidth, pacing_gain, flow.full_pipe.reached);
        flow.set_window(spec, ack, window_gain);
    }

    fn on_congestion(&mut self, _: &Spec, _: &Congestion) {
        let flow = &mut *self.0;
        flow.window.save(recovers(flow.phase) || flow.mode == Mode::ProbeRtt);
    }

    fn on_timeout(&mut self, _: &Spec, timeout: &Timeout) {
        let flow = &mut *self.0;
        if !timeout.again {
            flow.window.save(recovers(flow.phase) || flow.mode == Mode::ProbeRtt);
        }
        flow.window.packets = 1;
        flow.phase = Phase::Loss;
        if !flow.full_pipe.reached {
            flow.full_pipe.reset(0.0);
        }
    }

    fn on_undo(&mut self, _: &Spec, _: Instant) {
        if !self.0.full_pipe.reached {
            self.0.full_pipe.reset(0.0);
        }
    }
}
