//! A network that is written out: times by hand, the same as other topologies where it repeats
//! them, and the same on any number of threads.

use std::sync::atomic::AtomicBool;

use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation};

/// A scenario; `set` are settings as on the command line.
fn scenario(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    Scenario::parse(text, "custom.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn run(scenario: &Scenario, threads: usize) -> Outcome {
    let spec = scenario.build(&scenario.variants()[0], 0);
    let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
    let outcome = Simulation::new(spec).run_with(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

/// Clients on access switches, a core, and a server behind a slow and long line.
const LINE: &str = r#"
name = "line"
arrivals = "1ms"
limit = "20ms"
sample_interval = "10us"

[topology.custom]
rate = "10Gbps"
delay = "50ns"
hosts = ["client 1-3", "server"]
switches = ["access 1-2", "core", "far"]
links = [
  "client 1, client 3 -- access 1",
  "client 2 -- access 2",
  { ends = "access 1-2 -- core", count = 2 },
  "core -- far",
  { ends = "server -- far", rate = "400Gbps" },
]

[switch]
latency = "100ns"
[switch.aqm.drop_tail]
"#;

const SLOW: [&str; 2] = ["topology.custom.links.3.rate=1Gbps", "topology.custom.links.3.delay=5us"];

fn with(flows: &str) -> String {
    format!("{LINE}\n[[workload]]\n{flows}")
}

#[test]
fn completion_times_by_hand() {
    let text = with(
        "[[workload.list.flow]]\nsrc = 0\ndst = 3\nbytes = \"2048B\"\n\
         [[workload.list.flow]]\nsrc = 3\ndst = 1\nbytes = \"1024B\"\nstart = \"500us\"\n\
         [[workload.list.flow]]\nsrc = 2\ndst = 0\nbytes = \"3072B\"\nstart = \"500us\"\n",
    );
    let outcome = run(&scenario(&text, &SLOW), 1);
    // A full frame is 1106 bytes on the wire: 884.8 ns at 10 Gb/s, 8848 at 1, 22.12 at 400.
    let (ten, slow, fast) = (884.8, 8848.0, 22.12);
    let far = 2.0 * ten + slow + fast + 3.0 * 50.0 + 5_000.0 + 3.0 * 100.0;
    let expected = [
        // The second packet waits for the first at the slow line.
        far + slow,
        // On one switch: the third packet leaves the host after two others.
        2.0 * ten + 2.0 * 50.0 + 100.0 + 2.0 * ten,
        far,
    ];
    let flows = outcome.table("flows");
    for column in ["ideal_fct_ns", "fct_ns"] {
        for (flow, (time, expected)) in flows.f64s(column).iter().zip(expected).enumerate() {
            assert!((time - expected).abs() < 1e-6, "flow {flow}: {column} {time}, {expected}");
        }
    }
}

/// Workloads name hosts by the names of the network.
#[test]
fn hosts_by_name() {
    let text = with(
        "[workload.long_flows]\ncount = 4\nfrom = \"client 2-3\"\nto = \"server, client 1\"\n\
         jitter = \"10us\"\nstop = \"200us\"\n",
    );
    let scenario = scenario(&text, &SLOW);
    let flows = scenario.build(&scenario.variants()[0], 0).flows;
    let mut pairs: Vec<_> = flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(1, 3), (1, 3), (2, 0), (2, 0)]);
}

/// What is written as text can be changed like what is written as a table.
#[test]
fn one_link_is_changed() {
    let text = with("[[workload.list.flow]]\nsrc = 0\ndst = 3\nbytes = \"1KB\"\n");
    let rates = |set: &[&str]| {
        let scenario = scenario(&text, set);
        let links = |(_, _, end): (_, _, floodway_model::graph::Attachment)| end.rate.as_gbps();
        scenario.variants()[0].graph().links().map(links).collect::<Vec<_>>()
    };
    let before = rates(&[]);
    assert_eq!(before.iter().filter(|&&rate| rate == 10.0).count(), 8);
    let after = rates(&SLOW);
    let changed: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
    assert_eq!(changed, [(&10.0, &1.0)]);
}

#[test]
fn numbers_of_check_by_hand() {
    let text = with("[[workload.list.flow]]\nsrc = 0\ndst = 3\nbytes = \"1KB\"\n");
    let derived = |set: &[&str]| scenario(&text, set).derived().variants[0].clone();
    let numbers = derived(&SLOW);
    assert_eq!((numbers.hosts, numbers.switches, numbers.links), (4, 4, 9));
    assert_eq!(numbers.link_rates, (Rate::from_gbps(1), Rate::from_gbps(400)));
    assert_eq!(numbers.oversubscription, None);
    // 1106 and 86 bytes: over two links of 10 Gb/s, one of 1 and one of 400; 5.15 us of light
    // and three switches, there and back.
    let frames = (1_106 + 86) * (2 * 800 + 8_000 + 20);
    let rtt = frames + 2 * (5_150_000 + 300_000);
    assert_eq!(numbers.unloaded_rtt, Duration(rtt));
    assert_eq!(numbers.bdp, Bytes(rtt / 8_000));
    // Without the slow line clients on different switches are farther apart than any from the
    // server behind its fast one, although the ways have as many links.
    let frames = (1_106 + 86) * 4 * 800;
    assert_eq!(derived(&[]).unloaded_rtt, Duration(frames + 2 * (200_000 + 300_000)));
    // What counts is the time, not the number of links: two links of 1 ms outweigh four short ones.
    let near = derived(&["topology.custom.links.0.delay=1ms"]);
    let frames = (1_106 + 86) * 2 * 800;
    assert_eq!(near.unloaded_rtt, Duration(frames + 2 * (2_000_000_000 + 100_000)));
}

const TRAFFIC: &str = r#"
name = "same"
arrivals = "0.2ms"
limit = "20ms"
share_hosts = true

[switch.queue]
count = 2
size = "100KB"
[switch.aqm.ramp]
kmin = "20KB"
kmax = "80KB"
[switch.classify.destination_hash]
[host.transport.rocev2.recovery.go_back_n]
retransmit_timeout = "1ms"

[[workload]]
[workload.many_to_many]
sizes = "16KB"
clusters = 1
cluster_size = 5
load = 0.3

[[workload]]
[workload.incast]
senders = 3
bytes = "64KB"
"#;

/// The same names in the same order make the same results, to the bit.
#[test]
fn what_repeats_another_topology_gives_its_results() {
    let pairs = [
        (
            "[topology.star]\nhosts = 5\nrate = \"40Gbps\"\n",
            r#"
[topology.custom]
hosts = ["host 0-4"]
switches = ["switch"]
links = ["host 0-4 -- switch"]
rate = "40Gbps"
"#,
        ),
        (
            "[topology.dumbbell]\nleft = 2\nright = 3\nhost_rate = \"10Gbps\"\n\
             host_delay = \"1us\"\nbottleneck_rate = \"9Gbps\"\nbottleneck_delay = \"5us\"\n",
            r#"
[topology.custom]
hosts = ["host 0-4"]
switches = ["left switch", "right switch"]
links = [
  "host 0-1 -- left switch",
  "host 2-4 -- right switch",
  { ends = "left switch -- right switch", rate = "9Gbps", delay = "5us" },
]
rate = "10Gbps"
delay = "1us"
"#,
        ),
        (
            "[topology.clos]\nleaves = 3\nspines = 4\nhosts_per_leaf = 4\n\
             host_rate = \"10Gbps\"\nfabric_rate = \"10Gbps\"\n",
            r#"
[topology.custom]
hosts = ["host 0-11"]
switches = ["leaf 0-2", "spine 0-3"]
links = [
  "host 0-3 -- leaf 0",
  "host 4-7 -- leaf 1",
  "host 8-11 -- leaf 2",
  "leaf 0-2 -- spine 0-3",
]
rate = "10Gbps"
"#,
        ),
    ];
    let mut prints = Vec::new();
    for (short, written_out) in pairs {
        let [short, written_out] = [short, written_out].map(|topology| {
            let outcome = run(&scenario(&format!("{TRAFFIC}{topology}"), &[]), 1);
            assert!(outcome.counter("marked_packets") > 0, "the network is not idle");
            outcome
        });
        assert_eq!(short.fingerprint, written_out.fingerprint);
        prints.push(short.fingerprint);
    }
    prints.dedup();
    assert_eq!(prints.len(), pairs.len());
}

/// Four tiers, parallel links and switches without hosts, shared out to threads.
#[test]
fn threads_change_nothing() {
    let text = TRAFFIC.replace("cluster_size = 5", "cluster_size = 9")
        + r#"
[topology.custom]
hosts = ["client 0-5", "server 0-2"]
switches = ["access 0-2", "core 0-1", "spare"]
links = [
  "client 0-1 -- access 0",
  "client 2-4 -- access 1",
  "client 5 -- access 2",
  { ends = "access 0-1 -- core 0-1", delay = "70ns" },
  { ends = "access 2 -- core 1", count = 3 },
  { ends = "core 0 -- core 1", rate = "40Gbps", delay = "3us" },
  "core 1 -- spare",
  "server 0-2 -- core 0",
]
rate = "10Gbps"
delay = "50ns"
"#;
    let scenario = scenario(&text, &[]);
    let graph = scenario.variants()[0].graph();
    let tiers: Vec<_> = graph.switches().map(|id| graph.node(id).kind).collect();
    let tier = |tier| NodeKind::Switch { tier };
    assert_eq!(tiers, [0, 0, 0, 0, 1, 2].map(tier));
    let one = run(&scenario, 1);
    let backlogs = one.table("queues").u64s("max_backlog_bytes");
    assert!(backlogs.iter().any(|&backlog| backlog > 50_000), "the network is not idle");
    assert!(one.table("flows").f64s("fct_ns").iter().all(|fct| fct.is_finite()));
    for threads in [2, 3] {
        let several = run(&scenario, threads);
        assert_eq!(several.fingerprint, one.fingerprint, "{threads} threads");
    }
}

/// A line of 50 Mb/s down and 10 up, as a dumbbell and written out. By hand: 1106 and 86 bytes on the wire over
/// two links of 1 Gb/s and the line, full packets in its slow direction.
#[test]
fn a_line_has_another_rate_back() {
    let dumbbell = r#"
name = "line"
arrivals = "1ms"
limit = "100ms"
[topology.dumbbell]
left = 1
right = 1
bottleneck_rate = "50Mbps"
bottleneck_rate_back = "10Mbps"
[[workload]]
list.flow = [{ src = 0, dst = 1, bytes = "1KB" }, { src = 1, dst = 0, bytes = "1KB" }]
"#;
    let custom = dumbbell.replace(
        "[topology.dumbbell]\nleft = 1\nright = 1\nbottleneck_rate = \"50Mbps\"\nbottleneck_rate_back = \"10Mbps\"",
        "[topology.custom]\nhosts = [\"server\", \"home\"]\nswitches = [\"left\", \"right\"]\nrate = \"1Gbps\"\n\
         delay = \"1ms\"\nlinks = [\"server -- left\", \"home -- right\", { ends = \"left -- right\", \
         rate = \"50Mbps\", rate_back = \"10Mbps\", delay = \"2ms\" }]",
    );
    for text in [dumbbell, &custom] {
        let scenario = scenario(text, &[]);
        let graph = scenario.variants()[0].graph();
        let ends: Vec<_> =
            graph.switches().flat_map(|id| &graph.node(id).ports).map(|end| end.rate).collect();
        let [fast, down, up] = [1_000, 50, 10].map(Rate::from_mbps);
        assert_eq!(ends, [fast, down, fast, up]);
        let numbers = scenario.derived().variants[0].clone();
        assert_eq!(numbers.link_rates, (up, fast));
        let latency = scenario.build(&scenario.variants()[0], 0).switch.latency;
        let wire = 1_106 * (2 * 8_000 + 800_000) + 86 * (2 * 8_000 + 160_000);
        assert_eq!(numbers.unloaded_rtt, Duration(wire) + Duration::from_ms(8) + latency * 4);
        assert_eq!(run(&scenario, 1).fingerprint, run(&scenario, 2).fingerprint);
    }
}
