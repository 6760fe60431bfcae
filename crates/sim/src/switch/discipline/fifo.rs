//! First in, first out: queues implement it themselves.

use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}
