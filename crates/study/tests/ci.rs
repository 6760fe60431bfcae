//! The study of Congestion Isolation: its choices are what they are named after, and its smaller queues are those of the
//! decks in proportion.

use floodway_scenario::{Overrides, Scenario};
use floodway_study::{Experiment, Level, Study, named};

fn study() -> &'static Study {
    named("ci").unwrap().unwrap()
}

fn of_scenario(experiment: &Experiment, more: &[&str]) -> Scenario {
    let more: Vec<String> = more.iter().map(|set| (*set).to_owned()).collect();
    let scenario = experiment.scenario(&study().library, &more);
    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// The choices of DCQCN but the first are the presets, field by field.
#[test]
fn the_choices_of_dcqcn_are_the_presets() {
    let factors = study().closest.unwrap().readings.factors;
    let factor = factors.iter().find(|factor| factor.name == "DCQCN").unwrap();
    for choice in &factor.choices[1..] {
        let lossless = Experiment::new("lossless", "scenarios/ci/lossless.toml");
        let scenario = of_scenario(&lossless, choice.set);
        let chosen = serde_json::to_value(&scenario.variants()[0].settings).unwrap();
        let wanted = preset(choice.name);
        for (field, value) in wanted.as_object().unwrap() {
            // What has no effect in the variant may differ.
            let dead = match choice.name {
                "paper" => ["cut_interval", "clamp_target"].as_slice(),
                _ => &[],
            };
            if !dead.contains(&field.as_str()) && field != "preset" {
                let own = &chosen["host"]["congestion"]["dcqcn"][field];
                assert_eq!(own, value, "{} {field}", choice.name);
            }
        }
    }
}

/// What a scenario has that names the preset and nothing else.
fn preset(name: &str) -> serde_json::Value {
    let text = format!(
        "name = \"preset\"\narrivals = \"1ms\"\nwarmup = \"0ms\"\nlimit = \"2ms\"\n\
         [topology.star]\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [switch.queue]\nsize = \"1MB\"\n[switch.aqm.ramp]\n[host.transport.rocev2]\n\
         [host.congestion.dcqcn]\npreset = \"{name}\"\n\
         [[workload]]\n[workload.incast]\nsets = 1\nsenders = 2\n"
    );
    let files: &[(&str, &str)] = &[("preset.toml", Box::leak(text.into_boxed_str()))];
    let scenario = Scenario::of_library(files, "preset.toml", &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{}", error.plain()));
    serde_json::to_value(&scenario.variants()[0].settings).unwrap()["host"]["congestion"]["dcqcn"]
        .clone()
}

/// ECN and who marks isolated packets decide most claims: no effect of one may hide in the other.
#[test]
fn every_ecn_is_read_with_every_way_to_mark() {
    let readings = study().closest.unwrap().readings;
    let all = readings.all();
    let factor = |name| readings.factors.iter().position(|factor| factor.name == name).unwrap();
    let (ecn, marks) = (factor("ECN"), factor("marks of isolated packets"));
    let pairs: std::collections::BTreeSet<_> =
        all.iter().map(|reading| (reading.choices[ecn], reading.choices[marks])).collect();
    assert_eq!((all.len(), pairs.len()), (32, 16));
}

#[test]
fn no_experiment_about_goals_has_a_warning() {
    for level in [Level::Quick, Level::Full] {
        let plan = (study().plan)(level).into_iter();
        let of = plan.filter(|of| of.name.starts_with("queues-") || of.name.starts_with("tcp-"));
        let all: Vec<Experiment> = of.collect();
        assert_eq!(all.len(), if level == Level::Quick { 4 } else { 24 });
        for experiment in all {
            let scenario = of_scenario(&experiment, &[]);
            let warnings: Vec<String> = scenario.warnings().iter().map(|of| of.plain()).collect();
            assert_eq!(warnings, Vec::<String>::new(), "{}", experiment.name);
        }
    }
}

/// With a queue of 1 MB all settings are those of the decks.
#[test]
fn the_whole_queue_is_the_decks() {
    let common = ["arrivals=9ms", "warmup=6ms", "limit=25ms", "seed=4", "replications=1"];
    let settings = |experiment: &Experiment| {
        let scenario = of_scenario(experiment, &common);
        let both = ["without-ci", "ci"].map(|name| scenario.variant(name).expect("it is there"));
        let of = both.iter().map(|variant| {
            let mut settings = serde_json::to_value(&variant.settings).unwrap();
            if let Some(pfc) = settings.pointer_mut("/switch/flow_control/pfc/lossless") {
                *pfc = true.into();
            }
            settings
        });
        of.collect::<Vec<_>>()
    };
    let plan = (study().plan)(Level::Full);
    for name in ["queues-1000-128-pfc", "queues-1000-128-lossy"] {
        let experiment = plan.iter().find(|of| of.name == name).unwrap();
        let plain = Experiment::new("plain", experiment.file);
        assert_eq!(settings(experiment), settings(&plain), "{name}");
    }
}
