//! Database entries: how long they take, and how much of them is completed.

use floodway_model::Table;
use floodway_model::tables::{entries, flows};
use std::collections::{BTreeMap, BTreeSet};

use crate::scalars::{Scalar, put};
use crate::statistics::{mean, quantile};
use crate::summary::Summary;
use crate::throughput::Shown;

/// Windows of a chart over time.
pub const WINDOWS: usize = 100;

/// One entry of the table `entries`.
struct Entry {
    workload: u64,
    bytes: u64,
    measured: bool,
    requested_ns: f64,
    /// NaN if it was not completed.
    completed_ns: f64,
}

/// The workloads of some flows.
pub(crate) fn workloads_of(flows: flows::View<'_>, of: BTreeSet<u64>) -> BTreeMap<u64, u64> {
    if of.is_empty() {
        return BTreeMap::new();
    }
    flows.flow.iter().zip(flows.workload.iter()).filter(|(flow, _)| of.contains(flow)).collect()
}

fn entries(tables: &[Table]) -> Vec<Entry> {
    let (Some(flows), Some(entries)) = (flows::View::of(tables), entries::View::of(tables)) else {
        return Vec::new();
    };
    let workloads = workloads_of(flows, entries.flow.iter().copied().collect());
    let (bytes, measured) = (entries.bytes, entries.measured);
    let (requested, completed) = (entries.requested_ns, entries.completed_ns);
    let entry = |(at, flow): (usize, &u64)| Entry {
        workload: workloads[flow],
        bytes: bytes[at],
        measured: measured[at] == 1,
        requested_ns: requested[at],
        completed_ns: completed[at],
    };
    entries.flow.iter().enumerate().map(entry).collect()
}

/// Adds `workload_<n>_entries`, `workload_<n>_entries_unfinished`,
/// `workload_<n>_<mean|p50|p99|max>_response_ns` and `workload_<n>_entry_throughput_bps`, where
/// clients sent database entries.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let value = |name: &str| scalars.get(name).map_or(0.0, |scalar| scalar.value);
    let (from, length) = (value("warmup_ns"), value("measured_ns"));
    let mut by_workload: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
    for entry in entries(tables) {
        by_workload.entry(entry.workload).or_default().push(entry);
    }
    for (workload, entries) in by_workload {
        let mut put = |name: &str, value: f64, unit: &'static str, meaning: &str| {
            let meaning = format!("{meaning} of workload {workload}");
            put(scalars, &format!("workload_{workload}_{name}"), value, unit, &meaning);
        };
        let measured = || entries.iter().filter(|entry| entry.measured);
        let mut times: Vec<f64> = measured()
            .map(|entry| entry.completed_ns - entry.requested_ns)
            .filter(|time| !time.is_nan())
            .collect();
        times.sort_by(f64::total_cmp);
        let (count, done) = (measured().count(), times.len());
        put("entries", count as f64, "", "database entries requested during the measurement");
        let unfinished = (count - done) as f64;
        put("entries_unfinished", unfinished, "", "of these not completed when the run ended:");
        if done > 0 {
            let what = "response time of the database entries";
            put("mean_response_ns", mean(&times), "ns", &format!("mean {what}"));
            for (name, p, label) in [
                ("p50", 0.5, "median"),
                ("p99", 0.99, "99th percentile of the"),
                ("max", 1.0, "largest"),
            ] {
                let time = quantile(&times, p);
                put(&format!("{name}_response_ns"), time, "ns", &format!("{label} {what}"));
            }
        }
        if length > 0.0 {
            let within = from..from + length;
            let completed = entries.iter().filter(|entry| within.contains(&entry.completed_ns));
            let bytes: u64 = completed.map(|entry| entry.bytes).sum();
            let what = "payload of database entries completed during the measurement, a second,";
            put("entry_throughput_bps", bytes as f64 * 8e9 / length, "b/s", what);
        }
    }
}

/// An interval, by when entries were completed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its middle, in nanoseconds.
    pub time_ns: f64,
    /// Mean and largest response time in nanoseconds; NaN if no entry was completed in it.
    pub mean_ns: f64,
    /// The largest.
    pub max_ns: f64,
    /// Payload of the entries completed in it, in bits per second.
    pub throughput_bps: f64,
}

