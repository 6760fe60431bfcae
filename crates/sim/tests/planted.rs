//! Planted causes: in each of 256 small networks it is known who delays a flow, and how. The explanation
//! must name it, and what the flow saves without the cause is compared with what the explanation predicts.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Delay, Duration, FlowId, FlowSpec, Instant, NodeId, PortIx, Rate};
use floodway_sim::delays::{Chosen, Explained, Kind, Part, Reason, Story};
use floodway_sim::failure::Failure;
use floodway_sim::host::{Profile, congestion, transport};
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::source_flow_control::{Mode, Spec as Sfc};
use floodway_sim::switch::flow_control::{bfc, cbfc, drc};
use floodway_sim::switch::{aqm, classify, flow_control, scheduler};
use floodway_sim::{Simulation, Spec};

/// What is planted.
struct Case {
    spec: Spec,
    /// The flow that is explained.
    victim: u32,
    /// What most of its delay is, one of these.
    expected: &'static [Delay],
    /// Where that is or has its root: a node and a port.
    place: (u32, usize),
    /// The flows that cause it; none if it has another cause.
    culprits: Vec<u32>,
    /// The same network without the cause.
    without: Spec,
}

/// A case in which flows are the cause.
fn caused(
    spec: Spec,
    victim: u32,
    expected: &'static [Delay],
    place: (u32, usize),
    culprits: &[u32],
) -> Case {
    let without = spec.clone().without(culprits.iter().map(|flow| FlowId(*flow)));
    Case { spec, victim, expected, place, culprits: culprits.to_vec(), without }
}

/// Flows in the order of their start; the first ones are the culprits, the last one is the victim.
fn network(
    graph: floodway_model::Graph,
    mut culprits: Vec<FlowSpec>,
    victim: FlowSpec,
) -> (Spec, u32, Vec<u32>) {
    culprits.sort_by_key(|flow| flow.start);
    let count = culprits.len() as u32;
    culprits.push(victim);
    assert!(culprits.is_sorted_by_key(|flow| flow.start));
    (plain(graph, culprits), count, (0..count).collect())
}

/// The first of these networks in which the victim takes three times as long as alone.
fn delayed(mut network: impl FnMut() -> (Spec, u32, Vec<u32>)) -> (Spec, u32, Vec<u32>) {
    let is_delayed = |(spec, victim, _): &(Spec, u32, Vec<u32>)| {
        let outcome = run(spec.clone());
        outcome.table("flows").f64s("slowdown")[*victim as usize] > 3.0
    };
    let mut networks = std::iter::repeat_with(&mut network).take(30);
    networks.find(is_delayed).expect("one of 30 is delayed")
}

