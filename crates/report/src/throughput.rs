//! What flows without a size get, and how long packets wait for it: the numbers of an experiment
//! whose flows never complete.

use floodway_model::Table;
use floodway_model::tables::{deliveries, departures, flows, sojourn_series, sojourns};
use std::collections::{BTreeMap, BTreeSet};

use crate::entries::workloads_of;
use crate::scalars::{Scalar, TIME_BINS, put, put_binned};
use crate::shapes::{Deliveries, Depths, deliveries, quantile};
use crate::statistics::mean;
use crate::summary::Summary;

/// Adds `workload_<n>_goodput_bps`, where `flow_samples` was written, and
/// `queue_<n>_mean_sojourn_ns` and `queue_<n>_p99_sojourn_ns`, where departures were recorded.
pub(crate) fn add(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    goodputs(tables, scalars);
    if let Some(busiest) = Busiest::of(tables) {
        waits(&busiest, scalars);
    }
}

/// The mean over the flows of each workload of what arrived during the measurement.
fn goodputs(tables: &[Table], scalars: &mut BTreeMap<String, Scalar>) {
    let (Some(flows), Some(samples)) = (flows::View::of(tables), deliveries::View::of(tables))
    else {
        return;
    };
    let value = |name: &str| scalars.get(name).map(|scalar| scalar.value);
    let (Some(from), Some(length)) = (value("warmup_ns"), value("measured_ns")) else { return };
    let workloads = workloads_of(flows, samples.flow.iter().copied().collect());
    let mut by_workload: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (flow, delivered) in deliveries(samples) {
        let Some(rate) = rate(&delivered, from, from + length) else { continue };
        let Some(workload) = workloads.get(&flow) else { continue };
        by_workload.entry(*workload).or_default().push(rate);
    }
    for (workload, rates) in by_workload {
        let meaning = format!(
            "mean goodput of the {} flows without a size of workload {workload}",
            rates.len()
        );
        let name = format!("workload_{workload}_goodput_bps");
        put(scalars, &name, mean(&rates), "b/s", &meaning);
    }
}

/// Bits per second from the last sample at or before `from` to the last at or before `to`; `None`
/// if they are the same.
pub(crate) fn rate(delivered: &Deliveries, from: f64, to: f64) -> Option<f64> {
    let at = |time: f64| {
        let before = delivered.partition_point(|sample| sample.0 <= time);
        before.checked_sub(1).map_or((0.0, 0), |last| delivered[last])
    };
    let (begin, end) = (at(from), at(to));
    (end.0 > begin.0).then(|| (end.1 - begin.1) as f64 * 8e9 / (end.0 - begin.0))
}

/// The waiting times of the queues of the port at which packets have waited most in all.
struct Busiest<'a> {
    node: &'a str,
    port: u64,
    /// By queue: the mean, and how many packets waited up to how long.
    queues: Vec<(u64, f64, Depths)>,
}

impl<'a> Busiest<'a> {
    fn of(tables: &'a [Table]) -> Option<Self> {
        let (sojourns, departures) = (sojourns::View::of(tables)?, departures::View::of(tables)?);
        let port = |at: usize| (sojourns.node[at].as_str(), sojourns.port[at]);
        let means = sojourns.mean_sojourn_ns;
        let mut waited: BTreeMap<(&str, u64), f64> = BTreeMap::new();
        for (at, (mean, many)) in means.iter().zip(sojourns.departures).enumerate() {
            *waited.entry(port(at)).or_default() += mean * *many as f64;
        }
        // The first of equal ones.
        let (busiest, _) = waited.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let of_queue = |at: usize| {
            let queue = sojourns.queue[at];
            let is_its = |bin: &usize| {
                departures.kind[*bin] == "sojourn_ns"
                    && departures.queue[*bin] == queue
                    && (departures.node[*bin].as_str(), departures.port[*bin]) == busiest
            };
            let bins = (0..departures.rows()).filter(is_its);
            let times = bins.map(|bin| (departures.up_to[bin], departures.departures[bin]));
            (queue, means[at], times.collect())
        };
        let queues = (0..sojourns.rows()).filter(|at| port(*at) == busiest).map(of_queue).collect();
        Some(Self { node: busiest.0, port: busiest.1, queues })
    }
}

