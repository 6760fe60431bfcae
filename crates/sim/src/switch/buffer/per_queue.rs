//! A buffer with a fixed partition: `switch.queue.size` bytes for each egress queue. If PFC is measured
//! on the ingress, the classes that it covers have this size for each (ingress port, class) instead, and so do all
//! classes with credit-based flow control.
//! If PAUSE is measured on the ingress, each ingress port has it.

use floodway_model::Rate;
use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Holder, Limit, Place, Sharing};
use crate::switch::QueueSpec;
use crate::switch::flow_control::{self, pause};
use crate::switch::port::DropReason;

/// Its only parameter is `switch.queue.size`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// The limit of each class.
#[derive(Debug)]
pub struct State {
    size: u64,
    /// Bit c: class c is limited at the ingress instead of in the queue.
    by_ingress: u8,
    /// Whether all classes of an ingress port share that limit.
    by_port: bool,
}

impl Sharing for State {
    type Spec = Spec;

    fn limit(_: &Spec, queue: &QueueSpec) -> Limit {
        Limit { of: Holder::Queue, bytes: Some(queue.size), field: "switch.queue.size" }
    }

    fn new(_: &Spec, switch: &crate::switch::Spec, _: &[Rate]) -> Self {
        let by_port = by_port(&switch.flow_control);
        let by_ingress =
            if by_port { u8::MAX } else { switch.flow_control.by_ingress() & of_data(switch) };
        Self { size: switch.queue.size.0, by_ingress, by_port }
    }

    #[inline]
    fn admit(&self, place: Place<'_>, bytes: u64) -> Result<(), DropReason> {
        let Place { source, ingress, queue, .. } = place;
        let (held, reason) = if self.by_ingress >> source.class() & 1 != 0 {
            let held = match self.by_port {
                true => ingress.held_of_port(source.port()),
                false => ingress.held(source),
            };
            (held, DropReason::HeadroomExceeded)
        } else {
            (queue.backlog(), DropReason::QueueFull)
        };
        if held + bytes <= self.size { Ok(()) } else { Err(reason) }
    }
}

/// Bit c: c is a class of data, or not used. Frames that the switch itself generates are in the control
/// class even if they join a data queue, and have no headroom.
pub(super) fn of_data(spec: &crate::switch::Spec) -> u8 {
    !(1 << spec.queue.count)
}

/// Whether PAUSE is measured on the ingress, so that the limit is for each ingress port.
fn by_port(spec: &flow_control::Spec) -> bool {
    spec.pause.as_ref().is_some_and(|spec| spec.measured_on == pause::MeasuredOn::Ingress)
}
