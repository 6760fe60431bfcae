//! Jobs of which only the first rounds were simulated: estimates for all of them.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::Table;
use floodway_model::tables::{round_flows, round_loads, rounds};

use crate::scalars::{Scalar, put};
use crate::statistics::{Critical, Predicted, Rounds};
use crate::summary::Summary;
use crate::throughput::Shown;

/// A job with sampled rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Its workload.
    pub workload: u64,
    /// Rounds that were simulated, and of these those after the warm-up.
    pub simulated: [u64; 2],
    /// Rounds of the whole job.
    pub of: u64,
    /// Whether all later rounds are those that were simulated, to the picosecond.
    pub repeats: bool,
}

/// The job of a run whose rounds were sampled, if at least one was complete.
pub fn sampled(tables: &[Table]) -> Option<Sampled> {
    let rows = rounds::View::of(tables).filter(|of| of.rows() > 0)?;
    let count = rows.rows();
    let warmup = rows.warmup.iter().filter(|warmup| **warmup == 1).count();
    // A round like the one before, both begun at rest, and at rest before the next: all later ones begin like it.
    let is_last = |round: usize| {
        rows.repeats[round] == 1
            && rows.at_rest[round - 1..=round + 1].iter().all(|rest| *rest == 1)
    };
    let repeats = (1..count.saturating_sub(1)).any(is_last);
    Some(Sampled {
        workload: rows.workload[0],
        simulated: [count, count - warmup].map(|count| count as u64),
        of: rows.of[0],
        repeats,
    })
}

/// The workloads of a run that did not finish because only some of their rounds are simulated.
pub fn cut(tables: &[Table]) -> Option<u64> {
    let of = rounds::View::of(tables).filter(|of| of.rows() > 0)?;
    ((of.rows() as u64) < of.of[0]).then(|| of.workload[0])
}

impl Sampled {
    /// A sentence about it, for readers of the numbers.
    pub fn caveat(&self, variant: &str) -> String {
        let Self { workload, simulated: [simulated, steady], of, repeats } = *self;
        let from = match repeats {
            true => "All later rounds repeat the last one exactly, because the network was at rest between them, so that \
                     these numbers are exact."
                .to_owned(),
            false if steady == 0 => "None was complete after the warm-up, so that there are no estimates.".to_owned(),
            false => format!(
                "With one replication their intervals are from the spread between the {steady} after the warm-up."
            ),
        };
        format!(
            "{variant}: {simulated} of {of} rounds of workload {workload} were simulated. Numbers with `estimated` in their \
             name are of all {of}, all others of what was simulated. {from}"
        )
    }
}

