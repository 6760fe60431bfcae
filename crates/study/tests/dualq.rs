//! The measures of the study of the DualQ, by claims on evidence that can be computed by hand.

use floodway_model::tables::complete;
use std::collections::{BTreeMap, BTreeSet};

use crate::synthetic::{self, begin, claim, near};
use floodway_model::Table;
use floodway_report::study::{Comparison, Verdict};
use floodway_study::{Evidence, Experiment, Level, Study, named};

/// The study.
fn dualq() -> &'static Study {
    named("dualq").unwrap().unwrap()
}

/// Flows that deliver from the beginning at constant rates: workload and Mb/s of each.
fn rates(of: &[(u64, f64)]) -> Vec<Table> {
    let flows: Vec<synthetic::Flow> = of.iter().map(|(workload, _)| (0, *workload, None)).collect();
    let mut tables = synthetic::tables(&flows);
    let samples = || (0..=10_u64).flat_map(|at| (0..of.len()).map(move |flow| (at * 100, flow)));
    let bytes = |(second, flow): (u64, usize)| (of[flow].1 * second as f64 * 125e3).round() as u64;
    tables.push(complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", samples().map(|of| of.0 as f64 * 1e9).collect())
            .u64("flow", "", samples().map(|of| of.1 as u64).collect())
            .u64("delivered_bytes", "", samples().map(bytes).collect()),
    ));
    tables
}

/// Two queues before the bottleneck with constant waits, and a third elsewhere that does not count.
fn waits(low_latency_ns: u64, classic_ns: u64) -> Table {
    let text = |of: [&str; 3]| of.map(str::to_owned).to_vec();
    complete(
        Table::new("departures", "")
            .text("node", "", text(["left switch", "left switch", "right switch"]))
            .u64("port", "", vec![20; 3])
            .u64("queue", "", vec![0, 1, 0])
            .text("kind", "", text(["sojourn_ns"; 3]))
            .u64("up_to", "", vec![low_latency_ns, classic_ns, 7])
            .u64("departures", "", vec![10, 10, 1_000]),
    )
}

#[test]
fn ratios_are_of_mean_rates_and_geometric_over_runs_and_mixes() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    for (cubic, dctcp) in [(1, 1), (1, 10), (10, 1), (2, 2), (5, 5), (10, 10)] {
        let name = &*format!("mix-{cubic}-{dctcp}");
        begin(&mut evidence, name);
        // Ratios of 1/2 and 2 in two runs of 1+1; of 4 and of 1/4 with ten of one kind, and of 1 otherwise.
        let runs: &[f64] = match name {
            "mix-1-1" => &[0.5, 2.0],
            "mix-1-10" => &[4.0],
            "mix-10-1" => &[0.25],
            _ => &[1.0],
        };
        for (replication, ratio) in runs.iter().enumerate() {
            let mut of = vec![(0, ratio * 2.0); cubic];
            // Unequal among each other, with a mean of 2.
            of.extend((0..dctcp).map(|at| match (dctcp, at % 2) {
                (1 | 5, _) => (1, 2.0),
                (_, 0) => (1, 1.0),
                _ => (1, 3.0),
            }));
            let mut tables = rates(&of);
            tables.push(waits(300_000, 32_000_000));
            synthetic::add(&mut evidence, name, "dualq", replication as u32, &tables);
        }
    }
    let claims = synthetic::parts(dualq(), &evidence);
    near(claim(&claims, "C8c", "1+1").measured, 1.0);
    near(claim(&claims, "C8c", "1+10").measured, 4.0);
    near(claim(&claims, "C8c", "10+1").measured, 0.25);
    // Of the replication that all have: 1/2, 4, 1/4, and 1 three times.
    near(claim(&claims, "C8b", "six mixes").measured, 0.5_f64.powf(1.0 / 6.0));
    near(claim(&claims, "C7a", "within a factor of 2").measured, 100.0 * 4.0 / 6.0);
    // In 1+10 Cubic has 8 Mb/s and ten others 2 each: 8 over 28/11.
    near(claim(&claims, "C7a", "more than its share, six mixes").measured, 8.0 * 11.0 / 28.0);
    // Not all of the 100 mixes were run.
    assert_eq!(claim(&claims, "C8b", "all mixes").measured, None);
    assert_eq!(claim(&claims, "C8c", "all mixes, the farthest").measured, None);
    near(claim(&claims, "C7b", "low latency queue").measured, 0.3);
    near(claim(&claims, "C6", "classic queue, 1+1").measured, 32.0);
    assert_eq!(claim(&claims, "C8a", "six mixes").measured, None);
}

