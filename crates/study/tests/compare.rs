//! The Rust studies against the folders that replace them.
use std::collections::BTreeMap;
use std::path::Path;

use crate::synthetic;
use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_study::{Evidence, Level, Study, ci, folder};

struct Random(u64);
impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn up_to(&mut self, most: u64) -> u64 {
        (self.next() * most as f64) as u64
    }
}

fn seed(parts: &[&str]) -> Random {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.join("/").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    let mut random = Random(hash | 1);
    for _ in 0..8 {
        random.next();
    }
    random
}

fn run(mut r: Random) -> Vec<Table> {
    let text = |all: &[&str]| all.iter().map(|of| (*of).to_owned()).collect::<Vec<String>>();
    let n = 60_usize;
    let factor = 1.0 + r.next();
    let bytes: Vec<u64> = (0..n).map(|_| (10_f64.powf(2.0 + 6.0 * r.next())) as u64).collect();
    let fct: Vec<f64> = bytes
        .iter()
        .map(|b| {
            if r.next() < 0.03 {
                f64::NAN
            } else {
                (1_000.0 + *b as f64 * 0.1) * factor * (0.5 + r.next())
            }
        })
        .collect();
    let workload: Vec<u64> = (0..n).map(|at| (at % 3) as u64).collect();
    let flows = complete(
        Table::new("flows", "")
            .u64("flow", "", (0..n as u64).collect())
            .u64("workload", "", workload)
            .u64("bytes", "", bytes)
            .f64("start_ns", "", (0..n).map(|_| r.next() * 1e5).collect())
            .f64("stop_ns", "", vec![f64::NAN; n])
            .f64("fct_ns", "", fct)
            .f64("ideal_fct_ns", "", vec![10.0; n])
            .u64("packets_sent", "", (0..n).map(|_| 100 + r.up_to(900)).collect())
            .u64("marked_packets", "", (0..n).map(|_| r.up_to(10)).collect())
            .u64("lost_packets", "", (0..n).map(|_| r.up_to(3)).collect())
            .u64("measured", "", (0..n).map(|at| u64::from(at % 10 != 3)).collect()),
    );
    let names = [
        "pause_frames",
        "data_packets_sent",
        "data_bytes_delivered",
        "measured_ns",
        "warmup_ns",
        "dropped_packets",
        "timeouts",
        "hosts_paused_ns",
        "tier_0_paused_ns",
        "tier_1_paused_ns",
        "tier_2_paused_ns",
        "sfc_messages",
        "sfc_proxy_pauses",
        "sfc_reminders",
        "sfc_holds_ns",
        "bfc_pauses",
        "bfc_collisions",
        "cnps_sent",
        "retransmitted_packets",
        "paused_ns",
        "marked_packets",
        "isolations",
        "tier_0_class_0_xoff_frames",
        "tier_0_class_1_xoff_frames",
        "tier_1_class_0_xoff_frames",
        "tier_1_class_1_xoff_frames",
        "tier_0_class_0_paused_ns",
        "tier_0_class_1_paused_ns",
        "tier_1_class_0_paused_ns",
        "hosts_class_0_paused_ns",
        "hosts_class_1_paused_ns",
    ];
    let mut values: Vec<u64> = names.iter().map(|_| 1_000 + r.up_to(1_000_000)).collect();
    values[3] = 900_000;
    values[4] = 100_000;
    let drops = [r.up_to(4), if r.next() < 0.4 { 0 } else { r.up_to(3) }];
    values[5] = drops[0];
    let counters = complete(
        Table::new("counters", "").text("name", "", text(&names)).u64("value", "", values).text(
            "meaning",
            "",
            vec![String::new(); names.len()],
        ),
    );
    let drops = complete(
        Table::new("drops", "")
            .text("reason", "", text(&["queue_full", "red"]))
            .u64("queue", "", vec![0, 1])
            .u64("packets", "", drops.to_vec()),
    );
    let latencies = complete(
        Table::new("latencies", "")
            .u64("workload", "", vec![0; 4])
            .u64("up_to_ns", "", vec![1_000, 2_000, 4_000, 8_000])
            .u64("packets", "", (0..4).map(|_| 1 + r.up_to(500)).collect())
            .f64("total_ns", "", (0..4).map(|_| 1e5 * (1.0 + r.next())).collect()),
    );
    let m = 400_usize;
    let requested: Vec<f64> = (0..m).map(|_| r.next() * 9e5).collect();
    let completed: Vec<f64> = requested
        .iter()
        .map(|t| if r.next() < 0.02 { f64::NAN } else { t + 1e4 * r.next() * factor })
        .collect();
    let entries = complete(
        Table::new("entries", "")
            .u64("flow", "", (0..m).map(|_| r.up_to(n as u64)).collect())
            .f64("requested_ns", "", requested)
            .u64("bytes", "", (0..m).map(|_| 1 + r.up_to(20_000)).collect())
            .f64("arrived_ns", "", completed.clone())
            .f64("completed_ns", "", completed)
            .u64("measured", "", (0..m).map(|_| u64::from(r.next() < 0.8)).collect()),
    );
    let t = 450_usize;
    let timeline = complete(
        Table::new("timeline", "")
            .f64("time_ns", "", (0..3 * t).map(|at| (at / 3) as f64 * 2_000.0).collect())
            .u64("queue", "", (0..3 * t).map(|at| (at % 3) as u64).collect())
            .f64("mean_backlog_bytes", "", (0..3 * t).map(|_| r.next() * 1e4).collect())
            .u64("max_backlog_bytes", "", (0..3 * t).map(|_| r.up_to(100_000)).collect()),
    );
    let switches = complete(
        Table::new("switches", "")
            .text("switch", "", text(&["a", "b"]))
            .u64("tier", "", vec![0, 1])
            .u64("ports", "", vec![3, 4]),
    );
    let queues = complete(
        Table::new("queues", "")
            .u64("tier", "", (0..24).map(|at| at % 2).collect())
            .u64("queue", "", (0..24).map(|at| at % 3).collect())
            .f64(
                "mean_backlog_bytes",
                "",
                (0..24).map(|_| 1e3 + 6e5 * r.next() * r.next()).collect(),
            )
            .u64("max_backlog_bytes", "", (0..24).map(|_| r.up_to(1_000_000)).collect()),
    );
    let edges = [0, 1_000, 3_000, 10_000, 100_000, 300_000, 1_000_000, u64::MAX];
    let depths = complete(
        Table::new("depths", "")
            .u64("tier", "", (0..32).map(|at| at % 2).collect())
            .u64("queue", "", (0..32).map(|at| at / 2 % 2).collect())
            .u64("up_to_bytes", "", (0..32).map(|at| edges[at / 4]).collect())
            .u64("samples", "", (0..32).map(|_| r.up_to(9_000)).collect()),
    );
    let mut scopes = Vec::new();
    for scope in ["port", "switch"] {
        for tier in 0..3 {
            for edge in [0, 1_000, 10_000, 100_000, 1_000_000, u64::MAX] {
                scopes.push((scope, tier, edge));
            }
        }
    }
    let occupancy = complete(
        Table::new("occupancy", "")
            .u64("tier", "", scopes.iter().map(|of| of.1).collect())
            .text("scope", "", scopes.iter().map(|of| of.0.to_owned()).collect())
            .u64("up_to_bytes", "", scopes.iter().map(|of| of.2).collect())
            .u64("samples", "", scopes.iter().map(|_| r.up_to(1_000)).collect()),
    );
    let w = 40_u64;
    let deliveries = complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", (0..w).flat_map(|at| vec![at as f64 * 1e6; 4]).collect())
            .u64("flow", "", (0..w).flat_map(|_| 0..4).collect())
            .u64("delivered_bytes", "", {
                let mut sums = [0; 4];
                (0..w)
                    .flat_map(|_| {
                        for sum in &mut sums {
                            *sum += 1_000_000 + r.up_to(4_000_000);
                        }
                        sums
                    })
                    .collect()
            }),
    );
    vec![
        flows, counters, drops, depths, latencies, entries, timeline, switches, queues, occupancy,
        deliveries,
    ]
}

