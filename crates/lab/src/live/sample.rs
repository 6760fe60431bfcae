//! What a step of a run looks like: differences of readings.

use floodway_model::{Duration, Instant, NodeId, PortIx};
use floodway_sim::Session;
use floodway_sim::session::reading::Port;
use serde::Serialize;

use super::Kind;

/// What has happened in a step at a port, and to all flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Its end, in seconds.
    pub time_s: f64,
    /// The number of the port.
    pub port: usize,
    /// The share of the rate of its link that was used, preambles and gaps included.
    pub utilization: f64,
    /// Its data queues.
    pub queues: Vec<Queue>,
    /// The flows of each kind.
    pub flows: Vec<Flows>,
}

/// A data queue in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// Bytes in it at the end.
    pub backlog_bytes: u64,
    /// The mean sojourn time of packets that have left it, in milliseconds; `None` if none has.
    pub mean_ms: Option<f64>,
    /// Their 99th percentile.
    pub p99_ms: Option<f64>,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that were dropped.
    pub dropped: u64,
}

/// Flows of a kind in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flows {
    /// Payload that has arrived of those that have not been stopped, in Mb/s, in order of their start.
    pub rates_mbps: Vec<f64>,
}

/// Earlier readings.
#[derive(Debug)]
pub(super) struct Readings {
    at: Instant,
    ports: Vec<Port>,
    /// By kind and flow.
    delivered: Vec<Vec<(floodway_model::FlowId, u64)>>,
    busiest: Option<usize>,
}

type Place = ((NodeId, PortIx), String);

impl Readings {
    /// The first.
    pub fn of(session: &Session, ports: &[Place], kinds: &[Kind]) -> Self {
        Self {
            at: session.reached(),
            ports: read(session, ports),
            delivered: delivered(session, kinds),
            busiest: None,
        }
    }

    /// The port whose link was used most, of several the first; `None` if none was.
    pub fn busiest(&self) -> Option<usize> {
        self.busiest
    }

    /// Reads again, and gives the difference.
    pub fn take(
        &mut self,
        session: &Session,
        ports: &[Place],
        kinds: &[Kind],
        port: usize,
    ) -> Sample {
        let at = session.reached();
        let (now, arrived) = (read(session, ports), delivered(session, kinds));
        let seconds = at.since(self.at).as_secs();
        let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        let used: Vec<f64> = now
            .iter()
            .zip(&self.ports)
            .map(|(now, before)| {
                per_second(now.sent - before.sent) * 8.0 / (now.rate.0 as f64).max(1.0)
            })
            .collect();
        let most = used.iter().copied().fold(0.0, f64::max);
        self.busiest = used.iter().position(|&of| of > 0.0 && of >= most);
        let queue = |(now, before): (
            &floodway_sim::session::reading::Queue,
            &floodway_sim::session::reading::Queue,
        )| {
            let waits = now.waits.since(&before.waits);
            Queue {
                backlog_bytes: now.backlog,
                mean_ms: waits.mean().map(as_ms),
                p99_ms: waits.quantile(0.99).map(as_ms),
                marked: now.marked - before.marked,
                dropped: now.dropped - before.dropped,
            }
        };
        let queues = match (now.get(port), self.ports.get(port)) {
            (Some(now), Some(before)) => now.queues.iter().zip(&before.queues).map(queue).collect(),
            _ => Vec::new(),
        };
        let flows = arrived.iter().zip(&self.delivered).map(|(now, before)| {
            let rate = |&(flow, bytes): &(_, u64)| {
                let known = before.iter().find(|(other, _)| *other == flow);
                per_second(bytes - known.map_or(0, |(_, bytes)| *bytes)) * 8.0 / 1e6
            };
            Flows { rates_mbps: now.iter().map(rate).collect() }
        });
        let sample = Sample {
            time_s: at.since(Instant::ZERO).as_secs(),
            port,
            // The last frame counts when it begins.
            utilization: used.get(port).copied().unwrap_or(0.0).min(1.0),
            queues,
            flows: flows.collect(),
        };
        (self.at, self.ports, self.delivered) = (at, now, arrived);
        sample
    }
}

fn as_ms(time: Duration) -> f64 {
    time.as_ns() / 1e6
}

fn read(session: &Session, ports: &[Place]) -> Vec<Port> {
    let port = |((node, port), _): &Place| session.port(*node, *port).unwrap_or_default();
    ports.iter().map(port).collect()
}

fn delivered(session: &Session, kinds: &[Kind]) -> Vec<Vec<(floodway_model::FlowId, u64)>> {
    let of = |kind: &Kind| {
        let flows = kind.flows.iter();
        flows.map(|flow| (*flow, session.delivered(*flow))).collect()
    };
    kinds.iter().map(of).collect()
}
