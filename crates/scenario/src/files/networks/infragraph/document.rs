//! What a file of InfraGraph has: the messages of its schema (`infragraph.proto`, version 3.1), with the names that they have
//! in YAML and JSON. A name that is not here is an error.

use serde::Deserialize;

/// An infrastructure: devices, how often each is there, and the links between them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Infrastructure {
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "description")]
    _description: Option<String>,
    pub(super) devices: Vec<Device>,
    pub(super) links: Vec<Link>,
    pub(super) instances: Vec<Instance>,
    pub(super) edges: Vec<Edge<Endpoint>>,
}

/// A device and what is in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
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
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
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
    _kind: String,
}

/// An object without fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A kind of link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
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
    #[serde(rename = "choice")]
    _choice: Option<BandwidthUnit>,
    pub(super) gigabits_per_second: Option<f64>,
    pub(super) gigabytes_per_second: Option<f64>,
    pub(super) gigatransfers_per_second: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names of the schema")]
enum BandwidthUnit {
    GigabitsPerSecond,
    GigabytesPerSecond,
    GigatransfersPerSecond,
}

/// One of three units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Latency {
    #[serde(rename = "choice")]
    _choice: Option<LatencyUnit>,
    pub(super) ms: Option<f64>,
    pub(super) us: Option<f64>,
    pub(super) ns: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LatencyUnit {
    Ms,
    Us,
    Ns,
}

/// So many of a device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    pub(super) name: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
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
    #[serde(default)]
    pub(super) device: Option<String>,
    pub(super) component: String,
}

/// An end in the infrastructure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub(super) instance: String,
    pub(super) component: String,
}
