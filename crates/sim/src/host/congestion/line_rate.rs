//! No congestion control: the shortest example of the family.

use floodway_model::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Control;

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

/// It remembers nothing.
#[derive(Debug)]
pub struct State;

impl Control for State {
    type Spec = Spec;

    fn rate(&mut self, _: &Spec, _: Instant) -> Option<f64> {
        None
    }
}
