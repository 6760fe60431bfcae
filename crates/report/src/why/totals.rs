//! Totals over flows, and over pauses by their roots.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use floodway_model::Delay;

use super::{Explanation, Flow, Port};

/// Flows of one workload and size class. Times are in ps, each multiplied by the number of flows that the flow stands
/// for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Number of flows.
    pub flows: usize,
    /// The number of flows that they stand for.
    pub stand_for: f64,
    /// Their time.
    pub total: u64,
    /// By what it was spent on.
    pub by_delay: BTreeMap<Delay, u64>,
    /// Paused time by its root.
    pub by_root: BTreeMap<Port, u64>,
}

impl Group {
    /// Adds a flow.
    pub fn add(&mut self, flow: &Flow) {
        self.flows += 1;
        self.stand_for += flow.stands_for;
        let weighted = |time: u64| match flow.stands_for {
            1.0 => time,
            of => (time as f64 * of).round() as u64,
        };
        add(&mut self.total, weighted(flow.fct));
        for total in &flow.totals {
            let time = weighted(total.time);
            add(self.by_delay.entry(total.delay).or_default(), time);
            if let Some(root) = &total.root {
                add(self.by_root.entry(root.clone()).or_default(), time);
            }
        }
    }

    /// The mean of a time, in ps.
    pub fn mean(&self, time: u64) -> f64 {
        time as f64 / self.stand_for
    }

    /// Serialization and propagation.
    pub fn ideal(&self) -> u64 {
        let ideal = self.by_delay.iter().filter(|(delay, _)| delay.is_ideal());
        ideal.fold(0, |sum, (_, time)| time.saturating_add(sum))
    }
}

/// Adds to a sum that does not overflow, whatever a table contains.
fn add(sum: &mut u64, time: u64) {
    *sum = sum.saturating_add(time);
}

/// A queue at the root of pauses. Times are in ps.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The port.
    pub port: Port,
    /// The flows that fill the queue, with the paused time that each is blamed for, those with most first. Empty if it is
    /// not known.
    pub flows: Vec<(u64, u64)>,
    /// Number of pauses; none where Directional Rate Control holds packets back without pauses.
    pub pauses: usize,
    /// Start of the first one.
    pub first: u64,
    /// End of the last one.
    pub last: u64,
    /// The most pauses in a row from a paused port to the root.
    pub depth: u64,
    /// Sum of their lengths.
    pub total: u64,
    /// Time that the flows of the sample lost to these pauses.
    pub lost: u64,
    /// The flows of the sample that lost some, with the time of each, those that lost most first.
    pub victims: Vec<(u64, u64)>,
}

impl Explanation {
    fn sampled(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| self.sample.binary_search(&flow.number).is_ok())
    }

    /// Totals of the sample by workload and size class, both as numbers.
    pub fn groups(&self) -> BTreeMap<(usize, usize), Group> {
        let mut groups: BTreeMap<(usize, usize), Group> = BTreeMap::new();
        for flow in self.sampled() {
            groups.entry((flow.workload, self.classes.of(flow.bytes))).or_default().add(flow);
        }
        groups
    }

    /// Totals of the sample by size class, and of all of it.
    pub fn by_class(&self) -> Vec<Group> {
        let mut groups = vec![Group::default(); self.classes.count()];
        for flow in self.sampled() {
            groups[self.classes.of(flow.bytes)].add(flow);
            groups[self.classes.all()].add(flow);
        }
        groups
    }

    /// The roots of pauses, those that cost the sample most first.
    pub fn roots(&self) -> Vec<Root> {
        let mut roots: BTreeMap<&Port, Root> = BTreeMap::new();
        for pause in &self.pauses {
            let Some((port, _, _)) = &pause.root else { continue };
            let root = roots.entry(port).or_insert_with(|| self.root(port, pause.from));
            root.pauses += 1;
            root.depth = root.depth.max(pause.depth);
            add(&mut root.total, pause.to.saturating_sub(pause.from));
            root.last = root.last.max(pause.to);
        }
        let mut lost: BTreeMap<&Port, BTreeMap<u64, u64>> = BTreeMap::new();
        for flow in self.sampled() {
            for total in &flow.totals {
                if let Some(port) = &total.root {
                    roots.entry(port).or_insert_with(|| self.root(port, flow.start));
                    let lost = lost.entry(port).or_default().entry(flow.number).or_default();
                    add(lost, total.time);
                }
            }
        }
        let root = |(port, mut root): (&Port, Root)| {
            let by_flow = lost.get(port).into_iter().flatten();
            root.victims = by_flow.map(|(flow, time)| (*flow, *time)).collect();
            root.victims.sort_by_key(|(flow, time)| (Reverse(*time), *flow));
            root.victims.iter().for_each(|(_, time)| add(&mut root.lost, *time));
            root
        };
        let mut all: Vec<Root> = roots.into_iter().map(root).collect();
        all.sort_by_key(|root| Reverse((root.lost, root.total)));
        all
    }

    /// A root without pauses so far.
    fn root(&self, port: &Port, first: u64) -> Root {
        Root {
            port: port.clone(),
            flows: self.fillers(port).to_vec(),
            pauses: 0,
            first,
            last: first,
            depth: 0,
            total: 0,
            lost: 0,
            victims: Vec::new(),
        }
    }
}
