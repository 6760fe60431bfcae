//! Every study comes to a whole report when all of its experiments have been run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::study::{self, Provenance, Verdict};
use floodway_study::{Built, CATALOGUE, Evidence, Level, Study};

use crate::synthetic;

/// What arrived of flows without an end; here of all, 1 MB a second.
fn deliveries(flows: u64) -> Table {
    let samples = || (0..=2_u64).flat_map(|at| (0..flows).map(move |flow| (at, flow)));
    complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", samples().map(|of| of.0 as f64 * 300e9).collect())
            .u64("flow", "", samples().map(|of| of.1).collect())
            .u64("delivered_bytes", "", samples().map(|of| of.0 * 300_000_000).collect()),
    )
}

/// Two queues before a bottleneck; waiting takes so many times as long.
fn departures(factor: u64) -> Table {
    let text = |text: &str| vec![text.to_owned(); 4];
    let kinds = ["packets", "sojourn_ns"].repeat(2);
    complete(
        Table::new("departures", "")
            .text("node", "", text("left switch"))
            .u64("tier", "", vec![0; 4])
            .u64("port", "", vec![1; 4])
            .u64("queue", "", vec![0, 0, 1, 1])
            .text("kind", "", kinds.iter().map(|kind| (*kind).to_owned()).collect())
            .u64("up_to", "", vec![2, 300_000 * factor, 40, 12_000_000 * factor])
            .u64("departures", "", vec![100, 100, 50, 50]),
    )
}

/// Frames of an interactive application.
fn frames() -> Table {
    complete(
        Table::new("frames", "")
            .u64("flow", "", vec![2; 3])
            .f64("made_ns", "", vec![20e9, 21e9, 22e9])
            .u64("bytes", "", vec![1_000; 3])
            .f64("arrived_ns", "", vec![20.004e9, 21.004e9, f64::NAN]),
    )
}

/// Two replications of every variant of every experiment, with flows of all sizes and workloads. In the
/// second everything takes ten times as long.
fn evidence(study: &'static Study, level: Level) -> Evidence {
    let mut evidence = Evidence::new(study, level, &[]);
    let sizes = (0..9).map(|power| 5 * 10_u64.pow(power));
    let tables = [1, 10].map(|factor| {
        let time = |bytes: u64| Some((10.0 + bytes as f64) * factor as f64);
        let both = |bytes: u64| [0, 1].map(|workload| (bytes, workload, time(bytes)));
        let flows: Vec<synthetic::Flow> = sizes.clone().flat_map(both).collect();
        let mut tables = synthetic::tables(&flows);
        tables.extend([deliveries(flows.len() as u64), departures(factor), frames()]);
        tables
    });
    for experiment in (study.plan)(level) {
        let scenario = experiment.scenario(&study.library, &[]).unwrap();
        evidence.begin(experiment.name, &scenario);
        for variant in scenario.variants() {
            let wanted = &experiment.variants;
            if wanted.is_empty() || wanted.contains(&variant.name.as_str()) {
                for (replication, tables) in (0..).zip(&tables) {
                    let name = &variant.name;
                    synthetic::add(&mut evidence, experiment.name, name, replication, tables);
                }
            }
        }
    }
    evidence
}

/// The report of a study with such evidence.
fn report(study: &'static Study, level: Level) -> study::Study {
    let evidence = evidence(study, level);
    let (claims, checks) = study.judge(&evidence);
    study::Study {
        study: study.entry.name.to_owned(),
        title: study.title.to_owned(),
        question: study.question.to_owned(),
        answer: (study.answer)(&evidence),
        level: level.name().to_owned(),
        settings: Vec::new(),
        claims,
        checks,
        caveats: Vec::new(),
        violations: Vec::new(),
        sections: (study.sections)(&evidence),
        provenance: Provenance::default(),
        sample: Vec::new(),
    }
}

/// Those of all studies in full.
static FULL: LazyLock<Vec<study::Study>> =
    LazyLock::new(|| CATALOGUE.iter().map(|built| report(built.study(), Level::Full)).collect());

