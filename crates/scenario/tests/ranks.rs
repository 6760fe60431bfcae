//! A run over several processes, or in blocks, has the tables of a run on one thread, bit by bit.

#[path = "../../engine/tests/crew/mod.rs"]
mod crew;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use floodway_engine::Ranks;
use floodway_model::table::{Table, Values};
use floodway_model::{Duration, Instant};
use floodway_scenario::{Overrides, Scenario, Variant};
use floodway_sim::over::{Share, TooManyRanks, most_ranks};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec, Stop};

fn over(spec: &Spec, (ranks, threads): (usize, usize), stop: &AtomicBool) -> Outcome {
    let mut outcomes = crew::on(ranks, |member| {
        let run = Run { threads, stop, watch: &|_| {} };
        Share::new(spec.clone(), threads, member).unwrap().run(&run)
    });
    assert!(outcomes[1..].iter().all(Option::is_none), "rank 0 alone has the outcome");
    outcomes.remove(0).unwrap()
}

fn same_values(one: &Values, other: &Values) -> bool {
    match (one, other) {
        // Empty values are NaN.
        (Values::F64(one), Values::F64(other)) => {
            one.iter().map(f64::to_bits).eq(other.iter().map(f64::to_bits))
        }
        (one, other) => one == other,
    }
}

fn assert_same(what: &str, one: &Outcome, other: &Outcome) {
    let names =
        |outcome: &Outcome| outcome.tables.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}");
    for (one, other) in one.tables.iter().zip(&other.tables) {
        let same = |(one, other): (&_, &_)| {
            let (one, other): (&floodway_model::table::Column, &floodway_model::table::Column) =
                (one, other);
            (&one.name, &one.doc) == (&other.name, &other.doc)
                && same_values(&one.values, &other.values)
        };
        let columns = |table: &Table| table.columns.len();
        assert_eq!(columns(one), columns(other), "{what}: {}", one.name);
        assert_eq!(one.rows(), other.rows(), "{what}: {}", one.name);
        for pair in one.columns.iter().zip(&other.columns) {
            assert!(same(pair), "{what}: {}.{}", one.name, pair.0.name);
        }
    }
    let of = |outcome: &Outcome| {
        (
            outcome.fingerprint,
            outcome.stop,
            outcome.simulated,
            outcome.hops,
            outcome.violations.clone(),
        )
    };
    assert_eq!(of(one), of(other), "{what}");
}

