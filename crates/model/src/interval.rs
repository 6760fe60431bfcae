//! The measured interval of a run.

use serde::{Deserialize, Serialize};

/// What ends the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalEnd {
    /// The end of arrivals: all traffic goes on by a rate or without end.
    #[default]
    Arrivals,
    /// The completion of the last flow: the bytes of all traffic are given.
    Completion,
    /// The later of both: there is traffic of either kind.
    Later,
    /// A time that the scenario has.
    Time,
}
