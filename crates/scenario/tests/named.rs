//! Workloads that name their hosts: flows without a size, and Poisson arrivals.

use std::collections::BTreeMap;

use floodway_model::{FlowSpec, Instant};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::Simulation;

const BASE: &str = r#"
name = "named"
arrivals = "100s"
limit = "200s"

[topology.dumbbell]
left = 4
right = 3

[switch.aqm.ramp]

[host.congestion.dcqcn]
min_rate = "1Mbps"

[host.transport.rocev2.recovery.go_back_n]
retransmit_timeout = "1s"
"#;

fn scenario(workloads: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let text = format!("{BASE}{workloads}");
    Scenario::parse(&text, "named.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn flows(workloads: &str, set: &[&str], replication: u32) -> Vec<FlowSpec> {
    let scenario = scenario(workloads, set);
    scenario.build(&scenario.variants()[0], replication).flows.to_vec()
}

fn pairs(flows: &[FlowSpec]) -> Vec<(u32, u32)> {
    flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
}

fn sorted(mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    pairs.sort_unstable();
    pairs
}

const LONG: &str = "[[workload]]\n[workload.long_flows]\ncount = 3\n";

#[test]
fn long_flows_go_from_left_to_right_in_turn() {
    assert_eq!(pairs(&flows(LONG, &[], 0)), [(0, 4), (1, 5), (2, 6)]);
    let more = flows(LONG, &["workload.0.long_flows.count=6"], 0);
    assert_eq!(sorted(pairs(&more)), [(0, 4), (0, 5), (1, 5), (1, 6), (2, 6), (3, 4)]);
    let named = ["workload.0.long_flows.from=6, 2-3", "workload.0.long_flows.to=1"];
    assert_eq!(sorted(pairs(&flows(LONG, &named, 0))), [(2, 1), (3, 1), (6, 1)]);
    for flow in &more {
        assert!(flow.is_persistent() && flow.stop == Instant::NEVER);
        assert_eq!((flow.start, flow.workload), (Instant::ZERO, 0));
    }
}

#[test]
fn long_flows_of_all_pairs_leave_out_those_of_a_host_with_itself() {
    let all = |more: &[&str]| {
        let set = ["workload.0.long_flows.pairs=all", "workload.0.long_flows.count=1"];
        sorted(pairs(&flows(LONG, &[&set, more].concat(), 0)))
    };
    let square: Vec<(u32, u32)> =
        (0..4).flat_map(|src| (4..7).map(move |dst| (src, dst))).collect();
    assert_eq!(all(&[]), square);
    let among = ["workload.0.long_flows.from=1-3", "workload.0.long_flows.to=2-3"];
    assert_eq!(all(&among), [(1, 2), (1, 3), (2, 3), (3, 2)]);
    let twice = [&among[..], &["workload.0.long_flows.count=2"]].concat();
    let doubled: Vec<(u32, u32)> = all(&among).into_iter().flat_map(|pair| [pair, pair]).collect();
    assert_eq!(all(&twice), doubled);
    let scenario = scenario(LONG, &[&["workload.0.long_flows.pairs=all"], &twice[..]].concat());
    assert_eq!(scenario.variants()[0].workloads()[0].persistent_flows(), 8);
}

#[test]
fn long_flows_start_within_the_jitter_and_replications_differ() {
    let set = [
        "workload.0.long_flows.count=40",
        "workload.0.long_flows.start=2s",
        "workload.0.long_flows.jitter=1s",
        "workload.0.long_flows.stop=50s",
    ];
    let first = flows(LONG, &set, 0);
    let (two, three) = (Instant(2_000_000_000_000), Instant(3_000_000_000_000));
    assert!(first.iter().all(|flow| (two..=three).contains(&flow.start)));
    assert!(first.iter().all(|flow| flow.stop == Instant(50_000_000_000_000)));
    assert!(first.is_sorted_by_key(|flow| flow.start));
    assert_eq!(first, flows(LONG, &set, 0));
    assert_ne!(first, flows(LONG, &set, 1));
    // The mean of 40 uniform times: 0.5 s give or take 0.289 / sqrt(40), five times.
    let mean = first.iter().map(|flow| (flow.start.0 - two.0) as f64 * 1e-12).sum::<f64>() / 40.0;
    assert!((mean - 0.5).abs() < 5.0 * 0.289 / 40f64.sqrt(), "{mean}");
    // More flows leave the others as they are.
    let fewer = flows(LONG, &[&["workload.0.long_flows.count=20"], &set[1..]].concat(), 0);
    assert!(fewer.iter().all(|flow| first.contains(flow)));
}

#[test]
fn there_may_be_no_long_flows() {
    let scenario = scenario(LONG, &["workload.0.long_flows.count=0", "limit=101s"]);
    let derived = &scenario.derived().variants[0];
    assert_eq!((derived.persistent_flows, derived.expected_flows), (0, 0.0));
    let spec = scenario.build(&scenario.variants()[0], 0);
    assert!(spec.flows.is_empty());
    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert!(outcome.table("flows").u64s("delivered_bytes").is_empty());
}

const POISSON: &str = "[[workload]]\n[workload.poisson]\nsizes = \"10KB\"\nload = 0.5\n";

#[test]
fn poisson_arrivals_are_as_many_as_the_load_says() {
    // Half of 40 Mb/s in flows of 80,000 bits is 250 a second: 25,000 in 100 s.
    let derived = scenario(POISSON, &[]).derived();
    let numbers = &derived.variants[0];
    assert!((numbers.expected_flows - 25_000.0).abs() < 1e-6);
    assert_eq!(numbers.persistent_flows, 0);
    // The bottleneck carries half of its rate in payload, and headers.
    let load = numbers.fabric_wire_load.unwrap();
    assert!((load.max - 0.5 * 1_106.0 / 1_024.0).abs() < 1e-9, "{load:?}");
    // A third of 20 Mb/s goes to each receiver, at 1 Gb/s.
    assert!((numbers.host_load - 20e6 / 3.0 / 1e9).abs() < 1e-12);

    let flows = flows(POISSON, &[], 0);
    let count = flows.len() as f64;
    // Five standard deviations of a Poisson number are 791.
    assert!((count - 25_000.0).abs() < 5.0 * 25_000f64.sqrt(), "{count}");
    assert!(flows.iter().all(|flow| flow.bytes == 10_000 && flow.stop == Instant::NEVER));
    // Gaps are exponential: mean and deviation are both 4 ms, within five standard errors, that of
    // the deviation being 4 ms times sqrt(2 / n).
    let gaps: Vec<f64> =
        flows.windows(2).map(|two| (two[1].start.0 - two[0].start.0) as f64 * 1e-9).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let error = 5.0 * 4.0 / count.sqrt();
    assert!((mean - 4.0).abs() < error, "{mean}");
    assert!((variance.sqrt() - 4.0).abs() < 2f64.sqrt() * error, "{variance}");
}

#[test]
fn every_pair_is_as_likely_as_every_other() {
    let uniform = |set: &[&str], expected: &[(u32, u32)]| {
        let flows = flows(POISSON, set, 0);
        let mut count: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for pair in pairs(&flows) {
            *count.entry(pair).or_default() += 1.0;
        }
        assert_eq!(count.keys().copied().collect::<Vec<_>>(), expected);
        let mean = flows.len() as f64 / expected.len() as f64;
        // Binomial: five standard deviations, rounded up to those of a Poisson number.
        assert!(count.values().all(|n| (n - mean).abs() < 5.0 * mean.sqrt()), "{count:?}");
    };
    let all: Vec<_> = (0..4).flat_map(|src| (4..7).map(move |dst| (src, dst))).collect();
    uniform(&[], &all);
    // Among themselves, and never to themselves.
    let among = ["workload.0.poisson.from=0-2", "workload.0.poisson.to=2, 0-1"];
    let of = "workload.0.poisson.of=40Mbps";
    let others = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    uniform(&[among[0], among[1], of], &others);
}

#[test]
fn load_and_number_say_the_same() {
    let by_load = flows(POISSON, &[], 0);
    let number = "[[workload]]\n[workload.poisson]\nsizes = \"10KB\"\nflows_per_second = 250\n";
    assert_eq!(by_load, flows(number, &[], 0));
    let set = ["workload.0.poisson.of=20Mbps", "workload.0.poisson.load=1.0"];
    assert_eq!(by_load, flows(POISSON, &set, 0));
    // Within the left side the slowest link is that of a host, 25 times as fast.
    let inside = ["workload.0.poisson.from=0-1", "workload.0.poisson.to=2-3", "arrivals=1s"];
    let expected = scenario(POISSON, &inside).derived().variants[0].expected_flows;
    assert!((expected - 6_250.0).abs() < 1e-6, "{expected}");
}

#[test]
fn more_load_brings_the_same_flows_sooner() {
    let what = |flows: &[FlowSpec]| {
        flows.iter().map(|flow| (flow.src, flow.dst, flow.bytes)).collect::<Vec<_>>()
    };
    let sizes = "workload.0.poisson.sizes=web_search";
    let slow = flows(POISSON, &[sizes, "workload.0.poisson.load=0.25"], 0);
    let fast = flows(POISSON, &[sizes], 0);
    assert!(what(&fast).starts_with(&what(&slow)));
    assert!(slow.len() > 20 && fast.len() > slow.len());
}

#[test]
fn named_hosts_leave_the_placement_of_others_alone() {
    let clustered = "[[workload]]\n[workload.incast]\nsenders = 6\nbytes = \"1KB\"\n";
    let of = |workloads: &str, number| {
        let mut flows = flows(workloads, &[], 0);
        flows.retain(|flow| flow.workload == number);
        flows.into_iter().map(|flow| FlowSpec { workload: 0, ..flow }).collect::<Vec<_>>()
    };
    // All hosts are taken, and still there for those who name them.
    let alone = of(clustered, 0);
    let all = format!("{clustered}{LONG}{POISSON}");
    assert_eq!(alone, of(&all, 0));
    assert_eq!(pairs(&of(&all, 1)), [(0, 4), (1, 5), (2, 6)]);
}

#[test]
fn a_message_alone_is_as_fast_as_the_bottleneck() {
    let list = "[[workload]]\n[[workload.list.flow]]\nsrc = 0\ndst = 4\nbytes = \"10240B\"\n";
    let scenario = scenario(list, &["host.congestion=line_rate"]);
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    // Ten packets of 1106 bytes on the wire queue at the bottleneck, 200 ns a byte; the first comes
    // there and the last goes on from there at 8 ns a byte, and light takes 1 + 2 + 1 ms.
    let expected = 10.0 * 1_106.0 * 200.0 + 2.0 * 1_106.0 * 8.0 + 4e6;
    assert_eq!(outcome.table("flows").f64s("fct_ns"), [expected]);
    assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
}
