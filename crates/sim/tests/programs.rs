//! Programs of ranks, against arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::program::{Action, Edge, On, SendEnd, Step, TraceNode};
use floodway_model::random::Stream;
use floodway_model::{
    Bytes, Duration, FlowId, FlowSpec, Instant, NodeId, Operation, PortIx, Program,
};
use floodway_sim::failure::Failure;
use floodway_sim::host::transport;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec, Stop};

/// A computation of so many nanoseconds on a stream.
fn compute(ns: u64, stream: u8) -> Step {
    Step { action: Action::Compute(Duration::from_ns(ns)), stream, line: 0 }
}

fn send(flow: u32) -> Step {
    Step { action: Action::Send(FlowId(flow)), stream: 0, line: 0 }
}

fn receive(flow: u32) -> Step {
    Step { action: Action::Receive(FlowId(flow)), stream: 0, line: 0 }
}

/// The program of a rank on the host of the same number; pairs of steps, of which the first must have
/// finished before the second begins.
fn program(rank: u32, steps: &[Step], after: &[(u32, u32)]) -> Program {
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, on: On::Finished };
    Program {
        host: NodeId(rank),
        workload: 0,
        rank,
        start: Instant::ZERO,
        sends: SendEnd::HandedOver,
        steps: steps.into(),
        edges: after.iter().map(edge).collect(),
        nodes: Box::default(),
        rounds: Box::default(),
    }
}

/// On a star, with Ethernet frames, which are not acknowledged.
fn spec(hosts: u32, flows: Vec<FlowSpec>, programs: Vec<Program>) -> Spec {
    let mut spec = plain(star(hosts), flows);
    let ethernet = transport::Spec::Ethernet(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = ethernet.clone());
    let flows: Vec<FlowId> = (0..spec.flows.len() as u32).map(FlowId).collect();
    if !flows.is_empty() {
        spec.operations = vec![Operation { job: true, ..Operation::of(0, flows) }].into();
    }
    Spec { programs: programs.into(), ..spec }
}

/// A column in picoseconds.
fn ps(outcome: &Outcome, table: &str, column: &str) -> Vec<u64> {
    let values = outcome.table(table).f64s(column);
    values.iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// When each step began and finished, rank by rank.
fn times(outcome: &Outcome) -> Vec<(u64, u64)> {
    let starts = ps(outcome, "steps", "start_ns");
    starts.into_iter().zip(ps(outcome, "steps", "finish_ns")).collect()
}

/// A frame with this payload at 100 Gb/s, preamble and gap included.
fn wire(payload: u64) -> u64 {
    ((payload + 18).max(64) + 20) * 80
}

/// From one host of the star to another, in one frame.
fn way(payload: u64) -> u64 {
    2 * wire(payload) + 400_000
}

const US: u64 = 1_000_000;

#[test]
fn ping_pong_with_computation_in_between() {
    let programs = vec![
        program(
            0,
            &[compute(1_000, 0), send(0), receive(1), compute(500, 0)],
            &[(0, 1), (1, 2), (2, 3)],
        ),
        program(1, &[receive(0), compute(2_000, 0), send(1)], &[(0, 1), (1, 2)]),
    ];
    let outcome = run(spec(2, vec![flow(0, 1, 1_000, 0), flow(1, 0, 700, 0)], programs));
    let arrived = US + way(1_000);
    let back = arrived + 2 * US + way(700);
    assert_eq!(
        times(&outcome),
        [
            (0, US),
            // Handed over when the only frame goes to the wire.
            (US, US),
            (US, back),
            (back, back + US / 2),
            (0, arrived),
            (arrived, arrived + 2 * US),
            (arrived + 2 * US, arrived + 2 * US),
        ]
    );
    assert_eq!(outcome.table("steps").texts("kind")[..3], ["compute", "send", "receive"]);
    assert_eq!(ps(&outcome, "flows", "start_ns"), [US, arrived + 2 * US]);
    // The run goes on until the last computation has ended.
    assert_eq!(outcome.stop, Stop::FlowsDone);
    assert!(outcome.simulated.0 >= back + US / 2);
    let finishes = [back + US / 2, arrived + 2 * US];
    assert_eq!(ps(&outcome, "ranks", "finish_ns"), finishes);
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [3 * US / 2, 2 * US]);
    assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [back - US, arrived]);
    assert_eq!(outcome.table("ranks").u64s("sent_bytes"), [1_000, 700]);
    // The job is one operation, from its beginning to the last of its ranks.
    assert_eq!(outcome.table("operations").f64s("start_ns"), [0.0]);
    assert_eq!(ps(&outcome, "operations", "finish_ns"), [back + US / 2]);
    assert_eq!(outcome.table("waits").rows(), 0);
    assert_eq!((outcome.counter("flows_not_begun"), outcome.counter("flows_unfinished")), (0, 0));
}

