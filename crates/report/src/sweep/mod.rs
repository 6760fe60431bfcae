//! A sweep as it comes out: a row of numbers for every run at every point of a grid, and what they
//! come to.

mod answer;
mod cells;
mod charts;
mod files;
mod idle;
mod ranking;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Table;
use serde::{Deserialize, Serialize};

use crate::INTERRUPTED;
use crate::metrics::{Distribution, FlowTimes, Quantile, RunMetrics, SizeClasses};
use crate::scalars::Scalar;
use crate::statistics::{Change, Estimate, Scale, least_values};
use crate::study::{Provenance, Section};
use crate::summary::Basis;

pub use cells::{Cell, Place};
pub use files::{Error, begin, finish, may_hold};

/// A sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sweep {
    /// The version of this form: [`crate::manifest::SCHEMA`].
    pub schema: u32,
    /// The scenario's name.
    pub scenario: String,
    /// What it is to answer; may be empty.
    pub question: String,
    /// The dimensions of the grid.
    pub axes: Vec<Axis>,
    /// By point: which value of each axis.
    pub points: Vec<Vec<usize>>,
    /// The point from which changes are counted.
    pub reference: Reference,
    /// By point and then by variant, which traffic there is: two with the same number send the same
    /// flows and measure the same ones. Empty if all do.
    pub traffic: Vec<Vec<usize>>,
    /// The variants in order; the first is the baseline.
    pub variants: Vec<String>,
    /// When there are enough replications, in words; empty if the scenario says how many.
    pub until: String,
    /// The metrics that the page shows, in order; empty: some that usually matter.
    pub shown: Vec<String>,
    /// Every run, by point, then by variant, then by replication.
    pub runs: Vec<Row>,
    /// What metrics are, by name.
    pub metrics: BTreeMap<String, Meaning>,
    /// The metrics that the page shows, at every point and in every variant.
    pub comparisons: Vec<Cell>,
    /// What a reader must know first.
    pub caveats: Vec<String>,
    /// Rules that runs broke; empty in a sound sweep.
    pub violations: Vec<String>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// The scenario's text.
    #[serde(skip)]
    pub text: String,
}

/// The point from which changes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// Its number.
    pub point: usize,
    /// Why it is this one.
    pub origin: Origin,
}

/// Why a point is the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was given.
    Given,
    /// Its values are those that the scenario itself has.
    Scenario,
    /// It is the first: no point has the scenario's own values, and none was given.
    #[default]
    First,
}

impl Origin {
    /// In words, behind the name of the point.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Given => "as given",
            Self::Scenario => "the scenario's own values",
            Self::First => "the first point of the grid",
        }
    }
}

/// A dimension of the grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is varied: `workload.0.many_to_many.load`.
    pub path: String,
    /// The values in order.
    pub values: Vec<String>,
    /// The same as numbers, if they are.
    pub numbers: Option<Vec<f64>>,
    /// The unit of those: `ns`, `bytes`, `b/s`, or empty.
    pub unit: String,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The point of the grid, counted from 0.
    pub point: usize,
    /// The variant.
    pub variant: String,
    /// The replication, counted from 0.
    pub replication: u32,
    /// Its seed.
    pub seed: u64,
    /// What simulation it is: [`crate::Run::key`].
    pub key: String,
    /// The fingerprint of its tables, in hexadecimal.
    pub fingerprint: String,
    /// Packet-hops.
    pub hops: u64,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// Why it ended.
    pub stop: String,
    /// What was wrong with it; empty in a sound run.
    pub violations: Vec<String>,
    /// Its numbers by metric; one that does not exist in this run is missing.
    pub numbers: BTreeMap<String, f64>,
    /// Those of them that are only lower bounds: percentiles among flows that had not completed.
    pub bounds: BTreeSet<String>,
}

/// What a metric is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meaning {
    /// Its unit: `ns`, `bytes`; empty for a count.
    pub unit: String,
    /// What it says.
    pub meaning: String,
    /// The relative width of the bins from which it is read; 0 of an exact number.
    pub resolution: f64,
    /// Flows that a run must have for it: 100 for a 99th percentile.
    pub needs: u64,
}

impl Meaning {
    /// Of a number.
    pub fn of(number: &Number) -> Self {
        let Scalar { unit, ref meaning, resolution, .. } = number.scalar;
        Self { unit: unit.to_owned(), meaning: meaning.clone(), resolution, needs: number.needs }
    }

    /// The scale on which its intervals are formed.
    pub fn scale(&self) -> Scale {
        Scale { resolution: self.resolution, ..Scale::of_unit(&self.unit) }
    }
}

