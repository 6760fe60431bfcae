//! All that happens between neighbors at once: PAUSE, PFC, Directional Rate Control, source flow
//! control, NICs with a memory, layer 2 congestion indication, QCN, watchdogs, crossbars, memory by
//! ports, congestion controls of all kinds, saturated hosts, frames without anything above, flows
//! that wait for others and database entries, in networks whose links differ and fail, by all kinds
//! of ways. Which of them are on, and with what numbers, is drawn at random; what is checked has to
//! hold for all. `TOGETHER_SEEDS=150..2000` tries others than usual.

mod drawn;

use std::sync::atomic::AtomicBool;

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId, Trigger};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

use drawn::NO_LIMIT;
pub use drawn::scenario;

/// Which scenarios are tried.
fn seeds() -> std::ops::Range<u64> {
    let Ok(written) = std::env::var("TOGETHER_SEEDS") else { return 0..150 };
    let bound = |text: &str| text.parse().expect("it is written as 0..150");
    let (from, to) = written.split_once("..").expect("it is written as 0..150");
    bound(from)..bound(to)
}

/// In sums of nanoseconds: less than a picosecond.
const ROUNDING: f64 = 1e-4;

fn on(spec: &Spec, threads: usize) -> Outcome {
    let stop = AtomicBool::new(false);
    Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
}

/// What every frame of a flow takes at least, in nanoseconds: the first link and the last, for the
/// shortest frame.
fn least_latency(spec: &Spec, flow: &FlowSpec) -> f64 {
    let ends = [flow.src, flow.dst].map(|host| spec.graph.node(host).ports[0]);
    let wire = Bytes(u64::from(length::SHORTEST_FRAME) + u64::from(spec.wire_overhead));
    ends.iter().map(|end| (end.rate.time_for(wire) + end.delay).0 as f64 / 1e3).sum()
}

/// Entries are complete in their order, each after it has arrived, and none sooner than on an idle
/// network: its bytes on the first link, and the way there and back.
fn check_entries(spec: &Spec, outcome: &Outcome, seed: u64) {
    let table = outcome.table("entries");
    let (flows, bytes) = (table.u64s("flow"), table.u64s("bytes"));
    let [requested, arrived, completed] =
        ["requested_ns", "arrived_ns", "completed_ns"].map(|name| table.f64s(name));
    for row in 0..flows.len() {
        let same = row > 0 && flows[row] == flows[row - 1];
        if same {
            assert!(requested[row] >= requested[row - 1], "seed {seed}: {row}");
            let in_order = completed[row].is_nan() || completed[row] >= completed[row - 1];
            assert!(in_order, "seed {seed}: {row}");
        }
        if completed[row].is_nan() {
            continue;
        }
        let flow = &spec.flows[flows[row] as usize];
        let first = spec.graph.node(flow.src).ports[0].rate;
        let there = first.time_for(Bytes(bytes[row])).0 as f64 / 1e3;
        let least = there.max(least_latency(spec, flow)) + least_latency(spec, flow);
        assert!(arrived[row] < completed[row], "seed {seed}: {row}");
        assert!(completed[row] - requested[row] + ROUNDING > least, "seed {seed}: {row}");
    }
}

fn check_latencies(spec: &Spec, outcome: &Outcome, seed: u64) {
    let table = outcome.table("latencies");
    let rows = table.u64s("workload").iter().zip(table.u64s("up_to_ns"));
    let sums = table.u64s("packets").iter().zip(table.f64s("total_ns"));
    for ((&workload, &up_to), (&packets, total)) in rows.zip(sums) {
        let of_this = spec.flows.iter().filter(|flow| u64::from(flow.workload) == workload);
        let least = of_this.map(|flow| least_latency(spec, flow)).fold(f64::MAX, f64::min);
        let mean = total / packets as f64;
        assert!(
            least < mean + ROUNDING && mean < up_to as f64 + ROUNDING,
            "seed {seed}: {least} {mean} {up_to}"
        );
    }
}

/// A flow that has not ended although nothing that it sent was lost and nothing stops it for ever.
fn waits_for_ever<'a>(spec: &'a Spec, outcome: &Outcome) -> Option<&'a FlowSpec> {
    let lost = outcome.counter("dropped_packets") + outcome.counter("lost_on_links");
    // Heads at the inputs of crossbars can wait for each other.
    let stuck = outcome.table("deadlocks").rows();
    // Hosts keep what they are to send until their link works again.
    let cut = spec.failures.iter().any(|failure| failure.until == Instant::NEVER);
    let flows = outcome.table("flows");
    let rows = flows.u64s("flow").iter().zip(flows.f64s("fct_ns"));
    let ends = |flow: &&FlowSpec| lost == 0 && stuck == 0 && !cut && !flow.is_persistent();
    let unfinished = rows.filter(|(_, fct)| fct.is_nan());
    unfinished.map(|(&number, _)| &spec.flows[number as usize]).find(ends)
}

