//! The network and the traffic of the Source Flow Control deck: a fat-tree of 320 hosts on which
//! background traffic and a series of incasts run side by side, and flows that start and stop one
//! by one.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::{Duration, FlowSpec, Instant, NodeId};
use floodway_scenario::{Overrides, Scenario};

const DECK: &str = r#"
name = "sfc"
arrivals = "0.096ms"
limit = "5ms"
replications = 2
share_hosts = true

[topology.fat_tree]
pods = 5
edges_per_pod = 4
aggregations_per_pod = 4
cores = 16
hosts_per_edge = 16
host_rate = "100Gbps"
fabric_rate = "400Gbps"

[switch]
latency = "500ns"

[switch.aqm.ramp]

[[workload]]
[workload.many_to_many]
sizes = "google_all_rpc"
clusters = 1
cluster_size = 320
load = 0.5

[[workload]]
[workload.incast_series]
hosts = 320
senders = 120
bytes = "256KB"
load = 0.08

[variants.a]
[variants.b.switch.flow_control.pfc]
"#;

fn parse(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(text, "sfc.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn deck(set: &[&str]) -> Scenario {
    parse(DECK, set)
}

fn flows(scenario: &Scenario, variant: usize, replication: u32) -> Vec<FlowSpec> {
    scenario.build(&scenario.variants()[variant], replication).flows.to_vec()
}

fn of(workload: u16, flows: Vec<FlowSpec>) -> Vec<FlowSpec> {
    flows.into_iter().filter(|flow| flow.workload == workload).collect()
}

/// An incast: when, to whom, from whom.
type Incast = (Instant, NodeId, Vec<NodeId>);

/// The incasts of a series in order.
fn incasts(flows: &[FlowSpec]) -> Vec<Incast> {
    let mut by_start: BTreeMap<(Instant, NodeId), Vec<NodeId>> = BTreeMap::new();
    for flow in flows {
        by_start.entry((flow.start, flow.dst)).or_default().push(flow.src);
    }
    by_start.into_iter().map(|((start, dst), from)| (start, dst, from)).collect()
}

#[test]
fn the_decks_network_by_hand() {
    let derived = deck(&[]).derived();
    let first = &derived.variants[0];
    assert_eq!((first.hosts, first.switches, first.links), (320, 56, 480));
    assert_eq!(first.oversubscription, Some(1.0));
    assert_eq!(first.aggregation_oversubscription, Some(1.0));
    // Two links at 80 ps a byte and four at 20 ps, 1106 bytes one way and 86 the other, twelve
    // times 500 ns of propagation and ten times 500 ns in switches: the deck says 12 us.
    let serialization = (2 * 80 + 4 * 20) * (1_106 + 86);
    assert_eq!(first.unloaded_rtt, Duration(serialization + 12 * 500_000 + 10 * 500_000));
    // Background and incasts together, sent and received.
    assert!((first.host_load - 0.58).abs() < 1e-9, "{}", first.host_load);
    // 304 of 319 receivers are at another edge switch: what 16 hosts send to them goes up over 4
    // links of 400 Gb/s, and comes up and down again over the cores if it leaves the pod, as 256
    // of 319 parts do.
    let wire = 1106.0 / 1024.0;
    let (edge, pod) = (0.58 * wire * 304.0 / 319.0, 0.58 * wire * 256.0 / 319.0);
    let fabric = first.fabric_wire_load.unwrap();
    assert!((fabric.max - edge).abs() < 1e-9, "{} {edge}", fabric.max);
    assert!((fabric.mean - (edge + pod) / 2.0).abs() < 1e-9, "{}", fabric.mean);
    let text = derived.to_string();
    assert!(text.contains("\nof the aggregations"), "{text}");
}

#[test]
fn the_decks_incasts_by_hand() {
    // 120 x 256 KB at 8 % of 32 Tb/s: one incast per 96 us, so ten in 0.96 ms.
    let series_only = DECK.split("[[workload]]").enumerate().filter(|(part, _)| *part != 1);
    let text = series_only.map(|(_, part)| part).collect::<Vec<_>>().join("[[workload]]");
    let derived = &parse(&text, &["arrivals=0.96ms"]).derived().variants[0];
    assert!((derived.expected_flows - 1_200.0).abs() < 1e-6, "{}", derived.expected_flows);
    assert!((derived.host_load - 0.08).abs() < 1e-9);
    assert_eq!(derived.persistent_flows, 0);
}

#[test]
fn background_and_incasts_run_on_the_same_hosts() {
    let all = flows(&deck(&[]), 0, 0);
    let senders = |workload| {
        let from: BTreeSet<_> = of(workload, all.clone()).iter().map(|flow| flow.src).collect();
        from
    };
    assert_eq!(senders(0).len(), 320);
    assert!(senders(1).is_subset(&senders(0)));
}

#[test]
fn a_series_has_the_load_and_the_chance_that_were_asked_for() {
    // Background of one flow or so, to see 1000 incasts in 96 ms.
    let scenario = deck(&[
        "arrivals=96ms",
        "limit=200ms",
        "workload.0.many_to_many.sizes=100MB",
        "workload.0.many_to_many.load=0.0001",
    ]);
    let flows = of(1, flows(&scenario, 0, 0));
    let incasts = incasts(&flows);
    // Poisson: the standard deviation is the root of 1000; five of them.
    let count = incasts.len() as f64;
    assert!((count - 1_000.0).abs() < 5.0 * 31.6, "{count}");
    let bits: f64 = flows.iter().map(|flow| flow.bytes as f64 * 8.0).sum();
    let load = bits / (0.096 * 320.0 * 100e9);
    assert!((load - 0.08).abs() < 5.0 * 0.08 / 31.6, "{load}");
    let mut sends: BTreeMap<NodeId, f64> = BTreeMap::new();
    let mut receives: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (_, dst, from) in &incasts {
        assert_eq!(from.iter().collect::<BTreeSet<_>>().len(), 120);
        assert!(!from.contains(dst));
        from.iter().for_each(|&src| *sends.entry(src).or_default() += 1.0);
        *receives.entry(*dst).or_default() += 1.0;
    }
    // Each host sends in 120 of 320 incasts: 375 of 1000 with a deviation of 15.3.
    for (host, times) in &sends {
        let expected = count * 120.0 / 320.0;
        assert!((times - expected).abs() < 5.0 * 15.3, "{host}: {times} of {expected}");
    }
    // And receives 3.1 of 1000: at least one but for exp(-3.1), 14 of 320 with a deviation of 3.6.
    assert!((receives.len() as f64 - 306.0).abs() < 5.0 * 3.6, "{}", receives.len());
    assert!(receives.values().all(|&times| times < 20.0));
    // Gaps are exponential: their deviation is their mean, to 1/sqrt(1000); five of that.
    let gaps: Vec<f64> =
        incasts.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_secs()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((square.sqrt() / mean - 1.0).abs() < 0.16, "{}", square.sqrt() / mean);
}

#[test]
fn variants_have_the_same_incasts_and_replications_others() {
    let series = |scenario: &Scenario, variant, replication| {
        incasts(&of(1, flows(scenario, variant, replication)))
    };
    let set = ["arrivals=0.5ms", "workload.0.many_to_many.load=0.01"];
    let scenario = deck(&set);
    assert_eq!(series(&scenario, 0, 0), series(&scenario, 1, 0));
    assert_ne!(series(&scenario, 0, 0), series(&scenario, 0, 1));
    assert!(scenario.variants()[0].shares_traffic_with(&scenario.variants()[1]));
    // More background leaves the incasts as they are; a higher load of theirs brings the same
    // ones closer together.
    let busier = deck(&["arrivals=0.5ms", "workload.0.many_to_many.load=0.02"]);
    assert_eq!(series(&scenario, 0, 0), series(&busier, 0, 0));
    let closer = deck(&[&set[..], &["workload.1.incast_series.load=0.16"]].concat());
    let members = |scenario: &Scenario| {
        let series = series(scenario, 0, 0).into_iter();
        series.map(|(_, dst, from)| (dst, from)).collect::<Vec<_>>()
    };
    assert!(members(&closer).len() > members(&scenario).len());
    assert!(members(&closer).starts_with(&members(&scenario)));
}

#[test]
fn hosts_are_shared_from_the_first_on_or_not_at_all() {
    let small = |share: &str| {
        deck(&[
            "placement=consecutive",
            share,
            "workload.0.many_to_many.cluster_size=4",
            "workload.1.incast_series.hosts=8",
            "workload.1.incast_series.senders=3",
        ])
    };
    let hosts = |scenario: &Scenario| {
        let all = flows(scenario, 0, 0);
        let ends = |workload| {
            let both = |flow: &FlowSpec| [flow.src.0, flow.dst.0];
            of(workload, all.clone()).iter().flat_map(both).collect::<BTreeSet<_>>()
        };
        let range = |hosts: BTreeSet<u32>| (*hosts.first().unwrap(), *hosts.last().unwrap());
        (range(ends(0)), range(ends(1)))
    };
    let (shared, own) = (small("share_hosts=true"), small("share_hosts=false"));
    assert_eq!(hosts(&shared), ((0, 3), (0, 7)));
    assert_eq!(hosts(&own), ((0, 3), (4, 11)));
    assert!(!shared.variants()[0].shares_traffic_with(&own.variants()[0]));
}

const FAIRNESS: &str = r#"
name = "fairness"
arrivals = "5ms"
limit = "10ms"

[topology.star]
hosts = 5

[[workload]]
[[workload.list.flow]]
src = 1
dst = 0
start = "1ms"
stop = "4ms"

[[workload.list.flow]]
src = 2
dst = 0

[[workload.list.flow]]
src = 3
dst = 4
start = "0.5ms"
bytes = "1MB"

[[workload]]
[workload.incast]
senders = 4
"#;

#[test]
fn a_list_is_what_was_written() {
    let list = |set: &[&str]| of(0, flows(&parse(FAIRNESS, set), 0, 0));
    let at = |us| Instant(Duration::from_us(us).0);
    let flow = |src, dst, start, bytes, stop| FlowSpec {
        src: NodeId(src),
        dst: NodeId(dst),
        bytes,
        start: at(start),
        stop,
        workload: 0,
        in_turn: false,
    };
    let expected = [
        flow(2, 0, 0, FlowSpec::PERSISTENT, Instant::NEVER),
        flow(3, 4, 500, 1_000_000, Instant::NEVER),
        flow(1, 0, 1_000, FlowSpec::PERSISTENT, at(4_000)),
    ];
    assert_eq!(list(&[]), expected);
    // Placement and chance have no part in it, and hosts are not used up by it.
    assert_eq!(list(&["placement=consecutive", "seed=7"]), expected);
    let stops = list(&["workload.0.list.flow.1.stop=2ms"]);
    assert_eq!(stops[0], flow(2, 0, 0, FlowSpec::PERSISTENT, at(2_000)));
    let derived = &parse(FAIRNESS, &[]).derived().variants[0];
    assert_eq!((derived.expected_flows, derived.persistent_flows), (1.0, 2 + 4));
}
