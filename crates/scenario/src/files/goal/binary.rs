//! The binary form of GOAL, as `txt2bin` writes it: little endian, without padding.
//!
//! A header: magic number (8 bytes), ranks (4), highest cpu (1), highest nic (1), then for each rank where
//! its part begins and ends, counted from byte 8 (8 each). A part: numbers of nodes and of roots (4 each), the
//! roots (4 each), the nodes (39 bytes each), and a list of nodes (4 each) into which the nodes point.

use floodway_model::program::{Edge, On};

use super::{Action, End, Rank, Step};

/// The magic number.
const MAGIC: u64 = 4_223;

/// The magic number of a file that a simulator has overwritten while it ran.
const CONSUMED: u64 = 2_342;

/// Where positions are counted from.
const ORIGIN: usize = 8;

/// Bytes of a node.
const NODE: usize = 39;

/// What is wrong, and the remedy.
type Wrong = (String, String);

const WHOLE: &str = "write it again with txt2bin, or name the text instead";

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err((message.into(), WHOLE.to_owned()))
}

/// Whether a file begins like a binary one.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let magic = Bytes { bytes, at: 0 }.long();
    magic.is_some_and(|magic| magic == MAGIC || magic == CONSUMED)
}

/// Bytes that are read one after the other.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let end = self.at.checked_add(N)?;
        let taken = self.bytes.get(self.at..end)?.try_into().ok()?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Reads the ranks.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Rank>, Wrong> {
    let mut header = Bytes { bytes, at: 0 };
    if header.long() == Some(CONSUMED) {
        return wrong("a simulator has overwritten the file while it ran (--save-mem)");
    }
    let (Some(ranks), Some(cpu), Some(nic)) = (header.word(), header.byte(), header.byte()) else {
        return wrong("the header is cut off");
    };
    let table = header.at + 16 * ranks as usize;
    if ranks == 0 || bytes.len() < table {
        return wrong(format!("it has {} bytes, which are no {ranks} ranks", bytes.len()));
    }
    let mut end_of_last = table;
    let mut all = Vec::with_capacity(ranks as usize);
    for rank in 0..ranks {
        let (Some(start), Some(end)) = (header.long(), header.long()) else {
            return wrong("the header is cut off");
        };
        let position = |of: u64| usize::try_from(of).ok()?.checked_add(ORIGIN);
        let part = match (position(start), position(end)) {
            (Some(start), Some(end)) if start == end_of_last && start <= end => {
                end_of_last = end;
                bytes.get(start..end)
            }
            _ => None,
        };
        let Some(part) = part else {
            return wrong(format!("rank {rank} does not stand behind the one before it"));
        };
        let read =
            part_of(part).map_err(|why| (format!("rank {rank}: {why}"), WHOLE.to_owned()))?;
        let above = |step: &Step| step.cpu > cpu || step.nic > nic;
        if let Some(node) = read.steps.iter().position(above) {
            let Step { cpu: has, nic: on, .. } = read.steps[node];
            return wrong(format!(
                "node {node} of rank {rank} has cpu {has} and nic {on}, and the highest are {cpu} and {nic}"
            ));
        }
        all.push(read);
    }
    if end_of_last != bytes.len() {
        let behind = bytes.len() - end_of_last;
        return wrong(format!("{behind} bytes stand behind the last rank"));
    }
    Ok(all)
}

/// Reads a rank: its nodes, whose dependencies have to agree with what the file counts.
fn part_of(bytes: &[u8]) -> Result<Rank, String> {
    let mut part = Bytes { bytes, at: 0 };
    let cut = || "its part of the file is cut off".to_owned();
    let nodes = part.word().ok_or_else(cut)? as usize;
    let roots = part.word().ok_or_else(cut)? as usize;
    let fits = |count: usize, each: usize, left: usize| {
        count.checked_mul(each).is_some_and(|all| all <= left)
    };
    if !fits(roots, 4, bytes.len() - part.at) {
        return Err(cut());
    }
    let roots: Vec<u32> = (0..roots).filter_map(|_| part.word()).collect();
    if !fits(nodes, NODE, bytes.len() - part.at) {
        return Err(cut());
    }
    let list = Bytes { bytes, at: part.at + nodes * NODE };
    let listed = (bytes.len() - list.at) / 4;
    let (mut rank, mut counts) = (Rank::default(), Vec::with_capacity(nodes));
    for node in 0..nodes as u32 {
        let record: [u8; NODE] = part.take().ok_or_else(cut)?;
        let mut record = Bytes { bytes: &record, at: 0 };
        // A record has all of these.
        let count = record.word().unwrap_or_default();
        let kind = record.byte().unwrap_or_default();
        let peer = record.word().unwrap_or_default();
        let bytes = record.long().unwrap_or_default();
        let tag = record.word().unwrap_or_default();
        let (cpu, nic) = (record.byte().unwrap_or_default(), record.byte().unwrap_or_default());
        let end = End { peer, bytes, tag };
        let action = match kind {
            1 => Action::Send(end),
            2 => Action::Receive(end),
            3 => Action::Compute(bytes),
            other => {
                return Err(format!("node {node} is of type {other}, which is none of 1 to 3"));
            }
        };
        rank.steps.push(Step { action, cpu, nic, line: 0 });
        counts.push(count);
        for on in [On::Finished, On::Begun] {
            let (many, first) =
                (record.word().unwrap_or_default(), record.word().unwrap_or_default());
            if many as usize > listed - rank.edges.len() {
                return Err(format!("its nodes have more dependencies than the {listed} listed"));
            }
            let at = (first as usize).checked_mul(4).and_then(|at| at.checked_add(list.at));
            let mut list = Bytes { at: at.unwrap_or(usize::MAX), ..list };
            for _ in 0..many {
                let to = list.word().filter(|&to| (to as usize) < nodes);
                let to = to.ok_or_else(|| format!("what depends on node {node} is not there"))?;
                rank.edges.push(Edge { from: node, to, on });
            }
        }
    }
    if bytes.len() != list.at + 4 * listed || listed != rank.edges.len() {
        return Err(format!(
            "its nodes have {} dependencies, and {listed} are listed",
            rank.edges.len()
        ));
    }
    let mut found = vec![0u32; nodes];
    rank.edges.iter().for_each(|edge| found[edge.to as usize] += 1);
    if let Some(node) = (0..nodes).find(|&node| found[node] != counts[node]) {
        let (found, counted) = (found[node], counts[node]);
        return Err(format!("node {node} has {found} dependencies and counts {counted}"));
    }
    let mut free: Vec<u32> = roots;
    free.sort_unstable();
    if !free.iter().copied().eq((0..nodes as u32).filter(|&node| found[node as usize] == 0)) {
        return Err("the list of nodes without dependencies is not right".to_owned());
    }
    Ok(rank)
}
