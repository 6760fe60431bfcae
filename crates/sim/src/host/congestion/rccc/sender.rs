//! The sending side of RCCC: credit of one flow.

use floodway_model::check::Findings;
use floodway_model::{Duration, Instant};

use super::{FARTHEST, Spec};
use crate::host::congestion::check::{Around, Network};
use crate::host::congestion::{Answer, Control, Demand, Needs, Path, Target, Trimmed, nscc};
use floodway_model::packet::Entropy;

/// State of one flow. Amounts are in bytes.
#[derive(Debug)]
pub struct State {
    /// A full packet.
    packet: u64,
    /// First credit, and the maximum.
    max: i64,
    /// Credit that is left; the last packet may have taken more than there was.
    credit: i64,
    /// Total credit that has come, and total that was asked for.
    granted: u64,
    asked: u64,
    /// Nothing has come from the receiver yet.
    is_speculative: bool,
    window: Option<Box<nscc::State>>,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let max = spec.max_credit(path.line_rate, path.base_rtt, path.wire) as i64;
        Self {
            packet: path.wire.max(1),
            max,
            credit: max,
            granted: 0,
            asked: 0,
            is_speculative: true,
            window: spec.nscc.as_ref().map(|nscc| Box::new(nscc::State::new(nscc, path))),
        }
    }

    /// Something has come from the receiver: from now on credit counts, and the rest of the first is
    /// thrown away.
    fn end_speculation(&mut self) {
        if self.is_speculative {
            self.is_speculative = false;
            self.credit = self.credit.min(0);
        }
    }

    /// The maximum that it may ask for.
    fn cap(&self) -> i64 {
        match &self.window {
            None => self.max,
            Some(window) => self.max.min(window.cwnd() as i64 + self.packet as i64),
        }
    }
}

impl Control for State {
    type Spec = Spec;

    fn needs(_: &Spec) -> Needs {
        Needs::Arrivals
    }

    fn initial_window(spec: &Spec, base_rtt: Duration) -> Option<Duration> {
        let base_rtt = spec.base_rtt.unwrap_or(base_rtt);
        Some(Duration((base_rtt.0 as f64 * spec.max_window) as u64))
    }

    fn check_signals(spec: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        spec.check_signals(around, findings);
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        spec.check_on(network, findings);
    }

    fn window(&mut self, spec: &Spec, now: Instant) -> Option<u64> {
        if self.credit <= 0 {
            return Some(0);
        }
        match (&mut self.window, &spec.nscc) {
            (Some(window), Some(nscc)) => window.window(nscc, now),
            _ => Some(u64::MAX),
        }
    }

    fn on_send(&mut self, _: &Spec, _: Instant, bytes: u64) {
        self.credit -= bytes as i64;
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        self.end_speculation();
        if let (Some(window), Some(nscc)) = (&mut self.window, &spec.nscc) {
            match answer.trimmed {
                Some(Trimmed::AtLastHop) => window.on_trimmed_with_credit(nscc),
                Some(Trimmed::InFabric) | None => window.on_answer(nscc, answer),
            }
        }
    }

    fn on_retransmit_timeout(&mut self, spec: &Spec, now: Instant) {
        if let (Some(window), Some(nscc)) = (&mut self.window, &spec.nscc) {
            window.on_retransmit_timeout(nscc, now);
        }
    }

    fn on_credit(&mut self, _: &Spec, _: Instant, number: u32) {
        self.end_speculation();
        // Credit that was overtaken by a later one, on another path, is older.
        let more = number.wrapping_sub(self.granted as u32) as i32;
        if more > 0 {
            self.granted += more as u64;
            self.credit = (self.credit + i64::from(more)).min(self.max);
        }
    }

    fn credit_target(&mut self, _: &Spec, demand: Demand) -> Target {
        let packet = self.packet as i64;
        let credit = self.credit - if demand.sends { packet } else { 0 };
        let backlog = i64::try_from(demand.backlog).unwrap_or(i64::MAX).saturating_mul(packet);
        let lacks = (backlog.min(self.cap()) - credit).max(0) as u64;
        let mut wanted = lacks.div_ceil(demand.contexts.max(1).into());
        if self.is_speculative && demand.backlog > 0 {
            wanted = wanted.max(self.packet);
        }
        // In whole packets, but nothing if nothing is wanted.
        let total = self.granted + wanted.min(FARTHEST * self.packet);
        let packets = match wanted {
            0 => total / self.packet,
            _ => total.div_ceil(self.packet),
        };
        self.asked = self.asked.max(packets * self.packet);
        let modulo = packets % u64::from(Entropy::TARGETS);
        Target { packets: modulo as u16, bytes: (packets * self.packet) as u32 }
    }

    fn awaits_credit(&mut self, _: &Spec) -> bool {
        self.asked > self.granted
    }
}
