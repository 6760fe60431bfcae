//! Memory that is divided once and for all: `switch.queue.size` for each egress queue; for each
//! (ingress port, class) instead, where PFC is measured on the ingress and covers the class; for
//! each ingress port instead, where PAUSE is measured on the ingress.

use floodway_model::Rate;
use floodway_model::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Holder, Limit, Place, Sharing};
use crate::switch::QueueSpec;
use crate::switch::flow_control::pfc::MeasuredOn;
use crate::switch::flow_control::{self, pause};
use crate::switch::port::DropReason;

/// Its only parameter is `switch.queue.size`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// What limits which class.
#[derive(Debug)]
pub struct State {
    size: u64,
    /// Bit c: class c is limited by the ingress, not by the queue.
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
        let pfc = switch.flow_control.pfc.as_ref();
        let pfc = pfc.filter(|pfc| pfc.measured_on == MeasuredOn::Ingress);
        let by_port = by_port(&switch.flow_control);
        let by_ingress =
            if by_port { u8::MAX } else { pfc.map_or(0, |pfc| pfc.classes() & of_data(switch)) };
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

/// Bit c: c is a class of data, or none at all. What a switch makes itself is in the control class when
/// it comes to a data queue, and has no headroom.
pub(super) fn of_data(spec: &crate::switch::Spec) -> u8 {
    !(1 << spec.queue.count)
}

/// Whether PAUSE makes what came in by a port the measure of the memory.
fn by_port(spec: &flow_control::Spec) -> bool {
    spec.pause.as_ref().is_some_and(|spec| spec.measured_on == pause::MeasuredOn::Ingress)
}
