//! DCQCN of the paper at one bottleneck: what marking on arrival does to its stability, compared with the
//! fluid model of Zhu et al., "ECN or Delay", CoNEXT 2016. `docs/decisions/0048-…` explains it.

use crate::common::{control, plain};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::switch::aqm::{self, ramp};

/// The bottleneck, bits per second, and a packet of 1024 bytes with headers, preamble and gap, bits.
const LINK: f64 = 40e9;
const PACKET: f64 = 1_106.0 * 8.0;
/// The curve: thresholds in bytes and the probability at the high one.
const LOW: f64 = 5e3;
const HIGH: f64 = 200e3;
const MOST: f64 = 0.01;
/// Links of 500 ns, two there and two back, a packet on both links and a CNP on both, about.
const BASE_DELAY: f64 = 2.5e-6;

/// The queue (bytes), the probability and the loop of so many flows in balance, if the curve went on
/// above `HIGH`.
struct Fluid {
    flows: f64,
    probability: f64,
    /// Changes of alpha, target and rate by each of alpha, target, rate, and the delayed probability and rate.
    slopes: [[f64; 3]; 5],
}

/// Timers of the paper: CNPs, alpha, increases (seconds); byte counter and additive increase (packets).
const TAU: f64 = 50e-6;
const TAU_ALPHA: f64 = 55e-6;
const TIMER: f64 = 55e-6;
const COUNTER: f64 = 10e6 / 1_106.0;
const INCREASE: f64 = 40e6 / PACKET;
const GAIN: f64 = 1.0 / 256.0;
const FAST: f64 = 5.0;

/// Some of 1 - p to a power.
fn none_of(p: f64, packets: f64) -> f64 {
    (packets * (-p).ln_1p()).exp()
}

/// Increases per packet by a counter of so many packets, and what part of them is past fast recovery.
fn increases(p: f64, packets: f64) -> (f64, f64) {
    (p / (1.0 / none_of(p, packets) - 1.0), none_of(p, FAST * packets))
}

/// Equations 5 to 7 of SIGCOMM 2015: how alpha, target and rate of a flow change, packets per second.
fn change([alpha, target, rate, p, rate_before]: [f64; 5]) -> [f64; 3] {
    let cut = 1.0 - none_of(p, TAU * rate_before);
    let (by_bytes, past_bytes) = increases(p, COUNTER);
    let (by_time, past_time) = increases(p, TIMER * rate_before);
    let additive = INCREASE * rate_before * (past_bytes * by_bytes + past_time * by_time);
    let half = (target - rate) / 2.0 * rate_before * (by_bytes + by_time);
    [
        GAIN / TAU_ALPHA * (1.0 - none_of(p, TAU_ALPHA * rate_before) - alpha),
        -(target - rate) / TAU * cut + additive,
        -rate * alpha / (2.0 * TAU) * cut + half,
    ]
}

impl Fluid {
    fn new(flows: u32) -> Self {
        let flows = f64::from(flows);
        let rate = LINK / PACKET / flows;
        // Target and alpha follow from the probability; the rate is to be in balance too.
        let state = |p: f64| {
            let cut = 1.0 - none_of(p, TAU * rate);
            let (by_bytes, past_bytes) = increases(p, COUNTER);
            let (by_time, past_time) = increases(p, TIMER * rate);
            let above = TAU * INCREASE * rate * (past_bytes * by_bytes + past_time * by_time) / cut;
            [1.0 - none_of(p, TAU_ALPHA * rate), rate + above, rate, p, rate]
        };
        let (mut low, mut high) = (1e-6f64, 0.5f64);
        for _ in 0..100 {
            let middle = (low * high).sqrt();
            if change(state(middle))[2] < 0.0 { high = middle } else { low = middle }
        }
        let balance = state(low);
        let slopes = std::array::from_fn(|input| {
            let step = balance[input] * 1e-6;
            let moved = |by: f64| {
                let mut state = balance;
                state[input] += by;
                change(state)
            };
            let (up, down) = (moved(step), moved(-step));
            std::array::from_fn(|output| (up[output] - down[output]) / (2.0 * step))
        });
        Self { flows, probability: low, slopes }
    }

    fn queue(&self) -> f64 {
        LOW + self.probability / MOST * (HIGH - LOW)
    }

    /// The open loop at a frequency (radians per second) with this delay (seconds): magnitude and phase.
    fn open_loop(&self, frequency: f64, delay: f64) -> (f64, f64) {
        let s = Complex(0.0, frequency);
        let late = Complex((frequency * delay).cos(), -(frequency * delay).sin());
        let a = |output: usize, input: usize| Complex(self.slopes[input][output], 0.0);
        // Alpha follows the probability, and the rate before, alone.
        let alpha = |by: usize| a(0, by).times(late).over(s.minus(a(0, 0)));
        // Target and rate, by Cramer's rule: the unknowns are answers to a change of the probability.
        let (by_p, by_rate) = (alpha(3), alpha(4));
        let m = [
            [s.minus(a(1, 1)), a(1, 2).plus(a(1, 4).times(late)).negative()],
            [
                a(2, 1).negative(),
                s.minus(a(2, 2)).minus(a(2, 4).times(late)).minus(a(2, 0).times(by_rate)),
            ],
        ];
        let right = [a(1, 3).times(late), a(2, 3).times(late).plus(a(2, 0).times(by_p))];
        let determinant = m[0][0].times(m[1][1]).minus(m[0][1].times(m[1][0]));
        let rate = m[0][0].times(right[1]).minus(m[1][0].times(right[0])).over(determinant);
        let slope = MOST / ((HIGH - LOW) * 8.0 / PACKET);
        let Complex(re, im) = rate.over(s).times(Complex(-slope * self.flows, 0.0));
        (re.hypot(im), im.atan2(re))
    }

