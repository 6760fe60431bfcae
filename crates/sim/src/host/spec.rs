use floodway_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{application, congestion, transport};

/// What all flows of a host share.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// What a pause stops.
    pub pause_scope: PauseScope,
    /// The most bytes of a class that wait in the NIC; `None` for a NIC without memory.
    pub memory: Option<Bytes>,
    /// Whether a pause stops feedback that travels in a class of data too.
    pub pause_feedback: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self { pause_scope: PauseScope::default(), memory: None, pause_feedback: true }
    }
}

/// How the flows of a workload are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// How messages become packets and arrive complete.
    pub transport: transport::Spec,
    /// How fast a flow may send.
    pub congestion: congestion::Spec,
    /// What writes the data of flows without a size; `None` if all of it is there from the
    /// beginning. It needs a transport that takes data bit by bit: TCP.
    pub application: Option<application::Spec>,
}

/// What a pause of one class stops in a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// That class.
    #[default]
    Class,
    /// All data, as if the NIC had one data queue.
    Nic,
}
