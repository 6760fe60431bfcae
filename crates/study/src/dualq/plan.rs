//! The experiments, by level.

use std::collections::BTreeSet;

use crate::evidence::{Case, Evidence};
use crate::plan::{Experiment, Level, name};
use crate::readings::Judged;

use super::{
    ALONE, ALONE_FILE, COUPLED, DUALPI2, DUALQ, GRID, IDLE, IDLE_FILE, INTERACTIVE_FILE, LAW_FILE,
    LOAD, LOAD_FILE, MODERN_FILE, Mix, OVERLOAD_FILE, PI2_FILE, RED, mix,
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

/// Of these, those with both kinds: the 100 mixes of slides 26 to 28.
pub fn all_shared() -> impl Iterator<Item = Mix> {
    all_mixes().filter(|mix| mix.0 > 0 && mix.1 > 0)
}

/// Whether the sources leave a choice open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// They do, so that it makes a reading; and who chooses so.
    Open(&'static str),
    /// They do not: what they say. It is run for comparison and no claim is judged by it.
    RuledOut(&'static str),
}

/// What the sources leave open, and what else there is.
#[derive(Debug)]
pub struct Choice {
    /// A short name.
    pub name: &'static str,
    /// What it is.
    pub words: &'static str,
    /// The variant of grid.toml that it changes.
    pub variant: &'static str,
    /// How.
    pub set: &'static [&'static str],
    /// Whose choice it is.
    pub origin: Origin,
}

const RENO: &str = "slides 20 to 29: \"Reno|Cubic\"";
const RENO_TODAY: &str = "RFC 9332: Classic congestion controls are those that coexist with Reno";

/// The mixes `SHARED` are run with each.
pub const OPTIONS: &[Choice] = &[
    Choice {
        name: "slope-1",
        words: "DualQ, s_r 1: certain drop at 2.15 s",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm.dualq.s_r=1"],
        origin: Origin::Open("slide 29 has \"Reno slope (bits)\" without a number; assumed"),
    },
    Choice {
        name: "slope-2",
        words: "DualQ, s_r 2: certain drop at 1.07 s",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm.dualq.s_r=2"],
        origin: Origin::Open("slide 29 has \"Reno slope (bits)\" without a number; assumed"),
    },
    Choice {
        name: "threshold-1",
        words: "DualQ, threshold of 1 packet",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm.dualq.threshold=1"],
        origin: Origin::Open("slides 24 and 29 have a 1 beside the marker; assumed"),
    },
    Choice {
        name: "threshold-20",
        words: "DualQ, threshold of 20 packets",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm.dualq.threshold=20"],
        origin: Origin::Open("DCTCP, SIGCOMM 2010: 20 packets at 1 Gb/s"),
    },
    Choice {
        name: "dualq-reno",
        words: "DualQ, Reno instead of Cubic",
        variant: DUALQ,
        set: &["workload.0.congestion=reno"],
        origin: Origin::Open(RENO),
    },
    Choice {
        name: "dualq-beta",
        words: "DualQ, Cubic with beta 0.8",
        variant: DUALQ,
        set: &["workload.0.congestion.cubic.beta=0.8"],
        origin: Origin::Open("slide 16: its constant 1.17 is that of beta 0.8"),
    },
    Choice {
        name: "dualq-pacing",
        words: "DualQ, all flows paced",
        variant: DUALQ,
        set: &["host.transport.tcp.pacing=true"],
        origin: Origin::Open("Linux with the queuing discipline fq, since 3.12"),
    },
    Choice {
        name: "dualq-acks",
        words: "DualQ, every packet acknowledged",
        variant: DUALQ,
        set: &["host.transport.tcp.ack_every=1"],
        origin: Origin::Open("RFC 5681, section 4.2: at least every second; more are allowed"),
    },
    Choice {
        name: "dualq-prague",
        words: "DualQ, Prague instead of DCTCP",
        variant: DUALQ,
        set: &["workload.1.congestion=prague"],
        origin: Origin::RuledOut("all slides: DCTCP"),
    },
    Choice {
        name: "dualq-wrr",
        words: "DualQ, one of ten packets classic",
        variant: DUALQ,
        set: &["variants.dualq.switch.scheduler=wrr"],
        origin: Origin::RuledOut("slides 23 to 29: strict priority"),
    },
    Choice {
        name: "smoothed",
        words: "DualQ, classic queue smoothed: Curvy RED with k 8",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm=curvy_red", "variants.dualq.switch.aqm.curvy_red.k0=3"],
        origin: Origin::Open(
            "slide 6: \"Smooth and delay a drop\" of TCP, slide 24: \"Instant Q time\"; RFC 9332, \
             appendix B, smooths",
        ),
    },
    Choice {
        name: "curvy-red",
        words: "Curvy RED as in RFC 9332: smoothed, k 2",
        variant: DUALQ,
        set: &["variants.dualq.switch.aqm=curvy_red"],
        origin: Origin::RuledOut("slides 24, 25 and 29: k = 8"),
    },
    Choice {
        name: "coupled-time",
        words: "coupled queue, by waiting time",
        variant: COUPLED,
        set: &["variants.coupled.switch.aqm.coupled.measure=time"],
        origin: Origin::Open("slide 25: \"Measure Q in time is important for optimal fairness\""),
    },
    Choice {
        name: "coupled-reno",
        words: "coupled queue, Reno instead of Cubic",
        variant: COUPLED,
        set: &["workload.0.congestion=reno"],
        origin: Origin::Open(RENO),
    },
    Choice {
        name: "red-reno",
        words: "RED, Reno instead of Cubic",
        variant: RED,
        set: &["workload.0.congestion=reno"],
        origin: Origin::Open("slides 11 and 12: \"Reno|Cubic\""),
    },
    Choice {
        name: "dualpi2-ramp",
        words: "DualPI2, ramp of RFC 9332 instead of a step",
        variant: DUALPI2,
        set: &["variants.dualpi2.switch.aqm.dualpi2.low_latency=ramp"],
        origin: Origin::Open("RFC 9332, appendix A.1: a ramp; Linux has a step"),
    },
    Choice {
        name: "dualpi2-reno",
        words: "DualPI2, Reno instead of Cubic",
        variant: DUALPI2,
        set: &["workload.0.congestion=reno"],
        origin: Origin::Open(RENO_TODAY),
    },
    Choice {
        name: "dualpi2-prague",
        words: "DualPI2, Prague instead of DCTCP",
        variant: DUALPI2,
        set: &["workload.1.congestion=prague"],
        origin: Origin::Open("RFC 9331: the requirements that Prague meets and DCTCP does not"),
    },
    Choice {
        name: "dualpi2-shifted",
        words: "DualPI2, time-shifted FIFO instead of WRR",
        variant: DUALPI2,
        set: &["variants.dualpi2.switch.scheduler=time_shifted"],
        origin: Origin::Open("RFC 9332, appendix A.1: either scheduler"),
    },
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

/// One in how many packets meets a signal at even distances, in place of this probability.
pub fn every(probability: &str) -> u32 {
    let probability: f64 = probability.parse().expect("probabilities are numbers");
    libm::round(1.0 / probability) as u32
}

/// One point of a law with signals at even distances.
pub fn even(variant: &str, rtt_ms: u32, probability: &str) -> &'static str {
    name(&format!("even-{variant}-{rtt_ms}ms-1-of-{}", every(probability)))
}

impl Law {
    /// Its points: round-trip times and probabilities.
    pub fn points(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let middle = self.probabilities[self.probabilities.len() / 2];
        let of_p = self.probabilities.iter().map(|probability| (self.rtt_ms, *probability));
        of_p.chain(self.others.iter().map(move |rtt_ms| (*rtt_ms, middle)))
    }
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
        let many = if MIXES.contains(&of) { [2, 3, 5] } else { [2, 2, 3] };
        sized(experiment.set(&[&cubic, &dctcp]), level, many)
    };
    match level {
        Level::Quick => MIXES.into_iter().map(experiment).collect(),
        Level::Standard | Level::Full => all_mixes().map(experiment).collect(),
    }
}