    /// The phase margin in degrees with this delay in seconds, and the frequency where the loop's gain is 1.
    fn margin(&self, delay: f64) -> (f64, f64) {
        let (mut frequency, mut before, mut unwrapped) = (1.0, None::<f64>, 0.0);
        loop {
            let (gain, phase) = self.open_loop(frequency, delay);
            let turn = std::f64::consts::TAU;
            unwrapped += match before {
                None => phase,
                Some(before) => (phase - before + turn / 2.0).rem_euclid(turn) - turn / 2.0,
            };
            if gain < 1.0 {
                return (180.0 + f64::to_degrees(unwrapped), frequency);
            }
            before = Some(phase);
            frequency *= 1.001;
        }
    }
}

#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    fn negative(self) -> Self {
        Self(-self.0, -self.1)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(other.negative())
    }

    fn times(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }

    fn over(self, other: Self) -> Self {
        let square = other.0 * other.0 + other.1 * other.1;
        self.times(Self(other.0 / square, -other.1 / square))
    }
}

/// The queueing delay at the fixed point takes away the frequency times that delay, and no more: eight
/// flows are stable with either. Sixteen have no fixed point on the curve.
#[test]
fn marks_on_arrival_cost_little_phase_margin() {
    println!("flows  p*       queue    margin on departure, on arrival, frequency");
    let margins = [2, 4, 8, 16, 32, 64].map(|flows| {
        let fluid = Fluid::new(flows);
        let waiting = fluid.queue() * 8.0 / LINK;
        let (early, frequency) = fluid.margin(BASE_DELAY);
        let (late, _) = fluid.margin(BASE_DELAY + waiting);
        let (p, queue) = (fluid.probability * 100.0, fluid.queue() / 1e3);
        println!("{flows:5}  {p:.3} %  {queue:.0} KB  {early:.1}  {late:.1}  {frequency:.0}/s");
        if flows == 8 {
            let lost = f64::to_degrees(frequency * waiting);
            assert!((early - late - lost).abs() < 0.3, "{early} - {late}, {lost} on paper");
        }
        (fluid.probability, early, late)
    });
    assert!(margins.iter().all(|(_, early, late)| early > late && *late > 0.0));
    // The curve ends at 1 %: up to 8 flows are below it, 16 are above.
    assert!(margins[2].0 < 0.006 && margins[3].0 > MOST);
}

/// What a run of so many flows gives: the mean queue in bytes and the share of packets that is marked.
fn measured(flows: u32, at: ramp::At, delay_us: u64) -> (f64, f64) {
    let rate = Rate::from_gbps(40);
    let mut graph = Graph::default();
    (0..=flows).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let delay = if delay_us == 0 { Duration::from_ns(500) } else { Duration::from_us(delay_us) };
    (0..=flows).for_each(|host| graph.link(NodeId(host), switch, rate, delay));
    let long = |src| FlowSpec {
        src: NodeId(src),
        dst: NodeId(0),
        bytes: FlowSpec::PERSISTENT,
        start: Instant(0),
        stop: Instant::NEVER,
        workload: 0,
        in_turn: false,
    };
    let mut spec = plain(graph, (1..=flows).map(long).collect());
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn::Spec::default()));
    spec.switch.aqm = aqm::Spec::Ramp(ramp::Spec {
        kmin: Bytes(LOW as u64),
        kmax: Bytes(HIGH as u64),
        pmax: MOST,
        above_kmax: ramp::AboveKmax::Step,
        at,
        ..Default::default()
    });
    (spec.warmup, spec.end) = (Duration::from_ms(60), Duration::from_ms(120));
    let outcome = crate::common::run(spec);
    let queues = outcome.table("queues");
    let (means, packets) = (queues.f64s("mean_backlog_bytes"), queues.u64s("packets"));
    let busiest = (0..packets.len()).max_by_key(|row| packets[*row]).unwrap();
    let marks = queues.u64s("marked_packets")[busiest] as f64 / packets[busiest] as f64;
    println!("{flows} flows, {at:?}, {delay}: {:.0} B, {:.2} %", means[busiest], marks * 100.0);
    (means[busiest], marks)
}

/// Sixteen flows need more marks than the curve has, so the queue is where the probability steps to 1.
/// Marks on departure hold it there. Marks on arrival come 40 us later, 200 KB at 40 Gb/s, in which each flow
/// has a packet marked: all cut at once, and the queue falls to nothing. So it does with marks on
/// departure, if links are so much longer that the round trip is 40 us instead of 2 us.
#[test]
fn marks_that_are_late_empty_the_queue() {
    let (queue, marks) = measured(16, ramp::At::Departure, 0);
    assert!((0.85 * HIGH..1.05 * HIGH).contains(&queue), "{queue}");
    let (late_queue, late_marks) = measured(16, ramp::At::Arrival, 0);
    assert!(late_queue < 0.5 * HIGH && late_marks > 3.0 * marks, "{late_queue}, {late_marks}");
    let (far_queue, far_marks) = measured(16, ramp::At::Departure, 10);
    assert!((far_queue / late_queue - 1.0).abs() < 0.25, "{far_queue}, {late_queue}");
    assert!((far_marks / late_marks - 1.0).abs() < 0.25, "{far_marks}, {late_marks}");
}
