//! What is drawn for a seed: a network, what its switches and hosts do, and their traffic.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::packet::length;
use floodway_model::random::Stream;
use floodway_model::{
    Bytes, Duration, FlowId, FlowSpec, Graph, Instant, NodeId, Operation, PortIx, Rate, Trigger,
};
use floodway_sim::Spec;
use floodway_sim::csig;
use floodway_sim::errors::Errors;
use floodway_sim::failure::Failure;
use floodway_sim::host::application::{self, entries};
use floodway_sim::host::congestion::{self, constant_rate, ndp};
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::host::transport::{self, ethernet, tcp};
use floodway_sim::host::{PauseScope, Profile};
use floodway_sim::retry;
use floodway_sim::switch::aqm::{MeasuredOn, red};
use floodway_sim::switch::fabric::{self, CongestionAt, input_fifo, voq};
use floodway_sim::switch::flow_control::pfc::watchdog::{self, Action};
use floodway_sim::switch::flow_control::source_flow_control::{self, Mode};
use floodway_sim::switch::flow_control::{congestion_isolation, drc, pause, pfc, qcn};
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::switch::{aqm, buffer, classify, congestion_indication, path, scheduler};

/// Queues that hold whatever comes.
pub const NO_LIMIT: Bytes = Bytes(1 << 40);

fn pick<T: Clone>(rng: &mut Stream, list: &[T]) -> T {
    list[rng.below(list.len() as u64) as usize].clone()
}

/// A whole number between the two, each order of magnitude as likely as another.
fn between(rng: &mut Stream, least: u64, most: u64) -> u64 {
    (least as f64 * (most as f64 / least as f64).powf(rng.unit())) as u64
}

fn some_time(rng: &mut Stream, least_ns: u64, most_ns: u64) -> Duration {
    Duration::from_ns(between(rng, least_ns, most_ns))
}

/// Switches in a tree with more links where there is more than one way, and hosts on some of them.
fn network(rng: &mut Stream) -> Graph {
    let (hosts, switches) = (3 + rng.below(6) as u32, 1 + rng.below(4) as u32);
    let leaf_spine = switches == 4 && rng.bernoulli(0.5);
    let mut graph = Graph::default();
    (0..hosts).for_each(|host| {
        graph.add(format!("host {host}"), NodeKind::Host);
    });
    let ids: Vec<NodeId> = (0..switches)
        .map(|n| {
            let tier = u8::from(leaf_spine && n >= 2);
            graph.add(format!("switch {n}"), NodeKind::Switch { tier })
        })
        .collect();
    let rates = [1, 2, 10, 10, 10, 40].map(Rate::from_gbps);
    let one = rng.bernoulli(0.3);
    let link = |graph: &mut Graph, rng: &mut Stream, a, b| {
        let rate = if one { Rate::from_gbps(10) } else { pick(rng, &rates) };
        graph.link(a, b, rate, Duration::from_ns(rng.below(2_000)));
    };
    for host in 0..hosts {
        let at = if leaf_spine { host % 2 } else { host % switches };
        link(&mut graph, rng, NodeId(host), ids[at as usize]);
    }
    if leaf_spine {
        for (leaf, spine) in [(0, 2), (0, 3), (1, 2), (1, 3), (1, 3)] {
            link(&mut graph, rng, ids[leaf], ids[spine]);
        }
    } else {
        for n in 1..switches as usize {
            let parent = rng.below(n as u64) as usize;
            link(&mut graph, rng, ids[parent], ids[n]);
        }
    }
    graph
}

/// What is measured, and where marks and drops begin.
fn red(rng: &mut Stream) -> aqm::Spec {
    let min = between(rng, 3_000, 50_000);
    aqm::Spec::Red(red::Spec {
        min: Bytes(min),
        max: Bytes(3 * min),
        limit: Bytes(100_000_000),
        avpkt: Bytes(1_000),
        burst: 1 + (5 * min / 3_000) as u32,
        bandwidth: Rate::from_gbps(10),
        probability: pick(rng, &[0.02, 0.5, 1.0]),
        ecn: true,
        measured_on: pick(rng, &[MeasuredOn::Queue, MeasuredOn::Port, MeasuredOn::Memory]),
        ..Default::default()
    })
}

