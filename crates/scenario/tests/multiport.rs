//! Hosts with several ports from scenarios, against arithmetic.

use std::path::Path;

use floodway_model::NodeId;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Spec};

/// A scenario of Ethernet hosts, with what a test adds.
pub fn scenario(text: &str, set: &[&str]) -> Scenario {
    let text = format!(
        "name = \"ports\"\narrivals = \"1us\"\nlimit = \"50ms\"\n[switch.queue]\nsize = \"100MB\"\n\
         [host]\ntransport = \"ethernet\"\n{text}\n"
    );
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(&text, "ports.toml", &Overrides { quick: false, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn build(scenario: &Scenario, variant: &str) -> Spec {
    scenario.build(scenario.variant(variant).unwrap(), 0)
}

fn run(spec: Spec) -> Outcome {
    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

fn ps(outcome: &Outcome, table: &str, column: &str) -> Vec<u64> {
    outcome.table(table).f64s(column).iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// The names of the ports between which flows go.
fn ends(spec: &Spec) -> Vec<[&str; 2]> {
    let name = |node: NodeId| &*spec.graph.node(node).name;
    spec.flows.iter().map(|flow| [name(flow.src), name(flow.dst)]).collect()
}

/// A full frame of 1500 bytes of payload at so many Gb/s, preamble and gap included.
fn wire(gbps: u64) -> u64 {
    1_538 * 8_000 / gbps
}

const FRAMES: u64 = 400;

/// Two flows from one host with two ports to another.
const TWO_FLOWS: &str = "[topology.star]\nhosts = 2\nports = 2\n[[workload]]\n[[workload.list.flow]]\nsrc = 0\n\
                         dst = 1\nbytes = \"600000B\"\n[[workload.list.flow]]\nsrc = 0\ndst = 1\nbytes = \"600000B\"\n";

#[test]
fn two_flows_take_two_ports_or_share_one() {
    let times = |set: &[&str]| {
        let spec = build(&scenario(TWO_FLOWS, set), "base");
        ps(&run(spec), "flows", "fct_ns")
    };
    let alone = (FRAMES + 1) * wire(100) + 400_000;
    assert_eq!(times(&["host.ports=round_robin"]), [alone; 2]);
    // One port has the frames of both, alternately.
    let shared = (2 * FRAMES + 1) * wire(100) + 400_000;
    for one in ["workload.0.ports=1", "host.ports=by_destination"] {
        assert_eq!(times(&[one]), [shared - wire(100), shared], "{one}");
    }
    // A hash does either, with the same probability.
    let mut together = 0;
    for seed in 0..64 {
        let seed = format!("seed={seed}");
        let spec = build(&scenario(TWO_FLOWS, &[&seed]), "base");
        let same = ends(&spec)[0] == ends(&spec)[1];
        together += u32::from(same);
        if seed.ends_with('0') {
            let expected = if same { [shared - wire(100), shared] } else { [alone; 2] };
            assert_eq!(ps(&run(spec), "flows", "fct_ns"), expected);
        }
    }
    // 32 with a standard deviation of 4.
    assert!((12..=52).contains(&together), "{together}");
}

#[test]
fn rules_choose_ports() {
    let flows: String = [(0, 1), (0, 2), (0, 1), (3, 1), (0, 2)]
        .map(|(src, dst)| {
            format!("[[workload.list.flow]]\nsrc = {src}\ndst = {dst}\nbytes = \"1KB\"\n")
        })
        .concat();
    let text = format!(
        "[topology.clos]\nleaves = 4\nspines = 1\nhosts_per_leaf = 2\nports = 2\n[[workload]]\n{flows}"
    );
    let chosen = |rule: &str| -> Vec<[String; 2]> {
        let spec = build(&scenario(&text, &[&format!("workload.0.ports={rule}")]), "base");
        ends(&spec).into_iter().map(|ends| ends.map(str::to_owned)).collect()
    };
    let ports = |of: [[u32; 3]; 5]| {
        of.map(|[src, dst, port]| [src, dst].map(|host| format!("host {host}.{port}")))
    };
    let by_host = [[0, 1, 0], [0, 1, 1], [0, 2, 0], [0, 2, 1], [3, 1, 0]];
    assert_eq!(chosen("round_robin"), ports(by_host));
    let by_destination = [[0, 1, 1], [0, 1, 1], [0, 2, 0], [0, 2, 0], [3, 1, 1]];
    assert_eq!(chosen("by_destination"), ports(by_destination));
    let first = [[0, 1, 0], [0, 1, 0], [0, 2, 0], [0, 2, 0], [3, 1, 0]];
    assert_eq!(chosen("0"), ports(first));
}

/// Links from and to nodes whose names begin with this one: how many frames they carried.
pub fn frames(outcome: &Outcome, name: &str) -> u64 {
    let links = outcome.table("links");
    let ends = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
    let of = ends.filter(|((node, peer), _)| node.starts_with(name) || peer.starts_with(name));
    of.map(|(_, frames)| *frames).sum()
}

#[test]
fn an_all_to_all_of_a_rail_stays_on_its_rail() {
    let text = "[topology.rails]\nservers = 4\ngpus = 2\nnvlink = {}\n[[workload]]\n[workload.collective]\n\
                operation = \"all_to_all\"\nranks = \"1, 3, 5, 7\"\nbytes = \"60KB\"\n";
    let outcome = run(build(&scenario(text, &[]), "base"));
    assert_eq!([frames(&outcome, "spine"), frames(&outcome, "nvlink")], [0, 0]);
    // Of each of 4 ranks 3 messages of 10 frames, on two links each.
    assert_eq!([frames(&outcome, "rail 0"), frames(&outcome, "rail 1")], [0, 4 * 3 * 10 * 2]);
    // Within a server nothing leaves it.
    let outcome = run(build(&scenario(text, &["workload.0.collective.ranks=4-5"]), "base"));
    assert_eq!([frames(&outcome, "rail"), frames(&outcome, "nvlink")], [0, 2 * 20 * 2]);
}

/// Rings in servers of G = 4 GPUs, and between M = 2 servers: (G - 1) messages of D / G by NVLink, 2 (M - 1) of
/// D / (G M) by the rail, and again (G - 1) by NVLink. A message of n frames over two links takes n + 1 frames' time and
/// twice the delay.
#[test]
fn a_hierarchical_all_reduce_is_the_sum_of_its_rings() {
    let text = "[topology.rails]\nservers = 2\ngpus = 4\nnvlink = { rate = \"1600Gbps\" }\n[[workload]]\n\
                [workload.collective]\noperation = \"all_reduce\"\nalgorithm = \"hierarchical\"\nper_server = 4\n\
                bytes = \"120000B\"\n";
    let outcome = run(build(&scenario(text, &[]), "base"));
    let nvlink = 21 * wire(1_600) + 2 * 25_000;
    let rail = 11 * wire(400) + 2 * 500_000;
    assert_eq!(ps(&outcome, "operations", "finish_ns"), [3 * nvlink + 2 * rail + 3 * nvlink]);
    assert_eq!(frames(&outcome, "spine"), 0);
    // 8 GPUs send 6 messages of 20 frames by NVLink and 2 of 10 by their NIC.
    let expected = [8 * 6 * 20 * 2, 8 * 2 * 10 * 2];
    assert_eq!([frames(&outcome, "nvlink"), frames(&outcome, "rail")], expected);
}

#[test]
fn hosts_of_a_custom_network_have_a_port_for_each_link() {
    let text = "[topology.custom]\nhosts = [\"big\", \"small 0-1\"]\nswitches = [\"left\", \"right\"]\n\
                links = [\"big, small 0 -- left\", \"big, small 1 -- right\", \"left -- right\"]\n[[workload]]\n\
                [[workload.list.flow]]\nsrc = 0\ndst = 1\nbytes = \"1KB\"\n[[workload.list.flow]]\nsrc = 0\ndst = 2\n\
                bytes = \"1KB\"\n[[workload.list.flow]]\nsrc = 2\ndst = 0\nbytes = \"1KB\"\n";
    let spec = build(&scenario(text, &[]), "base");
    // The shortest way, whatever the hash.
    let expected = [["big.0", "small 0"], ["big.1", "small 1"], ["small 1", "big.1"]];
    assert_eq!(ends(&spec), expected);
    run(spec);
    let spec = build(&scenario(text, &["workload.0.list.flow.0.dst=2"]), "base");
    assert_eq!(ends(&spec)[0], ["big.1", "small 1"]);
}

#[test]
fn every_workload_runs_between_hosts_with_several_ports() {
    for (workload, text) in [
        ("rpc", "clients = \"0-3\"\nservers = \"4-7\"\nrequest = \"256B\"\nresponse = \"16KB\""),
        ("all_reduce", "ranks = \"all\"\nbytes = \"80KB\""),
        ("poisson", "load = 0.5\nfrom = \"0-3\"\nto = \"4-7\"\nsizes = \"5KB\""),
        ("saturated", "from = \"0-3\"\nto = \"4-7\"\nsizes = \"8KB\""),
        ("goal", "path = \"../../scenarios/toolbox/training.goal\""),
        ("permutation", "bytes = \"30KB\""),
    ] {
        let of = |topology: &str| {
            let text = format!("{topology}\n[[workload]]\n[workload.{workload}]\n{text}\n");
            let set = ["arrivals=100us", "limit=20ms", "host.transport=rocev2"];
            let spec = build(&scenario(&text, &set), "base");
            (spec.flows.len(), run(spec))
        };
        for topology in [
            "[topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nports = 2",
            "[topology.rails]\nservers = 2\ngpus = 4\nnvlink = {}",
        ] {
            let (flows, outcome) = of(topology);
            assert!(flows > 0, "{workload}");
            assert_eq!(outcome.counter("flows_unfinished"), 0, "{workload}");
            if workload != "rpc" && workload != "saturated" && workload != "poisson" {
                assert_eq!(outcome.counter("flows"), flows as u64, "{workload}");
            }
        }
    }
}

#[test]
fn the_load_of_a_host_is_that_of_its_ports_together() {
    let text = "[topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nports = 2\n[[workload]]\n\
                [workload.many_to_many]\nload = 0.5\nclusters = 1\ncluster_size = 8\nsizes = \"5KB\"\n";
    let scenario = scenario(text, &["arrivals=100us"]);
    let derived = scenario.variants()[0].derived(1);
    assert!((derived.host_load - 0.5).abs() < 1e-9, "{}", derived.host_load);
    // Half of 200 Gb/s from each of 8 hosts for 100 us, in messages of 5 KB.
    assert!((derived.expected_flows - 8.0 * 100e9 * 100e-6 / 40e3).abs() < 1.0);
}

/// With one port of two, twice as much crosses half of the leaves, and nothing the others.
#[test]
fn the_load_of_links_follows_the_ports_that_flows_take() {
    let text = "[topology.clos]\nleaves = 4\nhosts_per_leaf = 4\nports = 2\n[[workload]]\n[workload.many_to_many]\n\
                sizes = \"100KB\"\nclusters = 1\ncluster_size = 8\nload = 0.6\n";
    let of = |set: &[&str]| {
        let scenario = scenario(text, &[&["arrivals=1ms"], set].concat());
        let load = scenario.derived().variants[0].fabric_wire_load.unwrap();
        (load.mean, load.max)
    };
    let ((mean, most), (mean_of_one, most_of_one)) = (of(&[]), of(&["host.ports=0"]));
    assert!((mean_of_one / mean - 1.0).abs() < 1e-9, "{mean_of_one} {mean}");
    assert!((most_of_one / most - 2.0).abs() < 1e-9, "{most_of_one} {most}");
}

#[test]
fn the_rails_of_the_toolbox() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox/rails.toml");
    let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
    let time = |variant: &str| {
        let outcome = run(build(&scenario, variant));
        (ps(&outcome, "operations", "finish_ns")[0], frames(&outcome, "spine"))
    };
    let (two_tiers, spine) = time("two-tiers");
    assert_eq!(spine, 0);
    let (ring, _) = time("ring");
    let (nics, _) = time("ring-by-nics");
    assert!(two_tiers < ring && ring <= nics, "{two_tiers} {ring} {nics}");
}
