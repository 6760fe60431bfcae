//! What is kept of one run: completion times by size class, and [`scalars`](crate::scalars).

use floodway_model::Table;
use std::borrow::Borrow;
use std::collections::BTreeMap;

pub use crate::flow_times::{FlowTime, FlowTimes, flow_times};
use crate::scalars::{Scalar, scalars};
use crate::statistics::{mean, quantile, ranks};

/// Ranges of flow sizes, and one class more that holds them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClasses {
    edges: Vec<u64>,
}

impl Default for SizeClasses {
    /// Below 100 KB, to 1 MB, to 10 MB, and above.
    fn default() -> Self {
        Self { edges: vec![100_000, 1_000_000, 10_000_000] }
    }
}

impl SizeClasses {
    /// Classes that begin at 0 and at each of `edges`, of which there is one and which rise.
    pub fn new(edges: Vec<u64>) -> Self {
        assert!(!edges.is_empty(), "size classes need an edge");
        assert!(edges.is_sorted_by(|a, b| a < b), "size classes {edges:?} do not rise");
        Self { edges }
    }

    /// The lower edges of the classes after the first, in bytes.
    pub fn edges(&self) -> &[u64] {
        &self.edges
    }

    /// How many there are, the one of all flows included.
    pub fn count(&self) -> usize {
        self.edges.len() + 2
    }

    /// The place of the class of all flows: the last.
    pub fn all(&self) -> usize {
        self.edges.len() + 1
    }

    /// The place of the class that a flow of this size is in.
    pub fn of(&self, bytes: u64) -> usize {
        self.edges.partition_point(|edge| *edge <= bytes)
    }

    /// For every class in order what `of` makes of its flows, which are those that are its members. If one class has all
    /// flows, that is made once for both.
    pub fn each<T: Clone>(
        &self,
        flows: &FlowTimes,
        of: impl Fn(&dyn Fn(&FlowTime) -> bool) -> T,
    ) -> Vec<T> {
        let mut sizes = flows.sizes().map(|bytes| self.of(bytes));
        let only = sizes.next().filter(|first| sizes.all(|class| class == *first));
        let mut each: Vec<T> =
            (0..self.all()).map(|class| of(&|flow| self.of(flow.bytes) == class)).collect();
        each.push(only.map_or_else(|| of(&|_| true), |class| each[class].clone()));
        each
    }

    /// The name of a class in files: `under_100KB`, `100KB_to_1MB`, `over_10MB`, `all`.
    pub fn key(&self, class: usize) -> String {
        let edge = |at: usize| size(self.edges[at], "");
        match class {
            _ if class == self.all() => "all".to_string(),
            0 => format!("under_{}", edge(0)),
            _ if class == self.edges.len() => format!("over_{}", edge(class - 1)),
            _ => format!("{}_to_{}", edge(class - 1), edge(class)),
        }
    }

    /// The name of a class for people: `<100 KB`, `100 KB–1 MB`, `>10 MB`, `all flows`.
    pub fn label(&self, class: usize) -> String {
        let edge = |at: usize| size(self.edges[at], " ");
        match class {
            _ if class == self.all() => "all flows".to_string(),
            0 => format!("<{}", edge(0)),
            _ if class == self.edges.len() => format!(">{}", edge(class - 1)),
            _ => format!("{}–{}", edge(class - 1), edge(class)),
        }
    }
}

/// A size in the largest decimal unit that holds it in whole numbers.
fn size(bytes: u64, gap: &str) -> String {
    let (unit, name) = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")]
        .into_iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
        .unwrap_or((1, "B"));
    format!("{}{gap}{name}", bytes / unit)
}

/// A percentile of completion times or slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P999,
}

impl Quantile {
    /// All of them, rising.
    pub const ALL: [Self; 4] = [Self::P50, Self::P95, Self::P99, Self::P999];

    /// In a word: `p99.9`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
        }
    }

    /// The share of flows that take no longer.
    pub const fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
        }
    }

    /// Of a distribution.
    pub const fn of(self, distribution: &Distribution) -> f64 {
        match self {
            Self::P50 => distribution.p50,
            Self::P95 => distribution.p95,
            Self::P99 => distribution.p99,
            Self::P999 => distribution.p999,
        }
    }
}

/// Mean and quantiles of one metric of flows within a run. Flows that had not completed count with
/// what they had reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// How many values.
    pub count: u64,
    /// The arithmetic mean; this and the quantiles are NaN of nothing.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// How many of the smallest values would be the same if every flow had completed.
    certain: u64,
}

