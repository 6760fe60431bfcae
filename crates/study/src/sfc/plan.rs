//! The experiments, by level.

use crate::evidence::Evidence;
use crate::plan::{Experiment, Level};
use crate::readings::Judged;

use super::next;
use super::{BFC, IDLE, INTER, INTRA, LARGE, LOSSY, NATIVE, PFC, PROXY, SMALL};

pub const BENEFITS: &str = "scenarios/sfc/benefits.toml";

/// Two of the five pods: 128 hosts. An incast then takes nearly all of them.
const TWO_PODS: &[&str] = &[
    "topology.fat_tree.pods=2",
    "workload.0.many_to_many.cluster_size=128",
    "workload.1.incast_series.hosts=128",
];

/// A shorter version, for `--quick` and for the many rows of what the deck leaves open.
const SHORTER: &[&str] = &["arrivals=4ms", "warmup=2.5ms", "limit=30ms"];

/// Twice as long, with the same start of the measurement: what does not settle grows in it.
const LONGER: &[&str] = &["arrivals=8ms", "warmup=2.5ms", "limit=60ms"];

/// A load: the part of the capacity that background and incasts come to in percent, the experiment
/// that has it, the same for longer, and the settings of both.
pub struct Load {
    /// Percent.
    pub background: u32,
    /// Percent.
    pub incasts: u32,
    /// As long as the readings are.
    pub short: &'static str,
    /// Twice as long.
    pub long: &'static str,
    set: &'static [&'static str],
}

/// The loads at which is asked whether a flow control settles.
pub const LOADS: &[Load] = &[
    Load { background: 50, incasts: 8, short: "open-base", long: "load-50-8-long", set: &[] },
    Load {
        background: 50,
        incasts: 4,
        short: "load-50-4",
        long: "load-50-4-long",
        set: &["workload.1.incast_series.load=0.04"],
    },
    Load {
        background: 50,
        incasts: 2,
        short: "open-incasts-2",
        long: "load-50-2-long",
        set: &["workload.1.incast_series.load=0.02"],
    },
    Load {
        background: 30,
        incasts: 8,
        short: "open-load-03",
        long: "load-30-8-long",
        set: &["workload.0.many_to_many.load=0.3"],
    },
    Load {
        background: 30,
        incasts: 2,
        short: "load-30-2",
        long: "load-30-2-long",
        set: &["workload.0.many_to_many.load=0.3", "workload.1.incast_series.load=0.02"],
    },
];

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=3";

/// What the deck leaves open, and what its numbers could mean instead: one thing each is unlike
/// benefits.toml.
pub const OPEN: &[(&str, &str, &[&str])] = &[
    ("open-base", "as it stands", &[]),
    (
        "open-ai-line",
        "DCQCN: AI and Hyper AI as parts of the line rate (1.25 and 2.5 Gb/s)",
        &[
            "host.congestion.dcqcn.additive_increase=1.25Gbps",
            "host.congestion.dcqcn.hyper_increase=2.5Gbps",
        ],
    ),
    ("open-gain", "DCQCN: gain 5/1024", &["host.congestion.dcqcn.g=0.0048828125"]),
    ("open-nic", "DCQCN: the NIC's rules", &["host.congestion.dcqcn.variant=nic"]),
    (
        "open-window-rate",
        "DCQCN: the window follows the rate",
        &["host.congestion.dcqcn.window_follows_rate=true"],
    ),
    (
        "open-window-rtt",
        "DCQCN: a window of one round trip (12 µs)",
        &["host.congestion.dcqcn.window=12us"],
    ),
    ("open-no-ecn", "no ECN, so no DCQCN", &["switch.aqm=drop_tail"]),
    ("open-load-03", "background at 30 %", &["workload.0.many_to_many.load=0.3"]),
    (
        "open-sizes-w2",
        "search RPCs (W2) as background",
        &["workload.0.many_to_many.sizes=google_search_rpc"],
    ),
    ("open-incasts-2", "incasts at 2 % of the capacity", &["workload.1.incast_series.load=0.02"]),
    (
        "open-incasts-05",
        "incasts at 0.5 %: hardly two at once",
        &["workload.1.incast_series.load=0.005"],
    ),
    ("open-fan-in", "incasts of 30:1", &["workload.1.incast_series.senders=30"]),
    ("open-latency", "no latency in switches: RTT 6.3 µs", &["switch.latency=0ns"]),
];

/// The same for PFC alone.
pub const OPEN_PFC: &[(&str, &str, &[&str])] = &[
    ("open-xon-low", "PFC: XON at 4 KB", &["variants.pfc.switch.flow_control.pfc.xon=4KB"]),
    (
        "open-pfc-shared",
        "PFC: dynamic thresholds, as for fairness",
        &[
            "variants.pfc.switch.flow_control.pfc.measured_on=ingress_pool",
            "variants.pfc.switch.buffer.shared.ingress.pool=9MB",
            "variants.pfc.switch.buffer.shared.ingress.alpha=0.5",
            "variants.pfc.switch.buffer.shared.headroom=100KB",
            "variants.pfc.switch.buffer.shared.egress=false",
        ],
    ),
];

