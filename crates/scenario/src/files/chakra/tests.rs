//! The reader of a file, with traces that the Python package `mlc-chakra` 1.0.0 wrote.

use prost::Message;

use super::decode::trace;
use super::message::{Attribute, GlobalMetadata, Node as Written, Value};
use super::{End, Kind, Node, What};

/// A step of training of two ranks: rank 0 computes and sends to rank 1, and both add up their gradients.
const STEP: [&str; 2] = [
    "070a05312e302e301d1207666f727761726418043814520e0a0969735f6370755f6f70d80100630801120f61637469\
         766174696f6e20746f203118052a0100520e0a0969735f6370755f6f70d80100520f0a09636f6d6d5f73697a654880\
         8004520c0a08636f6d6d5f7372633800520c0a08636f6d6d5f6473743801520c0a08636f6d6d5f7461673807230802\
         12086261636b7761726418042a01003828520e0a0969735f6370755f6f70d8010051080312096772616469656e7473\
         18072a0102520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f747970654800520f0a09636f6d6d5f7369\
         7a6548808040520d0a0770675f6e616d65ea01013127080412096f7074696d697a657218042201012a01033805520e\
         0a0969735f6370755f6f70d80100",
    "070a05312e302e3060121161637469766174696f6e2066726f6d20301806520e0a0969735f6370755f6f70d8010052\
         0f0a09636f6d6d5f73697a6548808004520c0a08636f6d6d5f7372633800520c0a08636f6d6d5f6473743801520c0a\
         08636f6d6d5f74616738072208011207666f727761726418042a01003814520e0a0969735f6370755f6f70d8010023\
         080212086261636b7761726418042a01013828520e0a0969735f6370755f6f70d8010051080312096772616469656e\
         747318072a0102520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f747970654800520f0a09636f6d6d5f\
         73697a6548808040520d0a0770675f6e616d65ea01013124080412096f7074696d697a657218042a01033805520e0a\
         0969735f6370755f6f70d80100",
];

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn node(id: u64, name: &str, what: What, data: &[u64], control: &[u64]) -> Node {
    Node { id, name: name.into(), what, on_cpu: false, data: data.into(), control: control.into() }
}

fn compute(micros: u64) -> What {
    What::Compute { micros, operations: None, bytes: 0 }
}

/// What is in the files, as they were written.
fn expected() -> [Vec<Node>; 2] {
    let end = |peer| End { peer, bytes: 65_536, tag: 7 };
    let reduce = What::Collective { kind: Kind::AllReduce, bytes: 1 << 20, group: "1".into() };
    [
        vec![
            node(0, "forward", compute(20), &[], &[]),
            node(1, "activation to 1", What::Send(end(1)), &[0], &[]),
            node(2, "backward", compute(40), &[0], &[]),
            node(3, "gradients", reduce.clone(), &[2], &[]),
            node(4, "optimizer", compute(5), &[3], &[1]),
        ],
        vec![
            node(0, "activation from 0", What::Receive(end(0)), &[], &[]),
            node(1, "forward", compute(20), &[0], &[]),
            node(2, "backward", compute(40), &[1], &[]),
            node(3, "gradients", reduce, &[2], &[]),
            node(4, "optimizer", compute(5), &[3], &[]),
        ],
    ]
}

#[test]
fn traces_of_the_python_package_are_read() {
    for ((rank, hex), expected) in (0..).zip(STEP).zip(expected()) {
        let bytes = bytes(hex);
        assert_eq!(bytes.len(), 296 - rank as usize);
        assert_eq!(trace(&bytes, rank, 1 << 20).unwrap().nodes, expected);
    }
}

/// The messages of a file, and these again as a file.
fn messages(bytes: &[u8]) -> (GlobalMetadata, Vec<Written>) {
    let mut rest = bytes;
    let first = GlobalMetadata::decode_length_delimited(&mut rest).unwrap();
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        nodes.push(Written::decode_length_delimited(&mut rest).unwrap());
    }
    (first, nodes)
}

