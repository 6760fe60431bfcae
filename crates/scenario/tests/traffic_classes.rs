//! The scenario that comes with the program about traffic classes shows what it says.

use std::path::Path;

use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

/// Frames on the wire, with preamble and gap, and their payload: of RoCEv2 and of UDP.
const STORAGE: (f64, f64) = (1_106.0, 1_024.0);
const OTHER: (f64, f64) = (1_538.0, 1_472.0);

fn scenario(quick: bool) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = file.join("../../scenarios/toolbox/traffic-classes.toml");
    let scenario = Scenario::load(&file, &Overrides { quick, ..Overrides::default() }).unwrap();
    assert_eq!(scenario.warnings().len(), 0);
    scenario
}

/// Payload of these flows between two times in ns, in Gb/s.
fn goodput(outcome: &Outcome, flows: [u64; 2], from: f64, to: f64) -> f64 {
    let table = outcome.table("deliveries");
    let rows = || table.f64s("time_ns").iter().zip(table.u64s("flow"));
    let at = |time: f64| -> u64 {
        let delivered = rows().zip(table.u64s("delivered_bytes"));
        let here = delivered.filter(|((at, flow), _)| **at == time && flows.contains(flow));
        here.map(|(_, bytes)| *bytes).sum()
    };
    (at(to) - at(from)) as f64 * 8.0 / (to - from)
}

#[test]
fn classes_get_what_their_weights_say() {
    let scenario = scenario(false);
    for variant in scenario.variants() {
        let name = variant.name.as_str();
        let outcome = Simulation::new(scenario.build(variant, 0)).run();
        assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
        let [storage, other] = [[0, 1], [2, 3]].map(|flows| goodput(&outcome, flows, 1e6, 3e6));
        // Of the wire's 100 Gb/s. With one queue each of four senders has the same part, as far as pauses let it.
        let (part, near) = match name {
            "equal" => (0.5, 0.001),
            "three-to-one" => (0.75, 0.001),
            "strict" => (1.0, 0.001),
            _ => (0.5, 0.01),
        };
        let expected = |part: f64, (wire, payload): (f64, f64)| 100.0 * part * payload / wire;
        let [of_storage, of_other] = [expected(part, STORAGE), expected(1.0 - part, OTHER)];
        assert!((storage - of_storage).abs() < near * 100.0, "{name}: {storage} {of_storage}");
        assert!((other - of_other).abs() < near * 100.0, "{name}: {other} {of_other}");
        assert!(outcome.counter("tier_0_class_0_xoff_frames") > 100, "{name}");

        let queues = outcome.table("queues");
        let rows = queues.u64s("port").iter().zip(queues.u64s("queue"));
        let mut rows = rows.zip(queues.u64s("max_backlog_bytes"));
        let (_, &largest) = rows.find(|((port, queue), _)| (**port, **queue) == (4, 1)).unwrap();
        if name == "one-class" {
            assert_eq!((outcome.counter("dropped_packets"), largest), (0, 0), "{name}");
            continue;
        }
        // Alpha of one lets a queue hold half of the pool, to a frame of 1518 bytes. What the port does not send of two
        // senders of 100 Gb/s is dropped, in the measured millisecond.
        assert!((500_000 - 1_518..=500_000).contains(&largest), "{name}: {largest}");
        let excess = (2.0 - (1.0 - part)) * 100.0 * 1e6 / (OTHER.0 * 8.0);
        let dropped = outcome.counter("dropped_packets") as f64;
        assert!((dropped - excess).abs() < 10.0, "{name}: {dropped} {excess}");
    }
}

#[test]
fn the_short_form_has_the_same_variants() {
    let names = |quick: bool| -> Vec<String> {
        let scenario = scenario(quick);
        scenario.variants().iter().map(|variant| variant.name.clone()).collect()
    };
    assert_eq!(names(true), names(false));
}
