//! Every lint has a scenario in `scenarios/lint` in which the trouble happens in `wrong` and not in `right`, and finds
//! it in `wrong` and nothing in `right`.

use std::path::{Path, PathBuf};

use floodway_scenario::lint::{self, Name};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/lint/{name}.toml"))
}

/// The kinds of findings of a variant, and its outcome.
fn of(name: &str, variant: &str) -> (Vec<Name>, Outcome) {
    let file = file(name);
    let findings = lint::scenario(&file, &Overrides::default(), &[variant.to_owned()]);
    let findings = findings.unwrap_or_else(|error| panic!("{}", error.plain()));
    let mut names: Vec<Name> = findings.iter().map(|finding| finding.name).collect();
    names.dedup();
    let scenario = Scenario::load(&file, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    let outcome = Simulation::new(scenario.build(scenario.variant(variant).unwrap(), 0)).run();
    assert_eq!(outcome.violations, Vec::<String>::new(), "{name} {variant}");
    (names, outcome)
}

#[test]
fn what_is_found_happens_and_only_there() {
    let counted = |name: &'static str| move |outcome: &Outcome| outcome.counter(name);
    type Effect = Box<dyn Fn(&Outcome) -> u64>;
    let cases: [(&str, Option<Name>, Effect); 10] = [
        (
            "headroom-below-need",
            Some(Name::HeadroomBelowNeed),
            Box::new(counted("dropped_packets")),
        ),
        (
            "headroom-pool-overcommitted",
            Some(Name::HeadroomPoolOvercommitted),
            Box::new(counted("dropped_packets")),
        ),
        ("pauses-before-marks", Some(Name::PausesBeforeMarks), Box::new(counted("xoff_frames"))),
        (
            "pauses-before-full-marks",
            Some(Name::PausesBeforeFullMarks),
            Box::new(counted("xoff_frames")),
        ),
        ("lossless-without-ecn", Some(Name::LosslessWithoutEcn), Box::new(counted("xoff_frames"))),
        (
            "pause-cycle",
            Some(Name::PauseCycle),
            Box::new(|outcome| outcome.table("deadlocks").rows() as u64),
        ),
        ("thresholds-differ", Some(Name::ThresholdsDiffer), Box::new(counted("xoff_frames"))),
        ("watchdog-too-short", Some(Name::WatchdogTooShort), Box::new(counted("watchdog_drops"))),
        ("lossless-classes-differ", None, Box::new(counted("dropped_packets"))),
        ("pool-overcommitted", Some(Name::HeadroomBelowNeed), Box::new(counted("dropped_packets"))),
    ];
    let mut failed = Vec::new();
    for (name, finding, effect) in cases {
        let (wrong, outcome) = of(name, "wrong");
        if wrong != finding.into_iter().collect::<Vec<_>>() || effect(&outcome) == 0 {
            failed.push(format!("{name} wrong: {wrong:?}, {}", effect(&outcome)));
        }
        let (right, outcome) = of(name, "right");
        if !right.is_empty() || effect(&outcome) != 0 {
            failed.push(format!("{name} right: {right:?}, {}", effect(&outcome)));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

/// Two leaves at four spines, which all have a smaller pool.
#[test]
fn links_to_several_neighbors_are_one_finding() {
    let set = [
        "topology.custom.switches=[\"leaf a\", \"leaf b\", \"spine 0-3\"]",
        "topology.custom.links=[\"a 0-3 -- leaf a\", { ends = \"leaf a -- spine 0-3\", rate = \"400Gbps\" }, \
         { ends = \"leaf b -- spine 0-3\", rate = \"400Gbps\" }, \"b -- leaf b\"]",
        "variants.wrong.switch.buffer.shared.by_switch=[{ switches = [\"spine 0\", \"spine 1\", \"spine 2\", \"spine 3\"], ingress_pool = \"400KB\" }]",
    ];
    let set = Overrides { set: set.map(str::to_owned).into(), ..Overrides::default() };
    let findings = lint::scenario(&file("thresholds-differ"), &set, &["wrong".to_owned()]);
    let findings = findings.unwrap_or_else(|error| panic!("{}", error.plain()));
    let found = findings.iter().filter(|finding| finding.name == Name::ThresholdsDiffer);
    let messages: Vec<&str> = found.map(|finding| finding.problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the port to spine 0 of leaf a and 7 more ports: one port alone may hold 8 MB (alpha 1 of 16MB) before it is \
          paused, and at spine 0, the other end of the link, 200 KB (alpha 1 of 400KB)"
        ]
    );
}
