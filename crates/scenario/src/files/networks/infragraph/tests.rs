//! Infrastructures against the graphs that the package `infragraph` makes of them, and against networks by hand.

use std::sync::Arc;

use floodway_model::{Duration, Graph, NodeId, Rate};

use super::{counted, read};
use crate::text::Source;

const TWO_RAILS: &str =
    include_str!("../../../../../attack/corpus/network_infragraph/two-rails.yaml");
const LEAF_SPINE: &str =
    include_str!("../../../../../attack/corpus/network_infragraph/leaf-spine.yaml");
const SMALL: &str = include_str!("../../../../../attack/corpus/network_infragraph/small.json");

fn network(text: &str) -> Result<Graph, [String; 2]> {
    with_rates(text, &[])
}

fn with_rates(text: &str, rates: &[(&str, u64)]) -> Result<Graph, [String; 2]> {
    let rates =
        rates.iter().map(|&(name, gbps)| (name.to_owned(), Rate::from_gbps(gbps))).collect();
    let source = Arc::new(Source::new("network.yaml", text.to_owned()));
    match read(&source, &rates) {
        Ok(network) => Ok(network.graph),
        Err(problem) => Err([problem.message, problem.help]),
    }
}

/// What `number_of_nodes` and `number_of_edges` of the networkx graph are that version 3.1.0 of the package makes of these
/// files with `InfraGraphService.set_graph`.
#[test]
fn graphs_have_the_nodes_and_edges_of_the_package() {
    assert_eq!(counted(TWO_RAILS), (16, 16));
    assert_eq!(counted(LEAF_SPINE), (164, 184));
    assert_eq!(counted(SMALL), (7, 6));
}

/// The blueprints of DGX servers as the package writes them: links name a unit of bandwidth and of latency, and have no
/// value. Nodes and edges are those of the networkx graph, for one server and for two.
#[test]
fn blueprints_of_servers_have_the_graphs_of_the_package() {
    // Of these each has the links that it has.
    let all = [("pcie", 512), ("xpu_fabric", 3_600), ("cpu_fabric", 512), ("c2c_link", 3_600)];
    for (text, (nodes, edges), [hosts, switches]) in [
        (
            include_str!("../../../../../attack/corpus/network_infragraph/dgx-h100.yaml"),
            (33, 62),
            [8, 5],
        ),
        (
            include_str!("../../../../../attack/corpus/network_infragraph/dgx-a100.yaml"),
            (37, 84),
            [8, 11],
        ),
        (
            include_str!("../../../../../attack/corpus/network_infragraph/dgx-gb200.yaml"),
            (32, 85),
            [4, 18],
        ),
    ] {
        assert_eq!(counted(text), (nodes, edges));
        let two = text.replace("- count: 1\n  device", "- count: 2\n  device");
        assert_eq!(counted(&two), (2 * nodes, 2 * edges));
        let rates: Vec<_> = all.into_iter().filter(|(link, _)| text.contains(link)).collect();
        let graph = with_rates(text, &rates).unwrap();
        assert_eq!([graph.first_ports().count(), graph.switches().count()], [hosts, switches]);
        // Without them all of a server would be one.
        let [message, help] = network(text).unwrap_err();
        assert!(message.contains("are joined by links without a bandwidth"), "{message}");
        assert!(help.contains("`rates`"), "{help}");
    }
}

/// By port of the hosts: the other end, rate and delay.
fn ports(graph: &Graph) -> Vec<(String, Rate, Duration)> {
    let each = graph.hosts().map(|port| {
        let end = graph.node(port).ports[0];
        (graph.node(end.peer).name.clone(), end.rate, end.delay)
    });
    each.collect()
}

/// The same with a spine, at which the rails meet.
fn two_rails_and_a_spine() -> String {
    let spine = "instances:\n- {name: spine, device: leaf, count: 1}";
    let up = "\n- {ep1: {instance: rail, component: \"port[2]\"}, ep2: {instance: spine, component: \"port[0:2]\"}, \
              scheme: one2one, link: eth}\n";
    let ports = "{name: port, choice: port, port: {}, count: ";
    TWO_RAILS
        .replace(&format!("{ports}2}}"), &format!("{ports}3}}"))
        .replace("instances:", spine)
        .trim_end()
        .to_owned()
        + up
}

