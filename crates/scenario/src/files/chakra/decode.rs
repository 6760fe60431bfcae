//! One file: the trace of a rank. Messages of protobuf follow each other, each with its length before it as a
//! varint; the first is a `GlobalMetadata`, and every other a `Node`.

use prost::Message;

use super::message::{Attribute, GlobalMetadata, IoInfo, Node as Written, Value};
use super::{End, Kind, Node, What, json};
use crate::files::gzip;

/// What is wrong, and the remedy.
pub(super) type Wrong = (String, String);

const WHOLE: &str =
    "write the trace again: GlobalMetadata first, and then the nodes, each with its length";

fn wrong<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Wrong> {
    Err((message.into(), help.into()))
}

/// What a process group is called, and its ranks, as a METADATA node of PyTorch lists them.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Group {
    /// Its name.
    pub(super) pg_name: String,
    /// Its ranks; all if there are none.
    #[serde(default)]
    pub(super) ranks: Vec<u32>,
}

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Its nodes, in ascending order of their identifiers.
    pub(super) nodes: Vec<Node>,
    /// Process groups that are listed in it, each with the node that lists it.
    pub(super) groups: Vec<(u64, Group)>,
}

/// Reads the file of a rank; `limit` is the most that it may have if it is decompressed.
pub(super) fn trace(bytes: &[u8], rank: u32, limit: usize) -> Result<Trace, Wrong> {
    let unpacked;
    let bytes = if gzip::is_gzip(bytes) {
        unpacked = gzip::unpacked(bytes, limit).map_err(|why| (why, WHOLE.to_owned()))?;
        &unpacked
    } else {
        bytes
    };
    let mut trace = Trace::default();
    if json::is_json(bytes) {
        let (metadata, nodes) = json::messages(bytes).map_err(|why| {
            (why, "write it as chakra_jsonizer does, or name the binary trace".to_owned())
        })?;
        version(&metadata)?;
        for node in nodes {
            trace.add(node, rank)?;
        }
    } else {
        trace.read(bytes, rank)?;
    }
    trace.nodes.sort_by_key(|node| node.id);
    match trace.nodes.windows(2).find(|pair| pair[0].id == pair[1].id) {
        None => Ok(trace),
        Some(pair) => wrong(
            format!(
                "two nodes have the identifier {}: \"{}\" and \"{}\"",
                pair[0].id, pair[0].name, pair[1].name
            ),
            "dependencies name nodes by it: give every node of a file its own",
        ),
    }
}

impl Trace {
    /// Adds what is in a file of protobuf.
    fn read(&mut self, bytes: &[u8], rank: u32) -> Result<(), Wrong> {
        let mut messages = Messages { bytes, at: 0, number: 0 };
        let Some(first) = messages.next() else {
            return wrong("it is empty", WHOLE);
        };
        match GlobalMetadata::decode(first?) {
            Ok(metadata) => version(&metadata)?,
            Err(error) => {
                return wrong(format!("it does not begin with a GlobalMetadata: {error}"), WHOLE);
            }
        }
        while let Some(message) = messages.next() {
            let number = messages.number - 1;
            let written = Written::decode(message?).map_err(|error| {
                (format!("message {number} is no node: {error}"), WHOLE.to_owned())
            })?;
            self.add(written, rank)?;
        }
        Ok(())
    }

    /// Adds a node.
    fn add(&mut self, written: Written, rank: u32) -> Result<(), Wrong> {
        if let Some(IoInfo { values }) = &written.inputs
            && written.r#type == METADATA
            && values.contains("\"pg_name\"")
        {
            let listed = groups(&written, values)?;
            self.groups.extend(listed.into_iter().map(|group| (written.id, group)));
        }
        self.nodes.push(node(written, rank)?);
        Ok(())
    }
}

/// The messages of a file.
struct Messages<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of the next one, from 0.
    number: u64,
}

impl<'a> Messages<'a> {
    /// The next one; `None` at the end of the file.
    fn next(&mut self) -> Option<Result<&'a [u8], Wrong>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (number, at) = (self.number, self.at);
        self.number += 1;
        let mut after = rest;
        let Ok(length) = prost::decode_length_delimiter(&mut after) else {
            return Some(wrong(
                format!("the length of message {number}, at byte {at}, is cut off"),
                WHOLE,
            ));
        };
        let Some(message) = after.get(..length) else {
            let left = after.len();
            return Some(wrong(
                format!(
                    "message {number}, at byte {at}, has {length} bytes, of which {left} are there"
                ),
                WHOLE,
            ));
        };
        self.at = self.bytes.len() - after.len() + length;
        Some(Ok(message))
    }
}

/// Whether the messages are those of a version that is read: 0.0.4, or 1 with any number behind it. Converters
/// put more before it: `1.0.2-chakra.0.0.4`.
fn version(metadata: &GlobalMetadata) -> Result<(), Wrong> {
    let schema = metadata.attr.iter().find(|attribute| attribute.name == "schema");
    let text = match (&*metadata.version, schema.and_then(|attribute| attribute.value.as_ref())) {
        ("", Some(Value::Text(schema))) => schema,
        (version, _) => version,
    };
    let of_schema = text.rsplit_once("chakra.").map_or(text, |(_, version)| version);
    let is_read = match of_schema.trim_start_matches('v') {
        "" | "0.0.4" | "1" => true,
        other => other.starts_with("1."),
    };
    if is_read {
        return Ok(());
    }
    wrong(
        format!("its schema has version `{text}`"),
        "0.0.4 and 1.0 are read, whose numbers of types and of collectives differ from those before: \
         write it again with mlc-chakra 1.0",
    )
}

const METADATA: i32 = 1;