/// The numbers of a run that ended at `end_ns`, by metric: completion times and slowdowns of all flows (`fct_mean_ns`,
/// `fct_p99_ns`, `slowdown_p99`, …) and by size class (`under_100KB_fct_p99_ns`), and
/// [`scalars`](crate::scalars::scalars). A number that does not exist is missing.
pub fn numbers(tables: &[Table], end_ns: f64) -> BTreeMap<String, Number> {
    let classes = SizeClasses::default();
    let flows = FlowTimes::of(tables, end_ns);
    let RunMetrics { classes: of_classes, scalars } = RunMetrics::of(tables, &flows, &classes);
    let number = |(name, scalar)| (name, Number { scalar, bound: false, needs: 0 });
    let mut numbers: BTreeMap<String, Number> = scalars.into_iter().map(number).collect();
    for (class, metrics) in of_classes.iter().enumerate() {
        let (prefix, whose) = match class == classes.all() {
            true => (String::new(), "all flows".to_owned()),
            false => (classes.key(class) + "_", format!("flows {}", classes.label(class))),
        };
        if metrics.fct.count == 0 {
            continue;
        }
        let mut put = |name: &str, value: f64, unit: &'static str, what: &str| {
            let meaning = format!("{what} of {whose}");
            let scalar = Scalar { value, unit, meaning, resolution: 0.0, interval: None };
            let number = Number { scalar, bound: false, needs: 0 };
            numbers.insert(format!("{prefix}{name}"), number);
        };
        put("finished", metrics.finished() as f64, "", "measured flows that completed,");
        put("unfinished", metrics.unfinished as f64, "", "measured flows that did not complete,");
        put("fct_mean_ns", metrics.fct.mean, "ns", "mean completion time");
        put("slowdown_mean", metrics.slowdown.mean, "x", "mean slowdown");
        if metrics.finished() == 0 {
            for name in ["fct_mean_ns", "slowdown_mean"] {
                numbers.entry(format!("{prefix}{name}")).and_modify(|number| number.bound = true);
            }
        }
        let mut put =
            |name: &str, of: (&Distribution, Quantile), unit: &'static str, what: &str| {
                let (distribution, quantile) = of;
                let meaning = format!("{what} of {whose}");
                let value = quantile.of(distribution);
                let number = Number {
                    scalar: Scalar { value, unit, meaning, resolution: 0.0, interval: None },
                    bound: distribution.is_bound(quantile),
                    needs: least_values(quantile.share()),
                };
                numbers.insert(format!("{prefix}{name}"), number);
            };
        let fct = |quantile| (&metrics.fct, quantile);
        put("fct_p50_ns", fct(Quantile::P50), "ns", "median completion time");
        put("fct_p95_ns", fct(Quantile::P95), "ns", "95th percentile of the completion time");
        put("fct_p99_ns", fct(Quantile::P99), "ns", "99th percentile of the completion time");
        put("fct_p999_ns", fct(Quantile::P999), "ns", "99.9th percentile of the completion time");
        let slowdown = (&metrics.slowdown, Quantile::P99);
        put("slowdown_p99", slowdown, "x", "99th percentile of the slowdown");
    }
    numbers.retain(|_, number| number.scalar.value.is_finite());
    numbers
}

/// A number of a run, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The number.
    pub scalar: Scalar,
    /// Whether it is only a lower bound.
    pub bound: bool,
    /// Flows that a run must have for it.
    pub needs: u64,
}

/// Metrics of flows, which are there as soon as there is one.
pub const OF_FLOWS: [&str; 9] = [
    "finished",
    "unfinished",
    "fct_mean_ns",
    "fct_p50_ns",
    "fct_p95_ns",
    "fct_p99_ns",
    "fct_p999_ns",
    "slowdown_mean",
    "slowdown_p99",
];

/// Whether a metric may be missing in some runs of a sweep and exist in others: those of flows of a
/// size, of a queue, a tier or a workload, of what was dropped for a reason, and means of what need not
/// occur. All others are in every run.
pub fn may_be_missing(metric: &str) -> bool {
    const FAMILIES: [&str; 7] =
        ["dropped_packets_", "queue_", "tier_", "hosts_", "workload_", "port_", "switch_"];
    const OTHERS: [&str; 6] = [
        "persistent_goodput_gbps",
        "throughput_bps",
        "mean_latency_ns",
        "p50_latency_ns",
        "p99_latency_ns",
        "p999_latency_ns",
    ];
    let classes = SizeClasses::default();
    let of_flows = (0..=classes.all()).any(|class| {
        let of_class =
            metric.strip_prefix(&classes.key(class)).and_then(|rest| rest.strip_prefix('_'));
        of_class.is_some_and(|name| OF_FLOWS.contains(&name))
    });
    of_flows
        || OF_FLOWS.contains(&metric)
        || OTHERS.contains(&metric)
        || FAMILIES.iter().any(|family| metric.starts_with(family))
}

