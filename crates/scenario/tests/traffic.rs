//! The flows that scenarios make.

use std::collections::BTreeMap;

use floodway_model::{FlowSpec, Instant, NodeId};
use floodway_scenario::{Overrides, Scenario};

const SAMPLE: &str = r#"
name = "sample"
arrivals = "4ms"
limit = "20ms"
replications = 3

[topology.clos]
leaves = 8

[switch.queue]
count = 2

[[workload]]
[workload.many_to_many]
sizes = "web_search"
max_size = "1MB"
clusters = 3
cluster_size = 5
load = 0.4

[[workload]]
[workload.incast]
sets = 2
senders = 4

[[workload]]
[workload.incast]
senders = 3
bytes = "64KB"
start = "1ms"

[variants.a]
[variants.b.switch.flow_control.pfc]
"#;

fn sample(set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(SAMPLE, "sample.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn flows(scenario: &Scenario, variant: usize, replication: u32) -> Vec<FlowSpec> {
    scenario.build(&scenario.variants()[variant], replication).flows.to_vec()
}

#[test]
fn variants_send_the_same_flows_and_replications_do_not() {
    let scenario = sample(&[]);
    assert_eq!(flows(&scenario, 0, 0), flows(&scenario, 1, 0));
    assert_eq!(flows(&scenario, 0, 1), flows(&scenario, 1, 1));
    assert_ne!(flows(&scenario, 0, 0), flows(&scenario, 0, 1));
    assert_ne!(flows(&scenario, 0, 0), flows(&sample(&["seed=2"]), 0, 0));
    assert_eq!(flows(&scenario, 0, 2), flows(&sample(&[]), 0, 2));
    assert!(scenario.variants()[0].shares_traffic_with(&scenario.variants()[1]));
}

#[test]
fn flows_are_sorted_and_go_between_different_hosts_of_one_cluster() {
    let scenario = sample(&[]);
    let flows = flows(&scenario, 0, 0);
    let order = |flow: &FlowSpec| (flow.start, flow.src, flow.dst);
    assert!(flows.is_sorted_by_key(order));
    let mut of_host: BTreeMap<NodeId, u16> = BTreeMap::new();
    let mut peers: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for flow in &flows {
        assert_ne!(flow.src, flow.dst);
        assert!(flow.bytes >= 1);
        for host in [flow.src, flow.dst] {
            // No host works for two workloads.
            assert_eq!(*of_host.entry(host).or_insert(flow.workload), flow.workload);
        }
        peers.entry(flow.src).or_default().push(flow.dst);
    }
    for (src, mut to) in peers.into_iter().filter(|(src, _)| of_host[src] == 0) {
        to.sort();
        to.dedup();
        assert!(to.len() <= 4, "{src} sends outside of its cluster");
    }
    assert_eq!(of_host.len(), 15 + 2 * 5 + 4);
}

#[test]
fn incasts_are_as_wide_as_said() {
    let scenario = sample(&[]);
    let flows = flows(&scenario, 0, 0);
    let receivers = |workload| {
        let mut count: BTreeMap<NodeId, usize> = BTreeMap::new();
        for flow in flows.iter().filter(|flow| flow.workload == workload) {
            *count.entry(flow.dst).or_default() += 1;
        }
        count.into_values().collect::<Vec<_>>()
    };
    assert_eq!(receivers(1), [4, 4]);
    assert_eq!(receivers(2), [3]);
    for flow in &flows {
        match flow.workload {
            1 => assert!(flow.is_persistent() && flow.start == Instant::ZERO),
            2 => assert!(flow.bytes == 64_000 && flow.start == Instant(1_000_000_000)),
            _ => assert!(flow.bytes <= 1_000_000),
        }
    }
}

#[test]
fn the_offered_load_is_the_one_asked_for() {
    // 128 hosts for 50 ms: about 53,000 flows.
    let set = [
        "topology.clos.leaves=16",
        "arrivals=50ms",
        "limit=100ms",
        "workload.0.many_to_many.clusters=8",
        "workload.0.many_to_many.cluster_size=13",
    ];
    let scenario = sample(&set);
    let flows: Vec<_> =
        flows(&scenario, 0, 0).into_iter().filter(|flow| flow.workload == 0).collect();
    let expected = scenario.variants()[0].derived(1).expected_flows - 3.0;
    let count = flows.len() as f64;
    // Poisson: the standard deviation is the root; four of them.
    assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count} {expected}");
    let bytes: f64 = flows.iter().map(|flow| flow.bytes as f64).sum();
    let load = bytes * 8.0 / (0.05 * 104.0 * 100e9);
    let squares: f64 = flows.iter().map(|flow| (flow.bytes as f64).powi(2)).sum();
    // A compound Poisson sum has the variance of the sum of squares; four deviations.
    let error = 4.0 * squares.sqrt() * 8.0 / (0.05 * 104.0 * 100e9);
    assert!((load - 0.4).abs() < error, "{load} {error}");
    // Gaps of one host are exponential: their variation is their mean.
    let starts: Vec<f64> = flows
        .iter()
        .filter(|flow| flow.src == flows[0].src)
        .map(|flow| flow.start.0 as f64)
        .collect();
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation =
        (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((deviation / mean - 1.0).abs() < 0.25, "{}", deviation / mean);
}

#[test]
fn one_workload_does_not_change_another() {
    let scenario = sample(&[]);
    let wider = sample(&["workload.1.incast.senders=5"]);
    let first = |scenario: &Scenario| {
        let mut flows = flows(scenario, 0, 0);
        flows.retain(|flow| flow.workload == 0);
        flows
    };
    assert_eq!(first(&scenario), first(&wider));
    // A higher load brings the same sizes in the same order, closer together.
    let busier = sample(&["workload.0.many_to_many.load=0.8"]);
    let sizes = |scenario: &Scenario, src| {
        let flows = first(scenario).into_iter().filter(|flow| flow.src == src);
        flows.map(|flow| (flow.dst, flow.bytes)).collect::<Vec<_>>()
    };
    let src = first(&scenario)[0].src;
    assert!(sizes(&busier, src).starts_with(&sizes(&scenario, src)));
}

#[test]
fn consecutive_placement_is_in_order() {
    let scenario = sample(&["placement=consecutive"]);
    for flow in flows(&scenario, 0, 0).iter().filter(|flow| flow.workload == 0) {
        assert_eq!(flow.src.0 / 5, flow.dst.0 / 5);
        assert!(flow.src.0 < 15);
    }
    let random = sample(&[]);
    assert!(flows(&random, 0, 0).iter().any(|flow| flow.src.0 / 5 != flow.dst.0 / 5));
}

#[test]
fn a_spec_carries_the_settings() {
    let scenario = sample(&["warmup=1ms", "sample_interval=20us", "wire_overhead=24B"]);
    let spec = scenario.build(&scenario.variants()[1], 1);
    assert_eq!(spec.warmup.to_string(), "1ms");
    assert_eq!(spec.sample_interval.to_string(), "20us");
    assert_eq!(spec.flow_samples, None);
    let sampled = sample(&["flow_samples=50us"]);
    let sampled = sampled.build(&sampled.variants()[1], 1);
    assert_eq!(sampled.flow_samples.unwrap().to_string(), "50us");
    assert_eq!((spec.wire_overhead, spec.end.to_string()), (24, "20ms".to_owned()));
    assert!(spec.switch.flow_control.pfc.is_some());
    assert_eq!(spec.seed, scenario.replication_seed(1));
    assert_ne!(spec.seed, scenario.replication_seed(0));
}

#[test]
fn a_distribution_can_come_from_a_file_or_be_one_size() {
    let folder = std::env::temp_dir().join(format!("floodway-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.csv"), "size_bytes,cdf\n500,0.25\n2000,1\n").unwrap();
    let file = folder.join("sample.toml");
    let load = |sizes: &str, sampling: &str| {
        let set = vec![
            format!("workload.0.many_to_many.sizes={sizes}"),
            format!("workload.0.many_to_many.sampling={sampling}"),
        ];
        let scenario =
            Scenario::parse(SAMPLE, file.to_str().unwrap(), &Overrides { quick: false, set })
                .unwrap_or_else(|error| panic!("{}", error.plain()));
        let mut flows = flows(&scenario, 0, 0);
        flows.retain(|flow| flow.workload == 0);
        flows.into_iter().map(|flow| flow.bytes).collect::<Vec<_>>()
    };
    let linear = load("mine.csv", "linear");
    assert!(linear.iter().any(|&bytes| bytes > 500 && bytes < 2000));
    assert!(load("mine.csv", "step").iter().all(|&bytes| bytes == 500 || bytes == 2000));
    assert!(load("64KB", "step").iter().all(|&bytes| bytes == 64_000));
    std::fs::remove_dir_all(folder).unwrap();
}
