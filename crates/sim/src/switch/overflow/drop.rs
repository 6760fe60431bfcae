//! A packet that finds no room is dropped.

use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Overflow;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

impl Overflow for Spec {}