/// Between two numbers, both included.
fn between(rng: &mut Stream, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

/// PFC: an incast on another leaf pauses the leaf, the spine and the hosts; the victim goes elsewhere.
fn chain_of_pauses(rng: &mut Stream) -> Case {
    // Hosts 0 to 3 on leaf 8, 4 to 7 on leaf 9, spine 10. The port to host 0 gets three times its rate.
    let incast = [2, 3, 5].map(|src| flow(src, 0, between(rng, 3_000_000, 4_000_000), 0)).into();
    let (dst, bytes) = (between(rng, 1, 3) as u32, between(rng, 1_000, 30_000));
    let (spec, victim, culprits) = delayed(|| {
        let victim = flow(5, dst, bytes, between(rng, 150_000, 400_000));
        let (mut spec, victim, culprits) = network(clos(2, 1, 4), Vec::clone(&incast), victim);
        spec.switch.flow_control.pfc = Some(prompt_pfc());
        (spec, victim, culprits)
    });
    caused(spec, victim, &[Delay::Paused], (8, 0), &culprits)
}

/// An incast on another leaf, with another flow control; the victim goes elsewhere.
fn chain(rng: &mut Stream, flow_control: &flow_control::Spec) -> Case {
    // As above.
    let incast = [2, 3, 5].map(|src| flow(src, 0, between(rng, 3_000_000, 4_000_000), 0)).into();
    let (dst, bytes) = (between(rng, 1, 3) as u32, between(rng, 1_000, 30_000));
    let (spec, victim, culprits) = delayed(|| {
        let victim = flow(5, dst, bytes, between(rng, 150_000, 400_000));
        let (mut spec, victim, culprits) = network(clos(2, 1, 4), Vec::clone(&incast), victim);
        spec.switch.flow_control = flow_control.clone();
        (spec, victim, culprits)
    });
    caused(spec, victim, &[Delay::Paused], (8, 0), &culprits)
}

/// Links without credit.
fn chain_of_credit(rng: &mut Stream) -> Case {
    let cbfc = Some(cbfc::Spec { buffer: Bytes(30_000), ..Default::default() });
    chain(rng, &flow_control::Spec { cbfc, ..Default::default() })
}

/// Backpressure Flow Control with one physical queue, which all flows share.
fn chain_of_queues(rng: &mut Stream) -> Case {
    let bfc = Some(bfc::Spec { queues: 1, ..Default::default() });
    chain(rng, &flow_control::Spec { bfc, ..Default::default() })
}

/// Directional Rate Control: the NIC holds back what goes to a congested port.
fn held_direction(rng: &mut Stream) -> Case {
    let incast: Vec<FlowSpec> =
        (1..6).map(|src| flow(src, 0, between(rng, 500_000, 900_000), 0)).collect();
    let (spec, victim, culprits) = delayed(|| {
        let victim = flow(6, 0, between(rng, 5_000, 20_000), between(rng, 60_000, 90_000));
        let (mut spec, victim, culprits) = network(star(7), incast.clone(), victim);
        spec.host.buffer = Some(Bytes(64_000));
        spec.switch.flow_control.drc =
            Some(drc::Spec { buffer: Some(Bytes(60_000)), ..Default::default() });
        (spec, victim, culprits)
    });
    caused(spec, victim, &[Delay::Held], (7, 0), &culprits)
}

/// PFC: a slow link pauses the host that sends to it; the victim is of the same host.
fn slow_link(rng: &mut Stream) -> Case {
    let rate = Rate::from_gbps(between(rng, 5, 25));
    let hog = vec![flow(1, 3, between(rng, 2_000_000, 4_000_000), 0)];
    let victim = flow(1, 2, between(rng, 1_000, 20_000), between(rng, 100_000, 200_000));
    let (mut spec, victim, culprits) = network(timeline::star_to(4, rate), hog, victim);
    spec.switch.flow_control.pfc = Some(prompt_pfc());
    caused(spec, victim, &[Delay::Paused], (4, 3), &culprits)
}

/// Another flow of the same host.
fn shared_nic(rng: &mut Stream) -> Case {
    let hog = vec![flow(1, 0, between(rng, 1_000_000, 3_000_000), 0)];
    let victim = flow(1, 2, between(rng, 20_000, 200_000), between(rng, 1_000, 50_000));
    let (spec, victim, culprits) = network(star(3), hog, victim);
    caused(spec, victim, &[Delay::OtherFlows], (1, 0), &culprits)
}

/// A queue that others have filled.
fn filled_queue(rng: &mut Stream) -> Case {
    let hogs = (1..3).map(|src| flow(src, 0, between(rng, 300_000, 900_000), 0)).collect();
    let victim = flow(3, 0, between(rng, 1_000, 30_000), between(rng, 10_000, 30_000));
    let (spec, victim, culprits) = network(star(4), hogs, victim);
    caused(spec, victim, &[Delay::OtherFlows], (4, 0), &culprits)
}

/// Flows with strict priority: many small ones, and a large one that waits for all of them.
fn strict_priority(rng: &mut Stream) -> Case {
    let below = Bytes(10_000);
    let hogs = (0..60).map(|hog| flow(1 + hog % 2, 0, between(rng, 8_000, 9_900), 0)).collect();
    let victim = flow(3, 0, between(rng, 10_000, 12_000), between(rng, 1_000, 5_000));
    let (mut spec, victim, culprits) = network(star(4), hogs, victim);
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::MiceElephants(classify::mice_elephants::Spec {
        below,
        mice: 0,
        elephants: Some(1),
    });
    spec.switch.scheduler =
        scheduler::Spec::Drr(scheduler::drr::Spec { strict: 1, ..Default::default() });
    caused(spec, victim, &[Delay::OtherClasses], (4, 0), &culprits)
}

/// A packet that a full queue drops is found by a timeout.
fn timeout(rng: &mut Stream) -> Case {
    let hogs: Vec<FlowSpec> =
        (1..3).map(|src| flow(src, 0, between(rng, 300_000, 600_000), 0)).collect();
    let size = Bytes(between(rng, 10_000, 20_000));
    let (spec, victim, culprits) = delayed(|| {
        // A single packet, so that nothing reveals the loss earlier.
        let victim = flow(3, 0, between(rng, 900, 1_000), between(rng, 5_000, 20_000));
        let (mut spec, victim, culprits) = network(star(4), hogs.clone(), victim);
        spec.switch.queue.size = size;
        let lost = run(spec.clone()).table("flows").u64s("lost_packets")[victim as usize];
        // Without the hogs nothing delays it, so that such a network is not taken.
        if lost > 0 {
            (spec, victim, culprits)
        } else {
            (spec.without((0..2).map(FlowId)), victim, culprits)
        }
    });
    caused(spec, victim, &[Delay::Recovery], (4, 0), &culprits)
}

/// A window that is too small for the path.
fn small_window(rng: &mut Stream) -> Case {
    let (mut spec, victim, _) =
        network(clos(2, 1, 2), Vec::new(), flow(0, 3, between(rng, 100_000, 300_000), 0));
    let without = spec.clone();
    let window = Bytes(between(rng, 1, 3) * 1_024);
    rocev2(&mut spec, |rocev2| rocev2.in_flight = Some(window));
    Case { spec, victim, expected: &[Delay::Window], place: (0, 0), culprits: Vec::new(), without }
}

/// A link on the path fails under way, and the others know that only later.
fn dead_link(rng: &mut Stream) -> Case {
    // Hosts 0 and 1 on leaf 2, behind spine 4 or 5; hosts and leaves: 0-1 leaf 4, 2-3 leaf 5, spines 6 and 7.
    let (spec, victim, _) =
        network(clos(2, 2, 2), Vec::new(), flow(0, 2, between(rng, 200_000, 400_000), 0));
    let without = spec.clone();
    let used = run(spec.clone());
    let links = used.table("links");
    let row = (0..links.rows())
        .find(|row| {
            links.texts("node")[*row] == "leaf 0"
                && links.texts("peer")[*row].starts_with("spine")
                && links.u64s("frames")[*row] > 100
        })
        .expect("a spine is used");
    let port = links.u64s("port")[row];
    let at = Instant(between(rng, 5_000_000, 12_000_000));
    let mut spec = spec;
    spec.failures = vec![Failure {
        node: NodeId(4),
        port: PortIx(port as u16),
        at,
        until: Instant::NEVER,
        detection: Duration::from_us(between(rng, 1, 3)),
    }];
    let place = (4, port as usize);
    Case { spec, victim, expected: &[Delay::Recovery], place, culprits: Vec::new(), without }
}

/// Marks bring the rate down: the victim is limited by its rate long after.
fn marked(rng: &mut Stream) -> Case {
    let hogs = (1..3).map(|src| flow(src, 0, between(rng, 2_000_000, 4_000_000), 0)).collect();
    let victim = flow(3, 0, between(rng, 600_000, 900_000), between(rng, 1_000, 20_000));
    let (mut spec, victim, culprits) = network(star(4), hogs, victim);
    spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(20_000) });
    control(&mut spec, congestion::Spec::Dcqcn(quick_dcqcn()));
    caused(spec, victim, &[Delay::Rate], (4, 0), &culprits)
}

