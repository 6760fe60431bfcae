//! BBR, version 3 (draft-ietf-ccwg-bbr; google/bbr, branch v3, `tcp_bbr.c`). Like version 1 it
//! paces at the measured delivery rate, and in addition it takes losses and, optionally, ECN marks
//! as signs that more was in flight than fits into the path.
//!
//! Where the draft and the code differ, this follows the code: there is no packet conservation in
//! recovery, and the window follows the bounds. Packets are paced individually, as by a host
//! without segmentation offload; the window has room for send quanta nevertheless. Not modeled: the
//! reaction to a loss that a tail loss probe has repaired, and protective load balancing.

#[cfg(test)]
mod closed_loop;
mod probing;
mod signals;
mod spec;
#[cfg(test)]
mod tests;

use floodway_model::random::Stream;
use floodway_model::{Duration, EcnFeedback, Instant};

use super::bbr::model::{Aggregation, FullPipe, Idle, MinRtt, Rounds, sample};
use super::bbr::{Pacing, ProbeRtt, Window, recovers};
use super::{Ack, Congestion, Control, Lost, Needs, Path, Phase, Timeout};
use probing::{Acks, Probe};
use signals::{Bounds, Ecn, Signals};
pub use spec::Spec;

/// No bound on the packets in flight.
const NONE: u32 = u32::MAX;

/// Rounds per half of the window over which acknowledgement aggregation is tracked, when the pipe
/// is full and before (the code).
const EXTRA_ACKED_ROUNDS: [u32; 2] = [5, 1];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// Whether this is a state of ProbeBW.
    fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether the state deliberately risks losses.
    fn pushes(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The highest bandwidth of the current cycle of ProbeBW and of the last one that had a sample.
#[derive(Debug, Default)]
struct CycleMax([f64; 2]);

impl CycleMax {
    fn take(&mut self, bandwidth: f64) {
        self.0[1] = self.0[1].max(bandwidth);
    }

    fn advance(&mut self) {
        if self.0[1] > 0.0 {
            self.0 = [self.0[1], 0.0];
        }
    }

    fn max(&self) -> f64 {
        self.0[0].max(self.0[1])
    }
}

/// State of one flow. Boxed, because the states of other algorithms are small.
#[derive(Debug)]
pub struct State(Box<Flow>);

#[derive(Debug)]
struct Flow {
    mode: Mode,
    rounds: Rounds,
    bandwidth: CycleMax,
    min_rtt: MinRtt,
    /// Minimum round-trip time since ProbeRTT.
    recent_rtt: MinRtt,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    idle: Idle,
    probe_rtt: ProbeRtt,
    pacing: Pacing,
    window: Window,
    initial_window: u32,
    payload: u64,
    /// Phase of the transport at the last acknowledgement.
    phase: Phase,
    signals: Signals,
    bounds: Bounds,
    /// Bounds before the last congestion event, in case it was spurious.
    undo: Bounds,
    ecn: Ecn,
    probe: Probe,
    stream: Stream,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let initial_window = path.initial_window.max(1);
        let path = &Path { initial_window, ..*path };
        Self(Box::new(Flow {
            mode: Mode::Startup,
            rounds: Rounds::default(),
            bandwidth: CycleMax::default(),
            min_rtt: MinRtt::default(),
            recent_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            idle: Idle::default(),
            probe_rtt: ProbeRtt::default(),
            pacing: Pacing::new(path, spec.startup_pacing_gain, spec.pacing_margin),
            window: Window::new(initial_window),
            initial_window,
            payload: path.payload,
            phase: Phase::Open,
            signals: Signals::new(),
            bounds: Bounds::NONE,
            undo: Bounds::NONE,
            ecn: Ecn::new(),
            probe: Probe::new(),
            stream: Stream::named(path.seed, "bbr3"),
        }))
    }
}

impl Flow {
    /// Gains of pacing rate and window.
    fn gains(&self, spec: &Spec) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (spec.startup_pacing_gain, spec.startup_cwnd_gain),
            Mode::Drain => (spec.drain_gain, spec.startup_cwnd_gain),
            Mode::Down => (spec.down_gain, spec.cwnd_gain),
            Mode::Cruise | Mode::Refill => (1.0, spec.cwnd_gain),
            Mode::Up => (spec.up_gain, spec.cwnd_gain + 0.25),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    fn max_bandwidth(&self) -> f64 {
        self.bandwidth.max()
    }

    /// The bandwidth to send at.
    fn used_bandwidth(&self) -> f64 {
        self.max_bandwidth().min(self.bounds.bandwidth_lo)
    }

    /// `gain` times the bandwidth-delay product for a bandwidth, in packets.
    fn in_flight_for(&self, spec: &Spec, bandwidth: f64, gain: f64) -> u32 {
        self.with_quanta(spec, self.min_rtt.bdp(bandwidth, gain, self.initial_window))
    }

