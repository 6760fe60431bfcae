//! The engine beside a naive simulator: on random networks both must send the same frames at the
//! same picosecond. `PROPTEST_CASES` sets the number of networks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::AtomicBool;

use crate::naive::{self, Kind, Seen, Sent};
use floodway_model::graph::NodeKind;
use floodway_model::{
    Body, Bytes, Dscp, Duration, Ecn, FlowSpec, Graph, Instant, Marking, NodeId, Packet, Rate,
};
use floodway_sim::host::congestion::{constant_rate, dcqcn};
use floodway_sim::host::transport::rocev2::{self, recovery};
use floodway_sim::host::transport::udp;
use floodway_sim::host::{PauseScope, Profile, congestion, transport};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, ramp, step};
use floodway_sim::switch::classify::{self, dscp, mice_elephants};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::scheduler::{self, drr};
use floodway_sim::switch::{self, QueueSpec, buffer, feedback};
use floodway_sim::{Outcome, Simulation, Spec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};

/// What hangs together how. Hosts come first.
#[derive(Clone, Debug)]
enum Shape {
    Star {
        hosts: u32,
    },
    Dumbbell {
        left: u32,
        right: u32,
    },
    Clos {
        leaves: u32,
        spines: u32,
        per_leaf: u32,
    },
    /// A host at each switch.
    Ring {
        switches: u32,
    },
}

impl Shape {
    fn hosts(&self) -> u32 {
        match *self {
            Self::Star { hosts } => hosts,
            Self::Dumbbell { left, right } => left + right,
            Self::Clos { leaves, per_leaf, .. } => leaves * per_leaf,
            Self::Ring { switches } => switches,
        }
    }

    /// Its links, as pairs of nodes, and the tiers of its switches.
    fn links(&self) -> (Vec<(u32, u32)>, Vec<u8>) {
        let hosts = self.hosts();
        match *self {
            Self::Star { .. } => ((0..hosts).map(|host| (host, hosts)).collect(), vec![0]),
            Self::Dumbbell { left, .. } => {
                let host = |host| (host, hosts + u32::from(host >= left));
                let links = (0..hosts).map(host).chain([(hosts, hosts + 1)]);
                (links.collect(), vec![0, 0])
            }
            Self::Clos { leaves, spines, per_leaf } => {
                let down = (0..hosts).map(|host| (host, hosts + host / per_leaf));
                let up = (0..leaves).flat_map(|leaf| {
                    (0..spines).map(move |spine| (hosts + leaf, hosts + leaves + spine))
                });
                let tiers = [vec![0; leaves as usize], vec![1; spines as usize]].concat();
                (down.chain(up).collect(), tiers)
            }
            Self::Ring { switches } => {
                let own = (0..hosts).map(|host| (host, hosts + host));
                let next = (0..switches).map(|at| (hosts + at, hosts + (at + 1) % switches));
                (own.chain(next).collect(), vec![0; switches as usize])
            }
        }
    }

    /// The network, with link n like `links[n % links.len()]`.
    fn graph(&self, like: &[([Rate; 2], Duration)]) -> Graph {
        let mut graph = Graph::default();
        (0..self.hosts()).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let (links, tiers) = self.links();
        for (number, tier) in tiers.into_iter().enumerate() {
            graph.add(format!("switch {number}"), NodeKind::Switch { tier });
        }
        for (&(a, b), &(rates, delay)) in links.iter().zip(like.iter().cycle()) {
            graph.link_each_way(NodeId(a), NodeId(b), rates, delay);
        }
        graph
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (2u32..=8).prop_map(|hosts| Shape::Star { hosts }),
        (1u32..=4, 1u32..=4).prop_map(|(left, right)| Shape::Dumbbell { left, right }),
        (2u32..=3, 1u32..=3, 1u32..=2).prop_map(|(leaves, spines, per_leaf)| Shape::Clos {
            leaves,
            spines,
            per_leaf
        }),
        (3u32..=5).prop_map(|switches| Shape::Ring { switches }),
    ]
}

fn us(values: &'static [u64]) -> impl Strategy<Value = Duration> {
    select(values).prop_map(Duration::from_us)
}