#[test]
fn computations_share_a_stream_but_not_two() {
    for (stream, second, exposed) in [(0, (5 * US, 8 * US), 0), (1, (0, 3 * US), 0)] {
        let steps = [compute(5_000, 0), compute(3_000, stream)];
        let outcome = run(spec(2, Vec::new(), vec![program(0, &steps, &[])]));
        assert_eq!(times(&outcome), [(0, 5 * US), second]);
        // Time in which both compute counts once.
        let all = if stream == 0 { 8 * US } else { 5 * US };
        assert_eq!(ps(&outcome, "ranks", "compute_ns"), [all]);
        assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [exposed]);
    }
}

#[test]
fn of_several_steps_the_lowest_number_begins() {
    // Step 0 occupies the stream until 2 us. Step 3 could begin at once, 1 and 2 from 1 us on, when step 4
    // has ended on the other stream.
    let steps =
        [compute(2_000, 0), compute(100, 0), compute(200, 0), compute(300, 0), compute(1_000, 1)];
    let outcome = run(spec(2, Vec::new(), vec![program(0, &steps, &[(4, 2), (4, 1)])]));
    let us = |tenths: u64| tenths * US / 10;
    assert_eq!(
        times(&outcome),
        [(0, us(20)), (us(20), us(21)), (us(21), us(23)), (us(23), us(26)), (0, us(10)),]
    );
}

#[test]
fn a_message_may_arrive_before_it_is_received() {
    let programs = vec![
        program(0, &[send(0)], &[]),
        program(1, &[compute(50_000, 0), receive(0), compute(1, 0)], &[(0, 1), (1, 2)]),
    ];
    let outcome = run(spec(2, vec![flow(0, 1, 1_000, 0)], programs));
    assert_eq!(fct_ps(&outcome), [way(1_000)]);
    assert_eq!(
        times(&outcome)[1..],
        [(0, 50 * US), (50 * US, 50 * US), (50 * US, 50 * US + 1_000)]
    );
}

#[test]
fn a_send_waits_for_its_stream_and_a_receive_does_not_occupy_it() {
    // The send has no dependency, but its stream computes first. The receive is posted then too, and the
    // next computation does not wait for it.
    let programs = vec![
        program(0, &[compute(4_000, 0), send(0), receive(1), compute(7_000, 0)], &[]),
        program(1, &[receive(0), send(1)], &[(0, 1)]),
    ];
    let outcome = run(spec(2, vec![flow(0, 1, 1_000, 0), flow(1, 0, 700, 0)], programs));
    let arrived = 4 * US + way(1_000);
    assert_eq!(
        times(&outcome),
        [
            (0, 4 * US),
            (4 * US, 4 * US),
            (4 * US, arrived + way(700)),
            (4 * US, 11 * US),
            (0, arrived),
            (arrived, arrived),
        ]
    );
    assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [0, arrived]);
}

#[test]
fn what_depends_on_the_beginning_of_a_step_does_not_wait_for_its_end() {
    let mut of = program(0, &[compute(4_000, 0), compute(1_000, 1), compute(1_000, 2)], &[(0, 2)]);
    let begun = Edge { from: 0, to: 1, on: On::Begun };
    of.edges = of.edges.iter().copied().chain([begun]).collect();
    of.start = Instant(3 * US);
    let outcome = run(spec(2, Vec::new(), vec![of]));
    assert_eq!(times(&outcome), [(3 * US, 7 * US), (3 * US, 4 * US), (7 * US, 8 * US)]);
    assert_eq!(ps(&outcome, "ranks", "start_ns"), [3 * US]);
}