impl Distribution {
    /// Of these values, of which none is NaN, each with whether its flow completed.
    pub fn of(values: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut least = f64::INFINITY;
        let value = |(value, finished): (f64, bool)| {
            if !finished {
                least = value.min(least);
            }
            value
        };
        let mut values: Vec<f64> = values.into_iter().map(value).collect();
        // Equal values are the same bits, so that their order does not matter.
        values.sort_unstable_by(f64::total_cmp);
        Self {
            count: values.len() as u64,
            mean: mean(&values),
            p50: quantile(&values, 0.5),
            p95: quantile(&values, 0.95),
            p99: quantile(&values, 0.99),
            p999: quantile(&values, 0.999),
            certain: values.partition_point(|value| *value < least) as u64,
        }
    }

    /// Whether a quantile is only a lower bound, because a flow that had not completed may come before
    /// it or is it.
    pub fn is_bound(&self, quantile: Quantile) -> bool {
        let Some(last) = self.count.checked_sub(1) else { return false };
        let (below, above, part) = ranks(last as usize, quantile.share());
        let rank = if part > 0.0 { above } else { below };
        rank as u64 >= self.certain
    }
}

/// The flows of one size class in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassMetrics {
    /// How many measured flows had not completed when the run ended.
    pub unfinished: u64,
    /// Completion times in nanoseconds.
    pub fct: Distribution,
    /// Slowdowns.
    pub slowdown: Distribution,
}

impl ClassMetrics {
    /// Of these flows.
    pub fn of<F: Borrow<FlowTime>>(flows: impl Iterator<Item = F> + Clone) -> Self {
        let flows = flows.map(|flow| *flow.borrow());
        let unfinished = flows.clone().filter(|flow| !flow.finished).count() as u64;
        let slowdowns = flows.clone().filter(|flow| !flow.slowdown.is_nan());
        Self {
            unfinished,
            fct: Distribution::of(flows.map(|flow| (flow.fct_ns, flow.finished))),
            slowdown: Distribution::of(slowdowns.map(|flow| (flow.slowdown, flow.finished))),
        }
    }

    /// How many flows completed.
    pub fn finished(&self) -> u64 {
        self.fct.count - self.unfinished
    }

    /// Of these flows, for every class in order.
    pub fn by_class(flows: &FlowTimes, classes: &SizeClasses) -> Vec<Self> {
        classes.each(flows, |member| Self::of(flows.iter().filter(|flow| member(flow))))
    }
}

/// One size class in two runs with the same traffic: the flows that began in both, whether they
/// completed or not. That is all of them, except where flows begin when others have completed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMetrics {
    /// How many flows began in both.
    pub flows: u64,
    /// How many were measured in either.
    pub of: u64,
    /// These flows in the baseline.
    pub from: ClassMetrics,
    /// These flows in the variant.
    pub to: ClassMetrics,
}

impl PairMetrics {
    /// For every class in order. Both lists rise by flow number. Flows are the same if number and
    /// size agree.
    pub fn by_class(from: &FlowTimes, to: &FlowTimes, classes: &SizeClasses) -> Vec<Self> {
        let (mut both_from, mut both_to) = (FlowTimes::default(), FlowTimes::default());
        let mut union = vec![0; classes.count()];
        let mut count = |bytes: u64| {
            union[classes.of(bytes)] += 1;
            union[classes.all()] += 1;
        };
        let (mut a, mut b) = (from.iter().peekable(), to.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if (x.flow, x.bytes) == (y.flow, y.bytes) => {
                    count(x.bytes);
                    both_from.push(*x);
                    both_to.push(*y);
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) if (x.flow, x.bytes) > (y.flow, y.bytes) => {
                    count(y.bytes);
                    b.next();
                }
                (Some(x), _) => {
                    count(x.bytes);
                    a.next();
                }
                (None, Some(y)) => {
                    count(y.bytes);
                    b.next();
                }
                (None, None) => break,
            }
        }
        let from = ClassMetrics::by_class(&both_from, classes);
        let to = ClassMetrics::by_class(&both_to, classes);
        let pairs = from.into_iter().zip(to).zip(union);
        pairs.map(|((from, to), of)| Self { flows: from.fct.count, of, from, to }).collect()
    }
}

/// What is kept of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMetrics {
    /// By size class in order.
    pub classes: Vec<ClassMetrics>,
    /// By name.
    pub scalars: BTreeMap<String, Scalar>,
}

