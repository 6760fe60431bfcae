//! No congestion control: the shortest example of the family.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}
