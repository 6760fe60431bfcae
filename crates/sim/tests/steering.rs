//! Queue management that changes during a run, and long-lived flows that start and stop in a session.

use crate::common::*;
use floodway_model::{Duration, FlowId, FlowSpec, Instant, NodeId, PortIx};
use floodway_sim::host::congestion;
use floodway_sim::host::transport;
use floodway_sim::session::{Error, Options};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, dualq};
use floodway_sim::switch::change::Change;
use floodway_sim::switch::classify::ecn::{self, Scalable};
use floodway_sim::switch::{self, classify, flow_control, scheduler};
use floodway_sim::{Outcome, Session, Simulation, Spec};

/// A full packet on the wire at 100 Gb/s, and its way over one switch.
const FULL: u64 = (1024 + 62 + 20) * 80;
const WAY: u64 = 2 * (FULL + 200_000);

const OPTIONS: Options = Options { workload: 0, latency: None, threads: 1, audit: false };

/// Hosts 0 and 1 send ten packets each to host 2, all at once, through the low latency queue of two.
fn incast() -> Spec {
    let mut spec = plain(star(3), vec![flow(0, 2, 10 * 1024, 0), flow(1, 2, 10 * 1024, 0)]);
    spec.departures = true;
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::Ecn(ecn::Spec { low_latency: Scalable::EcnCapable });
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
    spec
}

fn managed_by(spec: &Spec, aqm: aqm::Spec) -> switch::Spec {
    switch::Spec { aqm, ..spec.switch.clone() }
}

fn dual() -> aqm::Spec {
    aqm::Spec::DualQ(dualq::Spec::default())
}

/// Marks in the first queue of the port to host 2.
fn marked(outcome: &Outcome) -> u64 {
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("queue"));
    let mut rows = rows.zip(queues.u64s("marked_packets"));
    rows.find(|((port, queue), _)| (**port, **queue) == (2, 0)).map_or(0, |(_, marked)| *marked)
}

/// When packet n begins to leave for host 2, plus half a packet: the first has arrived after a packet and 200 ns.
fn after_departure(n: u64) -> Instant {
    Instant(FULL + 200_000 + n * FULL + FULL / 2)
}

/// As `dual_queue.rs` has it, packet n leaves n - 1 others behind up to the ninth, the tenth leaves 9, and from then on one
/// fewer each: with more than 5 behind them, those with numbers 7 to 13 are marked. Of these, DualQ sees 10 to 13 if it
/// begins after number 9 has left, and 7 to 9 if it ends then.
#[test]
fn an_aqm_decides_from_and_to_the_time_of_a_change() {
    let spec = incast();
    let changes = |first: aqm::Spec, then: &[(u64, aqm::Spec)]| {
        let mut changed = spec.clone();
        changed.switch.aqm = first;
        let change = |(n, aqm): &(u64, aqm::Spec)| {
            let switch = managed_by(&spec, aqm.clone());
            Change { at: after_departure(*n), switch }
        };
        changed.changes = then.iter().map(change).collect();
        marked(&run(changed))
    };
    let none = aqm::Spec::default;
    assert_eq!(changes(dual(), &[]), 7);
    assert_eq!(changes(none(), &[(9, dual())]), 4);
    assert_eq!(changes(dual(), &[(9, none())]), 3);
    // Two changes: numbers 8 to 11.
    assert_eq!(changes(none(), &[(7, dual()), (11, none())]), 4);
    // Before anything has arrived, and after everything has left.
    let early = Change { at: Instant(1), switch: managed_by(&spec, dual()) };
    assert_eq!(marked(&run(Spec { changes: vec![early], ..spec.clone() })), 7);
    assert_eq!(changes(none(), &[(40, dual())]), 0);
}

/// A change that is asked for in a session is one that was known before.
#[test]
fn a_change_in_a_session_is_one_in_a_list() {
    let spec = incast();
    let to = managed_by(&spec, dual());
    let at = after_departure(9);
    for threads in [1, 2, 3] {
        let options = Options { threads, ..OPTIONS };
        let mut session = Session::open(spec.clone(), options).unwrap();
        session.advance(Instant(at.0 - session.latency().0)).unwrap();
        assert_eq!(session.change(to.clone()), Ok(at));
        assert_eq!(session.switch(), &to);
        session.advance(Instant(Duration::from_ms(1).0)).unwrap();
        let port = session.port(NodeId(3), PortIx(2)).unwrap();
        assert_eq!((port.queues[0].marked, port.queues[0].backlog), (4, 0));
        // Twenty packets, which have waited in pairs: the one that leaves at once, and the one behind it.
        assert_eq!((port.queues[0].waits.count, port.sent), (20, 20 * (1024 + 62 + 20)));
        let outcome = session.close();
        assert_eq!(outcome.violations, Vec::<String>::new());
        let mut known = spec.clone();
        known.changes = vec![Change { at, switch: to.clone() }];
        let run = Run { threads, stop: &false.into(), watch: &|_| {} };
        let known = Simulation::new(known).run_with(&run);
        // The session goes on after the last message has arrived: acknowledgements arrive, and other tables have more
        // samples.
        assert_eq!(fct_ps(&outcome), fct_ps(&known));
        let marks = |of: &Outcome| of.table("flows").u64s("marked_packets").to_vec();
        assert_eq!(marks(&outcome), marks(&known));
        for table in ["drops", "sojourns"] {
            assert_eq!(outcome.table(table), known.table(table), "{table}");
        }
        assert_eq!(marked(&outcome), marked(&known));
    }
}

