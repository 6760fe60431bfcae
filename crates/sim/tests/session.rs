//! Sessions: flows that are injected during a run have the times that they have when they are known before it, in
//! every network, on any number of threads, and however time is divided.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use crate::together;
use floodway_model::program::SendEnd;
use floodway_model::random::Stream;
use floodway_model::{
    Bytes, Duration, FlowId, FlowSpec, Instant, NodeId, Operation, Program, Progressions,
    SharedList, Trigger,
};
use floodway_sim::host::congestion::{self, ndp, rccc};
use floodway_sim::host::transport;
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::session::{Completion, Error, Options, without_workload};
use floodway_sim::switch::discipline;
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::{Outcome, Session, Simulation, Spec};

/// One thread, and the least latency.
const SIMPLE: Options = Options { workload: 1, latency: None, threads: 1, audit: false };

fn at_ns(ns: u64) -> Instant {
    Instant(ns * 1_000)
}

/// When a flow is injected, its ends, and its size.
type Injection = (Instant, u32, u32, u64);

fn injections(rng: &mut Stream, hosts: u32, count: u32) -> Vec<Injection> {
    let mut all: Vec<Injection> = (0..count)
        .map(|_| {
            let src = rng.below(hosts.into()) as u32;
            let dst = (src + 1 + rng.below(u64::from(hosts) - 1) as u32) % hosts;
            // Many of them at the same time.
            let at = Instant(rng.below(40) * 5_000_000 + rng.below(2) * rng.below(1_000_000));
            let most = if rng.bernoulli(0.8) { 20_000 } else { 200_000 };
            (at, src, dst, 1 + rng.below(most))
        })
        .collect();
    all.sort_by_key(|(at, ..)| *at);
    all
}

/// How a session is driven.
#[derive(Clone, Copy, Debug)]
enum Drive {
    /// Each flow is injected when its time has come.
    InTime,
    /// All are injected at the beginning.
    Before,
    /// In time, and time advances in steps of 700 ns, to the end of the simulation.
    InSteps,
}

/// The completions of these flows, and what the tables say.
fn drive(
    spec: &Spec,
    options: Options,
    flows: &[Injection],
    how: Drive,
) -> (Vec<Completion>, Outcome) {
    let mut session = Session::open(spec.clone(), options).unwrap();
    let mut completions = Vec::new();
    for &(at, src, dst, bytes) in flows {
        let ends = (NodeId(src), NodeId(dst));
        match how {
            Drive::Before => _ = session.inject_at(ends.0, ends.1, bytes, at).unwrap(),
            Drive::InTime => {
                completions.extend(session.advance(at).unwrap());
                session.inject(ends.0, ends.1, bytes).unwrap();
            }
            Drive::InSteps => {
                while session.now() < at {
                    let next = (session.now() + Duration::from_ns(700)).min(at);
                    completions.extend(session.advance(next).unwrap());
                }
                session.inject(ends.0, ends.1, bytes).unwrap();
            }
        }
    }
    if let Drive::InSteps = how {
        while session.now() < session.end() {
            let next = (session.now() + Duration::from_us(1_700)).min(session.end());
            completions.extend(session.advance(next).unwrap());
        }
    }
    while let Some(next) = session.next(None).unwrap() {
        assert_eq!(session.now(), next.at);
        completions.push(next);
    }
    assert_eq!(session.in_flight(), (flows.len() - completions.len()) as u64);
    assert!(completions.is_sorted_by_key(|completion| (completion.at, completion.flow)));
    (completions, session.close())
}

/// The same flows, known before the run.
fn known_before(spec: &Spec, latency: Duration, flows: &[Injection]) -> (Vec<Completion>, Outcome) {
    let flow = |&(at, src, dst, bytes): &Injection| FlowSpec {
        workload: 1,
        start: at + latency,
        ..flow(src, dst, bytes, 0)
    };
    let all: Vec<FlowSpec> = flows.iter().map(flow).collect();
    let spec = Spec { flows: all.into(), ..spec.clone() };
    let outcome = Simulation::new(spec.clone()).run();
    let mut completions = Vec::new();
    for (number, fct) in (0..).zip(fct_ps(&outcome)) {
        let start = spec.flows[number].start;
        if !outcome.table("flows").f64s("fct_ns")[number].is_nan() {
            let flow = FlowId(number as u32);
            completions.push(Completion { flow, start, at: start + Duration(fct) });
        }
    }
    completions.sort_by_key(|completion| (completion.at, completion.flow));
    (completions, outcome)
}

