//! Numbers about whole runs: pauses, marks, drops, backlogs, goodput.

use floodway_model::Table;
use std::collections::BTreeMap;

use crate::metrics::table;
use crate::statistics::mean;

/// One number about a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The number.
    pub value: f64,
    /// Its unit: `frames`, `ns`, `bytes`; empty for a count.
    pub unit: &'static str,
    /// What it says.
    pub meaning: String,
}

/// The scalars of a run: every row of `counters`; `dropped_packets_<reason>`;
/// `tier_<n>_xoff_frames` and `tier_<n>_paused_ns` (hosts: `hosts_…`);
/// `queue_<n>_mean_backlog_bytes` and `queue_<n>_max_backlog_bytes`; `persistent_goodput_gbps`.
pub fn scalars(tables: &[Table], end_ns: f64) -> BTreeMap<String, Scalar> {
    let mut scalars = BTreeMap::new();
    if let Some(counters) = table(tables, "counters") {
        let (names, meanings) = (counters.texts("name"), counters.texts("meaning"));
        for ((name, value), meaning) in names.iter().zip(counters.u64s("value")).zip(meanings) {
            let unit = match name {
                name if name.ends_with("_ns") => "ns",
                name if name.split('_').any(|word| word == "bytes") => "bytes",
                _ => "",
            };
            put(&mut scalars, name, *value as f64, unit, meaning);
        }
    }
    if let Some(drops) = table(tables, "drops") {
        for (reason, packets) in drops.texts("reason").iter().zip(drops.u64s("packets")) {
            let name = format!("dropped_packets_{reason}");
            let meaning = format!("packets dropped for the reason {reason}");
            add(&mut scalars, &name, *packets as f64, "", &meaning);
        }
    }
    if let Some(pauses) = table(tables, "pauses") {
        let (xoff, paused) = (pauses.u64s("xoff_frames"), pauses.f64s("paused_ns"));
        for (at, tier) in pauses.u64s("tier").iter().enumerate() {
            let place = tier_key(*tier);
            let who = tier_label(*tier);
            let meaning = format!("XOFF frames sent by {who}, without refreshes");
            add(&mut scalars, &format!("{place}_xoff_frames"), xoff[at] as f64, "", &meaning);
            let meaning = format!("time that ports of {who} stood paused, over ports and classes");
            add(&mut scalars, &format!("{place}_paused_ns"), paused[at], "ns", &meaning);
        }
    }
    if let Some(queues) = table(tables, "queues") {
        backlogs(queues, &mut scalars);
    }
    if let Some(flows) = table(tables, "flows") {
        goodput(flows, end_ns, &mut scalars);
    }
    scalars
}

fn backlogs(queues: &Table, scalars: &mut BTreeMap<String, Scalar>) {
    let (means, maxima) = (queues.f64s("mean_backlog_bytes"), queues.u64s("max_backlog_bytes"));
    let mut by_queue: BTreeMap<u64, (Vec<f64>, u64)> = BTreeMap::new();
    for (at, queue) in queues.u64s("queue").iter().enumerate() {
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

fn goodput(flows: &Table, end_ns: f64, scalars: &mut BTreeMap<String, Scalar>) {
    let (bytes, delivered) = (flows.u64s("bytes"), flows.u64s("delivered_bytes"));
    let start = flows.f64s("start_ns");
    let rates: Vec<f64> = (0..flows.rows())
        .filter(|at| bytes[*at] == 0 && end_ns > start[*at])
        .map(|at| delivered[at] as f64 * 8.0 / (end_ns - start[at]))
        .collect();
    if !rates.is_empty() {
        let meaning = "mean goodput of the flows that never end";
        put(scalars, "persistent_goodput_gbps", mean(&rates), "Gb/s", meaning);
    }
}

fn put(
    scalars: &mut BTreeMap<String, Scalar>,
    name: &str,
    value: f64,
    unit: &'static str,
    meaning: &str,
) {
    scalars.insert(name.to_string(), Scalar { value, unit, meaning: meaning.to_string() });
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
