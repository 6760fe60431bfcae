use std::collections::BTreeSet;

use floodway_model::Rate;

use super::*;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("network", text.to_owned()))
}

fn network(format: Format, text: &str) -> Network {
    format
        .read(&source(text), &Rates::new())
        .unwrap_or_else(|problem| panic!("{}", problem.plain()))
}

/// Line, column, word and cause.
fn wrong(format: Format, text: &str) -> String {
    let problem = format.read(&source(text), &Rates::new()).unwrap_err();
    assert!(!problem.help.is_empty());
    match problem.place.position() {
        Some(at) => {
            format!("{}:{} {}: {}", at.line, at.column, problem.place.word(), problem.message)
        }
        None => problem.message,
    }
}

/// What is wrong when something in a text is something else.
fn spoilt(format: Format, text: &str) -> impl Fn(&str, &str) -> String {
    move |from, to| {
        assert!(text.contains(from), "{from}");
        wrong(format, &text.replacen(from, to, 1))
    }
}

/// How many hosts, switches and links, and ports of the node that has the most.
fn counts(network: &Network) -> [u64; 4] {
    let Size { hosts, switches, links, most_ports } = network.size();
    [hosts, switches, links, most_ports]
}

/// What is at the other ends of a node's ports.
fn peers(graph: &Graph, name: &str) -> Vec<String> {
    let node = graph.nodes.iter().find(|node| node.name == name).unwrap();
    node.ports.iter().map(|port| graph.node(port.peer).name.clone()).collect()
}

/// Two hosts and a third on a line of switches, which are numbered among them.
const LINE: &str = "6 3 6\n1 5 \n3\n\
                    0 1 100Gbps 1000ns 0.000000\n\
                    2 1 25Gbps 1us 0\n\
                    1 3 400Gbps 0.001ms 0\n\
                    1 3 400Gbps 0.001ms 0\n\
                    3 5 400Gbps 500ns 0\n\
                    5 4 100Gbps 1000ns 0\n\
                    \nFirst line: total node #, switch node #, link #\n";

#[test]
fn hpcc_by_hand() {
    let network = network(Format::Hpcc, LINE);
    let graph = &network.graph;
    let names: Vec<_> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["host 0", "host 2", "host 4", "switch 1", "switch 3", "switch 5"]);
    assert_eq!(counts(&network), [3, 3, 6, 4]);
    assert_eq!(peers(graph, "switch 1"), ["host 0", "host 2", "switch 3", "switch 3"]);
    assert_eq!(peers(graph, "host 4"), ["switch 5"]);
    let end = |node: usize, port: usize| graph.nodes[node].ports[port];
    assert_eq!((end(0, 0).rate, end(0, 0).delay), (Rate::from_gbps(100), Duration::from_us(1)));
    assert_eq!((end(1, 0).rate, end(1, 0).delay), (Rate::from_gbps(25), Duration::from_us(1)));
    assert_eq!((end(3, 2).rate, end(5, 0).delay), (Rate::from_gbps(400), Duration::from_ns(500)));
    let tiers: Vec<_> = graph.switches().map(|switch| graph.node(switch).kind).collect();
    assert_eq!(tiers, [0, 1, 0].map(|tier| NodeKind::Switch { tier }));
    assert_eq!(network.switch_latency, None);
    assert_eq!(network.host_numbers().get("host 4"), Some(&2));
}

