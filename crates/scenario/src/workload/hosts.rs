//! Hosts that a workload names, instead of taking them from the order of placement.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::topology;
use crate::topology::custom::Names;

/// Hosts by their numbers or names, or those of one side of a network that has two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// All there are.
    All,
    /// All on the left.
    Left,
    /// All on the right.
    Right,
    /// These, in this order.
    Listed(Vec<Part>),
}

/// Some hosts of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// By their numbers: the first and the last.
    Numbers(u32, u32),
    /// By their names: `client 0-3`.
    Names(String),
}

/// Why hosts cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The network has no sides.
    NoSides,
    /// There is no host of this number.
    Number(u32),
    /// There is no host of this name.
    Name(String),
    /// This one is named twice.
    Twice(u32),
}

impl Hosts {
    /// All there are.
    pub fn all() -> Self {
        Self::All
    }

    /// All on the left.
    pub fn left() -> Self {
        Self::Left
    }

    /// All on the right.
    pub fn right() -> Self {
        Self::Right
    }

    /// Their numbers in a network.
    pub fn numbers(&self, network: &topology::Spec) -> Result<Vec<u32>, Unknown> {
        let side = |number: usize| {
            let sides = network.sides().ok_or(Unknown::NoSides)?;
            Ok((sides[number].start as u32..sides[number].end as u32).collect())
        };
        let parts = match self {
            Self::All => return Ok((0..network.size().hosts as u32).collect()),
            Self::Left => return side(0),
            Self::Right => return side(1),
            Self::Listed(parts) => parts,
        };
        let hosts = network.size().hosts;
        let by_name = network.host_numbers();
        let mut numbers = Vec::new();
        for part in parts {
            match part {
                &Part::Numbers(first, last) if u64::from(last) >= hosts => {
                    let missing = first.max(hosts.min(u32::MAX.into()) as u32);
                    return Err(Unknown::Number(missing));
                }
                &Part::Numbers(first, last) => numbers.extend(first..=last),
                Part::Names(names) => {
                    let names = Names::parse(names).expect("names are read where they are made");
                    for name in names.each() {
                        numbers.push(by_name(&name).ok_or(Unknown::Name(name))?);
                    }
                }
            }
        }
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Unknown::Twice(pair[0])),
            None => Ok(numbers),
        }
    }
}

impl FromStr for Hosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = |part: &str| -> Option<Part> {
            let part = part.trim();
            if part.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return Names::parse(part).ok().map(|_| Part::Names(part.to_owned()));
            }
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(Part::Numbers(first, last))
        };
        match text.trim() {
            "all" => Ok(Self::All),
            "left" => Ok(Self::Left),
            "right" => Ok(Self::Right),
            text => {
                let parts: Option<Vec<Part>> = text.split(',').map(part).collect();
                parts.map(Self::Listed).ok_or_else(|| format!("{text:?} is not a list of hosts"))
            }
        }
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Part| match part {
            Part::Numbers(first, last) if first == last => first.to_string(),
            Part::Numbers(first, last) => format!("{first}-{last}"),
            Part::Names(names) => names.clone(),
        };
        match self {
            Self::All => f.write_str("all"),
            Self::Left => f.write_str("left"),
            Self::Right => f.write_str("right"),
            Self::Listed(parts) => {
                let parts: Vec<_> = parts.iter().map(part).collect();
                f.write_str(&parts.join(", "))
            }
        }
    }
}

impl Serialize for Hosts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Hosts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hosts in quotes, like \"0-9\" or \"0, 2, 5-7\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Hosts, E> {
                text.parse().map_err(E::custom)
            }
            // One host, as a setting on the command line has it.
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Hosts, E> {
                number.to_string().parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Hosts, E> {
                number.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for Hosts {
    fn schema_name() -> Cow<'static, str> {
        "Hosts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer"],
            "minimum": 0,
            "description": "Hosts by number, like \"0-9\" or \"0, 2, 5-7\", by name, like \"host 0-9\", or \"all\", \"left\" or \"right\"",
        })
    }
}

/// The hosts between which a workload sends: their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Senders, at least one.
    pub from: Vec<u32>,
    /// Receivers, at least one.
    pub to: Vec<u32>,
}

