//! Numbers about whole runs: pauses, marks, drops, backlogs, goodput.

use floodway_model::Table;
use floodway_model::tables::{counters, drops, headroom, occupancy, queues, switches};
use std::collections::BTreeMap;

use crate::latency;
use crate::shapes::{occupancy, quantile};
use crate::statistics::{NoInterval, Scale, mean};
use crate::{entries, jobs, operations, pings, sampling, throughput, video, voice, web};

/// One number about a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The number.
    pub value: f64,
    /// Its unit: `frames`, `ns`, `bytes`; empty for a count.
    pub unit: &'static str,
    /// What it says.
    pub meaning: String,
    /// The width of the histogram bin that it was read from, relative to the value, which is the
    /// bin's upper edge; 0 of an exact number.
    pub resolution: f64,
    /// Of an estimate, its 95 % interval from this run alone, or why it has none; `None` of what was simulated.
    pub interval: Option<Result<[f64; 2], NoInterval>>,
}

impl Scalar {
    /// The scale on which its intervals are formed.
    pub fn scale(&self) -> Scale {
        Scale { resolution: self.resolution, ..Scale::of_unit(self.unit) }
    }
}

/// The scalars of a run: every row of `counters`, among them `tier_<n>_xoff_frames` and
/// `tier_<n>_paused_ns` (hosts: `hosts_…`); `dropped_packets_<reason>`;
/// `queue_<n>_mean_backlog_bytes` and `queue_<n>_max_backlog_bytes`; `persistent_goodput_gbps`;
/// `<scope>_mean_occupancy_bytes`, the same with `p50`, `p99`, `p999` and `max`, where the scope is
/// `port` or `switch`; `headroom_pool_max_bytes` and `headroom_pool_episodes` if ports share a pool of
/// headroom; `workload_<n>_goodput_bps` of flows without a size, and
/// `queue_<n>_mean_sojourn_ns` and `queue_<n>_p99_sojourn_ns` of the port where packets wait most;
/// of database entries `workload_<n>_entries`, `workload_<n>_entries_unfinished`,
/// `workload_<n>_mean_response_ns`, the same with `p50`, `p99` and `max`, and
/// `workload_<n>_entry_throughput_bps`; of calls and collectives `workload_<n>_operations`,
/// `workload_<n>_operations_unfinished`, `workload_<n>_mean_operation_ns`, the same with `p50`, `p99`
/// and `max`, and `workload_<n>_operations_per_s`; of collectives `workload_<n>_mean_algorithm_bandwidth_bps` and
/// `workload_<n>_mean_bus_bandwidth_bps`; of jobs `workload_<n>_mean_compute_ns`, `workload_<n>_mean_exposed_ns`,
/// `workload_<n>_max_exposed_ns` and `workload_<n>_ranks_unfinished`; of jobs with sampled rounds `workload_<n>_rounds_simulated`
/// and estimates for all rounds, `workload_<n>_estimated_…`.
/// `throughput_bps`, and `mean_latency_ns`, the same with `p50`, `p99` and `p999`, of all packets and
/// by `workload_<n>_`; of pings what [`pings`] adds, of calls `workload_<n>_mos` and its causes by
/// direction.
pub fn scalars(tables: &[Table]) -> BTreeMap<String, Scalar> {
    let mut scalars = BTreeMap::new();
    if let Some(counters) = counters::View::of(tables) {
        let (names, meanings) = (counters.name, counters.meaning);
        for ((name, value), meaning) in names.iter().zip(counters.value).zip(meanings) {
            let unit = match name {
                name if name.ends_with("_ns") => "ns",
                name if name.split('_').any(|word| word == "bytes") => "bytes",
                _ => "",
            };
            put(&mut scalars, name, *value as f64, unit, meaning);
        }
    }
    if let Some(drops) = drops::View::of(tables) {
        for (reason, packets) in drops.reason.iter().zip(drops.packets) {
            let name = format!("dropped_packets_{reason}");
            let meaning = format!("packets dropped in the whole run for the reason {reason}");
            add(&mut scalars, &name, *packets as f64, "", &meaning);
        }
    }
    if let Some(queues) = queues::View::of(tables) {
        backlogs(queues, &mut scalars);
    }
    if let (Some(switches), Some(samples)) =
        (switches::View::of(tables), occupancy::View::of(tables))
    {
        occupancies(switches, samples, &mut scalars);
    }
    if let Some(pools) = headroom::View::of(tables) {
        headroom_pools(pools, &mut scalars);
    }
    goodput(&mut scalars);
    throughput::add(tables, &mut scalars);
    entries::add(tables, &mut scalars);
    operations::add(tables, &mut scalars);
    jobs::add(tables, &mut scalars);
    sampling::add(tables, &mut scalars);
    latency::add(tables, &mut scalars);
    pings::add(tables, &mut scalars);
    voice::add(tables, &mut scalars);
    web::add(tables, &mut scalars);
    video::add(tables, &mut scalars);
    scalars
}

