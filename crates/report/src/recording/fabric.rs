//! The fabric as a picture: where nodes and their ports lie, by tier, hosts at the bottom.
//!
//! Places across are shares of the width, so that one layout serves every screen. Hosts that are too
//! many to distinguish are shown as one bundle below their switch.

use std::collections::{BTreeMap, HashMap};

use floodway_model::Table;
use floodway_model::tables::{links, switches};

/// More hosts than these are drawn as bundles.
pub const MOST_HOSTS: usize = 256;
/// Networks with more directions of links than these are not drawn at all.
pub const MOST_ENDS: usize = 20_000;

/// Nodes and the sending ends of links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fabric {
    /// Switches, then hosts or bundles of them.
    pub nodes: Vec<Node>,
    /// Both directions of every link that is drawn.
    pub ends: Vec<End>,
    /// What the nodes of a row have in common in their names, the lowest row first.
    pub rows: Vec<String>,
}

/// A switch, a host or a bundle of hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What is left of it without the name of its row.
    pub label: String,
    /// Its row, counted from the bottom.
    pub row: usize,
    /// Its middle.
    pub x: f64,
    /// Its width; 0 of a single host.
    pub width: f64,
    /// The hosts that it stands for: none if it is a switch.
    pub hosts: usize,
}

/// The sending end of a link, or of those between a switch and a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// The node that sends.
    pub node: usize,
    /// Its port; of several the first.
    pub port: u64,
    /// The node that receives.
    pub peer: usize,
    /// The end that sends the other way.
    pub back: usize,
    /// Where the port lies.
    pub x: f64,
    /// Whether it lies at the upper edge of its node: towards a higher row, or the same.
    pub top: bool,
    /// How many links it stands for.
    pub links: usize,
}

/// The row of a network's links.
struct Link<'a> {
    node: &'a str,
    port: u64,
    peer: &'a str,
}

impl Fabric {
    /// From the tables `links` and `switches`: the fabric, and by row of `links` its end. `None` of a
    /// network that is too large or has no switch.
    pub fn of(tables: &[Table]) -> Option<(Self, Vec<usize>)> {
        let (links, switches) = links::View::of(tables).zip(switches::View::of(tables))?;
        if links.rows() == 0 || links.rows() > MOST_ENDS {
            return None;
        }
        let names = links.node.iter().zip(links.peer);
        let rows: Vec<Link> =
            names.zip(links.port).map(|((node, peer), &port)| Link { node, port, peer }).collect();
        let mut fabric = Self::default();
        let at = fabric.add_nodes(&rows, switches);
        if rows.iter().any(|link| !at.contains_key(link.node) || !at.contains_key(link.peer)) {
            return None;
        }
        let of_row = fabric.add_ends(&rows, &at);
        fabric.lay_out();
        Some((fabric, of_row))
    }

    /// Whether hosts are bundled.
    pub fn bundles(&self) -> bool {
        self.nodes.iter().any(|node| node.hosts > 1)
    }