/// From one queue to two: packets that wait in the classic queue are overtaken by later ones, which strict priority prefers.
/// No data is lost, and being out of order is no violation.
#[test]
fn packets_stay_in_their_queues_when_classification_changes() {
    let mut spec = incast();
    let two = spec.switch.clone();
    spec.switch.classify = serde_json::from_str(r#"{ "single": { "queue": 1 } }"#).unwrap();
    spec.changes = vec![Change { at: after_departure(4), switch: two }];
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Tcp(Default::default());
        profile.congestion = congestion::Spec::Dctcp(Default::default());
    }
    let outcome = run(spec.clone());
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [10 * 1024; 2]);
    let used = |outcome: &Outcome| {
        let queues = outcome.table("queues");
        let rows = queues.u64s("port").iter().zip(queues.u64s("packets"));
        rows.filter(|(port, _)| **port == 2).map(|(_, packets)| *packets > 0).collect::<Vec<_>>()
    };
    assert_eq!(used(&outcome)[..2], [true, true]);
    spec.changes.clear();
    assert_eq!(used(&run(spec))[..2], [false, true]);
}

#[test]
fn what_cannot_change_is_refused() {
    let mut spec = incast();
    let to = managed_by(&spec, dual());
    let says = |spec: &Spec, to: &switch::Spec| {
        let mut session = Session::open(spec.clone(), OPTIONS).unwrap();
        session.change(to.clone()).unwrap_err().to_string()
    };
    let other = switch::Spec { latency: Duration::from_ns(1), ..to.clone() };
    assert_eq!(
        says(&spec, &other),
        "switches differ in more than `aqm`, `classify` and `scheduler`: let all other parameters be the same"
    );
    let memory: aqm::Spec = serde_json::from_value(serde_json::json!({
        "red": { "measured_on": "memory", "min": "10KB", "max": "30KB", "limit": "100KB", "bandwidth": "100Gbps" }
    }))
    .unwrap();
    assert_eq!(
        says(&spec, &managed_by(&spec, memory)),
        "the AQM is one for all ports, because it measures the buffer of the switch: let it measure a queue or a port"
    );
    spec.switch.flow_control = flow_control::Spec { pfc: Some(prompt_pfc()), ..Default::default() };
    let single = switch::Spec { classify: Default::default(), ..spec.switch.clone() };
    assert_eq!(
        says(&spec, &single),
        "flow control counts packets by class, and packets would change their class: let `classify` and `scheduler` be \
         the same, or remove [switch.flow_control]"
    );
    let mut session = Session::open(spec.clone(), OPTIONS).unwrap();
    session.change(managed_by(&spec, dual())).unwrap();
    spec.departures = false;
    assert_eq!(
        says(&spec, &managed_by(&spec, dual())),
        "queues have no arrival times, which another AQM may need: set `departures = true`"
    );
}