#[test]
fn one_queue_is_that_of_all_packets() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    begin(&mut evidence, "mix-5-5");
    for (variant, low_latency) in [("coupled", 40_000_000), ("dualq", 400_000)] {
        let mut tables = rates(&[(0, 4.0), (1, 4.0)]);
        tables.push(waits(low_latency, 38_000_000));
        synthetic::add(&mut evidence, "mix-5-5", variant, 0, &tables);
    }
    let claims = synthetic::parts(dualq(), &evidence);
    near(claim(&claims, "C6", "against one queue").measured, 0.01);
    near(claim(&claims, "C6", "low latency, median").measured, 0.4);
    near(claim(&claims, "C6", "classic queue, 5+5").measured, 38.0);
}

#[test]
fn laws_are_found_again() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    // Packets of 1430 bytes in a round trip of 10 ms, by probability.
    let mut flow = |variant: &str, probabilities: [&str; 5], window: &dyn Fn(f64) -> f64| {
        for text in probabilities {
            let name = format!("law-{variant}-10ms-{text}");
            begin(&mut evidence, &name);
            let mbps = window(text.parse().unwrap()) * 1_430.0 * 8.0 / 10e3;
            synthetic::add(&mut evidence, &name, variant, 0, &rates(&[(0, mbps)]));
        }
    };
    flow("reno", ["0.0001", "0.0003", "0.001", "0.003", "0.01"], &|p| 1.22 / p.sqrt());
    flow("dctcp", ["0.003", "0.01", "0.03", "0.1", "0.3"], &|p| 2.0 / p);
    let claims = synthetic::parts(dualq(), &evidence);
    near(claim(&claims, "C4", "Reno, exponent").measured, -0.5);
    near(claim(&claims, "C4", "Reno, constant").measured, 1.22);
    near(claim(&claims, "C4", "DCTCP, exponent").measured, -1.0);
    near(claim(&claims, "C4", "DCTCP, constant").measured, 2.0);
    near(claim(&claims, "C4", "coupling").measured, 2.0 / 1.22);
}

#[test]
fn ages_of_frames_are_those_made_after_the_warm_up() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    begin(&mut evidence, "interactive-dctcp");
    let frames = |age_ns: f64| {
        let made: Vec<f64> = (0..100).map(|at| at as f64 * 1e9 + 1.0).collect();
        // Those of the warm-up, ten of them, take ten times as long.
        let age = |made: &f64| made + if *made < 10e9 { 10.0 * age_ns } else { age_ns };
        complete(
            Table::new("frames", "")
                .u64("flow", "", vec![2; 100])
                .u64("bytes", "", vec![1_000; 100])
                .f64("arrived_ns", "", made.iter().map(age).collect())
                .f64("made_ns", "", made),
        )
    };
    for (variant, age_ns) in [("red", 80e6), ("dualq", 20e6)] {
        for replication in 0..2 {
            let mut tables = rates(&[(0, 10.0), (1, 10.0), (2, 2.0)]);
            tables.push(frames(age_ns));
            synthetic::add(&mut evidence, "interactive-dctcp", variant, replication, &tables);
        }
    }
    let claims = synthetic::parts(dualq(), &evidence);
    near(claim(&claims, "P5", "DCTCP, DualQ against RED").measured, -75.0);
}