fn directional(rng: &mut Stream, queues: u8) -> drc::Spec {
    let classes = if rng.bernoulli(0.3) { vec![rng.below(queues.into()) as u8] } else { vec![] };
    drc::Spec {
        thresholds: pick(rng, &[[0.25, 0.5, 0.75], [0.1, 0.2, 0.5], [0.001, 0.002, 1.0]]),
        buffer: Some(Bytes(between(rng, 2_000, 200_000))),
        hysteresis: pick(rng, &[0.0, 0.0005]),
        interval: some_time(rng, 2_000, 50_000),
        min_gap: pick(rng, &[Duration::ZERO, Duration::from_ns(1_230), Duration::from_us(20)]),
        decrease: pick(rng, &[0.01, 0.5, 1.0]),
        cut_interval: pick(rng, &[Duration::ZERO, Duration::from_us(10)]),
        increase: pick(rng, &[1.0, 1.25, 100.0]),
        increment: pick(rng, &[0.01, 1.0]),
        min_factor: pick(rng, &[0.001, 0.01, 0.5]),
        stop: rng.bernoulli(0.7),
        lossless: false,
        classes,
    }
}

/// One of the crossbars.
fn fabric(rng: &mut Stream) -> fabric::Spec {
    let speedup = pick(rng, &[1.0, 1.5, 3.0]);
    let cell = Bytes(pick(rng, &[64, 64, 500, 10_000]));
    let egress_queue = pick(rng, &[None, Some(Bytes(100_000))]);
    let congestion_at = pick(rng, &[CongestionAt::VirtualOutput, CongestionAt::Egress]);
    if rng.bernoulli(0.5) {
        let spec = input_fifo::Spec { speedup, cell, egress_queue, congestion_at };
        return fabric::Spec::InputFifo(spec);
    }
    let iterations = pick(rng, &[1, 4]);
    fabric::Spec::Voq(voq::Spec { iterations, speedup, cell, egress_queue, congestion_at })
}

/// By the memory only of a single switch: two of them would stop each other for ever.
fn pause(rng: &mut Stream, alone: bool) -> pause::Spec {
    use pause::MeasuredOn::{EgressPort, Ingress, Memory};
    let xoff = between(rng, 2_000, 60_000);
    let third = if alone { Memory } else { Ingress };
    let measured_on = pick(rng, &[Ingress, EgressPort, third]);
    pause::Spec {
        xoff: Bytes(xoff),
        xon: Bytes((xoff as f64 * rng.unit()) as u64),
        measured_on,
        quanta: pick(rng, &[u16::MAX, 4_000]),
        response: some_time(rng, 1, 1_000),
        lossless: true,
    }
}

/// Which of the equal ways.
fn way(rng: &mut Stream) -> path::Spec {
    let flowlet = path::flowlet::Spec {
        gap: pick(rng, &[Duration::ZERO, Duration::from_us(5)]),
        entries: pick(rng, &[1, 100]),
    };
    let order = pick(rng, &[path::spray::Order::Random, path::spray::Order::RoundRobin]);
    let (choices, memory) = (1 + rng.below(3) as u16, rng.below(3) as u16);
    let weighted = rng.bernoulli(0.5);
    let all = [
        path::Spec::Ecmp(path::ecmp::Spec { weighted }),
        path::Spec::Flowlet(flowlet),
        path::Spec::Spray(path::spray::Spec { order }),
        path::Spec::LeastLoaded(path::least_loaded::Spec { choices, memory }),
        path::Spec::DModK(Default::default()),
    ];
    pick(rng, &all)
}