/// A flow that starts at 2 us and stops at 7 us sends a packet every 88.48 ns, the first at once: 57 packets.
#[test]
fn a_long_flow_starts_and_stops_by_hand() {
    let mut spec = plain(star(4), vec![flow(2, 1, FlowSpec::PERSISTENT, 0)]);
    spec.flow_samples = Some(Duration::from_us(4));
    let latency = Some(Duration::from_us(1));
    let mut session = Session::open(spec, Options { latency, ..OPTIONS }).unwrap();
    let us = |us: u64| Instant(us * 1_000_000);
    session.advance(us(1)).unwrap();
    let started = session.start(NodeId(0), NodeId(3), 1).unwrap();
    assert_eq!((started, session.delivered(started)), (FlowId(1), 0));
    session.advance(us(6)).unwrap();
    let arrived = (session.reached().0 - 2_000_000 - WAY) / FULL + 1;
    assert_eq!(session.delivered(started), arrived * 1024);
    assert_eq!(session.stop(started), Ok(us(7)));
    // Asked for again, it stops when it was to stop; so does one that has not started yet.
    session.advance(us(8)).unwrap();
    assert_eq!(session.stop(started), Ok(us(7)));
    let never = session.start(NodeId(0), NodeId(3), 1).unwrap();
    assert_eq!(session.stop(never), Ok(us(9)));
    assert_eq!(session.stop(FlowId(0)), Ok(us(9)));
    session.advance(us(12)).unwrap();
    let sent = 5_000_000_u64.div_ceil(FULL);
    assert_eq!((sent, session.delivered(started)), (57, sent * 1024));
    assert_eq!((session.delivered(FlowId(0)), session.delivered(never)), (102 * 1024, 0));
    assert_eq!(session.stop(FlowId(7)), Err(Error::UnknownFlow { flow: FlowId(7), flows: 3 }));
    assert_eq!(
        session.start(NodeId(0), NodeId(0), 0).unwrap_err().to_string(),
        "a flow from host 0 to itself does not cross the network: source and destination must differ"
    );
    assert_eq!(
        session.start(NodeId(0), NodeId(1), 9).unwrap_err().to_string(),
        "a flow needs a workload, and the scenario has no such one: choose one of the scenario"
    );
    let sized = session.inject(NodeId(0), NodeId(3), 5).unwrap();
    assert_eq!(
        session.stop(sized).unwrap_err().to_string(),
        "flow 3 has a size and ends by itself: only long-lived flows can be stopped"
    );
    let outcome = session.close();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let flows = outcome.table("flows");
    assert_eq!(flows.u64s("delivered_bytes")[..2], [102 * 1024, 57 * 1024]);
    let samples = outcome.table("deliveries");
    let of = samples.u64s("flow").iter().zip(samples.u64s("delivered_bytes"));
    let of: Vec<u64> = of.filter(|(flow, _)| **flow == 1).map(|(_, bytes)| *bytes).collect();
    // What has arrived before 4, 8 and 12 us.
    let before = |at: u64| (at - 2_000_000 - WAY).div_ceil(FULL).min(57) * 1024;
    assert_eq!(of, [4_000_000, 8_000_000, 12_000_000].map(before));
}

/// Long flows of TCP that start and stop in a session have the tables of a run in which that was known, on any number of
/// threads, with all transports that limit them.
#[test]
fn flows_that_start_and_stop_have_the_tables_of_a_list() {
    let transports = ["tcp", "rocev2", "uet", "udp"];
    let us = |us: u64| Instant(us * 1_000_000);
    let latency = Duration::from_us(3);
    for name in transports {
        let mut spec = plain(clos(2, 2, 2), vec![flow(0, 2, FlowSpec::PERSISTENT, 0)]);
        (spec.departures, spec.flow_samples) = (true, Some(Duration::from_us(20)));
        spec.end = Duration::from_us(200);
        spec.measured_until = spec.end;
        let transport: transport::Spec = by_name(name);
        for profile in &mut spec.profiles {
            profile.congestion = transport.usual_control();
            profile.transport = transport.clone();
        }
        let long = |src, dst, start: u64, stop: u64| FlowSpec {
            start: us(start) + latency,
            stop: us(stop) + latency,
            ..flow(src, dst, FlowSpec::PERSISTENT, 0)
        };
        let mut known = spec.clone();
        known.flows[0].stop = us(90) + latency;
        known.flows.extend([long(1, 2, 10, 60), long(3, 0, 10, 120), long(1, 0, 30, 31)]);
        let expected = Simulation::new(known).run();
        assert_eq!(expected.violations, Vec::<String>::new());
        for threads in [1, 2] {
            let options = Options { threads, latency: Some(latency), ..OPTIONS };
            let mut session = Session::open(spec.clone(), options).unwrap();
            let mut flows = vec![FlowId(0)];
            session.advance(us(10)).unwrap();
            flows.push(session.start(NodeId(1), NodeId(2), 0).unwrap());
            flows.push(session.start(NodeId(3), NodeId(0), 0).unwrap());
            session.advance(us(30)).unwrap();
            flows.push(session.start(NodeId(1), NodeId(0), 0).unwrap());
            for (at, flow) in [(31, 3), (60, 1), (90, 0), (120, 2)] {
                session.advance(us(at)).unwrap();
                assert_eq!(session.stop(flows[flow]), Ok(us(at) + latency));
            }
            session.advance(us(200)).unwrap();
            let outcome = session.close();
            assert_eq!(outcome.violations, Vec::<String>::new());
            assert_eq!(outcome.fingerprint, expected.fingerprint, "{name}, {threads} threads");
        }
    }
}
