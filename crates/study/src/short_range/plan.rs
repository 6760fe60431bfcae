//! The experiments, by level.

use crate::evidence::Evidence;
use crate::plan::{Experiment, Level, name};
use crate::readings::Judged;

use super::{
    BACKPLANE, ENTRIES, ENTRIES_FILE, MIXED, MULTISTAGE, NO_CONTROL, PEAK_BACKPLANE,
    PEAK_MULTISTAGE,
};

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=3";

/// The buffers of a port in the sweeps, in kilobytes.
pub const SIZES: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];
/// The buffer with which what the deck leaves open in the sweeps is varied.
pub const READ_AT: u32 = 64;
/// The buffers of a port of slides 17 and 18, in kilobytes.
pub const PORTS: [u32; 2] = [64, 32];

/// The backplane with so many kilobytes per port.
pub fn backplane(kb: u32) -> &'static str {
    name(&format!("backplane-{kb}"))
}

/// The network of several stages, likewise.
pub fn multistage(kb: u32) -> &'static str {
    name(&format!("multistage-{kb}"))
}

/// The network of mixed speeds, likewise.
pub fn mixed(kb: u32) -> &'static str {
    name(&format!("mixed-{kb}"))
}

/// A reading of a network, by the names of both.
pub fn reading(network: &str, of: &str) -> &'static str {
    name(&format!("{network}-{of}"))
}

/// Something that the deck leaves open: a name, what it is, and the settings. In them `DRC` stands
/// for the table of Directional Rate Control of every variant that has it, `RED` for that of RED,
/// `LOOP` for the entries of every workload.
pub type Reading = (&'static str, &'static str, &'static [&'static str]);

/// Of the sweeps, at `READ_AT`.
pub const SWEEP_READINGS: &[Reading] = &[
    ("drc-no-stop", "DRC never stops a direction", &["DRC.stop=false"]),
    ("drc-early", "DRC from 1/8, 1/4 and 1/2 of a port", &["DRC.thresholds=[0.125, 0.25, 0.5]"]),
    ("drc-late", "DRC from 0.5, 0.7 and 0.9 of a port", &["DRC.thresholds=[0.5, 0.7, 0.9]"]),
    (
        "drc-gentle",
        "DRC lowers rates by a fifth",
        &["variants.drc.switch.flow_control.drc.decrease=0.8"],
    ),
    ("drc-fast", "DRC doubles rates", &["DRC.increase=2.0"]),
    ("drc-often", "DRC feedback every 2 us", &["DRC.interval=2us"]),
    ("drc-seldom", "DRC feedback every 50 us", &["DRC.interval=50us"]),
    (
        "pause-low",
        "PAUSE until a third has left",
        &[
            "variants.pause.switch.flow_control.pause.xon=39KB",
            "variants.pause-egress.switch.flow_control.pause.xon=32KB",
        ],
    ),
    ("nic-8", "8 KB in each node", &["host.buffer=8KB"]),
    ("nic-512", "512 KB in each node", &["host.buffer=512KB"]),
    (
        "slow-switch",
        "switches of 2 us",
        &["switch.latency=2us", "variants.pause.switch.flow_control.pause.xoff=56KB"],
    ),
    ("one-size", "messages of 8000 bytes", &["workload.0.saturated.sizes=8000B"]),
];

/// Of the network of several stages alone.
pub const MULTISTAGE_READINGS: &[Reading] = &[
    ("two-spines", "half as many links between the stages", &["topology.clos.spines=2"]),
    (
        "six-leaves",
        "six switches of two nodes, joined by two",
        &["topology.clos.leaves=6", "topology.clos.hosts_per_leaf=2", "topology.clos.spines=2"],
    ),
];

