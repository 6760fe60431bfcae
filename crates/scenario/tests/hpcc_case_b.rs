//! An experiment of the HPCC authors' simulator, imported and run here, against what that simulator
//! makes of it. What it does is in the README of the scenario.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::import::hpcc;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/peers/hpcc-case-b")
}

#[test]
fn the_scenario_is_what_the_import_writes() {
    let imported = hpcc::import(&folder().join("config.txt"), "hpcc-case-b");
    let imported = imported.unwrap_or_else(|error| panic!("{}", error.plain()));
    if std::env::var_os("BLESS").is_some() {
        fs::write(folder().join("scenario.toml"), &imported.scenario).unwrap();
    }
    let read = |name: &str| fs::read_to_string(folder().join(name)).unwrap();
    assert_eq!(imported.scenario, read("scenario.toml"));
    for (name, text) in &imported.files {
        assert_eq!(*text, read(name), "{name}");
    }
    assert_eq!(imported.warnings, []);
}

fn run() -> Outcome {
    let scenario = Scenario::load(&folder().join("scenario.toml"), &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    Simulation::new(scenario.build(&scenario.variants()[0], 0)).run()
}

/// Within 5 %: another hash leads flows over other links, and marks are drawn by another generator.
fn near(found: u64, theirs: u64, what: &str) {
    assert!(found.abs_diff(theirs) * 20 <= theirs, "{what}: {found} here, {theirs} there");
}

#[test]
fn as_many_packets_and_flows_as_there() {
    let outcome = run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    let total = |name: &str| outcome.counter(name);
    let flows = outcome.table("flows");
    let done = flows.f64s("fct_ns").iter().filter(|fct| fct.is_finite()).count() as u64;
    // Each packet that has arrived is acknowledged; none is sent twice.
    let delivered = flows.u64s("delivered_bytes");
    let acknowledged: u64 = delivered.iter().map(|bytes| bytes.div_ceil(1_000)).sum();
    let data: u64 = flows.u64s("packets_sent").iter().sum();
    println!(
        "{data} data packets, {acknowledged} acknowledgements, {done} flows, {} hops",
        outcome.hops
    );
    assert_eq!(flows.rows(), 436);
    near(data, 328_816, "data packets");
    near(acknowledged, 324_380, "acknowledgements");
    near(done, 345, "flows that are done");
    near(outcome.hops, 2_448_685, "packet-hops");
    assert_eq!((total("xoff_frames"), total("dropped_packets"), total("cnps_sent")), (0, 0, 0));
}
