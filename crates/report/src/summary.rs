//! The summary: what `summary.json` holds, what `--json` prints, and what terminal and page show.

use floodway_model::IntervalEnd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::statistics::{Change, Estimate, NoInterval, Scale};
use crate::study::Claim;
use crate::words;

/// The results of an experiment in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of this form: [`crate::manifest::SCHEMA`].
    pub schema: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The question that it answers.
    pub question: String,
    /// What came out, one sentence for each variant after the baseline.
    pub answer: Vec<String>,
    /// The fingerprints of all runs in one, in hexadecimal.
    pub fingerprint: String,
    /// Packet-hops of all runs.
    pub hops: u64,
    /// Packet-hops per second of wall time.
    pub hops_per_second: f64,
    /// The most memory that the program held, in bytes; none where the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// How long it took in all, in seconds.
    pub wall_s: f64,
    /// The variants' names in order; the first is the baseline.
    pub order: Vec<String>,
    /// The workloads' names in order, as far as they have one; empty for those that have none.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// The size classes in order; the last is all flows.
    pub classes: Vec<ClassName>,
    /// Numbers that the reader must know before using the others: missing and interrupted runs,
    /// unfinished flows, a single replication.
    pub caveats: Vec<String>,
    /// Deadlocks that runs ended in, a few sentences for each variant; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<String>,
    /// Jobs that were not finished when runs ended, a few sentences for each variant; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_jobs: Vec<String>,
    /// Every violation of every run; empty in a sound experiment.
    pub violations: Vec<String>,
    /// What the scenario claims of its results, with what came of it; empty if it claims nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The numbers, by variant.
    pub variants: BTreeMap<String, VariantSummary>,
}

/// A size class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassName {
    /// Its name in files: `under_100KB`.
    pub key: String,
    /// Its name for people: `<100 KB`.
    pub label: String,
}

/// The numbers of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantSummary {
    /// What the variant is, in one line; may be empty.
    pub summary: String,
    /// The first variant whose runs are the same to the bit, if there is one before this one: what
    /// differs between their settings never acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// How many replications its numbers rest on.
    pub replications: u64,
    /// The measured interval, over which counters, depths, waiting times and rates are taken; none
    /// without runs.
    #[serde(default)]
    pub interval: Option<Interval>,
    /// Flow completion, by size class.
    pub fct: BTreeMap<String, ClassSummary>,
    /// Everything else, by name.
    pub counters: BTreeMap<String, Counter>,
}

/// The measured interval of the runs of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// When it begins, in nanoseconds: at the end of the warm-up.
    pub from_ns: f64,
    /// When it ends in the replication in which it ends first, in nanoseconds.
    pub first_end_ns: f64,
    /// When it ends in the replication in which it ends last, in nanoseconds.
    pub last_end_ns: f64,
    /// What ends it.
    pub end: IntervalEnd,
}

/// Flow completion of one size class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Measured flows that completed, over all replications.
    pub finished: u64,
    /// Measured flows that had not completed when their run ended, over all replications. They count
    /// with the time that they had taken by then.
    pub unfinished: u64,
    /// The flows that the changes rest on; none for the baseline.
    pub paired: Option<Paired>,
    /// Mean completion time in nanoseconds.
    pub mean_ns: Measure,
    /// Median completion time in nanoseconds.
    pub p50_ns: Measure,
    /// 95th percentile of completion time in nanoseconds.
    pub p95_ns: Measure,
    /// 99th percentile of completion time in nanoseconds.
    pub p99_ns: Measure,
    /// 99.9th percentile of completion time in nanoseconds.
    pub p999_ns: Measure,
    /// Mean slowdown: completion time over that of an idle network.
    pub mean_slowdown: Measure,
    /// 99th percentile of slowdown.
    pub p99_slowdown: Measure,
}

/// The flows that a paired change rests on: those that began both in the variant and in the baseline,
/// over all replications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paired {
    /// How many there are.
    pub flows: u64,
    /// How many flows were measured in either.
    pub of: u64,
}

impl Paired {
    /// Whether these are all flows.
    pub fn is_all(&self) -> bool {
        self.flows == self.of
    }
}