fn evidence(study: &'static Study, level: Level, runs: u32) -> Evidence {
    let mut evidence = Evidence::new(study, level, &[]);
    for experiment in (study.plan)(level) {
        let scenario = experiment.scenario(&study.library, &[]).unwrap();
        evidence.begin(experiment.name, &scenario);
        for variant in scenario.variants() {
            let wanted = &experiment.variants;
            if wanted.is_empty() || wanted.contains(&variant.name.as_str()) {
                for replication in 0..runs {
                    let text = replication.to_string();
                    let tables = run(seed(&[experiment.name, &variant.name, &text]));
                    synthetic::add(
                        &mut evidence,
                        experiment.name,
                        &variant.name,
                        replication,
                        &tables,
                    );
                }
            }
        }
    }
    evidence
}

/// A study.json-like text with numbers rounded to nine digits.
fn lines(of: &impl std::fmt::Debug) -> Vec<String> {
    let text = format!("{of:#?}");
    let number = |word: &str| -> String {
        let trimmed = word.trim_matches(|c: char| ",()[]{}".contains(c));
        match trimmed.parse::<f64>() {
            Ok(value) if trimmed.contains('.') => word.replace(trimmed, &format!("{value:.8e}")),
            _ => word.to_owned(),
        }
    };
    text.lines().map(|line| line.split(' ').map(number).collect::<Vec<_>>().join(" ")).collect()
}

fn differences(what: &str, old: &[String], new: &[String]) -> usize {
    if old == new {
        return 0;
    }
    let mut count = 0;
    for at in 0..old.len().max(new.len()) {
        let (a, b) = (old.get(at), new.get(at));
        if a != b {
            count += 1;
            if count <= 12 {
                println!("{what}:{at}\n  - {a:?}\n  + {b:?}");
            }
        }
    }
    println!("{what}: {count} lines differ");
    count
}