/// Mostly round numbers, so that events coincide; one in four is slower or faster in one direction.
fn link() -> impl Strategy<Value = ([Rate; 2], Duration)> {
    let rate = || select(&[100, 40, 25, 10, 7, 3, 1][..]).prop_map(Rate::from_gbps);
    let rates = (rate(), prop_oneof![3 => Just(None), 1 => rate().prop_map(Some)])
        .prop_map(|(rate, back)| [rate, back.unwrap_or(rate)]);
    let delay = prop_oneof![select(&[200_000, 0, 1, 500_000, 1_000_000][..]), 0u64..2_000_000];
    (rates, delay.prop_map(Duration))
}

fn bytes(range: std::ops::Range<u64>) -> impl Strategy<Value = Bytes> {
    range.prop_map(Bytes)
}

fn queue() -> impl Strategy<Value = QueueSpec> {
    let size = prop_oneof![Just(Bytes(1 << 40)), bytes(1_000..60_000)];
    let control_size = prop_oneof![4 => Just(Bytes(1_000_000)), 1 => bytes(60..2_000)];
    (1u8..=4, size, control_size).prop_map(|(count, size, control_size)| QueueSpec {
        count,
        size,
        control_size,
        ..QueueSpec::default()
    })
}

fn classify(queues: u8) -> BoxedStrategy<classify::Spec> {
    let hash = Just(classify::Spec::DestinationHash(Default::default()));
    if queues == 1 {
        return hash.boxed();
    }
    let elephants = proptest::option::of(0..queues);
    let mice = (bytes(1_000..40_000), 0..queues, elephants).prop_map(|(below, mice, elephants)| {
        classify::Spec::MiceElephants(mice_elephants::Spec { below, mice, elephants })
    });
    prop_oneof![hash, mice, by_dscp(queues)].boxed()
}

/// EF and DSCP 3 have a queue each, perhaps the same.
fn by_dscp(queues: u8) -> impl Strategy<Value = classify::Spec> {
    (0..queues, 0..queues, 0..queues).prop_map(|(default, ef, three)| {
        let of =
            |(number, queue)| dscp::Of { queue, dscp: Marking::new(number).into_iter().collect() };
        let queues = [(46, ef), (3, three)].map(of).to_vec().into();
        classify::Spec::Dscp(dscp::Spec { default, queues })
    })
}

fn scheduler(queues: u8) -> impl Strategy<Value = scheduler::Spec> {
    let weights = proptest::collection::vec(1u32..5, 0..=usize::from(queues));
    let drr = (bytes(100..4_000), weights, 0..=queues).prop_map(|(quantum, weights, strict)| {
        scheduler::Spec::Drr(drr::Spec { quantum, weights, strict })
    });
    prop_oneof![1 => Just(scheduler::Spec::Strict(Default::default())), 3 => drr]
}

/// A third has feedback in classes of data.
fn feedback(queues: u8) -> impl Strategy<Value = feedback::Spec> {
    let class = || proptest::option::weighted(0.2, 0..queues);
    (class(), class()).prop_map(|(ack, cnp)| feedback::Spec {
        ack,
        cnp,
        ..feedback::Spec::default()
    })
}

fn aqm() -> impl Strategy<Value = aqm::Spec> {
    let ramp = (0u64..10_000, 1u64..20_000, select(&[0.1, 0.5, 1.0][..]), any::<bool>());
    prop_oneof![
        1 => Just(aqm::Spec::DropTail(Default::default())),
        2 => prop_oneof![bytes(0..20_000), select(&[1_086, 2_172, 5_430][..]).prop_map(Bytes)]
            .prop_map(|threshold| aqm::Spec::Step(step::Spec { threshold })),
        2 => ramp.prop_map(|(kmin, width, pmax, capped)| {
            let above_kmax = if capped { ramp::AboveKmax::Cap } else { ramp::AboveKmax::Step };
            let (kmin, kmax) = (Bytes(kmin), Bytes(kmin + width));
            let at = ramp::At::Arrival;
            let spec = ramp::Spec { kmin, kmax, pmax, above_kmax, at, ..Default::default() };
            aqm::Spec::Ramp(spec)
        }),
    ]
}

