//! The scenario that comes with the program about deadlocks shows what it says.

use std::path::Path;

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

/// The outcome of each variant, by name.
fn outcomes() -> Vec<(String, Outcome)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toolbox/deadlock.toml");
    let scenario = Scenario::load(&file, &Overrides::default()).unwrap();
    assert_eq!(scenario.warnings().len(), 0);
    let run = |variant: &floodway_scenario::Variant| {
        (variant.name.clone(), Simulation::new(scenario.build(variant, 0)).run())
    };
    scenario.variants().iter().map(run).collect()
}

#[test]
fn a_ring_with_pfc_stops_and_the_remedies_are_what_they_cost() {
    for (name, outcome) in outcomes() {
        assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
        let found = outcome.table("deadlocks");
        let unfinished = outcome.counter("flows_unfinished");
        match name.as_str() {
            "pfc" | "dcqcn" => {
                let ring: Vec<String> = (0..5).map(|n| format!("switch {n}")).collect();
                assert_eq!(found.texts("node"), ring, "{name}");
                let next: Vec<String> = (1..=5).map(|n| format!("switch {}", n % 5)).collect();
                assert_eq!(found.texts("peer"), next, "{name}");
                assert_eq!(unfinished, 20, "{name}");
                assert_eq!(outcome.counter("dropped_packets"), 0, "{name}");
                // Until it closes, a ring port gets at most 300 Gb/s from its hosts and 100 Gb/s
                // from the port before it, and sends 100 Gb/s, in frames of 1106 bytes of which 20
                // are wire: 500 KB take at least 13.58 us. Flows start within 10 us.
                let closed = found.f64s("paused_since_ns").iter().copied().fold(0.0, f64::max);
                assert!((13_500.0..40_000.0).contains(&closed), "{name}: {closed}");
            }
            _ => assert_eq!(found.rows(), 0, "{name}"),
        }
        match name.as_str() {
            "watchdog" => {
                // The first that acts may break the ring for all.
                assert!(outcome.counter("watchdog_storms") > 0);
                assert!(outcome.counter("watchdog_drops") > 0);
                assert_eq!(outcome.counter("watchdog_drops"), outcome.counter("dropped_packets"));
                assert_eq!(unfinished, 0);
            }
            "forward" => {
                assert!(outcome.counter("watchdog_storms") > 0);
                assert_eq!((outcome.counter("watchdog_drops"), unfinished), (0, 0));
            }
            "no-pfc" => assert!(outcome.counter("dropped_packets") > 10_000),
            "dcqcn-deep" => assert_eq!((outcome.counter("dropped_packets"), unfinished), (0, 0)),
            _ => {}
        }
    }
}