fn with_threads(threads: usize) -> Options {
    Options { threads, ..SIMPLE }
}

/// n full packets over two hops, from `exact.rs`: the injection, the latency, and the time on an idle path.
#[test]
fn a_flow_on_an_idle_path_takes_its_latency_and_the_closed_form() {
    const FULL: u64 = (1024 + 62 + 20) * 80;
    let latency = Duration::from_us(2);
    let options = Options { latency: Some(latency), ..SIMPLE };
    let mut session = Session::open(plain(star(2), Vec::new()), options).unwrap();
    // A control frame of 64 bytes with preamble and gap, and 200 ns of cable.
    assert_eq!(session.window(), Duration(84 * 80 + 200_000));
    assert_eq!(session.latency(), latency);
    assert_eq!(session.advance(at_ns(1_234)).unwrap(), []);
    let flow = session.inject(NodeId(0), NodeId(1), 10 * 1024).unwrap();
    assert_eq!((flow, session.in_flight()), (FlowId(0), 1));
    let start = at_ns(1_234 + 2_000);
    let at = start + Duration(11 * FULL + 400_000);
    assert_eq!(session.advance(Instant(at.0 - 1)).unwrap(), []);
    assert_eq!(session.advance(at).unwrap(), [Completion { flow, start, at }]);
    assert_eq!((session.in_flight(), session.next(None).unwrap()), (0, None));
    // The next one on the same path, an hour of microseconds later.
    let later = Instant(at.0 + 3_600_000_000);
    let flow = session.inject_at(NodeId(1), NodeId(0), 1024, later).unwrap();
    let start = later + latency;
    let expected = Completion { flow, start, at: start + Duration(2 * FULL + 400_000) };
    assert_eq!(session.next(Some(later)).unwrap(), None);
    assert_eq!(session.now(), later);
    assert_eq!(session.next(None).unwrap(), Some(expected));
    assert_eq!(session.now(), expected.at);
    let outcome = session.close();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(fct_ps(&outcome), [11 * FULL + 400_000, 2 * FULL + 400_000]);
    assert_eq!(outcome.stop.name(), "flows_done");
}

/// Two flows from one source take turns, so each is slower than one alone.
#[test]
fn state_remains_between_injections() {
    let mut session = Session::open(plain(star(3), Vec::new()), SIMPLE).unwrap();
    session.inject(NodeId(0), NodeId(1), 102_400).unwrap();
    session.advance(at_ns(1_000)).unwrap();
    session.inject(NodeId(0), NodeId(2), 102_400).unwrap();
    let ends: Vec<u64> = std::iter::from_fn(|| session.next(None).unwrap())
        .map(|completion| (completion.at.0 - completion.start.0) / 1_000)
        .collect();
    // Alone: 101 packet times of 88.48 ns and 400 ns. The first is alone for 1000 ns and then has every second turn.
    let alone = 101.0 * 88.48 + 400.0;
    assert!(ends[0] as f64 > 1.8 * alone && ends[1] as f64 > 1.8 * alone, "{ends:?}, {alone}");
}

/// The main oracle: everything that may happen in switches and hosts at once, by `together.rs`. All tables of the
/// session are those of the run, on one thread, on two and on three, injected in time or before.
#[test]
fn a_session_is_the_run_with_the_same_flows() {
    let mut complete = 0;
    for seed in 0..60 {
        let mut spec = together::scenario(seed);
        spec.flows = Progressions::default();
        spec.triggers = Progressions::default();
        spec.operations = SharedList::default();
        spec.end = Duration::from_ms(5);
        spec.measured_until = spec.end;
        if seed % 2 == 0 {
            spec.awaited = vec![true; spec.profiles.len()];
        }
        let hosts = spec.graph.hosts().count() as u32;
        let flows = injections(&mut Stream::named(seed, "session"), hosts, 60);
        let window = Session::open(spec.clone(), SIMPLE).unwrap().window();
        let latency = [window, Duration(window.0 + 12_345)][(seed % 3 == 0) as usize];
        let (expected, run) = known_before(&spec, latency, &flows);
        complete += u32::from(expected.len() == flows.len());
        for (threads, how) in
            [(1, Drive::InTime), (1, Drive::Before), (2, Drive::InTime), (3, Drive::InTime)]
        {
            let options = Options { latency: Some(latency), ..with_threads(threads) };
            let (completions, outcome) = drive(&spec, options, &flows, how);
            assert_eq!(completions, expected, "seed {seed}, {how:?}, {threads} threads");
            assert_eq!(
                format!("{:?}", outcome.tables),
                format!("{:?}", run.tables),
                "seed {seed}, {how:?}, {threads} threads"
            );
            assert_eq!(outcome.violations, run.violations, "seed {seed}");
            let ends = [(outcome.stop, outcome.simulated), (run.stop, run.simulated)];
            assert_eq!(ends[0], ends[1], "seed {seed}, {how:?}");
        }
        if seed % 4 == 0 {
            let options = Options { latency: Some(latency), ..with_threads(2) };
            let (completions, _) = drive(&spec, options, &flows, Drive::InSteps);
            assert_eq!(completions, expected, "seed {seed} in steps");
        }
    }
    assert!(complete >= 25, "only {complete} sessions completed all flows");
}

