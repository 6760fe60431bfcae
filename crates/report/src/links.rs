//! How busy every link was and how long it stood paused, in either direction, for maps of the fabric.

use std::collections::BTreeMap;

use floodway_model::Table;
use floodway_model::tables::{links, pauses, switches};

use crate::scalars::HOSTS;

/// One direction of a link, by its sending end.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// The node that sends.
    pub node: String,
    /// Its tier; hosts: 255.
    pub tier: u64,
    /// Its port.
    pub port: u64,
    /// The node that receives.
    pub peer: String,
    /// Its tier.
    pub peer_tier: u64,
    /// The share of the run in which the wire was busy.
    pub busy: f64,
    /// The share of the run in which the port was not allowed to send the class that was paused
    /// longest.
    pub paused: f64,
}

/// All directions in the order of the table `links`, of a run that took so long; none of a network
/// with fewer than two switches, of which there is no map to draw. With the tables `switches` and
/// `pauses`; without the latter nothing was paused.
pub fn directions(tables: &[Table], simulated_ns: f64) -> Vec<Direction> {
    let both = links::View::of(tables).zip(switches::View::of(tables));
    let Some((links, switches)) = both else { return Vec::new() };
    let names = switches.node.iter().map(|name| name.as_str());
    let tiers: BTreeMap<&str, u64> = names.zip(switches.tier.iter().copied()).collect();
    if tiers.len() < 2 {
        return Vec::new();
    }
    let tier = |node: &str| tiers.get(node).copied().unwrap_or(HOSTS);
    let paused = pauses::View::of(tables).map(longest).unwrap_or_default();
    let ends = links.node.iter().zip(links.port).zip(links.peer);
    let busy = links.utilization.iter();
    let direction = |(((node, port), peer), busy): (((&String, &u64), &String), &f64)| Direction {
        node: node.clone(),
        tier: tier(node),
        port: *port,
        peer: peer.clone(),
        peer_tier: tier(peer),
        busy: share(*busy),
        paused: share(paused.get(&(node.as_str(), *port)).map_or(0.0, |ns| ns / simulated_ns)),
    };
    ends.zip(busy).map(direction).collect()
}

/// How long each port was paused in the class that was so longest.
fn longest(pauses: pauses::View<'_>) -> BTreeMap<(&str, u64), f64> {
    let mut paused = BTreeMap::new();
    let ports = pauses.node.iter().zip(pauses.port);
    for ((node, port), ns) in ports.zip(pauses.paused_ns) {
        let most: &mut f64 = paused.entry((node.as_str(), *port)).or_default();
        *most = most.max(*ns);
    }
    paused
}

/// A share to a millionth: pages hold thousands of them, and the tables have them in full.
fn share(value: f64) -> f64 {
    libm::round(value * 1e6) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::tables::complete;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn ports_have_the_share_of_their_longest_class() {
        let links = complete(
            Table::new("links", "")
                .text("node", "", texts(&["host 0", "leaf 0", "leaf 0", "spine 0"]))
                .u64("port", "", vec![0, 0, 1, 0])
                .text("peer", "", texts(&["leaf 0", "host 0", "spine 0", "leaf 0"]))
                .f64("utilization", "", vec![0.25, 1.0 / 3.0, 0.0, 0.5]),
        );
        let switches = |names: &[&str]| {
            complete(Table::new("switches", "").text("node", "", texts(names)).u64(
                "tier",
                "",
                (0..names.len() as u64).collect(),
            ))
        };
        // Two classes: 100 and 250 ns of 1000, and one that was paused for 40 ns.
        let pauses = complete(
            Table::new("pauses", "")
                .text("node", "", texts(&["leaf 0", "leaf 0", "host 0"]))
                .u64("port", "", vec![1, 1, 0])
                .f64("paused_ns", "", vec![100.0, 250.0, 40.0]),
        );
        let tables = [links.clone(), switches(&["leaf 0", "spine 0"]), pauses];
        let all = directions(&tables, 1_000.0);
        let ends = |at: usize| (all[at].node.as_str(), all[at].tier, all[at].peer_tier);
        assert_eq!(
            [0, 1, 2, 3].map(ends),
            [("host 0", HOSTS, 0), ("leaf 0", 0, HOSTS), ("leaf 0", 0, 1), ("spine 0", 1, 0)]
        );
        let shares: Vec<_> = all.iter().map(|of| (of.busy, of.paused)).collect();
        assert_eq!(shares, [(0.25, 0.04), (0.333333, 0.0), (0.0, 0.25), (0.5, 0.0)]);
        assert_eq!(directions(&[links, switches(&["leaf 0"])], 1_000.0), []);
    }
}