    /// The send quantum in packets. The code adds 64 KB on short paths, and half of that for every
    /// 512 µs of the round-trip time.
    fn quantum(&self) -> u32 {
        let halvings = self.min_rtt.value.map_or(64, |rtt| rtt.0 / Duration::from_us(512).0);
        let more = if halvings < 16 { 65_536 >> halvings } else { 0 };
        self.pacing.quantum(self.payload, more, 2)
    }

    /// At least three quanta, and two packets more in UP, so that a probe is visible even with a
    /// small bandwidth-delay product.
    fn with_quanta(&self, spec: &Spec, amount: u32) -> u32 {
        let amount = amount.max(3 * self.quantum());
        amount.max(spec.min_window).saturating_add(if self.mode == Mode::Up { 2 } else { 0 })
    }

    /// The bandwidth-delay product, or the window if that is smaller.
    fn target_in_flight(&self, spec: &Spec) -> u32 {
        self.in_flight_for(spec, self.used_bandwidth(), 1.0).min(self.window.packets)
    }

    fn probe_rtt_window(&self, spec: &Spec) -> u32 {
        let (bandwidth, gain) = (self.used_bandwidth(), spec.probe_rtt_cwnd_gain);
        self.min_rtt.bdp(bandwidth, gain, self.initial_window).max(spec.min_window)
    }

    fn update_ecn(&mut self, spec: &Spec, ack: &Ack) {
        if !spec.ecn {
            return;
        }
        self.ecn.eligible |= spec.ecn_max_rtt == Duration::ZERO
            || self.min_rtt.value.is_some_and(|rtt| rtt <= spec.ecn_max_rtt);
        self.ecn.on_ack(ack);
        let startup_over = self.rounds.begins && self.ecn.on_round(spec);
        if startup_over && !self.full_pipe.reached {
            self.queue_too_high_in_startup(spec);
        }
        self.signals.marks |= self.ecn.eligible && ack.marked > 0;
    }

    fn adapt_to_signals(&mut self, spec: &Spec, ack: &Ack) {
        let Some(sample) = sample(ack).filter(|_| ack.delivered > 0) else { return };
        let bandwidth = sample.per_second();
        if !self.probe_rtt.limits(sample) || bandwidth >= self.max_bandwidth() {
            self.bandwidth.take(bandwidth);
        }
        if self.signals.round_begins {
            if !self.mode.pushes() {
                let (most, window) = (self.max_bandwidth(), self.window.packets);
                self.bounds.lower(spec, &self.signals, most, window, self.ecn.alpha);
            }
            (self.signals.loss, self.signals.marks) = (false, false);
        }
    }