/// The entries of each workload, those of the warm-up too, in [`WINDOWS`] equal intervals of the
/// time from the beginning to the last completion.
pub fn windows(tables: &[Table]) -> BTreeMap<u64, Vec<Window>> {
    let entries = entries(tables);
    let end = entries.iter().map(|entry| entry.completed_ns).fold(0.0, f64::max);
    let length = end / WINDOWS as f64;
    // Sum and largest of the response times, how many, and their bytes.
    let mut sums: BTreeMap<u64, Vec<(f64, f64, u64, u64)>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| !entry.completed_ns.is_nan()) {
        let windows =
            sums.entry(entry.workload).or_insert_with(|| vec![Default::default(); WINDOWS]);
        let at = ((entry.completed_ns / length) as usize).min(WINDOWS - 1);
        let time = entry.completed_ns - entry.requested_ns;
        let (sum, most, count, bytes) = &mut windows[at];
        *sum += time;
        *most = time.max(*most);
        *count += 1;
        *bytes += entry.bytes;
    }
    let window = |(at, (sum, most, count, bytes)): (usize, (f64, f64, u64, u64))| Window {
        time_ns: (at as f64 + 0.5) * length,
        mean_ns: sum / count as f64,
        max_ns: if count == 0 { f64::NAN } else { most },
        throughput_bps: bytes as f64 * 8e9 / length,
    };
    let of = |sums: Vec<_>| sums.into_iter().enumerate().map(window).collect();
    sums.into_iter().map(|(workload, sums)| (workload, of(sums))).collect()
}

/// What some variant has of mean response times by workload, in their order.
pub(crate) fn mean_responses_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "mean_response_ns")
}

/// The same with median, percentile and largest after the means.
pub(crate) fn responses_of(summary: &Summary) -> Vec<Shown> {
    mean_responses_of(summary).into_iter().flat_map(Shown::and_spread).collect()
}

/// What some variant has of the throughput of entries by workload, in their order.
pub(crate) fn throughputs_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "entry_throughput_bps")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    fn tables() -> [Table; 3] {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect();
        [
            complete(Table::new("flows", "").u64("flow", "", vec![0, 1]).u64(
                "workload",
                "",
                vec![0, 3],
            )),
            complete(
                Table::new("counters", "")
                    .text("name", "", texts(&["warmup_ns", "measured_ns"]))
                    .u64("value", "", vec![100, 800])
                    .text("meaning", "", texts(&["", ""])),
            ),
            // Of workload 3: one of the warm-up, four that are measured, of which one never ends
            // and one is completed after the measurement, and one of later.
            complete(
                Table::new("entries", "")
                    .u64("flow", "", vec![1; 6])
                    .f64("requested_ns", "", vec![50.0, 100.0, 200.0, 300.0, 850.0, 900.0])
                    .u64("bytes", "", vec![1, 10, 100, 1_000, 10_000, 100_000])
                    .f64("arrived_ns", "", vec![f64::NAN; 6])
                    .f64("completed_ns", "", vec![150.0, 130.0, 260.0, f64::NAN, 940.0, 1_000.0])
                    .u64("measured", "", vec![0, 1, 1, 1, 1, 0]),
            ),
        ]
    }

    #[test]
    fn response_times_are_of_what_was_requested_in_the_measurement() {
        let scalars = scalars(&tables());
        let value = |name: &str| scalars[&format!("workload_3_{name}")].value;
        assert_eq!((value("entries"), value("entries_unfinished")), (4.0, 1.0));
        // 30, 60 and 90 ns.
        assert_eq!((value("mean_response_ns"), value("p50_response_ns")), (60.0, 60.0));
        assert_eq!(value("max_response_ns"), 90.0);
        assert!((value("p99_response_ns") - 89.4).abs() < 1e-9);
        // 1, 10 and 100 bytes were completed in 800 ns.
        assert_eq!(value("entry_throughput_bps"), 111.0 * 8e9 / 800.0);
        assert!(!scalars.keys().any(|name| name.starts_with("workload_0_")));
    }

    #[test]
    fn windows_are_by_completion() {
        let windows = &windows(&tables())[&3];
        assert_eq!(windows.len(), WINDOWS);
        // Of 10 ns each.
        let at = |ns: f64| windows[(ns / 10.0) as usize];
        assert_eq!((at(150.0).time_ns, at(150.0).mean_ns, at(150.0).max_ns), (155.0, 100.0, 100.0));
        assert_eq!(at(260.0).throughput_bps, 80e9);
        assert!(at(270.0).mean_ns.is_nan() && at(270.0).max_ns.is_nan());
        assert_eq!(at(270.0).throughput_bps, 0.0);
        // The last completion is in the last window.
        assert_eq!(windows[WINDOWS - 1].max_ns, 100.0);
        assert!(super::windows(&[]).is_empty());
    }
}