/// Of entries.toml.
pub const ENTRIES_READINGS: &[Reading] = &[
    ("one", "1 entry under way per connection", &["LOOP.outstanding=1"]),
    ("four", "4 entries under way", &["LOOP.outstanding=4"]),
    ("many", "32 entries under way", &["LOOP.outstanding=32"]),
    ("red-quick", "RED, weight of 1/64", &["RED.burst=55"]),
    ("red-steep", "RED, probability to 0.5", &["RED.probability=0.5"]),
    ("red-low", "RED, from 1/8 to 1/2", &["RED.min=18750B", "RED.max=75KB", "RED.burst=96"]),
    ("red-port", "RED on the memory of each port", &["RED.measured_on=port"]),
    (
        "backward",
        "L2-CI tells sources as well",
        &["variants.l2ci.switch.congestion_indication.backward=true"],
    ),
    (
        "backward-only",
        "L2-CI tells sources only",
        &[
            "variants.l2ci.switch.congestion_indication.backward=true",
            "variants.l2ci.switch.congestion_indication.forward=false",
        ],
    ),
    ("ecn", "the switch marks ECN itself", &["variants.l2ci.switch.congestion_indication=false"]),
    (
        "pause-ingress",
        "PAUSE by what comes in by a port",
        &[
            "variants.pause.switch.flow_control.pause.measured_on=ingress",
            "variants.pause.switch.flow_control.pause.xoff=24KB",
            "variants.pause.switch.flow_control.pause.xon=18KB",
        ],
    ),
    (
        "modern",
        "TCP of today, with 64 KB",
        &["host.transport.tcp.preset=false", "host.transport.tcp.receive_window=64KB"],
    ),
    ("rto-1s", "timeouts of 1 s at least, RFC 2988", &["host.transport.tcp.min_rto=1s"]),
    ("rto-5ms", "timeouts of 5 ms at least", &["host.transport.tcp.min_rto=5ms"]),
];

/// Of mixed.toml with 64 KB per port.
pub const MIXED_READINGS: &[Reading] = &[
    ("no-slow-link", "all links of 10 Gb/s", &["topology.custom.links.3.rate=10Gbps"]),
    (
        "slow-100m",
        "the slow link of 100 Mb/s",
        &["topology.custom.links.3.rate=100Mbps", "DRC.interval=100us"],
    ),
    (
        "slow-trunk",
        "the slow link between switches",
        &[
            "topology.custom.links.3.rate=10Gbps",
            "topology.custom.links.4.ends=access 1-2 -- core",
            "topology.custom.links.2.ends=client 5, core -- access 3",
        ],
    ),
    ("one", "1 entry under way per connection", &["LOOP.outstanding=1"]),
    ("many", "32 entries under way", &["LOOP.outstanding=32"]),
    ("two", "two connections per pair", &["workload.0.long_flows.count=2"]),
    ("red-quick", "RED, weight of 1/64", &["RED.burst=32"]),
    ("red-steep", "RED, probability to 0.5", &["RED.probability=0.5"]),
    ("red-low", "RED, from 1/8 to 1/2", &["RED.min=8KB", "RED.max=32KB", "RED.burst=60"]),
    ("drc-stops", "DRC, stops only", &["DRC.decrease=1.0"]),
    ("drc-early", "DRC from 1/8, 1/4 and 1/2 of a port", &["DRC.thresholds=[0.125, 0.25, 0.5]"]),
    ("drc-late", "DRC from 0.5, 0.7 and 0.9 of a port", &["DRC.thresholds=[0.5, 0.7, 0.9]"]),
    (
        "pause-egress",
        "PAUSE by what goes out by a port",
        &[
            "variants.pause.switch.flow_control.pause.measured_on=egress_port",
            "variants.pause.switch.flow_control.pause.xoff=40KB",
            "variants.pause.switch.flow_control.pause.xon=32KB",
        ],
    ),
    (
        "modern",
        "TCP of today, with 64 KB",
        &["host.transport.tcp.preset=false", "host.transport.tcp.receive_window=64KB"],
    ),
    ("rto-1s", "timeouts of 1 s at least, RFC 2988", &["host.transport.tcp.min_rto=1s"]),
];

