//! Lists of flows from files.

pub mod csv;
pub mod hpcc;
pub mod htsim;
pub mod parquet;

use std::ops::Range;
use std::sync::Arc;

use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Files, Unit, Unreadable, Word, extension};
use crate::text::{Place, Problem, Source};
use crate::topology;
use crate::workload::list::Flow;

/// Whose list of flows it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Text with a header: the columns `src`, `dst`, `bytes`, `start_ns` and, if flows without a
    /// size have an end, `stop_ns`, in any order; others are ignored. Hosts by number or name. A
    /// flow without `bytes` (empty or NaN) has no size.
    Csv,
    /// The same columns, uncompressed or compressed with Snappy.
    Parquet,
    /// `flow.txt` of the HPCC simulator: the number of flows, then lines of source, destination,
    /// priority group, port, bytes and start in seconds, in order of start. Priority group and port
    /// are ignored: [switch.classify] decides the class. Lines behind that do not begin with a
    /// digit are ignored.
    Hpcc,
    /// A connection matrix of htsim (`.cm`): `Nodes` and `Connections`, then lines of
    /// `src->dst start T size B` with T in picoseconds and B in bytes. `id` and `prio` are ignored;
    /// failures are refused. In place of `start T` a flow may wait for others with `trigger K`, a
    /// `oneshot` or a `barrier`, if its source sends or receives them: `recv_done_trigger K` sets it
    /// off when all has arrived; `send_done_trigger K` when all has left the sender, or if the flow
    /// begins at the receiver when all has arrived there, where htsim waits for the acknowledgements.
    /// htsim itself reads starts as floats of 32 bits, which at 1 ms are multiples of 64 ps, and sizes
    /// below 2 GiB; here both are exact.
    Htsim,
}

impl Format {
    /// The format by the name of a file.
    pub fn of(path: &str) -> Option<Self> {
        match extension(path).as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "txt" => Some(Self::Hpcc),
            "cm" => Some(Self::Htsim),
            _ => None,
        }
    }
}

/// Flows, and where in the file each says when it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flows {
    /// The flows in the order of the file.
    pub flows: Vec<Flow>,
    /// The bytes of the word that says when the flow starts.
    pub starts: Vec<Range<usize>>,
    /// Which of them begin after which others.
    pub waits: Vec<Wait>,
    /// What is doubtful of them.
    pub warnings: Vec<Problem>,
}

/// A flow of a list that begins after another: when that has arrived at its source, or has been
/// handed over there. It has no other start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The place of the one that is waited for.
    pub after: u32,
    /// The place of the one that waits.
    pub begins: u32,
}

/// From the name of a host to its place.
type ByName = dyn Fn(&str) -> Option<u32>;

/// The hosts of a network, as files name them: by number or by name.
pub struct Hosts {
    count: u64,
    /// In a network from a file, numbers are those of that file.
    named_by_number: bool,
    by_name: Box<ByName>,
}

