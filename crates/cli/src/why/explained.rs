//! Explanations with the names of nodes, flows and workloads.

use std::collections::BTreeMap;

use floodway_model::graph::Node;
use floodway_model::{Duration, FlowId, NodeId};
use floodway_report::metrics::SizeClasses;
use floodway_sim::delays::{Explained, Kind, Part, Queue, Story};
use serde_json::{Value, json};

/// A flow that has completed.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Its number.
    pub number: u32,
    /// The number of its workload.
    pub workload: usize,
    /// Its size.
    pub bytes: u64,
    /// The completion time on an idle network.
    pub ideal_ns: f64,
    /// The completion time over the ideal one.
    pub slowdown: f64,
    /// Whether it counts in statistics.
    pub measured: bool,
}

/// What is explained.
#[derive(Debug)]
pub struct Explanation {
    /// Variant and replication.
    pub run: (String, u32),
    /// All flows that have completed, in order of their numbers.
    pub flows: Vec<Flow>,
    /// The size classes.
    pub classes: SizeClasses,
    /// Names of the workloads.
    pub workloads: Vec<String>,
    /// The network.
    pub nodes: Vec<Node>,
    /// Flows to be explained one by one.
    pub chosen: Vec<FlowId>,
    /// Flows that the totals are about, in order of their numbers. Flows that were chosen because they
    /// are slow would distort them.
    pub sample: Vec<FlowId>,
    /// The explanations.
    pub explained: Explained,
}

/// Flows of one workload and size class.
#[derive(Debug, Default)]
pub struct Group {
    /// Number of flows.
    pub flows: usize,
    /// Their time.
    pub total: Duration,
    /// By kind of part.
    pub by_kind: BTreeMap<&'static str, Duration>,
    /// Paused time by its root.
    pub by_root: BTreeMap<(NodeId, usize), Duration>,
}

/// A queue at the root of pauses.
#[derive(Debug)]
pub struct Root {
    /// The queue; its flow is the one that had most bytes in it most often.
    pub queue: Queue,
    /// Number of pauses.
    pub pauses: usize,
    /// The most pauses in a row from a paused port to the root.
    pub depth: usize,
    /// Sum of their lengths.
    pub total: Duration,
    /// Time that the flows of the sample lost to them.
    pub lost: Duration,
    /// Number of flows, of those, that lost some.
    pub victims: usize,
}

impl Explanation {
    /// A flow by its number.
    pub fn flow(&self, flow: FlowId) -> Option<&Flow> {
        let at = self.flows.binary_search_by_key(&flow.0, |flow| flow.number).ok()?;
        Some(&self.flows[at])
    }

    /// The name of a workload.
    pub fn workload(&self, number: usize) -> String {
        match self.workloads.get(number).filter(|name| !name.is_empty()) {
            Some(name) => name.clone(),
            None => format!("workload {number}"),
        }
    }

    /// A flow with its workload: `flow 7 (incast)`.
    pub fn name_of(&self, flow: FlowId) -> String {
        match self.flow(flow).map(|flow| self.workload(flow.workload)) {
            Some(workload) => format!("flow {} ({workload})", flow.0),
            None => format!("flow {}", flow.0),
        }
    }