#[test]
fn a_send_is_finished_when_handed_over_or_when_acknowledged() {
    for (sends, acknowledges) in [
        (SendEnd::HandedOver, true),
        (SendEnd::Acknowledged, true),
        // Nothing acknowledges these frames.
        (SendEnd::Acknowledged, false),
    ] {
        let mut programs = vec![
            program(0, &[send(0), compute(1_000, 0)], &[(0, 1)]),
            program(1, &[receive(0)], &[]),
        ];
        programs.iter_mut().for_each(|program| program.sends = sends);
        let mut spec = spec(2, vec![flow(0, 1, 4_096, 0)], programs);
        if acknowledges {
            let rocev2 = transport::Spec::Rocev2(Default::default());
            spec.profiles.iter_mut().for_each(|profile| profile.transport = rocev2.clone());
        }
        let outcome = run(spec);
        let acknowledged = ps(&outcome, "flows", "acked_fct_ns")[0];
        // Four frames of 1024 bytes with 82 more each on the wire, or two of 1500 and one of 1096 with 38.
        let (last, whole) = match acknowledges {
            true => (3 * 1_106 * 80, 5 * 1_106 * 80 + 400_000),
            false => (2 * 1_538 * 80, (2 * 1_538 + 2 * 1_134) * 80 + 400_000),
        };
        let ends = match (sends, acknowledges) {
            (SendEnd::Acknowledged, true) => acknowledged,
            _ => last,
        };
        assert_eq!(times(&outcome)[..2], [(0, ends), (ends, ends + US)], "{sends:?}");
        if acknowledges {
            // An acknowledgement is a frame of 66 bytes and 20 on the wire.
            assert_eq!(fct_ps(&outcome), [whole]);
            assert_eq!(acknowledged, whole + 2 * 86 * 80 + 400_000);
        }
    }
}

fn on(stream: u8, action: Action) -> Step {
    Step { action, stream, line: 0 }
}

#[test]
fn a_held_stream_is_busy_until_it_is_released() {
    // Steps 0 to 2 hold stream 2 for 10 us, 3 to 5 for 20 us; step 6 computes for 5 us on stream 2 as
    // soon as it can, which is between the two: the lowest number begins. Step 7 needs no idle stream.
    let elapse = |ns| Action::Elapse { time: Duration::from_ns(ns), computes: false };
    let steps = [
        on(2, Action::Hold),
        on(3, elapse(10_000)),
        on(2, Action::Release),
        compute(5_000, 2),
        on(2, Action::Hold),
        on(3, elapse(20_000)),
        on(2, Action::Release),
        compute(1_000, 0),
    ];
    let after = [(0, 1), (1, 2), (4, 5), (5, 6)];
    let outcome = run(spec(2, Vec::new(), vec![program(0, &steps, &after)]));
    let expected = [
        (0, 0),
        (0, 10 * US),
        (10 * US, 10 * US),
        (10 * US, 15 * US),
        (15 * US, 15 * US),
        (15 * US, 35 * US),
        (35 * US, 35 * US),
        (0, US),
    ];
    assert_eq!(times(&outcome), expected);
    // Only the two computations count as such.
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [6 * US]);
    assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [29 * US]);
    let kinds = outcome.table("steps").texts("kind");
    let names = ["hold", "delay", "release", "compute", "hold", "delay", "release", "compute"];
    assert_eq!(kinds, names);
}

#[test]
fn computations_without_a_stream_overlap_and_count_once() {
    let elapse = |ns| Action::Elapse { time: Duration::from_ns(ns), computes: true };
    let steps = [on(0, elapse(4_000)), on(0, elapse(3_000)), on(0, elapse(0)), compute(2_000, 0)];
    // The last one begins after the second, while the first goes on.
    let outcome = run(spec(2, Vec::new(), vec![program(0, &steps, &[(1, 3)])]));
    assert_eq!(times(&outcome), [(0, 4 * US), (0, 3 * US), (0, 0), (3 * US, 5 * US)]);
    assert_eq!(ps(&outcome, "ranks", "compute_ns"), [5 * US]);
}

