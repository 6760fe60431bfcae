//! Calls and collectives: how long they take, and how many are completed.

use floodway_model::Table;
use floodway_model::tables::{collectives, operations};
use std::collections::{BTreeMap, BTreeSet};

use crate::scalars::{Scalar, put};
use crate::statistics::{mean, quantile};
use crate::summary::Summary;
use crate::throughput::Shown;

/// Adds `workload_<n>_operations`, `workload_<n>_operations_unfinished`,
/// `workload_<n>_<mean|p50|p99|max>_operation_ns` and `workload_<n>_operations_per_s`, where there
/// are calls or collectives; where there are collectives, `workload_<n>_mean_algorithm_bandwidth_bps` and
/// `workload_<n>_mean_bus_bandwidth_bps`.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    bandwidths(tables, scalars);
    let Some(operations) = operations::View::of(tables) else { return };
    let value = |name: &str| scalars.get(name).map_or(0.0, |scalar| scalar.value);
    let (from, length) = (value("warmup_ns"), value("measured_ns"));
    let (starts, ends) = (operations.start_ns, operations.finish_ns);
    let measured = operations.measured;
    let mut by_workload: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (row, workload) in operations.workload.iter().enumerate() {
        by_workload.entry(*workload).or_default().push(row);
    }
    for (workload, rows) in by_workload {
        let mut put = |name: &str, value: f64, unit: &'static str, meaning: &str| {
            let meaning = format!("{meaning} of workload {workload}");
            put(scalars, &format!("workload_{workload}_{name}"), value, unit, &meaning);
        };
        let begun = || rows.iter().filter(|&&row| measured[row] == 1);
        let mut times: Vec<f64> =
            begun().map(|&row| ends[row] - starts[row]).filter(|time| !time.is_nan()).collect();
        times.sort_by(f64::total_cmp);
        let (count, done) = (begun().count(), times.len());
        put("operations", count as f64, "", "operations that began after the warm-up");
        let unfinished = (count - done) as f64;
        put("operations_unfinished", unfinished, "", "of these not complete when the run ended:");
        if done > 0 {
            let what = "time that operations took";
            put("mean_operation_ns", mean(&times), "ns", &format!("mean {what}"));
            for (name, p, label) in [
                ("p50", 0.5, "median"),
                ("p99", 0.99, "99th percentile of the"),
                ("max", 1.0, "largest"),
            ] {
                let time = quantile(&times, p);
                put(&format!("{name}_operation_ns"), time, "ns", &format!("{label} {what}"));
            }
        }
        if length > 0.0 {
            let within = from..from + length;
            let completed = rows.iter().filter(|&&row| within.contains(&ends[row])).count();
            let what = "operations completed during the measurement, a second,";
            put("operations_per_s", completed as f64 * 1e9 / length, "1/s", what);
        }
    }
}

/// The means of the bandwidths of each workload over its collectives that began after the warm-up and are
/// complete; if they are of different kinds or groups, of each by itself.
fn bandwidths(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let Some(collectives) = collectives::View::of(tables) else { return };
    // By workload, kind and ranks.
    let mut groups: BTreeMap<(u64, &str, u64), [Vec<f64>; 2]> = BTreeMap::new();
    for row in 0..collectives.rows() {
        let bus = collectives.bus_bandwidth_bps[row];
        if collectives.measured[row] == 1 && bus.is_finite() {
            let kind = collectives.kind[row].as_str();
            let of = groups
                .entry((collectives.workload[row], kind, collectives.ranks[row]))
                .or_default();
            of[0].push(collectives.algorithm_bandwidth_bps[row]);
            of[1].push(bus);
        }
    }
    for (&(workload, kind, ranks), of) in &groups {
        // Bandwidths of different collectives have no mean that says anything.
        let several = groups.keys().filter(|group| group.0 == workload).count() > 1;
        let (group, which) = match several {
            true => (format!("_{kind}_of_{ranks}"), format!("{kind} of {ranks} ranks")),
            false => (String::new(), "collectives".to_owned()),
        };
        for (name, values, what) in [
            ("algorithm", &of[0], "their size by their time"),
            ("bus", &of[1], "as nccl-tests defines it: what the port of a rank must carry"),
        ] {
            let meaning =
                format!("mean {name} bandwidth of {which} of workload {workload}, {what}");
            let name = format!("workload_{workload}{group}_mean_{name}_bandwidth_bps");
            put(scalars, &name, mean(values), "b/s", &meaning);
        }
    }
}

/// What some variant has of mean times by workload, in their order.
pub(crate) fn means_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "mean_operation_ns")
}

/// The same with median, percentile and largest after the means.
pub(crate) fn times_of(summary: &Summary) -> Vec<Shown> {
    means_of(summary).into_iter().flat_map(Shown::and_spread).collect()
}

