//! What a switch knows of what is around it when a run begins.

use std::sync::Arc;

use super::discipline::Sizes;
use super::flow_control::drc::Peers;
use crate::Spec;
use crate::host::Shared;
use crate::routing::Routes;

/// What the switches of a simulation have in common beyond their parameters.
#[derive(Debug)]
pub struct Knowledge {
    /// What neighbours know of each other's routes; empty if nobody asks.
    pub peers: Peers,
    /// How much each flow sends; `None` if no discipline asks.
    pub sizes: Option<Arc<Sizes>>,
    /// By flow: whether its transport understands trimmed packets; `None` if no packet is trimmed.
    pub understand_trimming: Option<Arc<[bool]>>,
}

impl Knowledge {
    /// Of the switches of a simulation, with their tables in order of their identifiers.
    pub fn of(spec: &Spec, shared: &Shared, tables: &[Routes]) -> Self {
        let sizes = spec.switch.queue.discipline.needs_sizes().then(|| {
            let flows = shared.flows.iter().zip(0..);
            let payload = |flow| shared.profile(floodway_model::FlowId(flow)).transport.payload();
            Arc::new(Sizes::new(flows.map(|(flow, id)| (flow.bytes, payload(id)))))
        });
        let understand_trimming = spec.switch.overflow.trims().map(|_| {
            let flows = (0..).map(floodway_model::FlowId).take(shared.flows.len());
            flows.map(|flow| shared.profile(flow).transport.understands_trimming()).collect()
        });
        Self { peers: Peers::of(spec, tables), sizes, understand_trimming }
    }
}