/// A reading of Source Flow Control: its name, what it is, and fields with their values.
type Reading = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The same for Source Flow Control alone, in both of its modes.
pub const OPEN_SFC: &[Reading] = &[
    ("open-by-flow", "one message per flow, not per source", &[("suppress_by", "flow")]),
    ("open-no-cache", "no destination cache", &[("cache", "false")]),
    ("open-deduct", "12 µs less of pause", &[("deduct", "12us")]),
    ("open-suppress-3", "suppression period 3 µs", &[("suppression", "3us")]),
    ("open-suppress-12", "suppression period 12 µs", &[("suppression", "12us")]),
    ("open-trigger-50", "trigger 50 KB, target 25 KB", &[("trigger", "50KB"), ("target", "25KB")]),
    (
        "open-trigger-200",
        "trigger 200 KB, target 100 KB",
        &[("trigger", "200KB"), ("target", "100KB")],
    ),
];

/// Memory that never drops.
const MEMORY: [&str; 2] = [
    "variants.bfc.switch.buffer.shared.egress.pool=200MB",
    "variants.bfc.switch.buffer.shared.egress.alpha=8.0",
];
/// No congestion control but a window.
const ALONE: [&str; 3] = [
    "switch.aqm=drop_tail",
    "host.congestion=line_rate",
    "host.transport.rocev2.in_flight=187.5KB",
];

/// What the rivals need: name, what it is, variant, settings.
pub const OPEN_RIVALS: &[(&str, &str, &str, &[&str])] = &[
    ("open-bfc", "32 queues, as in benefits.toml", BFC, &[]),
    ("open-bfc-128", "128 queues", BFC, &["variants.bfc.switch.flow_control.bfc.queues=128"]),
    (
        "open-bfc-128-memory",
        "128 queues, memory that never drops",
        BFC,
        &["variants.bfc.switch.flow_control.bfc.queues=128", MEMORY[0], MEMORY[1]],
    ),
    (
        "open-bfc-255-memory",
        "255 queues, memory that never drops",
        BFC,
        &["variants.bfc.switch.flow_control.bfc.queues=255", MEMORY[0], MEMORY[1]],
    ),
    (
        "open-bfc-alone",
        "255 queues, memory that never drops, no DCQCN",
        BFC,
        &[
            "variants.bfc.switch.flow_control.bfc.queues=255",
            MEMORY[0],
            MEMORY[1],
            ALONE[0],
            ALONE[1],
            ALONE[2],
        ],
    ),
    ("open-lossy", "go-back-N, as in benefits.toml", LOSSY, &[]),
    (
        "open-lossy-selective",
        "selective repeat (IRN)",
        LOSSY,
        &["host.transport.rocev2.recovery=selective_repeat"],
    ),
];

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let small = Experiment::new(SMALL, BENEFITS).set(TWO_PODS);
    let fairness = |name, file| Experiment::new(name, file).replications(5);
    let mut plan = vec![
        Experiment::new(IDLE, "scenarios/sfc/idle.toml").single(),
        fairness(INTRA, "scenarios/sfc/fairness-intra.toml"),
        fairness(INTER, "scenarios/sfc/fairness-inter.toml"),
    ];
    if level == Level::Quick {
        plan.insert(0, small.replications(4).set(SHORTER));
    } else {
        plan.insert(0, small.replications(5));
        let open =
            |name| Experiment::new(name, BENEFITS).replications(3).set(TWO_PODS).set(SHORTER);
        let both = OPEN.iter().map(|(name, _, set)| open(*name).set(set));
        plan.extend(both.map(|experiment| experiment.variants(&[PFC, PROXY, NATIVE])));
        for load in LOADS {
            let three = &[PFC, PROXY, NATIVE];
            if !OPEN.iter().any(|(name, ..)| *name == load.short) {
                plan.push(open(load.short).set(load.set).variants(three));
            }
            plan.push(open(load.long).set(LONGER).set(load.set).variants(three));
        }
        let pfc = OPEN_PFC.iter().map(|(name, _, set)| open(*name).set(set));
        plan.extend(pfc.map(|experiment| experiment.variants(&[PFC])));
        let rivals = OPEN_RIVALS.iter();
        plan.extend(rivals.map(|(name, _, of, set)| open(*name).set(set).variants(&[of])));
        for (name, _, fields) in OPEN_SFC {
            let mut experiment = open(*name).variants(&[PROXY, NATIVE]);
            for variant in [PROXY, NATIVE] {
                for (field, value) in *fields {
                    let path =
                        format!("variants.{variant}.switch.flow_control.source_flow_control");
                    experiment = experiment.set(&[&format!("{path}.{field}={value}")]);
                }
            }
            plan.push(experiment);
        }
    }
    if level == Level::Full {
        plan.push(Experiment::new(LARGE, BENEFITS).replications(5));
    }
    plan.extend(next::experiments(level));
    plan.into_iter().map(|experiment| experiment.set(&[FRESH])).collect()
}

/// The readings of benefits.toml: as it stands, and with one other choice each.
pub fn readings(evidence: &Evidence) -> Judged {
    let both = OPEN[1..].iter().map(|(name, words, _)| (*name, *words));
    let pfc = OPEN_PFC.iter().map(|(name, words, _)| (*name, *words));
    let sfc = OPEN_SFC.iter().map(|(name, words, _)| (*name, *words));
    let others = both.chain(pfc).chain(sfc);
    let others = others.map(|(name, words)| (words.to_owned(), vec![(SMALL, name)]));
    Judged::one_at_a_time(vec![(SMALL, OPEN[0].0)], others).that_were_run(evidence)
}