#[test]
fn books_balance_and_what_is_not_lost_arrives() {
    let mut lossless = 0;
    for seed in seeds() {
        let spec = scenario(seed);
        let mut outcome = on(&spec, 1);
        if spec.switch.queue.size < NO_LIMIT {
            outcome.violations.retain(|what| !what.contains("lossless classes"));
        }
        assert_eq!(outcome.violations, Vec::<String>::new(), "seed {seed}");
        let flows = outcome.table("flows");
        let dropped = outcome.counter("dropped_packets") + outcome.counter("lost_on_links");
        lossless += u32::from(dropped == 0);
        if let Some(flow) = waits_for_ever(&spec, &outcome) {
            // Where one frame that waits is congestion, and the least rate a thousandth, that may be
            // how long it takes.
            let longer = Spec { end: Duration::from_ms(2_000), ..spec.clone() };
            let waits = waits_for_ever(&spec, &on(&longer, 1));
            assert_eq!(waits, None, "seed {seed}: like {flow:?}");
        }
        for slowdown in flows.f64s("slowdown") {
            assert!(slowdown.is_nan() || *slowdown >= 1.0 - 1e-9, "seed {seed}: {slowdown}");
        }
        let sum = |table, column| outcome.table(table).u64s(column).iter().sum::<u64>();
        assert!(sum("flows", "lost_packets") <= sum("drops", "packets"), "seed {seed}");
        check_entries(&spec, &outcome, seed);
        check_latencies(&spec, &outcome, seed);
    }
    let tried = seeds().end - seeds().start;
    assert!(3 * u64::from(lossless) >= tried, "only {lossless} of {tried} lost nothing");
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    for seed in seeds().step_by(5) {
        let spec = Spec { end: Duration::from_ms(1), ..scenario(seed) };
        // A record changes nothing.
        let recorded = Spec { record: Some(20), ..spec.clone() };
        let one = on(&spec, 1);
        let [two, three] = [2, 3].map(|threads| on(&recorded, threads));
        assert_eq!([two.fingerprint, three.fingerprint], [one.fingerprint; 2], "seed {seed}");
        let tables = &two.tables[..one.tables.len()];
        assert_eq!(format!("{:?}", one.tables), format!("{tables:?}"), "seed {seed}");
        assert_eq!(format!("{:?}", two.tables), format!("{:?}", three.tables), "seed {seed}");
    }
}

#[test]
fn ports_of_one_host_are_to_each_other_what_hosts_are() {
    for seed in seeds().step_by(3) {
        let mut spec = Spec { end: Duration::from_ms(1), ..scenario(seed) };
        let hosts = spec.graph.hosts().count() as u16;
        let mut joined = spec.graph.clone();
        joined.join(NodeId(0), hosts / 2);
        joined.join(NodeId((hosts / 2).into()), hosts - hosts / 2);
        // Without what is of a host as a whole: flows in sequence, and flows that wait for what other ports send.
        let mut flows: Vec<FlowSpec> = spec.flows.to_vec();
        flows.iter_mut().for_each(|flow| flow.in_turn = false);
        let mut triggers: Vec<Trigger> = spec.triggers.to_vec();
        triggers.retain(|trigger| {
            let [after, begins] = [trigger.after, trigger.begins].map(|flow| &flows[flow.index()]);
            after.src == begins.src || joined.host_of(after.src) != joined.host_of(begins.src)
        });
        (spec.flows, spec.triggers) = (flows.into(), triggers.into());
        let apart = on(&spec, 1);
        let together = Spec { graph: joined, ..spec };
        let [one, two] = [1, 2].map(|threads| on(&together, threads));
        assert_eq!(one.fingerprint, two.fingerprint, "seed {seed}");
        assert_eq!(one.violations, apart.violations, "seed {seed}");
        // The same in all tables but that of ports, which only one of them has.
        for table in &apart.tables {
            let other = one.table(&table.name);
            assert_eq!(format!("{table:?}"), format!("{other:?}"), "seed {seed}");
        }
    }
}
