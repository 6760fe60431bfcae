//! What the studies are made of is whole: experiments are valid, claims are all there.

use std::collections::{BTreeMap, BTreeSet};

use floodway_report::study::Comparison;
use floodway_scenario::Scenario;
use floodway_study::{Built, CATALOGUE, Evidence, Experiment, Level, named};

use crate::synthetic;

const LEVELS: [Level; 3] = [Level::Quick, Level::Standard, Level::Full];

#[test]
fn every_experiment_of_every_level_is_valid_and_has_its_variants() {
    for study in CATALOGUE.iter().map(Built::study) {
        // Levels have experiments in common.
        let mut scenarios: BTreeMap<_, Scenario> = BTreeMap::new();
        for level in LEVELS {
            let plan = (study.plan)(level);
            let names: BTreeSet<_> = plan.iter().map(|experiment| experiment.name).collect();
            assert_eq!(names.len(), plan.len(), "two experiments of one name");
            for experiment in &plan {
                let (file, set, single) = (experiment.file, &experiment.set, experiment.single);
                let scenario = scenarios.entry((file, set.clone(), single)).or_insert_with(|| {
                    let scenario = experiment.scenario(&study.library, &[]);
                    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
                });
                for variant in &experiment.variants {
                    assert!(scenario.variant(variant).is_ok(), "{} {variant}", experiment.name);
                }
                let replications = scenario.replications;
                // What is the same in every replication needs one.
                let alike = ["memory-size", "idle"].contains(&experiment.name)
                    || experiment.name.starts_with("even-");
                assert!(replications > 1 || alike, "{} {replications}", experiment.name);
            }
        }
    }
}

/// How often an experiment is run, and the same experiment without that.
fn split(experiment: &Experiment) -> (u32, Experiment) {
    let (number, others): (Vec<String>, Vec<String>) =
        experiment.set.iter().cloned().partition(|setting| setting.starts_with("replications="));
    let number =
        number.last().map_or(1, |setting| setting["replications=".len()..].parse().unwrap());
    (number, Experiment { set: others, ..experiment.clone() })
}

#[test]
fn a_larger_level_has_the_runs_of_a_smaller_one() {
    for study in CATALOGUE.iter().map(Built::study) {
        let full: Vec<(u32, Experiment)> = (study.plan)(Level::Full).iter().map(split).collect();
        for (number, experiment) in (study.plan)(Level::Standard).iter().map(split) {
            let larger = full.iter().any(|of| of.0 >= number && of.1 == experiment);
            assert!(larger, "{}", experiment.name);
        }
    }
}

#[test]
fn the_library_has_the_files_as_they_are() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in CATALOGUE.iter().flat_map(|built| built.study().library.files()) {
        assert_eq!(std::fs::read_to_string(root.join(name)).unwrap(), *text);
    }
}

#[test]
fn an_experiments_command_is_what_it_runs() {
    let study = named("ci").unwrap().unwrap();
    let plan = (study.plan)(Level::Full);
    let command = plan.iter().find(|experiment| experiment.name == "memory-high").unwrap();
    assert_eq!(
        command.command(&["question=whose?".to_owned()]),
        "floodway run scenarios/ci/memory-high.toml --variant ci --set seed=4 \
         --set replications=10 --set 'question=whose?' --out results/memory-high"
    );
}

#[test]
fn what_is_set_of_a_variant_is_not_for_a_scenario_without_any() {
    let study = named("sfc").unwrap().unwrap();
    let of = "switch.flow_control.source_flow_control.trigger=200KB";
    let right = [format!("variants.sfc-proxy.{of}"), "seed=7".to_owned()];
    let wrong = [format!("variants.sfc-proxies.{of}")];
    for experiment in (study.plan)(Level::Quick) {
        let command = experiment.command(&right);
        assert!(experiment.scenario(&study.library, &right).is_ok(), "{command}");
        assert!(command.contains("seed=7"));
        assert_eq!(command.contains("trigger"), !experiment.single, "{command}");
        assert_eq!(experiment.scenario(&study.library, &wrong).is_ok(), experiment.single);
    }
    // The parameters are then the deck's no longer: the trigger of two scenarios is not.
    let parts = synthetic::parts(study, &Evidence::new(study, Level::Quick, &right));
    let parameters = parts.iter().find(|claim| claim.part == "parameters").unwrap();
    assert_eq!((parameters.measured, parameters.verdict), (Some(30.0), Comparison::NotReproduced));
}

/// The number of a claim in its deck, without the letter that distinguishes its sentences.
fn of_deck(id: &str) -> &str {
    id.trim_end_matches(|letter: char| letter.is_ascii_lowercase())
}

#[test]
fn every_claim_of_both_decks_has_a_verdict() {
    let study = named("ci").unwrap().unwrap();
    let claims = synthetic::parts(study, &Evidence::new(study, Level::Quick, &[]));
    let ids: BTreeSet<&str> = claims.iter().map(|claim| of_deck(&claim.id)).collect();
    let wanted: BTreeSet<String> =
        (1..=11).map(|n| format!("A{n}")).chain((1..=13).map(|n| format!("D{n}"))).collect();
    // N1 and N2 are goals of which the decks show nothing.
    let wanted: BTreeSet<String> =
        wanted.into_iter().chain(["N1", "N2"].map(str::to_owned)).collect();
    assert_eq!(ids, wanted.iter().map(String::as_str).collect());
    let mut parts = BTreeSet::new();
    for claim in &claims {
        assert!(parts.insert((&claim.id, &claim.part)), "{} {} twice", claim.id, claim.part);
        for text in [&claim.metric, &claim.claimed, &claim.source, &claim.expected] {
            assert!(!text.trim().is_empty(), "{} {}", claim.id, claim.part);
        }
        // Without runs only the set-up can be judged.
        let set_up = ["A4", "A5", "A11", "D1", "D2"].contains(&claim.id.as_str());
        if !set_up || claim.part == "mice" {
            assert_eq!(claim.verdict, Comparison::CannotJudge, "{} {}", claim.id, claim.part);
            assert!(!claim.remark.is_empty());
        } else {
            assert_eq!(claim.verdict, Comparison::Reproduced, "{} {}", claim.id, claim.part);
        }
    }
    assert!((study.sections)(&Evidence::new(study, Level::Quick, &[])).is_empty());
}

#[test]
fn every_claim_of_the_sfc_deck_has_a_verdict() {
    let study = named("sfc").unwrap().unwrap();
    let claims = synthetic::parts(study, &Evidence::new(study, Level::Quick, &[]));
    let ids: BTreeSet<&str> = claims.iter().map(|claim| of_deck(&claim.id)).collect();
    let wanted = (1..=8).map(|n| format!("E{n}")).chain((1..=3).map(|n| format!("S{n}")));
    // N1 to N3 are what it names and does not show.
    let wanted = wanted.chain((1..=3).map(|n| format!("N{n}")));
    assert_eq!(ids, wanted.collect::<Vec<_>>().iter().map(String::as_str).collect());
    for claim in &claims {
        for text in [&claim.metric, &claim.claimed, &claim.source, &claim.expected] {
            assert!(!text.trim().is_empty(), "{} {}", claim.id, claim.part);
        }
        // Without runs only what follows from the scenarios can be judged.
        let set_up = ["E1", "E2", "E7"].contains(&claim.id.as_str());
        let simulated = ["round trip", "lossless"].contains(&claim.part.as_str());
        let wanted =
            if set_up && !simulated { Comparison::Reproduced } else { Comparison::CannotJudge };
        assert_eq!(claim.verdict, wanted, "{} {}: {:?}", claim.id, claim.part, claim.measured);
    }
}
