//! What flows spent their time on, and who caused it: read from the tables of explained delays, for
//! the terminal, as JSON and for the page.

mod against;
pub mod chain;
pub mod chart;
mod json;
mod read;
mod shown;
mod text;
mod totals;

pub use against::Against;
pub use json::json;
pub use shown::{Digest, KINDS, kind};
pub use text::{text, victims};
pub use totals::{Group, Root};

use std::collections::BTreeMap;

use floodway_model::{Delay, Table};

use crate::metrics::SizeClasses;
use crate::words;

/// An egress port, by the names of its node and of that at the other end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port {
    /// The node.
    pub node: String,
    /// The port there.
    pub port: u64,
    /// The node at the other end; empty if only the node is meant.
    pub peer: String,
}

impl std::fmt::Display for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.peer {
            "" => f.write_str(&self.node),
            peer => write!(f, "{} to {peer}", self.node),
        }
    }
}

/// A flow that is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its number.
    pub number: u64,
    /// The number of its workload.
    pub workload: usize,
    /// Its size.
    pub bytes: u64,
    /// The names of its source and its destination.
    pub ends: (String, String),
    /// Its start, in ps.
    pub start: u64,
    /// Its completion time, in ps.
    pub fct: u64,
    /// The completion time over the ideal one.
    pub slowdown: f64,
    /// The flow that it waited for before it began.
    pub after: Option<u64>,
    /// What it spent its time on, by place.
    pub totals: Vec<Total>,
    /// The same in the order of time; only of a flow that is detailed.
    pub parts: Vec<Part>,
    /// Packets that were sent again: their number, where they were lost, and why.
    pub losses: Vec<(u64, String, String)>,
    /// Packets that were marked, by port.
    pub marks: Vec<(Port, u64)>,
    /// What lowered its rate and its window, in order; only of a flow that is detailed.
    pub cuts: Vec<Cut>,
    /// Its packets in the order of arrival, if they are explained one by one.
    pub packets: Vec<Packet>,
    /// The number of measured flows that it stands for in means, above 0.
    pub stands_for: f64,
}

/// A packet that has arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Its number in the flow.
    pub number: u64,
    /// What it spent its time on, from its generation to its arrival, without gap or overlap.
    pub parts: Vec<Part>,
}

/// A reduction of what congestion control allows a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The first packet that is generated afterwards, in ps.
    pub at: u64,
    /// `rate` or `window`.
    pub limit: String,
    /// Before: bits per second of a rate, bytes of a window.
    pub before: f64,
    /// After.
    pub after: f64,
    /// The reason: `mark`, `notification`, `loss` or `measured`.
    pub reason: String,
    /// The port that marked a packet, or the switch that sent a notification.
    pub place: Option<Port>,
}

/// Time that a flow spent at one place on one thing. Times are in ps.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// On what.
    pub delay: Delay,
    /// Where.
    pub port: Port,
    /// Whether it is part of a round trip that the sender waits for, because its window is full.
    pub in_window: bool,
    /// The queue at the root of pauses.
    pub root: Option<Port>,
    /// How long.
    pub time: u64,
    /// Number of flows that caused it.
    pub causes: u64,
    /// The flow that caused most of it, and how much.
    pub most: Option<(u64, u64)>,
}

/// An interval of the time of a flow, in ps.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its start.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// What it is spent on.
    pub delay: Delay,
    /// Where.
    pub port: Port,
    /// Whether it is part of a round trip that the sender waits for, because its window is full.
    pub in_window: bool,
    /// The flow that caused it.
    pub cause: Option<u64>,
    /// The queue at the root of a pause.
    pub root: Option<Port>,
}

/// A pause of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    /// The port that is paused.
    pub port: Port,
    /// The class.
    pub class: u64,
    /// Its start, in ps.
    pub from: u64,
    /// Its end, in ps.
    pub to: u64,
    /// The queue at the root, its class, and the flow with most bytes in it; `None` if a host asked for the
    /// pause.
    pub root: Option<(Port, u64, u64)>,
    /// Number of pauses from this one to the root.
    pub depth: u64,
}

