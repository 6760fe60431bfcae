//! Bytes delivered by long-lived flows and their windows over time, sampled at regular intervals. No event is needed
//! at the sample times: the delivered bytes change only when a packet arrives, and what is known of a window when one is sent,
//! so the samples that are due are taken before each packet, and the rest at the end of the run.

use std::collections::BTreeMap;

use floodway_model::table::Table;
use floodway_model::tables::deliveries;
use floodway_model::{Duration, FlowId, Instant};
use serde::{Deserialize, Serialize};

use crate::Spec;

use super::{At, Fact, Kinds, Observer, Setup};

/// The long-lived flows whose receivers, or senders, are on nodes of a thread.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deliveries {
    interval: Duration,
    /// Bytes delivered so far. Packets that arrive exactly at a sample time are not included.
    flows: BTreeMap<FlowId, Samples>,
    /// Windows in bytes; [`NO_WINDOW`] if there is none.
    windows: BTreeMap<FlowId, Samples>,
}

/// Stands for a flow without a window.
const NO_WINDOW: u64 = u64::MAX;

/// Samples of one flow.
#[derive(Debug, Serialize, Deserialize)]
struct Samples {
    next: Instant,
    /// The current value.
    value: u64,
    /// The value at each multiple of the interval.
    samples: Vec<u64>,
}

impl Samples {
    fn new(interval: Duration, value: u64) -> Self {
        Self { next: Instant::ZERO + interval, value, samples: Vec::new() }
    }

    fn take(&mut self, interval: Duration, now: Instant) {
        while self.next <= now {
            self.samples.push(self.value);
            self.next += interval;
        }
    }

    /// The value changes.
    fn set(&mut self, interval: Duration, now: Instant, value: u64) {
        self.take(interval, now);
        self.value = value;
    }
}

impl Observer for Deliveries {
    const WANTS: Kinds = Kinds::DELIVERED.and(Kinds::DEPARTED);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let interval = setup.spec.flow_samples?;
        let mut is_here = vec![false; setup.spec.graph.nodes.len()];
        setup.nodes.iter().for_each(|node| is_here[node.index()] = true);
        let mut all = Self { interval, flows: BTreeMap::new(), windows: BTreeMap::new() };
        let long = (0..).map(FlowId).zip(setup.spec.flows.each());
        for (id, flow) in long.filter(|(_, flow)| flow.is_persistent()) {
            all.add_flow(id, is_here[flow.src.index()], is_here[flow.dst.index()]);
        }
        Some(all)
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        let (samples, value) = match fact {
            Fact::Delivered(delivery) => {
                (self.flows.get_mut(&delivery.packet.flow), delivery.delivered)
            }
            Fact::Departed(departure) => {
                let window = departure.window.unwrap_or(NO_WINDOW);
                (self.windows.get_mut(&departure.packet.flow), window)
            }
            _ => return,
        };
        if let Some(samples) = samples {
            samples.set(self.interval, at.now, value);
        }
    }

    fn finish(&mut self, now: Instant) {
        let all = self.flows.values_mut().chain(self.windows.values_mut());
        all.for_each(|samples| samples.take(self.interval, now));
    }

    fn merge(&mut self, other: Self) {
        self.flows.extend(other.flows);
        self.windows.extend(other.windows);
    }
}

impl Deliveries {
    /// A long-lived flow, whose sender and receiver may be here. Before it began it has delivered nothing.
    pub fn add_flow(&mut self, flow: FlowId, sender: bool, receiver: bool) {
        if receiver {
            self.flows.insert(flow, Samples::new(self.interval, 0));
        }
        if sender {
            self.windows.insert(flow, Samples::new(self.interval, NO_WINDOW));
        }
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
    let window = |at: usize, flow| {
        let window = deliveries?.windows.get(flow)?.samples.get(at)?;
        (*window != NO_WINDOW).then_some(*window as f64)
    };
    let row = |at: usize, (flow, of): (&FlowId, &Samples)| deliveries::Row {
        time_ns: ((at as u64 + 1) * interval) as f64 / 1e3,
        flow: flow.0.into(),
        delivered_bytes: of.samples[at],
        window_bytes: window(at, flow).unwrap_or(f64::NAN),
    };
    (0..samples).flat_map(|at| flows().map(move |flow| row(at, flow))).collect()
}