    /// The name of a node.
    pub fn node(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// A port by its ends: `leaf 7 to host 57`.
    pub fn port(&self, node: NodeId, port: usize) -> String {
        let here = &self.nodes[node.index()];
        match here.ports.get(port) {
            Some(link) => format!("{} to {}", here.name, self.node(link.peer)),
            None => here.name.clone(),
        }
    }

    /// The explained flows that were chosen, in the order of the choice.
    pub fn stories(&self) -> impl Iterator<Item = (&Flow, &Story)> {
        self.chosen.iter().filter_map(|flow| {
            let story = self.explained.stories.iter().find(|story| story.flow == *flow)?;
            Some((self.flow(*flow)?, story))
        })
    }

    /// The root of the pause in which a part is spent.
    pub fn root(&self, part: &Part) -> Option<Queue> {
        match part.kind {
            Kind::Paused(number) => self.explained.pauses[number].root,
            _ => None,
        }
    }

    fn sampled(&self) -> impl Iterator<Item = &Story> {
        let stories = self.explained.stories.iter();
        stories.filter(|story| self.sample.binary_search(&story.flow).is_ok())
    }

    /// Totals by workload and size class, both as numbers, of the sample.
    pub fn groups(&self) -> BTreeMap<(usize, usize), Group> {
        let mut groups: BTreeMap<(usize, usize), Group> = BTreeMap::new();
        for story in self.sampled() {
            let Some(flow) = self.flow(story.flow) else { continue };
            let class = self.classes.of(flow.bytes);
            let group = groups.entry((flow.workload, class)).or_default();
            group.flows += 1;
            group.total += story.completed.since(story.began);
            for part in &story.parts {
                let time = part.to.since(part.from);
                *group.by_kind.entry(part.kind.name()).or_default() += time;
                if let Some(root) = self.root(part) {
                    *group.by_root.entry((root.node, root.port)).or_default() += time;
                }
            }
        }
        groups
    }

    /// The roots of pauses, those that cost the sample most first.
    pub fn roots(&self) -> Vec<Root> {
        // With each root, how often each flow had most bytes in it.
        type Counted = (Root, BTreeMap<FlowId, usize>);
        let mut roots: BTreeMap<(NodeId, usize, usize), Counted> = BTreeMap::new();
        let place = |queue: &Queue| (queue.node, queue.port, queue.class);
        for pause in &self.explained.pauses {
            let Some(queue) = pause.root else { continue };
            let empty = || {
                let root = Root {
                    queue,
                    pauses: 0,
                    depth: 0,
                    total: Duration::ZERO,
                    lost: Duration::ZERO,
                    victims: 0,
                };
                (root, BTreeMap::new())
            };
            let (root, flows) = roots.entry(place(&queue)).or_insert_with(empty);
            root.pauses += 1;
            root.depth = root.depth.max(pause.depth);
            root.total += pause.to.since(pause.from);
            *flows.entry(queue.flow).or_default() += 1;
        }
        for story in self.sampled() {
            let mut lost: BTreeMap<_, Duration> = BTreeMap::new();
            for part in &story.parts {
                if let Some(queue) = self.root(part) {
                    *lost.entry(place(&queue)).or_default() += part.to.since(part.from);
                }
            }
            for (of, time) in lost {
                if let Some((root, _)) = roots.get_mut(&of) {
                    root.lost += time;
                    root.victims += 1;
                }
            }
        }
        let mut all: Vec<Root> = roots
            .into_values()
            .map(|(mut root, flows)| {
                let most =
                    flows.iter().max_by_key(|(flow, count)| (**count, std::cmp::Reverse(**flow)));
                root.queue.flow = most.map_or(root.queue.flow, |(flow, _)| *flow);
                root
            })
            .collect();
        all.sort_by_key(|root| std::cmp::Reverse((root.lost, root.total)));
        all
    }

    /// Everything as JSON. Times are in whole picoseconds.
    pub fn json(&self) -> Value {
        let groups = self.groups();
        let groups = groups.iter().map(|((workload, class), group)| {
            let root = |((node, port), time): (&(NodeId, usize), &Duration)| {
                json!({"port": self.port(*node, *port), "ps": time.0})
            };
            json!({
                "workload": self.workload(*workload),
                "size_class": self.classes.key(*class),
                "flows": group.flows,
                "fct_ps": group.total.0,
                "parts": group.by_kind.iter().map(|(kind, time)| ((*kind).to_owned(), json!(time.0))).collect::<serde_json::Map<_, _>>(),
                "roots": group.by_root.iter().map(root).collect::<Vec<_>>(),
            })
        });
        let roots = self.roots();
        let roots = roots.iter().map(|root| {
            json!({
                "port": self.port(root.queue.node, root.queue.port),
                "class": root.queue.class,
                "flow": root.queue.flow.0,
                "pauses": root.pauses,
                "depth": root.depth,
                "paused_ps": root.total.0,
                "lost_ps": root.lost.0,
                "victims": root.victims,
            })
        });
        let flows = self.stories().map(|(flow, story)| {
            json!({
                "flow": flow.number,
                "workload": self.workload(flow.workload),
                "src": self.node(story.src),
                "dst": self.node(story.dst),
                "bytes": flow.bytes,
                "start_ps": story.began.0,
                "fct_ps": story.completed.since(story.began).0,
                "ideal_fct_ns": flow.ideal_ns,
                "parts": story.parts.iter().map(|part| self.part(part)).collect::<Vec<_>>(),
                "losses": story.losses.iter().map(|(packet, node, reason)| json!({
                    "packet": packet, "node": self.node(*node), "reason": reason.name(),
                })).collect::<Vec<_>>(),
            })
        });
        json!({
            "variant": self.run.0,
            "replication": self.run.1,
            "groups": groups.collect::<Vec<_>>(),
            "roots": roots.collect::<Vec<_>>(),
            "flows": flows.collect::<Vec<_>>(),
        })
    }

    fn part(&self, part: &Part) -> Value {
        let mut value = json!({
            "from_ps": part.from.0,
            "to_ps": part.to.0,
            "kind": part.kind.name(),
            "port": self.port(part.node, part.port),
            "in_window": part.in_window,
        });
        match part.kind {
            Kind::OtherFlow(flow) | Kind::OtherClass(flow) => value["flow"] = json!(flow.0),
            Kind::Paused(number) => {
                let pause = &self.explained.pauses[number];
                value["pause"] = json!({
                    "from_ps": pause.from.0,
                    "to_ps": pause.to.0,
                    "depth": pause.depth,
                    "root": pause.root.map(|root| self.port(root.node, root.port)),
                    "flow": pause.root.map(|root| root.flow.0),
                });
            }
            _ => {}
        }
        value
    }
}