    fn check_drain(&mut self, spec: &Spec, ack: &Ack) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
            self.signals.forget();
        }
        if self.mode == Mode::Drain
            && ack.in_flight <= self.in_flight_for(spec, self.max_bandwidth(), 1.0)
        {
            self.begin_down(spec, ack.now);
        }
    }

    fn update_min_rtt(&mut self, spec: &Spec, ack: &Ack) {
        let probe_due = self.recent_rtt.expired(ack.now, spec.probe_rtt_interval);
        if let Some(rtt) = ack.rtt
            && (probe_due || self.recent_rtt.value.is_none_or(|shortest| rtt < shortest))
        {
            self.recent_rtt.set(rtt, ack.now);
        }
        let expired = self.min_rtt.expired(ack.now, spec.min_rtt_window);
        if self.min_rtt.value.is_none() || expired || self.recent_rtt.value <= self.min_rtt.value {
            self.min_rtt = self.recent_rtt;
        }
        if probe_due && !self.idle.restarted && self.mode != Mode::ProbeRtt {
            self.window.save(recovers(self.phase));
            self.mode = Mode::ProbeRtt;
            self.probe.acks = Acks::Stopping;
            self.rounds.restart();
            self.probe_rtt.begin(&self.rounds);
        }
        if self.mode == Mode::ProbeRtt {
            let (target, time) = (self.probe_rtt_window(spec), spec.probe_rtt_time);
            if self.probe_rtt.on_ack(ack, &mut self.rounds, target, time) {
                self.end_probe_rtt(spec, ack.now);
            }
        }
    }

    fn end_probe_rtt(&mut self, spec: &Spec, now: Instant) {
        self.recent_rtt.at = now;
        self.window.restore();
        self.bounds.reset_lower();
        if self.full_pipe.reached {
            // A new wait until the next probe; there is no queue for DOWN to drain.
            self.begin_down(spec, now);
            self.begin_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Approaches the target by slow start from below and, once the pipe has been full, immediately
    /// from above; then applies the bounds.
    fn set_window(&mut self, spec: &Spec, ack: &Ack, gain: f64) {
        if ack.delivered > 0 {
            let bandwidth = self.used_bandwidth();
            let extra = self.aggregation.allowance(bandwidth, spec.extra_acked_gain);
            let bdp = self.min_rtt.bdp(bandwidth, gain, self.initial_window);
            let target = self.with_quanta(spec, bdp.saturating_add(extra));
            let packets = self.window.packets;
            let grown = packets.saturating_add(ack.delivered);
            let packets = if self.full_pipe.reached {
                grown.min(target)
            } else if packets < target || packets < self.initial_window.saturating_mul(2) {
                grown
            } else {
                packets
            };
            self.window.packets = packets.max(spec.min_window);
        }
        let bound = match self.mode {
            Mode::Startup | Mode::Drain => NONE,
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_hi,
            Mode::Cruise => self.bounds.with_headroom(spec),
            Mode::ProbeRtt => self.bounds.with_headroom(spec).min(self.probe_rtt_window(spec)),
        };
        let bound = bound.min(self.bounds.inflight_lo).max(spec.min_window);
        self.window.packets = self.window.packets.min(bound);
    }

    fn save(&mut self) {
        self.window.save(recovers(self.phase) || self.mode == Mode::ProbeRtt);
        self.undo = self.bounds;
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Acknowledgements
    }

    fn feedback(spec: &Spec) -> EcnFeedback {
        if spec.ecn { EcnFeedback::Accurate } else { EcnFeedback::None }
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
        flow.recent_rtt.set(rtt, now);
        flow.pacing.on_rtt(flow.window.packets, rtt, spec.startup_pacing_gain);
    }

    fn on_send(&mut self, spec: &Spec, now: Instant, _: u64) {
        let flow = &mut *self.0;
        if !flow.idle.on_send(now, flow.pacing.gap()) {
            return;
        }
        flow.aggregation.restart(now);
        if flow.mode.probes_bandwidth() {
            // The queue is empty, so there is no reason to send faster or slower than the network
            // can carry.
            flow.pacing.set(flow.used_bandwidth(), 1.0, flow.full_pipe.reached);
        } else if flow.mode == Mode::ProbeRtt && flow.probe_rtt.over(now) {
            flow.end_probe_rtt(spec, now);
        }
    }

    fn on_lost(&mut self, spec: &Spec, lost: &Lost) {
        let flow = &mut *self.0;
        flow.signals.on_lost(&flow.rounds);
        flow.on_probe_lost(spec, lost);
    }

    fn on_ack(&mut self, spec: &Spec, ack: &Ack) {
        let flow = &mut *self.0;
        if flow.phase == Phase::Loss && ack.phase != Phase::Loss {
            flow.window.restore();
        }
        flow.rounds.on_ack(ack);
        flow.probe.rounds = flow.probe.rounds.saturating_add(flow.rounds.begins.into());
        flow.update_ecn(spec, ack);
        flow.signals.on_ack(ack, &flow.rounds);
        flow.adapt_to_signals(spec, ack);
        let (begins, window) = (flow.rounds.begins, flow.window.packets);
        let remembered = EXTRA_ACKED_ROUNDS[usize::from(!flow.full_pipe.reached)];
        flow.aggregation.on_ack(ack, flow.used_bandwidth(), begins, remembered, window);
        flow.check_startup_losses(spec, ack);
        let bandwidth = sample(ack).map_or(0.0, |sample| sample.per_second());
        if !flow.probe_rtt.limits_ack(ack) {
            flow.full_pipe.judge(bandwidth, begins);
        }
        flow.check_drain(spec, ack);
        flow.update_cycle(spec, ack, bandwidth);
        flow.update_min_rtt(spec, ack);
        flow.idle.on_ack(ack);
        let (pacing_gain, window_gain) = flow.gains(spec);
        flow.pacing.on_rtt(flow.window.packets, ack.smoothed_rtt, spec.startup_pacing_gain);
        flow.pacing.set(flow.used_bandwidth(), pacing_gain, flow.full_pipe.reached);
        flow.set_window(spec, ack, window_gain);
        flow.signals.after_ack(ack);
        flow.phase = ack.phase;
    }

    fn on_congestion(&mut self, _: &Spec, _: &Congestion) {
        self.0.save();
    }

    fn on_timeout(&mut self, _: &Spec, timeout: &Timeout) {
        let flow = &mut *self.0;
        if !timeout.again {
            flow.save();
        }
        flow.window.packets = 1;
        flow.phase = Phase::Loss;
        flow.full_pipe.reset(0.0);
        if !flow.mode.pushes() && flow.bounds.inflight_lo == NONE {
            // The cut at the end of the round trip starts from the previous value.
            flow.bounds.inflight_lo = flow.window.saved().max(1);
        }
    }

    fn on_undo(&mut self, _: &Spec, _: Instant) {
        let flow = &mut *self.0;
        flow.full_pipe.reset(0.0);
        flow.signals.loss = false;
        flow.window.restore();
        let (bounds, undo) = (&mut flow.bounds, &flow.undo);
        bounds.bandwidth_lo = bounds.bandwidth_lo.max(undo.bandwidth_lo);
        bounds.inflight_lo = bounds.inflight_lo.max(undo.inflight_lo);
        bounds.inflight_hi = bounds.inflight_hi.max(undo.inflight_hi);
    }
}
