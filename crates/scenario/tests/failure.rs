//! Links that fail, from the scenario to the run.

use floodway_model::{Duration, Instant, PortIx};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::Simulation;
use floodway_sim::failure::Failure;

const PARALLEL: &str = r#"
name = "parallel"
arrivals = "1ms"
limit = "20ms"

[topology.custom]
hosts = ["host 0-1"]
switches = ["left", "right"]
links = ["host 0 -- left", { ends = "left -- right", count = 3 }, "right -- host 1"]

[switch.aqm.ramp]

[[failure]]
link = ["right", "left"]
at = "20us"
until = "4ms"
detection = "7us"

[[workload]]
[workload.list]
[[workload.list.flow]]
src = 0
dst = 1
bytes = "3MB"
"#;

fn failures(set: &[&str]) -> Vec<Failure> {
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    let overrides = Overrides { quick: false, set };
    let scenario = Scenario::parse(PARALLEL, "parallel.toml", &overrides).unwrap();
    scenario.build(&scenario.variants()[0], 0).failures
}

#[test]
fn all_links_between_two_nodes_fail_or_one() {
    let right = failures(&[]);
    let us = |us: u64| Instant(us * 1_000_000);
    for (port, failure) in right.iter().enumerate() {
        assert_eq!((failure.at, failure.until), (us(20), us(4_000)));
        assert_eq!((failure.port, failure.detection), (PortIx(port as u16), Duration::from_us(7)));
    }
    assert_eq!(right.len(), 3);
    let one = failures(&["failure.0.number=1", "failure.0.at=30us"]);
    assert_eq!(one, [Failure { at: us(30), ..right[1] }]);
    let cut = failures(&["failure.0.link=[\"host 0\", \"left\"]"]);
    assert_eq!((cut.len(), cut[0].port), (1, PortIx(0)));
}

#[test]
fn a_message_waits_for_the_links() {
    let run = |set: &str| {
        let overrides = Overrides { quick: false, set: vec![set.to_owned()] };
        let scenario = Scenario::parse(PARALLEL, "parallel.toml", &overrides).unwrap();
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        outcome.table("flows").f64s("fct_ns")[0]
    };
    // Without the failure 3 MB take 260 us at 100 Gb/s; with all links down until 4 ms more.
    let undisturbed = run("failure.0.at=3ms");
    assert!((255e3..265e3).contains(&undisturbed), "{undisturbed}");
    assert!(run("failure.0.number=0") < 20e6);
    assert!(run("seed=1") > 4e6);
}
