//! Tables such as a comparison of mechanisms yields, made up from a seed: a baseline that pauses
//! a lot, and variants that do less of it. Nothing here is simulated.

use floodway_model::Table;
use floodway_model::tables::{self, complete};
use floodway_report::{Ending, Experiment, Manifest, Run, Scenario, Status, Variant};

/// What is made up.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub replications: u32,
    pub flows: u64,
    /// Whether some flows of the baseline do not finish.
    pub unfinished: bool,
    /// Whether packets are dropped.
    pub drops: bool,
}

pub const VARIANTS: [&str; 3] = ["without-ci", "ci-local", "ci"];

/// How much of the baseline's queueing each variant has, for mice and for elephants.
const QUEUEING: [(f64, f64); 3] = [(1.0, 1.0), (0.55, 0.8), (0.25, 0.62)];

pub fn manifest(case: Case) -> Manifest {
    let text = "\
[scenario]
name = \"ci-lossless\"
question = \"What does Congestion Isolation do to flows that are not to blame for congestion?\"

[topology.clos]
leaves = 16
spines = 8
hosts_per_leaf = 8
rate = \"100Gbps\"

[variants.without-ci]
summary = \"PFC and DCQCN alone\"

[variants.ci]
switch.flow_control.congestion_isolation.cim = true
";
    let variants = [
        "PFC and DCQCN alone",
        "congesting flows isolated in the switch that sees them",
        "isolation, and CIM frames to the neighbor upstream",
    ];
    let variants = VARIANTS.iter().zip(variants).map(|(name, summary)| Variant {
        name: name.to_string(),
        summary: summary.to_string(),
        ..Variant::default()
    });
    let scenario = Scenario {
        name: "ci-lossless".to_string(),
        question:
            "What does Congestion Isolation do to flows that are not to blame for congestion?"
                .to_string(),
        file: "scenarios/ci/lossless.toml".to_string(),
        text: text.to_string(),
        overrides: vec!["switch.queue.size=2MB".to_string()],
        files: Vec::new(),
        facts: vec![("network".to_string(), "clos: 128 hosts".to_string())],
        profile_values: Vec::new(),
    };
    let mut manifest = Manifest::new(scenario, variants.collect());
    manifest.replications = case.replications;
    manifest.seed = 7;
    manifest.threads = 2;
    manifest.command =
        ["floodway", "run", "scenarios/ci/lossless.toml", "--set", "switch.queue.size=2MB"]
            .map(String::from)
            .to_vec();
    manifest.started = "2026-03-14T09:26:53Z".to_string();
    manifest
}

pub fn ending() -> Ending {
    Ending { status: Status::Complete, wall_s: 42.5, peak_rss_bytes: Some(312_000_000) }
}

/// The experiment with all its runs; each run also goes to `also`.
pub fn experiment(case: Case, mut also: impl FnMut(&Run)) -> Experiment {
    let mut experiment = Experiment::new(&manifest(case));
    for variant in 0..VARIANTS.len() {
        for replication in 0..case.replications {
            let tables = tables(case, variant, replication);
            let run = run(&tables, variant, replication);
            experiment.add_run(&run);
            also(&run);
        }
    }
    experiment
}

pub fn run(tables: &[Table], variant: usize, replication: u32) -> Run<'_> {
    Run {
        variant: VARIANTS[variant],
        replication,
        seed: 7 + u64::from(replication),
        key: "",
        tables,
        hops: 31_400_000 + 1_000 * variant as u64,
        wall_s: 2.7,
        simulated_ns: END_NS,
        fingerprint: 0x9e37_79b9_7f4a_7c15 ^ (variant as u64) << 32 ^ u64::from(replication),
        violations: &[],
        stop: "flows_done",
    }
}

const END_NS: f64 = 12e6;

/// A stream of chance (SplitMix64).
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }
}

pub fn tables(case: Case, variant: usize, replication: u32) -> Vec<Table> {
    let mut rng = Chance(u64::from(replication) * 1_000 + variant as u64);
    vec![
        flows(case, variant, replication),
        queues(variant, &mut rng),
        depths(variant),
        switches(variant),
        links(variant),
        occupancy(variant),
        timeline(variant, &mut rng),
        deliveries(variant),
        pauses(variant, &mut rng),
        drops(case, variant, &mut rng),
        counters(case, variant, &mut rng),
    ]
}

