//! An element of `[[workload]]`: one member of the family, and beside it what its flows have
//! otherwise than those of other workloads.

use std::fmt;

use floodway_model::Marking;
use floodway_sim::host::{application, congestion, transport};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};

use super::{CATALOGUE, Spec};
use crate::ports::Ports;

/// One workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub struct Entry {
    /// What is sent.
    #[serde(flatten)]
    pub traffic: Spec,
    /// A short name for tables and charts, beside the number: letters, digits, `-`, `_` and `.`, not
    /// digits alone. In paths it can stand for the number: `workload.training.many_to_many.load`.
    /// Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Replaces `[host.transport]` for the flows of this workload: `[workload.transport.rocev2]`.
    /// Default that of `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<transport::Spec>,
    /// Replaces `[host.congestion]` for the flows of this workload: `[workload.congestion.dcqcn]`.
    /// Default that of `host`, or if `host` has none what suits the workload's transport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<congestion::Spec>,
    /// An application writes the data of every flow that has no size, over TCP:
    /// `[workload.application.entries]`. Default none: all data is there from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<application::Spec>,
    /// DSCP of the packets of its flows, of those of TCP in both directions, by its name ("BE", "LE", "CS1" to
    /// "CS7", "AF11" to "AF43", "VA" or "EF") or as a number from 0 to 63. Default that of `switch.classify`,
    /// which is BE for most flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Marking>,
    /// Which port of its host a flow of this workload takes, if hosts have several: `hash`, `round_robin`,
    /// `by_destination`, `stripe`, `pxn`, or the number of a port. Default `host.ports`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
}

const NAME: &str = "name";
const TRANSPORT: &str = "transport";
const CONGESTION: &str = "congestion";
const APPLICATION: &str = "application";
const DSCP: &str = "dscp";
const PORTS: &str = "ports";

/// What an element may have beside its traffic.
pub(crate) const BESIDE: [&str; 6] = [TRANSPORT, CONGESTION, APPLICATION, DSCP, PORTS, NAME];

/// All keys of an element.
const KEYS: [&str; CATALOGUE.len() + BESIDE.len()] = {
    let mut keys = [TRANSPORT; CATALOGUE.len() + BESIDE.len()];
    let mut member = 0;
    while member < CATALOGUE.len() {
        keys[member] = CATALOGUE[member].name;
        member += 1;
    }
    keys[CATALOGUE.len() + 1] = CONGESTION;
    keys[CATALOGUE.len() + 2] = APPLICATION;
    keys[CATALOGUE.len() + 3] = DSCP;
    keys[CATALOGUE.len() + 4] = PORTS;
    keys[CATALOGUE.len() + 5] = NAME;
    keys
};

/// By hand, because a derived `flatten` would take the values out of the reader's sight, and with
/// them their places.
impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Entry", &KEYS, EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a workload")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let (mut traffic, mut transport, mut congestion) = (None, None, None);
        let (mut application, mut dscp, mut ports, mut name) = (None, None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                NAME => name = map.next_value()?,
                TRANSPORT => transport = map.next_value()?,
                CONGESTION => congestion = map.next_value()?,
                APPLICATION => application = map.next_value()?,
                DSCP => dscp = map.next_value()?,
                PORTS => ports = map.next_value()?,
                member => {
                    let known = CATALOGUE.iter().find(|entry| entry.name == member);
                    let known = known
                        .map(|entry| entry.name)
                        .ok_or_else(|| de::Error::unknown_field(member, &KEYS))?;
                    if traffic.is_some() {
                        return Err(de::Error::duplicate_field(known));
                    }
                    let member = MapAccessDeserializer::new(Member { name: known, map: &mut map });
                    traffic = Some(Spec::deserialize(member)?);
                }
            }
        }
        match traffic {
            Some(traffic) => {
                Ok(Entry { traffic, name, transport, congestion, application, dscp, ports })
            }
            None => Err(de::Error::invalid_length(0, &Members)),
        }
    }
}

/// The members of the family, as what is expected.
struct Members;

impl de::Expected for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = CATALOGUE.iter().map(|entry| entry.name).collect();
        f.write_str(&names.join(", "))
    }
}

/// The member of a family alone: a key that was read, and its value.
struct Member<'a, A> {
    name: &'static str,
    map: &'a mut A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Member<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let name: StrDeserializer<'_, A::Error> = self.name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
