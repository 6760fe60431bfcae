//! The experiments, by level.

use crate::plan::{Experiment, Level};

use super::goals;
use super::readings::READINGS;
use super::{ALL_VARIANTS, CI, WITHOUT};

const BOTH: &[&str] = &[WITHOUT, CI];

/// Sizes between the smallest and the largest of the decks, by their rule (N leaves, N/2 spines,
/// N/2 servers at each leaf), with clusters and incasts in proportion.
pub const SERVERS_288: &[&str] = &[
    "topology.clos.leaves=24",
    "topology.clos.spines=12",
    "topology.clos.hosts_per_leaf=12",
    "workload.0.many_to_many.clusters=12",
    "workload.1.incast.sets=1",
];
pub const SERVERS_512: &[&str] = &[
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

/// The AQM marks isolated packets like all others, and isolation marks none.
const MARKS_BY_AQM: &[&str] = &[
    "variants.ci.switch.aqm=ramp",
    "variants.ci.switch.flow_control.congestion_isolation.mark=aqm",
];
/// The AQM marks, and isolation marks what it has found.
const BESIDE_AQM: &[&str] = &["variants.ci.switch.aqm=ramp"];
/// No second queue.
const ONE_QUEUE: &[&str] = &["switch.classify=single"];

/// The other reading of ECN, for the variant that marks: a ramp that is set for all variants would give one
/// to switches without.
const STEP: &[&str] = &["variants.without-ci.switch.aqm.ramp.above_kmax=step"];

/// A shorter version of everything, for `--quick`. Much shorter ones lose the sign of what
/// elephants gain, because permanent incasts need some milliseconds to settle.
const QUICK: &[&str] = &["arrivals=12ms", "warmup=8ms", "limit=40ms"];

/// Traffic that no rule or expectation was made from.
pub const FRESH: &str = "seed=4";

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let plan = differences(level).into_iter().chain(goals::experiments(level));
    let mut plan: Vec<Experiment> = plan.map(|experiment| experiment.set(&[FRESH])).collect();
    plan.extend(READINGS.all().iter().flat_map(|reading| READINGS.experiments(reading, level)));
    plan
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
    let step = "scenarios/ci/ecn-step.toml";
    let lossy = "scenarios/ci/lossy.toml";
    let mut plan = vec![
        small("two-queues", lossless, ALL_VARIANTS, [6, 10]),
        small("ecn-step", step, BOTH, [3, 10]),
        small("by-aqm", lossless, &[CI], [3, 10]).set(MARKS_BY_AQM),
        small("ecn-step-by-aqm", step, &[CI], [3, 10]).set(MARKS_BY_AQM),
        small("ecn-step-beside", step, &[CI], [3, 10]).set(BESIDE_AQM),
        small("one-queue", lossless, &[WITHOUT], [3, 10]).set(ONE_QUEUE),
        small("ecn-step-one-queue", step, &[WITHOUT], [3, 10]).set(ONE_QUEUE),
        small("three-queues", "scenarios/ci/three-queues.toml", BOTH, [3, 10]),
        small("memory-size", "scenarios/ci/memory-size.toml", BOTH, [1, 3]),
        small("memory-xoff", "scenarios/ci/memory-xoff.toml", BOTH, [3, 10]),
        small("memory-high", "scenarios/ci/memory-high.toml", &[CI], [3, 10]),
        small("latency", "scenarios/ci/latency.toml", BOTH, [3, 10]),
        small("lossy", lossy, ALL_VARIANTS, [3, 10]),
        small("lossy-go-back-n", "scenarios/ci/lossy-go-back-n.toml", BOTH, [2, 5]),
        small("lossy-ecn-step", lossy, BOTH, [2, 5]).set(STEP),
        small("lossy-bdp", lossy, BOTH, [2, 5]).set(&["host.transport.rocev2.in_flight=25KB"]),
        small("servers-288", lossless, BOTH, [2, 5]).set(SERVERS_288),
    ];
    if level >= Level::Standard {
        let window = &["host.transport.rocev2.in_flight=131072B"];
        plan.push(small("lossy-128-packets", lossy, BOTH, [2, 5]).set(window));
        plan.push(small("servers-512", lossless, BOTH, [2, 5]).set(SERVERS_512));
    }
    if level == Level::Full {
        let large = Experiment::new("two-queues-1152", lossless).variants(ALL_VARIANTS);
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
