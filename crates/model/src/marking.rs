//! DSCPs as scenarios write them: by name or by number.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Dscp;

/// A DSCP by its name in the registry of RFC 2474, or by its number, 0 to 63. Operators use numbers without a name
/// too: DSCP 3 and 4 are those of lossless traffic in SONiC's default maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Marking(u8);

/// How many DSCPs there are: the field has six bits.
pub const DSCPS: u8 = 64;

/// Names and numbers: BE (RFC 2474, section 4.1), LE (RFC 8622), class selectors (RFC 2474, section 4.2.2), assured
/// forwarding (RFC 2597, section 6), VA (RFC 5865), EF (RFC 3246).
const REGISTRY: [(&str, u8); 23] = [
    ("BE", 0),
    ("LE", 1),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("VA", 44),
    ("EF", 46),
];

/// The names alone, for messages.
const NAMES: [&str; REGISTRY.len()] = {
    let mut names = [""; REGISTRY.len()];
    let mut at = 0;
    while at < REGISTRY.len() {
        names[at] = REGISTRY[at].0;
        at += 1;
    }
    names
};

impl Marking {
    /// The marking with this number; `None` if it does not fit into six bits.
    pub const fn new(number: u8) -> Option<Self> {
        if number < DSCPS { Some(Self(number)) } else { None }
    }

    /// The DSCP as packets carry it.
    pub const fn dscp(self) -> Dscp {
        Dscp(self.0)
    }

    fn name(self) -> Option<&'static str> {
        REGISTRY.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name)
    }
}

/// As in messages and scenarios: the name, or else the number.
impl fmt::Display for Marking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Marking {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name().filter(|_| serializer.is_human_readable()) {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u8(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Marking {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u8::deserialize(deserializer).map(Self);
        }
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Marking;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a DSCP in quotes, like \"EF\", or a whole number from 0 to 63")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Marking, E> {
        let found = REGISTRY.iter().find(|(name, _)| *name == text);
        let number = match found {
            Some((_, number)) => Some(*number),
            None => text.parse().ok(),
        };
        number.and_then(Marking::new).ok_or_else(|| E::unknown_variant(text, &NAMES))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Marking, E> {
        let fits = u8::try_from(number).ok().and_then(Marking::new);
        fits.ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Marking, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl JsonSchema for Marking {
    fn schema_name() -> Cow<'static, str> {
        "Marking".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = NAMES.into_iter().map(Choice::Name);
        let choices: Vec<Choice> = names.chain((0..DSCPS).map(Choice::Number)).collect();
        json_schema!({
            "type": ["string", "integer"],
            "description": "A DSCP by its name, like \"EF\", or as a number from 0 to 63",
            "enum": choices,
        })
    }
}

/// A value in the schema.
#[derive(Serialize)]
#[serde(untagged)]
enum Choice {
    Name(&'static str),
    Number(u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Table {
        dscp: Marking,
    }

    fn read(value: &str) -> Result<u8, String> {
        let table = toml::from_str::<Table>(&format!("dscp = {value}"));
        table.map(|table| table.dscp.dscp().0).map_err(|error| error.message().to_owned())
    }

    /// Class selector n is 8 n; AFxy is 8 x + 2 y (RFC 2597, section 6); EF is 101110 in binary (RFC 3246, section 2.7).
    #[test]
    fn names_have_the_numbers_of_the_registry() {
        let of = |name: &str| read(&format!("\"{name}\"")).unwrap();
        for class in 1..=7 {
            assert_eq!(of(&format!("CS{class}")), 8 * class);
        }
        for class in 1..=4 {
            for drop in 1..=3 {
                assert_eq!(of(&format!("AF{class}{drop}")), 8 * class + 2 * drop);
            }
        }
        assert_eq!(["BE", "LE", "VA", "EF"].map(of), [0, 1, 0b10_1100, 0b10_1110]);
    }

    #[test]
    fn a_number_means_the_same_as_its_name() {
        assert_eq!((read("46"), read("\"46\""), read("63")), (Ok(46), Ok(46), Ok(63)));
        for (number, text) in [(46, "dscp = \"EF\"\n"), (3, "dscp = 3\n")] {
            let table = Table { dscp: Marking::new(number).unwrap() };
            assert_eq!(toml::to_string(&table).unwrap(), text);
            assert_eq!(toml::from_str::<Table>(text), Ok(table));
        }
        for number in ["64", "-1"] {
            let expected =
                format!("invalid value: integer `{number}`, expected the name of a DSCP");
            assert!(read(number).unwrap_err().starts_with(&expected));
        }
        assert!(read("\"CS9\"").unwrap_err().contains("unknown variant `CS9`"));
        assert_eq!(Marking::new(64), None);
    }
}
