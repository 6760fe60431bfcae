//! Flows in groups: which flows a study compares, and what is kept of each group in a run.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_report::metrics::Distribution;

use crate::histogram::Histogram;

/// One measured flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Its number, the same in every variant.
    pub flow: u64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Which workload of the scenario made it, counted from 0.
    pub workload: u64,
    /// Its completion time, in nanoseconds; of a flow that had not finished when the run ended, the
    /// time that it had taken until then, which is less than it takes.
    pub fct_ns: f64,
    /// Its completion time over that of an idle network; NaN if it did not finish.
    pub slowdown: f64,
}

impl Flow {
    /// Whether it had finished when its run ended.
    pub fn finished(&self) -> bool {
        self.slowdown.is_finite()
    }
}

/// The measured flows of a run by number (table `flows`), those that had not finished with the time
/// until the end of the run.
pub fn measured(flows: &Table, end_ns: f64) -> Vec<Flow> {
    let (numbers, bytes) = (flows.u64s("flow"), flows.u64s("bytes"));
    let (workloads, starts) = (flows.u64s("workload"), flows.f64s("start_ns"));
    let (fct, slowdown) = (flows.f64s("fct_ns"), flows.f64s("slowdown"));
    let row = |at: usize| Flow {
        flow: numbers[at],
        bytes: bytes[at],
        workload: workloads[at],
        fct_ns: if fct[at].is_nan() { end_ns - starts[at] } else { fct[at] },
        slowdown: slowdown[at],
    };
    let measured = flows.u64s("measured");
    let mut flows: Vec<Flow> = (0..flows.rows()).filter(|at| measured[*at] == 1).map(row).collect();
    flows.sort_by_key(|flow| flow.flow);
    flows
}

/// A group of flows that a study looks at: those of a range of sizes, of one workload or of all.
/// Groups may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowGroup {
    /// What it is called on the page: `<100 KB`.
    pub label: &'static str,
    /// The size of the smallest flow in it, in bytes.
    pub from: u64,
    /// The size of the smallest flow that is too large, in bytes; none: there is none.
    pub below: Option<u64>,
    /// The workload that its flows are of, counted from 0; none: any.
    pub workload: Option<u64>,
}

impl FlowGroup {
    /// All measured flows.
    pub const fn all(label: &'static str) -> Self {
        Self { label, from: 0, below: None, workload: None }
    }

    /// Only flows of at least so many bytes.
    pub const fn from(self, bytes: u64) -> Self {
        Self { from: bytes, ..self }
    }

    /// Only flows of less than so many bytes.
    pub const fn below(self, bytes: u64) -> Self {
        Self { below: Some(bytes), ..self }
    }

    /// Only flows of the workload of this number.
    pub const fn of_workload(self, workload: u64) -> Self {
        Self { workload: Some(workload), ..self }
    }

    /// Whether a flow is in it.
    pub fn holds(&self, flow: &Flow) -> bool {
        flow.bytes >= self.from
            && self.below.is_none_or(|below| flow.bytes < below)
            && self.workload.is_none_or(|workload| flow.workload == workload)
    }
}

/// A quantile of the completion times of a group.
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

/// What is kept of the flows of a group in one run, however many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many had not finished when the run ended.
    pub unfinished: u64,
    /// Completion times of all of them, in nanoseconds; those that had not finished count with the
    /// time that they had taken.
    pub fct: Distribution,
    /// Slowdowns of those that had finished.
    pub slowdown: Distribution,
    /// Completion times by bin, in nanoseconds.
    pub times: Histogram,
    /// How many of the shortest completion times would be the same if every flow had finished.
    certain: u64,
}

impl Summary {
    /// Of these flows.
    pub fn of<'a>(flows: impl Iterator<Item = &'a Flow>) -> Self {
        let (mut fct, mut slowdown, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for flow in flows {
            if flow.finished() {
                fct.push(flow.fct_ns);
                slowdown.push(flow.slowdown);
            } else {
                left.push(flow.fct_ns);
            }
        }
        fct.sort_unstable_by(f64::total_cmp);
        let unfinished = left.len() as u64;
        let times = Histogram::of_sorted(&fct, unfinished);
        let shortest = left.iter().copied().fold(f64::INFINITY, f64::min);
        let certain = fct.partition_point(|time| *time < shortest) as u64;
        if unfinished > 0 {
            fct.extend(left);
            fct.sort_unstable_by(f64::total_cmp);
        }
        Self {
            unfinished,
            fct: Distribution::of_sorted(&fct),
            slowdown: Distribution::of(slowdown),
            times,
            certain,
        }
    }

    /// How many flows there are.
    pub fn flows(&self) -> u64 {
        self.fct.count
    }

    /// Whether a quantile of the completion times is only a lower bound, because a flow that had not
    /// finished may come before it or is it.
    pub fn is_bound(&self, quantile: Quantile) -> bool {
        let rank = quantile.share() * self.flows().saturating_sub(1) as f64;
        self.unfinished > 0 && libm::ceil(rank) as u64 >= self.certain
    }
}

