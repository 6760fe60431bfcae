//! What a file of InfraGraph has: the messages of its schema (`infragraph.proto`, version 3.1), with the names that they have
//! in YAML and JSON. A name that is not here is an error.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// The longest name, in bytes. By an alias, YAML has a text many times that is written once, so that without a limit a
/// short file could fill the memory.
const LONGEST_NAME: usize = 1_000;

/// A text of which nothing is needed, and nothing kept.
#[derive(Debug)]
pub(super) struct Text;

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader { longest: usize::MAX, read: |_| Self })
    }
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    deserializer.deserialize_str(Reader { longest: LONGEST_NAME, read: str::to_owned })
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct Path(String);
    impl<'de> Deserialize<'de> for Path {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            name(deserializer).map(Self)
        }
    }
    Ok(Option::deserialize(deserializer)?.map(|Path(path)| path))
}

/// Reads a text without a copy of it.
struct Reader<T> {
    longest: usize,
    read: fn(&str) -> T,
}

impl<T> de::Visitor<'_> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        match text.len() <= self.longest {
            true => Ok((self.read)(text)),
            false => {
                let message = format!(
                    "a name has {} bytes, and at most {} are possible",
                    text.len(),
                    self.longest
                );
                Err(E::custom(message))
            }
        }
    }
}

/// An infrastructure: devices, how often each is there, and the links between them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Infrastructure {
    #[serde(rename = "name")]
    _name: Option<Text>,
    #[serde(rename = "description")]
    _description: Option<Text>,
    pub(super) devices: Vec<Device>,
    pub(super) links: Vec<Link>,
    pub(super) instances: Vec<Instance>,
    pub(super) edges: Vec<Edge<Endpoint>>,
}

/// A device and what is in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    #[serde(deserialize_with = "name")]
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<Text>,
    #[serde(default)]
    pub(super) components: Vec<Component>,
    #[serde(default)]
    pub(super) links: Vec<Link>,
    #[serde(default)]
    pub(super) edges: Vec<Edge<Inner>>,
}

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Choice {
    Custom,
    /// A device of the name of the component.
    Device,
    Cpu,
    Xpu,
    Nic,
    Memory,
    Port,
    Switch,
}

/// A component of a device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Component {
    #[serde(deserialize_with = "name")]
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<Text>,
    pub(super) count: u32,
    pub(super) choice: Choice,
    #[serde(default, rename = "custom")]
    _custom: Option<Custom>,
    #[serde(default, rename = "device")]
    _device: Option<Nothing>,
    #[serde(default, rename = "cpu")]
    _cpu: Option<Nothing>,
    #[serde(default, rename = "xpu")]
    _xpu: Option<Nothing>,
    #[serde(default, rename = "nic")]
    _nic: Option<Nothing>,
    #[serde(default, rename = "memory")]
    _memory: Option<Nothing>,
    #[serde(default, rename = "port")]
    _port: Option<Nothing>,
    #[serde(default, rename = "switch")]
    _switch: Option<Nothing>,
}

/// A component of another kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Custom {
    #[serde(rename = "type")]
    _kind: Text,
}

/// An object without fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A kind of link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    #[serde(deserialize_with = "name")]
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<Text>,
    #[serde(default)]
    pub(super) physical: Option<Physical>,
}

/// Its bandwidth and latency.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Physical {
    pub(super) bandwidth: Option<Bandwidth>,
    pub(super) latency: Option<Latency>,
}

/// One of three units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Bandwidth {
    pub(super) choice: Option<BandwidthUnit>,
    pub(super) gigabits_per_second: Option<f64>,
    pub(super) gigabytes_per_second: Option<f64>,
    pub(super) gigatransfers_per_second: Option<f64>,
}

impl Bandwidth {
    /// Whether it has no value, whatever the unit: the blueprints of the package have such ones.
    pub(super) fn is_empty(&self) -> bool {
        let Self { gigabits_per_second, gigabytes_per_second, gigatransfers_per_second, .. } = self;
        [gigabits_per_second, gigabytes_per_second, gigatransfers_per_second]
            .iter()
            .all(|value| value.is_none())
    }
}

/// The unit of a bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names of the schema")]
pub(super) enum BandwidthUnit {
    GigabitsPerSecond,
    GigabytesPerSecond,
    GigatransfersPerSecond,
}

/// One of three units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Latency {
    pub(super) choice: Option<LatencyUnit>,
    pub(super) ms: Option<f64>,
    pub(super) us: Option<f64>,
    pub(super) ns: Option<f64>,
}

impl fmt::Display for BandwidthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GigabitsPerSecond => "gigabits_per_second",
            Self::GigabytesPerSecond => "gigabytes_per_second",
            Self::GigatransfersPerSecond => "gigatransfers_per_second",
        })
    }
}

/// The unit of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LatencyUnit {
    Ms,
    Us,
    Ns,
}

impl fmt::Display for LatencyUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
        })
    }
}

/// So many of a device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    #[serde(deserialize_with = "name")]
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<Text>,
    #[serde(deserialize_with = "name")]
    pub(super) device: String,
    pub(super) count: u32,
}

/// Links between components: of a device, or of instances.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edge<End> {
    pub(super) ep1: End,
    pub(super) ep2: End,
    pub(super) scheme: Scheme,
    #[serde(deserialize_with = "name")]
    pub(super) link: String,
}

/// Which of the ends are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scheme {
    /// The first one with the first one, and so on.
    One2one,
    /// Each with each.
    Many2many,
    /// In the schema; the service of InfraGraph does not expand it.
    Ring,
}

/// An end in a device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inner {
    /// What is before `component` in its path.
    #[serde(default, deserialize_with = "path")]
    pub(super) device: Option<String>,
    #[serde(deserialize_with = "name")]
    pub(super) component: String,
}

/// An end in the infrastructure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    #[serde(deserialize_with = "name")]
    pub(super) instance: String,
    #[serde(deserialize_with = "name")]
    pub(super) component: String,
}
