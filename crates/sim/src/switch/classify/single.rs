//! All data goes to one queue.

use floodway_model::{Dscp, Ecn, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Classifier;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The queue, counted from 0.
    pub queue: u8,
}

impl Classifier for Spec {
    #[inline]
    fn queue(&self, _: Dscp, _: Ecn, _: NodeId, _: u8) -> u8 {
        self.queue
    }
}