fn options(level: Level) -> Vec<Experiment> {
    let experiment = |of: &Choice, mix: Mix| {
        let [cubic, dctcp] = counts(mix);
        let experiment = Experiment::new(option(of.name, mix), GRID).variants(&[of.variant]);
        let many = if SHARED.contains(&mix) { [1, 2, 3] } else { [1, 2, 2] };
        sized(experiment.set(&[&cubic, &dctcp]).set(of.set), level, many)
    };
    if level == Level::Quick {
        return Vec::new();
    }
    let mixes = |of: &'static Choice| {
        let whole = level == Level::Full && WHOLE.contains(&of.name);
        let mixes: Vec<Mix> = if whole { all_shared().collect() } else { SHARED.to_vec() };
        mixes.into_iter().map(move |mix| experiment(of, mix))
    };
    OPTIONS.iter().flat_map(mixes).collect()
}

fn laws(level: Level) -> Vec<Experiment> {
    // Rates vary as slowly as the cubic function goes round, and quickly with many marks.
    let length = |law: &Law, level: Level| match (level, law.rtt_ms, law.probabilities[0]) {
        (Level::Quick, _, "0.003") => (30, 12),
        (_, _, "0.003") => (80, 20),
        (Level::Quick, 10, _) => (60, 20),
        (_, 10, _) => (220, 20),
        (Level::Quick, ..) => (250, 50),
        _ => (700, 100),
    };
    let experiment = |name, law: &Law, rtt_ms: u32, aqm: &str, (arrivals, warmup): (u32, u32)| {
        // There are two links, and two ways over each.
        let delay = f64::from(rtt_ms) / 4.0;
        Experiment::new(name, LAW_FILE).variants(&[law.variant]).set(&[
            aqm,
            &format!("topology.star.delay={delay}ms"),
            &format!("arrivals={arrivals}s"),
            &format!("warmup={warmup}s"),
            &format!("limit={}s", arrivals + 1),
        ])
    };
    let mut plan = Vec::new();
    for law in LAWS {
        // Round-trip times in longer versions only.
        let points = || law.points().filter(|of| level != Level::Quick || of.0 == law.rtt_ms);
        plan.extend(points().map(|(rtt_ms, probability)| {
            let aqm = format!("switch.aqm.bernoulli.probability={probability}");
            let name = self::law(law.variant, rtt_ms, probability);
            experiment(name, law, rtt_ms, &aqm, length(law, level))
                .replications([2, 3, 5][level as usize])
        }));
        // Nothing is random about these, so that one run is all there is, and a short one: a window
        // goes through the same values again and again.
        plan.extend(points().map(|(rtt_ms, probability)| {
            let aqm = format!("switch.aqm.regular.packets={}", every(probability));
            let length = match (level, law.rtt_ms) {
                (Level::Standard | Level::Full, 100) => (400, 100),
                _ => length(law, Level::Quick),
            };
            experiment(even(law.variant, rtt_ms, probability), law, rtt_ms, &aqm, length)
                .replications(1)
        }));
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
        let mut experiment = Experiment::new(modern(congestion), MODERN_FILE)
            .set(&[&format!("workload.1.congestion={congestion}")]);
        if congestion == "dctcp" {
            // ECT(1) signals DualPI2 that a flow is scalable. Prague sends it by itself.
            experiment = experiment.set(&["variants.dualpi2.host.transport.tcp.codepoint=ect1"]);
        }
        sized(experiment, level, [2, 3, 5])
    }));
    plan
}

