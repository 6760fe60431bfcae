//! The network: links between the switches that were read, and a host at every other port.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::{Duration, Rate};

use super::neighbors::{Neighbor, Origin, Overruled, shown};
use super::switch::{METER, Port, Switch};
use crate::text::Problem;
use crate::topology::custom::BETWEEN;

/// Hosts, switches and links by name.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Hosts.
    pub hosts: Vec<String>,
    /// Switches, in the order in which they were read.
    pub switches: Vec<String>,
    /// Links.
    pub links: Vec<Link>,
    /// Names that had to change: as written, and here.
    pub renamed: BTreeMap<String, String>,
    /// How many of the hosts stand for a neighbor that a configuration names.
    pub named: usize,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its ends, as in scenarios.
    pub ends: String,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Duration,
    /// The port that it is from.
    pub from: String,
}

impl Network {
    /// Joins the switches. `overruled` are cables that are declared and are none.
    pub fn of(switches: &[Switch], overruled: &[Overruled]) -> Result<Self, Problem> {
        let mut network = Self::default();
        let mut taken = BTreeSet::new();
        for switch in switches {
            let name = network.name(&switch.name, &mut taken);
            network.switches.push(name);
        }
        let mut joined: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut groups: Vec<usize> = (0..switches.len()).collect();
        for (number, switch) in switches.iter().enumerate() {
            for port in &switch.ports {
                if joined.contains(&(number, port.name.as_str())) {
                    continue;
                }
                joined.insert((number, &port.name));
                let from = format!("{} {}", switch.name, port.name);
                let here = network.switches[number].clone();
                let other = other(switches, number, port)?;
                let Some((at, end)) = other else {
                    let host = network.host(switch, port, switches.len() > 1, &mut taken);
                    network.links.push(link(&host, &here, port, None, from));
                    continue;
                };
                if !joined.insert((at, &end.name)) {
                    let message =
                        format!("two cables lead to {} of {}", end.name, switches[at].name);
                    let help = "correct `DEVICE_NEIGHBOR` of the switches that name this port";
                    return Err(problem(switch, port, message, help));
                }
                let (a, b) = (groups[number], groups[at]);
                groups.iter_mut().filter(|group| **group == b).for_each(|group| *group = a);
                let there = network.switches[at].clone();
                network.links.push(link(&here, &there, port, Some(end), from));
            }
        }
        if let Some(apart) = groups.iter().position(|group| *group != groups[0]) {
            let from_to =
                format!("no path leads from {} to {}", switches[0].name, switches[apart].name);
            let group = |name: &String| {
                switches
                    .iter()
                    .zip(&groups)
                    .find(|(of, _)| of.name == *name)
                    .map(|(_, group)| group)
            };
            let would_join = |of: &&Overruled| group(&of.ends[0]) != group(&of.ends[1]);
            if let Some(Overruled { warning, .. }) = overruled.iter().find(would_join) {
                return Err(Problem::error(
                    warning.place.clone(),
                    format!("{from_to}: {}", warning.message),
                    "LLDP overrules what is declared: correct the cable, write the LLDP table again, or leave it out",
                ));
            }
            return Err(switches[apart].config.problem(
                format!(
                    "{from_to}: `DEVICE_NEIGHBOR`, minigraphs and LLDP join them by no cable"
                ),
                format!(
                    "name {} in `DEVICE_NEIGHBOR` of a switch that is joined to it, like {{\"Ethernet0\": {{\"name\": \
                     \"{}\", \"port\": \"Ethernet0\"}}}}, or give minigraph.xml or the output of `lldpctl -f json` \
                     too, or import the switches one by one",
                    switches[apart].name, switches[apart].name
                ),
            ));
        }
        if network.hosts.len() < 2 {
            return Err(switches[0].config.problem(
                format!("the network would have {} hosts: traffic needs two", network.hosts.len()),
                "give the switches to which hosts are joined too, or more of their ports",
            ));
        }
        Ok(network)
    }

    fn host(
        &mut self,
        switch: &Switch,
        port: &Port,
        several: bool,
        taken: &mut BTreeSet<String>,
    ) -> String {
        let own = match several {
            true => format!("{} {}", switch.name, port.name),
            false => format!("at {}", port.name),
        };
        let same = |neighbor: &&Neighbor| {
            let ports = switch.ports.iter().filter_map(|port| port.neighbor.as_ref());
            ports.filter(|other| other.name == neighbor.name).count() == 1
        };
        self.named += usize::from(port.neighbor.is_some());
        let written = match port.neighbor.as_ref().filter(same) {
            Some(neighbor) => neighbor.name.clone(),
            None => own,
        };
        let name = self.name(&written, taken);
        self.hosts.push(name.clone());
        name
    }

    /// A name as scenarios take it, and that nothing else has.
    fn name(&mut self, written: &str, taken: &mut BTreeSet<String>) -> String {
        let mut name = fitting(written);
        let stem = name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{stem}.{number}");
            number += 1;
        }
        if name != written {
            self.renamed.insert(written.to_owned(), name.clone());
        }
        name
    }
}

