//! Claims about the set-up: whether the scenarios are what the deck describes.

use floodway_model::graph::NodeKind;
use floodway_scenario::{Variant, topology, workload};

use crate::claim::{Row, Rule, SET_UP};
use crate::evidence::{Evidence, Facts};
use crate::library::Value;
use crate::measure::Measured;

use super::{IDLE, INTER, INTRA, LARGE, MEDIUM, NATIVE, PFC, PROXY, SHORT, SMALL, case};

const SYSTEM: &str = "backup, system configuration";
const LOAD: &str = "traffic load configuration";
const SWITCH: &str = "backup, switch configuration parameters";

/// E1 and E2.
pub const NETWORK: &[Row] = &[
    Row {
        id: "E1",
        part: "nodes",
        metric: "hosts of benefits.toml",
        claimed: "320 nodes",
        source: SYSTEM,
        rule: Rule::Exactly(320.0),
        expected: SET_UP,
        measure: &|e| benefits(e, "", |of| of.graph().hosts().count() as f64),
    },
    Row {
        id: "E1",
        part: "switches",
        metric: "switches of benefits.toml",
        claimed: "56 switches: 20 ToR, 20 aggregation, 16 core",
        source: SYSTEM,
        rule: Rule::Exactly(56.0),
        expected: SET_UP,
        measure: &|e| benefits(e, "", |of| of.graph().switches().count() as f64),
    },
    Row {
        id: "E1",
        part: "radix",
        metric: "ports of its largest switch",
        claimed: "switch radix 20",
        source: SYSTEM,
        rule: Rule::Exactly(20.0),
        expected: SET_UP,
        measure: &|e| {
            benefits(e, "", |of| {
                let graph = of.graph();
                let ports = graph.switches().map(|id| graph.node(id).ports.len()).max();
                ports.unwrap_or(0) as f64
            })
        },
    },
    Row {
        id: "E1",
        part: "bisection",
        metric: "capacity of the hosts over that of the links above the edges",
        claimed: "full bisection bandwidth, 100 Gb/s to hosts and 400 Gb/s between switches",
        source: SYSTEM,
        rule: Rule::Exactly(1.0),
        expected: SET_UP,
        measure: &|e| benefits(e, "", oversubscription),
    },
    Row {
        id: "E1",
        part: "round trip",
        metric: "a full packet and its acknowledgement across the idle network, simulated",
        claimed: "RTT 12 us",
        source: SYSTEM,
        rule: Rule::Between(11.95, 12.05),
        expected: SET_UP,
        measure: &round_trip,
    },
    Row {
        id: "E2",
        part: "load",
        metric: "payload that a host of benefits.toml sends, of its link",
        claimed: "background 50 % and incasts 8 % of the network capacity",
        source: LOAD,
        rule: Rule::Between(57.999, 58.001),
        expected: SET_UP,
        measure: &|e| benefits(e, "% of its link", |of| of.derived(1).host_load * 100.0),
    },
    Row {
        id: "E2",
        part: "incasts",
        metric: "mean time between two incasts of benefits.toml",
        claimed: "120:1, 256 KB, 8 % of 32 Tb/s: one every 96 us",
        source: LOAD,
        rule: Rule::Between(95.999, 96.001),
        expected: SET_UP,
        measure: &|e| benefits(e, "us", between_incasts),
    },
];

/// E7.
pub const PARAMETERS: &[Row] = &[
    Row {
        id: "E7",
        part: "parameters",
        metric: "parameters of the scenarios that are the deck's, of 32",
        claimed: "triggers and targets, suppression, pools, guarantees, coefficients, PFC, DCQCN, ECN",
        source: SWITCH,
        rule: Rule::Exactly(PARAMETER_COUNT as f64),
        expected: SET_UP,
        measure: &|e| e.values_as_in(&DECK),
    },
    Row {
        id: "E7",
        part: "lossless",
        metric: "packets dropped in any run of benefits or fairness with PFC, the most",
        claimed: "PFC parameters are selected to ensure losslessness; no egress drops",
        source: SWITCH,
        rule: Rule::Exactly(0.0),
        expected: SET_UP,
        measure: &|evidence| {
            let cases = [SMALL, LARGE, INTRA, INTER].map(|name| case(name, PFC));
            let most = cases.map(|of| evidence.most(of, "", Facts::all_drops).value);
            Measured { value: most.into_iter().flatten().reduce(f64::max), ..Measured::default() }
        },
    },
];

/// A number of the network or the traffic of benefits.toml, the same in all of its variants.
fn benefits(evidence: &Evidence, unit: &'static str, number: impl Fn(&Variant) -> f64) -> Measured {
    evidence.of_variant(BENEFITS, PFC, unit, number)
}