#[test]
fn what_is_wrong_with_a_topology_of_hpcc() {
    let of = spoilt(Format::Hpcc, LINE);
    assert_eq!(wrong(Format::Hpcc, "\n"), "the file is empty");
    assert_eq!(of("6 3 6", "6 3"), "1:1 6 3: the first line has 2 numbers, not 3");
    assert_eq!(of("6 3 6", "6 0 6"), "1:3 0: there are 0 switches");
    assert_eq!(of("1 5 \n", "1 6 \n"), "2:3 6: there is no node 6: the first line says 6");
    assert_eq!(of("1 5 \n", "1 1 \n"), "2:3 1: the switch 1 is there twice");
    assert_eq!(of("1 5 \n3", "1 5 \n3 4"), "3:3 4: there are more switches than the 3 announced");
    assert_eq!(
        of("6 3 6", "6 3 5"),
        "9:1 5 4 100Gbps 1000ns 0: there are more links than the 5 that the first line says"
    );
    assert_eq!(of("5 4 100Gbps", "5 x 100Gbps"), "9:3 x: the node is `x`, not a whole number");
    assert_eq!(of("5 4 ", "5 5 "), "9:3 5: the link would join 5 to itself");
    assert_eq!(of("5 4 ", "0 4 "), "9:3 4: 0 and 4 are both hosts");
    assert_eq!(of("5 4 ", "5 0 "), "9:3 0: host 0 would have more than one link");
    assert_eq!(
        of("25Gbps 1us 0\n", "25Gbps 1us 0.001\n"),
        "5:16 0.001: the link would lose packets at a rate of 0.001"
    );
    assert_eq!(of("25Gbps", "0Gbps"), "5:5 0Gbps: the rate is zero");
    assert_eq!(
        of("25Gbps", "25"),
        "5:5 25: the rate: \"25\" has no unit: a rate is written like \"100Gbps\""
    );
    assert_eq!(
        of(" 1us", " 1min"),
        "5:12 1min: the delay: unknown unit \"min\" in \"1min\": a duration takes ps, ns, us, µs, ms, s"
    );
    assert_eq!(of(" 1us", " 2s"), "5:12 2s: the delay is 2s");
    assert_eq!(
        of("1000ns 0\n\n", "1000ns\n\n"),
        "9:1 5 4 100Gbps 1000ns: a link has 5 parts, and the line has 4"
    );
    assert_eq!(of("3 5 400Gbps", "3 1 400Gbps"), "there is no path between `host 4` and `host 0`");
    assert_eq!(
        wrong(Format::Hpcc, "3 1 2\n1\n0 1 1Gbps 1ns 0\n"),
        "1:5 2: the number of links is 2, and the file has 1"
    );
    assert_eq!(wrong(Format::Hpcc, "3 1 1\n1\n0 1 1Gbps 1ns 0\n"), "`host 2` has no link");
    assert_eq!(
        wrong(Format::Hpcc, "2 1 1\n1\n0 1 1Gbps 1ns 0\n"),
        "the network has fewer than 2 hosts"
    );
}

/// A fat-tree with 8 hosts in 2 pods, 2 edge and 2 aggregation switches in each, and 2 cores with 2
/// links to each aggregation switch that has them.
const THREE: &str = "# by hand\nNodes 8\nTiers 3\nPodsize 4\n\n\
                     Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
                     Downlink_Latency_ns 1000\nSwitch_Latency_ns 300\n\n\
                     Tier 1\ndownlink_speed_gbps 100\nradix_down 2\nradix_up 2\nBundle 1\n\
                     Downlink_Latency_ns 2000\nSwitch_Latency_ns 300\nOversubscribed 1\n\n\
                     Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\nQueue_Down 90\n\
                     Downlink_Latency_ns 3000\nSwitch_Latency_ns 300\n";

#[test]
fn htsim_by_hand() {
    let network = network(Format::Htsim, THREE);
    let graph = &network.graph;
    assert_eq!(counts(&network), [8, 10, 24, 4]);
    assert_eq!(peers(graph, "edge 2"), ["host 4", "host 5", "aggregation 2", "aggregation 3"]);
    assert_eq!(peers(graph, "aggregation 2"), ["edge 2", "edge 3", "core 0", "core 0"]);
    assert_eq!(peers(graph, "aggregation 3"), ["edge 2", "edge 3", "core 1", "core 1"]);
    let both = ["aggregation 1", "aggregation 1", "aggregation 3", "aggregation 3"];
    assert_eq!(peers(graph, "core 1"), both);
    let delays: BTreeSet<u64> = graph.links().map(|(_, _, end)| end.delay.0 / 1_000_000).collect();
    assert_eq!(delays, [1, 2, 3].into());
    assert_eq!(network.switch_latency, Some(Duration::from_ns(300)));
}

/// That cores are taken in steps: of 4 per aggregation switch and 2 of those per pod, the first has
/// the even ones.
#[test]
fn cores_of_htsim_are_shared_out_in_steps() {
    let text = THREE
        .replace("radix_up 2", "radix_up 4")
        .replace("Oversubscribed 1", "")
        .replace("radix_down 2", "radix_down 4")
        .replace("Radix_Down 2\nRadix_Up 2", "Radix_Down 1\nRadix_Up 2")
        .replace("Tier 0", "Tier 0\nOversubscribed 1")
        .replace("Radix_Down 4\nBundle 2", "Radix_Down 2")
        .replace(
            "Tier 0\nOversubscribed 1\nDownlink_speed_Gbps 100",
            "Tier 0\nDownlink_speed_Gbps 200",
        );
    let network = network(Format::Htsim, &text);
    let graph = &network.graph;
    // Edge switches have one host at 200 Gb/s, and two links of 100 Gb/s upward.
    assert_eq!(peers(graph, "edge 7"), ["host 7", "aggregation 2", "aggregation 3"]);
    assert_eq!(peers(graph, "aggregation 2")[4..], [0, 2, 4, 6].map(|core| format!("core {core}")));
    assert_eq!(peers(graph, "aggregation 1")[4..], [1, 3, 5, 7].map(|core| format!("core {core}")));
    assert_eq!(peers(graph, "core 3"), ["aggregation 1", "aggregation 3"]);
}