/// Some links fail, for a while or for ever.
fn failures(rng: &mut Stream, graph: &Graph) -> Vec<Failure> {
    let mut links: Vec<_> = graph.links().collect();
    rng.shuffle(&mut links);
    let some = 1 + rng.below(3) as usize;
    let fail = |&(node, port, _): &_| {
        let at = Instant(rng.below(BUSY_US * 1_000_000));
        let until = match rng.bernoulli(0.8) {
            true => at + some_time(rng, 1, 1_000_000),
            false => Instant::NEVER,
        };
        let longer = some_time(rng, 1, 200_000);
        let detection = pick(rng, &[Duration::ZERO, longer]);
        Failure { node, port, at, until, detection }
    };
    links[..some.min(links.len())].iter().map(fail).collect()
}

/// How flows are sent, by workload: frames alone, RoCEv2 twice, TCP, and entries.
fn profiles(rng: &mut Stream) -> Vec<Profile> {
    let constant = constant_rate::Spec { rate: Rate::from_mbps(between(rng, 100, 5_000)) };
    let alone = [
        congestion::Spec::LineRate(Default::default()),
        congestion::Spec::ConstantRate(constant),
        congestion::Spec::IndicatedRate(Default::default()),
    ];
    let payload = Bytes(pick(rng, &[46, 500, 1_500]));
    let plain = |transport, congestion| Profile { transport, congestion, ..Default::default() };
    let default_rocev2 = || transport::Spec::Rocev2(transport::rocev2::Spec::default());
    let tcp = tcp::Spec {
        delayed_ack: pick(rng, &[Duration::ZERO, Duration::from_us(100)]),
        min_rto: pick(rng, &[Duration::from_us(500), Duration::from_ms(10)]),
        initial_rto: Duration::from_ms(10),
        ecn: pick(rng, &[None, Some(tcp::Feedback::Off), Some(tcp::Feedback::Classic)]),
        ..Default::default()
    };
    let controls = [
        congestion::Spec::Reno(Default::default()),
        congestion::Spec::Cubic(Default::default()),
        congestion::Spec::Dctcp(Default::default()),
        congestion::Spec::Bbr(Default::default()),
    ];
    let mut by_entries = entries::Spec {
        outstanding: Some(1 + rng.below(4) as u32),
        think: Some(some_time(rng, 1, 50_000)),
        ..Default::default()
    };
    if rng.bernoulli(0.3) {
        let interval = Some(some_time(rng, 5_000, 50_000));
        by_entries = entries::Spec { interval, ..Default::default() };
    }
    let entries = Profile {
        transport: transport::Spec::Tcp(tcp.clone()),
        congestion: pick(rng, &controls),
        application: Some(application::Spec::Entries(by_entries)),
        dscp: None,
    };
    vec![
        plain(transport::Spec::Ethernet(ethernet::Spec { payload }), pick(rng, &alone)),
        plain(default_rocev2(), congestion::Spec::Dcqcn(quick_dcqcn())),
        plain(default_rocev2(), congestion::Spec::LineRate(Default::default())),
        plain(transport::Spec::Tcp(tcp), pick(rng, &controls)),
        entries,
    ]
}

const FRAMES: u16 = 0;
const ENTRIES: u16 = 4;
/// Until when everybody has sent what he has, in microseconds.
const BUSY_US: u64 = 300;

