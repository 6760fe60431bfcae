//! The experiments, by level.

use crate::plan::{Experiment, Level, name};

use super::{
    ALONE, ALONE_FILE, COUPLED, DUALPI2, DUALQ, GRID, IDLE, IDLE_FILE, INTERACTIVE_FILE, LAW_FILE,
    LOAD, LOAD_FILE, MODERN_FILE, Mix, OVERLOAD_FILE, PI2_FILE, RED,
};

/// Traffic that no rule or expectation was made from.
const FRESH: &str = "seed=3";

/// The mixes on which claims rest, those of the quick version, and of what the deck leaves open.
pub const MIXES: [Mix; 8] = [(0, 1), (1, 0), (1, 1), (2, 2), (5, 5), (10, 10), (1, 10), (10, 1)];
/// Of these, those with both kinds.
pub const SHARED: [Mix; 6] = [(1, 1), (2, 2), (5, 5), (10, 10), (1, 10), (10, 1)];

/// All mixes of none to ten flows of either kind.
pub fn all_mixes() -> impl Iterator<Item = Mix> {
    let all = (0..=10).flat_map(|dctcp| (0..=10).map(move |cubic| (cubic, dctcp)));
    all.filter(|mix| *mix != (0, 0))
}

/// What the deck leaves open, and what else there is: a name, what it is, the variant of grid.toml
/// that it changes, and how.
pub type Reading = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// The mixes `SHARED` are run with each.
pub const OPTIONS: &[Reading] = &[
    (
        "slope-1",
        "DualQ, s_r 1: certain drop at 2.15 s",
        DUALQ,
        &["variants.dualq.switch.aqm.dualq.s_r=1"],
    ),
    (
        "slope-2",
        "DualQ, s_r 2: certain drop at 1.07 s",
        DUALQ,
        &["variants.dualq.switch.aqm.dualq.s_r=2"],
    ),
    (
        "threshold-1",
        "DualQ, threshold of 1 packet",
        DUALQ,
        &["variants.dualq.switch.aqm.dualq.threshold=1"],
    ),
    (
        "threshold-20",
        "DualQ, threshold of 20 packets",
        DUALQ,
        &["variants.dualq.switch.aqm.dualq.threshold=20"],
    ),
    ("dualq-reno", "DualQ, Reno instead of Cubic", DUALQ, &["workload.0.congestion=reno"]),
    ("dualq-beta", "DualQ, Cubic with beta 0.8", DUALQ, &["workload.0.congestion.cubic.beta=0.8"]),
    ("dualq-pacing", "DualQ, all flows paced", DUALQ, &["host.transport.tcp.pacing=true"]),
    ("dualq-acks", "DualQ, every packet acknowledged", DUALQ, &["host.transport.tcp.ack_every=1"]),
    ("dualq-prague", "DualQ, Prague instead of DCTCP", DUALQ, &["workload.1.congestion=prague"]),
    (
        "dualq-wrr",
        "DualQ, one of ten packets classic",
        DUALQ,
        &["variants.dualq.switch.scheduler=wrr"],
    ),
    ("curvy-red", "Curvy RED of the draft", DUALQ, &["variants.dualq.switch.aqm=curvy_red"]),
    (
        "coupled-time",
        "coupled queue, by waiting time",
        COUPLED,
        &["variants.coupled.switch.aqm.coupled.measure=time"],
    ),
    (
        "coupled-reno",
        "coupled queue, Reno instead of Cubic",
        COUPLED,
        &["workload.0.congestion=reno"],
    ),
    ("red-reno", "RED, Reno instead of Cubic", RED, &["workload.0.congestion=reno"]),
    (
        "dualpi2-ramp",
        "DualPI2, ramp of RFC 9332 instead of a step",
        DUALPI2,
        &["variants.dualpi2.switch.aqm.dualpi2.low_latency=ramp"],
    ),
    ("dualpi2-reno", "DualPI2, Reno instead of Cubic", DUALPI2, &["workload.0.congestion=reno"]),
    (
        "dualpi2-prague",
        "DualPI2, Prague instead of DCTCP",
        DUALPI2,
        &["workload.1.congestion=prague"],
    ),
    (
        "dualpi2-shifted",
        "DualPI2, time-shifted FIFO instead of WRR",
        DUALPI2,
        &["variants.dualpi2.switch.scheduler=time_shifted"],
    ),
];