fn flows(case: Case, variant: usize, replication: u32) -> Table {
    // The same traffic in every variant: sizes and starts do not know the variant.
    let mut traffic = Chance(99 + u64::from(replication));
    let mut network = Chance(5 + u64::from(replication) + 1_000 * variant as u64);
    let columns = [(); 3].map(|()| Vec::<u64>::new());
    let [mut numbers, mut bytes, mut measured] = columns;
    let [mut start, mut fct, mut ideal, mut slowdown] = [(); 4].map(|()| Vec::<f64>::new());
    let (mice, elephants) = QUEUEING[variant];
    for flow in 0..case.flows {
        let persistent = flow % 500 == 0;
        let size = libm::exp(6.9 + 10.5 * libm::pow(traffic.uniform(), 1.6)) as u64;
        let queueing = if size < 100_000 { mice } else { elephants };
        let begin = traffic.uniform() * 10e6;
        let unloaded = 4_000.0 + size as f64 * 0.084;
        let waits = 60_000.0 * traffic.exponential() * traffic.exponential() + 3_000.0;
        let wait = waits * queueing * (0.7 + 0.6 * network.uniform());
        let time = unloaded * (1.0 + 1.5 * queueing * network.uniform()) + wait;
        let late = case.unfinished && variant == 0 && begin + time * 3.0 > END_NS - 1.8e6;
        let gone = late || persistent;
        numbers.push(flow);
        bytes.push(if persistent { 0 } else { size });
        measured.push(u64::from(!persistent && begin > 1e6));
        start.push(begin);
        fct.push(if gone { f64::NAN } else { time });
        ideal.push(if persistent { f64::NAN } else { unloaded });
        slowdown.push(if gone { f64::NAN } else { time / unloaded });
    }
    let delivered = bytes.iter().map(|bytes| if *bytes == 0 { 6_000_000 } else { *bytes });
    let delivered: Vec<u64> = delivered.collect();
    complete(
        Table::new("flows", "one flow that a host was asked to send")
            .u64("workload", "which workload made it", vec![0; numbers.len()])
            .u64("flow", "its number, the same in every variant", numbers)
            .u64("bytes", "its size; 0 if it never ends", bytes)
            .f64("start_ns", "when it began", start)
            .f64("fct_ns", "its completion time; NaN if it did not finish", fct)
            .f64("ideal_fct_ns", "the same on an idle network; NaN if it never ends", ideal)
            .f64("slowdown", "the first over the second; NaN if it did not finish", slowdown)
            .u64("delivered_bytes", "what arrived of it", delivered)
            .u64("measured", "1 if it began after the warm-up and has an end", measured),
    )
}

fn queues(variant: usize, rng: &mut Chance) -> Table {
    let rows = 3 * 24;
    let queue = |row: usize| (row % 3) as u64;
    let load = |row: usize| match row % 3 {
        0 => 40_000.0 * QUEUEING[variant].0,
        1 => 90_000.0 * (1.2 - QUEUEING[variant].1),
        _ => 60.0,
    };
    let means: Vec<f64> = (0..rows).map(|row| load(row) * (0.5 + rng.uniform())).collect();
    let maxima = means.iter().map(|mean| (mean * 12.0).min(1e6) as u64).collect();
    complete(
        Table::new("queues", "one egress queue")
            .text("node", "the switch", (0..rows).map(|row| format!("leaf {}", row / 3)).collect())
            .u64("tier", "how far from the hosts it is", (0..rows as u64).map(|r| r / 36).collect())
            .u64("port", "the port", vec![0; rows])
            .u64(
                "queue",
                "the queue; the last is for control frames",
                (0..rows).map(queue).collect(),
            )
            .f64("mean_backlog_bytes", "mean backlog over samples", means)
            .u64("max_backlog_bytes", "the largest backlog it ever had", maxima),
    )
}

fn depths(variant: usize) -> Table {
    let edges = [0u64, 1_000, 10_000, 50_000, 100_000, 300_000, 500_000, 750_000, 1_000_000];
    let [mut tier, mut queue, mut up_to, mut samples] = [(); 4].map(|()| Vec::new());
    for of in 0..3u64 {
        for (at, edge) in edges.iter().enumerate() {
            let reach = match of {
                0 => QUEUEING[variant].0,
                1 => 1.3 - QUEUEING[variant].1,
                _ => 0.02,
            };
            tier.push(0);
            queue.push(of);
            up_to.push(*edge);
            let weight = libm::exp(-(at as f64) / (0.3 + 1.6 * reach));
            samples.push((1e5 * weight) as u64);
        }
    }
    complete(
        Table::new("depths", "a range of sampled backlogs")
            .u64("tier", "of the switch", tier)
            .u64("queue", "the queue", queue)
            .u64("up_to_bytes", "the upper edge of the range; 0 is empty", up_to)
            .u64("samples", "how many samples lay in it", samples),
    )
}