/// The settings of a reading, for a network with these variants and this many workloads.
fn settings(of: &Reading, drc: &[&str], red: &[&str], workloads: usize) -> Vec<String> {
    let each = |setting: &&str| -> Vec<String> {
        let Some((table, rest)) = setting.split_once('.') else { return vec![setting.to_string()] };
        let of = |variants: &[&str], path: &str| -> Vec<String> {
            variants.iter().map(|of| format!("variants.{of}.switch.{path}.{rest}")).collect()
        };
        match table {
            "DRC" => of(drc, "flow_control.drc"),
            "RED" => of(red, "aqm.red"),
            "LOOP" => {
                let of = |at| format!("workload.{at}.application.entries.{rest}");
                (0..workloads).map(of).collect()
            }
            _ => vec![setting.to_string()],
        }
    };
    of.2.iter().flat_map(each).collect()
}

/// An experiment with settings that are put together.
fn with(experiment: Experiment, settings: &[String]) -> Experiment {
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    experiment.set(&settings)
}

/// A sweep's scenario with so many kilobytes in each port of switches and nodes.
fn of_size(experiment: Experiment, kb: u32) -> Experiment {
    // What may still come after a PAUSE frame is decided on is 5270 bytes; the pause ends when two
    // full frames have left, or half of a little.
    let ingress = kb * 1_000 - 5_300;
    let go_on = if ingress > 6_000 { ingress - 3_036 } else { ingress / 2 };
    // Where Directional Rate Control stops a direction, and as much lower.
    let egress = kb * 750;
    let pause = |variant: &str, xoff: u32, xon: u32| {
        let path = format!("variants.{variant}.switch.flow_control.pause");
        [format!("{path}.xoff={xoff}B"), format!("{path}.xon={xon}B")]
    };
    let mut set = vec![format!("switch.queue.size={kb}KB"), format!("host.buffer={kb}KB")];
    set.extend(pause(super::PAUSE, ingress, go_on));
    set.extend(pause(super::PAUSE_EGRESS, egress, kb * 600));
    with(experiment, &set)
}

/// mixed.toml with so many kilobytes in each port, RED and PAUSE in proportion.
fn of_ports(experiment: Experiment, kb: u32) -> Experiment {
    let pause = "variants.pause.switch.flow_control.pause";
    let mut set = vec![
        format!("switch.queue.size={kb}KB"),
        format!("host.buffer={kb}KB"),
        format!("{pause}.xoff={}B", kb * 1_000 - 6_000),
        format!("{pause}.xon={}B", kb * 1_000 - 9_000),
    ];
    for variant in WITH_RED {
        let red = format!("variants.{variant}.switch.aqm.red");
        set.push(format!("{red}.limit={kb}KB"));
        set.push(format!("{red}.min={}KB", kb / 4));
        set.push(format!("{red}.max={}KB", kb * 3 / 4));
        // The weight of 1/512 takes another burst with another minimum.
        set.push(format!("{red}.burst={}", if kb == 64 { 90 } else { 60 }));
    }
    with(experiment, &set)
}

/// The variants of mixed.toml with RED.
const WITH_RED: [&str; 3] = [super::RED, super::L2CI, super::DRC_L2CI];

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let mut plan = sweeps(level);
    plan.extend(requests(level));
    plan.into_iter().map(|experiment| experiment.set(&[FRESH])).collect()
}