/// Messages at random, saturated hosts, and clients with entries.
fn flows(rng: &mut Stream, hosts: u32) -> Vec<FlowSpec> {
    let other = |rng: &mut Stream, src: u32| {
        let dst = (src + 1 + rng.below(u64::from(hosts) - 1) as u32) % hosts;
        // Many to one, so that something is congested.
        if src != 0 && rng.bernoulli(0.4) { 0 } else { dst }
    };
    let busy = Instant(Duration::from_us(BUSY_US).0);
    let mut flows = Vec::new();
    for _ in 0..pick(rng, &[0, 10, 40]) {
        let src = rng.below(hosts.into()) as u32;
        let dst = other(rng, src);
        let bytes = between(rng, 1, 200_000);
        let start = rng.below(BUSY_US * 1_000);
        let workload = 1 + rng.below(3) as u16;
        flows.push(FlowSpec { workload, ..flow(src, dst, bytes, start) });
    }
    for workload in [FRAMES, 1, 2] {
        if rng.bernoulli(0.4) {
            continue;
        }
        for src in 0..hosts {
            for _ in 0..100 {
                let dst = other(rng, src);
                let one = flow(src, dst, between(rng, 1, 30_000), 0);
                flows.push(FlowSpec { workload, in_turn: true, stop: busy, ..one });
            }
        }
    }
    for _ in 0..pick(rng, &[0, 1, 5]) {
        let src = rng.below(hosts.into()) as u32;
        let dst = other(rng, src);
        let one = flow(src, dst, FlowSpec::PERSISTENT, rng.below(BUSY_US * 100));
        flows.push(FlowSpec { workload: ENTRIES, stop: busy, ..one });
    }
    flows.sort_by_key(|flow| (flow.start, flow.src));
    flows
}

/// What comes out of this seed.
pub fn scenario(seed: u64) -> Spec {
    let rng = &mut Stream::from_seed(seed);
    let graph = network(rng);
    let hosts = graph.hosts().count() as u32;
    let alone = graph.switches().count() == 1;
    let mut spec = plain(graph, flows(rng, hosts));
    (spec.profiles, spec.seed) = (profiles(rng), seed);
    spec.latencies = true;
    let largest = spec.profiles.iter().map(|profile| profile.transport.largest_frame()).max();
    let largest = u64::from(largest.unwrap_or(length::SHORTEST_FRAME));
    let memories = [0, 0, 1, 500, 20_000, 200_000].map(|more| Some(Bytes(largest + more)));
    spec.host.buffer = if rng.bernoulli(0.25) { None } else { pick(rng, &memories) };
    spec.host.pause_scope = pick(rng, &[PauseScope::Class, PauseScope::Nic]);

    let switch = &mut spec.switch;
    switch.latency = pick(rng, &[Duration::ZERO, Duration::from_ns(500)]);
    switch.queue.count = pick(rng, &[1, 1, 2, 3]);
    let count = switch.queue.count;
    if count > 1 {
        switch.classify = pick(
            rng,
            &[
                classify::Spec::DestinationHash(Default::default()),
                classify::Spec::MiceElephants(Default::default()),
            ],
        );
        let schedulers =
            [scheduler::Spec::Strict(Default::default()), scheduler::Spec::Drr(Default::default())];
        switch.scheduler = pick(rng, &schedulers);
    }
    let lossless = rng.bernoulli(0.5);
    if !lossless {
        switch.queue.size = Bytes(between(rng, 5_000, 200_000));
    }
    let control = &mut switch.flow_control;
    match rng.below(4) {
        0 => {}
        1 => {
            let xoff = Bytes(between(rng, 2_000, 60_000));
            let measured = [pfc::MeasuredOn::Ingress, pfc::MeasuredOn::EgressQueue];
            let queues = if rng.bernoulli(0.3) { vec![0] } else { vec![] };
            let measured_on = pick(rng, &measured);
            control.pfc =
                Some(pfc::Spec { xoff, xon: Bytes(1_500), measured_on, queues, ..prompt_pfc() });
        }
        _ => control.pause = Some(pause(rng, alone)),
    }
    // A NIC with a memory does not isolate.
    let isolates = count > 1 && spec.host.buffer.is_none() && rng.bernoulli(0.5);
    if rng.bernoulli(0.6) && !isolates {
        control.drc = Some(directional(rng, count));
    }
    if rng.bernoulli(0.2) {
        let mode = if control.pause.is_some() { Mode::Native } else { Mode::Proxy };
        control.source_flow_control = Some(source_flow_control::Spec {
            mode,
            trigger: Bytes(20_000),
            target: Bytes(5_000),
            ..Default::default()
        });
    }
    if isolates {
        control.congestion_isolation = Some(congestion_isolation::Spec::default());
        switch.classify = classify::Spec::Single(Default::default());
    }
    if rng.bernoulli(0.7) {
        switch.aqm = red(rng);
        if rng.bernoulli(0.5) && !isolates {
            let forward = rng.bernoulli(0.7);
            switch.congestion_indication = Some(congestion_indication::Spec {
                forward,
                backward: !forward || rng.bernoulli(0.5),
                gap: pick(rng, &[Duration::ZERO, Duration::from_us(20)]),
            });
        }
    }
    if spec.switch.flow_control.drc.is_none() {
        spec.switch.path = way(rng);
        if !spec.switch.path.keeps_order() {
            let reordering = pick(rng, &[Duration::ZERO, Duration::from_us(100)]);
            let tolerant = recovery::selective_repeat::Spec { reordering, ..Default::default() };
            rocev2(&mut spec, |rocev2| {
                rocev2.recovery = recovery::Spec::SelectiveRepeat(tolerant.clone());
            });
        }
    }
    if rng.bernoulli(0.3) && spec.switch.flow_control.drc.is_none() {
        spec.failures = failures(rng, &spec.graph);
    }
    // Drawn last, so that what was drawn before is as it was without.
    if spec.switch.flow_control.drc.is_none() && rng.bernoulli(0.5) {
        spec.switch.fabric = fabric(rng);
    }
    beside(rng, &mut spec, lossless);
    if rng.bernoulli(0.3) {
        retries(rng, &mut spec);
    }
    if rng.bernoulli(0.2) {
        tags(rng, &mut spec);
    }
    spec.end = Duration::from_ms(200);
    spec.measured_until = spec.end;
    spec.sample_interval = Duration::from_us(100);
    spec
}