/// Of these, those that the longest version runs with all mixes.
pub const WHOLE: [&str; 4] = ["slope-1", "slope-2", "dualq-reno", "red-reno"];

/// The name of a mix with an option.
pub fn option(of: &str, (cubic, dctcp): Mix) -> &'static str {
    name(&format!("{of}-{cubic}-{dctcp}"))
}

/// A law: a variant of law.toml, its round-trip time in milliseconds, and the probabilities.
pub struct Law {
    /// The variant.
    pub variant: &'static str,
    /// Milliseconds there and back.
    pub rtt_ms: u32,
    /// Two decades of probabilities, as they are written.
    pub probabilities: &'static [&'static str],
    /// Other round-trip times, at the middle probability.
    pub others: &'static [u32],
}

const SCALABLE_PROBABILITIES: &[&str] = &["0.003", "0.01", "0.03", "0.1", "0.3"];

/// What one flow is put to.
pub const LAWS: &[Law] = &[
    Law {
        variant: "reno",
        rtt_ms: 10,
        probabilities: &["0.0001", "0.0003", "0.001", "0.003", "0.01"],
        others: &[20, 40, 80],
    },
    // Where the cubic function is faster than Reno, and has to be waited for.
    Law {
        variant: "cubic",
        rtt_ms: 100,
        probabilities: &["0.00001", "0.00003", "0.0001", "0.0003", "0.001"],
        others: &[50, 200],
    },
    Law {
        variant: "cubic-deck",
        rtt_ms: 100,
        probabilities: &["0.00001", "0.00003", "0.0001", "0.0003", "0.001"],
        others: &[50, 200],
    },
    Law {
        variant: "dctcp",
        rtt_ms: 10,
        probabilities: SCALABLE_PROBABILITIES,
        others: &[20, 40, 80],
    },
    Law {
        variant: "prague",
        rtt_ms: 10,
        probabilities: SCALABLE_PROBABILITIES,
        others: &[20, 40, 80],
    },
];

/// One point of a law.
pub fn law(variant: &str, rtt_ms: u32, probability: &str) -> &'static str {
    name(&format!("law-{variant}-{rtt_ms}ms-{probability}"))
}

/// The variants of law.toml that are no laws, and the probabilities that they are put to.
pub const RATE_BASED: [&str; 2] = ["bbr", "bbr3"];
/// See above.
pub const LOSSES: [&str; 5] = ["0.0001", "0.001", "0.01", "0.05", "0.15"];

/// The link rates in Mb/s and the round-trip times in milliseconds of the grid of PI2.
pub const RATES: [u32; 5] = [4, 12, 40, 120, 200];
/// See above.
pub const ROUND_TRIPS: [u32; 5] = [5, 10, 20, 50, 100];

/// One cell of the grid of PI2.
pub fn link(rate_mbps: u32, rtt_ms: u32) -> &'static str {
    name(&format!("link-{rate_mbps}-{rtt_ms}"))
}

/// The rates of what does not respond in percent of the link, and its ECN fields.
pub const OVERLOADS: [u32; 8] = [20, 40, 60, 80, 100, 120, 140, 150];
/// See above.
pub const FIELDS: [&str; 2] = ["ect1", "not_ect"];

/// One overload.
pub fn overload(field: &str, percent: u32) -> &'static str {
    name(&format!("overload-{}-{percent}", field.replace('_', "-")))
}

/// The transports of the interactive application.
pub const INTERACTIVE: [&str; 3] = ["cubic", "dctcp", "prague"];