fn compare(name: &str, old: &'static Study) {
    let path = format!("{}/../../studies/{name}", env!("CARGO_MANIFEST_DIR"));
    let new = folder::load(Path::new(&path)).unwrap_or_else(|error| panic!("{}", error.plain()));
    let mut wrong = 0;
    let mut commands = BTreeMap::new();
    for level in [Level::Quick, Level::Standard, Level::Full] {
        let (a, b) = ((old.plan)(level), (new.plan)(level));
        let names = |plan: &[floodway_study::Experiment]| {
            plan.iter().map(|of| of.name.to_owned()).collect::<Vec<_>>()
        };
        wrong += differences(&format!("{level:?} plan"), &names(&a), &names(&b));
        for a in &a {
            let Some(b) = b.iter().find(|b| b.name == a.name) else { continue };
            let both = [(a, &old.library), (b, &new.library)].map(|(of, library)| {
                let scenario =
                    of.scenario(library, &[]).unwrap_or_else(|error| panic!("{}", error.plain()));
                let wanted: Vec<_> = scenario
                    .variants()
                    .iter()
                    .filter(|variant| {
                        of.variants.is_empty() || of.variants.contains(&variant.name.as_str())
                    })
                    .map(|variant| {
                        (variant.name.clone(), serde_json::to_value(&variant.settings).unwrap())
                    })
                    .collect();
                (scenario.seed, scenario.replications, wanted)
            });
            if both[0] != both[1] {
                wrong += differences(a.name, &lines(&both[0]), &lines(&both[1]));
            }
            commands.insert(a.command(&[]), b.command(&[]));
        }
        for runs in [1, 3] {
            let (a, b) = (evidence(old, level, runs), evidence(new, level, runs));
            let label = format!("{level:?} {runs}");
            let of = |study: &Study, evidence: &Evidence| {
                let closest = study.closest.unwrap();
                let tried: Vec<_> = closest
                    .tried(evidence)
                    .into_iter()
                    .map(|of| (of.reading, of.variant, format!("{:.10}", of.distance)))
                    .collect();
                let next: Vec<_> = closest
                    .next(evidence, level)
                    .iter()
                    .map(|of| {
                        let mut set = of.set.clone();
                        set.sort();
                        let scenario = of.scenario(&study.library, &[]).unwrap();
                        let all: Vec<_> = scenario
                            .variants()
                            .iter()
                            .map(|of| serde_json::to_value(&of.settings).unwrap())
                            .collect();
                        (of.name, of.variants.clone(), set, scenario.replications, all)
                    })
                    .collect();
                (tried, next)
            };
            let (x, y) = (of(old, &a), of(new, &b));
            assert_eq!(x.0.len(), 64);
            assert!(!x.1.is_empty());
            println!("{level:?} {runs}: {} next", x.1.len());
            wrong += differences(&format!("{label} closest"), &lines(&x), &lines(&y));
            let (ca, ka) = old.judge(&a);
            let (cb, kb) = new.judge(&b);
            for (a, b) in ca.iter().zip(&cb) {
                wrong += differences(&format!("{label} claim {}", a.id), &lines(a), &lines(b));
            }
            assert_eq!(ca.len(), cb.len());
            wrong += differences(&format!("{label} checks"), &lines(&ka), &lines(&kb));
            wrong += differences(&format!("{label} answer"), &(old.answer)(&a), &(new.answer)(&b));
            let (sa, sb) = ((old.sections)(&a), (new.sections)(&b));
            let names = |of: &[floodway_report::study::Section]| {
                of.iter().map(|of| of.name.clone()).collect::<Vec<_>>()
            };
            wrong += differences(&format!("{label} sections"), &names(&sa), &names(&sb));
            for a in &sa {
                let Some(b) = sb.iter().find(|b| b.name == a.name) else { continue };
                let at = format!("{label} section {}", a.name);
                wrong += differences(&format!("{at} claims"), &lines(&a.claims), &lines(&b.claims));
                wrong += differences(
                    &format!("{at} question"),
                    &lines(&a.question),
                    &lines(&b.question),
                );
                wrong += differences(&format!("{at} answer"), &lines(&a.answer), &lines(&b.answer));
                wrong += differences(&format!("{at} text"), &lines(&a.text), &lines(&b.text));
                wrong += differences(&format!("{at} links"), &lines(&a.links), &lines(&b.links));
                for (n, (x, y)) in a.exhibits.iter().zip(&b.exhibits).enumerate() {
                    wrong += differences(&format!("{at} exhibit {n}"), &lines(x), &lines(y));
                }
                wrong += differences(
                    &format!("{at} number"),
                    &[a.exhibits.len().to_string()],
                    &[b.exhibits.len().to_string()],
                );
            }
        }
    }
    std::fs::write(
        format!("/tmp/commands-{name}.json"),
        serde_json::to_string_pretty(&commands).unwrap(),
    )
    .unwrap();
    assert_eq!(wrong, 0);
}

#[test]
fn ci_is_the_same() {
    compare("ci", &ci::STUDY);
}