/// The mean of a metric over these runs.
pub fn estimate(rows: &[&Row], metric: &str, meaning: &Meaning) -> Estimate {
    let values = rows.iter().filter_map(|row| row.numbers.get(metric).copied());
    let estimate = Estimate::of(values, meaning.scale());
    match basis(rows, metric, meaning.needs).refusal() {
        Some(why) if estimate.n > 0 => estimate.refuse(why),
        _ => estimate,
    }
}

/// What a metric that needs so many flows rests on in these runs.
fn basis(rows: &[&Row], metric: &str, needed: u64) -> Basis {
    // Of a class of flow sizes the metrics begin alike.
    let prefix = metric.find("fct_").or(metric.find("slowdown_")).map_or("", |at| &metric[..at]);
    let [done, not] = ["finished", "unfinished"].map(|name| format!("{prefix}{name}"));
    let number = |row: &Row, name: &str| row.numbers.get(name).copied().unwrap_or(0.0);
    let flows = |row: &&Row| (number(row, &done) + number(row, &not)) as u64;
    Basis {
        bound: rows.iter().any(|row| row.bounds.contains(metric)),
        needed,
        least: rows.iter().map(flows).min().unwrap_or(0),
    }
}

impl Sweep {
    /// The runs of a variant at a point that count: those that were not cut short.
    fn runs_of<'a>(&'a self, point: usize, variant: &'a str) -> impl Iterator<Item = &'a Row> {
        let begin = self.runs.partition_point(|row| row.point < point);
        let of_point = self.runs[begin..].iter().take_while(move |row| row.point == point);
        of_point.filter(move |row| row.variant == variant && row.stop != INTERRUPTED)
    }

    /// Whether two points and variants have the same runs to the bit: what differs between them has
    /// no effect. Only replications that both have count, of which there has to be one.
    pub fn are_same_runs(&self, one: (usize, &str), other: (usize, &str)) -> bool {
        let mut common = 0;
        for a in self.runs_of(one.0, one.1).filter(|row| !row.fingerprint.is_empty()) {
            let same = |b: &&Row| b.replication == a.replication && b.seed == a.seed;
            if let Some(b) = self.runs_of(other.0, other.1).find(same) {
                common += 1;
                if a.fingerprint != b.fingerprint {
                    return false;
                }
            }
        }
        common > 0
    }

    /// Which traffic a variant, by its place, has at a point.
    fn traffic_of(&self, point: usize, variant: usize) -> usize {
        self.traffic.get(point).and_then(|of| of.get(variant)).copied().unwrap_or(0)
    }

    /// The mean of a metric over the replications of a variant at a point.
    pub fn estimate(&self, point: usize, variant: &str, metric: &str) -> Estimate {
        let rows: Vec<&Row> = self.runs_of(point, variant).collect();
        match self.metrics.get(metric) {
            Some(meaning) => estimate(&rows, metric, meaning),
            None => estimate(&rows, metric, &Meaning::default()),
        }
    }

    /// The change of a metric from one point and variant to another, paired by replication. Those with
    /// other seeds are no pair.
    pub fn change(&self, from: (usize, &str), to: (usize, &str), metric: &str) -> Option<Change> {
        let change = self.paired(from, to, metric)?;
        Some(match self.basis(&[from, to], metric).refusal() {
            Some(why) => change.refuse(why),
            None => change,
        })
    }

    /// The same of values that may be lower bounds, or percentiles of few flows.
    fn paired(&self, from: (usize, &str), to: (usize, &str), metric: &str) -> Option<Change> {
        let pairs = self.runs_of(from.0, from.1).filter_map(|a| {
            let same = |b: &&Row| b.replication == a.replication && b.seed == a.seed;
            let b = self.runs_of(to.0, to.1).find(same)?;
            Some((*a.numbers.get(metric)?, *b.numbers.get(metric)?))
        });
        Change::of(pairs, self.scale(metric))
    }

    fn scale(&self, metric: &str) -> Scale {
        self.metrics.get(metric).map_or(Scale::NON_NEGATIVE, Meaning::scale)
    }