fn switches(variant: usize) -> Table {
    let rows = 24;
    let most = (4e6 * QUEUEING[variant].0) as u64;
    complete(
        Table::new("switches", "one switch")
            .text("node", "the switch", (0..rows).map(|row| format!("leaf {row}")).collect())
            .u64("tier", "how far from the hosts it is", vec![0; rows])
            .u64("ports", "its ports", vec![16; rows])
            .f64("mean_occupancy_bytes", "mean over samples", vec![most as f64 / 12.0; rows])
            .u64("max_occupancy_bytes", "the most there was", vec![most; rows])
            .u64("max_port_occupancy_bytes", "the most there was in a port", vec![most / 3; rows]),
    )
}

/// A host at every switch, which sends to it for a tenth of the time and hears from it for a part of
/// it that no two switches have.
fn links(variant: usize) -> Table {
    let [mut node, mut peer] = [(); 2].map(|()| Vec::new());
    let mut busy = Vec::new();
    for row in 0..24 {
        let ends = [format!("host {row}"), format!("leaf {row}")];
        node.extend(ends.clone());
        peer.extend(ends.into_iter().rev());
        busy.extend([0.1, f64::from(row) / 50.0 * QUEUEING[variant].0]);
    }
    complete(
        Table::new("links", "one direction of a link")
            .text("node", "who sends", node)
            .u64("port", "by which port", vec![0; 48])
            .text("peer", "who receives", peer)
            .f64("utilization", "share of the time in which it is busy", busy),
    )
}

fn occupancy(variant: usize) -> Table {
    let [mut tier, mut up_to, mut samples] = [(); 3].map(|()| Vec::new());
    let mut scope = Vec::new();
    for (of, reach) in [("port", 6.0), ("switch", 11.0)] {
        for at in 0..14u32 {
            tier.push(0);
            scope.push(of.to_string());
            up_to.push(if at == 0 { 0 } else { 500 << at });
            let weight = libm::exp(-f64::from(at) / (0.1 * reach * (0.3 + QUEUEING[variant].0)));
            samples.push((1e5 * weight) as u64);
        }
    }
    complete(
        Table::new("occupancy", "a range of sampled occupancies")
            .u64("tier", "of the switches", tier)
            .text("scope", "port or switch", scope)
            .u64("up_to_bytes", "the upper edge of the range; 0 is empty", up_to)
            .u64("samples", "how many samples lay in it", samples),
    )
}

fn timeline(variant: usize, rng: &mut Chance) -> Table {
    let [mut times, mut means] = [(); 2].map(|()| Vec::new());
    let [mut queue, mut maxima, mut paused] = [(); 3].map(|()| Vec::new());
    let mut level = [0.0f64; 3];
    for at in 0..1_200 {
        for (of, level) in level.iter_mut().enumerate() {
            let target = match of {
                0 => 60_000.0 * QUEUEING[variant].0,
                1 => 120_000.0 * (1.25 - QUEUEING[variant].1),
                _ => 40.0,
            };
            let ramp = (f64::from(at) / 150.0).min(1.0);
            *level += 0.06 * (target * ramp * 2.0 * rng.uniform() - *level);
            times.push(f64::from(at) * 10_000.0);
            queue.push(of as u64);
            means.push(*level);
            maxima.push((*level * (4.0 + 9.0 * rng.uniform())).min(1e6) as u64);
            let stops = if of == 0 { 14.0 * QUEUEING[variant].0 } else { 1.0 };
            paused.push((ramp * stops * rng.uniform()) as u64);
        }
    }
    complete(
        Table::new("timeline", "a sample of one queue number, over all ports of the fabric")
            .f64("time_ns", "when", times)
            .u64("queue", "the queue", queue)
            .f64("mean_backlog_bytes", "mean backlog over ports", means)
            .u64("max_backlog_bytes", "largest backlog of any port", maxima)
            .u64("paused_ports", "how many ports stood paused", paused),
    )
}

/// Two flows that take turns and share what is left of 100 Gb/s.
fn deliveries(variant: usize) -> Table {
    let [mut flow, mut bytes] = [(); 2].map(|()| Vec::new());
    let mut times = Vec::new();
    let mut sums = [0u64; 2];
    for at in 1..=1_200u64 {
        for (of, sum) in sums.iter_mut().enumerate() {
            let turn = if (at / 200 + of as u64).is_multiple_of(2) { 0.7 } else { 0.3 };
            *sum += (125_000.0 * turn * (1.2 - 0.5 * QUEUEING[variant].0)) as u64;
            times.push(at as f64 * 10_000.0);
            flow.push(500 * of as u64);
            bytes.push(*sum);
        }
    }
    complete(
        Table::new("deliveries", "what a flow without a size had delivered")
            .f64("time_ns", "when", times)
            .u64("flow", "the flow", flow)
            .u64("delivered_bytes", "how much until then", bytes),
    )
}

