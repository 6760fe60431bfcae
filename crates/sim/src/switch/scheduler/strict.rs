//! Strict priority (IEEE 802.1Q clause 8.6.8.1): queue 0 before queue 1 and so on.

use floodway_model::Duration;
use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scheduler;
use crate::link::Link;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Scheduler for Spec {
    type Spec = Self;

    fn new(_: &Self, _: &Link) -> Self {
        Self {}
    }

    #[inline]
    fn select(&mut self, heads: &[u32], _: impl Fn(usize) -> Duration) -> usize {
        heads.iter().position(|&head| head > 0).expect("some queue can send")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_that_can_send() {
        assert_eq!(Spec {}.select(&[0, 1106, 84], |_| Duration::ZERO), 1);
    }
}
