//! A run over several processes (ranks). Each builds and runs the nodes of its parts; at the end rank 0
//! gathers what the nodes of all have to say, and has the outcome.

use floodway_engine::{Layout, Over, Ranks};
use floodway_model::NodeId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::audit::Audit;
use crate::metric::Metrics;
use crate::observe::Packed;
use crate::outcome::{OfNodes, Outcome};
use crate::simulation::{self, Blocks, Run, Simulation};
use crate::{Spec, deadlock, run};

/// The nodes of one rank, ready to run together with those of the other ranks.
pub struct Share<'a> {
    simulation: Simulation,
    layout: Layout,
    threads: usize,
    ranks: &'a dyn Ranks,
}

/// There are more ranks than parts into which the network can be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRanks {
    /// Ranks.
    pub ranks: usize,
    /// Parts: switches, each with its hosts.
    pub parts: usize,
}

/// Everything that the nodes of a rank have to say.
#[derive(Serialize, Deserialize)]
struct Report {
    of_nodes: OfNodes,
    metrics: Metrics,
    observers: Packed,
    audit: Audit,
    last_moved: floodway_model::Instant,
}

impl<'a> Share<'a> {
    /// Builds the nodes of this rank, for at most so many threads. Nothing is built if there are more ranks than
    /// parts. [`Spec::explained`] has no effect.
    pub fn new(spec: Spec, threads: usize, ranks: &'a dyn Ranks) -> Result<Self, TooManyRanks> {
        let parts = most_ranks(&spec);
        let (count, rank) = (ranks.ranks(), ranks.rank());
        if count > parts {
            return Err(TooManyRanks { ranks: count, parts });
        }
        let threads = threads.clamp(1, parts / count);
        let blocks = Blocks::IfUseful;
        let layout =
            simulation::layout(&spec, simulation::windows(&spec), (count, threads), blocks);
        let here = |node| layout.part(node) / threads == rank;
        let spec = Spec { explained: None, ..spec };
        let simulation = Simulation::with_nodes(spec, &here).audited(false);
        Ok(Self { simulation, layout, threads, ranks })
    }

    /// Runs the simulation to its end, as all other ranks do at the same time. The outcome is the same as that of
    /// a run on one thread, and rank 0 has it. The number of threads in `run` is ignored.
    pub fn run(self, run: &Run) -> Option<Outcome> {
        let begun = std::time::Instant::now();
        let Self { simulation, layout, threads, ranks } = self;
        let nodes = nodes(simulation.spec(), &layout);
        let neighbors = neighbors(simulation.spec(), &layout, threads, ranks.rank());
        let over = Over { ranks, nodes: &nodes, neighbors: &neighbors };
        let (spec, mut finished) = simulation.finish_with(
            run,
            &layout,
            |nodes, layout, limits, measurement| {
                run::run_over(nodes, layout, limits, measurement, (&over, threads))
            },
            |finished| deadlock::find_over(&finished.switches, finished.now, ranks),
        );
        let mut report = Report {
            of_nodes: OfNodes::new(&spec, &mut finished),
            metrics: finished.metrics.clone(),
            observers: finished.observers.pack(),
            audit: Audit::of(&spec, &finished),
            last_moved: finished.deadlocks.last_moved,
        };
        if ranks.rank() > 0 {
            ranks.gather(pack(&report), &mut |_, _| {});
            return None;
        }
        finished.observers.merge_packed(report.observers);
        let mut others = Vec::new();
        ranks.gather(Vec::new(), &mut |rank, octets| {
            if rank > 0 {
                let other: Report = unpack(&octets);
                finished.metrics.merge(&other.metrics);
                finished.observers.merge_packed(other.observers);
                report.audit.merge(other.audit);
                report.last_moved = report.last_moved.max(other.last_moved);
                others.push(other.of_nodes);
            }
        });
        report.of_nodes.merge(&spec.graph, others);
        finished.deadlocks.last_moved = report.last_moved;
        let violations = report.audit.violations();
        Some(Outcome::of(&spec, &finished, report.of_nodes, violations, begun.elapsed()))
    }
}

/// The most ranks over which a simulation can go: each needs a switch.
pub fn most_ranks(spec: &Spec) -> usize {
    simulation::groups(&spec.graph).len().max(1)
}

/// The nodes of each part, those of each block in order of place.
fn nodes(spec: &Spec, layout: &Layout) -> Vec<Vec<NodeId>> {
    let mut nodes = vec![Vec::new(); layout.parts()];
    let (hosts, several) = spec
        .graph
        .first_ports()
        .partition::<Vec<_>, _>(|&host| spec.graph.ports_of(host).len() == 1);
    for node in spec.graph.switches().chain(hosts).chain(several) {
        nodes[layout.part(node)].push(node);
    }
    nodes
}

/// The other ranks to which nodes of this one have links.
fn neighbors(spec: &Spec, layout: &Layout, threads: usize, rank: usize) -> Vec<usize> {
    let rank_of = |node| layout.part(node) / threads;
    let mut neighbors: Vec<usize> = (0..)
        .map(NodeId)
        .zip(&spec.graph.nodes)
        .filter(|(id, _)| rank_of(*id) == rank)
        .flat_map(|(_, node)| node.ports.iter().map(|end| rank_of(end.peer)))
        .filter(|&other| other != rank)
        .collect();
    neighbors.sort_unstable();
    neighbors.dedup();
    neighbors
}

/// A value as octets for another rank.
pub(crate) fn pack(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("plain values, which can all be written")
}

/// A value from another rank. All ranks run the same program: its hash is compared before.
pub(crate) fn unpack<T: DeserializeOwned>(octets: &[u8]) -> T {
    postcard::from_bytes(octets).expect("octets as another rank has written them")
}
