//! Bytes delivered by long-lived flows over time, sampled at regular intervals. No event is needed
//! at the sample times: the delivered bytes change only when a packet arrives, so the samples that
//! are due are taken before each packet, and the rest at the end of the run.

use std::collections::BTreeMap;

use floodway_model::table::Table;
use floodway_model::tables::deliveries;
use floodway_model::{Duration, FlowId, Instant};
use serde::{Deserialize, Serialize};

use crate::Spec;

use super::{At, Fact, Kinds, Observer, Setup};

/// The long-lived flows whose receivers are on nodes of a thread.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deliveries {
    interval: Duration,
    flows: BTreeMap<FlowId, Samples>,
}

/// Samples of one flow.
#[derive(Debug, Serialize, Deserialize)]
struct Samples {
    next: Instant,
    /// Bytes delivered so far.
    delivered: u64,
    /// Bytes delivered at each multiple of the interval. Packets that arrive exactly at a sample
    /// time are not included.
    samples: Vec<u64>,
}

impl Samples {
    fn none(interval: Duration) -> Self {
        Self { next: Instant::ZERO + interval, delivered: 0, samples: Vec::new() }
    }

    fn take(&mut self, interval: Duration, now: Instant) {
        while self.next <= now {
            self.samples.push(self.delivered);
            self.next += interval;
        }
    }
}

impl Observer for Deliveries {
    const WANTS: Kinds = Kinds::DELIVERED;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let interval = setup.spec.flow_samples?;
        let mut is_here = vec![false; setup.spec.graph.nodes.len()];
        setup.nodes.iter().for_each(|node| is_here[node.index()] = true);
        let here = (0..)
            .map(FlowId)
            .zip(setup.spec.flows.each())
            .filter(|(_, flow)| flow.is_persistent() && is_here[flow.dst.index()]);
        let flows = here.map(|(id, _)| (id, Samples::none(interval))).collect();
        Some(Self { interval, flows })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        let Fact::Delivered(delivery) = fact else { return };
        if let Some(samples) = self.flows.get_mut(&delivery.packet.flow) {
            samples.take(self.interval, at.now);
            samples.delivered = delivery.delivered;
        }
    }

    fn finish(&mut self, now: Instant) {
        self.flows.values_mut().for_each(|samples| samples.take(self.interval, now));
    }

    fn merge(&mut self, other: Self) {
        self.flows.extend(other.flows);
    }
}

impl Deliveries {
    /// A long-lived flow is added during a run. Before it began it has delivered nothing.
    pub fn add_flow(&mut self, flow: FlowId) {
        self.flows.insert(flow, Samples::none(self.interval));
    }
}

/// Rows in order of time, then of flow. Flows of kernels for which there was no connection are left out.
pub fn table(spec: &Spec, deliveries: Option<&Deliveries>) -> Table {
    let interval = deliveries.map_or(0, |deliveries| deliveries.interval.0);
    let begun = |flow: &FlowId| spec.flows.at(flow.index()).start != Instant::NEVER;
    let all = || deliveries.into_iter().flat_map(|deliveries| &deliveries.flows);
    let flows = || all().filter(|(flow, _)| begun(flow));
    // All flows were sampled until the same time.
    let samples = flows().next().map_or(0, |(_, of)| of.samples.len());
    let row = |at: usize, (flow, of): (&FlowId, &Samples)| deliveries::Row {
        time_ns: ((at as u64 + 1) * interval) as f64 / 1e3,
        flow: flow.0.into(),
        delivered_bytes: of.samples[at],
    };
    (0..samples).flat_map(|at| flows().map(move |flow| row(at, flow))).collect()
}
