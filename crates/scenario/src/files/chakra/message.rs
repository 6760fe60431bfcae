//! The messages of a Chakra trace, as far as they are read: names and numbers of fields are those of
//! `schema/protobuf/et_def.proto` in <https://github.com/mlcommons/chakra>, which has not changed from version
//! 0.0.4 to 1.0.0. Other fields are skipped, as protobuf has it.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    /// Version of the schema; empty if an attribute says it, or nothing does.
    #[prost(string, tag = "1")]
    pub version: String,
    /// What else is known of the trace.
    #[prost(message, repeated, tag = "2")]
    pub attr: Vec<Attribute>,
}

/// Each of the other messages of a file.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    /// Unique in the file.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// What it is called.
    #[prost(string, tag = "2")]
    pub name: String,
    /// What it does: a `NodeType`, from 0 to 7.
    #[prost(int32, tag = "3")]
    pub r#type: i32,
    /// Nodes that come first: of the order of calls.
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    /// Nodes that come first: of the flow of data.
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    /// How long it takes.
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    /// What it takes.
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<IoInfo>,
    /// Everything else.
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

/// Arguments of a node, written like literals of Python.
#[derive(Clone, PartialEq, Message)]
pub struct IoInfo {
    /// Their values.
    #[prost(string, tag = "1")]
    pub values: String,
}

/// A named value: `AttributeProto`.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value; none if it is of a kind that no attribute that is read has, like a list of numbers.
    #[prost(oneof = "Value", tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// The kinds of values.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    /// `double_val`.
    #[prost(double, tag = "3")]
    Double(f64),
    /// `float_val`.
    #[prost(float, tag = "5")]
    Float(f32),
    /// `int32_val`.
    #[prost(int32, tag = "7")]
    Int32(i32),
    /// `int64_val`.
    #[prost(int64, tag = "9")]
    Int64(i64),
    /// `uint32_val`.
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    /// `uint64_val`.
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    /// `sint32_val`.
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    /// `sint64_val`.
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    /// `fixed32_val`.
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    /// `fixed64_val`.
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    /// `sfixed32_val`.
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    /// `sfixed64_val`.
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    /// `bool_val`.
    #[prost(bool, tag = "27")]
    Bool(bool),
    /// `bool_list`.
    #[prost(message, tag = "28")]
    Bools(Bools),
    /// `string_val`.
    #[prost(string, tag = "29")]
    Text(String),
}

/// A list of truth values: `BoolList`.
#[derive(Clone, PartialEq, Message)]
pub struct Bools {
    /// The values.
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

impl Value {
    /// The number, of any kind of whole number.
    pub fn whole(&self) -> Option<i128> {
        Some(match *self {
            Self::Int32(value) | Self::Sint32(value) | Self::Sfixed32(value) => value.into(),
            Self::Int64(value) | Self::Sint64(value) | Self::Sfixed64(value) => value.into(),
            Self::Uint32(value) | Self::Fixed32(value) => value.into(),
            Self::Uint64(value) | Self::Fixed64(value) => value.into(),
            Self::Double(_) | Self::Float(_) | Self::Bool(_) | Self::Bools(_) | Self::Text(_) => {
                return None;
            }
        })
    }
}
