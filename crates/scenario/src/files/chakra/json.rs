//! Traces in the JSON form of protobuf, as `chakra_jsonizer` writes them: the messages of a file one after the other,
//! without commas. Names are in camel case, numbers of 64 bits are texts, and what is zero may be absent.
//!
//! The other form of JSON is that of an early feeder of Chakra: an object with a list `workload_graph`.
//!
//! Sources: <https://protobuf.dev/programming-guides/json/>, and `src/feeder/json_node.cpp` of
//! <https://github.com/mlcommons/chakra>.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value as Json};

use super::message::{Attribute, Bools, GlobalMetadata, IoInfo, Node, Value};

/// The types of nodes, by their numbers.
const TYPES: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// The first message.
#[derive(Deserialize)]
struct First {
    #[serde(default)]
    version: String,
    #[serde(default)]
    attr: Vec<Map<String, Json>>,
}

/// Each of the others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default)]
    id: Whole,
    #[serde(default)]
    name: String,
    #[serde(default, rename = "type", deserialize_with = "type_of")]
    kind: i32,
    #[serde(default)]
    ctrl_deps: Vec<Whole>,
    #[serde(default)]
    data_deps: Vec<Whole>,
    #[serde(default)]
    duration_micros: Whole,
    #[serde(default)]
    inputs: Option<Inputs>,
    #[serde(default)]
    attr: Vec<Map<String, Json>>,
}

/// A trace for an early feeder.
#[derive(Deserialize)]
struct Graph {
    workload_graph: Vec<Vertex>,
}

/// A node of it: what are fields and attributes otherwise are side by side.
#[derive(Deserialize)]
struct Vertex {
    #[serde(rename = "Id")]
    id: Whole,
    #[serde(default, rename = "Name")]
    name: String,
    #[serde(rename = "NodeType", deserialize_with = "type_of")]
    kind: i32,
    #[serde(default)]
    is_cpu_op: bool,
    #[serde(default)]
    runtime: Whole,
    #[serde(default)]
    data_deps: Vec<Whole>,
    #[serde(flatten)]
    more: Map<String, Json>,
}

impl From<Vertex> for Node {
    fn from(of: Vertex) -> Self {
        let mut attr = vec![Attribute {
            name: "is_cpu_op".to_owned(),
            value: Some(Value::Bool(of.is_cpu_op)),
        }];
        attr.extend(of.more.into_iter().map(|(name, json)| {
            let value = match json {
                Json::String(text) => Some(Value::Text(text)),
                Json::Bool(is) => Some(Value::Bool(is)),
                Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                    (Some(number), _) => Some(Value::Uint64(number)),
                    (None, Some(number)) => Some(Value::Int64(number)),
                    (None, None) => number.as_f64().map(Value::Double),
                },
                Json::Null | Json::Array(_) | Json::Object(_) => None,
            };
            Attribute { name, value }
        }));
        Self {
            id: of.id.0,
            name: of.name,
            r#type: of.kind,
            data_deps: of.data_deps.iter().map(|id| id.0).collect(),
            duration_micros: of.runtime.0,
            attr,
            ..Self::default()
        }
    }
}

#[derive(Deserialize)]
struct Inputs {
    #[serde(default)]
    values: String,
}

/// A number of 64 bits, which is a number or a text.
#[derive(Clone, Copy, Default)]
struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(from)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number
            .map(Self)
            .ok_or_else(|| de::Error::custom(format!("{value} is no number of 64 bits")))
    }
}

/// The type of a node, by name or number.
fn type_of<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
    let value = Json::deserialize(from)?;
    let by_name = |name: &str| (0..).zip(TYPES).find(|of| of.1 == name).map(|of| of.0);
    let number = match &value {
        Json::String(name) => by_name(name),
        value => value.as_i64().and_then(|number| i32::try_from(number).ok()),
    };
    number.ok_or_else(|| {
        de::Error::custom(format!("{value} is no type of a node; they are: {}", TYPES.join(", ")))
    })
}

