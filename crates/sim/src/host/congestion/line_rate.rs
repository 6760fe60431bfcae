//! No congestion control: the simplest example of the family.

use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, Needs, Path};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// It has no state.
#[derive(Debug)]
pub struct State;

impl State {
    /// State of a new flow.
    pub fn new(_: &Spec, _: &Path) -> Self {
        Self
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Nothing
    }
}
