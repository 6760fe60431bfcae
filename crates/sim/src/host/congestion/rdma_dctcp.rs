//! DCTCP for RDMA, as the authors of HPCC use it in comparisons (Li et al., SIGCOMM 2019, section
//! 5.1, and their simulator). The fraction of marked packets of DCTCP (Alizadeh et al., SIGCOMM
//! 2010; RFC 8257) cuts a rate; the window follows the rate, and there is no slow start. DCTCP for
//! TCP is `dctcp`.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{FollowingWindow, RoundTrip};
use super::check::{self, Around, Network};
use super::{Answer, Control, Needs, Path, alpha};

/// Parameters of DCTCP for RDMA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Weight of a new observation in alpha, above 0 and at most 1. Default 1/16 (RFC 8257).
    pub g: f64,
    /// Increase of the rate after a round trip without a mark. Default: the payload of one packet per
    /// `base_rtt`, as DCTCP adds a packet to its window; 615 Mb/s for 1000 bytes in 13 us, the value
    /// in the script of HPCC's authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Rate>,
    /// Minimum rate of a flow. Default 100Mbps (HPCC authors' simulator).
    pub min_rate: Rate,
    /// Round-trip time without queueing, which is also the length of the window. Default: that of a
    /// full packet and its acknowledgement between the hosts farthest apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
}

impl Default for Spec {
    fn default() -> Self {
        let min_rate = Rate::from_mbps(100);
        Self { g: 1.0 / 16.0, additive_increase: None, min_rate, base_rtt: None }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("g", self.g, alpha::WEIGHT);
        findings.positive("additive_increase", self.additive_increase, check::INCREASE);
        findings.positive("base_rtt", self.base_rtt, "remove it for that of the network");
        findings.positive("min_rate", self.min_rate, check::LOWEST);
    }
}