/// With traffic of the scenario's own: flows that start later on the same host, sequential ones, triggers, long-lived
/// ones. There is no list that has the same numbers, so sessions are compared with each other.
#[test]
fn beside_other_traffic_neither_threads_nor_steps_matter() {
    for seed in 0..40 {
        let mut spec = together::scenario(seed);
        spec.end = Duration::from_ms(2);
        spec.measured_until = spec.end;
        let hosts = spec.graph.hosts().count() as u32;
        let flows = injections(&mut Stream::named(seed, "session"), hosts, 40);
        let (expected, one) = drive(&spec, SIMPLE, &flows, Drive::InTime);
        let (before, same) = drive(&spec, SIMPLE, &flows, Drive::Before);
        assert_eq!((before, same.fingerprint), (expected.clone(), one.fingerprint), "seed {seed}");
        for threads in [2, 3] {
            let (completions, many) = drive(&spec, with_threads(threads), &flows, Drive::InTime);
            assert_eq!(completions, expected, "seed {seed}, {threads} threads");
            assert_eq!(many.fingerprint, one.fingerprint, "seed {seed}, {threads} threads");
        }
        let (completions, _) = drive(&spec, with_threads(2), &flows, Drive::InSteps);
        assert_eq!(completions, expected, "seed {seed} in steps");
    }
}

