//! Tests that the algorithms have the average windows that theory predicts: one flow, a constant
//! round-trip time, and packets that are lost or marked with a given probability.

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant, Rate};

use super::{Ack, Congestion, Path, Phase, Signal, Spec, State, conformance};
use super::{cubic, dctcp, prague, reno};

/// One flow with an acknowledgement per packet, evenly spaced over the round trip.
struct Flow {
    spec: Spec,
    control: State,
    rtt: Duration,
    now: Instant,
    delivered: u64,
    /// The round, and with it a reduction, ends when this many packets are delivered.
    round_ends: u64,
    reduction_ends: Option<u64>,
    /// Window at the beginning of the round; packets in flight arrive as they were sent.
    before: u64,
    phase: Phase,
}

const PAYLOAD: u64 = 1_448;

impl Flow {
    fn new(spec: Spec, rtt: Duration) -> Self {
        let control = State::new(&spec, &Path::at(Rate::from_gbps(100)));
        Self {
            spec,
            control,
            rtt,
            now: Instant::ZERO,
            delivered: 0,
            round_ends: 0,
            reduction_ends: None,
            before: 0,
            phase: Phase::Open,
        }
    }

    fn window(&mut self) -> u64 {
        self.control.window(&self.spec, self.now).unwrap() / PAYLOAD
    }

    /// The next packet arrives, or is lost and retransmitted within the round trip.
    fn packet(&mut self, sign: Option<Signal>) {
        let window = self.window();
        let in_flight = if self.reduction_ends.is_some() { self.before } else { window };
        self.now.0 += self.rtt.0 / in_flight;
        self.delivered += 1;
        if self.reduction_ends.is_some_and(|end| self.delivered >= end) {
            self.control.on_recovered(&self.spec, self.now);
            self.reduction_ends = None;
            self.phase = Phase::Open;
        }
        if let Some(signal) = sign.filter(|_| self.reduction_ends.is_none()) {
            let congestion = Congestion { now: self.now, signal, in_flight: window as u32 };
            self.control.on_congestion(&self.spec, &congestion);
            self.reduction_ends = Some(self.delivered + window);
            self.before = window;
            self.phase = if signal == Signal::Loss { Phase::Recovery } else { Phase::Reducing };
        }
        let round_begins = self.delivered >= self.round_ends;
        if round_begins {
            self.round_ends = self.delivered + window;
        }
        let ack = Ack {
            marked: u32::from(sign == Some(Signal::Mark)),
            phase: self.phase,
            round_begins,
            ..conformance::ack(self.now, self.rtt)
        };
        self.control.on_ack(&self.spec, &ack);
    }

    /// Average number of packets per round trip, over this many packets.
    fn average(&mut self, packets: u64, mut sign: impl FnMut(u64) -> Option<Signal>) -> f64 {
        let start = self.now;
        (1..=packets).for_each(|n| self.packet(sign(n)));
        packets as f64 * self.rtt.as_secs() / self.now.since(start).as_secs()
    }

    /// Average window with one signal per `every` packets, measured after `settle` of them.
    fn regular(&mut self, signal: Signal, every: u64, settle: u64) -> f64 {
        let sign = |n: u64| n.is_multiple_of(every).then_some(signal);
        self.average(settle * every, sign);
        self.average(100 * every, sign)
    }

    /// Average window with signals of probability `p`, measured after it has settled.
    fn random(&mut self, signal: Signal, p: f64, packets: u64) -> f64 {
        let mut rng = Stream::named(1, "laws");
        let mut sign = |_| rng.bernoulli(p).then_some(signal);
        self.average(packets / 10, &mut sign);
        self.average(packets, &mut sign)
    }
}

fn assert_near(window: f64, theory: f64, tolerance: f64, what: &str) {
    let off = window / theory - 1.0;
    assert!(off.abs() < tolerance, "{what}: {window} packets, {theory} in theory");
}

/// Reno's sawtooth runs from half the window to the full window: 3/8 W^2 packets per tooth give an
/// average of sqrt(3 / 2p), the 1.22 / sqrt(p) of Mathis et al. (1997). The round trip in which the
/// window does not grow, and halves that are rounded down, account for two packets of the average.
#[test]
fn reno() {
    for every in [500, 2_000, 10_000, 40_000] {
        let mut flow = Flow::new(Spec::Reno(reno::Spec::default()), Duration::from_ms(10));
        let window = flow.regular(Signal::Loss, every, 100);
        let theory = (1.5 * every as f64).sqrt();
        assert_near(window, theory, 2.0 / theory, &format!("one in {every}"));
    }
}

/// Where the cubic function is slower, CUBIC has the average of Reno for any beta.
#[test]
fn cubic_where_reno_is_faster() {
    for every in [2_000, 10_000] {
        for beta in [0.7, 0.8] {
            let spec = cubic::Spec { beta, ..cubic::Spec::default() };
            let mut flow = Flow::new(Spec::Cubic(spec), Duration::from_us(100));
            let window = flow.regular(Signal::Loss, every, 100);
            let theory = (1.5 * every as f64).sqrt();
            assert_near(window, theory, 2.5 / theory, &format!("one in {every}, beta {beta}"));
        }
    }
}