/// An attribute. Kinds of values that no attribute that is read has are left out.
fn attribute(written: &Map<String, Json>) -> Result<Attribute, String> {
    let name = written.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut value = None;
    for (kind, json) in written {
        let text = || json.as_str().map(str::to_owned);
        let wrong = || format!("{json} is no value of kind {kind}, of attribute {name}");
        value = Some(match &**kind {
            "int32Val" | "int64Val" | "sint32Val" | "sint64Val" | "sfixed32Val" | "sfixed64Val" => {
                let number = json.as_i64().or_else(|| text()?.parse().ok());
                Value::Int64(number.ok_or_else(wrong)?)
            }
            "uint32Val" | "uint64Val" | "fixed32Val" | "fixed64Val" => {
                let number = json.as_u64().or_else(|| text()?.parse().ok());
                Value::Uint64(number.ok_or_else(wrong)?)
            }
            "doubleVal" | "floatVal" => {
                let number = json.as_f64().or_else(|| text()?.parse().ok());
                Value::Double(number.ok_or_else(wrong)?)
            }
            "boolVal" => Value::Bool(json.as_bool().ok_or_else(wrong)?),
            "stringVal" => Value::Text(text().ok_or_else(wrong)?),
            "boolList" => {
                let of = json.get("values").and_then(Json::as_array);
                let values = of.into_iter().flatten().map(Json::as_bool).collect::<Option<_>>();
                Value::Bools(Bools { values: values.ok_or_else(wrong)? })
            }
            _ => continue,
        });
    }
    Ok(Attribute { name, value })
}

fn attributes(written: &[Map<String, Json>]) -> Result<Vec<Attribute>, String> {
    written.iter().map(attribute).collect()
}

/// Whether a file is JSON: an object, from the beginning to the end.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let [b'{', inner @ .., b'}'] = bytes.trim_ascii() else { return false };
    matches!(inner.trim_ascii_start().first(), None | Some(b'"' | b'}'))
}

/// The messages of a file. The error says what is wrong.
pub(super) fn messages(bytes: &[u8]) -> Result<(GlobalMetadata, Vec<Node>), String> {
    let mut objects = serde_json::Deserializer::from_slice(bytes).into_iter::<Json>();
    let Some(first) = objects.next() else { return Err("it is empty".to_owned()) };
    let first = first.map_err(|error| format!("it cannot be read as JSON: {error}"))?;
    if first.get("workload_graph").is_some() {
        let of = Graph::deserialize(first);
        let of = of.map_err(|error| format!("workload_graph is no list of nodes: {error}"))?;
        return Ok((
            GlobalMetadata::default(),
            of.workload_graph.into_iter().map(Node::from).collect(),
        ));
    }
    let First { version, attr } = First::deserialize(first)
        .map_err(|error| format!("message 0 is no GlobalMetadata: {error}"))?;
    let metadata = GlobalMetadata { version, attr: attributes(&attr)? };
    let mut nodes = Vec::new();
    for (number, object) in (1..).zip(objects) {
        let wrong = |error: serde_json::Error| format!("message {number} is no node: {error}");
        let of =
            object.map_err(wrong).and_then(|object| Written::deserialize(object).map_err(wrong))?;
        let ids = |of: &[Whole]| of.iter().map(|id| id.0).collect();
        nodes.push(Node {
            id: of.id.0,
            name: of.name,
            r#type: of.kind,
            ctrl_deps: ids(&of.ctrl_deps),
            data_deps: ids(&of.data_deps),
            duration_micros: of.duration_micros.0,
            inputs: of.inputs.map(|Inputs { values }| IoInfo { values }),
            attr: attributes(&of.attr)
                .map_err(|why| format!("message {number} is no node: {why}"))?,
        });
    }
    Ok((metadata, nodes))
}
