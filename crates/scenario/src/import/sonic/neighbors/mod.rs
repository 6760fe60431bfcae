//! What is at the other end of each port: what `DEVICE_NEIGHBOR` and minigraphs declare, and what LLDP sees.
//!
//! What is declared has to agree. What LLDP sees is how the cables are: where it differs from what is declared, it is
//! taken, and a warning has both places. Two switches that see different ends of one cable are an error.

pub mod lldp;
mod merge;
pub mod minigraph;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use floodway_model::Rate;

use super::config::Config;
use super::switch;
use crate::headroom::Cable;
use crate::import::account::Fate;
use crate::text::{Place, Problem, suggest};
use lldp::Seen;
use merge::{Of, leave_out};
use minigraph::{Link, Minigraph};
use units::{of_link, of_seen};

/// Where a neighbor is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The table of a configuration.
    DeviceNeighbor,
    /// A link of a minigraph.
    Minigraph,
    /// What a switch, or its neighbor, sees.
    Lldp,
}

impl Origin {
    /// For messages.
    pub const fn text(self) -> &'static str {
        match self {
            Self::DeviceNeighbor => "`DEVICE_NEIGHBOR`",
            Self::Minigraph => "the minigraph",
            Self::Lldp => "LLDP",
        }
    }
}

/// What a port leads to.
#[derive(Clone, Debug)]
pub struct Neighbor {
    /// The name of the switch or host; of a switch that was read, as its configuration has it.
    pub name: String,
    /// The port there; of a switch that was read, as its configuration has it.
    pub port: Option<String>,
    /// Who says so.
    pub origin: Origin,
    /// Where that is.
    pub place: Place,
    /// Whether `DEVICE_NEIGHBOR` says something else.
    pub overruled: bool,
    /// Where LLDP sees it, from either end; none if it does not.
    pub seen: Option<Place>,
}

/// A field of a file that is no configuration, and what became of it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The kind of what has the field, as a table of a configuration.
    pub table: String,
    /// Which one.
    pub key: String,
    /// The field.
    pub field: String,
    /// What it says.
    pub value: String,
    /// What became of it.
    pub fate: Fate,
    /// Which setting it became, or why none.
    pub meaning: String,
}

impl Unit {
    /// A field of this table and key.
    pub fn new(
        (table, key, field): (&str, &str, &str),
        value: &str,
        (fate, meaning): (Fate, impl Into<String>),
    ) -> Self {
        let [table, key, field, value] = [table, key, field, value].map(str::to_owned);
        Self { table, key, field, value, fate, meaning: meaning.into() }
    }
}

/// The neighbors that a switch sees, from one file.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The file.
    pub path: PathBuf,
    /// The switch that sees them, if the place of the file says it.
    pub owner: Option<usize>,
    /// The neighbors.
    pub seen: Vec<Seen>,
}

/// What files beside the configuration say of one switch, by port.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// What ports lead to.
    pub neighbors: BTreeMap<String, Neighbor>,
    /// Speeds of ports without one in `PORT`.
    pub speeds: BTreeMap<String, Rate>,
    /// Cables of ports without one in `CABLE_LENGTH`.
    pub cables: BTreeMap<String, Cable>,
}

/// A cable between two switches that is declared, and that LLDP does not see.
#[derive(Clone, Debug)]
pub struct Overruled {
    /// The names of the switches.
    pub ends: [String; 2],
    /// What both say, with both places.
    pub warning: Problem,
}

/// What is known of all neighbors.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    /// By switch.
    pub beside: Vec<Beside>,
    /// What became of the fields of minigraphs and LLDP tables.
    pub units: Vec<Unit>,
    /// Where LLDP differs from what is declared.
    pub warnings: Vec<Problem>,
    /// Of these, what is about cables between switches that were read.
    pub overruled: Vec<Overruled>,
    /// The kinds of devices, by name in small letters.
    pub kinds: BTreeMap<String, String>,
}

impl Neighbors {
    /// Adds a warning about what is declared of these ends.
    fn overrule(&mut self, ends: Option<[&str; 2]>, warning: Problem) {
        if let Some(ends) = ends {
            let overruled = Overruled { ends: ends.map(str::to_owned), warning: warning.clone() };
            self.overruled.push(overruled);
        }
        self.warnings.push(warning);
    }
}