fn sweeps(level: Level) -> Vec<Experiment> {
    let shorter: &[&str] = match level {
        Level::Quick => &["arrivals=10ms", "limit=11ms"],
        Level::Standard | Level::Full => &[],
    };
    let sized = |experiment: Experiment, many: [u32; 3]| {
        experiment.replications(many[level as usize]).set(shorter)
    };
    // No message meets one of another host: no buffer matters.
    let peak = |name, file| {
        let next = ["workload.0.saturated.towards=next"];
        sized(Experiment::new(name, file).variants(&[NO_CONTROL]).set(&next), [2, 3, 5])
    };
    let mut plan = vec![peak(PEAK_BACKPLANE, BACKPLANE), peak(PEAK_MULTISTAGE, MULTISTAGE)];
    for kb in SIZES {
        let many = [3, 5, 20];
        plan.push(sized(of_size(Experiment::new(backplane(kb), BACKPLANE), kb), many));
        plan.push(sized(of_size(Experiment::new(multistage(kb), MULTISTAGE), kb), many));
    }
    if level == Level::Quick {
        return plan;
    }
    let drc = [super::DRC, super::DRC_STOP];
    let networks = [("backplane", BACKPLANE), ("multistage", MULTISTAGE)];
    for (network, file) in networks {
        let own = if file == MULTISTAGE { MULTISTAGE_READINGS } else { &[] };
        for of in SWEEP_READINGS.iter().chain(own) {
            let experiment = of_size(Experiment::new(reading(network, of.0), file), READ_AT);
            plan.push(sized(with(experiment, &settings(of, &drc, &[], 1)), [0, 3, 10]));
        }
    }
    plan
}

fn requests(level: Level) -> Vec<Experiment> {
    let shorter: &[&str] = match level {
        Level::Quick => &["arrivals=600ms", "limit=601ms"],
        Level::Standard | Level::Full => &[],
    };
    let sized = |experiment: Experiment, many: [u32; 3]| {
        experiment.replications(many[level as usize]).set(shorter)
    };
    let mut plan = vec![sized(Experiment::new(ENTRIES, ENTRIES_FILE), [3, 5, 20])];
    for kb in PORTS {
        plan.push(sized(of_ports(Experiment::new(mixed(kb), MIXED), kb), [3, 5, 20]));
    }
    if level == Level::Quick {
        return plan;
    }
    let short = ["arrivals=1s", "limit=1001ms"];
    let many = [0, 2, 3];
    for of in ENTRIES_READINGS {
        let set = settings(of, &[], &[super::RED, super::L2CI], 3);
        let experiment = Experiment::new(reading(ENTRIES, of.0), ENTRIES_FILE).set(&short);
        plan.push(sized(with(experiment, &set), many));
    }
    for of in MIXED_READINGS {
        let set = settings(of, &[super::DRC_L2CI], &WITH_RED, 1);
        let experiment = Experiment::new(reading("mixed", of.0), MIXED).set(&short);
        plan.push(sized(with(of_ports(experiment, 64), &set), many));
    }
    plan
}

/// The readings: all networks as they stand, and with one other choice each.
pub fn readings(evidence: &Evidence) -> Judged {
    let (backplane, multistage, mixed) = (backplane(READ_AT), multistage(READ_AT), mixed(READ_AT));
    let main = vec![
        (backplane, backplane),
        (multistage, multistage),
        (ENTRIES, ENTRIES),
        (mixed, mixed),
        (self::mixed(PORTS[1]), self::mixed(PORTS[1])),
    ];
    let both = |of: &Reading| {
        let networks = [("backplane", backplane), ("multistage", multistage)];
        (of.1.to_owned(), networks.map(|(name, is)| (is, reading(name, of.0))).to_vec())
    };
    let one = |is: &'static str, name: &'static str| {
        move |of: &Reading| (of.1.to_owned(), vec![(is, reading(name, of.0))])
    };
    let others = SWEEP_READINGS
        .iter()
        .map(both)
        .chain(MULTISTAGE_READINGS.iter().map(one(multistage, "multistage")))
        .chain(ENTRIES_READINGS.iter().map(one(ENTRIES, ENTRIES)))
        .chain(MIXED_READINGS.iter().map(one(mixed, "mixed")));
    Judged::one_at_a_time(main, others).that_were_run(evidence)
}
