//! Execution traces of MLCommons Chakra: for each rank a file with what it computes, sends and receives, in which
//! collectives it takes part, and what has to come first.
//!
//! Sources: `schema/protobuf/et_def.proto` of <https://github.com/mlcommons/chakra> for the messages, and
//! `astra-sim/workload/Workload.cc` of <https://github.com/astra-sim/astra-sim> for the meaning of attributes and
//! process groups.

mod decode;
mod groups;
mod json;
mod matching;
mod message;

use std::collections::BTreeMap;
use std::path::Path;

use floodway_machine::read;
use floodway_model::CollectiveKind;

use super::{Files, MEMORY_PER_BYTE, Unreadable};

pub use matching::{Collective, Message};

/// A job: its traces, and what belongs together in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// By rank, its nodes in ascending order of their identifiers.
    pub ranks: Vec<Vec<Node>>,
    /// Each send with its receive, in order of the sending rank and node.
    pub messages: Vec<Message>,
    /// The collectives, each with the node of every rank that takes part.
    pub collectives: Vec<Collective>,
}

/// A node of the trace of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in its file.
    pub id: u64,
    /// What it is called.
    pub name: Box<str>,
    /// What it does.
    pub what: What,
    /// Whether it does it on the CPU, and not on the GPU.
    pub on_cpu: bool,
    /// Identifiers of the nodes whose data it needs.
    pub data: Vec<u64>,
    /// Identifiers of the nodes that are called before it.
    pub control: Vec<u64>,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Says something of the trace.
    Metadata,
    /// Reads or writes a memory.
    Memory {
        /// For so many microseconds.
        micros: u64,
    },
    /// Computes.
    Compute {
        /// For so many microseconds.
        micros: u64,
        /// So many operations, if that is known.
        operations: Option<u64>,
        /// Bytes that are moved for them.
        bytes: u64,
    },
    /// Sends a message.
    Send(End),
    /// Receives a message.
    Receive(End),
    /// Takes part in a collective.
    Collective {
        /// What it is.
        kind: Kind,
        /// Its bytes, as the trace has them.
        bytes: u64,
        /// The name of its process group; empty for all ranks.
        group: Box<str>,
    },
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The rank at the other end.
    pub peer: u32,
    /// Bytes.
    pub bytes: u64,
    /// Messages with the same tag between the same ranks are matched in order.
    pub tag: i128,
}

/// A collective: `CollectiveCommType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Every rank has the sum of what all had.
    AllReduce,
    /// The first rank has that sum.
    Reduce,
    /// Every rank has what each had.
    AllGather,
    /// The first rank has what each had.
    Gather,
    /// Every rank has its part of what the first had.
    Scatter,
    /// Every rank has what the first had.
    Broadcast,
    /// Every rank has its part of what each had.
    AllToAll,
    /// Every rank has its part of the sum.
    ReduceScatter,
    /// The same.
    ReduceScatterBlock,
    /// No rank goes on before all have reached it.
    Barrier,
}

impl Kind {
    /// In order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::AllReduce,
        Self::Reduce,
        Self::AllGather,
        Self::Gather,
        Self::Scatter,
        Self::Broadcast,
        Self::AllToAll,
        Self::ReduceScatter,
        Self::ReduceScatterBlock,
        Self::Barrier,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::Reduce => "reduce",
            Self::AllGather => "all_gather",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Broadcast => "broadcast",
            Self::AllToAll => "all_to_all",
            Self::ReduceScatter => "reduce_scatter",
            Self::ReduceScatterBlock => "reduce_scatter_block",
            Self::Barrier => "barrier",
        }
    }

    /// The collective whose messages it has, in one direction or the other; of gather, scatter and barrier
    /// none.
    pub const fn like(self) -> Option<CollectiveKind> {
        match self {
            Self::AllReduce => Some(CollectiveKind::AllReduce),
            Self::Reduce | Self::Broadcast => Some(CollectiveKind::Broadcast),
            Self::AllGather => Some(CollectiveKind::AllGather),
            Self::AllToAll => Some(CollectiveKind::AllToAll),
            Self::ReduceScatter | Self::ReduceScatterBlock => Some(CollectiveKind::ReduceScatter),
            Self::Gather | Self::Scatter | Self::Barrier => None,
        }
    }
}

/// Which dependencies count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Those of data.
    pub data: bool,
    /// Those of control.
    pub control: bool,
}

impl Node {
    /// Identifiers of the nodes that come first, of the kinds that count.
    pub fn after(&self, counted: Counted) -> impl Iterator<Item = u64> + '_ {
        let of = |counts: bool, ids: &'_ [u64]| if counts { ids.len() } else { 0 };
        let (data, control) = (of(counted.data, &self.data), of(counted.control, &self.control));
        self.data[..data].iter().chain(&self.control[..control]).copied()
    }

    /// What it is called in messages.
    pub fn text(&self) -> String {
        decode::name(self.id, &self.name)
    }
}

