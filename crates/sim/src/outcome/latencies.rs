//! The table about the latencies of packets.

use floodway_model::table::Table;
use floodway_model::tables::latencies;

use crate::metric::Latencies;
use crate::run::Finished;

/// In order of workload and bin.
pub fn table(finished: &Finished) -> Table {
    let mut workloads: Vec<Latencies> = Vec::new();
    for host in &finished.hosts {
        if workloads.len() < host.latencies.len() {
            workloads.resize_with(host.latencies.len(), Latencies::default);
        }
        for (sum, latencies) in workloads.iter_mut().zip(&host.latencies) {
            sum.add(latencies);
        }
    }
    let of = |(workload, latencies)| {
        let row = move |(up_to_ns, packets, total): (u64, u64, u128)| latencies::Row {
            workload,
            up_to_ns,
            packets,
            total_ns: total as f64 / 1e3,
        };
        Latencies::bins(latencies).map(row)
    };
    (0..).zip(&workloads).flat_map(of).collect()
}