/// The average of the cubic function from one maximum to the next is that of RFC 9438, section 5.1:
/// (C (3 + beta) / (4 (1 - beta)))^(1/4) times (RTT / p)^(3/4). The factor is 1.054 for beta 0.7 and
/// 1.174 for 0.8, which the Data Center to the Home deck assumes.
///
/// The function is flat where it ends, so it converges slowly: a window that is too large by the
/// fraction e loses (1 - beta) (4e / 3)^3 of it until the next loss, which leaves e = (3/4)^(3/2) /
/// sqrt(2 (1 - beta) n) after n losses, 6 % for 300. With fast convergence these losses would count
/// as less available bandwidth, and the window would oscillate below the average.
#[test]
fn cubic_by_its_own_law() {
    for every in [2_000, 10_000] {
        for (beta, factor) in [(0.7, 1.054), (0.8, 1.174)] {
            let spec = cubic::Spec {
                beta,
                reno_friendly: false,
                fast_convergence: false,
                ..cubic::Spec::default()
            };
            let rtt = Duration::from_ms(100);
            let mut flow = Flow::new(Spec::Cubic(spec), rtt);
            let window = flow.regular(Signal::Loss, every, 300);
            let theory = factor * (rtt.as_secs() * every as f64).powf(0.75);
            let tolerance = 0.75f64.powf(1.5) / (2.0 * (1.0 - beta) * 300.0).sqrt();
            assert!((0.048..0.060).contains(&tolerance));
            assert_near(window, theory, tolerance, &format!("one in {every}, beta {beta}"));
        }
    }
}

/// DCTCP with marks of probability p has a window of 2 / p packets: two marks in a round trip, of
/// which one reduces the window by half of p, which is one packet.
///
/// More exactly, with x marks in a round trip: after the round trip of a reduction the window grows
/// by one for every full round trip until the next mark, 1 / (e^x - 1) on average. The reduction of
/// x/2 times alpha/p is rounded down, so it takes an alpha above 2p/x to reduce by one packet, and
/// alpha is p with a variance of g / (2 - g) = 1/31 of that of one round trip. Both are equal at
/// 1.8 marks.
#[test]
fn dctcp() {
    /// Probability that a standard normal variable exceeds `z`.
    fn above(z: f64) -> f64 {
        libm::erfc(z / 2.0f64.sqrt()) / 2.0
    }
    for p in [0.01, 0.02, 0.05] {
        let excess = |x: f64| {
            let spread = ((1.0 - p) / (31.0 * x)).sqrt();
            let cut: f64 = (1..4).map(|k| above((2.0 * f64::from(k) / x - 1.0) / spread)).sum();
            cut - 1.0 / ((x / p * -(1.0 - p).ln()).exp() - 1.0)
        };
        let (mut low, mut high) = (1.0, 3.0);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if excess(middle) > 0.0 { high = middle } else { low = middle }
        }
        assert!((1.75..1.9).contains(&low), "{low}");
        let mut flow = Flow::new(Spec::Dctcp(dctcp::Spec::default()), Duration::from_ms(10));
        let window = flow.random(Signal::Mark, p, 1_000_000);
        // Integer windows account for one packet.
        assert_near(window, low / p, 0.02 + p / low, &format!("probability {p}"));
        assert_near(window, 2.0 / p, 0.1, &format!("probability {p}, two marks"));
    }
}

fn prague(rtt_ms: u64) -> Flow {
    Flow::new(Spec::Prague(prague::Spec::default()), Duration::from_ms(rtt_ms))
}

/// Prague with evenly spaced marks has a window of 2 / p packets: every second mark reduces the
/// window by W p / 2, and of the 2 / p packets in between a fraction of 1 - p increases it by 1 / W
/// each, so W is 2 sqrt(1 - p) / p. Rounded up to 2 / p, it still ends each reduction in time.
#[test]
fn prague_with_even_marks() {
    for every in [25, 50, 100] {
        let window = prague(40).regular(Signal::Mark, every, 5_000);
        let p = 1.0 / every as f64;
        assert_near(window, 2.0 / p, 0.01 + p / 2.0, &format!("one in {every}"));
    }
}

/// With random marks the next reduction comes 1 / p packets after the end of the previous one. With
/// x marks in a round trip, growth of (1 - p) (1 + 1/x) and reductions of x/2 are equal for x = (1
/// - p) + sqrt((1 - p)^2 + 2 (1 - p)), 2.73 for few marks.
#[test]
fn prague_with_random_marks() {
    for p in [0.01, 0.02, 0.05, 0.1] {
        let window = prague(40).random(Signal::Mark, p, 1_000_000);
        let rest = 1.0 - p;
        let theory = (rest + (rest * rest + 2.0 * rest).sqrt()) / p;
        // Windows are rounded up, by half a packet on average.
        assert_near(window, theory, 0.02 + 0.5 / theory, &format!("probability {p}"));
    }
}

/// Below the reference round-trip time the same marks lead to the same rate, not the same window. A
/// reduction may have to wait for the end of one that had no effect, on average half a round trip: a
/// sixth of the reference time at 8 ms, and x varies about as its square root.
#[test]
fn prague_is_independent_of_short_round_trips() {
    let p = 0.02;
    let rate = |rtt_ms| prague(rtt_ms).random(Signal::Mark, p, 1_000_000) / rtt_ms as f64;
    let reference = rate(25);
    for rtt_ms in [3, 5, 8] {
        assert_near(rate(rtt_ms), reference, 0.09, &format!("{rtt_ms} ms"));
    }
    // Above it the window is the same.
    assert_near(rate(100) * 4.0, reference, 0.03, "100 ms");
}