#[test]
fn gpus_are_hosts_and_their_nics_ports() {
    // GPUs do not forward from NVLink to their NIC. Those of one rail have a path.
    assert_eq!(
        network(TWO_RAILS).unwrap_err(),
        [
            "there is no path between `host.0.xpu.1` and `host.1.xpu.0`",
            "hosts do not forward, GPUs neither: join all by switches, or leave some out",
        ]
    );
    let graph = network(&two_rails_and_a_spine()).unwrap();
    let hosts: Vec<&str> = graph.first_ports().map(|host| graph.host_name(host)).collect();
    assert_eq!(hosts, ["host.0.xpu.0", "host.0.xpu.1", "host.1.xpu.0", "host.1.xpu.1"]);
    // A NIC has 512 Gb/s to its GPU without a latency and 400 Gb/s to the rail. NVLink has 450 GB/s.
    let nic = |rail: &str| (rail.to_owned(), Rate::from_gbps(400), Duration::from_ns(500));
    let nvlink = |switch: &str| (switch.to_owned(), Rate::from_gbps(3_600), Duration::from_ns(300));
    let of_host = |server: u32, rail: u32| {
        [nic(&format!("rail.{rail}.asic.0")), nvlink(&format!("host.{server}.nvlsw.0"))]
    };
    let all = [of_host(0, 0), of_host(0, 1), of_host(1, 0), of_host(1, 1)].concat();
    assert_eq!(ports(&graph), all);
    assert_eq!(graph.switches().count(), 5);
}

#[test]
fn cards_are_links_and_pcie_switches_forward() {
    let graph = network(LEAF_SPINE).unwrap();
    // 16 GPUs, each with a link to a PCIe switch and to two NVSwitches; of each server two PCIe switches, two NVSwitches
    // and four cards, which are links to a leaf; two leaves and two spines.
    let counts = (graph.first_ports().count(), graph.switches().count(), graph.links().count());
    assert_eq!(counts, (16, 4 * 4 + 2 + 2, 16 * 3 + 4 * 4 + 4));
    let first: Vec<String> = ports(&graph)[..3].iter().map(|of| of.0.clone()).collect();
    assert_eq!(first, ["host.0.pciesw.0", "host.0.nvswitch.0", "host.0.nvswitch.1"]);
    // A card: 64 GB/s and 150 ns to the PCIe switch, 200 Gb/s and 500 ns to the leaf.
    let pcie = graph.switches().find(|&id| graph.node(id).name == "host.3.pciesw.1").unwrap();
    let up: Vec<_> =
        graph.node(pcie).ports.iter().filter(|port| port.rate == Rate::from_gbps(200)).collect();
    assert_eq!(up.len(), 2);
    assert!(up.iter().all(|port| port.delay == Duration::from_ns(650)));
    assert!(up.iter().all(|port| graph.node(port.peer).name == "leaf.1.asic.0"));
    // By a PCIe switch, a leaf, a spine, a leaf and a PCIe switch.
    let last = graph.first_ports().last().unwrap();
    assert_eq!(graph.path(NodeId(0), last).unwrap().len(), 6);
}

#[test]
fn rates_may_be_given_by_the_name_of_a_link() {
    let text = two_rails_and_a_spine().replace(
        ", physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 450}, latency: {choice: ns, ns: 300}}",
        "",
    );
    assert!(network(&text).unwrap_err()[0].contains("`host.0.xpu.1` are joined"));
    let graph = with_rates(&text, &[("nvlink", 3_600), ("eth", 200)]).unwrap();
    let rates: Vec<Rate> = ports(&graph).iter().map(|of| of.1).collect();
    assert_eq!(rates, [200, 3_600].map(Rate::from_gbps).repeat(4));
    assert_eq!(
        with_rates(&text, &[("nvlnk", 3_600)]).unwrap_err(),
        ["`rates` has a link `nvlnk`, which no edge has", "the links are: eth, ic, nvlink, pcie"]
    );
}

#[test]
fn a_chain_of_components_is_one_link() {
    // GPU, slot, NIC and switch: 10 GB/s and 100 ns twice, and 100 Gb/s and 1 us.
    let text = SMALL
        .replace(
            "\"name\": \"on board\"",
            "\"name\": \"on board\", \"physical\": {\"bandwidth\": {\"gigabytes_per_second\": 10}, \"latency\": {\"ns\": 100}}",
        )
        .replace(
            "\"choice\": \"nic\", \"count\": 1}",
            "\"choice\": \"nic\", \"count\": 1},\n{\"name\": \"slot\", \"choice\": \"custom\", \"custom\": {\"type\": \"slot\"}, \"count\": 1}",
        )
        .replace(
            "{\"ep1\": {\"component\": \"xpu\"}, \"ep2\": {\"component\": \"nic\"}",
            "{\"ep1\": {\"component\": \"slot\"}, \"ep2\": {\"component\": \"nic\"}, \"scheme\": \"one2one\", \"link\": \"on board\"},\n\
             {\"ep1\": {\"component\": \"xpu\"}, \"ep2\": {\"component\": \"slot\"}",
        );
    let link = ("switch.0.asic.0".to_owned(), Rate::from_gbps(80), Duration::from_ns(1_200));
    assert_eq!(ports(&network(&text).unwrap()), vec![link; 3]);
}

