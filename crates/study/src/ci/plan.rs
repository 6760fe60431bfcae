//! The experiments, by level.

use crate::plan::{Experiment, Level};

use super::{CI, LOCAL, WITHOUT};

const BOTH: &[&str] = &[WITHOUT, CI];
const ALL: &[&str] = &[WITHOUT, LOCAL, CI];

/// Sizes between the smallest and the largest of the decks, by their rule (N leaves, N/2 spines,
/// N/2 servers at each leaf), with clusters and incasts in proportion.
const SERVERS_288: &[&str] = &[
    "topology.clos.leaves=24",
    "topology.clos.spines=12",
    "topology.clos.hosts_per_leaf=12",
    "workload.0.many_to_many.clusters=12",
    "workload.1.incast.sets=1",
];
const SERVERS_512: &[&str] = &[
    "topology.clos.leaves=32",
    "topology.clos.spines=16",
    "topology.clos.hosts_per_leaf=16",
    "workload.0.many_to_many.clusters=22",
    "workload.1.incast.sets=2",
];
const SERVERS_1152: &[&str] = &[
    "topology.clos.leaves=48",
    "topology.clos.spines=24",
    "topology.clos.hosts_per_leaf=24",
    "workload.0.many_to_many.clusters=50",
    "workload.1.incast.sets=4",
];

/// The other reading of ECN.
const STEP: &[&str] = &["switch.aqm.ramp.above_high=step"];

/// What the decks leave open: one thing each is unlike lossless.toml.
pub const OPEN: &[(&str, &str, &[&str])] = &[
    ("open-base", "as it stands", &[]),
    ("open-unsettled", "measured from 1 ms on", &["arrivals=6ms", "warmup=1ms"]),
    ("open-ecn-step", "ECN marks all above 300 KB", STEP),
    ("open-load-03", "load 0.3", &["workload.0.many_to_many.load=0.3"]),
    ("open-load-07", "load 0.7", &["workload.0.many_to_many.load=0.7"]),
    (
        "open-sizes",
        "data mining with the heavier tail",
        &["workload.0.many_to_many.sizes=data_mining_bytes"],
    ),
    ("open-tail-100mb", "flow sizes cut at 100 MB", &["workload.0.many_to_many.max_size=100MB"]),
    ("open-nic-pause", "a pause stops the whole NIC", &["host.pause_scope=nic"]),
    ("open-in-flight", "25 KB in flight at most", &["host.transport.rocev2.in_flight=25KB"]),
    ("open-strict", "monitored queue strictly first", &["switch.scheduler=strict"]),
    (
        "open-xoff-ingress",
        "XOFF measured on the ingress",
        &["switch.flow_control.pfc.measured_on=ingress"],
    ),
    (
        "open-dcqcn-timer",
        "DCQCN: increase timer 300 µs",
        &["host.congestion.dcqcn.increase_timer=300us"],
    ),
    ("open-dcqcn-cnp", "DCQCN: CNP gap 50 µs", &["host.congestion.dcqcn.cnp_interval=50us"]),
    ("open-dcqcn-clamp", "DCQCN: clamped target", &["host.congestion.dcqcn.clamp_target=true"]),
    (
        "open-dcqcn-paper",
        "DCQCN: the paper's rules",
        &[
            "host.congestion.dcqcn.variant=paper",
            "host.congestion.dcqcn.cnp_interval=50us",
            "host.congestion.dcqcn.alpha_timer=55us",
        ],
    ),
];

/// The same for what only the variant with messages has.
pub const OPEN_CI: &[(&str, &str, &[&str])] = &[
    (
        "open-mark-all",
        "every isolated packet is marked",
        &["variants.ci.switch.flow_control.congestion_isolation.mark=all"],
    ),
    (
        "open-signal-isolation",
        "messages on isolation only",
        &["variants.ci.switch.flow_control.congestion_isolation.signal=isolation"],
    ),
    (
        "open-signal-depth",
        "messages on depth only",
        &["variants.ci.switch.flow_control.congestion_isolation.signal=congesting_queue"],
    ),
    (
        "open-life-1ms",
        "entries of messages live 1 ms",
        &["variants.ci.switch.flow_control.congestion_isolation.cim_entry_life=1ms"],
    ),
    (
        "open-hosts",
        "NICs take no part",
        &["variants.ci.switch.flow_control.congestion_isolation.hosts=false"],
    ),
];

/// A shorter version of lossless.toml, for the many rows of what the decks leave open.
const SHORTER: &[&str] = &["replications=5", "arrivals=12ms", "warmup=8ms", "limit=60ms"];

/// A shorter version of everything, for `--quick`. Much shorter ones lose the sign of what
/// elephants gain, because permanent incasts need some milliseconds to settle.
const QUICK: &[&str] = &["arrivals=12ms", "warmup=8ms", "limit=40ms"];

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=2";

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let plan = differences(level).into_iter();
    plan.map(|experiment| experiment.set(&[FRESH])).collect()
}

/// What each experiment changes.
fn differences(level: Level) -> Vec<Experiment> {
    let small = |name, file, variants: &[&'static str], runs: [u32; 2]| {
        let experiment = Experiment::new(name, file).variants(variants);
        match level {
            Level::Quick => experiment.replications(runs[0]).set(QUICK),
            _ => experiment.replications(runs[1]),
        }
    };
    let lossless = "scenarios/ci/lossless.toml";
    let lossy = "scenarios/ci/lossy.toml";
    let mut plan = vec![
        small("two-queues", lossless, ALL, [6, 10]),
        small("ecn-step", "scenarios/ci/ecn-step.toml", BOTH, [3, 10]),
        small("three-queues", "scenarios/ci/three-queues.toml", BOTH, [3, 10]),
        small("memory-size", "scenarios/ci/memory-size.toml", BOTH, [1, 3]),
        small("memory-xoff", "scenarios/ci/memory-xoff.toml", BOTH, [3, 10]),
        small("memory-high", "scenarios/ci/memory-high.toml", &[CI], [3, 10]),
        small("latency", "scenarios/ci/latency.toml", BOTH, [3, 10]),
        small("lossy", lossy, ALL, [3, 10]),
        small("lossy-go-back-n", "scenarios/ci/lossy-go-back-n.toml", BOTH, [2, 5]),
        small("lossy-ecn-step", lossy, BOTH, [2, 5]).set(STEP),
        small("lossy-bdp", lossy, BOTH, [2, 5]).set(&["host.transport.rocev2.in_flight=25KB"]),
        small("servers-288", lossless, BOTH, [2, 5]).set(SERVERS_288),
    ];
    if level >= Level::Standard {
        let window = &["host.transport.rocev2.in_flight=131072B"];
        plan.push(small("lossy-128-packets", lossy, BOTH, [2, 5]).set(window));
        plan.push(small("servers-512", lossless, BOTH, [2, 5]).set(SERVERS_512));
        let open = |(name, _, set): &(&'static str, &str, &[&str])| {
            Experiment::new(name, lossless).set(SHORTER).set(set)
        };
        plan.extend(OPEN.iter().map(|row| open(row).variants(ALL)));
        plan.extend(OPEN_CI.iter().map(|row| open(row).variants(&[CI])));
    }
    if level == Level::Full {
        let large = Experiment::new("two-queues-1152", lossless).variants(ALL);
        plan.push(large.replications(5).set(SERVERS_1152));
    }
    plan
}

/// The experiments of the scaling comparison, with their numbers of servers.
pub const SIZES: &[(&str, f64)] = &[
    ("two-queues", 128.0),
    ("servers-288", 288.0),
    ("servers-512", 512.0),
    ("two-queues-1152", 1152.0),
];