fn backlogs(queues: queues::View<'_>, scalars: &mut BTreeMap<String, Scalar>) {
    let (means, maxima) = (queues.mean_backlog_bytes, queues.max_backlog_bytes);
    let mut by_queue: BTreeMap<u64, (Vec<f64>, u64)> = BTreeMap::new();
    for (at, queue) in queues.queue.iter().enumerate() {
        let (of_ports, most) = by_queue.entry(*queue).or_default();
        if !means[at].is_nan() {
            of_ports.push(means[at]);
        }
        *most = (*most).max(maxima[at]);
    }
    for (queue, (of_ports, most)) in by_queue {
        let meaning = format!("mean backlog of queue {queue}, over time and ports");
        let name = format!("queue_{queue}_mean_backlog_bytes");
        put(scalars, &name, mean(&of_ports), "bytes", &meaning);
        let meaning = format!("largest backlog that queue {queue} of any port ever had");
        let name = format!("queue_{queue}_max_backlog_bytes");
        put(scalars, &name, most as f64, "bytes", &meaning);
    }
}

/// The width of the bins of occupancy, four per doubling, relative to their upper edges.
const OCCUPANCY_BINS: f64 = 1.0 - 0.840_896_415_253_714_6;

/// The width of the bins of times that packets take or wait, at least 64 per doubling, relative to
/// their upper edges.
pub(crate) const TIME_BINS: f64 = 1.0 / 64.0;

/// How much memory data takes in ports and in switches.
fn occupancies(
    switches: switches::View<'_>,
    samples: occupancy::View<'_>,
    scalars: &mut BTreeMap<String, Scalar>,
) {
    let means = switches.mean_occupancy_bytes;
    let ports: u64 = switches.ports.iter().sum();
    let of_switch = mean(means);
    let of_port = of_switch * switches.rows() as f64 / ports as f64;
    let most = |column: &[u64]| column.iter().copied().max().unwrap_or(0);
    let distributions = occupancy(samples);
    for (scope, mean, most) in [
        ("port", of_port, most(switches.max_port_occupancy_bytes)),
        ("switch", of_switch, most(switches.max_occupancy_bytes)),
    ] {
        let mut put = |name: &str, value: (f64, f64), meaning: String| {
            let name = format!("{scope}_{name}_occupancy_bytes");
            put_binned(scalars, &name, value, "bytes", &meaning);
        };
        let what = format!("data that waits in a {scope}");
        put("mean", (mean, 0.0), format!("{what}, mean over time and all of them"));
        put("max", (most as f64, 0.0), format!("{what}, the most there ever was in any of them"));
        let Some(distribution) = distributions.get(scope) else { continue };
        for (name, p, label) in [("p50", 0.5, "50"), ("p99", 0.99, "99"), ("p999", 0.999, "99.9")] {
            // The last bin has no upper edge, and no sample is above the most there ever was.
            let value = quantile(distribution, p).min(most) as f64;
            let meaning = format!("{what}, {label}th percentile of the samples, up to 19 % high");
            put(name, (value, OCCUPANCY_BINS), meaning);
        }
    }
}

