//! Whatever the network and the traffic: books that balance, flows that end, and the same results on
//! any number of threads. Networks and flows are random; what is checked has to hold for all of them.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::Profile;
use floodway_sim::host::application::{self, entries, interactive};
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::{self, tcp, udp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::{self, aqm, classify, flow_control, scheduler};
use floodway_sim::{Outcome, Simulation, Spec};

/// How many networks are tried.
const SEEDS: u64 = 150;

fn pick<T: Clone>(rng: &mut Stream, list: &[T]) -> T {
    list[rng.below(list.len() as u64) as usize].clone()
}

/// A number between the two, each order of magnitude as likely as another.
fn between(rng: &mut Stream, least: f64, most: f64) -> f64 {
    least * (most / least).powf(rng.unit())
}

/// Two switches, and the slow link between them, with hosts on both.
fn dumbbell(rng: &mut Stream, hosts: u32, slowest: f64, longest: f64) -> (Graph, Rate, Duration) {
    let rate = Rate(between(rng, slowest, 1e9) as u64);
    let host_rate = Rate((rate.0 as f64 * between(rng, 0.5, 30.0)) as u64);
    let trip = Duration((between(rng, 1e-4, longest) * 1e12) as u64);
    let mut graph = Graph::default();
    for host in 0..2 * hosts {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let left = graph.add("left", NodeKind::Switch { tier: 0 });
    let right = graph.add("right", NodeKind::Switch { tier: 0 });
    for host in 0..2 * hosts {
        let switch = if host < hosts { left } else { right };
        let delay = Duration((trip.0 as f64 / 2.0 * between(rng, 0.01, 0.3)) as u64);
        graph.link(NodeId(host), switch, host_rate, delay);
    }
    graph.link(left, right, rate, Duration(trip.0 / 4));
    (graph, rate, trip)
}

/// TCP with whatever parameters; what is timed by the receiver is shorter than the sender's timer.
fn tcp(rng: &mut Stream, rate: Rate, pfc: bool) -> Profile {
    let ms = Duration::from_ms;
    let delayed_acks = [ms(0), ms(1), ms(40), ms(200)];
    // Fast links would carry millions of tiny segments.
    let least = if rate > Rate::from_mbps(20) { 1_448 } else { 1 };
    let mut spec = tcp::Spec {
        mss: Bytes(pick(rng, &[1, 64, 536, 1_448, 1_448, 1_448, 8_948]).max(least)),
        initial_window: pick(rng, &[1, 2, 10, 10, 100, 1_000]),
        receive_window: pick(rng, &[None, None, None, Some(1), Some(3_000), Some(100_000)])
            .map(Bytes),
        delayed_ack: pick(rng, &delayed_acks),
        ack_every: pick(rng, &[1, 2, 2]),
        quick_acks: pick(rng, &[0, 16, 16, 1_000]),
        min_rto: pick(rng, &[ms(210), ms(200), ms(400)]),
        pacing: rng.bernoulli(0.3),
        ecn: pick(
            rng,
            &[
                None,
                None,
                None,
                Some(tcp::Feedback::Off),
                Some(tcp::Feedback::Classic),
                Some(tcp::Feedback::Dctcp),
                Some(tcp::Feedback::Accurate),
            ],
        ),
        ..Default::default()
    };
    spec.loss_detection = pick(rng, &[tcp::LossDetection::Rack, tcp::LossDetection::DupAcks]);
    spec.idle_restart =
        pick(rng, &[tcp::IdleRestart::Halve, tcp::IdleRestart::Initial, tcp::IdleRestart::Keep]);
    let mut controls = vec![
        congestion::Spec::Reno(Default::default()),
        congestion::Spec::Cubic(Default::default()),
        congestion::Spec::Dctcp(Default::default()),
        congestion::Spec::Prague(Default::default()),
        congestion::Spec::Bbr(Default::default()),
        congestion::Spec::Bbr3(Default::default()),
    ];
    if pfc {
        controls.push(congestion::Spec::LineRate(Default::default()));
    }
    let interactive = interactive::Spec {
        frame_interval: Duration((between(rng, 1e-4, 0.1) * 1e12) as u64),
        start_rate: Rate(between(rng, 1e4, 1e8) as u64),
        min_rate: Rate(between(rng, 1e3, 1e5) as u64),
        max_rate: Rate(between(rng, 1e6, 1e9) as u64),
        ..Default::default()
    };
    let entries = entries::Spec {
        mean: Bytes(1 + rng.below(20_000)),
        answer: Bytes(rng.below(spec.mss.0 + 1)),
        outstanding: Some(1 + rng.below(4) as u32),
        think: Some(Duration((between(rng, 1e-3, 0.1) * 1e12) as u64)),
        ..Default::default()
    };
    let by_the_clock = entries::Spec {
        outstanding: None,
        think: None,
        interval: entries.think,
        ..entries.clone()
    };
    let applications = [
        application::Spec::Interactive(interactive),
        application::Spec::Entries(entries),
        application::Spec::Entries(by_the_clock),
    ];
    Profile {
        transport: transport::Spec::Tcp(spec),
        congestion: pick(rng, &controls),
        application: rng.bernoulli(0.5).then(|| pick(rng, &applications)),
        dscp: None,
    }
}

/// What else there is: RoCEv2 in a lossless network, else datagrams that do not respond.
fn other(rng: &mut Stream, rate: Rate, pfc: bool) -> Profile {
    let constant = constant_rate::Spec { rate: Rate((rate.0 / 10).max(1)) };
    if !pfc && rng.bernoulli(0.3) {
        return Profile {
            transport: transport::Spec::Ethernet(Default::default()),
            congestion: congestion::Spec::ConstantRate(constant),
            application: None,
            dscp: None,
        };
    }
    if !pfc {
        return Profile {
            transport: transport::Spec::Udp(udp::Spec {
                ecn: pick(rng, &[udp::Field::NotEct, udp::Field::Ect0, udp::Field::Ect1]),
                ..Default::default()
            }),
            congestion: congestion::Spec::ConstantRate(constant),
            application: None,
            dscp: None,
        };
    }
    let dcqcn = congestion::Spec::Dcqcn(quick_dcqcn());
    Profile {
        transport: transport::Spec::Rocev2(Default::default()),
        congestion: pick(rng, &[dcqcn, congestion::Spec::ConstantRate(constant)]),
        application: None,
        dscp: None,
    }
}

/// One queue or two, and what is done with them.
fn queue_management(rng: &mut Stream, switch: &mut switch::Spec) {
    let all = [
        aqm::Spec::DropTail(Default::default()),
        aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(30_000) }),
        aqm::Spec::Ramp(Default::default()),
        aqm::Spec::Red(Default::default()),
        aqm::Spec::Codel(Default::default()),
        aqm::Spec::Pie(Default::default()),
        aqm::Spec::Bernoulli(Default::default()),
        aqm::Spec::Pi2(Default::default()),
        aqm::Spec::Coupled(Default::default()),
        aqm::Spec::DualQ(Default::default()),
        aqm::Spec::CurvyRed(Default::default()),
        aqm::Spec::DualPi2(Default::default()),
    ];
    switch.aqm = pick(rng, &all);
    if switch.aqm.is_for_two_queues() || rng.bernoulli(0.3) {
        switch.queue.count = 2;
        let low_latency =
            pick(rng, &[classify::ecn::Scalable::Ect1, classify::ecn::Scalable::EcnCapable]);
        switch.classify = classify::Spec::Ecn(classify::ecn::Spec { low_latency });
        let schedulers = [
            scheduler::Spec::Strict(Default::default()),
            scheduler::Spec::Wrr(Default::default()),
            scheduler::Spec::TimeShifted(Default::default()),
            scheduler::Spec::Drr(Default::default()),
        ];
        switch.scheduler = pick(rng, &schedulers);
    }
}