    /// What a metric rests on in the runs of these points and variants.
    pub fn basis(&self, of: &[(usize, &str)], metric: &str) -> Basis {
        let needed = self.metrics.get(metric).map_or(0, |meaning| meaning.needs);
        let rows: Vec<&Row> = of.iter().flat_map(|of| self.runs_of(of.0, of.1)).collect();
        basis(&rows, metric, needed)
    }

    /// A point in words: `workload.0.many_to_many.load=0.2, switch.queue.size=1MB`.
    pub fn name(&self, point: usize) -> String {
        let at = self.axes.iter().zip(&self.points[point]);
        let parts: Vec<_> =
            at.map(|(axis, at)| format!("{}={}", axis.path, axis.values[*at])).collect();
        parts.join(", ")
    }

    /// The same as short as it can be with the points still apart: `load=0.2, size=1MB`.
    pub fn short_name(&self, point: usize) -> String {
        let at = self.axes.iter().zip(&self.points[point]);
        let part = |(axis, at): (&Axis, &usize)| {
            format!("{}={}", charts::short(self, axis), axis.values[*at])
        };
        at.map(part).collect::<Vec<_>>().join(", ")
    }

    /// A metric at every point and in every variant, with its changes and ranks, by point and then by
    /// variant.
    pub fn cells(&self, metric: &str) -> Vec<Cell> {
        cells::cells(self, metric)
    }

    /// What the reference point is and how to read changes and the best set, in a sentence each; empty
    /// for a single point.
    pub fn legend(&self) -> Vec<String> {
        ranking::legend(self)
    }

    /// Why some intervals of a metric are missing; none if all are there.
    pub(crate) fn refusals(&self, metric: &str) -> Option<String> {
        charts::refusals(&self.cells(metric))
    }

    /// The metrics that the page shows: those that were asked for, or of those that usually matter
    /// the ones that are not the same in all runs, or if all are, all that there are.
    pub fn shown(&self) -> Vec<&str> {
        if !self.shown.is_empty() {
            return self.shown.iter().map(String::as_str).collect();
        }
        let differs = |metric: &&str| {
            let mut values = self.runs.iter().filter_map(|row| row.numbers.get(*metric));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let different: Vec<&str> = USUAL.iter().copied().filter(differs).collect();
        if !different.is_empty() {
            return different;
        }
        let exists = |metric: &&str| self.runs.iter().any(|row| row.numbers.contains_key(*metric));
        USUAL.iter().copied().filter(exists).collect()
    }

    /// What it comes to, in sentences.
    pub fn answer(&self) -> Vec<String> {
        self.answers().into_iter().map(|(_, sentence)| sentence).collect()
    }

    /// The same, each sentence with the place of the variant that it is about.
    pub(crate) fn answers(&self) -> Vec<(usize, String)> {
        answer::answers(self)
    }

    /// What in the grid changes nothing, in sentences.
    pub fn idle(&self) -> Vec<String> {
        idle::idle(self)
    }

    /// The charts: a section for each metric that is shown.
    pub fn sections(&self) -> Vec<Section> {
        self.shown().into_iter().map(|metric| charts::section(self, metric)).collect()
    }

    /// A row for every run (`runs`), a row for every point and variant with the means of all metrics and
    /// their intervals (`points`), and a row for every point, variant and metric (`points_long`).
    pub fn tables(&self) -> [Table; 3] {
        [tables::runs(self), tables::points(self), tables::points_long(self)]
    }
}

/// Metrics that usually matter.
const USUAL: [&str; 13] = [
    "fct_mean_ns",
    "fct_p99_ns",
    "under_100KB_fct_p99_ns",
    "over_10MB_fct_mean_ns",
    "slowdown_p99",
    "unfinished",
    "persistent_goodput_gbps",
    "mean_latency_ns",
    "p99_latency_ns",
    "paused_ns",
    "marked_packets",
    "dropped_packets",
    "switch_p99_occupancy_bytes",
];

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn sweep() -> Sweep {
        let row = |point, variant: &str, replication, value: f64| Row {
            point,
            variant: variant.to_owned(),
            replication,
            stop: "flows done".to_owned(),
            numbers: [("fct_mean_ns".to_owned(), value), ("dropped_packets".to_owned(), 0.0)]
                .into(),
            ..Row::default()
        };
        let meaning = |unit: &str, meaning: &str| Meaning {
            unit: unit.to_owned(),
            meaning: meaning.to_owned(),
            ..Meaning::default()
        };
        Sweep {
            schema: crate::manifest::SCHEMA,
            scenario: "tiny".to_owned(),
            axes: vec![Axis {
                path: "load".to_owned(),
                values: vec!["0.2".to_owned(), "0.4".to_owned()],
                numbers: Some(vec![0.2, 0.4]),
                unit: String::new(),
            }],
            points: vec![vec![0], vec![1]],
            // Another load is other traffic.
            traffic: vec![vec![0, 0], vec![1, 1]],
            variants: vec!["a".to_owned(), "b".to_owned()],
            runs: vec![
                row(0, "a", 0, 100.0),
                row(0, "a", 1, 102.0),
                row(0, "b", 0, 50.0),
                row(0, "b", 1, 51.0),
                row(1, "a", 0, 200.0),
                row(1, "a", 1, 220.0),
                row(1, "b", 0, 150.0),
                row(1, "b", 1, 110.0),
            ],
            metrics: [
                ("fct_mean_ns".to_owned(), meaning("ns", "mean completion time of all flows")),
                ("dropped_packets".to_owned(), meaning("", "dropped")),
            ]
            .into(),
            ..Sweep::default()
        }
    }