/// Adds `workload_<n>_rounds_simulated`, and as estimates for all rounds `workload_<n>_estimated_total_ns`,
/// `…_mean_round_ns`, `…_p50_round_ns`, `…_p90_round_ns`, of collectives `…_mean_operation_ns` and
/// `…_mean_bus_bandwidth_bps`, of trainings `…_exposed_ns`, and of other workloads `workload_<m>_estimated_mean_fct_ns`.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some((of, rows)) = sampled(tables).zip(rounds::View::of(tables)) else { return };
    let warmup = (of.simulated[0] - of.simulated[1]) as usize;
    let loads = round_loads::View::of(tables).map_or(&[][..], |loads| loads.bytes);
    let critical = Critical::of(loads, (warmup, of.simulated[1] as usize));
    let number = of.workload;
    let what = format!(
        "of all {} rounds of workload {number}, {} from {} that were simulated",
        of.of,
        if of.repeats { "exact" } else { "estimated" },
        of.simulated[0]
    );
    let simulated = format!("rounds of workload {number} that were simulated, of {}", of.of);
    put(
        scalars,
        &format!("workload_{number}_rounds_simulated"),
        of.simulated[0] as f64,
        "",
        &simulated,
    );
    let all = of.of as usize;
    let of_values = |values: &[f64]| {
        let mut values = values.to_vec();
        // What repeats is known as if it had been simulated.
        if let (true, Some(&last)) = (of.repeats, values.last()) {
            values.resize(all, last);
        }
        let steady = values.split_off(warmup);
        [values, steady]
    };
    let mut add = |workload: u64,
                   name: &str,
                   predicted: Option<Predicted>,
                   unit: &'static str,
                   meaning: &str| {
        let Some(predicted) = predicted.filter(|of| of.value.is_finite()) else { return };
        let name = format!("workload_{workload}_estimated_{name}");
        put(scalars, &name, predicted.value, unit, meaning);
        scalars.entry(name).and_modify(|scalar| scalar.interval = Some(predicted.interval));
    };
    let times_of = |by: f64, predicted: Predicted| Predicted {
        value: by * predicted.value,
        interval: predicted.interval.map(|ends| ends.map(|end| by * end)),
    };
    for (name, column, by, unit, meaning) in [
        (
            "total_ns",
            rows.time_ns,
            of.of as f64,
            "ns",
            "time of the job, from its start until its last rank has finished,",
        ),
        (
            "mean_round_ns",
            rows.time_ns,
            1.0,
            "ns",
            "mean time from the end of a round to the end of the next,",
        ),
        (
            "mean_operation_ns",
            rows.operation_ns,
            1.0,
            "ns",
            "mean time from the first message of a round to its last arrival,",
        ),
        (
            "mean_bus_bandwidth_bps",
            rows.bus_bandwidth_bps,
            1.0,
            "b/s",
            "mean bus bandwidth as nccl-tests defines it,",
        ),
        (
            "exposed_ns",
            rows.exposed_ns,
            of.of as f64,
            "ns",
            "time in which a rank computed nothing because it waited for messages, mean over ranks, sum",
        ),
    ] {
        let [before, steady] = of_values(column);
        let rounds = Rounds { before: &before, steady: &steady, of: all, critical };
        let predicted = rounds.mean().map(|predicted| times_of(by, predicted));
        add(number, name, predicted, unit, &format!("{meaning} {what}"));
    }
    let [before, steady] = of_values(rows.time_ns);
    let rounds = Rounds { before: &before, steady: &steady, of: all, critical };
    for (name, p, label) in [("p50", 0.5, "median"), ("p90", 0.9, "90th percentile")] {
        let meaning =
            format!("{label} of the times from the end of a round to the end of the next, {what}");
        add(number, &format!("{name}_round_ns"), rounds.quantile(p), "ns", &meaning);
    }
    let Some(flows) = round_flows::View::of(tables) else { return };
    let workloads: BTreeSet<u64> = flows.workload.iter().copied().collect();
    for workload in workloads {
        let column = |of: &dyn Fn(usize) -> f64| {
            let rows = (0..flows.rows()).filter(|row| flows.workload[*row] == workload);
            of_values(&rows.map(of).collect::<Vec<f64>>())
        };
        // Simulated as a whole, completion times are known; otherwise they are by Little's law the time in progress
        // for each flow that began, which is right for flows that begin or end outside of a round too.
        let whole = of.simulated[0] == of.of;
        let above = match whole {
            true => column(&|row| flows.fct_ns[row]),
            false => column(&|row| flows.active_ns[row]),
        };
        let below = match whole {
            true => column(&|row| flows.completed[row] as f64),
            false => column(&|row| flows.begun[row] as f64),
        };
        let above = Rounds { before: &above[0], steady: &above[1], of: all, critical };
        let below = Rounds { before: &below[0], steady: &below[1], of: all, critical };
        let meaning = format!(
            "mean completion time of the flows of workload {workload} that begin in any of all {} rounds of workload {number}, \
             estimated from {} that were simulated",
            of.of, of.simulated[0]
        );
        add(workload, "mean_fct_ns", above.ratio(&below), "ns", &meaning);
    }
}

/// What some variant has of estimates, by workload in their order.
pub(crate) fn estimates_of(summary: &Summary) -> Vec<Shown> {
    let of = |name: &str, what: &'static str| {
        let shown = Shown::by_workload(summary, &format!("estimated_{name}")).into_iter();
        shown.map(move |shown| Shown { label: format!("{}, {what}", shown.label), ..shown })
    };
    of("total_ns", "time of the job")
        .chain(of("mean_round_ns", "round, mean"))
        .chain(of("p50_round_ns", "round, median"))
        .chain(of("p90_round_ns", "round, 90th percentile"))
        .chain(of("mean_operation_ns", "collective, mean"))
        .chain(of("mean_bus_bandwidth_bps", "bus bandwidth, mean"))
        .chain(of("exposed_ns", "exposed communication of a rank"))
        .chain(of("mean_fct_ns", "completion time of flows, mean"))
        .collect()
}