fn pfc() -> impl Strategy<Value = pfc::Spec> {
    let measured_on = select(&[pfc::MeasuredOn::EgressQueue, pfc::MeasuredOn::Ingress][..]);
    let queues = select(vec![vec![], vec![0], vec![0, 1]]);
    let quanta = select(&[65_535, 20, 64, 300, 2_000][..]);
    let response = select(&[Some(0), Some(100), Some(1_000), None][..]);
    // Whole frames too, so that queues stand exactly at thresholds.
    let thresholds = (0u64..20_000, 0.0..1.0, select(&[1, 1_086][..]));
    let refresh = proptest::bool::weighted(0.8);
    (thresholds, measured_on, queues, quanta, response, refresh).prop_map(
        |((xoff, part, unit), measured_on, queues, quanta, response, refresh)| pfc::Spec {
            xoff: Bytes(xoff / unit * unit),
            xon: Bytes((xoff as f64 * part) as u64 / unit * unit),
            measured_on,
            quanta,
            refresh,
            response: response.map(Duration::from_ns),
            queues,
            // Frames may be dropped: there is no headroom.
            lossless: false,
            ..Default::default()
        },
    )
}

prop_compose! {
    fn switch()(queue in queue())(
        classify in classify(queue.count),
        scheduler in scheduler(queue.count),
        aqm in aqm(),
        pfc in proptest::option::of(pfc()),
        per_port in proptest::option::weighted(0.2, bytes(2_000..60_000)),
        latency in select(&[0, 400_000, 1][..]),
        feedback in feedback(queue.count),
        queue in Just(queue),
    ) -> switch::Spec {
        let buffer = match per_port {
            Some(size) => buffer::Spec::PerPort(buffer::per_port::Spec { size }),
            None => buffer::Spec::default(),
        };
        let flow_control = switch::flow_control::Spec { pfc, ..Default::default() };
        let latency = Duration(latency);
        let others = switch::Spec::default();
        switch::Spec {
            latency,
            queue,
            classify,
            scheduler,
            aqm,
            buffer,
            flow_control,
            feedback,
            ..others
        }
    }
}

prop_compose! {
    fn dcqcn()(
        variant in select(&[dcqcn::Variant::Nic, dcqcn::Variant::Paper, dcqcn::Variant::Periodic][..]),
        by_acks in proptest::bool::weighted(0.2),
        cnp_interval in us(&[4, 0, 10, 50]),
        g in select(&[1.0 / 256.0, 1.0 / 16.0, 0.5][..]),
        (alpha_timer, cut_interval) in (us(&[1, 5, 55]), us(&[4, 10])),
        increase_timer in us(&[5, 20, 55]),
        byte_counter in select(&[0, 3_000, 10_000, 50_000][..]),
        fast_recovery in 0u32..=5,
        (additive, hyper, least) in
            (select(&[40, 500][..]), select(&[200, 3_000][..]), select(&[100, 1_000][..])),
        (reference, initial_alpha, min_decrease_factor) in
            (proptest::option::weighted(0.3, Just(25)), select(&[1.0, 0.5][..]), select(&[0.5, 0.8][..])),
        clamp_target in any::<bool>(),
        window in proptest::option::weighted(0.3, us(&[1, 5, 15])),
        window_follows_rate in any::<bool>(),
    ) -> congestion::Spec {
        let notification =
            if by_acks { dcqcn::Notification::Ack } else { dcqcn::Notification::Cnp };
        congestion::Spec::Dcqcn(dcqcn::Spec {
            variant,
            notification,
            cnp_interval,
            g,
            alpha_timer,
            cut_interval,
            increase_timer,
            byte_counter: Bytes(byte_counter),
            fast_recovery,
            additive_increase: Rate::from_mbps(additive),
            hyper_increase: Rate::from_mbps(hyper),
            reference_rate: reference.map(Rate::from_gbps),
            min_rate: Rate::from_mbps(least),
            initial_alpha,
            min_decrease_factor,
            clamp_target,
            window,
            window_follows_rate,
        })
    }
}

fn rocev2() -> impl Strategy<Value = transport::Spec> {
    let mtu = select(&[1_024, 256, 1_000, 4_096][..]).prop_map(Bytes);
    let in_flight = proptest::option::weighted(0.2, bytes(4_096..40_000));
    (mtu, 1u32..=4, in_flight, us(&[50, 20, 200]), us(&[50, 0, 5])).prop_map(
        |(mtu, ack_every, in_flight, retransmit_timeout, nak_interval)| {
            let go_back_n = recovery::go_back_n::Spec { retransmit_timeout, nak_interval };
            let recovery = recovery::Spec::GoBackN(go_back_n);
            let others = rocev2::Spec::default();
            transport::Spec::Rocev2(rocev2::Spec { mtu, ack_every, in_flight, recovery, ..others })
        },
    )
}