const SHARED: [&str; 6] = ["1-1", "2-2", "5-5", "10-10", "1-10", "10-1"];

/// Runs of a variant of an experiment, in each of which the only classic flow has so many times the
/// rate of the only other one.
fn ratios(evidence: &mut Evidence, name: &str, variant: &str, of: &[f64]) {
    for (replication, ratio) in (0..).zip(of) {
        let mut tables = rates(&[(0, ratio * 2.0), (1, 2.0)]);
        tables.push(waits(300_000, 32_000_000));
        synthetic::add(evidence, name, variant, replication, &tables);
    }
}

/// The six mixes of grid.toml, or of one of its options.
fn mixes(evidence: &mut Evidence, prefix: &str, variants: &[(&str, &[f64])]) {
    for mix in SHARED {
        let name = format!("{prefix}-{mix}");
        begin(evidence, &name);
        for (variant, of) in variants {
            ratios(evidence, &name, variant, of);
        }
    }
}

/// The logarithms are 0.1 above and below that of 1.1 in two replications of all mixes, so that the mean
/// has an interval of 12.706 * sqrt(0.02) / sqrt(2) = 1.2706 on either side: no verdict. Exactly 1.1 in
/// both is certain.
#[test]
fn the_interval_decides_whether_rates_are_equal() {
    let e = std::f64::consts::E;
    let wide = [1.1 * e.powf(0.1), 1.1 * e.powf(-0.1)];
    let part = |of: &[f64], id: &str, part: &str| {
        let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
        mixes(&mut evidence, "mix", &[("coupled", of)]);
        claim(&synthetic::parts(dualq(), &evidence), id, part).clone()
    };
    let of = part(&wide, "C5a", "six mixes");
    near(of.measured, 1.1);
    near(of.low, 1.1 * (-1.2706_f64).exp());
    near(of.high, 1.1 * 1.2706_f64.exp());
    assert_eq!(of.verdict, Comparison::CannotJudge);
    assert_eq!(part(&[1.1, 1.1], "C5a", "six mixes").verdict, Comparison::Reproduced);
    assert_eq!(part(&[1.3, 1.3], "C5a", "six mixes").verdict, Comparison::NotReproduced);
    // An interval from 1.2 to 1.3 holds neither.
    let near_the_end = |ratio: f64| {
        // Logarithms x and -x: a half width of 12.706 x.
        let half = (1.3_f64 / 1.2).ln() / 2.0 / 12.706_2;
        [ratio * half.exp(), ratio * (-half).exp()]
    };
    let across = part(&near_the_end((1.2_f64 * 1.3).sqrt()), "C5a", "six mixes");
    near(across.low, 1.2);
    near(across.high, 1.3);
    assert_eq!(across.verdict, Comparison::CannotJudge);
    // The farthest of 1/1.1, whichever way: from 1.1 with the half width of above.
    let worst = part(&near_the_end(1.0 / 1.1), "C5a", "six mixes, the farthest");
    near(worst.measured, 1.1);
    near(worst.high, 1.1 * (1.3_f64 / 1.2).sqrt());
    near(worst.low, 1.1 / (1.3_f64 / 1.2).sqrt());
    assert_eq!(worst.verdict, Comparison::Reproduced);
    // What holds 1 is off by nothing at least.
    let worst = part(&wide, "C5a", "six mixes, the farthest");
    near(worst.low, 1.0);
    assert_eq!(worst.verdict, Comparison::CannotJudge);
}

