//! Maps of the fabric: which links are busy, and which stand paused.

use std::collections::{BTreeMap, BTreeSet};

use maud::html;

use super::network::panels_of;
use super::section::Section;
use super::r#type::{raw, set};
use super::{Figure, Legend, Page};
use crate::chart::Axis;
use crate::chart::mosaic::{Band, Block, Mosaic, Spot};
use crate::links::Direction;
use crate::scalars::HOSTS;
use crate::words;

/// More rows, or more tiles beside each other, cannot be distinguished: several become one.
const MOST_ROWS: usize = 80;
const MOST_COLUMNS: usize = 100;
/// From so many tiles beside each other on only two charts stand in a row.
const MANY_COLUMNS: usize = 40;

/// Which way a link leads, seen from the switch in whose row it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    ToHosts,
    FromHosts,
    Across,
    Up,
    Down,
}

impl Way {
    const fn label(self) -> &'static str {
        match self {
            Self::ToHosts => "to hosts",
            Self::FromHosts => "from hosts",
            Self::Across => "across",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// What a map shows of every direction.
struct Shown {
    name: &'static str,
    caption: &'static str,
    /// What stands on the scale.
    axis: &'static str,
    value: fn(&Direction) -> f64,
}

const BUSY: Shown = Shown {
    name: "links-busy",
    caption: "Link utilization",
    axis: "busy",
    value: |direction| direction.busy,
};

const PAUSED: Shown = Shown {
    name: "links-paused",
    caption: "Paused time of links",
    axis: "paused",
    value: |direction| direction.paused,
};

/// The links of a switch by their ways, each with the port of the switch.
type Switch<'a> = BTreeMap<Way, Vec<(u64, &'a Direction)>>;

impl Page<'_> {
    /// Which links are busy.
    pub(super) fn busy_links(&self) -> Option<Section> {
        let mut section = Section::new("utilization", "Link utilization");
        self.map(&BUSY, &mut section);
        Some(section)
    }

    /// Which stand paused; nothing if none ever did.
    pub(super) fn paused_links(&self, section: &mut Section) {
        self.map(&PAUSED, section);
    }

    fn map(&self, shown: &Shown, section: &mut Section) {
        let variants = self.summary.order.iter().enumerate();
        let variants = variants.filter_map(|(at, name)| Some((name, self.experiment.links(at)?)));
        let variants: Vec<(&String, &[Direction])> = variants.collect();
        let values = variants.iter().flat_map(|(_, links)| *links).map(shown.value);
        let most = values.fold(0.0, f64::max);
        if most == 0.0 {
            return;
        }
        let scale = Axis::linear(shown.axis, "share").within(0.0, round_up(most));
        let mut together = (1, 1);
        let mut charts = Vec::new();
        for (name, links) in &variants {
            let sentence = in_words(links, shown);
            section.text(html! { p { strong { (raw(name)) } ": " (set(&sentence)) "." } });
            let (blocks, of) = blocks(links, shown.value);
            together = (together.0.max(of.0), together.1.max(of.1));
            charts.push(Mosaic {
                title: format!("{} {name}", shown.caption),
                heading: (*name).clone(),
                row: "switch".to_string(),
                blocks,
                scale: scale.clone(),
            });
        }
        let wide = charts.iter().any(|chart| chart.columns() >= MANY_COLUMNS);
        let columns = if wide { 2 } else { panels_of(charts.len()) };
        let legend = Legend::steps(&scale, "of the time");
        let mut note = String::from(
            "First replication, the whole run. One row per switch, one tile per port and direction. Hover over a \
             row to see its highest port.",
        );
        if shown.name == PAUSED.name {
            note += " A link is paused while its sender may not send the class that was paused longest.";
        }
        if together != (1, 1) {
            note += &format!(
                " There are too many to show each: a tile is the highest of up to {} ports of up to \
                 {} switches. The tables links and pauses have them all.",
                together.1, together.0
            );
        }
        let figure = Figure::new(shown.name, shown.caption).legend(legend).note(&note);
        section.figure(figure.mosaics(columns, charts));
    }
}

/// What stands out.
fn in_words(links: &[Direction], shown: &Shown) -> String {
    let mut ranked: Vec<&Direction> = links.iter().collect();
    ranked.sort_by(|a, b| (shown.value)(b).total_cmp(&(shown.value)(a)));
    let Some(most) = ranked.first() else { return String::new() };
    let share = |link: &Direction| percent((shown.value)(link));
    let some = ranked.iter().filter(|link| (shown.value)(link) > 0.0).count();
    let first = format!("from {} to {}, {} of the time", most.node, most.peer, share(most));
    match shown.name == BUSY.name {
        _ if some == 0 => format!("no link is ever {}", shown.axis),
        true => format!(
            "the busiest link is that {first}; the median is {}",
            share(ranked[(ranked.len() - 1) / 2])
        ),
        false => format!(
            "paused at least once: {} of {} link directions; longest: {first}",
            words::count(some as f64),
            words::count(links.len() as f64)
        ),
    }
}

