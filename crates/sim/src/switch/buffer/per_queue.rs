//! Memory that is divided once and for all: `switch.queue.size` for each egress queue; for each
//! (ingress port, class) instead, where PFC is measured on the ingress and covers the class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::flow_control::pfc::{MeasuredOn, Source};
use crate::switch::port::DropReason;

/// Its only parameter is `switch.queue.size`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

#[derive(Debug)]
pub(super) struct Memory {
    size: u64,
    /// Bit c: class c is limited by the ingress, not by the queue.
    by_ingress: u8,
}

impl Memory {
    pub fn new(spec: &crate::switch::Spec) -> Self {
        let pfc = spec.flow_control.pfc.as_ref();
        let pfc = pfc.filter(|pfc| pfc.measured_on == MeasuredOn::Ingress);
        Self { size: spec.queue.size.0, by_ingress: pfc.map_or(0, |pfc| pfc.classes()) }
    }

    #[inline]
    pub fn admit(
        &self,
        source: Source,
        held: u64,
        backlog: u64,
        bytes: u64,
    ) -> Result<(), DropReason> {
        let (held, reason) = if self.by_ingress >> source.class() & 1 != 0 {
            (held, DropReason::HeadroomExceeded)
        } else {
            (backlog, DropReason::QueueFull)
        };
        if held + bytes <= self.size { Ok(()) } else { Err(reason) }
    }
}
