//! Permutations, collectives and closed loops on an idle star, against arithmetic.

use floodway_model::{FlowSpec, NodeId};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Spec, Stop};

/// A star at 100 Gb/s and 200 ns, with Ethernet frames, which are not acknowledged.
fn scenario(hosts: u32, workload: &str, set: &[&str]) -> Scenario {
    let text = format!(
        "name = \"pattern\"\narrivals = \"1ms\"\nlimit = \"10ms\"\n[topology.star]\nhosts = {hosts}\n\
         [switch.queue]\nsize = \"100MB\"\n[host]\ntransport = \"ethernet\"\n[[workload]]\n{workload}"
    );
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(&text, "s.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

pub(crate) fn build(hosts: u32, workload: &str, set: &[&str], replication: u32) -> Spec {
    let scenario = scenario(hosts, workload, set);
    scenario.build(&scenario.variants()[0], replication)
}

pub(crate) fn run(hosts: u32, workload: &str, set: &[&str]) -> Outcome {
    let outcome = Simulation::new(build(hosts, workload, set, 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// A frame with this payload at 100 Gb/s, preamble and gap included, in picoseconds.
pub(crate) fn wire(payload: u64) -> u64 {
    ((payload + 18).max(64) + 20) * 80
}

/// From one host of the star to another, in one frame.
pub(crate) fn way(payload: u64) -> u64 {
    2 * wire(payload) + 400_000
}

/// In picoseconds.
pub(crate) fn ps(outcome: &Outcome, table: &str, column: &str) -> Vec<u64> {
    let values = outcome.table(table).f64s(column);
    values.iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// When the operations were complete, in picoseconds.
pub(crate) fn finishes(outcome: &Outcome) -> Vec<u64> {
    assert_eq!(outcome.stop, Stop::FlowsDone);
    ps(outcome, "operations", "finish_ns")
}

const COLLECTIVE: &str = "[workload.collective]\noperation = \"all_reduce\"\nbytes = \"1KB\"\nchannels = 2\nrounds = 2\n";

const RING: &str = "[workload.all_reduce]\nranks = \"all\"\n";

#[test]
fn a_ring_takes_twice_the_others_times_a_chunk() {
    for ranks in [2, 3, 8] {
        // A chunk of one frame, and one of four.
        for frames in [1, 4] {
            let bytes = format!("workload.0.all_reduce.bytes={}B", ranks * frames * 1_500);
            let outcome = run(ranks as u32, &format!("{RING}bytes = \"1KB\""), &[&bytes]);
            let step = way(1_500) + (frames - 1) * wire(1_500);
            assert_eq!(finishes(&outcome), [2 * (ranks - 1) * step]);
            assert_eq!(outcome.table("flows").rows() as u64, 2 * (ranks - 1) * ranks);
            assert_eq!(outcome.counter("flows_not_begun"), 0);
        }
    }
}

#[test]
fn rounds_follow_each_other_after_the_time_to_compute() {
    let text = format!("{RING}bytes = \"4000B\"\nrounds = 3\ncompute = \"7us\"\nstart = \"2us\"");
    let outcome = run(4, &text, &[]);
    let round = 6 * way(1_000);
    let begins = |n: u64| 2_000_000 + n * (round + 7_000_000);
    assert_eq!(ps(&outcome, "operations", "start_ns"), [0, 1, 2].map(begins));
    assert_eq!(finishes(&outcome), [0, 1, 2].map(|n| begins(n) + round));
    assert_eq!(outcome.table("operations").u64s("operation"), [0, 1, 2]);
    // A tree of two: up and down again.
    let tree = ["workload.0.all_reduce.algorithm=tree", "workload.0.all_reduce.bytes=1000B"];
    let outcome = run(2, &text, &tree);
    let begins = |n: u64| 2_000_000 + n * (2 * way(1_000) + 7_000_000);
    assert_eq!(ps(&outcome, "operations", "start_ns"), [0, 1, 2].map(begins));
    assert_eq!(finishes(&outcome), [0, 1, 2].map(|n| begins(n) + 2 * way(1_000)));
}

#[test]
fn over_rocev2_a_step_waits_for_the_acknowledgement_of_the_one_before() {
    let set = ["host.transport=rocev2", "host.congestion=line_rate"];
    let outcome = run(4, &format!("{RING}bytes = \"4000B\""), &set);
    // 62 bytes of headers; an acknowledgement of 66 bytes leaves before what begins with it.
    let (frame, ack) = ((1_000 + 62 + 20) * 80, (66 + 20) * 80);
    assert_eq!(finishes(&outcome), [6 * (2 * frame + 400_000) + 5 * ack]);
}

#[test]
fn every_rank_sends_and_receives_every_chunk_but_its_own_twice() {
    // 103 bytes among 5 ranks: chunks of 21, 21, 21, 20 and 20.
    let spec = build(5, &format!("{RING}bytes = \"103B\""), &[], 0);
    let all: u64 = spec.flows.iter().map(|flow| flow.bytes).sum();
    assert_eq!(all, 2 * 4 * 103);
    for rank in 0..5 {
        let of_rank = || spec.flows.iter().filter(|flow| flow.src == NodeId(rank));
        assert_eq!(of_rank().count(), 8);
        assert!(of_rank().all(|flow| flow.dst == NodeId((rank + 1) % 5)));
        let least = 2 * 103 - 2 * 21;
        assert!((least..=least + 2).contains(&of_rank().map(|flow| flow.bytes).sum::<u64>()));
    }
}

#[test]
fn ranks_are_in_the_order_in_which_they_are_written() {
    let text = "[workload.all_reduce]\nranks = \"3, 0, 2\"\nbytes = \"30B\"";
    let spec = build(4, text, &[], 0);
    let mut pairs: Vec<_> = spec.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect();
    pairs.dedup();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs, [(0, 2), (2, 3), (3, 0)]);
}

#[test]
fn a_tree_takes_twice_its_depth() {
    let tree =
        |bytes: u64| format!("[workload.all_reduce]\nalgorithm = \"tree\"\nbytes = \"{bytes}B\"");
    // A chain below one side of the root: up 3-1-0 and down 0-1-3, and no other flow in the way.
    assert_eq!(finishes(&run(4, &tree(1_500), &[])), [4 * way(1_500)]);
    // Complete trees: both children arrive through one port, and leave through one.
    for (ranks, depth) in [(3, 1), (7, 2), (15, 3)] {
        let outcome = run(ranks, &tree(1_500), &[]);
        assert_eq!(finishes(&outcome), [2 * depth * (way(1_500) + wire(1_500))]);
        assert_eq!(outcome.table("flows").rows() as u32, 2 * (ranks - 1));
    }
}

#[test]
fn chunks_of_a_tree_follow_each_other() {
    let text = "[workload.all_reduce]\nalgorithm = \"tree\"\nchunks = 5\nbytes = \"7500B\"";
    assert_eq!(finishes(&run(2, text, &[])), [2 * way(1_500) + 4 * wire(1_500)]);
}

#[test]
fn all_to_all_in_step_takes_as_long_as_a_link() {
    let text = "[workload.all_to_all]\nbytes = \"1500B\"";
    for at_once in ["1", "2", "7"] {
        let set = format!("workload.0.all_to_all.at_once={at_once}");
        for set in [&[&*set][..], &[]] {
            let outcome = run(8, text, set);
            assert_eq!(finishes(&outcome), [way(1_500) + 6 * wire(1_500)]);
        }
    }
    // At random some wait for each other; every pair is there once.
    let outcome = run(8, text, &["workload.0.all_to_all.order=random"]);
    assert!(finishes(&outcome)[0] > way(1_500) + 6 * wire(1_500));
    let flows = outcome.table("flows");
    let mut pairs: Vec<_> = flows.u64s("src").iter().zip(flows.u64s("dst")).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 56);
}

#[test]
fn one_at_once_waits_for_what_leaves() {
    let text = "[workload.all_to_all]\nbytes = \"3000B\"\nat_once = 1";
    let outcome = run(4, text, &[]);
    // A message begins when the last frame of the one before goes to the wire.
    let frame = wire(1_500);
    let starts = ps(&outcome, "flows", "start_ns");
    assert_eq!(starts[..3], [0, frame, 3 * frame]);
    let flows = outcome.table("flows");
    assert_eq!(flows.u64s("dst")[3..6], [2, 3, 0]);
}

fn receivers(spec: &Spec) -> Vec<(u32, u32)> {
    spec.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
}

#[test]
fn a_permutation_has_every_host_once_on_each_side() {
    let text = "[workload.permutation]\nbytes = \"1MB\"";
    let mut seen = Vec::new();
    for replication in 0..20 {
        let pairs = receivers(&build(7, text, &[], replication));
        assert!(pairs.iter().all(|(src, dst)| src != dst));
        assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        let mut to: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        to.sort_unstable();
        assert_eq!(to, [0, 1, 2, 3, 4, 5, 6]);
        seen.push(pairs);
    }
    seen.sort_unstable();
    seen.dedup();
    // Of the 1854 in which no host sends to itself.
    assert!(seen.len() >= 18, "{}", seen.len());
    let shifted = receivers(&build(4, text, &["workload.0.permutation.shift=3"], 0));
    assert_eq!(shifted, [(0, 3), (1, 0), (2, 1), (3, 2)]);
}

#[test]
fn a_permutation_reaches_the_rate_of_the_link() {
    for shift in ["", "shift = 3"] {
        let text = format!("[workload.permutation]\nbytes = \"1500KB\"\n{shift}");
        let outcome = run(8, &text, &[]);
        let completes = 999 * wire(1_500) + way(1_500);
        assert_eq!(ps(&outcome, "flows", "fct_ns"), [completes; 8]);
    }
    // Without a size: all frames whose last bit has come before the limit.
    let outcome = run(8, "[workload.permutation]", &["limit=2ms"]);
    let frames = (2_000_000_000 - way(1_500)) / wire(1_500) + 1;
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [frames * 1_500; 8]);
}

const CALLS: &str = "[workload.rpc]\nclients = \"0\"\nservers = \"1\"\nrequest = \"200B\"\n\
    response = \"1200B\"\n";

#[test]
fn a_closed_loop_makes_a_call_every_round_trip() {
    let outcome = run(2, &format!("{CALLS}service = \"3us\""), &[]);
    let round = way(200) + 3_000_000 + way(1_200);
    let calls = 1_000_000_000u64.div_ceil(round);
    assert_eq!(
        ps(&outcome, "operations", "start_ns"),
        (0..calls).map(|n| n * round).collect::<Vec<_>>()
    );
    assert_eq!(finishes(&outcome), (1..=calls).map(|n| n * round).collect::<Vec<_>>());
    // There was always another.
    assert!(outcome.counter("flows_not_begun") > 0);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    let bytes = outcome.table("operations").u64s("bytes");
    assert!(bytes.iter().all(|&bytes| bytes == 1_400));
}

#[test]
fn so_many_calls_are_under_way() {
    // Requests and responses of one length keep the distance that the first requests had.
    let set = ["workload.0.rpc.response=200B", "workload.0.rpc.outstanding=5"];
    let outcome = run(2, CALLS, &set);
    let round = 2 * way(200);
    let calls = |slot: u64| {
        // The first request waits for those before it.
        let first = slot * wire(200) + round;
        (0..).map(move |n| first + n * round).take_while(move |at| at - round < 1_000_000_000)
    };
    // A slot whose last response came before the arrivals ended began another.
    let mut expected: Vec<u64> = (0..5).flat_map(calls).collect();
    expected.sort_unstable();
    let mut measured = finishes(&outcome);
    measured.sort_unstable();
    assert_eq!(measured, expected);
}

#[test]
fn clients_think_and_call_anyone_but_themselves() {
    let text = "[workload.rpc]\nrequest = \"exponential(500B, 64B, 4KB)\"\nresponse = \"2KB\"\n\
        outstanding = 2\nthink = \"20us\"\njitter = \"5us\"";
    let outcome = run(6, text, &[]);
    let operations = outcome.table("operations");
    let (starts, ends) =
        (ps(&outcome, "operations", "start_ns"), ps(&outcome, "operations", "finish_ns"));
    for client in 0..6u64 {
        let of: Vec<usize> =
            (0..operations.rows()).filter(|&row| operations.u64s("node")[row] == client).collect();
        for &at in &of {
            let under_way = of.iter().filter(|&&o| starts[o] <= starts[at] && starts[at] < ends[o]);
            assert!((1..=2).contains(&under_way.count()));
        }
        assert!(of.iter().filter(|&&at| starts[at] < 5_000_000).count() <= 4);
    }
    // 12 loops of about 20 us and a round trip of 1.5 us at most: within five standard deviations
    // of a Poisson count.
    let calls = operations.rows() as f64;
    let (least, most): (f64, f64) = (12.0 * 997.5 / 21.5, 12.0 * 1_000.0 / 20.8 + 12.0);
    assert!(calls > least - 5.0 * least.sqrt() && calls < most + 5.0 * most.sqrt(), "{calls}");
    let flows = outcome.table("flows");
    assert!(flows.u64s("src").iter().zip(flows.u64s("dst")).all(|(src, dst)| src != dst));
}

#[test]
fn what_is_expected_is_what_there_is() {
    for (hosts, text, set) in [
        (8, RING, "workload.0.all_reduce.bytes=1KB"),
        (7, RING, "workload.0.all_reduce={bytes=\"1KB\", algorithm=\"tree\", chunks=3, rounds=2}"),
        (5, "[workload.all_to_all]", "workload.0.all_to_all.bytes=1KB"),
        (8, COLLECTIVE, "workload.0.collective.algorithm=halving_doubling"),
        (7, COLLECTIVE, "workload.0.collective={operation=\"broadcast\", bytes=\"1KB\", chunks=3}"),
        (9, "[workload.permutation]", "workload.0.permutation.bytes=1KB"),
        (2, CALLS, "workload.0.rpc.outstanding=3"),
    ] {
        let scenario = scenario(hosts, text, &[set]);
        let variant = &scenario.variants()[0];
        let flows: Vec<FlowSpec> = scenario.build(variant, 0).flows.to_vec();
        let expected = scenario.derived().variants[0].expected_flows;
        assert!((flows.len() as f64 / expected - 1.0).abs() < 2e-3, "{} {expected}", flows.len());
    }
}

#[test]
fn workloads_keep_their_dependencies_beside_others() {
    let text = format!(
        "{RING}bytes = \"4000B\"\n[[workload]]\n{}\n[[workload]]\n[workload.permutation]\n",
        CALLS.replace("\"0\"", "\"2\"").replace("\"1\"", "\"3\""),
    );
    let spec = build(4, &text, &["arrivals=100us", "limit=1ms"], 0);
    for trigger in &spec.triggers {
        let (after, begins) =
            (&spec.flows[trigger.after.index()], &spec.flows[trigger.begins.index()]);
        assert_eq!(after.workload, begins.workload);
        assert!(after.dst == begins.src || after.src == begins.src);
    }
    for operation in &spec.operations {
        let of = |flow: &floodway_model::FlowId| &spec.flows[flow.index()];
        let workload = of(&operation.flows[0]).workload;
        assert!(operation.flows.iter().all(|flow| of(flow).workload == workload));
        if workload == 1 {
            let [request, response] = [0, 1].map(|at| of(&operation.flows[at]));
            assert_eq!((request.src, request.dst), (response.dst, response.src));
            assert_eq!((request.bytes, response.bytes), (200, 1_200));
        }
    }
    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
}

/// Their sum is more than can be counted, and is not needed to refuse both.
#[test]
fn calls_that_take_for_ever_are_refused() {
    let text = "name = \"pattern\"\narrivals = \"1ms\"\nlimit = \"10ms\"\n[topology.star]\nhosts = 4\n\
                [[workload]]\n[workload.rpc]\nrequest = \"1KB\"\nresponse = \"1KB\"\n\
                service = \"18446744s\"\nthink = \"18446744s\"\n";
    let error = Scenario::parse(text, "s.toml", &Overrides::default()).unwrap_err();
    let messages: Vec<_> = error.problems().iter().map(|problem| &*problem.message).collect();
    let told = |field| format!("`workload.0.rpc.{field}` is 18446744 s");
    assert_eq!(messages, [told("service"), told("think")]);
}