fn shipped() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().is_some_and(|ending| ending == "toml") {
                true => found.push(path),
                false if path.is_dir() => folders.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// The beginning of a run, of so many link delays at most, with everything recorded that can be.
fn begin(spec: Spec, delays: u64) -> Spec {
    let shortest = spec.graph.links().map(|(_, _, end)| end.delay).min().unwrap().0.max(1_000);
    let end = Duration(spec.end.0.min(shortest.saturating_mul(delays)));
    let warmup = Duration(spec.warmup.0.min(end.0 / 4));
    let measured_until = Duration(spec.measured_until.0.min(end.0));
    let sample_interval = Duration((end.0 / 100).max(1));
    let (record, explained) = (Some(20), None);
    Spec {
        end,
        warmup,
        measured_until,
        sample_interval,
        record,
        explained,
        departures: true,
        latencies: true,
        ..spec
    }
}

/// The first and the last variant of every scenario.
#[test]
fn every_shipped_scenario_has_the_same_tables_over_ranks() {
    let stop = AtomicBool::new(false);
    let mut compared = 0;
    for path in shipped() {
        let quick = std::fs::read_to_string(&path).unwrap().contains("\n[quick]");
        let scenario = Scenario::load(&path, &Overrides { quick, set: Vec::new() })
            .unwrap_or_else(|error| panic!("{}", error.plain()));
        // Kernels run in one process.
        if scenario.variants().iter().any(Variant::has_kernels) {
            continue;
        }
        let variants = scenario.variants();
        let chosen = [(true, variants.first()), (false, variants[1..].last())];
        for (first, variant) in chosen.into_iter().filter_map(|(first, of)| Some((first, of?))) {
            let whole = scenario.build(variant, 0);
            let what = format!("{} {}", path.display(), variant.name);
            let (spec, one) = (0..30)
                .map(|doubled| begin(whole.clone(), 100 << doubled))
                .map(|spec| (spec.clone(), Simulation::new(spec).audited(false).run()))
                .find(|(spec, one)| one.hops > 500 || spec.end == whole.end)
                .unwrap_or_else(|| panic!("{what}"));
            assert!(one.hops > 0, "{what}");
            // Ranks alone for the first variant, with threads for the last.
            let setup = if first { (4, 1) } else { (2, 2) };
            let setup = (setup.0.min(most_ranks(&spec)), setup.1);
            assert_same(&format!("{what} {setup:?}"), &one, &over(&spec, setup, &stop));
            compared += usize::from(setup.0 > 1);
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Times of flows that have ended in both runs, which do not depend on when these end.
fn assert_same_flows(what: &str, one: &Outcome, other: &Outcome) {
    let [one, other] = [one, other].map(|outcome| outcome.table("flows").f64s("fct_ns").to_vec());
    assert_eq!(one.len(), other.len(), "{what}");
    let differ = |one: f64, other: f64| one != other && !one.is_nan() && !other.is_nan();
    let first = one.iter().zip(&other).position(|(one, other)| differ(*one, *other));
    assert_eq!(first, None, "{what}");
}

/// The first and the last variant of every scenario, in small blocks on one thread and in larger ones on three. A run
/// that ends by its time has the tables of a run without blocks. One that its flows end may be up to as
/// many windows longer as a block runs at a time, and only completion times are the same.
#[test]
fn every_shipped_scenario_has_the_same_tables_in_blocks() {
    let stop = AtomicBool::new(false);
    let mut same = 0;
    for path in shipped() {
        let quick = std::fs::read_to_string(&path).unwrap().contains("\n[quick]");
        let scenario = Scenario::load(&path, &Overrides { quick, set: Vec::new() })
            .unwrap_or_else(|error| panic!("{}", error.plain()));
        let variants = scenario.variants();
        if variants.iter().any(Variant::has_kernels) {
            continue;
        }
        for variant in variants.first().into_iter().chain(variants[1..].last()) {
            let whole = Spec { awaited: Vec::new(), ..scenario.build(variant, 0) };
            let what = format!("{} {}", path.display(), variant.name);
            let (spec, one) = (0..30)
                .map(|doubled| begin(whole.clone(), 100 << doubled))
                .map(|spec| (spec.clone(), Simulation::new(spec).audited(false).run()))
                .find(|(spec, one)| one.hops > 2_000 || spec.end == whole.end)
                .unwrap_or_else(|| panic!("{what}"));
            let run = |ports, threads| {
                let run = Run { threads, stop: &stop, watch: &|_| {} };
                Simulation::new(spec.clone()).in_blocks_of(ports).run_with(&run)
            };
            let first = run(1, 1);
            match one.stop {
                Stop::TimeLimit => {
                    assert_same(&what, &one, &first);
                    same += 1;
                }
                _ => assert_same_flows(&what, &one, &first),
            }
            assert_same(&what, &first, &run(40, 3));
        }
    }
    assert!(same > 50, "{same}");
}

fn toolbox(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox").join(name);
    Scenario::load(&path, &Overrides::default()).unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// The cycle of a deadlock goes through several ranks.
#[test]
fn a_deadlock_across_ranks_is_found() {
    let stop = AtomicBool::new(false);
    let scenario = toolbox("deadlock.toml");
    let mut found = 0;
    for variant in scenario.variants() {
        let spec = scenario.build(variant, 0);
        let one = Simulation::new(spec.clone()).audited(false).run();
        assert_same(&variant.name, &one, &over(&spec, (most_ranks(&spec).min(3), 1), &stop));
        found += one.table("deadlocks").rows();
    }
    assert!(found > 2, "{found}");
}

/// The packets of a call arrive at hosts of different ranks.
#[test]
fn calls_across_ranks_are_heard() {
    let stop = AtomicBool::new(false);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox/voice.toml");
    let overrides =
        Overrides { quick: true, set: vec!["arrivals=7s".into(), "measure_until=7s".into()] };
    let scenario =
        Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{}", error.plain()));
    let spec = scenario.build(&scenario.variants()[0], 0);
    let one = Simulation::new(spec.clone()).audited(false).run();
    assert_same("fifo", &one, &over(&spec, (most_ranks(&spec).min(2), 1), &stop));
    let calls = one.table("voice");
    // 50 packets a second from 5 to 7 s, in both directions of three calls.
    assert_eq!(calls.u64s("packets"), [100; 6]);
    assert!(calls.f64s("mos").iter().all(|mos| (1.0..=4.5).contains(mos)));
}

/// The messages of a connection begin and arrive at hosts of different ranks.
#[test]
fn pages_across_ranks_are_loaded() {
    let stop = AtomicBool::new(false);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox/web.toml");
    let set = ["arrivals=12s", "measure_until=12s", "limit=14s"].map(str::to_owned).to_vec();
    let scenario = Scenario::load(&path, &Overrides { quick: true, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let spec = scenario.build(&scenario.variants()[1], 0);
    let one = Simulation::new(spec.clone()).audited(false).run();
    assert_same("codel", &one, &over(&spec, (most_ranks(&spec).min(2), 1), &stop));
    let loads = one.table("pages").f64s("load_ns");
    assert!(loads.len() > 4 && loads.iter().any(|load| *load > 0.0), "{loads:?}");
}

/// The server and the client of a video are at hosts of different ranks.
#[test]
fn a_video_across_ranks_is_played() {
    let stop = AtomicBool::new(false);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox/video.toml");
    let set = ["arrivals=24s", "measure_until=24s", "limit=25s"];
    let set = set.map(str::to_owned).to_vec();
    let scenario = Scenario::load(&path, &Overrides { quick: true, set })
        .unwrap_or_else(|error| panic!("{}", error.plain()));
    let spec = scenario.build(&scenario.variants()[1], 0);
    let one = Simulation::new(spec.clone()).audited(false).run();
    assert_same("codel", &one, &over(&spec, (most_ranks(&spec).min(2), 1), &stop));
    let bitrates = one.table("video_segments").f64s("bitrate_bps");
    assert!(bitrates.len() > 10 && bitrates.iter().any(|rate| *rate > 235e3), "{bitrates:?}");
}

/// Any rank can be asked to stop: all end after the same window.
#[test]
fn one_rank_stops_all() {
    let scenario = toolbox("rpc.toml");
    let spec = scenario.build(&scenario.variants()[0], 0);
    let outcomes = crew::on(3, |member| {
        let stop = AtomicBool::new(member.rank() == 2);
        let run = Run { threads: 1, stop: &stop, watch: &|_| {} };
        Share::new(spec.clone(), 1, member).unwrap().run(&run)
    });
    let outcome = outcomes[0].as_ref().unwrap();
    assert_eq!((outcome.stop, outcome.violations.len()), (Stop::Interrupted, 0));
    assert!(outcome.simulated < Instant(spec.end.0));
}

#[test]
fn there_are_no_more_ranks_than_switches() {
    let scenario = toolbox("deadlock.toml");
    let spec = scenario.build(&scenario.variants()[0], 0);
    let (parts, ranks) = (most_ranks(&spec), most_ranks(&spec) + 1);
    let refused = crew::on(ranks, |member| Share::new(spec.clone(), 1, member).err());
    assert!(refused.iter().all(|error| *error == Some(TooManyRanks { ranks, parts })));
}
