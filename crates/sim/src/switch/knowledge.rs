//! Information that a switch receives about its surroundings at the start of a run.

use std::sync::Arc;

use super::discipline::Sizes;
use super::flow_control::drc::Peers;
use crate::Spec;
use crate::host::Shared;
use crate::routing::Routes;

/// Information shared by all switches of a simulation, besides their parameters.
#[derive(Debug)]
pub struct Knowledge {
    /// What neighbors know of each other's routes; empty if no mechanism needs it.
    pub peers: Peers,
    /// The size of each flow; `None` if no discipline needs it.
    pub sizes: Option<Arc<Sizes>>,
    /// By flow: whether its transport supports trimmed packets; `None` if no packet is trimmed.
    pub understand_trimming: Option<Arc<[bool]>>,
}

impl Knowledge {
    /// Builds it for the switches of a simulation; `tables` are their routes, ordered by switch
    /// identifier.
    pub fn of(spec: &Spec, shared: &Shared, tables: &[Routes]) -> Self {
        let sizes = spec.switch.queue.discipline.needs_sizes().then(|| {
            let flows = shared.flows.each().zip(0..);
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