/// Flows by number.
pub fn by_number(flows: &[Flow]) -> BTreeMap<u64, &Flow> {
    flows.iter().map(|flow| (flow.flow, flow)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(flow: u64, bytes: u64, workload: u64) -> Flow {
        Flow { flow, bytes, workload, fct_ns: flow as f64, slowdown: 1.0 }
    }

    #[test]
    fn a_group_holds_its_lower_edge_and_not_its_upper() {
        let group = FlowGroup::all("").from(10).below(20);
        let holds = |bytes| group.holds(&flow(1, bytes, 7));
        assert_eq!([9, 10, 19, 20].map(holds), [false, true, true, false]);
        assert!(FlowGroup::all("").holds(&flow(1, u64::MAX, 7)));
        let second = FlowGroup::all("").below(20).of_workload(1);
        let holds = |bytes, workload| second.holds(&flow(1, bytes, workload));
        assert_eq!([holds(5, 0), holds(5, 1), holds(25, 1)], [false, true, false]);
    }

    #[test]
    fn a_summary_has_mean_and_quantiles_of_all_and_slowdowns_of_the_finished() {
        // 1 to 5, of which 4 had not finished: slowdowns are a tenth.
        let of = |at: u64| Flow {
            slowdown: if at == 4 { f64::NAN } else { at as f64 / 10.0 },
            ..flow(at, 1, 0)
        };
        let flows: Vec<Flow> = [3, 1, 5, 4, 2].map(of).to_vec();
        let summary = Summary::of(flows.iter());
        assert_eq!((summary.flows(), summary.unfinished), (5, 1));
        assert_eq!((summary.fct.mean, summary.fct.p50), (3.0, 3.0));
        // Rank 0.95 × 4 = 3.8, between 4 and 5.
        assert!((summary.fct.p95 - 4.8).abs() < 1e-12);
        assert_eq!(summary.slowdown.count, 4);
        assert!((summary.slowdown.mean - (0.3 + 0.1 + 0.5 + 0.2) / 4.0).abs() < 1e-12);
        assert_eq!(summary.times.count(), 5);
    }

    #[test]
    fn a_quantile_below_all_unfinished_flows_is_no_bound() {
        let of = |at: u64, least: u64| Flow {
            slowdown: if at >= least { f64::NAN } else { 1.0 },
            ..flow(at, 1, 0)
        };
        let bounds = |least| {
            let flows: Vec<Flow> = (1..=101).map(|at| of(at, least)).collect();
            Quantile::ALL.map(|quantile| Summary::of(flows.iter()).is_bound(quantile))
        };
        assert_eq!(bounds(200), [false; 4], "all finished");
        // Ranks from 0: p50 is the 50th, p95 the 95th, p99 the 99th, p99.9 between 99 and 100.
        assert_eq!(bounds(101), [false, false, false, true], "only the last is unfinished");
        assert_eq!(bounds(100), [false, false, true, true], "the time 100 has rank 99");
        assert_eq!(bounds(51), [true; 4]);
        assert_eq!(bounds(52), [false, true, true, true]);
    }

    #[test]
    fn unfinished_flows_have_the_time_until_the_end() {
        let table = Table::new("flows", "")
            .u64("flow", "", vec![1, 0, 2])
            .u64("bytes", "", vec![10, 20, 30])
            .u64("workload", "", vec![0, 1, 0])
            .f64("start_ns", "", vec![100.0, 50.0, 0.0])
            .f64("fct_ns", "", vec![f64::NAN, 30.0, 5.0])
            .f64("slowdown", "", vec![f64::NAN, 3.0, 1.0])
            .u64("measured", "", vec![1, 1, 0]);
        let flows = measured(&table, 1_000.0);
        assert_eq!(flows.len(), 2);
        assert_eq!((flows[0].flow, flows[0].workload, flows[0].fct_ns), (0, 1, 30.0));
        assert_eq!((flows[1].flow, flows[1].bytes, flows[1].fct_ns), (1, 10, 900.0));
        assert_eq!([flows[0].finished(), flows[1].finished()], [true, false]);
    }
}
