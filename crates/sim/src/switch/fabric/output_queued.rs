//! Output queueing: the fabric is as fast as all ports together (Karol, Hluchyj and Morgan, IEEE
//! Transactions on Communications 35(12), 1987: output queueing).

use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Fabric;

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

impl Fabric for Spec {}