/// A switch whose configuration was read.
struct Known<'a> {
    name: &'a str,
    config: &'a Config,
    ports: BTreeSet<String>,
    left_out: BTreeMap<String, &'static str>,
    aliases: BTreeMap<&'a str, &'a str>,
}

impl<'a> Known<'a> {
    fn new(name: &'a str, config: &'a Config) -> Result<Self, Problem> {
        let (ports, left_out) = switch::ports(config)?;
        let alias = |port: &'a super::config::Entry| Some((port.get("alias")?, port.key.as_str()));
        Ok(Self {
            name,
            config,
            ports: ports.into_iter().collect(),
            left_out,
            aliases: config.table("PORT").filter_map(alias).collect(),
        })
    }

    /// The port of the first of these names that it has. Minigraphs and LLDP have aliases; where an alias is also the
    /// name of another port, it is the alias.
    fn port(&self, names: &[&str], alias_first: bool) -> Option<String> {
        let named = |name: &str| {
            let is_port = self.ports.contains(name) || self.left_out.contains_key(name);
            is_port.then(|| name.to_owned())
        };
        let alias = |name: &str| self.aliases.get(name).map(|port| (*port).to_owned());
        names.iter().find_map(|name| match alias_first {
            true => alias(name).or_else(|| named(name)),
            false => named(name).or_else(|| alias(name)),
        })
    }

    /// An error about a port that it does not have.
    fn no_port(&self, port: &str, place: Place) -> Problem {
        let names: Vec<&str> =
            self.ports.iter().map(String::as_str).chain(self.aliases.keys().copied()).collect();
        let help = match self.config.has("PORT") {
            true => suggest::remedy(port, "ports and aliases", &names),
            false => {
                format!("give the table `PORT` of {} too: it has the aliases of ports", self.name)
            }
        };
        Problem::error(place, format!("{} has no port {port:?}", self.name), help)
    }
}

/// What one source says of one port.
#[derive(Clone, Debug)]
struct Claim {
    /// The switch, if it was read.
    switch: Option<usize>,
    name: String,
    port: Option<String>,
    origin: Origin,
    place: Place,
    /// Whether it is only known by an address.
    is_nameless: bool,
    /// Whether the switch itself says it, and not its neighbor.
    is_own: bool,
}

impl Claim {
    fn agrees(&self, other: &Self) -> bool {
        match (self.switch, other.switch) {
            (Some(one), Some(two)) => {
                one == two
                    && (self.port == other.port || self.port.is_none() || other.port.is_none())
            }
            (None, None) => {
                self.is_nameless || other.is_nameless || is_same(&self.name, &other.name)
            }
            _ => false,
        }
    }

