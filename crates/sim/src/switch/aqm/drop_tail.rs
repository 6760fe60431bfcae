//! No active queue management: the queue's limit decides alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}