/// Rows and tiles of each tier, and of how many switches and ports one is at most.
fn blocks(links: &[Direction], value: fn(&Direction) -> f64) -> (Vec<Block>, (usize, usize)) {
    // Switches in the order in which they first send.
    let mut tiers: BTreeMap<u64, Vec<(&str, Switch)>> = BTreeMap::new();
    let mut places: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    let mut toward: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for link in links.iter().filter(|link| link.tier != HOSTS) {
        let of_tier = tiers.entry(link.tier).or_default();
        let place = places.entry(&link.node).or_insert_with(|| {
            of_tier.push((&link.node, Switch::new()));
            (link.tier, of_tier.len() - 1)
        });
        let way = match link.peer_tier {
            HOSTS => Way::ToHosts,
            tier if tier > link.tier => Way::Up,
            tier if tier < link.tier => Way::Down,
            _ => Way::Across,
        };
        of_tier[place.1].1.entry(way).or_default().push((link.port, link));
        toward.entry((&link.node, &link.peer)).or_default().push(link.port);
    }
    // What hosts send stands in the row of their switch, at the port where it arrives.
    for link in links.iter().filter(|link| link.tier == HOSTS) {
        let Some((tier, at)) = places.get(link.peer.as_str()) else { continue };
        let ports = toward.get(&(link.peer.as_str(), link.node.as_str()));
        // Links of a host to one switch are in the same order at both ends.
        let port = ports.and_then(|ports| ports.get(link.port as usize).or(ports.first()));
        let switch = &mut tiers.get_mut(tier).expect("its switch is of this tier")[*at].1;
        let port = port.copied().unwrap_or(link.port);
        switch.entry(Way::FromHosts).or_default().push((port, link));
    }
    let rows: usize = tiers.values().map(Vec::len).sum();
    let columns = |switches: &Vec<(&str, Switch)>| -> usize {
        let widest = |way| switches.iter().filter_map(|(_, of)| of.get(way)).map(Vec::len).max();
        ways(switches).iter().filter_map(widest).sum()
    };
    let columns = tiers.values().map(columns).max().unwrap_or(0);
    let together = (rows.div_ceil(MOST_ROWS).max(1), columns.div_ceil(MOST_COLUMNS).max(1));
    // Seen as people draw it, with the hosts below.
    let blocks = tiers.values().rev().map(|switches| block(switches, value, together));
    (blocks.collect(), together)
}

/// Which ways links of some switches lead.
fn ways(switches: &[(&str, Switch)]) -> BTreeSet<Way> {
    switches.iter().flat_map(|(_, of)| of.keys().copied()).collect()
}

fn block(
    switches: &[(&str, Switch)],
    value: fn(&Direction) -> f64,
    (rows, columns): (usize, usize),
) -> Block {
    let some: Vec<&[(&str, Switch)]> = switches.chunks(rows).collect();
    let range = |first: &str, last: &str| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let tooltip = |of: &&[(&str, Switch)]| {
        let links = of.iter().flat_map(|(_, switch)| switch.values()).flatten();
        let most = links.max_by(|a, b| value(a.1).total_cmp(&value(b.1)));
        most.map_or_else(String::new, |(_, most)| {
            format!("highest: from {} to {}, {}", most.node, most.peer, percent(value(most)))
        })
    };
    let band = |way: Way| {
        let row = |of: &&[(&str, Switch)]| {
            let mut ports: BTreeMap<u64, f64> = BTreeMap::new();
            for (port, link) in of.iter().filter_map(|(_, switch)| switch.get(&way)).flatten() {
                let most = ports.entry(*port).or_default();
                *most = most.max(value(link));
            }
            let ports: Vec<(u64, f64)> = ports.into_iter().collect();
            let spot = |some: &[(u64, f64)]| Spot {
                name: range(&some[0].0.to_string(), &some[some.len() - 1].0.to_string()),
                value: some.iter().map(|port| port.1).fold(0.0, f64::max),
            };
            ports.chunks(columns).map(spot).collect()
        };
        Band { label: way.label().to_string(), rows: some.iter().map(row).collect() }
    };
    Block {
        rows: some.iter().map(|of| range(of[0].0, of[of.len() - 1].0)).collect(),
        tooltips: some.iter().map(tooltip).collect(),
        bands: ways(switches).into_iter().map(band).collect(),
    }
}

/// The next of 1, 2, 4, 5, 8 and 10 times a power of ten, so that the steps of a scale have ends that
/// can be said.
fn round_up(value: f64) -> f64 {
    let decade = libm::pow(10.0, libm::floor(libm::log10(value)));
    let steps = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0].map(|step| step * decade);
    steps.into_iter().find(|step| value <= step * (1.0 + 1e-9)).unwrap_or(10.0 * decade)
}