/// On a star no path is chosen and nothing is random, so the numbers of flows do not matter: traffic of the scenario
/// that starts before, between and after the injected flows, from the same hosts.
#[test]
fn other_traffic_has_the_times_that_it_has_in_a_run() {
    let own: Vec<FlowSpec> = [(0, 1, 50_000, 0), (1, 2, 70_000, 900), (0, 2, 30_000, 40_000)]
        .map(|(src, dst, bytes, start)| flow(src, dst, bytes, start))
        .into();
    let window = Session::open(plain(star(3), Vec::new()), SIMPLE).unwrap().window();
    let injected = [(10_000, 0, 1, 20_000), (11_000, 0, 2, 9_000), (60_000, 2, 0, 40_000)];
    let flows = injected.map(|(at, src, dst, bytes)| (at_ns(at), src, dst, bytes));
    let spec = plain(star(3), own.clone());
    let (completions, outcome) = drive(&spec, SIMPLE, &flows, Drive::InTime);
    assert_eq!(completions.len(), 3);
    let mut all = own;
    all.extend(
        flows.iter().map(|&(at, src, dst, bytes)| FlowSpec {
            start: at + window,
            ..flow(src, dst, bytes, 0)
        }),
    );
    all.sort_by_key(|flow| flow.start);
    let known = run(plain(star(3), all));
    let rows = |outcome: &Outcome| {
        let table = outcome.table("flows");
        let mut rows: Vec<String> = (0..table.rows())
            .map(|row| {
                let [start, fct] = ["start_ns", "fct_ns"].map(|name| table.f64s(name)[row]);
                format!("{} {} {start} {fct}", table.u64s("src")[row], table.u64s("dst")[row])
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(rows(&outcome), rows(&known));
}

/// Each completion causes the next flow, as in a simulator of jobs: a run with the starts that came out has the same
/// completions.
#[test]
fn what_completions_cause_is_exact() {
    let rng = &mut Stream::named(3, "causes");
    for threads in [1, 2, 3] {
        let spec = plain(clos(3, 2, 2), Vec::new());
        let mut session = Session::open(spec.clone(), with_threads(threads)).unwrap();
        let mut flows: Vec<Injection> = Vec::new();
        let mut completions = Vec::new();
        let mut inject = |session: &mut Session, rng: &mut Stream| {
            let src = rng.below(6) as u32;
            let dst = (src + 1 + rng.below(5) as u32) % 6;
            let bytes = 1 + rng.below(50_000);
            flows.push((session.now(), src, dst, bytes));
            session.inject(NodeId(src), NodeId(dst), bytes).unwrap();
        };
        (0..8).for_each(|_| inject(&mut session, rng));
        while let Some(next) = session.next(None).unwrap() {
            completions.push(next);
            if completions.len() < 300 {
                (0..rng.below(3)).for_each(|_| inject(&mut session, rng));
            }
        }
        let latency = session.latency();
        let outcome = session.close();
        let (expected, run) = known_before(&spec, latency, &flows);
        assert_eq!(completions, expected, "{threads} threads");
        assert_eq!(outcome.fingerprint, run.fingerprint, "{threads} threads");
    }
}

/// An incast of NDP: injected flows get credit from their receivers, and switches trim their packets.
#[test]
fn credit_and_trimming_know_injected_flows() {
    let mut spec = plain(star(9), Vec::new());
    let selective = recovery::Spec::SelectiveRepeat(Default::default());
    rocev2(&mut spec, |rocev2| rocev2.recovery = selective.clone());
    control(&mut spec, congestion::Spec::Ndp(ndp::Spec { initial_window: Some(12) }));
    let threshold = Some(Bytes(8_848));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec { threshold, ..Default::default() });
    let flows: Vec<Injection> =
        (0..64).map(|n| (at_ns(u64::from(n) * 700), 1 + n % 8, 0, 60_000)).collect();
    let window = Session::open(spec.clone(), SIMPLE).unwrap().window();
    let (expected, run) = known_before(&spec, window, &flows);
    assert!(run.counter("trimmed_packets") > 100 && run.counter("credits_sent") > 100);
    let (completions, outcome) = drive(&spec, with_threads(1), &flows, Drive::InTime);
    assert_eq!((completions.len(), completions), (64, expected));
    assert_eq!(outcome.fingerprint, run.fingerprint);
}

/// The same with receiver credit of Ultra Ethernet and the window of NSCC.
#[test]
fn receiver_credit_knows_injected_flows() {
    let mut spec = plain(star(9), Vec::new());
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Uet(Default::default());
        let nscc = Some(Default::default());
        profile.congestion = congestion::Spec::Rccc(rccc::Spec { nscc, ..Default::default() });
    }
    let threshold = Some(Bytes(20_000));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec { threshold, ..Default::default() });
    let flows: Vec<Injection> =
        (0..64).map(|n| (at_ns(u64::from(n) * 700), 1 + n % 8, 0, 60_000)).collect();
    let window = Session::open(spec.clone(), SIMPLE).unwrap().window();
    let (expected, run) = known_before(&spec, window, &flows);
    assert!(run.counter("trimmed_packets") > 100 && run.counter("credits_sent") > 100);
    let (completions, outcome) = drive(&spec, with_threads(1), &flows, Drive::InTime);
    assert_eq!((completions.len(), completions), (64, expected));
    assert_eq!(outcome.fingerprint, run.fingerprint);
}

/// The warm-up ends while the network is idle, before the first injection is known.
#[test]
fn what_starts_after_the_warm_up_is_measured() {
    let mut spec = plain(star(2), Vec::new());
    spec.warmup = Duration::from_us(50);
    spec.awaited = vec![true; 2];
    spec.latencies = true;
    let flows = [(at_ns(10_000), 0, 1, 30_000), (at_ns(90_000), 1, 0, 40_000)];
    let window = Session::open(spec.clone(), SIMPLE).unwrap().window();
    let (expected, run) = known_before(&spec, window, &flows);
    let (completions, outcome) = drive(&spec, SIMPLE, &flows, Drive::InTime);
    assert_eq!((completions, outcome.fingerprint), (expected, run.fingerprint));
    assert_eq!(outcome.table("flows").u64s("measured"), [0, 1]);
    assert_eq!(outcome.counter("data_packets_sent"), 40);
    let late = drive(&spec, SIMPLE, &flows[1..], Drive::InTime).1;
    assert_eq!(late.counter("data_packets_sent"), 40);
}