#[test]
fn two_tiers_of_htsim() {
    let text = "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\n\
                Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\n\
                Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
    let network = network(Format::Htsim, text);
    assert_eq!(counts(&network), [32, 6, 40, 10]);
    assert_eq!(peers(&network.graph, "spine 1"), [0, 1, 2, 3].map(|leaf| format!("leaf {leaf}")));
    assert_eq!(network.switch_latency, Some(Duration::ZERO));
}

/// The sizes that the rule of htsim gives for the files that come with it.
#[test]
fn trees_of_htsims_own_sizes() {
    let tree = |nodes, pod, radices: [u32; 5], bundle| {
        let [down0, up0, down1, up1, down2] = radices;
        format!(
            "Nodes {nodes}\nTiers 3\nPodsize {pod}\nTier 0\nDownlink_speed_Gbps 100\n\
             Radix_Down {down0}\nRadix_Up {up0}\nDownlink_Latency_ns 1\nTier 1\n\
             Downlink_speed_Gbps 100\nRadix_Down {down1}\nRadix_Up {up1}\nDownlink_Latency_ns 1\n\
             Tier 2\nDownlink_speed_Gbps 100\nRadix_Down {down2}\nDownlink_Latency_ns 1\n\
             Bundle {bundle}\n"
        )
    };
    let network = |text: String| network(Format::Htsim, &text);
    let of_16_pods = network(tree(1024, 64, [8, 8, 8, 8, 16], 1));
    assert_eq!(counts(&of_16_pods), [1024, 16 * 16 + 64, 3 * 1024, 16]);
    // 12 pods with 6 aggregation switches, each with bundles of 3 to 2 of the 12 cores.
    let of_12_pods = network(tree(432, 36, [6, 6, 6, 6, 36], 3));
    assert_eq!(counts(&of_12_pods), [432, 12 * 12 + 12, 3 * 432, 36]);
}

#[test]
fn what_is_wrong_with_a_tree_of_htsim() {
    let of = spoilt(Format::Htsim, THREE);
    assert_eq!(of("Nodes 8\n", ""), "the header has no `Nodes`");
    assert_eq!(of("Podsize", "Pod_size"), "4:1 Pod_size: the header has no `Pod_size`");
    assert_eq!(of("Radix_Up 2", "Radix 2"), "9:1 Radix: a tier has no `Radix`");
    assert_eq!(of("Radix_Up 2", "Radix_Up"), "9:1 Radix_Up: `Radix_Up` has 0 values");
    assert_eq!(of("Radix_Up 2\n", ""), "6:1 Tier 0: the tier has no `Radix_Up`");
    assert_eq!(of("Radix_Up 2", "Radix_Down 2"), "9:1 Radix_Down: `Radix_Down` is there twice");
    assert_eq!(of("Bundle 2", "Bundle 0"), "25:8 0: `Bundle` is 0");
    assert_eq!(of("Bundle 2", "Radix_Up 2"), "25:10 2: the highest tier has a `Radix_Up`");
    assert_eq!(of("Tiers 3", "Tiers 4"), "3:7 4: a fat-tree of 4 tiers is not possible");
    assert_eq!(
        of("Tiers 3", "Tiers 2"),
        "22:1 Tier 2: the header says 2 tiers, and this is another one"
    );
    assert_eq!(of("Tier 2", "Tier 3"), "22:6 3: there is no tier 3");
    assert_eq!(
        of("Podsize 4", "Podsize 3"),
        "4:9 3: 8 hosts cannot be shared out evenly to pods of 3"
    );
    assert_eq!(
        of("radix_down 2", "radix_down 4"),
        "15:12 4: a switch would have 4 links downward, and 2 edge switches of its pod with 1 \
         each need 2"
    );
    assert_eq!(
        of("Oversubscribed 1", "Oversubscribed 2"),
        "20:16 2: `Oversubscribed` is 2, and the capacity of a switch downward over that upward is \
         1"
    );
    let large = THREE
        .replace("radix_up 2", "radix_up 9223372036854775808")
        .replace("Oversubscribed 1", "Oversubscribed 9223372036854775807");
    assert!(
        wrong(Format::Htsim, &large).starts_with("20:16 9223372036854775807: `Oversubscribed` is")
    );
    assert_eq!(
        of("Switch_Latency_ns 300\n\nTier 1", "Switch_Latency_ns 200\n\nTier 1"),
        "19:19 300: the switch latencies of the tiers differ"
    );
}
