//! Round-trip times by the keywords of tc-cake(8), as a scenario may write them in place of a time.

use std::fmt;

use floodway_model::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// The keywords.
const PATHS: [(&str, Duration); 8] = [
    ("datacentre", Duration::from_us(100)),
    ("lan", Duration::from_ms(1)),
    ("metro", Duration::from_ms(10)),
    ("regional", Duration::from_ms(30)),
    ("internet", Duration::from_ms(100)),
    ("oceanic", Duration::from_ms(300)),
    ("satellite", Duration::from_ms(1_000)),
    ("interplanetary", Duration::from_ms(1_000_000)),
];

/// What may be written, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a schema only")]
pub enum Rtt {
    /// A time.
    Time(Duration),
    /// A keyword.
    Path(Path),
}

/// A keyword.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "a schema only")]
pub enum Path {
    /// 100us.
    Datacentre,
    /// 1ms.
    Lan,
    /// 10ms.
    Metro,
    /// 30ms.
    Regional,
    /// 100ms.
    Internet,
    /// 300ms.
    Oceanic,
    /// 1s.
    Satellite,
    /// 1000s.
    Interplanetary,
}

/// Reads a time or a keyword.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    if !deserializer.is_human_readable() {
        return Duration::deserialize(deserializer);
    }
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = Duration;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a duration with its unit in quotes, like \"100ms\", or \"internet\"")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
            let known = PATHS.iter().find(|(name, _)| *name == text.trim());
            match known {
                Some((_, time)) => Ok(*time),
                None => text.parse().map_err(|error| {
                    // Both spellings of the word are English, and one is a keyword.
                    if text.trim() == "datacenter" {
                        return E::custom(
                            "as a keyword of tc-cake(8), \"datacenter\" is spelled \"datacentre\"",
                        );
                    }
                    let names = PATHS.map(|(name, _)| name).join(", ");
                    E::custom(format!("{error}, or one of {names}"))
                }),
            }
        }
    }
    deserializer.deserialize_str(Visitor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::discipline::cake::Spec;

    /// The times of tc-cake(8).
    #[test]
    fn keywords_are_times() {
        let of = |text: &str| {
            serde_json::from_str::<Spec>(&format!("{{ \"rtt\": \"{text}\" }}")).map(|spec| spec.rtt)
        };
        assert_eq!(of("lan").unwrap(), Duration::from_ms(1));
        assert_eq!(of("datacentre").unwrap(), Duration::from_us(100));
        assert_eq!(of("satellite").unwrap(), of("1s").unwrap());
        let error = of("moon").unwrap_err().to_string();
        assert!(error.contains("or one of datacentre, lan, metro"), "{error}");
        let error = of("datacenter").unwrap_err().to_string();
        assert!(error.contains("\"datacenter\" is spelled \"datacentre\""), "{error}");
    }
}
