//! The reader of jobs in GOAL.

use crate::readers::{STAR, beside};

/// Jobs in GOAL, as text and in binary.
pub fn job(bytes: &[u8]) {
    let file = "job.goal";
    beside(file, bytes, &format!("{STAR}[[workload]]\n[workload.goal]\npath = \"{file}\"\n"));
}

/// A small job in binary.
pub fn binary() -> Vec<Vec<u8>> {
    // A header, and for each rank nodes, roots and edges, as in `scenario/src/files/goal/binary.rs`.
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let node = |count: u32, kind: u8, peer: u32, size: u64, tag: u32, cpu: u8, edges: [u32; 4]| {
        let mut node = words(&[count]);
        node.push(kind);
        node.extend(words(&[peer]));
        node.extend(size.to_le_bytes());
        node.extend(words(&[tag]));
        node.extend([cpu, 0]);
        node.extend(words(&edges));
        node
    };
    let first = [
        words(&[2, 1, 0]),
        node(0, 3, 0, 100, 0, 1, [1, 0, 0, 1]),
        node(1, 1, 1, 4_096, 7, 0, [0, 1, 0, 1]),
        words(&[1]),
    ]
    .concat();
    let second = [words(&[1, 1, 0]), node(0, 2, 0, 4_096, 7, 0, [0; 4])].concat();
    let mut binary = [4_223u64.to_le_bytes().to_vec(), words(&[2]), vec![1, 0]].concat();
    let mut at = 38u64;
    for part in [&first, &second] {
        binary.extend(at.to_le_bytes());
        at += part.len() as u64;
        binary.extend(at.to_le_bytes());
    }
    binary.extend([first, second].concat());
    vec![binary]
}
