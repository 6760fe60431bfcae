//! Verdicts over readings, and the search among them, on evidence that can be computed by hand.

use floodway_model::Table;
use floodway_model::tables::complete;
use floodway_report::study::Verdict;
use floodway_sim::switch::aqm;
use floodway_study::{Closest, Evidence, Experiment, Level, Study, named};

use crate::synthetic;

fn study() -> &'static Study {
    named("ci").unwrap().unwrap()
}

fn closest() -> &'static Closest {
    study().closest.unwrap()
}

/// A run of one flow of every size; those below 100 KB take `mice` times their time, those above
/// 10 MB `elephants` times.
fn run(replication: u32, mice: f64, elephants: f64, pauses: u64) -> Vec<Table> {
    let noise = 1.0 + f64::from(replication) / 1_000.0;
    let flow = |bytes: u64, time: f64, factor: f64| (bytes, 0, Some(time * factor * noise));
    let flows = [
        flow(1_000, 1_000.0, mice),
        flow(200_000, 2_000.0, 1.0),
        flow(2_000_000, 4_000.0, 1.0),
        flow(20_000_000, 8_000.0, elephants),
    ];
    let mut tables = synthetic::tables(&flows);
    let counters = tables.iter_mut().find(|table| table.name == "counters").unwrap();
    *counters = complete(
        Table::new("counters", "")
            .text("name", "", vec!["pause_frames".to_owned()])
            .u64("value", "", vec![pauses])
            .text("meaning", "", vec![String::new()]),
    );
    tables
}

/// Takes three replications of an experiment into the evidence; with isolation mice and elephants
/// take so many times as long.
fn take(evidence: &mut Evidence, experiment: &Experiment, mice: f64, elephants: f64) {
    let scenario = experiment.scenario(&study().library, &[]).unwrap();
    evidence.begin(experiment.name, &scenario);
    for variant in &experiment.variants {
        let [mice, elephants] =
            if *variant == "without-ci" { [1.0, 1.0] } else { [mice, elephants] };
        // A flow of at most 25 KB in flight fills no queue.
        let limited = experiment.set.iter().any(|setting| setting.contains("in_flight"));
        for replication in 0..3 {
            let pauses = if limited { 0 } else { 12 };
            let tables = run(replication, mice, elephants, pauses);
            synthetic::add(evidence, experiment.name, variant, replication, &tables);
        }
    }
}

/// All readings, with what isolation does to mice and elephants by the choices of each.
fn evidence(of: impl Fn(&[usize]) -> (f64, f64)) -> Evidence {
    let mut evidence = Evidence::new(study(), Level::Quick, &[]);
    let readings = closest().readings;
    for reading in readings.all() {
        let (mice, elephants) = of(&reading.choices);
        for experiment in readings.experiments(&reading, Level::Quick) {
            take(&mut evidence, &experiment, mice, elephants);
        }
    }
    evidence
}

#[test]
fn every_reading_is_valid_and_has_what_it_says() {
    let readings = closest().readings;
    let all = readings.all();
    assert_eq!((all.len(), readings.factors.len()), (32, 13));
    for factor in readings.factors {
        for choice in factor.choices {
            assert!(!choice.source.is_empty(), "{}: {}", factor.name, choice.name);
        }
    }
    // Every choice in as many readings as its alternatives.
    for (at, factor) in readings.factors.iter().enumerate() {
        for choice in 0..factor.choices.len() {
            let count = all.iter().filter(|reading| reading.choices[at] == choice).count();
            assert_eq!(count, 32 / factor.choices.len(), "{}", factor.name);
        }
    }
}

/// What switches of every variant mark by in a reading of an experiment.
fn markers(experiment: &Experiment) -> Vec<aqm::Spec> {
    let scenario = experiment.scenario(&study().library, &[]).unwrap();
    let of = |name: &&str| scenario.variant(name).unwrap().settings.switch.aqm.clone();
    experiment.variants.iter().map(of).collect()
}

#[test]
fn isolation_has_the_aqm_of_its_baseline_or_none() {
    let readings = closest().readings;
    let of = |name| readings.factors.iter().position(|factor| factor.name == name).unwrap();
    let (ecn, marks) = (of("ECN"), of("marks of isolated packets"));
    for reading in readings.all() {
        let beside = readings.factors[marks].choices[reading.choices[marks]].name;
        let beside = !beside.ends_with("no AQM");
        for experiment in readings.experiments(&reading, Level::Full) {
            let markers = markers(&experiment);
            for (variant, marker) in experiment.variants.iter().zip(&markers) {
                let isolates = *variant != "without-ci";
                let none = matches!(marker, aqm::Spec::DropTail(_));
                assert_eq!(none, isolates && !beside, "{} {variant}", experiment.name);
                // An experiment without the baseline has nothing to be compared with.
                if !none && experiment.variants[0] == "without-ci" {
                    assert_eq!(*marker, markers[0], "{} {variant}", experiment.name);
                }
            }
        }
    }
    // Each choice of ECN is another marker.
    let all = readings.all();
    let baseline = |choice| {
        let reading = all.iter().find(|reading| reading.choices[ecn] == choice).unwrap();
        markers(&readings.experiments(reading, Level::Quick)[0])[0].clone()
    };
    for choice in 1..readings.factors[ecn].choices.len() {
        assert!((0..choice).all(|other| baseline(other) != baseline(choice)), "{choice}");
    }
}