/// The process groups of a METADATA node: a list of Python with one text, which is JSON.
fn groups(node: &Written, values: &str) -> Result<Vec<Group>, Wrong> {
    // ['[{"pg_name": …}]'], with either quotation mark.
    let inner = values.trim().get(2..values.trim().len().saturating_sub(2)).unwrap_or_default();
    serde_json::from_str(inner).map_err(|error| {
        (
            format!(
                "{} lists process groups that cannot be read: {error}",
                name(node.id, &node.name)
            ),
            "a list of {\"pg_name\": …, \"ranks\": […]} is expected in its inputs".to_owned(),
        )
    })
}

/// What a node is called in messages.
pub(super) fn name(id: u64, name: &str) -> String {
    match name {
        "" => format!("node {id}"),
        name => format!("node {id} \"{name}\""),
    }
}

/// Attributes of a node.
struct Attributes<'a> {
    node: &'a str,
    all: &'a [Attribute],
}

impl Attributes<'_> {
    fn value(&self, name: &str) -> Option<&Value> {
        self.all.iter().find(|attribute| attribute.name == name)?.value.as_ref()
    }

    /// A whole number of any kind.
    fn whole(&self, name: &str) -> Result<Option<i128>, Wrong> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match value.whole() {
            Some(number) => Ok(Some(number)),
            None => wrong(
                format!("{} has an attribute {name} that is no whole number", self.node),
                "write it as int64_val",
            ),
        }
    }

    /// A size or a count, if there is one.
    fn size(&self, name: &str) -> Result<Option<u64>, Wrong> {
        let Some(number) = self.whole(name)? else { return Ok(None) };
        match u64::try_from(number) {
            Ok(size) => Ok(Some(size)),
            Err(_) => {
                wrong(format!("{} has {name} = {number}", self.node), "it cannot be negative")
            }
        }
    }

    /// One that must be there.
    fn required(&self, name: &str, what: &str) -> Result<u64, Wrong> {
        match self.size(name)? {
            Some(value) => Ok(value),
            None => {
                wrong(format!("{} has no {name}", self.node), format!("add this attribute: {what}"))
            }
        }
    }

    /// One end of a message. `own` and `other` are the attributes with the rank of the file and of the other.
    fn end(&self, [own, other]: [&str; 2], rank: u32) -> Result<End, Wrong> {
        let peer = self.required(other, "the rank at the other end of the message")?;
        let bytes = self.required("comm_size", "the bytes of the message")?;
        match self.whole(own)? {
            Some(number) if number != i128::from(rank) => wrong(
                format!("{} has {own} = {number}, and the file is that of rank {rank}", self.node),
                "write the rank of the file, or remove the attribute",
            ),
            _ => {
                let peer = u32::try_from(peer).unwrap_or(u32::MAX);
                Ok(End { peer, bytes, tag: self.whole("comm_tag")?.unwrap_or(0) })
            }
        }
    }

    fn collective(&self) -> Result<What, Wrong> {
        let number = self.required("comm_type", "0 for all-reduce")?;
        let Some(&kind) = usize::try_from(number).ok().and_then(|place| Kind::ALL.get(place))
        else {
            return wrong(
                format!("{} has comm_type = {number}, which is no collective", self.node),
                format!("they have the numbers 0 to {}", Kind::ALL.len() - 1),
            );
        };
        if let Some(Value::Bools(dimensions)) = self.value("involved_dim")
            && dimensions.values.contains(&false)
        {
            return wrong(
                format!("{} leaves out dimensions of a topology (involved_dim)", self.node),
                "a network has no dimensions here: write the ranks as a group, and its name as pg_name",
            );
        }
        let bytes = match kind {
            Kind::Barrier => 0,
            _ => self.required("comm_size", "the bytes of the collective")?,
        };
        let group = match self.value("pg_name") {
            None => String::new(),
            Some(Value::Text(name)) => name.clone(),
            Some(value) => value.whole().map(|number| number.to_string()).unwrap_or_default(),
        };
        Ok(What::Collective { kind, bytes, group: group.into() })
    }
}

/// What a node of a rank does.
fn node(written: Written, rank: u32) -> Result<Node, Wrong> {
    let name = name(written.id, &written.name);
    let of = Attributes { node: &name, all: &written.attr };
    let on_cpu = match of.value("is_cpu_op") {
        None => false,
        Some(Value::Bool(on_cpu)) => *on_cpu,
        // Older writers have a number.
        Some(value) => value.whole().is_some_and(|number| number != 0),
    };
    let micros = written.duration_micros;
    let what = match written.r#type {
        METADATA => What::Metadata,
        2 | 3 => What::Memory { micros },
        4 => {
            let operations = of.size("num_ops")?.filter(|&operations| operations > 0);
            What::Compute { micros, operations, bytes: of.size("tensor_size")?.unwrap_or(0) }
        }
        5 => What::Send(of.end(["comm_src", "comm_dst"], rank)?),
        6 => What::Receive(of.end(["comm_dst", "comm_src"], rank)?),
        7 => of.collective()?,
        0 => {
            return wrong(
                format!("{name} has type 0 (INVALID_NODE)"),
                "remove the node, or give it the type of what it does",
            );
        }
        other => {
            return wrong(
                format!("{name} has type {other}, which is not known"),
                "the types of version 1.0 have the numbers 1 to 7",
            );
        }
    };
    if on_cpu && matches!(what, What::Send(_) | What::Receive(_) | What::Collective { .. }) {
        return wrong(
            format!("{name} communicates on the CPU (is_cpu_op)"),
            "set is_cpu_op = false: communication has a stream of its own",
        );
    }
    let Written { id, name, ctrl_deps: control, data_deps: data, .. } = written;
    Ok(Node { id, name: name.into(), what, on_cpu, data, control })
}