fn oversubscription(variant: &Variant) -> f64 {
    let graph = variant.graph();
    let up = |kind| kind == NodeKind::Switch { tier: 1 };
    let hosts: u64 = graph.hosts().map(|id| graph.node(id).ports[0].rate.0).sum();
    let edges = graph.switches().filter(|id| graph.node(*id).kind == NodeKind::Switch { tier: 0 });
    let links = edges.flat_map(|id| &graph.node(id).ports);
    let fabric: u64 = links.filter(|end| up(graph.node(end.peer).kind)).map(|end| end.rate.0).sum();
    hosts as f64 / fabric as f64
}

/// A message of one packet takes a one-way trip, one of 101 of which one at a time is in flight a
/// hundred round trips more.
fn round_trip(evidence: &Evidence) -> Measured {
    let time = |group| evidence.fct(case(IDLE, "base"), group).value;
    // One packet is a short message, and 101 are one of medium length.
    let ns = time(MEDIUM).zip(time(SHORT)).map(|(all, one)| (all - one) / 100.0);
    Measured { value: ns.map(|ns| ns / 1e3), unit: "us", ..Measured::default() }
}

fn between_incasts(variant: &Variant) -> f64 {
    let settings = &variant.settings;
    let workload::Spec::IncastSeries(series) = &settings.workload[1].traffic else {
        unreachable!("the second workload of benefits.toml is a series of incasts")
    };
    let topology::Spec::FatTree(tree) = &settings.topology else {
        unreachable!("benefits.toml is a fat-tree")
    };
    let bits = f64::from(series.senders) * series.bytes.0 as f64 * 8.0;
    let capacity = f64::from(series.hosts) * tree.host_rate.0 as f64;
    bits / (series.load * capacity) * 1e6
}

const FAIRNESS: &str = "scenarios/sfc/fairness-intra.toml";
const BENEFITS: &str = "scenarios/sfc/benefits.toml";

/// What the deck says, by scenario, variant, place in the settings, and value.
const DECK: [Value; PARAMETER_COUNT] = [
    (BENEFITS, PROXY, "/switch/flow_control/source_flow_control/trigger", "100KB"),
    (BENEFITS, PROXY, "/switch/flow_control/source_flow_control/target", "50KB"),
    (BENEFITS, PROXY, "/switch/flow_control/source_flow_control/suppression", "6us"),
    (BENEFITS, PROXY, "/switch/flow_control/source_flow_control/cache", "true"),
    (BENEFITS, PROXY, "/switch/buffer/shared/egress/pool", "16MB"),
    (BENEFITS, PROXY, "/switch/buffer/shared/egress/guaranteed", "50KB"),
    (BENEFITS, PROXY, "/switch/buffer/shared/egress/alpha", "1"),
    (BENEFITS, NATIVE, "/switch/flow_control/source_flow_control/trigger", "100KB"),
    (BENEFITS, NATIVE, "/switch/flow_control/source_flow_control/target", "50KB"),
    (BENEFITS, PFC, "/switch/queue/size", "800KB"),
    (BENEFITS, PFC, "/switch/flow_control/pfc/xoff", "650KB"),
    (BENEFITS, PFC, "/switch/flow_control/pfc/measured_on", "ingress"),
    (BENEFITS, PFC, "/switch/aqm/step/threshold", "50KB"),
    (BENEFITS, PFC, "/host/transport/rocev2/mtu", "1.024KB"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/fast_recovery", "1"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/g", "0.0009813"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/byte_counter", "2097.152KB"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/increase_timer", "4us"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/alpha_timer", "5us"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/cnp_interval", "4us"),
    (BENEFITS, PFC, "/host/congestion/dcqcn/window", "15us"),
    (FAIRNESS, PFC, "/switch/buffer/shared/ingress/pool", "9MB"),
    (FAIRNESS, PFC, "/switch/buffer/shared/ingress/guaranteed", "50KB"),
    (FAIRNESS, PFC, "/switch/buffer/shared/ingress/alpha", "0.5"),
    (FAIRNESS, PFC, "/switch/buffer/shared/egress/pool", "16MB"),
    (FAIRNESS, PFC, "/switch/buffer/shared/egress/guaranteed", "50KB"),
    (FAIRNESS, PFC, "/switch/buffer/shared/egress/alpha", "2"),
    (FAIRNESS, PROXY, "/switch/buffer/shared/egress/alpha", "2"),
    (FAIRNESS, PROXY, "/switch/flow_control/source_flow_control/trigger", "100KB"),
    (FAIRNESS, PROXY, "/switch/flow_control/source_flow_control/target", "64KB"),
    (FAIRNESS, PROXY, "/switch/flow_control/source_flow_control/suppression", "6us"),
    (FAIRNESS, NATIVE, "/switch/flow_control/source_flow_control/target", "64KB"),
];

const PARAMETER_COUNT: usize = 32;