/// A share as it is said: `3.2 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        small if small < 0.1 => "less than 0.1 %".to_string(),
        value if value < 9.95 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(ends: (&str, u64), port: u64, to: (&str, u64), busy: f64) -> Direction {
        Direction {
            node: ends.0.to_string(),
            tier: ends.1,
            port,
            peer: to.0.to_string(),
            peer_tier: to.1,
            busy,
            paused: 0.0,
        }
    }

    /// So many leaves of so many hosts, and two spines. A port to a host is busy for a hundredth of
    /// its number, one up for 0.5, one down for 0.6, and hosts for 0.7.
    fn fabric(leaves: u64, hosts: u64) -> Vec<Direction> {
        let mut links = Vec::new();
        for leaf in 0..leaves {
            let name = format!("leaf {leaf}");
            for port in 0..hosts {
                let host = format!("host {}", leaf * hosts + port);
                links.push(link((&host, HOSTS), 0, (&name, 0), 0.7));
                links.push(link((&name, 0), port, (&host, HOSTS), port as f64 / 100.0));
            }
            for spine in 0..2 {
                let other = format!("spine {spine}");
                links.push(link((&name, 0), hosts + spine, (&other, 1), 0.5));
                links.push(link((&other, 1), leaf, (&name, 0), 0.6));
            }
        }
        links
    }

    fn values(row: &[Spot]) -> Vec<(&str, f64)> {
        row.iter().map(|spot| (spot.name.as_str(), spot.value)).collect()
    }

    #[test]
    fn every_direction_has_its_tile() {
        let links = fabric(3, 2);
        let (blocks, together) = blocks(&links, BUSY.value);
        assert_eq!(together, (1, 1));
        assert_eq!(blocks.len(), 2, "spines above, leaves below");
        assert_eq!(blocks[0].rows, ["spine 0", "spine 1"]);
        assert_eq!(values(&blocks[0].bands[0].rows[1]), [("0", 0.6), ("1", 0.6), ("2", 0.6)]);
        assert_eq!(blocks[1].rows, ["leaf 0", "leaf 1", "leaf 2"]);
        let labels: Vec<&str> = blocks[1].bands.iter().map(|band| band.label.as_str()).collect();
        assert_eq!(labels, ["to hosts", "from hosts", "up"]);
        let of_leaf = |band: usize| values(&blocks[1].bands[band].rows[2]);
        assert_eq!(of_leaf(0), [("0", 0.0), ("1", 0.01)]);
        assert_eq!(of_leaf(1), [("0", 0.7), ("1", 0.7)], "at the ports of the switch");
        assert_eq!(of_leaf(2), [("2", 0.5), ("3", 0.5)]);
        assert_eq!(blocks[1].tooltips[2], "highest: from host 5 to leaf 2, 70 %");
        let tiles = |block: &Block| -> usize {
            block.bands.iter().flat_map(|band| &band.rows).map(Vec::len).sum()
        };
        assert_eq!(blocks.iter().map(tiles).sum::<usize>(), links.len());
    }

    #[test]
    fn of_a_large_fabric_a_tile_is_the_highest_of_several() {
        // 162 rows in 54 of three; 60 + 60 + 2 columns, two together.
        let (blocks, together) = blocks(&fabric(160, 60), BUSY.value);
        assert_eq!(together, (3, 2));
        assert_eq!(blocks[1].rows.len(), 54);
        assert_eq!(blocks[1].rows[0], "leaf 0 to leaf 2");
        assert_eq!(blocks[1].rows[53], "leaf 159", "what is left");
        let to_hosts = values(&blocks[1].bands[0].rows[0]);
        assert_eq!(to_hosts.len(), 30);
        assert_eq!(to_hosts[29], ("58 to 59", 0.59));
    }

    #[test]
    fn what_stands_out_is_said() {
        // Six times 0.7, six times 0.6, of which the last is the twelfth of 24, and what is less.
        assert_eq!(
            in_words(&fabric(3, 2), &BUSY),
            "the busiest link is that from host 0 to leaf 0, 70 % of the time; the median is 60 %"
        );
        let mut links = fabric(3, 2);
        assert_eq!(in_words(&links, &PAUSED), "no link is ever paused");
        links[1].paused = 0.25;
        assert_eq!(
            in_words(&links, &PAUSED),
            "paused at least once: 1 of 24 link directions; longest: from leaf 0 to host 0, 25 % of the time"
        );
    }

    #[test]
    fn scales_end_at_round_shares() {
        for (value, end) in [(0.93, 1.0), (0.8, 0.8), (0.41, 0.5), (0.012, 0.02), (1.0, 1.0)] {
            assert!((round_up(value) - end).abs() < 1e-12, "{value}: {}", round_up(value));
        }
        assert_eq!([0.0004, 0.0321, 0.7].map(percent), ["less than 0.1 %", "3.2 %", "70 %"]);
    }
}