fn file(first: &GlobalMetadata, nodes: &[Written]) -> Vec<u8> {
    let mut bytes = first.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

#[test]
fn messages_are_written_as_they_were_read() {
    for hex in STEP {
        let (first, nodes) = messages(&bytes(hex));
        // Protobuf leaves out zeros, but not those of attributes.
        assert_eq!(file(&first, &nodes), bytes(hex));
    }
}

#[test]
fn the_order_of_nodes_does_not_matter() {
    let (first, mut nodes) = messages(&bytes(STEP[0]));
    nodes.reverse();
    let read = trace(&file(&first, &nodes), 0, 1 << 20).unwrap().nodes;
    assert_eq!(read, expected()[0]);
}

#[test]
fn numbers_of_attributes_may_be_of_any_kind() {
    let (first, nodes) = messages(&bytes(STEP[0]));
    type Make = fn(i64) -> Value;
    let kinds: [Make; 10] = [
        |number| Value::Int32(number as i32),
        Value::Int64,
        |number| Value::Uint32(number as u32),
        |number| Value::Uint64(number as u64),
        |number| Value::Sint32(number as i32),
        Value::Sint64,
        |number| Value::Fixed32(number as u32),
        |number| Value::Fixed64(number as u64),
        |number| Value::Sfixed32(number as i32),
        Value::Sfixed64,
    ];
    for kind in kinds {
        let mut nodes = nodes.clone();
        for Attribute { value, .. } in nodes.iter_mut().flat_map(|node| &mut node.attr) {
            if let Some(number) = value.as_ref().and_then(Value::whole) {
                *value = Some(kind(number as i64));
            }
        }
        let read = trace(&file(&first, &nodes), 0, 1 << 20).unwrap().nodes;
        assert_eq!(read, expected()[0]);
    }
}

#[test]
fn numbers_of_dependencies_may_be_unpacked() {
    // Node 9 of type COMP: field 5 twice, each with its number, in any order with others, and an unknown field.
    let node = [0x28, 3, 8, 9, 0x28, 4, 0x18, 4, 0xfa, 0x3f, 1, 0];
    let file = [&[0, node.len() as u8][..], &node].concat();
    let read = trace(&file, 0, 1 << 20).unwrap().nodes;
    assert_eq!((read[0].id, &read[0].data[..]), (9, &[3, 4][..]));
}

/// Rank 0 of the step as `chakra_jsonizer` of the same package writes it, but for spaces.
const JSON: &str = r#"{"version": "1.0.0"}
{"name": "forward", "type": "COMP_NODE", "durationMicros": "20", "attr": [{"name": "is_cpu_op", "boolVal": false}]}
{"id": "1", "name": "activation to 1", "type": "COMM_SEND_NODE", "dataDeps": ["0"], "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "comm_size", "int64Val": "65536"}, {"name": "comm_src", "int32Val": 0}, {"name": "comm_dst", "int32Val": 1}, {"name": "comm_tag", "int32Val": 7}]}
{"id": "2", "name": "backward", "type": "COMP_NODE", "dataDeps": ["0"], "durationMicros": "40", "attr": [{"name": "is_cpu_op", "boolVal": false}]}
{"id": "3", "name": "gradients", "type": "COMM_COLL_NODE", "dataDeps": ["2"], "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "1048576"}, {"name": "pg_name", "stringVal": "1"}]}
{"id": "4", "name": "optimizer", "type": "COMP_NODE", "ctrlDeps": ["1"], "dataDeps": ["3"], "durationMicros": "5", "attr": [{"name": "is_cpu_op", "boolVal": false}]}"#;

#[test]
fn traces_in_json_are_read() {
    assert_eq!(trace(JSON.as_bytes(), 0, 1 << 20).unwrap().nodes, expected()[0]);
    // Types by their numbers, and numbers as such.
    let numbers = JSON.replace("\"COMP_NODE\"", "4").replace("\"65536\"", "65536");
    assert_eq!(trace(numbers.as_bytes(), 0, 1 << 20).unwrap().nodes, expected()[0]);
}

#[test]
fn traces_of_the_early_feeder_are_read() {
    let text = r#"{"workload_graph": [
        {"Id": 4, "Name": "forward", "NodeType": 4, "is_cpu_op": true, "runtime": 20, "data_deps": []},
        {"Id": 5, "NodeType": 5, "data_deps": [4], "comm_dst": 1, "comm_size": 64, "comm_tag": 7},
        {"Id": 6, "NodeType": 7, "data_deps": [5], "comm_type": 0, "comm_size": 9}]}"#;
    let forward = Node { on_cpu: true, ..node(4, "forward", compute(20), &[], &[]) };
    let send = What::Send(End { peer: 1, bytes: 64, tag: 7 });
    let reduce = What::Collective { kind: Kind::AllReduce, bytes: 9, group: "".into() };
    let expected = [forward, node(5, "", send, &[4], &[]), node(6, "", reduce, &[5], &[])];
    assert_eq!(trace(text.as_bytes(), 0, 1 << 20).unwrap().nodes, expected);
}

#[test]
fn compressed_traces_are_read() {
    // A block of deflate that is not compressed (RFC 1951, 3.2.4), in the frame of gzip.
    let whole = bytes(STEP[0]);
    let length = whole.len() as u16;
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(&whole);
    packed.extend(crc32fast::hash(&whole).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    assert_eq!(trace(&packed, 0, 1 << 20).unwrap().nodes, expected()[0]);
    packed.pop();
    let (message, _) = trace(&packed, 0, 1 << 20).unwrap_err();
    assert!(message.contains("checksum") || message.contains("decompressed"), "{message}");
}