/// How many packets waited up to how long in each queue of the port at which packets have waited most in
/// all; empty where departures were not recorded.
pub(crate) fn waits_at_busiest(tables: &[Table]) -> BTreeMap<u64, Depths> {
    let queues = Busiest::of(tables).map_or(Vec::new(), |busiest| busiest.queues);
    let some = queues.into_iter().filter(|(_, _, times)| !times.is_empty());
    some.map(|(queue, _, times)| (queue, times)).collect()
}

/// Mean sojourn times over time in each queue of the port at which packets have waited most in all, as (time, mean) in
/// ns; empty where departures were not recorded.
pub(crate) fn delays_at_busiest(tables: &[Table]) -> BTreeMap<u64, Vec<(f64, f64)>> {
    let mut series: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    let both = Busiest::of(tables).zip(sojourn_series::View::of(tables));
    let Some((busiest, rows)) = both else { return series };
    for at in 0..rows.rows() {
        if (rows.node[at].as_str(), rows.port[at]) == (busiest.node, busiest.port) {
            let point = (rows.time_ns[at], rows.mean_sojourn_ns[at]);
            series.entry(rows.queue[at]).or_default().push(point);
        }
    }
    series
}

fn waits(busiest: &Busiest<'_>, scalars: &mut BTreeMap<String, Scalar>) {
    for (queue, mean, times) in &busiest.queues {
        let where_ = format!("in queue {queue} of {} port {}", busiest.node, busiest.port);
        let meaning = format!("mean time that packets waited {where_}, where they waited most");
        put(scalars, &format!("queue_{queue}_mean_sojourn_ns"), *mean, "ns", &meaning);
        let meaning = format!("99th percentile of the time that packets waited {where_}");
        let p99 = quantile(times, 0.99) as f64;
        let name = format!("queue_{queue}_p99_sojourn_ns");
        put_binned(scalars, &name, (p99, TIME_BINS), "ns", &meaning);
    }
}

/// A number of these that some variant has.
pub(crate) struct Shown {
    /// Its name among the counters.
    pub key: String,
    /// What it is for people: `workload 0`.
    pub label: String,
}

impl Shown {
    /// What some variant has of a number by workload, in their order: of `workload_3_mean_response_ns`
    /// the `name` is `mean_response_ns`.
    pub fn by_workload(summary: &Summary, name: &str) -> Vec<Self> {
        let shown = |number: u64| Self {
            key: format!("workload_{number}_{name}"),
            label: summary.workload(number),
        };
        numbers(summary, "workload_", &format!("_{name}")).into_iter().map(shown).collect()
    }

    /// A mean, and the median, percentile and largest that go with it.
    pub fn and_spread(self) -> [Self; 4] {
        let other = |name: &str, label: &str| Self {
            key: self.key.replace("_mean_", &format!("_{name}_")),
            label: format!("{}, {label}", self.label),
        };
        let others = [("p50", "median"), ("p99", "99th percentile"), ("max", "largest")];
        let [p50, p99, max] = others.map(|(name, label)| other(name, label));
        [Self { label: format!("{}, mean", self.label), ..self }, p50, p99, max]
    }
}

/// What some variant has of goodput by workload, in their order.
pub(crate) fn goodputs_of(summary: &Summary) -> Vec<Shown> {
    Shown::by_workload(summary, "goodput_bps")
}

/// What some variant has of mean waiting times by queue, in their order.
pub(crate) fn mean_waits_of(summary: &Summary) -> Vec<Shown> {
    let numbers = numbers(summary, "queue_", "_mean_sojourn_ns");
    let shown = |number: u64| Shown {
        key: format!("queue_{number}_mean_sojourn_ns"),
        label: format!("queue {number}"),
    };
    numbers.into_iter().map(shown).collect()
}

/// The same with percentiles after the means.
pub(crate) fn waits_of(summary: &Summary) -> Vec<Shown> {
    let both = |mean: Shown| {
        let p99 = Shown {
            key: mean.key.replace("mean", "p99"),
            label: format!("{}, 99th percentile", mean.label),
        };
        [Shown { label: format!("{}, mean", mean.label), ..mean }, p99]
    };
    mean_waits_of(summary).into_iter().flat_map(both).collect()
}