impl RunMetrics {
    /// Of a run's tables and its measured flows.
    pub fn of(tables: &[Table], flows: &FlowTimes, classes: &SizeClasses) -> Self {
        Self { classes: ClassMetrics::by_class(flows, classes), scalars: scalars(tables) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn flow(flow: u64, bytes: u64, fct_ns: f64) -> FlowTime {
        FlowTime { flow, bytes, workload: 0, fct_ns, slowdown: fct_ns / 10.0, finished: true }
    }

    /// One that had taken so long when its run ended.
    fn unfinished(number: u64, bytes: u64, so_far: f64) -> FlowTime {
        FlowTime { finished: false, ..flow(number, bytes, so_far) }
    }

    #[test]
    fn size_classes_include_their_lower_edge() {
        let classes = SizeClasses::default();
        let of = [0, 99_999, 100_000, 999_999, 1_000_000, 9_999_999, 10_000_000, u64::MAX];
        assert_eq!(of.map(|bytes| classes.of(bytes)), [0, 0, 1, 1, 2, 2, 3, 3]);
        let keys: Vec<_> = (0..5).map(|class| classes.key(class)).collect();
        assert_eq!(keys, ["under_100KB", "100KB_to_1MB", "1MB_to_10MB", "over_10MB", "all"]);
        let labels: Vec<_> = (0..5).map(|class| classes.label(class)).collect();
        assert_eq!(labels, ["<100 KB", "100 KB–1 MB", "1 MB–10 MB", ">10 MB", "all flows"]);
        assert_eq!(SizeClasses::new(vec![1500]).key(0), "under_1500B");
    }

    #[test]
    fn unfinished_flows_count_with_the_time_so_far() {
        let flows = [flow(1, 10, 100.0), unfinished(2, 10, 500.0), flow(3, 20_000_000, 300.0)];
        let flows = flows.into_iter().collect();
        let classes = ClassMetrics::by_class(&flows, &SizeClasses::default());
        assert_eq!((classes[0].unfinished, classes[0].finished(), classes[0].fct.count), (1, 1, 2));
        assert_eq!((classes[0].fct.mean, classes[0].slowdown.mean), (300.0, 30.0));
        assert_eq!((classes[4].unfinished, classes[4].fct.mean), (1, 300.0));
        assert_eq!((classes[1].unfinished, classes[1].fct.count), (0, 0));
        assert!(classes[1].fct.mean.is_nan() && !classes[1].fct.is_bound(Quantile::P99));
    }

    #[test]
    fn a_percentile_among_unfinished_flows_is_a_bound() {
        // 100 flows that take 1 to 100; that of 96 had not completed.
        let of = |open: u64| {
            let value = |at: u64| (at as f64, at != open);
            let of = Distribution::of((1..=100).map(value));
            Quantile::ALL.map(|quantile| of.is_bound(quantile))
        };
        // Rank 0.95 x 99 = 94.05 lies between the values 95 and 96.
        assert_eq!(of(96), [false, true, true, true]);
        assert_eq!(of(97), [false, false, true, true]);
        assert_eq!(of(1), [true; 4]);
        assert_eq!(of(0), [false; 4]);
    }

    #[test]
    fn the_time_so_far_is_that_from_the_start_to_the_end_of_the_run() {
        let flows = complete(
            Table::new("flows", "")
                .u64("flow", "", vec![1, 0, 2])
                .u64("workload", "", vec![0, 0, 1])
                .u64("bytes", "", vec![10, 10, 10])
                .f64("start_ns", "", vec![200.0, 100.0, 0.0])
                .f64("fct_ns", "", vec![f64::NAN, 50.0, 7.0])
                .f64("ideal_fct_ns", "", vec![100.0, 25.0, 7.0])
                .u64("measured", "", vec![1, 1, 0]),
        );
        let tables = [flows];
        let times = flow_times(&tables, 1_000.0);
        let seen: Vec<_> =
            times.iter().map(|of| (of.flow, of.fct_ns, of.slowdown, of.finished)).collect();
        assert_eq!(seen, [(0, 50.0, 2.0, true), (1, 800.0, 8.0, false)]);
        assert!(FlowTimes::of(&tables, 1_000.0).iter().eq(times), "by number, as in the list");
        // Of a flow that began just before the end it is only known that it is not faster than ideal.
        assert_eq!(flow_times(&tables, 210.0)[1].slowdown, 1.0);
    }

    #[test]
    fn pairs_hold_the_flows_that_began_in_both() {
        let from = [flow(1, 10, 100.0), unfinished(2, 10, 900.0), flow(3, 10, 200.0)];
        let to = [flow(1, 10, 50.0), flow(2, 10, 80.0), unfinished(3, 10, 470.0), flow(4, 10, 1.0)];
        let [from, to] = [&from[..], &to].map(|flows| flows.iter().copied().collect());
        let pairs = PairMetrics::by_class(&from, &to, &SizeClasses::default());
        for class in [0, 4] {
            let pair = &pairs[class];
            assert_eq!((pair.flows, pair.of), (3, 4));
            assert_eq!((pair.from.fct.mean, pair.to.fct.mean), (400.0, 200.0));
        }
        assert_eq!((pairs[1].flows, pairs[1].of), (0, 0));
    }

    #[test]
    fn flows_of_another_size_are_other_flows() {
        let pairs = PairMetrics::by_class(
            &[flow(1, 10, 1.0)].into_iter().collect(),
            &[flow(1, 11, 1.0)].into_iter().collect(),
            &SizeClasses::new(vec![100]),
        );
        assert_eq!((pairs.len(), pairs[0].flows, pairs[0].of), (3, 0, 2));
    }
}