/// What some variant has of operations per second by workload, in their order.
pub(crate) fn rates_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "operations_per_s")
}

/// What some variant has of the bandwidths of collectives, by workload and, if a workload has different ones, by kind
/// and ranks.
pub(crate) fn bandwidths_of(summary: &Summary) -> Vec<Shown> {
    let of = |name: &str| {
        let end = format!("mean_{name}_bandwidth_bps");
        let mut shown = Shown::by_workload(summary, &end);
        shown.iter_mut().for_each(|shown| shown.label = format!("{}, {name}", shown.label));
        let keys = summary.variants.values().flat_map(|variant| variant.counters.keys());
        let groups: BTreeSet<(u64, &str)> = keys
            .filter_map(|key| {
                let middle = key.strip_prefix("workload_")?.strip_suffix(&format!("_{end}"))?;
                let (workload, group) = middle.split_once('_')?;
                let workload = workload.parse().ok()?;
                // That of all rounds is shown with the other estimates.
                (group != "estimated").then_some((workload, group))
            })
            .collect();
        shown.extend(groups.into_iter().map(|(workload, group)| Shown {
            key: format!("workload_{workload}_{group}_{end}"),
            label: format!(
                "{}, {}, {name}",
                summary.workload(workload),
                group.replacen("_of_", " of ", 1)
            ),
        }));
        shown
    };
    let mut all = of("bus");
    all.extend(of("algorithm"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    /// The measured interval, from 1 to 3 us.
    fn interval() -> Table {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect();
        complete(
            Table::new("counters", "")
                .text("name", "", texts(&["warmup_ns", "measured_ns"]))
                .u64("value", "", vec![1_000, 2_000])
                .text("meaning", "", texts(&["", ""])),
        )
    }

    #[test]
    fn by_hand() {
        let tables = [
            interval(),
            // Of workload 2: one of the warm-up that ends in the measurement, three that are
            // measured, of which one ends after it and one never.
            complete(
                Table::new("operations", "")
                    .u64("workload", "", vec![2; 4])
                    .f64("start_ns", "", vec![900.0, 1_000.0, 1_500.0, 2_000.0])
                    .f64("finish_ns", "", vec![1_100.0, 1_300.0, 3_200.0, f64::NAN])
                    .u64("measured", "", vec![0, 1, 1, 1]),
            ),
        ];
        let scalars = scalars(&tables);
        let value = |name: &str| scalars[&format!("workload_2_{name}")].value;
        assert_eq!((value("operations"), value("operations_unfinished")), (3.0, 1.0));
        assert_eq!((value("mean_operation_ns"), value("max_operation_ns")), (1_000.0, 1_700.0));
        // Two in two microseconds.
        assert_eq!(value("operations_per_s"), 1e6);
    }

    #[test]
    fn bandwidths_are_means_over_what_is_measured_and_complete() {
        let tables = [
            interval(),
            complete(
                Table::new("collectives", "")
                    .u64("workload", "", vec![1; 4])
                    .u64("ranks", "", vec![4; 4])
                    .f64("algorithm_bandwidth_bps", "", vec![9e9, 10e9, 30e9, f64::NAN])
                    .f64("bus_bandwidth_bps", "", vec![9e9, 15e9, 45e9, f64::NAN])
                    .u64("measured", "", vec![0, 1, 1, 1]),
            ),
        ];
        let scalars = scalars(&tables);
        let value = |name: &str| scalars[&format!("workload_1_mean_{name}_bandwidth_bps")].value;
        assert_eq!((value("algorithm"), value("bus")), (20e9, 30e9));
    }

    #[test]
    fn different_collectives_of_a_job_have_means_of_their_own() {
        let kinds = ["all_reduce", "all_reduce", "all_reduce", "all_to_all"].map(str::to_owned);
        let table = complete(
            Table::new("collectives", "")
                .u64("workload", "", vec![0; 4])
                .text("kind", "", kinds.to_vec())
                .u64("ranks", "", vec![4, 4, 8, 4])
                .f64("algorithm_bandwidth_bps", "", vec![10e9, 20e9, 5e9, 8e9])
                .f64("bus_bandwidth_bps", "", vec![15e9, 30e9, 8.75e9, 6e9])
                .u64("measured", "", vec![1; 4]),
        );
        let scalars = scalars(&[interval(), table]);
        let of = |group: &str| {
            let value =
                |name| scalars[&format!("workload_0_{group}_mean_{name}_bandwidth_bps")].value;
            (value("algorithm"), value("bus"))
        };
        assert_eq!(of("all_reduce_of_4"), (15e9, 22.5e9));
        assert_eq!(of("all_reduce_of_8"), (5e9, 8.75e9));
        assert_eq!(of("all_to_all_of_4"), (8e9, 6e9));
        assert!(!scalars.contains_key("workload_0_mean_bus_bandwidth_bps"));
    }
}