/// TCP behind TCP that fills the queue.
fn tcp_queue(rng: &mut Stream) -> Case {
    let hogs = (1..3).map(|src| flow(src, 0, between(rng, 2_000_000, 3_000_000), 0)).collect();
    let victim = flow(3, 0, between(rng, 5_000, 14_000), between(rng, 60_000, 100_000));
    let (mut spec, victim, culprits) = network(star(4), hogs, victim);
    let profile = Profile {
        transport: transport::Spec::Tcp(Default::default()),
        congestion: congestion::Spec::Reno(Default::default()),
        ..spec.profiles[0].clone()
    };
    spec.profiles = vec![profile; 2];
    caused(spec, victim, &[Delay::OtherFlows], (4, 0), &culprits)
}

/// Congestion Isolation with PFC: the victim goes where the incast goes.
fn isolation(rng: &mut Stream) -> Case {
    let incast = (1..4).map(|src| flow(src, 0, between(rng, 2_000_000, 3_000_000), 0)).collect();
    let victim = flow(4, 0, between(rng, 500, 1_000), between(rng, 60_000, 90_000));
    let (mut spec, victim, culprits) = network(star(5), incast, victim);
    spec.switch = isolating();
    caused(spec, victim, &[Delay::OtherClasses, Delay::OtherFlows], (5, 0), &culprits)
}