fn link(one: &str, other: &str, port: &Port, end: Option<&Port>, from: String) -> Link {
    let cable = port.cable.max(end.and_then(|end| end.cable));
    let delay = cable.map_or(Duration::ZERO, |cable| cable.delay(METER));
    Link { ends: format!("{one} {BETWEEN} {other}"), rate: port.rate, delay, from }
}

/// An error about the neighbor of a port.
fn problem(switch: &Switch, port: &Port, message: String, help: &str) -> Problem {
    match &port.neighbor {
        Some(neighbor) => Problem::error(neighbor.place.clone(), message, help),
        None => switch.config.problem(message, help),
    }
}

/// The port at the other end of a cable, if its switch was read too.
pub fn other<'a>(
    switches: &'a [Switch],
    number: usize,
    port: &Port,
) -> Result<Option<(usize, &'a Port)>, Problem> {
    let here = &switches[number];
    let is_here = |neighbor: &Neighbor| {
        neighbor.name == here.name && neighbor.port.as_ref() == Some(&port.name)
    };
    let named = match &port.neighbor {
        Some(neighbor) => {
            let Some(found) = switches.iter().position(|other| other.name == neighbor.name) else {
                return Ok(None);
            };
            (found, neighbor.port.as_deref())
        }
        // It may be the other side that names this one.
        None => {
            let by = |(at, other): (usize, &'a Switch)| {
                let names = |end: &&Port| end.neighbor.as_ref().is_some_and(is_here);
                other.ports.iter().find(names).map(|end| (at, Some(end.name.as_str())))
            };
            let mut others = switches.iter().enumerate().filter(|(at, _)| *at != number);
            match others.find_map(by) {
                Some(found) => found,
                None => return Ok(None),
            }
        }
    };
    let wrong = |message: String, help: &str| problem(here, port, message, help);
    let (at, end) = named;
    let there = &switches[at];
    let Some(end) = end else {
        let message =
            format!("the cable of {} leads to {}, without the port there", port.name, there.name);
        return Err(wrong(message, "add the field `port`"));
    };
    if at == number {
        let message = format!("the cable of {} leads back to {}", port.name, here.name);
        return Err(wrong(message, "name the switch or host at its other end"));
    }
    let Some(end) = there.ports.iter().find(|other| other.name == end) else {
        let message = match there.left_out.get(end) {
            Some(why) => format!(
                "{} of {}, to which {} leads, carries no traffic: {why}",
                end, there.name, port.name
            ),
            None => format!("{} has no port {end:?}, to which {} leads", there.name, port.name),
        };
        return Err(wrong(message, "correct the port, or the configuration of that switch"));
    };
    if let Some(back) = end.neighbor.as_ref().filter(|neighbor| !is_here(neighbor)) {
        let message = format!(
            "the cable of {} leads to {} of {}, which names another neighbor ({})",
            port.name,
            end.name,
            there.name,
            shown(&back.place)
        );
        let help = match back.origin {
            Origin::DeviceNeighbor => "make `DEVICE_NEIGHBOR` of both switches agree",
            _ => "make what is said of both ends agree",
        };
        return Err(wrong(message, help));
    }
    if end.rate != port.rate {
        let message = format!(
            "{} has {}, and {} of {} at the other end of its cable has {}",
            port.name, port.rate, end.name, there.name, end.rate
        );
        let (entry, config) = (here.config.entry("PORT", &port.name), &here.config);
        let help = "give both the same `speed`, and `PORT` to both switches";
        return Err(match entry {
            Some(entry) => entry.problem("speed", message, help),
            None => config.problem(message, help),
        });
    }
    Ok(Some((at, end)))
}

/// Letters, digits and what else names of scenarios have; and no dash between two numbers at the end, which
/// would be several.
fn fitting(written: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-');
    let mut name: String =
        written.trim().chars().take(60).map(|c| if fits(c) { c } else { '_' }).collect();
    while name.contains(BETWEEN) {
        name = name.replace(BETWEEN, "-");
    }
    if !name.chars().next().is_some_and(|first| first.is_ascii_alphabetic()) {
        name = format!("n{name}");
    }
    if let Some((head, last)) = name.rsplit_once('-') {
        let (head, last) = (head.trim_end(), last.trim_start());
        let digits = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        if digits && head.ends_with(|c: char| c.is_ascii_digit()) {
            name = format!("{head}_{last}");
        }
    }
    if ["left", "right"].contains(&name.as_str()) { format!("host {name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::custom::Names;

    #[test]
    fn names_are_one_name_each() {
        for (written, expected) in [
            ("ARISTA01T1", "ARISTA01T1"),
            ("leaf-1-4", "leaf-1_4"),
            ("7260", "n7260"),
            ("a--b", "a-b"),
            ("left", "host left"),
            ("ü", "n_"),
            ("", "n"),
        ] {
            let name = fitting(written);
            assert_eq!(name, expected);
            assert_eq!(Names::parse(&name).map(|names| names.count()), Ok(1), "{name}");
        }
    }
}