/// The numbers in the names of counters that begin and end like this.
pub(crate) fn numbers(summary: &Summary, begin: &str, end: &str) -> BTreeSet<u64> {
    let names = summary.variants.values().flat_map(|variant| variant.counters.keys());
    names.filter_map(|name| name.strip_prefix(begin)?.strip_suffix(end)?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::scalars;
    use floodway_model::tables::complete;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_string()).collect()
    }

    fn counters(warmup_ns: u64, measured_ns: u64) -> Table {
        complete(
            Table::new("counters", "")
                .text("name", "", texts(&["warmup_ns", "measured_ns"]))
                .u64("value", "", vec![warmup_ns, measured_ns])
                .text("meaning", "", texts(&["", ""])),
        )
    }

    #[test]
    fn goodput_is_that_of_the_measurement_by_workload() {
        let flows = complete(Table::new("flows", "").u64("flow", "", vec![0, 1, 2]).u64(
            "workload",
            "",
            vec![0, 1, 1],
        ));
        // Samples every 100 ns; the measurement is from 100 to 300 ns.
        let deliveries = complete(
            Table::new("deliveries", "")
                .f64("time_ns", "", [100.0, 200.0, 300.0, 400.0].repeat(3))
                .u64("flow", "", [[0; 4], [1; 4], [2; 4]].concat())
                .u64(
                    "delivered_bytes",
                    "",
                    vec![50, 100, 150, 999, 0, 25, 100, 999, 10, 110, 210, 210],
                ),
        );
        let scalars = scalars(&[flows, deliveries, counters(100, 200)]);
        let value = |name: &str| scalars[name].value;
        // 100 bytes in 200 ns are 4 Gb/s; the two others have 100 and 200 bytes.
        assert_eq!(value("workload_0_goodput_bps"), 4e9);
        assert_eq!(value("workload_1_goodput_bps"), 6e9);
        assert_eq!(scalars["workload_1_goodput_bps"].unit, "b/s");
    }

    #[test]
    fn a_measurement_that_begins_at_once_begins_with_nothing() {
        let delivered = vec![(100.0, 50), (200.0, 150)];
        assert_eq!(rate(&delivered, 0.0, 200.0), Some(6e9));
        // Between two samples.
        assert_eq!(rate(&delivered, 150.0, 250.0), Some(8e9));
        assert_eq!(rate(&delivered, 200.0, 250.0), None);
    }

    #[test]
    fn waiting_is_that_of_the_port_where_most_is_waited() {
        // Two packets wait 100 ns at port 0, ten wait 50 and one 600 ns at port 1.
        let sojourns = complete(
            Table::new("sojourns", "")
                .text("node", "", texts(&["left", "left", "left"]))
                .u64("port", "", vec![0, 1, 1])
                .u64("queue", "", vec![0, 0, 1])
                .u64("departures", "", vec![2, 10, 1])
                .f64("mean_sojourn_ns", "", vec![100.0, 50.0, 600.0]),
        );
        let departures = complete(
            Table::new("departures", "")
                .text("node", "", texts(&["left"; 6]))
                .u64("port", "", vec![0, 1, 1, 1, 1, 1])
                .u64("queue", "", vec![0, 0, 0, 0, 0, 1])
                .text(
                    "kind",
                    "",
                    texts(&[
                        "sojourn_ns",
                        "packets",
                        "sojourn_ns",
                        "sojourn_ns",
                        "packets",
                        "sojourn_ns",
                    ]),
                )
                .u64("up_to", "", vec![100, 1, 40, 140, 2, 600])
                .u64("departures", "", vec![2, 9, 9, 1, 1, 1]),
        );
        let series = complete(
            Table::new("sojourn_series", "")
                .text("node", "", texts(&["left"; 4]))
                .u64("port", "", vec![0, 1, 1, 1])
                .u64("queue", "", vec![0, 0, 0, 1])
                .f64("time_ns", "", vec![10.0, 10.0, 20.0, 20.0])
                .f64("mean_sojourn_ns", "", vec![100.0, 40.0, 60.0, 600.0]),
        );
        let over_time = delays_at_busiest(&[sojourns.clone(), departures.clone(), series]);
        assert_eq!(over_time[&0], [(10.0, 40.0), (20.0, 60.0)]);
        assert_eq!(over_time[&1], [(20.0, 600.0)]);
        let scalars = scalars(&[sojourns, departures]);
        let value = |name: &str| scalars[name].value;
        assert_eq!(value("queue_0_mean_sojourn_ns"), 50.0);
        // The tenth of ten packets.
        assert_eq!(value("queue_0_p99_sojourn_ns"), 140.0);
        assert_eq!(value("queue_1_mean_sojourn_ns"), 600.0);
        assert_eq!(value("queue_1_p99_sojourn_ns"), 600.0);
        assert!(scalars["queue_1_mean_sojourn_ns"].meaning.contains("queue 1 of left port 1"));
    }
}