/// What a run says about the delays of its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Number of measured flows that have completed.
    pub measured: usize,
    /// Workloads of all flows.
    workload_of: BTreeMap<u64, usize>,
    /// Names of the workloads.
    workloads: Vec<String>,
    /// The size classes.
    pub classes: SizeClasses,
    /// The flows that are explained, in order of their numbers.
    pub flows: Vec<Flow>,
    /// Flows that the totals are about; flows that were chosen because they are slow would distort them.
    pub sample: Vec<u64>,
    /// All pauses.
    pub pauses: Vec<Pause>,
    /// By root, the flows that fill its queue, with the paused time that each is blamed for in ps, those with most
    /// first.
    fillers: BTreeMap<Port, Vec<(u64, u64)>>,
}

impl Part {
    /// How long it lasts, in ps.
    pub fn time(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

impl Flow {
    /// When it completed, in ps.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.fct)
    }
}

impl Explanation {
    /// From the tables of a run; `None` if its delays were not explained. All of its flows are the sample.
    pub fn of(tables: &[Table], workloads: &[String], classes: &SizeClasses) -> Option<Self> {
        read::explanation(tables, workloads, classes)
    }

    /// A flow that is explained.
    pub fn flow(&self, number: u64) -> Option<&Flow> {
        let at = self.flows.binary_search_by_key(&number, |flow| flow.number).ok()?;
        Some(&self.flows[at])
    }

    /// The flows that are detailed, those with the largest slowdown first.
    pub fn slowest(&self) -> Vec<u64> {
        let mut flows: Vec<&Flow> =
            self.flows.iter().filter(|flow| !flow.parts.is_empty()).collect();
        flows.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then(a.number.cmp(&b.number)));
        flows.iter().map(|flow| flow.number).collect()
    }

    /// The flows that fill the queue of a root, with the paused time in ps that each is blamed for: its share of the bytes.
    /// Those with most first.
    pub fn fillers(&self, root: &Port) -> &[(u64, u64)] {
        self.fillers.get(root).map_or(&[], Vec::as_slice)
    }

    /// The same in words, by workload: `11 flows of incast (97 %)`. Empty if it is not known.
    pub fn filled_by(&self, root: &Port) -> String {
        let flows = self.fillers(root);
        if let [(flow, _)] = flows {
            return self.name_of(*flow);
        }
        let mut workloads: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
        let all = flows.iter().fold(0, |sum: u64, (_, time)| sum.saturating_add(*time));
        for (flow, time) in flows {
            let workload = self.workload_of.get(flow).copied().unwrap_or(usize::MAX);
            let (count, sum) = workloads.entry(workload).or_default();
            (*count, *sum) = (*count + 1, sum.saturating_add(*time));
        }
        let mut workloads: Vec<_> = workloads.into_iter().collect();
        workloads.sort_by_key(|(workload, (_, time))| (std::cmp::Reverse(*time), *workload));
        let words = workloads.iter().map(|(workload, (count, time))| {
            let flows = if *count == 1 { "flow" } else { "flows" };
            let share = if workloads.len() == 1 {
                String::new()
            } else {
                format!(" ({})", text::percent(*time, all))
            };
            let count = words::count(*count as f64);
            format!("{count} {flows} of {}{share}", self.workload(*workload))
        });
        words::list(&words.collect::<Vec<_>>())
    }

    /// The name of a workload.
    pub fn workload(&self, number: usize) -> String {
        match self.workloads.get(number).filter(|name| !name.is_empty()) {
            Some(name) => name.clone(),
            None => format!("workload {number}"),
        }
    }

    /// A flow with its workload: `flow 7 (incast)`.
    pub fn name_of(&self, flow: u64) -> String {
        match self.workload_of.get(&flow) {
            Some(workload) => format!("flow {flow} ({})", self.workload(*workload)),
            None => format!("flow {flow}"),
        }
    }
}