#[test]
fn servers_without_gpus_have_nics_as_hosts() {
    let text = SMALL.replace("xpu", "cpu");
    let graph = network(&text).unwrap();
    let hosts: Vec<&str> = graph.first_ports().map(|host| graph.host_name(host)).collect();
    assert_eq!(hosts, ["box.0.nic.0", "box.1.nic.0", "box.2.nic.0"]);
    // A switch whose chip is a `cpu`, as in the blueprints of the package, forwards too.
    let of_cpu = SMALL.replace("\"asic\", \"choice\": \"switch\"", "\"asic\", \"choice\": \"cpu\"");
    assert_eq!(network(&of_cpu).unwrap(), network(SMALL).unwrap());
    // With GPUs they have the names of these.
    let graph = network(SMALL).unwrap();
    assert_eq!(graph.host_name(NodeId(2)), "box.2.xpu.0");
}

#[test]
fn what_is_not_understood_is_named() {
    let wrong = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        network(&SMALL.replacen(from, to, 1)).unwrap_err()
    };
    let message = |from: &str, to: &str| wrong(from, to)[0].clone();
    assert_eq!(
        wrong("\"component\": \"asic\"", "\"component\": \"asic[1]\""),
        ["there is no [1] in `asic[1]`: it is one of 1", "they have the numbers 0 to 0"]
    );
    assert_eq!(
        wrong("\"component\": \"asic\"", "\"component\": \"port\""),
        ["there is no component `port`, which `switch of port` names", "the components are: asic",]
    );
    assert_eq!(
        wrong("\"instance\": \"switch\"", "\"instance\": \"leaf\""),
        ["there is no instance `leaf`, which `leaf.asic` names", "the instances are: box, switch",]
    );
    assert_eq!(
        wrong("\"link\": \"wire\"", "\"link\": \"fibre\""),
        [
            "there is no link `fibre`, which `an edge of the infrastructure` names",
            "the links are: wire",
        ]
    );
    assert_eq!(
        wrong("many2many", "ring"),
        [
            "an edge has the scheme `ring`",
            "the service of InfraGraph does not expand it: write one2one or many2many",
        ]
    );
    assert_eq!(
        message("gigabits_per_second", "gigatransfers_per_second"),
        "link `wire` has a bandwidth in gigatransfers per second"
    );
    assert_eq!(message("\"us\": 1", "\"us\": -1"), "link `wire` has a latency of -1 us");
    assert_eq!(message(": 100}", ": 0}"), "link `wire` has 0 Gb/s");
    assert_eq!(
        wrong("\"bandwidth\": {\"gigabits_per_second\": 100}, ", ""),
        [
            "`box.0.xpu.0` and `box.1.xpu.0` are joined by links without a bandwidth",
            "components that such links join are one host or one switch: give the link a bandwidth, here with `rates` \
             or in the file",
        ]
    );
    assert_eq!(
        message("\"count\": 3", "\"count\": 3000000"),
        "the infrastructure has 6000001 components"
    );
    // Two of three boxes have a link.
    assert_eq!(
        wrong("\"instance\": \"box\", ", "\"instance\": \"box[:2]\", "),
        [
            "`box.2.xpu.0` has no link to a switch",
            "add one with a bandwidth; links to processors and memories do not count",
        ]
    );
    let [message, help] = wrong("\"scheme\"", "\"schema\"");
    assert!(
        message.starts_with("this is no infrastructure of InfraGraph: ")
            && message.contains("unknown field `schema`"),
        "{message}"
    );
    assert!(help.contains("InfraGraph 2 and 3"), "{help}");
    // A device in itself, which has no end.
    let text = SMALL.replace(
        "\"name\": \"nic\", \"choice\": \"nic\"",
        "\"name\": \"box\", \"choice\": \"device\"",
    );
    assert_eq!(network(&text).unwrap_err()[0], "device `box` is inside itself");
    assert!(network("[1, 2]").is_err() && network("").is_err());
}