#[test]
fn a_choice_that_decides_is_found() {
    // Isolation pays where ECN is capped, and nowhere else.
    let evidence = evidence(|choices| if choices[0] == 0 { (0.4, 0.8) } else { (1.2, 1.1) });
    let (claims, _) = study().judge(&evidence);
    let gain = claims.iter().find(|claim| claim.id == "A1").unwrap();
    let counts = gain.readings.counts;
    assert_eq!(gain.verdict, Verdict::HoldsIf);
    assert_eq!((counts.holds, counts.does_not, counts.cannot_be_judged), (8, 24, 0));
    assert_eq!(gain.readings.share, Some(0.25));
    assert_eq!(gain.readings.deciding.len(), 1);
    let deciding = &gain.readings.deciding[0];
    assert_eq!((&*deciding.factor, &*deciding.choice), ("ECN", "at most 1 % marked"));
    assert_eq!((deciding.with.holds, deciding.without.holds), (8, 0));
    assert_eq!(
        gain.condition,
        "if ECN: at most 1 % marked – in 8 of 8 readings with this choice; otherwise in 0 of 24 readings"
    );
    // Nothing was run of the main experiment itself, so that no number is known.
    assert!(gain.parts.iter().all(|part| part.measured.is_none()));
    // Pauses never fall; and where there are none on either side, nothing can be said.
    let pauses = claims.iter().find(|claim| claim.id == "A2").unwrap();
    let counts = pauses.readings.counts;
    assert_eq!((counts.holds, counts.does_not, counts.cannot_be_judged), (0, 16, 16));
    assert_eq!(pauses.verdict, Verdict::CannotBeJudged);
    // Nothing of losses was run.
    let losses = claims.iter().find(|claim| claim.id == "A3").unwrap();
    assert_eq!((losses.verdict, losses.readings.counts.all()), (Verdict::CannotBeJudged, 1));
}

/// By hand: mice ×0.37 and elephants ×0.77 are the deck's; all flows take (370 + 2000 + 4000 + 6160) of
/// 15,000, which is 0.835 and not 0.62; pauses are 1 and not 0.16.
#[test]
fn the_distance_is_the_root_of_the_mean_square() {
    let evidence = evidence(|choices| if choices[4] == 1 { (0.37, 0.77) } else { (2.0, 2.0) });
    let tried = closest().tried(&evidence);
    assert_eq!(tried.len(), 64);
    let all: f64 = (370.0 + 2_000.0 + 4_000.0 + 6_160.0) / 15_000.0;
    let expected = (((all / 0.62).ln().powi(2) + 0.16_f64.ln().powi(2)) / 4.0).sqrt();
    assert!((tried[0].distance - expected).abs() < 1e-9, "{}", tried[0].distance);
    assert_eq!(tried[0].reading.choices[4], 1);
}

/// A search downhill, one choice at a time, from the nearest reading of the design: each choice of
/// the first factor but its last costs the mice something, and so does that of the fifth.
#[test]
fn the_search_ends_where_no_choice_brings_it_nearer() {
    let closest = closest();
    let factor = |choices: &[usize]| {
        let off = (3 - choices[0]) as f64 + 2.0 * choices[4] as f64 + choices[6] as f64;
        (0.37 * (1.0 + off), 0.77)
    };
    let mut evidence = evidence(factor);
    let mut rounds = 0;
    loop {
        let next = closest.next(&evidence, Level::Quick);
        if next.is_empty() {
            break;
        }
        rounds += 1;
        for experiment in next {
            let digits = experiment.name.strip_prefix("closest-").unwrap();
            let choices: Vec<usize> =
                digits.bytes().map(|digit| usize::from(digit - b'0')).collect();
            let (mice, elephants) = factor(&choices);
            take(&mut evidence, &experiment, mice, elephants);
        }
    }
    let best = &closest.tried(&evidence)[0].reading.choices;
    assert_eq!((best[0], best[4], best[6]), (3, 0, 0));
    // The neighbors of the nearest one: 3 other choices of each of three factors, 1 of each of ten.
    assert!((1..=4).contains(&rounds), "{rounds}");
    let searched = evidence.experiments().filter(|name| name.starts_with("closest-")).count();
    assert!((19..=closest.most).contains(&searched), "{searched}");
    // The report shows what was found, although no experiment of the search is in the plan.
    let sections = (study().sections)(&evidence);
    let shown = sections.iter().find(|section| section.name == "closest").unwrap();
    assert!(shown.answer.starts_with("Of "), "{}", shown.answer);
    assert!(shown.links.iter().any(|(name, _)| name.starts_with("closest-")));
}
