//! Strict priority (IEEE 802.1Q clause 8.6.8.1): queue 0 before queue 1 and so on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

/// See [`super::Spec::select`].
#[inline]
pub fn select(heads: &[u32]) -> usize {
    heads.iter().position(|&head| head > 0).expect("some queue can send")
}

#[cfg(test)]
mod tests {
    #[test]
    fn lowest_that_can_send() {
        assert_eq!(super::select(&[0, 1106, 84]), 1);
    }
}