impl Ends {
    /// The receivers of a sender, which does not send to itself.
    pub fn receivers(&self, src: u32) -> impl Iterator<Item = u32> + '_ {
        self.to.iter().copied().filter(move |&dst| dst != src)
    }

    /// The n-th sender and the n-th receiver, from the first receiver again where there are more senders.
    pub fn cycled(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.from.iter().copied().zip(self.to.iter().copied().cycle())
    }

    /// The first sender and the first receiver that it has.
    pub fn first(&self) -> Option<(u32, u32)> {
        self.from.iter().find_map(|&src| Some((src, self.receivers(src).next()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Hosts {
        text.parse().unwrap()
    }

    fn network(text: &str) -> topology::Spec {
        serde_json::from_str(text).unwrap()
    }

    fn dumbbell() -> topology::Spec {
        network(r#"{ "dumbbell": { "left": 3, "right": 5 } }"#)
    }

    fn star(hosts: u32) -> topology::Spec {
        network(&format!(r#"{{ "star": {{ "hosts": {hosts} }} }}"#))
    }

    #[test]
    fn numbers_ranges_and_sides() {
        let numbers = |text| hosts(text).numbers(&dumbbell()).unwrap();
        assert_eq!(numbers("5"), [5]);
        assert_eq!(numbers("6-7, 0 ,2-4"), [6, 7, 0, 2, 3, 4]);
        assert_eq!(numbers("all"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(numbers("left"), [0, 1, 2]);
        assert_eq!(numbers("right"), [3, 4, 5, 6, 7]);
        assert_eq!(numbers("host 6-7, 0, host 2"), [6, 7, 0, 2]);
        for text in ["5", "6-7, 0, 2-4", "all", "left", "right", "host 6-7, 0"] {
            assert_eq!(hosts(text).to_string(), text);
        }
    }

    #[test]
    fn names_of_a_custom_network() {
        let custom = network(
            r#"{ "custom": { "hosts": ["server", "client 1-3"], "switches": ["core"],
            "links": [{ "ends": "server, client 1-3 -- core" }] } }"#,
        );
        let numbers = |text| hosts(text).numbers(&custom);
        assert_eq!(numbers("client 2-3, server"), Ok(vec![2, 3, 0]));
        assert_eq!(numbers("1-3"), Ok(vec![1, 2, 3]));
        assert_eq!(numbers("core"), Err(Unknown::Name("core".to_owned())));
        assert_eq!(numbers("client 2-4"), Err(Unknown::Name("client 4".to_owned())));
        assert_eq!(numbers("host 0"), Err(Unknown::Name("host 0".to_owned())));
        assert_eq!(numbers("client 1, 1"), Err(Unknown::Twice(1)));
    }

    #[test]
    fn what_is_no_list_of_hosts() {
        let texts =
            ["", "1-", "-1", "3-2", "1,,2", "1.5", "4294967296", "0-1-2", "a:b", "host 3-0", "1,"];
        for text in texts {
            assert_eq!(text.parse::<Hosts>(), Err(format!("{text:?} is not a list of hosts")));
        }
    }

    #[test]
    fn hosts_that_are_not_there_or_twice() {
        assert_eq!(hosts("left").numbers(&star(8)), Err(Unknown::NoSides));
        assert_eq!(hosts("0-8").numbers(&star(8)), Err(Unknown::Number(8)));
        assert_eq!(hosts("0, 11-12").numbers(&star(8)), Err(Unknown::Number(11)));
        assert_eq!(hosts("host 8").numbers(&star(8)), Err(Unknown::Name("host 8".to_owned())));
        assert_eq!(hosts("Left").numbers(&dumbbell()), Err(Unknown::Name("Left".to_owned())));
        assert_eq!(hosts("0-5, 3").numbers(&star(8)), Err(Unknown::Twice(3)));
        assert_eq!(hosts("3, host 0-5").numbers(&star(8)), Err(Unknown::Twice(3)));
        assert_eq!(hosts("0-2, 3").numbers(&star(4)).unwrap().len(), 4);
    }
}
