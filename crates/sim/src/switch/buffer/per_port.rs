//! A buffer with a fixed partition by port: each port has `size` bytes for all its data queues, first
//! come, first served. A frame is charged to its ingress port if PFC or PAUSE is measured on the
//! ingress, and with credit-based flow control, otherwise to its egress port.

use floodway_model::check::Check;
use floodway_model::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Holder, Limit, Place, Sharing};
use crate::switch::QueueSpec;
use crate::switch::flow_control::pause;
use crate::switch::port::DropReason;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The most bytes of one port, in all its data queues; with PFC or PAUSE measured on the ingress,
    /// the most that came in by one port. Default 800KB (Source Flow Control deck: static memory with
    /// PFC).
    pub size: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self { size: Bytes(800_000) }
    }
}

impl Check for Spec {}

/// The limit, and the port that is charged.
#[derive(Debug)]
pub struct State {
    size: u64,
    by_ingress: bool,
}

impl Sharing for State {
    type Spec = Spec;

    fn limit(spec: &Spec, _: &QueueSpec) -> Limit {
        let field = "switch.buffer.per_port.size";
        Limit { of: Holder::Port, bytes: Some(spec.size), field }
    }

    fn new(spec: &Spec, switch: &crate::switch::Spec, _: &[Rate]) -> Self {
        let pause = switch.flow_control.pause.as_ref().map(|pause| pause.measured_on);
        let by_ingress =
            switch.flow_control.by_ingress() != 0 || pause == Some(pause::MeasuredOn::Ingress);
        Self { size: spec.size.0, by_ingress }
    }

    #[inline]
    fn admit(&self, place: Place<'_>, bytes: u64) -> Result<(), DropReason> {
        let (held, reason) = match self.by_ingress {
            true => {
                let held = place.ingress.held_of_port(place.source.port());
                (held, DropReason::HeadroomExceeded)
            }
            false => (place.port.occupancy.bytes(), DropReason::QueueFull),
        };
        if held + bytes <= self.size { Ok(()) } else { Err(reason) }
    }
}
