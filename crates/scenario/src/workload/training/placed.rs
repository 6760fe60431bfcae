//! A training whose ranks have hosts: it is the programs of its nodes, and has numbers of its own.

use floodway_model::FlowSpec;

use super::super::{Surroundings, Traffic, Workload, chakra};
use super::{Degrees, Numbers, Spec};

/// With its hosts found.
#[derive(Debug)]
pub(super) struct Placed {
    pub spec: Spec,
    pub degrees: Degrees,
    pub placed: chakra::Placed,
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.placed.flows(around)
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        self.placed.traffic(around)
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        self.placed.expected_flows(around)
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn waits_for_acknowledgements(&self) -> Option<&'static str> {
        self.placed.waits_for_acknowledgements()
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.placed.largest_flow()
    }

    fn size_fields(&self) -> Vec<String> {
        ["hidden", "layers", "sequence"].map(str::to_owned).into()
    }

    fn training(&self, workload: String) -> Option<Numbers> {
        Some(self.spec.numbers(self.degrees, workload))
    }
}
