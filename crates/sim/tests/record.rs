//! The record of a run: what ports did and what waited in them at bounded samples, by arithmetic.

use std::sync::atomic::AtomicBool;

use crate::common::{busy_flows, clos, flow, isolating, plain, run};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

/// Frames of 1230 bytes, with 20 of preamble and gap: a microsecond at 10 Gb/s.
const FRAME: u64 = 1_230;

/// So many hosts send such frames to one more without a pause, each over a microsecond of link.
fn spec(senders: u32) -> Spec {
    let mut graph = Graph::default();
    for host in 0..=senders {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for host in 0..=senders {
        graph.link(NodeId(host), switch, Rate::from_gbps(10), Duration::from_us(1));
    }
    let flows = (0..senders).map(|host| flow(host, senders, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = plain(graph, flows);
    let datagrams = udp::Spec { payload: Bytes(FRAME - 46), ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Udp(datagrams);
    spec.record = Some(1_000);
    spec.end = Duration::from_us(35);
    spec
}

/// What a port did until a sample.
#[derive(Debug, PartialEq)]
struct Row {
    interval_ns: f64,
    sent_bytes: u64,
    busy_ns: f64,
    paused_ns: f64,
    backlog_bytes: u64,
}

/// The row of a port at a sample, if it has one.
fn row(outcome: &Outcome, us: f64, node: &str, port: u64) -> Option<Row> {
    let table = outcome.table("samples");
    let here = |&row: &usize| {
        table.f64s("time_ns")[row] == us * 1e3
            && table.texts("node")[row] == node
            && table.u64s("port")[row] == port
    };
    let row = (0..table.rows()).find(here)?;
    Some(Row {
        interval_ns: table.f64s("interval_ns")[row],
        sent_bytes: table.u64s("sent_bytes")[row],
        busy_ns: table.f64s("busy_ns")[row],
        paused_ns: table.f64s("paused_ns")[row],
        backlog_bytes: table.u64s("backlog_bytes")[row],
    })
}

/// The only number of a column of `record`.
fn of_record(outcome: &Outcome, column: &str) -> u64 {
    outcome.table("record").u64s(column)[0]
}

/// The samples at which something was done, in ns.
fn times(outcome: &Outcome) -> Vec<f64> {
    let mut times = outcome.table("samples").f64s("time_ns").to_vec();
    times.dedup();
    times
}

#[test]
fn a_sender_at_line_rate() {
    let outcome = run(spec(1));
    assert_eq!(of_record(&outcome, "samples"), 4);
    assert_eq!((of_record(&outcome, "every"), of_record(&outcome, "recorded_samples")), (1, 4));
    let busy = |interval_ns, frames: u64, busy_ns| Row {
        interval_ns,
        sent_bytes: frames * FRAME,
        busy_ns,
        paused_ns: 0.0,
        backlog_bytes: 0,
    };
    // Frame n begins at n us; that of the sample has begun, and takes no time yet.
    assert_eq!(row(&outcome, 0.0, "host 0", 0), Some(busy(0.0, 1, 0.0)));
    // At the switch frame n arrives at n + 2 us; that of the sample comes after it.
    assert_eq!(row(&outcome, 0.0, "switch", 1), None);
    assert_eq!(row(&outcome, 10.0, "switch", 1), Some(busy(1e4, 8, 8e3)));
    for us in [10.0, 20.0, 30.0] {
        assert_eq!(row(&outcome, us, "host 0", 0), Some(busy(1e4, 10, 1e4)), "{us}");
        // Nothing comes back.
        assert_eq!(row(&outcome, us, "switch", 0), None);
        assert_eq!(row(&outcome, us, "host 1", 0), None);
    }
    assert_eq!(row(&outcome, 30.0, "switch", 1), Some(busy(1e4, 10, 1e4)));
    assert_eq!(outcome.table("backlogs").rows(), 0);
    assert_eq!(outcome.table("pause_intervals").rows(), 0);
}

#[test]
fn a_queue_that_grows_by_nine_frames_a_microsecond() {
    // Ten come at 2 us and in every microsecond after it, the first of them is sent at once, and one
    // more each time that the wire is free: at 10 us 80 are there, and number 9 leaves.
    let outcome = run(spec(10));
    for (us, came, sent) in [(10, 80, 9), (20, 180, 19), (30, 280, 29)] {
        let row = row(&outcome, f64::from(us), "switch", 10).unwrap();
        assert_eq!(row.backlog_bytes, (came - sent) * FRAME, "{us}");
        assert_eq!(row.sent_bytes, if us == 10 { 9 * FRAME } else { 10 * FRAME }, "{us}");
    }
    let backlogs = outcome.table("backlogs");
    assert_eq!(backlogs.f64s("time_ns"), [1e4, 2e4, 3e4]);
    assert_eq!(backlogs.texts("node"), ["switch"; 3]);
    assert_eq!(backlogs.u64s("port"), [10; 3]);
    assert_eq!(backlogs.u64s("queue"), [0; 3]);
    assert_eq!(backlogs.u64s("backlog_bytes"), [71, 161, 251].map(|frames| frames * FRAME));
}

#[test]
fn a_queue_that_has_become_empty_is_told_once() {
    // Both send 15 frames: until 16 us 30 come to the switch, which sends the last from 31 us on.
    let mut spec = spec(2);
    for flow in &mut spec.flows {
        flow.bytes = 15 * (FRAME - 46);
    }
    spec.flows.push(FlowSpec { stop: floodway_model::Instant(1), ..flow(2, 0, 1 << 30, 60_000) });
    spec.end = Duration::from_us(65);
    let outcome = run(spec);
    let backlogs = outcome.table("backlogs");
    // At 10 us 16 have come and 9 have gone, at 20 and 30 us 30 have come.
    assert_eq!(backlogs.f64s("time_ns"), [1e4, 2e4, 3e4, 4e4]);
    assert_eq!(backlogs.u64s("backlog_bytes"), [7, 11, 1, 0].map(|frames| frames * FRAME));
}

#[test]
fn a_nic_with_a_memory_has_a_backlog() {
    // Room for four frames and a bit, which is filled again as soon as one has left.
    let mut spec = spec(1);
    spec.host.buffer = Some(Bytes(4 * FRAME + 100));
    let outcome = run(spec);
    assert_eq!(row(&outcome, 20.0, "host 0", 0).unwrap().backlog_bytes, 4 * FRAME);
}

#[test]
fn the_number_of_samples_is_bounded_and_nothing_is_lost_between_them() {
    let with = |limit, end| {
        let mut spec = spec(2);
        (spec.record, spec.end) = (Some(limit), Duration::from_us(end));
        run(spec)
    };
    // 100 samples, at 0, 10, ..., 990 us, of which every sixteenth is left.
    let few = with(8, 1_000);
    assert_eq!(of_record(&few, "samples"), 100);
    assert_eq!((of_record(&few, "every"), of_record(&few, "recorded_samples")), (16, 7));
    assert_eq!(times(&few), [0.0, 160e3, 320e3, 480e3, 640e3, 800e3, 960e3]);
    let record = few.table("record");
    assert_eq!((record.f64s("first_ns")[0], record.f64s("interval_ns")[0]), (0.0, 160e3));
    let all = with(1_000, 1_000);
    assert_eq!(times(&all).len(), 100);
    for us in [160.0, 960.0] {
        for (node, port) in [("host 0", 0), ("host 1", 0), ("switch", 2)] {
            let of_few = row(&few, us, node, port).unwrap();
            let parts = (0..16).map(|part| us - f64::from(part) * 10.0);
            let parts: Vec<Row> = parts.map(|us| row(&all, us, node, port).unwrap()).collect();
            let sent: u64 = parts.iter().map(|part| part.sent_bytes).sum();
            let busy: f64 = parts.iter().map(|part| part.busy_ns).sum();
            assert_eq!((of_few.interval_ns, of_few.sent_bytes), (160e3, sent));
            assert_eq!((of_few.busy_ns, of_few.backlog_bytes), (busy, parts[0].backlog_bytes));
        }
    }
}

#[test]
fn it_begins_with_the_warm_up_and_what_was_before_is_in_its_first_sample() {
    let mut spec = spec(1);
    spec.warmup = Duration::from_us(15);
    let outcome = run(spec);
    assert_eq!(times(&outcome), [15e3, 25e3]);
    assert_eq!(outcome.table("record").f64s("first_ns"), [15e3]);
    let first = row(&outcome, 15.0, "host 0", 0).unwrap();
    assert_eq!((first.interval_ns, first.sent_bytes, first.busy_ns), (15e3, 16 * FRAME, 15e3));
}

/// PFC, CIMs and 32 hosts, of which two never end.
fn busy(record: Option<u32>) -> Spec {
    let switch = isolating();
    Spec { switch, record, end: Duration::from_ms(1), ..plain(clos(4, 2, 8), busy_flows()) }
}

fn on(threads: usize, spec: Spec) -> Outcome {
    let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
    Simulation::new(spec).run_with(&run)
}

#[test]
fn it_changes_nothing_and_is_the_same_for_any_number_of_threads() {
    let without = on(1, busy(None));
    let one = on(1, busy(Some(16)));
    assert!(one.table("pause_intervals").rows() > 100);
    assert!(one.table("backlogs").rows() > 100);
    for threads in [2, 3] {
        let other = on(threads, busy(Some(16)));
        assert_eq!(format!("{:?}", one.tables), format!("{:?}", other.tables), "{threads}");
    }
    assert_eq!(without.fingerprint, one.fingerprint);
    assert_eq!((without.hops, without.simulated), (one.hops, one.simulated));
    let tables = without.tables.len();
    assert_eq!(format!("{:?}", without.tables), format!("{:?}", &one.tables[..tables]));
    let names = one.tables[tables..].iter().map(|table| &*table.name);
    assert_eq!(names.collect::<Vec<_>>(), floodway_model::table::RECORD);
}

#[test]
fn pause_intervals_add_up_to_the_pauses() {
    let outcome = on(1, busy(Some(100)));
    let (pause_intervals, pauses) = (outcome.table("pause_intervals"), outcome.table("pauses"));
    assert_eq!(of_record(&outcome, "pause_intervals_left_out"), 0);
    assert_eq!(of_record(&outcome, "pause_intervals"), pause_intervals.rows() as u64);
    let mut sums = std::collections::BTreeMap::<_, (f64, f64)>::new();
    for row in 0..pause_intervals.rows() {
        let key = |table: &floodway_model::Table, row: usize| {
            (table.texts("node")[row].clone(), table.u64s("port")[row], table.u64s("class")[row])
        };
        let length = pause_intervals.f64s("until_ns")[row] - pause_intervals.f64s("from_ns")[row];
        let sum = sums.entry(key(pause_intervals, row)).or_default();
        *sum = (sum.0 + length, sum.1.max(length));
    }
    for row in 0..pauses.rows() {
        let key = (
            pauses.texts("node")[row].clone(),
            pauses.u64s("port")[row],
            pauses.u64s("class")[row],
        );
        let (sum, longest) = sums.remove(&key).unwrap_or_default();
        assert!((sum - pauses.f64s("paused_ns")[row]).abs() < 1e-3, "{key:?}");
        assert!((longest - pauses.f64s("longest_pause_ns")[row]).abs() < 1e-3, "{key:?}");
    }
    assert!(sums.is_empty());
}
