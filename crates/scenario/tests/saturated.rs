//! Saturated hosts, and what a network without contention delivers of them.

use std::collections::BTreeMap;

use floodway_model::{FlowSpec, Instant};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Stop};

const BASE: &str = r#"
name = "saturated"
arrivals = "5500us"
warmup = "500us"
limit = "10ms"

[topology.star]
hosts = 16
rate = "10Gbps"

[host]
transport = "ethernet"

[[workload]]
[workload.saturated]
sizes = "exponential(8000B, 46B, 64KB)"
"#;

fn scenario(set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(BASE, "saturated.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn flows(set: &[&str], replication: u32) -> Vec<FlowSpec> {
    let scenario = scenario(set);
    scenario.build(&scenario.variants()[0], replication).flows.to_vec()
}

fn run(set: &[&str]) -> Outcome {
    let scenario = scenario(set);
    let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// Bits per second above layer 2, of the whole network during the measurement.
fn throughput(outcome: &Outcome) -> f64 {
    outcome.counter("data_bytes_delivered") as f64 * 8e9 / outcome.counter("measured_ns") as f64
}

const NEXT: &str = "workload.0.saturated.towards=next";

/// The part of a link that is payload when messages are exponential with a mean of 8000 bytes
/// between 46 and 64,000, in whole bytes, cut into pieces of 1500, each with 18 bytes of Ethernet
/// and 20 of preamble and gap, and padded to 46.
fn efficiency() -> f64 {
    let (mean, least, most): (f64, f64, f64) = (8_000.0, 46.0, 64_000.0);
    let all = 1.0 - ((least - most) / mean).exp();
    // The probability of more than a number of whole bytes.
    let above = |bytes: u32| {
        let edge = (f64::from(bytes) + 0.5).clamp(least, most);
        1.0 - (1.0 - ((least - edge) / mean).exp()) / all
    };
    let payload = least + mean - (most - least) * (1.0 - all) / all;
    let pieces: f64 = (0..43).map(|full| if full == 0 { 1.0 } else { above(1_500 * full) }).sum();
    // A last piece of 1 to 45 bytes after full ones.
    let short =
        |full: u32, bytes: u32| above(1_500 * full + bytes - 1) - above(1_500 * full + bytes);
    let of_length = |bytes: u32| (1..43).map(move |full| short(full, bytes)).sum::<f64>();
    let padding: f64 = (1..46).map(|bytes| f64::from(46 - bytes) * of_length(bytes)).sum();
    payload / (payload + 38.0 * pieces + padding)
}

#[test]
fn a_permutation_reaches_the_frame_arithmetic_and_the_deck() {
    for (hosts, of_the_deck) in [(16, 155.64e9), (12, 116.73e9)] {
        let exact = f64::from(hosts) * 10e9 * efficiency();
        assert!((exact / of_the_deck - 1.0).abs() < 1e-3, "{exact}");
        for memory in ["wire_overhead=20B", "host.buffer=16KB"] {
            let throughput =
                throughput(&run(&[NEXT, memory, &format!("topology.star.hosts={hosts}")]));
            assert!((throughput / exact - 1.0).abs() < 1e-3, "{throughput} {exact}");
            assert!((throughput / of_the_deck - 1.0).abs() < 1e-3, "{throughput}");
        }
    }
}

#[test]
fn it_never_runs_dry_before_the_arrivals_end() {
    // The largest part of payload that there can be, and large memories.
    let frames = ["host.transport={ethernet={payload=\"9KB\"}}", "wire_overhead=0B"];
    for sizes in ["9KB", "exponential(8000B, 46B, 64KB)", "100B", "1MB"] {
        for memory in ["seed=2", "host.buffer=1MB"] {
            let sizes = format!("workload.0.saturated.sizes={sizes}");
            let set = [
                frames[0],
                frames[1],
                NEXT,
                &sizes,
                memory,
                "arrivals=1ms",
                "topology.star.hosts=3",
            ];
            let made = flows(&set, 0);
            let outcome = run(&set);
            let begun = outcome.table("flows");
            for host in 0..3 {
                let all = made.iter().filter(|flow| flow.src.0 == host).count();
                let sent = begun.u64s("src").iter().filter(|src| **src == u64::from(host)).count();
                assert!(sent < all, "{sizes} {memory}: {sent} of {all}");
            }
            assert_eq!(outcome.counter("flows_not_begun"), (made.len() - begun.rows()) as u64);
            // What has begun ends, and then so does the run.
            assert_eq!((outcome.counter("flows_unfinished"), outcome.stop), (0, Stop::FlowsDone));
            assert!(begun.f64s("start_ns").iter().all(|start| *start < 1e6));
        }
    }
}

#[test]
fn everybody_sends_to_all_others_alike() {
    let set = ["topology.star.hosts=5", "arrivals=50ms", "limit=60ms"];
    let flows = flows(&set, 0);
    let mut count: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for flow in &flows {
        *count.entry((flow.src.0, flow.dst.0)).or_default() += 1.0;
        assert_eq!((flow.start, flow.stop), (Instant::ZERO, Instant(50_000_000_000)));
        assert!(flow.in_turn && (46..=64_000).contains(&flow.bytes));
    }
    assert_eq!(count.len(), 20);
    let mean = flows.len() as f64 / 20.0;
    // Binomial: five standard deviations, rounded up to those of a Poisson number.
    assert!(count.values().all(|n| (n - mean).abs() < 5.0 * mean.sqrt()), "{count:?}");
    // As many as expected: 62.5 MB of 46 + 8000 - 63954 / (e^7.994 - 1) = 8024 bytes on average for
    // each host, and three; the number varies by about its root.
    let expected = scenario(&set).derived().variants[0].expected_flows;
    assert!((flows.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{expected}");
    assert!((expected / 5.0 * 8_024.0 / 62.5e6 - 1.0).abs() < 1e-3, "{expected}");
    assert_eq!(scenario(&set).derived().variants[0].host_load, 0.0);
}

#[test]
fn the_next_is_the_one_after_in_the_list_and_sizes_keep_their_order() {
    let pairs = |set: &[&str]| {
        let flows = flows(set, 0);
        let pairs: BTreeMap<u32, Vec<u32>> = flows.iter().fold(BTreeMap::new(), |mut all, flow| {
            let of: &mut Vec<u32> = all.entry(flow.src.0).or_default();
            if of.last() != Some(&flow.dst.0) {
                of.push(flow.dst.0);
            }
            all
        });
        pairs.into_iter().map(|(src, dst)| (src, dst[0], dst.len())).collect::<Vec<_>>()
    };
    let four = ["topology.star.hosts=4", NEXT];
    assert_eq!(pairs(&four), [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)]);
    let named = ["workload.0.saturated.from=3, 1", "workload.0.saturated.to=0, 2"];
    assert_eq!(pairs(&[&four[..], &named[..]].concat()), [(1, 0, 1), (3, 2, 1)]);
    // What a host sends does not depend on how many there are, but the more the longer it sends.
    let sizes = |set: &[&str]| -> Vec<u64> {
        let flows = flows(set, 0);
        flows.iter().filter(|flow| flow.src.0 == 1).map(|flow| flow.bytes).collect()
    };
    let (short, long) = (sizes(&four), sizes(&[NEXT, "arrivals=8ms"]));
    assert!(long.len() > short.len() + 100 && long.starts_with(&short));
    assert_ne!(flows(&four, 0), flows(&four, 1));
}

#[test]
fn two_hosts_that_send_to_one_share_its_link() {
    // No flow loses anything with queues that hold all of it, and half of the time is over when the
    // arrivals are.
    let set = [
        "workload.0.saturated.from=1-2",
        "workload.0.saturated.to=0",
        "workload.0.saturated.sizes=1500B",
        "switch.queue.size=1GB",
        "limit=30ms",
        "latencies=true",
    ];
    let outcome = run(&set);
    let exact = 10e9 * 1_500.0 / 1_538.0;
    assert!((throughput(&outcome) / exact - 1.0).abs() < 1e-3);
    // The queue grows as fast as it is emptied: a packet waits for as long as the run has lasted,
    // halved at its arrival in the queue. Those that arrive between 0.5 and 5.5 ms have waited for
    // 1.5 ms on average.
    let latencies = outcome.table("latencies");
    let packets: u64 = latencies.u64s("packets").iter().sum();
    let mean = latencies.f64s("total_ns").iter().sum::<f64>() / packets as f64;
    assert!((mean / 1.5e6 - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_memory_without_bound_is_refused() {
    let set = ["host.buffer=18446744073709551615B"].map(str::to_owned).to_vec();
    let overrides = Overrides { quick: false, set };
    let error = Scenario::parse(BASE, "saturated.toml", &overrides).unwrap_err();
    assert!(error.plain().starts_with("error: `host.buffer` is "), "{}", error.plain());
}