/// The application over one of them.
pub fn interactive(congestion: &str) -> &'static str {
    name(&format!("interactive-{congestion}"))
}

/// What is put beside Cubic.
pub const MODERN: [&str; 6] = ["cubic", "reno", "dctcp", "prague", "bbr", "bbr3"];

/// One of them beside Cubic.
pub fn modern(congestion: &str) -> &'static str {
    name(&format!("beside-{congestion}"))
}

/// Shorter runs: all flows start within a second.
const MINUTE: &[&str] = &["arrivals=60s", "limit=61s"];

/// All experiments of a level.
pub fn experiments(level: Level) -> Vec<Experiment> {
    let mut plan = vec![
        Experiment::new(IDLE, IDLE_FILE).single(),
        sized(Experiment::new(ALONE, ALONE_FILE), level, [2, 3, 5]),
    ];
    plan.extend(grid(level));
    plan.extend(laws(level));
    plan.extend(links(level));
    let load = sized(Experiment::new(LOAD, LOAD_FILE), level, [2, 5, 10]);
    // The last short flows end as well.
    plan.push(if level == Level::Quick { load.set(&["limit=70s"]) } else { load });
    plan.extend(others(level));
    plan.extend(options(level));
    plan.into_iter().map(|experiment| experiment.set(&[FRESH])).collect()
}

/// With as many replications as the level has, and short ones in the quick version.
fn sized(experiment: Experiment, level: Level, replications: [u32; 3]) -> Experiment {
    let experiment = experiment.replications(replications[level as usize]);
    if level == Level::Quick { experiment.set(MINUTE) } else { experiment }
}

fn counts((cubic, dctcp): Mix) -> [String; 2] {
    [format!("workload.0.long_flows.count={cubic}"), format!("workload.1.long_flows.count={dctcp}")]
}

fn grid(level: Level) -> Vec<Experiment> {
    let experiment = |of: Mix| {
        let [cubic, dctcp] = counts(of);
        let experiment = Experiment::new(super::mix(of, RED).experiment, GRID);
        let many = if MIXES.contains(&of) { [2, 3, 5] } else { [2, 1, 3] };
        sized(experiment.set(&[&cubic, &dctcp]), level, many)
    };
    match level {
        Level::Quick => MIXES.into_iter().map(experiment).collect(),
        Level::Standard | Level::Full => all_mixes().map(experiment).collect(),
    }
}

fn options(level: Level) -> Vec<Experiment> {
    let experiment = |(of, _, variant, set): &Reading, mix: Mix| {
        let [cubic, dctcp] = counts(mix);
        let experiment = Experiment::new(option(of, mix), GRID).variants(&[variant]);
        let many = if SHARED.contains(&mix) { [1, 2, 3] } else { [1, 2, 2] };
        sized(experiment.set(&[&cubic, &dctcp]).set(set), level, many)
    };
    if level == Level::Quick {
        return Vec::new();
    }
    let mixes = |of: &'static Reading| {
        let whole = level == Level::Full && WHOLE.contains(&of.0);
        let shared = all_mixes().filter(|mix| mix.0 > 0 && mix.1 > 0);
        let mixes: Vec<Mix> = if whole { shared.collect() } else { SHARED.to_vec() };
        mixes.into_iter().map(move |mix| experiment(of, mix))
    };
    OPTIONS.iter().flat_map(mixes).collect()
}