#[test]
fn a_session_may_end_early_or_with_nothing() {
    let session = Session::open(plain(star(2), Vec::new()), SIMPLE).unwrap();
    let outcome = session.close();
    assert_eq!((outcome.table("flows").rows(), outcome.violations), (0, Vec::new()));
    let mut session = Session::open(plain(star(2), Vec::new()), SIMPLE).unwrap();
    session.inject(NodeId(0), NodeId(1), 1_000_000).unwrap();
    assert_eq!(session.advance(at_ns(20_000)).unwrap(), []);
    session.inject(NodeId(1), NodeId(0), 1_000_000).unwrap();
    let outcome = session.close();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.stop.name(), "time_limit");
    // The end of the window of 206.72 ns in which 20 us are.
    assert_eq!(outcome.simulated, Instant(97 * 206_720));
    assert_eq!(outcome.counter("flows_unfinished"), 2);
}

#[test]
fn an_interrupted_call_can_be_repeated() {
    let mut session = Session::open(plain(star(2), Vec::new()), SIMPLE).unwrap();
    session.inject(NodeId(0), NodeId(1), 1_000_000).unwrap();
    let stop = AtomicBool::new(true);
    assert_eq!(session.next_while(None, &stop), Err(Error::Interrupted));
    assert_eq!(session.advance_while(at_ns(50), &stop), Err(Error::Interrupted));
    assert_eq!((session.now(), session.in_flight()), (Instant::ZERO, 1));
    assert!(session.next(None).unwrap().is_some());
}

/// An interrupted call may have simulated more than a window beyond the session's time: nothing can start there any more.
#[test]
fn nothing_is_injected_into_what_an_interrupted_call_has_simulated() {
    let mut spec = plain(star(2), Vec::new());
    spec.end = Duration::from_ms(1_000);
    let mut session = Session::open(spec, SIMPLE).unwrap();
    session.inject(NodeId(0), NodeId(1), 1_000_000_000).unwrap();
    let reached = loop {
        let stop = AtomicBool::new(false);
        let advanced = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            session.advance_while(session.end(), &stop)
        });
        assert_eq!(advanced, Err(Error::Interrupted));
        // The first windows may take as long as that on a busy machine.
        if let Err(Error::Simulated { start, reached }) = session.inject(NodeId(1), NodeId(0), 1) {
            assert_eq!(start, Instant::ZERO + session.latency());
            break reached;
        }
    };
    assert!(reached > Instant::ZERO + session.latency());
    session.advance(reached).unwrap();
    session.inject(NodeId(1), NodeId(0), 1).unwrap();
    assert!(session.next(None).unwrap().is_some_and(|next| next.start > reached));
}