/// Drawn last too: watchdogs, congestion points, memory by ports, and flows that wait for others.
fn beside(rng: &mut Stream, spec: &mut Spec, lossless: bool) {
    let control = &mut spec.switch.flow_control;
    if let Some(pfc) = control.pfc.as_mut().filter(|_| rng.bernoulli(0.4)) {
        pfc.watchdog = Some(watchdog::Spec {
            detection: some_time(rng, 2_000, 200_000),
            restoration: some_time(rng, 2_000, 200_000),
            action: pick(rng, &[Action::Drop, Action::Forward]),
        });
    }
    if rng.bernoulli(0.3) {
        control.qcn = Some(qcn::Spec {
            q_eq: Bytes(between(rng, 2_000, 50_000)),
            sample_base: Bytes(between(rng, 2_000, 150_000)),
            header_octets: pick(rng, &[0, 64]),
            queues: pick(rng, &[vec![], vec![0]]),
            ..Default::default()
        });
    }
    if !lossless && rng.bernoulli(0.5) {
        let size = Bytes(between(rng, 10_000, 400_000));
        spec.switch.buffer = buffer::Spec::PerPort(buffer::per_port::Spec { size });
    }
    for workload in [1, 2] {
        if rng.bernoulli(0.5) {
            let controls = [
                congestion::Spec::Hpcc(Default::default()),
                congestion::Spec::Timely(Default::default()),
                congestion::Spec::RdmaDctcp(Default::default()),
                congestion::Spec::Qcn(Default::default()),
                congestion::Spec::Qcn(Default::default()),
            ];
            let profile = &mut spec.profiles[workload];
            profile.congestion = pick(rng, &controls);
            if let transport::Spec::Rocev2(rocev2) = &mut profile.transport {
                rocev2.telemetry = profile.congestion.needs_telemetry();
            }
        }
    }
    if rng.bernoulli(0.5) {
        waits(rng, spec);
    }
    if rng.bernoulli(0.4) && spec.switch.congestion_indication.is_none() {
        trims(rng, spec);
    }
    let isolates = spec.switch.flow_control.congestion_isolation.is_some();
    if spec.switch.queue.count > 1 && !isolates && rng.bernoulli(0.3) {
        crate::by_dscp::at_random(rng, spec);
    }
}

