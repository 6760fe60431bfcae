//! The messages of a trace, as far as this one needs them: names and numbers of fields are those of
//! `perfetto_trace.proto`, the schema that Perfetto publishes.

use prost::{Enumeration, Message};

/// Names of fields of [`Packet`] are of Perfetto's `TracePacket`.
#[derive(Clone, PartialEq, Message)]
pub struct Packet {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who wrote it: one sequence of packets here.
    #[prost(uint32, tag = "10")]
    pub trusted_packet_sequence_id: u32,
    /// 1 at the beginning of a sequence: nothing that came before is needed.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// Something that happens on a track.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<Event>,
    /// A track that there is.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<Track>,
}

/// A row of the viewer, or a group of rows.
#[derive(Clone, PartialEq, Message)]
pub struct Track {
    /// Its number.
    #[prost(uint64, tag = "1")]
    pub uuid: u64,
    /// The number of the group that it is in; 0 for none.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// What it is called.
    #[prost(string, tag = "2")]
    pub name: String,
    /// What stands in its help.
    #[prost(string, optional, tag = "14")]
    pub description: Option<String>,
    /// Of a counter, what it counts.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<Counter>,
    /// How those in it are ordered; 3 by their rank.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its place among those of its group.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// What a counter counts.
#[derive(Clone, PartialEq, Message)]
pub struct Counter {
    /// 3 for bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// The unit's name, if it is none of Perfetto's.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
    /// Counters with the same key are drawn to the same scale.
    #[prost(string, optional, tag = "7")]
    pub y_axis_share_key: Option<String>,
}

/// Something that happens on a track.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// What.
    #[prost(enumeration = "Kind", tag = "9")]
    pub kind: i32,
    /// The track.
    #[prost(uint64, tag = "11")]
    pub track_uuid: u64,
    /// Of a slice that begins, its name.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Of a slice, what it is filtered by.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Of a counter of whole numbers, its value from here on.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Of another counter, its value from here on.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    /// Of a slice, what else is known of it.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<Annotation>,
    /// Of a slice that begins, the numbers of its arrows: each leads from the first slice with it to the next one.
    #[prost(fixed64, repeated, tag = "47")]
    pub flow_ids: Vec<u64>,
}

/// What an [`Event`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum Kind {
    /// Nothing that is used here.
    Unspecified = 0,
    /// A slice begins.
    Begin = 1,
    /// The slice ends that began last.
    End = 2,
    /// A counter has a value from here on.
    Value = 4,
}

/// A name and a value.
#[derive(Clone, PartialEq, Message)]
pub struct Annotation {
    /// The name.
    #[prost(string, tag = "10")]
    pub name: String,
    /// The value, if it is a whole number.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// The value, if it is a real number.
    #[prost(double, optional, tag = "5")]
    pub double_value: Option<f64>,
    /// The value, if it is text.
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
}

impl Annotation {
    /// A whole number.
    pub fn whole(name: &str, value: u64) -> Self {
        Self { name: name.to_owned(), uint_value: Some(value), ..Self::default() }
    }

    /// A real number.
    pub fn real(name: &str, value: f64) -> Self {
        Self { name: name.to_owned(), double_value: Some(value), ..Self::default() }
    }

    /// Text.
    pub fn text(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), string_value: Some(value.to_owned()), ..Self::default() }
    }
}
