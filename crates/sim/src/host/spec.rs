use floodway_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{congestion, transport};

/// What all flows of a host share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// What a pause stops.
    pub pause_scope: PauseScope,
}

/// How the flows of a workload are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// How messages become packets and arrive complete.
    pub transport: transport::Spec,
    /// How fast a flow may send.
    pub congestion: congestion::Spec,
}

impl Profile {
    /// Payload of a full packet.
    pub fn mtu(&self) -> Bytes {
        match &self.transport {
            transport::Spec::Rocev2(spec) => spec.mtu,
        }
    }

    /// The frame of a full packet, in bytes, for a payload with which it has at most 65535.
    pub fn largest_frame(&self) -> u16 {
        match &self.transport {
            transport::Spec::Rocev2(spec) => transport::rocev2::Spec::frame(spec.mtu.0),
        }
    }
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