/// Drawn last of all: bit errors on all links, and a retry that hardly ever gives up.
fn retries(rng: &mut Stream, spec: &mut Spec) {
    let control = &spec.switch.flow_control;
    if control.bfc.is_some() || control.cbfc.is_some() || control.drc.is_some() {
        return;
    }
    let frames = spec.profiles.iter().map(|profile| profile.transport.largest_frame());
    let largest = u64::from(frames.max().unwrap_or(0));
    let retry = retry::Spec {
        buffer: Bytes(largest + between(rng, 1, 60_000)),
        count: 100,
        processing: Duration::ZERO,
        timer: Duration::from_us(100),
        spacing: Bytes(0),
        overhead: Bytes(0),
    };
    let rate = pick(rng, &[0.0, 1e-7, 1e-6]);
    let ends = spec.graph.ids().flat_map(|node| {
        let ports = spec.graph.node(node).ports.len() as u16;
        (0..ports).map(move |port| (node, PortIx(port)))
    });
    let errors = |(node, port)| Errors { node, port, rate, frames: Vec::new(), retry: Some(retry) };
    spec.errors = ends.map(errors).collect();
}

/// Drawn after all that: flows with RoCEv2 whose packets have tags of CSIG, which their control reads. Two flow controls
/// have queues that keep no times.
fn tags(rng: &mut Stream, spec: &mut Spec) {
    let control = &spec.switch.flow_control;
    if control.bfc.is_some() || control.drc.is_some() {
        return;
    }
    let format = pick(rng, &[csig::Format::Compact, csig::Format::Wide]);
    for profile in &mut spec.profiles {
        if let transport::Spec::Rocev2(rocev2) = &mut profile.transport {
            (rocev2.telemetry, rocev2.ack_every) = (false, 1);
            rocev2.csig = Some(csig::Spec { format, unit: None });
            profile.congestion = congestion::Spec::Poseidon(Default::default());
        }
    }
}

/// What finds no room is trimmed, and what is sent with RoCEv2 is repeated selectively.
fn trims(rng: &mut Stream, spec: &mut Spec) {
    let threshold = rng.bernoulli(0.5).then(|| Bytes(between(rng, 5_000, 50_000)));
    let (last, mark) = (pick(rng, &[0.0, 0.5]), rng.bernoulli(0.5));
    let size = Bytes(pick(rng, &[64, 128]));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec { size, threshold, last, mark });
    let selective = recovery::Spec::SelectiveRepeat(Default::default());
    rocev2(spec, |rocev2| rocev2.recovery = selective.clone());
    if rng.bernoulli(0.3) {
        let initial_window = pick(rng, &[None, Some(1), Some(20)]);
        let pulled = congestion::Spec::Ndp(ndp::Spec { initial_window });
        let is_rocev2 = |of: &&mut Profile| matches!(of.transport, transport::Spec::Rocev2(_));
        spec.profiles.iter_mut().filter(is_rocev2).for_each(|of| of.congestion = pulled.clone());
    }
}

/// Flows that begin when others of their sender have been handed over or have come to it, and
/// operations of both.
fn waits(rng: &mut Stream, spec: &mut Spec) {
    let delays = [Duration::ZERO, Duration::from_us(3)];
    for begins in 1..spec.flows.len() {
        if spec.flows[begins].is_persistent() || rng.bernoulli(0.7) {
            continue;
        }
        // What comes later never waits for what comes earlier to wait for it.
        let after = rng.below(begins as u64) as usize;
        let (before, here) = (&spec.flows[after], spec.flows[begins].src);
        if before.is_persistent() || (before.dst != here && before.src != here) {
            continue;
        }
        let alike = before.workload == spec.flows[begins].workload;
        let [after, begins] = [after, begins].map(|flow| FlowId(flow as u32));
        spec.triggers.push(Trigger { after, begins, delay: pick(rng, &delays) });
        if alike {
            let number = spec.operations.len() as u32;
            spec.operations.push(Operation::of(number, [after, begins]));
        }
    }
}