fn pauses(variant: usize, rng: &mut Chance) -> Table {
    let rows = 30usize;
    let tier = |row: usize| [0u64, 1, 255][row % 3];
    let scale = [1.0, 0.4, 0.16][variant];
    let many = |row: usize| [40.0, 12.0, 0.0][row % 3];
    let stopped = |row: usize| [90_000.0, 40_000.0, 160_000.0][row % 3];
    let frames: Vec<u64> =
        (0..rows).map(|row| (many(row) * scale * (0.7 + 0.6 * rng.uniform())) as u64).collect();
    let paused: Vec<f64> =
        (0..rows).map(|row| stopped(row) * scale * (0.7 + 0.6 * rng.uniform())).collect();
    complete(
        Table::new("pauses", "one traffic class of one port")
            .text("node", "whose port", (0..rows).map(|row| format!("node {row}")).collect())
            .u64("tier", "how far from the hosts it is; hosts: 255", (0..rows).map(tier).collect())
            .u64("port", "the port", vec![0; rows])
            .u64("class", "the traffic class", vec![0; rows])
            .u64("xoff_frames", "XOFF frames sent, without refreshes", frames)
            .f64("paused_ns", "how long the port was stopped from sending", paused),
    )
}

fn drops(case: Case, variant: usize, rng: &mut Chance) -> Table {
    if !case.drops || variant >= 2 {
        return tables::empty("drops").unwrap();
    }
    let rows = 4;
    let packets = (0..rows).map(|_| (900.0 * QUEUEING[variant].0 * rng.uniform()) as u64);
    let packets: Vec<u64> = packets.collect();
    let reason = |row: usize| ["queue_full", "aqm"][row % 2].to_string();
    complete(
        Table::new("drops", "packets dropped at one queue for one reason")
            .text("node", "the switch", (0..rows).map(|row| format!("leaf {row}")).collect())
            .text("reason", "why", (0..rows).map(reason).collect())
            .u64("packets", "how many packets", packets.clone())
            .u64(
                "bytes",
                "how many bytes",
                packets.iter().map(|packets| packets * 1_048).collect(),
            ),
    )
}

fn counters(case: Case, variant: usize, rng: &mut Chance) -> Table {
    let scale = [1.0, 0.4, 0.16][variant];
    let mut near = |value: f64| (value * (0.85 + 0.3 * rng.uniform())) as u64;
    let isolations = if variant == 0 { 0 } else { near(850.0) };
    let cims = if variant == 2 { near(1_900.0) } else { 0 };
    let dropped = if case.drops && variant < 2 { near(1_500.0 * scale) } else { 0 };
    let rows = [
        ("pause_frames", near(6_200.0 * scale), "XOFF frames sent, refreshes included"),
        ("xoff_frames", near(5_000.0 * scale), "XOFF frames sent, without refreshes"),
        ("paused_ns", near(29e6 * scale), "time that ports stood paused, over ports and classes"),
        ("marked_packets", near(88_000.0 * (1.4 - 0.4 * scale)), "packets marked CE"),
        ("isolations", isolations, "flows moved to the congesting queue"),
        ("cims_sent", cims, "Congestion Isolation Messages sent"),
        ("cnps_sent", near(21_000.0), "Congestion Notification Packets sent"),
        ("dropped_packets", dropped, "packets dropped, for whatever reason"),
        ("retransmitted_packets", dropped * 3, "packets sent again"),
        ("data_packets_delivered", near(3.1e6), "data packets that arrived"),
        ("tier_0_xoff_frames", near(3_900.0 * scale), "XOFF frames sent by tier 0"),
        ("tier_0_paused_ns", near(9e6 * scale), "time that ports of tier 0 stood paused"),
        ("tier_1_xoff_frames", near(1_100.0 * scale), "XOFF frames sent by tier 1"),
        ("tier_1_paused_ns", near(4e6 * scale), "time that ports of tier 1 stood paused"),
        ("hosts_paused_ns", near(16e6 * scale), "time that hosts stood paused"),
        ("measured_ns", 5_000_000, "length of the measured interval"),
        ("warmup_ns", 1_000_000, "length of the warm-up"),
        ("flows_persistent", 4, "flows that never end"),
        ("persistent_bytes_delivered", near(12e6), "payload of flows that never end"),
    ];
    let text = |value: &str| value.to_string();
    complete(
        Table::new("counters", "a number about the measurement")
            .text("name", "its name", rows.iter().map(|row| text(row.0)).collect())
            .u64("value", "the number", rows.iter().map(|row| row.1).collect())
            .text("meaning", "what it says", rows.iter().map(|row| text(row.2)).collect()),
    )
}