#[test]
fn no_interval_of_a_claim_leaves_the_domain_of_its_number() {
    let mut intervals = 0;
    for result in FULL.iter() {
        let parts = result.claims.iter().flat_map(|claim| &claim.parts);
        for claim in parts.chain(&result.checks) {
            let Some((low, high)) = claim.low.zip(claim.high) else { continue };
            intervals += 1;
            let (least, most) = match claim.unit.as_str() {
                "%" => (-100.0, f64::MAX),
                unit if unit.starts_with("% of") => (0.0, 100.0),
                "ns" | "ms" | "RTT" | "packets" => (0.0, f64::MAX),
                _ => (f64::MIN, f64::MAX),
            };
            assert!(least <= low && low < high && high <= most, "{claim:?}");
        }
    }
    assert!(intervals > 5, "{intervals}");
}

#[test]
fn every_study_has_sections_and_every_claim_its_evidence() {
    let quick: Vec<study::Study> =
        CATALOGUE.iter().map(|built| report(built.study(), Level::Quick)).collect();
    for result in quick.iter().chain(&*FULL) {
        assert!(!result.answer.is_empty() && !result.sections.is_empty());
        let claims = result.claims.iter().map(|claim| claim.id.as_str());
        let checks = result.checks.iter().map(|check| check.id.as_str());
        let ids: BTreeSet<&str> = claims.chain(checks).collect();
        let mut seen = BTreeSet::new();
        let mut names = BTreeSet::new();
        for section in &result.sections {
            let name = &section.name;
            assert!(names.insert(name), "two sections {name}");
            assert!(!section.answer.is_empty(), "{name} has no answer");
            assert!(!section.exhibits.is_empty() && !section.commands.is_empty(), "{name}");
            for claim in &section.claims {
                assert!(ids.contains(claim.as_str()), "{name}: there is no claim {claim}");
                seen.insert(claim.as_str());
            }
        }
        for claim in &result.claims {
            assert!(seen.contains(claim.id.as_str()), "no section on {}", claim.id);
        }
        let files = study::files(result);
        let unique: BTreeMap<&String, &String> = files.iter().map(|of| (&of.0, &of.1)).collect();
        assert_eq!(unique.len(), files.len(), "two exhibits in one file");
    }
}

#[test]
fn every_study_names_its_groups_and_claims_once() {
    for study in CATALOGUE.iter().map(Built::study) {
        let labels: BTreeSet<&str> = study.groups.iter().map(|group| group.label).collect();
        assert_eq!(labels.len(), study.groups.len(), "two groups of one label");
        let mut rows = BTreeSet::new();
        for row in study.all_rows() {
            assert!(rows.insert((row.id, row.part)), "{} {} twice", row.id, row.part);
            for text in [row.metric, row.claimed, row.source, row.expected] {
                assert!(!text.trim().is_empty(), "{} {}", row.id, row.part);
            }
        }
    }
}

#[test]
fn without_runs_nothing_is_claimed_to_be_known() {
    for study in CATALOGUE.iter().map(Built::study) {
        let evidence = Evidence::new(study, Level::Quick, &[]);
        assert_eq!((study.sections)(&evidence), []);
        // What checks the set-up may read scenarios only.
        for claim in study.judge(&evidence).0 {
            assert_eq!(claim.verdict, Verdict::CannotBeJudged, "{}", claim.id);
            for part in &claim.parts {
                assert_eq!(part.measured, None, "{} {}", part.id, part.part);
            }
        }
    }
}

#[test]
fn every_claim_has_numbers_and_every_number_a_claim() {
    for study in CATALOGUE.iter().map(Built::study) {
        let mut ids = BTreeSet::new();
        for claim in study.claims {
            assert!(ids.insert(claim.id), "{} twice", claim.id);
            assert!(!study.rows_of(claim.id).is_empty(), "{} has no number", claim.id);
            assert!(!claim.quotation.trim().is_empty());
        }
        for row in study.all_rows().filter(|row| !row.is_check()) {
            assert!(ids.contains(row.id), "{} {} is of no claim", row.id, row.part);
        }
    }
}
