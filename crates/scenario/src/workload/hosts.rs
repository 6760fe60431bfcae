//! Hosts that a workload names, instead of taking them from the order of placement.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Hosts by their numbers, or those of one side of a network that has two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// All there are.
    All,
    /// All on the left.
    Left,
    /// All on the right.
    Right,
    /// Those with these numbers, in this order: first and last of each range.
    Numbers(Vec<(u32, u32)>),
}

/// Why hosts cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The network has no sides.
    NoSides,
    /// There is no host of this number.
    Number(u32),
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

    /// Their numbers, in a network of `hosts` hosts that has these sides.
    pub fn numbers(
        &self,
        hosts: u64,
        sides: Option<&[Range<u64>; 2]>,
    ) -> Result<Vec<u32>, Unknown> {
        let side = |number: usize| {
            let [first, end] = sides.map(|sides| [sides[number].start, sides[number].end])?;
            Some((first as u32..end as u32).collect())
        };
        let ranges = match self {
            Self::All => return Ok((0..hosts as u32).collect()),
            Self::Left => return side(0).ok_or(Unknown::NoSides),
            Self::Right => return side(1).ok_or(Unknown::NoSides),
            Self::Numbers(ranges) => ranges,
        };
        if let Some(&(first, _)) = ranges.iter().find(|(_, last)| u64::from(*last) >= hosts) {
            return Err(Unknown::Number(first.max(hosts.min(u32::MAX.into()) as u32)));
        }
        let mut sorted = ranges.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            Some(pair) => Err(Unknown::Twice(pair[1].0)),
            None => Ok(ranges.iter().flat_map(|&(first, last)| first..=last).collect()),
        }
    }
}

impl FromStr for Hosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some((first, last))
        };
        match text.trim() {
            "all" => Ok(Self::All),
            "left" => Ok(Self::Left),
            "right" => Ok(Self::Right),
            text => {
                let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
                ranges.map(Self::Numbers).ok_or_else(|| format!("{text:?} is not a list of hosts"))
            }
        }
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        match self {
            Self::All => f.write_str("all"),
            Self::Left => f.write_str("left"),
            Self::Right => f.write_str("right"),
            Self::Numbers(ranges) => {
                let ranges: Vec<_> = ranges.iter().map(range).collect();
                f.write_str(&ranges.join(", "))
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
            "type": "string",
            "description": "Hosts by number, like \"0-9\" or \"0, 2, 5-7\", or \"all\", \"left\" or \"right\"",
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

    #[test]
    fn numbers_ranges_and_sides() {
        let sides = [0..3, 3..8];
        let numbers = |text| hosts(text).numbers(8, Some(&sides)).unwrap();
        assert_eq!(numbers("5"), [5]);
        assert_eq!(numbers("6-7, 0 ,2-4"), [6, 7, 0, 2, 3, 4]);
        assert_eq!(numbers("all"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(numbers("left"), [0, 1, 2]);
        assert_eq!(numbers("right"), [3, 4, 5, 6, 7]);
        for text in ["5", "6-7, 0, 2-4", "all", "left", "right"] {
            assert_eq!(hosts(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_list_of_hosts() {
        for text in ["", "a", "1-", "-1", "3-2", "1,,2", "1.5", "4294967296", "0-1-2", "Left"] {
            assert_eq!(text.parse::<Hosts>(), Err(format!("{text:?} is not a list of hosts")));
        }
    }

    #[test]
    fn hosts_that_are_not_there_or_twice() {
        assert_eq!(hosts("left").numbers(8, None), Err(Unknown::NoSides));
        assert_eq!(hosts("0-8").numbers(8, None), Err(Unknown::Number(8)));
        assert_eq!(hosts("0, 11-12").numbers(8, None), Err(Unknown::Number(11)));
        assert_eq!(hosts("0-5, 3").numbers(8, None), Err(Unknown::Twice(3)));
        assert_eq!(hosts("3, 0-5").numbers(8, None), Err(Unknown::Twice(3)));
        assert_eq!(hosts("0-2, 3").numbers(4, None).unwrap().len(), 4);
    }
}