fn profile() -> impl Strategy<Value = Profile> {
    let line_rate = || Just(congestion::Spec::LineRate(Default::default()));
    let constant = select(&[50, 800, 5_000][..]).prop_map(|mbps| {
        congestion::Spec::ConstantRate(constant_rate::Spec { rate: Rate::from_mbps(mbps) })
    });
    let controls = prop_oneof![1 => line_rate(), 4 => dcqcn()];
    let fields = select(&[udp::Field::NotEct, udp::Field::Ect0, udp::Field::Ect1][..]);
    let udp = (bytes(1..2_000), fields)
        .prop_map(|(payload, ecn)| transport::Spec::Udp(udp::Spec { payload, ecn }));
    let pairs = prop_oneof![
        4 => (rocev2(), controls),
        1 => (udp, prop_oneof![line_rate(), constant]),
    ];
    pairs.prop_map(|(transport, congestion)| Profile {
        transport,
        congestion,
        ..Default::default()
    })
}

prop_compose! {
    fn flow()(
        (src, dst) in any::<(Index, Index)>(),
        bytes in prop_oneof![
            8 => 1u64..30_000,
            2 => 1u64..150_000,
            1 => Just(FlowSpec::PERSISTENT),
        ],
        start in prop_oneof![Just(0u64), (0u64..200).prop_map(|step| step * 100_000)],
        stop in prop_oneof![Just(u64::MAX), 0u64..100_000_000],
        workload in 0u16..2,
    ) -> (Index, Index, FlowSpec) {
        let (nobody, start) = (NodeId(0), Instant(start));
        let stop = if bytes == FlowSpec::PERSISTENT { Instant(stop) } else { Instant::NEVER };
        let (src_node, dst_node, in_turn) = (nobody, nobody, false);
        let flow =
            FlowSpec { src: src_node, dst: dst_node, bytes, start, stop, workload, in_turn };
        (src, dst, flow)
    }
}

/// A network, what is sent in it, and the threads of the engine.
#[derive(Clone)]
struct Case {
    spec: Spec,
    threads: usize,
}

impl Debug for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Spec { graph, switch, host, profiles, flows, .. } = &self.spec;
        let Self { spec: Spec { seed, departures, .. }, threads } = self;
        writeln!(f, "seed {seed}, departures {departures}, {threads} threads")?;
        for (node, port, end) in graph.links() {
            let (a, b) = (&graph.node(node).name, &graph.node(end.peer).name);
            let (from, to) = (port.0, end.peer_port.0);
            let (there, back) = (end.rate, graph.rate_to(&end));
            writeln!(f, "{a} port {from} - {b} port {to}: {there} and {back}, {}", end.delay)?;
        }
        writeln!(f, "{switch:?}\n{host:?}")?;
        profiles.iter().try_for_each(|profile| writeln!(f, "{profile:?}"))?;
        flows.iter().try_for_each(|flow| writeln!(f, "{flow:?}"))
    }
}

prop_compose! {
    fn case()(shape in shape())(
        switch in switch(),
        links in proptest::collection::vec(link(), 1..5),
        profiles in proptest::collection::vec(profile(), 2),
        flows in proptest::collection::vec(flow(), 1..12),
        pause_scope in select(&[PauseScope::Class, PauseScope::Nic][..]),
        pause_feedback in proptest::bool::weighted(0.8),
        departures in proptest::bool::weighted(0.1),
        // Several threads are slow where cores are busy.
        threads in prop_oneof![19 => Just(1), 1 => 2usize..=3],
        seed in any::<u64>(),
        shape in Just(shape),
    ) -> Case {
        let hosts = shape.hosts() as usize;
        let place = |(src, dst, flow): (Index, Index, FlowSpec)| {
            let src = src.index(hosts);
            // Another one.
            let dst = (src + 1 + dst.index(hosts - 1)) % hosts;
            FlowSpec { src: NodeId(src as u32), dst: NodeId(dst as u32), ..flow }
        };
        let mut flows: Vec<FlowSpec> = flows.into_iter().map(place).collect();
        flows.sort_by_key(|flow| flow.start);
        let mut spec = crate::common::plain(shape.graph(&links), flows);
        (spec.switch, spec.profiles, spec.seed) = (switch, profiles, seed);
        // The same seed decides, so that the networks are those of before.
        if let classify::Spec::Dscp(_) = &spec.switch.classify {
            let markings = [None, Some(Dscp(46)), Some(Dscp(3))];
            for (number, profile) in spec.profiles.iter_mut().enumerate() {
                profile.dscp = markings[(seed as usize + number) % markings.len()];
            }
        }
        spec.host.pause_scope = pause_scope;
        spec.host.pause_feedback = pause_feedback;
        spec.departures = departures;
        spec.end = Duration::from_us(300);
        Case { spec, threads }
    }
}