    /// Adds all nodes, and returns their places by name.
    fn add_nodes<'a>(
        &mut self,
        links: &[Link<'a>],
        switches: switches::View<'a>,
    ) -> HashMap<&'a str, usize> {
        let mut tiers = switches.tier.to_vec();
        tiers.sort_unstable();
        tiers.dedup();
        let mut at = HashMap::new();
        for (name, tier) in switches.node.iter().zip(switches.tier) {
            let row = tiers.partition_point(|other| other < tier);
            at.insert(name.as_str(), self.nodes.len());
            self.nodes.push(Node { row, ..Node::new(name, 0) });
        }
        // A host has one link, to a switch.
        let hosts = links.iter().filter(|link| !at.contains_key(link.node));
        let hosts: Vec<(&str, usize)> =
            hosts.filter_map(|link| Some((link.node, *at.get(link.peer)?))).collect();
        if hosts.is_empty() {
            return at;
        }
        self.nodes.iter_mut().for_each(|node| node.row += 1);
        if hosts.len() <= MOST_HOSTS {
            for (name, _) in hosts {
                at.insert(name, self.nodes.len());
                self.nodes.push(Node::new(name, 1));
            }
            return at;
        }
        let mut below: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        hosts.iter().for_each(|&(name, switch)| below.entry(switch).or_default().push(name));
        for (switch, names) in below {
            let name = match names.as_slice() {
                [only] => (*only).to_owned(),
                many => format!("{} hosts of {}", many.len(), self.nodes[switch].name),
            };
            at.extend(names.iter().map(|&name| (name, self.nodes.len())));
            self.nodes.push(Node::new(&name, names.len()));
        }
        at
    }

    /// Adds all ends, and returns them by row of the table.
    fn add_ends(&mut self, links: &[Link], at: &HashMap<&str, usize>) -> Vec<usize> {
        let mut of_row = Vec::with_capacity(links.len());
        let mut bundled: HashMap<(usize, usize), usize> = HashMap::new();
        let mut between: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for link in links {
            let (node, peer) = (at[link.node], at[link.peer]);
            let bundle = self.nodes[node].hosts > 1 || self.nodes[peer].hosts > 1;
            let known = bundled.get(&(node, peer)).copied().filter(|_| bundle);
            let end = known.unwrap_or(self.ends.len());
            if known.is_none() {
                let port = link.port;
                self.ends.push(End { node, port, peer, back: 0, x: 0.0, top: false, links: 0 });
                between.entry((node, peer)).or_default().push(end);
                bundled.insert((node, peer), end);
            }
            self.ends[end].links += 1;
            of_row.push(end);
        }
        // The ports of parallel links are in the same order at both ends.
        for ((node, peer), ends) in &between {
            let back = between.get(&(*peer, *node)).map_or(&[][..], Vec::as_slice);
            for (end, back) in ends.iter().zip(back) {
                self.ends[*end].back = *back;
            }
        }
        of_row
    }

    /// Finds a place for everything, row by row from the lowest switches up.
    fn lay_out(&mut self) {
        let top = self.nodes.iter().map(|node| node.row).max().unwrap_or(0);
        let ends_of = self.ends_by_node();
        for row in 0..=top {
            let mut here: Vec<usize> =
                (0..self.nodes.len()).filter(|&node| self.is_switch_of(node, row)).collect();
            // Switches stand above those that they are linked to, so that pods stay together.
            let place = |node: &usize| {
                let below = ends_of[*node].iter().map(|&end| &self.nodes[self.ends[end].peer]);
                let below = below.filter(|peer| peer.hosts == 0 && peer.row < row);
                let places: Vec<f64> = below.map(|peer| peer.x).collect();
                let mean = places.iter().sum::<f64>() / places.len().max(1) as f64;
                (mean * 1e6) as u64
            };
            here.sort_by_cached_key(place);
            let slot = 1.0 / here.len().max(1) as f64;
            for (place, &node) in here.iter().enumerate() {
                let (top, bottom) = self.edges(node, &ends_of[node]);
                let ports = top.len().max(bottom.len()) as f64;
                self.nodes[node].x = slot * (place as f64 + 0.5);
                self.nodes[node].width = (slot * 0.86).min(0.03 + 0.014 * ports);
            }
        }
        for (node, ends) in ends_of.iter().enumerate() {
            if self.nodes[node].hosts == 0 {
                self.place_ports(node, ends);
            }
        }
        for end in 0..self.ends.len() {
            let (node, back) = (self.ends[end].node, self.ends[end].back);
            if self.nodes[node].hosts > 0 {
                let (x, width) = (self.ends[back].x, self.nodes[self.ends[end].peer].width);
                let bundle = self.nodes[node].hosts > 1;
                self.nodes[node].x = x;
                self.nodes[node].width = if bundle { width * 0.8 } else { 0.0 };
                (self.ends[end].x, self.ends[end].top) = (x, true);
            }
        }
        self.name_rows(top);
    }

    fn is_switch_of(&self, node: usize, row: usize) -> bool {
        self.nodes[node].hosts == 0 && self.nodes[node].row == row
    }

    fn ends_by_node(&self) -> Vec<Vec<usize>> {
        let mut ends_of = vec![Vec::new(); self.nodes.len()];
        for (number, end) in self.ends.iter().enumerate() {
            ends_of[end.node].push(number);
        }
        ends_of
    }

    /// The ends of a switch at its upper and at its lower edge.
    fn edges(&self, node: usize, ends: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let row = self.nodes[node].row;
        ends.iter().partition(|&&end| {
            let peer = &self.nodes[self.ends[end].peer];
            peer.hosts == 0 && peer.row >= row
        })
    }

    /// Ports lie in the order of what they lead to, hosts in that of the ports.
    fn place_ports(&mut self, node: usize, ends: &[usize]) {
        let (x, width) = (self.nodes[node].x, self.nodes[node].width);
        let (top, bottom) = self.edges(node, ends);
        for (mut edge, is_top) in [(top, true), (bottom, false)] {
            // Within a row a link to the left begins left, and of those to one side an outer arc outside.
            let key = |end: usize| {
                let peer = &self.nodes[self.ends[end].peer];
                match (peer.hosts > 0, peer.row == self.nodes[node].row) {
                    (true, _) => (2, 0.0),
                    (_, false) => (1, peer.x),
                    (_, true) if peer.x < x => (0, -peer.x),
                    (_, true) => (2, -peer.x),
                }
            };
            edge.sort_by(|&a, &b| {
                let ((side, place), (other_side, other)) = (key(a), key(b));
                side.cmp(&other_side).then(place.total_cmp(&other))
            });
            let many = edge.len() as f64;
            for (place, end) in edge.into_iter().enumerate() {
                let share = (place as f64 + 0.5) / many - 0.5;
                (self.ends[end].x, self.ends[end].top) = (x + width * share, is_top);
            }
        }
    }

    /// What the names of a row have in common stands once.
    fn name_rows(&mut self, top: usize) {
        for row in 0..=top {
            let here = || self.nodes.iter().filter(move |node| node.row == row);
            let common = here().next().and_then(|first| first.name.rsplit_once(' '));
            let common = common.map(|(common, _)| common.to_owned()).unwrap_or_default();
            let shared = !common.is_empty()
                && here().count() > 1
                && here().all(|node| node.name.rsplit_once(' ').is_some_and(|(c, _)| c == common));
            if here().all(|node| node.hosts > 0) {
                self.rows.push("hosts".to_owned());
                for node in self.nodes.iter_mut().filter(|node| node.row == row) {
                    node.label =
                        if node.hosts > 1 { node.hosts.to_string() } else { String::new() };
                }
                continue;
            }
            // Rails and the switches of NVLink are in one row.
            let kinds = here().map(|node| node.name.rsplit_once(' ').map(|(kind, _)| kind));
            let kinds: Option<Vec<&str>> = kinds.collect();
            let mut kinds = kinds.unwrap_or_default();
            kinds.dedup();
            let named = shared || (2..=3).contains(&kinds.len()) && here().count() > kinds.len();
            self.rows.push(if named { kinds.join(", ") } else { String::new() });
            for node in self.nodes.iter_mut().filter(|node| node.row == row && shared) {
                node.label = node.name[common.len() + 1..].to_owned();
            }
        }
    }
}

impl Node {
    /// One of the lowest row, without a place yet.
    fn new(name: &str, hosts: usize) -> Self {
        let (name, label) = (name.to_owned(), name.to_owned());
        Self { name, label, row: 0, x: 0.0, width: 0.0, hosts }
    }
}
