//! The measured interval of a run.

use serde::{Deserialize, Serialize};

/// Event that ends the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalEnd {
    /// The end of arrivals, if all traffic is generated at a rate or has no end.
    #[default]
    Arrivals,
    /// The completion of the last flow, if the size of all traffic is given.
    Completion,
    /// The later of both, if there is traffic of either kind.
    Later,
    /// A time given in the scenario.
    Time,
}
