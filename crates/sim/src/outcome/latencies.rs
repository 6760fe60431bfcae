//! The table about the latencies of packets.

use floodway_model::table::Table;

use crate::engine::Finished;
use crate::metric::Latencies;

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
        let bins = Latencies::bins(latencies);
        bins.map(move |(edge, packets, total)| (workload, edge, packets, total))
    };
    let rows: Vec<(u64, u64, u64, u128)> = (0..).zip(&workloads).flat_map(of).collect();
    Table::new("latencies", "How long the data packets took that arrived during the measurement, from leaving the memory of the source with their first byte to their last byte in the memory of the destination; empty without the key latencies.")
        .u64("workload", "Which workload of the scenario they are of, counted from 0.", rows.iter().map(|row| row.0).collect())
        .u64("up_to_ns", "Upper edge of the bin, inclusive; there are 64 bins per doubling.", rows.iter().map(|row| row.1).collect())
        .u64("packets", "Data packets in the bin.", rows.iter().map(|row| row.2).collect())
        .f64("total_ns", "Sum of their latencies.", rows.iter().map(|row| row.3 as f64 / 1e3).collect())
}