/// The experiments of the laws with signals at even distances, each after the one that it stands for.
pub fn evenly() -> Vec<(&'static str, &'static str)> {
    let pairs = |law: &'static Law| {
        law.points().map(|(rtt_ms, probability)| {
            let of = law.variant;
            (self::law(of, rtt_ms, probability), even(of, rtt_ms, probability))
        })
    };
    LAWS.iter().flat_map(pairs).collect()
}

/// What the laws are read as besides.
pub const EVEN: &str = "losses and marks at even distances, not at random";

/// The readings: all experiments as they stand, and with one other choice each.
///
/// A choice changes one variant of the mixes, or the signals that the laws are of; all other variants
/// are those of the main reading, and a claim that looks at none of the changed ones is not judged by
/// the choice. Most choices are run with the mixes `SHARED` only, a few with all 100 at the full
/// level. A mean over six mixes, four of them the corners, is another number than one over all, so
/// that claims have both, by the same rule: numbers over `SHARED` are judged in every reading, those
/// over all mixes where all were run.
pub fn readings(evidence: &Evidence) -> Judged {
    let other: BTreeSet<&str> = {
        let options = options(evidence.level).into_iter().map(|of| of.name);
        options.chain(evenly().into_iter().map(|(_, even)| even)).collect()
    };
    let plan = experiments(evidence.level).into_iter().map(|of| of.name);
    let mut main: Vec<_> =
        plan.filter(|name| !other.contains(name)).map(|name| (name, name)).collect();
    // What shows whether the main reading was run.
    main.sort_by_key(|(name, _)| *name != mix(SHARED[0], RED).experiment);
    // What was not run must not be taken from the main reading.
    let choice = |of: &Choice| {
        let pair = |mix: Mix| (super::mix(mix, of.variant).experiment, option(of.name, mix));
        let run = |name| evidence.has(Case { experiment: name, variant: of.variant });
        let pairs = all_shared().map(pair).filter(|(_, is)| run(*is));
        (of.words.to_owned(), pairs.collect())
    };
    let open = OPTIONS.iter().filter(|of| matches!(of.origin, Origin::Open(_)));
    let even = evenly().into_iter().filter(|(_, is)| evidence.scenario(is).is_some());
    let others = open.map(choice).chain([(EVEN.to_owned(), even.collect())]);
    Judged::one_at_a_time(main, others).that_were_run(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One in 1/p packets: 1/0.0003 is 3333.3, and 1/0.03 is 33.3.
    #[test]
    fn a_probability_is_one_packet_in_so_many() {
        let of = ["0.00001", "0.0003", "0.001", "0.03", "0.3"].map(every);
        assert_eq!(of, [100_000, 3_333, 1_000, 33, 3]);
    }

    #[test]
    fn every_point_of_a_law_has_one_with_even_distances() {
        let set = |plan: &[Experiment], name: &str| {
            let found = plan.iter().find(|of| of.name == name);
            found.unwrap_or_else(|| panic!("{name} is in the plan")).set.clone()
        };
        let value = |set: &[String], path: &str| {
            let found = set.iter().find_map(|of| of.strip_prefix(path)?.strip_prefix('='));
            found.unwrap_or_else(|| panic!("{path} is set")).to_owned()
        };
        let plan = experiments(Level::Standard);
        let pairs = evenly();
        assert_eq!(pairs.len(), LAWS.iter().map(|law| law.points().count()).sum::<usize>());
        for (of, is) in pairs {
            let (random, even) = (set(&plan, of), set(&plan, is));
            let probability = value(&random, "switch.aqm.bernoulli.probability");
            let probability: f64 = probability.parse().unwrap();
            let packets = value(&even, "switch.aqm.regular.packets");
            let packets: f64 = packets.parse().unwrap();
            assert!((packets * probability - 1.0).abs() <= probability / 2.0 + 1e-9, "{of}");
            let delay = |set| value(set, "topology.star.delay");
            assert_eq!(delay(&random), delay(&even));
        }
    }

    #[test]
    fn every_choice_has_an_origin() {
        for Choice { name, origin, .. } in OPTIONS {
            let (Origin::Open(text) | Origin::RuledOut(text)) = origin;
            assert!(!text.is_empty(), "{name}");
        }
        // What is run with all mixes is a reading.
        for name in WHOLE {
            let choice = OPTIONS.iter().find(|of| of.name == name).unwrap();
            assert!(matches!(choice.origin, Origin::Open(_)));
        }
    }
}
