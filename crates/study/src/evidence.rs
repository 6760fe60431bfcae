//! What is kept of the runs of a study, by experiment, variant and replication.

use std::collections::BTreeMap;

use floodway_model::Table;
pub use floodway_report::metrics::FlowTime as Flow;
use floodway_report::metrics::{SizeClasses, flow_times};
use floodway_report::scalars::scalars;
use floodway_report::shapes::{Depths, depths};
use floodway_report::{INTERRUPTED, Run};
use floodway_scenario::Scenario;

use crate::plan::Level;

/// A variant of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The experiment.
    pub experiment: &'static str,
    /// The variant.
    pub variant: &'static str,
}

/// What is kept of one run.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The measured flows by number. One that had not finished when the run ended counts with the
    /// time that it had taken until then, which is less than it takes, and has no slowdown.
    pub flows: Vec<Flow>,
    /// How many of them lost at least one packet.
    pub flows_with_loss: u64,
    /// Counters and other numbers about the run.
    pub scalars: BTreeMap<String, f64>,
    /// The egress queues of all switches.
    pub queues: Vec<QueueFact>,
    /// How often the queues of one number had which backlog, over all switches.
    pub depths: BTreeMap<u64, Depths>,
    /// Packets dropped by egress queue, over the whole run.
    pub drops: BTreeMap<u64, u64>,
}

/// One egress queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueFact {
    /// The tier of its switch; 0 is next to the hosts.
    pub tier: u64,
    /// Its number within its port.
    pub queue: u64,
    /// Its mean backlog during the measurement, in bytes; NaN if it was never sampled.
    pub mean: f64,
    /// Its largest backlog of the whole run, in bytes.
    pub max: u64,
}

impl Facts {
    /// Of a run.
    pub fn of(run: &Run) -> Self {
        let tables = run.tables;
        let table = |name: &str| {
            let found = tables.iter().find(|table| table.name == name);
            found.unwrap_or_else(|| panic!("every run has a table {name}"))
        };
        let flows = table("flows");
        let lost = flows.u64s("lost_packets").iter().zip(flows.u64s("measured"));
        Self {
            flows: until_the_end(tables, flows, run.simulated_ns),
            flows_with_loss: lost.filter(|(lost, measured)| **lost > 0 && **measured == 1).count()
                as u64,
            scalars: scalars(tables).into_iter().map(|(name, of)| (name, of.value)).collect(),
            queues: queues(table("queues")),
            depths: depths(table("depths")),
            drops: drops(table("drops")),
        }
    }

    /// The number of this name; 0 for one that the run does not know, because reasons and queues
    /// are named only where something happened.
    pub fn number(&self, name: &str) -> f64 {
        self.scalars.get(name).copied().unwrap_or(0.0)
    }

    /// The largest backlog of a queue of this number, in bytes.
    pub fn largest(&self, queue: u64) -> f64 {
        let of = self.queues.iter().filter(|fact| fact.queue == queue);
        of.map(|fact| fact.max).max().unwrap_or(0) as f64
    }

    /// The mean backlog of the queues of this number, over time and ports, in bytes.
    pub fn mean_depth(&self, queue: u64) -> f64 {
        let means: Vec<f64> =
            self.queues.iter().filter(|fact| fact.queue == queue).map(|fact| fact.mean).collect();
        means.iter().sum::<f64>() / means.len() as f64
    }

    /// How many queues of this number are deeper than `bytes` on average.
    pub fn deeper_than(&self, queue: u64, bytes: f64) -> f64 {
        let deep = |fact: &&QueueFact| fact.queue == queue && fact.mean > bytes;
        self.queues.iter().filter(deep).count() as f64
    }

    /// Of the packets that were sent during the measurement, the share that was dropped.
    pub fn loss_rate(&self) -> f64 {
        self.number("dropped_packets") / self.number("data_packets_sent")
    }
}

/// Whether a flow had finished when its run ended.
pub fn finished(flow: &Flow) -> bool {
    flow.slowdown.is_finite()
}