impl Hosts {
    /// Those of a network.
    pub fn of(network: &topology::Spec) -> Self {
        Self {
            count: network.size().hosts,
            named_by_number: matches!(network, topology::Spec::File(_)),
            by_name: Box::new(network.host_numbers()),
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The place of a host among the hosts.
    pub fn find(&self, host: Word<'_>) -> Result<u32, Problem> {
        let text = host.text;
        let is_number = is_number(text);
        let found = if is_number && !self.named_by_number {
            text.parse().ok().filter(|&number| u64::from(number) < self.count)
        } else if is_number {
            (self.by_name)(&format!("host {text}"))
        } else {
            (self.by_name)(text)
        };
        found.ok_or_else(|| {
            let name = if is_number { text.to_owned() } else { format!("`{text}`") };
            let message = format!("there is no host {name}: the network has {} hosts", self.count);
            let help = match (is_number, self.named_by_number) {
                (true, true) => "hosts have the numbers of the file that the network is read from",
                (true, false) => "hosts are numbered from 0",
                (false, _) => "write the number of a host, or its name, like host 3",
            };
            host.problem(message, help)
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A list that is being read.
pub struct Reading<'a> {
    hosts: &'a Hosts,
    origin: Duration,
    read: Flows,
}

/// A point in time as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The word.
    pub word: Word<'a>,
    /// What it means, by the clock of the file.
    pub at: Duration,
}

impl<'a> Moment<'a> {
    /// Reads the start of a flow.
    pub fn start(word: Word<'a>, unit: Unit) -> Result<Self, Problem> {
        Ok(Self { word, at: word.time("the start", unit)? })
    }

    /// Reads the end of a flow.
    pub fn stop(word: Word<'a>, unit: Unit) -> Result<Self, Problem> {
        Ok(Self { word, at: word.time("the end", unit)? })
    }
}

/// A flow as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The sender.
    pub src: Word<'a>,
    /// The receiver.
    pub dst: Word<'a>,
    /// The size.
    pub bytes: Option<Word<'a>>,
    /// When it starts.
    pub start: Moment<'a>,
    /// When it ends, if it has no size.
    pub stop: Option<Moment<'a>>,
}

impl<'a> Reading<'a> {
    /// Begins a list between these hosts; `origin` is the time zero of the run by the clock of the
    /// file.
    pub fn new(hosts: &'a Hosts, origin: Duration) -> Self {
        Self { hosts, origin, read: Flows::default() }
    }

    /// The network's hosts.
    pub fn hosts(&self) -> &Hosts {
        self.hosts
    }

    /// The beginning of the run, for a flow that waits as `word` says.
    pub fn beginning<'w>(&self, word: Word<'w>) -> Moment<'w> {
        Moment { word, at: self.origin }
    }

    /// How many flows there are so far.
    pub fn count(&self) -> u64 {
        self.read.flows.len() as u64
    }

    /// Adds a flow if it is possible.
    pub fn add(&mut self, row: Row<'_>) -> Result<(), Problem> {
        let (src, dst) = (self.hosts.find(row.src)?, self.hosts.find(row.dst)?);
        if src == dst {
            let name = match is_number(row.dst.text) {
                true => format!("host {}", row.dst.text),
                false => row.dst.text.to_owned(),
            };
            let message = format!("{name} would send to itself");
            return Err(row
                .dst
                .problem(message, "write two different hosts, or leave the flow out"));
        }
        let bytes = match row.bytes {
            None => None,
            Some(word) => match word.whole("the size")? {
                0 => {
                    let help = "write at least 1, or leave the flow out";
                    return Err(word.problem("the flow would have 0 bytes", help));
                }
                bytes => Some(Bytes(bytes)),
            },
        };
        let start = self.since_origin(row.start)?;
        let stop = match row.stop {
            None => None,
            Some(stop) if bytes.is_some() => {
                let message = "the flow has a size and an end in time";
                return Err(stop.word.problem(message, "leave one of the two empty"));
            }
            Some(stop) if stop.at <= row.start.at => {
                let (stop_at, start) = (stop.at, row.start.at);
                let message =
                    format!("the flow stops ({stop_at}) before it sends anything (start: {start})");
                return Err(stop.word.problem(message, "make the end later than the start"));
            }
            Some(stop) => Some(self.since_origin(stop)?),
        };
        self.read.flows.push(Flow { src, dst, start, bytes, stop });
        self.read.starts.push(row.start.word.range());
        Ok(())
    }

    fn since_origin(&self, moment: Moment<'_>) -> Result<Duration, Problem> {
        if moment.at < self.origin {
            let message = format!(
                "the flow starts ({}) before the run does, at `origin` ({})",
                moment.at, self.origin
            );
            return Err(moment.word.problem(message, "lower `origin` in the scenario"));
        }
        Ok(Duration(moment.at.0 - self.origin.0))
    }

    /// The flows, of which there is at least one.
    pub fn end(self, source: &Arc<Source>) -> Result<Flows, Problem> {
        if self.read.flows.is_empty() {
            let place = Place::whole(source);
            return Err(Problem::error(place, "the file has no flows", "write at least one"));
        }
        Ok(self.read)
    }
}

/// Why there is no list.
pub(crate) enum Failure {
    /// The file cannot be read at all.
    Unreadable(Unreadable),
    /// Something in it is wrong.
    Content(Box<Problem>),
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Content(Box::new(problem))
    }
}

/// Reads a list that a scenario names, and the text that its places are in.
pub(crate) fn read(
    files: &Files,
    (path, scenario): (&str, &str),
    format: Format,
    hosts: &Hosts,
    origin: Duration,
) -> Result<(Flows, Arc<Source>), Failure> {
    let source = match format {
        Format::Parquet => {
            let (bytes, shown) = files.bytes(path, scenario)?;
            parquet::as_csv(&bytes, &shown.display().to_string())?
        }
        _ => files.text(path, scenario)?,
    };
    let flows = match format {
        Format::Csv | Format::Parquet => csv::read(&source, hosts, origin)?,
        Format::Hpcc => hpcc::read(&source, hosts, origin)?,
        Format::Htsim => htsim::read(&source, hosts, origin)?,
    };
    Ok((flows, source))
}

#[cfg(test)]
mod tests;