/// How far pools of headroom were filled. Runs without one have no such number.
fn headroom_pools(pools: headroom::View<'_>, scalars: &mut BTreeMap<String, Scalar>) {
    let Some(most) = pools.max_bytes.iter().max() else { return };
    let meaning =
        "largest use of the headroom pool of any switch: a smaller pool would lose something";
    put(scalars, "headroom_pool_max_bytes", *most as f64, "bytes", meaning);
    let episodes: u64 = pools.episodes.iter().sum();
    let meaning =
        "times that headroom pools were in use, from the first byte until they were empty again";
    put(scalars, "headroom_pool_episodes", episodes as f64, "", meaning);
}

/// Mean over the flows that never end, during the measurement.
fn goodput(scalars: &mut BTreeMap<String, Scalar>) {
    let value = |name: &str| scalars.get(name).map_or(0.0, |scalar| scalar.value);
    let (flows, time) = (value("flows_persistent"), value("measured_ns"));
    if flows > 0.0 && time > 0.0 {
        let gbps = value("persistent_bytes_delivered") * 8.0 / time / flows;
        let meaning = "mean goodput of the flows that never end";
        put(scalars, "persistent_goodput_gbps", gbps, "Gb/s", meaning);
    }
}

pub(crate) fn put(
    scalars: &mut BTreeMap<String, Scalar>,
    name: &str,
    value: f64,
    unit: &'static str,
    meaning: &str,
) {
    put_binned(scalars, name, (value, 0.0), unit, meaning);
}

/// A number that was read from a histogram, with the relative width of its bins.
pub(crate) fn put_binned(
    scalars: &mut BTreeMap<String, Scalar>,
    name: &str,
    (value, resolution): (f64, f64),
    unit: &'static str,
    meaning: &str,
) {
    let meaning = meaning.to_string();
    scalars.insert(name.to_string(), Scalar { value, unit, meaning, resolution, interval: None });
}

fn add(
    scalars: &mut BTreeMap<String, Scalar>,
    name: &str,
    value: f64,
    unit: &'static str,
    meaning: &str,
) {
    let sum = scalars.get(name).map_or(0.0, |scalar| scalar.value) + value;
    put(scalars, name, sum, unit, meaning);
}

/// The tier that the tables give to hosts.
pub const HOSTS: u64 = 255;

/// A tier in names of scalars.
pub(crate) fn tier_key(tier: u64) -> String {
    if tier == HOSTS { "hosts".to_string() } else { format!("tier_{tier}") }
}

/// A tier for people.
pub(crate) fn tier_label(tier: u64) -> String {
    match tier {
        HOSTS => "hosts".to_string(),
        0 => "switches next to hosts (tier 0)".to_string(),
        _ => format!("switches of tier {tier}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest use of two pools, and the episodes of both.
    #[test]
    fn pools_of_headroom_have_a_peak() {
        let row = |node: &str, max_bytes, episodes| headroom::Row {
            node: node.to_owned(),
            tier: 0,
            pool_bytes: 9_000,
            of_all_bytes: 20_000,
            max_bytes,
            episodes,
        };
        let table: Table = [row("a", 500, 3), row("b", 700, 4)].into_iter().collect();
        let of = |tables: &[Table]| {
            let scalars = scalars(tables);
            ["headroom_pool_max_bytes", "headroom_pool_episodes"]
                .map(|name| scalars.get(name).map(|scalar| (scalar.value, scalar.unit)))
        };
        assert_eq!(of(&[table]), [Some((700.0, "bytes")), Some((7.0, ""))]);
        // Without a pool there is a table without rows, and no number.
        let none: Vec<headroom::Row> = Vec::new();
        assert_eq!(of(&[none.into_iter().collect()]), [None, None]);
    }
}
