//! What the ports of hosts with several carried.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::host_ports;

/// The ports of one number and rate of all hosts, like all NICs or all NVLinks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ports {
    /// The number of the port at its host.
    pub port: u64,
    /// Its rate in Gb/s.
    pub rate_gbps: f64,
    /// How many hosts have it.
    pub hosts: u64,
    /// Flows that were sent by them.
    pub flows: u64,
    /// Payload that they sent and that was delivered.
    pub bytes: u64,
    /// The mean share of the time in which one of them sent.
    pub busy: f64,
    /// The port that sent for the largest share of the time, by its name as a node, and that share.
    pub busiest: (String, f64),
}

/// All of a run, by number and rate; none if all hosts have one port.
pub fn ports(tables: &[Table]) -> Vec<Ports> {
    let Some(of) = host_ports::View::of(tables) else { return Vec::new() };
    // Rates are positive, so that their bits are in their order.
    let mut groups: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for row in 0..of.rows() {
        groups.entry((of.port[row], of.rate_gbps[row].to_bits())).or_default().push(row);
    }
    let group = |((port, rate), rows): ((u64, u64), Vec<usize>)| {
        let busy = |row: &usize| of.utilization[*row];
        // The first of equal ones.
        let busiest = rows.iter().rev().max_by(|a, b| busy(a).total_cmp(&busy(b)));
        Ports {
            port,
            rate_gbps: f64::from_bits(rate),
            hosts: rows.len() as u64,
            flows: rows.iter().map(|&row| of.flows_sent[row]).sum(),
            bytes: rows.iter().map(|&row| of.sent_bytes[row]).sum(),
            busy: rows.iter().map(busy).sum::<f64>() / rows.len() as f64,
            busiest: busiest
                .map_or_else(Default::default, |row| (of.node[*row].clone(), busy(row))),
        }
    };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    #[test]
    fn ports_of_one_number_and_rate_are_together() {
        let texts = |all: [&str; 5]| all.map(str::to_owned).to_vec();
        let table = Table::new("host_ports", "")
            .text("node", "", texts(["a.0", "a.1", "b.0", "b.1", "c.1"]))
            .u64("port", "", vec![0, 1, 0, 1, 1])
            .f64("rate_gbps", "", vec![400.0, 2_880.0, 400.0, 2_880.0, 400.0])
            .u64("flows_sent", "", vec![1, 2, 3, 0, 5])
            .u64("sent_bytes", "", vec![10, 20, 30, 0, 50])
            .f64("utilization", "", vec![0.25, 0.5, 0.75, 0.0, 0.125]);
        let all = ports(&[complete(table)]);
        let of = |port,
                  rate_gbps,
                  [hosts, flows, bytes]: [u64; 3],
                  busy,
                  (name, most): (&str, f64)| {
            Ports { port, rate_gbps, hosts, flows, bytes, busy, busiest: (name.to_owned(), most) }
        };
        assert_eq!(
            all,
            [
                of(0, 400.0, [2, 4, 40], 0.5, ("b.0", 0.75)),
                of(1, 400.0, [1, 5, 50], 0.125, ("c.1", 0.125)),
                of(1, 2_880.0, [2, 2, 20], 0.25, ("a.1", 0.5)),
            ]
        );
        assert_eq!(ports(&[]), []);
    }
}