#[test]
fn nodes_of_traces_last_from_their_first_step_to_their_last() {
    let elapse = |ns| Action::Elapse { time: Duration::from_ns(ns), computes: false };
    let steps =
        [on(2, Action::Hold), on(3, elapse(7_000)), on(2, Action::Release), compute(1_000, 0)];
    let node = |id: u64, kind, first, steps| TraceNode { id, name: "n".into(), kind, first, steps };
    let program = Program {
        nodes: vec![node(40, "broadcast", 0, 3), node(7, "compute", 3, 1)].into(),
        ..program(0, &steps, &[(0, 1), (1, 2), (2, 3)])
    };
    let outcome = run(spec(2, Vec::new(), vec![program]));
    let nodes = outcome.table("trace_nodes");
    assert_eq!((nodes.u64s("id"), nodes.u64s("first_step")), (&[40, 7][..], &[0, 3][..]));
    assert_eq!(nodes.texts("kind"), ["broadcast", "compute"]);
    assert_eq!(ps(&outcome, "trace_nodes", "start_ns"), [0, 7 * US]);
    assert_eq!(ps(&outcome, "trace_nodes", "finish_ns"), [7 * US, 8 * US]);
}

#[test]
fn a_rank_without_steps_has_finished_when_it_begins() {
    let mut programs = vec![
        program(0, &[send(0)], &[]),
        program(1, &[receive(0), compute(2_000, 0)], &[(0, 1)]),
        program(2, &[], &[]),
    ];
    programs.iter_mut().for_each(|program| program.start = Instant(US));
    let mut spec = spec(3, vec![flow(0, 1, 1_000, 1_000)], programs);
    // The measured interval waits for the ranks, not only for their messages.
    (spec.awaited, spec.measured_until) = (vec![true], Duration::ZERO);
    let outcome = run(spec);
    let ends = US + way(1_000) + 2 * US;
    assert_eq!(outcome.stop, Stop::FlowsDone);
    assert_eq!(ps(&outcome, "ranks", "finish_ns"), [US, ends, US]);
    assert_eq!(ps(&outcome, "operations", "finish_ns"), [ends]);
    assert!(outcome.counter("measured_ns") * 1_000 >= ends);
}

#[test]
fn jobs_share_a_host_and_not_their_streams() {
    let two = [0, 1].map(|workload| {
        let start = Instant(u64::from(workload) * US);
        Program { workload, start, ..program(0, &[compute(5_000, 0)], &[]) }
    });
    let outcome = run(spec(2, Vec::new(), two.into()));
    assert_eq!(times(&outcome), [(0, 5 * US), (US, 6 * US)]);
    assert_eq!(outcome.table("ranks").u64s("workload"), [0, 1]);
}

#[test]
fn who_waits_for_whom_is_reported_when_a_message_is_lost() {
    // Rank 0 sends to 1, which then sends to 2. The link of host 1 carries nothing.
    let programs = vec![
        program(0, &[send(0)], &[]),
        program(1, &[receive(0), send(1)], &[(0, 1)]),
        program(2, &[compute(1_000, 0), receive(1)], &[(0, 1)]),
    ];
    let mut spec = spec(3, vec![flow(0, 1, 1_000, 0), flow(1, 2, 300, 0)], programs);
    spec.end = Duration::from_us(10);
    spec.failures = vec![Failure {
        node: NodeId(1),
        port: PortIx(0),
        at: Instant(1),
        until: Instant::NEVER,
        detection: Duration::from_ms(1),
    }];
    let outcome = run(spec);
    assert_eq!(outcome.stop, Stop::TimeLimit);
    let waits = outcome.table("waits");
    assert_eq!(waits.u64s("rank"), [1, 2]);
    assert_eq!((waits.u64s("step"), waits.u64s("sent")), (&[0, 1][..], &[1, 0][..]));
    assert_eq!((waits.f64s("peer"), waits.f64s("peer_step")), (&[0.0, 1.0][..], &[0.0, 1.0][..]));
    assert_eq!(waits.u64s("bytes"), [1_000, 300]);
    assert_eq!(waits.u64s("delivered_bytes"), [0, 0]);
    assert_eq!(ps(&outcome, "waits", "since_ns"), [0, US]);
    let ranks = outcome.table("ranks");
    assert_eq!(ranks.u64s("steps_done"), [1, 0, 1]);
    assert!(ranks.f64s("finish_ns")[1].is_nan());
    assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [0, 10 * US, 9 * US]);
    assert!(outcome.table("operations").f64s("finish_ns")[0].is_nan());
}

