//! What is measured: what a network carries above L2, how long frames and requests take, and losses.

use crate::evidence::{Case, Evidence, Facts};
use crate::measure::{Logs, Measured, percent_of_logs};

use super::case;

/// What arrives above L2 in the whole network, in Gb/s.
pub fn carried(facts: &Facts) -> f64 {
    facts.known("throughput_bps") / 1e9
}

/// The mean time of a frame from the memory of its source to that of its destination, in
/// nanoseconds.
pub fn latency(facts: &Facts) -> f64 {
    facts.known("mean_latency_ns")
}

/// How far a number is from one that was published, in percent of this.
pub fn off(number: f64, published: f64) -> f64 {
    100.0 * (number / published - 1.0)
}

/// Packets that switches dropped before the measurement began.
pub fn early_drops(facts: &Facts) -> f64 {
    facts.all_drops() - facts.number("dropped_packets")
}

/// The workloads of database entries.
fn clients(facts: &Facts) -> impl Iterator<Item = u64> + '_ {
    (0..).take_while(|at| facts.scalars.contains_key(&format!("workload_{at}_entries")))
}

/// A number of such a workload.
fn of_client(facts: &Facts, workload: u64, name: &str) -> f64 {
    facts.known(&format!("workload_{workload}_{name}"))
}

/// The payload of the entries of one workload, in Gb/s.
pub fn entered_by(facts: &Facts, workload: u64) -> f64 {
    of_client(facts, workload, "entry_throughput_bps") / 1e9
}

/// The payload of all entries, in Gb/s.
pub fn entered(facts: &Facts) -> f64 {
    clients(facts).map(|workload| entered_by(facts, workload)).sum()
}

/// The mean response time over all entries, in nanoseconds.
pub fn response(facts: &Facts) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for workload in clients(facts) {
        let entries = of_client(facts, workload, "entries");
        sum += of_client(facts, workload, "mean_response_ns") * entries;
        count += entries;
    }
    sum / count
}

/// The largest response time of all, in nanoseconds.
pub fn largest_response(facts: &Facts) -> f64 {
    clients(facts).map(|at| of_client(facts, at, "max_response_ns")).fold(f64::NAN, f64::max)
}

/// The mean of the memory that data takes in a switch, in bytes.
pub fn memory(facts: &Facts) -> f64 {
    facts.known("switch_mean_occupancy_bytes")
}

/// Bytes of a segment above L2 that are not payload: IP 20, TCP 20, timestamps 12.
const HEADERS: f64 = 52.0;

/// What arrives above L2, headers of TCP and IP included, in gigabytes per second, where nothing is
/// lost or sent twice.
pub fn above_l2(facts: &Facts) -> f64 {
    let bytes = facts.known("data_bytes_delivered") + HEADERS * facts.known("data_packets_sent");
    bytes / facts.known("measured_ns")
}

/// The change of a number from one variant to another over several sizes of a sweep: the geometric
/// mean of the ratios.
pub fn change_over(
    evidence: &Evidence,
    (sweep, sizes): (fn(u32) -> &'static str, &[u32]),
    (from, to): (&'static str, &'static str),
    number: fn(&Facts) -> f64,
) -> Measured {
    let logs = |kb: &u32| evidence.logs(case(sweep(*kb), from), case(sweep(*kb), to), number);
    let all: Vec<Logs> = sizes.iter().map(logs).collect();
    let mut sums = Logs::new();
    for (at, log) in all.iter().flatten() {
        *sums.entry(*at).or_default() += log;
    }
    // Only replications of all sizes.
    sums.retain(|at, _| all.iter().all(|logs| logs.contains_key(at)));
    percent_of_logs(sums.into_values().map(|sum| sum / sizes.len() as f64))
}

/// All packets that were dropped in the replications of a case.
pub fn lost(evidence: &Evidence, case: Case) -> Measured {
    let lost: f64 = evidence.runs(case).map(|(_, facts)| facts.all_drops()).sum();
    let value = evidence.has(case).then_some(lost);
    Measured { value, unit: "packets", ..Measured::default() }
}

/// The packets that one case loses for a hundred that another one does.
pub fn loss_ratio(evidence: &Evidence, of: Case, than: Case) -> Measured {
    let both = lost(evidence, of).value.zip(lost(evidence, than).value);
    let value = both.map(|(of, than)| 100.0 * of / than).filter(|ratio| ratio.is_finite());
    Measured { value, unit: "% of those", ..Measured::default() }
}