#[test]
fn one_mix_that_is_clearly_off_is_enough() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    mixes(&mut evidence, "mix", &[("coupled", &[1.0, 1.0]), ("dualq", &[1.0, 1.0])]);
    for replication in 0..2 {
        let tables = rates(&[(0, 1.0), (1, 2.0)]);
        synthetic::add(&mut evidence, "mix-10-10", "dualq", replication, &tables);
    }
    let (claims, _) = dualq().judge(&evidence);
    let verdict = |id: &str| claims.iter().find(|claim| claim.id == id).unwrap().verdict;
    // On average the ratio is 0.5 to the power of 1/6, 0.89.
    assert_eq!((verdict("C8b"), verdict("C8c")), (Verdict::Holds, Verdict::DoesNotHold));
    assert_eq!(verdict("C5a"), Verdict::Holds);
}

#[test]
fn a_reading_is_judged_by_the_claims_that_it_changes() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    let equal: &[f64] = &[1.0, 1.0];
    let main = [("red", &[0.1, 0.1] as &[f64]), ("coupled", equal), ("dualq", equal)];
    mixes(&mut evidence, "mix", &main);
    mixes(&mut evidence, "slope-1", &[("dualq", &[0.5, 0.5])]);
    mixes(&mut evidence, "coupled-reno", &[("coupled", equal)]);
    // No reading of the deck, whose scheduler has strict priority.
    mixes(&mut evidence, "dualq-wrr", &[("dualq", &[0.5, 0.5])]);
    let (claims, _) = dualq().judge(&evidence);
    let claim = |id: &str| claims.iter().find(|claim| claim.id == id).unwrap();
    let counts = |id: &str| {
        let counts = claim(id).readings.counts;
        (counts.holds, counts.does_not, counts.cannot_be_judged)
    };
    assert_eq!(counts("C8a"), (1, 0, 0));
    assert_eq!(counts("C5a"), (2, 0, 0));
    assert_eq!(counts("C8b"), (1, 1, 0));
    assert_eq!(claim("C8b").verdict, Verdict::HoldsIf);
    assert_eq!(
        claim("C8b").condition,
        "if not \"DualQ, s_r 1: certain drop at 2.15 s\" – in 1 of 1 reading with this choice; otherwise in 0 \
         of 1 reading"
    );
    // Nothing of it was run.
    assert_eq!(claim("P3").verdict, Verdict::CannotBeJudged);
}

/// All experiments of a level with one run of each variant.
fn everything(level: Level) -> (Vec<Experiment>, Evidence) {
    let plan = (dualq().plan)(level);
    let mut evidence = Evidence::new(dualq(), level, &[]);
    for experiment in &plan {
        let scenario = experiment.scenario(&dualq().library, &[]).unwrap();
        evidence.begin(experiment.name, &scenario);
        for variant in scenario.variants().iter().map(|of| &*of.name) {
            if experiment.variants.is_empty() || experiment.variants.contains(&variant) {
                ratios(&mut evidence, experiment.name, variant, &[1.0]);
            }
        }
    }
    (plan, evidence)
}

#[test]
fn every_stand_in_is_in_the_plan_and_has_the_variant_that_it_changes() {
    let (plan, evidence) = everything(Level::Standard);
    let plan: BTreeMap<&str, &Experiment> = plan.iter().map(|of| (of.name, of)).collect();
    let judged = (dualq().readings)(&evidence);
    // The main one, sixteen choices for queue management, and signals at even distances.
    assert_eq!(judged.readings.len(), 18);
    let main: BTreeSet<&str> = judged.readings[0].stands_for.iter().map(|of| of.1).collect();
    for (of, is) in &judged.readings[0].stands_for {
        assert_eq!(of, is);
    }
    for reading in &judged.readings[1..] {
        let chosen = reading.choices.iter().position(|choice| *choice == 1).unwrap();
        let words = &judged.open[chosen].name;
        let own: Vec<_> = reading.stands_for.iter().filter(|of| !main.contains(of.1)).collect();
        let laws = words.contains("even distances");
        // Five laws: five probabilities each, and three, two, two, three and three round trips more.
        assert_eq!(own.len(), if laws { 38 } else { 6 }, "{words}");
        for (of, is) in own {
            let [of, is] = [of, is].map(|name| plan[name]);
            assert_eq!(of.file, is.file, "{words}");
            assert_eq!(is.variants.len(), 1, "{words}");
            assert!(of.variants.is_empty() || of.variants == is.variants, "{words}");
        }
        for (of, is) in &reading.stands_for {
            assert!(plan.contains_key(of) && plan.contains_key(is), "{words}: {of}, {is}");
        }
    }
}