/// The measured flows, those that had not finished with the time until the end of the run.
fn until_the_end(tables: &[Table], flows: &Table, end_ns: f64) -> Vec<Flow> {
    let starts: BTreeMap<u64, f64> =
        flows.u64s("flow").iter().copied().zip(flows.f64s("start_ns").iter().copied()).collect();
    let mut times = flow_times(tables);
    for flow in times.iter_mut().filter(|flow| flow.fct_ns.is_nan()) {
        flow.fct_ns = end_ns - starts[&flow.flow];
    }
    times
}

fn queues(table: &Table) -> Vec<QueueFact> {
    let (tiers, queues) = (table.u64s("tier"), table.u64s("queue"));
    let (means, maxima) = (table.f64s("mean_backlog_bytes"), table.u64s("max_backlog_bytes"));
    let fact = |at: usize| QueueFact {
        tier: tiers[at],
        queue: queues[at],
        mean: means[at],
        max: maxima[at],
    };
    (0..table.rows()).map(fact).collect()
}

fn drops(table: &Table) -> BTreeMap<u64, u64> {
    let mut drops = BTreeMap::new();
    for (queue, packets) in table.u64s("queue").iter().zip(table.u64s("packets")) {
        *drops.entry(*queue).or_default() += packets;
    }
    drops
}

/// The runs of a study as they come in.
#[derive(Debug)]
pub struct Evidence {
    /// How thorough the study is.
    pub level: Level,
    /// Settings that were changed for all experiments.
    pub settings: Vec<String>,
    /// The size classes of flows.
    pub classes: SizeClasses,
    runs: BTreeMap<(String, String), BTreeMap<u32, Facts>>,
    scenarios: BTreeMap<String, Scenario>,
}

impl Evidence {
    /// No runs yet.
    pub fn new(level: Level, settings: &[String]) -> Self {
        Self {
            level,
            settings: settings.to_vec(),
            classes: SizeClasses::default(),
            runs: BTreeMap::new(),
            scenarios: BTreeMap::new(),
        }
    }

    /// An experiment begins.
    pub fn begin(&mut self, experiment: &str, scenario: &Scenario) {
        self.scenarios.insert(experiment.to_owned(), scenario.clone());
    }

    /// A run has ended. Interrupted ones do not count.
    pub fn add(&mut self, experiment: &str, run: &Run) {
        if run.stop == INTERRUPTED {
            return;
        }
        let case = (experiment.to_owned(), run.variant.to_owned());
        self.runs.entry(case).or_default().insert(run.replication, Facts::of(run));
    }

    /// The scenario of an experiment that has begun.
    pub fn scenario(&self, experiment: &str) -> Option<&Scenario> {
        self.scenarios.get(experiment)
    }

    /// The runs of a case by replication; none of one that was not run.
    pub fn runs(&self, case: Case) -> impl Iterator<Item = (u32, &Facts)> {
        let key = (case.experiment.to_owned(), case.variant.to_owned());
        self.runs.get(&key).into_iter().flatten().map(|(at, facts)| (*at, facts))
    }

    /// Whether a case was run.
    pub fn has(&self, case: Case) -> bool {
        self.runs(case).next().is_some()
    }

    /// The distribution of the sampled depths of the queues of one number, all replications of a
    /// case as one.
    pub fn depths(&self, case: Case, queue: u64) -> Depths {
        let mut sum = Depths::new();
        let of = self.runs(case).filter_map(|(_, facts)| facts.depths.get(&queue));
        for (edge, samples) in of.flatten() {
            *sum.entry(*edge).or_default() += samples;
        }
        sum
    }

    /// Replications that two cases share, with the facts of both.
    pub fn pairs(&self, from: Case, to: Case) -> impl Iterator<Item = (u32, &Facts, &Facts)> {
        let others: BTreeMap<u32, &Facts> = self.runs(to).collect();
        self.runs(from).filter_map(move |(at, a)| others.get(&at).map(|b| (at, a, *b)))
    }
}