/// A frame as the engine sent it.
fn sent(frame: &floodway_sim::Sent) -> Sent {
    let Packet { flow, bytes, body, .. } = frame.packet;
    let kind = match body {
        Body::Data { psn, .. } => Kind::Data { psn },
        Body::Ack { echo, psn, .. } => Kind::Ack { psn, marked: echo.marked() },
        Body::Nak { echo, psn, .. } => Kind::Nak { psn, marked: echo.marked() },
        Body::Cnp => Kind::Cnp,
        Body::Pfc { classes, quanta, resumed } => {
            assert!(classes.is_power_of_two() && resumed == 0);
            Kind::Pause { class: classes.trailing_zeros() as usize, quanta }
        }
        _ => panic!("no frame of these mechanisms: {body:?}"),
    };
    let marked = frame.packet.ecn() == Ecn::Ce;
    let floodway_sim::Sent { at, to, handled_at, class, .. } = *frame;
    Sent { at, to, handled_at, class: class.0, flow: flow.0, bytes, marked, kind }
}

/// What came of a run of the engine.
fn seen(spec: &Spec, outcome: &Outcome, trace: &[floodway_sim::Sent]) -> Seen {
    let named: BTreeMap<&str, u32> =
        spec.graph.ids().map(|id| (spec.graph.node(id).name.as_str(), id.0)).collect();
    let mut seen = Seen { sent: trace.iter().map(sent).collect(), ..Seen::default() };
    let flows = outcome.table("flows");
    for (&flow, fct) in flows.u64s("flow").iter().zip(flows.f64s("fct_ns")) {
        if !fct.is_nan() {
            let took = Duration((fct * 1e3).round() as u64);
            seen.completed.insert(flow as u32, spec.flows[flow as usize].start + took);
        }
    }
    let drops = outcome.table("drops");
    for (row, &packets) in drops.u64s("packets").iter().enumerate() {
        let reason = match drops.texts("reason")[row].as_str() {
            "queue_full" => "queue_full",
            "headroom_exceeded" => "headroom_exceeded",
            "aqm" => "aqm",
            other => panic!("dropped because of {other}"),
        };
        let [port, queue] = ["port", "queue"].map(|name| drops.u64s(name)[row] as usize);
        let node = named[drops.texts("node")[row].as_str()];
        seen.drops.insert((node, port, queue, reason), packets);
    }
    let pauses = outcome.table("pauses");
    for (row, name) in pauses.texts("node").iter().enumerate() {
        let counts = ["xoff_frames", "refresh_frames", "xon_frames"];
        let counts = counts.map(|name| pauses.u64s(name)[row]);
        let [port, class] = ["port", "class"].map(|name| pauses.u64s(name)[row] as usize);
        if counts != [0; 3] {
            seen.pauses.insert((named[name.as_str()], port, class), counts);
        }
    }
    let queues = outcome.table("queues");
    for (row, name) in queues.texts("node").iter().enumerate() {
        let marked = queues.u64s("marked_packets")[row];
        let [port, queue] = ["port", "queue"].map(|name| queues.u64s(name)[row] as usize);
        if marked > 0 {
            seen.marks.insert((named[name.as_str()], port, queue), marked);
        }
    }
    seen
}

/// Where two lists, or what is in two maps, differ first.
fn difference<T: Debug + PartialEq>(
    what: &str,
    engine: impl IntoIterator<Item = T>,
    naive: impl IntoIterator<Item = T>,
) -> Option<String> {
    let (mut engine, mut naive) = (engine.into_iter(), naive.into_iter());
    for number in 0.. {
        let (ours, theirs) = (engine.next(), naive.next());
        if ours != theirs {
            return Some(format!(
                "{what}, difference at number {number}\n  engine: {ours:?}\n  naive:  {theirs:?}"
            ));
        }
        ours.as_ref()?;
    }
    None
}

