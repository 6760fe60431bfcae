//! All data goes to one queue.

use floodway_model::check::{Check, Findings};
use floodway_model::{Dscp, Ecn, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Classifier;
use crate::switch::check::Facts;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The queue, counted from 0.
    pub queue: u8,
}

impl Check for Spec {}

impl Classifier for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queue("queue", self.queue, findings);
    }

    #[inline]
    fn queue(&self, _: Dscp, _: Ecn, _: NodeId, _: u8) -> u8 {
        self.queue
    }
}