    /// Three points of one variant and three replications; the second is the reference, and the best.
    pub(super) fn tuned() -> Sweep {
        let values = [[110.0, 220.0, 440.0], [100.0, 200.0, 400.0], [101.0, 206.0, 408.0]];
        let row = |(point, replication): (usize, usize)| Row {
            point,
            variant: "base".to_owned(),
            replication: replication as u32,
            seed: replication as u64,
            stop: "flows done".to_owned(),
            numbers: [("fct_mean_ns".to_owned(), values[point][replication])].into(),
            ..Row::default()
        };
        let places = (0..3).flat_map(|point| (0..3).map(move |replication| (point, replication)));
        Sweep {
            axes: vec![Axis {
                path: "switch.queue.size".to_owned(),
                values: ["1MB", "2MB", "4MB"].map(str::to_owned).to_vec(),
                numbers: Some(vec![1e6, 2e6, 4e6]),
                unit: "bytes".to_owned(),
            }],
            points: vec![vec![0], vec![1], vec![2]],
            traffic: Vec::new(),
            variants: vec!["base".to_owned()],
            reference: Reference { point: 1, origin: Origin::Scenario },
            runs: places.map(row).collect(),
            ..sweep()
        }
    }

    #[test]
    fn estimates_are_of_a_point_and_a_variant() {
        let sweep = sweep();
        let estimate = sweep.estimate(0, "a", "fct_mean_ns");
        assert_eq!((estimate.mean, estimate.n), (Some(101.0), 2));
        // The larger of two factors: by the delta method exp(t · 1 / 101), where t is 12.706 and 1 the
        // standard error; of a log-normal mean exp(t √(s² / 2 + s⁴ / 2)), where s = ln(102 / 100) / √2
        // = 0.014002. The first is exp(0.125804), the second exp(0.125820).
        let factor = estimate.high.unwrap() / 101.0;
        assert!((factor - libm::exp(0.125_820)).abs() < 1e-5, "{factor}");
        assert_eq!(sweep.estimate(1, "b", "nothing").n, 0);
    }

    #[test]
    fn what_does_not_differ_is_not_shown() {
        let mut sweep = sweep();
        assert_eq!(sweep.shown(), ["fct_mean_ns"]);
        sweep.shown = vec!["dropped_packets".to_owned()];
        assert_eq!(sweep.shown(), ["dropped_packets"]);
        // If nothing does, all there are.
        sweep.shown.clear();
        for row in &mut sweep.runs {
            row.numbers.insert("fct_mean_ns".to_owned(), 7.0);
        }
        assert_eq!(sweep.shown(), ["fct_mean_ns", "dropped_packets"]);
    }

    #[test]
    fn some_metrics_are_not_in_every_run() {
        for name in ["fct_p99_ns", "over_10MB_fct_mean_ns", "queue_3_max_backlog_bytes"] {
            assert!(may_be_missing(name), "{name}");
        }
        for name in ["fct_p99", "over_10MB_fct_p99", "marked_packets", "paused"] {
            assert!(!may_be_missing(name), "{name}");
        }
    }

    #[test]
    fn runs_that_were_cut_short_do_not_count() {
        let mut sweep = sweep();
        sweep.runs[0].stop = INTERRUPTED.to_owned();
        assert_eq!(sweep.estimate(0, "a", "fct_mean_ns").mean, Some(102.0));
    }
}