/// Where lists of frames differ first, with the frames of that flow before.
fn frames(engine: &[Sent], naive: &[Sent]) -> Option<String> {
    let difference = difference("frames", engine, naive)?;
    let same = engine.iter().zip(naive).take_while(|(ours, theirs)| ours == theirs).count();
    let first = [engine, naive].into_iter().filter_map(|sent| sent.get(same)).min()?;
    let mut before: Vec<&Sent> =
        engine[..same].iter().filter(|sent| sent.flow == first.flow).rev().take(12).collect();
    before.reverse();
    let before: String = before.iter().map(|sent| format!("  both:   {sent:?}\n")).collect();
    Some(format!("{before}{difference}"))
}

/// What the engine on so many threads did, and how the naive simulator differs, if it does.
fn compare(spec: &Spec, threads: usize) -> (Seen, Option<String>) {
    let (stop, watch) = (AtomicBool::new(false), |_| {});
    let run = Run { threads, stop: &stop, watch: &watch };
    let mut simulation = Simulation::new(spec.clone());
    // Half of the networks as large ones are run.
    if spec.seed.is_multiple_of(2) {
        simulation = simulation.in_blocks_of(5);
    }
    let (outcome, trace) = simulation.run_traced(&run);
    let mut engine = seen(spec, &outcome, &trace);
    let mut naive = naive::run(spec, outcome.simulated);
    engine.sent.sort();
    naive.sent.sort();
    let audit = (!outcome.violations.is_empty())
        .then(|| format!("the audit of the engine: {:?}", outcome.violations));
    let difference = frames(&engine.sent, &naive.sent)
        .or_else(|| difference("drops", &engine.drops, &naive.drops))
        .or_else(|| difference("pauses", &engine.pauses, &naive.pauses))
        .or_else(|| difference("marks", &engine.marks, &naive.marks))
        .or_else(|| difference("completed", &engine.completed, &naive.completed))
        .or(audit);
    (engine, difference)
}

/// The same networks every time, few enough for `make test`; what the environment says comes first.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 300;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(41);
    }
    config
}

/// In how many of the networks something happened.
#[derive(Debug, Default)]
struct Happened(BTreeMap<&'static str, u32>);

impl Happened {
    fn count(&mut self, seen: &Seen) {
        let frames = |is: fn(&Kind) -> bool| seen.sent.iter().any(|sent| is(&sent.kind));
        let refreshed = seen.pauses.values().any(|[_, refreshes, _]| *refreshes > 0);
        let happened = [
            ("frames", !seen.sent.is_empty()),
            ("completions", !seen.completed.is_empty()),
            ("drops", !seen.drops.is_empty()),
            ("marks", !seen.marks.is_empty()),
            ("pauses", !seen.pauses.is_empty()),
            ("refreshes", refreshed),
            ("CNPs", frames(|kind| *kind == Kind::Cnp)),
            ("NAKs", frames(|kind| matches!(kind, Kind::Nak { .. }))),
        ];
        for (what, happened) in happened {
            *self.0.entry(what).or_default() += u32::from(happened);
        }
    }
}

#[test]
fn the_engine_sends_what_the_naive_simulator_sends() {
    let config = config();
    let (cases, happened) = (config.cases, RefCell::new(Happened::default()));
    let result = TestRunner::new(config).run(&case(), |Case { spec, threads }| {
        let (engine, difference) = compare(&spec, threads);
        happened.borrow_mut().count(&engine);
        difference.map_or(Ok(()), |difference| Err(TestCaseError::fail(difference)))
    });
    let happened = happened.into_inner();
    println!("of {cases} networks: {:?}", happened.0);
    result.unwrap_or_else(|error| panic!("{error}"));
    // Networks in which nothing happens would show nothing.
    let least = happened.0.values().min().expect("something is counted");
    assert!(*least >= cases / 20, "of {cases} networks: {:?}", happened.0);
}

/// What the naive simulator would leave out is refused, not compared without it.
#[test]
#[should_panic(expected = "the naive simulator has no shared buffer")]
fn a_mechanism_without_a_naive_model_is_refused() {
    let mut spec = crate::common::plain(crate::common::star(2), Vec::new());
    spec.switch.buffer = buffer::Spec::Shared(Default::default());
    naive::run(&spec, Instant(0));
}