/// Three hosts at three switches, of which each pair has one: any two have a path, and no switch has all.
#[test]
fn two_hosts_need_one_part_of_the_network_in_common() {
    let ends = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (0, 2)];
    let edge = |(nic, switch): (u32, u32)| {
        format!(
            "{{\"ep1\": {{\"instance\": \"box[{nic}]\", \"component\": \"nic[{}]\"}}, \"ep2\": {{\"instance\": \"switch[{switch}]\", \
             \"component\": \"asic\"}}, \"scheme\": \"one2one\", \"link\": \"wire\"}}",
            u32::from(nic != switch)
        )
    };
    let edges = |ends: &[(u32, u32)]| ends.iter().copied().map(edge).collect::<Vec<_>>().join(", ");
    let (before, _) = SMALL.split_once("\"instance\": \"box\", ").unwrap();
    let before = before
        .replace("\"nic\", \"count\": 1", "\"nic\", \"count\": 2")
        .replace("\"one2one\", \"link\": \"on board\"", "\"many2many\", \"link\": \"on board\"")
        .replace("\"device\": \"switch\", \"count\": 1", "\"device\": \"switch\", \"count\": 3");
    let before = before.strip_suffix("{\"ep1\": {").unwrap();
    let graph = network(&format!("{before}{}]}}", edges(&ends))).unwrap();
    assert_eq!(graph.first_ports().count(), 3);
    assert_eq!(ports(&graph).len(), 6);
    assert_eq!(
        network(&format!("{before}{}]}}", edges(&ends[..4]))).unwrap_err()[0],
        "there is no path between `box.0.xpu.0` and `box.2.xpu.0`"
    );
}

#[test]
fn short_files_can_neither_fill_the_memory_nor_the_stack() {
    // The parser would need minutes for the first, which is 200 KB, and does not accept the second.
    let error = |text: String| network(&text).unwrap_err()[0].clone();
    assert_eq!(
        error(format!("devices:\n  {}", "[".repeat(100_000) + &"]".repeat(100_000))),
        "more than 128 brackets are open"
    );
    assert!(error("- ".repeat(100_000)).starts_with("this is no infrastructure"));
    // A name of 100 KB, 100,000 times.
    let long = "x".repeat(100_000);
    assert_eq!(
        error(format!("devices:\n- name: &n {long}\n{}", "- name: *n\n".repeat(100_000))),
        "this is no infrastructure of InfraGraph: devices[0].name: a name has 100000 bytes, and at most 1000 are possible \
         at line 2 column 9"
    );
    // A device in a device, and so on; also if the inner ones were seen before.
    let chain = |levels: u32, instances: &[u32]| {
        let device = |level: u32| {
            format!(
                "- {{name: d{level}, components: [{{name: d{}, choice: device, count: 1}}]}}\n",
                level + 1
            )
        };
        let devices: String = (0..levels).map(device).collect();
        let last =
            format!("- {{name: d{levels}, components: [{{name: x, choice: xpu, count: 1}}]}}\n");
        let instance = |level: &u32| format!("- {{name: i{level}, device: d{level}, count: 1}}\n");
        let instances: String = instances.iter().map(instance).collect();
        error(format!("devices:\n{devices}{last}instances:\n{instances}"))
    };
    assert_eq!(chain(100_000, &[0]), "device `d65` is more than 64 levels inside others");
    assert_eq!(chain(65, &[1, 0]), "device `d1` is more than 64 levels inside others");
    assert!(chain(64, &[1, 0]).ends_with("has no link to a switch"));
}

#[test]
fn a_choice_is_that_of_the_value() {
    let of = |from: &str, to: &str| network(&TWO_RAILS.replace(from, to)).unwrap_err();
    assert_eq!(
        of("choice: us, us: 0.5", "choice: us, ns: 500"),
        [
            "link `eth` has a latency in ns, and its choice is us",
            "write the unit of the value as its choice",
        ]
    );
    assert_eq!(
        of("choice: gigabits_per_second, ", "choice: gigabytes_per_second, ")[0],
        "link `eth` has a bandwidth in gigabits_per_second, and its choice is gigabytes_per_second"
    );
}

#[test]
fn errors_have_the_line_of_what_they_name() {
    let line = |from: &str, to: &str| {
        assert!(TWO_RAILS.contains(from), "{from}");
        let text = TWO_RAILS.replacen(from, to, 1);
        let source = Arc::new(Source::new("network.yaml", text));
        read(&source, &[].into()).unwrap_err().place.position().map(|at| at.line)
    };
    // The name of the link, not its first use.
    assert_eq!(line("gigabits_per_second: 400", "gigabits_per_second: 0"), Some(24));
    assert_eq!(line("link: nvlink", "link: nvlnk"), Some(13));
    assert_eq!(line("component: \"nic[0]\"", "component: \"nic[7]\""), Some(29));
    assert_eq!(line("- {name: host, device: server", "- {name: host, device: box"), Some(26));
    // Nothing in the file is called like a host.
    assert_eq!(line("name: two-rails", "name: rails"), None);
}
