//! Measures of evidence that is small enough to compute by hand.

use floodway_model::Table;
use floodway_model::family::Entry;
use floodway_model::tables::complete;
use floodway_report::statistics::NoInterval;
use floodway_study::{Case, Evidence, FlowGroup, Level, Measured, Quantile, Study};

use crate::synthetic::{self, Flow, add, tables};

const SMALL: FlowGroup =
    FlowGroup { label: "small", from: 0, below: Some(1_000), workload: Some(0) };
const INCAST: FlowGroup = FlowGroup { label: "incast", from: 0, below: None, workload: Some(1) };
const ALL: FlowGroup = FlowGroup::all("all flows");
const ABSENT: FlowGroup = FlowGroup { from: 1 << 40, ..FlowGroup::all("none") };

static STUDY: Study = Study {
    entry: Entry { family: "study", name: "example", summary: "An example." },
    title: "",
    question: "",
    library: floodway_study::Library::Built(&[]),
    groups: &[SMALL, INCAST, ALL, ABSENT],
    keeps_flows: false,
    queries: &[],
    counters: &[],
    first_run: &[],
    plan: &|_| Vec::new(),
    claims: &[],
    rows: &[],
    readings: &floodway_study::Judged::main_only,
    closest: None,
    answer: &|_| Vec::new(),
    sections: &|_| Vec::new(),
};

const A: Case = Case { experiment: "x", variant: "a" };
const B: Case = Case { experiment: "x", variant: "b" };

/// Three small flows with these times, an incast of 50 ns and a large flow of workload 0.
fn run(times: [f64; 3], incast: Option<f64>) -> Vec<Flow> {
    let mut flows: Vec<Flow> = times.map(|time| (500, 0, Some(time))).to_vec();
    flows.extend([(500, 1, incast), (5_000, 0, Some(4_000.0))]);
    flows
}

/// Two replications of two cases; in the second of b the incast does not finish.
fn evidence() -> Evidence {
    let mut evidence = Evidence::new(&STUDY, Level::Quick, &[]);
    let runs = [
        (A, 0, run([10.0, 20.0, 60.0], Some(50.0))),
        (A, 1, run([20.0, 40.0, 90.0], Some(50.0))),
        (B, 0, run([5.0, 5.0, 20.0], Some(100.0))),
        (B, 1, run([5.0, 10.0, 60.0], None)),
    ];
    for (case, replication, flows) in &runs {
        add(&mut evidence, case.experiment, case.variant, *replication, &tables(flows));
    }
    evidence
}

fn near(measured: &Measured, value: f64, ends: (f64, f64)) {
    let (low, high) = measured.interval().unwrap();
    for (a, b) in [(measured.value.unwrap(), value), (low, ends.0), (high, ends.1)] {
        assert!((a - b).abs() <= 1e-3 * b.abs().max(1e-6), "{measured:?}");
    }
}

#[test]
fn the_change_of_a_mean_is_the_geometric_mean_of_ratios() {
    // Means 30 and 50, then 10 and 25: ratios 1/3 and 1/2. t(1) = 12.706, and half the difference
    // of two logarithms is their standard error.
    let (a, b) = (libm::log(1.0 / 3.0), libm::log(0.5));
    let half = 12.706_2 * (b - a) / 2.0;
    let percent = |log: f64| libm::expm1(log) * 100.0;
    let middle = (a + b) / 2.0;
    let measured = evidence().fct_change(A, B, SMALL);
    near(&measured, percent(middle), (percent(middle - half), percent(middle + half)));
    assert_eq!((measured.unit, measured.unfinished), ("%", None));
}

#[test]
fn quantiles_are_taken_within_replications() {
    let evidence = evidence();
    // Medians 20 and 40, then 5 and 10: a quarter both times, which leaves nothing to vary.
    let median = evidence.quantile_change(A, B, SMALL, Quantile::P50);
    assert_eq!((median.bounds(), median.interval()), (Some((-75.0, -75.0)), None));
    assert_eq!(median.no_interval, Some(NoInterval::AllEqual));
    // p95 of three values has rank 1.9: 20 + 0.9 · 40 = 56 and 40 + 0.9 · 50 = 85. Three are too few
    // for an interval.
    let p95 = evidence.fct_quantile(A, SMALL, Quantile::P95);
    let few = NoInterval::FewFlows { needed: 20, least: 3 };
    assert_eq!((p95.value, p95.unit, p95.bounds()), (Some(70.5), "ns", None));
    assert_eq!(p95.no_interval, Some(few));
    let changed = evidence.quantile_change(A, B, SMALL, Quantile::P95);
    assert_eq!((changed.bounds(), changed.no_interval), (None, Some(few)));
    // Means 30 and 50: c² = 200 / 1600, the error √(c²/2 + c⁴/2) = 0.265165.
    let factor = libm::exp(12.706_2 * 0.265_165);
    near(&evidence.fct(A, SMALL), 40.0, (40.0 / factor, 40.0 * factor));
    assert_eq!(evidence.fct(A, ABSENT).value, None);
    let absent = evidence.quantile_change(A, B, ABSENT, Quantile::P999);
    assert_eq!((absent.value, absent.no_interval), (None, None));
    // Any number can be compared: shares, differences.
    let share = evidence
        .share(A, "% of flows", |facts| facts.group(SMALL).flows() as f64 / facts.measured as f64);
    assert_eq!(
        (share.value, share.unit, share.no_interval),
        (Some(60.0), "% of flows", Some(NoInterval::AllEqual))
    );
    // 10 - 30 and 25 - 50, in thousandths: mean -22.5, half = 12.7062 · 2.5.
    let difference = evidence.fct_difference(A, B, SMALL);
    near(&difference, -0.022_5, (-0.022_5 - 0.031_766, -0.022_5 + 0.031_766));
}

