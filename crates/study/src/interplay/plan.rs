//! The experiments, by level: what isolation is added to.

use crate::plan::{Experiment, Level, name};

use super::{CI, LOCAL, LOSSLESS, WITHOUT};

/// Something that Congestion Isolation is added to: its name, what it is, and the settings that make
/// it of lossless.toml.
#[derive(Debug)]
pub struct Setting {
    /// A short name.
    pub name: &'static str,
    /// What it is.
    pub label: &'static str,
    /// Settings.
    pub set: &'static [&'static str],
}

/// The other reading of ECN, where nothing is isolated.
const STEP: &str = "variants.without-ci.switch.aqm.ramp.above_kmax=step";

/// TCP as data centers set it: retransmission after a millisecond at the earliest.
const TCP: [&str; 4] = [
    "host.transport=tcp",
    "host.transport.tcp.min_rto=1ms",
    "host.transport.tcp.initial_rto=1ms",
    "host.transport.tcp.delayed_ack=200us",
];

/// Congestion controls, in the order of the page.
pub const CONTROLS: [Setting; 11] = [
    Setting { name: "dcqcn", label: "DCQCN, ECN at most 1 %", set: &[] },
    Setting { name: "dcqcn-step", label: "DCQCN, ECN as a step", set: &[STEP] },
    Setting { name: "hpcc", label: "HPCC", set: &["host.congestion=hpcc"] },
    Setting { name: "timely", label: "TIMELY", set: &["host.congestion=timely"] },
    Setting { name: "swift", label: "Swift", set: &["host.congestion=swift"] },
    Setting {
        name: "rdma-dctcp",
        label: "DCTCP for RDMA",
        set: &[
            "host.congestion=rdma_dctcp",
            "variants.without-ci.switch.aqm=step",
            "variants.without-ci.switch.aqm.step.threshold=100KB",
        ],
    },
    Setting {
        name: "dctcp",
        label: "DCTCP over TCP",
        set: &[
            TCP[0],
            TCP[1],
            TCP[2],
            TCP[3],
            "host.congestion=dctcp",
            "variants.without-ci.switch.aqm=step",
            "variants.without-ci.switch.aqm.step.threshold=100KB",
        ],
    },
    Setting {
        name: "bbr",
        label: "BBR over TCP",
        set: &[TCP[0], TCP[1], TCP[2], TCP[3], "host.congestion=bbr"],
    },
    Setting {
        name: "bbr3",
        label: "BBRv3 over TCP",
        set: &[TCP[0], TCP[1], TCP[2], TCP[3], "host.congestion=bbr3"],
    },
    Setting {
        name: "qcn",
        label: "QCN",
        set: &["host.congestion=qcn", "switch.flow_control.qcn.q_eq=26KB"],
    },
    Setting {
        name: "none",
        label: "25 KB in flight",
        set: &["host.congestion=line_rate", "host.transport.rocev2.in_flight=25KB"],
    },
];

/// Switch memories, in the order of the page.
pub const MEMORIES: [Setting; 7] = [
    Setting { name: "own", label: "output queues", set: &[] },
    Setting {
        name: "shared",
        label: "shared, dynamic",
        set: &[
            "switch.buffer=shared",
            "switch.buffer.shared.ingress.pool=16MB",
            "switch.buffer.shared.ingress.alpha=0.125",
            "switch.buffer.shared.headroom=100KB",
            "switch.flow_control.pfc.measured_on=ingress_pool",
        ],
    },
    Setting {
        name: "per-port",
        label: "static per port",
        set: &["switch.buffer=per_port", "switch.buffer.per_port.size=2MB", INGRESS],
    },
    Setting {
        name: "input-fifo",
        label: "input queues",
        set: &["switch.fabric=input_fifo", INGRESS],
    },
    Setting { name: "voq", label: "virtual output queues", set: &["switch.fabric=voq"] },
    Setting {
        name: "voq-egress",
        label: "VOQ, egress only",
        set: &["switch.fabric.voq.congestion_at=egress"],
    },
    Setting { name: "cioq", label: "VOQ, speed-up 2", set: &["switch.fabric.voq.speedup=2.0"] },
];

/// Where an input-queued switch finds what it holds.
const INGRESS: &str = "switch.flow_control.pfc.measured_on=ingress";

/// A control on a memory.
pub fn pair(control: &Setting, memory: &Setting) -> &'static str {
    name(&format!("{}-{}", control.name, memory.name))
}

/// The congestion control that all memories are tried with: that of the decks.
pub const FIRST: usize = 0;

const BOTH: &[&str] = &[WITHOUT, CI];
const ALL: &[&str] = &[WITHOUT, LOCAL, CI];

/// A fifth of the time of lossless.toml and less: of the same signs, where they are clear in it.
const QUICK: &[&str] = &["arrivals=6ms", "warmup=4ms", "limit=20ms"];
const LONGER: &[&str] = &["arrivals=7ms", "warmup=4ms", "limit=30ms"];

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=3";

/// All experiments of a level: every control on the decks' memory, and the decks' control on every
/// memory; beyond `--quick` every control on every memory.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let mut plan = Vec::new();
    for (row, control) in CONTROLS.iter().enumerate() {
        for (column, memory) in MEMORIES.iter().enumerate() {
            let on_an_axis = row == FIRST || column == FIRST;
            let experiment = Experiment::new(pair(control, memory), LOSSLESS);
            let experiment = experiment.set(control.set).set(memory.set).set(&[FRESH]);
            let (variants, runs, length) = match (level, on_an_axis) {
                (Level::Quick, true) => (BOTH, 3, QUICK),
                (Level::Quick, false) => continue,
                (Level::Standard, true) => (ALL, 5, LONGER),
                (Level::Standard, false) => (BOTH, 3, LONGER),
                (Level::Full, true) => (ALL, 10, LONGER),
                (Level::Full, false) => (BOTH, 5, LONGER),
            };
            plan.push(experiment.variants(variants).replications(runs).set(length));
        }
    }
    plan
}