/// When each step ends, worked out step by step: at each time at which something ends, all that can begin
/// does, the lowest number first.
fn expected(steps: &[Step], after: &[(u32, u32)]) -> Vec<(u64, u64)> {
    let mut times = vec![(u64::MAX, u64::MAX); steps.len()];
    let mut now = 0;
    loop {
        while let Some(next) = (0..steps.len()).find(|&step| {
            let depends = |&&(_, to): &&(u32, u32)| to as usize == step;
            let stream = |other: usize| steps[other].stream == steps[step].stream;
            let busy = |other: usize| times[other].0 <= now && now < times[other].1;
            times[step].0 == u64::MAX
                && after.iter().filter(depends).all(|(from, _)| times[*from as usize].1 <= now)
                && !(0..steps.len()).any(|other| stream(other) && busy(other))
        }) {
            let Action::Compute(time) = steps[next].action else { unreachable!("it computes") };
            times[next] = (now, now + time.0);
        }
        let ends = times.iter().map(|(_, end)| *end);
        match ends.filter(|&end| now < end && end < u64::MAX).min() {
            Some(next) => now = next,
            None => return times,
        }
    }
}

#[test]
fn random_programs_are_scheduled_as_worked_out_one_by_one() {
    let mut rng = Stream::named(3, "programs");
    for _ in 0..200 {
        let count = 1 + rng.below(25) as u32;
        let streams = 1 + rng.below(3);
        let steps: Vec<Step> =
            (0..count).map(|_| compute(rng.below(4), rng.below(streams) as u8)).collect();
        let edges = rng.below(30);
        // Towards the higher number, but numbers in no particular order.
        let mut order: Vec<u32> = (0..count).collect();
        rng.shuffle(&mut order);
        let pair = |_| {
            let (one, other) = (rng.below(count.into()) as usize, rng.below(count.into()) as usize);
            (one != other).then(|| (order[one.min(other)], order[one.max(other)]))
        };
        let after: Vec<(u32, u32)> = (0..edges).filter_map(pair).collect();
        let outcome = run(spec(2, Vec::new(), vec![program(0, &steps, &after)]));
        assert_eq!(times(&outcome), expected(&steps, &after), "{steps:?} {after:?}");
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    // Sixteen ranks that pass messages around at several distances and compute in between, over a network
    // that loses some of their frames, which are sent again.
    let (ranks, rounds) = (16u32, 12u32);
    let mut flows = Vec::new();
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); ranks as usize];
    let mut after: Vec<Vec<(u32, u32)>> = vec![Vec::new(); ranks as usize];
    for round in 0..rounds {
        for rank in 0..ranks {
            let peer = (rank + 1 + round * 5 % (ranks - 1)) % ranks;
            let name = flows.len() as u32;
            flows.push(flow(rank, peer, u64::from(1 + (rank * 7_919 + round) % 60_000), 0));
            for (rank, step) in [(rank, send(name)), (peer, receive(name))] {
                let of = &mut steps[rank as usize];
                let place = of.len() as u32;
                of.extend([step, compute(u64::from(rank * 13 % 7) * 100, (round % 3) as u8)]);
                after[rank as usize].push((place, place + 1));
                if place > 3 {
                    after[rank as usize].push((place - 3, place));
                }
            }
        }
    }
    let sends = [SendEnd::HandedOver, SendEnd::Acknowledged];
    let of = |rank: u32| Program {
        sends: sends[rank as usize % 2],
        ..program(rank, &steps[rank as usize], &after[rank as usize])
    };
    let mut spec = spec(2, flows, (0..ranks).map(of).collect());
    spec.profiles
        .iter_mut()
        .for_each(|profile| profile.transport = transport::Spec::Rocev2(Default::default()));
    (spec.graph, spec.end) = (clos(4, 2, 4), Duration::from_ms(500));
    spec.switch.queue.size = Bytes(40_000);
    let on = |threads| {
        let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
        Simulation::new(spec.clone()).run_with(&run)
    };
    let [one, two, three] = [1, 2, 3].map(on);
    assert_eq!(one.violations, Vec::<String>::new());
    assert!(one.counter("dropped_packets") > 0);
    assert_eq!(one.stop, Stop::FlowsDone);
    assert!(one.table("ranks").f64s("finish_ns").iter().all(|at| at.is_finite()));
    assert_eq!([two.fingerprint, three.fingerprint], [one.fingerprint; 2]);
}
