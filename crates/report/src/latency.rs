//! What the network delivers in all, and how long packets take from memory to memory: the numbers
//! of an experiment in which hosts send as fast as they can.

use floodway_model::Table;
use floodway_model::tables::latencies;
use std::collections::BTreeMap;

use crate::scalars::{Scalar, TIME_BINS, put, put_binned};
use crate::shapes::{Depths, quantile};
use crate::summary::Summary;
use crate::throughput::Shown;

/// Packets, the sum of their latencies, and how many took how long.
#[derive(Default)]
struct Latencies {
    packets: u64,
    total_ns: f64,
    times: Depths,
}

/// Adds `throughput_bps`, and where latencies were recorded `mean_latency_ns`, `p50_latency_ns`,
/// `p99_latency_ns` and `p999_latency_ns`, and of several workloads the same after
/// `workload_<n>_`.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let value = |name: &str| scalars.get(name).map(|scalar| scalar.value);
    if let (Some(bytes), Some(time)) = (value("data_bytes_delivered"), value("measured_ns"))
        && time > 0.0
    {
        let meaning = "payload that arrived during the measurement, over its length, of all flows";
        put(scalars, "throughput_bps", bytes * 8e9 / time, "b/s", meaning);
    }
    let Some(latencies) = latencies::View::of(tables) else { return };
    let mut all = Latencies::default();
    let mut by_workload: BTreeMap<u64, Latencies> = BTreeMap::new();
    for (at, workload) in latencies.workload.iter().enumerate() {
        for sum in [&mut all, by_workload.entry(*workload).or_default()] {
            let packets = latencies.packets[at];
            sum.packets += packets;
            sum.total_ns += latencies.total_ns[at];
            *sum.times.entry(latencies.up_to_ns[at]).or_default() += packets;
        }
    }
    numbers("", "", &all, scalars);
    if by_workload.len() > 1 {
        for (workload, latencies) in by_workload {
            let (key, of) = (format!("workload_{workload}_"), format!(" of workload {workload}"));
            numbers(&key, &of, &latencies, scalars);
        }
    }
}

fn numbers(key: &str, of: &str, latencies: &Latencies, scalars: &mut BTreeMap<String, Scalar>) {
    if latencies.packets == 0 {
        return;
    }
    let what = format!(
        "time of data packets{of} from the memory of the source to that of the destination"
    );
    let mean = latencies.total_ns / latencies.packets as f64;
    put(scalars, &format!("{key}mean_latency_ns"), mean, "ns", &format!("{what}, mean"));
    for (name, p, label) in PERCENTILES {
        let meaning = format!("{what}, {label}th percentile, up to 1.6 % high");
        let value = quantile(&latencies.times, p) as f64;
        let name = format!("{key}{name}_latency_ns");
        put_binned(scalars, &name, (value, TIME_BINS), "ns", &meaning);
    }
}

const PERCENTILES: [(&str, f64, &str); 3] =
    [("p50", 0.5, "50"), ("p99", 0.99, "99"), ("p999", 0.999, "99.9")];

/// What the network delivers, where latencies are known too.
pub(crate) fn delivered(summary: &Summary) -> Vec<Shown> {
    let shown = Shown { key: "throughput_bps".to_string(), label: "all flows".to_string() };
    if means(summary).is_empty() { Vec::new() } else { vec![shown] }
}

/// Mean latencies that some variant has: of all packets, then by workload.
pub(crate) fn means(summary: &Summary) -> Vec<Shown> {
    let has = |key: &str| summary.variants.values().any(|of| of.counters.contains_key(key));
    let all = has("mean_latency_ns")
        .then(|| Shown { key: "mean_latency_ns".to_string(), label: "all packets".to_string() });
    all.into_iter().chain(Shown::by_workload(summary, "mean_latency_ns")).collect()
}

/// The same, each with its percentiles.
pub(crate) fn all(summary: &Summary) -> Vec<Shown> {
    let with_percentiles = |mean: Shown| {
        let percentile = |(name, _, label): (&str, f64, &str)| Shown {
            key: mean.key.replace("mean_latency", &format!("{name}_latency")),
            label: format!("{}, {label}th percentile", mean.label),
        };
        let percentiles = PERCENTILES.map(percentile);
        std::iter::once(Shown { label: format!("{}, mean", mean.label), ..mean }).chain(percentiles)
    };
    means(summary).into_iter().flat_map(with_percentiles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    fn counters() -> Table {
        let texts = |texts: [&str; 2]| texts.map(String::from).to_vec();
        complete(
            Table::new("counters", "")
                .text("name", "", texts(["data_bytes_delivered", "measured_ns"]))
                .u64("value", "", vec![1_250_000, 1_000_000])
                .text("meaning", "", texts(["", ""])),
        )
    }

    /// Nine packets of workload 0 that took 100 ns, and one of workload 2 that took 1005.
    fn latencies() -> Table {
        complete(
            Table::new("latencies", "")
                .u64("workload", "", vec![0, 2])
                .u64("up_to_ns", "", vec![100, 1_007])
                .u64("packets", "", vec![9, 1])
                .f64("total_ns", "", vec![900.0, 1_005.0]),
        )
    }

    #[test]
    fn by_hand() {
        let scalars = scalars(&[counters(), latencies()]);
        let value = |name: &str| scalars[name].value;
        // 1.25 MB in a millisecond.
        assert_eq!(value("throughput_bps"), 10e9);
        assert_eq!(
            (value("mean_latency_ns"), value("workload_2_mean_latency_ns")),
            (190.5, 1_005.0)
        );
        assert_eq!((value("p50_latency_ns"), value("p99_latency_ns")), (100.0, 1_007.0));
        assert_eq!(value("workload_0_p999_latency_ns"), 100.0);
        assert_eq!(scalars["workload_0_mean_latency_ns"].unit, "ns");
    }

    #[test]
    fn where_nothing_was_recorded_there_is_no_latency() {
        let empty = complete(
            Table::new("latencies", "")
                .u64("workload", "", vec![])
                .u64("up_to_ns", "", vec![])
                .u64("packets", "", vec![])
                .f64("total_ns", "", vec![]),
        );
        let scalars = scalars(&[counters(), empty]);
        assert!(scalars.contains_key("throughput_bps"));
        assert!(!scalars.keys().any(|name| name.contains("latency")));
    }
}
