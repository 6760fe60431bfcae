//! A packet that finds no room is dropped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Overflow;

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Overflow for Spec {}