/// A metric over replications, and its change from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The mean over replications with its interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Whether it is only a lower bound: a percentile that lies among flows that had not completed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
    /// The paired change from the baseline; none for the baseline itself, and where nothing can
    /// be paired.
    pub change: Option<Change>,
}

/// What the values of a percentile rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// Whether one of them is only a lower bound.
    pub bound: bool,
    /// Flows that a replication must have for it.
    pub needed: u64,
    /// Flows of the replication that has fewest.
    pub least: u64,
}

impl Basis {
    /// Why it has no interval, if it can have none.
    pub fn refusal(&self) -> Option<NoInterval> {
        if self.bound {
            return Some(NoInterval::Bound);
        }
        let Self { needed, least, .. } = *self;
        (least < needed).then_some(NoInterval::FewFlows { needed, least })
    }
}

impl Measure {
    /// Of the values of the replications and of the pairs with the baseline, and what both rest on.
    pub fn of(
        values: impl IntoIterator<Item = f64>,
        pairs: impl IntoIterator<Item = (f64, f64)>,
        scale: Scale,
        (basis, of_pairs): (Basis, Basis),
    ) -> Self {
        let (estimate, change) = (Estimate::of(values, scale), Change::of(pairs, scale));
        let estimate = match basis.refusal().filter(|_| estimate.n > 0) {
            Some(why) => estimate.refuse(why),
            None => estimate,
        };
        let change = change.map(|change| match of_pairs.refusal() {
            Some(why) => change.refuse(why),
            None => change,
        });
        Self { estimate, bound: basis.bound, change }
    }
}

/// One number about whole runs, over replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Its unit; empty for a count.
    pub unit: String,
    /// What it says.
    pub meaning: String,
    /// The number.
    #[serde(flatten)]
    pub measure: Measure,
}

impl Summary {
    /// As one JSON object.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a summary has text keys and plain values")
    }

    /// The numbers of a variant; panics if there is none of this name.
    pub fn variant(&self, name: &str) -> &VariantSummary {
        &self.variants[name]
    }

    /// The baseline's name; none of an experiment without variants.
    pub fn baseline(&self) -> Option<&str> {
        self.order.first().map(String::as_str)
    }

    /// The size classes that some variant has flows in, and that of all flows.
    pub fn classes_with_flows(&self) -> impl Iterator<Item = &ClassName> {
        let has_flows = |key: &str| {
            let classes = self.variants.values().filter_map(|variant| variant.fct.get(key));
            classes.into_iter().any(|class| class.finished + class.unfinished > 0)
        };
        let all = self.classes.last();
        self.classes.iter().filter(move |class| Some(*class) == all || has_flows(&class.key))
    }

    /// Whether flows with a size were measured in any variant, finished or not.
    pub fn has_flows(&self) -> bool {
        let classes = self.variants.values().flat_map(|variant| variant.fct.values());
        classes.into_iter().any(|class| class.finished + class.unfinished > 0)
    }

    /// The measured interval in words, where it is the same in all variants that were run.
    pub fn interval(&self) -> Option<String> {
        let mut all = self.order.iter().filter_map(|name| self.variants.get(name)?.interval);
        let first = all.next().map(|interval| words::interval(&interval))?;
        all.all(|other| words::interval(&other) == first).then_some(first)
    }

    /// What a workload is called: `workload 0`, or with a name `workload 0 (training)`.
    pub fn workload(&self, number: u64) -> String {
        match self.workloads.get(number as usize).filter(|name| !name.is_empty()) {
            Some(name) => format!("workload {number} ({name})"),
            None => format!("workload {number}"),
        }
    }

    /// The name of a workload alone, or `workload 0` of one that has none.
    pub fn workload_name(&self, number: u64) -> String {
        let name = self.workloads.get(number as usize).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| format!("workload {number}"))
    }

    /// A metric of a variant that is not about flow completion.
    pub fn counter(&self, variant: &str, name: &str) -> Option<&Counter> {
        self.variants.get(variant)?.counters.get(name)
    }

    /// Flow completion of a variant in a size class.
    pub fn class(&self, variant: &str, key: &str) -> Option<&ClassSummary> {
        self.variants.get(variant)?.fct.get(key)
    }
}
