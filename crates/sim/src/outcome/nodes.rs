//! What the nodes of a process have to say at the end of a run: rows about themselves, and both ends
//! of flows. What several processes have gathered can be added, and is then what one would have gathered.

use std::collections::HashMap;

use floodway_model::graph::NodeKind;
use floodway_model::table::{Table, Values};
use floodway_model::tables::drops;
use floodway_model::{FlowId, Graph, NodeId};
use serde::{Deserialize, Serialize};

use super::flow_facts::FlowFacts;
use super::{
    deadlocks, drop_table, headroom, inputs, link_table, occupancy, pause_table, queue_table,
};
use crate::Spec;
use crate::host::Host;
use crate::host::application::State;
use crate::host::application::entries::Entry;
use crate::host::application::interactive::Frame;
use crate::host::application::video::Segment;
use crate::host::programs::Ran;
use crate::run::Finished;
use crate::switch::port::DropReason;

/// What the nodes of a process have to say.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OfNodes {
    /// Tables with a column `node`, in order of node.
    pub tables: Tables,
    /// Both ends of flows.
    pub flows: FlowFacts,
    /// What applications have handed over, in order of host.
    pub requests: Vec<(NodeId, FlowId, Requests)>,
    /// What programs of ranks have done, in their order.
    pub programs: Vec<Ran>,
}

/// Declares the tables whose rows each are about one node.
macro_rules! tables {
    ($($name:ident,)+) => {
        /// Tables with a column `node`, in order of node.
        #[derive(Debug, Serialize, Deserialize)]
        pub(crate) struct Tables {
            $(pub $name: Table,)+
        }

        impl Tables {
            fn merge(&mut self, other: Self, places: &HashMap<&str, (bool, NodeId)>) {
                $(append(&mut self.$name, other.$name, places);)+
            }
        }
    };
}

tables! {
    queues,
    switches,
    headroom,
    headroom_episodes,
    inputs,
    pauses,
    links,
    drops,
    storms,
}

/// What an application has handed to its transport.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Requests {
    Frames(Vec<Frame>),
    Entries(Vec<Entry>),
    Segments(Vec<Segment>),
}

impl OfNodes {
    /// What the nodes of this process have to say. The hosts forget the senders that have ended.
    pub fn new(spec: &Spec, finished: &mut Finished) -> Self {
        let mut programs: Vec<Ran> =
            finished.hosts.iter().flat_map(|host| host.ran(finished.now)).collect();
        programs.sort_by_key(|of| of.program);
        Self {
            programs,
            tables: Tables {
                queues: queue_table(spec, finished),
                switches: occupancy::switches(spec, finished),
                headroom: headroom::table(spec, finished),
                headroom_episodes: headroom::episodes(spec, finished),
                inputs: inputs::table(spec, finished),
                pauses: pause_table(spec, finished),
                links: link_table(spec, finished),
                drops: drop_table(spec, finished),
                storms: deadlocks::storms(spec, finished),
            },
            flows: FlowFacts::gather(spec, finished),
            requests: finished.hosts.iter().flat_map(requests).collect(),
        }
    }

    /// Adds what the nodes of other processes have to say.
    pub fn merge(&mut self, graph: &Graph, others: impl IntoIterator<Item = Self>) {
        let places = places(graph);
        for other in others {
            self.tables.merge(other.tables, &places);
            self.flows.merge(other.flows);
            self.requests.extend(other.requests);
            self.programs.extend(other.programs);
        }
        self.programs.sort_by_key(|of| of.program);
        self.requests.sort_by_key(|(host, ..)| *host);
    }
}

fn requests(host: &Host) -> impl Iterator<Item = (NodeId, FlowId, Requests)> {
    host.applications.iter().map(|application| {
        let requests = match &application.state {
            State::Interactive(state) => Requests::Frames(state.frames.clone()),
            State::Entries(state) => Requests::Entries(state.entries.clone()),
            State::Video(state) => Requests::Segments(state.segments.clone()),
        };
        (host.id(), application.flow, requests)
    })
}

/// By name: whether a node is a switch, and its number. Rows about hosts come first.
fn places(graph: &Graph) -> HashMap<&str, (bool, NodeId)> {
    let place = |(node, number): (&'_ floodway_model::graph::Node, u32)| {
        (matches!(node.kind, NodeKind::Switch { .. }), NodeId(number))
    };
    let named = graph.nodes.iter().map(|node| &*node.name);
    named.zip(graph.nodes.iter().zip(0..).map(place)).collect()
}

/// Adds rows to a table, in order of node. The rows of a node all come from one process, in their order.
fn append(table: &mut Table, other: Table, places: &HashMap<&str, (bool, NodeId)>) {
    for (mine, theirs) in table.columns.iter_mut().zip(other.columns) {
        match (&mut mine.values, theirs.values) {
            (Values::U64(mine), Values::U64(theirs)) => mine.extend_unpacked(theirs.iter()),
            (Values::F64(mine), Values::F64(theirs)) => mine.extend_unpacked(theirs.iter()),
            (Values::Text(mine), Values::Text(theirs)) => mine.extend(theirs),
            _ => unreachable!("a table has the same columns everywhere"),
        }
    }
    let nodes = table.texts("node").iter().map(|node| places[&**node]);
    // Losses on links come before what switches drop.
    let of_switches: Vec<bool> = match drops::View::of_table(table) {
        Some(rows) if table.name == drops::NAME => {
            let on_links = [DropReason::LostOnLink.name(), DropReason::Corrupted.name()];
            rows.reason.iter().map(|reason| !on_links.contains(&reason.as_str())).collect()
        }
        _ => vec![false; table.rows()],
    };
    let keys: Vec<_> = of_switches.into_iter().zip(nodes).collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&row| keys[row]);
    for column in &mut table.columns {
        match &mut column.values {
            Values::U64(values) => *values = arranged(|row| values.at(row), &order).into(),
            Values::F64(values) => *values = arranged(|row| values.at(row), &order).into(),
            Values::Text(values) => *values = arranged(|row| values[row].clone(), &order),
        }
    }
}

fn arranged<T>(value: impl Fn(usize) -> T, order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| value(row)).collect()
}
