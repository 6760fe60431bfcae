//! Flows in groups: which flows a study compares, and what is kept of each group in a run.

use std::collections::BTreeMap;

use floodway_report::metrics::{ClassMetrics, Distribution};
pub use floodway_report::metrics::{FlowTime as Flow, Quantile};

use crate::histogram::Histogram;

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

    /// Whether a flow is in it.
    pub fn holds(&self, flow: &Flow) -> bool {
        flow.bytes >= self.from
            && self.below.is_none_or(|below| flow.bytes < below)
            && self.workload.is_none_or(|workload| flow.workload == workload)
    }
}

/// What is kept of the flows of a group in one run, however many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many had not finished when the run ended.
    pub unfinished: u64,
    /// Completion times of all of them, in nanoseconds.
    pub fct: Distribution,
    /// Completion times by bin, in nanoseconds.
    pub times: Histogram,
}

impl Summary {
    /// Of these flows.
    pub fn of<'a>(flows: impl Iterator<Item = &'a Flow> + Clone) -> Self {
        let ClassMetrics { unfinished, fct, .. } = ClassMetrics::of(flows.clone());
        let mut finished: Vec<f64> =
            flows.filter(|flow| flow.finished).map(|flow| flow.fct_ns).collect();
        finished.sort_unstable_by(f64::total_cmp);
        Self { unfinished, fct, times: Histogram::of_sorted(&finished, unfinished) }
    }

    /// How many flows there are.
    pub fn flows(&self) -> u64 {
        self.fct.count
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
        Flow { flow, bytes, workload, fct_ns: flow as f64, slowdown: 1.0, finished: true }
    }

    #[test]
    fn a_group_holds_its_lower_edge_and_not_its_upper() {
        let group = FlowGroup { from: 10, below: Some(20), ..FlowGroup::all("") };
        let holds = |bytes| group.holds(&flow(1, bytes, 7));
        assert_eq!([9, 10, 19, 20].map(holds), [false, true, true, false]);
        assert!(FlowGroup::all("").holds(&flow(1, u64::MAX, 7)));
        let second = FlowGroup { below: Some(20), workload: Some(1), ..FlowGroup::all("") };
        let holds = |bytes, workload| second.holds(&flow(1, bytes, workload));
        assert_eq!([holds(5, 0), holds(5, 1), holds(25, 1)], [false, true, false]);
    }

    #[test]
    fn a_summary_is_of_all_flows() {
        // 1 to 5, of which 4 had not finished.
        let of = |at: u64| Flow { finished: at != 4, ..flow(at, 1, 0) };
        let flows: Vec<Flow> = [3, 1, 5, 4, 2].map(of).to_vec();
        let summary = Summary::of(flows.iter());
        assert_eq!((summary.flows(), summary.unfinished), (5, 1));
        assert_eq!((summary.fct.mean, summary.fct.p50), (3.0, 3.0));
        assert_eq!(summary.times.count(), 5);
    }
}
