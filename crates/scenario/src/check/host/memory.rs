//! The memory of NICs.

use floodway_model::Bytes;
use floodway_sim::switch::flow_control::congestion_isolation::Signal;

use super::super::Findings;
use crate::document::Document;

/// The path of its size.
const MEMORY: &str = "host.memory";

/// The most there can be: a sender that never ends fills it at once, frame by frame.
const LARGEST: Bytes = Bytes(1_000_000_000);

pub fn check(settings: &Document, largest_frame: u16, findings: &mut Findings<'_>) {
    let Some(memory) = settings.host.memory else { return };
    if memory.0 < u64::from(largest_frame) {
        findings.error(
            &[MEMORY],
            format!("frames of {largest_frame} bytes find no room in {memory}"),
            "make it larger: a frame leaves the host only if the NIC has room for it",
        );
    }
    if memory > LARGEST {
        findings.error(
            &[MEMORY],
            format!("a NIC has {memory} for each class"),
            format!(
                "at most {LARGEST} are possible; leave it out for frames that stay in the host"
            ),
        );
    }
    let isolation = settings.switch.flow_control.congestion_isolation.as_ref();
    if isolation.is_some_and(|isolation| isolation.hosts && isolation.signal != Signal::Off) {
        findings.error(
            &[MEMORY, "switch.flow_control.congestion_isolation"],
            "a flow that its NIC isolates would overtake its packets in the buffer of the NIC",
            "remove `host.memory`, or leave isolation to switches with \
             `switch.flow_control.congestion_isolation.hosts = false`",
        );
    }
    if settings.switch.flow_control.bfc.is_some() {
        findings.error(
            &[MEMORY, "switch.flow_control.bfc"],
            "with Backpressure Flow Control the physical queues of a NIC hold flows back before \
             they bring frames",
            "remove `host.memory` or [switch.flow_control.bfc]",
        );
    }
}