fn laws(level: Level) -> Vec<Experiment> {
    let experiment = |law: &Law, rtt_ms: u32, probability: &str| {
        // There are two links, and two ways over each.
        let delay = f64::from(rtt_ms) / 4.0;
        // Rates vary as slowly as the cubic function goes round, and quickly with many marks.
        let (arrivals, warmup) = match (level, law.rtt_ms, law.probabilities[0]) {
            (Level::Quick, _, "0.003") => (30, 12),
            (_, _, "0.003") => (80, 20),
            (Level::Quick, 10, _) => (60, 20),
            (_, 10, _) => (220, 20),
            (Level::Quick, ..) => (250, 50),
            _ => (700, 100),
        };
        Experiment::new(self::law(law.variant, rtt_ms, probability), LAW_FILE)
            .variants(&[law.variant])
            .replications([2, 3, 5][level as usize])
            .set(&[
                &format!("switch.aqm.bernoulli.probability={probability}"),
                &format!("topology.star.delay={delay}ms"),
                &format!("arrivals={arrivals}s"),
                &format!("warmup={warmup}s"),
                &format!("limit={}s", arrivals + 1),
            ])
    };
    let mut plan = Vec::new();
    for law in LAWS {
        let of = law.probabilities.iter();
        plan.extend(of.map(|probability| experiment(law, law.rtt_ms, probability)));
        let middle = law.probabilities[law.probabilities.len() / 2];
        if level != Level::Quick {
            plan.extend(law.others.iter().map(|rtt_ms| experiment(law, *rtt_ms, middle)));
        }
    }
    if level != Level::Quick {
        plan.extend(LOSSES.map(|probability| {
            let experiment = Experiment::new(losses(probability), LAW_FILE)
                .variants(&["reno", RATE_BASED[0], RATE_BASED[1]])
                .set(&[
                    "topology.star.rate=100Mbps",
                    &format!("switch.aqm.bernoulli.probability={probability}"),
                ]);
            sized(experiment, level, [1, 3, 5])
        }));
    }
    plan
}

/// Losses of one probability on a link of 100 Mb/s.
pub fn losses(probability: &str) -> &'static str {
    name(&format!("losses-{probability}"))
}

fn links(level: Level) -> Vec<Experiment> {
    let experiment = |rate_mbps: u32, rtt_ms: u32| {
        // The links of the hosts take 4 ms there and back.
        let delay = f64::from(rtt_ms) / 2.0 - 2.0;
        let experiment = Experiment::new(link(rate_mbps, rtt_ms), PI2_FILE).set(&[
            &format!("topology.dumbbell.bottleneck_rate={rate_mbps}Mbps"),
            &format!("topology.dumbbell.bottleneck_delay={delay}ms"),
        ]);
        sized(experiment, level, [2, 2, 3])
    };
    let (rates, round_trips) = match level {
        Level::Quick => (vec![RATES[0], RATES[2]], vec![ROUND_TRIPS[1], ROUND_TRIPS[3]]),
        Level::Standard | Level::Full => (RATES.to_vec(), ROUND_TRIPS.to_vec()),
    };
    let row = |rtt_ms: &u32| rates.iter().map(|rate| experiment(*rate, *rtt_ms)).collect();
    round_trips.iter().flat_map(|rtt_ms| -> Vec<Experiment> { row(rtt_ms) }).collect()
}

fn others(level: Level) -> Vec<Experiment> {
    let mut plan = Vec::new();
    for field in FIELDS {
        let percents = OVERLOADS.iter().filter(|of| level != Level::Quick || **of % 60 == 0);
        plan.extend(percents.map(|percent| {
            let experiment = Experiment::new(overload(field, *percent), OVERLOAD_FILE).set(&[
                &format!("workload.2.transport.udp.ecn={field}"),
                &format!("workload.2.congestion.constant_rate.rate={}Kbps", percent * 400),
            ]);
            experiment.replications([2, 3, 5][level as usize])
        }));
    }
    plan.extend(INTERACTIVE.map(|congestion| {
        let experiment = Experiment::new(interactive(congestion), INTERACTIVE_FILE)
            .set(&[&format!("workload.2.congestion={congestion}")]);
        sized(experiment, level, [2, 5, 10])
    }));
    plan.extend(MODERN.map(|congestion| {
        let experiment = Experiment::new(modern(congestion), MODERN_FILE)
            .set(&[&format!("workload.1.congestion={congestion}")]);
        sized(experiment, level, [2, 3, 5])
    }));
    plan
}