/// State of one flow, which starts at line rate with alpha 1.
#[derive(Debug)]
pub struct State {
    /// Rates in bit/s on the wire.
    line_rate: f64,
    current: f64,
    increase: f64,
    window: FollowingWindow,
    alpha: f64,
    round: RoundTrip,
    /// Number of acknowledgements in this round trip, and of those with a mark.
    answers: u32,
    marked: u32,
    /// After a cut: packets sent before it are in flight until this packet is acknowledged.
    reduced_until: Option<u32>,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let line_rate = path.line_rate.0 as f64;
        let base_rtt = spec.base_rtt.unwrap_or(path.base_rtt);
        let increase = match spec.additive_increase {
            Some(rate) => rate.0 as f64,
            None => path.payload as f64 * 8e12 / base_rtt.0 as f64,
        };
        Self {
            line_rate,
            current: line_rate,
            increase,
            window: FollowingWindow::new(base_rtt, path),
            alpha: 1.0,
            round: RoundTrip::default(),
            answers: 0,
            marked: 0,
            reduced_until: None,
        }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Answers
    }

    fn initial_window(spec: &Spec, base_rtt: Duration) -> Option<Duration> {
        Some(spec.base_rtt.unwrap_or(base_rtt))
    }

    #[inline]
    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        (self.current < self.line_rate).then_some(self.current)
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        Some(self.window.at(self.current))
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        self.answers += 1;
        self.marked += u32::from(answer.marked);
        let is_first = !self.round.has_begun();
        let round_ends = self.round.ends(answer);
        if round_ends && !is_first {
            let share = f64::from(self.marked) / f64::from(self.answers);
            self.alpha += spec.g * (share - self.alpha);
            (self.answers, self.marked) = (0, 0);
        }
        if self.reduced_until.is_some_and(|until| answer.ack > until) {
            self.reduced_until = None;
        }
        if answer.marked && self.reduced_until.is_none() {
            let least = (spec.min_rate.0 as f64).min(self.line_rate);
            self.current = (self.current * (1.0 - self.alpha / 2.0)).max(least);
            self.reduced_until = Some(answer.sent);
        }
        if round_ends && self.reduced_until.is_none() {
            self.current = (self.current + self.increase).min(self.line_rate);
        }
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        if let Some(place) = around.switch.no_marks() {
            around.nothing_marks(place, "step", findings);
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_lowest(spec.min_rate, "100Mbps", findings);
        let base_rtt = network.check_base_rtt(spec.base_rtt, findings);
        network.check_every_packet(spec.min_rate, base_rtt, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::tests::answer;
    use super::*;

    /// 10 us at 100 Gb/s are 125 packets of 1000 bytes; one more in 10 us are 800 Mb/s.
    fn path() -> Path {
        let base_rtt = Duration::from_us(10);
        Path { payload: 1_000, base_rtt, ..Path::at(Rate::from_gbps(100)) }
    }

    fn flow(spec: &Spec) -> State {
        State::new(spec, &path())
    }

    /// Acknowledgements for `from..=to`, the first `marked` of them with a mark, while packets up
    /// to `sent` are sent.
    fn hear(flow: &mut State, spec: &Spec, from: u32, to: u32, marked: u32, sent: u32) -> f64 {
        for ack in from..=to {
            let marked = ack - from < marked;
            flow.on_answer(spec, &Answer { marked, ..answer(0, ack, sent) });
        }
        flow.current
    }

    #[test]
    fn alpha_on_paper() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        // The first acknowledgement begins a round trip of 100 packets, up to packet 100.
        hear(&mut flow, &spec, 1, 1, 0, 100);
        assert_eq!(flow.alpha, 1.0);
        // Including the first, 101 acknowledgements without a mark: alpha 15/16.
        hear(&mut flow, &spec, 2, 101, 0, 200);
        assert_eq!(flow.alpha, 15.0 / 16.0);
        // 25 of the next 100: 15/16 * 15/16 + 1/16 * 1/4.
        hear(&mut flow, &spec, 102, 201, 25, 300);
        assert_eq!(flow.alpha, 225.0 / 256.0 + 1.0 / 64.0);
        // All of them marked: the distance to 1 shrinks to 15/16.
        hear(&mut flow, &spec, 202, 301, 100, 400);
        assert_eq!(1.0 - flow.alpha, (1.0 - 229.0 / 256.0) * 15.0 / 16.0);
    }

    #[test]
    fn one_cut_in_a_round_trip_and_increase_without() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(125_000));
        // alpha is 1: half. Further marks of the packets in flight at the same time have no effect.
        assert_eq!(hear(&mut flow, &spec, 1, 1, 1, 100), 50e9);
        assert_eq!(hear(&mut flow, &spec, 2, 100, 99, 199), 50e9);
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(63_000));
        // Packet 100 was sent after the cut, and the round trip is over: all were marked, alpha stays
        // 1, and there is another cut.
        assert_eq!(hear(&mut flow, &spec, 101, 101, 1, 250), 25e9);
        // In the next round trip nothing is marked: alpha 15/16, and one packet more per 10 us.
        assert_eq!(hear(&mut flow, &spec, 102, 250, 0, 300), 25e9);
        assert_eq!(hear(&mut flow, &spec, 251, 251, 0, 320), 25.8e9);
        assert_eq!(flow.alpha, 15.0 / 16.0);
        // A mark cuts at once, also within a round trip: 25.8 * (1 - 15/32).
        assert_eq!(hear(&mut flow, &spec, 252, 252, 1, 330), 25.8e9 * 17.0 / 32.0);
    }

    #[test]
    fn between_the_minimum_and_the_line() {
        let spec = Spec { additive_increase: Some(Rate::from_gbps(30)), ..Spec::default() };
        let mut flow = flow(&spec);
        for ack in 1..100 {
            hear(&mut flow, &spec, ack, ack, 1, ack);
        }
        assert_eq!(flow.rate(&spec, Instant::ZERO), Some(100e6));
        assert_eq!(flow.window(&spec, Instant::ZERO), Some(1_000));
        for (ack, rate) in (100..).zip([30.1e9, 60.1e9, 90.1e9]) {
            assert_eq!(hear(&mut flow, &spec, ack, ack, 0, ack), rate);
        }
        hear(&mut flow, &spec, 103, 103, 0, 103);
        assert_eq!(flow.rate(&spec, Instant::ZERO), None);
    }

    /// Every round trip has one acknowledgement, with a mark whenever the rate is above 50 Gb/s:
    /// DCTCP's sawtooth. The cut occurs at 50 to 50.8 Gb/s, every P round trips, and P - 1 of them
    /// add 0.8 Gb/s each. A mark every P round trips makes alpha oscillate, with g / (1 - (1 - g)^P)
    /// as its maximum at the time of the cut: 50.4 alpha / 2 = 0.8 (P - 1) has the solution P = 6.65.
    /// alpha is 0.179 then, and slightly more after the shorter periods of 6: 50 Gb/s less 9 to 9.5
    /// %.
    #[test]
    fn the_sawtooth_is_as_deep_as_alpha_says() {
        let spec = Spec::default();
        let mut flow = flow(&spec);
        let (mut marks, mut lowest) = (0, f64::INFINITY);
        for ack in 1..=10_000 {
            let marked = flow.current > 50e9;
            let rate = hear(&mut flow, &spec, ack, ack, u32::from(marked), ack);
            if ack > 1_000 {
                marks += u32::from(marked);
                lowest = lowest.min(rate);
            }
        }
        let every = 9_000.0 / f64::from(marks);
        assert!((6.5..6.8).contains(&every), "{every}");
        assert!((45.2e9..45.9e9).contains(&lowest), "{lowest}");
    }
}