    /// For messages.
    fn text(&self) -> String {
        match &self.port {
            Some(port) => format!("{port} of {}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Whether two names are of the same device: letters of either size, and with or without a domain.
fn is_same(one: &str, two: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let has_domain = |name: &str| name.contains('.');
    one.eq_ignore_ascii_case(two) || has_domain(one) != has_domain(two) && short(one) == short(two)
}

/// A place in a message about another place.
pub fn shown(place: &Place) -> String {
    match place.position() {
        Some(at) => format!("{}:{}", place.source.name(), at.line),
        None => place.source.name().to_owned(),
    }
}

/// All claims about ports, by switch and port.
type Claims = BTreeMap<(usize, String), Vec<Claim>>;

/// Resolves what files say of these switches.
pub fn resolve(
    switches: &[(&str, &Config)],
    minigraphs: &[Minigraph],
    heard: &[Heard],
) -> Result<Neighbors, Problem> {
    let known: Result<Vec<Known<'_>>, Problem> =
        switches.iter().map(|(name, config)| Known::new(name, config)).collect();
    let known = known?;
    let mut found =
        Neighbors { beside: vec![Beside::default(); known.len()], ..Neighbors::default() };
    let mut claims = Claims::new();
    declared(&known, &mut claims);
    let mut joins = Vec::new();
    for graph in minigraphs {
        found.units.extend(graph.units.iter().cloned());
        let kinds =
            graph.devices.iter().map(|(name, kind)| (name.to_ascii_lowercase(), kind.clone()));
        found.kinds.extend(kinds);
        for link in &graph.links {
            joins.push((link, join(link, &known, &mut claims, &mut found.beside)?));
        }
    }
    for (_, config) in switches {
        for entry in config.table("DEVICE_NEIGHBOR_METADATA") {
            let kind = entry.get("type").unwrap_or_default().to_owned();
            found.kinds.insert(entry.key.to_ascii_lowercase(), kind);
        }
    }
    let owners: Result<Vec<usize>, Problem> =
        heard.iter().map(|heard| owner(heard, &known)).collect();
    let owners = owners?;
    for (heard, &at) in heard.iter().zip(&owners) {
        for seen in &heard.seen {
            hear(seen, at, &known, &mut claims)?;
        }
    }
    let listens: BTreeSet<usize> = owners.iter().copied().collect();
    for ((at, port), claims) in &claims {
        let of = Of { known: &known[*at], port, listens: listens.contains(at) };
        let neighbor = of.merge(claims, &mut found)?;
        found.beside[*at].neighbors.insert(port.clone(), neighbor);
    }
    leave_out(&known, &mut found);
    for (link, ends) in joins {
        let units = of_link(link, &ends, &known, &found.beside);
        found.units.extend(units);
    }
    for (heard, &at) in heard.iter().zip(&owners) {
        for seen in &heard.seen {
            found.units.extend(of_seen(seen, &known[at], &found.beside[at]));
        }
    }
    Ok(found)
}

/// The switch of this name.
fn switch_of(known: &[Known<'_>], name: &str) -> Option<usize> {
    let exact = known.iter().position(|of| of.name == name);
    exact.or_else(|| known.iter().position(|of| is_same(of.name, name)))
}

/// The claims of `DEVICE_NEIGHBOR`.
fn declared(known: &[Known<'_>], claims: &mut Claims) {
    for (at, of) in known.iter().enumerate() {
        for entry in of.config.table("DEVICE_NEIGHBOR") {
            let Some(name) = entry.get("name").filter(|_| of.ports.contains(&entry.key)) else {
                continue;
            };
            let switch = switch_of(known, name);
            let port = entry.get("port").map(|port| {
                let found = switch.and_then(|switch| known[switch].port(&[port], false));
                found.unwrap_or_else(|| port.to_owned())
            });
            let claim = Claim {
                switch,
                name: switch.map_or(name, |switch| known[switch].name).to_owned(),
                port,
                origin: Origin::DeviceNeighbor,
                place: entry.place("name"),
                is_nameless: false,
                is_own: true,
            };
            claims.entry((at, entry.key.clone())).or_default().push(claim);
        }
    }
}

/// An end of a link at a switch that was read.
type Joined = Option<(usize, String)>;

/// The claims of a link of a minigraph, and its speed and cable. Returns its ends at switches that were read.
fn join(
    link: &Link,
    known: &[Known<'_>],
    claims: &mut Claims,
    beside: &mut [Beside],
) -> Result<[Joined; 2], Problem> {
    let mut ends: [Joined; 2] = [None, None];
    for (end, (device, port, place)) in ends.iter_mut().zip(&link.ends) {
        let Some(at) = switch_of(known, device) else { continue };
        let Some(port) = known[at].port(&[port.as_str()], true) else {
            return Err(known[at].no_port(port, place.clone()));
        };
        *end = Some((at, port));
    }
    if let [Some((one, port)), Some((two, _))] = &ends
        && one == two
    {
        let name = known[*one].name;
        let message = format!("a link leads from {port} of {name} back to {name}");
        let help = "name the switch or host at its other end";
        return Err(Problem::error(link.ends[1].2.clone(), message, help));
    }
    for (end, other) in [(0, 1), (1, 0)] {
        let Some((at, port)) = &ends[end] else { continue };
        let of = &known[*at];
        if !of.ports.contains(port) {
            continue;
        }
        let (device, written, _) = &link.ends[other];
        let (switch, name, there) = match &ends[other] {
            Some((switch, there)) => (Some(*switch), known[*switch].name, there),
            None => (None, device.as_str(), written),
        };
        let claim = Claim {
            switch,
            name: name.to_owned(),
            port: Some(there.clone()),
            origin: Origin::Minigraph,
            place: link.ends[end].2.clone(),
            is_nameless: false,
            is_own: true,
        };
        claims.entry((*at, port.clone())).or_default().push(claim);
        let own = of.config.entry("PORT", port);
        if let Some((rate, place)) = &link.speed {
            match own.map(|own| own.at_most("speed", 10_000_000)).transpose()?.flatten() {
                Some(speed) if speed > 0 && Rate::from_mbps(speed) != *rate => {
                    let written = own.map_or_else(String::new, |own| shown(&own.place("speed")));
                    let message = format!(
                        "the link at {port} of {} has {rate}, and `PORT` ({written}) has {}",
                        of.name,
                        Rate::from_mbps(speed)
                    );
                    let help = "correct the speed in one of the two files";
                    return Err(Problem::error(place.clone(), message, help));
                }
                Some(_) => {}
                None => drop(beside[*at].speeds.insert(port.clone(), *rate)),
            }
        }
        let has_length = of.config.table("CABLE_LENGTH").any(|cables| cables.get(port).is_some());
        if let Some(cable) = link.cable.filter(|_| !has_length) {
            beside[*at].cables.insert(port.clone(), cable);
        }
    }
    Ok(ends)
}

/// The switch that an LLDP table is of.
fn owner(heard: &Heard, known: &[Known<'_>]) -> Result<usize, Problem> {
    if let Some(owner) = heard.owner {
        return Ok(owner);
    }
    let stem = heard.path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let stem = stem.replace("lldp", "");
    let stem = stem.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    known.iter().position(|of| of.name.eq_ignore_ascii_case(stem)).ok_or_else(|| {
        let first = known.first().map_or("leaf-1", |of| of.name);
        Problem::error(
            whole(&heard.path),
            "of which switch are these LLDP neighbors?",
            format!(
                "put the file into the directory of the switch, or give it the name of the switch: {first}.lldp.json"
            ),
        )
    })
}

/// A file as a whole.
pub fn whole(path: &Path) -> Place {
    let source = crate::text::Source::new(path.display().to_string(), String::new());
    Place::whole(&std::sync::Arc::new(source))
}

/// Where a port of an LLDP table is.
enum Local {
    Port(String),
    LeftOut(&'static str),
    Management,
}

fn local(seen: &Seen, of: &Known<'_>) -> Result<Local, Problem> {
    let Some(port) = of.port(&[seen.local.as_str()], false) else {
        return match seen.local.starts_with("Ethernet") {
            true => Err(of.no_port(&seen.local, seen.place.clone())),
            false => Ok(Local::Management),
        };
    };
    Ok(match of.left_out.get(&port) {
        Some(why) => Local::LeftOut(why),
        None => Local::Port(port),
    })
}

/// The claims of a neighbor that is seen: of both ends, if the neighbor was read.
fn hear(seen: &Seen, at: usize, known: &[Known<'_>], claims: &mut Claims) -> Result<(), Problem> {
    let of = &known[at];
    let Local::Port(port) = local(seen, of)? else { return Ok(()) };
    let switch = seen.name.as_ref().and_then(|name| switch_of(known, name));
    let names: Vec<&str> =
        std::iter::once(seen.port.as_str()).chain(seen.described.as_deref()).collect();
    let claim = |switch: Option<usize>, name: &str, port: Option<String>, is_own| Claim {
        switch,
        name: name.to_owned(),
        port,
        origin: Origin::Lldp,
        place: seen.place.clone(),
        is_nameless: switch.is_none() && seen.name.is_none(),
        is_own,
    };
    let Some(other) = switch else {
        let name = seen.name.as_ref().unwrap_or(&seen.port);
        let claim = claim(None, name, Some(seen.port.clone()), true);
        claims.entry((at, port)).or_default().push(claim);
        return Ok(());
    };
    let there = &known[other];
    if other == at {
        let message = format!("LLDP of {} sees itself at {port}", of.name);
        let help = "take the loop out, or give the table of another switch";
        return Err(Problem::error(seen.place.clone(), message, help));
    }
    let Some(end) = there.port(&names, true) else {
        return Err(there.no_port(&seen.port, seen.place.clone()));
    };
    if there.ports.contains(&end) {
        let back = claim(Some(at), of.name, Some(port.clone()), false);
        claims.entry((other, end.clone())).or_default().push(back);
    }
    let own = claim(Some(other), there.name, Some(end), true);
    claims.entry((at, port)).or_default().push(own);
    Ok(())
}