fn says<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_a_session_refuses() {
    let open = |options, change: &dyn Fn(&mut Spec)| {
        let mut spec = plain(star(2), Vec::new());
        spec.end = Duration::from_us(100);
        change(&mut spec);
        Session::open(spec, options)
    };
    let short = Options { latency: Some(Duration::from_ns(100)), ..SIMPLE };
    assert_eq!(
        says(open(short, &|_| ())),
        "the host latency of 100ns is shorter than a window of 206.72ns, the shortest time in which a frame crosses a \
         link: it must be at least 206.72ns"
    );
    assert_eq!(
        says(open(Options { workload: 2, ..SIMPLE }, &|_| ())),
        "injected flows need a workload whose place they take: choose one of the scenario"
    );
    assert_eq!(
        says(open(with_threads(0), &|_| ())),
        "a session has no threads: it needs at least 1 thread"
    );
    let program = Program {
        host: NodeId(0),
        workload: 0,
        rank: 0,
        start: Instant::ZERO,
        sends: SendEnd::HandedOver,
        steps: Box::default(),
        edges: Box::default(),
        nodes: Box::default(),
        rounds: Box::default(),
    };
    assert_eq!(
        says(open(SIMPLE, &|spec| spec.programs = vec![program.clone()].into())),
        "a session cannot have jobs whose ranks are programs: remove [workload.goal], [workload.chakra] or [workload.training], and inject the \
         flows of the job"
    );
    assert_eq!(
        says(open(SIMPLE, &|spec| spec.graph.join(NodeId(0), 2))),
        "a session cannot have hosts with several ports: give every host one port"
    );
    let srpt: discipline::Spec = by_name("srpt");
    assert_eq!(
        says(open(SIMPLE, &|spec| spec.switch.queue.discipline = srpt.clone())),
        "a session cannot have switches that know the size of every flow before a run: choose another \
         [switch.queue.discipline]"
    );
    let mut session = open(SIMPLE, &|_| ()).unwrap();
    session.advance(at_ns(500)).unwrap();
    let (zero, one) = (NodeId(0), NodeId(1));
    // Node 2 is the switch.
    for (src, dst) in [(zero, NodeId(2)), (NodeId(2), zero), (NodeId(7), one)] {
        let unknown = src.max(dst).0;
        assert_eq!(
            says(session.inject(src, dst, 1)),
            format!("there is no host {unknown}: the network has 2 hosts, with the numbers 0 to 1")
        );
    }
    assert_eq!(
        says(session.inject(zero, zero, 1)),
        "a flow from host 0 to itself does not cross the network: source and destination must differ"
    );
    assert_eq!(
        says(session.inject(zero, one, 0)),
        "a flow of 0 bytes: the size must be at least 1 byte"
    );
    assert_eq!(
        says(session.inject(zero, one, u64::MAX)),
        "a flow of 18446744073709551615 bytes has more packets than can be numbered: at most 4398046509056 bytes are \
         possible"
    );
    let past = "499ns has passed: the session is at 500ns, and the time must not be before that";
    assert_eq!(says(session.inject_at(zero, one, 1, at_ns(499))), past);
    assert_eq!(says(session.advance(at_ns(499))), past);
    assert_eq!(says(session.next(Some(at_ns(499)))), past);
    assert_eq!(
        says(session.advance(at_ns(100_001))),
        "100.001us is after the end of the simulation, 100us: raise `limit` in the scenario"
    );
    assert_eq!(
        says(session.inject_at(zero, one, 1, at_ns(99_900))),
        "a flow that is injected at 99.9us starts 206.72ns later, which is not before the end of the simulation, 100us: \
         raise `limit` in the scenario"
    );
    let latency = Some(Duration::from_us(100));
    let late = Session::open(session.spec().clone(), Options { latency, ..SIMPLE });
    assert_eq!(
        late.unwrap_err().to_string(),
        "with a host latency of 100us no flow can start before the end of the simulation, 100us: lower the latency, or \
         raise `limit` in the scenario"
    );
    // Nothing of that has changed anything.
    assert_eq!((session.now(), session.in_flight()), (at_ns(500), 0));
    assert_eq!(session.close().table("flows").rows(), 0);
}

/// Sessions of runs that need more than one thread at once do not stop each other.
#[test]
fn several_sessions_are_independent() {
    let open = || Session::open(plain(star(3), Vec::new()), with_threads(2)).unwrap();
    let mut sessions = [open(), open()];
    for (number, session) in (1..).zip(&mut sessions) {
        session.inject(NodeId(0), NodeId(number), 5_000).unwrap();
    }
    let ends = sessions.each_mut().map(|session| session.next(None).unwrap().unwrap().at);
    assert_eq!(ends[0], ends[1]);
}

/// Triggers and operations of other workloads are about the flows that they were about.
#[test]
fn without_a_workload_the_others_keep_their_dependencies() {
    type Pairs = Vec<(FlowSpec, FlowSpec, Duration)>;
    let flow = |spec: &Spec, flow: FlowId| spec.flows[flow.index()].clone();
    let pairs = |spec: &Spec| -> Pairs {
        let pair = |of: &Trigger| (flow(spec, of.after), flow(spec, of.begins), of.delay);
        spec.triggers.iter().map(pair).collect()
    };
    let operations = |spec: &Spec| -> Vec<Vec<FlowSpec>> {
        let flows = |of: &Operation| of.flows.iter().map(|one| flow(spec, *one)).collect();
        spec.operations.iter().map(flows).collect()
    };
    let mut kept = [0; 2];
    for seed in 0..60 {
        let spec = together::scenario(seed);
        let left = without_workload(spec.clone(), 1);
        let stays = |flow: &FlowSpec| flow.workload != 1;
        let flows: Vec<FlowSpec> = spec.flows.iter().filter(|one| stays(one)).cloned().collect();
        assert_eq!(left.flows[..], flows);
        let mut expected = (pairs(&spec), operations(&spec));
        expected.0.retain(|(after, begins, _)| stays(after) && stays(begins));
        expected.1.retain(|flows| flows.iter().all(stays));
        kept[0] += expected.0.len();
        kept[1] += expected.1.len();
        assert_eq!((pairs(&left), operations(&left)), expected, "seed {seed}");
    }
    assert!(kept.iter().all(|kept| *kept > 20), "{kept:?}");
}