/// A flow of any of four workloads, which starts in the first second and takes no longer than some
/// if it is alone.
fn any_flow(rng: &mut Stream, profiles: &[Profile], rate: Rate, pfc: bool) -> FlowSpec {
    let workload = pick(rng, &[0, 0, 1, 1, 2, 3]);
    let transport = &profiles[usize::from(workload)].transport;
    let (left, right) = (rng.below(3) as u32, 3 + rng.below(3) as u32);
    // To the right, to the left, or to a neighbor.
    let ways = [(left, right), (left, right), (right, left), (left, (left + 1) % 3)];
    let (src, dst) = pick(rng, &ways);
    // A third of what the link carries in a second, or 300 round trips.
    let window = match transport {
        transport::Spec::Tcp(tcp) => tcp.receive_window.map(|window| window.max(tcp.mss)),
        _ => None,
    };
    let most = window.map_or(u64::MAX, |window| window.0 * 300).min(rate.0 / 24);
    let start = Instant((rng.unit() * 1e12) as u64);
    // Datagrams that are lost never complete a message.
    let persistent = rng.bernoulli(0.2) || (workload == 3 && !pfc);
    let later = Instant(start.0 + (rng.unit() * 1e12) as u64);
    FlowSpec {
        src: NodeId(src),
        dst: NodeId(dst),
        bytes: match persistent {
            true => FlowSpec::PERSISTENT,
            false => between(rng, 1.0, most.max(2) as f64) as u64,
        },
        start,
        stop: if persistent { later } else { Instant::NEVER },
        workload,
        in_turn: false,
    }
}

