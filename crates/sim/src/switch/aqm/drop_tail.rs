//! No active queue management: packets are dropped only when the queue is full.

use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Aqm;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;

    fn no_marks(_: &Self) -> Option<&'static str> {
        Some("switch.aqm")
    }

    fn decides_on_arrival(_: &Self) -> bool {
        false
    }

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }
}