#[test]
fn unfinished_flows_count_and_are_told_where_they_matter() {
    let evidence = evidence();
    assert_eq!(evidence.unfinished(B), (1, 10));
    // The one that did not finish has the time until the end of the run.
    let times = evidence.runs(B).map(|(_, facts)| facts.group(INCAST).fct.p50);
    assert_eq!(times.collect::<Vec<_>>(), [100.0, synthetic::END_NS]);
    assert_eq!(evidence.fct_change(A, B, INCAST).unfinished, Some((0, 1)));
    let median = evidence.quantile_change(A, B, INCAST, Quantile::P50);
    assert_eq!((median.unfinished, median.bounds()), (Some((0, 1)), None));
    assert_eq!(median.no_interval, Some(NoInterval::Bound));
    // Of all five it is the slowest: the median is what it is, the p99 only a bound.
    assert_eq!(evidence.quantile_change(A, B, ALL, Quantile::P50).unfinished, None);
    assert_eq!(evidence.quantile_change(A, B, ALL, Quantile::P99).unfinished, Some((0, 1)));
}

#[test]
fn distributions_are_those_of_all_replications() {
    let evidence = evidence();
    assert_eq!(evidence.times(A, SMALL).count(), 6);
    // Of 10, 20, 20, 40, 60 and 90 half are larger than 20 (and the upper edge of its bin).
    let larger = evidence.times(A, SMALL).larger();
    let at_20 = larger.iter().find(|(at, _)| *at >= 20.0).unwrap();
    assert!(at_20.0 < 20.5 && at_20.1 == 0.5, "{larger:?}");
    // Of two incasts the one that did not finish is larger than everything.
    let larger = evidence.times(B, INCAST).larger();
    assert_eq!(larger.last().unwrap().1, 0.5);
}

#[test]
fn flows_are_kept_only_if_the_study_wants_them() {
    let evidence = evidence();
    assert!(evidence.runs(A).all(|(_, facts)| facts.flows.is_empty() && facts.measured == 5));
}

#[test]
#[should_panic(expected = "is not among the groups of the study")]
fn a_group_that_the_study_did_not_declare_is_a_mistake() {
    let _ = evidence().fct(A, FlowGroup::all("other"));
}

#[test]
fn what_a_run_followed_is_kept() {
    let mut evidence = Evidence::new(&STUDY, Level::Quick, &[]);
    let mut with = tables(&[(2_000, 0, Some(200.0)), (2_000, 0, Some(200.0))]);
    with.push(complete(
        Table::new("deliveries", "")
            .f64("time_ns", "", vec![100.0, 100.0, 200.0, 200.0])
            .u64("flow", "", vec![0, 1, 0, 1])
            .u64("delivered_bytes", "", vec![1_500, 500, 2_000, 2_000]),
    ));
    with.push(complete(
        Table::new("occupancy", "")
            .u64("tier", "", vec![0, 1, 0])
            .text("scope", "", ["port", "port", "switch"].map(str::to_owned).to_vec())
            .u64("up_to_bytes", "", vec![1_000, 2_000, 8_000])
            .u64("samples", "", vec![3, 1, 2]),
    ));
    add(&mut evidence, "x", "a", 0, &with);
    add(&mut evidence, "x", "b", 0, &tables(&[(10, 0, Some(10.0))]));
    // 3 : 1 and 1 : 3 in windows of 100 ns, (3 + 1)² / (2 · 10); equal in one of 200 ns.
    let fairness = |case, window| evidence.number(case, "", |f| f.fairness(window)).value;
    assert_eq!(fairness(A, 100.0), Some(0.8));
    assert_eq!(fairness(A, 200.0), Some(1.0));
    assert_eq!(fairness(B, 100.0), None);
}