/// What comes out of this seed: a network and what is sent in it.
fn scenario(seed: u64) -> Spec {
    let rng = &mut Stream::from_seed(seed);
    let pfc = rng.bernoulli(0.2);
    // The timer of RoCEv2 is for the short ways and fast links of a data center: elsewhere it would
    // repeat for ever what only waits.
    let (slowest, longest) = if pfc { (3e8, 1e-3) } else { (1e6, 0.2) };
    let (graph, rate, trip) = dumbbell(rng, 3, slowest, longest);
    let mut profiles: Vec<_> = (0..3).map(|_| tcp(rng, rate, pfc)).collect();
    profiles.push(other(rng, rate, pfc));
    let count = pick(rng, &[3, 10, 40]);
    let mut flows: Vec<_> = (0..count).map(|_| any_flow(rng, &profiles, rate, pfc)).collect();
    flows.sort_by_key(|flow| (flow.start, flow.src));
    let mut spec = plain(graph, flows);
    (spec.profiles, spec.seed) = (profiles, seed);
    queue_management(rng, &mut spec.switch);
    let product = rate.0 as f64 / 8.0 * trip.as_secs();
    spec.switch.queue.size = Bytes((product * between(rng, 0.05, 5.0)).max(10_000.0) as u64);
    if pfc {
        let pfc = Some(Default::default());
        spec.switch.flow_control = flow_control::Spec { pfc, ..Default::default() };
        spec.switch.queue.size = Bytes(1_000_000_000);
        if !spec.switch.aqm.is_for_two_queues() {
            spec.switch.aqm = aqm::Spec::Step(Default::default());
        }
    }
    let tells = !matches!(spec.switch.aqm, aqm::Spec::DropTail(_));
    if tells && rng.bernoulli(0.3) {
        let (forward, gap) = (rng.bernoulli(0.7), Duration::from_ms(pick(rng, &[0, 1, 50])));
        let backward = !forward || rng.bernoulli(0.5);
        spec.switch.congestion_indication =
            Some(switch::congestion_indication::Spec { forward, backward, gap });
    }
    spec.end = Duration::from_ms(1_000_000);
    spec.sample_interval = Duration::from_ms(1_000);
    spec
}

fn on(spec: &Spec, threads: usize) -> Outcome {
    let stop = AtomicBool::new(false);
    Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
}

#[test]
fn books_balance_and_flows_end() {
    for seed in 0..SEEDS {
        let spec = scenario(seed);
        let outcome = on(&spec, 1);
        assert_eq!(outcome.violations, Vec::<String>::new(), "seed {seed}");
        assert_eq!(outcome.counter("flows_unfinished"), 0, "seed {seed}");
        let flows = outcome.table("flows");
        for (flow, delivered) in spec.flows.iter().zip(flows.u64s("delivered_bytes")) {
            assert!(flow.is_persistent() || *delivered == flow.bytes, "seed {seed}: {flow:?}");
        }
        let sum = |table, column| outcome.table(table).u64s(column).iter().sum::<u64>();
        assert!(sum("flows", "lost_packets") <= sum("drops", "packets"), "seed {seed}");
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    for seed in (0..SEEDS).step_by(10) {
        let spec = Spec { end: Duration::from_ms(1_000), ..scenario(seed) };
        let [one, two, three] = [1, 2, 3].map(|threads| on(&spec, threads).fingerprint);
        assert_eq!((one, one), (two, three), "seed {seed}");
    }
}