/// Source flow control with short queues and long pauses; the victim is of a host of the incast.
fn source_flow_control(rng: &mut Stream, mode: Mode, dst: u32) -> Case {
    let incast: Vec<FlowSpec> =
        (1..8).map(|src| flow(src, 0, between(rng, 500_000, 900_000), 0)).collect();
    let (spec, victim, culprits) = delayed(|| {
        let victim = flow(1, dst, between(rng, 500, 1_000), between(rng, 30_000, 90_000));
        let (mut spec, victim, culprits) = network(star(9), incast.clone(), victim);
        let (trigger, target) = (Bytes(20_000), Bytes(2_000));
        spec.switch.flow_control.source_flow_control =
            Some(Sfc { mode, trigger, target, ..Default::default() });
        (spec, victim, culprits)
    });
    let expected =
        if dst == 0 { &[Delay::Paused, Delay::OtherFlows][..] } else { &[Delay::Paused] };
    caused(spec, victim, expected, (9, 0), &culprits)
}

/// Source flow control holds traffic to the congested host back at the NIC.
fn held_source(rng: &mut Stream) -> Case {
    source_flow_control(rng, Mode::Native, 0)
}

/// The same, with the edge switch as a proxy: every flow of the host is paused.
fn paused_by_a_proxy(rng: &mut Stream) -> Case {
    source_flow_control(rng, Mode::Proxy, 8)
}

const EACH: u64 = 16;
type Plant = fn(&mut Stream) -> Case;
const PLANTS: [(&str, Plant); 16] = [
    ("chain of pauses", chain_of_pauses),
    ("chain of links without credit", chain_of_credit),
    ("chain of physical queues", chain_of_queues),
    ("held direction", held_direction),
    ("slow link", slow_link),
    ("shared NIC", shared_nic),
    ("filled queue", filled_queue),
    ("strict priority", strict_priority),
    ("timeout", timeout),
    ("small window", small_window),
    ("dead link", dead_link),
    ("marked", marked),
    ("TCP queue", tcp_queue),
    ("isolation", isolation),
    ("held source", held_source),
    ("paused by a proxy", paused_by_a_proxy),
];

