//! What became of the packets of each workload.

use std::collections::BTreeMap;

use floodway_model::tables::flows;

/// The packets of the flows of a workload, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// How many flows it has.
    pub flows: u64,
    /// Data packets on the wire, repetitions included.
    pub sent: u64,
    /// Of these, those that arrived with CE.
    pub marked: u64,
    /// Of these, those that switches dropped.
    pub lost: u64,
}

impl Traffic {
    /// By workload, from the table `flows`.
    pub fn of(flows: flows::View<'_>) -> BTreeMap<u64, Self> {
        let (sent, marked) = (flows.packets_sent, flows.marked_packets);
        let lost = flows.lost_packets;
        let mut of: BTreeMap<u64, Self> = BTreeMap::new();
        for (at, workload) in flows.workload.iter().enumerate() {
            let traffic = of.entry(*workload).or_default();
            traffic.flows += 1;
            traffic.sent += sent[at];
            traffic.marked += marked[at];
            traffic.lost += lost[at];
        }
        of
    }

    /// Those that switches did not drop.
    pub fn arrived(&self) -> f64 {
        (self.sent - self.lost) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Table;
    use floodway_model::tables::complete;

    #[test]
    fn packets_are_summed_by_workload() {
        let table = complete(
            Table::new("flows", "")
                .u64("workload", "", vec![0, 1, 0])
                .u64("packets_sent", "", vec![100, 50, 300])
                .u64("marked_packets", "", vec![0, 25, 10])
                .u64("lost_packets", "", vec![4, 0, 6]),
        );
        let of = Traffic::of(flows::View::of_table(&table).unwrap());
        assert_eq!((of[&0].flows, of[&0].sent), (2, 400));
        assert_eq!((of[&0].arrived(), of[&1].arrived()), (390.0, 50.0));
        assert_eq!((of[&0].lost, of[&0].marked), (10, 10));
        assert_eq!((of[&1].lost, of[&1].marked), (0, 25));
    }
}