/// A law of grid points with these constants, as windows of packets of 1430 bytes in a round trip.
fn law(
    evidence: &mut Evidence,
    (kind, variant): (&str, &str),
    texts: [&str; 5],
    of: &dyn Fn(f64) -> f64,
) {
    let (rtt_ms, even) = (if variant.starts_with("cubic") { 100 } else { 10 }, kind == "even");
    for text in texts {
        let probability: f64 = text.parse().unwrap();
        let packets = (1.0 / probability).round();
        let name = match even {
            true => format!("even-{variant}-{rtt_ms}ms-1-of-{packets}"),
            false => format!("law-{variant}-{rtt_ms}ms-{text}"),
        };
        begin(evidence, &name);
        let window = of(if even { 1.0 / packets } else { probability });
        let mbps = window * 1_430.0 * 8.0 / (f64::from(rtt_ms) * 1e3);
        synthetic::add(evidence, &name, variant, 0, &rates(&[(0, mbps)]));
    }
}

#[test]
fn laws_are_judged_with_signals_at_random_and_at_even_distances() {
    let mut evidence = Evidence::new(dualq(), Level::Standard, &[]);
    // The main reading is known by it.
    begin(&mut evidence, "mix-1-1");
    let few = ["0.00001", "0.00003", "0.0001", "0.0003", "0.001"];
    for (kind, reno, cubic, dctcp) in [("law", 1.27, 1.38, 1.81), ("even", 1.2247, 1.17, 2.0)] {
        // The round-trip time of 100 ms to the power of 3/4.
        let of_cubic = |p: f64| cubic * (0.1 / p).powf(0.75);
        let of = |variant| (kind, variant);
        let some = ["0.0001", "0.0003", "0.001", "0.003", "0.01"];
        law(&mut evidence, of("reno"), some, &|p| reno / p.sqrt());
        law(&mut evidence, of("cubic-deck"), few, &of_cubic);
        law(&mut evidence, of("cubic"), few, &|p| of_cubic(p) / 1.2);
        let many = ["0.003", "0.01", "0.03", "0.1", "0.3"];
        law(&mut evidence, of("dctcp"), many, &|p| dctcp / p);
    }
    let (claims, _) = dualq().judge(&evidence);
    let laws = claims.iter().find(|claim| claim.id == "C4").unwrap();
    let counts = laws.readings.counts;
    // At random, Cubic's constant is 1.38.
    assert_eq!((counts.holds, counts.does_not), (1, 1));
    assert_eq!(laws.verdict, Verdict::HoldsIf);
    assert!(laws.condition.starts_with(
        "if \"losses and marks at even distances, not at random\" – in 1 of 1 reading with this choice"
    ));
    near(claim(&laws.parts, "C4", "Cubic, constant").measured, 1.38);
    // One packet in 3 is a probability of 1/3, not of 0.3.
    let judged = (dualq().readings)(&evidence);
    let view = evidence.of_reading(&judged.readings.last().unwrap().stands_for);
    let measured = |part: &str| {
        let row = dualq().all_rows().find(|row| row.id == "C4" && row.part == part).unwrap();
        (row.measure)(&view).value
    };
    near(measured("Reno, constant"), 1.2247);
    near(measured("Cubic, constant"), 1.17);
    near(measured("DCTCP, constant"), 2.0);
    near(measured("DCTCP, exponent"), -1.0);
    near(measured("coupling"), 2.0 / 1.2247);
}