fn explain(spec: Spec, victim: u32) -> (u64, Explained) {
    let flows = vec![FlowId(victim)];
    let chosen = Chosen { detailed: flows.clone(), flows, ..Chosen::default() };
    let run = Run { threads: 1, stop: &AtomicBool::new(false), watch: &|_| {} };
    let (outcome, explained) = Simulation::new(spec).explaining(chosen).run_explained(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    (fct_ps(&outcome)[victim as usize], explained.expect("a flow is explained"))
}

/// What a part counts as: a wait for a window includes the round trip that it consists of.
fn delay(part: &Part) -> Option<Delay> {
    match part.in_window {
        true if part.kind.is_ideal() => Some(Delay::Window),
        _ => Some(part.kind.delay()).filter(|delay| !delay.is_ideal()),
    }
}

/// The flow that a part is blamed on, and where.
fn blamed(part: &Part, explained: &Explained) -> (Option<FlowId>, (u32, usize)) {
    let here = (part.node.0, part.port);
    match part.kind {
        Kind::OtherFlow(flow) | Kind::OtherClass(flow) => (Some(flow), here),
        Kind::Paused(number) => match explained.pauses[number].root {
            Some(root) => (Some(root.flow), (root.node.0, root.port)),
            None => (None, here),
        },
        Kind::HeldFor(node, port) => (None, (node.0, port)),
        _ => (None, here),
    }
}

/// The largest kind of delay, with its time.
fn largest(story: &Story) -> (Delay, u64) {
    let time = |kind: Delay| {
        let parts = story.parts.iter().filter(|part| delay(part) == Some(kind));
        parts.map(|part| part.to.since(part.from).0).sum::<u64>()
    };
    Delay::ALL.into_iter().map(|kind| (kind, time(kind))).max_by_key(|(_, time)| *time).unwrap()
}

/// The error of the predicted saving, as a share of the completion time, or what is wrong.
fn judge(case: &Case) -> Result<f64, String> {
    let (fct, explained) = explain(case.spec.clone(), case.victim);
    let story = &explained.stories[0];
    let (kind, time) = largest(story);
    if !case.expected.contains(&kind) {
        return Err(format!("{kind:?} is largest, with {time} of {fct} ps"));
    }
    let of_kind = || story.parts.iter().filter(|part| delay(part) == Some(kind));
    for part in of_kind().filter(|_| !case.culprits.is_empty()) {
        if let (Some(flow), _) = blamed(part, &explained)
            && !case.culprits.contains(&flow.0)
        {
            return Err(format!("{flow:?} is blamed"));
        }
    }
    // Losses and marks say where they came from; other parts have a place themselves.
    let place = (NodeId(case.place.0), case.place.1);
    match kind {
        Delay::Recovery => {
            let at = story.losses.iter().all(|(_, node, _)| *node == place.0);
            if story.losses.is_empty() || !at {
                return Err(format!("losses are {:?}", story.losses));
            }
        }
        Delay::Rate if story.marks.iter().any(|(at, _)| *at != place) || story.marks.is_empty() => {
            return Err(format!("marks are {:?}", story.marks));
        }
        Delay::Rate
            if story.cuts.is_empty()
                || story.cuts.iter().any(|cut| cut.reason != Reason::Marked(place)) =>
        {
            return Err(format!("cuts are {:?}", story.cuts));
        }
        Delay::Rate | Delay::Window => {}
        _ => {
            let there = of_kind().filter(|part| blamed(part, &explained).1 == case.place);
            let there: u64 = there.map(|part| part.to.since(part.from).0).sum();
            if there * 10 < time * 9 {
                return Err(format!("{there} of {time} ps are at {:?}", case.place));
            }
        }
    }
    // What is predicted: the parts that the cause is blamed for.
    let culprit = |flow: Option<FlowId>| flow.is_some_and(|flow| case.culprits.contains(&flow.0));
    let predicted = story.parts.iter().filter(|part| {
        culprit(blamed(part, &explained).0)
            || delay(part) == Some(kind)
                && matches!(kind, Delay::Recovery | Delay::Rate | Delay::Window | Delay::Held)
    });
    let predicted: u64 = predicted.map(|part| part.to.since(part.from).0).sum();
    let after = fct_ps(&run(case.without.clone()))[case.victim as usize];
    Ok((fct as f64 - after as f64 - predicted as f64) / fct as f64)
}

#[test]
fn planted_causes_are_named() {
    let mut wrong = Vec::new();
    for (name, plant) in PLANTS {
        let mut errors = Vec::new();
        for number in 0..EACH {
            let mut rng = Stream::named(number, name);
            match judge(&plant(&mut rng)) {
                Ok(error) => errors.push(100.0 * error),
                Err(text) => wrong.push(format!("{name} {number}: {text}")),
            }
        }
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| match errors.len() {
            0 => f64::NAN,
            count => errors[((count - 1) as f64 * share).round() as usize],
        };
        let (least, median, most) = (at(0.0), at(0.5), at(1.0));
        println!(
            "{name}: {} of {EACH} right; error {least:.2} {median:.2} {most:.2} %",
            errors.len()
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}