/// Place of the node with an identifier, among nodes in ascending order of them.
pub fn place(nodes: &[Node], id: u64) -> Option<usize> {
    nodes.binary_search_by_key(&id, |node| node.id).ok()
}

/// The files of a job, as a scenario names them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    /// What the names of the files have in common, or their folder.
    pub(crate) path: &'a str,
    /// The files, in order of the ranks, if they are listed.
    pub(crate) files: &'a [String],
    /// The file with the process groups, if there is one.
    pub(crate) groups: Option<&'a str>,
    /// Which dependencies count.
    pub(crate) counted: Counted,
}

/// Reads a job.
pub(crate) fn read(files: &Files, named: Named<'_>, scenario: &str) -> Result<Job, Unreadable> {
    let listed = match named.files {
        [] => by_rank(files, named.path, scenario)?,
        files => files.to_vec(),
    };
    let mut traces = Vec::with_capacity(listed.len());
    let limit = usize::try_from(read::limit(MEMORY_PER_BYTE)).unwrap_or(usize::MAX);
    for (rank, file) in (0..).zip(&listed) {
        let (bytes, _) = files.bytes(file, scenario)?;
        let trace = decode::trace(&bytes, rank, limit).map_err(|(message, help)| Unreadable {
            message: format!("`{file}`: {message}"),
            help,
        })?;
        traces.push(trace);
    }
    let written = match named.groups {
        Some(file) => {
            let (bytes, _) = files.bytes(file, scenario)?;
            groups::written(&bytes).map_err(|(message, help)| Unreadable {
                message: format!("`{file}`: {message}"),
                help,
            })?
        }
        None => BTreeMap::new(),
    };
    let groups =
        groups::all(written, &traces).map_err(|(message, help)| Unreadable { message, help })?;
    let ranks = traces.into_iter().map(|trace| trace.nodes).collect();
    matching::matched(ranks, &groups, named.counted)
        .map_err(|(message, help)| Unreadable { message, help })
}

/// A job of nodes that are not from files, with the ranks of its groups. The error is a message and a remedy.
pub(crate) fn job(
    ranks: Vec<Vec<Node>>,
    groups: BTreeMap<Box<str>, Vec<u32>>,
) -> Result<Job, (String, String)> {
    matching::matched(ranks, &groups, Counted { data: true, control: true })
}

/// The end of the names of traces.
const ENDING: &str = ".et";

/// The files `PATH.0.et`, `PATH.1.et` and so on; of a folder, all such files in it.
fn by_rank(files: &Files, path: &str, scenario: &str) -> Result<Vec<String>, Unreadable> {
    let whole = Path::new(scenario).parent().unwrap_or(Path::new("")).join(path);
    let is_folder = whole.is_dir();
    let folder = if is_folder { &*whole } else { whole.parent().unwrap_or(Path::new("")) };
    let begins = match whole.file_name() {
        Some(name) if !is_folder => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    for name in files.names(folder) {
        let Some((prefix, rank)) = name.strip_suffix(ENDING).and_then(|rest| rest.rsplit_once('.'))
        else {
            continue;
        };
        // Without zeros in front, so that no rank has two names.
        let number: Option<u32> =
            rank.parse().ok().filter(|number: &u32| number.to_string() == rank);
        let Some(number) = number.filter(|_| begins.as_ref().is_none_or(|begins| begins == prefix))
        else {
            continue;
        };
        let file = match is_folder {
            true => format!("{}/{name}", path.trim_end_matches('/')),
            false => format!("{path}.{number}{ENDING}"),
        };
        if let Some(other) = found.insert(number, file.clone()) {
            return Err(Unreadable {
                message: format!(
                    "`{path}` has two traces of rank {number}: `{other}` and `{file}`"
                ),
                help: "write what the names of one job have in common before the rank".to_owned(),
            });
        }
    }
    let Some((&last, file)) = found.last_key_value() else {
        let seek =
            if is_folder { format!("{path}/NAME.0{ENDING}") } else { format!("{path}.0{ENDING}") };
        return Err(Unreadable {
            message: format!("there is no trace `{seek}`"),
            help: "write what the names of the files have in common: \"step\" for step.0.et, step.1.et and \
                   so on"
                .to_owned(),
        });
    };
    if let Some(missing) = (0..last).find(|rank| !found.contains_key(rank)) {
        return Err(Unreadable {
            message: format!("there is no trace of rank {missing}, and `{file}` is of rank {last}"),
            help: "every rank from 0 on must have one".to_owned(),
        });
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests;
